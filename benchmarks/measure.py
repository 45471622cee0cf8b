"""Paired timings: what is compared runs in turns, so that a busy machine slows both."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUNS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what is measured, the figure seen, the figure to reach (with its sign), and the parts."""

    what: str
    seen: float
    reach: str
    parts: str
    unit: str = "times"


def seconds(function: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def paired(first: Callable[[], object], second: Callable[[], object], runs: int = RUNS) -> tuple[float, float, float]:
    """The median of the ratios of ``first`` to ``second``, and the median seconds of each; both run once before."""
    first(), second()
    pairs = [(seconds(first), seconds(second)) for _ in range(runs)]
    ratio = statistics.median(a / b for a, b in pairs)
    return ratio, statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def command(*words: str, cwd: Path | None = None) -> Callable[[], None]:
    """A command to time. Raises RuntimeError if it can't run (1 is "something was found")."""
    # An installed package has its bytecode beside it, whatever this machine does with a checkout.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(words)} exited with {done.returncode}:\n{done.stdout}{done.stderr}")

    return run


def shapelint(*words: str) -> tuple[str, ...]:
    """The command line of the shapelint that is installed beside this interpreter."""
    return (os.path.join(os.path.dirname(sys.executable), "shapelint"), *words)


def peak_of_children() -> float:
    """The largest memory that one of the processes waited for has had, in GiB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (1 << 20)
