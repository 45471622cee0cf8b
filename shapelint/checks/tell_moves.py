"""Words for what moves, picks and joins axes: reshape, expand, cat, index, split, permute, gather, interpolate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shapelint.checks.sizes import product

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.checks.call import Call, Tensor
    from shapelint.records import Argument

_OUT_OF_RANGE = re.compile(r"expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)")


def _asked(call: Call, position: int = 1) -> tuple[Argument, ...]:
    """The sizes asked for, whether they are given one by one or as a list."""
    named = [argument for name, argument in call.op.args if name in ("shape", "size", "sizes", "dims")]
    plain = [argument for name, argument in call.op.args if not name][position:]
    given = named or plain
    return given[0].items if len(given) == 1 and given[0].kind == "list" else tuple(given)


def _parted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


# ---------------------------------------------------------------------------------------------- reshape, expand


def reshape(call: Call) -> str:
    """view, reshape."""
    x, asked = call.tensor(0, "input"), _asked(call)
    wanted = tuple(call.shown(one) for one in asked)
    if x is None or not all(wanted):
        return ""
    shape = f"[{', '.join(wanted)}]"
    broken = [size for size in wanted if not size.lstrip("-").isdigit() and "." in size]
    if broken:
        return f"{call.spoken} to {shape} takes whole numbers and gets {broken[0]}: {x.said}."
    if "not compatible with input tensor's size and stride" in call.error:
        return (
            f"{call.spoken} to {shape} would join axes that don't lie side by side in memory, as after a transpose: "
            f"{x.said}."
        )
    has = product(x.sizes)
    fixed = product(tuple(size for size in wanted if size != "-1"))
    if "?" in (has, fixed):
        return f"{call.spoken} to {shape} doesn't fit: {x.said}."
    if wanted.count("-1") == 1:
        return f"{call.spoken} to {shape} can't share {has} elements out over {fixed}: {x.said}."
    return f"{call.spoken} to {shape} wants {fixed} elements and gets {has}: {x.said}."


def view_as(call: Call) -> str:
    """view_as, reshape_as."""
    x, other = call.tensor(0, "input"), call.tensor(1, "other")
    if x is None or other is None:
        return ""
    has, wants = product(x.sizes), product(other.sizes)
    return f"{call.spoken} wants {wants} elements and gets {has}: {x.said}, {other.said}."


def unflatten(call: Call) -> str:
    """Unflatten."""
    x, axis = call.tensor(0, "input"), call.numbers(call.argument(1, "dim"))
    sizes = call.argument(2, "sizes")
    if x is None or not axis or sizes is None or not -x.rank <= axis[0] < x.rank:
        return ""
    wanted = tuple(call.shown(one) for one in sizes.items)
    total = product(tuple(size for size in wanted if size != "-1"))
    return f"{call.spoken} makes ({', '.join(wanted)}), {total} elements, of axis {axis[0]}, which has {x.sizes[axis[0]]}: {x.said}."


def expand(call: Call) -> str:
    """expand, broadcast_to."""
    x, asked = call.tensor(0, "input"), _asked(call)
    wanted = tuple(call.shown(one) for one in asked)
    if x is None or not all(wanted):
        return ""
    shape = f"({', '.join(wanted)})"
    if len(wanted) < x.rank:
        return (
            f"{call.spoken} to {shape} names {_parted(len(wanted), 'size')} and the tensor has rank {x.rank}: {x.said}."
        )
    for back in range(1, x.rank + 1):
        size, new = x.sizes[-back], wanted[-back]
        if new not in ("-1", size) and x.numbers[-back] != 1:
            return f"{call.spoken} to {shape} can't make {new} of {size} (axis -{back}), only an axis of size 1 grows: {x.said}."
    return ""


def repeat(call: Call) -> str:
    """Repeat."""
    x, asked = call.tensor(0, "input"), _asked(call)
    if x is None or len(asked) >= x.rank:
        return ""
    return f"{call.spoken} names {_parted(len(asked), 'count')} and the tensor has rank {x.rank}: {x.said}."


# --------------------------------------------------------------------------------------------------- cat, stack


def joined(call: Call) -> str:
    """Cat and stack."""
    parts = call.tensors()
    dim = call.numbers(call.argument(1, "dim", "axis")) or (0,)
    if len(parts) < 2:  # noqa: PLR2004  # nothing to compare
        return ""
    first = parts[0]
    for other in parts[1:]:
        if other.rank != first.rank:
            if call.kind == "stack" or 0 not in (*first.numbers, *other.numbers):
                return f"{call.spoken} can't join rank {first.rank} with rank {other.rank}: {first.said}, {other.said}."
            continue
        along = (
            dim[0] % first.rank if call.kind != "stack" and first.rank and -first.rank <= dim[0] < first.rank else -1
        )
        differing = [a for a in range(first.rank) if a != along and first.numbers[a] != other.numbers[a]]
        if differing:
            pairs = " and ".join(f"{first.sizes[a]} with {other.sizes[a]} at axis {a}" for a in differing)
            where = f" along axis {along}" if along >= 0 else ""
            return f"{call.spoken}{where} can't join {pairs}: {first.said}, {other.said}."
    return out_of_range(call)


# --------------------------------------------------------------------------------------------------- axes, index


def out_of_range(call: Call) -> str:
    """Any call that names an axis that its tensor doesn't have."""
    x, found = call.tensor(0, "input"), _OUT_OF_RANGE.search(call.error)
    if x is None and call.tensors():
        x = call.tensors()[0]
    if x is None or not found:
        return ""
    return f"{call.spoken} names axis {found[3]} and its input has rank {x.rank}: {x.said}."


