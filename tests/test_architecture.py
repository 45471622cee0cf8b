"""The arrows between the parts hold, and the test that says so can fail."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "shapelint"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    command = [str(program), "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    # The copy in the folder is the one that is judged, not the project that is installed.
    env = {"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_every_contract_is_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("findings.py", "import shapelint.cli", "an upper part may import a lower one"),
        ("settings.py", "import torch", "the front end never imports torch"),
        ("settings.py", "import sarif_om", "sarif_om is imported by one file"),
    ],
)
def test_a_contract_that_is_broken_is_seen(tmp_path: Path, module: str, line: str, contract: str) -> None:
    shutil.copytree(PACKAGE, tmp_path / "shapelint", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "shapelint" / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout
    assert any(contract in text and "BROKEN" in text for text in done.stdout.splitlines()), done.stdout


def python_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def test_only_the_command_line_prints_or_exits() -> None:
    speaking = set()
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in {"print", "exit", "quit", "sys.exit", "click.echo", "click.secho", "sys.stdout.write"}:
                speaking.add(path.relative_to(PACKAGE).as_posix())
    assert speaking == {"cli.py"}


# The tracer's eye and the table of assumed results: to be split by what they answer.
LONG = {"mode.py", "recover.py"}


def test_no_file_grows_beyond_what_can_be_read_in_one_go() -> None:
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in python_files()}
    assert {name: n for name, n in lengths.items() if n > 400 and name not in LONG} == {}
