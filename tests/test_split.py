"""pre-commit divides a long list of files: what is told of a file must not hang on which others are given with it."""

from __future__ import annotations

import itertools
import json
import sys
from typing import TYPE_CHECKING

import pytest
from cli_samples import lay, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.torch

PART = """
from torch import nn


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear({size}, 8)

    def forward(self, x):
        return self.fc(x)
"""
# A model imports its part plainly, one by a name made up at run time, one has a fault and a comment for nothing.
FILES = {
    "shapelint.toml": "".join(
        f'[[models]]\ntarget = "{target}"\ninputs = {{ x = "float32[B, 8]" }}\nmodes = ["eval"]\n'
        for target in ("plain:make", "zoo:make", "own:Part")
    ),
    "plain.py": "from parts.first import Part\n\n\ndef make():\n    return Part()\n",
    "parts/__init__.py": "",
    "parts/first.py": PART.format(size=9),
    "zoo/__init__.py": 'import importlib\n\n\ndef make(name="second"):\n'
    '    return importlib.import_module(f"zoo.{name}").Part()\n',
    "zoo/second.py": "from parts.first import Part as Other\n" + PART.format(size=10),
    "own.py": PART.format(size=11) + "\n\nNONE = 0  # shapelint: ignore[SL101]\n",
    "alone.py": "x = (\n",
}
PYTHON = tuple(name for name in FILES if name.endswith(".py"))


def told(*files: str) -> list[tuple[str, int, str, str]]:
    """The findings of one run."""
    # With the cache, as a hook runs: the traces of the first run serve all others.
    report = json.loads(run("check", *files, "--python", sys.executable, "--output-format", "json").stdout)
    return [(found["path"], found["line"], found["rule"], found["message"]) for found in report["findings"]]


def splits(files: Sequence[str]) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Each file alone, and all ways to cut the list and its reverse in two."""
    yield tuple((name,) for name in files)
    for order, cut in itertools.product((tuple(files), tuple(reversed(files))), range(1, len(files))):
        yield order[:cut], order[cut:]


def test_any_split_of_the_files_tells_what_one_run_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lay(tmp_path, FILES))
    whole = told(*PYTHON)
    assert {(path, rule) for path, _, rule, _ in whole} == {
        ("alone.py", "syntax-error"),
        ("own.py", "matmul-dims"),
        ("own.py", "unused-suppression"),
        ("parts/first.py", "matmul-dims"),
        ("zoo/second.py", "matmul-dims"),
    }
    for split in splits(PYTHON):
        assert sorted(found for files in split for found in told(*files)) == sorted(whole), split
    assert sorted(told(".")) == sorted(whole)


def test_a_library_outside_of_the_projects_that_use_it_is_told_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a monorepo: the configuration of each application names the library's folder among its import roots."""
    config = 'src = [".", "../../lib"]\n[[models]]\ntarget = "net:make"\ninputs = { x = "float32[B, 8]" }\n'
    net = "from common.part import Part\n\n\ndef make():\n    return Part()\n"
    part = PART.format(size=9)
    monkeypatch.chdir(lay(tmp_path, {".git/HEAD": "", "lib/common/__init__.py": "", "lib/common/part.py": part}))
    lay(
        tmp_path,
        {f"apps/{app}/{name}": text for app in "ab" for name, text in (("shapelint.toml", config), ("net.py", net))},
    )
    lay(tmp_path, {"pyproject.toml": '[tool.shapelint]\nexclude = ["data"]\n', "data/broken/shapelint.toml": "x = ("})
    whole = told(".")
    assert [(path, rule) for path, _, rule, _ in whole] == [("lib/common/part.py", "matmul-dims")]
    files = ("apps/a/net.py", "apps/b/net.py", "lib/common/__init__.py", "lib/common/part.py")
    for split in splits(files):
        assert sorted(found for part in split for found in told(*part)) == whole, split
    assert told("lib") == whole
