"""The gate of the rules: every page has its facts, its sections and its examples."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from shapelint import rules as module
from shapelint.findings import Severity
from shapelint.rules import Rule, RuleError, find_rule, load_rules

if TYPE_CHECKING:
    from pathlib import Path

IDS = [
    *(f"SL{n:03}" for n in range(1, 7)),
    *(f"SL{n}" for n in range(101, 113)),
    "SL199",
    *(f"SL{n}" for n in (201, 202, 203, 301, 302)),
    *(f"SL{n}" for n in range(401, 413)),
    "SL901",
]
SECTIONS = ["What it does", "Why it is wrong", "Bad", "Good", "When it stays silent", "How to fix"]
EACH = pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.name)


def sections(rule: Rule) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", rule.text, flags=re.MULTILINE)[1:]
    return {title.strip(): body.strip() for title, body in zip(parts[::2], parts[1::2])}


def test_every_id_has_one_page_in_order() -> None:
    assert [rule.id for rule in load_rules()] == IDS


def test_names_are_unique_and_kebab_case() -> None:
    names = [rule.name for rule in load_rules()]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(-[a-z]+)*", name)] == []


@EACH
def test_a_page_has_every_section_with_text_in_order(rule: Rule) -> None:
    found = sections(rule)
    assert list(found) == SECTIONS
    assert [title for title, text in found.items() if not text] == []


@EACH
def test_a_page_has_two_examples_of_each_kind_that_differ(rule: Rule) -> None:
    found = sections(rule)
    for kind in ("Bad", "Good"):
        examples = re.findall(r"```python\n(.*?)```", found[kind], re.DOTALL)
        assert len(examples) >= 2
        assert len({re.sub(r"\s", "", example) for example in examples}) == len(examples)
        # Two that do the same to another size are one example: what forward does is compared without its numbers.
        bodies = {re.sub(r"[\d\s]|# (expect|shapelint: inputs).*", "", example) for example in examples}
        assert len(bodies) == len(examples)


@EACH
def test_only_bad_examples_are_marked_each_with_its_own_rule(rule: Rule) -> None:
    found = sections(rule)
    for example in re.findall(r"```python\n(.*?)```", found["Bad"], re.DOTALL):
        assert set(re.findall(r"# expect: ([\w-]+)", example)) == {rule.name}
    assert "# expect:" not in found["Good"]


def test_a_message_is_filled_with_its_facts() -> None:
    assert find_rule("SL101").format(message="3 is not 4") == "3 is not 4"
    with pytest.raises(KeyError):
        find_rule("SL101").format()
    assert find_rule("unused-suppression").format(comment="C", reason="R") == "`C` silences nothing: R"
    assert find_rule("syntax-error").format(error="E") == "E"


def test_a_rule_is_found_by_id_and_by_name() -> None:
    assert find_rule("SL104") is find_rule("sl104") is find_rule("cat-shapes")
    assert find_rule("SL203").severity is Severity.NOTE


def test_an_unknown_rule_gets_a_suggestion() -> None:
    with pytest.raises(RuleError, match='did you mean "matmul-dims"'):
        find_rule("matmul-dim")


def test_the_packaged_pages_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shapelint"
    package.mkdir()
    monkeypatch.setattr(module, "__file__", str(package / "rules.py"))
    assert module.rules_dir() == tmp_path / "rules"
    (package / "_rules").mkdir()
    assert module.rules_dir() == package / "_rules"
