"""Shapes that run and are wrong because an axis isn't what the code takes it for: SL401, SL408 to SL410, SL412."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapelint.checks.view import View
    from shapelint.findings import Finding
    from shapelint.records import CaseReport, OpNote, OpRecord


def mixed(view: View, case: CaseReport) -> Iterator[Finding]:
    """A finding for each op at which the trace noted one of these rules."""
    for op in case.ops:
        for note in op.notes:
            tell = _TELLERS.get(note.kind)
            if tell is not None and not op.failures:
                short = op.target.rsplit(".", 1)[-1] if op.opcode != "call_module" else ""
                message, fix = tell(view, case, op, note)
                yield view.finding(
                    note.kind, message, view.place(op.stack, short), related=view.related(case, op), fix=fix
                )


def _called(view: View, op: OpRecord) -> str:
    """What the source calls the op: ``self.lstm``, ``F.softmax``, ``view``."""
    short = op.target.rsplit(".", 1)[-1]
    info = SourceMap(view.sources).call_at(view.report.frames[op.stack[-1]]) if op.stack else None
    layer = view.report.modules[op.module].path if op.opcode == "call_module" and op.module >= 0 else ""
    if info is not None and info.kind == "call":
        if layer and layer.rpartition(".")[2] == info.name:
            return info.callee
        if not layer and info.name == short:
            return short
    return layer or short


def _shape(view: View, case: CaseReport, note: OpNote, index: int = 0) -> str:
    return view.shape(case, note.values[index]) if index < len(note.values) else "[?]"


def _along(view: View, case: CaseReport, op: OpRecord, note: OpNote) -> tuple[str, str]:
    given = _shape(view, case, note)
    called = _called(view, op)
    record = view.report.modules[op.module] if op.opcode == "call_module" and op.module >= 0 else None
    if record is None or record.batch_first is None:
        return f"{called} {note.text} the batch, so samples see each other: its input is {given}.", ""
    rank = len(view.sizes(case, note.values[0]))
    if rank == 2:  # noqa: PLR2004  # no batch axis at all
        why = f"an input of two axes is one sequence to it, and it gets {given}"
        return f"{called} {note.text} the batch, so samples see each other: {why}.", "add the missing axis"
    told = f"with batch_first={record.batch_first} axis {1 if record.batch_first else 0} is the sequence"
    return (
        f"{called} {note.text} the batch, so samples see each other: {told}, and it gets {given}.",
        f"batch_first={not record.batch_first}",
    )


def _folded(view: View, case: CaseReport, op: OpRecord, note: OpNote) -> tuple[str, str]:
    before, after = _shape(view, case, note), _shape(view, case, note, 1)
    called = op.target.rsplit(".", 1)[-1]
    what = "a row of the result holds elements of several of them, or a part of one"
    return f"{called} of {before} to {after} mixes samples: {what}.", ""


def _sliced(view: View, case: CaseReport, op: OpRecord, note: OpNote) -> tuple[str, str]:
    del op
    table = f"A table of {_shape(view, case, note)} is cut by the batch size {_batch(view, case)}"
    return f"{table}: the same row goes to a whole sample.", "take the size of the axis that the table is for"


def _transposed(view: View, case: CaseReport, op: OpRecord, note: OpNote) -> tuple[str, str]:
    before, after = _shape(view, case, note), _shape(view, case, note, 1)
    called = op.target.rsplit(".", 1)[-1]
    return (
        f"{called} of {before} to {after} renames the axes and leaves the elements where they are: they end up mixed.",
        "transpose or permute moves them",
    )


def _squeezed(view: View, case: CaseReport, op: OpRecord, note: OpNote) -> tuple[str, str]:
    del op
    message = f"squeeze of {_shape(view, case, note)} drops the batch axis too where {_batch(view, case)} = 1."
    return message, "name the axis to drop: squeeze(-1)"


def _batch(view: View, case: CaseReport) -> str:
    """The name that stands for the batch."""
    return next((name for name, _ in case.assignments[0] if name in view.target.batch), "the batch")


_TELLERS: dict[str, Callable[[View, CaseReport, OpRecord, OpNote], tuple[str, str]]] = {
    "batch-axis-mixed": _along,
    "batch-folded": _folded,
    "batch-sliced-constant": _sliced,
    "view-as-transpose": _transposed,
    "squeezed-batch": _squeezed,
}
