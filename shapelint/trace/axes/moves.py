"""Where the axes of a tensor go: the operations that move them, by name.

A move returns the layouts of the results. What has no entry is an operation along single axes that keeps those whose size
stays (`kept`): convolutions, pools, padding and most layers are that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.trace.axes.calls import Call, Shape, fits, plain
from shapelint.trace.axes.layout import (
    Atom,
    Layout,
    Segment,
    apart,
    axis,
    axis_count,
    is_batch,
    reshape,
    shape,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.records import Argument

    Move = Callable[[Call], "list[Layout | None] | None"]

# --------------------------------------------------------------------------------------------------- the default


def kept(call: Call, wanted: Shape) -> Layout:
    """An axis whose size stays is what it was, from the left; one whose size changes is known by its size."""
    first = call.first
    if first is None:
        return call.unknown(wanted)
    old = apart(first)
    if len(old) == len(wanted):
        return tuple([o if o.axes[0] == sizes else call.fresh(sizes) for o, sizes in zip(old, wanted)])
    out: list[Segment] = []
    same = True
    for position, sizes in enumerate(wanted):
        same = same and position < len(old) and old[position].axes[0] == sizes
        out.append(old[position] if same else call.fresh(sizes))
    return tuple(out)


def broadcast(call: Call, wanted: Shape) -> Layout:
    """Elementwise: each axis is what the operands say it is, where they differ the batch, or what is mixed."""
    whole = [layout for layout in call.layouts if fits(layout, wanted)]
    if whole and all(layout == whole[0] for layout in whole):
        small = [layout for layout in call.layouts if layout is not None and not fits(layout, wanted)]
        if not any(segment.batch or segment.mixed >= 0 for layout in small for segment in layout):
            return whole[0] or ()
    single = [apart(layout) for layout in call.layouts if layout is not None]
    out: list[Segment] = []
    for back in range(len(wanted), 0, -1):
        sizes = wanted[-back]
        there = [layout[-back] for layout in single if len(layout) >= back and layout[-back].axes[0] == sizes]
        out.append(_strongest(there) or call.fresh(sizes))
    return tuple(out)


def _strongest(segments: list[Segment]) -> Segment | None:
    for segment in segments:
        if segment.mixed >= 0:
            return segment
    for segment in segments:
        if segment.batch:
            return segment
    return segments[0] if segments else None


def _touched(layout: Layout, position: int) -> Layout:
    """The layout with the segment of one axis taken apart."""
    out: list[Segment] = []
    count = 0
    for segment in layout:
        inside = count <= position < count + len(segment.axes)
        out += apart((segment,)) if inside else [segment]
        count += len(segment.axes)
    return tuple(out)


# ------------------------------------------------------------------------------------------------------ reshapes


def _reshaped(call: Call) -> list[Layout | None] | None:
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None:
        return None
    free = -1
    if call.short in ("view", "reshape"):
        free = next((i for i, size in enumerate(call.rest("shape", "size")) if plain(size) == -1), -1)
    made = reshape(call.first, wanted, call.number, free=free)
    return None if made is None else [made]


def _permuted(call: Call) -> list[Layout | None] | None:
    if call.first is None:
        return None
    old = apart(call.first)
    order = _order(call, len(old))
    return None if order is None else [tuple([old[position] for position in order])]


def _order(call: Call, rank: int) -> list[int] | None:
    """Which old axis comes to each place."""
    short = call.short
    order = list(range(rank))
    if short == "permute":
        return call.counted([plain(item) for item in call.rest("dims")])
    if short in ("t", "T"):
        return order[::-1]
    if short in ("mT", "mH", "adjoint", "H"):
        return [*order[:-2], order[-1], order[-2]] if rank > 1 else order
    if short in ("movedim", "moveaxis"):
        source, target = call.dims(1, "source"), call.dims(2, "destination")
        if source is None or target is None or len(source) != len(target):
            return None
        rest = iter([position for position in order if position not in source])
        placed = dict(zip(target, source))
        return [placed[position] if position in placed else next(rest) for position in order]
    one, other = call.dims(1, "dim0") or call.dims(1, "axis0"), call.dims(2, "dim1") or call.dims(2, "axis1")
    if not one or not other:
        return None
    order[one[0]], order[other[0]] = order[other[0]], order[one[0]]
    return order


def _expanded(call: Call) -> list[Layout | None] | None:
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None:
        return None
    old = apart(call.first)
    lead = len(wanted) - len(old)
    return [
        tuple(
            [
                old[at - lead] if at >= lead and old[at - lead].axes[0] == sizes else call.fresh(sizes)
                for at, sizes in enumerate(wanted)
            ]
        )
    ]


def _repeated(call: Call) -> list[Layout | None] | None:
    """``repeat`` puts the copies outside of what is there, ``repeat_interleave`` inside."""
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None:
        return None
    old = apart(call.first)
    lead = len(wanted) - len(old)
    if lead < 0:
        return None
    out: list[Segment] = []
    for at, sizes in enumerate(wanted):
        before = old[at - lead] if at >= lead else None
        if before is None or before.axes[0] == (1,) * len(sizes):
            out.append(call.fresh(sizes))
        elif before.axes[0] == sizes:
            out.append(before)
        else:
            copies = Atom(tuple([size // b for size, b in zip(sizes, before.axes[0])]))
            atoms = (copies, *before.atoms) if call.short != "repeat_interleave" else (*before.atoms, copies)
            out.append(axis(sizes, *atoms))
    return [tuple(out)]


# ------------------------------------------------------------------------------------------- pieces and reductions


def _reduced(call: Call) -> list[Layout | None] | None:
    if call.first is None:
        return None
    dims = call.dims(1)
    old = apart(call.first)
    out: list[Layout | None] = []
    for wanted in call.results:
        if wanted is None:
            out.append(None)
        elif len(wanted) == len(old):
            out.append(kept(call, wanted))
        elif dims is not None and len(wanted) == len(old) - len(set(dims)):
            out.append(tuple([segment for at, segment in enumerate(old) if at not in dims]))
        else:
            out.append(call.unknown(wanted))
    return out


def _unbound(call: Call) -> list[Layout | None] | None:
    dims = call.dims(1) or [0]
    if call.first is None:
        return None
    left = tuple([segment for at, segment in enumerate(apart(call.first)) if at != dims[0]])
    return [left if wanted is not None and fits(left, wanted) else None for wanted in call.results]


def _joined(call: Call) -> list[Layout | None] | None:
    """``cat`` of equal parts puts the parts outside of what each holds."""
    wanted = call.results[0] if call.results else None
    if wanted is None or not call.layouts:
        return None
    parts = [apart(layout) for layout in call.layouts if layout is not None and axis_count(layout) == len(wanted)]
    number = call.integer(1, "dim", 0)
    if not parts or len(parts) != len(call.layouts) or not isinstance(number, int) or not wanted:
        return [call.unknown(wanted)]
    dim = number % len(wanted)
    out: list[Segment] = []
    for at, sizes in enumerate(wanted):
        there = [part[at] for part in parts if part[at].axes[0] == sizes]
        if at != dim:
            out.append(_strongest(there) or call.fresh(sizes))
        elif len(parts) > 1 and len({part[at].axes[0] for part in parts}) == 1:
            inner = _strongest([part[at] for part in parts]) or parts[0][at]
            out.append(axis(sizes, Atom((len(parts),) * len(sizes)), *inner.atoms))
        else:
            out.append(call.fresh(sizes))
    return [tuple(out)]


def _stacked(call: Call) -> list[Layout | None] | None:
    wanted = call.results[0] if call.results else None
    if wanted is None or not wanted:
        return None
    parts = [apart(layout) for layout in call.layouts if layout is not None and axis_count(layout) == len(wanted) - 1]
    number = call.integer(1, "dim", 0)
    if not parts or not isinstance(number, int):
        return [call.unknown(wanted)]
    dim = number % len(wanted)
    out = []
    for at, sizes in enumerate(wanted):
        if at == dim:
            out.append(axis(sizes, Atom(sizes)))
        else:
            there = [part[at - (at > dim)] for part in parts if part[at - (at > dim)].axes[0] == sizes]
            out.append(_strongest(there) or call.fresh(sizes))
    return [tuple(out)]


# ------------------------------------------------------------------------------------------------------ indexing


def _indexed(call: Call) -> list[Layout | None] | None:
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None or len(call.op.args) < 2:  # noqa: PLR2004  # the tensor and its index
        return None
    index = call.op.args[1][1]
    items = list(index.items) if index.kind == "list" and index.literal != "slice" else [index]
    made = _walk(call, items, wanted)
    return [made if made is not None and fits(made, wanted) else kept(call, wanted)]


def _walk(call: Call, items: list[Argument], wanted: Shape) -> Layout | None:
    """The axes that an index of integers, slices, None, ``...`` and at most one tensor of integers leaves."""
    old = list(apart(call.first or ()))
    tensors = dict(zip(call.tensors, call.layouts))
    takes = sum(1 for item in items if not _is_none(item) and not _is_ellipsis(item))
    out: list[Segment] = []
    advanced = False
    for item in items:
        if _is_none(item):
            out.append(axis((1,) * len(wanted[0])) if wanted else call.fresh(()))
        elif _is_ellipsis(item):
            skipped = len(old) - takes
            out += old[:skipped]
            del old[:skipped]
            takes = len(old)
        elif not old:
            return None
        else:
            source = old.pop(0)
            takes -= 1
            if item.kind == "list" and item.literal == "slice":
                at = len(out)
                if at >= len(wanted):
                    return None
                out.append(source if source.axes[0] == wanted[at] else call.fresh(wanted[at]))
            elif plain(item) is not None or (item.kind == "literal" and isinstance(item.literal, list)):
                continue
            elif item.kind == "value" and not advanced and tensors.get(item.value) is not None:
                advanced = True
                out += apart(tensors[item.value] or ())
            else:
                return None
    return (*out, *old)


def _is_none(item: Argument) -> bool:
    return item.kind == "literal" and item.literal is None


def _is_ellipsis(item: Argument) -> bool:
    return item.kind == "other" and item.literal == "ellipsis"


def _embedded(call: Call) -> list[Layout | None] | None:
    """Every index becomes a vector: the axes of the indices stay, whatever they are."""
    wanted = call.results[0] if call.results else None
    index = call.first
    if wanted is None or index is None or axis_count(index) != len(wanted) - 1:
        return None
    return [(*index, call.fresh(wanted[-1]))]


# ------------------------------------------------------------------------------------------------------ products


def _linear(call: Call) -> list[Layout | None] | None:
    """Works along the last axis alone: what lies before it may stay cut through."""
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None or axis_count(call.first) != len(wanted) or not wanted:
        return None
    lead = _touched(call.first, len(wanted) - 1)[:-1]
    return [(*lead, call.fresh(wanted[-1]))] if shape(lead) == wanted[:-1] else None


def _along_last(call: Call) -> list[Layout | None] | None:
    """Normalises along the last axis and keeps the shape."""
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None or not fits(call.first, wanted) or not wanted:
        return None
    return [_touched(call.first, len(wanted) - 1)]


def _product(call: Call) -> list[Layout | None] | None:
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
        out.append(_strongest(there) or call.fresh(sizes))
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


def _einsum(call: Call) -> list[Layout | None] | None:
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
        out.append(_strongest(there) or call.fresh(sizes))
    return [tuple(out)]


def _attended(call: Call) -> list[Layout | None] | None:
    wanted = call.results[0] if call.results else None
    if call.first is None or wanted is None or axis_count(call.first) != len(wanted):
        return None
    lead = apart(call.first)[:-1]
    return [(*lead, call.fresh(wanted[-1]))] if shape(lead) == wanted[:-1] else None


def batch_at(layout: Layout) -> int | None:
    """The position of the axis that is the batch and nothing else; None where there is none, or more than one."""
    found = [at for at, segment in enumerate(apart(layout)) if is_batch(segment)]
    return found[0] if len(found) == 1 else None


ELEMENTWISE = frozenset(
    "add add_ sub sub_ mul mul_ div div_ true_divide rsub __rsub__ pow __rpow__ __rdiv__ __rtruediv__ remainder fmod floor_divide "
    "__floordiv__ maximum minimum where lerp addcmul addcdiv masked_fill masked_fill_ clamp clamp_ clip clamp_min clamp_max "
    "gt ge lt le eq ne logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not __and__ __or__ __xor__ __invert__ "
    "relu relu_ relu6 gelu silu sigmoid tanh leaky_relu leaky_relu_ elu celu selu hardtanh hardswish hardsigmoid mish softplus logsigmoid "
    "tanhshrink softshrink hardshrink softsign threshold exp log log1p expm1 sqrt rsqrt abs neg __neg__ sin cos tan sign erf reciprocal "
    "square floor ceil round trunc sigmoid_ tanh_ exp_ dropout dropout_ feature_dropout alpha_dropout dropout2d contiguous clone detach "
    "detach_ to float half double bfloat16 int long bool type type_as cpu cuda requires_grad_ nan_to_num isnan isinf isfinite "
    "zeros_like ones_like empty_like full_like rand_like randn_like fill_ zero_ copy_ data angle real imag conj "
    "ReLU ReLU6 GELU SiLU Sigmoid Tanh LeakyReLU ELU CELU SELU Hardtanh Hardswish Hardsigmoid Mish Softplus LogSigmoid Threshold Dropout "
    "Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Identity PReLU Tanhshrink Softsign Softshrink Hardshrink".split()
)
"""Each element of the result hangs on the elements at the same place alone."""

MOVES: dict[str, Move] = {
    **dict.fromkeys(
        "view reshape flatten unflatten ravel squeeze squeeze_ unsqueeze unsqueeze_ view_as reshape_as Flatten Unflatten".split(),
        _reshaped,
    ),
    **dict.fromkeys(
        "permute transpose transpose_ t T mT H mH adjoint swapaxes swapdims movedim moveaxis".split(),
        _permuted,
    ),
    **dict.fromkeys("expand expand_as broadcast_to".split(), _expanded),
    **dict.fromkeys("repeat tile repeat_interleave".split(), _repeated),
    **dict.fromkeys(
        "sum mean max min amax amin prod var std var_mean std_mean norm vector_norm logsumexp argmax argmin any all median nanmean nansum "
        "count_nonzero aminmax mode kthvalue select".split(),
        _reduced,
    ),
    "unbind": _unbound,
    **dict.fromkeys("cat concat concatenate".split(), _joined),
    "stack": _stacked,
    "__getitem__": _indexed,
    "getitem": _indexed,
    **dict.fromkeys("embedding Embedding one_hot".split(), _embedded),
    **dict.fromkeys("linear Linear".split(), _linear),
    **dict.fromkeys("layer_norm LayerNorm rms_norm RMSNorm".split(), _along_last),
    **dict.fromkeys("matmul bmm mm mv __matmul__ __rmatmul__ baddbmm addmm addbmm addmv".split(), _product),
    "einsum": _einsum,
    "scaled_dot_product_attention": _attended,
}
