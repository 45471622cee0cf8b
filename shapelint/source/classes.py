"""The nn.Module classes of a project, told without importing anything, and which of them are parts of others."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shapelint.source.names import Defined, Project
from shapelint.source.tree import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapelint.source.tree import FunctionNode

_FOREIGN = ("torch.nn.", "torch.jit.ScriptModule", "torchvision.models.", "timm.models.", "transformers.models.")
_NAMES = {"LightningModule", "PreTrainedModel", "ScriptModule", "GenerationMixin"}
_NO_MODULES = ("torch.nn.functional.", "torch.nn.init.", "torch.nn.utils.", "torch.nn.parameter.", "torch.nn.Parameter")


@dataclass(frozen=True, slots=True)
class ModuleClass:
    """An nn.Module class of the project.

    ``bases`` are its bases in the project, the nearest first; ``foreign`` the full names of the others. ``used_by`` are
    the classes that build it, ``extended_by`` those that inherit from it.
    """

    defined: Defined
    bases: tuple[Defined, ...]
    foreign: tuple[str, ...]
    used_by: tuple[str, ...] = ()
    extended_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.defined.node.name

    @property
    def node(self) -> ast.ClassDef:
        """Its definition."""
        assert isinstance(self.defined.node, ast.ClassDef)  # noqa: S101  # `module_classes` takes nothing else
        return self.defined.node

    def method(self, name: str) -> tuple[str, FunctionNode] | None:
        """The file and definition of a method, its own or inherited inside the project."""
        for found in (self.defined, *self.bases):
            for statement in found.node.body:
                if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name == name:
                    return found.path, statement
        return None


def module_classes(project: Project, paths: Sequence[str]) -> tuple[ModuleClass, ...]:
    """The nn.Module classes at the top level of these files, with what they are to each other."""
    found = [c for c in (_module_class(project, d) for d in project.classes(paths)) if c]
    known = {c.defined.key for c in found}
    used: dict[tuple[str, str], list[str]] = {}
    extended: dict[tuple[str, str], list[str]] = {}
    for one in found:
        for other in mentioned(project, one.defined):
            if other.key in known and other.key != one.defined.key:
                used.setdefault(other.key, []).append(one.name)
        for base in one.bases:
            extended.setdefault(base.key, []).append(one.name)
    return tuple(
        [
            replace(
                c,
                used_by=tuple(dict.fromkeys(used.get(c.defined.key, ()))),
                extended_by=tuple(dict.fromkeys(extended.get(c.defined.key, ()))),
            )
            for c in found
        ]
    )


def class_at(project: Project, defined: Defined) -> ModuleClass | None:
    """The nn.Module class that a definition is, or None."""
    return _module_class(project, defined)


def _module_class(project: Project, defined: Defined) -> ModuleClass | None:
    bases: list[Defined] = []
    foreign: list[str] = []
    waiting = [defined]
    seen = {defined.key}
    while waiting:
        one = waiting.pop(0)
        for base in one.node.bases if isinstance(one.node, ast.ClassDef) else ():
            text = dotted(base.value if isinstance(base, ast.Subscript) else base)  # Generic[T]
            found = project.resolve(one.path, text) if text else ""
            if isinstance(found, str):
                foreign.append(found)
            elif found.key not in seen and isinstance(found.node, ast.ClassDef):
                seen.add(found.key)
                bases.append(found)
                waiting.append(found)
    return ModuleClass(defined, tuple(bases), tuple(foreign)) if any(map(_is_module, foreign)) else None


def _is_module(full: str) -> bool:
    if full.rpartition(".")[2] in _NAMES:
        return True
    return full.startswith(_FOREIGN) and not full.startswith(_NO_MODULES)


def mentioned(project: Project, one: Defined) -> Iterator[Defined]:
    """The definitions that the body of a class speaks of, other than in annotations and bases."""
    waiting: list[ast.AST] = list(one.node.body)
    while waiting:
        node = waiting.pop()
        text = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if text and not text.startswith("self."):
            found = project.resolve(one.path, text)
            if isinstance(found, Defined) and found.node is not one.node:
                yield found
        for name, child in ast.iter_fields(node):
            if name not in {"annotation", "returns"}:
                waiting += [c for c in (child if isinstance(child, list) else [child]) if isinstance(c, ast.AST)]
