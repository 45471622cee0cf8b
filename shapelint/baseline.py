"""The baseline: findings that a project knows and has put aside, matched by what stands there and not by the line.

Pure functions: who calls them reads and writes the file, and looks up the source text.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from shapelint.findings import Finding, Location

    Key = tuple[str, str, str]

VERSION = 1
_LENGTH = 16


class BaselineError(ValueError):
    """A baseline file that can't be used; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """``count`` findings of a rule (its id) in a file on the same source text; ``message`` is for the reader.

    ``path`` is relative to the baseline's folder, with ``/``.
    """

    path: str
    rule: str
    fingerprint: str
    count: int = 1
    message: str = ""

    @property
    def key(self) -> Key:
        """What a finding must agree in: path, rule and fingerprint."""
        return (self.path, self.rule, self.fingerprint)


@dataclass(frozen=True, slots=True)
class Applied:
    """Findings that are ``kept`` (new), those the baseline knows, and entries that match fewer findings than they say.

    ``count`` of a stale entry is the number of findings that are gone.
    """

    kept: tuple[Finding, ...]
    baselined: tuple[Finding, ...]
    stale: tuple[Entry, ...]


def load(text: str) -> tuple[Entry, ...]:
    """The entries of a baseline file. Raises BaselineError where it is not one, or of a later version."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise BaselineError(f"the baseline is not JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise BaselineError('the baseline has no list "findings"; write a new one')
    if data.get("version") != VERSION:
        raise BaselineError(f"the baseline has version {data.get('version')!r}, this shapelint reads version {VERSION}")
    return tuple(_entry(item, number) for number, item in enumerate(data["findings"], 1))


def dump(findings: Iterable[Finding], folder: str, text_of: Callable[[Location], str]) -> str:
    """The text of a baseline file in ``folder`` that knows exactly these findings; the same for any order of them.

    ``text_of`` returns the source text of a location.
    """
    counts: Counter[Key] = Counter()
    messages: dict[Key, str] = {}
    for finding in findings:
        key = _key(finding, folder, text_of)
        counts[key] += 1
        message = finding.message.partition("\n")[0]
        messages[key] = min(message, messages.get(key, message))
    written = []
    for key in sorted(counts):
        path, rule, fingerprint = key
        item = {"path": path, "rule": rule, "fingerprint": fingerprint, "count": counts[key], "message": messages[key]}
        written.append(item)
    return json.dumps({"version": VERSION, "tool": "shapelint", "findings": written}, indent=2) + "\n"


def apply(
    findings: Sequence[Finding],
    entries: Iterable[Entry],
    folder: str,
    text_of: Callable[[Location], str],
    *,
    paths: Collection[str] | None = None,
    rules: Collection[str] | None = None,
) -> Applied:
    """The findings divided by the baseline of ``folder``, in their order, and its stale entries, sorted.

    ``paths`` (absolute) and ``rules`` (ids) are what this run looked at, None for everything: an entry on something
    else is never stale. Of more findings than an entry counts, the first ones are known.
    """
    left: Counter[Key] = Counter()
    told: dict[Key, str] = {}
    for entry in entries:
        left[entry.key] += entry.count
        told.setdefault(entry.key, entry.message)
    kept: list[Finding] = []
    known: list[Finding] = []
    for finding in findings:
        key = _key(finding, folder, text_of)
        if left[key] > 0:
            left[key] -= 1
            known.append(finding)
        else:
            kept.append(finding)
    looked_at = None if paths is None else {_relative(path, folder) for path in paths}
    stale = (
        Entry(*key, count=count, message=told[key])
        for key, count in left.items()
        if count > 0 and (looked_at is None or key[0] in looked_at) and (rules is None or key[1] in rules)
    )
    return Applied(tuple(kept), tuple(known), tuple(sorted(stale)))


def _key(finding: Finding, folder: str, text_of: Callable[[Location], str]) -> Key:
    # White space is left out, so that a formatter or another line end changes nothing; so is the message, whose
    # sizes change with the configuration.
    text = "".join(text_of(finding.location).split())
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
    return (_relative(finding.location.path, folder), finding.id, digest)


def _relative(path: str, folder: str) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive on Windows
        return Path(path).as_posix()


def _entry(item: Any, number: int) -> Entry:
    if not isinstance(item, dict):
        raise BaselineError(f"entry {number} of the baseline is not an object")
    fields = {name: item.get(name) for name in ("path", "rule", "fingerprint")}
    for name, value in fields.items():
        if not isinstance(value, str) or not value:
            raise BaselineError(f'entry {number} of the baseline has no text "{name}"')
    count, message = item.get("count", 1), item.get("message", "")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise BaselineError(f'entry {number} of the baseline has "count" {count!r}, it must be a number above 0')
    if not isinstance(message, str):
        raise BaselineError(f'entry {number} of the baseline has a "message" that is no text')
    return Entry(str(fields["path"]), str(fields["rule"]), str(fields["fingerprint"]), count, message)
