"""Results of one SARIF run as GitHub takes them: one a rule and line, in a fixed order, within its limits.

Works on plain JSON values, so that a merged document goes through the same.
https://docs.github.com/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from shapelint.report.sarif_message import link

RESULTS_LIMIT = 25_000
RESULTS_SHOWN = 5_000
RELATED_LIMIT = 100
STEPS_LIMIT = 1_000
BYTES_LIMIT = 10_000_000

_ALSO = "also here: "
_LEVELS = {"error": 0, "warning": 1, "note": 2, "none": 3}

Json = dict[str, Any]


def arranged(results: list[Json]) -> list[Json]:
    """The results sorted by path, line, column, rule, and those of one rule and line made one.

    The first of a rule and line stays; the others become related locations that its message links.
    """
    kept: dict[tuple[Any, ...], Json] = {}
    for result in sorted(results, key=_order):
        key = (result["ruleId"], _uri(result), _region(result)["startLine"], bool(result.get("suppressions")))
        kept[key] = _joined(kept[key], result) if key in kept else result
    return list(kept.values())


def fitted(document: Json) -> tuple[Json, tuple[str, ...]]:
    """The document within GitHub's limits, and what was left out, in words. Expects one run and arranged results."""
    run = document["runs"][0]
    words: list[str] = []
    results: list[Json] = [_within(result) for result in run["results"]]
    if len(results) > RESULTS_SHOWN:
        results.sort(key=lambda result: _LEVELS[result["level"]])  # stable: by place within a level
        words.append(f"GitHub shows the {RESULTS_SHOWN} worst of the {len(results)} results in the SARIF report.")
    if len(results) > RESULTS_LIMIT:
        dropped = len(results) - RESULTS_LIMIT
        words.append(f"{dropped} results are left out of the SARIF report: GitHub accepts at most {RESULTS_LIMIT}.")
        results = results[:RESULTS_LIMIT]
    smaller = _with_results(document, results)
    if _too_large(smaller):
        results = [{name: value for name, value in r.items() if name not in ("codeFlows", "fixes")} for r in results]
        smaller = _with_results(document, results)
        words.append("Code flows and fixes are left out of the SARIF report: GitHub accepts at most 10 MB, compressed.")
    before = len(results)
    while results and _too_large(smaller):
        results = sorted(results, key=lambda result: _LEVELS[result["level"]])[: len(results) // 2]
        smaller = _with_results(document, results)
    if len(results) < before:
        words.append(f"{before - len(results)} results are left out of the SARIF report to keep it below 10 MB.")
    return smaller, tuple(words)


def _with_results(document: Json, results: list[Json]) -> Json:
    return {**document, "runs": [{**document["runs"][0], "results": results}]}


def _too_large(document: Json) -> bool:
    text = json.dumps(document, ensure_ascii=False).encode("utf-8")
    # Compression never makes it larger by more than a header, so small reports are not compressed to find out.
    return len(text) > BYTES_LIMIT and len(gzip.compress(text, 6, mtime=0)) > BYTES_LIMIT


def _within(result: Json) -> Json:
    """The result with at most so many steps as GitHub keeps: the last ones, which end at the fault."""
    flows = result.get("codeFlows")
    if not flows or len(flows[0]["threadFlows"][0]["locations"]) <= STEPS_LIMIT:
        return result
    steps = flows[0]["threadFlows"][0]["locations"][-STEPS_LIMIT:]
    return {**result, "codeFlows": [{"threadFlows": [{"locations": steps}]}]}


def _joined(first: Json, other: Json) -> Json:
    """The first result, told of the other's place (if it is another one) and of its targets."""
    joined = dict(first)
    targets = {*first.get("properties", {}).get("targets", ()), *other.get("properties", {}).get("targets", ())}
    if targets:
        joined["properties"] = {**first.get("properties", {}), "targets": sorted(targets)}
    for place, said in _places(other):
        joined = _with_place(joined, place, said)
    return joined


def _places(result: Json) -> list[tuple[Json, str]]:
    """Where the result is, with its first line; and what was joined to it before."""
    own = {"physicalLocation": result["locations"][0]["physicalLocation"]}
    first_line = result["message"]["text"].splitlines()[0]
    joined = [r for r in result.get("relatedLocations", ()) if r["message"]["text"].startswith(_ALSO)]
    return [(own, first_line), *((place, place["message"]["text"][len(_ALSO) :]) for place in joined)]


def _with_place(result: Json, place: Json, said: str) -> Json:
    """The result with one more related location, unless it has that one."""
    region = place["physicalLocation"]["region"]
    related = result.get("relatedLocations", [])
    if len(related) >= RELATED_LIMIT or any(p["physicalLocation"]["region"] == region for p, _ in _places(result)):
        return result
    number = max((known["id"] for known in related), default=0) + 1
    column = region["startColumn"]
    text = f"{result['message']['text']}\nAlso at {link(f'column {column}', number)}: {said}"
    return {
        **result,
        "message": {**result["message"], "text": text},
        "relatedLocations": [*related, {**place, "id": number, "message": {"text": _ALSO + said}}],
    }


def _order(result: Json) -> tuple[Any, ...]:
    region = _region(result)
    names = ("startLine", "startColumn", "endLine", "endColumn")
    return (_uri(result), *(region[name] for name in names), result["ruleId"], result["message"]["text"])


def _uri(result: Json) -> str:
    return str(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def _region(result: Json) -> Json:
    region: Json = result["locations"][0]["physicalLocation"]["region"]
    return region
