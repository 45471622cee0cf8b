"""The front end's side of the pool: starts a worker under the project's interpreter, gets a report for each target.

Whatever happens to the worker, each target gets its report: what it died of is a report too. `shapelint.trace.serve` is
the other side, and says what goes through the pipes.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.codec import decode, encode
from shapelint.records import TargetFailure, TraceReport, TraceTarget
from shapelint.trace import crash
from shapelint.trace.spawn import trace_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
_CHUNK = 1 << 16
_LAST_WORDS = 1.0
"""Seconds that a worker gets to be dead after the end of its answers."""


def trace_targets(
    targets: Sequence[TraceTarget],
    python: str,
    *,
    jobs: int | None = None,
    on_done: Callable[[TraceReport], None] | None = None,
) -> tuple[TraceReport, ...]:
    """A report for each target, in their order, from a worker under ``python`` (the path of an interpreter).

    ``jobs`` models are traced at a time (None: as many as there are cores). ``on_done`` gets each report as it comes.
    """
    if not targets:
        return ()
    with Pool(python, jobs=jobs) as pool:
        return pool.trace(targets, on_done)


def cores() -> int:
    """The number of cores this process may use, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Pool:
    """A worker that starts to import torch at once, so that it is ready when the targets are known.

    A context manager: at its end, and on any exception in `trace` (Ctrl-C too), all its processes are killed.
    ``program`` is what runs as the worker, ``forks`` says whether the platform can fork; without that, each target gets
    a process of its own, and no memory limit.
    """

    def __init__(
        self, python: str, *, jobs: int | None = None, program: str = WORKER, forks: bool = hasattr(os, "fork")
    ) -> None:
        """Start the worker. Raises OSError where ``python`` can't be run."""
        self._command = (python, program)
        self._jobs = jobs or cores()
        self._forks = forks
        self._worker = _Worker(self._command) if forks else None

    def __enter__(self) -> Pool:  # noqa: PYI034  # typing.Self is newer than Python 3.10
        """The pool."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill everything."""
        self.close()

    def close(self) -> None:
        """Kill the worker and all it started. A later `trace` starts another."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def trace(
        self, targets: Sequence[TraceTarget], on_done: Callable[[TraceReport], None] | None = None
    ) -> tuple[TraceReport, ...]:
        """A report for each target, in their order, whatever comes of it. ``on_done`` gets each report as it comes."""
        reports: dict[int, TraceReport] = {}

        def take(number: int, report: TraceReport) -> None:
            reports[number] = report
            if on_done:
                on_done(report)

        if not self._forks:
            trace_apart(self._command, targets, self._jobs, take)
        elif targets:
            self._trace(targets, take)
        return tuple([reports[number] for number in range(len(targets))])

    def _trace(self, targets: Sequence[TraceTarget], take: Callable[[int, TraceReport], None]) -> None:
        waves = deque([tuple(range(len(targets)))])
        whole = False
        try:
            while waves:
                wave = waves.popleft()
                left = self._run([(number, targets[number]) for number in wave], take)
                if left is None:
                    continue
                if len(left.suspects) > 1 and len(wave) > 1:
                    # One of those that were at work has killed the worker. Each alone, it shows which.
                    waves.extend((number,) for number in left.suspects)
                    waves.append(left.others)
                elif left.suspects or not left.progress:
                    blamed = left.suspects or left.others
                    for number in blamed:
                        take(number, crash.report(targets[number], left.death, importing=False))
                    waves.append(left.others if left.suspects else ())
                else:
                    waves.append(left.others)
                while waves and not waves[-1]:
                    waves.pop()
            whole = True
        finally:
            if not whole:
                self.close()

    def _run(self, jobs: Sequence[tuple[int, TraceTarget]], take: Callable[[int, TraceReport], None]) -> _Left | None:
        """None when each job has got its report; else what is left of them after the worker's death."""
        worker = self._worker = self._worker or _Worker(self._command)
        worker.send(self._jobs, jobs)
        missing = dict(jobs)
        while missing:
            lines = worker.receive()
            if lines is None:
                break
            for word, number, rest in lines:
                if word == b"start":
                    worker.running[number] = int(rest)
                elif word == b"idle":
                    worker.running.pop(number, None)
                elif number in missing:
                    worker.running.pop(number, None)
                    take(number, _report(missing.pop(number), rest))
        if not missing:
            return None
        suspects = tuple(number for number in missing if number in worker.running)
        others = tuple(number for number in missing if number not in worker.running)
        self._worker = None
        return _Left(suspects, others, len(missing) < len(jobs), worker.death())


