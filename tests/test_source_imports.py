"""The project files a file imports, from its text alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from cli_samples import lay

from shapelint.source.imports import imports_of

if TYPE_CHECKING:
    from pathlib import Path

FILES = (
    "pkg/__init__.py",
    "pkg/a.py",
    "pkg/sub/__init__.py",
    "pkg/sub/b.py",
    "pkg/sub/c.py",
    "bare/d.py",
    "top.py",
    "scripts/near.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    return tmp_path


def found(root: Path, name: str, text: str) -> list[str]:
    path = root / name
    path.write_bytes(text.encode())
    return [os.path.relpath(p, root).replace(os.sep, "/") for p in imports_of(str(path), (str(root),))]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("top.py", "import pkg.sub.b as b, os, torch.nn", ["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/b.py"]),
        ("top.py", "from pkg import a, nothing", ["pkg/__init__.py", "pkg/a.py"]),
        ("top.py", "from pkg.sub import *", ["pkg/__init__.py", "pkg/sub/__init__.py"]),
        ("top.py", "from pkg.a import Net", ["pkg/__init__.py", "pkg/a.py"]),
        ("top.py", "import bare.d", ["bare/d.py"]),
        ("top.py", "from bare import d", ["bare/d.py"]),
        ("top.py", "def f():\n    import importlib\n    importlib.import_module('bare.d')", ["bare/d.py"]),
        ("top.py", "x = 'import pkg.a'  # import pkg.a", []),
        ("top.py", "import top", []),
        ("pkg/sub/b.py", "from . import c", ["pkg/sub/__init__.py", "pkg/sub/c.py"]),
        ("pkg/sub/b.py", "from .c import x as y", ["pkg/sub/__init__.py", "pkg/sub/c.py"]),
        ("pkg/sub/b.py", "from .. import a", ["pkg/__init__.py", "pkg/a.py"]),
        ("pkg/sub/b.py", "from ..a import x", ["pkg/__init__.py", "pkg/a.py"]),
        ("scripts/run.py", "import near", ["scripts/near.py"]),
        (
            "top.py",
            "import pkg.a\nfrom bare import d, e\nthis is broken(",
            ["bare/d.py", "pkg/__init__.py", "pkg/a.py"],
        ),
    ],
)
def test_the_imported_project_files_are_found(root: Path, name: str, text: str, expected: list[str]) -> None:
    assert found(root, name, text) == expected


def test_a_file_in_another_encoding_and_a_missing_one_are_no_error(root: Path) -> None:
    (root / "top.py").write_bytes("# coding: latin-1\nx = 'é'\nimport pkg.a\n".encode("latin-1"))
    assert len(imports_of(str(root / "top.py"), (str(root),))) == 2
    assert imports_of(str(root / "gone.py"), (str(root),)) == ()


def test_the_answer_follows_the_content(root: Path) -> None:
    assert found(root, "top.py", "import pkg.a") == ["pkg/__init__.py", "pkg/a.py"]
    assert found(root, "top.py", "import bare.d") == ["bare/d.py"]


@pytest.mark.parametrize(
    ("code", "reached"),
    [
        ('importlib.import_module(f"zoo.{name}")', {"zoo/__init__.py", "zoo/one.py", "zoo/deep/two.py"}),
        ('importlib.import_module("zoo." + name)', {"zoo/__init__.py", "zoo/one.py", "zoo/deep/two.py"}),
        ('importlib.import_module(f".zoo.{name}", __package__)', {"zoo/__init__.py", "zoo/one.py", "zoo/deep/two.py"}),
        ("importlib.import_module(name)", {"zoo/__init__.py", "zoo/one.py", "zoo/deep/two.py", "beside.py"}),
        ('spec_from_file_location("x", path)', {"zoo/__init__.py", "zoo/one.py", "zoo/deep/two.py", "beside.py"}),
        ('importlib.import_module("zoo.one")', {"zoo/__init__.py", "zoo/one.py"}),
    ],
)
def test_a_module_named_at_run_time_may_be_any_below(tmp_path: Path, code: str, reached: set[str]) -> None:
    files = ("zoo/__init__.py", "zoo/one.py", "zoo/deep/two.py", "beside.py", ".venv/lib/other.py", "env/lib/other.py")
    lay(tmp_path, {**dict.fromkeys(files, ""), "env/pyvenv.cfg": "", "make.py": f"{code}\n"})
    found = imports_of(str(tmp_path / "make.py"), [str(tmp_path)])
    assert {os.path.relpath(path, tmp_path) for path in found} == reached
