"""The tensors that a case describes, for one assignment of sizes to its names."""

from __future__ import annotations

import importlib
from typing import Any

import torch

from shapelint.records import Case, InputTree, TensorSpec, size
from shapelint.trace.log import map_tensors


def tensor(spec: TensorSpec, sizes: dict[str, int]) -> torch.Tensor:
    """A meta tensor of the spec's dtype and shape."""
    return torch.empty([size(d, sizes) for d in spec.dims], dtype=getattr(torch, spec.dtype), device="meta")


def value(tree: InputTree, sizes: dict[str, int]) -> Any:
    """What the tree describes, with meta tensors."""
    if tree.kind == "tensor" and tree.tensor is not None:
        return tensor(tree.tensor, sizes)
    if tree.kind == "list":
        return [value(item, sizes) for item in tree.items]
    if tree.kind == "dict":
        return {key: value(item, sizes) for key, item in zip(tree.keys, tree.items)}
    if tree.kind == "call":
        return called(tree.call)
    return tree.value


def called(name: str) -> Any:
    """What the user's function ``module:function`` returns, its tensors as meta tensors."""
    module, _, attribute = name.partition(":")
    made = getattr(importlib.import_module(module), attribute)()
    return map_tensors(made, lambda t: torch.empty_like(t, device="meta"))


def arguments(case: Case, sizes: dict[str, int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of the call."""
    if case.call:
        made = called(case.call)
        if isinstance(made, dict):
            return (), made
        return (made if isinstance(made, tuple) else (made,)), {}
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for name, tree in case.inputs:
        item = value(tree, sizes)
        if name.startswith("**"):
            kwargs.update(item)
        elif name.startswith("*"):
            args += item
        else:
            kwargs[name] = item
    return tuple(args), kwargs
