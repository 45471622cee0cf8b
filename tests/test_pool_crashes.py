"""A model that takes its process down gets a report of it, and the models beside it get theirs."""

from __future__ import annotations

import fcntl
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest
from fake_worker import PROGRAM

from shapelint.records import TraceReport, TraceTarget
from shapelint.trace.pool import Pool

if TYPE_CHECKING:
    from pathlib import Path

MODELS = """
import ctypes, os, signal, sys, threading, time

def fine(text="fine"):
    return text

def leave():
    print("about to leave", file=sys.stderr)
    os._exit(3)

def sys_exit():
    sys.exit()

def interrupt():
    raise KeyboardInterrupt

def segfault():
    ctypes.string_at(0)

def kill_itself():
    os.kill(os.getpid(), signal.SIGKILL)

def endless():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        pass

def endless_deaf():
    signal.signal(signal.SIGABRT, signal.SIG_IGN)
    while True:
        pass

def endless_in_c():
    ctypes.PyDLL(None).sleep(60)  # holds the interpreter's lock

def ask_for_too_much():
    bytearray(100 << 30)

def grow():
    kept = []
    while True:
        kept.append(b"x" * (16 << 20))

def grow_shared():
    import mmap
    size = 1 << 30
    shared = mmap.mmap(-1, size)  # not the private memory that the system can limit
    for place in range(0, size, 4096):
        shared[place] = 1

def noise():
    for _ in range(20_000):
        print("x" * 100)
        print("y" * 100, file=sys.stderr)
    os._exit(4)

def kill_parent():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)

def large():
    return "x" * 5_000_000

def twice():
    if os.fork() == 0:
        return "the fork"
    time.sleep(0.2)
    return "the model"

def leave_behind(file):
    import fcntl
    held = open(file, "w")
    fcntl.flock(held, fcntl.LOCK_EX)
    if os.fork() == 0:
        time.sleep(60)  # the lock is held until this process is gone
    return "fine"
"""
LEAST = 64 << 20


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "single.py").write_text(MODELS)
    return tmp_path


def target(project: Path, name: str, *, module: str = "models", timeout: float = 20.0, **kwargs: object) -> TraceTarget:
    folder = str(project)
    return TraceTarget(
        f"{module}:{name}", folder, (folder,), (), kwargs=tuple(kwargs.items()), timeout=timeout, memory=4 * LEAST
    )


def trace(targets: list[TraceTarget], jobs: int = 2) -> tuple[TraceReport, ...]:
    with Pool(sys.executable, jobs=jobs, program=PROGRAM) as pool:
        return pool.trace(targets)


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(MODELS.split("\n"), 1) if text in line)


CRASHES = [
    ("leave", "exit", "exited with status 3 before it was done"),
    ("sys_exit", "exit", "exited with status 0 before it was done"),
    ("interrupt", "exit", "exited with status 1 before it was done"),
    ("segfault", "signal", "a segmentation fault (SIGSEGV) ended the process"),
    ("kill_itself", "signal", "SIGKILL, which the system sends when memory runs out, ended the process"),
    ("endless", "timeout", "took longer than 0.5 s and was stopped"),
    ("endless_deaf", "timeout", "took longer than 0.5 s and was stopped"),
    ("endless_in_c", "timeout", "took longer than 0.5 s and was stopped"),
    ("ask_for_too_much", "memory", "needed more than 256 MiB of memory"),
    ("grow", "memory", "needed more than 256 MiB of memory"),
    ("noise", "exit", "exited with status 4 before it was done"),
]


@pytest.mark.parametrize("module", ["models", "single"])
@pytest.mark.parametrize(("name", "error", "words"), CRASHES)
def test_a_crash_is_the_report_of_one_model_and_touches_no_other(
    project: Path, module: str, name: str, error: str, words: str
) -> None:
    """In a process of its own (``single``) as well as among other models of its module."""
    limit = 0.5 if error == "timeout" else 20.0
    targets = [target(project, "fine"), target(project, name, module=module, timeout=limit), target(project, "fine")]
    first, crashed, last = trace(targets)
    assert (first.path, last.path) == ("fine", "fine")
    assert crashed.target == f"{module}:{name}"
    assert crashed.failure is not None
    assert (crashed.failure.kind, crashed.failure.error) == ("crash", error)
    assert words in crashed.failure.message
    assert f"tracing {module}:{name}" in crashed.failure.message


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process from /proc")
def test_memory_that_the_system_does_not_limit_is_watched(project: Path) -> None:
    fine, crashed = trace([target(project, "fine"), target(project, "grow_shared")])
    assert fine.path == "fine"
    assert crashed.failure is not None
    assert (crashed.failure.kind, crashed.failure.error) == ("crash", "memory")


