"""Whether an operation that fails for every regular size works for another one that was tried."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks.view import values_of

if TYPE_CHECKING:
    from shapelint.checks.view import View
    from shapelint.records import CaseReport, OpRecord

_LAYERS_OWN = re.compile(
    r"[lL]inear|[cC]onv(_transpose|Transpose)?[123]d|.*([lL]oss|_entropy)|Batch[nN]orm.*|batch_norm"
)
"""Layers whose own sizes are meant to be fixed, and losses over classes: another size isn't hard-coded in them."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A size that works, in words.

    ``hard_coded``: a literal stands where the name belongs. ``many``: other sizes work too.
    """

    text: str
    hard_coded: bool = False
    many: bool = False


def meant_size(view: View, case: CaseReport, op: OpRecord) -> Meant | None:
    """The first extra run that passes this op and fails only where the regular ones do; None if there is none."""
    number = case.ops.index(op)
    failed = {failure.run for earlier in case.ops[: number + 1] for failure in earlier.failures}
    # A failure that only an extra size brings about says that this size isn't meant either.
    for later in case.ops[number + 1 :]:
        if all(failure.run >= case.probes or 1 in sized_in(case, failure.run) for failure in later.failures):
            failed |= {failure.run for failure in later.failures}
    base = dict(case.assignments[0])
    for run in op.runs:
        if run < case.probes or run in failed:
            continue
        changed = {name: size for name, size in case.assignments[run] if base[name] != size}
        text = ", ".join(f"{name} = {size}" for name, size in changed.items())
        if len(changed) != 1:
            return Meant(text, many=True)
        name, size = next(iter(changed.items()))
        # A layer takes its operands for different things; the axes of an operation's operands stand for the same.
        if op.opcode != "call_module" and _elsewhere(case, op, name, size):
            continue
        if name in view.target.batch:
            return Meant(text, hard_coded=True)
        double = tuple({**base, name: 2 * size}.items())
        twice = next((r for r, given in enumerate(case.assignments) if r >= case.probes and given == double), None)
        if twice is not None and twice in op.runs and twice not in failed:
            return Meant(text, many=True)
        return Meant(text, hard_coded=_LAYERS_OWN.fullmatch(op.target.rsplit(".", 1)[-1]) is None)
    return None


def _elsewhere(case: CaseReport, op: OpRecord, name: str, size: int) -> bool:
    """Whether the number belongs to a tensor with the named dimension along another axis: two axes were confused."""
    counts = [dict(given)[name] for given in case.assignments[: case.probes]]
    for value in values_of(op):
        shapes = case.values[value].shapes[: case.probes]
        if any(shape is None for shape in shapes) or len({len(shape or ()) for shape in shapes}) != 1:
            continue
        axes = list(zip(*[shape for shape in shapes if shape is not None]))
        if any(set(axis) == {size} for axis in axes) and any(list(axis) == counts for axis in axes):
            return not _asked(op, size)
    return False


def _asked(op: OpRecord, size: int) -> bool:
    """Whether the number is an argument of the op, as in ``view(12, -1)``."""
    return any(item.literal == size for _, given in op.args for item in (given, *given.items))


def sized_in(case: CaseReport, run: int) -> set[int]:
    """The sizes of a run."""
    return {size for _, size in case.assignments[run]}
