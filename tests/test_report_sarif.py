"""SARIF: valid by the standard's schema and by the rules with which GitHub takes an upload."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from report_samples import (
    NET,
    PAGE,
    RULES,
    SITUATIONS,
    at,
    below_the_root,
    context,
    finding,
    linear_fault,
    one_finding,
    suppressed,
    unparsable,
    write,
)
from sarif_judge import LINK, objections, run_of

from shapelint.findings import LintResult, Location, Region, Related, Skipped, Step
from shapelint.report import render
from shapelint.report.sarif_region import visible
from shapelint.report.sarif_rules import description

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("situation", SITUATIONS)
def test_github_takes_every_situation(tmp_path: Path, situation: str) -> None:
    run = run_of(*SITUATIONS[situation](tmp_path))
    assert objections(run, tmp_path) == []
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["automationDetails"] == {"id": "shapelint/"}
    assert [invocation["executionSuccessful"] for invocation in run["invocations"]] == [True]
    expected = 0 if situation in ("clean", "suppressed", "no_files") else 1
    assert len(run["results"]) == expected


def test_the_objections_can_be_raised(tmp_path: Path) -> None:
    run = run_of(*one_finding(tmp_path))
    result = run["results"][0]
    result["level"] = None
    result["message"]["text"] = "no links"
    result["partialFingerprints"]["primaryLocationLineHash"] = "0:1"
    result["locations"][0]["physicalLocation"]["region"]["endColumn"] = 999
    run["results"].append(result)
    assert {text.split(" ")[0] for text in objections(run, tmp_path)} == {"no", "links", "another", "region", "two"}


def test_a_result_says_all_that_the_text_says(tmp_path: Path) -> None:
    (result,) = run_of(*one_finding(tmp_path))["results"]
    assert result["message"]["text"] == (
        "self.fc1 takes 400 features and gets 3136: x is \\[B, 3136\\].\n"
        "400 is \\[16, 5, 5\\] flattened.\n"
        "To repair it: nn.Linear(3136, 120)\n"
        "Made here: [models/net.py:10](1) self.fc1 = nn.Linear(400, 120)"
    )
    assert (result["ruleId"], result["level"]) == ("SL101", "error")
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "models/net.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 15, "startColumn": 16, "endLine": 15, "endColumn": 27},
    }
    (flow,) = result["codeFlows"]
    steps = flow["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == [
        "x -> \\[B, 3, 32, 32\\]",
        "conv1 -> \\[B, 16, 28, 28\\]",
        "pool -> \\[B, 16, 14, 14\\]",
        "flatten -> \\[B, 3136\\]",
    ]
    replacement = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert replacement == {
        "deletedRegion": {"startLine": 10, "startColumn": 30, "endLine": 10, "endColumn": 33},
        "insertedContent": {"text": "3136"},
    }
    assert result["properties"] == {"targets": ["net:Net"]}


def test_every_level_is_written_also_the_default_one(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    faults = tuple(finding(rule_id, at(path, NET, "class")) for rule_id in ("SL101", "SL203", "SL401"))
    run = run_of(LintResult(faults), context(tmp_path))
    assert [result["level"] for result in run["results"]] == ["error", "note", "warning"]
    assert [rule["defaultConfiguration"]["level"] for rule in run["tool"]["driver"]["rules"]] == [
        "error",
        "error",
        "note",
        "warning",
    ]


def test_every_enabled_rule_is_described(tmp_path: Path) -> None:
    run = run_of(LintResult(), context(tmp_path))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.id for rule in RULES]
    rule = rules[1]
    link = "https://example.org/rules/matmul-dims.md"
    assert rule["shortDescription"] == {"text": "what matmul-dims says."}
    assert rule["fullDescription"]["text"] == (
        "A matrix product or a linear layer gets another number of features than its weight has. "
        "See channel-count for convolutions."
    )
    assert rule["helpUri"] == link
    assert rule["help"]["markdown"].endswith(f"\n\n[Documentation of SL101 matmul-dims]({link})\n")
    assert "[channel-count](https://example.org/rules/channel-count.md)" in rule["help"]["markdown"]
    assert rule["help"]["text"].endswith(f"\n\nDocumentation: {link}\n")
    assert rule["properties"] == {
        "precision": "very-high",
        "problem.severity": "error",
        "tags": ["pytorch", "shapes", "correctness"],
    }
    assert [each["properties"]["problem.severity"] for each in rules] == ["error", "error", "recommendation", "warning"]
    assert "security-severity" not in json.dumps(run)


def test_a_description_is_never_longer_than_github_keeps() -> None:
    paragraph = "word " * 100
    page = replace(RULES[0], text="# Title\n\n" + "\n\n".join([paragraph] * 5))
    assert description(page) == " ".join([paragraph.strip()] * 2)
    assert description(replace(page, text="# Title\n\n" + "word " * 500)) == "what syntax-error says."
    assert description(replace(page, text="---\nid: SL006\n---\n" + PAGE)).startswith("A matrix product")


def test_paths_start_at_the_git_root_whatever_the_working_directory(tmp_path: Path) -> None:
    (result,) = run_of(*below_the_root(tmp_path))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "sub/net.py"
    assert "[sub/net.py:10](1)" in result["message"]["text"]


def test_a_path_is_percent_encoded_and_a_symlink_resolved(tmp_path: Path) -> None:
    (odd,) = run_of(*SITUATIONS["odd_path"](tmp_path))["results"]
    uri = odd["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "my%20models/gr%C3%B6%C3%9Fe%20%5B1%5D%20100%25.py"
    assert "[my models/größe \\[1\\] 100%.py:10](1)" in odd["message"]["text"]
    (linked,) = run_of(*SITUATIONS["symlinked"](tmp_path))["results"]
    assert linked["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "real/net.py"


def test_columns_count_code_points_behind_an_emoji(tmp_path: Path) -> None:
    (result,) = run_of(*SITUATIONS["wide_emoji"](tmp_path))["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startColumn"] == 26


def test_a_finding_outside_the_repository_becomes_a_notification(tmp_path: Path) -> None:
    path = write(tmp_path, "elsewhere/net.py", NET)
    (tmp_path / "repo").mkdir()
    inside = write(tmp_path, "repo/net.py", NET)
    fault = finding(
        "SL101",
        at(inside, NET, "self.fc1(x)"),
        related=(Related(at(path, NET, "class"), "made here"),),
        trail=(Step(at(path, NET, "class"), "x -> [1]"),),
    )
    run = run_of(LintResult((linear_fault(path), fault)), context(tmp_path / "repo"))
    (result,) = run["results"]
    assert "relatedLocations" not in result
    assert "codeFlows" not in result
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["descriptor"] == {"id": "outside-repository"}
    assert note["message"]["text"].startswith("SL101 at ../elsewhere/net.py: self.fc1 takes 400")


def test_what_was_not_checked_is_a_notification(tmp_path: Path) -> None:
    run = run_of(*unparsable(tmp_path))
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert [(note["descriptor"]["id"], note["level"], note["message"]["text"]) for note in notes] == [
        (
            "skipped",
            "warning",
            "broken was not checked: its file can't be parsed. To have it checked: repair the syntax error",
        ),
        ("unparsable-file", "error", "broken.py can't be parsed: expected ')'."),
    ]


def test_silenced_results_are_left_out_and_a_flag_adds_them(tmp_path: Path) -> None:
    result, told = suppressed(tmp_path)
    result = replace(result, findings=(finding("SL401", result.suppressed[0][0].location),))
    assert "suppressions" not in run_of(result, told)["results"][0]
    by_baseline = (*result.suppressed, (finding("SL203", result.findings[0].location), "baseline"))
    run = run_of(replace(result, suppressed=by_baseline), context(tmp_path, show_suppressed=True))
    assert [(r["ruleId"], r["suppressions"]) for r in run["results"]] == [
        ("SL101", [{"kind": "inSource", "justification": "shapelint: ignore[SL101]", "status": "accepted"}]),
        ("SL203", [{"kind": "external", "justification": "baseline", "status": "accepted"}]),
        ("SL401", []),
    ]


def test_results_of_one_rule_and_line_are_one(tmp_path: Path) -> None:
    text = "y = f(a) + f(b) + f(c)\n"
    path = write(tmp_path, "net.py", text)
    faults = [finding("SL101", at(path, text, f"f({n})"), f"{n} is [2]", targets=(n,)) for n in "cab"]
    run = run_of(LintResult((*faults, faults[0])), context(tmp_path))
    assert objections(run, tmp_path) == []
    (result,) = run["results"]
    assert result["message"]["text"] == (
        "a is \\[2\\].\nAlso at [column 12](1): b is \\[2\\].\nAlso at [column 19](2): c is \\[2\\]."
    )
    assert [r["physicalLocation"]["region"]["startColumn"] for r in result["relatedLocations"]] == [12, 19]
    assert result["properties"] == {"targets": ["a", "b", "c"]}


def test_results_are_sorted_whatever_the_order_of_the_findings(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a.py", NET), write(tmp_path, "b.py", NET)
    faults = [
        finding(rule_id, at(path, NET, word))
        for path in (one, two)
        for word in ("class", "def", "import")
        for rule_id in ("SL101", "SL401")
    ]
    skipped = [Skipped(name, "no inputs", path=path) for path in (one, two) for name in ("A", "B")]
    told = context(tmp_path)
    forwards = LintResult(tuple(faults), skipped=tuple(skipped))
    backwards = LintResult(tuple(faults[::-1]), skipped=tuple(skipped[::-1]))
    assert render(forwards, "sarif", told) == render(backwards, "sarif", told)


def test_a_result_is_the_same_alert_when_its_line_moves(tmp_path: Path) -> None:
    """GitHub tells by rule, path and fingerprint; what stands above the line doesn't count."""
    (result,) = run_of(*one_finding(tmp_path))["results"]
    before = result["partialFingerprints"]
    path = tmp_path / "models" / "net.py"
    path.write_text("# Copyright\n\n" + NET, encoding="utf-8")
    fault = linear_fault(str(path))
    here = fault.location.region
    region = replace(here, line=here.line + 2, end_line=here.end_line + 2)
    moved = replace(fault, location=replace(fault.location, region=region))
    (result,) = run_of(LintResult((moved,)), context(tmp_path))["results"]
    assert result["partialFingerprints"] == before
    path.write_text("# Copyright\n\n" + NET.replace("return self.fc1(x)", "return self.fc1(x, 1)"), encoding="utf-8")
    (result,) = run_of(LintResult((moved,)), context(tmp_path))["results"]
    assert result["partialFingerprints"] != before


