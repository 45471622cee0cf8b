"""What stands where in a syntax tree: the statement of a line, its own expressions, the function around it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
# (line, end_line, column, end_column) as ast counts: lines from 1, columns in UTF-8 bytes from 0.
Span: TypeAlias = tuple[int, int, int, int]
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def span(node: ast.expr | ast.stmt | ast.excepthandler | ast.pattern) -> Span:
    """Where the node stands. The tree came from a parser, so every end is known."""
    return (node.lineno, node.end_lineno or node.lineno, node.col_offset, node.end_col_offset or node.col_offset)


def children(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements directly inside a statement, a module, a handler or a case, in the order of the text."""
    for name in _BLOCKS:
        block = getattr(node, name, ())
        for item in block if isinstance(block, list) else ():
            if isinstance(item, ast.stmt):
                yield item
            else:  # an except handler or a match case holds the statements
                yield from children(item)


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node, at any depth, an outer one before its inner ones."""
    waiting = list(children(node))[::-1]
    while waiting:
        statement = waiting.pop()
        yield statement
        waiting.extend(list(children(statement))[::-1])


def first_line(node: ast.stmt) -> int:
    """The first physical line, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def last_own_line(node: ast.stmt) -> int:
    """The last physical line that is the statement's own: that of its header, where it has a body."""
    inner = next(children(node), None)
    if inner is None:
        return node.end_lineno or node.lineno
    header = max([node.lineno, *(e.end_lineno or 0 for e in expressions(node) if isinstance(e, ast.expr))])
    return max(header, min(node.end_lineno or header, first_line(inner) - 1)) if first_line(inner) > header else header


def path_to(tree: ast.AST, line: int, column: int = -1) -> tuple[ast.stmt, ...]:
    """The statements around a position, the innermost last. ``column`` (bytes from 0) tells ``a; b`` apart."""
    found: list[ast.stmt] = []
    node = tree
    while True:
        inner = [s for s in children(node) if first_line(s) <= line <= (s.end_lineno or s.lineno)]
        if not inner:
            return tuple(found)
        if column >= 0:
            inner = [s for s in inner if (first_line(s), s.col_offset) <= (line, column)][-1:]
            if not inner:
                return tuple(found)
        node = inner[0]
        found.append(node)


def statement_at(tree: ast.AST, line: int, column: int = -1) -> ast.stmt | None:
    """The innermost statement around a position."""
    return next(reversed(path_to(tree, line, column)), None)


def statements_on(node: ast.AST, line: int) -> Iterator[ast.stmt]:
    """All statements with a part of their own on a line, such as both of ``a; b``."""
    for statement in children(node):
        if first_line(statement) <= line <= (statement.end_lineno or statement.lineno):
            if line <= last_own_line(statement):
                yield statement
            yield from statements_on(statement, line)


def functions_around(tree: ast.AST, line: int) -> tuple[FunctionNode | ast.ClassDef, ...]:
    """The classes and functions around a line, the innermost last."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return tuple([s for s in path_to(tree, line) if isinstance(s, kinds)])


def expressions(statement: ast.stmt) -> Iterator[ast.expr | ast.pattern]:
    """The statement's own expressions and patterns, at any depth, those of inner statements left out."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.stmt):
                continue
            if isinstance(child, (ast.expr, ast.pattern)):
                yield child
            waiting.append(child)


def dotted(node: ast.AST) -> str:
    """``a.b.c`` for a name or a chain of attributes on one, else nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def last_name(node: ast.AST) -> str:
    """The name that a call is known by: ``fc1`` of ``self.fc1``, ``cat`` of ``torch.cat``, else nothing."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case ast.Subscript(value=value):  # self.layers[0](x)
            return last_name(value)
        case _:
            return ""
