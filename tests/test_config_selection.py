"""Which rules are on."""

from __future__ import annotations

import pytest

from shapelint.findings import Severity
from shapelint.rules import Rule
from shapelint.selection import SelectionError, expand, select_rules

RULES = tuple(
    Rule(id_, name, Severity.ERROR, "", "", "", "")
    for id_, name in (
        ("SL101", "matmul-dims"),
        ("SL102", "broadcast-shapes"),
        ("SL401", "batch-folded"),
        ("SL404", "unused-submodule"),
    )
)


@pytest.mark.parametrize(
    ("select", "ignore", "cli_select", "cli_ignore", "on"),
    [
        (["ALL"], [], [], [], "SL101 SL102 SL401 SL404"),
        (["ALL"], ["SL1"], [], [], "SL401 SL404"),
        (["SL4", "matmul-dims"], [], [], [], "SL101 SL401 SL404"),
        (["SL102"], ["SL1"], [], [], "SL102"),
        (["SL101"], ["SL101"], [], [], ""),
        (["ALL"], ["SL404"], ["SL404"], [], "SL101 SL102 SL401 SL404"),
        ([], ["SL404"], ["ALL"], [], "SL101 SL102 SL401"),
        (["SL101"], [], [], ["SL1"], "SL101"),
        (["SL1"], [], [], ["ALL"], "SL101 SL102"),
        ([], [], [], [], ""),
    ],
)
def test_the_most_precise_word_counts_then_the_command_line_then_ignore(
    select: list[str], ignore: list[str], cli_select: list[str], cli_ignore: list[str], on: str
) -> None:
    assert " ".join(rule.id for rule in select_rules(RULES, select, ignore, cli_select, cli_ignore)) == on


def test_a_word_that_names_no_rule_is_refused_with_the_closest_one() -> None:
    with pytest.raises(SelectionError, match=r'^no rule is called "matmul-dim"; did you mean "matmul-dims"\?$'):
        select_rules(RULES, ["ALL"], ["matmul-dim"])


def test_a_prefix_names_all_rules_below_it() -> None:
    assert [rule.id for rule in expand(RULES, "SL40")] == ["SL401", "SL404"]
