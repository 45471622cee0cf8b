"""What to write instead of a call that failed, where that is certain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from shapelint.checks.call import Call, Tensor

_CLASSES = frozenset(("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss"))
_REPAIRS: dict[str, tuple[str, int]] = {
    "Linear": ("in_features", -1),
    **{f"Conv{n}d": ("in_channels", -n - 1) for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": ("in_channels", -n - 1) for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": ("num_features", 1) for n in (1, 2, 3)},
    **dict.fromkeys(("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"), ("input_size", -1)),
}
"""The number of a layer's constructor that its input contradicts, and the axis of the input that it must equal."""

_REPAIRS_PICTURES = frozenset(name for name in _REPAIRS if name.startswith(("Conv", "BatchNorm")))
"""Layers whose number stands at axis 1 of their input, where another axis of that size says nothing."""


def advice(call: Call) -> str:
    """What to write instead; "" where it isn't certain."""
    if call.kind in _REPAIRS:
        return _constructor(call)
    if call.kind == "view" and "not compatible with input tensor's size and stride" in call.error:
        return "reshape copies where view can't"
    if call.kind in _CLASSES:
        return _target(call)
    if re.search(r"scalar types: Long, Int|dtype int64 for index|index tensor of type", call.error):
        return "indices are whole numbers: .long()"
    return ""


def _constructor(call: Call) -> str:
    """The constructor's call with the number that the input has; only its name where the call isn't written out."""
    layer, x = call.layer, call.tensor(0, "input")
    name, axis = _REPAIRS[call.kind]
    if layer is None or x is None or not layer.made or not -x.rank <= axis < x.rank:
        return ""
    wanted = call.field(name, 0)
    sizes = call.view.sizes(call.case, x.value, call.runs)
    got = sizes[axis] if len(sizes) == x.rank else "?"
    moved = "" if wanted is None else _moved(call, x, wanted)
    if moved or (call.kind not in _REPAIRS_PICTURES and wanted in x.numbers[1:-1]):
        return moved
    alike = [one for one in call.view.report.modules if one.made == layer.made]
    if wanted is None or x.numbers[axis] == wanted or not got.isdigit() or len({one.path for one in alike}) > 1:
        return ""  # made in a loop: what is right for this one may be wrong for the others
    info = SourceMap(call.view.sources).call_at(call.view.report.frames[layer.made[-1]])
    operand = info.argument(0, name) if info is not None and info.kind == "call" else None
    if info is None or operand is None or not operand.literal or operand.value != wanted:
        return f"{name}={got}"
    shown = []
    for one in info.args:
        text = got if one is operand else one.text
        shown.append(f"{one.keyword}={text}" if one.keyword else f"{one.star}{text}")
    return f"{info.callee}({', '.join(shown)})"


def _moved(call: Call, x: Tensor, wanted: int) -> str:
    """How to bring the axis of the wanted size to where the layer looks for it, for what has its channels last."""
    last = x.numbers[-1] == wanted and wanted not in x.numbers[1:-1]
    if call.kind == "Conv2d" and x.rank == 4 and last:  # noqa: PLR2004  # [N, H, W, C]
        return f"permute(0, 3, 1, 2) brings the channels of {x.name} to axis 1"
    if call.kind == "Conv1d" and x.rank == 3 and last:  # noqa: PLR2004  # [N, L, C]
        return f"transpose(1, 2) brings the channels of {x.name} to axis 1"
    return ""


def _target(call: Call) -> str:
    x, target = call.tensor(0, "input"), call.tensor(1, "target")
    if x is None or target is None:
        return ""
    if target.numbers == (*x.numbers[:1], *x.numbers[2:]):
        return f"{target.text}.long()" if target.text and not target.dtype.startswith("int64") else ""
    if target.rank == 2 and x.rank == 2 and target.sizes[1] == "1" and target.text:  # noqa: PLR2004  # [B, 1]
        return f"{target.text}.squeeze(1)"
    if x.rank == 3 and target.numbers == x.numbers[:-1] and x.text:  # noqa: PLR2004  # [B, T, C] with [B, T]
        return f"{x.text}.transpose(1, 2) brings the classes to axis 1"
    return ""
