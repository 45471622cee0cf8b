"""From the frames of a trace to places in the text."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.findings import Location, Region
from shapelint.source import meant, tree
from shapelint.source.calls import CallInfo, describe
from shapelint.source.files import SourceCache, SourceFile, absolute
from shapelint.source.positions import column_of, meant_span, one_line, region_of, text_of

if TYPE_CHECKING:
    from shapelint.records import Frame


@dataclass(frozen=True, slots=True)
class Assigned:
    """An assignment: the text of its target (``self.fc1``), the whole statement, and the value on the right."""

    name: str
    location: Location
    value: Location


class SourceMap:
    """Where things stand in the files of one run. Nothing here raises for a file that is gone or can't be parsed."""

    def __init__(self, sources: SourceCache) -> None:
        """Reads files through ``sources``, when they are asked for."""
        self.sources = sources

    def locate(self, frame: Frame, hint: str = "") -> Location:
        """The smallest expression that was running in this frame.

        Without columns (Python 3.10) it is the one on that line called ``hint`` (``view``, ``fc1``, ``__add__``), the
        smallest text that holds all of that name, or else the statement.
        """
        source = self.sources.load(frame.path)
        if source.tree is None:
            return self._recorded(source, frame) or self.whole_line(frame.path, frame.line)
        nodes, recorded = self._nodes(source, frame, hint)
        if nodes:
            return self._location(source, *nodes)
        return recorded or self.statement(frame.path, frame.line)

    def call_at(self, frame: Frame, hint: str = "") -> CallInfo | None:
        """The call or operation that `locate` finds, taken apart into operands; None where it isn't certain which."""
        source = self.sources.load(frame.path)
        if source.tree is None:
            return None
        nodes, _ = self._nodes(source, frame, hint)
        return describe(source, nodes[0]) if len(nodes) == 1 else None

    def expression_text(self, location: Location) -> str:
        """The text of a location on one line, comments left out."""
        source = self.sources.load(location.path)
        region = location.region
        start = source.offset(region.line, region.column)
        return one_line(source.text[start : source.offset(region.end_line, region.end_column)])

    def statement_lines(self, path: str, line: int) -> tuple[int, int]:
        """First and last physical line (inclusive) of the statement at a line: of its header, where it has a body."""
        source = self.sources.load(path)
        statement = tree.statement_at(source.tree, line) if source.tree else None
        if statement is None or line > tree.last_own_line(statement):
            return line, line
        return tree.first_line(statement), tree.last_own_line(statement)

    def statement(self, path: str, line: int) -> Location:
        """The statement at a line, or its header where it has a body; the text of the line where there is none."""
        source = self.sources.load(path)
        statement = tree.statement_at(source.tree, line) if source.tree else None
        if statement is None or line > tree.last_own_line(statement):
            return self.whole_line(path, line)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return self._name_of(source, statement)
        if next(tree.children(statement), None) is None:
            return self._location(source, statement)
        parts = [n for n in tree.expressions(statement) if isinstance(n, ast.expr)]
        if not parts:
            return self.whole_line(path, statement.lineno)
        end_line, end_column = max((n.end_lineno or 0, n.end_col_offset or 0) for n in parts)
        span = (statement.lineno, end_line, statement.col_offset, end_column)
        return Location(absolute(path), region_of(source, span))

    def enclosing_function(self, path: str, line: int) -> str:
        """The qualified name of the function or class around a line, ``Net.forward``; nothing at module level."""
        source = self.sources.load(path)
        return ".".join([s.name for s in tree.functions_around(source.tree, line)]) if source.tree else ""

    def definition(self, path: str, line: int) -> Location:
        """The name of the function or class around a line; the line itself at module level."""
        source = self.sources.load(path)
        around = tree.functions_around(source.tree, line) if source.tree else ()
        return self._name_of(source, around[-1]) if around else self.whole_line(path, line)

    def assigned_to(self, path: str, line: int) -> Assigned | None:
        """The assignment that a line belongs to, such as the one that makes a layer, or None."""
        source = self.sources.load(path)
        statement = tree.statement_at(source.tree, line) if source.tree else None
        match statement:
            case (
                ast.Assign(targets=[target, *_], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                name = one_line(text_of(source, target))
                return Assigned(name, self._location(source, statement), self._location(source, value))
            case _:
                return None

    def whole_line(self, path: str, line: int) -> Location:
        """The text of a physical line, without indentation."""
        source = self.sources.load(path)
        text = source.lines[line - 1] if 0 < line <= len(source.lines) else ""
        start = len(text) - len(text.lstrip()) + 1
        line = max(line, 1)
        return Location(absolute(path), Region(line, start, line, max(len(text.rstrip()) + 1, start)))

    def _nodes(self, source: SourceFile, frame: Frame, hint: str) -> tuple[tuple[meant.Node, ...], Location | None]:
        """The nodes that may be meant, and the recorded stretch where it is no node (the text then goes before)."""
        assert source.tree is not None  # noqa: S101  # both callers looked
        if frame.column < 0 or frame.end_column < 0:
            on_line = tuple(tree.statements_on(source.tree, frame.line))
            whole = self.whole_line(frame.path, frame.line) if len(on_line) > 1 else None
            return meant.guesses(on_line, frame.line, hint), whole
        statement = tree.statement_at(source.tree, frame.line, frame.column)
        if statement is None:
            return (), self._recorded(source, frame)
        found = meant.exact(statement, (frame.line, frame.end_line, frame.column, frame.end_column))
        return ((found,), None) if found is not None else ((), self._recorded(source, frame))

    def _recorded(self, source: SourceFile, frame: Frame) -> Location | None:
        """The stretch as it was recorded, where it lies inside the text."""
        end = frame.end_line if frame.end_line > 0 else frame.line
        if frame.column < 0 or frame.end_column < 0 or not 0 < frame.line <= end <= len(source.lines):
            return None
        region = region_of(source, (frame.line, end, frame.column, frame.end_column))
        return Location(absolute(source.path), region)

    def _location(self, source: SourceFile, *nodes: meant.Node) -> Location:
        """The smallest stretch that holds all nodes; the statement of a compound one is its header."""
        if len(nodes) == 1 and isinstance(nodes[0], ast.stmt) and next(tree.children(nodes[0]), None) is not None:
            return self.statement(source.path, nodes[0].lineno)
        regions = [region_of(source, meant_span(node)) for node in nodes]
        start = min((r.line, r.column) for r in regions)
        end = max((r.end_line, r.end_column) for r in regions)
        return Location(absolute(source.path), Region(*start, *end))

    def _name_of(self, source: SourceFile, node: tree.FunctionNode | ast.ClassDef) -> Location:
        text = source.lines[node.lineno - 1]
        start = text.find(node.name, column_of(source, node.lineno, node.col_offset) - 1) + 1
        region = Region(node.lineno, max(start, 1), node.lineno, max(start, 1) + len(node.name))
        return Location(absolute(source.path), region)
