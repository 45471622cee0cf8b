"""One line a finding, ``path:line:col: SL101 message``, for grep and for editors' error patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapelint.findings import Finding, LintResult
    from shapelint.report.context import ReportContext


def render(result: LintResult, context: ReportContext) -> str:
    """A line for each finding; what is silenced ends in the reason, where it is shown at all."""
    lines = [line(finding, context) for finding in result.findings]
    if context.show_suppressed:
        lines += [f"{line(finding, context)} (silenced: {reason})" for finding, reason in result.suppressed]
    return "".join(f"{text}\n" for text in lines)


def line(finding: Finding, context: ReportContext) -> str:
    """The finding on one line, its message's line breaks turned into spaces."""
    region = finding.location.region
    place = f"{context.shown_path(finding.location.path)}:{region.line}:{region.column}"
    return f"{place}: {finding.id} {' '.join(finding.message.split())}"
