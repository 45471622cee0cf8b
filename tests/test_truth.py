"""Every error about the fixtures is true: an eager run on CPU raises at its line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TRUTH = str(ROOT / "scripts" / "truth.py")

pytestmark = pytest.mark.torch


def truth(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TRUTH, str(path)], capture_output=True, text=True, check=False)


def test_every_error_about_the_fixtures_is_true() -> None:
    done = truth(ROOT / "fixtures")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "8 of 8 findings are confirmed by an eager run\n"


def test_an_error_that_no_eager_run_confirms_is_told(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        mode = torch.overrides._get_current_function_mode()\n        if type(mode).__name__ != 'TraceMode':\n"
        "            return x\n        return x @ x\n",
        encoding="utf-8",
    )
    (tmp_path / "shapelint.toml").write_text(
        '[[models]]\ntarget = "net:Net"\ninputs = { x = "float32[B, 3]" }\n', encoding="utf-8"
    )
    done = truth(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "net.py:10: SL101" in done.stdout
    assert "0 of 1 findings" in done.stdout
