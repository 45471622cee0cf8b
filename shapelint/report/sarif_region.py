"""Regions that a viewer can show: within the text, and not empty where there is a character to cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.findings import Region

if TYPE_CHECKING:
    from collections.abc import Sequence


def visible(region: Region, lines: Sequence[str]) -> Region:
    """The region cut to the text; an empty one covers the character after it, else the one before, else a line end.

    GitHub refuses a region that ends where it starts, and shows none that leaves the line. Only in an empty file the
    region stays empty.
    """
    line = min(max(region.line, 1), len(lines))
    column = min(max(region.column, 1), _end(lines, line))
    end_line = min(max(region.end_line, line), len(lines))
    end_column = min(max(region.end_column, 1), _end(lines, end_line))
    if (end_line, end_column) > (line, column):
        return Region(line, column, end_line, end_column)
    if column < _end(lines, line):
        return Region(line, column, line, column + 1)
    if column > 1:
        return Region(line, column - 1, line, column)
    if line < len(lines):
        return Region(line, 1, line + 1, 1)
    return Region(line - 1, _end(lines, line - 1), line, 1) if line > 1 else Region(1, 1, 1, 1)


def _end(lines: Sequence[str], line: int) -> int:
    """The column behind the last character of the line."""
    return len(lines[line - 1]) + 1
