"""The public tracer: a module and meta tensors in, a ``torch.fx.Graph`` specialised to them out."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from shapelint.trace import owners
from shapelint.trace.graph import build, input_tensors, state_kept
from shapelint.trace.proxy import MetaTensorProxy
from shapelint.trace.run import RunResult, run

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MetaTensorProxy", "MetaTensorTracer"]


class MetaTensorTracer(fx.Tracer):
    """Traces a module's real ``forward`` on tensors that have a shape and a dtype and no data.

    Control flow on rank, shape and dtype is followed; the graph holds for inputs of the same shapes::

        tracer = MetaTensorTracer()
        graph = tracer.trace(model, concrete_metas=[torch.empty(3, 4, 5, device="meta")])
        module = torch.fx.GraphModule(tracer.root, graph)

    After a trace, ``tracer.result`` holds what was seen: ``result.log`` the operations, of which those with an ``error`` failed.
    """

    result: RunResult

    def trace(
        self,
        root: torch.nn.Module | Callable[..., Any],
        concrete_args: dict[str, Any] | None = None,
        concrete_metas: Any = (),
    ) -> fx.Graph:
        """The graph of ``root`` for these inputs.

        Args:
            root: the module, or a function of tensors.
            concrete_args: values of parameters that are no tensors; they are built into the graph.
            concrete_metas: a tensor on the meta device for each remaining parameter, in order, or a dict by name. Lists, tuples
                and dicts of tensors are inputs of that structure.

        Raises:
            TypeError: the inputs don't fit the signature of ``forward``.
            Exception: whatever ``forward`` itself raises for these inputs, such as its own RuntimeError for a rank it rejects;
                or, where an operation refuses its operands, what torch raised there.

        """
        self.root = root if isinstance(root, torch.nn.Module) else torch.nn.Module()
        function = root.forward if isinstance(root, torch.nn.Module) else root
        signature = inspect.signature(function)
        args = _bind(signature, concrete_args or {}, concrete_metas)
        tensors: list[tuple[str, torch.Tensor]] = []
        for name, value in args.items():
            tensors += input_tensors(name, value)
        bound = signature.bind_partial()
        bound.arguments.update(args)
        with state_kept(self.root):
            held = owners.Owners(self.root)
            self.result = run(root, bound.args, bound.kwargs, held, is_leaf=self._leaf, inputs=tensors)
        if self.result.outcome.error is not None:
            raise self.result.outcome.error
        failed = next((op.error for op in self.result.log.ops if op.error is not None), None)
        if failed is not None:
            raise failed
        self.graph = build(self.result, self.root, args, concrete_args or {}, held)
        return self.graph

    def _leaf(self, module: torch.nn.Module) -> bool:
        return self.is_leaf_module(module, "")


def _bind(signature: inspect.Signature, concrete_args: dict[str, Any], metas: Any) -> dict[str, Any]:
    """Each parameter's value: from ``concrete_args`` by name, from ``metas`` by name or in order, else its default."""
    for name in concrete_args:
        if name not in signature.parameters:
            raise TypeError(f"forward() has no parameter {name!r}")
    if isinstance(metas, dict):
        bound = signature.bind(**{**concrete_args, **metas})
    else:
        rest = iter(metas)
        values: dict[str, Any] = dict(concrete_args)
        extra: list[Any] = []
        for name, parameter in signature.parameters.items():
            if name in values or parameter.kind is parameter.VAR_KEYWORD:
                continue
            if parameter.kind is parameter.VAR_POSITIONAL:
                extra = list(rest)
                continue
            try:
                values[name] = next(rest)
            except StopIteration:
                break
        if next(rest, None) is not None:
            raise TypeError(f"forward() takes fewer than {len(metas)} inputs")
        ordered = [name for name, p in signature.parameters.items() if p.kind is not p.KEYWORD_ONLY and name in values]
        if extra:
            bound = signature.bind(*[values.pop(name) for name in ordered], *extra, **values)
        else:
            bound = signature.bind(**values)
    return dict(bound.arguments)
