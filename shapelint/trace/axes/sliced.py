"""Tables that are cut or looked up by the size of the batch, as a positional encoding is where the axes were mixed up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.trace.axes.layout import shape

if TYPE_CHECKING:
    from shapelint.records import Argument, CaseReport
    from shapelint.trace.axes.calls import Call
    from shapelint.trace.axes.follow import Followed

_THROUGH = frozenset("unsqueeze expand view reshape to long repeat clone contiguous expand_as __getitem__ int".split())
_ARITHMETIC = frozenset("add add_ sub sub_ mul mul_ div cat concat addcmul where".split())
_BACK = 6


def by_batch(call: Call, case: CaseReport, state: Followed) -> bool:
    """Whether a table of a fixed size is cut as ``table[:B]`` and then combined with data, or looked up at ``arange(B)``."""
    if call.short in ("embedding", "Embedding"):
        return bool(call.tensors) and _counts(call.tensors[0], case, state)
    if call.short not in ("__getitem__", "getitem") or len(call.op.args) < 2 or call.first is None:  # noqa: PLR2004
        return False
    if call.tensors[0] in state.data:
        return False
    index = call.op.args[1][1]
    items = index.items if index.kind == "list" and index.literal != "slice" else (index,)
    old = shape(call.first)
    for position, item in enumerate(items):
        if position >= len(old) or len(set(old[position])) != 1:
            return False
        if _ends_at_batch(item, state):
            return _meets_data(call, case, state)
        if item.kind != "list":
            return False
    return False


def _ends_at_batch(item: Argument, state: Followed) -> bool:
    """Whether the index is ``[:B]``."""
    if item.kind != "list" or item.literal != "slice" or state.batch is None:
        return False
    begin, end, step = item.items
    if begin.literal not in (None, 0) or step.literal not in (None, 1) or not isinstance(end.literal, list):
        return False
    return tuple([end.literal[run] for run in state.runs]) == state.batch


def _meets_data(call: Call, case: CaseReport, state: Followed) -> bool:
    """Whether what was cut is added to data, or joined with it: a state that is only handed on is none of this."""
    made = set(call.op.outputs)
    for later in case.ops[call.number + 1 :]:
        given = [argument.value for _, argument in later.args if argument.kind == "value"]
        given += [item.value for _, argument in later.args for item in argument.items if item.kind == "value"]
        if not made.intersection(given):
            continue
        short = later.target.rsplit(".", 1)[-1]
        if short in _ARITHMETIC:
            return any(value not in made for value in given)
        if short in _THROUGH:
            made.update(later.outputs)
    return False


def _counts(value: int, case: CaseReport, state: Followed) -> bool:
    """Whether a value is ``arange(B)``, perhaps with further axes."""
    for _ in range(_BACK):
        producer = case.values[value].producer
        if producer < 0:
            return False
        op = case.ops[producer]
        short = op.target.rsplit(".", 1)[-1]
        if short == "arange":
            return state.shape(case, value) == (state.batch,)
        if short not in _THROUGH or not op.args or op.args[0][1].kind != "value":
            return False
        value = op.args[0][1].value
    return False
