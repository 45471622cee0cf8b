"""Findings silenced by a comment, and comments that silence nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from shapelint.findings import Edit, Finding, Location, Region, Severity
from shapelint.source.comments import ignores
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from shapelint.source.comments import Ignore
    from shapelint.source.files import SourceCache, SourceFile

UNUSED = "unused-suppression"


class RuleText(Protocol):
    """What is needed of a rule: its id, name, severity, and its message with the facts filled in."""

    @property
    def id(self) -> str:
        """``SL901``."""

    @property
    def name(self) -> str:
        """``unused-suppression``."""

    @property
    def severity(self) -> Severity:
        """How bad a finding of the rule is."""

    def format(self, **facts: object) -> str:
        """The message."""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """The findings to tell, those that a comment silences with its text, and findings on comments that silence none."""

    kept: tuple[Finding, ...]
    suppressed: tuple[tuple[Finding, str], ...] = ()
    unused: tuple[Finding, ...] = ()


def apply(
    findings: Iterable[Finding],
    sources: SourceCache,
    *,
    enabled: Mapping[str, Sequence[RuleText]] | None = None,
    rules: Sequence[RuleText] = (),
) -> Suppressed:
    """The findings without those that an ``ignore`` comment on their statement, or the file's, silences.

    ``enabled`` has the path of each file whose models were checked to the end, with the rules that were on for it: only
    there can a comment be known to be unused. ``rules`` are all there are. A code is reported as unused where its rules
    were on, a bare comment where all were; a code that names no rule always.
    """
    reader = _Reader(sources)
    kept: list[Finding] = []
    suppressed: list[tuple[Finding, str]] = []
    used: set[tuple[str, Ignore, str]] = set()
    for finding in findings:
        hits = reader.hits(finding)
        used.update((finding.location.path, ignore, code) for ignore, code in hits)
        if hits:
            suppressed.append((finding, hits[0][0].text))
        else:
            kept.append(finding)
    unused = [
        finding
        for path, on in sorted((enabled or {}).items())
        for finding in _unused(sources.load(path), on, rules, {(i, code) for p, i, code in used if p == path})
    ]
    return Suppressed(tuple(kept), tuple(suppressed), tuple(unused))


def means(code: str, rule_id: str, name: str) -> bool:
    """Whether a code in an ignore comment means a rule: by id, the beginning of its id, name, or ``ALL``."""
    known = code.casefold()
    return known in {name, "all"} or (known.startswith("sl") and rule_id.casefold().startswith(known))


class _Reader:
    """Which comments stand at a finding, with the statements of each file read once."""

    def __init__(self, sources: SourceCache) -> None:
        self.map = SourceMap(sources)
        self.comments: dict[str, tuple[Ignore, ...]] = {}

    def hits(self, finding: Finding) -> list[tuple[Ignore, str]]:
        """The ignore comments that silence a finding, with the code that does."""
        path, region = finding.location.path, finding.location.region
        if path not in self.comments:
            self.comments[path] = ignores(self.map.sources.load(path))
        if not self.comments[path]:
            return []
        first, last = self.map.statement_lines(path, region.line)
        last = max(last, region.end_line)
        return [
            (ignore, code)
            for ignore in self.comments[path]
            if (ignore.comment.top if ignore.whole_file else first <= ignore.comment.line <= last)
            for code in ignore.codes or ("ALL",)
            if means(code, finding.id, finding.rule)
        ]


def _unused(
    source: SourceFile, on: Sequence[RuleText], rules: Sequence[RuleText], used: Collection[tuple[Ignore, str]]
) -> Iterator[Finding]:
    rule = next((r for r in on if r.name == UNUSED), None)
    if rule is None:
        return
    names = {r.name for r in on}
    others = [r for r in rules if r.name != UNUSED]
    for ignore in ignores(source):
        idle = tuple(
            [c for c in ignore.codes or ("ALL",) if (ignore, c) not in used and _judged(c, rule, names, others)]
        )
        if not idle:
            continue
        shown = (
            f"# {ignore.text}" if len(idle) == len(ignore.codes or idle) else f"{', '.join(idle)} in # {ignore.text}"
        )
        finding = Finding(
            rule.id,
            rule.name,
            rule.severity,
            rule.format(comment=shown, reason=_reason(ignore, idle, others)),
            ignore.location(source.path),
            help="remove it",
            fix=(_removal(source, ignore, idle),),
        )
        yield finding


def _judged(code: str, own: RuleText, on: Collection[str], rules: Sequence[RuleText]) -> bool:
    """Whether every rule that a code means was on; then it can be said that it silences nothing."""
    if code.casefold() != "all" and means(code, own.id, own.name):
        return False
    return all(r.name in on for r in rules if means(code, r.id, r.name))


def _reason(ignore: Ignore, idle: Sequence[str], rules: Sequence[RuleText]) -> str:
    strange = [code for code in idle if not any(means(code, r.id, r.name) for r in rules)]
    if strange == [""]:
        return "it names no rule"
    if strange:
        return f"no rule is called {' or '.join(strange)}"
    if ignore.whole_file and not ignore.comment.top:
        return "it stands below code, and only one at the top of the file counts"
    where = "this file" if ignore.whole_file else "this statement"
    named = "" if not ignore.codes else f" of {' or '.join(idle)}"
    return f"{where} has no finding{named}"


def _removal(source: SourceFile, ignore: Ignore, idle: Sequence[str]) -> Edit:
    """Takes the idle codes out; the whole remark where none is left, with its line where that is then empty."""
    left = [c for c in ignore.codes if c not in idle]
    location = ignore.location(source.path)
    line = source.lines[ignore.comment.line - 1]
    region = location.region
    if left:
        text = line[ignore.start - 1 : ignore.end - 1]
        before, _, rest = text.partition("[")
        return Edit(location, f"{before}[{', '.join(left)}]{rest.partition(']')[2]}")
    rest = line[ignore.end - 1 :]
    before = line[: ignore.start - 1]
    if rest.strip():  # another remark follows
        return Edit(_stretch(location, region.column, len(line) - len(rest.lstrip()) + 1), "")
    if before.strip():
        return Edit(_stretch(location, len(before.rstrip()) + 1, len(line) + 1), "")
    end = Region(region.line, 1, region.line + 1, 1)
    return Edit(replace(location, region=end), "")


def _stretch(location: Location, start: int, end: int) -> Location:
    line = location.region.line
    return Location(location.path, Region(line, start, line, end))
