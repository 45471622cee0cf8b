"""Merging shards: one run, as if the run had not been divided."""

from __future__ import annotations

import copy
import itertools
import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from report_samples import NET, RULES, at, context, finding, linear_fault, one_finding, write
from sarif_judge import objections, schema

from shapelint.findings import LintResult, Skipped
from shapelint.report import MergeError, merge, render
from shapelint.report.sarif_writer import dumps

if TYPE_CHECKING:
    from pathlib import Path

    from shapelint.report import ReportContext


def parsed(result: LintResult, told: ReportContext) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render(result, "sarif", told))
    return document


def shards(root: Path) -> tuple[ReportContext, LintResult, list[LintResult]]:
    """A run and the same run in three parts; one finding is seen in two of them."""
    told = context(root)
    paths = [write(root, f"m{n}/net.py", NET) for n in range(3)]
    faults = [linear_fault(path) for path in paths]
    shared = write(root, "shared.py", NET)
    seen = [finding("SL401", at(shared, NET, "class"), targets=(t,)) for t in ("m0.net:Net", "m1.net:Net")]
    both = finding("SL401", at(shared, NET, "class"), targets=("m0.net:Net", "m1.net:Net"))
    skipped = [Skipped(f"m{n}:X", "no inputs are known", path=paths[n], line=5) for n in range(3)]
    whole = LintResult((*faults, both), skipped=tuple(skipped))
    parts = [
        LintResult((faults[0], seen[0]), skipped=(skipped[0],)),
        LintResult((faults[1], seen[1]), skipped=(skipped[1], skipped[2])),
        LintResult((faults[2],), skipped=(skipped[2],)),
    ]
    return told, whole, parts


def test_shards_in_any_order_merge_to_the_bytes_of_the_whole_run(tmp_path: Path) -> None:
    told, whole, parts = shards(tmp_path)
    documents = [parsed(part, replace(told, shard=f"{n}/3")) for n, part in enumerate(parts, 1)]
    expected = render(whole, "sarif", told)
    for order in itertools.permutations(documents):
        merged = merge(order)
        assert dumps(merged) == dumps(json.loads(expected))
        assert json.dumps(merged, sort_keys=True) == json.dumps(json.loads(expected), sort_keys=True)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["2/3"], "the SARIF file of shard 1/3, 3/3 is missing: its alerts would be closed"),
        (["1/3", "1/3", "3/3"], "the SARIF file of shard 2/3 is missing: its alerts would be closed"),
        (["1/2", "2/2", "3/3"], "SARIF files of runs in 2 and in 3 shards don't belong together"),
    ],
)
def test_a_shard_that_is_missing_is_noticed(tmp_path: Path, given: list[str], reason: str) -> None:
    documents = [parsed(LintResult(), context(tmp_path, shard=shard)) for shard in given]
    with pytest.raises(MergeError) as raised:
        merge(documents)
    assert str(raised.value) == reason


def test_a_merged_document_is_valid_and_can_be_merged_again(tmp_path: Path) -> None:
    told, _, parts = shards(tmp_path)
    documents = [parsed(part, told) for part in parts]
    merged = merge(documents)
    assert list(schema().iter_errors(merged)) == []
    assert objections(merged["runs"][0], tmp_path) == []
    assert merge([merged]) == merged
    assert merge([merge(documents[:2]), documents[2]]) == merged


def test_several_places_of_one_rule_and_line_merge_to_one_result(tmp_path: Path) -> None:
    told = context(tmp_path)
    text = "y = f(a) + f(b) + f(c) + f(d)\n"
    path = write(tmp_path, "net.py", text)
    faults = [finding("SL101", at(path, text, f"f({n})"), f"{n} is [2]", targets=(n,)) for n in "abcd"]
    two = [parsed(LintResult(tuple(faults[:2])), told), parsed(LintResult(tuple(faults[2:])), told)]
    merged = merge(two)
    assert objections(merged["runs"][0], tmp_path) == []
    assert merged["runs"][0]["results"] == parsed(LintResult(tuple(faults)), told)["runs"][0]["results"]


def test_rules_of_the_shards_are_united_and_indices_follow(tmp_path: Path) -> None:
    path = write(tmp_path, "net.py", NET)
    last = parsed(LintResult((finding("SL401", at(path, NET, "class")),)), context(tmp_path, rules=RULES[3:]))
    first = parsed(LintResult(), context(tmp_path, rules=RULES[:2]))
    run = merge([last, first])["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["SL006", "SL101", "SL401"]
    assert [result["ruleIndex"] for result in run["results"]] == [2]


def test_a_shard_that_could_not_run_makes_the_whole_unsuccessful(tmp_path: Path) -> None:
    good = parsed(*one_finding(tmp_path))
    bad = copy.deepcopy(good)
    bad["runs"][0]["invocations"][0]["executionSuccessful"] = False
    assert merge([good, bad])["runs"][0]["invocations"][0]["executionSuccessful"] is False


def test_merging_changes_no_input(tmp_path: Path) -> None:
    told, _, parts = shards(tmp_path)
    documents = [parsed(part, told) for part in parts]
    before = copy.deepcopy(documents)
    merge(documents)
    assert documents == before


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    told = context(tmp_path)
    one = parsed(LintResult(), told)
    with pytest.raises(MergeError, match=r"^there is nothing to merge: no SARIF file was given$"):
        merge([])
    with pytest.raises(
        MergeError, match=r"^SARIF files of different categories: 'shapelint/' in the first, 'b/' in num"
    ):
        merge([one, parsed(LintResult(), context(tmp_path, category="b"))])
    with pytest.raises(MergeError, match=r"^SARIF files of different tool versions: '0.1.0' in the first, '0.2.0' in "):
        merge([one, parsed(LintResult(), context(tmp_path, version="0.2.0"))])
    with pytest.raises(MergeError, match=r"^SARIF file number 2 must have exactly one run$"):
        merge([one, {"version": "2.1.0", "runs": []}])
    with pytest.raises(MergeError, match=r"^SARIF file number 1 is not one of shapelint's: KeyError\('results'\)$"):
        merge([{"runs": [{"tool": {"driver": {"name": "other"}}}]}])


def test_a_result_that_github_would_refuse_is_refused(tmp_path: Path) -> None:
    document = parsed(*one_finding(tmp_path))
    del document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["endColumn"]
    with pytest.raises(MergeError, match=r"^SARIF file number 1 has a result without a full region"):
        merge([document])


def test_merging_needs_no_sarif_om() -> None:
    code = "import sys, shapelint.report as r; r.merge; sys.exit('sarif_om' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
