"""Reports of earlier runs, under ``.shapelint_cache/`` of the project.

An entry is found by its target, the tool, the interpreter and the installed packages, and is good as long as what the
trace read is unchanged (`shapelint.trace.stamp`). Any number of processes may share it: an entry is written aside and
moved into place. Where it can't be read or written, it is as if it weren't there.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import shapelint
from shapelint.codec import decode, encode
from shapelint.records import TraceReport, TraceTarget
from shapelint.trace.stamp import FileMark, FolderMark, Stamp, holds, take

if TYPE_CHECKING:
    from shapelint.trace.interpreter import Interpreter

FOLDER = ".shapelint_cache"
LIMIT = 256 << 20
"""Bytes that the entries of a project may take."""

_MAGIC = b"shapelint 1\n"
_UNKEPT = ("crash", "import", "no-torch")
_DAY = 86400.0
_IGNORE = "# Made by shapelint; it can be removed at any time.\n*\n"


@dataclass(frozen=True, slots=True)
class Packages:
    """What an interpreter has installed: a digest of names and versions, and the names that can be imported."""

    digest: str
    names: frozenset[str]


def load(target: TraceTarget, interpreter: Interpreter) -> TraceReport | None:
    """The report of an earlier trace of this target, if a new one would be the same."""
    path = _entry(target, interpreter)
    try:
        with open(path, "rb") as file:
            data = file.read()
        if not data.startswith(_MAGIC):
            return None
        size = int.from_bytes(data[len(_MAGIC) : len(_MAGIC) + 4], "big")
        body = memoryview(data)[len(_MAGIC) + 4 :]
        stamp = _stamp(json.loads(zlib.decompress(body[:size])))
        if not holds(stamp, os.environ, packages(interpreter).names):
            return None
        report = decode(TraceReport, json.loads(zlib.decompress(body[size:])))
    except (OSError, ValueError, TypeError, zlib.error):
        return None  # there is none, or it is damaged: it will be replaced
    _touch(path)
    return report


def store(target: TraceTarget, interpreter: Interpreter, report: TraceReport, *, started_ns: int) -> bool:
    """Keep a report; whether that was done. ``started_ns`` is a time.time_ns() before its trace.

    Not kept are reports that another run may not give again (a crash, a time-out), failed imports (the repair may lie
    where the trace never looked), those that don't say what was read, and those of files that have changed since
    the trace began.
    """
    if not report.files or (report.failure is not None and report.failure.kind in _UNKEPT):
        return False
    path = _entry(target, interpreter)
    aside = f"{path}.{os.getpid()}"
    try:
        stamp = take(report, target, started_ns=started_ns, now_ns=time.time_ns())
        if stamp is None:
            return False
        head = _pack(encode(stamp))
        _make_folder(target.root, "traces")
        with open(aside, "wb") as file:
            file.write(_MAGIC + len(head).to_bytes(4, "big") + head + _pack(encode(report)))
        os.replace(aside, path)
    except OSError:
        return False  # a folder that can't be written, a full disk: the next run traces again
    return True


def prune(root: str, limit: int = LIMIT) -> None:
    """Keep the entries of the project at ``root`` within ``limit`` bytes; those unused for the longest go first."""
    found: list[tuple[float, int, str]] = []
    try:
        with os.scandir(_traces(root)) as entries:
            for entry in entries:
                status = entry.stat()
                found.append((status.st_mtime, status.st_size, entry.path))
    except OSError:
        return  # no folder, or another process has removed an entry: it is pruned in the next run
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= limit:
            return
        total -= size
        _remove(path)


@lru_cache(maxsize=16)
def packages(interpreter: Interpreter) -> Packages:
    """What ``interpreter`` has installed, read from its folders of packages once in this process."""
    names: set[str] = set()
    facts: list[str] = []
    for folder in interpreter.site:
        try:
            entries = sorted(os.listdir(folder))
        except OSError:
            continue  # a user's own folder of packages need not exist
        for entry in entries:
            names.add(entry.partition(".")[0])
            facts.append(f"{folder}/{entry}")
            if entry.endswith(".dist-info") and os.path.exists(os.path.join(folder, entry, "direct_url.json")):
                # Installed from a folder: its content may change under the same version.
                facts.append(_digest_of(os.path.join(folder, entry, "RECORD")))
            elif entry.endswith((".pth", ".egg-link")):
                facts.append(_digest_of(os.path.join(folder, entry)))
    return Packages(_digest("\n".join(facts)), frozenset(names))


def interpreters_file(root: str) -> str:
    """Where `find_interpreter` may remember interpreters for the project at ``root``; its folder is made."""
    path = os.path.join(root, FOLDER, "interpreters.json")
    try:
        _make_folder(root)
    except OSError:
        return path  # it can't be written either, which find_interpreter copes with
    return path


# ---------------------------------------------------------------------------------------------------- entries


def _entry(target: TraceTarget, interpreter: Interpreter) -> str:
    key = [
        shapelint.__version__,
        _own_code(),
        encode(target),
        [interpreter.path, interpreter.version, interpreter.torch_version],
        packages(interpreter).digest,
    ]
    return os.path.join(_traces(target.root), _digest(json.dumps(key, default=repr)))


def _traces(root: str) -> str:
    return os.path.join(root, FOLDER, "traces")


def _make_folder(root: str, inner: str = "") -> None:
    """Make the cache's folder, which git is to leave alone."""
    folder = os.path.join(root, FOLDER)
    os.makedirs(os.path.join(folder, inner), exist_ok=True)
    ignore = os.path.join(folder, ".gitignore")
    if not os.path.exists(ignore):
        with open(ignore, "w", encoding="ascii") as file:
            file.write(_IGNORE)


@cache
def _own_code() -> str:
    """A mark of the tracer's own files, so that a version under development doesn't believe what an older one saw."""
    folder = os.path.dirname(os.path.abspath(__file__))
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
    statuses = [os.stat(path) for path in (*paths, shapelint.records.__file__)]
    return _digest(json.dumps([[status.st_size, status.st_mtime_ns] for status in statuses]))


def _stamp(data: Any) -> Stamp:
    """The stamp in an entry. Raises TypeError or ValueError where it is none."""
    taken_ns, files, folders, environment, search = data
    return Stamp(
        taken_ns,
        tuple([FileMark(*mark) for mark in files]),
        tuple([FolderMark(path, root, tuple(names)) for path, root, names in folders]),
        tuple([(name, value) for name, value in environment]),
        search,
    )


def _pack(data: object) -> bytes:
    return zlib.compress(json.dumps(data, separators=(",", ":"), default=repr).encode("ascii"), 1)


def _touch(path: str) -> None:
    """Mark an entry as used, once a day."""
    try:
        if time.time() - os.stat(path).st_mtime > _DAY:
            os.utime(path)
    except OSError:
        return  # a folder that can't be written: nothing is ever pruned there either


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        return  # another process was faster


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()


def _digest_of(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.blake2b(file.read(), digest_size=20).hexdigest()
    except OSError:
        return ""
