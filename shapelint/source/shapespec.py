"""Shapes that jaxtyping's annotations ask for: ``Float[Tensor, "*batch 3 h w"]``, read from the text alone."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.source.tree import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.source.names import Project

_FLOATS = frozenset("float16 bfloat16 float32 float64".split())  # noqa: SIM905  # torch's own names
_SIGNED = frozenset("int8 int16 int32 int64".split())  # noqa: SIM905  # the same
_UNSIGNED = frozenset("uint8 uint16 uint32 uint64".split())  # noqa: SIM905  # the same
_COMPLEX = frozenset(("complex32", "complex64", "complex128"))
_KINDS: dict[str, frozenset[str] | None] = {
    "Shaped": None,
    "Num": _FLOATS | _SIGNED | _UNSIGNED | _COMPLEX,
    "Real": _FLOATS | _SIGNED | _UNSIGNED,
    "Inexact": _FLOATS | _COMPLEX,
    "Float": _FLOATS,
    "Complex": _COMPLEX,
    "Integer": _SIGNED | _UNSIGNED,
    "Int": _SIGNED,
    "UInt": _UNSIGNED,
    "Bool": frozenset(("bool",)),
}
_EXACT = re.compile(r"(BFloat|Float|Int|UInt|Complex)\d+")
_OPTIONAL = 8
"""Names are followed so far: an alias of an alias of an alias is rare."""


@dataclass(frozen=True, slots=True)
class Dim:
    """One word of a shape. ``kind``: ``size`` (a number), ``name``, ``sum`` (arithmetic on names), ``any``.

    ``many`` stands for any number of axes; ``broadcast`` lets the size be 1 too.
    """

    kind: str
    text: str
    size: int = 0
    many: bool = False
    broadcast: bool = False


@dataclass(frozen=True, slots=True)
class ShapeSpec:
    """What one annotation asks of a tensor: dtypes (None: any), dims, and how it is written."""

    text: str
    dtypes: frozenset[str] | None
    dims: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Spec:
    """What an annotation asks of a value: to be one of ``tensors``, or to hold ``items``.

    ``items`` has a spec for each element, or one for all where it ``repeats``. Neither: nothing that is known is asked.
    """

    tensors: tuple[ShapeSpec, ...] = ()
    items: tuple[Spec, ...] = ()
    repeats: bool = False

    @property
    def asks(self) -> bool:
        """Whether it asks for anything."""
        return bool(self.tensors) or any(item.asks for item in self.items)


def read(node: ast.expr | None, project: Project, path: str, hops: int = _OPTIONAL) -> Spec:
    """What an annotation in the file ``path`` asks for; one that isn't jaxtyping's asks for nothing."""
    match node if hops else None:
        case ast.Constant(value=str(text)):
            return read(_parsed(text), project, path, hops - 1)
        case ast.Name(id=name):
            found = project.value_of(path, name)
            return read(found[1], project, found[0], hops - 1) if found else Spec()
        case ast.BinOp(op=ast.BitOr()) as either:
            return _either([read(part, project, path, hops - 1) for part in _alternatives(either)])
        case ast.Subscript(value=kind, slice=inner) as subscript:
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return _subscript(subscript, dotted(kind).rpartition(".")[2], parts, (project, path, hops - 1))
        case _:
            return Spec()


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None


def _subscript(node: ast.Subscript, kind: str, parts: list[ast.expr], where: tuple[Project, str, int]) -> Spec:
    match kind, parts:
        case (("Optional" | "Union" | "Annotated" | "Final"), _):
            chosen = parts[:1] if kind == "Annotated" else parts
            return _either([read(part, *where) for part in chosen])
        case (("tuple" | "Tuple"), [only, ast.Constant(value=last)]) if last is Ellipsis:
            return Spec(items=(read(only, *where),), repeats=True)
        case (("tuple" | "Tuple"), _):
            return Spec(items=tuple([read(part, *where) for part in parts]))
        case (("list" | "List" | "Sequence"), [only]):
            return Spec(items=(read(only, *where),), repeats=True)
        case _, [_, ast.Constant(value=str(text))] if kind in _KINDS or _EXACT.fullmatch(kind):
            dtypes = _KINDS[kind] if kind in _KINDS else frozenset((kind.lower(),))
            dims = tuple([_dim(word) for word in text.split()])
            return Spec((ShapeSpec(ast.unparse(node), dtypes, dims),))
        case _:
            return Spec()


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _alternatives(node.left)
        yield from _alternatives(node.right)
    else:
        yield node


def _either(parts: list[Spec]) -> Spec:
    """One of several; what is no shape (``None``, a class) is another kind of value, which nothing is asked of."""
    asking = [part for part in parts if part.asks]
    if len(asking) == 1:
        return asking[0]
    return Spec(tuple([tensor for part in asking for tensor in part.tensors]))


def _dim(word: str) -> Dim:
    text = word
    if word == "...":
        return Dim("any", text, many=True)
    many = broadcast = False
    while word[:1] in ("*", "#", "?"):
        many, broadcast = many or word[0] == "*", broadcast or word[0] == "#"
        if word[0] == "?":
            return Dim("any", text, many=many)
        word = word[1:]
    named = re.fullmatch(r"[A-Za-z_]\w*=(.+)", word)  # rows=4 is 4, and says what it is
    word = named[1] if named else word
    if word.startswith("_") or not word:
        return Dim("any", text, many=many)
    if word.isdecimal():
        return Dim("size", text, int(word), many, broadcast)
    if word.isidentifier():
        return Dim("name", word, 0, many, broadcast)
    return Dim("sum", word) if re.fullmatch(r"[\w+\-*/() ]+", word) else Dim("any", text)
