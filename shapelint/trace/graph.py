"""A ``torch.fx.Graph`` from the log of a run."""

from __future__ import annotations

import contextlib
import dataclasses
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from shapelint.trace.log import KEY, Log, Op, Ref
from shapelint.trace.names import GETTER, METHOD, describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.trace.owners import Owners
    from shapelint.trace.run import RunResult

_OPERATORS: dict[str, Any] = {
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__invert__": operator.invert,
}
_REFLECTED: dict[str, Any] = {
    "__rsub__": operator.sub,
    "__rpow__": operator.pow,
    "__rdiv__": operator.truediv,
    "__rtruediv__": operator.truediv,
    "__rfloordiv__": operator.floordiv,
    "__rmod__": operator.mod,
    "__rmatmul__": operator.matmul,
}
_CLONED = 1 << 20


def input_tensors(name: str, value: Any) -> list[tuple[str, torch.Tensor]]:
    """The tensors of an input, each with its path: ``x``, ``feats[0]``, ``batch['image']``."""
    if isinstance(value, torch.Tensor):
        return [(name, value)]
    if isinstance(value, (list, tuple)):
        return [found for i, item in enumerate(value) for found in input_tensors(f"{name}[{i}]", item)]
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in input_tensors(f"{name}[{key!r}]", item)]
    return []


@contextlib.contextmanager
def state_kept(root: torch.nn.Module) -> Iterator[None]:
    """Whatever a run assigns to the modules or counts in their buffers is undone at the end."""
    kept: list[tuple[torch.nn.Module, dict[str, Any], dict[str, dict[str, Any]]]] = []
    for module in root.modules():
        tables = {name: dict(module.__dict__[name]) for name in ("_parameters", "_buffers", "_modules")}
        kept.append((module, dict(module.__dict__), tables))
        for name, buffer in tables["_buffers"].items():
            if buffer is not None and not buffer.is_meta and buffer.numel() <= _CLONED:
                module.__dict__["_buffers"][name] = buffer.detach().clone()
    try:
        yield
    finally:
        for module, attributes, tables in kept:
            module.__dict__.clear()
            module.__dict__.update(attributes)
            for name, table in tables.items():
                module.__dict__[name].clear()
                module.__dict__[name].update(table)
            for tensor in (*tables["_parameters"].values(), *tables["_buffers"].values()):
                if tensor is not None:
                    tensor.__dict__.pop(KEY, None)


def build(
    result: RunResult, root: torch.nn.Module, inputs: dict[str, Any], fixed: dict[str, Any], owners: Owners
) -> fx.Graph:
    """The graph of a run that reached its end. ``inputs`` are the bound arguments; those in ``fixed`` get no placeholder."""
    return _Builder(result.log, root, owners).build(result, inputs, fixed)


