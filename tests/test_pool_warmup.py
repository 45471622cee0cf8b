"""The worker's way of importing torch is faster, and changes nothing for code that compiles or exports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parent.parent


def run(program: str) -> list[str]:
    """The lines a program prints in a process of its own that has imported torch as the worker does."""
    start = "import os, sys\nfrom shapelint.trace import warmup\nwarmup.import_torch()\nimport torch\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "7"}
    environment.pop("MKL_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", start + program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_first_operator_brings_no_compiler_and_the_environment_is_as_it_was() -> None:
    lines = run(
        "import torch.nn.functional as F\n"
        "x = torch.empty(2, 3, 8, 8, device='meta')\n"
        "y = F.conv2d(x, torch.empty(5, 3, 3, 3, device='meta')) + 1\n"
        "F.layer_norm(y.mean(-1), (6,)).softmax(1)\n"
        "print('torch._dynamo' in sys.modules, torch.get_num_threads())\n"
        "print(os.environ['OMP_NUM_THREADS'], 'MKL_NUM_THREADS' in os.environ)\n"
    )
    assert lines == ["False 1", "7 False"]


def test_user_code_compiles_and_exports_as_ever() -> None:
    """Functions that torch marked before torch._dynamo came are marked once it is there."""
    lines = run(
        "from torch.utils.checkpoint import checkpoint\n"
        "checkpoint(torch.sin, torch.ones(2), use_reentrant=True)\n"
        "print('torch._dynamo' in sys.modules)\n"
        "seen = []\n"
        "def backend(module, inputs):\n"
        "    seen.append([n.target for n in module.graph.nodes if n.op == 'call_function'])\n"
        "    return module\n"
        "import torch._dynamo\n"
        "@torch.compile(backend=backend)\n"
        "def f(x):\n"
        "    return x * 2\n"
        "print(f(torch.ones(2)).tolist(), seen)\n"
        "optimizer = torch.optim.SGD([torch.zeros(2, requires_grad=True)])\n"
        "print(torch._dynamo.is_compiling(), torch._compile._disable_dynamo is torch._disable_dynamo)\n"
        "optimizer.zero_grad()\n"
        "print(hasattr(torch.optim.Optimizer.zero_grad.__wrapped__, '__dynamo_disable'))\n"
        "program = torch.export.export(torch.nn.Linear(4, 2), (torch.ones(3, 4),))\n"
        "print(program.module()(torch.ones(3, 4)).shape)\n"
    )
    assert lines == [
        "False",
        "[2.0, 2.0] [[<built-in function mul>]]",
        "False True",
        "True",
        "torch.Size([3, 2])",
    ]
