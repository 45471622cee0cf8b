"""Lazy layers (``nn.LazyLinear`` and its like): they take their sizes from the first input, as they do eagerly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch.nn.modules.lazy import LazyModuleMixin


def initialise(module: LazyModuleMixin, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Gives ``module`` its parameters, if it has none yet, and makes it the layer it stands for.

    The hook that does it in an eager run is taken off by that. Raises what the layer raises for an input of another rank.
    """
    parameters = [*module._parameters.values(), *module._buffers.values()]  # type: ignore[attr-defined]  # it is an nn.Module
    if any(torch.nn.parameter.is_lazy(one) for one in parameters):
        # Shapes alone are asked for, and the tracer has nothing to see.
        with torch._C.DisableTorchFunction(), torch.no_grad():
            module._infer_parameters(module, args, kwargs)  # type: ignore[misc]  # a mixin of nn.Module
