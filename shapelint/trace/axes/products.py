"""Where the axes of a matrix product go: of a linear layer, of ``einsum``, of attention."""

from __future__ import annotations

from shapelint.trace.axes.along import strongest, touched
from shapelint.trace.axes.calls import Call, fits
from shapelint.trace.axes.layout import Layout, Segment, apart, axis_count, shape


def linear(call: Call) -> list[Layout | None] | None:
    """Works along the last axis alone: what lies before it may stay cut through."""
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None or axis_count(call.first) != len(wanted) or not wanted:
        return None
    lead = touched(call.first, len(wanted) - 1)[:-1]
    return [(*lead, call.fresh(wanted[-1]))] if shape(lead) == wanted[:-1] else None


def along_last(call: Call) -> list[Layout | None] | None:
    """Normalises along the last axis and keeps the shape."""
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None or not fits(call.first, wanted) or not wanted:
        return None
    return [touched(call.first, len(wanted) - 1)]


def product(call: Call) -> list[Layout | None] | None:
    """The leading axes broadcast, then come the rows of the left and the columns of the right."""
    wanted = call.results[0] if call.results else None
    if wanted is None or len(call.layouts) < 2:  # noqa: PLR2004  # two operands
        return None
    left, right = call.layouts[0], call.layouts[1]
    if call.short == "__rmatmul__":
        left, right = right, left
    if call.short in ("baddbmm", "addmm", "addbmm", "addmv"):
        left, right = call.layouts[1], call.layouts[2] if len(call.layouts) > 2 else None  # noqa: PLR2004
    if left is None or right is None:
        return [call.unknown(wanted)]
    left, right = apart(left), apart(right)
    tail = ([left[-2]] if len(left) > 1 else []) + ([right[-1]] if len(right) > 1 else [])
    lead = wanted[: len(wanted) - len(tail)]
    out: list[Segment] = []
    for back in range(len(lead), 0, -1):
        sizes = lead[-back]
        there = [
            side[-back - 2] for side in (left, right) if len(side) >= back + 2 and side[-back - 2].axes[0] == sizes
        ]
        out.append(strongest(there) or call.fresh(sizes))
    made = (*out, *tail)
    return [made if fits(made, wanted) else call.unknown(wanted)]


def letters(call: Call) -> tuple[list[list[str]], list[str]] | None:
    """The letters of an einsum's operands and of its result; ``...`` is spelled out; None where it can't be read."""
    equation = call.op.args[0][1].literal if call.op.args else None
    if not isinstance(equation, str) or any(layout is None for layout in call.layouts):
        return None
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    parts = inputs.split(",")
    if len(parts) != len(call.layouts):
        return None
    names = []
    widest = 0
    for part, layout in zip(parts, call.layouts):
        rank = axis_count(layout or ())
        free = rank - len(part.replace("...", ""))
        if free < 0 or (free and "..." not in part):
            return None
        widest = max(widest, free)
        before, _, after = part.partition("...")
        dots = [f".{k}" for k in range(free, 0, -1)]
        names.append([*before, *dots, *after] if "..." in part else list(part))
    if not arrow:
        flat = [name for part in names for name in part]
        return names, sorted(name for name in set(flat) if flat.count(name) == 1)
    before, _, after = output.partition("...")
    dots = [f".{k}" for k in range(widest, 0, -1)] if "..." in output else []
    return names, [*before, *dots, *after]


def einsum(call: Call) -> list[Layout | None] | None:
    """Each letter of the result stands for the axis that it names among the operands."""
    wanted = call.results[0] if call.results else None
    read = letters(call)
    if wanted is None or read is None or len(read[1]) != len(wanted):
        return None
    names, result = read
    where: dict[str, list[Segment]] = {}
    for part, layout in zip(names, call.layouts):
        for name, segment in zip(part, apart(layout or ())):
            where.setdefault(name, []).append(segment)
    out = []
    for name, sizes in zip(result, wanted):
        there = [segment for segment in where.get(name, []) if segment.axes[0] == sizes]
        out.append(strongest(there) or call.fresh(sizes))
    return [tuple(out)]


def attended(call: Call) -> list[Layout | None] | None:
    """Attention keeps all axes of the query but the last, whose size is the value's."""
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None or axis_count(call.first) != len(wanted):
        return None
    lead = apart(call.first)[:-1]
    return [(*lead, call.fresh(wanted[-1]))] if shape(lead) == wanted[:-1] else None
