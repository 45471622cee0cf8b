"""Edits that are tried on the models before they are written: what ``check --fix`` and ``--diff`` do."""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from shapelint.lint import judge, prepare, syntax
from shapelint.records import Unsaved
from shapelint.source.edits import EditError, apply_edits
from shapelint.source.files import SourceCache
from shapelint.source.suppressions import UNUSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from shapelint.findings import Edit, Finding
    from shapelint.lint import Outcome, Prepared, Request
    from shapelint.source.files import SourceFile
    from shapelint.tracing import Traced

_ROUNDS = 4
"""A comment that silenced a fault can go once the fault has gone, so that one look is not enough."""

_Key = tuple[str, str, int]


class FixError(Exception):
    """Why the edits could not be written; no file has been changed."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file and the text it is to get."""

    source: SourceFile
    text: str


@dataclass(frozen=True, slots=True)
class Repaired:
    """What the edits do: the outcome before and after them, the files, the findings they remove, and those they don't.

    ``refused`` are findings with an edit that was tried and is not to be written, each with the reason.
    """

    before: Outcome
    after: Outcome
    changes: tuple[Change, ...]
    fixed: tuple[Finding, ...]
    refused: tuple[tuple[Finding, str], ...]


@dataclass(frozen=True, slots=True)
class _State:
    """The files as they would be (``texts`` where that differs from the disk), and what the models then are."""

    sources: SourceCache
    texts: dict[str, str]
    traced: tuple[Traced, ...]
    outcome: Outcome


def repair(request: Request, on_progress: Callable[[int, int], None] | None = None) -> Repaired:
    """The edits that remove their findings and bring no others, found by tracing the models again with them.

    Nothing is written. Raises what `shapelint.lint.lint` raises.
    """
    sources = SourceCache()
    run = prepare(request, sources)
    with run.workers(run.planned, cache=True) as at_work:
        found = syntax(run, sources)
        traced = at_work.trace(on_progress)
    start = state = _State(sources, {}, traced, judge(run, traced, sources, found))
    fixed: list[Finding] = []
    refused: list[tuple[Finding, str]] = []
    for _ in range(_ROUNDS):
        repairable = [finding for finding in state.outcome.result.findings if finding.fix]
        if not repairable:
            break
        state, done, refused = _round(run, state, repairable)
        fixed += done
        if not done:
            break
    changes = tuple([Change(sources.load(path), text) for path, text in sorted(state.texts.items())])
    return Repaired(start.outcome, state.outcome, changes, tuple(fixed), tuple(refused))


def write(changes: Sequence[Change]) -> None:
    """Write the files, all or none; raises FixError where one has changed since it was read, or can't be written."""
    for change in changes:
        _expect_unchanged(change.source)
    aside: list[tuple[str, str]] = []
    try:
        for change in changes:
            path = os.path.realpath(change.source.path)
            descriptor, name = tempfile.mkstemp(prefix=".shapelint-", dir=os.path.dirname(path))
            aside.append((name, path))
            with os.fdopen(descriptor, "wb") as file:
                file.write(change.source.encoded(change.text))
            shutil.copymode(path, name)
        for name, path in aside:
            os.replace(name, path)
    except OSError as error:
        raise FixError(f"{_shown(path)}: can't be written: {error.strerror or error}") from error
    finally:
        for name, _ in aside:
            if os.path.exists(name):
                os.remove(name)


def diff(changes: Iterable[Change]) -> str:
    """The changes as a unified diff, which ``patch -p0`` takes from the current folder."""
    return "".join(chain.from_iterable(_diff(change) for change in changes))


def told(repaired: Repaired, *, written: bool) -> tuple[str, ...]:
    """What was done, and for each edit that was not, why; a line each."""
    files = len(repaired.changes)
    verb = "fixed" if written else "would fix"
    count = len(repaired.fixed)
    where = f" in {files} file{'' if files == 1 else 's'}" if count else ""
    lines = [f"{verb} {count} finding{'' if count == 1 else 's'}{where}"]
    for finding, reason in repaired.refused:
        place = f"{_shown(finding.location.path)}:{finding.location.region.line}"
        lines.append(f"not fixed: {place}: {finding.id}: {reason}")
    return tuple(lines)


