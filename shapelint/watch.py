"""``check --watch``: the same run again after each save, in workers that stay, with torch imported."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from shapelint.lint import EXPECTED, lint, settings, watched
from shapelint.tracing import Pools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapelint.lint import Outcome, Request

_POLL = 0.1
"""Seconds between looks at the files: short beside the 0.3 s that a person takes to look at the result."""

_SETTLED = 0.03
"""Seconds in which nothing changes before a save counts as done."""

_Stamp = dict[str, tuple[int, int]]


def watch(
    request: Request, on_progress: Callable[[int, int], None] | None = None
) -> Iterator[tuple[Outcome | Exception, float]]:
    """The outcome of a run and its seconds, again whenever a file of the projects has changed; never ends by itself.

    What keeps one run from running, such as a mistake in the configuration, is given in place of an outcome.
    """
    with Pools() as pools:
        while True:
            seen, start = _stamp(request), time.monotonic()
            try:
                outcome: Outcome | Exception = lint(request, on_progress, pools)
            except EXPECTED as error:
                outcome = error
            yield outcome, time.monotonic() - start
            _changed(request, seen)


def _changed(request: Request, seen: _Stamp) -> None:
    """Returns once a file differs from what was seen, and is whole: an editor may empty it before it writes."""
    last = seen
    while True:
        time.sleep(_POLL if last == seen else _SETTLED)
        now = _stamp(request)
        if now == last != seen:
            return
        last = now


def _stamp(request: Request) -> _Stamp:
    """When each file was changed that a run may read: Python files and configurations of the projects of its paths."""
    try:
        roots = tuple({config.root for config in settings(request)})
        paths = watched(replace(request, paths=roots))
    except EXPECTED:
        # A configuration that can't be read now: it is among the paths given, or above them.
        paths = (
            *request.paths,
            *[os.path.join(p, n) for p in request.paths for n in ("pyproject.toml", "shapelint.toml")],
        )
    found: _Stamp = {}
    for path in paths:
        try:
            state = os.stat(path)
        except OSError:
            continue
        found[path] = (state.st_mtime_ns, state.st_size)
    return found