def permute(call: Call) -> str:
    """permute: an axis too many or too few."""
    x, asked = call.tensor(0, "input"), _asked(call)
    if x is None:
        return ""
    if len(asked) != x.rank:
        named = ", ".join(call.shown(one) for one in asked)
        return f"{call.spoken} names {_parted(len(asked), 'axis').replace('axiss', 'axes')} ({named}) and the tensor has rank {x.rank}: {x.said}."
    return out_of_range(call)


def index(call: Call) -> str:
    """``x[…]``: an index out of range, one too many, or index tensors that clash."""
    x = call.tensor(0)
    if x is None:
        return ""
    picked = call.argument(1)
    items = () if picked is None else picked.items if picked.kind == "list" and picked.literal != "slice" else (picked,)
    out = re.search(r"index (-?\d+) is out of bounds for dimension (\d+)", call.error)
    if out and int(out[2]) < x.rank:
        axis = int(out[2])
        return f"{call.spoken} takes index {out[1]} of axis {axis}, which has size {x.sizes[axis]}: {x.said}."
    if "too many indices" in call.error:
        count = sum(item.literal is not None or item.kind != "literal" for item in items)
        return f"{call.spoken} has {_parted(count, 'index').replace('indexs', 'indices')} and {x.name} has rank {x.rank}: {x.said}."
    others = [one for one in call.tensors() if one.value != x.value]
    masks = [one for one in others if one.dtype == "bool"]
    if masks and "mask" in call.error:
        return f"{call.spoken} has a mask of another shape: {x.said}, {masks[0].name} is bool{masks[0].shape}."
    return _index_clash(call, others)


def _index_clash(call: Call, indices: list[Tensor]) -> str:
    for number, left in enumerate(indices):
        for right in indices[number + 1 :]:
            for back in range(1, min(left.rank, right.rank) + 1):
                a, b = left.numbers[-back], right.numbers[-back]
                if a != b and 1 not in (a, b):
                    return f"{call.spoken} has indices that don't broadcast, {left.sizes[-back]} with {right.sizes[-back]}: {left.shape} and {right.shape}."
    return ""


def assigned(call: Call) -> str:
    """``x[…] = y``."""
    given = call.tensor(2, role="value")
    place = call.told(r"Target sizes: \[([\d, ]*)\]") or call.told(r"indexing result of shape \[([\d, ]*)\]")
    if place and given is not None:
        return f"The assignment puts {given.shape} in a place of [{', '.join(place)}]: {given.said}."
    return index(call)


def split(call: Call) -> str:
    """split, split_with_sizes: sizes that don't add up."""
    x = call.tensor(0, "input", "tensor", "self")
    sizes = call.argument(1, "split_size_or_sections", "split_sizes", "split_size")
    axis = call.numbers(call.argument(2, "dim")) or (0,)
    if x is None or sizes is None or sizes.kind != "list" or not -x.rank <= axis[0] < x.rank:
        return out_of_range(call)
    total = call.numbers(sizes)
    shown = ", ".join(call.shown(item) for item in sizes.items)
    if sum(total) == x.numbers[axis[0]]:
        return ""
    return f"{call.spoken} into [{shown}] adds up to {sum(total)} and axis {axis[0]} has {x.sizes[axis[0]]}: {x.said}."


