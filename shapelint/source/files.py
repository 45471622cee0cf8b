"""Source files as Python reads them: encoding, line ends, and why one can't be parsed.

Two trees are offered. For a module of 3,000 lines `ast` takes 0.015 s; libcst takes 0.15 s to parse and 0.3 s more for
positions, after 0.15 s to import. A run looks up positions in dozens of such files and edits a few lines, so positions
are found with `ast` and checked against the text, and libcst parses the expression that is edited or, on demand,
the module.
"""

from __future__ import annotations

import ast
import codecs
import io
import os
import re
import sys
import tokenize
import warnings
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import libcst

# Only these end a line for Python; str.splitlines would also cut at form feeds and U+2028, and shift every line below.
_LINE_END = re.compile(r"\r\n|\r|\n")
_CODEC_LIMIT = "surrogateescape"


@dataclass(frozen=True, slots=True)
class ParseError:
    """Why a file can't be parsed, and where: 1-based line and column in code points."""

    line: int
    column: int
    message: str


@dataclass(frozen=True)
class SourceFile:
    """One file of source text. ``path`` is as it was given; ``text`` keeps the line ends of the file.

    ``encoding`` is the codec that gives the file's bytes back (``utf-8-sig`` where there is a byte order mark). Bytes
    that it can't decode are kept as lone surrogates, so that the file can still be shown. ``unreadable`` is set where
    the file could not be opened or decoded.
    """

    path: str
    text: str
    encoding: str = "utf-8"
    unreadable: ParseError | None = None

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The physical lines, without their ends."""
        lines = _LINE_END.split(self.text)
        return tuple(lines if lines[-1] else lines[:-1])

    @cached_property
    def newline(self) -> str:
        r"""The first line end of the file, ``\n`` where there is none."""
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    @property
    def error(self) -> ParseError | None:
        """Why the file can't be parsed, or None."""
        return self._parsed[1]

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree, or None where the file can't be parsed (or only by a newer Python than the one at work)."""
        return self._parsed[0]

    @cached_property
    def module(self) -> libcst.Module | None:
        """The concrete tree, made on demand; None where the file can't be parsed."""
        return None if self.unreadable else _concrete(self.text)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """The offset in ``text`` at which each line starts, one more for the end of the last line end."""
        return (0, *(m.end() for m in _LINE_END.finditer(self.text)))

    def offset(self, line: int, column: int) -> int:
        """The index in ``text`` of a 1-based position; one past the end of a line is the end of that line."""
        if line > len(self.line_starts):
            return len(self.text)
        width = len(self.lines[line - 1]) if line <= len(self.lines) else 0
        return self.line_starts[line - 1] + min(column - 1, width)

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of an index in ``text``."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def encoded(self, text: str) -> bytes:
        """The bytes that hold a text in this file's encoding. Raises UnicodeEncodeError where it can't."""
        return text.encode(self.encoding, _CODEC_LIMIT)

    @cached_property
    def _parsed(self) -> tuple[ast.Module | None, ParseError | None]:  # noqa: PLR0911  # one return a cause
        if self.unreadable:
            return None, self.unreadable
        if "\0" in self.text:  # Python's own error has no line
            return None, ParseError(*self.position(self.text.index("\0")), "a null byte can't stand in source code")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an invalid escape is the user's, and no word of ours
                return ast.parse(self.text), None
        except SyntaxError as error:
            if "too many nested" not in str(error.msg) and _newer_grammar(self.text):
                return None, None
            return None, _syntax_error(error)
        except UnicodeEncodeError as error:  # a lone surrogate in text that never was a file, as an editor may send
            return None, ParseError(*self.position(error.start), "a lone surrogate can't stand in source code")
        except (RecursionError, MemoryError):
            return None, ParseError(1, 1, "the code is nested too deeply to be parsed")


class SourceCache:
    """The files of one run, each read once. ``texts`` gives the text of files that are not saved yet, by path."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        """Holds nothing but the unsaved texts until something is loaded."""
        self._files = {path: SourceFile(path, text) for path, text in (texts or {}).items()}

    def load(self, path: str) -> SourceFile:
        """The file at ``path``; one that can't be read is an empty file whose ``error`` says why."""
        if path not in self._files:
            self._files[path] = read_source(path)
        return self._files[path]

    def changed(self, texts: Mapping[str, str]) -> SourceCache:
        """Another cache, in which the files at some paths have another text and their encoding."""
        other = SourceCache()
        other._files = {**self._files, **{path: replace(self.load(path), text=text) for path, text in texts.items()}}
        return other


def read_source(path: str) -> SourceFile:
    """The file at ``path``, decoded as Python would (PEP 263); an empty one whose ``error`` says why it can't be."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return SourceFile(path, "", unreadable=ParseError(1, 1, f"the file can't be read: {reason}"))
    return decode_source(path, data)


def decode_source(path: str, data: bytes) -> SourceFile:
    """The source file that these bytes are."""
    bom = data.startswith(codecs.BOM_UTF8)
    fallback = "utf-8-sig" if bom else "utf-8"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        text = data.decode(fallback, _CODEC_LIMIT)
        broken = _undecodable(path, data, fallback)
        return SourceFile(path, text, fallback, broken or ParseError(1, 1, str(error.msg)))
    try:
        return SourceFile(path, data.decode(encoding), encoding)
    except UnicodeDecodeError:
        return SourceFile(path, data.decode(encoding, _CODEC_LIMIT), encoding, _undecodable(path, data, encoding))
    except LookupError:  # a codec that is no text encoding, such as hex
        reason = ParseError(1, 1, f'"{encoding}" is no encoding of source code')
        return SourceFile(path, data.decode(fallback, _CODEC_LIMIT), fallback, reason)


def _undecodable(path: str, data: bytes, encoding: str) -> ParseError | None:
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        before = SourceFile(path, data[: error.start].decode(encoding, _CODEC_LIMIT))
        line, column = before.position(len(before.text))
        return ParseError(line, column, f"byte 0x{data[error.start]:02x} is not {error.encoding}; declare the encoding")
    return None


def _syntax_error(error: SyntaxError) -> ParseError:
    message = str(error.msg)
    return ParseError(max(error.lineno or 1, 1), max(error.offset or 1, 1), message[:1].lower() + message[1:])


def _newer_grammar(text: str) -> bool:
    """Whether a later Python could parse it: the project's interpreter may be newer than the linter's."""
    return sys.version_info < (3, 14) and _concrete(text) is not None


def _concrete(text: str) -> libcst.Module | None:
    import libcst  # noqa: PLC0415  # 0.15 s that most runs don't need

    try:
        return libcst.parse_module(text)
    except (libcst.ParserSyntaxError, UnicodeEncodeError, RecursionError):
        return None


def absolute(path: str) -> str:
    """The path as every `Location` has it: absolute, symlinks as they were written."""
    return os.path.abspath(path)
