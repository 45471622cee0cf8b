"""SL006: files that can't be parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.findings import Finding, Location, Region

if TYPE_CHECKING:
    from shapelint.rules import Rule
    from shapelint.source.files import SourceCache


def syntax_findings(path: str, sources: SourceCache, rule: Rule) -> tuple[Finding, ...]:
    """A finding of the rule where the file can't be parsed by any Python, at the place where the parser stopped."""
    error = sources.load(path).error
    if error is None:
        return ()
    region = Region(error.line, error.column, error.line, error.column + 1)
    message = rule.format(error=error.message)
    return (Finding(rule.id, rule.name, rule.severity, message, Location(path, region)),)