def _round(
    run: Prepared, state: _State, findings: Sequence[Finding]
) -> tuple[_State, list[Finding], list[tuple[Finding, str]]]:
    """The state after all edits together, else after those that hold one by one; what they fix, and what isn't."""
    refused: list[tuple[Finding, str]] = []
    open_ = []
    for finding in findings:
        outside = next((edit.location.path for edit in finding.fix if not run.scope.covers(edit.location.path)), "")
        if outside:
            refused.append((finding, f"its edit is in {_shown(outside)}, which is not among the given paths"))
        else:
            open_.append(finding)
    if not open_:
        return state, [], refused
    tried = _tried(run, state, open_)
    if isinstance(tried, _State):
        return tried, open_, refused
    if len(open_) == 1:
        return state, [], [*refused, (open_[0], tried)]
    done: list[Finding] = []
    waiting = open_
    while waiting:
        finding = waiting.pop(0)
        tried = _tried(run, state, [finding])
        if isinstance(tried, str):
            refused.append((finding, tried))
            continue
        state = tried
        done.append(finding)
        # The places of the others as they are now, with the edits that their new text asks for.
        keys = {_moved(other, finding.fix) for other in waiting}
        waiting = [f for f in state.outcome.result.findings if f.fix and _key(f) in keys]
    return state, done, refused


def _tried(run: Prepared, state: _State, findings: Sequence[Finding]) -> _State | str:
    """The state with the findings' edits; in words, why not."""
    edits = list(dict.fromkeys(edit for finding in findings for edit in finding.fix))
    try:
        texts = {
            path: apply_edits(state.sources.load(path), [edit for edit in edits if edit.location.path == path])
            for path in dict.fromkeys(edit.location.path for edit in edits)
        }
    except EditError as error:
        return str(error)
    sources = state.sources.changed(texts)
    texts = {**state.texts, **texts}
    unsaved = tuple([Unsaved(path, text, sources.load(path).encoding) for path, text in texts.items()])
    real = {os.path.realpath(edit.location.path) for edit in edits}
    again = [n for n, old in enumerate(state.traced) if _touches(old, real)]
    planned = [replace(run.planned[n], target=replace(run.planned[n].target, unsaved=unsaved)) for n in again]
    with run.workers(planned, cache=False) as at_work:
        new = dict(zip(again, at_work.trace()))
    traced = tuple([new.get(n, old) for n, old in enumerate(state.traced)])
    outcome = judge(run, traced, sources)
    expected = Counter(_moved(f, edits) for f in _all(state.outcome)) - Counter(_moved(f, edits) for f in findings)
    extra = Counter(_key(f) for f in _all(outcome)) - expected
    for finding in _all(outcome):
        if not extra[_key(finding)] or finding.rule == UNUSED:
            continue
        if any(_key(finding) == _moved(old, edits) for old in findings):
            return "the fault is still there after the edit"
        place = f"{_shown(finding.location.path)}:{finding.location.region.line}"
        return f"the edit brings {finding.id} at {place}: {finding.message.splitlines()[0]}"
    return _State(sources, texts, traced, outcome)


def _touches(traced: Traced, real: set[str]) -> bool:
    """Whether a model has to be traced again: it read one of the files, or never came to say what it reads."""
    report = traced.report
    return report.failure is not None or not real.isdisjoint(map(os.path.realpath, report.files))


def _all(outcome: Outcome) -> Iterable[Finding]:
    return chain(outcome.result.findings, (finding for finding, _ in outcome.result.suppressed))


def _key(finding: Finding) -> _Key:
    return finding.id, finding.location.path, finding.location.region.line


def _moved(finding: Finding, edits: Iterable[Edit]) -> _Key:
    """The key of a finding once the edits are made: lines that they take out or put in shift what is below."""
    rule, path, line = _key(finding)
    shift = 0
    for edit in edits:
        region = edit.location.region
        if edit.location.path == path and region.end_line <= line:
            shift += edit.text.count("\n") - (region.end_line - region.line)
    return rule, path, line + shift


def _expect_unchanged(source: SourceFile) -> None:
    try:
        with open(source.path, "rb") as file:
            same = file.read() == source.encoded(source.text)
    except OSError as error:
        raise FixError(f"{_shown(source.path)}: can't be read: {error.strerror}") from error
    if not same:
        raise FixError(f"{_shown(source.path)} has changed since it was read: nothing was written, run it again")


def _diff(change: Change) -> Iterable[str]:
    name = _shown(change.source.path)
    # Only \n ends a line for patch; splitlines would cut at \r and form feeds too.
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (change.source.text, change.text))
    for line in difflib.unified_diff(before, after, name, name):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _shown(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
