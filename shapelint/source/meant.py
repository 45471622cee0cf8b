"""Which expression of a line an operation came from."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from shapelint.source.tree import expressions, last_name, span

if TYPE_CHECKING:
    from shapelint.source.tree import Span

Node: TypeAlias = ast.expr | ast.stmt
_OPERATORS: dict[type[ast.operator | ast.unaryop | ast.cmpop], tuple[str, str]] = {
    ast.Add: ("+", "add"),
    ast.Sub: ("-", "sub"),
    ast.Mult: ("*", "mul"),
    ast.Div: ("/", "truediv div true_divide"),
    ast.FloorDiv: ("//", "floordiv floor_divide"),
    ast.Mod: ("%", "mod remainder"),
    ast.Pow: ("**", "pow"),
    ast.MatMult: ("@", "matmul"),
    ast.BitAnd: ("&", "and bitwise_and"),
    ast.BitOr: ("|", "or bitwise_or"),
    ast.BitXor: ("^", "xor bitwise_xor"),
    ast.LShift: ("<<", "lshift"),
    ast.RShift: (">>", "rshift"),
    ast.USub: ("-", "neg"),
    ast.UAdd: ("+", "pos"),
    ast.Invert: ("~", "invert bitwise_not"),
    ast.Not: ("not", "not bool"),
    ast.Eq: ("==", "eq"),
    ast.NotEq: ("!=", "ne"),
    ast.Lt: ("<", "lt"),
    ast.LtE: ("<=", "le"),
    ast.Gt: (">", "gt"),
    ast.GtE: (">=", "ge"),
    ast.Is: ("is", ""),
    ast.IsNot: ("is not", ""),
    ast.In: ("in", "contains"),
    ast.NotIn: ("not in", "contains"),
}
_WORK = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript)


def sign(operator: ast.operator | ast.unaryop | ast.cmpop) -> str:
    """The operator as it is written."""
    return _OPERATORS[type(operator)][0]


def exact(statement: ast.stmt, wanted: Span) -> Node | None:
    """The node whose span was recorded, or None.

    Python records a call on a later line of a method chain from the name of the method on, and iteration, entering a
    context and a failed assert as the whole statement, some versions narrower than others: the narrow one is meant.
    """
    if span(statement) == wanted:
        return narrow(statement)
    starts = (wanted[0], wanted[2])
    for node in expressions(statement):
        if isinstance(node, ast.expr) and span(node) == wanted:
            return node  # an outer node comes before an inner one of the same span, such as a call without arguments
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and (node.end_lineno, node.end_col_offset) == (wanted[1], wanted[3])
            and name_start(node.func) == starts
        ):
            return node
        if isinstance(node, ast.Attribute) and (*name_start(node), node.end_lineno) == (*starts, wanted[1]):
            return node
    return None


def narrow(statement: ast.stmt) -> Node:
    """The part of a statement that runs when the statement as a whole is said to: such as what a loop iterates over."""
    match statement:
        case ast.For(iter=part) | ast.AsyncFor(iter=part):
            return part
        case ast.If(test=part) | ast.While(test=part) | ast.Assert(test=part) | ast.Match(subject=part):
            return part
        case ast.With(items=[item]) | ast.AsyncWith(items=[item]):
            return item.context_expr
        case ast.Expr(value=part):
            return part
        case _:
            return statement


def name_start(node: ast.Attribute) -> tuple[int, int]:
    """Line and byte column at which the name after the dot starts."""
    end = node.end_col_offset or 0
    return node.end_lineno or node.lineno, end - len(node.attr.encode("utf-8"))


def guesses(on_line: tuple[ast.stmt, ...], line: int, hint: str) -> tuple[Node, ...]:
    """What on a line may be meant where no columns are known, from a name such as ``Tensor.view`` or ``__add__``.

    ``on_line`` are the statements there. Several nodes are given where nothing tells them apart; the only operation
    of the line where none has that name.
    """
    name = hint.rpartition(".")[2].strip("_")
    named: list[Node] = []
    work: list[Node] = []
    for statement in on_line:
        if isinstance(statement, ast.AugAssign) and statement.lineno == line:
            work.append(statement)
            if name and _is_augmented(statement, name):
                named.append(statement)
        here = [n for n in expressions(statement) if isinstance(n, ast.expr) and _starts_on(n, line)]
        called = [n.func for n in here if isinstance(n, ast.Call)]
        named += [n for n in here if name and n not in called and _is_called(n, name)]
        if isinstance(statement, ast.Raise):
            work.append(statement)  # most likely it is what ran: the exception is only made for it
            here = []
        work += [n for n in here if isinstance(n, _WORK)]
    return tuple(named or (work if len(work) == 1 else ()))


def _starts_on(node: ast.expr, line: int) -> bool:
    """Whether an operation is said to run on this line: a method's is that of its name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.end_lineno == line
    if isinstance(node, ast.Attribute):
        return node.end_lineno == line
    return node.lineno == line


def _is_called(node: ast.expr, name: str) -> bool:  # noqa: PLR0911  # one answer a kind of node
    match node:
        case ast.Call(func=func):
            return last_name(func) in {name, name + "_"}
        case ast.BinOp(op=op) | ast.UnaryOp(op=op):
            return _named(op, name)
        case ast.Compare(ops=ops):
            return any(_named(op, name) for op in ops)
        case ast.Subscript():
            return name in {"getitem", "setitem", "index_select", "index", "index_put"}
        case ast.Attribute(attr=attr):
            return attr == name
        case ast.Tuple(ctx=ast.Store()) | ast.List(ctx=ast.Store()):
            return name in {"unpack", "iter"}
        case _:
            return False


def _is_augmented(statement: ast.AugAssign, name: str) -> bool:
    return _named(statement.op, name) or (name[:1] == "i" and _named(statement.op, name[1:]))


def _named(operator: ast.operator | ast.unaryop | ast.cmpop, name: str) -> bool:
    names = _OPERATORS[type(operator)][1].split()
    return name in names or (name[:1] == "r" and name[1:] in names)
