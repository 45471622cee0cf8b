"""The layout of every value of a trace, from the inputs on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shapelint.trace.axes.along import ELEMENTWISE, broadcast, kept
from shapelint.trace.axes.calls import Call, Shape, fits
from shapelint.trace.axes.layers import LAYERS
from shapelint.trace.axes.layout import Atom, Layout, Sizes, axis
from shapelint.trace.axes.moves import MOVES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.records import Argument, CaseReport, ModuleRecord


@dataclass(slots=True)
class Followed:
    """What is known of a trace's values so far: layouts, and which of them an input took part in.

    ``runs`` are those that are looked at: the regular ones in which no named dimension is 1. ``batch`` are the batch's
    sizes in them, None where the case has no batch; ``single`` is the run whose batch is 1, -1 if there is none.
    """

    runs: tuple[int, ...]
    batch: Sizes | None
    single: int
    names: dict[str, Sizes]
    layouts: dict[int, Layout | None] = field(default_factory=dict)
    data: set[int] = field(default_factory=set)

    def shape(self, case: CaseReport, value: int) -> Shape | None:
        """The sizes of a value along each axis; None where a run has none or the rank differs."""
        shapes = case.values[value].shapes
        picked = [shapes[run] for run in self.runs]
        first = picked[0]
        if first is None or any(other is None or len(other) != len(first) for other in picked):
            return None
        return tuple(zip(*[one for one in picked if one is not None])) if first else ()

    def layout(self, case: CaseReport, value: int) -> Layout | None:
        """The layout of a value; one that no op made is known by its sizes."""
        if value not in self.layouts:
            wanted = self.shape(case, value)
            fresh = None if wanted is None else tuple([axis(s, Atom(s, batch=s == self.batch)) for s in wanted])
            self.layouts[value] = fresh
            if case.values[value].source.startswith(("input:", "state", "layer")):
                self.data.add(value)
        return self.layouts[value]


def start(case: CaseReport, batch: tuple[str, ...]) -> Followed | None:
    """The state before the first op; None where no run can be looked at."""
    sizes = [dict(assignment) for assignment in case.assignments[: case.probes]]
    runs = tuple(run for run, given in enumerate(sizes) if all(size != 1 for size in given.values()))
    if not runs:
        return None
    names = {name: tuple([sizes[run][name] for run in runs]) for name in sizes[0]}
    name = next((name for name in names if name in batch), None)
    single = next((run for run, given in enumerate(sizes) if name is not None and given[name] == 1), -1)
    # A batch that is the same in all runs can't be told from a constant.
    counts = names[name] if name is not None and len(set(names[name])) > 1 and _once(case, runs, names[name]) else None
    return Followed(runs, counts, single if counts else -1, names)


def _once(case: CaseReport, runs: tuple[int, ...], batch: Sizes) -> bool:
    """Whether no input has the batch along two axes: ``[N, N]`` is a graph, and N no batch."""
    for _, value in case.inputs:
        shapes = [case.values[value].shapes[run] for run in runs]
        if all(shapes) and sum(along == batch for along in zip(*[one for one in shapes if one])) > 1:
            return False
    return True


def calls(case: CaseReport, modules: tuple[ModuleRecord, ...], state: Followed) -> Iterator[Call]:
    """Each op with the layouts that go in, in order; its results are known to ``state`` when the next one comes."""
    for number, op in enumerate(case.ops):
        tensors = tuple(_values(op.args))
        layouts = tuple([state.layout(case, value) for value in tensors])
        results = tuple([state.shape(case, value) for value in op.outputs])
        short = op.target.rsplit(".", 1)[-1]
        module = modules[op.module] if op.opcode == "call_module" and op.module >= 0 else None
        call = Call(op, number, short, tensors, layouts, results, state.batch, module)
        made = _results(call)
        touched = any(value in state.data for value in tensors)
        for value, layout in zip(op.outputs, made):
            state.layouts[value] = layout
            if touched:
                state.data.add(value)
        if touched and tensors and short in ("__setitem__", "setitem"):
            state.data.add(tensors[0])
        yield call


def _results(call: Call) -> list[Layout | None]:
    """The layouts of an op's results."""
    if call.op.failures:
        # What was assumed in place of a result has no history.
        return [None if wanted is None else call.unknown(wanted) for wanted in call.results]
    move = MOVES.get(call.short) or LAYERS.get(call.short)
    made = move(call) if move is not None else None
    out: list[Layout | None] = []
    for at, wanted in enumerate(call.results):
        layout = made[at] if made is not None and at < len(made) else None
        if wanted is None:
            out.append(None)
        elif layout is not None and fits(layout, wanted):
            out.append(layout)
        else:
            out.append((broadcast if call.short in ELEMENTWISE else kept)(call, wanted))
    return out


def _values(args: tuple[tuple[str, Argument], ...]) -> Iterator[int]:
    for _, argument in args:
        yield from _of(argument)


def _of(argument: Argument) -> Iterator[int]:
    if argument.kind == "value":
        if argument.value >= 0:
            yield argument.value
        return
    for item in argument.items:
        yield from _of(item)
