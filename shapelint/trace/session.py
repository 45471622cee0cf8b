"""A target from its import to its report: what a worker does for one model."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from shapelint.records import CaseReport, RankSeen, TargetFailure, TraceReport, TraceTarget, Unused
from shapelint.trace import assign, frames, inputs, invented, memo, neighbours, run, unsaved
from shapelint.trace.align import Tables, merge
from shapelint.trace.axes.judge import annotate
from shapelint.trace.build import building, to_meta_parameters
from shapelint.trace.compilers import leave_uncompiled
from shapelint.trace.edge import Outcome, call_user
from shapelint.trace.graph import input_tensors
from shapelint.trace.owners import Owners, rebind_buffers
from shapelint.trace.unused import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Loaded:
    """A target's module, imported."""

    module: Any


def warm_up() -> None:
    """Does once what each child would do for itself: imports, first calls of meta kernels, a look at all modules."""
    with torch.device("meta"):
        model = nn.Sequential(
            nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.GELU(), nn.Flatten(), nn.Linear(2, 2), nn.LayerNorm(2)
        )
        x = model(torch.empty(2, 1, 1, 1))
        nn.functional.cross_entropy(x @ x.mT + x.relu().softmax(-1), torch.empty(2, dtype=torch.int64))
    for module in list(sys.modules.values()):
        if file := getattr(module, "__file__", None):
            frames.rank_of_file(file)


def load(target: TraceTarget) -> Loaded | TraceReport:
    """The target's module, or the report that says why it can't be imported."""
    os.chdir(target.root)
    for folder in reversed(target.src):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    unsaved.install(target.unsaved)
    leave_uncompiled()
    outcome = call_user(importlib.import_module, (target.target.partition(":")[0],))
    if outcome.error is not None:
        return _failure(target, "import", outcome)
    return Loaded(outcome.value)


def trace(target: TraceTarget, loaded: Loaded) -> TraceReport:
    """The report of one target."""
    started = time.monotonic()
    found = call_user(_attribute, (loaded.module, target.target.partition(":")[2]))
    if found.error is not None:
        return _failure(target, "attribute", found)
    tables = Tables()
    cases: list[CaseReport] = []
    usage = Usage()
    path, line = _defined(found.value)
    for flags, variant in (("", target), *_explored(found.value, target)):
        for mode in target.modes:
            answer = _traced(found.value, variant, tables, mode, flags, usage)
            if isinstance(answer, TraceReport):
                if flags:
                    break  # a constructor that doesn't take the flag the other way says so; that is no fault
                return replace(answer, path=path, line=line, seconds=time.monotonic() - started)
            if isinstance(answer, TargetFailure):
                return _report(target, path, line, tables, tuple(cases), started, answer)
            cases += answer
    idle = tuple(
        Unused(one.name, one.kind, one.size, tables.add_frame(one.path, "", one.line, one.end_line))
        for one in usage.idle()
    )
    ranks = tuple(RankSeen(tables.stack((place,))[0], name, told) for place, name, told in usage.ranks())
    return replace(_report(target, path, line, tables, tuple(cases), started), unused=idle, ranks=ranks)


def _traced(
    found: Any, target: TraceTarget, tables: Tables, mode: str, flags: str, usage: Usage
) -> list[CaseReport] | TargetFailure | TraceReport:
    """The cases of one instance in one mode; a report without a trace where it can't be built."""
    with building() as made:
        built = call_user(_build, (found, target))
    if built.error is not None:
        return _failure(target, "construction", built)
    model = built.value
    if model is None or not callable(getattr(model, target.method, model)):
        wrong = TypeError(f"{target.target} is {type(model).__name__}")
        return _failure(target, "not-a-model", Outcome(error=wrong))
    if isinstance(model, nn.Module):
        to_meta_parameters(model)
        rebind_buffers(model)
        model.train(mode == "train")
    elif mode != target.modes[0]:
        return []  # a function has no modes
    tables.add_modules(model, made)
    cases: list[CaseReport] = []
    for number in range(len(target.cases)):
        answer = _case(target, tables, model, number, mode, flags, usage)
        if isinstance(answer, TargetFailure):
            return answer
        cases.append(answer)
    return cases


def _explored(found: Any, target: TraceTarget) -> Iterator[tuple[str, TraceTarget]]:
    """With `explore`, the target once for each boolean argument of its constructor, with that one turned round."""
    if not target.explore or isinstance(found, nn.Module):
        return
    try:
        signature = inspect.signature(found)
        bound = signature.bind(*target.args, **dict(target.kwargs))
    except (TypeError, ValueError):
        return  # the constructor itself will say what is wrong
    bound.apply_defaults()
    for position, (name, value) in enumerate(bound.arguments.items()):
        if not isinstance(value, bool) or any(name == given for case in target.cases for given, _ in case.inputs):
            continue
        flags = f"{name}={not value}"
        if position < len(target.args):
            args = (*target.args[:position], not value, *target.args[position + 1 :])
            yield flags, replace(target, args=args)
        else:
            kept = tuple(pair for pair in target.kwargs if pair[0] != name)
            yield flags, replace(target, kwargs=(*kept, (name, not value)))


