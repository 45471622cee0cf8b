"""The models of a project that has no configuration, found without importing anything."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapelint.source.builds import Build, builds
from shapelint.source.classes import ModuleClass, module_classes
from shapelint.source.declared import EXAMPLE, from_annotation, from_comments, from_docstring
from shapelint.source.firstlayers import FirstLayers, bind
from shapelint.source.names import Defined, Project
from shapelint.source.tree import dotted, statements
from shapelint.source.values import UNKNOWN, Tensor, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapelint.source.files import SourceCache
    from shapelint.source.tree import FunctionNode


@dataclass(frozen=True, slots=True)
class Discovered:
    """An nn.Module class that was found, either with all it takes to check it or with the ``reason`` why not.

    ``target`` is ``module:name``; ``path`` and ``line`` are where the class stands. ``cases`` are its inputs, pairs of
    parameter and value as the configuration writes them (spec strings, numbers, lists, dicts). ``inferred`` says where
    they come from: ``comment`` (stated for the linter), or ``annotation``, ``call``, ``docstring``, ``first layer``.
    ``hint`` is the one line that would make a skipped class checked, "" where it is checked as a part of another.
    """

    target: str
    path: str
    line: int
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    cases: tuple[tuple[tuple[str, Any], ...], ...] = ()
    inferred: tuple[str, ...] = ()
    reason: str = ""
    hint: str = ""


def discover(
    files: Sequence[str], src: Sequence[str], sources: SourceCache, *, context: Sequence[str] = ()
) -> tuple[Discovered, ...]:
    """Every nn.Module class at the top level of ``files`` (absolute paths), by file and line.

    ``src`` are the import roots. ``context`` are further files that may show how a model is built and called, such as
    scripts and tests. A file that can't be parsed has no classes here.
    """
    project = Project(sources, src)
    found = module_classes(project, files)
    built = builds(project, tuple(dict.fromkeys([*files, *context])))
    finder = _Finder(project, built, _factories(project, files))
    return tuple([finder.discovered(one) for one in found])


@dataclass(frozen=True, slots=True)
class _Construction:
    """A way to build a model: its target, the arguments, the calls seen with it, or why there is none."""

    target: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    builds: tuple[Build, ...] = ()
    reason: str = ""


class _Finder:
    def __init__(
        self,
        project: Project,
        built: dict[tuple[str, str], list[Build]],
        factories: dict[tuple[str, str], list[Defined]],
    ) -> None:
        self.project = project
        self.built = built
        self.factories = factories
        self.layers = FirstLayers(project)

    def discovered(self, one: ModuleClass) -> Discovered:  # noqa: PLR0911  # one answer a reason
        path, line = one.defined.path, one.node.lineno
        module = self.project.module_of(path)
        target = f"{module}:{one.name}"
        if not module:
            reason = "its file lies below no import root, or has a name that can't be imported"
            return Discovered(one.name, path, line, reason=reason, hint='set src = ["..."] in [tool.shapelint]')
        own = self.built.get(one.defined.key, [])
        part = one.used_by and not any(build.calls for build in own)
        forward = one.method("forward")
        if forward is None and part:
            return Discovered(target, path, line, reason=_part_of(one))
        if forward is None or _is_abstract(forward[1]):
            what = f"a base of {_listed(one.extended_by)}" if one.extended_by else "not complete"
            return Discovered(target, path, line, reason=f"it has no forward of its own: it is {what}")
        declared = from_comments(self.project.sources.load(path), one.node)
        if not declared.cases and not declared.error:
            declared = from_comments(self.project.sources.load(forward[0]), forward[1])
        if declared.error:
            return Discovered(target, path, declared.line, reason=declared.error, hint=EXAMPLE)
        if not declared.cases and part:
            return Discovered(target, path, line, reason=_part_of(one))
        made = self._construction(one, target)
        if made.reason:
            return Discovered(target, path, line, reason=made.reason, hint=_config_line(target, one, forward[1]))
        if declared.cases:
            cases = tuple([tuple(case.items()) for case in declared.cases])
            return Discovered(made.target, path, line, made.args, made.kwargs, cases, ("comment",))
        inputs, inferred, missing = self._inputs(one, forward[1], made)
        if missing:
            reason = f"nothing tells the shape of {_listed(missing)}"
            return Discovered(target, path, line, reason=reason, hint=_comment_line(forward[1], inputs))
        return Discovered(made.target, path, line, made.args, made.kwargs, (tuple(inputs.items()),), inferred)

    def _construction(self, one: ModuleClass, target: str) -> _Construction:
        own = self.built.get(one.defined.key, [])
        init = one.method("__init__")
        needed = _required(init[1]) if init else ()
        plain = [b for b in own if b.args is not None]
        # A place that calls what it builds says most; then one in the class's own file.
        plain.sort(key=lambda b: (not b.calls, b.path != one.defined.path))
        if plain and (needed or plain[0].calls):
            return _Construction(target, plain[0].args or (), plain[0].kwargs, tuple(plain))
        if not needed:
            return _Construction(target, builds=tuple(own))
        for factory in self.factories.get(one.defined.key, ()):
            module = self.project.module_of(factory.path)
            if module:
                name = f"{module}:{factory.node.name}"
                return _Construction(name, builds=tuple(self.built.get(factory.key, ())))
        missing = _listed(needed)
        seen = "which no script gives as plain values" if own else "and nothing was found that builds it"
        return _Construction(target, reason=f"its constructor needs {missing}, {seen}")

    def _inputs(
        self, one: ModuleClass, forward: FunctionNode, made: _Construction
    ) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
        """The inputs by name, where they come from, and the names that nothing is known of."""
        names = _required(forward)
        inputs: dict[str, Any] = {}
        hows: list[str] = []
        spec = forward.args
        annotations = {a.arg: a.annotation for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
        called = _from_calls(forward, made.builds, sequence_first=self.layers.sequence_first(one))
        init = one.method("__init__")
        bound = bind(init[1], made.args, dict(made.kwargs)) if init else {}
        sizes = {name: value for name, value in bound.items() if type(value) is int}
        docs = [d for d in (ast.get_docstring(forward), ast.get_docstring(one.node)) if d]
        for name in (*names, *(n for n in called if n not in names)):
            for how, value in (
                ("annotation", from_annotation(annotations.get(name))),
                ("call", called.get(name, "")),
                ("docstring", from_docstring(docs, name, sizes)),
                ("first layer", self.layers.spec(one, name, made.args, dict(made.kwargs)) if name in names else ""),
            ):
                if value != "":
                    inputs[name] = value
                    hows.append(how)
                    break
        return inputs, tuple(dict.fromkeys(hows)), tuple([n for n in names if n not in inputs])


def _from_calls(forward: FunctionNode, made: Sequence[Build], *, sequence_first: bool) -> dict[str, Any]:
    """The inputs of the first call whose tensors are all known, by parameter."""
    names = [a.arg for a in (*forward.args.posonlyargs, *forward.args.args)][1:]
    for build in made:
        for call in build.calls:
            given = {**dict(zip(names, call.args)), **dict(call.kwargs)}
            if len(call.args) > len(names) or any(value is UNKNOWN for value in given.values()):
                continue
            tensors = [v for v in given.values() if isinstance(v, Tensor)]
            if tensors:
                shared = _batch_of(tensors, sequence_first=sequence_first)
                return {name: _spelled(value, shared) for name, value in given.items()}
    return {}


def _batch_of(tensors: Sequence[Tensor], *, sequence_first: bool) -> int | None:
    """The size that is the batch: that of the first dim of the first tensor, None where this can't be said."""
    sizes = tensors[0].sizes
    image = len(sizes) == 3 and sizes[0] in {1, 3} and sizes[1] == sizes[2]  # noqa: PLR2004  # one picture
    if not sizes or image or (len(sizes) == 1 and len(tensors) == 1):
        return None
    # With a layer that takes the sequence first, 7 rows of 4 may be either, and a wrong name is a false alarm.
    return None if sequence_first and len(sizes) == 3 else sizes[0]  # noqa: PLR2004  # [T, B, F]


