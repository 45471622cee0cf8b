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

_SECONDS = 30.0
"""A start of Python takes 0.05 s; on a cold network drive it takes seconds, more than this is a hanging one."""

_PROBE = """
import importlib.util, json, sys
torch = None
if importlib.util.find_spec("torch"):
    import importlib.metadata
    try:
        torch = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        torch = "unknown"
print(json.dumps([sys.version_info[:3], torch]))
"""

_OLDEST = (3, 10)


class InterpreterError(Exception):
    """There is no interpreter that can trace; the message says what was tried and what to do."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter that has torch: ``path`` is absolute, the versions are those of Python and of torch."""

    path: str
    version: str
    torch_version: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Where an interpreter may be, and the words for who says so. ``given``: somebody asked for this one."""

    place: str
    words: str
    given: bool = False


def find_interpreter(option: str | None, configured: str | None, root: str | os.PathLike[str]) -> Interpreter:
    """The first that has torch: ``option``, ``configured``, the active environment, root/.venv, root/venv, our own.

    ``option`` (``--python``, relative to the current folder) and ``configured`` (``[tool.shapelint] python``, relative
    to ``root``) are the path of an interpreter or the folder of an environment; one that is given is used or refused,
    never passed over. Raises InterpreterError.
    """
    root = os.path.abspath(root)
    tried: list[str] = []
    for candidate in _candidates(option, configured, root):
        found = _try(candidate.place)
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


def _try(place: str) -> Interpreter | str:
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
    return _probe(path)


@lru_cache(maxsize=64)
def _probe(path: str) -> Interpreter | str:
    try:
        # -I: neither the current folder nor PYTHONPATH may stand in for torch.
        done = subprocess.run(  # noqa: S603  # the interpreter that the user has chosen
            [path, "-I", "-c", _PROBE], stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except OSError as error:
        return f"{path} can't be run: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"{path} gave no answer within {_SECONDS:g} s"
    try:
        version, torch = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError, TypeError):
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"{path} is no Python that works" + (f": {last}" if last else "")
    shown = ".".join(map(str, version))
    if torch is None:
        return f"{path} (Python {shown}) has no torch"
    if tuple(version[:2]) < _OLDEST:
        return f"{path} is Python {shown}; tracing needs {'.'.join(map(str, _OLDEST))} or later"
    return Interpreter(os.path.abspath(path), shown, torch)
