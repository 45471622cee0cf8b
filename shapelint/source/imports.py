"""Which project files a file imports, read from its text: what may change a model when it changes.

Conservative: an import inside a function or under ``TYPE_CHECKING`` counts like any other, and so does
``importlib.import_module("a.b")``; a name that is only known when the code runs may be any module below. What is
found nowhere below the import roots is somebody else's package.
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from shapelint.source.files import decode_source
from shapelint.source.tree import last_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import\b(.*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_DYNAMIC = frozenset({"import_module", "__import__", "resolve_name"})
_BY_PATH = frozenset({"spec_from_file_location", "run_path", "run_module", "SourceFileLoader"})


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported module as it is written: ``level`` counts the dots; ``names`` may be attributes or modules.

    ``below`` says that it may be any module below that one: the name is only known when the code runs.
    """

    level: int
    module: str
    names: tuple[str, ...] = ()
    below: bool = False


def imports_of(path: str, src_roots: Iterable[str]) -> tuple[str, ...]:
    """The project files that importing the file at ``path`` runs directly, sorted; itself left out.

    Of a module ``a.b`` these are the ``__init__`` files of its packages too. An unreadable file imports nothing.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return ()
    folder = os.path.dirname(os.path.abspath(path))
    # A script finds its neighbours although its folder is no import root.
    roots = tuple(dict.fromkeys([*src_roots, folder]))
    found = {file for one in imported_by(data) for file in _resolved(one, folder, roots)}
    return tuple(sorted(found - {os.path.abspath(path), path}))


@lru_cache(maxsize=4096)
def imported_by(data: bytes) -> tuple[Imported, ...]:
    """The modules that the source text with these bytes names in imports."""
    source = decode_source("", data)
    if source.tree is None:  # broken, or newer than this Python: better one import too many
        return tuple(_from_text(source.text))
    return tuple(dict.fromkeys(_from_tree(source.tree)))


def module_files(module: str, root: str) -> tuple[str, ...]:
    """The files that importing a dotted name runs if it lies below this root: the packages' and its own.

    Nothing where no such module lies there. A package without an ``__init__`` file has none to give.
    """
    parts = [p for p in module.split(".") if p]
    found: list[str] = []
    base = root
    for number, part in enumerate(parts):
        base = os.path.join(base, part)
        package, single = os.path.join(base, "__init__.py"), f"{base}.py"
        if os.path.isfile(package):
            found.append(package)
        elif os.path.isfile(single):
            # The rest of the name, if any, is an attribute.
            return (*found, single)
        elif not os.path.isdir(base):
            return tuple(found) if number and found else ()
    return tuple(found)


def _from_tree(tree: ast.Module) -> Iterator[Imported]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (Imported(0, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                yield Imported(level, module or "", tuple([a.name for a in names if a.name != "*"]))
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if last_name(func) in _DYNAMIC:
                stripped = name.lstrip(".")
                yield Imported(len(name) - len(stripped), stripped.partition(":")[0])
            case ast.Call(func=func, args=[name, *_]) if last_name(func) in _DYNAMIC:
                yield _any_below(name)
            case ast.Call(func=func) if last_name(func) in _BY_PATH:
                yield Imported(1, "", below=True)


def _any_below(name: ast.expr) -> Imported:
    """Any module that a name made up at run time may mean: those below the package it starts with, else all beside."""
    match name:
        case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]):
            pass
        case ast.BinOp(left=ast.Constant(value=str(start))):
            pass
        case _:
            start = ""
    package = start.lstrip(".").rpartition(".")[0]
    level = len(start) - len(start.lstrip("."))
    return Imported(level if package or level else 1, package, below=True)


def _from_text(text: str) -> Iterator[Imported]:
    for found in _FROM.finditer(text):
        names = tuple(re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?[ \t]*(?:,|$|#)", found.group(3)))
        yield Imported(len(found.group(1)), found.group(2), names)
    for found in _IMPORT.finditer(text):
        yield from (Imported(0, name.split()[0]) for name in found.group(1).split(",") if name.strip())


def _resolved(one: Imported, folder: str, roots: tuple[str, ...]) -> Iterator[str]:
    if one.level:
        base = folder
        for _ in range(one.level - 1):
            base = os.path.dirname(base)
        init = os.path.join(base, "__init__.py")
        if os.path.isfile(init):
            yield init
        yield from _with_names(one, base)
        return
    for root in roots:
        found = tuple(_with_names(one, os.path.abspath(root)))
        if found:
            yield from found
            return


def _with_names(one: Imported, root: str) -> Iterator[str]:
    yield from module_files(one.module, root)
    if one.below:
        yield from _files_below(os.path.join(root, *one.module.split(".")))
    for name in one.names:
        below = os.path.join(root, *one.module.split("."), name)
        yield from (p for p in (os.path.join(below, "__init__.py"), f"{below}.py") if os.path.isfile(p))


def _files_below(folder: str) -> Iterator[str]:
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if _holds_modules(base, name)]
        yield from (os.path.join(base, name) for name in names if name.endswith(".py"))


def _holds_modules(base: str, name: str) -> bool:
    """Not a virtual environment, nor a folder such as .git or __pycache__."""
    is_environment = os.path.exists(os.path.join(base, name, "pyvenv.cfg"))
    return name.isidentifier() and name != "__pycache__" and not is_environment
