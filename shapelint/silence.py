"""What is not told: findings silenced by a comment, or known to a baseline."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from shapelint import baseline
from shapelint.baseline import BaselineError
from shapelint.source import suppressions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from shapelint.findings import Finding, Location
    from shapelint.projects import Scope
    from shapelint.rules import Rule
    from shapelint.source.files import SourceCache

    Text = Callable[[Location], str]


@dataclass(frozen=True, slots=True)
class Silenced:
    """The findings to tell, the others with the reason, and words for stderr."""

    kept: tuple[Finding, ...]
    suppressed: tuple[tuple[Finding, str], ...] = ()
    notices: tuple[str, ...] = ()


def by_comment(
    findings: Sequence[Finding],
    sources: SourceCache,
    rules: Sequence[Rule],
    checked: Mapping[str, Sequence[Rule]],
) -> Silenced:
    """The findings that no ``ignore`` comment silences, with one for each comment that silences nothing.

    ``rules`` are all there are; ``checked`` those that were on for each file whose models were checked to the end.
    """
    done = suppressions.apply(findings, sources, enabled=checked, rules=rules)
    return Silenced((*done.kept, *done.unused), done.suppressed)


def by_baseline(
    findings: Sequence[Finding],
    sources: SourceCache,
    scope: Scope,
    enabled: Mapping[str, Sequence[Rule]],
    *,
    update: bool,
) -> Silenced:
    """The findings that their project's baseline doesn't know, and those it does; ``enabled`` are its rules, by root.

    With ``update`` the baselines are written and know all of them. Raises BaselineError, also where there is none to
    write.
    """
    groups: dict[str, list[Finding]] = {config.baseline: [] for config in scope.projects}
    for finding in findings:
        groups[scope.project_of(finding.location.path).baseline].append(finding)
    if update and not any(groups):
        raise BaselineError('no baseline is named: add --baseline FILE, or baseline = "FILE" to the configuration')
    text_of = partial(_text, sources)
    done = [Silenced(tuple(groups.pop("", ())))]
    for path, group in groups.items():
        projects = [config for config in scope.projects if config.baseline == path]
        ids = {rule.id for config in projects for rule in enabled[config.root]}
        looked_at = {file for file, config in scope.files if config in projects}
        if update:
            done.append(_written(path, group, text_of))
        else:
            done.append(_known(path, group, text_of, looked_at, ids))
    return Silenced(
        tuple([finding for each in done for finding in each.kept]),
        tuple([pair for each in done for pair in each.suppressed]),
        tuple([notice for each in done for notice in each.notices]),
    )


def _known(
    path: str, findings: Sequence[Finding], text_of: Text, looked_at: Collection[str], ids: Collection[str]
) -> Silenced:
    applied = baseline.apply(findings, _read(path), os.path.dirname(path), text_of, paths=looked_at, rules=ids)
    notices = [f"{_shown(path)}: {_stale(entry)}" for entry in applied.stale]
    if notices:
        notices.append("write the baseline anew with --update-baseline")
    return Silenced(applied.kept, tuple([(finding, "baseline") for finding in applied.baselined]), tuple(notices))


def _written(path: str, findings: Sequence[Finding], text_of: Text) -> Silenced:
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(baseline.dump(findings, os.path.dirname(path), text_of))
    except OSError as error:
        raise BaselineError(f"{_shown(path)}: the baseline can't be written: {error.strerror}") from error
    known = f"{len(findings)} finding{'' if len(findings) == 1 else 's'}"
    return Silenced((), tuple([(finding, "baseline") for finding in findings]), (f"{_shown(path)}: knows {known} now",))


def _text(sources: SourceCache, location: Location) -> str:
    file, region = sources.load(location.path), location.region
    return file.text[file.offset(region.line, region.column) : file.offset(region.end_line, region.end_column)]


def _read(path: str) -> tuple[baseline.Entry, ...]:
    try:
        with open(path, encoding="utf-8") as file:
            return baseline.load(file.read())
    except FileNotFoundError as error:
        raise BaselineError(f"{_shown(path)}: there is no such baseline; write it with --update-baseline") from error
    except OSError as error:
        raise BaselineError(f"{_shown(path)}: the baseline can't be read: {error.strerror}") from error
    except ValueError as error:  # no baseline, or no text at all
        raise BaselineError(f"{_shown(path)}: {error}") from error


def _stale(entry: baseline.Entry) -> str:
    times = "" if entry.count == 1 else f"{entry.count} times "
    return f"{entry.rule} in {entry.path} is {times}no longer found: {entry.message}"


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
