"""Models of odd kinds: lazy, packed, parametrised, scripted, compiled, mapped, hooked, wrapped and more.

``tests/data/odd_models.py`` runs eagerly as it stands. Each is traced to its end with nothing to report, and a fault
planted in it is found.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_samples import run

pytest.importorskip("torch")

from eager_samples import configured, load, raised_at

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

MODELS = Path(__file__).parent / "data" / "odd_models.py"
TEXT = MODELS.read_text(encoding="utf-8")

X = {"x": "float32[B, 8]"}
INPUTS: dict[str, dict[str, Any]] = {
    "LazyNet": {"x": "float32[B, 3, H, W]"},
    "LazyFlat": {"x": "float32[B, 2, 6]"},
    "Packed": {"ids": "int64[B, T]", "lengths": "int64[B]"},
    "PackedSeqArg": {"x": "float32[T, B, 16]", "lengths": "int64[B]"},
    "Norms": {"x": "float32[B, T, 8]"},
    "Custom": X,
    "Check": X,
    "ScriptFn": X,
    "ScriptMod": {"x": "float32[B, T, 8]"},
    "Compiled": {"x": "float32[B, T, 8]"},
    "Vmapped": X,
    "Jac": {"x": "float32[N, 3]"},
    "FunctionalCall": X,
    "Hooked": X,
    "DP": X,
    "CustomFn": X,
    "Subclass": X,
    "CustomOp": X,
    "Vae": X,
    "Policy": {"obs": "float32[B, 8]"},
    "Fourier": {"x": "float32[B, 4, 32]"},
    "Amp": X,
    "Containers": X,
    "KVCache": {"x": "float32[B, 7, 16]"},
    "Structs": {"batch": {"x": "float32[B, 8]", "mask": "bool[B, T]"}},
    "Hyper": {"x": "float32[B, 8]", "z": "float32[B, 6]"},
    "MoE": {"x": "float32[B, T, 16]"},
    "Beam": {"h": "float32[B, 32]"},
    "Detector": {"x": "float32[B, 3, 16, 16]"},
    "Numpy": X,
    "Printing": X,
    "Tied": {"ids": "int64[B, T]"},
    "SparseGcn": {"x": "float32[N, 8]", "edge": "int64[2, E]"},
    "Nested": {"x": "float32[B, T, 16]", "pad": "bool[B, T]"},
    "Partial": X,
    "Half": X,
    "Cuda": X,
    "train_step": {"x": "float32[B, 8]", "y": "int64[B]"},
}

FAULTS = {
    "LazyNet": ("self.fc(F.relu(self.bn(self.conv(x))).mean((2, 3)))", "self.fc(self.bn(self.conv(x))) @ x"),
    "LazyFlat": ("self.fc2 = nn.Linear(32, 4)", "self.fc2 = nn.Linear(30, 4)"),
    "Packed": ("self.out = nn.Linear(64, 5)", "self.out = nn.Linear(32, 5)"),
    "PackedSeqArg": ("self.lin = nn.Linear(32, 3)", "self.lin = nn.Linear(16, 3)"),
    "Norms": ("nn.Conv1d(16, 16, 3, padding=1)", "nn.Conv1d(8, 16, 3, padding=1)"),
    "Custom": ("self.pr = nn.Linear(8, 4)", "self.pr = nn.Linear(6, 4)"),
    "Check": ("nn.Linear(8, 32), nn.Linear(32, 8)", "nn.Linear(8, 32), nn.Linear(16, 8)"),
    "ScriptFn": ("nn.Parameter(torch.zeros(16))", "nn.Parameter(torch.zeros(15))"),
    "ScriptMod": ("torch.jit.script(Inner(8))", "torch.jit.script(Inner(6))"),
    "Compiled": ("nn.ReLU(), nn.Linear(16, 8)", "nn.ReLU(), nn.Linear(12, 8)"),
    "Vmapped": ("torch.randn(4, 8, 8)", "torch.randn(4, 6, 8)"),
    "FunctionalCall": ("self.base = nn.Linear(8, 4)", "self.base = nn.Linear(7, 4)"),
    "Hooked": ("lambda m, args: (args[0] * 2,)", "lambda m, args: (args[0][:, :5],)"),
    "DP": ("nn.Sequential(nn.Linear(8, 8), nn.ReLU())", "nn.Sequential(nn.Linear(9, 8), nn.ReLU())"),
    "CustomFn": ("self.w = nn.Parameter(torch.ones(8))", "self.w = nn.Parameter(torch.ones(7))"),
    "Vae": ("self.dec = nn.Linear(4, 8)", "self.dec = nn.Linear(4, 9)"),
    "Fourier": ("torch.randn(4, 4, 5, dtype=torch.cfloat)", "torch.randn(4, 4, 6, dtype=torch.cfloat)"),
    "KVCache": ("torch.cat([cache[0], k], 1)", "torch.cat([cache[0], k[..., :8]], 1)"),
    "Hyper": ("w, b = p[:, :32].view(-1, 4, 8), p[:, 32:]", "w, b = p[:, :32].view(-1, 8, 4), p[:, 32:]"),
    "MoE": ("nn.GELU(), nn.Linear(32, d)", "nn.GELU(), nn.Linear(30, d)"),
    "Beam": ("self.out = nn.Linear(32, 20)", "self.out = nn.Linear(30, 20)"),
    "Detector": ("self.head = nn.Conv2d(8, 5, 1)", "self.head = nn.Conv2d(9, 5, 1)"),
    "Tied": ("self.emb(ids) * self.width**0.5", "self.emb(ids)[..., :12]"),
    "SparseGcn": ("deg.unsqueeze(-1)", "deg.unsqueeze(0)"),
    "train_step": ("nn.ReLU(), nn.Linear(16, 3)", "nn.ReLU(), nn.Linear(14, 3)"),
}
"""What stands in a model, and what makes it wrong."""


def _configured(folder: Path, targets: dict[str, str]) -> None:
    tables = [(target, INPUTS[name]) for target, name in targets.items()]
    (folder / "shapelint.toml").write_text(configured(tables), encoding="utf-8")


def _checked(folder: Path) -> Any:
    result = run("check", str(folder), "--python", sys.executable, "--no-cache", "--output-format", "json", "-q")
    return json.loads(result.stdout)


def test_each_kind_is_traced_to_its_end_with_nothing_to_report(tmp_path: Path) -> None:
    shutil.copy(MODELS, tmp_path)
    _configured(tmp_path, {f"odd_models:{name}": name for name in INPUTS})
    report = _checked(tmp_path)
    found = [(one["target"], one["line"], one["rule"]) for one in report["findings"] if one["severity"] != "note"]
    # The one true warning: a covariance made without a device stays where it is made.
    assert [(target, rule) for target, _, rule in found] == [("odd_models:Policy", "device-mismatch")], found
    assert [one["target"] for one in report["targets"] if not one["complete"]] == []


def test_a_fault_inside_each_kind_is_found(tmp_path: Path) -> None:
    targets = {}
    for name, (right, wrong) in FAULTS.items():
        start = re.search(rf"^(class|def) {name}\b", TEXT, re.MULTILINE)
        assert start is not None
        body = TEXT[start.start() :]
        assert right in body, name
        changed = TEXT[: start.start()] + body.replace(right, wrong, 1)
        (tmp_path / f"m_{name.lower()}.py").write_text(
            changed.replace("odd::", f"odd_{name.lower()}::"), encoding="utf-8"
        )
        targets[f"m_{name.lower()}:{name}"] = name
    _configured(tmp_path, targets)
    errors = {one["target"] for one in _checked(tmp_path)["findings"] if one["rule"].startswith(_RAISING)}
    assert sorted(set(targets) - errors) == []


_RAISING = ("matmul", "broadcast", "reshape", "cat", "channel", "index", "tensor", "module", "size", "op-failed")


# What eager mode can't run here: it would compile.
_UNCOMPILED = {"Compiled"}


@pytest.mark.parametrize("name", sorted(set(INPUTS) - _UNCOMPILED))
def test_each_runs_eagerly_as_it_stands_and_fails_with_the_fault(name: str, tmp_path: Path) -> None:
    assert _eager(TEXT, name, tmp_path / "right.py") == (0, "")
    if name in FAULTS:
        at = re.search(rf"^(class|def) {name}\b", TEXT, re.MULTILINE)
        assert at is not None
        wrong = TEXT[: at.start()] + TEXT[at.start() :].replace(*FAULTS[name], 1)
        assert _eager(wrong, name, tmp_path / "wrong.py")[0] > 0


def _eager(text: str, name: str, path: Path) -> tuple[int, str]:
    path.write_text(text.replace("odd::", f"odd_{name.lower()}_{path.stem}::"), encoding="utf-8")
    return raised_at(path, getattr(load(path), name), INPUTS[name])
