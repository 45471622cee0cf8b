"""Checks on records made by hand, and their rules on torch's own messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from shapelint.checks import check_report, merge_findings
from shapelint.checks.classify import rule_of
from shapelint.checks.sizes import expression
from shapelint.findings import Severity
from shapelint.records import (
    Argument,
    Case,
    CaseReport,
    Ending,
    Failure,
    Frame,
    OpNote,
    OpRecord,
    TargetFailure,
    TensorSpec,
    TraceReport,
    TraceTarget,
    ValueRecord,
    WarningRecord,
)
from shapelint.source.files import SourceCache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.torch

SOURCE = "def forward(x, y):\n    z = x + y\n    raise ValueError('no')\n"
RUNS = ((("B", 7),), (("B", 11),), (("B", 1),))
R = torch.randn


@pytest.fixture
def target(tmp_path: Path) -> TraceTarget:
    (tmp_path / "net.py").write_text(SOURCE, encoding="utf-8")
    return TraceTarget("net:forward", str(tmp_path), (str(tmp_path),), (Case(),))


def value(*shapes: tuple[int, ...] | None) -> ValueRecord:
    return ValueRecord(shapes, "float32")


def report(
    target: TraceTarget,
    *,
    failing: tuple[int, ...] = (),
    shapes: tuple[ValueRecord, ...] = (value((7, 3), (11, 3), (1, 3)), value((5,), (5,), (5,))),
    probes: int = 3,
    name: str = "Tensor.add",
    **more: Any,
) -> TraceReport:
    frames = tuple(Frame(f"{target.root}/net.py", "forward", line) for line in (2, 3))
    failures = tuple(
        Failure(run, "RuntimeError", "The size of tensor a (3) must match the size of tensor b (5)") for run in failing
    )
    args = (("", Argument("value", 0)), ("", Argument("value", 1)))
    notes = more.pop("notes", ())
    op = OpRecord("call_method", name, -1, (0,), args, (2,), failures, notes, (0, 1, 2))
    case = CaseReport(
        0, "eval", "", RUNS, probes, (op,), (*shapes, value(None, None, None)), (), more.pop("outputs", ()), **more
    )
    return TraceReport(target.target, f"{target.root}/net.py", 1, None, (case,), frames)


def rules(target: TraceTarget, given: TraceReport, **more: Any) -> list[tuple[str, Severity, int]]:
    return [(f.rule, f.severity, f.location.region.line) for f in check_report(given, target, SourceCache(), **more)]


def test_an_operation_that_fails_for_every_size_is_an_error_that_names_the_shapes(target: TraceTarget) -> None:
    (finding,) = check_report(report(target, failing=(0, 1, 2)), target, SourceCache())
    assert (finding.rule, finding.severity) == ("broadcast-shapes", Severity.ERROR)
    assert finding.message == "x + y can't broadcast 3 with 5 (axis -1): x is [B, 3], y is [5]."
    assert finding.notes == ()


def test_one_that_works_for_another_size_is_a_warning_that_names_both(target: TraceTarget) -> None:
    (finding,) = check_report(report(target, failing=(2,)), target, SourceCache())
    assert (finding.rule, finding.severity) == ("broadcast-shapes", Severity.WARNING)
    assert finding.notes == ("fails for B = 1", "works for B = 7")


def test_what_fails_only_in_an_extra_probe_is_not_reported(target: TraceTarget) -> None:
    ending = Ending(2, "raise", "ValueError", "no", (1,))
    assert rules(target, report(target, failing=(2,), probes=2, endings=(ending,))) == []


def test_a_check_of_the_model_is_size_dependent_where_it_lets_another_size_pass(target: TraceTarget) -> None:
    some = (Ending(2, "raise", "ValueError", "no", (1,)),)
    every = tuple(Ending(run, "raise", "ValueError", "no", (1,)) for run in range(3))
    assert rules(target, report(target, endings=some)) == [("size-dependent", Severity.WARNING, 3)]
    assert rules(target, report(target, endings=every)) == [("rejected-input", Severity.ERROR, 3)]


def test_an_end_that_follows_from_an_invented_answer_only_says_what_was_not_checked(target: TraceTarget) -> None:
    every = tuple(Ending(run, "raise", "ValueError", "no", (1,), invented=True) for run in range(3))
    assert rules(target, report(target, endings=every)) == [("trace-incomplete", Severity.WARNING, 3)]
    assert rules(target, report(target, endings=every[:1])) == []


@pytest.mark.parametrize("name", ["Tensor.add", "Tensor.__rtruediv__"])
def test_a_vector_with_a_column_is_an_outer_broadcast(target: TraceTarget, name: str) -> None:
    shapes = (value((7,), (11,), (1,)), value((7, 1), (11, 1), (1, 1)))
    assert rules(target, report(target, shapes=shapes, name=name)) == [("outer-broadcast", Severity.WARNING, 2)]


def test_tensors_on_two_devices_and_shapes_that_are_not_known_are_findings(target: TraceTarget) -> None:
    notes = (OpNote("device", (0, 1), "cpu", (0,)), OpNote("unknown", (), "", (0,)))
    found = [rule for rule, _, _ in rules(target, report(target, notes=notes))]
    assert found == ["device-mismatch", "unknown-shape"]


def test_outputs_are_compared_size_by_size_in_every_run(target: TraceTarget) -> None:
    given = report(target, outputs=(("", 0),))
    assert rules(target, given, outputs=(TensorSpec("float32", ("B", 3)),)) == []
    assert rules(target, given, outputs=(TensorSpec("float32", ("?", 3)),)) == []
    for wrong in (TensorSpec("float32", ("2*B", 3)), TensorSpec("int64", ("B", 3)), TensorSpec("float32", ("B",))):
        assert [rule for rule, _, _ in rules(target, given, outputs=(wrong,))] == ["output-mismatch"]


def test_a_warning_without_words_is_a_finding_all_the_same(target: TraceTarget) -> None:
    assert rules(target, report(target, warnings=(WarningRecord("UserWarning", "", (0,)),))) == [
        ("emitted-warning", Severity.WARNING, 2)
    ]


def test_a_failure_of_a_kind_nobody_foresaw_is_still_an_error(target: TraceTarget) -> None:
    given = TraceReport(target.target, f"{target.root}/net.py", 1, TargetFailure("new", "OSError", "gone"))
    assert [rule for rule, _, _ in rules(target, given)] == ["trace-crashed"]


def test_one_place_and_rule_is_one_finding_and_an_error_outranks_a_warning(target: TraceTarget) -> None:
    some, every = (check_report(report(target, failing=f), target, SourceCache()) for f in ((2,), (0, 1, 2)))
    assert merge_findings((*some, *every)) == every


@pytest.mark.parametrize(
    ("rule", "name", "call"),
    [
        ("window-size", "conv2d", lambda: nn.Conv2d(3, 4, 5)(R(2, 3, 2, 2))),
        ("tensor-rank", "conv2d", lambda: nn.Conv2d(3, 4, 3)(R(2, 3))),
        ("channel-count", "conv2d", lambda: nn.Conv2d(3, 4, 3)(R(2, 5, 8, 8))),
        ("channel-count", "batch_norm", lambda: nn.BatchNorm2d(3)(R(2, 5, 8, 8))),
        ("channel-count", "layer_norm", lambda: nn.LayerNorm(3)(R(2, 5))),
        ("window-size", "avg_pool2d", lambda: nn.AvgPool2d(3)(R(1, 2, 2, 2))),
        ("module-argument", "lstm", lambda: nn.LSTM(64, 8)(R(2, 3, 32))),
        ("module-argument", "lstm", lambda: nn.GRU(4, 8)(R(2, 3, 4), R(1, 2, 8))),
        ("module-argument", "multi_head_attention_forward", lambda: nn.MultiheadAttention(32, 4)(*[R(3, 2, 16)] * 3)),
        ("tensor-rank", "lstm", lambda: nn.LSTM(64, 8)(R(2, 3, 4, 64))),
        ("tensor-rank", "batch_norm", lambda: nn.BatchNorm1d(3)(R(2, 3, 4, 4))),
        ("matmul-dims", "linear", lambda: nn.Linear(3, 4)(R(2, 5))),
        ("matmul-dims", "bmm", lambda: torch.bmm(R(2, 3, 4), R(2, 5, 3))),
        ("broadcast-shapes", "add", lambda: R(3) + R(4)),
        ("reshape-numel", "view", lambda: R(6).view(4, 2)),
        ("reshape-numel", "expand", lambda: R(3).expand(2, 4)),
        ("cat-shapes", "cat", lambda: torch.cat([R(2, 3), R(3, 3)], 1)),
        ("cat-shapes", "stack", lambda: torch.stack([R(2), R(3)])),
        ("index-range", "sum", lambda: R(2, 3).sum(2)),
        ("index-range", "__getitem__", lambda: R(2)[5]),
        ("index-range", "split", lambda: torch.split(R(5), [2, 2])),
        ("dtype-mismatch", "linear", lambda: nn.Linear(3, 4)(R(2, 3).double())),
        ("dtype-mismatch", "embedding", lambda: nn.Embedding(3, 4)(R(2))),
    ],
)
def test_torch_s_own_words_lead_to_the_rule(rule: str, name: str, call: Callable[[], object]) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011  # which exception it is, is torch's choice
        call()
    assert rule_of(name, type(caught.value).__name__, str(caught.value)) == rule


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ((7, 11, 13), "B"),
        ((14, 22, 26), "2*B"),
        ((8, 12, 14), "B+1"),
        ((3, 5, 6), "B//2"),
        ((64, 64, 64), "64"),
        ((3, 80, 1), "?"),
    ],
)
def test_a_size_is_an_expression_that_holds_in_every_run_or_a_question_mark(sizes: tuple[int, ...], text: str) -> None:
    assert expression(sizes, ((("B", 7),), (("B", 11),), (("B", 13),))) == text


HEIGHTS = (67, 194, 163)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (lambda h: h // 2, "H//2"),
        (lambda h: (h - 1) // 2, "(H+1)//2-1"),
        (lambda h: (h + 31) // 32, "(H+31)//32"),
        (lambda h: h // 8 - 4, "H//8-4"),
        (lambda h: (h - 4) // 2 + 1, "H//2-1"),
        (lambda h: 2 * (h // 2), "2*(H//2)"),
        (lambda h: h * h + 1, "?"),
    ],
)
def test_a_size_that_strides_and_windows_made_is_the_one_expression_that_fits(
    size: Callable[[int], int], text: str
) -> None:
    made = tuple(size(height) for height in HEIGHTS)
    assert expression(made, tuple((("H", height),) for height in HEIGHTS)) == text


def test_a_product_of_two_axes_that_a_stride_divided_names_both() -> None:
    sizes = tuple((("H", h), ("W", w)) for h, w in ((67, 97), (194, 262), (163, 193)))
    assert expression(tuple((h // 16) * (w // 16) for (_, h), (_, w) in sizes), sizes) == "(H//16)*(W//16)"
    assert expression(tuple(8 * ((h + 1) // 2) * ((w + 1) // 2) for (_, h), (_, w) in sizes), sizes) == (
        "8*((H+1)//2)*((W+1)//2)"
    )


def test_a_size_that_several_expressions_fit_is_a_question_mark() -> None:
    assert expression((1, 4, 2), ((("T", 7),), (("T", 22),), (("T", 13),))) == "?"
