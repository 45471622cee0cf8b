"""What each command imports: who only asks for a version or a page waits for nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli_samples import lay

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {"torch", "libcst", "sarif_om", "jsonschema", "attr"}


def imported(*args: str, cwd: Path) -> set[str]:
    """The top-level modules that a process has imported after running the command."""
    code = "import sys, atexit\natexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    code += f"sys.argv[1:] = {list(args)!r}\nfrom shapelint.cli import main\nmain(prog_name='shapelint')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize("args", [("--version",), ("--help",), ("rule", "SL101"), ("rules",), ("check", "--help")])
def test_words_about_the_tool_import_nothing_heavy(args: tuple[str, ...], tmp_path: Path) -> None:
    modules = imported(*args, cwd=tmp_path)
    assert "click" in modules
    assert not modules & HEAVY


def test_where_nothing_is_to_be_traced_no_torch_and_no_syntax_trees_are_imported(tmp_path: Path) -> None:
    lay(tmp_path, {"fine.py": "x = 1\n"})
    assert not imported("check", "--output-format", "json", cwd=tmp_path) & HEAVY


def test_sarif_brings_sarif_om_and_still_no_torch(tmp_path: Path) -> None:
    lay(tmp_path, {"fine.py": "x = 1\n"})
    modules = imported("check", "--output-format", "sarif", cwd=tmp_path)
    assert "sarif_om" in modules
    assert "torch" not in modules
