"""A call or an operation taken apart, so that a message can name what stands in it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapelint.source import meant, tree
from shapelint.source.positions import location_of, one_line, text_of

if TYPE_CHECKING:
    from shapelint.findings import Location
    from shapelint.source.files import SourceFile


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand as it is written. ``keyword`` is its name where it is passed by name, ``star`` is ``*`` or ``**``.

    ``literal`` tells whether the text is a constant, then ``value`` is that constant. ``items`` are the elements of a
    list or tuple that is written out.
    """

    text: str
    location: Location
    keyword: str = ""
    star: str = ""
    literal: bool = False
    value: Any = None
    items: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class CallInfo:
    """A call or an operation.

    ``kind``: ``call``, ``operator`` (also unary, comparison), ``augmented`` (``x += y``), ``subscript``,
    ``attribute``, ``unpack`` (the targets are ``args``, the value is ``receiver``) and ``other``. ``callee`` is
    ``self.fc1``, ``torch.cat``, ``x.view``, ``+``, ``[]``; ``name`` the part of it that a reader looks for: ``fc1``,
    ``cat``, ``view``. ``receiver`` is what stands before the dot or the bracket (``self`` of ``self.fc1`` too).
    """

    kind: str
    callee: str
    name: str
    location: Location
    args: tuple[Operand, ...] = ()
    receiver: Operand | None = None

    def argument(self, position: int, keyword: str = "") -> Operand | None:
        """The argument of that position or keyword, None where it isn't written or hides behind a star."""
        for operand in self.args[: position + 1]:
            if operand.star == "*":
                return None
        plain = [a for a in self.args if not a.keyword and not a.star]
        named = [a for a in self.args if keyword and a.keyword == keyword]
        return next(iter(named or plain[position : position + 1]), None)


def describe(source: SourceFile, node: meant.Node) -> CallInfo | None:  # noqa: PLR0911  # one return a kind
    """The operation that a node is, None for a statement that is none."""
    reader = _Reader(source)
    location = reader.place(node)
    match node:
        case ast.Call(func=func):
            receiver = reader.operand(func.value) if isinstance(func, ast.Attribute) else None
            args = reader.arguments(node)
            return CallInfo("call", reader.text(func), tree.last_name(func), location, args, receiver)
        case ast.BinOp(left=left, op=op, right=right):
            return CallInfo("operator", meant.sign(op), meant.sign(op), location, reader.operands(left, right))
        case ast.UnaryOp(op=unary, operand=operand):
            return CallInfo("operator", meant.sign(unary), meant.sign(unary), location, reader.operands(operand))
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            callee = meant.sign(comparison)
            return CallInfo("operator", callee, callee, location, reader.operands(left, right))
        case ast.AugAssign(target=target, op=op, value=value):
            callee = f"{meant.sign(op)}="
            return CallInfo("augmented", callee, callee, location, reader.operands(target, value))
        case ast.Subscript(value=value, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) and index.elts else [index]
            return CallInfo("subscript", "[]", "[]", location, reader.operands(*parts), reader.operand(value))
        case ast.Attribute(value=value, attr=attr):
            return CallInfo("attribute", reader.text(node), attr, location, (), reader.operand(value))
        case ast.Tuple(ctx=ast.Store()) | ast.List(ctx=ast.Store()):
            return CallInfo("unpack", "=", "=", location, reader.operands(*node.elts), reader.unpacked(node))
        case ast.expr():
            return CallInfo("other", reader.text(node), tree.last_name(node), location)
        case _:
            return None


class _Reader:
    def __init__(self, source: SourceFile) -> None:
        self.source = source

    def text(self, node: meant.Node) -> str:
        return one_line(text_of(self.source, node))

    def place(self, node: meant.Node) -> Location:
        return location_of(self.source, node)

    def operands(self, *nodes: ast.expr) -> tuple[Operand, ...]:
        return tuple([self.operand(node) for node in nodes])

    def operand(self, node: ast.expr, keyword: str = "", star: str = "") -> Operand:
        if isinstance(node, ast.Starred):
            return self.operand(node.value, keyword, "*")
        literal, value = constant(node)
        items = self.operands(*node.elts) if isinstance(node, (ast.List, ast.Tuple)) else ()
        return Operand(self.text(node), self.place(node), keyword, star, literal, value, items)

    def arguments(self, call: ast.Call) -> tuple[Operand, ...]:
        named = [self.operand(k.value, k.arg or "", "" if k.arg else "**") for k in call.keywords]
        return (*self.operands(*call.args), *named)

    def unpacked(self, target: ast.Tuple | ast.List) -> Operand | None:
        """What these targets are filled from."""
        around = self.source.tree and tree.statement_at(self.source.tree, target.lineno, target.col_offset)
        match around:
            case ast.Assign(targets=targets, value=value) if target in targets:
                return self.operand(value)
            case ast.For(target=own, iter=value) if own is target:
                return self.operand(value)
            case _:
                return None


def constant(node: ast.expr) -> tuple[bool, Any]:
    """Whether an expression is a constant of Python (a number, a text, a tuple or list of them), and which."""
    try:
        return True, ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False, None
