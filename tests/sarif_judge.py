"""SARIF documents as GitHub judges them: the standard's schema, and what an upload must look like to be shown."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import jsonschema

from shapelint.report import render
from shapelint.report.fingerprint import line_hashes

if TYPE_CHECKING:
    from shapelint.findings import LintResult

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
