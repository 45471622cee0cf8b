"""Forked processes under a time and a memory limit, and what comes of them: lines that they write, and their death.

Where ``os.fork`` is. No signal handlers and no threads: user code may have its own, in the very process that watches
over its siblings.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import select
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from shapelint.trace.crash import TAIL, Death

if TYPE_CHECKING:
    from collections.abc import Callable

_POLL = 0.05
"""Seconds between looks at a child that says nothing. Its pipe tells of most deaths at once, but a process that it left
behind may hold the pipe open; and its memory has to be looked at."""

_GRACE = 0.5
"""Seconds that faulthandler gets to write down where a process stood that is to be stopped."""

_CHUNK = 1 << 16
_LAST_READS = 64
"""Reads after a death: more than a pipe holds, and an end where a process that got away goes on writing."""

Key = TypeVar("Key")


@dataclass(slots=True, eq=False)
class Child(Generic[Key]):
    """A process at work for ``key``; its ``pid`` is also its process group. ``deadline`` is a time.monotonic()."""

    key: Key
    pid: int
    answers: int
    errors: int
    deadline: float
    memory: int
    stopped: str = ""
    buffer: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)


@dataclass(frozen=True, slots=True)
class Line(Generic[Key]):
    """A line a child wrote, with its end of line."""

    child: Child[Key]
    text: bytes


@dataclass(frozen=True, slots=True)
class Gone(Generic[Key]):
    """A child is dead, and all that was in its process group; every line it wrote has been handed over before."""

    child: Child[Key]
    death: Death


@dataclass(frozen=True, slots=True)
class Readable:
    """A descriptor of the caller's own can be read."""

    descriptor: int


class Children(Generic[Key]):
    """The children of this process. ``private`` are descriptors that none of them may inherit."""

    def __init__(self, private: tuple[int, ...] = ()) -> None:
        """None yet."""
        self._private = private
        self.alive: list[Child[Key]] = []

    def start(
        self, key: Key, work: Callable[[int], None], *, seconds: float, memory: int, private: tuple[int, ...] = ()
    ) -> Child[Key]:
        """A child that runs ``work`` with a descriptor to write lines to, and exits when it returns.

        It gets ``seconds`` (`Child.deadline` may be moved later) and ``memory`` bytes beyond what this process has.
        """
        answers, answers_out = os.pipe()
        errors, errors_out = os.pipe()
        resident, data = _memory("self")
        pid = os.fork()
        if pid == 0:
            siblings = [d for c in self.alive for d in (c.answers, c.errors) if d >= 0]
            foreign = (*self._private, *private, *siblings, answers, errors)
            _run(work, answers_out, errors_out, data + memory if data else 0, foreign)
        os.close(answers_out)
        os.close(errors_out)
        _own_group(pid)
        os.set_blocking(answers, False)
        os.set_blocking(errors, False)
        child = Child(key, pid, answers, errors, time.monotonic() + seconds, resident + memory if resident else 0)
        self.alive.append(child)
        return child

    def wait(self, watch: tuple[int, ...] = ()) -> list[Line[Key] | Gone[Key] | Readable]:
        """What has happened, after waiting for something or for `_POLL` seconds (without children: for something)."""
        poll = select.poll()
        for descriptor in watch:
            poll.register(descriptor, select.POLLIN)
        for child in self.alive:
            for descriptor in (child.answers, child.errors):
                if descriptor >= 0:
                    poll.register(descriptor, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(_POLL * 1000 if self.alive else None)}
        events: list[Line[Key] | Gone[Key] | Readable] = [Readable(d) for d in watch if d in ready]
        for child in list(self.alive):
            if child.errors in ready:
                self._read_errors(child)
            if child.answers in ready:
                events += self._read_lines(child)
            events += self._look_at(child)
        return events

    def stop(self) -> None:
        """Kill all of them, with all that they started."""
        for child in self.alive:
            kill_group(child.pid)
        for child in self.alive:
            _reap(child.pid, 0)
        self.alive = []

    def _look_at(self, child: Child[Key]) -> list[Line[Key] | Gone[Key] | Readable]:
        status = _reap(child.pid, os.WNOHANG)
        if status is not None:
            return self._bury(child, status)
        now = time.monotonic()
        if child.stopped:
            if now > child.deadline:
                kill_group(child.pid)
        elif now > child.deadline:
            self._halt(child, "timeout", signal.SIGABRT)
        elif child.memory and _memory(str(child.pid))[0] > child.memory:
            self._halt(child, "memory", signal.SIGABRT)
        return []

    def _halt(self, child: Child[Key], cause: str, number: signal.Signals) -> None:
        child.stopped = cause
        child.deadline = time.monotonic() + _GRACE
        try:
            os.kill(child.pid, number)
        except ProcessLookupError:
            return  # it ended in this moment: the next look finds out how

    def _bury(self, child: Child[Key], status: int) -> list[Line[Key] | Gone[Key] | Readable]:
        kill_group(child.pid)
        events: list[Line[Key] | Gone[Key] | Readable] = []
        for _ in range(_LAST_READS):
            if child.errors < 0 or not self._read_errors(child):
                break
        for _ in range(_LAST_READS):
            if child.answers < 0:
                break
            before = len(child.buffer)
            lines = self._read_lines(child)
            if not lines and len(child.buffer) == before:
                break
            events += lines
        for descriptor in (child.answers, child.errors):
            if descriptor >= 0:
                os.close(descriptor)
        self.alive.remove(child)
        tail = child.tail.decode("utf-8", "replace")
        if child.stopped:
            death = Death(child.stopped, 0, tail)
        elif os.WIFSIGNALED(status):
            death = Death("signal", os.WTERMSIG(status), tail)
        else:
            death = Death("exit", os.WEXITSTATUS(status), tail)
        return [*events, Gone(child, death)]

    def _read_lines(self, child: Child[Key]) -> list[Line[Key] | Gone[Key] | Readable]:
        data = _read(child.answers)
        if data is None:
            os.close(child.answers)
            child.answers = -1
            return []
        if b"\n" not in data:
            child.buffer += data
            return []
        lines = (bytes(child.buffer) + data).split(b"\n")
        child.buffer = bytearray(lines.pop())
        return [Line(child, line + b"\n") for line in lines]

    def _read_errors(self, child: Child[Key]) -> bool:
        data = _read(child.errors)
        if data is None:
            os.close(child.errors)
            child.errors = -1
            return False
        child.tail += data
        del child.tail[:-TAIL]
        return bool(data)