@dataclass(frozen=True, slots=True)
class _Left:
    """What a dead worker owes: the targets it was at work on and the others; whether it had answered any."""

    suspects: tuple[int, ...]
    others: tuple[int, ...]
    progress: bool
    death: crash.Death


class _Worker:
    """The worker's process and its pipes. ``running`` has the process group that is at work for a target's number."""

    def __init__(self, command: tuple[str, str]) -> None:
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        environment = {k: v for k, v in os.environ.items() if k != "__PYVENV_LAUNCHER__"}  # macOS: it names our own
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the interpreter that the user has chosen
                [*command, str(commands), str(answers)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(commands, answers),
                env=environment,
                start_new_session=True,  # Ctrl-C comes to us alone, and we kill it
            )
        except OSError:
            os.close(self._commands)
            os.close(self._answers)
            raise
        finally:
            os.close(commands)
            os.close(answers)
        assert self._process.stderr is not None  # noqa: S101  # for mypy: it is a pipe
        self._errors = self._process.stderr.fileno()
        self.running: dict[int, int] = {}
        self._output = b""
        self._input = bytearray()
        self._tail = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._answers, selectors.EVENT_READ)
        self._selector.register(self._errors, selectors.EVENT_READ)
        for descriptor in (self._commands, self._answers, self._errors):
            os.set_blocking(descriptor, False)

    def send(self, jobs: int, targets: Iterable[tuple[int, TraceTarget]]) -> None:
        """Have these targets sent, ``jobs`` of them to be traced at a time; `receive` does it."""
        text = json.dumps([[number, encode(target)] for number, target in targets])
        self._output += b"run %d %s\n" % (jobs, text.encode("ascii"))
        self._selector.register(self._commands, selectors.EVENT_WRITE)

    def receive(self) -> list[tuple[bytes, int, bytes]] | None:
        """The next lines (word, number, rest), after waiting for at least one; None when the worker is dead."""
        while True:
            ready = {key.fd for key, _ in self._selector.select()}
            if self._errors in ready:
                self._read_errors()
            if self._commands in ready:
                self._write()
            if self._answers in ready:
                data = _read(self._answers)
                if data is None:
                    return None
                if b"\n" in data:
                    lines = (bytes(self._input) + data).split(b"\n")
                    self._input = bytearray(lines.pop())
                    return [_split(line) for line in lines]
                self._input += data

    def death(self) -> crash.Death:
        """How it died, once `receive` has said so; with it goes all that it started."""
        try:
            self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            return self.kill()  # it has closed its pipe and lives on
        return self.kill()

    def kill(self) -> crash.Death:
        """Kill it with all it started, if it isn't dead already; how it died."""
        for group in (self._process.pid, *self.running.values()):
            _kill_group(group)
        status = self._process.wait()
        while self._read_errors():
            pass
        self._close()
        tail = self._tail.decode("utf-8", "replace")
        return crash.Death("exit", status, tail) if status >= 0 else crash.Death("signal", -status, tail)

    def _close(self) -> None:
        self._selector.close()
        os.close(self._commands)
        os.close(self._answers)
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _write(self) -> None:
        try:
            self._output = self._output[os.write(self._commands, self._output[:_CHUNK]) :]
        except BrokenPipeError:
            self._output = b""  # it is dead, as the end of its answers will tell
        if not self._output:
            self._selector.unregister(self._commands)

    def _read_errors(self) -> bool:
        data = _read(self._errors)
        if data is None:
            if self._errors in self._selector.get_map():
                self._selector.unregister(self._errors)
            return False
        self._tail += data
        del self._tail[: -crash.TAIL]
        return bool(data)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left in it; macOS says "not permitted" of a group of zombies


def _split(line: bytes) -> tuple[bytes, int, bytes]:
    word, number, rest = (line + b" ").split(b" ", 2)
    return word, int(number), rest


def _read(descriptor: int) -> bytes | None:
    """What is there (b"" if nothing is yet), or None at the end."""
    try:
        return os.read(descriptor, _CHUNK) or None
    except BlockingIOError:
        return b""


def _report(target: TraceTarget, data: bytes) -> TraceReport:
    try:
        return decode(TraceReport, json.loads(data))
    except ValueError as error:
        failure = TargetFailure(
            "crash", "exit", f"the answer of the process that traced {target.target} can't be read: {error}"
        )
        return TraceReport(target.target, failure=failure)