class _Builder:
    def __init__(self, log: Log, root: torch.nn.Module, owners: Owners) -> None:
        self.log, self.root, self.owners = log, root, owners
        self.graph = fx.Graph(owning_module=None)
        self.nodes: dict[int, Any] = {}
        self.made: dict[int, tuple[fx.Node, tuple[Any, ...]]] = {}
        self.attributes: dict[str, fx.Node] = {}

    def build(self, result: RunResult, inputs: dict[str, Any], fixed: dict[str, Any]) -> fx.Graph:
        by_name = dict(self.log.inputs)
        for name, value in inputs.items():
            if name not in fixed:
                self._placeholder(name, value, by_name)
        for op in self.log.ops:
            self._op(op)
        self.graph.output(self._structure(result.outcome.value))
        self.graph.lint()
        return self.graph

    def _placeholder(self, name: str, value: Any, by_name: dict[str, int]) -> None:
        many = isinstance(value, tuple) and name not in by_name and f"{name}[0]" in by_name
        node = self.graph.placeholder(f"*{name}" if many else name)
        self._spread(node, value, name, by_name)

    def _spread(self, node: fx.Node, value: Any, path: str, by_name: dict[str, int]) -> None:
        if isinstance(value, torch.Tensor):
            self._know(by_name[path], node)
            return
        items: Any = ()
        if isinstance(value, (list, tuple)):
            items = enumerate(value)
        elif isinstance(value, dict):
            items = value.items()
        for key, item in items:
            if input_tensors("", item):
                inner = self.graph.call_function(operator.getitem, (node, key))
                self._spread(inner, item, f"{path}[{key!r}]", by_name)

    def _know(self, value: int, node: fx.Node) -> None:
        self.nodes[value] = node
        record = self.log.values[value]
        node.meta.setdefault("val", record.tensor)

    def _node(self, value: int) -> Any:
        """The node of a value: made before, an item of a result, or an attribute of the root."""
        if value in self.nodes:
            return self.nodes[value]
        if value in self.made:
            node, path = self.made[value]
            for key in path:
                node = self.graph.call_function(operator.getitem, (node, key))
            self._know(value, node)
            return node
        record = self.log.values[value]
        kind, _, path_text = record.source.partition(":")
        if kind in ("param", "buffer"):
            return self._attribute(path_text, value)
        if kind in ("constant", "state") and record.tensor is not None and record.shape is not None:
            plain = self.owners.plain.get(id(record.tensor), "")
            if plain and "[" not in plain:
                return self._attribute(plain, value)
            return self._constant(record.tensor, value)
        raise RuntimeError(f"a tensor of shape {record.shape} came from a place the tracer doesn't see")

    def _attribute(self, target: str, value: int) -> fx.Node:
        if target not in self.attributes:
            self.attributes[target] = self.graph.create_node("get_attr", target)
        self._know(value, self.attributes[target])
        return self.attributes[target]

    def _constant(self, tensor: torch.Tensor, value: int) -> fx.Node:
        number = 0
        while hasattr(self.root, f"_tensor_constant{number}"):
            if getattr(self.root, f"_tensor_constant{number}") is tensor:
                break
            number += 1
        name = f"_tensor_constant{number}"
        if not hasattr(self.root, name):
            self.root.register_buffer(name, tensor, persistent=False)
        return self._attribute(name, value)

    def _op(self, op: Op) -> None:
        args = tuple(self._argument(a) for a in op.args)
        kwargs = {key: self._argument(a) for key, a in op.kwargs.items()}
        if op.opcode == "call_module":
            node = self.graph.create_node("call_module", self._module(op.func), args, kwargs)
        else:
            kind, _, short = describe(op.func)
            if kind == GETTER:
                node = self.graph.call_function(getattr, (args[0], short))
            elif short in _OPERATORS:
                node = self.graph.call_function(_OPERATORS[short], args)
            elif short in _REFLECTED:
                node = self.graph.call_function(_REFLECTED[short], (args[1], args[0]))
            elif kind == METHOD:
                node = self.graph.call_method(short, args, kwargs)
            else:
                node = self.graph.call_function(op.func, args, kwargs)
        node.meta["stack"] = op.stack
        self._results(node, op.result, ())

    def _results(self, node: fx.Node, tree: Any, path: tuple[Any, ...]) -> None:
        if isinstance(tree, Ref):
            if path:
                self.made[tree.value] = (node, path)
            else:
                self._know(tree.value, node)
        elif isinstance(tree, (tuple, list)):
            for index, item in enumerate(tree):
                self._results(node, item, (*path, index))
        elif isinstance(tree, dict):
            for key, item in tree.items():
                self._results(node, item, (*path, key))

    def _module(self, module: torch.nn.Module) -> str:
        path = self.owners.paths.get(module)
        if path:
            return path
        number = 0
        while hasattr(self.root, f"_module{number}"):
            number += 1
        self.root.add_module(f"_module{number}", module)
        return f"_module{number}"

    def _argument(self, tree: Any) -> Any:
        if isinstance(tree, Ref):
            return self._node(tree.value)
        if isinstance(tree, torch.Size):
            return tuple(tree)
        if isinstance(tree, (tuple, list)):
            items = [self._argument(item) for item in tree]
            return items if isinstance(tree, list) else tuple(items)
        if isinstance(tree, dict):
            return {key: self._argument(item) for key, item in tree.items()}
        if isinstance(tree, slice):
            return slice(self._argument(tree.start), self._argument(tree.stop), self._argument(tree.step))
        return tree

    def _structure(self, value: Any) -> Any:
        """What ``forward`` returned, with nodes for its tensors; an object of another class is made by calling its class."""
        if isinstance(value, torch.Tensor):
            return self._node(value.__dict__[KEY].value)
        kind = type(value)
        if kind in (list, tuple):
            return kind([self._structure(item) for item in value])
        if kind is dict:
            return {key: self._structure(item) for key, item in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return self.graph.call_function(kind, tuple(self._structure(item) for item in value))
        if dataclasses.is_dataclass(value):
            fields = {f.name: self._structure(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
            return self.graph.call_function(kind, (), fields)
        if isinstance(value, dict):
            return self.graph.call_function(kind, ({key: self._structure(item) for key, item in value.items()},))
        return value
