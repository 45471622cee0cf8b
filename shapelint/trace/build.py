"""Building a model: small constants are real, everything large is a meta tensor, and each layer knows where it was made."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from shapelint.trace import frames, invented
from shapelint.trace.devices import without_device
from shapelint.trace.log import map_tensors, tensors_in
from shapelint.trace.metas import to_meta
from shapelint.trace.mode import GIVEN, LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator

_SMALL_EMPTY = 64
_MADE = frozenset(
    "zeros ones full empty eye arange range linspace logspace rand randn randint randperm normal empty_strided".split()
)
_FILL = frozenset(
    "uniform_ normal_ trunc_normal_ constant_ ones_ zeros_ eye_ dirac_ xavier_uniform_ xavier_normal_ kaiming_uniform_ "
    "kaiming_normal_ orthogonal_ sparse_ fill_ zero_ random_ bernoulli_ exponential_ cauchy_ log_normal_".split()
)


class BuildMode(TorchFunctionMode):
    """Keeps constants real and small, and makes the rest cost nothing."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Torch's hook: every function and attribute of torch that is used comes here."""
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        leaves: list[torch.Tensor] = []
        tensors_in((args, kwargs), leaves)
        if not leaves:
            return self._make(func, name, args, kwargs)
        if name in _FILL:
            target = args[0] if args else kwargs.get("tensor")
            if isinstance(target, torch.Tensor) and target.is_meta:
                return target
        if name in ("item", "tolist", "__bool__", "__int__", "__float__", "__index__") and leaves[0].is_meta:
            return _number(name, leaves[0])
        if name in ("allclose", "equal", "is_nonzero") and any(t.is_meta for t in leaves):
            return True  # a check of what an initialiser made, such as that a matrix is orthogonal
        if name in ("cuda", "to") or "device" in kwargs:
            from shapelint.trace import emulate  # noqa: PLC0415  # only where something is moved

            args, kwargs, _ = emulate.stay(name, args, kwargs)
            if name == "cuda":
                return args[0]
        if name not in ("__get__", "__set__") and any(t.is_meta for t in leaves) and any(not t.is_meta for t in leaves):
            args, kwargs = map_tensors(args, _as_meta), map_tensors(kwargs, _as_meta)
        return func(*args, **kwargs)

    def _make(self, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if name in GIVEN:
            return func(*args, **without_device(kwargs))
        if name not in _MADE:
            return func(*args, **kwargs)
        plain = without_device(kwargs)
        generator = plain.pop("generator", None)
        made = func(*args, **plain, device="meta")
        if made.numel() > (_SMALL_EMPTY if name.startswith("empty") else LIMIT):
            return made
        return func(*args, **plain, **({} if generator is None else {"generator": generator}))


def _as_meta(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.is_meta else to_meta(tensor)


def _number(name: str, tensor: torch.Tensor) -> Any:
    if name == "__bool__":
        return invented.decide(sys._getframe(1))
    if name == "tolist":
        return torch.zeros(tensor.shape, dtype=tensor.dtype).tolist()
    return 0.5 if tensor.is_floating_point() else 1


@contextlib.contextmanager
def building() -> Iterator[dict[nn.Module, tuple[frames.Place, ...]]]:
    """A block in which models are built; yields where each module was made, filled as they are."""
    made: dict[nn.Module, tuple[frames.Place, ...]] = {}
    plain = nn.Module.__init__

    def init(module: nn.Module, *args: Any, **kwargs: Any) -> None:
        plain(module, *args, **kwargs)
        made[module] = frames.user_stack(sys._getframe(1))

    nn.Module.__init__ = init  # type: ignore[method-assign,assignment]
    try:
        with BuildMode():
            yield made
    finally:
        nn.Module.__init__ = plain  # type: ignore[method-assign]


def _unmade(table: dict[str, Any]) -> None:
    """Lazy parameters are made when their layer is first called: as meta tensors then."""
    for name, one in table.items():
        if isinstance(one, nn.UninitializedParameter) and not one.is_meta:
            table[name] = nn.UninitializedParameter(one.requires_grad, device="meta", dtype=one.dtype)  # type: ignore[call-arg,arg-type]  # torch's stub lacks them


def to_meta_parameters(root: nn.Module) -> None:
    """Makes each parameter that is still real a meta parameter: weights are data. Tied ones stay tied."""
    new: dict[int, nn.Parameter] = {}
    for module in root.modules():
        _unmade(module._parameters)
        for name, parameter in module._parameters.items():
            if parameter is not None and not parameter.is_meta and type(parameter) is nn.Parameter:
                if id(parameter) not in new:
                    new[id(parameter)] = nn.Parameter(to_meta(parameter.detach()), parameter.requires_grad)
                module._parameters[name] = new[id(parameter)]
