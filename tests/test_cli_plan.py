"""Which models some paths touch, and what the worker is told of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli_samples import lay

from shapelint.config import Config, load
from shapelint.plan import Planned, in_shard, plan, shard
from shapelint.projects import find_scope
from shapelint.records import DimLimits
from shapelint.source.files import SourceCache

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "a/shapelint.toml": """
        src = ["lib", "."]
        batch = "M"
        timeout = 5
        [dims]
        H = { min = 8 }
        W = { min = 8 }

        [[models]]
        target = "zoo.resnet:Net"
        inputs = { x = "float32[M, 3, H, W]" }
        dims = { H = { multiple-of = 32 } }
        memory = "1GiB"

        [[models]]
        target = "plain:Net"
        inputs = "data:example"
        batch = "B"

        [[models]]
        target = "installed.somewhere:Net"
        inputs = {}
        """,
    "a/lib/zoo/__init__.py": "from .resnet import Net",
    "a/lib/zoo/resnet.py": "from . import blocks\nfrom helpers import init\n",
    "a/lib/zoo/blocks.py": "",
    "a/lib/zoo/unused.py": "import zoo.blocks\n",
    "a/helpers.py": "def lazy():\n    import deep.inside\n",
    "a/deep/__init__.py": "",
    "a/deep/inside.py": "import torch\n",
    "a/plain.py": "import os\n",
    "a/data.py": "",
}


def planned(root: Path, *names: str) -> tuple[Planned, ...]:
    paths = [str(root / name) for name in names]
    return plan(find_scope(paths, lambda path: load(path, ()), Config("")), SourceCache()).models


def targets(root: Path, *names: str) -> list[str]:
    return [one.target.target for one in planned(root, *names)]


def test_a_project_below_the_path_is_checked_as_a_whole(tmp_path: Path) -> None:
    lay(tmp_path, FILES)
    everything = ["zoo.resnet:Net", "plain:Net", "installed.somewhere:Net"]
    for name in ("", "a", "a/shapelint.toml"):
        assert targets(tmp_path, name) == everything
        assert all(one.whole for one in planned(tmp_path, name))


def test_a_file_touches_the_models_that_import_it_however_indirectly(tmp_path: Path) -> None:
    lay(tmp_path, FILES)
    for name in ("lib/zoo/resnet.py", "lib/zoo/__init__.py", "lib/zoo/blocks.py", "helpers.py", "deep/inside.py"):
        assert targets(tmp_path, f"a/{name}") == ["zoo.resnet:Net"], name
    assert targets(tmp_path, "a/lib/zoo/unused.py") == []
    assert targets(tmp_path, "a/plain.py") == ["plain:Net"]
    assert targets(tmp_path, "a/data.py") == ["plain:Net"]
    assert targets(tmp_path, "a/deep", "a/plain.py") == ["zoo.resnet:Net", "plain:Net"]
    assert not any(one.whole for one in planned(tmp_path, "a/lib"))


def test_a_file_is_known_through_a_link_to_it(tmp_path: Path) -> None:
    lay(tmp_path, FILES)
    (tmp_path / "a/link.py").symlink_to(tmp_path / "a/plain.py")
    assert targets(tmp_path, "a/link.py") == ["plain:Net"]


def test_a_model_has_its_own_limits_and_else_its_projects(tmp_path: Path) -> None:
    lay(tmp_path, FILES)
    resnet, plain, _ = [one.target for one in planned(tmp_path, "a")]
    assert (resnet.root, resnet.src) == (str(tmp_path / "a"), (str(tmp_path / "a/lib"), str(tmp_path / "a")))
    assert resnet.dims == (("H", DimLimits(multiple_of=32)), ("W", DimLimits(min=8)))
    assert (resnet.batch, resnet.timeout, resnet.memory) == (("M",), 5.0, 1 << 30)
    assert (plain.batch, plain.timeout, plain.memory) == (("B",), 5.0, 4 << 30)
    assert plain.cases[0].call == "data:example"


def test_every_model_and_file_is_in_exactly_one_shard_wherever_the_checkout_lies(tmp_path: Path) -> None:
    chosen = []
    for place in ("here", "there"):
        root = tmp_path / place
        lay(root, FILES)
        everything = planned(root, "a")
        parts = [shard(everything, index, 2, str(root)) for index in (1, 2)]
        assert sorted(one.target.target for part in parts for one in part) == sorted(targets(root, "a"))
        chosen.append([[one.target.target for one in part] for part in parts])
        assert sum(in_shard(str(root / "a/plain.py"), index, 3, str(root)) for index in (1, 2, 3)) == 1
    assert chosen[0] == chosen[1]
