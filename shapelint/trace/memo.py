"""What a call gave for the same shapes before: layers repeat, and a meta kernel written in Python takes up to two milliseconds.

A call of the same function on tensors of the same shapes, strides and dtypes, with the same other arguments, gives the same again. Its
results are made anew and have no history: code that differentiates in ``forward`` is run without this (`differentiates`).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import torch

PURE = frozenset(
    "linear matmul __matmul__ __rmatmul__ mm bmm mv addmm baddbmm einsum bilinear conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d batch_norm layer_norm group_norm instance_norm rms_norm relu relu6 gelu silu sigmoid tanh "
    "leaky_relu elu mish hardswish hardsigmoid softplus add sub mul div true_divide pow neg exp log sqrt rsqrt sin cos abs mean sum "
    "amax amin var std norm square outer cat stack maximum minimum clamp masked_fill scaled_dot_product_attention embedding "
    "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d "
    "lt gt le ge eq ne logical_and logical_or logical_not bitwise_and bitwise_or __and__ __or__ __invert__ cumsum "
    "__rsub__ __rtruediv__ __rpow__ addcmul lerp".split()
)
"""Calls that compute a new tensor and do nothing else, not even warn."""

_PLAIN = (int, float, bool, str, type(None), torch.dtype, torch.memory_format)
_Made = tuple[torch.Size, tuple[int, ...], torch.dtype]
_results: dict[Any, _Made] = {}

_AUTOGRAD = re.compile(
    rb"\bautograd\b|\bbackward\(|\bgrad_fn\b|\bfunctorch\b|torch\.func\b|\.grad\b|\bcheckpoint\b|\bis_leaf\b"
)


@cache
def differentiates(path: str) -> bool:
    """Whether the code in a file may look at the history of a tensor: gradients, a graph, checkpoints."""
    try:
        return _AUTOGRAD.search(Path(path).read_bytes()) is not None
    except OSError:
        return True


def forget() -> None:
    """Forgets all results, as a new process would."""
    _results.clear()


def key_of(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the result hangs on; None where that can't be told."""
    parts = [func]
    try:
        parts += [_part(item) for item in args]
        parts += [(name, _part(item)) for name, item in kwargs.items()]
    except TypeError:
        return None
    return tuple(parts) if torch._C._functorch.peek_interpreter_stack() is None else None


def _part(item: Any) -> Any:
    kind = type(item)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        if not item.is_meta or item.layout is not torch.strided:
            raise TypeError
        return item.shape, item.stride(), item.dtype
    if kind is tuple or kind is list or kind is torch.Size:
        return tuple([_part(one) for one in item])
    if kind in _PLAIN:
        return kind, item
    raise TypeError


def recall(key: Any) -> torch.Tensor | None:
    """The result of a call that was made before, as a new tensor."""
    made = _results.get(key)
    return torch.empty_strided(made[0], made[1], dtype=made[2], device="meta") if made is not None else None


def keep(key: Any, result: Any, given: list[torch.Tensor]) -> None:
    """Keeps what a call gave, where it is one new tensor."""
    if type(result) is torch.Tensor and result.is_meta and not any(result is tensor for tensor in given):
        _results[key] = (result.shape, result.stride(), result.dtype)
