"""The public name of what torch hands to ``__torch_function__``, and the torch.fx opcode it belongs to."""

from __future__ import annotations

import operator
from functools import cache
from typing import Any

import torch

# A dunder that Python has an operator for is a call_function in torch.fx, whatever torch calls it.
OPERATORS: dict[str, Any] = {
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__invert__": operator.invert,
    "__rsub__": lambda a, b: b - a,
    "__rpow__": lambda a, b: b**a,
    "__rdiv__": lambda a, b: b / a,
    "__rtruediv__": lambda a, b: b / a,
    "__rfloordiv__": lambda a, b: b // a,
    "__rmod__": lambda a, b: b % a,
    "__rmatmul__": lambda a, b: b @ a,
}

METHOD, GETTER, FUNCTION = "method", "getter", "function"


@cache
def describe(func: Any) -> tuple[str, str, str]:
    """Kind (`METHOD`, `GETTER`, `FUNCTION`), full public name and short name of a torch function.

    ``Tensor.view`` -> ``("method", "Tensor.view", "view")``; the getter of ``T`` -> ``("getter", "Tensor.T", "T")``;
    ``torch._C._nn.linear`` -> ``("function", "torch.nn.functional.linear", "linear")``.
    """
    name = getattr(func, "__name__", type(func).__name__)
    owner = getattr(func, "__self__", None)
    if name in ("__get__", "__set__", "__delete__"):
        attribute = getattr(owner, "__name__", "?")
        return GETTER, f"Tensor.{attribute}" + ("" if name == "__get__" else f".{name}"), attribute
    if getattr(func, "__objclass__", None) is torch._C.TensorBase or getattr(torch.Tensor, name, None) is func:
        return METHOD, f"Tensor.{name}", name
    module = getattr(func, "__module__", None) or ""
    if module == "torch._C._nn":
        return FUNCTION, f"torch.nn.functional.{name}", name
    if getattr(torch, name, None) is func or module in ("", "torch._C", "torch.functional"):
        return FUNCTION, f"torch.{name}", name
    return FUNCTION, f"{module}.{name}", name
