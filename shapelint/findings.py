"""What a run of the linter says: findings, what was skipped, and what was checked.

Positions are 1-based lines and columns in Unicode code points, the end exclusive. They are made once, by
``shapelint.source``, and never converted again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Severity(Enum):
    """How bad a finding is; the value is the word in every report and SARIF's ``level``."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for an error, 1 for a warning, 2 for a note: sorts the worst first."""
        return list(Severity).index(self)


@dataclass(frozen=True, slots=True, order=True)
class Region:
    """A stretch of text: 1-based, end exclusive, columns in code points."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A region of a file; ``path`` is absolute, with symlinks as the user wrote them."""

    path: str
    region: Region


@dataclass(frozen=True, slots=True)
class Related:
    """Another place a finding speaks of, such as the line where a layer was made."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of how a shape came about, such as ``conv1 -> [B, 16, 24, 24]``."""

    location: Location
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the text of ``location`` by ``text``."""

    location: Location
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault at one place.

    ``message`` starts with a sentence that stands alone; what follows it explains. ``notes`` are further facts and
    ``help`` what to do, each one line. ``targets`` are the configured models it was seen in, the first one first.
    """

    id: str
    rule: str
    severity: Severity
    message: str
    location: Location
    targets: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    related: tuple[Related, ...] = ()
    trail: tuple[Step, ...] = ()
    fix: tuple[Edit, ...] = ()

    @property
    def sort_key(self) -> tuple[str, Region, str, str]:
        """Path, region, id, message: the order of every report."""
        return (self.location.path, self.location.region, self.id, self.message)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or a target that was not checked, why, and the line that would make it checked."""

    target: str
    reason: str
    hint: str = ""
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class TargetSummary:
    """What was done for one target. ``cases`` counts input signatures times modes, ``path`` is absolute or empty."""

    target: str
    path: str
    cases: int
    assignments: int
    complete: bool
    seconds: float
    cached: bool = False


@dataclass(frozen=True, slots=True)
class LintResult:
    """The outcome of a run, sorted. ``suppressed`` were silenced by a comment or the baseline, with the reason."""

    findings: tuple[Finding, ...] = ()
    suppressed: tuple[tuple[Finding, str], ...] = ()
    skipped: tuple[Skipped, ...] = ()
    targets: tuple[TargetSummary, ...] = ()
    files: tuple[str, ...] = field(default=())

    @property
    def failing(self) -> bool:
        """Whether an error or a warning was found: a note is worth knowing and stops nobody's commit."""
        return any(finding.severity is not Severity.NOTE for finding in self.findings)
