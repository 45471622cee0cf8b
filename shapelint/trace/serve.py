"""The worker's side of the pool: traces targets in forked children and answers lines.

A line is a word, a number and, behind them, JSON or another number. The front end sends
``run JOBS [[id, target], ...]``; the worker answers ``start ID GROUP`` (a process group is at work for a target),
``idle ID`` (none is, it waits its turn) and ``done ID REPORT``. When the front end closes its end, everything ends.

The targets of one module share a child that imports it once and forks again for each of them, so that a heavy import is
paid for once and the crash of one model touches no other.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from shapelint.codec import decode, encode
from shapelint.records import TargetFailure, TraceReport, TraceTarget
from shapelint.trace import crash
from shapelint.trace.children import Child, Children, Gone, Line, Readable, kill_group, write

if TYPE_CHECKING:
    from collections.abc import Iterable

_SLACK = 5.0
"""Seconds beyond the time limit of its targets after which a child that watches over them is taken to hang."""


class Session(Protocol):
    """What traces: `shapelint.trace.session`, or what a test puts in its place."""

    def load(self, target: TraceTarget) -> Any:
        """The target's module, imported; or a TraceReport that says why it can't be."""
        ...

    def trace(self, target: TraceTarget, loaded: Any) -> TraceReport:
        """The report of a target, from what `load` returned."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """A target and the number the front end knows it by."""

    id: int
    target: TraceTarget


@dataclass(slots=True, eq=False)
class Group:
    """Jobs of one module. ``slots`` of them may run at a time; ``control`` is where its child reads that number.

    ``held`` are answers that wait for their process to be gone with all that it started: after the last answer, the
    front end may kill the worker at once.
    """

    jobs: tuple[Job, ...]
    loaded: bool = False
    slots: int = 1
    control: int = -1
    running: dict[int, int] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    held: list[bytes] = field(default_factory=list)

    @property
    def missing(self) -> tuple[Job, ...]:
        """The jobs without an answer."""
        return tuple(job for job in self.jobs if job.id not in self.done)


def serve(session: Session, commands: int, answers: int) -> None:
    """Answer what comes in on ``commands`` until it is closed; then nothing of this is left alive."""
    root = _Root(session, commands, answers)
    try:
        while root.step():
            pass
    except BrokenPipeError:
        return  # the front end was killed: nobody wants the rest
    finally:
        root.stop()


def answer(job: Job, report: TraceReport) -> bytes:
    """The line that carries a report."""
    text = json.dumps(encode(report), separators=(",", ":"), default=repr)
    return b"done %d %s\n" % (job.id, text.encode("ascii"))


class _Root:
    def __init__(self, session: Session, commands: int, answers: int) -> None:
        self._session = session
        self._commands = commands
        self._answers = answers
        self._input = bytearray()
        self._waiting: deque[Group] = deque()
        self._children: Children[Group] = Children((commands, answers))
        self._jobs = 1

    def step(self) -> bool:
        """Handle what has happened; False when the front end has closed its end."""
        for event in self._children.wait((self._commands,)):
            if isinstance(event, Readable):
                if not self._read_commands():
                    return False
            elif isinstance(event, Line):
                self._on_line(event.child, event.text)
            else:
                self._on_gone(event)
        self._fill()
        return True

    def stop(self) -> None:
        for child in self._children.alive:
            for pid in child.key.running.values():
                kill_group(pid)
        self._children.stop()

    def _read_commands(self) -> bool:
        data = os.read(self._commands, 1 << 16)
        self._input += data
        while b"\n" in self._input:
            line, _, self._input = self._input.partition(b"\n")
            _, jobs, text = bytes(line).split(b" ", 2)
            self._jobs = max(1, int(jobs))
            self._waiting += _groups(Job(i, decode(TraceTarget, t)) for i, t in json.loads(text))
        return bool(data)

    # ------------------------------------------------------------------------------------------ who may run

    def _fill(self) -> None:
        alive = self._children.alive
        for child in alive:
            child.key.slots = min(child.key.slots, max(1, len(child.key.missing)))
        free = self._jobs - sum(child.key.slots for child in alive)
        while free > 0 and self._waiting:
            self._start(self._waiting.popleft())
            free -= 1
        for child in alive:
            group = child.key
            more = min(free, len(group.missing) - group.slots)
            if more > 0:
                free -= more
                group.slots += more
                self._tell_slots(group)

    def _tell_slots(self, group: Group) -> None:
        if group.control >= 0:
            try:
                write(group.control, b"%d\n" % group.slots)
            except BrokenPipeError:
                return  # it has just died, which the next step sees

    def _start(self, group: Group) -> None:
        control, group.control = os.pipe()
        first = group.jobs[0].target
        others = tuple(c.key.control for c in self._children.alive if c.key.control >= 0)
        child = self._children.start(
            group,
            lambda out: run_group(self._session, group.jobs, control, out),
            seconds=first.timeout,
            memory=first.memory,
            private=(*others, group.control),
        )
        os.close(control)
        for job in group.jobs:
            group.running[job.id] = child.pid
            write(self._answers, b"start %d %d\n" % (job.id, child.pid))

    # ------------------------------------------------------------------------------------------- what comes back

    def _on_line(self, child: Child[Group], line: bytes) -> None:
        group = child.key
        word, number, rest = line.split(b" ", 2)
        limit = max(job.target.timeout for job in group.jobs)
        if word == b"loaded":
            group.loaded = True
            if len(group.jobs) > 1:
                self._idle(group, group.jobs)
        elif word == b"alone":
            others = group.jobs[1:]
            self._idle(group, others)
            self._waiting.extend(Group((job,)) for job in others)
            group.jobs = group.jobs[:1]
        elif word == b"start":
            group.running[int(number)] = int(rest)
            write(self._answers, line)
        elif word == b"done":
            group.done.add(int(number))
            if group.loaded and len(group.jobs) > 1:
                group.running.pop(int(number), None)
                write(self._answers, line)
            else:
                group.held.append(line)
        if not child.stopped:
            child.deadline = time.monotonic() + limit + (_SLACK if len(group.jobs) > 1 else 0)

    def _idle(self, group: Group, jobs: tuple[Job, ...]) -> None:
        for job in jobs:
            group.running.pop(job.id, None)
            write(self._answers, b"idle %d\n" % job.id)

    def _on_gone(self, event: Gone[Group]) -> None:
        group = event.child.key
        os.close(group.control)
        group.control = -1
        for pid in group.running.values():
            kill_group(pid)
        for line in group.held:
            write(self._answers, line)
        missing = group.missing
        if not group.loaded or len(group.jobs) == 1:
            for job in missing:
                report = crash.report(job.target, event.death, importing=not group.loaded)
                write(self._answers, answer(job, report))
            return
        # The child that watched over several targets is gone before they were: whoever did that is tried alone.
        suspects = [job for job in missing if job.id in group.running]
        rest = tuple(job for job in missing if job.id not in group.running)
        alone = suspects if suspects or group.done else missing
        self._waiting.extend(Group((job,)) for job in alone)
        if rest and alone is not missing:
            self._waiting.append(Group(rest))


def _groups(jobs: Iterable[Job]) -> list[Group]:
    by_module: dict[tuple[str, str, tuple[str, ...]], list[Job]] = {}
    for job in jobs:
        target = job.target
        by_module.setdefault((target.target.partition(":")[0], target.root, target.src), []).append(job)
    return [Group(tuple(group)) for group in by_module.values()]


# ------------------------------------------------------------------------------------------------- in the children


def run_group(session: Session, jobs: tuple[Job, ...], control: int, out: int) -> None:
    """Import the module that the jobs share, and trace each of them. Runs in a child of the worker."""
    first = jobs[0]
    try:
        loaded = session.load(first.target)
    except MemoryError:
        loaded = _exhausted(first.target, importing=True)
    if isinstance(loaded, TraceReport):
        for job in jobs:
            write(
                out, answer(job, _blame_memory(job.target, replace(loaded, target=job.target.target), importing=True))
            )
        return
    alone = len(jobs) > 1 and _has_threads()
    if alone:
        # A process with threads can't be forked safely: this one is used for one target, each of the rest gets its own.
        write(out, b"alone 0 \n")
    write(out, b"loaded 0 \n")
    if alone or len(jobs) == 1:
        write(out, answer(first, run_one(session, first.target, loaded)))
    else:
        _run_each(session, jobs, loaded, control, out)


def run_one(session: Session, target: TraceTarget, loaded: Any) -> TraceReport:
    """The report of one target, with lack of memory told as what it is."""
    started = time.perf_counter()
    try:
        report = session.trace(target, loaded)
    except MemoryError:
        report = _exhausted(target, importing=False)
    except Exception as error:  # noqa: BLE001  # a fault of ours costs this model, and is told as ours
        report = TraceReport(target.target, failure=TargetFailure("crash", "internal", crash.internal(target, error)))
    report = _blame_memory(target, report, importing=False)
    return report if report.seconds else replace(report, seconds=time.perf_counter() - started)


def _run_each(session: Session, jobs: tuple[Job, ...], loaded: Any, control: int, out: int) -> None:
    children: Children[Job] = Children((control,))
    waiting, slots = deque(jobs), 1
    held: dict[int, bytes] = {}
    while waiting or children.alive:
        while waiting and len(children.alive) < slots:
            job = waiting.popleft()
            child = children.start(
                job,
                lambda pipe, job=job: write(pipe, answer(job, run_one(session, job.target, loaded))),  # type: ignore[misc]
                seconds=job.target.timeout,
                memory=job.target.memory,
            )
            write(out, b"start %d %d\n" % (job.id, child.pid))
        for event in children.wait((control,)):
            if isinstance(event, Readable):
                told = os.read(control, 1 << 12).split()
                if not told:
                    children.stop()  # the worker is gone
                    return
                slots = int(told[-1])
            elif isinstance(event, Line):
                held[event.child.key.id] = event.text
            else:
                job = event.child.key
                crashed = answer(job, crash.report(job.target, event.death, importing=False))
                write(out, held.pop(job.id, crashed))


def _has_threads() -> bool:
    try:
        return len(os.listdir("/proc/self/task")) > 1
    except OSError:
        return threading.active_count() > 1


def _exhausted(target: TraceTarget, *, importing: bool) -> TraceReport:
    failure = TargetFailure("crash", "memory", crash.exhausted(target, importing=importing))
    return TraceReport(target.target, failure=failure)


def _blame_memory(target: TraceTarget, report: TraceReport, *, importing: bool) -> TraceReport:
    """The same report, but that a failure for want of memory is a crash at the line that asked for it."""
    failure = report.failure
    if failure is None or not (failure.error == "MemoryError" or "can't allocate memory" in failure.message):
        return report
    message = f"{crash.exhausted(target, importing=importing)}\n{failure.message}"
    return replace(report, failure=replace(failure, kind="crash", error="memory", message=message))
