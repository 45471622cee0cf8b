"""What isn't a failed operation: targets without a trace, runs that ended, warnings, silent faults."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shapelint.checks.trail import trail
from shapelint.checks.view import View, values_of
from shapelint.checks.words import apart, spoken, spread, squared
from shapelint.findings import Location, Region
from shapelint.records import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.findings import Finding
    from shapelint.records import CaseReport, TensorSpec

_FAILED = {
    "import": ("import-failed", "{target} can't be imported: {error}: {message}."),
    "attribute": ("import-failed", "{target} isn't there: {message}."),
    "not-a-model": ("construction-failed", "{target} is no model: {message}."),
    "construction": ("construction-failed", "{target} can't be built: {error}: {message}."),
    "inputs": ("inputs-mismatch", "The inputs don't fit {target}: {message}."),
    "no-torch": ("trace-crashed", "{message}"),
    "crash": ("trace-crashed", "{message}"),
}


def target_failed(view: View) -> Iterator[Finding]:
    """SL001 to SL004: why a target has no trace; a constructor's own check is `rejected-input`."""
    failure = view.report.failure
    if failure is None:
        return
    rule, text = _FAILED.get(failure.kind, ("trace-crashed", "{target} could not be traced: {error}: {message}."))
    message = failure.message.split("\n")[0].rstrip(". ")
    if failure.kind == "construction" and failure.error == "AssertionError":
        rule = "rejected-input"
    if failure.kind == "construction" and "num_groups" in failure.message:
        rule = "channel-count"
    broken = re.search(r" \(((?:/|[A-Za-z]:).+):\d+\)$", message) if failure.error == "SyntaxError" else None
    error = view.sources.load(broken[1]).error if broken else None
    if broken and error is not None:
        place = Location(broken[1], Region(error.line, error.column, error.line, error.column + 1))
        yield view.finding("syntax-error", error.message, place)
        return
    said = text.format(target=view.target.target, error=failure.error, message=message)
    yield view.finding(rule, said, view.place(failure.stack), related=view.callers(failure.stack))


def warned(view: View, case: CaseReport) -> Iterator[Finding]:
    """SL302, and SL403 for a loss that warns of its target's size."""
    for warning in case.warnings:
        if warning.runs and warning.runs[0] >= case.probes:
            continue
        said = f"{warning.category}: {_first_line(warning.message)}"
        if "target size" not in warning.message.lower():
            yield view.finding("emitted-warning", said, view.place(warning.stack), related=view.callers(warning.stack))
            continue
        op = next((one for one in case.ops if one.stack == warning.stack and "oss" in one.target), None)
        if op is not None and op.failures:
            continue  # what follows from the same shapes is told as the fault that it is
        words = spread(view, case, op) if op is not None else ""
        yield view.finding(
            "outer-broadcast",
            words or said,
            view.place(warning.stack),
            related=view.callers(warning.stack),
            notes=(said,) if words else (),
            trail=trail(view, case, op, op.runs) if op is not None else (),
        )


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "(no message)")


# In place, a vector and a column don't broadcast: torch refuses.
_PAIRWISE = frozenset(
    (
        *("add", "sub", "mul", "div", "rsub", "pow", "true_divide", "__rsub__", "__rtruediv__", "__rpow__"),
        *("gt", "lt", "ge", "le", "eq", "ne", "maximum", "minimum"),
    )
)


def silent(view: View, case: CaseReport) -> Iterator[Finding]:
    """Shapes that run and are wrong: SL403, SL111; and what could not be computed, SL301."""
    for op in case.ops:
        short = op.target.rsplit(".", 1)[-1]
        for note in op.notes:
            if note.kind == "device":
                yield view.finding(
                    "device-mismatch",
                    apart(view, case, op, note),
                    view.place(op.stack, short),
                    related=view.related(case, op),
                )
            elif note.kind == "unknown":
                yield view.finding(
                    "unknown-shape",
                    f"The shape of what {spoken(view, case, op)} returns could not be computed"
                    f"{f' ({note.text})' if note.text else ''}: what hangs on it alone was not checked.",
                    view.place(op.stack, short),
                )
        if short in _PAIRWISE and op.outputs and not op.failures:
            values = values_of(op)
            shapes = sorted(view.shape(case, value) for value in values[:2])
            names = {name for name, _ in case.assignments[0]} & set(view.target.batch)
            for name in names:
                if shapes == [f"[{name}, 1]", f"[{name}]"]:
                    yield view.finding(
                        "outer-broadcast",
                        squared(view, case, op) or f"{short} of [{name}] with [{name}, 1] gives [{name}, {name}].",
                        view.place(op.stack, short),
                        related=view.callers(op.stack),
                        trail=trail(view, case, op, op.runs),
                    )


def outputs_differ(view: View, case: CaseReport, outputs: tuple[TensorSpec, ...] | None) -> Iterator[Finding]:
    """SL405: another number of tensors than declared, or another dtype."""
    stopped = any(ending.run < case.probes for ending in case.endings)
    if outputs is None or stopped or view.report.failure is not None:
        return
    if len(outputs) != len(case.outputs):
        yield view.finding(
            "output-mismatch",
            f"{view.target.target} returns {len(case.outputs)} tensors, declared are {len(outputs)}.",
            view.definition(),
        )
        return
    for spec, (path, value) in zip(outputs, case.outputs):
        record = case.values[value]
        if record.dtype != spec.dtype or not all(
            _fits(spec, shape, dict(case.assignments[run]))
            for run, shape in enumerate(record.shapes[: case.probes])
            if shape is not None
        ):
            yield view.finding(
                "output-mismatch",
                f"Output {path or '0'} is {record.dtype}{view.shape(case, value)}, declared is "
                f"{spec.dtype}[{', '.join(map(str, spec.dims))}].",
                view.definition(),
            )


def _fits(spec: TensorSpec, shape: tuple[int, ...], sizes: dict[str, int]) -> bool:
    """Whether a shape is the declared one under these sizes; ``?`` is any size, and so is a name without one."""
    if len(shape) != len(spec.dims):
        return False
    for dim, got in zip(spec.dims, shape):
        if dim == "?":
            continue
        try:
            if size(dim, sizes) != got:
                return False
        except KeyError:
            continue
    return True
