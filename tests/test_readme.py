"""The README's commands print what it says they print, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_samples import run

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^\$ shapelint (.+)\n((?:(?!```).*\n)*)```", TEXT, re.MULTILINE)


@pytest.mark.torch
@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_is_shown_below_it(command: str, output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run(*command.split(), "--no-cache").stdout == output


def test_there_are_commands_and_the_files_they_need_are_there() -> None:
    assert len(SHOWN) == 3
    for name in ("requirements-dev.txt", "scripts/test", "rules", "fixtures", ".pre-commit-hooks.yaml"):
        assert (ROOT / name).exists()


def test_the_configuration_shown_is_one_that_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = re.search(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert table is not None
    (tmp_path / "pyproject.toml").write_text(table[1], encoding="utf-8")
    result = run("check", "--show-settings")
    assert result.exit_code == 0, result.output
    assert "net:Net" in result.stdout