def _case(
    target: TraceTarget, tables: Tables, model: Any, number: int, mode: str, flags: str, usage: Usage
) -> CaseReport | TargetFailure:
    """All runs of one case, one after another on the same instance, as training would."""
    case = target.cases[number]
    sizes = assign.assignments(target, case, assign.numbers_in(model, case))
    owners = Owners(model)
    function = (
        model if target.method == "forward" or not isinstance(model, nn.Module) else getattr(model, target.method)
    )
    signature = _signature(model, target.method)
    repeats = not any(memo.differentiates(path) for path in _files(target))
    regular = len(sizes)
    runs: list[run.RunResult] = []
    taken = {size for one in sizes for size in one.values()}
    while len(runs) < len(sizes):
        args, kwargs = inputs.arguments(case, sizes[len(runs)])
        if signature is not None:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                given = ", ".join(kwargs) or f"{len(args)} positional"
                return TargetFailure("inputs", "TypeError", f"{error} (given: {given})")
            # As the user would call it: positionally where that is possible.
            args, kwargs = bound.args, bound.kwargs
            names = [found for name, value in bound.arguments.items() for found in input_tensors(name, value)]
        else:
            names = input_tensors("", [*args, *kwargs.values()])
        runs.append(_run(function, args, kwargs, owners, taken, names, turn=len(runs), repeats=repeats))
        # A variant that was explored is another model, and so is one of an extra size: what they use counts, that they end
        # early doesn't.
        complete = bool(flags) or len(runs) > regular or runs[-1].outcome.error is None
        usage.add(model, runs[-1], complete=complete)
        if len(runs) == regular:
            sizes += neighbours.sizes_to_try(target, case, sizes[:regular], runs)
    merged = merge(tables, number, mode, flags, sizes, regular, runs)
    return annotate(merged, tuple(tables.modules), target.batch)


_PATHS = 4
"""How many answers to conditions on data are tried until the model comes to its end."""


def _run(
    function: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    owners: Owners,
    taken: set[int],
    names: list[tuple[str, torch.Tensor]],
    *,
    turn: int,
    repeats: bool,
) -> run.RunResult:
    """One run; where an invented answer led to its end, again with the last answer turned round."""
    flips: frozenset[invented.Site] = frozenset()
    tried: list[run.RunResult] = []
    for _ in range(_PATHS):
        pool = iter(assign.picks(taken, turn))
        result = run.run(
            function,
            args,
            kwargs,
            owners,
            sizes=functools.partial(next, pool, 3),
            inputs=names,
            flips=flips,
            repeats=repeats,
        )
        if repeats and _lacks_history(result):
            # A library differentiates, though the project's own code doesn't.
            return _run(function, args, kwargs, owners, taken, names, turn=turn, repeats=False)
        tried.append(result)
        if result.outcome.error is None or not result.asked or result.asked[-1] in flips:
            break
        flips |= {result.asked[-1]}
    # Where no path comes to the end, the one that came furthest tells most.
    return result if result.outcome.error is None else max(tried, key=lambda one: len(one.log.ops))


def _lacks_history(result: run.RunResult) -> bool:
    errors = [result.outcome.error, *[op.error for op in result.log.ops]]
    words = ("does not require grad", "to not have been used in the graph")
    return any(word in str(error) for error in errors if error is not None for word in words)


def _signature(model: Any, method: str) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(model, method) if isinstance(model, nn.Module) else model)
    except (TypeError, ValueError):
        return None


def _attribute(module: Any, path: str) -> Any:
    value = module
    for part in path.split("."):
        value = getattr(value, part)
    return value


def _build(found: Any, target: TraceTarget) -> Any:
    """The model: a class or a factory is called, an instance is itself, a function of the inputs stays one."""
    if isinstance(found, nn.Module):
        return found
    if inspect.isclass(found):
        if not issubclass(found, nn.Module):
            raise TypeError(f"{target.target} is a class, but no nn.Module")
        return found(*_plain(target.args), **{name: _plain(value) for name, value in target.kwargs})
    if callable(found):
        names = {name for case in target.cases for name, _ in case.inputs}
        try:
            takes = set(inspect.signature(found).parameters)
        except (TypeError, ValueError):
            takes = set()
        if names and names <= takes:
            return found
        return found(*_plain(target.args), **{name: _plain(value) for name, value in target.kwargs})
    return None


def _plain(value: Any) -> Any:
    """TOML's arrays come as tuples through the records: a constructor gets the lists it would get from Python."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _defined(found: Any) -> tuple[str, int]:
    try:
        where = found if inspect.isclass(found) or inspect.isfunction(found) else type(found)
        return os.path.abspath(inspect.getsourcefile(where) or ""), inspect.getsourcelines(where)[1]
    except (OSError, TypeError):
        return "", 0


def _failure(target: TraceTarget, kind: str, outcome: Outcome, path: str = "", line: int = 0) -> TraceReport:
    tables = Tables()
    error = outcome.error
    stack = outcome.stack
    if isinstance(error, SyntaxError) and error.filename:
        message = f"{error.msg} ({error.filename}:{error.lineno})"
    else:
        message = str(error)[:1000]
    failure = TargetFailure(kind, type(error).__name__, message, tables.stack(stack))
    return _report(target, path, line, tables, (), time.monotonic(), failure)


def _report(
    target: TraceTarget,
    path: str,
    line: int,
    tables: Tables,
    cases: tuple[CaseReport, ...],
    started: float,
    failure: TargetFailure | None = None,
) -> TraceReport:
    return TraceReport(
        target.target,
        path,
        line,
        failure,
        cases,
        tuple(tables.frames),
        tuple(tables.modules),
        (),
        (),
        _files(target),
        (),
        time.monotonic() - started,
        (("torch", torch.__version__), ("python", sys.version.split()[0])),
    )


def _files(target: TraceTarget) -> tuple[str, ...]:
    """The project's files among the imported modules."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    # torch has modules of its own whose file is a bare name: these are nobody's.
    inside = (f for f in files if f and f.endswith(".py") and os.path.isabs(f))
    root = target.root.rstrip(os.sep) + os.sep
    return tuple(sorted({f for f in inside if f.startswith(root) and frames.rank_of_file(f) == frames.PROJECT}))
