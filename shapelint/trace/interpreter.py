"""The project's interpreter: the one whose torch and packages the models need.

No torch is imported: one short run of each candidate asks for its version, and whether torch can be found.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_SECONDS = 30.0
"""A start of Python takes 0.05 s; on a cold network drive it takes seconds, more than this is a hanging one."""

_PROBE = """
import importlib.util, json, sys
sys.path[:] = [p for p in sys.path if p]
torch = None
if importlib.util.find_spec("torch"):
    import importlib.metadata
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch = "unknown"
folders = [p for p in sys.path if p.endswith("-packages")]
print(json.dumps([sys.version_info[:3], torch, folders]))
"""

_OLDEST = (3, 10)


class InterpreterError(Exception):
    """There is no interpreter that can trace; the message says what was tried and what to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter that has torch: ``path`` is absolute, the versions are those of Python and of torch.

    ``site`` are the folders its packages are installed in.
    """

    path: str
    version: str
    torch_version: str
    site: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Where an interpreter may be, and the words for who says so. ``given``: somebody asked for this one."""

    place: str
    words: str
    given: bool = False


def find_interpreter(
    option: str | None, configured: str | None, root: str | os.PathLike[str], *, remember: str | None = None
) -> Interpreter:
    """The first that has torch: ``option``, ``configured``, the active environment, root/.venv, root/venv, our own.

    ``option`` (``--python``, relative to the current folder) and ``configured`` (``[tool.shapelint] python``, relative
    to ``root``) are the path of an interpreter or the folder of an environment; one that is given is used or refused,
    never passed over. ``remember`` is a file that keeps what is known of interpreters, so that one that hasn't changed
    isn't asked again; it need not exist. Raises InterpreterError.
    """
    root = os.path.abspath(root)
    tried: list[str] = []
    for candidate in _candidates(option, configured, root):
        found = _try(candidate.place, remember)
        if isinstance(found, Interpreter):
            return found
        if candidate.given:
            raise InterpreterError(f"{candidate.words}: {found}")
        tried.append(f"  {candidate.words}: {found}")
    raise InterpreterError(
        "no interpreter with torch was found to trace the models with; tried\n"
        + "\n".join(tried)
        + '\nSay which one to use with --python PATH or python = "PATH" in [tool.shapelint]; PATH is an interpreter'
        " or the folder of an environment. Or install torch beside shapelint: pip install 'shapelint[torch]'"
    )


def _candidates(option: str | None, configured: str | None, root: str) -> list[_Candidate]:
    if option is not None:
        return [_Candidate(_absolute(option, os.getcwd()), f"--python {option}", given=True)]
    if configured is not None:
        words = f'python = "{configured}" in the configuration of {root}'
        return [_Candidate(_absolute(configured, root), words, given=True)]
    found = []
    active = os.environ.get("VIRTUAL_ENV")
    # pre-commit activates the hook's own environment; that one is tried last, as our own.
    if active and not _is_own(active):
        found.append(_Candidate(active, f"the active environment {active}"))
    for name in (".venv", "venv"):
        folder = os.path.join(root, name)
        if os.path.isdir(folder):
            found.append(_Candidate(folder, folder))
    return [*found, _Candidate(sys.executable, f"shapelint's own interpreter {sys.executable}")]


def _absolute(path: str, base: str) -> str:
    path = os.path.expanduser(path)
    # A bare word that is no file here is a command, as in --python python3.12.
    if os.path.basename(path) == path and not os.path.exists(os.path.join(base, path)):
        import shutil  # noqa: PLC0415  # seldom needed, and start-up time counts

        return shutil.which(path) or os.path.join(base, path)
    return os.path.join(base, path)


def _is_own(folder: str) -> bool:
    return os.path.realpath(folder) == os.path.realpath(sys.prefix)


def _try(place: str, remember: str | None) -> Interpreter | str:
    """The interpreter at ``place`` (itself, or in the environment of that folder), or why it can't trace."""
    path = place
    if os.path.isdir(place):
        inside = [
            os.path.join(place, *parts) for parts in (("bin", "python"), ("bin", "python3"), ("Scripts", "python.exe"))
        ]
        path = next((p for p in inside if os.path.exists(p)), "")
        if not path:
            return f"there is no interpreter in the folder {place} (no bin/python in it)"
    if not os.path.exists(path):
        return f"there is no file {path}"
    known = _recall(path, remember)
    if known is not None:
        return known
    found = _probe(path)
    if remember is not None and isinstance(found, Interpreter):
        _note(found, remember)
    return found


@lru_cache(maxsize=64)
def _probe(path: str) -> Interpreter | str:
    try:
        # Neither PYTHONPATH (-E) nor the current folder may stand in for torch; packages of the user's own count.
        done = subprocess.run(  # noqa: S603  # the interpreter that the user has chosen
            [path, "-E", "-c", _PROBE], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except OSError as error:
        return f"{path} can't be run: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"{path} gave no answer within {_SECONDS:g} s"
    try:
        version, torch, folders = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError, TypeError):
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"{path} is no Python that works" + (f": {last}" if last else "")
    shown = ".".join(map(str, version))
    if torch is None:
        return f"{path} (Python {shown}) has no torch"
    if tuple(version[:2]) < _OLDEST:
        return f"{path} is Python {shown}; tracing needs {'.'.join(map(str, _OLDEST))} or later"
    return Interpreter(os.path.abspath(path), shown, torch, tuple(folders))


# -------------------------------------------------------------------------------------------- what is remembered


def _recall(path: str, remember: str | None) -> Interpreter | None:
    """What the file knows of an interpreter, if nothing has been installed or removed since."""
    entry: Any = _remembered(remember).get(os.path.abspath(path)) if remember is not None else None
    try:
        state, version, torch, folders = entry
        found = Interpreter(os.path.abspath(path), str(version), str(torch), tuple(map(str, folders)))
    except (TypeError, ValueError):
        return None
    return found if state == _state(found) else None


def _note(found: Interpreter, remember: str) -> None:
    entries = _remembered(remember)
    entries[found.path] = [_state(found), found.version, found.torch_version, found.site]
    aside = f"{remember}.{os.getpid()}"
    try:
        with open(aside, "w", encoding="ascii") as file:
            json.dump(entries, file)
        os.replace(aside, remember)
    except OSError:
        return  # no such folder, or one that can't be written: it is asked again in the next run


def _remembered(remember: str) -> dict[str, Any]:
    try:
        with open(remember, encoding="ascii") as file:
            entries = json.load(file)
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _state(found: Interpreter) -> list[int]:
    """Changes with the interpreter, its environment, and each installation or removal of a package."""
    environment = os.path.join(os.path.dirname(os.path.dirname(found.path)), "pyvenv.cfg")
    return [_changed(path) for path in (found.path, environment, *found.site)]


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
