"""SARIF: valid by the standard's schema and by the rules with which GitHub takes an upload."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import sarif_om
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

from shapelint.findings import LintResult, Location, Region, Related, Severity, Step
from shapelint.report import render, report, sarif_results
from shapelint.report.fingerprint import line_hashes
from shapelint.report.sarif_region import visible
from shapelint.report.sarif_results import fitted
from shapelint.report.sarif_rules import description
from shapelint.report.sarif_writer import dumps, to_json

DATA = Path(__file__).with_name("data")
LINK = re.compile(r"(?<!\\)\[((?:[^\[\]\\]|\\.)*)\]\((\d+)\)")


@cache
def schema() -> jsonschema.Draft4Validator:
    document = json.loads((DATA / "sarif-schema-2.1.0.json").read_text("utf-8"))
    return jsonschema.Draft4Validator(document, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER)


def document(result: LintResult, told: Any) -> dict[str, Any]:
    """The parsed report, which the schema accepts."""
    parsed: dict[str, Any] = json.loads(render(result, "sarif", told))
    assert [error.message for error in schema().iter_errors(parsed)] == []
    return parsed


def run_of(result: LintResult, told: Any) -> dict[str, Any]:
    (run,) = document(result, told)["runs"]
    assert isinstance(run, dict)
    return run


def objections(run: dict[str, Any], root: Path) -> list[str]:
    """What GitHub would refuse or drop in a run, in words."""
    found = []
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            found.append("the rule index points at another rule")
        if result.get("level") not in ("error", "warning", "note"):
            found.append("no level")
        if len(result["locations"]) != 1:
            found.append("not one location")
        steps = [s["location"] for f in result.get("codeFlows", []) for s in f["threadFlows"][0]["locations"]]
        related = result.get("relatedLocations", [])
        for place in (*result["locations"], *related, *steps):
            found += place_objections(place["physicalLocation"], root)
        linked = {int(target) for _, target in LINK.findall(result["message"]["text"])}
        if linked != {place["id"] for place in related} or len(linked) != len(related):
            found.append(f"links {linked} of {len(related)} related places")
        where = result["locations"][0]["physicalLocation"]
        hashes = line_hashes(file_of(where, root).read_bytes())
        if result["partialFingerprints"]["primaryLocationLineHash"] != hashes[where["region"]["startLine"]]:
            found.append("another line hash than GitHub's")
    keys = [
        (
            r["ruleId"],
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            r["partialFingerprints"]["primaryLocationLineHash"],
        )
        for r in run["results"]
    ]
    if len(set(keys)) != len(keys):
        found.append("two results of one rule and line")
    return found


def file_of(place: dict[str, Any], root: Path) -> Path:
    return root / unquote(place["artifactLocation"]["uri"])


def place_objections(place: dict[str, Any], root: Path) -> list[str]:
    """What is wrong with a physical location, the file being there."""
    uri, region = place["artifactLocation"]["uri"], place["region"]
    found = [f"base of {uri}"] if place["artifactLocation"]["uriBaseId"] != "%SRCROOT%" else []
    if re.search(r"[^A-Za-z0-9/._~%-]", uri) or uri.startswith(("/", "./")) or ".." in uri.split("/"):
        found.append(f"not a relative encoded URI: {uri}")
    path = file_of(place, root)
    if path.is_symlink():
        found.append(f"a symlink: {uri}")
    lines = re.split(r"\r\n|\r|\n", path.read_bytes().decode("utf-8-sig"))
    start = (region["startLine"], region["startColumn"])
    end = (region["endLine"], region["endColumn"])
    if not start < end or end[0] > len(lines) or end[1] > len(lines[end[0] - 1]) + 1:
        found.append(f"region {start} to {end} of {uri}")
    return found


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
    told = context(tmp_path)
    assert render(LintResult(tuple(faults)), "sarif", told) == render(LintResult(tuple(faults[::-1])), "sarif", told)


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


def test_more_results_than_github_shows_are_sorted_by_level_and_too_many_cut(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", "x\n" * 25_010)
    faults = tuple(
        finding("SL101" if line > 25_000 else "SL401", Location(path, Region(line, 1, line, 2)))
        for line in range(1, 25_011)
    )
    told = report(LintResult(faults), "sarif", context(tmp_path))
    assert told.notices == (
        "GitHub shows the 5000 worst of the 25010 results in the SARIF report.",
        "10 results are left out of the SARIF report: GitHub accepts at most 25000.",
    )
    results = json.loads(told.text)["runs"][0]["results"]
    assert len(results) == 25_000
    assert [result["level"] for result in results[:11]] == ["error"] * 10 + ["warning"]
    starts = [r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in results]
    assert starts == [*range(25_001, 25_011), *range(1, 24_991)]


def test_a_document_above_the_limit_compressed_loses_flows_then_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sarif_results.BYTES_LIMIT == 10_000_000
    monkeypatch.setattr(sarif_results, "BYTES_LIMIT", 500_000)
    result, told = one_finding(tmp_path)
    small = document(result, told)
    (sample,) = small["runs"][0]["results"]
    noise = random.Random(1)  # what doesn't compress
    results = [
        {**sample, "level": "error" if n == 39 else "note", "message": {"text": noise.randbytes(20_000).hex()}}
        for n in range(40)
    ]
    small["runs"][0]["results"] = results
    cut, words = fitted(small)
    kept = cut["runs"][0]["results"]
    assert len(gzip.compress(json.dumps(cut).encode())) <= 500_000
    assert [r["level"] for r in kept] == ["error"] + ["note"] * 19
    assert all("codeFlows" not in r for r in kept)
    assert words == (
        "Code flows and fixes are left out of the SARIF report: GitHub accepts at most 10 MB, compressed.",
        "20 results are left out of the SARIF report to keep it below 10 MB.",
    )


def test_a_trail_keeps_the_last_thousand_steps_and_related_places_are_a_hundred(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    place = at(path, NET, "class")
    fault = finding(
        "SL101",
        place,
        trail=tuple(Step(place, f"step {n}") for n in range(1_500)),
        related=tuple(Related(place, f"call {n}") for n in range(150)),
    )
    (result,) = run_of(LintResult((fault,)), context(tmp_path))["results"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert (len(steps), steps[0]["location"]["message"]["text"]) == (1_000, "step 500")
    assert len(result["relatedLocations"]) == 100


def test_the_writer_renames_status_keeps_levels_and_refuses_what_is_not_sarif() -> None:
    assert to_json(sarif_om.Suppression(kind="inSource", state="accepted")) == {
        "kind": "inSource",
        "status": "accepted",
    }
    result = sarif_om.Result(message=sarif_om.Message(text="x"), level=Severity.WARNING, kind="fail", rank=-1.0)
    assert to_json(result) == {"message": {"text": "x"}, "level": "warning"}
    with pytest.raises(TypeError, match="not a SARIF object: object"):
        to_json(object())


def test_the_text_has_a_result_a_line_and_loses_nothing() -> None:
    fake = '\n   "results": []'
    written = {"$schema": fake, "runs": [{"results": [{"text": fake}, {"text": "é"}], "tool": {"results": []}}]}
    text = dumps(written)
    assert json.loads(text) == written
    assert '    {"text": "é"}\n' in text
    assert json.loads(dumps({"runs": [{"results": []}]})) == {"runs": [{"results": []}]}


def test_a_number_that_is_not_one_is_an_error_and_not_a_broken_file() -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        dumps({"runs": [{"results": [{"rank": math.nan}]}]})
