"""Reports for the planned models: from workers that import torch while the front end still reads files."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.findings import TargetSummary
from shapelint.projects import git_root, upwards
from shapelint.trace.cache import interpreters_file, load, prune, store
from shapelint.trace.interpreter import Interpreter, find_interpreter
from shapelint.trace.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
    """Workers at work: ``shared`` has the pool and the models (by number) of each interpreter, ``known`` old reports.

    Without ``cache`` nothing is kept.
    """

    planned: Sequence[Planned]
    shared: tuple[tuple[Interpreter, Pool, tuple[int, ...]], ...]
    known: Mapping[int, TraceReport]
    cache: bool

    def trace(self, on_progress: Callable[[int, int], None] | None = None) -> tuple[Traced, ...]:
        """A report for each planned model, in their order; ``on_progress`` gets how many are done, of how many."""
        reports: dict[int, TraceReport] = {}
        done = len(self.known)

        def tell(_: TraceReport) -> None:
            nonlocal done
            done += 1
            if on_progress:
                on_progress(done, len(self.planned))

        for interpreter, pool, numbers in self.shared:
            started_ns = time.time_ns()
            answers = pool.trace([self.planned[number].target for number in numbers], tell)
            reports.update(zip(numbers, answers))
            if self.cache:
                for number in numbers:
                    store(self.planned[number].target, interpreter, reports[number], started_ns=started_ns)
        if self.cache:
            for root in {self.planned[number].target.root for number in reports}:
                prune(root)
        return tuple(
            [
                Traced(self.known[number], cached=True) if number in self.known else Traced(reports[number])
                for number in range(len(self.planned))
            ]
        )


class Pools:
    """Workers that outlive a run, one pool for each interpreter. A context manager: they end with it."""

    def __init__(self) -> None:
        """No worker is started yet."""
        self._pools: dict[tuple[str, int], Pool] = {}

    def __enter__(self) -> Pools:  # noqa: PYI034  # typing.Self is newer than Python 3.10
        """The pools."""
        return self

    def __exit__(self, *error: object) -> None:
        """Kill everything."""
        for pool in self._pools.values():
            pool.close()

    def get(self, python: str, jobs: int) -> Pool:
        """The pool of an interpreter."""
        key = (python, jobs)
        if key not in self._pools:
            self._pools[key] = Pool(python, jobs=jobs)
        return self._pools[key]


@contextmanager
def workers(
    planned: Sequence[Planned], *, python: str | None, jobs: int, cache: bool, pools: Pools | None = None
) -> Iterator[Workers]:
    """A worker for each interpreter that the planned models need, started at once and ended with the context.

    With ``pools`` they are those kept there, and stay.

    ``python`` is the command line's interpreter, ``jobs`` how many models are traced at a time. Models of projects that
    share an interpreter share its worker; with ``cache``, one whose files have not changed needs none. Raises
    InterpreterError where no interpreter with torch is found.
    """
    known: dict[int, TraceReport] = {}
    waiting: dict[Interpreter, list[int]] = {}
    found: dict[tuple[str | None, str], Interpreter] = {}
    for number, one in enumerate(planned):
        key = configured, root = (one.config.python, one.config.root)
        if key not in found:
            home = root if configured else _home(root)
            found[key] = find_interpreter(python, configured, home, remember=interpreters_file(root) if cache else None)
        report = load(one.target, found[key]) if cache else None
        if report is None:
            waiting.setdefault(found[key], []).append(number)
        else:
            known[number] = report
    with ExitStack() as stack:
        kept = pools or stack.enter_context(Pools())
        shared = [(one, kept.get(one.path, jobs), tuple(numbers)) for one, numbers in waiting.items()]
        yield Workers(planned, tuple(shared), known, cache)


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
