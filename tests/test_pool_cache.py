"""A stored report is given again as long as a new trace would be the same, and not a moment longer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from shapelint.records import TargetFailure, TraceReport, TraceTarget
from shapelint.trace import cache
from shapelint.trace.interpreter import Interpreter, find_interpreter

NOTHING: tuple[str, ...] = ()


class Project:
    """``src/net.py`` imports ``layers`` and ``pkg.deep``, opens ``sizes.json``, reads $WIDTH; all a minute old."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.site = root / "env" / "lib" / "site-packages"
        self.site.mkdir(parents=True)
        (self.site / "einops-0.8.0.dist-info").mkdir()
        (self.site / "einops").mkdir()
        self.files = [
            self.write("src/net.py", "import layers, pkg.deep, json, einops\n"),
            self.write("src/layers.py", "WIDTH = 3\n"),
            self.write("src/pkg/__init__.py", ""),
            self.write("src/pkg/deep.py", "x = 1\n"),
            self.write("sizes.json", "[1, 2]\n"),
        ]
        self.target = TraceTarget("net:Net", str(root), (str(root / "src"),), ())
        self.report = TraceReport(
            "net:Net", path=self.files[0], files=tuple(self.files), environment=(("WIDTH", None), ("DEPTH", "4"))
        )

    def write(self, name: str, text: str, age: float = 60.0) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        then = time.time() - age
        os.utime(path, (then, then))
        return str(path)

    @property
    def interpreter(self) -> Interpreter:
        """A new object each time, and the packages are looked at anew, as in another process."""
        cache.packages.cache_clear()
        return Interpreter(str(self.root / "env" / "bin" / "python"), "3.11.7", "2.13.0", (str(self.site),))

    def store(self, report: TraceReport | None = None) -> bool:
        return cache.store(self.target, self.interpreter, report or self.report, started_ns=time.time_ns())

    def load(self) -> TraceReport | None:
        return cache.load(self.target, self.interpreter)

    def entries(self) -> list[Path]:
        return sorted((self.root / ".shapelint_cache" / "traces").iterdir())


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.delenv("WIDTH", raising=False)
    monkeypatch.setenv("DEPTH", "4")
    made = Project(tmp_path)
    assert made.load() is None
    assert made.store()
    assert made.load() == made.report
    return made


@pytest.mark.parametrize("name", ["src/net.py", "src/layers.py", "src/pkg/deep.py", "sizes.json"])
@pytest.mark.parametrize("age", [0.0, 60.0, 3600.0])
def test_an_edited_file_counts_whatever_its_time_says(project: Project, name: str, age: float) -> None:
    """An editor, git or tar may set any time; only the size, or the time, gives it away here."""
    text = (project.root / name).read_text()
    project.write(name, text.replace("1", "11").replace("3", "33").replace("json", "jsonx"), age)
    assert project.load() is None


def test_an_edit_of_the_same_size_counts(project: Project) -> None:
    project.write("src/layers.py", "WIDTH = 4\n", 30.0)
    assert project.load() is None


def test_an_edit_within_the_tick_of_the_clock_counts(project: Project) -> None:
    """On a file system that knows whole seconds only: stored, then written again with the same size and time."""
    file = project.root / "src" / "layers.py"
    whole = time.time_ns() // 1_000_000_000 * 1_000_000_000
    os.utime(file, ns=(whole, whole))
    assert cache.store(project.target, project.interpreter, project.report, started_ns=whole + 3_000_000_000)
    assert project.load() == project.report
    file.write_text("WIDTH = 4\n")
    os.utime(file, ns=(whole, whole))
    assert project.load() is None


def test_a_file_edited_during_the_trace_is_not_stored(project: Project) -> None:
    started = time.time_ns()
    project.write("src/layers.py", "WIDTH = 5\n", 0.0)
    assert not cache.store(project.target, project.interpreter, project.report, started_ns=started)
    assert project.load() is None


def test_a_file_of_the_same_content_counts_as_unchanged(project: Project) -> None:
    """A branch that was switched and switched back."""
    project.write("src/layers.py", "WIDTH = 4\n", 0.0)
    assert project.load() is None
    project.write("src/layers.py", "WIDTH = 3\n", 0.0)
    assert project.load() == project.report


def test_a_removed_file_counts(project: Project) -> None:
    (project.root / "sizes.json").unlink()
    assert project.load() is None


