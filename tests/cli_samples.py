"""Small projects on disk, and the command line run on them as a person would."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

from click.testing import CliRunner

from shapelint.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

CONFIG = """
[[models]]
target = "net:Net"
inputs = { x = "float32[B, 8]" }
modes = ["eval"]
"""
CLEAN = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x)
"""
FAULTY = CLEAN.replace("nn.Linear(8, 4)", "nn.Linear(9, 4)")
FAULT_LINE = 10


def lay(root: Path, files: dict[str, str]) -> Path:
    """Writes the files, dedented and without a first empty line, and returns the folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return root


def run(*args: str) -> Result:
    """What ``shapelint`` does with these arguments."""
    return CliRunner().invoke(main, list(args), prog_name="shapelint")


def check(*args: str) -> Result:
    """What ``shapelint check`` does, tracing with the interpreter of the tests and without a cache."""
    return run("check", "--python", sys.executable, "--no-cache", *args)
