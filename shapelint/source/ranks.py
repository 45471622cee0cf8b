"""What a condition of the code is for a given rank of one variable, as far as the text tells."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# What is known at a point: "x.dim()" under the key "#x", and names that hold something computed from it.
Known: TypeAlias = "Mapping[str, Value]"
Value: TypeAlias = "int | bool | tuple[int, ...] | None"

_COMPARE: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
}


def key(variable: str) -> str:
    """The key under which the rank of a variable is known."""
    return f"#{variable}"


def ranked(node: ast.AST) -> str:
    """The text of ``x`` where the node is its rank: ``x.dim()``, ``x.ndim``, ``len(x.shape)``, ``len(x.size())``."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="dim" | "ndimension"), args=[], keywords=[]):
            return ast.unparse(value)
        case ast.Attribute(value=value, attr="ndim"):
            return ast.unparse(value)
        case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]):
            return shaped(argument)
        case _:
            return ""


def shaped(node: ast.AST) -> str:
    """The text of ``x`` where the node is its shape: ``x.shape`` or ``x.size()``."""
    match node:
        case ast.Attribute(value=value, attr="shape"):
            return ast.unparse(value)
        case ast.Call(func=ast.Attribute(value=value, attr="size"), args=[], keywords=[]):
            return ast.unparse(value)
        case _:
            return ""


def variables(nodes: Iterator[ast.AST]) -> tuple[str, ...]:
    """The variables whose rank or shape is looked at, in order of appearance."""
    found = (ranked(n) or shaped(n) for n in nodes)
    return tuple(dict.fromkeys(v for v in found if v and len(v) <= 60))  # noqa: PLR2004  # longer is no name


def mentions(node: ast.AST, known: Known, variable: str) -> bool:
    """Whether the node looks at the variable's rank, itself or through a name."""
    return any(
        variable in {ranked(n), shaped(n)} or (isinstance(n, ast.Name) and n.id in known) for n in ast.walk(node)
    )


def value(node: ast.AST, known: Known) -> Value:  # noqa: PLR0911  # one answer a kind of expression
    """What the expression is, None where that can't be told."""
    about = ranked(node)
    if about:
        return known.get(key(about))
    match node:
        case ast.Constant(value=bool(plain)) | ast.Constant(value=int(plain)):
            return plain
        case ast.Name(id=name):
            return known.get(name)
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            numbers = [value(i, known) for i in items]
            whole = tuple([n for n in numbers if isinstance(n, int)])
            return whole if len(whole) == len(items) else None
        case ast.Call(func=ast.Name(id="range"), args=arguments):
            bounds = [value(a, known) for a in arguments]
            plain_bounds = [b for b in bounds if isinstance(b, int)]
            ok = len(plain_bounds) == len(bounds) and 0 < len(bounds) < 3  # noqa: PLR2004  # a step is rare
            return tuple(range(*plain_bounds)) if ok else None
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            a, b = value(left, known), value(right, known)
            if not isinstance(a, int) or not isinstance(b, int):
                return None
            return a + b if isinstance(op, ast.Add) else a - b
        case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return truth(node, known)
        case _:
            return None


def truth(node: ast.AST, known: Known) -> bool | None:
    """Whether the condition holds, None where that can't be told."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(operand, known)
            return None if inner is None else not inner
        case ast.BoolOp(op=op, values=parts):
            answers = [truth(part, known) for part in parts]
            decisive = isinstance(op, ast.Or)
            if decisive in answers:
                return decisive
            return None if None in answers else not decisive
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            return _compared([left, *comparators], ops, known)
        case _:
            plain = value(node, known)
            return None if plain is None else bool(plain)


def _compared(operands: list[ast.expr], ops: list[ast.cmpop], known: Known) -> bool | None:
    values = [value(o, known) for o in operands]
    answers: list[bool | None] = []
    for op, left, right in zip(ops, values, values[1:]):
        if isinstance(op, (ast.In, ast.NotIn)):
            inside = left in right if isinstance(left, int) and isinstance(right, tuple) else None
            answers.append(None if inside is None else inside == isinstance(op, ast.In))
        elif isinstance(left, int) and isinstance(right, int):
            answers.append(_COMPARE[type(op)](left, right))
        else:
            answers.append(None)
    if False in answers:
        return False
    return None if None in answers else True


def pattern_truth(pattern: ast.pattern, subject: ast.expr, known: Known) -> bool | None:  # noqa: PLR0911  # as value
    """Whether a case pattern takes the subject of its match: a rank, or a shape by its length."""
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return pattern_truth(inner, subject, known)
        case ast.MatchOr(patterns=parts):
            answers = [pattern_truth(part, subject, known) for part in parts]
            if True in answers:
                return True
            return None if None in answers else False
        case ast.MatchValue(value=expected):
            a, b = value(subject, known), value(expected, known)
            return None if a is None or b is None else a == b
        case ast.MatchSequence(patterns=parts):
            rank = known.get(key(shaped(subject)))
            if not isinstance(rank, int):
                return None
            starred = any(isinstance(p, ast.MatchStar) for p in parts)
            fits = rank >= len(parts) - 1 if starred else rank == len(parts)
            plain = all(isinstance(p, ast.MatchStar) or (isinstance(p, ast.MatchAs) and not p.pattern) for p in parts)
            return None if fits and not plain else fits
        case _:
            return None


def rank_after(node: ast.expr, known: Known) -> int | None:
    """The rank of a value made from a variable of known rank, for the forms that add or drop one axis."""
    text = ast.unparse(node)
    here = known.get(key(text))
    if isinstance(here, int):
        return here
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="unsqueeze"), args=[_]):
            before = rank_after(inner, known)
            return None if before is None else before + 1
        case ast.Call(func=ast.Attribute(attr="unsqueeze"), args=[inner, _]):  # torch.unsqueeze(x, 0)
            before = rank_after(inner, known)
            return None if before is None else before + 1
        case ast.Subscript(value=inner, slice=index):
            before = rank_after(inner, known)
            change = _axes_changed(index)
            return None if before is None or change is None else before + change
        case ast.Call(func=ast.Attribute(value=inner, attr="float" | "contiguous" | "to" | "clone" | "detach")):
            return rank_after(inner, known)
        case _:
            return None


def _axes_changed(index: ast.expr) -> int | None:
    """How many axes an index adds: one for ``None``, one less for a number, none for a slice; None if unclear."""
    change = 0
    for part in index.elts if isinstance(index, ast.Tuple) else [index]:
        match part:
            case ast.Constant(value=None):
                change += 1
            case ast.Constant(value=int()):
                change -= 1
            case ast.Slice():
                continue
            case ast.Constant() if part.value is Ellipsis:
                continue
            case _:
                return None
    return change
