"""python benchmarks/run.py [NAME ...]: measures, and prints a table of ratios seen in this run.

Names: trace, export, memory, cold, many, start, warm, peers, watch. Without one all are run. The peers are installed
into ``build/benchmarks``, once.
"""

from __future__ import annotations

import importlib
import sys

NAMES = {
    "trace": "trace:overhead",
    "export": "trace:export",
    "memory": "trace:memory",
    "cold": "commands:cold",
    "many": "commands:many",
    "start": "commands:start",
    "warm": "commands:warm",
    "peers": "commands:peers",
    "watch": "commands:watch",
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}: there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    print(f"{'what':58} {'seen':>8}       {'wanted':8} parts")
    for name in names or NAMES:
        module, _, function = NAMES[name].partition(":")
        for row in getattr(importlib.import_module(module), function)():
            print(f"{row.what:58} {row.seen:8.2f} {row.unit:5} {row.reach:8} {row.parts}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
