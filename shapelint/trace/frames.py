"""Which of the frames on the stack are the user's, and where in them the program stands."""

from __future__ import annotations

import dis
import os
import sys
import sysconfig
import types
from functools import cache
from pathlib import Path
from typing import Any

import torch

from shapelint.records import Frame

Place = tuple[types.CodeType, int]
"""A code object and the index of the instruction in it: cheap to take, made into a `Frame` only when it is shown."""

_OURS = str(Path(__file__).resolve().parent) + os.sep
_TORCH = str(Path(torch.__file__).resolve().parent) + os.sep
_LIBRARY = tuple(
    {str(Path(p).resolve()) + os.sep for p in (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))}
)
_SITE = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

HIDDEN, PACKAGE, PROJECT = 0, 1, 2


@cache
def rank_of_file(filename: str) -> int:
    """`HIDDEN` for torch, the standard library and shapelint, `PACKAGE` for installed code, `PROJECT` for the rest."""
    if filename.startswith("<") or not filename:
        return HIDDEN
    path = os.path.realpath(filename)
    if path.startswith((_OURS, _TORCH)):
        return HIDDEN
    if any(part in path for part in _SITE):
        return PACKAGE
    return HIDDEN if path.startswith(_LIBRARY) else PROJECT


# By identity: code objects of the same text in two files are equal.
_ranks: dict[int, int] = {}
_kept: list[types.CodeType] = []


def rank(code: types.CodeType) -> int:
    """The rank of the file that ``code`` is from."""
    found = _ranks.get(id(code))
    if found is None:
        _kept.append(code)
        found = _ranks[id(code)] = rank_of_file(code.co_filename)
    return found


def user_stack(frame: types.FrameType | None) -> tuple[Place, ...]:
    """The user's places from ``frame`` outwards, outermost first: those of the project, else those of its packages."""
    project: list[Place] = []
    package: list[Place] = []
    get = _ranks.get
    while frame is not None:
        code = frame.f_code
        kind = get(id(code))
        if kind is None:
            kind = rank(code)
        if kind == PROJECT:
            project.append((code, frame.f_lasti))
        elif kind == PACKAGE:
            package.append((code, frame.f_lasti))
        elif code in EDGE:
            break
        frame = frame.f_back
    chosen = project or package
    chosen.reverse()
    return tuple(chosen)


EDGE: set[types.CodeType] = set()
"""Code objects at which a walk up the stack may stop: what lies beyond them isn't the user's."""


def edge(function: Any) -> None:
    """Marks ``function`` as the edge to user code: walks up the stack end there."""
    EDGE.add(function.__code__)


def traceback_stack(error: BaseException) -> tuple[Place, ...]:
    """The user's places in an exception's traceback, outermost first."""
    project: list[Place] = []
    package: list[Place] = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        kind = rank(code)
        if kind == PROJECT:
            project.append((code, step.tb_lasti))
        elif kind == PACKAGE:
            package.append((code, step.tb_lasti))
        step = step.tb_next
    return tuple(project or package)


def raised_by_user(error: BaseException) -> bool:
    """Whether the exception comes from a ``raise`` or ``assert`` in the user's code, not from something it called."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or rank(step.tb_frame.f_code) == HIDDEN:
        return False
    code = step.tb_frame.f_code
    return dis.opname[code.co_code[step.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


_BUGS = (AttributeError, KeyError, NameError)


def own_fault(error: BaseException) -> str:
    """The place in the tracer at which a fault of its own was raised: ``mode.py:120``; "" for any other exception."""
    if not isinstance(error, _BUGS):
        return ""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None:
        return ""
    path = step.tb_frame.f_code.co_filename
    return f"{os.path.basename(path)}:{step.tb_lineno}" if path.startswith(_OURS) else ""


def to_frame(place: Place) -> Frame:
    """The record of a place: lines always, columns from Python 3.11 on."""
    code, index = place
    path = os.path.abspath(code.co_filename)  # keeps a symlink as the user wrote it
    name = getattr(code, "co_qualname", code.co_name)
    if sys.version_info >= (3, 11):
        positions = _positions(code)
        entry = positions[index // 2] if 0 <= index // 2 < len(positions) else (None,) * 4
        line, end_line, column, end_column = entry
        if line is not None:
            return Frame(
                path,
                name,
                line,
                line if end_line is None else end_line,
                -1 if column is None else column,
                -1 if end_column is None else end_column,
            )
    return Frame(path, name, _line(code, index))


if sys.version_info >= (3, 11):

    @cache
    def _positions(code: types.CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
        return list(code.co_positions())


@cache
def _lines(code: types.CodeType) -> tuple[tuple[int, int, int | None], ...]:
    return tuple(code.co_lines())


def _line(code: types.CodeType, index: int) -> int:
    for start, end, line in _lines(code):
        if start <= index < end and line is not None:
            return line
    return code.co_firstlineno
