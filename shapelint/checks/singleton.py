"""SL411: softmax, normalisation or a variance over an axis of size 1, which leaves a constant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks.view import View, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapelint.findings import Finding
    from shapelint.records import CaseReport, OpRecord

_SOFTMAX = {"softmax": 1, "log_softmax": 1, "softmin": 1, "_softmax": 1, "Softmax": 0, "LogSoftmax": 0, "Softmin": 0}
_SPREAD = ("var", "std", "var_mean", "std_mean")
_PRODUCTS = frozenset(("matmul", "bmm", "__matmul__", "baddbmm", "einsum"))
_PASSING = frozenset("dropout Dropout to float half type_as contiguous masked_fill mul div clone detach".split())  # noqa: SIM905  # names of torch


@dataclass(frozen=True, slots=True)
class _Reduced:
    """What an op computes over which axes of its first operand, and what the result is when they hold one element."""

    axes: tuple[int, ...]
    result: str


def singleton_axes(view: View, case: CaseReport) -> Iterator[Finding]:
    """A finding for each op that normalises over one element in every run."""
    for op in case.ops:
        found = _reduced(view, op) if not op.failures and op.outputs else None
        values = values_of(op)
        if found is None or not values:
            continue
        shapes = [shape for shape in case.values[values[0]].shapes if shape is not None]
        axes = {axis % len(shape) for shape in shapes for axis in found.axes if -len(shape) <= axis < len(shape)}
        if not axes or not all(shape[axis] == 1 for shape in shapes for axis in axes if axis < len(shape)):
            continue
        if _is_given(case, axes) or any(_is_contracted(case, op, axis) for axis in axes):
            continue
        short = op.target.rsplit(".", 1)[-1]
        at = " and ".join(str(axis) for axis in sorted(axes))
        called = view.layer(op) if op.opcode == "call_module" else short
        yield view.finding(
            "singleton-axis",
            f"{called} runs over axis {at} of {view.shape(case, values[0])}, which has size 1: {found.result}.",
            view.place(op.stack, short if op.opcode != "call_module" else ""),
            related=view.related(case, op),
        )


def _is_given(case: CaseReport, axes: set[int]) -> bool:
    """Whether it is the batch, and the inputs are configured with a batch of 1."""
    shapes = [s for _, value in case.inputs for s in case.values[value].shapes if s]
    return axes == {0} and any(shape[0] == 1 for shape in shapes) and all(s[0] == 1 for s in shapes if len(s) > 1)


def _is_contracted(case: CaseReport, op: OpRecord, axis: int) -> bool:
    """Whether a product sums over the axis: attention to a single key, whose weight rightly is 1."""
    wanted, rank = set(op.outputs[:1]), len(next((s for s in case.values[op.outputs[0]].shapes if s), ()))
    for later in case.ops:
        read = values_of(later)
        if not wanted & set(read):
            continue
        short = later.target.rsplit(".", 1)[-1]
        if short in _PASSING:
            wanted.update(later.outputs)
        elif short == "einsum":
            if _einsum_sums(later, read.index(next(iter(wanted & set(read)))), axis - rank):
                return True
        elif short in _PRODUCTS:
            left = read[0] in wanted
            if axis - rank == (-1 if left else -2):
                return True
    return False


def _einsum_sums(op: OpRecord, operand: int, axis: int) -> bool:
    """Whether an einsum has no letter of the operand's axis (counted from the end) in its result."""
    equation = op.args[0][1].literal if op.args else None
    if not isinstance(equation, str) or "->" not in equation:
        return False
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    term = terms[operand] if operand < len(terms) else ""
    return len(term) >= -axis and term[axis] not in right


def _reduced(view: View, op: OpRecord) -> _Reduced | None:
    short = op.target.rsplit(".", 1)[-1]
    for kind, read in _READERS:
        if short in kind:
            return read(view, op, short)
    return None


def _softmax(view: View, op: OpRecord, short: str) -> _Reduced | None:
    value = "0" if short in ("log_softmax", "LogSoftmax") else "1"
    if op.opcode == "call_module":
        found = re.search(r"dim=(-?\d+)", view.report.modules[op.module].shown)
        return _Reduced((int(found[1]),), f"every result is {value}") if found else None
    axis = _argument(op, 1, "dim")
    return _Reduced((axis,), f"every result is {value}") if isinstance(axis, int) else None


def _spread(view: View, op: OpRecord, short: str) -> _Reduced | None:
    del view
    axes = _argument(op, 1, "dim")
    biased = _argument(op, 2, "unbiased") is False or dict(op.args).get("correction") is not None
    result = "the spread of one element is 0" if biased else f"the {short} of one element is NaN"
    if isinstance(axes, int) and not isinstance(axes, bool):
        return _Reduced((axes,), result)
    if isinstance(axes, tuple) and axes:
        return _Reduced(axes, result)
    return None


def _layer_norm(view: View, op: OpRecord, short: str) -> _Reduced | None:
    if op.opcode == "call_module":
        found = re.match(r"\(([\d, ]+)\)", view.report.modules[op.module].shown)
        shape = tuple(int(n) for n in re.findall(r"\d+", found[1])) if found else ()
    else:
        given = _argument(op, 1, "normalized_shape")
        shape = given if isinstance(given, tuple) else ()
    if not shape or "rms" in short.lower():
        return None
    return _Reduced(tuple(range(-len(shape), 0)), "every result is 0, or the bias")


def _normalize(view: View, op: OpRecord, short: str) -> _Reduced | None:
    del view, short
    axis = _argument(op, 2, "dim", 1)
    return _Reduced((axis,), "only the sign is left") if isinstance(axis, int) else None


def _cross_entropy(view: View, op: OpRecord, short: str) -> _Reduced | None:
    del view, op, short
    return _Reduced((1,), "with one class the loss is always 0")


def _argument(op: OpRecord, position: int, name: str, default: object = None) -> object:
    """A literal argument, a list of literals as a tuple; ``default`` where it isn't given."""
    named = {key: argument for key, argument in op.args if key}
    plain = [argument for key, argument in op.args if not key]
    argument = named.get(name) or (plain[position] if position < len(plain) else None)
    if argument is None:
        return default
    if argument.kind == "list":
        return tuple(item.literal for item in argument.items)
    return argument.literal if argument.kind == "literal" else None


_READERS: tuple[tuple[frozenset[str], Callable[[View, OpRecord, str], _Reduced | None]], ...] = (
    (frozenset(_SOFTMAX), _softmax),
    (frozenset(_SPREAD), _spread),
    (frozenset(("layer_norm", "LayerNorm")), _layer_norm),
    (frozenset(("normalize",)), _normalize),
    (frozenset(("cross_entropy", "CrossEntropyLoss")), _cross_entropy),
)
