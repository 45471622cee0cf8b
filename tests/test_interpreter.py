"""Which interpreter traces, and what is said where none can."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from shapelint.trace.interpreter import Interpreter, InterpreterError, find_interpreter

if TYPE_CHECKING:
    from pathlib import Path

OTHER = """#!/bin/sh
echo '[[3, 12, 1], "2.6.0", []]'
"""
"""Answers the probe as an interpreter with torch does."""


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.chdir(tmp_path)


def script(path: Path, text: str = OTHER) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def environment(folder: Path, text: str = OTHER) -> str:
    return script(folder / "bin" / "python", text)


BARE = OTHER.replace('"2.6.0"', "null")


def test_the_command_line_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment(tmp_path / ".venv")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / ".venv"))
    asked = environment(tmp_path / "asked")
    environment(tmp_path / "configured")
    assert find_interpreter("asked", "configured", tmp_path) == Interpreter(asked, "3.12.1", "2.6.0")


@pytest.mark.parametrize("form", ["env", "env/bin/python"])
def test_an_environment_or_an_interpreter_is_configured_relative_to_the_project(tmp_path: Path, form: str) -> None:
    path = environment(tmp_path / "project" / "env")
    assert find_interpreter(None, form, tmp_path / "project").path == path


def test_the_option_is_relative_to_the_current_folder(tmp_path: Path) -> None:
    path = environment(tmp_path / "env")
    assert find_interpreter("env", None, tmp_path / "project").path == path


def test_a_bare_word_is_looked_for_among_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path / "tools" / "python9")
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    assert find_interpreter("python9", None, tmp_path).path == path


def test_the_active_environment_comes_before_those_in_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    active = environment(tmp_path / "active")
    environment(tmp_path / ".venv")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert find_interpreter(None, None, tmp_path).path == active


def test_of_two_environments_in_the_project_the_hidden_one_comes_first(tmp_path: Path) -> None:
    environment(tmp_path / "venv")
    first = environment(tmp_path / ".venv")
    assert find_interpreter(None, None, tmp_path).path == first


def test_the_environment_of_a_hook_is_not_the_project_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pre-commit says in VIRTUAL_ENV where shapelint itself is installed."""
    found = environment(tmp_path / "venv")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert find_interpreter(None, None, tmp_path).path == found


def test_one_without_torch_is_passed_over_where_nobody_asked_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(tmp_path / "active", BARE)
    environment(tmp_path / ".venv", "not a program")
    found = environment(tmp_path / "venv")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert find_interpreter(None, None, tmp_path).path == found


def test_where_none_has_torch_all_that_was_tried_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = environment(tmp_path / ".venv", BARE)
    own = environment(tmp_path / "own", "#!/bin/sh\necho broken >&2\nexit 1\n")
    monkeypatch.setattr(sys, "executable", own)
    with pytest.raises(InterpreterError) as raised:
        find_interpreter(None, None, tmp_path)
    assert str(raised.value).split("\n") == [
        "no interpreter with torch was found to trace the models with; tried",
        f"  {tmp_path}/.venv: {bare} (Python 3.12.1) has no torch",
        f"  shapelint's own interpreter {own}: {own} is no Python that works: broken",
        (
            'Say which one to use with --python PATH or python = "PATH" in [tool.shapelint]; PATH is an interpreter or '
            "the folder of an environment. Or install torch beside shapelint: pip install 'shapelint[torch]'"
        ),
    ]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("gone", "there is no file {root}/gone"),
        ("empty", "there is no interpreter in the folder {root}/empty (no bin/python in it)"),
        ("bare", "{root}/bare/bin/python (Python 3.12.1) has no torch"),
        ("text", "{root}/text can't be run: Permission denied"),
        ("old", "{root}/old/bin/python is Python 3.8.1; tracing needs 3.10 or later"),
    ],
)
def test_one_that_is_given_is_used_or_refused(tmp_path: Path, given: str, reason: str) -> None:
    """It is never passed over, though the project has another."""
    environment(tmp_path / ".venv")
    environment(tmp_path / "bare", BARE)
    environment(tmp_path / "old", OTHER.replace("12", "8"))
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("")
    told = reason.format(root=tmp_path)
    with pytest.raises(InterpreterError) as option:
        find_interpreter(given, None, tmp_path)
    assert str(option.value) == f"--python {given}: {told}"
    with pytest.raises(InterpreterError) as configured:
        find_interpreter(None, given, tmp_path)
    assert str(configured.value) == f'python = "{given}" in the configuration of {tmp_path}: {told}'


def test_a_real_interpreter_says_what_it_has(tmp_path: Path) -> None:
    """Torch's version is that of the installed distribution; a folder ``torch`` of the project's is none."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("")
    environment(tmp_path / "fake", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    try:
        found = find_interpreter("fake", None, tmp_path)
    except InterpreterError as error:
        assert "has no torch" in str(error)  # noqa: PT017  # the tests may run where torch isn't
    else:
        assert found.version == ".".join(map(str, sys.version_info[:3]))
        assert found.torch_version[0].isdigit()
