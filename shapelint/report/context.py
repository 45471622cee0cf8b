"""What every reporter is told beside the result: where paths start, which rules are on, how to read a file."""

from __future__ import annotations

import io
import os
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.rules import Rule

_LINE_END = re.compile(r"\r\n|\r|\n")


def read_bytes(path: str) -> bytes:
    """The content of a file. Raises OSError."""
    return Path(path).read_bytes()


@dataclass(frozen=True, slots=True)
class ReportContext:
    """How a result is to be told.

    ``cwd`` and ``git_root`` are absolute (``git_root`` is ``cwd`` outside a repository); ``rules`` the enabled rules;
    ``links`` the address before a page's file name, ending in ``/``, or empty; ``category`` tells analyses of the same
    commit apart on GitHub; ``show_suppressed`` adds what a comment or the baseline silenced; ``shard`` is the part of
    the whole that was checked, as 1/4, or empty; ``read`` returns a file's bytes or raises OSError.
    """

    cwd: str
    git_root: str
    rules: tuple[Rule, ...]
    version: str
    links: str = ""
    color: bool = False
    category: str = "shapelint"
    show_suppressed: bool = False
    shard: str = ""
    read: Callable[[str], bytes] = read_bytes

    def shown_path(self, path: str) -> str:
        """The path as a person in ``cwd`` writes it, with ``/``."""
        if not path:
            return ""
        try:
            return Path(os.path.relpath(path, self.cwd)).as_posix()
        except ValueError:  # another drive on Windows: there is no relative path
            return Path(path).as_posix()

    def repository_path(self, path: str) -> str | None:
        """The path below the git root with ``/``, symlinks resolved; None for a file that isn't below it."""
        root = Path(os.path.realpath(self.git_root))
        real = Path(os.path.realpath(path))
        return real.relative_to(root).as_posix() if path and real != root and real.is_relative_to(root) else None


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of one report, each read once."""

    read: Callable[[str], bytes]
    _known: dict[str, bytes | None] = field(default_factory=dict)
    _split: dict[str, tuple[str, ...] | None] = field(default_factory=dict)

    def data(self, path: str) -> bytes | None:
        """The file's bytes, or None where it can't be read: a report is due all the same."""
        if path not in self._known:
            try:
                self._known[path] = self.read(path)
            except OSError:
                self._known[path] = None
        return self._known[path]

    def lines(self, path: str) -> tuple[str, ...] | None:
        """The file's lines as Python reads them, without line ends and byte order mark; None where it can't be read."""
        if path not in self._split:
            data = self.data(path)
            self._split[path] = None if data is None else tuple(_LINE_END.split(_decoded(data)))
        return self._split[path]

    def line(self, path: str, number: int) -> str:
        """The line with this number (from 1), empty where the file has none."""
        lines = self.lines(path) or ()
        return lines[number - 1] if 0 < number <= len(lines) else ""


def _decoded(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:  # an unknown or wrong coding line is a finding of its own; here the text only has to be shown
        encoding = "utf-8"
    return data.decode(encoding, "replace")
