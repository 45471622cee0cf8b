"""The pool: order, sharing of imports, isolation from the front end, and its end."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_worker import PROGRAM

from shapelint.records import TraceReport, TraceTarget
from shapelint.trace.pool import WORKER, Pool, trace_targets

LOG = "with open('imports.log', 'a') as f: f.write('{name}\\n')\n"
TELL = "def tell(**kwargs):\n    return sorted(kwargs.items())\n"


def target(folder: Path, name: str, **kwargs: object) -> TraceTarget:
    return TraceTarget(name, str(folder), (str(folder),), (), kwargs=tuple(kwargs.items()), timeout=20.0)


def trace(targets: list[TraceTarget], jobs: int = 2) -> tuple[TraceReport, ...]:
    with Pool(sys.executable, jobs=jobs, program=PROGRAM) as pool:
        return pool.trace(targets)


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_reports_come_in_the_order_of_the_targets(tmp_path: Path, jobs: int) -> None:
    """Later ones are done first: they sleep less. Modules alternate."""
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text("import time\ndef tell(n, s):\n    time.sleep(s)\n    return n\n")
    targets = [target(tmp_path, f"{'abc'[n % 3]}:tell", n=n, s=(12 - n) / 200) for n in range(12)]
    assert [report.path for report in trace(targets, jobs)] == [str(n) for n in range(12)]


def test_models_of_a_module_run_side_by_side(tmp_path: Path) -> None:
    """Each waits for the file that the other one writes."""
    (tmp_path / "pair.py").write_text(
        "import os, time\n"
        "def meet(mine, other):\n"
        "    open(mine, 'w').close()\n"
        "    while not os.path.exists(other): time.sleep(0.01)\n"
    )
    targets = [target(tmp_path, "pair:meet", mine="x", other="y"), target(tmp_path, "pair:meet", mine="y", other="x")]
    assert [report.failure for report in trace(targets)] == [None, None]


def test_a_module_is_imported_once_for_all_its_models(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(LOG.format(name=name) + TELL)
    trace([target(tmp_path, "one:tell"), target(tmp_path, "two:tell"), target(tmp_path, "one:tell", x=1)])
    assert sorted((tmp_path / "imports.log").read_text().split()) == ["one", "two"]


def test_what_one_model_changes_no_other_sees(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text("seen = []\ndef add(x):\n    seen.append(x)\n    return seen\n")
    reports = trace([target(tmp_path, "state:add", x=1), target(tmp_path, "state:add", x=2)], jobs=1)
    assert [report.path for report in reports] == ["[1]", "[2]"]


def test_modules_of_the_same_name_in_two_projects_are_two_modules(tmp_path: Path) -> None:
    for name in ("p", "q"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.py").write_text(f"def tell(): return {name!r}\n")
    assert [r.path for r in trace([target(tmp_path / n, "net:tell") for n in "pqp"])] == ["p", "q", "p"]


def test_a_module_that_starts_threads_is_not_forked(tmp_path: Path) -> None:
    """A thread doesn't survive a fork: here the model would wait for it for ever."""
    (tmp_path / "threaded.py").write_text(
        "import queue, threading\n"
        "questions, answers = queue.Queue(), queue.Queue()\n"
        "def work():\n"
        "    while True: answers.put(questions.get())\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "def ask(x):\n"
        "    questions.put(x)\n"
        "    return answers.get(timeout=5)\n"
    )
    reports = trace([target(tmp_path, "threaded:ask", x=n) for n in range(4)])
    assert [report.path for report in reports] == ["0", "1", "2", "3"]


