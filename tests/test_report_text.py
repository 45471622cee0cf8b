"""The full and the concise text."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest
from report_samples import NET, at, context, finding, linear_fault, one_finding, suppressed, wide_emoji, write

from shapelint.findings import LintResult, Location, Region, Step
from shapelint.report import render
from shapelint.report.frame import frame

if TYPE_CHECKING:
    from pathlib import Path


def test_the_full_text_shows_code_caret_facts_places_trail_and_help(tmp_path: Path) -> None:
    result, told = one_finding(tmp_path)
    assert render(result, "full", told) == (
        "models/net.py:15:16: error SL101 matmul-dims\n"
        "   |\n"
        "15 |         return self.fc1(x)\n"
        "   |                ^^^^^^^^^^^\n"
        "   = self.fc1 takes 400 features and gets 3136: x is [B, 3136]\n"
        "   = 400 is [16, 5, 5] flattened\n"
        "   = made here: models/net.py:10  self.fc1 = nn.Linear(400, 120)\n"
        "   = x came from: [B, 3, 32, 32] -> conv1 [B, 16, 28, 28] -> pool [B, 16, 14, 14] -> flatten [B, 3136]\n"
        "   = help: nn.Linear(3136, 120)\n"
    )


def test_findings_are_apart_by_an_empty_line_and_a_clean_result_says_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    both = LintResult((finding("SL401", at(path, NET, "class")), finding("SL101", at(path, NET, "self.fc1(x)"))))
    assert render(both, "full", context(tmp_path)) == (
        "net.py:5:1: warning SL401 batch-folded\n"
        "  |\n"
        "5 | class Net(nn.Module):\n"
        "  | ^^^^^\n"
        "  = two shapes differ\n"
        "\n"
        "net.py:15:16: error SL101 matmul-dims\n"
        "   |\n"
        "15 |         return self.fc1(x)\n"
        "   |                ^^^^^^^^^^^\n"
        "   = two shapes differ\n"
    )
    assert render(LintResult(), "full", context(tmp_path)) == ""


def test_paths_are_told_from_the_working_directory(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    (tmp_path / "docs").mkdir()
    text = render(LintResult((linear_fault(path),)), "full", context(tmp_path, cwd=str(tmp_path / "docs")))
    assert text.startswith("../net.py:15:16: error")
    assert "made here: ../net.py:10  " in text


def test_a_long_trail_loses_its_middle_and_keeps_start_and_end(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    place = at(path, NET, "self.fc1(x)")
    trail = tuple(Step(place, f"layer{n} -> [B, 64, {100 - n}, {100 - n}]") for n in range(30))
    fault = finding("SL101", place, "y is [B, 64, 71, 71]", trail=trail)
    line = next(row for row in render(LintResult((fault,)), "full", context(tmp_path)).splitlines() if "came" in row)
    assert line.startswith("   = y came from: [B, 64, 100, 100] -> layer1 [B, 64, 99, 99] -> ")
    assert line.endswith(" -> … -> layer29 [B, 64, 71, 71]")
    assert len(line) <= 105


def test_a_trail_whose_last_shape_the_message_does_not_name_has_no_subject(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    place = at(path, NET, "self.fc1(x)")
    fault = finding("SL101", place, trail=(Step(place, "x -> [B, 3]"), Step(place, "fc -> [B, 4]")))
    assert "= the shape came from: x [B, 3] -> fc [B, 4]\n" in render(LintResult((fault,)), "full", context(tmp_path))


def test_several_targets_are_named_and_many_counted(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    place = at(path, NET, "self.fc1(x)")
    few = finding("SL101", place, targets=("a:A", "b:B"))
    many = finding("SL101", place, targets=tuple(f"m:M{n}" for n in range(6)))
    assert "= seen in: a:A, b:B\n" in render(LintResult((few,)), "full", context(tmp_path))
    assert "= seen in: m:M0, m:M1, m:M2, m:M3 and 2 more\n" in render(LintResult((many,)), "full", context(tmp_path))


def test_a_file_that_is_gone_costs_the_frame_and_says_so(tmp_path: Path) -> None:
    gone = finding("SL101", Location(str(tmp_path / "gone.py"), Region(3, 1, 3, 5)))
    assert render(LintResult((gone,)), "full", context(tmp_path)) == (
        "gone.py:3:1: error SL101 matmul-dims\n"
        "  = two shapes differ\n"
        "  = the source file can't be read, so its line is not shown\n"
    )


def test_silenced_findings_show_on_request_with_the_reason(tmp_path: Path) -> None:
    result, told = suppressed(tmp_path)
    assert render(result, "full", told) == ""
    assert render(result, "concise", told) == ""
    shown = context(tmp_path, show_suppressed=True)
    assert "   = silenced: shapelint: ignore[SL101]\n" in render(result, "full", shown)
    assert render(result, "concise", shown).endswith("(silenced: shapelint: ignore[SL101])\n")


def test_colour_changes_nothing_but_escape_codes(tmp_path: Path) -> None:
    import click  # noqa: PLC0415  # only this test compares with click's own stripping

    result, told = one_finding(tmp_path)
    coloured = render(result, "full", context(tmp_path, color=True))
    assert "\x1b[31m\x1b[1merror\x1b[0m" in coloured
    assert click.unstyle(coloured) == render(result, "full", told)
    assert "\x1b" not in render(result, "full", told)


def test_the_concise_text_is_one_line_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    fault = finding("SL101", at(path, NET, "self.fc1(x)"), "First sentence.\nSecond line.")
    assert render(LintResult((fault,)), "concise", context(tmp_path)) == (
        "net.py:15:16: SL101 First sentence. Second line.\n"
    )


def columns(text: str) -> int:
    """Terminal columns of a text without marks."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def test_carets_stand_below_the_code_after_wide_characters(tmp_path: Path) -> None:
    result, told = wide_emoji(tmp_path)
    source, carets = (row[4:] for row in render(result, "full", told).splitlines()[2:4])
    assert columns(source[: source.index("self.fc1")]) == carets.index("^")
    assert carets.count("^") == len("self.fc1(x)")


