"""How a shape came about: the operations that changed it, from the input on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.checks.view import View, values_of
from shapelint.findings import Step
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from shapelint.findings import Location
    from shapelint.records import CaseReport, OpRecord

_MOST = 24
"""So many steps are told; of a longer way its end."""


def trail(view: View, case: CaseReport, op: OpRecord, runs: tuple[int, ...]) -> tuple[Step, ...]:
    """The longest way to an operand of ``op``, for a layer to its first; nothing where no operation changed a shape."""
    values = [value for value in values_of(op) if not _is_own(case, value)]
    if op.opcode == "call_module":
        values = values[:1]
    ways = [_way(view, case, value, runs) for value in values]
    best = max(ways, key=len, default=())
    return best if len(best) > 1 else ()


def _is_own(case: CaseReport, value: int) -> bool:
    return case.values[value].source.startswith(("param:", "buffer:"))


def _way(view: View, case: CaseReport, value: int, runs: tuple[int, ...]) -> tuple[Step, ...]:
    steps: list[Step] = []
    seen = {value}
    while len(steps) < _MOST:
        record = case.values[value]
        shape = _shape(view, case, value, runs)
        made = case.ops[record.producer] if record.producer >= 0 else None
        if made is None:
            name = record.source.partition(":")[2] or record.source
            steps.append(Step(_start(view, steps), f"{name} -> {shape}"))
            break
        before = [one for one in values_of(made) if one not in seen and not _is_own(case, one)]
        if not before or _shape(view, case, before[0], runs) != shape:
            steps.append(Step(view.place(made.stack, _short(made)), f"{_label(view, made)} -> {shape}"))
        if not before:
            break
        value = before[0]
        seen.add(value)
    return tuple(reversed(steps))


def _shape(view: View, case: CaseReport, value: int, runs: tuple[int, ...]) -> str:
    return f"[{', '.join(view.told(case, value, runs))}]"


def _start(view: View, steps: list[Step]) -> Location:
    """Where an input comes in: the function that the first step stands in."""
    if not steps:
        return view.definition()
    first = steps[-1].location
    return SourceMap(view.sources).definition(first.path, first.region.line)


def _short(op: OpRecord) -> str:
    return op.target.rsplit(".", 1)[-1] if op.opcode != "call_module" else ""


def _label(view: View, op: OpRecord) -> str:
    """``conv1`` for a layer, ``net.3`` for one in a sequence, ``flatten`` for a function, ``[…]`` for an index."""
    if op.opcode == "call_module" and op.module >= 0:
        path = view.report.modules[op.module].path or "the model"
        last = path.rpartition(".")[2]
        return (
            path
            if last.isdigit() and path.count(".") == 1
            else ".".join(path.split(".")[-2:])
            if last.isdigit()
            else last
        )
    short = op.target.rsplit(".", 1)[-1]
    return {"__getitem__": "[…]", "__setitem__": "[…] ="}.get(short, short)
