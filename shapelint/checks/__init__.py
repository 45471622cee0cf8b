"""Pure functions from what a trace saw to findings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from shapelint.checks import annotated, batch, branches, endings, failures, others, singleton, unused
from shapelint.checks.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapelint.findings import Finding
    from shapelint.records import TensorSpec, TraceReport, TraceTarget
    from shapelint.source.files import SourceCache


def check_report(
    report: TraceReport, target: TraceTarget, sources: SourceCache, *, outputs: tuple[TensorSpec, ...] | None = None
) -> tuple[Finding, ...]:
    """The findings of one target, merged. ``outputs`` are the declared ones, None where nothing is declared."""
    view = View(report, target, sources)
    found = [*others.target_failed(view), *unused.never_used(view), *branches.unexercised(view)]
    for case in report.cases:
        of_case = [
            *failures.failed_ops(view, case),
            *endings.ended(view, case),
            *others.warned(view, case),
            *others.silent(view, case),
            *singleton.singleton_axes(view, case),
            *batch.mixed(view, case),
            *annotated.contradicted(view, case),
            # With another argument the model may well return something else than is declared.
            *(() if case.flags else others.outputs_differ(view, case, outputs)),
        ]
        found += [replace(f, notes=(*f.notes, f"with {case.flags}")) for f in of_case] if case.flags else of_case
    return merge_findings(found)


def merge_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each rule and place; the worst of them speaks, and names every target it was seen in."""
    merged: dict[object, Finding] = {}
    for finding in findings:
        key = (finding.rule, finding.location)
        known = merged.get(key)
        if known is None:
            merged[key] = finding
            continue
        first, second = (known, finding) if known.severity.rank <= finding.severity.rank else (finding, known)
        targets = tuple(dict.fromkeys((*known.targets, *finding.targets)))
        merged[key] = replace(first, targets=targets, related=first.related or second.related)
    return tuple(merged.values())