@pytest.mark.parametrize(
    ("name", "line"), [("segfault", "string_at(0)"), ("endless_in_c", "PyDLL"), ("grow_shared", "shared[place]")]
)
def test_a_crash_is_tied_to_the_line_that_was_running(project: Path, name: str, line: str) -> None:
    report = trace([target(project, name, timeout=3.0)])[0]
    assert report.failure is not None
    innermost = report.frames[report.failure.stack[-1]]
    assert (innermost.path, innermost.function, innermost.line) == (
        str(project / "models.py"),
        name,
        line_of(line),
    )


def test_last_words_are_quoted_and_bounded(project: Path) -> None:
    left, noisy = trace([target(project, "leave"), target(project, "noise")])
    assert left.failure is not None
    assert left.failure.message.split("\n")[1:] == ["It last wrote to stderr:", "  about to leave"]
    assert noisy.failure is not None
    assert noisy.failure.message.split("\n")[2:] == ["  " + "y" * 100] * 5


def test_nothing_that_user_code_prints_comes_out(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace([target(project, "noise"), target(project, "leave")])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("module", ["models", "single"])
def test_a_model_that_kills_what_watches_over_it_is_named(project: Path, module: str) -> None:
    """In ``single`` that is the worker itself, which is started again for the rest."""
    targets = [target(project, "fine"), target(project, "kill_parent", module=module), target(project, "fine")]
    first, crashed, last = trace(targets)
    assert (first.path, last.path) == ("fine", "fine")
    assert crashed.failure is not None
    assert crashed.failure.kind == "crash"


def test_a_crash_on_import_is_told_for_each_model_of_the_module(project: Path) -> None:
    (project / "bad.py").write_text("import ctypes\nctypes.string_at(0)\n")
    *bad, fine = trace(
        [target(project, "A", module="bad"), target(project, "B", module="bad"), target(project, "fine")]
    )
    assert fine.path == "fine"
    assert [report.target for report in bad] == ["bad:A", "bad:B"]
    for report in bad:
        assert report.failure is not None
        expected = "a segmentation fault (SIGSEGV) ended the process that was importing bad."
        assert report.failure.message == expected
        assert [(f.path, f.line) for f in report.frames] == [(str(project / "bad.py"), 2)]


def test_an_import_has_a_time_limit_of_its_own(project: Path) -> None:
    (project / "slow.py").write_text("import time\ntime.sleep(0.7)\ndef model():\n    time.sleep(0.7)\n")
    (project / "stuck.py").write_text("while True: pass\n")
    slow, stuck = trace(
        [target(project, "model", module="slow", timeout=1.0), target(project, "model", module="stuck", timeout=1.0)]
    )
    assert slow.failure is None
    assert stuck.failure is not None
    assert stuck.failure.message == "importing stuck took longer than 1 s and was stopped."


@pytest.mark.parametrize("module", ["models", "single"])
def test_what_a_model_leaves_behind_is_killed(project: Path, module: str) -> None:
    file = project / "lock"
    behind, _ = trace([target(project, "leave_behind", module=module, file=str(file)), target(project, "fine")])
    assert behind.path == "fine"
    assert is_free(file)


def is_free(file: Path) -> bool:
    """Whether the last process that holds the lock on a file is gone, or is so within seconds."""
    with file.open("a") as held:
        for _ in range(100):
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # noqa: PERF203  # the loop is there to try again
                time.sleep(0.05)
            else:
                return True
    return False


def test_a_model_that_forks_has_one_answer(project: Path) -> None:
    reports = trace([target(project, "twice"), target(project, "twice", module="single")])
    assert [report.path for report in reports] == ["the model", "the model"]


def test_a_report_larger_than_a_pipe_comes_through(project: Path) -> None:
    reports = trace([target(project, "large"), target(project, "large"), target(project, "large", module="single")])
    assert [len(report.path) for report in reports] == [5_000_000] * 3


def test_signals_keep_their_meaning_in_the_front_end(project: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    trace([target(project, "fine")])
    assert signal.getsignal(signal.SIGINT) is before