def test_a_file_that_was_looked_for_and_is_there_now_counts(project: Project) -> None:
    report = replace(project.report, files=(*project.report.files, str(project.root / "local.json")))
    assert project.store(report)
    assert project.load() == report
    project.write("local.json", "{}")
    assert project.load() is None


@pytest.mark.parametrize(
    "name",
    [
        "src/layers/__init__.py",  # a package hides the module of its name
        "src/pkg/deep/__init__.py",
        "src/json.py",  # the standard library
        "src/random.py",  # ... which torch imports, if nobody else does
        "src/einops/__init__.py",  # an installed package
        "src/einops.py",
    ],
)
def test_a_new_file_that_shadows_a_module_counts(project: Project, name: str) -> None:
    project.write(name, "")
    assert project.load() is None


@pytest.mark.parametrize("name", ["src/other.py", "src/pkg/other.py", "src/pkg/random.py", "notes.txt", "src/data.txt"])
def test_another_new_file_does_not_count(project: Project, name: str) -> None:
    project.write(name, "")
    assert project.load() == project.report


@pytest.mark.parametrize("change", ["new", "removed"])
def test_where_code_searches_folders_each_module_in_them_counts(project: Project, change: str) -> None:
    project.write("src/pkg/other.py", "")
    project.write("src/pkg/__init__.py", "import pkgutil\nnames = list(pkgutil.iter_modules(__path__))\n")
    assert project.store()
    assert project.load() == project.report
    if change == "new":
        project.write("src/pkg/another.py", "")
    else:
        (project.root / "src" / "pkg" / "other.py").unlink()
    assert project.load() is None


@pytest.mark.parametrize(("name", "value"), [("WIDTH", "3"), ("DEPTH", "5"), ("DEPTH", None)])
def test_a_variable_that_was_read_counts(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str, value: str | None
) -> None:
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)
    assert project.load() is None


