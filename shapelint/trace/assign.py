"""Which sizes the named dimensions get: distinct primes, inside the declared limits, and once a batch of 1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from torch import nn

from shapelint.records import Case, DimLimits, InputTree, TraceTarget

if TYPE_CHECKING:
    from collections.abc import Iterable

SMALL = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)
"""For batches and sequences."""
LARGE = (67, 97, 131, 163, 193, 227, 257, 103, 139, 167, 197, 229, 263, 109, 149, 173, 199, 233, 269)
"""For the axes of pictures, which strides and pools make small."""
_NAME = re.compile(r"[A-Za-z_]\w*")
_LONG = 64
_PICTURE = 4
"""The rank from which the last axes of a tensor are those of a picture."""

Assignment = dict[str, int]


def names(case: Case) -> tuple[list[str], set[str]]:
    """The names in a case, in order, and which of them are axes of pictures."""
    found: list[str] = []
    pictures: set[str] = set()
    for _, tree in case.inputs:
        _collect(tree, found, pictures)
    return found, pictures


def _collect(tree: InputTree, found: list[str], pictures: set[str]) -> None:
    for item in tree.items:
        _collect(item, found, pictures)
    if tree.tensor is not None:
        for axis, dim in enumerate(tree.tensor.dims):
            for name in _NAME.findall(dim) if isinstance(dim, str) else ():
                if name not in found:
                    found.append(name)
                # "4*H" says that H itself is a small size.
                if len(tree.tensor.dims) >= _PICTURE and axis > 1 and dim == name:
                    pictures.add(name)


def assignments(target: TraceTarget, case: Case, avoid: frozenset[int] = frozenset()) -> list[Assignment]:
    """The regular assignments: three of primes, one with the batch 1; a single empty one where nothing is named.

    The second has twice a prime each: among odd sizes ``H//2`` and ``(H-1)//2`` are the same. ``avoid`` are the numbers that
    stand in the model, with which no size is to be confused.
    """
    found, pictures = names(case)
    if not found:
        return [{}]
    limits = dict(target.dims)
    taken: set[int] = set()
    regular: list[Assignment] = []
    for turn in range(3):
        sizes: Assignment = {}
        for name in found:
            primes = LARGE[turn * 3 :] + LARGE if name in pictures else SMALL
            sizes[name] = _choose(limits.get(name, DimLimits()), primes, taken, avoid, even=turn == 1)
            taken |= {sizes[name], sizes[name] // 2} if turn == 1 else {sizes[name]}
        regular.append(sizes)
    batch = next((name for name in found if name in target.batch), None)
    if batch is not None and (limits.get(batch, DimLimits()).min or 1) <= 1:
        regular.insert(2, {**regular[0], batch: 1})
    return regular


def _choose(limit: DimLimits, primes: Iterable[int], taken: set[int], avoid: frozenset[int], *, even: bool) -> int:
    """A prime within the limits that isn't taken, or twice one; a multiple of one where a multiple is asked for."""
    step, low, high = limit.multiple_of or 1, limit.min or 1, limit.max or 1 << 30
    if step == 1:
        candidates = [*[2 * p for p in primes if even and p not in taken], *primes]
    else:
        candidates = [step * p for p in (3, 5, 7, 11, 13, 17, 19, 2, 1)]
    for shunned in (taken | avoid, taken):
        for size in candidates:
            if low <= size <= high and size not in shunned:
                return size
        for size in range(-(-low // step) * step, min(high, low + 4096 * step) + 1, step):
            if size not in shunned:
                return size
    return -(-low // step) * step


def numbers_in(model: Any, case: Case) -> frozenset[int]:
    """The numbers that stand in a model and its inputs: sizes of parameters and buffers, and what modules keep as numbers."""
    found: set[int] = set()
    for _, tree in case.inputs:
        _sizes(tree, found)
    for module in model.modules() if isinstance(model, nn.Module) else ():
        for value in module.__dict__.values():
            _gather(value, found)
        for tensor in (*module._parameters.values(), *module._buffers.values()):
            if tensor is not None and not nn.parameter.is_lazy(tensor):
                found.update(tensor.shape)
    return frozenset(found)


def _sizes(tree: InputTree, found: set[int]) -> None:
    for item in tree.items:
        _sizes(item, found)
    if tree.tensor is not None:
        found.update(dim for dim in tree.tensor.dims if isinstance(dim, int))


def _gather(value: Any, found: set[int]) -> None:
    if type(value) is int:
        found.add(value)
    elif isinstance(value, (tuple, list)) and len(value) < _LONG:
        for item in value:
            if type(item) is int:
                found.add(item)


def picks(taken: set[int], turn: int) -> list[int]:
    """Primes for sizes that only data could give, others in each run (``turn``).

    None divides a size that is given, which would look made up.
    """
    free = [p for p in (*SMALL, *LARGE) if not any(size and size % p == 0 for size in taken)]
    return [*free[turn:], *free[:turn]]
