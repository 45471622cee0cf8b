"""All that crosses the process boundary, in the standard library alone: what to trace, and what the trace saw.

The front end sends a `TraceTarget`, a worker answers with a `TraceReport`. Both are frozen dataclasses that
`shapelint.codec` carries through JSON. A report is made of tables (frames, modules, values, ops) that refer to each
other by index.
"""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass, field
from typing import Any

# ------------------------------------------------------------------------------------------------ what to trace


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor to make: torch's name of the dtype, and dims that are integers or expressions in names (``"2*B"``)."""

    dtype: str
    dims: tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class InputTree:
    """One input: a tensor, a list, a dict (each of InputTrees), a plain value, or what a user's function returns.

    ``kind`` is ``tensor``, ``list``, ``dict``, ``value`` or ``call``; only the field of that kind is filled.
    """

    kind: str
    tensor: TensorSpec | None = None
    items: tuple[InputTree, ...] = ()
    keys: tuple[str, ...] = ()
    value: Any = None
    call: str = ""


@dataclass(frozen=True, slots=True)
class DimLimits:
    """The sizes a named dimension may take; all optional."""

    min: int | None = None
    max: int | None = None
    multiple_of: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One input signature: pairs of parameter name and value (``*name``, ``**name`` as in the configuration).

    ``call`` (``module:function``) is given instead where a user's function makes the inputs.
    """

    inputs: tuple[tuple[str, InputTree], ...] = ()
    call: str = ""


@dataclass(frozen=True, slots=True)
class Unsaved:
    """The text that a file is to be read as, whatever is on disk; ``encoding`` is the file's."""

    path: str
    text: str
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class TraceTarget:
    """One model to trace, with everything the worker needs to know. Paths are absolute.

    ``target`` is ``module:attribute``; ``src`` the import roots; ``batch`` the names that stand for the batch;
    ``timeout`` seconds and ``memory`` bytes bound the whole target. ``unsaved`` are files to be read otherwise.
    """

    target: str
    root: str
    src: tuple[str, ...]
    cases: tuple[Case, ...]
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    method: str = "forward"
    modes: tuple[str, ...] = ("eval", "train")
    dims: tuple[tuple[str, DimLimits], ...] = ()
    batch: tuple[str, ...] = ("B", "N", "batch")
    explore: bool = False
    timeout: float = 60.0
    memory: int = 4 << 30
    unsaved: tuple[Unsaved, ...] = ()


# ---------------------------------------------------------------------------------------------- what was seen


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in the user's code that was running: lines from 1, columns 0-based in UTF-8 bytes, -1 where unknown."""

    path: str
    function: str
    line: int
    end_line: int = -1
    column: int = -1
    end_column: int = -1


@dataclass(frozen=True, slots=True)
class ModuleRecord:
    """An nn.Module of the model: ``path`` as in named_modules() ("" is the root), ``type`` its class's qualified name.

    ``made`` is the stack of frames (indices) of its constructor call, innermost last; ``shown`` its ``extra_repr()``;
    ``params`` the shapes of its own parameters and buffers. ``batch_first`` is what a layer for sequences was told, None for
    any other.
    """

    path: str
    type: str
    made: tuple[int, ...] = ()
    shown: str = ""
    params: tuple[tuple[str, tuple[int, ...]], ...] = ()
    batch_first: bool | None = None


