"""What a report hangs on, besides its target: the files, folders and variables that the trace read, as they were then.

A `Stamp` is taken when a report is stored, and holds as long as a new trace would read the same.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from shapelint.records import TraceReport, TraceTarget

_SECOND = 1_000_000_000
_TICK = _SECOND // 10
"""Nanoseconds by which the clock of a file system may lag; one that knows whole seconds only, by two of them."""

_HASHED = 64 << 20
"""Bytes up to which a file is compared by its content. Of a larger one (a checkpoint) the time counts."""

_SEARCH = re.compile(rb"\b(?:glob|iterdir|listdir|scandir|walk|iter_modules|walk_packages|import_module|__import__)\b")
"""Words of code that may import whatever lies in a folder: then each new file there counts, named or not."""

_ENDINGS = (".py", ".pyc", ".so", ".pyd")


@dataclass(frozen=True, slots=True)
class FileMark:
    """A file (or a listed folder) as it was: ``size`` -1 where there was none, ``digest`` of its content."""

    path: str
    size: int
    mtime_ns: int
    digest: str


@dataclass(frozen=True, slots=True)
class FolderMark:
    """A folder where modules were looked for, and the names in it that can be imported. ``root``: it is on the path."""

    path: str
    root: bool
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stamp:
    """All of it. ``taken_ns`` is when; ``search`` says that the code may import files it doesn't name."""

    taken_ns: int
    files: tuple[FileMark, ...]
    folders: tuple[FolderMark, ...]
    environment: tuple[tuple[str, str | None], ...]
    search: bool


def take(report: TraceReport, target: TraceTarget, *, started_ns: int, now_ns: int) -> Stamp | None:
    """The stamp of a report; None where a file has changed since the trace began, so that nobody knows what was read.

    ``started_ns`` is a time.time_ns() before the trace. Raises OSError where a file vanishes meanwhile.
    """
    files: list[FileMark] = []
    search = False
    for path in report.files:
        mark = _mark(path)
        if mark is None or mark.mtime_ns > started_ns - _lag(mark.mtime_ns):
            return None
        files.append(mark)
        search = search or (_is_code(mark) and _SEARCH.search(_content(path)) is not None)
    roots = dict.fromkeys(map(os.path.abspath, target.src))
    homes = dict.fromkeys(os.path.dirname(path) for path in report.files if path.endswith(_ENDINGS))
    folders = tuple([FolderMark(path, path in roots, _importable(path)) for path in {**roots, **homes}])
    return Stamp(now_ns, tuple(files), folders, report.environment, search)


def holds(stamp: Stamp, environment: Mapping[str, str], installed: Iterable[str]) -> bool:
    """Whether a trace would read now what it read then. ``installed`` are top-level names of the installed packages.

    Raises OSError where a file can't be read.
    """
    return (
        all(environment.get(name) == value for name, value in stamp.environment)
        and all(_is_same(mark, stamp.taken_ns) for mark in stamp.files)
        and not any(
            _matters(name, folder, stamp, installed) for folder in stamp.folders for name in _new(folder, stamp)
        )
    )


# ------------------------------------------------------------------------------------------------------ files


def _lag(mtime_ns: int) -> int:
    return _TICK if mtime_ns % _SECOND else 2 * _SECOND


def _is_same(mark: FileMark, taken_ns: int) -> bool:
    try:
        found = os.stat(mark.path)
    except OSError:
        return mark.size < 0
    if mark.size < 0:
        return False
    same = found.st_mtime_ns == mark.mtime_ns and found.st_size == mark.size
    # A file written in the very moment of the stamp may have been written again, with the same time.
    if same and mark.mtime_ns < taken_ns - _lag(mark.mtime_ns):
        return True
    now = _mark(mark.path) if found.st_size == mark.size else None
    return now is not None and now.digest == mark.digest and (same or bool(mark.digest))


def _mark(path: str) -> FileMark | None:
    """The file as it is; None where it can't be read, or changes while it is."""
    try:
        before = os.stat(path)
    except OSError:
        return FileMark(path, -1, 0, "")
    try:
        if os.path.isdir(path):
            content = "\0".join(sorted(os.listdir(path))).encode("utf-8", "surrogateescape")
        elif before.st_size > _HASHED:
            return FileMark(path, before.st_size, before.st_mtime_ns, "")
        else:
            content = _content(path)
        after = os.stat(path)
    except OSError:
        return None
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        return None
    return FileMark(path, before.st_size, before.st_mtime_ns, hashlib.blake2b(content, digest_size=16).hexdigest())


def _is_code(mark: FileMark) -> bool:
    return mark.size >= 0 and mark.path.endswith(".py")


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


# ---------------------------------------------------------------------------------------------------- folders


def _importable(folder: str) -> tuple[str, ...]:
    return tuple(sorted(set(_names_in(folder))))


def _names_in(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        name, dot, _ = entry.name.partition(".")
        # A package hides the module of its name: as another name, it is seen when it comes.
        if entry.name.endswith(_ENDINGS):
            yield name
        elif not dot and name.isidentifier() and name != "__pycache__" and entry.is_dir():
            yield name + "/"


def _new(folder: FolderMark, stamp: Stamp) -> set[str]:
    before, now = set(folder.names), set(_importable(folder.path))
    return before ^ now if stamp.search else now - before


def _matters(name: str, folder: FolderMark, stamp: Stamp, installed: Iterable[str]) -> bool:
    """Whether a module that has come to a folder may be what an import of the trace finds now."""
    word = name.rstrip("/")
    if stamp.search:
        return True
    if folder.root and (word in sys.stdlib_module_names or word in installed):
        return True
    pattern = re.compile(rb"\b" + re.escape(word.encode("utf-8", "surrogateescape")) + rb"\b")
    return any(pattern.search(_content(mark.path)) for mark in stamp.files if _is_code(mark))
