"""A process of its own for each target, for platforms that can't fork. Slower, and without a memory limit."""

from __future__ import annotations

import json
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

from shapelint.codec import decode, encode
from shapelint.records import TraceReport, TraceTarget
from shapelint.trace import crash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_START = 60.0
"""Seconds for the interpreter to start and import torch, beyond the time limits of import and trace."""


def trace_apart(
    command: tuple[str, str], targets: Sequence[TraceTarget], jobs: int, take: Callable[[int, TraceReport], None]
) -> None:
    """Give ``take`` the number and the report of each target; ``jobs`` processes of ``command`` run at a time."""
    running: set[subprocess.Popen[bytes]] = set()
    with ThreadPoolExecutor(jobs) as threads:
        futures = {threads.submit(_trace, command, n, target, running): n for n, target in enumerate(targets)}
        try:
            for future in as_completed(futures):
                take(futures[future], future.result())
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for process in tuple(running):
                process.kill()


def _trace(
    command: tuple[str, str], number: int, target: TraceTarget, running: set[subprocess.Popen[bytes]]
) -> TraceReport:
    question = json.dumps([number, encode(target)]).encode("ascii")
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603  # the interpreter that the user has chosen
            [*command, "--once"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
        running.add(process)
        cause = ""
        try:
            out, _ = process.communicate(question, _START + 2 * target.timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            cause = "timeout"
        running.discard(process)
        # What was printed before the worker took stdout for itself may stand in front of the answer.
        for line in out.splitlines():
            if line.startswith(b"done %d " % number):
                return decode(TraceReport, json.loads(line.split(b" ", 2)[2]))
        errors.seek(max(0, errors.tell() - crash.TAIL))
        tail = errors.read().decode("utf-8", "replace")
    status = process.returncode
    death = crash.Death(cause or "exit", status, tail) if cause or status >= 0 else crash.Death("signal", -status, tail)
    return crash.report(target, death, importing=False)