def gathered(call: Call) -> str:
    """gather, scatter and their like."""
    x, at = call.tensor(0, "input"), call.tensor(2, "index")
    dim = call.numbers(call.argument(1, "dim"))
    source = call.tensor(3, "src")
    if x is None or at is None:
        return ""
    if at.rank != x.rank:
        return f"{call.spoken} takes an index of rank {x.rank}, as the tensor, and gets rank {at.rank}: {x.said}, {at.said}."
    if not dim or not -x.rank <= dim[0] < x.rank:
        return out_of_range(call)
    for axis in range(x.rank):
        if axis != dim[0] % x.rank and at.numbers[axis] > x.numbers[axis]:
            return f"{call.spoken} has an index larger than the tensor at axis {axis}, {at.sizes[axis]} against {x.sizes[axis]}: {x.said}, {at.said}."
    if source is None:
        return ""
    if source.rank != at.rank:
        return f"{call.spoken} takes an index of rank {source.rank}, as its source, and gets rank {at.rank}: {at.said}, {source.said}."
    for axis in range(at.rank):
        if at.numbers[axis] > source.numbers[axis]:
            return f"{call.spoken} has an index larger than its source at axis {axis}, {at.sizes[axis]} against {source.sizes[axis]}: {at.said}, {source.said}."
    return ""


def index_select(call: Call) -> str:
    """index_select, index_add and their like."""
    x, at = call.tensor(0, "input"), call.tensor(2, "index")
    if x is None or at is None:
        return ""
    if at.rank > 1:
        return f"{call.spoken} takes a vector of indices and gets rank {at.rank}: {at.said}."
    return out_of_range(call)


# ------------------------------------------------------------------------------------------------------ pictures


def interpolate(call: Call) -> str:
    """Interpolate and upsample, as a function or a layer."""
    x = call.tensor(0, "input")
    needs = re.search(r"Got (\d)D input, but (\w+) mode needs (\d)D input", call.error)
    if x is None:
        return ""
    if needs:
        return f"{call.spoken} in mode {needs[2]} takes rank {needs[3]} and gets rank {x.rank}: {x.said}."
    if "spatial dimensions" in call.error:
        given = call.argument(1, "size")
        what = "size" if given is not None and given.kind == "list" else "scale_factor"
        given = given if what == "size" else call.argument(2, "scale_factor")
        count = len(given.items) if given is not None else 0
        return f"{call.spoken} is given a {what} for {_parted(count, 'axis').replace('axiss', 'axes')} and its input has {x.rank - 2} behind batch and channels: {x.said}."
    return ""


def pad(call: Call) -> str:
    """pad, by reflection and the like."""
    x = call.tensor(0, "input")
    found = re.search(r"padding \((\d+), (\d+)\) at dimension (\d+)", call.error)
    if x is None or not found:
        return ""
    axis = int(found[3])
    return f"{call.spoken} reflects {found[1]} and {found[2]} elements of axis {axis}, which has {x.sizes[axis]}: {x.said}."


def unfold(call: Call) -> str:
    """unfold, as a function or a layer."""
    x = call.tensor(0, "input")
    found = re.search(r"kernel_size=\[([^\]]*)\].*sliding blocks is \(([^)]*)\)", call.error)
    if x is None or not found:
        return ""
    return (
        f"{call.spoken} has a window of [{found[1]}], larger than its input of [{', '.join(x.sizes[-2:])}]: {x.said}."
    )


def narrow(call: Call) -> str:
    """narrow: more than there is."""
    x, told = (
        call.tensor(0, "input"),
        [call.numbers(call.argument(i, n)) for i, n in ((1, "dim"), (2, "start"), (3, "length"))],
    )
    if x is None or not all(told) or not -x.rank <= told[0][0] < x.rank:
        return out_of_range(call)
    (axis,), (start,), (length,) = told
    return f"{call.spoken} takes {length} elements from {start} on of axis {axis}, which has {x.sizes[axis]}: {x.said}."


