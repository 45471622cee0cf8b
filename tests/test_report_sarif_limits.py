"""SARIF: GitHub's limits, and the writer."""

from __future__ import annotations

import gzip
import json
import math
import random
from typing import TYPE_CHECKING

import pytest
import sarif_om
from report_samples import NET, at, context, finding, one_finding, write
from sarif_judge import document, run_of

from shapelint.findings import LintResult, Location, Region, Related, Severity, Step
from shapelint.report import report, sarif_results
from shapelint.report.sarif_results import fitted
from shapelint.report.sarif_writer import dumps, to_json

if TYPE_CHECKING:
    from pathlib import Path


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
