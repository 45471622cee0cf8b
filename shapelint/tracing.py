"""Reports for the planned models: from workers that import torch while the front end still reads files."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.findings import TargetSummary
from shapelint.projects import git_root, upwards
from shapelint.trace.interpreter import Interpreter, find_interpreter
from shapelint.trace.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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


@dataclass(frozen=True, slots=True)
class Workers:
    """Workers at work: the pool and the models (by number) of each interpreter."""

    planned: Sequence[Planned]
    shared: tuple[tuple[Pool, tuple[int, ...]], ...]

    def trace(self, on_progress: Callable[[int, int], None] | None = None) -> tuple[Traced, ...]:
        """A report for each planned model, in their order; ``on_progress`` gets how many are done, of how many."""
        reports: dict[int, TraceReport] = {}
        done = 0

        def tell(_: TraceReport) -> None:
            nonlocal done
            done += 1
            if on_progress:
                on_progress(done, len(self.planned))

        for pool, numbers in self.shared:
            answers = pool.trace([self.planned[number].target for number in numbers], tell)
            reports.update(zip(numbers, answers))
        return tuple([Traced(reports[number]) for number in range(len(self.planned))])


@contextmanager
def workers(planned: Sequence[Planned], *, python: str | None, jobs: int) -> Iterator[Workers]:
    """A worker for each interpreter that the planned models need, started at once and ended with the context.

    ``python`` is the command line's interpreter, ``jobs`` how many models are traced at a time. Models of projects
    that share an interpreter share its worker. Raises InterpreterError where none with torch is found.
    """
    numbers: dict[str, list[int]] = {}
    found: dict[tuple[str | None, str], Interpreter] = {}
    for number, one in enumerate(planned):
        key = configured, root = (one.config.python, one.config.root)
        if key not in found:
            found[key] = find_interpreter(python, configured, root if configured else _home(root))
        numbers.setdefault(found[key].path, []).append(number)
    with ExitStack() as stack:
        pools = [(stack.enter_context(Pool(path, jobs=jobs)), tuple(own)) for path, own in numbers.items()]
        yield Workers(planned, tuple(pools))


def _home(root: str) -> str:
    """The folder whose environment a project uses: its own, else the closest above it within the repository."""
    top = git_root(root)
    for folder in upwards(root):
        if any(os.path.isdir(os.path.join(folder, name)) for name in (".venv", "venv")):
            return folder
        if folder == top or not top:
            break
    return root


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
