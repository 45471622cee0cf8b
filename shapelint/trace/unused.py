"""Submodules and parameters of a model that no run used, and that its code doesn't speak of either.

A trace alone isn't enough: an optional head, or one that another method uses, is idle in every configured case and no
fault. What counts is idle in every run, and named nowhere but where it is made.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import nn

from shapelint.trace import frames
from shapelint.trace.run import RunResult

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
"""What they hold is picked by position or key, often by data or by an argument: their parts are not reported."""

_SETTING_UP = re.compile(r"__init__|_*(re)?(set|init\w*)_*(all_)?(weights?|params?|parameters)\w*")
"""Functions that only give weights their first values."""

_NEIGHBOURS = 400
"""So many files of a folder are read for a name at most."""

_LIBRARIES = frozenset(("torch", "F", "nn", "np", "numpy", "math", "functional", "einops"))


@dataclass(frozen=True, slots=True)
class Idle:
    """A submodule or parameter without a use. ``size`` counts its elements; ``path`` and ``line`` are where it is made."""

    name: str
    kind: str
    size: int
    path: str
    line: int
    end_line: int


@dataclass(slots=True)
class Usage:
    """What the runs of one target used and asked for, over all its cases, modes and variants."""

    used: set[str] = field(default_factory=set)
    asked: dict[tuple[int, int, str], tuple[frames.Place, set[int]]] = field(default_factory=dict)
    whole: bool = True
    model: Any = None

    def add(self, model: Any, result: RunResult, *, complete: bool) -> None:
        """Takes in one run of ``model``; a run that ended early says nothing of what comes later."""
        if self.model is None:
            self.model = model
        self.used |= result.used
        self.whole = self.whole and complete
        for place, name, ranks in result.ranks:
            self.asked.setdefault((id(place[0]), place[1], name), (place, set()))[1].update(ranks)

    def ranks(self) -> tuple[tuple[frames.Place, str, tuple[int, ...]], ...]:
        """The places that asked for a rank, what they asked, and what they were told."""
        return tuple((place, name, tuple(sorted(ranks))) for (_, _, name), (place, ranks) in self.asked.items())

    def idle(self) -> tuple[Idle, ...]:
        """What nothing used; nothing at all where a run ended early."""
        if not self.whole or not isinstance(self.model, nn.Module):
            return ()
        first: dict[int, str] = {}
        for path, module in self.model.named_modules():
            first[id(module)] = path
            for name, parameter in module._parameters.items():
                if parameter is not None:
                    first.setdefault(id(parameter), f"{path}.{name}" if path else name)
        return tuple(self._below(self.model, "", first, frozenset()))

    def _below(self, module: nn.Module, path: str, first: dict[int, str], above: frozenset[int]) -> Iterator[Idle]:
        prefix = f"{path}." if path else ""
        kind: Any = type(module)
        own = frames.rank_of_file(_file(kind)) != frames.HIDDEN and not isinstance(module, _CONTAINERS)
        if own:
            for name, parameter in module._parameters.items():
                if parameter is not None and first[id(parameter)] not in self.used:
                    yield from self._made(module, name, prefix, "Parameter", _size([parameter]))
        for name, child in module._modules.items():
            if child is None or id(child) in above or isinstance(child, torch.jit.ScriptModule):
                continue
            if self._is_used(child, first):
                yield from self._below(child, f"{prefix}{name}", first, above | {id(module)})
            elif own:
                size = _size(list(child.parameters()))
                if size:
                    yield from self._made(module, name, prefix, type(child).__name__, size)

    def _is_used(self, module: nn.Module, first: dict[int, str]) -> bool:
        """Whether it, or anything in it, was used under any of its names: what is shared counts for all of them."""
        inside = (first[id(one)] for one in module.modules())
        return any(path in self.used for path in inside) or any(first[id(p)] in self.used for p in module.parameters())

    def _files(self) -> set[str]:
        """The files that may speak of a part: the project's that were imported, those of the classes, and their neighbours."""
        loaded = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
        files = {file for file in loaded if frames.rank_of_file(file) == frames.PROJECT}
        files |= {_file(kind) for module in self.model.modules() for kind in type(module).__mro__}
        files = {file for file in files if file.endswith(".py") and frames.rank_of_file(file) != frames.HIDDEN}
        for folder in {os.path.dirname(file) for file in files}:
            files.update(sorted(map(str, Path(folder).glob("*.py")))[:_NEIGHBOURS])
        return files

    def _made(self, owner: nn.Module, name: str, prefix: str, kind: str, size: int) -> Iterator[Idle]:
        classes = [k for k in type(owner).__mro__ if frames.rank_of_file(_file(k)) != frames.HIDDEN]
        known = frozenset(k.__name__ for k in classes)
        if any(_mentions(file, name, known) for file in self._files() if _may_mention(file, name)):
            return
        for kept in classes:
            for line, end_line in _assignments(_file(kept), kept.__name__, name):
                yield Idle(prefix + name, kind, size, _file(kept), line, end_line)
                return


def _size(parameters: list[Any]) -> int:
    return sum(p.numel() for p in parameters if not isinstance(p, nn.UninitializedParameter))


@cache
def _file(kind: type) -> str:
    try:
        return inspect.getsourcefile(kind) or ""
    except TypeError:
        return ""


@cache
def _text(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def _may_mention(path: str, name: str) -> bool:
    text = _text(path)
    return name.encode() in text or b"getattr" in text


@cache
def _tree(path: str) -> ast.Module:
    try:
        return ast.parse(_text(path))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


@cache
def _uses(path: str) -> tuple[tuple[str, str, ast.expr], ...]:
    """The attributes that a file reads outside of what sets weights up: class around, name, and what has it."""
    return tuple(_walk(_tree(path), ""))


def _walk(node: ast.AST, around: str) -> Iterator[tuple[str, str, ast.expr]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and _SETTING_UP.fullmatch(child.name):
            continue
        if isinstance(child, ast.Attribute) and not isinstance(child.ctx, ast.Store):
            yield around, child.attr, child.value
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield around, child.value, child
        elif isinstance(child, ast.JoinedStr):
            yield around, "*", child
        yield from _walk(child, child.name if isinstance(child, ast.ClassDef) else around)


def _mentions(path: str, name: str, classes: frozenset[str]) -> bool:
    """Whether the file reads an attribute of this name that may be the one of these classes."""
    for around, attribute, owner in _uses(path):
        if isinstance(owner, ast.JoinedStr):
            start = owner.values[0] if owner.values else None
            if isinstance(start, ast.Constant) and start.value and name.startswith(str(start.value)):
                return True  # getattr(self, f"conv{i}")
        elif attribute == name:
            if isinstance(owner, ast.Name) and owner.id == "self" and around not in classes:
                continue
            if isinstance(owner, ast.Name) and owner.id in _LIBRARIES:
                continue
            return True
    return False


def _assignments(path: str, kind: str, name: str) -> Iterator[tuple[int, int]]:
    """The lines in a class that make ``self.NAME``, or register it."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ClassDef) and node.name == kind:
            for inner in ast.walk(node):
                if isinstance(inner, (ast.Assign, ast.AnnAssign)):
                    targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
                    flat = [t for one in targets for t in (one.elts if isinstance(one, ast.Tuple) else [one])]
                    if any(isinstance(t, ast.Attribute) and t.attr == name for t in flat):
                        yield inner.lineno, inner.end_lineno or inner.lineno
                elif isinstance(inner, ast.Call) and any(
                    isinstance(a, ast.Constant) and a.value == name for a in inner.args[:1]
                ):
                    yield inner.lineno, inner.end_lineno or inner.lineno
