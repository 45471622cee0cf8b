"""The code frame: the source lines of a region with carets below, lined up on a terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapelint.findings import Region

_TAB = 4


@dataclass(frozen=True, slots=True)
class FrameLine:
    """A line of the frame: ``number`` 0 for carets, -1 for lines left out, else the source line's number."""

    number: int
    text: str


def frame(lines: Sequence[str], region: Region) -> tuple[FrameLine, ...]:
    """The lines of the region that a reader needs, with carets: the first one, and the last one where it is another.

    Empty where the file has no such line.
    """
    if not 0 < region.line <= len(lines):
        return ()
    first = lines[region.line - 1]
    if region.end_line <= region.line:
        return _marked(region.line, first, region.column, region.end_column)
    shown = list(_marked(region.line, first, region.column, len(first.rstrip()) + 1))
    last_number = min(region.end_line, len(lines))
    last = lines[last_number - 1]
    start = len(last) - len(last.lstrip()) + 1
    if last_number == region.line or region.end_column <= start:
        return tuple(shown)
    if last_number > region.line + 1:
        shown.append(FrameLine(-1, "..."))
    return (*shown, *_marked(last_number, last, start, region.end_column))


def _marked(number: int, line: str, column: int, end_column: int) -> tuple[FrameLine, FrameLine]:
    """A source line and its carets; at least one caret, also behind the line's end."""
    text, starts = _displayed(line)
    begin = starts[min(max(column, 1) - 1, len(line))]
    end = starts[min(max(end_column, 1) - 1, len(line))]
    return FrameLine(number, text.rstrip()), FrameLine(0, " " * begin + "^" * max(1, end - begin))


def _displayed(line: str) -> tuple[str, list[int]]:
    """The line as a terminal shows it, and the terminal column (from 0) where each character starts, and the end."""
    shown: list[str] = []
    starts = [0]
    for character in line:
        cell = " " * (_TAB - starts[-1] % _TAB) if character == "\t" else _printable(character)
        shown.append(cell)
        starts.append(starts[-1] + (len(cell) if character == "\t" else _width(cell)))
    return "".join(shown), starts


def _printable(character: str) -> str:
    """The character, or a stand-in for one that would move the cursor or change the terminal's state."""
    if character < " ":
        return chr(0x2400 + ord(character))
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") else character


def _width(character: str) -> int:
    """Terminal columns, as wcwidth counts them: 0 for marks and joiners, 2 for East Asian wide and emoji, else 1."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
