"""`explore`: each boolean argument of the constructor is tried the other way too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cli_samples import check, lay

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

NET = """
from torch import nn


class Net(nn.Module):
    def __init__(self, wide=False, strict=True, bias=True):
        super().__init__()
        if not strict:
            raise ValueError("always strict")
        self.wide = wide
        self.fc = nn.Linear(8, 4, bias=bias)
        self.big = nn.Linear(9, 4)

    def forward(self, x):
        return self.big(x) if self.wide else self.fc(x)
"""
CONFIG = """
[[models]]
target = "net:Net"
modes = ["eval", "train"]
inputs = { x = "float32[B, 8]" }
"""


def test_a_fault_behind_a_flag_is_found_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay(tmp_path, {"net.py": NET, "shapelint.toml": CONFIG + "explore = true\n"})
    report = json.loads(check("--output-format", "json").stdout)
    (finding,) = report["findings"]
    assert (finding["rule"], finding["line"]) == ("matmul-dims", 14)
    assert "with wide=True" in finding["message"]
    (target,) = report["targets"]
    assert target["cases"] == 6  # as it is, wide and without bias, in both modes; the constructor refuses strict=False
    assert target["complete"]


@pytest.mark.parametrize("given", ["args = [true]", "kwargs = { wide = true }"])
def test_a_given_argument_is_turned_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.chdir(tmp_path)
    lay(tmp_path, {"net.py": NET.replace("nn.Linear(8, 4", "nn.Linear(7, 4").replace("(9, 4)", "(8, 4)")})
    lay(tmp_path, {"shapelint.toml": f"{CONFIG}{given}\nexplore = true\n"})
    (finding,) = json.loads(check("--output-format", "json").stdout)["findings"]
    assert "with wide=False" in finding["message"]


def test_without_it_only_the_configured_model_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lay(tmp_path, {"net.py": NET, "shapelint.toml": CONFIG})
    assert check().exit_code == 0