def test_another_variable_does_not_count(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNREAD", "1")
    assert project.load() == project.report


def test_an_upgraded_package_counts(project: Project) -> None:
    (project.site / "einops-0.8.0.dist-info").rename(project.site / "einops-0.8.1.dist-info")
    assert project.load() is None


def test_a_package_installed_again_from_a_folder_counts(project: Project) -> None:
    """Its version stays, its RECORD has the digests of its files."""
    info = project.site / "einops-0.8.0.dist-info"
    (info / "direct_url.json").write_text("{}")
    (info / "RECORD").write_text("einops/__init__.py,sha256=a,1\n")
    assert project.store()
    assert project.load() == project.report
    (info / "RECORD").write_text("einops/__init__.py,sha256=b,1\n")
    assert project.load() is None


def test_another_interpreter_counts(project: Project) -> None:
    own = project.interpreter
    for other in (replace(own, path="/other"), replace(own, version="3.12.0"), replace(own, torch_version="2.14.0")):
        assert cache.load(project.target, other) is None
    assert cache.load(project.target, own) == project.report


def test_another_configuration_of_the_target_counts(project: Project) -> None:
    other = replace(project.target, kwargs=(("width", 3),))
    assert cache.load(other, project.interpreter) is None
    assert cache.store(other, project.interpreter, project.report, started_ns=time.time_ns())
    assert len(project.entries()) == 2


@pytest.mark.parametrize("kind", ["crash", "import", "no-torch"])
def test_what_another_run_may_not_give_again_is_not_kept(project: Project, kind: str) -> None:
    assert not project.store(replace(project.report, failure=TargetFailure(kind, "timeout", "")))


def test_a_faulty_constructor_is_kept(project: Project) -> None:
    failed = replace(project.report, failure=TargetFailure("construction", "ValueError", "width"))
    assert project.store(failed)
    assert project.load() == failed


def test_an_optional_module_that_comes_counts(project: Project) -> None:
    project.write("src/net.py", "try:\n    import absent\nexcept ImportError:\n    absent = None\n")
    assert project.store()
    assert project.load() == project.report
    project.write("src/absent.py", "")
    assert project.load() is None


def test_a_report_that_says_nothing_of_its_files_is_not_kept(project: Project) -> None:
    assert not project.store(replace(project.report, files=NOTHING))


@pytest.mark.parametrize("cut", [0, 5, 20, 100, -1])
def test_a_half_written_entry_is_as_none(project: Project, cut: int) -> None:
    (entry,) = project.entries()
    entry.write_bytes(entry.read_bytes()[:cut])
    assert project.load() is None
    assert project.store()
    assert project.load() == project.report


@pytest.mark.parametrize("place", range(0, 400, 7))
def test_a_damaged_entry_is_none_or_the_report(project: Project, place: int) -> None:
    (entry,) = project.entries()
    data = bytearray(entry.read_bytes())
    data[place % len(data)] ^= 0xFF
    entry.write_bytes(data)
    assert project.load() in (None, project.report)


def test_a_folder_that_cannot_be_written_is_put_up_with(project: Project) -> None:
    """A file stands where the folder should be, which stops even root."""
    shutil.rmtree(project.root / ".shapelint_cache")
    (project.root / ".shapelint_cache").write_text("")
    assert not project.store()
    assert project.load() is None
    cache.prune(str(project.root))
    assert cache.interpreters_file(str(project.root)).endswith("interpreters.json")


def test_git_leaves_the_folder_alone(project: Project) -> None:
    subprocess.run(["git", "init", "-q", str(project.root)], check=True)
    status = subprocess.run(
        ["git", "-C", str(project.root), "status", "--porcelain"], check=True, capture_output=True, text=True
    )
    assert ".shapelint_cache" not in status.stdout


def test_pruning_removes_what_was_of_no_use_for_the_longest(project: Project) -> None:
    for width in range(4):
        target = replace(project.target, kwargs=(("width", width),))
        cache.store(target, project.interpreter, project.report, started_ns=time.time_ns())
    entries = project.entries()
    for age, entry in enumerate(entries):
        os.utime(entry, (time.time() - 3600 * age, time.time() - 3600 * age))
    size = entries[0].stat().st_size
    cache.prune(str(project.root), limit=3 * size + size // 2)
    assert project.entries() == sorted(entries[:3])
    cache.prune(str(project.root))
    assert len(project.entries()) == 3


def test_an_entry_in_use_is_kept_fresh(project: Project) -> None:
    (entry,) = project.entries()
    os.utime(entry, (0, 0))
    assert project.load() == project.report
    assert time.time() - entry.stat().st_mtime < 60


def test_processes_that_store_at_once_leave_a_whole_entry(project: Project) -> None:
    program = (
        "import sys, time\n"
        "from dataclasses import replace\n"
        "from shapelint.records import *\n"
        "from shapelint.trace import cache\n"
        "from shapelint.trace.interpreter import Interpreter\n"
        f"target = {project.target!r}\nreport = {project.report!r}\n"
        f"interpreter = {project.interpreter!r}\n"
        "big = replace(report, seconds=float(sys.argv[1]), modules=(ModuleRecord('x' * 1000, 'y'),) * 500)\n"
        "for _ in range(30):\n"
        "    assert cache.store(target, interpreter, big, started_ns=time.time_ns())\n"
        "    found = cache.load(target, interpreter)\n"
        "    assert found is not None and replace(found, seconds=0.0) == replace(big, seconds=0.0)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    running = [subprocess.Popen([sys.executable, "-c", program, str(n)], env=environment) for n in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(project.entries()) == 1


# ------------------------------------------------------------------------------------------------ interpreters


def test_an_interpreter_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "env" / "lib" / "site-packages"
    site.mkdir(parents=True)
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir()
    log = tmp_path / "log"
    answer = json.dumps([[3, 12, 1], "2.6.0", [str(site)]])
    python.write_text(f"#!/bin/sh\necho asked >> {log}\necho '{answer}'\n")
    python.chmod(0o755)
    remember = cache.interpreters_file(str(tmp_path))

    def ask() -> int:
        find_interpreter.__globals__["_probe"].cache_clear()
        found = find_interpreter("env", None, tmp_path, remember=remember)
        assert found == Interpreter(str(python), "3.12.1", "2.6.0", (str(site),))
        return log.read_text().count("asked")

    monkeypatch.chdir(tmp_path)
    assert [ask(), ask()] == [1, 1]
    (site / "new-1.0.dist-info").mkdir()
    os.utime(site, (1, 1))
    assert [ask(), ask()] == [2, 2]
    Path(remember).write_text('{"broken')
    assert [ask(), ask()] == [3, 3]
    Path(remember).write_text(json.dumps({str(python): [1, 2]}))
    assert [ask(), ask()] == [4, 4]