def test_a_notes_link_text_can_not_be_forged_by_a_message(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    fault = finding("SL101", at(path, NET, "class"), "read [this](1) or C:\\[x](2)")
    (result,) = run_of(LintResult((fault,)), context(tmp_path))["results"]
    assert LINK.findall(result["message"]["text"]) == []
    assert result["message"]["text"] == "read \\[this\\](1) or C:\\\\\\[x\\](2)."


def test_text_that_is_not_unicode_is_written_as_replacement_characters(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    fault = finding("SL101", at(path, NET, "class"), "name 'a\udcff'")
    text = render(LintResult((fault,)), "sarif", context(tmp_path))
    assert json.loads(text.encode("utf-8"))["runs"][0]["results"][0]["message"]["text"] == "name 'a�'."


def test_a_missing_file_costs_the_fingerprint_only(tmp_path: Path) -> None:
    gone = finding("SL101", Location(str(tmp_path / "gone.py"), Region(3, 1, 3, 5)))
    (result,) = run_of(LintResult((gone,)), context(tmp_path))["results"]
    assert "partialFingerprints" not in result


@pytest.mark.parametrize(
    ("text", "region", "shown"),
    [
        ("abc", (1, 2, 1, 2), (1, 2, 1, 3)),
        ("abc", (1, 4, 1, 4), (1, 3, 1, 4)),
        ("abc", (1, 2, 1, 99), (1, 2, 1, 4)),
        ("abc", (7, 1, 7, 2), (1, 1, 1, 2)),
        ("abc\n\nx", (2, 1, 2, 1), (2, 1, 3, 1)),
        ("abc\n", (2, 1, 2, 1), (1, 4, 2, 1)),
        ("", (1, 1, 1, 1), (1, 1, 1, 1)),
        ("abc\nde", (1, 2, 2, 2), (1, 2, 2, 2)),
    ],
)
def test_a_region_covers_something_inside_the_text(
    text: str, region: tuple[int, int, int, int], shown: tuple[int, int, int, int]
) -> None:
    assert visible(Region(*region), text.split("\n")) == Region(*shown)


def test_the_category_ends_in_a_slash_and_a_development_version_is_not_semantic(tmp_path: Path) -> None:
    run = run_of(LintResult(), context(tmp_path, category="shape/models/", version="0.2.0.dev1"))
    assert run["automationDetails"] == {"id": "shape/models/"}
    driver = run["tool"]["driver"]
    assert driver["version"] == "0.2.0.dev1"
    assert "semanticVersion" not in driver