@pytest.mark.parametrize(
    ("line", "column", "end", "shown", "carets"),
    [
        ("\tx = f(y)", 6, 10, "    x = f(y)", "        ^^^^"),
        ("a\tb", 3, 4, "a   b", "    ^"),
        ("名 = f(形)", 5, 9, "名 = f(形)", "     ^^^^^"),
        ("e\u0301 = f(x)", 6, 10, "e\u0301 = f(x)", "    ^^^^"),  # the accent is a character of its own
        ("\x1b[31mx", 6, 7, "␛[31mx", "     ^"),
        ("f(", 3, 3, "f(", "  ^"),  # behind the end
        ("f(", 9, 12, "f(", "  ^"),  # the file is not the one that was traced
    ],
)
def test_carets_line_up(line: str, column: int, end: int, shown: str, carets: str) -> None:
    drawn = frame((line,), Region(1, column, 1, end))
    assert [(row.number, row.text) for row in drawn] == [(1, shown), (0, carets)]


def test_a_region_of_several_lines_shows_the_first_and_the_last() -> None:
    lines = ("y = f(", "    a,", "    b,", "    c)", "z")
    assert [(row.number, row.text) for row in frame(lines, Region(1, 5, 4, 7))] == [
        (1, "y = f("),
        (0, "    ^^"),
        (-1, "..."),
        (4, "    c)"),
        (0, "    ^^"),
    ]
    assert [row.number for row in frame(lines, Region(1, 5, 2, 7))] == [1, 0, 2, 0]
    assert [row.number for row in frame(lines, Region(1, 5, 2, 1))] == [1, 0]


def test_lines_left_out_of_a_region_are_three_dots_at_the_margin(tmp_path: Path) -> None:
    text = "x = 1\n" * 8 + "y = f(\n    a,\n    b)\n"
    path = write(tmp_path, "net.py", text)
    fault = finding("SL101", Location(path, Region(9, 5, 11, 7)), "first\nsecond")
    assert render(LintResult((fault,)), "full", context(tmp_path)) == (
        "net.py:9:5: error SL101 matmul-dims\n"
        "   |\n"
        " 9 | y = f(\n"
        "   |     ^^\n"
        "...\n"
        "11 |     b)\n"
        "   |     ^^\n"
        "   = first\n"
        "     second\n"
    )


def test_a_line_the_file_does_not_have_has_no_frame() -> None:
    assert frame(("x",), Region(2, 1, 2, 2)) == ()
    assert frame(("x",), Region(0, 1, 0, 2)) == ()


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8-sig", ""), ("latin-1", "# -*- coding: latin-1 -*-\n"), ("utf-8", ""), ("utf-8", "# coding: nonsense\n")],
)
def test_the_code_is_shown_in_the_encoding_of_its_file(tmp_path: Path, encoding: str, declared: str) -> None:
    text = declared + 'größe = "é"\n'
    path = write(tmp_path, "net.py", text, encoding)
    shown = render(LintResult((finding("SL101", at(path, text, '"é"')),)), "full", context(tmp_path))
    assert '| größe = "é"\n' in shown
    assert "|         ^^^\n" in shown