@dataclass(frozen=True, slots=True)
class ValueRecord:
    """A tensor that flowed through the trace.

    ``shapes`` holds its shape in each run (assignment) of the case, None where it wasn't made or isn't known.
    ``source`` is ``input:NAME``, ``param:PATH``, ``buffer:PATH``, ``constant`` or ``op``; ``producer`` the op that made
    it, -1 if none. ``pinned`` names the device it is fixed to whatever ``model.to(device)`` says, "" if it follows.
    """

    shapes: tuple[tuple[int, ...] | None, ...]
    dtype: str
    source: str = "op"
    producer: int = -1
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an op. ``kind``: ``value`` (index of a ValueRecord), ``list`` of Arguments, ``literal`` (JSON), ``other``.

    ``other`` keeps its repr in ``literal``; a slice is ``list`` with ``literal = "slice"`` and three items.
    """

    kind: str
    value: int = -1
    items: tuple[Argument, ...] = ()
    literal: Any = None


@dataclass(frozen=True, slots=True)
class Failure:
    """What an op raised in one run, with torch's own words. ``error`` is the name of the exception's class."""

    run: int
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class OpNote:
    """A fact the tracer saw beside the result.

    ``kind`` is ``device`` (values that can't meet on a GPU), ``unknown`` (no shape), or the name of the rule of a fault that
    runs (`shapelint.trace.axes`). ``values`` are indices of ValueRecords, ``text`` a detail in words; ``runs`` the runs it was seen in.
    """

    kind: str
    values: tuple[int, ...] = ()
    text: str = ""
    runs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OpRecord:
    """One operation of the trace, aligned over the runs of its case.

    ``opcode`` is torch.fx's; ``target`` the public name of what was called (``torch.nn.functional.linear``,
    ``Tensor.view``, ``torch.nn.Conv2d`` for call_module); ``module`` the index of the innermost nn.Module at work (for
    call_module the layer itself); ``stack`` the user frames that led to it, outermost first. ``args`` are positional and
    named arguments (name "" where positional). An op with ``failures`` is a failed-shape node: its outputs are what the code
    meant, or unknown. ``runs`` are the runs in which it was reached. ``inner`` is the torch function that failed inside a layer.
    """

    opcode: str
    target: str
    module: int
    stack: tuple[int, ...]
    args: tuple[tuple[str, Argument], ...] = ()
    outputs: tuple[int, ...] = ()
    failures: tuple[Failure, ...] = ()
    notes: tuple[OpNote, ...] = ()
    runs: tuple[int, ...] = ()
    inner: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """A run that ended before ``forward`` returned, with the exception and the user frames, outermost first.

    ``kind``: ``raise`` (a raise statement or assert of the code itself, ``branch`` names the frame index), ``python`` (any
    other exception the code met: unpacking, a missing attribute), ``data`` (it needed a value that is only known with data),
    ``call`` (the call of forward didn't fit its signature), ``internal`` (the tracer itself couldn't go on).
    ``invented`` is set where it only follows from an invented number, answer or recovered value.
    """

    run: int
    kind: str
    error: str
    message: str
    stack: tuple[int, ...]
    invented: bool = False


@dataclass(frozen=True, slots=True)
class WarningRecord:
    """A Python warning raised during the trace, with the user frames that led to it."""

    category: str
    message: str
    stack: tuple[int, ...]
    runs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseReport:
    """What was seen for one case in one mode, over all its runs.

    A run is one assignment of sizes to the names: ``assignments[i]``. ``probes`` of them are the regular ones (the first),
    the rest are extra runs made to see whether a failing size has a working neighbour. ``outputs`` are pairs of a path into
    the result ("" for a bare tensor, ``[0]``, ``.logits``) and a value. ``flags`` names the constructor arguments that
    `explore` flipped ("" for none).
    """

    case: int
    mode: str
    flags: str
    assignments: tuple[tuple[tuple[str, int], ...], ...]
    probes: int
    ops: tuple[OpRecord, ...]
    values: tuple[ValueRecord, ...]
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    endings: tuple[Ending, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """What an annotated name held: ``name`` (``return`` for the result), the ``line`` it was given at (0 for a parameter)."""

    name: str
    line: int
    value: Argument


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call of one of the project's annotated functions, aligned over the runs of its case.

    ``path`` and ``line`` are where the function starts, decorators included; ``caller`` the frames that called it.
    """

    path: str
    line: int
    bound: tuple[Bound, ...]
    caller: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unused:
    """A submodule or parameter that no run of the target used.

    ``path`` is its name in the model, ``kind`` its class, ``size`` the number of its elements, ``made`` the frame (index) of
    the line that makes it.
    """

    path: str
    kind: str
    size: int
    made: int


@dataclass(frozen=True, slots=True)
class RankSeen:
    """The ranks that a place of the project's code was told when it asked, over all runs.

    ``name`` is what it asked: ``dim``, ``ndim``, ``shape`` or ``size``.
    """

    frame: int
    name: str
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TargetFailure:
    """Why a target has no trace at all.

    ``kind``: ``import``, ``attribute`` (not in the module), ``not-a-model``, ``construction``, ``inputs``, ``crash``
    (``error`` is then ``exit``, ``signal``, ``timeout`` or ``memory``), ``no-torch``.
    """

    kind: str
    error: str
    message: str
    stack: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceReport:
    """The worker's answer for one target. ``path`` and ``line`` are where its class or function is defined.

    ``files`` are the project files the trace imported or opened, ``environment`` the variables it read (for the cache).
    """

    target: str
    path: str = ""
    line: int = 0
    failure: TargetFailure | None = None
    cases: tuple[CaseReport, ...] = ()
    frames: tuple[Frame, ...] = ()
    modules: tuple[ModuleRecord, ...] = ()
    unused: tuple[Unused, ...] = ()
    ranks: tuple[RankSeen, ...] = ()
    files: tuple[str, ...] = ()
    environment: tuple[tuple[str, str | None], ...] = ()
    seconds: float = 0.0
    versions: tuple[tuple[str, str], ...] = field(default=())


# ------------------------------------------------------------------------------------------------------- sizes

_OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def size(dim: int | str, sizes: dict[str, int]) -> int:
    """The number that a dim stands for. Raises KeyError for a name without a size, ValueError for anything but arithmetic."""
    return dim if isinstance(dim, int) else _evaluate(ast.parse(dim, mode="eval").body, sizes)


def _evaluate(node: ast.expr, sizes: dict[str, int]) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return sizes[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return int(_OPERATORS[type(node.op)](_evaluate(node.left, sizes), _evaluate(node.right, sizes)))
    raise ValueError(f"not a size: {ast.unparse(node)}")
