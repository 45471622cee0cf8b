"""GitHub workflow commands: annotations on a pull request without an upload, also for forks.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from shapelint.findings import Severity
from shapelint.report import concise
from shapelint.report.prose import explained_with_places, repository_or_shown

if TYPE_CHECKING:
    from shapelint.findings import Finding, LintResult
    from shapelint.report.context import ReportContext

SHOWN = 10
"""So many annotations of each severity does GitHub show for a step; it drops the others without a word."""

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(result: LintResult, context: ReportContext) -> str:
    """The worst findings as commands, the first ten of each severity; the others as plain lines of the log."""
    rows: list[str] = []
    rest: list[str] = []
    used: Counter[Severity] = Counter()
    for finding in sorted(result.findings, key=lambda f: (f.severity.rank, f.sort_key)):
        used[finding.severity] += 1
        if used[finding.severity] <= SHOWN:
            rows.append(_command(finding, context))
        else:
            rest.append(concise.line(finding, context))
    return "".join(f"{row}\n" for row in (*rows, *rest))


def notices(result: LintResult) -> tuple[str, ...]:
    """What GitHub will not show as annotations, in words."""
    counts = Counter(finding.severity for finding in result.findings)
    return tuple(
        f"GitHub shows {SHOWN} {severity.value} annotations a step: {counts[severity] - SHOWN} more are in the log."
        for severity in Severity
        if counts[severity] > SHOWN
    )


def _command(finding: Finding, context: ReportContext) -> str:
    region = finding.location.region
    path = repository_or_shown(finding.location.path, context)
    properties = {"file": path, "line": str(region.line), "endLine": str(region.end_line)}
    if region.line == region.end_line:  # GitHub refuses columns on a region of several lines
        properties |= {"col": str(region.column), "endColumn": str(region.end_column)}
    properties["title"] = f"{finding.id} {finding.rule}"
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(explained_with_places(finding, context))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
