"""Where scripts, tests and main blocks build a model and call it: with which arguments and which tensors."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapelint.source.names import Defined
from shapelint.source.tree import dotted, expressions
from shapelint.source.values import UNKNOWN, Tensor, Values, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapelint.source.names import Project


@dataclass(frozen=True, slots=True)
class Call:
    """The tensors and plain values that one call passes to the model, as they are written."""

    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Build:
    """One place that builds a class: file, line, constructor arguments (None where they are no plain values), calls."""

    path: str
    line: int
    args: tuple[Any, ...] | None
    kwargs: tuple[tuple[str, Any], ...]
    calls: tuple[Call, ...] = ()


def builds(project: Project, paths: Sequence[str]) -> dict[tuple[str, str], list[Build]]:
    """The places in these files that build each definition of the project; a main block's first, by file."""
    found: dict[tuple[str, str], list[Build]] = {}
    for path in paths:
        module = project.sources.load(path).tree
        for block in blocks(module) if module else ():
            for key, build in _in_block(project, path, block):
                found.setdefault(key, []).append(build)
    return found


def arguments(values: Values, call: ast.Call) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]] | None:
    """The arguments of a call as plain values, None where one is none or hides behind a star."""
    args = [values.plain(a) for a in call.args]
    kwargs = [(k.arg or "", values.plain(k.value)) for k in call.keywords]
    if any(a is UNKNOWN for a in args) or any(not name or v is UNKNOWN for name, v in kwargs):
        return None
    return tuple(args), tuple(kwargs)


def _in_block(project: Project, path: str, block: Sequence[ast.stmt]) -> Iterator[tuple[tuple[str, str], Build]]:
    values = Values()
    built: dict[int, tuple[tuple[str, str], ast.Call]] = {}
    given: dict[int, tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]] | None] = {}
    calls: dict[int, list[Call]] = {}
    for statement in block:
        made = [node for node in expressions(statement) if isinstance(node, ast.Call)]
        for node in made:
            what = project.resolve(path, dotted(node.func)) if dotted(node.func) else ""
            if isinstance(what, Defined):
                built[id(node)] = (what.key, node)
                given[id(node)] = arguments(values, node)
        for node in made:
            model = _model(values, node.func)
            if model is not None and id(model) in built:
                calls.setdefault(id(model), []).append(_called(values, node))
        values.take(statement)
    for number, (key, node) in built.items():
        args, kwargs = given[number] or (None, ())
        yield key, Build(path, node.lineno, args, kwargs, tuple(calls.get(number, ())))


def _model(values: Values, func: ast.expr) -> ast.Call | None:
    """The call that made what is called here: ``model`` in ``model(x)``, ``model.forward(x)``, ``Net()(x)``."""
    if isinstance(func, ast.Attribute) and func.attr == "forward":
        func = func.value
    held = values.value(func) if isinstance(func, (ast.Name, ast.Call)) else None
    return held if isinstance(held, ast.Call) else None


def _called(values: Values, call: ast.Call) -> Call:
    args = tuple([_passed(values, a) for a in call.args])
    return Call(args, tuple([(k.arg or "**", _passed(values, k.value)) for k in call.keywords]))


def _passed(values: Values, node: ast.expr) -> Any:
    tensor = values.tensor(node)
    if isinstance(tensor, Tensor):
        return tensor
    value = values.value(node)
    if isinstance(value, list) and value and all(isinstance(v, Tensor) for v in value):
        return value
    return values.plain(node)
