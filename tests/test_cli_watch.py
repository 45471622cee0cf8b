"""``check --watch`` shows the new result after a save; what is drawn on a terminal while a run lasts."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli_samples import CLEAN, CONFIG, FAULTY, lay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.torch

SHAPELINT = str(Path(sys.executable).with_name("shapelint"))
PATIENCE = 60.0


@contextlib.contextmanager
def watching(project: Path) -> Iterator[subprocess.Popen[str]]:
    words = [SHAPELINT, "check", ".", "--watch", "--python", sys.executable, "--output-format", "concise"]
    process = subprocess.Popen(
        words, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def shows(process: subprocess.Popen[str], fits: Callable[[list[str]], bool]) -> list[str]:
    """The lines of the first result that fits; one before it may be of a file that was half written."""
    assert process.stdout is not None
    lines: list[str] = []
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        line = process.stdout.readline()
        if not line:
            break
        if not line.startswith("watching"):
            lines.append(line.rstrip("\n"))
        elif fits(lines):
            return lines
        else:
            lines = []
    raise AssertionError(lines)


def is_faulty(lines: list[str]) -> bool:
    return any("SL101" in line for line in lines)


def is_clean(lines: list[str]) -> bool:
    return bool(lines) and not is_faulty(lines) and not is_refused(lines)


def is_refused(lines: list[str]) -> bool:
    return any(line.startswith("Error: ") for line in lines)


def test_each_save_shows_a_new_result_and_an_interrupt_ends_it(tmp_path: Path) -> None:
    lay(tmp_path, {"shapelint.toml": CONFIG, "net.py": FAULTY})
    with watching(tmp_path) as process:
        shows(process, is_faulty)
        (tmp_path / "net.py").write_text(CLEAN.lstrip("\n"), encoding="utf-8")
        shows(process, is_clean)
        (tmp_path / "net.py").write_text(FAULTY.lstrip("\n") + "\n", encoding="utf-8")
        shows(process, is_faulty)
        (tmp_path / "shapelint.toml").write_text("models = 3\n", encoding="utf-8")
        shows(process, is_refused)
        (tmp_path / "shapelint.toml").write_text(CONFIG, encoding="utf-8")
        shows(process, is_faulty)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


@pytest.mark.parametrize("option", ["--fix", "--diff", "--update-baseline", "--show-settings"])
def test_watching_writes_and_repairs_nothing(option: str, tmp_path: Path) -> None:
    lay(tmp_path, {"shapelint.toml": CONFIG, "net.py": CLEAN})
    done = subprocess.run(
        [SHAPELINT, "check", ".", "--watch", option], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--watch" in done.stderr


def drawn(project: Path, *, terminal: bool) -> str:
    """What stands on stderr after a run, drawn over or not."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    words = [SHAPELINT, "check", ".", "--python", sys.executable, "--no-cache"]
    process = subprocess.Popen(words, cwd=project, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    text = b""
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                chunk = os.read(ours, 4096)
            except OSError:  # how a terminal without a writer ends on Linux
                break
            if not chunk:
                break
            text += chunk
    os.close(ours)
    assert process.wait() == 0
    return text.decode()


def test_a_line_counts_the_models_on_a_terminal_and_is_gone_at_the_end(tmp_path: Path) -> None:
    lay(tmp_path, {"shapelint.toml": CONFIG, "net.py": CLEAN})
    text = drawn(tmp_path, terminal=True)
    assert "\r\x1b[Kchecking models: 1 of 1" in text
    assert text.index("checking models: 1 of 1") < text.rindex("\r\x1b[K") < text.index("1 model")


def test_nothing_is_drawn_into_a_pipe(tmp_path: Path) -> None:
    lay(tmp_path, {"shapelint.toml": CONFIG, "net.py": CLEAN})
    text = drawn(tmp_path, terminal=False)
    assert "checking" not in text
    assert "\x1b" not in text
