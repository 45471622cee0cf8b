"""How a process came to its end, as a `TraceReport`: what a user reads of a crash, a time-out, a lack of memory.

Used on both sides of the pipe: the worker speaks for its children, the front end for a worker that is gone.
"""

from __future__ import annotations

import os
import re
import signal
import traceback
from dataclasses import dataclass, replace

from shapelint.records import Frame, TargetFailure, TraceReport, TraceTarget

TAIL = 16 << 10
"""Bytes of stderr that are kept of a process: enough for what faulthandler writes, and a few lines before it."""

_LINES, _WIDTH = 5, 200
_FATAL = re.compile(r"^Fatal Python error: .*$", re.MULTILINE)
_PLACE = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_NAMES = {
    "SIGSEGV": "a segmentation fault (SIGSEGV)",
    "SIGBUS": "a bus error (SIGBUS)",
    "SIGFPE": "an arithmetic fault (SIGFPE)",
    "SIGILL": "an illegal instruction (SIGILL)",
    "SIGABRT": "an abort (SIGABRT)",
    "SIGKILL": "SIGKILL, which the system sends when memory runs out,",
}


@dataclass(frozen=True, slots=True)
class Death:
    """How a process ended.

    ``cause`` is ``exit`` (``status`` is its exit status), ``signal`` (its number), ``timeout`` or ``memory`` (it was
    stopped for that). ``tail`` is the end of what it wrote to stderr.
    """

    cause: str
    status: int = 0
    tail: str = ""


def report(target: TraceTarget, death: Death, *, importing: bool) -> TraceReport:
    """The report of a target whose process died of ``death``, while its module was imported or after that.

    Its frames are those that faulthandler found at work in the project, so that the crash can be shown at its line.
    """
    words, frames = _read(death.tail, target)
    cause = "memory" if death.cause != "timeout" and "std::bad_alloc" in words else death.cause
    message = _sentence(target, replace(death, cause=cause), importing=importing)
    last = [line[:_WIDTH] for line in words.splitlines() if line.strip()][-_LINES:]
    if last:
        message += "\nIt last wrote to stderr:\n" + "\n".join("  " + line.rstrip() for line in last)
    failure = TargetFailure("crash", cause, message, tuple(range(len(frames))))
    return TraceReport(target.target, failure=failure, frames=frames)


def exhausted(target: TraceTarget, *, importing: bool) -> str:
    """The sentence for a model that met the memory limit."""
    return _sentence(target, Death("memory"), importing=importing)


def internal(target: TraceTarget, error: BaseException) -> str:
    """The sentence for a model at which the tracer itself failed, with the place."""
    here = os.path.dirname(os.path.abspath(__file__))
    last = [step for step in traceback.extract_tb(error.__traceback__) if step.filename.startswith(here)][-1]
    return (
        f"tracing {target.target} met a fault of the tracer's own, which we would like to hear of: {type(error).__name__}: "
        f"{error} ({os.path.basename(last.filename)}:{last.lineno})."
    )


def _sentence(target: TraceTarget, death: Death, *, importing: bool) -> str:
    doing = f"importing {target.target.partition(':')[0]}" if importing else f"tracing {target.target}"
    if death.cause == "timeout":
        return f"{doing} took longer than {target.timeout:g} s and was stopped."
    if death.cause == "memory":
        return f"{doing} needed more than {_size(target.memory)} of memory."
    if death.cause == "signal":
        return f"{_signal(death.status)} ended the process that was {doing}."
    return f"the process that was {doing} exited with status {death.status} before it was done."


def _signal(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return _NAMES.get(name, name)


def _size(count: int) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.4g} {unit}"
    return f"{count} bytes"


def _read(tail: str, target: TraceTarget) -> tuple[str, tuple[Frame, ...]]:
    """What the process itself wrote, and the project's frames of faulthandler's dump, outermost first."""
    found = list(_FATAL.finditer(tail))
    if not found:
        return tail, ()
    frames: list[Frame] = []
    for line in tail[found[-1].end() :].lstrip("\n").splitlines()[1:]:
        place = _PLACE.match(line)
        if place is None:
            break
        path, number, function = place.groups()
        path = _ESCAPE.sub(lambda m: chr(int(m[1] or m[2] or m[3], 16)), path)
        if _in_project(path, target):
            frames.append(Frame(path, function, int(number)))
    return tail[: found[-1].start()], tuple(reversed(frames))


def _in_project(path: str, target: TraceTarget) -> bool:
    if "site-packages" in path or "dist-packages" in path:
        return False
    return any(path.startswith(os.path.join(folder, "")) for folder in (target.root, *target.src))
