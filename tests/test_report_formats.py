"""JSON, GitHub, GitLab, JUnit and the summary line."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from report_samples import (
    NET,
    SITUATIONS,
    TARGET,
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

from shapelint.findings import LintResult, Location, Region, Skipped
from shapelint.report import FORMATS, render, report, statistics, summary

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_format_writes_the_same_text_twice(tmp_path: Path, name: str, situation: str) -> None:
    result, told = SITUATIONS[situation](tmp_path)
    text = render(result, name, told)
    assert text == render(result, name, told)
    assert text == "" or text.endswith("\n")
    assert "\x1b" not in text


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        render(LintResult(), "yaml", context(tmp_path))


def test_json_has_exactly_the_documented_fields(tmp_path: Path) -> None:
    result, told = one_finding(tmp_path)
    result = replace(result, skipped=(Skipped("m:M", "no inputs are known", "add a comment"),))
    assert json.loads(render(result, "json", told)) == {
        "version": 1,
        "tool": {"name": "shapelint", "version": "0.1.0"},
        "findings": [
            {
                "id": "SL101",
                "rule": "matmul-dims",
                "severity": "error",
                "message": "self.fc1 takes 400 features and gets 3136: x is [B, 3136]\n"
                "400 is [16, 5, 5] flattened\nhelp: nn.Linear(3136, 120)",
                "path": "models/net.py",
                "line": 15,
                "column": 16,
                "end_line": 15,
                "end_column": 27,
                "target": "net:Net",
                "targets": ["net:Net"],
                "related": [{"path": "models/net.py", "line": 10, "column": 9, "message": "made here"}],
                "fix": [
                    {
                        "path": "models/net.py",
                        "line": 10,
                        "column": 30,
                        "end_line": 10,
                        "end_column": 33,
                        "text": "3136",
                    }
                ],
            }
        ],
        "skipped": [{"target": "m:M", "reason": "no inputs are known", "hint": "add a comment"}],
        "targets": [{"target": "net:Net", "path": "", "cases": 2, "complete": True, "seconds": 0.25, "cached": False}],
    }


def test_json_has_no_fix_where_there_is_none_and_suppressed_only_on_request(tmp_path: Path) -> None:
    result, told = suppressed(tmp_path)
    assert "suppressed" not in json.loads(render(result, "json", told))
    shown = json.loads(render(result, "json", context(tmp_path, show_suppressed=True)))
    assert [(item["id"], item["reason"]) for item in shown["suppressed"]] == [("SL101", "shapelint: ignore[SL101]")]
    assert shown["findings"] == []
    broken, told = unparsable(tmp_path)
    assert "fix" not in json.loads(render(broken, "json", told))["findings"][0]


def test_json_survives_a_file_name_that_is_not_unicode(tmp_path: Path) -> None:
    result = LintResult((finding("SL101", Location(str(tmp_path / "a\udcff.py"), Region(1, 1, 1, 2))),))
    text = render(result, "json", context(tmp_path))
    assert text.isascii()
    assert json.loads(text)["findings"][0]["path"] == "a\udcff.py"


def test_a_github_command_is_relative_to_the_git_root_and_escaped(tmp_path: Path) -> None:
    path = write(tmp_path, "sub/a,b:c%.py", NET)
    fault = finding("SL101", at(path, NET, "self.fc1(x)"), "50% of\r\nx: y")
    assert render(LintResult((fault,)), "github", context(tmp_path, cwd=str(tmp_path / "sub"))) == (
        "::error file=sub/a%2Cb%3Ac%25.py,line=15,endLine=15,col=16,endColumn=27,title=SL101 matmul-dims"
        "::50%25 of%0D%0Ax: y\n"
    )


def test_github_gets_no_columns_for_several_lines(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    fault = finding("SL203", Location(path, Region(13, 5, 14, 9)))
    assert render(LintResult((fault,)), "github", context(tmp_path)) == (
        "::notice file=net.py,line=13,endLine=14,title=SL203 unexercised-rank::two shapes differ\n"
    )


def test_github_annotations_are_the_ten_worst_of_each_severity_and_the_rest_is_in_the_log(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", "x\n" * 40)
    faults = tuple(
        finding("SL401" if line % 2 else "SL101", Location(path, Region(line, 1, line, 2))) for line in range(1, 25)
    )
    told = report(LintResult(faults), "github", context(tmp_path))
    rows = told.text.splitlines()
    kinds = [row.split(" ")[0] for row in rows if row.startswith("::")]
    assert kinds == ["::error"] * 10 + ["::warning"] * 10
    assert rows[20:] == [
        "net.py:22:1: SL101 two shapes differ",
        "net.py:24:1: SL101 two shapes differ",
        "net.py:21:1: SL401 two shapes differ",
        "net.py:23:1: SL401 two shapes differ",
    ]
    assert told.notices == (
        "GitHub shows 10 error annotations a step: 2 more are in the log.",
        "GitHub shows 10 warning annotations a step: 2 more are in the log.",
    )


def test_a_gitlab_fingerprint_stays_when_the_lines_move_and_differs_on_the_same_line(tmp_path: Path) -> None:
    def issues(text: str) -> list[dict[str, object]]:
        path = write(tmp_path, "net.py", text)
        two = (finding("SL101", at(path, text, "self.fc1(x)")), finding("SL101", at(path, text, "self.fc1(x)")))
        issues: list[dict[str, object]] = json.loads(render(LintResult(two), "gitlab", context(tmp_path)))
        return issues

    before, after = issues(NET), issues("# a new first line\n" + NET)
    assert [i["fingerprint"] for i in before] == [i["fingerprint"] for i in after]
    assert before[0]["fingerprint"] != before[1]["fingerprint"]
    assert before[0] == {
        "description": "two shapes differ",
        "check_name": "SL101 matmul-dims",
        "fingerprint": before[0]["fingerprint"],
        "severity": "major",
        "location": {
            "path": "net.py",
            "positions": {"begin": {"line": 15, "column": 16}, "end": {"line": 15, "column": 27}},
        },
    }


def test_gitlab_paths_start_at_the_git_root(tmp_path: Path) -> None:
    result, told = below_the_root(tmp_path)
    issue = json.loads(render(result, "gitlab", told))[0]
    assert issue["location"]["path"] == "sub/net.py"
    assert issue["description"].endswith("made here: sub/net.py:10")


def test_junit_counts_findings_skipped_and_clean_targets(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    fault = linear_fault(path)
    result = LintResult(
        (fault,),
        skipped=(Skipped("b:B", "no inputs are known", "add a comment"),),
        targets=(TARGET, replace(TARGET, target="c:C", seconds=0.5)),
    )
    suite = ET.fromstring(render(result, "junit", context(tmp_path)))[0]
    assert suite.attrib == {
        "name": "shapelint",
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
        "time": "0.750",
    }
    failed, skipped, passed = suite
    assert failed.attrib["name"] == "SL101 matmul-dims at net.py:15:16"
    assert failed[0].attrib == {"type": "error", "message": fault.message}
    assert (failed[0].text or "").splitlines()[-1] == "made here: net.py:10"
    assert (skipped.attrib["name"], skipped[0].attrib) == ("b:B", {"message": "no inputs are known (add a comment)"})
    assert (passed.attrib["name"], len(passed)) == ("c:C", 0)


def test_junit_is_xml_whatever_the_message_holds(tmp_path: Path) -> None:
    place = Location(str(tmp_path / "a\udcff.py"), Region(1, 1, 1, 2))
    text = render(LintResult((finding("SL101", place, "\x00 <a & b> \x1b[0m"),)), "junit", context(tmp_path))
    failure = ET.fromstring(text)[0][0][0]
    assert failure.text == "� <a & b> �[0m"
    assert text.encode()


def test_the_summary_counts_and_names_what_was_not_checked(tmp_path: Path) -> None:
    result, told = unparsable(tmp_path)
    result = replace(
        result,
        findings=(*result.findings, finding("SL401", result.findings[0].location)),
        suppressed=((result.findings[0], "baseline"),),
        targets=(TARGET, replace(TARGET, target="gan:G", complete=False, cached=True)),
    )
    assert summary(result, told, 1.26) == (
        "1 error, 1 warning, 1 silenced (2 models, 1 of them from the cache, 4 cases, 12 assignments in 1.3 s)\n"
        "checked in part: gan:G\n"
        "not checked: 1 model or file\n"
        "  broken.py:1: broken: its file can't be parsed\n"
        "    repair the syntax error\n"
    )


def test_the_summary_of_a_clean_or_empty_run_is_one_line(tmp_path: Path) -> None:
    told = context(tmp_path)
    assert summary(LintResult(targets=(TARGET,)), told, 83.2) == (
        "no findings (1 model, 2 cases, 6 assignments in 1 min 23 s)\n"
    )
    assert summary(LintResult(), told, 0.04) == "no findings (no model checked in 0.0 s)\n"


def test_statistics_count_the_rules_the_most_frequent_first(tmp_path: Path) -> None:
    place = Location(str(tmp_path / "net.py"), Region(1, 1, 1, 2))
    faults = tuple(finding(rule_id, place) for rule_id in ("SL401", "SL101", "SL203", *["SL401"] * 10))
    assert statistics(LintResult(faults)) == (
        "11  SL401  batch-folded\n 1  SL101  matmul-dims\n 1  SL203  unexercised-rank\n"
    )
    assert statistics(LintResult()) == ""
