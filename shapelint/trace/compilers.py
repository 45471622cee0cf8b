"""``torch.compile`` in user code: what it is given runs as it stands, which is what is to be checked.

A compiled function computes what the function itself computes. Compiling would trace it with tools that know nothing of the tracer,
and take seconds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class CompiledModule(nn.Module):
    """Stands for ``torch._dynamo.OptimizedModule``: calls the module it was made of, and has its attributes."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._orig_mod = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._orig_mod, name)


def _compile(model: Any = None, **options: Any) -> Any:
    """In place of ``torch.compile``, with its signature."""
    if model is None:
        return lambda function: _compile(function, **options)
    return CompiledModule(model) if isinstance(model, nn.Module) else model


def leave_uncompiled() -> None:
    """From here on, ``torch.compile`` gives back what it is given, in this process, which does nothing but trace."""
    torch.compile = _compile
