"""Recurrent layers without running over every step: packed sequences, and the first steps in place of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from shapelint.trace.metas import empty

if TYPE_CHECKING:
    from shapelint.trace.mode import TraceMode


def pack(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Every sequence taken to be as long as the longest: the batch sizes are then known, and are real."""
    del mode, func
    given = {**dict(zip(("input", "lengths", "batch_first"), args)), **kwargs}
    tensor, batch_first = given["input"], given.get("batch_first", False)
    batch, steps = (tensor.shape[0], tensor.shape[1]) if batch_first else (tensor.shape[1], tensor.shape[0])
    if given["lengths"].numel() != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {given['lengths'].numel()} (batch_size={batch})"
        )
    return empty((batch * steps, *tensor.shape[2:]), tensor.dtype), torch.full((steps,), batch, dtype=torch.int64)


def pad_packed(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The way back from `pack`: every sequence is as long as the longest."""
    del mode, func
    given = {**dict(zip(("data", "batch_sizes", "batch_first", "padding_value", "total_length"), args)), **kwargs}
    data, sizes = given["data"], given["batch_sizes"]
    steps = sizes.numel()
    batch = data.shape[0] // max(steps, 1)
    total = given.get("total_length") or 0
    length = max(total, steps)
    shape = (batch, length) if given.get("batch_first") else (length, batch)
    return empty((*shape, *data.shape[1:]), data.dtype), torch.full((batch,), steps, dtype=torch.int64)


def recurrent(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``torch.lstm`` and its like over a packed sequence, whose second argument is the batch sizes."""
    del mode
    if not (len(args) > 1 and isinstance(args[1], torch.Tensor) and args[1].dim() == 1):
        return _two_steps(func, args, kwargs)
    data, state, weights = args[0], args[2], args[3]
    both = 2 if args[8] else 1
    first = state[0] if isinstance(state, (tuple, list)) else state
    hidden = first.shape[-1]
    if weights[0].shape[-1] != data.shape[-1]:
        raise RuntimeError(
            f"input.size(-1) must be equal to input_size. Expected {weights[0].shape[-1]}, got {data.shape[-1]}"
        )
    out = empty((data.shape[0], hidden * both), data.dtype)
    state = tuple(empty(s.shape, s.dtype) for s in (state if isinstance(state, (tuple, list)) else (state,)))
    return (out, *state) if func.__name__ == "lstm" else (out, state[0])


_STEPS = 2


def _two_steps(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A recurrent layer run over the first two steps: torch's meta kernel would loop over all of them.

    What comes out is repeated to the full length, in the order in memory that the kernel gave it.
    """
    batched = 3
    if kwargs or len(args) != 9 or args[0].dim() != batched:  # noqa: PLR2004  # what torch.nn's layers pass
        return NotImplemented
    time = 1 if args[8] else 0
    length = args[0].shape[time]
    if length <= _STEPS:
        return NotImplemented
    out, *states = func(args[0].narrow(time, 0, _STEPS), *args[1:])
    first = out.narrow(time, 0, 1)
    if out.stride(time) > out.stride(1 - time):
        whole = (first.transpose(0, 1) if time else first).contiguous().repeat(length, 1, 1)
        return (whole.transpose(0, 1) if time else whole, *states)
    return (first.contiguous().repeat(1, length, 1), *states) if time else NotImplemented
