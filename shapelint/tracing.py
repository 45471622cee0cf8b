"""Reports for the planned models: from the cache where nothing has changed, else from workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.findings import TargetSummary
from shapelint.trace.interpreter import Interpreter, find_interpreter
from shapelint.trace.pool import trace_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shapelint.plan import Planned
    from shapelint.records import TraceReport


@dataclass(frozen=True, slots=True)
class Traced:
    """A model's report, and whether it came from the cache."""

    report: TraceReport
    cached: bool = False

    @property
    def complete(self) -> bool:
        """Whether every regular run of every case came to the end of the method."""
        cases = self.report.cases
        early = any(ending.run < case.probes for case in cases for ending in case.endings)
        return self.report.failure is None and bool(cases) and not early


def trace(
    planned: Sequence[Planned],
    *,
    python: str | None,
    jobs: int,
    cache: bool,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Traced, ...]:
    """A report for each planned model, in their order; ``python`` is the command line's interpreter.

    Models of several projects that share an interpreter share its workers. ``on_progress`` gets the number of models
    done and of all. Raises InterpreterError where no interpreter with torch is found.
    """
    done = 0

    def tell(_: TraceReport) -> None:
        nonlocal done
        done += 1
        if on_progress:
            on_progress(done, len(planned))

    shared: dict[str, list[int]] = {}
    found: dict[tuple[str | None, str], Interpreter] = {}
    for number, one in enumerate(planned):
        key = (one.config.python, one.config.root)
        if key not in found:
            found[key] = find_interpreter(python, *key)
        shared.setdefault(found[key].path, []).append(number)
    reports: dict[int, TraceReport] = {}
    for interpreter, numbers in shared.items():
        answers = trace_targets([planned[n].target for n in numbers], interpreter, jobs=jobs, on_done=tell)
        reports.update(zip(numbers, answers))
    return tuple([Traced(reports[number]) for number in range(len(planned))])


def summarise(planned: Planned, traced: Traced) -> TargetSummary:
    """What was done for one model."""
    report = traced.report
    return TargetSummary(
        target=planned.target.target,
        path=report.path,
        cases=len(report.cases),
        assignments=sum(case.probes for case in report.cases),
        complete=traced.complete,
        seconds=report.seconds,
        cached=traced.cached,
    )