def write(descriptor: int, data: bytes) -> None:
    """Write all of it, however long the pipe takes. Raises BrokenPipeError when nobody reads it any more."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def kill_group(pid: int) -> None:
    """Kill every process of the group that ``pid`` leads, if any is left."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left; macOS says "not permitted" of a group of zombies


def _run(work: Callable[[int], None], answers: int, errors: int, data_limit: int, foreign: tuple[int, ...]) -> NoReturn:
    """Be the child: run ``work`` and exit, whatever happens. Nothing may ever return into the parent's program."""
    status = 1
    try:
        os.setpgid(0, 0)
        _die_with_parent()
        os.dup2(errors, 2)
        for descriptor in (*foreign, errors):
            os.close(descriptor)
        # What user code forks can't answer in this process's place, even if it comes back here.
        os.register_at_fork(after_in_child=lambda: _close(answers))
        faulthandler.enable(file=2, all_threads=False)
        if data_limit:
            _limit_data(data_limit)
        work(answers)
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001  # the last edge: user code's KeyboardInterrupt must not reach the parent's program
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(status & 0xFF)


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        return  # user code has closed it


def _die_with_parent() -> None:
    """On Linux, no child stays behind when the worker is killed. Elsewhere the front end kills those it was told of."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _limit_data(limit: int) -> None:
    import resource  # noqa: PLC0415  # not on every platform

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _own_group(pid: int) -> None:
    # The child does it too: whoever comes first, it is done before either side relies on it.
    try:
        os.setpgid(pid, pid)
    except (ProcessLookupError, PermissionError):
        return  # it has done so itself, or is dead already


def _reap(pid: int, options: int) -> int | None:
    try:
        found, status = os.waitpid(pid, options)
    except ChildProcessError:
        return 0  # user code set SIGCHLD to be ignored: the system has reaped it
    return status if found else None


def _read(descriptor: int) -> bytes | None:
    """What is there (b"" if nothing is yet), or None at the end."""
    try:
        return os.read(descriptor, _CHUNK) or None
    except BlockingIOError:
        return b""


def _memory(pid: str) -> tuple[int, int]:
    """Bytes of RAM that a process has, and bytes of private writable memory; (0, 0) where the system doesn't say."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
    except OSError:
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return int(fields[1]) * page, int(fields[5]) * page
