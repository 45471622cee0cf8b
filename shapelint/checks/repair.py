"""Edits that put the size that flows into a layer where the layer was made, and why a fault has none."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shapelint.checks.view import View, values_of
from shapelint.source.edits import replace_argument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shapelint.findings import Edit, Finding, Location
    from shapelint.records import CaseReport, OpRecord

RULES = frozenset(("matmul-dims", "channel-count", "module-argument", "hard-coded-size"))
"""The rules of faults that a number in a layer's constructor can be the cause of."""


@dataclass(frozen=True, slots=True)
class _Argument:
    """Where a layer is told a size, and the axis of its first input that has it, for an input of that rank."""

    position: int
    keyword: str
    axis: int


_LAST = {
    "Linear": "in_features",
    "LayerNorm": "normalized_shape",
    "RMSNorm": "normalized_shape",
    "MultiheadAttention": "embed_dim",
    "TransformerEncoderLayer": "d_model",
    "TransformerDecoderLayer": "d_model",
    **dict.fromkeys(("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"), "input_size"),
}
_SECOND = re.compile(r"(Lazy)?(Sync)?(BatchNorm|InstanceNorm)\d?d?")
_CONV = re.compile(r"Conv(Transpose)?(\d)d")


def with_fixes(findings: Sequence[Finding], views: Iterable[View], certain: Iterable[View]) -> tuple[Finding, ...]:
    """The findings, those with a fix that have a certain one.

    ``views`` are all models of the run, which must agree on a size; ``certain`` those of them whose inputs are stated
    and not guessed: only what is found in these gets a fix.
    """
    views = tuple(views)
    if not any(finding.rule in RULES for finding in findings):
        return tuple(findings)
    seen: dict[Location, set[int]] = {}
    for view in views:
        for made, size in _seen(view):
            seen.setdefault(made, set()).add(size)
    edits: dict[Location, list[Edit | None]] = {}
    for view in certain:
        for place, made, edit in _edits(view):
            agreed = edit if len(seen.get(made, ())) == 1 else None
            edits.setdefault(place, []).append(agreed)
    return tuple([_fixed(finding, edits.get(finding.location, ())) for finding in findings])


def _fixed(finding: Finding, edits: Sequence[Edit | None]) -> Finding:
    if finding.rule not in RULES or finding.fix or not edits or any(edit is None for edit in edits):
        return finding
    return replace(finding, fix=tuple(dict.fromkeys(edit for edit in edits if edit is not None)))


def _layers(view: View) -> Iterator[tuple[CaseReport, OpRecord, _Argument]]:
    """The calls of layers that are told a size which an axis of their first input must have."""
    for case in view.report.cases:
        for op in case.ops:
            if op.opcode != "call_module" or op.module < 0 or not values_of(op):
                continue
            shape = next((s for s in case.values[values_of(op)[0]].shapes if s is not None), None)
            argument = _told(op.target.rsplit(".", 1)[-1], len(shape)) if shape else None
            if argument is not None and view.report.modules[op.module].made:
                yield case, op, argument


def _told(kind: str, rank: int) -> _Argument | None:
    if kind in _LAST:
        return _Argument(0, _LAST[kind], rank - 1)
    conv = _CONV.fullmatch(kind)
    if conv:
        axis = rank - int(conv[2]) - 1
        return _Argument(0, "in_channels", axis) if axis in {0, 1} else None
    if rank > 1 and _SECOND.fullmatch(kind):
        return _Argument(0, "num_features", 1)
    if rank > 1 and kind == "GroupNorm":
        return _Argument(1, "num_channels", 1)
    return None


def _seen(view: View) -> Iterator[tuple[Location, int]]:
    """The sizes that came to each place where a layer was made, from the regular runs of every case."""
    for case, op, argument in _layers(view):
        made = _made(view, op)
        shapes = case.values[values_of(op)[0]].shapes[: case.probes]
        yield from ((made, shape[argument.axis]) for shape in shapes if shape and len(shape) > argument.axis)


def _edits(view: View) -> Iterator[tuple[Location, Location, Edit | None]]:
    """For each failed op: where it stands, where its layer was made (if it is one), and the edit there, if any."""
    told = {id(op): argument for _, op, argument in _layers(view)}
    for case in view.report.cases:
        for op in case.ops:
            if not any(failure.run < case.probes for failure in op.failures):
                continue
            place = view.place(op.stack, op.target.rsplit(".", 1)[-1] if op.opcode != "call_module" else "")
            argument = told.get(id(op))
            if argument is None:
                yield place, place, None
            else:
                made = _made(view, op)
                yield place, made, _edit(view, case, op, argument, made)


def _edit(view: View, case: CaseReport, op: OpRecord, argument: _Argument, made: Location) -> Edit | None:
    shapes = [shape for shape in case.values[values_of(op)[0]].shapes[: case.probes] if shape is not None]
    if len({len(shape) for shape in shapes}) != 1 or len({shape[argument.axis] for shape in shapes}) != 1:
        return None  # what comes in hangs on a named dimension: no number is right
    source = view.sources.load(made.path)
    shown = source.text[source.offset(made.region.line, made.region.column) :]
    kind = op.target.rsplit(".", 1)[-1]
    if not shown.partition("(")[0].endswith(kind):
        return None  # made by a subclass or a function, whose arguments mean something else
    edit = replace_argument(source, made, argument.position, argument.keyword, shapes[0][argument.axis])
    if edit is None:
        return None
    region = edit.location.region
    old = source.text[source.offset(region.line, region.column) : source.offset(region.end_line, region.end_column)]
    meant = math.prod(int(part.strip("() \t\r\n"), 0) for part in old.split("*"))
    if meant == shapes[0][argument.axis] or any(_is_turned(shape, argument.axis, meant) for shape in shapes):
        return None
    return edit


def _is_turned(shape: tuple[int, ...], axis: int, meant: int) -> bool:
    """Whether the size that the layer is told stands elsewhere in its input.

    Then the axes are in the wrong order, or a flatten is missing, and another number would only hide it.
    """
    others = (*shape[:axis], *shape[axis + 1 :])
    return meant in others or any(math.prod(shape[start:]) == meant for start in range(len(shape) - 1))


def _made(view: View, op: OpRecord) -> Location:
    return view.place(view.report.modules[op.module].made[-1:], op.target.rsplit(".", 1)[-1])
