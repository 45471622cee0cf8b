"""Models that take their process with them: each is one finding, and its neighbour is checked as ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cli_samples import CLEAN, CONFIG, check, lay

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("where", ["__init__", "forward"])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import os; os._exit(3)", "exit"),
        ("import ctypes; ctypes.string_at(0)", "sigsegv"),
        ("while True: pass", "longer than 2 s"),
        ("held = bytearray(100 << 30)", "memory"),
    ],
    ids=["exit", "segfault", "endless", "memory"],
)
def test_a_model_that_dies_is_a_finding_and_touches_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, words: str, where: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = "super().__init__()" if where == "__init__" else "return self.fc(x)"
    deadly = CLEAN.replace(before, f"{line}\n        {before}")
    lay(tmp_path, {"a/shapelint.toml": "timeout = 2\n" + CONFIG, "a/net.py": deadly})
    lay(tmp_path, {"b/shapelint.toml": CONFIG, "b/net.py": CLEAN})
    result = check("--output-format", "concise", "-q")
    (finding,) = result.stdout.splitlines()
    assert finding.startswith("a/net.py:")
    assert "SL004" in finding
    assert words in finding.lower()
    assert result.exit_code == 1
