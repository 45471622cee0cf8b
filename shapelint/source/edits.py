"""Edits applied to a text, and the edit that puts another number into a layer's constructor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.findings import Edit, Location, Region
from shapelint.source.files import absolute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import libcst

    from shapelint.source.files import SourceFile


class EditError(ValueError):
    """Edits that overlap, or can't be written in the encoding of the file."""


def apply_edits(source: SourceFile, edits: Iterable[Edit]) -> str:
    """The text of the file with all edits made, every other character kept.

    Equal edits count once, and a line break in a new text becomes the file's own. Raises EditError where two edits
    overlap or the result can't be written in the encoding of the file.
    """
    spans = sorted({(*_offsets(source, edit.location.region), edit.text) for edit in edits})
    written: list[str] = []
    at = 0
    for number, (start, end, text) in enumerate(spans):
        if start < at or (number and spans[number - 1][:2] == (start, end)):
            line, column = source.position(start)
            raise EditError(f"two edits want to change {source.path}:{line}:{column}")
        written += [source.text[at:start], text.replace("\n", source.newline)]
        at = end
    result = "".join([*written, source.text[at:]])
    try:
        source.encoded(result)
    except UnicodeEncodeError as error:
        raise EditError(
            f"{source.path} is {source.encoding}, which can't hold {error.object[error.start]!r}"
        ) from error
    return result


def replace_argument(source: SourceFile, call: Location, position: int, keyword: str, value: int) -> Edit | None:
    """The edit that makes ``value`` the argument of a call, such as ``nn.Linear(400, 120)``, kept in its format.

    The argument is found by keyword, else by position (from 0). None where it isn't there, is hidden behind a star,
    or is no number and no product of numbers: a name may be used elsewhere too.
    """
    import libcst as cst  # noqa: PLC0415  # 0.15 s that a run without an edit doesn't need
    from libcst import metadata as meta  # noqa: PLC0415  # as above

    region = call.region
    text = source.text[slice(*_offsets(source, region))]
    try:
        # Brackets let an expression that spans lines stand alone, and move its first line by one column.
        wrapper = meta.MetadataWrapper(cst.parse_module(f"({text})"), unsafe_skip_copy=True)
    except cst.ParserSyntaxError:
        return None
    found = _argument(wrapper.module, position, keyword)
    if found is None or not _is_number(found):
        return None
    where = wrapper.resolve(meta.PositionProvider)[found]
    shift = region.column - 2
    start = (where.start.line, where.start.column + 1 + (shift if where.start.line == 1 else 0))
    end = (where.end.line, where.end.column + 1 + (shift if where.end.line == 1 else 0))
    down = region.line - 1
    place = Region(start[0] + down, start[1], end[0] + down, end[1])
    return Edit(Location(absolute(source.path), place), str(value))


def _argument(module: libcst.Module, position: int, keyword: str) -> libcst.BaseExpression | None:
    import libcst as cst  # noqa: PLC0415  # as above

    match module.body:
        case [cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(args=args))])]:
            return _chosen(args, position, keyword)
        case _:
            return None


def _chosen(args: Sequence[libcst.Arg], position: int, keyword: str) -> libcst.BaseExpression | None:
    if any(arg.star == "**" for arg in args):
        return None
    for arg in args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
    plain = args[: position + 1]
    if len(plain) <= position or any(arg.star or arg.keyword for arg in plain):
        return None
    return plain[position].value


def _is_number(node: libcst.BaseExpression) -> bool:
    import libcst as cst  # noqa: PLC0415  # as above

    match node:
        case cst.Integer():
            return True
        case cst.BinaryOperation(left=left, operator=cst.Multiply(), right=right):
            return _is_number(left) and _is_number(right)
        case _:
            return False


def _offsets(source: SourceFile, region: Region) -> tuple[int, int]:
    start = source.offset(region.line, region.column)
    return start, max(start, source.offset(region.end_line, region.end_column))
