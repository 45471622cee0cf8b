"""A finding in words alone, for formats that show no code: its message, notes and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapelint.findings import Finding
    from shapelint.report.context import ReportContext


def explained(finding: Finding) -> str:
    """The message (its first sentence first), the notes and the help, one a line."""
    help_line = (f"help: {finding.help}",) if finding.help else ()
    return "\n".join((finding.message, *finding.notes, *help_line))


def explained_with_places(finding: Finding, context: ReportContext) -> str:
    """`explained`, and the related places with their paths as seen from the repository."""
    places = [
        f"{related.message}: {repository_or_shown(related.location.path, context)}:{related.location.region.line}"
        for related in finding.related
    ]
    return "\n".join((explained(finding), *places))


def repository_or_shown(path: str, context: ReportContext) -> str:
    """The path below the git root, as a forge wants it; for a file elsewhere the path as seen from ``cwd``."""
    return context.repository_path(path) or context.shown_path(path)