def test_each_report_is_handed_over_as_it_comes(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(TELL)
    seen: list[str] = []
    with Pool(sys.executable, jobs=1, program=PROGRAM) as pool:
        reports = pool.trace([target(tmp_path, "net:tell", n=n) for n in range(3)], lambda r: seen.append(r.path))
    assert sorted(seen) == sorted(report.path for report in reports)


def test_a_pool_is_used_again_and_sees_an_edited_module(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    with Pool(sys.executable, jobs=1, program=PROGRAM) as pool:
        file.write_text("def tell(): return os.getppid(), 'old'\nimport os\n")
        (old,) = pool.trace([target(tmp_path, "net:tell")])
        file.write_text("def tell(): return os.getppid(), 'newer'\nimport os\n")
        (new,) = pool.trace([target(tmp_path, "net:tell")])
    assert old.path.replace("old", "newer") == new.path  # and from the same worker


def test_nothing_to_trace_starts_no_worker() -> None:
    assert trace_targets((), "/no/such/python") == ()


def test_nothing_is_written_beside_the_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    (tmp_path / "net.py").write_text(TELL)
    trace([target(tmp_path, "net:tell")])
    assert sorted(os.listdir(tmp_path)) == ["net.py"]


# ------------------------------------------------------------------------------------------- two environments


def test_the_environment_of_the_front_end_is_not_importable(tmp_path: Path) -> None:
    """Nor are the worker's own modules, under their bare names."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    names = ("click", "libcst", "pytest", "records", "pool", "crash", "children", "fake_worker", "shapelint.records")
    (tmp_path / "look.py").write_text(
        "def look(names):\n"
        "    from importlib.util import find_spec\n"
        "    return [n for n in names if find_spec(n.partition('.')[0]) and find_spec(n)]\n"
    )
    python = str(tmp_path / "bare" / "bin" / "python")
    with Pool(python, jobs=1, program=PROGRAM) as pool:
        (report,) = pool.trace([target(tmp_path, "look:look", names=names)])
    assert report.failure is None
    assert report.path == "['shapelint.records']"


def test_the_worker_itself_says_so_where_there_is_no_torch(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    python = str(tmp_path / "bare" / "bin" / "python")
    reports = trace_targets([target(tmp_path, "net:A"), target(tmp_path, "net:B")], python, jobs=1)
    assert [report.target for report in reports] == ["net:A", "net:B"]
    for report in reports:
        assert report.failure is not None
        assert report.failure.kind == "no-torch"
        assert report.failure.message.startswith(f"{python} can't import torch: ModuleNotFoundError: ")


def test_the_worker_s_own_folder_is_not_on_the_path(tmp_path: Path) -> None:
    """Shown by a torch that tells the path it is imported with."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True)
    (site,) = (tmp_path / "bare" / "lib").glob("python*/site-packages")
    (site / "torch.py").write_text("import sys\nraise ImportError(sys.path)\n")
    (report,) = trace_targets([target(tmp_path, "net:A")], str(tmp_path / "bare" / "bin" / "python"))
    assert report.failure is not None
    assert str(site) in report.failure.message
    assert os.path.dirname(WORKER) not in report.failure.message


def test_a_worker_that_cannot_start_is_told_for_each_target(tmp_path: Path) -> None:
    program = tmp_path / "broken.py"
    program.write_text("raise SystemExit('no luck today')\n")
    with Pool(sys.executable, program=str(program)) as pool:
        reports = pool.trace([target(tmp_path, "net:A"), target(tmp_path, "net:B")])
    assert [report.target for report in reports] == ["net:A", "net:B"]
    for report in reports:
        assert report.failure is not None
        assert "exited with status 1" in report.failure.message
        assert "no luck today" in report.failure.message


def test_where_the_platform_cannot_fork_each_target_has_its_own_process(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import os\nprint('on import')\ndef tell(x):\n    print(x)\n    return x\ndef leave():\n    os._exit(3)\n"
    )
    with Pool(sys.executable, jobs=2, program=PROGRAM, forks=False) as pool:
        reports = pool.trace(
            [target(tmp_path, "net:tell", x=1), target(tmp_path, "net:leave"), target(tmp_path, "net:tell", x=2)]
        )
    assert [report.path for report in reports] == ["1", "", "2"]
    assert reports[1].failure is not None
    assert (
        reports[1].failure.message == "the process that was tracing net:leave exited with status 3 before it was done."
    )


# ---------------------------------------------------------------------------------------------------- the end


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("count", [1, 2])
def test_nothing_outlives_the_front_end(tmp_path: Path, number: signal.Signals, count: int) -> None:
    """Whatever ends it; with one model in the worker's child, and with two in children of that child."""
    (tmp_path / "net.py").write_text(
        "import fcntl, os\n"
        "def loop(n):\n"
        "    held = open(f'lock{n}', 'w')\n"
        "    fcntl.flock(held, fcntl.LOCK_EX)\n"
        "    open(f'ready{n}', 'w').close()\n"
        "    while True: pass\n"
    )
    process = start_front(tmp_path, [target(tmp_path, "net:loop", n=n) for n in range(count)])
    for n in range(count):
        wait_for(tmp_path / f"ready{n}", process)
    process.send_signal(number)
    _, errors = process.communicate(timeout=5)
    assert process.returncode == -number
    assert (b"KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    for n in range(count):
        assert is_free(tmp_path / f"lock{n}")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of its parent's death")
def test_nothing_outlives_a_worker_that_is_killed_unseen(tmp_path: Path) -> None:
    """The front end is stopped meanwhile, and killed after it."""
    (tmp_path / "net.py").write_text(
        "import fcntl, os\n"
        "def loop():\n"
        "    held = open('lock', 'w')\n"
        "    fcntl.flock(held, fcntl.LOCK_EX)\n"
        "    with open('told', 'w') as f: f.write(str(os.getppid()))\n"
        "    os.rename('told', 'ready')\n"
        "    while True: pass\n"
    )
    front = start_front(tmp_path, [target(tmp_path, "net:loop")])
    wait_for(tmp_path / "ready", front)
    front.send_signal(signal.SIGSTOP)
    os.kill(int((tmp_path / "ready").read_text()), signal.SIGKILL)
    front.kill()
    front.communicate(timeout=5)
    assert is_free(tmp_path / "lock")


def start_front(folder: Path, targets: list[TraceTarget]) -> subprocess.Popen[bytes]:
    file = folder / "front.py"
    file.write_text(
        "import sys\n"
        "from shapelint.records import TraceTarget\n"
        "from shapelint.trace.pool import Pool\n"
        f"with Pool(sys.executable, jobs=2, program={PROGRAM!r}) as pool:\n"
        f"    pool.trace({targets!r})\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(PROGRAM).parent.parent)}
    return subprocess.Popen([sys.executable, str(file)], env=environment, stderr=subprocess.PIPE)


def wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    while not file.exists():
        time.sleep(0.01)
        assert process.poll() is None


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
