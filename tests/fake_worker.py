"""The worker with a session that needs no torch: a "model" is a function, and its result ends up in the report's path.

Started by path, as worker.py is: `program` makes its command line for the pool.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shapelint.records import TraceTarget

PROGRAM = os.path.abspath(__file__)


class Session:
    """Imports the module and calls the attribute, with no edge to user code: the pool copes with what it raises."""

    def load(self, target: TraceTarget) -> Any:
        """The module."""
        sys.path[:0] = target.src
        os.chdir(target.root)
        return import_module(target.target.partition(":")[0])

    def trace(self, target: TraceTarget, loaded: Any) -> Any:
        """A report whose path is what the function returned."""
        from shapelint.records import TraceReport  # noqa: PLC0415  # the worker provides it

        result = getattr(loaded, target.target.partition(":")[2])(**dict(target.kwargs))
        return TraceReport(target.target, path=str(result))


def main() -> None:
    """Be the worker."""
    del sys.path[0]  # the folder of the tests
    worker = runpy.run_path(str(Path(PROGRAM).parent.parent / "shapelint" / "trace" / "worker.py"))
    worker["provide_package"]()
    worker["run"](Session(), sys.argv[1:])
    os._exit(0)


if __name__ == "__main__":
    main()
