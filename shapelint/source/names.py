"""What a name in a file means: followed through imports, aliases and re-exports over the files of the project."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from shapelint.source.files import absolute
from shapelint.source.tree import dotted, statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shapelint.source.files import SourceCache

Node: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Defined:
    """A class or function of the project: the file it stands in, and its node."""

    path: str
    node: Node

    @property
    def key(self) -> tuple[str, str]:
        """Path and name: equal for one definition, however it was reached."""
        return self.path, self.node.name


@dataclass(frozen=True, slots=True)
class _Import:
    """``module`` below ``roots``, or ``attribute`` of it."""

    roots: tuple[str, ...]
    module: str
    attribute: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """What the top level of a file defines."""

    path: str
    defined: dict[str, Node] = field(default_factory=dict)
    imported: dict[str, _Import] = field(default_factory=dict)
    stars: list[_Import] = field(default_factory=list)
    assigned: dict[str, ast.expr] = field(default_factory=dict)


class Project:
    """The names of a project's files. ``src`` are the import roots."""

    def __init__(self, sources: SourceCache, src: Iterable[str]) -> None:
        """Reads nothing before a name is asked for."""
        self.sources = sources
        self.src = tuple([absolute(root) for root in src])
        self._scopes: dict[str, Scope] = {}
        self._found: dict[tuple[str, str], Defined | str] = {}
        self._files: dict[tuple[str, tuple[str, ...]], str] = {}

    def scope(self, path: str) -> Scope:
        """The top-level names of a file; none where it can't be parsed."""
        if path not in self._scopes:
            self._scopes[path] = self._read(path)
        return self._scopes[path]

    def resolve(self, path: str, name: str) -> Defined | str:
        """What a dotted name means in a file: a definition of the project, or the full name of something foreign."""
        if (path, name) not in self._found:
            self._found[path, name] = name  # what a circle of imports finds
            self._found[path, name] = self._resolved(path, name)
        return self._found[path, name]

    def _resolved(self, path: str, name: str) -> Defined | str:
        scope = self.scope(path)
        head, _, rest = name.partition(".")
        if head in scope.defined:
            return name if rest else Defined(path, scope.defined[head])
        if head in scope.assigned and not rest:  # Net = OtherNet
            other = dotted(scope.assigned[head])
            return self.resolve(path, other) if other else name
        if head in scope.imported:
            return self._below(scope.imported[head], rest)
        for star in scope.stars:
            found = self._below(_Import(star.roots, star.module, head), rest)
            if isinstance(found, Defined):
                return found
        return name

    def value_of(self, path: str, name: str, hops: int = 8) -> tuple[str, ast.expr] | None:
        """What a name of a file's top level was set to, with the file where that is; None for anything else."""
        scope = self.scope(path)
        if name in scope.assigned:
            return path, scope.assigned[name]
        found = scope.imported.get(name)
        stars = [_Import(star.roots, star.module, name) for star in scope.stars]
        for one in ([found] if found else stars) if hops else ():
            where = self._file(one.module, one.roots) if one.attribute else ""
            value = self.value_of(where, one.attribute, hops - 1) if where and where != path else None
            if value is not None:
                return value
        return None

    def module_of(self, path: str) -> str:
        """The dotted name a file is imported by, "" where it lies below no import root or has no such name."""
        path = absolute(path)
        inside = [root for root in self.src if path.startswith(os.path.join(root, ""))]
        if not inside:
            return ""
        relative = os.path.relpath(path, max(inside, key=len))
        parts = os.path.splitext(relative)[0].split(os.sep)
        if parts[-1] == "__init__":
            parts.pop()
        return ".".join(parts) if parts and all(p.isidentifier() for p in parts) else ""

    def classes(self, paths: Sequence[str]) -> Iterator[Defined]:
        """The classes at the top level of files, in order."""
        for path in paths:
            nodes = self.scope(path).defined.values()
            yield from (Defined(path, node) for node in nodes if isinstance(node, ast.ClassDef))

    def _below(self, found: _Import, rest: str) -> Defined | str:
        full = ".".join([p for p in (found.module, found.attribute, rest) if p])
        parts = full.split(".")
        if parts[0] == "torch" and set(found.roots) >= set(self.src):
            return full  # foreign even where the import root is the folder that torch is installed in
        for cut in range(len(parts) - 1, -1, -1):
            path = self._file(".".join(parts[:cut]), found.roots)
            if path:
                return self.resolve(path, ".".join(parts[cut:]))
        return full

    def _file(self, module: str, roots: tuple[str, ...]) -> str:
        if (module, roots) not in self._files:
            self._files[module, roots] = self._look(module, roots)
        return self._files[module, roots]

    def _look(self, module: str, roots: tuple[str, ...]) -> str:
        for root in roots:
            base = os.path.join(root, *module.split(".")) if module else root
            choices = (os.path.join(base, "__init__.py"), *([f"{base}.py"] if module else []))
            path = next((p for p in choices if os.path.isfile(p)), "")
            if path and (module or roots != self.src):
                return path
        return ""

    def _read(self, path: str) -> Scope:
        scope = Scope(path)
        module = self.sources.load(path).tree
        folder = os.path.dirname(absolute(path))
        for statement in _top(module) if module else ():
            match statement:
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    scope.defined[statement.name] = statement
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    scope.assigned[name] = value
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    scope.assigned[name] = value
                case ast.Import(names=names):
                    for alias in names:
                        full = alias.name if alias.asname else alias.name.partition(".")[0]
                        scope.imported[alias.asname or full] = _Import((*self.src, folder), full)
                case ast.ImportFrom():
                    self._from(statement, scope, folder)
                case _:
                    continue
        return scope

    def _from(self, statement: ast.ImportFrom, scope: Scope, folder: str) -> None:
        roots: tuple[str, ...] = (*self.src, folder)
        if statement.level:
            base = folder
            for _ in range(statement.level - 1):
                base = os.path.dirname(base)
            roots = (base,)
        for alias in statement.names:
            found = _Import(roots, statement.module or "", "" if alias.name == "*" else alias.name)
            if alias.name == "*":
                scope.stars.append(found)
            else:
                scope.imported[alias.asname or alias.name] = found


def _top(module: ast.Module) -> Iterator[ast.stmt]:
    """The statements at the top level, those under ``if`` and ``try`` too."""
    for statement in module.body:
        yield statement
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            inner = list(statements(statement))
            hidden = {id(s) for f in inner if isinstance(f, (ast.ClassDef, ast.FunctionDef)) for s in statements(f)}
            yield from (s for s in inner if id(s) not in hidden)
