"""Where the axes of a tensor go: the operations that move them, by name.

A move returns the layouts of the results. What has no entry is an operation along single axes that keeps those whose size
stays (`along.kept`): convolutions, pools, padding and most layers are that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.trace.axes.along import kept, strongest
from shapelint.trace.axes.calls import Call, Shape, fits, plain
from shapelint.trace.axes.layout import (
    Atom,
    Layout,
    Segment,
    apart,
    axis,
    axis_count,
    reshape,
)
from shapelint.trace.axes.products import along_last, attended, einsum, linear, product

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.records import Argument

    Move = Callable[[Call], "list[Layout | None] | None"]

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
            out.append(strongest(there) or call.fresh(sizes))
        elif len(parts) > 1 and len({part[at].axes[0] for part in parts}) == 1:
            inner = strongest([part[at] for part in parts]) or parts[0][at]
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
            out.append(strongest(there) or call.fresh(sizes))
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
    **dict.fromkeys("linear Linear".split(), linear),
    **dict.fromkeys("layer_norm LayerNorm rms_norm RMSNorm".split(), along_last),
    **dict.fromkeys("matmul bmm mm mv __matmul__ __rmatmul__ baddbmm addmm addbmm addmv".split(), product),
    "einsum": einsum,
    "scaled_dot_product_attention": attended,
}
