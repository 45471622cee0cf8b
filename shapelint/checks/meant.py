"""Whether an operation that fails for every regular size works for another one that was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapelint.checks.view import View
    from shapelint.records import CaseReport, OpRecord

_LAYERS_OWN = frozenset(("linear", "Linear", "cross_entropy", "CrossEntropyLoss", "nll_loss", "NLLLoss"))
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
    """The first extra run that comes to this op without a failure and passes it; None if there is none."""
    number = case.ops.index(op)
    failed = {failure.run for earlier in case.ops[: number + 1] for failure in earlier.failures}
    base = dict(case.assignments[0])
    for run in op.runs:
        if run < case.probes or run in failed:
            continue
        changed = {name: size for name, size in case.assignments[run] if base[name] != size}
        text = ", ".join(f"{name} = {size}" for name, size in changed.items())
        if len(changed) != 1:
            return Meant(text, many=True)
        name, size = next(iter(changed.items()))
        if name in view.target.batch:
            return Meant(text, hard_coded=True)
        double = tuple({**base, name: 2 * size}.items())
        twice = next((r for r, given in enumerate(case.assignments) if r >= case.probes and given == double), None)
        if twice is not None and twice in op.runs and twice not in failed:
            return Meant(text, many=True)
        return Meant(text, hard_coded=op.target.rsplit(".", 1)[-1] not in _LAYERS_OWN)
    return None
