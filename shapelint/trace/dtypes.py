"""Whether a kernel takes these dtypes: the real one is asked, on small tensors of the same dtypes.

Meta kernels promote and accept what no other kernel does: ``gelu`` of whole numbers, a product of two dtypes, a float index. What the
CPU's kernel says of dtypes holds for every size, so it is asked with two elements along each axis, once for each combination.
A call whose tensors are all of one floating dtype isn't asked about: half precision lacks kernels on CPU that every GPU has.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import torch

from shapelint.trace.log import map_tensors, tensors_in

_NOT_ASKED = frozenset(
    "__getitem__ to type float double half bfloat16 int long short bool cuda cpu backward grad requires_grad_ set_ resize_ view "
    "data detach detach_ item tolist numpy register_hook retain_grad share_memory_ pin_memory clone contiguous reshape permute "
    "transpose unsqueeze squeeze flatten expand expand_as size stride dim".split()
)
"""Calls that take any dtype, and those that do more than compute."""

_ALWAYS = frozenset(
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift __and__ __or__ __xor__ __invert__ __lshift__ "
    "__rshift__ gcd lcm index_add index_add_ index_copy index_copy_ index_fill index_fill_ repeat_interleave embedding gather scatter "
    "scatter_ scatter_add scatter_add_ index_select take_along_dim one_hot cross_entropy nll_loss".split()
)
"""Calls that need whole numbers somewhere, which two tensors of floats aren't."""

_OF_DTYPES = re.compile(
    r"not implemented for '(?!Half|BFloat16)|have the same (scalar type|dtype|datatype)|share same datatype|expected scalar type"
    r"|Found dtype|dtypes match|can't be cast|(not|n't) supported? (for )?(bool|complex)|(does not|not) support (bool|complex)"
    r"|inputs not supported|with a bool tensor|only supports? (floating|integer)|Expected dtype|following scalar types"
    r"|Expected a long tensor|intended to support complex|not implemented for complex|different dtypes|Expected object of scalar type"
    r"|expected (index|target dtype) to be|should be the same|integer tensor|only supports floating-point",
    re.IGNORECASE,
)
"""What CPU kernels say where it is the dtypes that they refuse. A kernel that is missing for half precision alone is no fault."""

_FEW = 1 << 14
"""Elements that a call may have to be made in its real sizes, where small ones say nothing."""

_answers: dict[Any, tuple[type[Exception], str] | None] = {}


def check(func: Any, short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises what the CPU's kernel raises, if it refuses these dtypes."""
    if short in _NOT_ASKED:
        return
    tensors: list[torch.Tensor] = []
    tensors_in(args, tensors)
    if kwargs:
        tensors_in(kwargs, tensors)
    first = tensors[0].dtype
    if first.is_floating_point and short not in _ALWAYS and all(tensor.dtype is first for tensor in tensors):
        return
    key = (
        func,
        tuple([(t.dtype, t.dim()) for t in tensors]),
        tuple([_kind(a) for a in args]),
        tuple([(name, _kind(value)) for name, value in kwargs.items()]),
    )
    if key not in _answers:
        _answers[key] = _ask(func, args, kwargs, tensors)
    answer = _answers[key]
    if answer is not None:
        raise answer[0](answer[1])


def _kind(value: Any) -> Any:
    return value if isinstance(value, (torch.dtype, str, bool, type(None))) else type(value)


def _ask(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], tensors: list[torch.Tensor]
) -> tuple[type[Exception], str] | None:
    makers = [_small]
    if sum(tensor.numel() for tensor in tensors) <= _FEW:
        makers.append(_whole)
    for make in makers:
        try:
            with warnings.catch_warnings(), torch.no_grad(), torch.random.fork_rng(devices=[]):
                warnings.simplefilter("ignore")
                func(*map_tensors(args, make), **map_tensors(kwargs, make))
        except Exception as error:  # noqa: BLE001  # whatever it raises, only what speaks of dtypes counts
            if _OF_DTYPES.search(str(error)):
                return type(error), str(error).split("\n")[0]
        else:
            return None
    return None


def _small(tensor: torch.Tensor) -> torch.Tensor:
    return _real([min(size, 2) for size in tensor.shape], tensor.dtype)


def _whole(tensor: torch.Tensor) -> torch.Tensor:
    return _real(list(tensor.shape), tensor.dtype)


def _real(shape: list[int], dtype: torch.dtype) -> torch.Tensor:
    """Ones, but for whole numbers, which are indices of anything if they are 0."""
    whole = not dtype.is_floating_point and not dtype.is_complex
    return torch.zeros(shape, dtype=dtype) if whole else torch.ones(shape, dtype=dtype)
