"""Models of projects that configure none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli_samples import lay

from shapelint.config import Config, load
from shapelint.discovered import find_models, tempered
from shapelint.findings import Finding, Location, Region, Severity
from shapelint.plan import Plan, plan
from shapelint.projects import find_scope
from shapelint.records import InputTree, TensorSpec
from shapelint.source.files import SourceCache

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    ".git/HEAD": "",
    "pkg/__init__.py": "",
    "pkg/net.py": """
        import torch
        from torch import nn
        from pkg.blocks import Block


        # shapelint: inputs(x="float32[B, 8]")
        class Stated(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block(8)

            def forward(self, x):
                return self.block(x)


        class Guessed(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 4)

            def forward(self, x):
                return self.fc(x)


        class Unknown(nn.Module):
            def __init__(self, width):
                super().__init__()

            def forward(self, state):
                return state
        """,
    "pkg/blocks.py": """
        from torch import nn


        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.fc = nn.Linear(width, width)

            def forward(self, x):
                return self.fc(x)
        """,
    "other.py": "x = 1\n",
}


def planned(root: Path, *names: str) -> Plan:
    paths = [str(root / name) for name in names]
    return plan(find_scope(paths, lambda path: load(path, ()), Config("")), SourceCache())


def test_classes_are_models_with_stated_or_inferred_inputs_and_the_rest_is_skipped_with_a_reason(
    tmp_path: Path,
) -> None:
    lay(tmp_path, FILES)
    found = planned(tmp_path, "")
    stated, guessed = [one.model for one in found.models]
    assert (stated.target, stated.assumed) == ("pkg.net:Stated", "")
    assert dict(stated.cases[0].inputs) == {"x": InputTree("tensor", tensor=TensorSpec("float32", ("B", 8)))}
    assert guessed.target == "pkg.net:Guessed"
    assert guessed.assumed == 'the inputs are inferred, from its first layer: x = "float32[B, 8]"'
    assert [one.target for one in found.skipped] == ["pkg.blocks:Block", "pkg.net:Unknown"]
    assert all(one.reason for one in found.skipped)


def test_a_file_of_such_a_project_touches_the_models_that_import_it(tmp_path: Path) -> None:
    lay(tmp_path, FILES)
    found = planned(tmp_path, "pkg/blocks.py")
    assert [one.target.target for one in found.models] == ["pkg.net:Stated", "pkg.net:Guessed"]
    assert [one.target for one in found.skipped] == ["pkg.blocks:Block"]
    assert planned(tmp_path, "other.py") == Plan()


def test_a_project_that_configures_a_model_means_only_that_one(tmp_path: Path) -> None:
    lay(tmp_path, FILES)
    lay(tmp_path, {"shapelint.toml": '[[models]]\ntarget = "pkg.net:Guessed"\ninputs = { x = "f32[B, 8]" }\n'})
    found = planned(tmp_path, "")
    assert [one.target.target for one in found.models] == ["pkg.net:Guessed"]
    assert found.skipped == ()


def test_a_finding_on_inferred_inputs_says_so_and_is_no_error(tmp_path: Path) -> None:
    lay(tmp_path, FILES)
    stated, guessed = find_models([str(tmp_path / "pkg/net.py")], [str(tmp_path)], SourceCache()).models
    location = Location(str(tmp_path / "pkg/net.py"), Region(1, 1, 1, 2))
    error = Finding("SL101", "matmul-dims", Severity.ERROR, "message", location)
    assert tempered(error, stated) == error
    assert tempered(error, guessed).severity is Severity.WARNING
    assert tempered(error, guessed).notes == (guessed.assumed,)
    certain = Finding("SL001", "import-failed", Severity.ERROR, "message", location)
    assert tempered(certain, guessed) == certain
