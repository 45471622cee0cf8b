"""What a run did, in a few lines for stderr: how much was checked, how long it took, and what was not checked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from shapelint.findings import Severity

if TYPE_CHECKING:
    from shapelint.findings import LintResult, Skipped
    from shapelint.report.context import ReportContext


def summary(result: LintResult, context: ReportContext, seconds: float) -> str:
    """The summary of a run that took ``seconds``, each line ended.

    First the findings, and how many models, cases and assignments were checked in what time; then the models whose
    trace ended early, then each thing that was skipped with its reason and the line that would make it checked.
    """
    lines = [f"{_found(result)} ({_checked(result)} in {_time(seconds)})"]
    incomplete = [t.target for t in result.targets if not t.complete]
    if incomplete:
        lines.append(f"checked in part: {', '.join(incomplete)}")
    if result.skipped:
        lines.append(f"not checked: {_count(len(result.skipped), 'model or file', 'models or files')}")
        for skipped in result.skipped:
            lines += _skipped(skipped, context)
    return "".join(f"{line}\n" for line in lines)


def _found(result: LintResult) -> str:
    counts = Counter(finding.severity for finding in result.findings)
    found = ", ".join(_count(counts[s], s.value, f"{s.value}s") for s in Severity if counts[s]) or "no findings"
    return f"{found}, {len(result.suppressed)} silenced" if result.suppressed else found


def _checked(result: LintResult) -> str:
    targets = result.targets
    if not targets:
        return "no model checked"
    cached = sum(t.cached for t in targets)
    models = _count(len(targets), "model", "models") + (f", {cached} of them from the cache" if cached else "")
    cases = _count(sum(t.cases for t in targets), "case", "cases")
    return f"{models}, {cases}, {_count(sum(t.assignments for t in targets), 'assignment', 'assignments')}"


def _skipped(skipped: Skipped, context: ReportContext) -> list[str]:
    place = context.shown_path(skipped.path) + (f":{skipped.line}" if skipped.line > 0 else "")
    lines = [f"  {place + ': ' if place else ''}{skipped.target}: {skipped.reason}"]
    if skipped.hint:
        lines.append(f"    {skipped.hint}")
    return lines


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _time(seconds: float) -> str:
    if seconds < 60:  # noqa: PLR2004  # a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"
