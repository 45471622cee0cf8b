"""SL404: what is registered with the model, and never used by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.checks.view import View
    from shapelint.findings import Finding


def never_used(view: View) -> Iterator[Finding]:
    """A finding for each submodule or parameter that no case used and no method speaks of, where it is made."""
    for one in view.report.unused:
        frame = view.report.frames[one.made]
        numbers = f"{one.size:,} number{'' if one.size == 1 else 's'}"
        what = f"a parameter of {numbers}" if one.kind == "Parameter" else f"{one.kind}, {numbers} to train"
        yield view.finding(
            "unused-submodule",
            f"{one.path} ({what}) is never used: no case reaches it in {view.target.method}, and no method names it.",
            SourceMap(view.sources).statement(frame.path, frame.line),
            notes=("it is never trained, and DistributedDataParallel refuses to run with it",),
        )
