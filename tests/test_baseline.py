"""The baseline: what it matches, what it reports as stale, what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from shapelint.baseline import Applied, BaselineError, Entry, apply, dump, load
from shapelint.findings import Finding, Location, Region, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES = {"/repo/a.py": "y = f(x)\nz = g(x)\n", "/repo/sub/b.py": "y = f(x)\n"}


def text_of(sources: dict[str, str]) -> Callable[[Location], str]:
    """The text of a one-line region of these sources."""

    def look_up(location: Location) -> str:
        region = location.region
        return sources[location.path].split("\n")[region.line - 1][region.column - 1 : region.end_column - 1]

    return look_up


def fault(path: str, line: int, needle: str, rule: str = "SL101", sources: dict[str, str] = SOURCES) -> Finding:
    column = sources[path].split("\n")[line - 1].index(needle) + 1
    place = Location(path, Region(line, column, line, column + len(needle)))
    return Finding(rule, "matmul-dims", Severity.ERROR, f"{needle} fails\nbecause", place)


def test_what_was_dumped_is_known_and_everything_else_is_kept() -> None:
    old = [fault("/repo/a.py", 1, "f(x)"), fault("/repo/sub/b.py", 1, "f(x)")]
    entries = load(dump(old, "/repo", text_of(SOURCES)))
    new = fault("/repo/a.py", 2, "g(x)")
    other_rule = fault("/repo/a.py", 1, "f(x)", rule="SL104")
    found = [old[0], other_rule, new, old[1]]
    assert apply(found, entries, "/repo", text_of(SOURCES)) == Applied((other_rule, new), tuple(old), ())


def test_the_file_is_readable_sorted_and_independent_of_the_order() -> None:
    found = [fault("/repo/sub/b.py", 1, "f(x)"), fault("/repo/a.py", 1, "f(x)"), fault("/repo/a.py", 1, "f(x)")]
    text = dump(found, "/repo", text_of(SOURCES))
    assert text == dump(found[::-1], "/repo", text_of(SOURCES))
    assert text.endswith("\n")
    written = json.loads(text)
    entry = {"rule": "SL101", "fingerprint": "259072e6c653cc56", "message": "f(x) fails"}  # sha256 of "f(x)", its start
    assert written["findings"] == [{**entry, "path": "a.py", "count": 2}, {**entry, "path": "sub/b.py", "count": 1}]
    assert (written["version"], written["tool"]) == (1, "shapelint")


@pytest.mark.parametrize(
    ("line", "needle", "after"),
    [
        (3, "f(x)", "# one\n# two\ny = f(x)\n"),  # lines moved
        (1, "f( x )", "if y: y = f( x )\n"),  # formatted, and columns moved
    ],
)
def test_a_finding_stays_known_when_it_moves_or_is_formatted(line: int, needle: str, after: str) -> None:
    entries = load(dump([fault("/repo/a.py", 1, "f(x)")], "/repo", text_of(SOURCES)))
    sources = {"/repo/a.py": after}
    moved = fault("/repo/a.py", line, needle, sources=sources)
    assert apply([moved], entries, "/repo", text_of(sources)) == Applied((), (moved,), ())


def test_another_expression_is_new_and_its_entry_stale() -> None:
    entries = load(dump([fault("/repo/a.py", 1, "f(x)")], "/repo", text_of(SOURCES)))
    changed = fault("/repo/a.py", 2, "g(x)")
    applied = apply([changed], entries, "/repo", text_of(SOURCES))
    assert applied == Applied((changed,), (), entries)
    assert applied.stale[0].message == "f(x) fails"


def test_of_more_findings_than_counted_the_further_ones_are_new() -> None:
    twice = {"/repo/a.py": "f(x)\nf(x)\nf(x)\n"}
    three = [fault("/repo/a.py", line, "f(x)", sources=twice) for line in (1, 2, 3)]
    entries = load(dump(three[:2], "/repo", text_of(twice)))
    assert apply(three, entries, "/repo", text_of(twice)) == Applied((three[2],), tuple(three[:2]), ())
    (stale,) = apply(three[:1], entries, "/repo", text_of(twice)).stale
    assert stale.count == 1


def test_an_entry_on_what_was_not_looked_at_is_not_stale() -> None:
    entries = load(dump([fault("/repo/a.py", 1, "f(x)")], "/repo", text_of(SOURCES)))
    look = text_of(SOURCES)
    assert apply([], entries, "/repo", look, paths=["/repo/sub/b.py"]).stale == ()
    assert apply([], entries, "/repo", look, rules=["SL104"]).stale == ()
    assert apply([], entries, "/repo", look, paths=["/repo/a.py"], rules=["SL101"]).stale == entries


def test_an_empty_baseline_knows_nothing() -> None:
    assert load(dump([], "/repo", text_of(SOURCES))) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "the baseline is not JSON: "),
        ("[]", 'the baseline has no list "findings"'),
        ('{"findings": [], "version": 2}', "the baseline has version 2, this shapelint reads version 1"),
        ('{"version": 1, "findings": [3]}', "entry 1 of the baseline is not an object"),
        ('{"version": 1, "findings": [{"path": "a", "rule": "SL101"}]}', 'entry 1 of the baseline has no text "finger'),
        (
            '{"version": 1, "findings": [{"path": "a", "rule": "b", "fingerprint": "c", "count": true}]}',
            'entry 1 of the baseline has "count" True',
        ),
        (
            '{"version": 1, "findings": [{"path": "a", "rule": "b", "fingerprint": "c", "message": 1}]}',
            'entry 1 of the baseline has a "message" that is no text',
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_refused_in_words(text: str, said: str) -> None:
    with pytest.raises(BaselineError) as refused:
        load(text)
    assert str(refused.value).startswith(said)


def test_entries_of_the_same_key_add_up() -> None:
    entries = (Entry("a.py", "SL101", "x"), Entry("a.py", "SL101", "x", count=2))
    (stale,) = apply([], entries, "/repo", text_of(SOURCES)).stale
    assert stale.count == 3
