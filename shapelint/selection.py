"""Which rules are on: ids, id prefixes, names and ALL, the most precise word winning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.specs import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shapelint.rules import Rule

_EXACT = 100  # longer than any prefix


class SelectionError(Exception):
    """A word that selects no rule, with a suggestion."""


def select_rules(
    rules: Sequence[Rule],
    select: Iterable[str],
    ignore: Iterable[str],
    cli_select: Iterable[str] = (),
    cli_ignore: Iterable[str] = (),
) -> tuple[Rule, ...]:
    """The rules that are on, in order.

    For each rule the most precise word counts (its id or name, then a longer prefix, then ALL); of equally precise ones
    the command line's, and then the one that ignores. Raises SelectionError for a word that fits no rule.
    """
    words = [
        (word, layer, on)
        for layer, on, given in ((0, True, select), (0, False, ignore), (1, True, cli_select), (1, False, cli_ignore))
        for word in given
    ]
    for word, _, _ in words:
        expand(rules, word)
    enabled = []
    for rule in rules:
        told = [(_precision(rule.id, rule.name, word), layer, not on) for word, layer, on in words]
        best = max(told, default=(-1, 0, True))
        if best[0] >= 0 and not best[2]:
            enabled.append(rule)
    return tuple(enabled)


def expand(rules: Sequence[Rule], word: str) -> tuple[Rule, ...]:
    """The rules that a word names. Raises SelectionError, with the closest known word, if there is none."""
    found = tuple([rule for rule in rules if is_named(rule.id, rule.name, word)])
    if not found and word != "ALL":
        hint = suggestion(word, [name for rule in rules for name in (rule.id, rule.name)])
        raise SelectionError(f'no rule is called "{word}"{hint or "; shapelint rules lists them all"}')
    return found


def is_named(rule_id: str, name: str, word: str) -> bool:
    """Whether the word means the rule: its id or a prefix of it, its name, or ALL."""
    return _precision(rule_id, name, word) >= 0


def _precision(rule_id: str, name: str, word: str) -> int:
    if word == "ALL":
        return 0
    if word in {rule_id, name}:
        return _EXACT
    return len(word) if word.startswith("SL") and rule_id.startswith(word) else -1
