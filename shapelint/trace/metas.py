"""Meta tensors: a shape, strides and a dtype, and no data."""

from __future__ import annotations

from typing import Any

import torch


def empty(shape: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """A meta tensor of this shape, which may be any iterable of sizes."""
    return torch.empty(tuple(shape), dtype=dtype, device="meta")


def wrapped(tensor: torch.Tensor) -> bool:
    """Whether ``tensor`` is one that a transform of torch.func wraps, whose shape lacks the mapped axis."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def to_meta(tensor: torch.Tensor) -> torch.Tensor:
    """A meta tensor with the shape, strides, dtype and need of a gradient of ``tensor``."""
    if tensor.layout is not torch.strided or wrapped(tensor):
        return tensor.to("meta")
    made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device="meta")
    return made.requires_grad_() if tensor.requires_grad else made
