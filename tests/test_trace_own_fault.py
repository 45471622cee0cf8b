"""A fault of the tracer's own is told as one, and never as a fault of the model."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

import torch  # noqa: E402

from shapelint.checks import check_report  # noqa: E402
from shapelint.records import Case, InputTree, TensorSpec, TraceTarget  # noqa: E402
from shapelint.source.files import SourceCache  # noqa: E402
from shapelint.trace import dtypes, session  # noqa: E402


class Model(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.relu() + 1


def test_it_names_the_place_in_the_tracer_and_asks_to_hear_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(dtypes, "check")
    case = Case((("x", InputTree("tensor", TensorSpec("float32", ("B", 4)))),))
    target = TraceTarget("made:Model", "/", (), (case,), modes=("eval",))
    report = session.trace(target, session.Loaded(SimpleNamespace(Model=Model)))
    (finding,) = check_report(report, target, SourceCache())
    assert finding.rule == "trace-incomplete"
    assert "a fault of the tracer's own" in finding.message
    assert "(mode.py:" in finding.message
