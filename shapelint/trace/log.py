"""What one run of a model did: the values that flowed and the operations that made them, in order.

The log is the tracer's own memory. `shapelint.trace.graph` makes a ``torch.fx.Graph`` of it, `shapelint.trace.align` the
records that cross the process boundary.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from shapelint.trace.doubt import Doubt
from shapelint.trace.frames import Place

KEY = "_shapelint_info"
"""Name of the attribute that ties a tensor object to its `Info`."""


class Info:
    """What is known of one tensor object during a run.

    ``value`` is its index in the log. ``constant``: a real tensor that no data has touched. ``twin``: the meta tensor to
    compute with, where the object itself isn't one. ``other``: the same value under the other repair, where a recovery
    had two. ``invented``: it hangs on a number or answer that was made up. ``unknown``: its shape isn't known.
    ``pinned``: the device it is fixed to whatever ``model.to(device)`` says. ``device``: the device it says it is on.
    """

    __slots__ = ("constant", "device", "invented", "other", "pinned", "run", "twin", "unknown", "value")

    def __init__(self, run: object, value: int) -> None:
        self.run = run
        self.value = value
        self.constant = False
        self.twin: torch.Tensor | None = None
        self.other: torch.Tensor | None = None
        self.invented = False
        self.unknown = False
        self.pinned = ""
        self.device: torch.device | None = None


@dataclass(slots=True)
class Value:
    """A tensor of the log: its shape (None if unknown), dtype, where it comes from, and the op that made it (-1: none)."""

    shape: tuple[int, ...] | None
    dtype: str
    source: str
    producer: int
    tensor: torch.Tensor | None = None
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands for the value with this index in the arguments of an `Op`."""

    value: int


@dataclass(slots=True)
class Op:
    """One operation: what was called, by which module, from where, on what, with which result.

    ``func`` is the callable as torch gave it, or the nn.Module for ``call_module``; ``args`` and ``kwargs`` have a `Ref` where a
    tensor stood; ``result`` is what it returned, with Refs. ``error`` is what it raised, if it did;
    ``doubt`` is it instead where that may only follow from something made up.
    """

    opcode: str
    func: Any
    name: str
    module: Any
    stack: tuple[Place, ...]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any = None
    outputs: tuple[int, ...] = ()
    error: BaseException | None = None
    doubt: Doubt | None = None
    inner: str = ""
    notes: list[tuple[str, tuple[int, ...], str]] = field(default_factory=list)


@dataclass(slots=True)
class Log:
    """All that happened in one run."""

    values: list[Value] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    inputs: list[tuple[str, int]] = field(default_factory=list)

    def add_value(  # noqa: D102
        self, tensor: torch.Tensor | None, shape: tuple[int, ...] | None, dtype: str, source: str, producer: int
    ) -> int:
        self.values.append(Value(shape, dtype, source, producer, tensor))
        return len(self.values) - 1


def map_tensors(tree: Any, change: Any) -> Any:
    """``tree`` with each tensor in its lists, tuples, dicts and slices replaced by ``change(tensor)``."""
    if isinstance(tree, torch.Tensor):
        return change(tree)
    kind = type(tree)
    if kind is tuple:
        return tuple([map_tensors(item, change) for item in tree])
    if kind is list:
        return [map_tensors(item, change) for item in tree]
    if kind is dict:
        return {key: map_tensors(item, change) for key, item in tree.items()}
    if kind is slice:
        return slice(map_tensors(tree.start, change), map_tensors(tree.stop, change), map_tensors(tree.step, change))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        # Not by its own constructor, which may look at the tensors, as PackedSequence does.
        return tuple.__new__(kind, [map_tensors(item, change) for item in tree])
    if isinstance(tree, (tuple, list)) and kind.__module__.startswith("torch"):
        # torch.return_types are tuples that are built from one sequence.
        return kind([map_tensors(item, change) for item in tree]) if kind is not torch.Size else tree
    return tree


def tensors_in(tree: Any, found: list[torch.Tensor]) -> None:
    """Appends every tensor in lists, tuples, dicts and slices of ``tree`` to ``found``, in order."""
    if isinstance(tree, torch.Tensor):
        found.append(tree)
    elif isinstance(tree, (tuple, list)):
        if type(tree) is not torch.Size:
            for item in tree:
                tensors_in(item, found)
    elif isinstance(tree, dict):
        for item in tree.values():
            tensors_in(item, found)
    elif type(tree) is slice:
        tensors_in((tree.start, tree.stop, tree.step), found)
