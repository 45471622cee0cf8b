"""The text a person reads: each finding with its line of code, carets, and what explains it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from shapelint.findings import Severity
from shapelint.report.context import Sources
from shapelint.report.frame import frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapelint.findings import Finding, LintResult, Related, Step
    from shapelint.report.context import ReportContext

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_TRAIL_WIDTH = 110
_TARGETS_SHOWN = 4


def render(result: LintResult, context: ReportContext) -> str:
    """Every finding as a block, blocks apart by an empty line; empty where there is nothing to say."""
    writer = _Writer(context, Sources(context.read))
    blocks = [writer.block(finding) for finding in result.findings]
    if context.show_suppressed:
        blocks += [writer.block(finding, f"silenced: {reason}") for finding, reason in result.suppressed]
    return "\n".join(blocks)


@dataclass(frozen=True, slots=True)
class _Writer:
    context: ReportContext
    sources: Sources

    def block(self, finding: Finding, state: str = "") -> str:
        region = finding.location.region
        lines = self.sources.lines(finding.location.path)
        drawn = () if lines is None else frame(lines, region)
        wide = max([len(str(line.number)) for line in drawn if line.number > 0], default=1)
        margin = " " * (wide + 1)
        rows = [self._head(finding)]
        if drawn:
            rows.append(self._dim(f"{margin}|"))
        for line in drawn:
            if line.number > 0:
                rows.append(f"{self._dim(f'{line.number:>{wide}} |')} {line.text}".rstrip())
            elif line.number < 0:
                rows.append(self._dim(line.text))
            else:
                carets = line.text.lstrip(" ")
                indent = line.text[: len(line.text) - len(carets)]
                rows.append(f"{self._dim(f'{margin}|')} {indent}{self._paint(carets, finding.severity)}")
        facts = self._facts(finding, source_read=lines is not None)
        rows += [self._fact(margin, fact) for fact in (*facts, *((state,) if state else ()))]
        return "".join(f"{row}\n" for row in rows)

    def _head(self, finding: Finding) -> str:
        region = finding.location.region
        place = f"{self.context.shown_path(finding.location.path)}:{region.line}:{region.column}"
        severity = self._paint(finding.severity.value, finding.severity)
        return f"{self._style(place, bold=True)}: {severity} {finding.id} {finding.rule}"

    def _facts(self, finding: Finding, *, source_read: bool) -> tuple[str, ...]:
        facts = [finding.message, *finding.notes]
        facts += [self._related(related) for related in finding.related]
        if finding.trail:
            facts.append(trail_line(finding))
        if len(finding.targets) > 1:
            facts.append(_seen_in(finding.targets))
        if not source_read:
            facts.append("the source file can't be read, so its line is not shown")
        if finding.help:
            facts.append(f"help: {finding.help}")
        return tuple(facts)

    def _related(self, related: Related) -> str:
        line = related.location.region.line
        source = self.sources.line(related.location.path, line).strip()
        place = f"{related.message}: {self.context.shown_path(related.location.path)}:{line}"
        return f"{place}  {source}" if source else place

    def _fact(self, margin: str, fact: str) -> str:
        first, *rest = fact.splitlines() or [""]
        if first.startswith("help: "):
            first = self._style("help", fg="green", bold=True) + first[4:]
        return "\n".join((f"{margin}{self._dim('=')} {first}", *(f"{margin}  {line}" for line in rest)))

    def _paint(self, text: str, severity: Severity) -> str:
        return self._style(text, fg=_COLORS[severity], bold=True)

    def _dim(self, text: str) -> str:
        return self._style(text, fg="blue")

    def _style(self, text: str, *, fg: str | None = None, bold: bool = False) -> str:
        return click.style(text, fg=fg, bold=bold or None) if self.context.color else text


def trail_line(finding: Finding) -> str:
    """How the shape came about, on one line: ``x came from: [B, 3, 8, 8] -> conv1 [B, 16, 6, 6] -> …``.

    A long way loses its middle. The first step is the start, of which the shape is enough when the subject is named.
    """
    subject = _subject(finding)
    steps = [step.message.replace(" -> ", " ") for step in finding.trail]
    if subject:
        steps[0] = _shape(finding.trail[0]) or steps[0]
    ways = [steps, *([*steps[:head], "…", steps[-1]] for head in range(len(steps) - 2, 0, -1))]
    lines = [f"{subject or 'the shape'} came from: {' -> '.join(way)}" for way in ways]
    return next((line for line in lines if len(line) <= _TRAIL_WIDTH), lines[-1])


def _subject(finding: Finding) -> str:
    """The name that the message gives the last shape of the trail (``x is [B, 576]``), empty if it names none."""
    shape = re.escape(_shape(finding.trail[-1]))
    # Each value of a message stands behind a colon or behind the shape of another one.
    named = rf"(?:^|: |\], )((?:(?! is |: ).)+?) is (?:[a-z]+\d*)?{shape}"
    found = re.search(named, "\n".join((finding.message, *finding.notes)), re.MULTILINE) if shape else None
    return found.group(1) if found else ""


def _shape(step: Step) -> str:
    return step.message.rpartition(" -> ")[2] if " -> " in step.message else ""


def _seen_in(targets: Sequence[str]) -> str:
    shown = ", ".join(targets[:_TARGETS_SHOWN])
    more = len(targets) - _TARGETS_SHOWN
    return f"seen in: {shown} and {more} more" if more > 0 else f"seen in: {shown}"
