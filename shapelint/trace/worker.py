"""The program that traces. The front end starts it by path, under the project's interpreter.

That one knows nothing of shapelint. ``worker.py COMMANDS ANSWERS`` serves on two inherited descriptors (see
`shapelint.trace.serve`). ``worker.py --once`` is for platforms that can't fork: it reads one ``[id, target]`` from
stdin and writes one answer to stdout.
"""

from __future__ import annotations

import os
import sys

# The folder of this file came first on the path. It has modules with everyday names, which nobody may import by them.
if sys.path and sys.path[0] == os.path.dirname(os.path.realpath(__file__)):
    del sys.path[0]

import gc
import importlib.util
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shapelint.records import TraceTarget
    from shapelint.trace.serve import Session


def provide_package() -> None:
    """Make ``shapelint`` importable from this file's own folder, and nothing else that is installed beside it."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = importlib.util.spec_from_file_location(
        "shapelint", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError(folder)
    package = importlib.util.module_from_spec(spec)
    sys.modules["shapelint"] = package
    spec.loader.exec_module(package)


def run(session: Session, arguments: list[str]) -> None:
    """Serve with ``session`` as the command line says. User code's own output goes nowhere near the answers."""
    from shapelint.trace.serve import Job, answer, run_one, serve  # noqa: PLC0415  # after provide_package()

    sys.dont_write_bytecode = True  # from here on only user code is imported, and nothing is written beside it

    if arguments != ["--once"]:
        commands, answers = map(int, arguments)
        os.set_inheritable(commands, False)  # noqa: FBT003
        os.set_inheritable(answers, False)  # noqa: FBT003
        silence()
        serve(session, commands, answers)
        return
    from shapelint.codec import decode  # noqa: PLC0415
    from shapelint.records import TraceReport, TraceTarget  # noqa: PLC0415

    with os.fdopen(os.dup(1), "wb") as out:
        silence()
        number, data = json.loads(sys.stdin.buffer.read())
        target = decode(TraceTarget, data)
        loaded = session.load(target)
        report = loaded if isinstance(loaded, TraceReport) else run_one(session, target, loaded)
        out.write(answer(Job(number, target), report))


def silence() -> None:
    """Send what anybody prints to nowhere; stderr stays, for the last words of a crash."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def no_core_dumps() -> None:
    """A model that crashes leaves no core file in the project."""
    try:
        import resource  # noqa: PLC0415  # not on every platform
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


class NoTorch:
    """Stands in for the session where torch can't be imported: says so for each target."""

    def __init__(self, error: BaseException) -> None:
        """``error`` is what the import raised."""
        self._error = error

    def load(self, target: TraceTarget) -> Any:
        """The report that says so."""
        from shapelint.records import TargetFailure, TraceReport  # noqa: PLC0415  # after provide_package()

        name = type(self._error).__name__
        message = f"{sys.executable} can't import torch: {name}: {self._error}"
        return TraceReport(target.target, failure=TargetFailure("no-torch", name, message))

    def trace(self, target: TraceTarget, loaded: Any) -> Any:
        """Never called: `load` has failed."""
        del target
        return loaded


def main() -> None:
    """Import torch, warm up, serve, and leave without the seconds that a tidy exit of torch takes."""
    no_core_dumps()
    provide_package()
    from shapelint.trace import warmup  # noqa: PLC0415  # after provide_package()

    try:
        warmup.import_torch()
    except Exception as error:  # noqa: BLE001  # the edge to torch: a broken one raises anything, and that is a report
        run(NoTorch(error), sys.argv[1:])
    else:
        # It imports torch, so it couldn't be imported before.
        session: Any = importlib.import_module("shapelint.trace.session")
        session.warm_up()
        gc.freeze()  # no collection in a child looks through torch's own objects, and copies their pages by that
        run(session, sys.argv[1:])
    os._exit(0)


if __name__ == "__main__":
    main()
