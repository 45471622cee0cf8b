"""Where torch.nn's layers with several results leave the axes: recurrent layers, attention, Transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.trace.axes.layout import Layout, Segment, apart

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.trace.axes.calls import Call

RECURRENT = frozenset(("RNN", "LSTM", "GRU"))
TRANSFORMERS = frozenset(
    ("TransformerEncoderLayer", "TransformerEncoder", "TransformerDecoderLayer", "TransformerDecoder", "Transformer")
)
_BATCHED = 3


def batch_first(call: Call) -> bool | None:
    """Whether the layer was told that the batch comes first; None where that isn't known."""
    return None if call.module is None or call.module.batch_first is None else call.module.batch_first


def _recurrent(call: Call) -> list[Layout | None] | None:
    first = batch_first(call)
    if call.first is None or first is None:
        return None
    old = apart(call.first)
    out: list[Layout | None] = []
    for number, wanted in enumerate(call.results):
        if wanted is None or len(wanted) != len(old):
            out.append(None)
        elif number == 0:
            out.append((*old[:-1], call.fresh(wanted[-1])))
        else:
            middle = [old[0 if first else 1]] if len(old) == _BATCHED else []
            out.append((call.fresh(wanted[0]), *middle, call.fresh(wanted[-1])))
    return out


def _attention(call: Call) -> list[Layout | None] | None:
    first = batch_first(call)
    if call.first is None or first is None or not call.results or call.results[0] is None:
        return None
    query = apart(call.first)
    out: list[Layout | None] = [(*query[:-1], call.fresh(call.results[0][-1]))]
    for wanted in call.results[1:]:
        if wanted is None or len(query) != _BATCHED:
            out.append(None)
            continue
        time = 1 if first else 0
        key = call.layouts[1] if len(call.layouts) > 1 else None
        source = apart(key)[time] if key is not None and len(apart(key)) == _BATCHED else None
        last: Segment = source if source is not None and source.axes[0] == wanted[-1] else call.fresh(wanted[-1])
        heads = [call.fresh(sizes) for sizes in wanted[1:-2]]
        out.append((query[1 - time], *heads, query[time], last))
    return out


def _transformer(call: Call) -> list[Layout | None] | None:
    wanted = call.results[0] if call.results else None
    source = call.layouts[1] if call.short == "Transformer" and len(call.layouts) > 1 else call.first
    return None if source is None or wanted is None else [apart(source)]


LAYERS: dict[str, Callable[[Call], list[Layout | None] | None]] = {
    **dict.fromkeys(RECURRENT, _recurrent),
    "MultiheadAttention": _attention,
    **dict.fromkeys(TRANSFORMERS, _transformer),
}
