"""Ignore comments silence the findings of their statement, and those that silence none are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from shapelint.findings import Finding, Location, Region, Severity
from shapelint.source.comments import ignores
from shapelint.source.edits import apply_edits
from shapelint.source.files import SourceCache, SourceFile
from shapelint.source.suppressions import Suppressed, apply

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Rule:
    id: str
    name: str
    severity: Severity = Severity.ERROR

    def format(self, **facts: object) -> str:
        return f"{facts['comment']} silences nothing: {facts['reason']}"


MATMUL, CAT, FOLDED = Rule("SL101", "matmul-dims"), Rule("SL104", "cat-shapes"), Rule("SL401", "batch-folded")
RULES = (MATMUL, CAT, FOLDED, Rule("SL901", "unused-suppression", Severity.WARNING))


def run(tmp_path: Path, text: str, *found: tuple[Rule, int], on: tuple[Rule, ...] = RULES) -> Suppressed:
    path = tmp_path / "net.py"
    path.write_bytes(text.encode())
    findings = [
        Finding(rule.id, rule.name, rule.severity, "it is wrong", Location(str(path), Region(line, 1, line, 2)))
        for rule, line in found
    ]
    return apply(findings, SourceCache(), enabled={str(path): on}, rules=RULES)


@pytest.mark.parametrize(
    "comment", ["ignore[SL101]", "ignore[SL1]", "ignore[matmul-dims, SL4]", "ignore", "ignore[sl101] known, see #12"]
)
def test_a_comment_silences_by_id_prefix_name_or_everything(tmp_path: Path, comment: str) -> None:
    done = run(tmp_path, f"y = x @ w  # shapelint: {comment}\n", (MATMUL, 1))
    assert done.kept == ()
    assert [reason for _, reason in done.suppressed] == [f"shapelint: {comment.partition(' known')[0]}"]


@pytest.mark.parametrize("comment", ["ignore[SL104]", "ignored", "ignore-me", "ignore[]", "ignore[matmul]"])
def test_another_code_silences_nothing(tmp_path: Path, comment: str) -> None:
    assert len(run(tmp_path, f"y = x @ w  # shapelint: {comment}\n", (MATMUL, 1)).kept) == 1


@pytest.mark.parametrize("at", range(4))
def test_a_comment_counts_on_any_line_of_its_statement(tmp_path: Path, at: int) -> None:
    lines = ["y = f(", "    a,", "    b,", ")", "z = 1"]
    lines[at] += "  # shapelint: ignore[SL101]"
    assert run(tmp_path, "\n".join(lines), (MATMUL, 3)).kept == ()
    assert len(run(tmp_path, "\n".join(lines), (MATMUL, 5)).kept) == 1


def test_the_comment_of_a_block_header_does_not_reach_into_the_block(tmp_path: Path) -> None:
    text = "for i in x:  # shapelint: ignore[SL101]\n    y = x @ w\n"
    assert run(tmp_path, text, (MATMUL, 1)).kept == ()
    assert len(run(tmp_path, text, (MATMUL, 2)).kept) == 1


def test_a_comment_inside_a_string_is_no_comment(tmp_path: Path) -> None:
    text = 'y = f(x, "  # shapelint: ignore")\nz = """\n# shapelint: ignore-file\n"""\n'
    done = run(tmp_path, text, (MATMUL, 1))
    assert len(done.kept) == 1
    assert done.unused == ()


def test_a_file_comment_counts_above_the_first_statement_only(tmp_path: Path) -> None:
    text = '#!/usr/bin/env python\n"""Docs."""\n# shapelint: ignore-file[SL101]\nimport torch\ny = x @ w\n'
    assert run(tmp_path, text, (MATMUL, 5)).kept == ()
    assert len(run(tmp_path, text, (CAT, 5)).kept) == 1
    late = run(tmp_path, "import torch\n# shapelint: ignore-file[SL101]\ny = x @ w\n", (MATMUL, 3))
    assert len(late.kept) == 1
    assert "stands below code" in late.unused[0].message


def test_line_ends_and_wide_characters_move_no_comment(tmp_path: Path) -> None:
    text = "a = '\u2028\x0c🔥'\r\ny = x @ w  # shapelint: ignore\r\n"
    assert run(tmp_path, text, (MATMUL, 2)).kept == ()


UNUSED = [
    ("y = 1  # shapelint: ignore[SL101]\n", "y = 1\n", "# shapelint: ignore[SL101] silences nothing"),
    ("y = 1  # shapelint: ignore\n", "y = 1\n", "this statement has no finding"),
    ("# shapelint: ignore-file[SL1]\r\ny = 1\r\n", "y = 1\r\n", "this file has no finding of SL1"),
    ("y = 1  # noqa: E1  # shapelint: ignore\n", "y = 1  # noqa: E1\n", ""),
    ("y = 1  # shapelint: ignore  # noqa: E1\n", "y = 1  # noqa: E1\n", ""),
    ("y = 1  # shapelint: ignore[SL999]\n", "y = 1\n", "no rule is called SL999"),
    ("y = 1  # shapelint: ignore[]\n", "y = 1\n", "it names no rule"),
]


@pytest.mark.parametrize(("text", "repaired", "message"), UNUSED)
def test_an_unused_comment_is_told_and_removed(tmp_path: Path, text: str, repaired: str, message: str) -> None:
    (found,) = run(tmp_path, text).unused
    assert (found.id, found.severity) == ("SL901", Severity.WARNING)
    assert message in found.message
    assert apply_edits(SourceFile(found.location.path, text), found.fix) == repaired


def test_only_the_idle_code_of_several_is_removed(tmp_path: Path) -> None:
    text = "y = x @ w  # shapelint: ignore[SL101, cat-shapes] because\n"
    (found,) = run(tmp_path, text, (MATMUL, 1)).unused
    assert found.message.startswith("cat-shapes in # shapelint: ignore[SL101, cat-shapes] silences nothing")
    repaired = apply_edits(SourceFile(found.location.path, text), found.fix)
    assert repaired == "y = x @ w  # shapelint: ignore[SL101] because\n"


def test_nothing_is_called_unused_where_its_rules_were_off(tmp_path: Path) -> None:
    text = "y = 1  # shapelint: ignore[SL101]\nz = 1  # shapelint: ignore\n"
    assert run(tmp_path, text, on=(CAT, RULES[-1])).unused == ()
    assert run(tmp_path, text, on=(MATMUL, CAT, FOLDED)).unused == ()


def test_nothing_is_called_unused_in_a_file_that_was_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("y = 1  # shapelint: ignore\n", encoding="utf-8")
    assert apply([], SourceCache(), enabled={}, rules=RULES) == Suppressed(())


def test_comments_before_a_fault_are_read(tmp_path: Path) -> None:
    source = SourceFile(str(tmp_path / "net.py"), "y = 1  # shapelint: ignore\nz = (\n")
    assert [i.comment.line for i in ignores(source)] == [1]
