"""Indices that are data: masks choose a made-up number of elements, a number in a tensor the first position."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

import torch

from shapelint.trace.metas import empty
from shapelint.trace.owncheck import assigned

if TYPE_CHECKING:
    from shapelint.trace.mode import TraceMode


def _mask_dims(item: Any) -> int:
    return item.dim() if isinstance(item, torch.Tensor) and item.dtype in (torch.bool, torch.uint8) else 0


def _is_position(item: Any) -> bool:
    """Whether torch would ask this index for its number: a whole number in a tensor."""
    whole = isinstance(item, torch.Tensor) and not item.is_floating_point() and item.dtype is not torch.bool
    return whole and item.dim() == 0


def _placed(mode: TraceMode, item: Any) -> Any:
    """An index without the numbers that are data: the first position, and made-up ends of a slice."""
    if _is_position(item):
        return 0
    if type(item) is not slice:
        return item
    ends = [mode.number(sys._getframe()) if _is_position(end) else end for end in (item.start, item.stop, item.step)]
    return slice(*ends) if any(map(_is_position, (item.start, item.stop, item.step))) else item


def without_masks(mode: TraceMode, tensor: torch.Tensor, index: Any) -> Any:
    """``index`` with what only data can tell replaced: a mask by as many indices as it may choose, one position by the first."""
    given: tuple[Any, ...] = index if type(index) is tuple else (index,)
    items: list[Any] = [_placed(mode, item) for item in given]
    if not any(_mask_dims(item) for item in items):
        return tuple(items) if any(a is not b for a, b in zip(items, given)) else index
    position = 0
    out: list[Any] = []
    rest = sum(_mask_dims(item) or (item is not None and item is not Ellipsis) for item in items)
    for item in items:
        dims = _mask_dims(item)
        if dims:
            wanted, got = tuple(tensor.shape[position : position + dims]), tuple(item.shape)
            if wanted != got:
                axis = next((i for i, (a, b) in enumerate(zip(wanted, got)) if a != b), len(wanted))
                raise IndexError(
                    f"The shape of the mask {list(got)} at index {axis} does not match the shape of the indexed tensor "
                    f"{list(tensor.shape)} at index {position + axis}"
                )
            n = mode.chosen(item, sys._getframe())
            out += [empty((n,)) for _ in range(dims)]
            position += dims
        else:
            out.append(item)
            if item is Ellipsis:
                position += tensor.dim() - int(rest)
            elif item is not None:
                position += 1
    return tuple(out)


def real_masks(mode: TraceMode, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an indexing, with each mask and number that is a constant replaced by what it really stands for."""

    def known(item: Any) -> bool:
        return isinstance(item, torch.Tensor) and not item.is_meta and mode.info(item).constant

    def number(item: Any) -> Any:
        return int(item) if _is_position(item) and known(item) else item

    items = args[1] if type(args[1]) is tuple else (args[1],)
    out: list[Any] = []
    for item in items:
        if _mask_dims(item) and known(item):
            out += item.nonzero(as_tuple=True)
        elif type(item) is slice:
            out.append(slice(number(item.start), number(item.stop), number(item.step)))
        else:
            out.append(number(item))
    changed = len(out) != len(items) or any(a is not b for a, b in zip(out, items))
    return (args[0], tuple(out), *args[2:]) if changed else args


def in_range(mode: TraceMode, short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises IndexError where a constant index points outside of what it chooses from, as the CPU's kernels do."""
    given = {**dict(zip(RANGED[short], args)), **kwargs}
    tensor: Any = given.get("input")
    index: Any = given.get("index")
    if short in ("__getitem__", "__setitem__"):
        _choose_in_range(mode, args[0], args[1])
    elif isinstance(tensor, torch.Tensor) and _known(mode, index):
        dim = given.get("dim", 0)
        if isinstance(dim, int) and -tensor.dim() <= dim < tensor.dim():
            low, high = _ends(index)
            size = tensor.shape[dim]
            if low < 0 or high >= size:
                raise IndexError(
                    f"index out of range in self: {high if high >= size else low} for dimension {dim} with size {size}"
                )


def _choose_in_range(mode: TraceMode, tensor: torch.Tensor, index: Any) -> None:
    items = index if type(index) is tuple else (index,)
    rest = sum(_mask_dims(item) or (item is not None and item is not Ellipsis) for item in items)
    position = 0
    for item in items:
        if item is Ellipsis:
            position += tensor.dim() - int(rest)
        elif item is not None:
            if position < tensor.dim() and (_known(mode, item) or _is_positions(item)):
                low, high = _ends(item)
                size = tensor.shape[position]
                if low < -size or high >= size:
                    raise IndexError(
                        f"index {high if high >= size else low} is out of bounds for dimension {position} with size {size}"
                    )
            position += _mask_dims(item) or 1


def _known(mode: TraceMode, item: Any) -> TypeGuard[torch.Tensor]:
    whole = isinstance(item, torch.Tensor) and not item.is_meta and item.dtype in (torch.int64, torch.int32)
    return whole and item.numel() > 0 and mode.info(item).constant


def _is_positions(item: Any) -> TypeGuard[list[int]]:
    return type(item) is list and bool(item) and all(type(one) is int for one in item)


def _ends(index: torch.Tensor | list[int]) -> tuple[int, int]:
    if isinstance(index, list):
        return min(index), max(index)
    return int(index.min()), int(index.max())


RANGED: dict[str, tuple[str, ...]] = {
    "__getitem__": (),
    "__setitem__": (),
    "embedding": ("index", "input"),
    "index_select": ("input", "dim", "index"),
    "gather": ("input", "dim", "index"),
    "take_along_dim": ("input", "index", "dim"),
    "scatter": ("input", "dim", "index"),
    "scatter_": ("input", "dim", "index"),
    "scatter_add": ("input", "dim", "index"),
    "scatter_add_": ("input", "dim", "index"),
    "index_add": ("input", "dim", "index"),
    "index_add_": ("input", "dim", "index"),
    "index_copy": ("input", "dim", "index"),
    "index_copy_": ("input", "dim", "index"),
    "index_fill": ("input", "dim", "index"),
    "index_fill_": ("input", "dim", "index"),
}
"""The arguments of the calls that choose by index: the tensor chosen from, the axis, the index."""


def getitem(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A choice of elements by data: as many as are made up."""
    del kwargs
    index = without_masks(mode, args[0], args[1])
    return NotImplemented if index is args[1] else func(args[0], index)


def setitem(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A write to elements that data choose."""
    del kwargs
    tensor, index, value = args
    items = index if type(index) is tuple else (index,)
    placed = without_masks(mode, tensor, index)
    if placed is index:
        if any(isinstance(item, torch.Tensor) for item in items):
            assigned(tensor, index, value)
        return NotImplemented
    if any(map(_mask_dims, items)) and isinstance(value, torch.Tensor) and value.numel() > 1:
        # The number of rows comes from the data, on both sides: they can't be compared.
        return None
    return func(tensor, placed, value)