def topk(call: Call) -> str:
    """topk, kthvalue: more than there is."""
    x, asked = call.tensor(0, "input"), call.shown(call.argument(1, "k"))
    axis = call.numbers(call.argument(2, "dim")) or (-1,)
    if x is None or not asked or not -x.rank <= axis[0] < x.rank or "range" not in call.error:
        return out_of_range(call)
    if said := out_of_range(call):
        return said
    return f"{call.spoken} asks for {asked} of axis {axis[0]}, which has {x.sizes[axis[0]]}: {x.said}."


def pixel_unshuffle(call: Call) -> str:
    """pixel_unshuffle, as a function or a layer."""
    x = call.tensor(0, "input")
    factor = call.field("downscale_factor") or next(iter(call.numbers(call.argument(1, "downscale_factor"))), 0)
    if x is None or not factor or x.rank < 3 or not any(size % factor for size in x.numbers[-2:]):  # noqa: PLR2004  # [C, H, W]
        return ""
    return f"{call.spoken} needs sizes that are multiples of {factor} and gets [{', '.join(x.sizes[-2:])}]: {x.said}."


def glu(call: Call) -> str:
    """GLU: an axis that can't be halved."""
    x, axis = call.tensor(0, "input"), call.numbers(call.argument(1, "dim")) or (-1,)
    if x is None or not -x.rank <= axis[0] < x.rank or x.numbers[axis[0]] % 2 == 0:
        return ""
    return f"{call.spoken} halves axis {axis[0]}, which has {x.sizes[axis[0]]}: {x.said}."


def grid(call: Call) -> str:
    """grid_sample."""
    x, at = call.tensor(0, "input"), call.tensor(1, "grid")
    if x is None or at is None:
        return ""
    if at.rank != x.rank:
        return (
            f"{call.spoken} takes a grid of rank {x.rank}, as its input, and gets rank {at.rank}: {x.said}, {at.said}."
        )
    if at.numbers[-1] != x.rank - 2:
        return f"{call.spoken} takes {x.rank - 2} coordinates a point and gets {at.sizes[-1]}: {x.said}, {at.said}."
    return (
        f"{call.spoken} gets {x.sizes[0]} pictures and {at.sizes[0]} grids: {x.said}, {at.said}."
        if x.numbers[0] != at.numbers[0]
        else ""
    )


_REDUCING = (
    "sum mean prod max min amax amin argmax argmin all any std var std_mean var_mean median mode norm logsumexp "
    "softmax log_softmax softmin cumsum cumprod cummax cummin logcumsumexp sort argsort unbind chunk "
    "tensor_split select transpose swapaxes swapdims movedim moveaxis squeeze unsqueeze flatten flip roll size "
    "unfold_dim diff count_nonzero nansum nanmean unique normalize repeat_interleave t index_fill renorm Softmax "
    "LogSoftmax Softmin Flatten take_along_dim squeeze_ unsqueeze_ transpose_"
).split()

TELLERS: dict[str, Callable[[Call], str]] = {
    **dict.fromkeys(_REDUCING, out_of_range),
    **dict.fromkeys(("view", "reshape"), reshape),
    **dict.fromkeys(("view_as", "reshape_as"), view_as),
    "unflatten": unflatten,
    **dict.fromkeys(("expand", "broadcast_to"), expand),
    "repeat": repeat,
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), joined),
    "permute": permute,
    "__getitem__": index,
    "__setitem__": assigned,
    **dict.fromkeys(("split", "split_with_sizes"), split),
    **dict.fromkeys(
        ("gather", "scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_"), gathered
    ),
    **dict.fromkeys(("index_select", "index_add", "index_add_", "index_copy", "index_copy_"), index_select),
    **dict.fromkeys(
        ("interpolate", "upsample", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"), interpolate
    ),
    **dict.fromkeys(("pad", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d"), pad),
    **dict.fromkeys(("unfold", "Unfold"), unfold),
    **dict.fromkeys(("glu", "GLU"), glu),
    "narrow": narrow,
    **dict.fromkeys(("topk", "kthvalue"), topk),
    **dict.fromkeys(("pixel_unshuffle", "PixelUnshuffle"), pixel_unshuffle),
    "grid_sample": grid,
}
