"""The tensors at the annotated places of the user's functions: arguments, annotated variables, results.

Only where a project speaks of jaxtyping: then each call of one of its functions is seen by a trace function of Python's own,
which costs nothing to any other project.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from shapelint.trace import frames
from shapelint.trace.log import map_tensors

if TYPE_CHECKING:
    from shapelint.trace.mode import TraceMode

_CALLS = 40
"""So many calls of one function are looked at in a run."""

_DEPTH = 3


@dataclass(slots=True)
class Call:
    """One call of a function: what each annotated name held, in order; ``return`` is the result. ``line`` is 0 for a parameter."""

    code: types.CodeType
    bound: list[tuple[str, int, Any]] = field(default_factory=list)
    caller: tuple[frames.Place, ...] = ()


def speaks_of_shapes() -> bool:
    """Whether a file of the project that is imported has annotations of shapes."""
    return _any_speaks(len(sys.modules))


@cache
def _any_speaks(loaded_modules: int) -> bool:
    loaded = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    return any(_mentions(file) for file in loaded if frames.rank_of_file(file) == frames.PROJECT)


@contextlib.contextmanager
def watching(mode: TraceMode, *, on: bool) -> Iterator[list[Call]]:
    """A block in which calls are noted; yields the list they are noted in."""
    calls: list[Call] = []
    if not on:
        yield calls
        return
    watch = _Watch(mode, calls)
    before = sys.gettrace()
    sys.settrace(watch.entered)
    try:
        yield calls
    finally:
        sys.settrace(before)


class _Watch:
    def __init__(self, mode: TraceMode, calls: list[Call]) -> None:
        self.mode, self.calls = mode, calls
        self.counts: dict[int, int] = {}

    def entered(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        wanted = _annotated(code) if frames.rank(code) == frames.PROJECT else None
        if wanted is None or self.mode.quiet or self.counts.get(id(code), 0) >= _CALLS:
            return None
        self.counts[id(code)] = self.counts.get(id(code), 0) + 1
        call = Call(code, caller=frames.user_stack(frame.f_back))
        self.calls.append(call)
        for name in wanted.parameters:
            if name in frame.f_locals:
                call.bound.append((name, 0, self.seen(frame.f_locals[name])))
        frame.f_trace_lines = bool(wanted.variables)
        last = [0]

        def inside(frame: types.FrameType, event: str, argument: Any) -> Any:
            if event in ("line", "return"):
                for name, start, end in wanted.variables:
                    if start <= last[0] <= end and not (event == "line" and start <= frame.f_lineno <= end):
                        call.bound.append((name, start, self.seen(frame.f_locals.get(name))))
                last[0] = frame.f_lineno
            if event == "return" and wanted.returns and argument is not None:
                call.bound.append(("return", frame.f_lineno, self.seen(argument)))
            return inside

        return inside

    def seen(self, value: Any) -> Any:
        """The value with a reference in place of each tensor; None for what holds none."""
        with torch._C.DisableTorchFunction():
            kept = _plain(value, _DEPTH)
            return None if kept is None else map_tensors(kept, self.ref)

    def ref(self, tensor: torch.Tensor) -> Any:
        # The size of what only data could give was made up.
        made_up = self.mode.info(tensor).invented or self.mode.lossy_shapes([tensor])
        return None if made_up else self.mode.ref(tensor)


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, torch.Tensor):
        return value
    if depth and isinstance(value, (tuple, list)) and len(value) <= _CALLS:
        return tuple([_plain(item, depth - 1) for item in value])
    return None


@dataclass(frozen=True, slots=True)
class _Wanted:
    parameters: tuple[str, ...]
    variables: tuple[tuple[str, int, int], ...]
    returns: bool


_known: dict[int, _Wanted | None] = {}


def _annotated(code: types.CodeType) -> _Wanted | None:
    """Which names of a function are annotated; None where nothing is."""
    if id(code) not in _known:
        node = _functions(code.co_filename).get(code.co_firstlineno)
        _known[id(code)] = None if node is None or node.name != code.co_name else _read(node)
    return _known[id(code)]


def _read(node: ast.FunctionDef) -> _Wanted | None:
    taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    parameters = tuple([a.arg for a in taken if a.annotation is not None])
    inner = {id(n) for f in ast.walk(node) if isinstance(f, ast.FunctionDef) and f is not node for n in ast.walk(f)}
    variables = tuple(
        [
            (n.target.id, n.lineno, n.end_lineno or n.lineno)
            for n in ast.walk(node)
            if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.value and id(n) not in inner
        ]
    )
    found = _Wanted(parameters, variables, node.returns is not None)
    return found if parameters or variables or found.returns else None


@cache
def _functions(path: str) -> dict[int, ast.FunctionDef]:
    """The functions of a file by their first line, decorators included."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node for node in nodes}


@cache
def _mentions(path: str) -> bool:
    try:
        return b"jaxtyping" in Path(path).read_bytes()
    except OSError:
        return False
