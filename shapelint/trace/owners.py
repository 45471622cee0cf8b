"""Whose a tensor is: a parameter or buffer of the model, or an attribute that ``model.to(device)`` doesn't know of."""

from __future__ import annotations

from typing import Any

import torch

_DEPTH = 3


class Owners:
    """The tensors of a model by identity, as they stand when a run starts."""

    def __init__(self, root: Any) -> None:
        self.registered: dict[int, str] = {}
        self.plain: dict[int, str] = {}
        self._kept: list[torch.Tensor] = []
        self.paths: dict[Any, str] = {}
        if isinstance(root, torch.nn.Module):
            for path, module in root.named_modules(remove_duplicate=True):
                self.paths[module] = path
                self._take_in(path, module)

    def _take_in(self, path: str, module: torch.nn.Module) -> None:
        prefix = f"{path}." if path else ""
        for kind, table in (("param", module._parameters), ("buffer", module._buffers)):
            for name, tensor in table.items():
                if tensor is not None:
                    self.registered.setdefault(id(tensor), f"{kind}:{prefix}{name}")
                    self._kept.append(tensor)
        for name, item in module.__dict__.items():
            if not name.startswith(("_parameters", "_buffers", "_modules")):
                self._look(item, f"{prefix}{name}", _DEPTH)

    def _look(self, item: Any, path: str, depth: int) -> None:
        if isinstance(item, torch.Tensor):
            if id(item) not in self.plain:
                self.plain[id(item)] = path
                self._kept.append(item)
        elif depth and isinstance(item, (list, tuple)):
            for index, inner in enumerate(item):
                self._look(inner, f"{path}[{index}]", depth - 1)
        elif depth and isinstance(item, dict):
            for key, inner in item.items():
                self._look(inner, f"{path}[{key!r}]", depth - 1)

    def find(self, tensor: torch.Tensor) -> str:
        """``param:PATH`` or ``buffer:PATH`` of a registered tensor, else "" ."""
        return self.registered.get(id(tensor), "")

    def is_plain(self, tensor: torch.Tensor) -> bool:
        """Whether it is an attribute of a module that isn't registered with it."""
        return id(tensor) in self.plain


def rebind_buffers(root: torch.nn.Module) -> None:
    """Gives each buffer a new tensor object, as ``model.to(device)`` does: who kept the old one keeps a stale tensor."""
    new: dict[int, torch.Tensor] = {}
    for module in root.modules():
        for name, buffer in module._buffers.items():
            if buffer is not None and type(buffer) is torch.Tensor:
                module._buffers[name] = new.setdefault(id(buffer), buffer.detach())