def _spelled(value: Any, batch: int | None) -> Any:
    if isinstance(value, Tensor):
        return value.spec(batch=bool(value.sizes) and value.sizes[0] == batch)
    if isinstance(value, list):
        return [_spelled(v, batch) for v in value]
    if isinstance(value, str):
        return {"value": value}
    return "None" if value is None else value


def _factories(project: Project, paths: Sequence[str]) -> dict[tuple[str, str], list[Defined]]:
    """Functions without required parameters that return a new instance, by the class that they build."""
    found: dict[tuple[str, str], list[Defined]] = {}
    for path in paths:
        for node in project.scope(path).defined.values():
            if isinstance(node, ast.ClassDef) or _parameters(node) or node.name.startswith(("test", "_")):
                continue
            values = Values()
            for statement in statements(node):
                values.take(statement)
                if isinstance(statement, ast.Return) and statement.value is not None:
                    made = values.value(statement.value)
                    text = dotted(made.func) if isinstance(made, ast.Call) else ""
                    what = project.resolve(path, text) if text else ""
                    if isinstance(what, Defined):
                        found.setdefault(what.key, []).append(Defined(path, node))
    return found


def _parameters(function: FunctionNode) -> tuple[str, ...]:
    """The parameters without a default."""
    spec = function.args
    plain = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    named = [a.arg for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is None]
    return (*plain[: len(plain) - len(spec.defaults)], *named)


def _required(method: FunctionNode) -> tuple[str, ...]:
    return _parameters(method)[1:]


def _part_of(one: ModuleClass) -> str:
    return f"it is a part of {_listed(one.used_by)}, and checked with it"


def _is_abstract(method: FunctionNode) -> bool:
    if any(dotted(d).rpartition(".")[2] == "abstractmethod" for d in method.decorator_list):
        return True
    body = [s for s in method.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return all(isinstance(s, (ast.Raise, ast.Pass)) for s in body)


def _comment_line(forward: FunctionNode, known: dict[str, Any]) -> str:
    inputs = [f"{name}={_text(known.get(name, 'float32[B, ...]'))}" for name in _required(forward)]
    return f"# shapelint: inputs({', '.join(inputs)})"


def _config_line(target: str, one: ModuleClass, forward: FunctionNode) -> str:
    init = one.method("__init__")
    kwargs = ", ".join([f"{name} = ..." for name in _required(init[1])]) if init else ""
    inputs = ", ".join([f'{name} = "float32[B, ...]"' for name in _required(forward)])
    return f'models = [{{ target = "{target}", kwargs = {{ {kwargs} }}, inputs = {{ {inputs} }} }}]'


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _listed(names: Sequence[str]) -> str:
    shown = list(names) if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]  # noqa: PLR2004  # to be read
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
