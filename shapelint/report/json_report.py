"""The JSON report for other programs. Fields are only ever added; a change of meaning raises ``version``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shapelint.report.prose import explained

if TYPE_CHECKING:
    from shapelint.findings import Finding, LintResult, Location
    from shapelint.report.context import ReportContext

VERSION = 1


def render(result: LintResult, context: ReportContext) -> str:
    """One JSON object in ASCII: ``version``, ``tool``, ``findings``, ``skipped``, ``targets``.

    Paths are relative to the working directory with ``/``; positions count from 1 in code points, the end exclusive;
    ``seconds`` is the time of a target's trace. ``suppressed`` is there where it was asked for.
    """
    document: dict[str, Any] = {
        "version": VERSION,
        "tool": {"name": "shapelint", "version": context.version},
        "findings": [_finding(finding, context) for finding in result.findings],
        "skipped": [{"target": s.target, "reason": s.reason, "hint": s.hint} for s in result.skipped],
        "targets": [
            {
                "target": t.target,
                "path": context.shown_path(t.path),
                "cases": t.cases,
                "complete": t.complete,
                "seconds": round(t.seconds, 3),
                "cached": t.cached,
            }
            for t in result.targets
        ],
    }
    if context.show_suppressed:
        document["suppressed"] = [{**_finding(f, context), "reason": reason} for f, reason in result.suppressed]
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _finding(finding: Finding, context: ReportContext) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": finding.id,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "message": explained(finding),
        **_place(finding.location, context),
        "target": finding.targets[0] if finding.targets else "",
        "targets": list(finding.targets),
        "related": [
            {
                "path": context.shown_path(related.location.path),
                "line": related.location.region.line,
                "column": related.location.region.column,
                "message": related.message,
            }
            for related in finding.related
        ],
    }
    if finding.fix:
        data["fix"] = [{**_place(edit.location, context), "text": edit.text} for edit in finding.fix]
    return data


def _place(location: Location, context: ReportContext) -> dict[str, Any]:
    region = location.region
    return {
        "path": context.shown_path(location.path),
        "line": region.line,
        "column": region.column,
        "end_line": region.end_line,
        "end_column": region.end_column,
    }
