"""Operations that treat the batch as what it isn't: the notes that the checks read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shapelint.records import CaseReport, OpNote
from shapelint.trace.axes import sliced
from shapelint.trace.axes.along import ELEMENTWISE, batch_at
from shapelint.trace.axes.calls import plain
from shapelint.trace.axes.follow import Followed, calls, start
from shapelint.trace.axes.layers import RECURRENT, TRANSFORMERS, batch_first
from shapelint.trace.axes.layout import Layout, apart, axis_count, is_batch
from shapelint.trace.axes.transposed import swapped, without_skews

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.records import ModuleRecord
    from shapelint.trace.axes.calls import Call

# The rules' names, as their pages have them.
MIXED, FOLDED, SLICED = "batch-axis-mixed", "batch-folded", "batch-sliced-constant"
TRANSPOSED, SQUEEZED = "view-as-transpose", "squeezed-batch"

_ALONG = frozenset(
    "softmax log_softmax softmin Softmax LogSoftmax Softmin sort argsort topk cumsum cumprod cummax cummin logcumsumexp "
    "sparsemax gumbel_softmax normalize cosine_similarity CosineSimilarity".split()
)
_PAIRED = ELEMENTWISE | frozenset(
    "cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
    "CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss KLDivLoss cat stack".split()
)
_SEQUENCE = 3
_BACK = 3
_PRODUCTS = frozenset(("matmul", "bmm", "mm", "__matmul__"))


def annotate(case: CaseReport, modules: tuple[ModuleRecord, ...], batch: tuple[str, ...]) -> CaseReport:
    """The report with a note at each op that runs along the batch, mixes it, or moves axes without moving elements.

    ``batch`` are the names that stand for the batch. A note's ``kind`` is the name of a rule, its ``text`` the axis or the
    operation in words; its ``values`` are those the message speaks of.
    """
    state = start(case, batch)
    if state is None:
        return case
    notes: dict[int, list[OpNote]] = {}
    for call in calls(case, modules, state):
        for number, note in _of_call(call, case, state):
            known = notes.setdefault(number, [])
            if all(note.kind != other.kind for other in known):
                known.append(note)
    for number, note in _of_outputs(case, state):
        known = notes.setdefault(number, [])
        if not known:
            known.append(note)
    turned = {number for number, known in notes.items() if any(note.kind == TRANSPOSED for note in known)}
    for number in turned - without_skews(turned, case):
        notes[number] = [note for note in notes[number] if note.kind != TRANSPOSED]
    if not any(notes.values()):
        return case
    ops = [replace(op, notes=(*op.notes, *notes.get(n, ()))) if n in notes else op for n, op in enumerate(case.ops)]
    return replace(case, ops=tuple(ops))


def _of_call(call: Call, case: CaseReport, state: Followed) -> Iterator[tuple[int, OpNote]]:
    def note(kind: str, text: str = "", values: tuple[int, ...] = ()) -> tuple[int, OpNote]:
        return call.number, OpNote(kind, values or call.tensors[:1], text, state.runs)

    if swapped(call, case, state):
        yield note(TRANSPOSED, values=(*call.tensors[:1], *call.op.outputs[:1]))
    if state.batch is None or call.op.failures or call.first is None:
        return
    if call.tensors and call.tensors[0] in state.data:
        text = _runs_along(call, case)
        if text:
            yield note(MIXED, text)
    if sliced.by_batch(call, case, state):
        yield note(SLICED)
    if call.short in ("squeeze", "Squeeze") and _loses(call, case, state):
        yield note(SQUEEZED, values=(*call.tensors[:1], *call.op.outputs[:1]))
    if call.short in _PAIRED:
        for number in _pairs(call):
            yield number, OpNote(FOLDED, _moved_values(case, number), "", state.runs)


# ---------------------------------------------------------------------------------------------------- along an axis


def _runs_along(call: Call, case: CaseReport) -> str:
    """What the op does along the batch axis, in words; "" if nothing."""
    first = apart(call.first or ())
    if call.short in _PRODUCTS:
        return "attends along" if len(call.layouts) > 1 and _weighs_samples(call, case) else ""
    if sum(segment.batch for segment in first) != 1:
        # Along one of two batch axes: all samples against all others, as contrastive losses have them.
        return ""
    if call.short in RECURRENT and not _packed(call):
        return "steps through" if _sequence_is_batch(call, first) else ""
    if call.short in TRANSFORMERS or call.short == "MultiheadAttention":
        return "attends along" if _sequence_is_batch(call, first) else ""
    if call.short == "scaled_dot_product_attention":
        return "attends along" if len(first) > 1 and is_batch(first[-2]) else ""
    if call.short in ("__getitem__", "getitem"):
        return "picks the last entry along" if is_batch(first[0]) and _last_of_sequence(call, case) else ""
    if call.short in _ALONG:
        at = _axis(call)
        return "runs along" if at is not None and len(first) > 1 and is_batch(first[at]) else ""
    return ""


def _last_of_sequence(call: Call, case: CaseReport) -> bool:
    """Whether this is ``out[-1]`` of what a recurrent layer with ``batch_first`` returned: a sample, not a step."""
    producer = case.values[call.tensors[0]].producer
    if producer < 0 or len(call.op.args) < 2 or plain(call.op.args[1][1]) != -1:  # noqa: PLR2004  # tensor and index
        return False
    op = case.ops[producer]
    return (
        op.target.rsplit(".", 1)[-1] in RECURRENT and op.outputs[:1] == call.tensors[:1] and op.opcode == "call_module"
    )


def _weighs_samples(call: Call, case: CaseReport) -> bool:
    """Whether a product takes sums over the samples with weights that a softmax made: attention by hand."""
    left, right = (apart(layout) if layout is not None else () for layout in call.layouts[:2])
    if min(len(left), len(right)) < 2 or not (is_batch(left[-1]) and is_batch(left[-2]) and is_batch(right[-2])):  # noqa: PLR2004
        return False
    value = call.tensors[0]
    for _ in range(_BACK):
        producer = case.values[value].producer
        if producer < 0:
            return False
        op = case.ops[producer]
        short = op.target.rsplit(".", 1)[-1]
        if "oftmax" in short:
            return True
        if "ropout" not in short or not op.args or op.args[0][1].kind != "value":
            return False
        value = op.args[0][1].value
    return False


def _sequence_is_batch(call: Call, first: Layout) -> bool:
    told = batch_first(call)
    if told is None or len(first) not in (_SEQUENCE - 1, _SEQUENCE):
        return False
    # Without a batch axis the sequence stands in front, whatever batch_first says.
    return is_batch(first[1 if told and len(first) == _SEQUENCE else 0])


def _packed(call: Call) -> bool:
    return bool(call.op.args) and call.op.args[0][1].kind != "value"


_DEFAULTS = {"sort": -1, "argsort": -1, "topk": -1, "normalize": 1, "cosine_similarity": 1}
_PLACES = {"topk": 2, "gumbel_softmax": 3, "normalize": 2, "cosine_similarity": 2}


def _axis(call: Call) -> int | None:
    """The axis a softmax, sort or running sum works along."""
    rank = axis_count(call.first or ())
    if call.short[0].isupper():
        shown = call.module.shown if call.module is not None else ""
        number = shown.partition("dim=")[2].partition(",")[0]
        dim = int(number) if number.lstrip("-").isdigit() else None
    else:
        given = call.argument(_PLACES.get(call.short, 1), "dim")
        dim = plain(given) if given is not None else _DEFAULTS.get(call.short)
        if given is not None and dim is None and given.literal is not None:
            return None
    if dim is None and "oft" in call.short:
        dim = 0 if rank in (0, 1, 3) else 1  # what torch takes where nothing is said
    return dim % rank if dim is not None and rank and -rank <= dim < rank else None


# -------------------------------------------------------------------------------------------------------- mixing


def _pairs(call: Call) -> Iterator[int]:
    """The reshapes that put several samples where another operand has one."""
    known = [layout for layout in call.layouts if layout is not None]
    for one in known:
        for other in known:
            if one is other:
                continue
            for back in range(1, min(axis_count(one), axis_count(other)) + 1):
                a, b = apart(one)[-back], apart(other)[-back]
                if a.mixed >= 0 and is_batch(b) and a.axes[0] == b.axes[0]:
                    yield a.mixed


def _of_outputs(case: CaseReport, state: Followed) -> Iterator[tuple[int, OpNote]]:
    """The reshapes whose mixing of samples is still there in what the model returns."""
    for _, value in case.outputs:
        for segment in apart(state.layouts.get(value) or ()):
            if segment.mixed >= 0:
                yield segment.mixed, OpNote(FOLDED, _moved_values(case, segment.mixed), "", state.runs)


def _moved_values(case: CaseReport, number: int) -> tuple[int, ...]:
    op = case.ops[number]
    given = [argument.value for _, argument in op.args if argument.kind == "value"][:1]
    return (*given, *op.outputs[:1])


def _loses(call: Call, case: CaseReport, state: Followed) -> bool:
    """Whether a squeeze takes the batch axis away where the batch is 1, and something differs because of it."""
    if state.single < 0 or not call.op.outputs or batch_at(call.first or ()) is None:
        return False
    value = call.op.outputs[0]
    alone = case.values[value].shapes[state.single]
    usual = state.shape(case, value)
    before = case.values[call.tensors[0]].shapes[state.single]
    if alone is None or usual is None or before is None or len(alone) >= len(usual):
        return False
    return _matters(case, state)


def _matters(case: CaseReport, state: Followed) -> bool:
    """Whether with a batch of 1 something fails, or comes out with another rank, that doesn't otherwise."""
    single = state.single
    if any(ending.run == single for ending in case.endings):
        return True
    if any(any(f.run == single for f in op.failures) and len(op.failures) < len(op.runs) for op in case.ops):
        return True
    for _, value in case.outputs:
        alone, usual = case.values[value].shapes[single], state.shape(case, value)
        if alone is not None and usual is not None and len(alone) != len(usual):
            return True
    return False
