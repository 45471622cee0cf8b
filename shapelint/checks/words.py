"""What a failed operation is told in: the user's names, both operands, the numbers that disagree, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks.view import View, values_of
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.records import CaseReport, OpRecord


@dataclass(frozen=True, slots=True)
class Words:
    """A first sentence that stands alone, and what to do where that is certain (else "")."""

    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class _Call:
    """A failed op: its tensors' shapes in names, what the source calls them, its layer, the sizes asked for."""

    name: str
    shapes: tuple[tuple[str, ...], ...]
    operands: tuple[str, ...]
    layer: str
    params: dict[str, tuple[int, ...]]
    first: int
    asked: tuple[str, ...]

    def value(self, index: int) -> str:
        """``flat is [B, 1568]``; only the shape where the source has no short name for it."""
        shape = f"[{', '.join(self.shapes[index])}]"
        named = self.operands[index] if index < len(self.operands) else ""
        return f"{named} is {shape}" if named else f"the {_ORDINAL[index]} operand is {shape}"


_ORDINAL = ("first", "second", "third", "fourth")
_LONGEST = 40


def explain(view: View, case: CaseReport, op: OpRecord, rule: str, runs: tuple[int, ...]) -> Words | None:
    """The words for a failed op under ``rule``; None where torch's own say it best."""
    call = _call(view, case, op, runs)
    if not call.shapes or any(not shape for shape in call.shapes[:1]):
        return None
    tell = _TELLERS.get(rule)
    return None if tell is None else tell(call)


def _call(view: View, case: CaseReport, op: OpRecord, runs: tuple[int, ...]) -> _Call:
    shapes = tuple(view.sizes(case, value, runs) for value in values_of(op)[:4])
    layer, params, first = "", {}, 0
    if op.opcode == "call_module" and op.module >= 0:
        record = view.report.modules[op.module]
        layer, params = record.path or "the model", dict(record.params)
        number = record.shown.partition(",")[0].rpartition("=")[2]
        first = int(number) if number.isdigit() else 0
    info = SourceMap(view.sources).call_at(view.report.frames[op.stack[-1]]) if op.stack else None
    operands: list[str] = []
    if info is not None:
        texts = [operand.text for operand in info.args]
        before = op.opcode == "call_method" and info.receiver is not None and info.kind == "call"
        operands = [info.receiver.text, *texts] if before and info.receiver is not None else texts
        if layer and info.kind == "call" and layer.split(".")[-1] == info.name:
            layer = info.callee
    short = tuple(text if len(text) <= _LONGEST else "" for text in operands)
    literals = [item.literal for _, a in op.args[1:] for item in (a.items or (a,)) if item.kind == "literal"]
    # A size that differs from run to run is a list of numbers, and has no name here.
    asked = () if any(isinstance(item, list) for item in literals) else tuple(map(str, literals))
    return _Call(op.target.rsplit(".", 1)[-1], shapes, short, layer, params, first, asked)


def _product(call: _Call) -> Words | None:
    weight = call.params.get("weight", ())
    if call.name == "Linear" and len(weight) == 2:  # noqa: PLR2004  # [out, in]
        got = call.shapes[0][-1]
        message = f"{call.layer} takes {weight[1]} features and gets {got}: {call.value(0)}."
        return Words(message, f"in_features={got}" if got.isdigit() else "")
    if call.name in ("matmul", "mm", "bmm", "__matmul__") and len(call.shapes) >= 2:  # noqa: PLR2004  # two operands
        left, right = call.shapes[0], call.shapes[1]
        rows = right[-2] if len(right) > 1 else right[-1]
        if left[-1] != rows:
            return Words(f"{call.name} multiplies {left[-1]} columns by {rows} rows: {call.value(0)}, {call.value(1)}.")
    return None


def _channels(call: _Call) -> Words | None:
    if not call.layer or not call.first:
        return None
    spatial = next((int(c) for c in call.name if c.isdigit()), 0)
    shape = call.shapes[0]
    if call.name.startswith(("Conv", "InstanceNorm")) and len(shape) > spatial:
        got = shape[-spatial - 1]
    elif call.name.startswith(("BatchNorm", "GroupNorm")) and len(shape) > 1:
        got = shape[1]
    else:
        return None
    if got == str(call.first):
        return None
    return Words(f"{call.layer} takes {call.first} channels and gets {got}: {call.value(0)}.")


def _broadcast(call: _Call) -> Words | None:
    if len(call.shapes) != 2 or call.layer:  # noqa: PLR2004  # two operands
        return None
    left, right = call.shapes
    for axis in range(1, min(len(left), len(right)) + 1):
        a, b = left[-axis], right[-axis]
        if a != b and "1" not in (a, b):
            return Words(f"{call.name} can't broadcast {a} with {b} (axis -{axis}): {call.value(0)}, {call.value(1)}.")
    return None


def _joined(call: _Call) -> Words | None:
    first = call.shapes[0]
    for other in call.shapes[1:]:
        differing = [axis for axis, (a, b) in enumerate(zip(first, other)) if a != b]
        if len(first) == len(other) and differing:
            pairs = " and ".join(f"{first[axis]} against {other[axis]} at axis {axis}" for axis in differing)
            return Words(f"{call.name} joins [{', '.join(first)}] with [{', '.join(other)}]: {pairs}.")
    return None


def _reshaped(call: _Call) -> Words | None:
    if not call.asked:
        return None
    return Words(f"{call.name} to ({', '.join(call.asked)}) doesn't fit: {call.value(0)}.")


_TELLERS: dict[str, Callable[[_Call], Words | None]] = {
    "matmul-dims": _product,
    "channel-count": _channels,
    "broadcast-shapes": _broadcast,
    "cat-shapes": _joined,
    "reshape-numel": _reshaped,
}
