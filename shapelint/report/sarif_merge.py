"""Merges SARIF documents of one tool, such as a CI matrix's shards, into one run for a single upload.

Works on plain JSON values. A category of its own for each shard would leave alerts open for ever once a
target moves to another shard.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from shapelint.report.sarif_results import Json, arranged, fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_SHARD = re.compile(r"(\d+)/(\d+)")


class MergeError(ValueError):
    """The documents don't belong together, or one isn't what this tool writes."""


def merge(documents: Sequence[Json]) -> Json:
    """One document with one run: all rules, results and notifications, in the order of an undivided run.

    Raises MergeError where a document hasn't exactly one run with results, where tools, versions or categories differ,
    or where a shard is missing.
    """
    return merge_report(documents)[0]


def merge_report(documents: Sequence[Json]) -> tuple[Json, tuple[str, ...]]:
    """The merged document, and what had to be left out for GitHub's limits, in words. Raises MergeError as `merge`."""
    if not documents:
        raise MergeError("there is nothing to merge: no SARIF file was given")
    runs = [_run(document, number) for number, document in enumerate(documents, 1)]
    for what, read in _MUST_AGREE.items():
        first = read(runs[0])
        for number, run in enumerate(runs[1:], 2):
            if read(run) != first:
                raise MergeError(
                    f"SARIF files of different {what}: {first!r} in the first, {read(run)!r} in number {number}"
                )
    _expect_whole(runs)
    driver = runs[0]["tool"]["driver"]
    rules = _union((rule for run in runs for rule in run["tool"]["driver"].get("rules", ())), key="id")
    places = {rule["id"]: index for index, rule in enumerate(rules)}
    results = [{**result, "ruleIndex": places[result["ruleId"]]} for run in runs for result in run["results"]]
    merged_driver = {**driver, "rules": rules}
    if any("notifications" in run["tool"]["driver"] for run in runs):
        found = (entry for run in runs for entry in run["tool"]["driver"].get("notifications", ()))
        merged_driver["notifications"] = _union(found, key="id")
    run = {**runs[0], "tool": {**runs[0]["tool"], "driver": merged_driver}}
    run.pop("properties", None)  # nothing but which shard it was
    invocations = [invocation for r in runs for invocation in r.get("invocations", ())]
    if invocations:
        run["invocations"] = [_one_invocation(invocations)]
    run["results"] = arranged(results)
    return fitted({**documents[0], "runs": [run]})


def has_findings(document: Json) -> bool:
    """Whether a document of one run has a result above a note that nothing silences."""
    return any(r["level"] != "note" and not r.get("suppressions") for r in document["runs"][0]["results"])


def _run(document: Json, number: int) -> Json:
    """The document's only run, checked for what merging needs."""
    runs = document.get("runs") if isinstance(document, dict) else None
    if not isinstance(runs, list) or len(runs) != 1:
        raise MergeError(f"SARIF file number {number} must have exactly one run")
    run = runs[0]
    try:
        rules = {rule["id"] for rule in run["tool"]["driver"].get("rules", ())}
        for result in run["results"]:
            region = result["locations"][0]["physicalLocation"]["region"]
            complete = {"startLine", "startColumn", "endLine", "endColumn"} <= region.keys()
            if not (complete and result["level"] and result["message"]["text"] and result["ruleId"] in rules):
                raise MergeError(
                    f"SARIF file number {number} has a result without a full region, a level, a message or its rule"
                )
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise MergeError(f"SARIF file number {number} is not one of shapelint's: {error!r}") from error
    checked: Json = run
    return checked


_MUST_AGREE: dict[str, Callable[[Json], Any]] = {
    "tools": lambda run: run["tool"]["driver"]["name"],
    "tool versions": lambda run: run["tool"]["driver"].get("version"),
    "categories": lambda run: run.get("automationDetails", {}).get("id"),
    "column kinds": lambda run: run.get("columnKind"),
}


def _expect_whole(runs: Sequence[Json]) -> None:
    """Raises MergeError where a shard is missing: an upload without its findings would close their alerts."""
    told = [run.get("properties", {}).get("shard") for run in runs]
    shards = [_SHARD.fullmatch(str(shard)) for shard in told if shard]
    parts = {(int(shard[1]), int(shard[2])) for shard in shards if shard}
    counts = sorted({count for _, count in parts})
    if len(counts) > 1:
        raise MergeError(f"SARIF files of runs in {' and in '.join(map(str, counts))} shards don't belong together")
    for count in counts:
        missing = [f"{index}/{count}" for index in range(1, count + 1) if (index, count) not in parts]
        if missing:
            raise MergeError(f"the SARIF file of shard {', '.join(missing)} is missing: its alerts would be closed")


def _union(entries: Iterable[Json], key: str) -> list[Json]:
    """The entries without those seen before, sorted by the key."""
    unique = {entry[key]: entry for entry in reversed(list(entries))}
    return [unique[name] for name in sorted(unique)]


def _one_invocation(invocations: Sequence[Json]) -> Json:
    merged: Json = {"executionSuccessful": all(i.get("executionSuccessful", False) for i in invocations)}
    notes: dict[str, Any] = {}
    for invocation in invocations:
        for note in invocation.get("toolExecutionNotifications", ()):
            notes[json.dumps(note, sort_keys=True)] = note
    if notes:
        merged["toolExecutionNotifications"] = sorted(notes.values(), key=notification_order)
    return merged


def notification_order(note: Json) -> tuple[str, int, str, str]:
    """Path, line, kind, text: the order of the notifications in every document."""
    locations = note.get("locations") or [{}]
    physical = locations[0].get("physicalLocation", {})
    return (
        physical.get("artifactLocation", {}).get("uri", ""),
        physical.get("region", {}).get("startLine", 0),
        note.get("descriptor", {}).get("id", ""),
        note["message"]["text"],
    )
