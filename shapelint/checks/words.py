"""What a failed operation is told in: the user's names, both operands, the numbers that disagree, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks import tell_layers, tell_losses, tell_moves, tell_products, tell_types
from shapelint.checks.advice import advice
from shapelint.checks.call import Call
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.checks.view import View
    from shapelint.records import CaseReport, Failure, OpNote, OpRecord


@dataclass(frozen=True, slots=True)
class Words:
    """A first sentence that stands alone, and what to do where that is certain (else "")."""

    message: str
    help: str = ""


TELLERS: dict[str, Callable[[Call], str]] = {
    **tell_layers.TELLERS,
    **tell_losses.TELLERS,
    **tell_moves.TELLERS,
    **tell_products.TELLERS,
}


def explain(view: View, case: CaseReport, op: OpRecord, failure: Failure, runs: tuple[int, ...]) -> Words:
    """The words for a failed op: torch's own, behind what was called with which shapes, where there are none better."""
    info = SourceMap(view.sources).call_at(view.report.frames[op.stack[-1]]) if op.stack else None
    kind = op.target.rsplit(".", 1)[-1]
    call = Call(view, case, op, kind, failure.message, runs, info)
    tensors = call.tensors()
    try:
        said = tell(call)
        if said:
            return Words(said, advice(call))
    except (IndexError, KeyError, TypeError, ValueError):
        # Arguments that no sentence foresees, such as a list where a number belongs: torch's own words tell of them.
        said = ""
    raw = failure.message.split("\n")[0].rstrip(". ")
    given = " and ".join(one.shape if not one.text else f"{one.text} {one.shape}" for one in tensors[:3])
    return Words(f"{call.spoken} gets {given}: {raw}." if given else f"{call.spoken}: {raw}.")


def tell(call: Call) -> str:
    """The sentence for a failed call, "" where there is none for it."""
    said = tell_types.dtypes(call)
    for name in (call.kind, call.kind.rstrip("_"), (call.op.inner or call.op.target).rsplit(".", 1)[-1]):
        teller = TELLERS.get(name)
        if not said and teller is not None:
            said = teller(call)
    return said


def spread(view: View, case: CaseReport, op: OpRecord) -> str:
    """The words for a loss that runs though its operands have two shapes, "" where they have one."""
    return tell_losses.broadcasts(_call(view, case, op))


def squared(view: View, case: CaseReport, op: OpRecord) -> str:
    """The words for a vector and a column that give a square, "" where these aren't the operands."""
    return tell_products.pairwise(_call(view, case, op))


def spoken(view: View, case: CaseReport, op: OpRecord) -> str:
    """What the source calls an op."""
    return _call(view, case, op).spoken


def apart(view: View, case: CaseReport, op: OpRecord, note: OpNote) -> str:
    """The words for tensors that meet and can't on a GPU: ``note`` has the one that stays and one that moves."""
    call = _call(view, case, op)
    tensors = call.tensors()
    stays = next((one for one in tensors if case.values[one.value].pinned), None)
    moves = next((one for one in tensors if not case.values[one.value].pinned and one.rank), None)
    device = note.text or "cpu"
    if stays is None or (moves is None and call.layer is None):
        return f"{call.spoken} mixes a tensor that stays on the {device} with data that moves: it fails on every GPU."
    other = f"{moves.name} {moves.shape}, which moves" if moves is not None else "its weights, which move"
    one = f"{stays.name} {stays.shape}, which stays on the {device}"
    return f"{call.spoken} mixes {one}, with {other}: it fails on every GPU."


def _call(view: View, case: CaseReport, op: OpRecord) -> Call:
    info = SourceMap(view.sources).call_at(view.report.frames[op.stack[-1]]) if op.stack else None
    return Call(view, case, op, op.target.rsplit(".", 1)[-1], "", op.runs[:1] or (0,), info)
