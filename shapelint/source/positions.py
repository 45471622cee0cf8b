"""Positions in the text, converted here and nowhere else: from UTF-8 bytes to code points, from 0-based to 1-based."""

from __future__ import annotations

import ast
import io
import tokenize
from itertools import pairwise
from typing import TYPE_CHECKING

from shapelint.findings import Location, Region
from shapelint.source import meant, tree
from shapelint.source.files import absolute

if TYPE_CHECKING:
    from shapelint.source.files import SourceFile

_SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}


def location_of(source: SourceFile, node: meant.Node) -> Location:
    """Where a node stands, as `meant_span` says."""
    return Location(absolute(source.path), region_of(source, meant_span(node)))


def meant_span(node: meant.Node) -> tree.Span:
    """The span of a node; a method called on a later line than its receiver starts at the method's name."""
    line, end_line, column, end_column = tree.span(node)
    func = node.func if isinstance(node, ast.Call) else node
    if isinstance(func, ast.Attribute) and func.value.end_lineno != func.end_lineno:
        line, column = meant.name_start(func)
    return line, end_line, column, end_column


def column_of(source: SourceFile, line: int, column: int) -> int:
    """The 1-based column in code points of a 0-based column in UTF-8 bytes; at most one past the end of the line."""
    text = source.lines[line - 1] if line <= len(source.lines) else ""
    if text.isascii():
        return min(column, len(text)) + 1
    return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")) + 1


def region_of(source: SourceFile, span: tree.Span) -> Region:
    """The region of a span: 1-based, end exclusive, in code points."""
    line, end_line, column, end_column = span
    return Region(line, column_of(source, line, column), end_line, column_of(source, end_line, end_column))


def text_of(source: SourceFile, node: meant.Node) -> str:
    """The text of a node, as it is written."""
    region = region_of(source, tree.span(node))
    return source.text[source.offset(region.line, region.column) : source.offset(region.end_line, region.end_column)]


def one_line(text: str) -> str:
    """An expression on one line: breaks become a space (none inside brackets), comments and trailing commas go."""
    if "\n" not in text and "\r" not in text:
        return text.strip()
    try:
        # Brackets around it let the tokenizer take line breaks for space.
        tokens = list(tokenize.generate_tokens(io.StringIO(f"({text})").readline))
    except (tokenize.TokenError, SyntaxError):
        return " ".join(text.split())
    words = [t for t in tokens if t.type not in _SPACE]
    written = ""
    for before, token in pairwise(words[1:-1]):
        apart = before.end != token.start
        broken = before.end[0] != token.start[0]
        tight = broken and (before.string in "([{" or token.string in ")]}." or before.string == ".")
        comma = before.string == "," and token.string in ")]}" and broken
        written += ("" if comma else before.string) + (" " if apart and not tight else "")
    return written + (words[-2].string if len(words) > 2 else "")  # noqa: PLR2004  # the two brackets and something
