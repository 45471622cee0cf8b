"""Input shapes that the code states itself: in a comment for the linter, a jaxtyping annotation, a docstring."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapelint.source.comments import comments
from shapelint.source.tree import dotted, first_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shapelint.source.files import SourceFile
    from shapelint.source.tree import FunctionNode

EXAMPLE = '# shapelint: inputs(x="float32[B, 3, 224, 224]")'
_INPUTS = re.compile(r"#\s*shapelint:\s*(inputs\b.*)", re.DOTALL)
_BATCH = {"b", "n", "bs", "bsz", "batch", "batch_size", "batchsize"}
_JAX = {"Float": "float32", "Inexact": "float32", "Num": "float32", "Shaped": "float32", "Real": "float32"}
_JAX |= {"Int": "int64", "Integer": "int64", "UInt": "uint8", "Bool": "bool", "Complex": "complex64"}
_DIM = re.compile(r"[A-Za-z_]\w*|\d+")
_NO_DIM = {"tensor", "optional", "int", "float", "bool", "str", "none", "default", "torch", "list", "tuple", "any"}
_WHOLE = re.compile(r"\b(int64|long|index|indices|ids?|tokens?|labels?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CommentInputs:
    """The inputs that comments declare, one dict a comment; ``error`` and ``line`` where one can't be read."""

    cases: tuple[dict[str, Any], ...] = ()
    error: str = ""
    line: int = 0


def from_comments(source: SourceFile, *nodes: FunctionNode | ast.ClassDef) -> CommentInputs:
    """The ``# shapelint: inputs(...)`` comments of a class or method: above it, on its header, on top of its body."""
    if "shapelint" not in source.text:
        return CommentInputs()
    found = [c for c in comments(source) if _INPUTS.match(c.text)]
    every = {c.line for c in comments(source) if c.alone}
    cases: list[dict[str, Any]] = []
    for node in nodes:
        start = first_line(node)
        while start - 1 in every:
            start -= 1
        end = first_line(node.body[0]) - 1
        if ast.get_docstring(node) is not None and len(node.body) > 1:
            end = first_line(node.body[1]) - 1
        end = max(end, node.lineno)
        for comment in found:
            if start <= comment.line <= end:
                read = _read_comment(comment.text)
                if isinstance(read, str):
                    return CommentInputs(error=read, line=comment.line)
                cases.append(read)
        if cases:
            break
    return CommentInputs(tuple(cases))


def _read_comment(text: str) -> dict[str, Any] | str:
    match = _INPUTS.match(text)
    body = match.group(1).strip() if match else ""
    try:
        call = ast.parse(body, mode="eval").body
    except SyntaxError:
        return f"the comment can't be read; write {EXAMPLE}"
    if not isinstance(call, ast.Call) or call.args or not call.keywords:
        return f"the comment names no input; write {EXAMPLE}"
    try:
        return {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
    except ValueError:
        return f"an input in the comment is no text, number, list or dict; write {EXAMPLE}"


def from_annotation(annotation: ast.expr | None) -> str:
    """The tensor that a jaxtyping annotation describes, such as ``Float[Tensor, "batch 3 h w"]``; "" for any other."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return ""
    match annotation:
        case ast.Subscript(value=kind, slice=ast.Tuple(elts=[_, ast.Constant(value=str(text))])):
            name = dotted(kind).rpartition(".")[2]
        case _:
            return ""
    dtype = _JAX.get(name) or (name.lower() if re.fullmatch(r"(Float|BFloat|Int|UInt|Complex)\d+", name) else "")
    dims = [_jax_dim(word, at) for at, word in enumerate(text.split())]
    return f"{dtype}[{', '.join(dims)}]" if dtype and all(dims) else ""


def _jax_dim(word: str, at: int) -> str:
    """One dim of jaxtyping: ``*batch`` and ``...`` stand for one axis here, ``_`` for a size without a name."""
    word = word.lstrip("#?")
    if word == "..." or word.startswith("*"):
        return "B"
    if word.strip("_") == "":
        return f"d{at}"
    word = word.partition("=")[2] or word  # rows=4
    return batch_name(word, at) if re.fullmatch(r"[\w+\-*/() ]+", word) else ""


def batch_name(word: str, at: int) -> str:
    """``B`` for a first dim with one of the names that people give to the batch, else the word."""
    return "B" if at == 0 and word.casefold() in _BATCH else word


def from_docstring(docs: Iterable[str], name: str, sizes: Mapping[str, int]) -> str:
    """The tensor that a docstring describes, such as ``x: (B, T, C)``; ``sizes`` are the constructor's numbers by name.

    A dim that is neither the batch, nor an extent of time or space, nor known by name is a width that only the layers
    know: then "" is returned.
    """
    for text in docs:
        for line in _lines_about(text, name):
            for listed in re.findall(r"[\(\[]([^()\[\]]*)[\)\]]", line):
                dims = [_doc_dim(word.strip().strip("`'\""), at, sizes) for at, word in enumerate(listed.split(","))]
                if len(dims) > 1 and all(dims):
                    return f"{'int64' if _WHOLE.search(line) else 'float32'}[{', '.join(dims)}]"
    return ""


def _lines_about(text: str, name: str) -> list[str]:
    lines = text.splitlines()
    start = re.compile(rf"^\W*(:param\s+)?{re.escape(name)}\b\s*(:|\(|-|has|of|is|\[)", re.IGNORECASE)
    shaped = re.compile(r"^\W*(inputs?|shape)\s*:\s*[\(\[`]", re.IGNORECASE)
    return [line for line in lines if start.match(line)] + [line for line in lines if shaped.match(line)]


def _doc_dim(word: str, at: int, sizes: Mapping[str, int]) -> str:
    if word.isdecimal():
        return word
    if not _DIM.fullmatch(word) or word.casefold() in _NO_DIM:
        return ""
    if word.casefold() in _BATCH:
        return batch_name(word, at)
    known = {name.casefold().replace("_", ""): size for name, size in sizes.items()}
    size = known.get(word.casefold().replace("_", ""))
    if size is not None:
        return str(size)
    free = re.fullmatch(r"[TLSHW]|seq\w*|time\w*|length|height|width|frames|tokens|len|[tlshw]", word)
    return word if free else ""
