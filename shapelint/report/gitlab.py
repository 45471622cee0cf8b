"""GitLab's code quality report: shown in the merge request widget and in the diff.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from shapelint.findings import Severity
from shapelint.report.context import ReportContext, Sources
from shapelint.report.fingerprint import line_hashes
from shapelint.report.prose import explained_with_places, repository_or_shown

if TYPE_CHECKING:
    from shapelint.findings import LintResult

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(result: LintResult, context: ReportContext) -> str:
    """A JSON array with an object for each finding, its path relative to the git root.

    The fingerprint is made of path, rule and the hash of the line, so that it stays when lines move; further findings
    of a rule on the same line are numbered, since GitLab keeps one of each fingerprint.
    """
    sources = Sources(context.read)
    hashes: dict[str, dict[int, str]] = {}
    used: Counter[str] = Counter()
    issues = []
    for finding in result.findings:
        path, region = finding.location.path, finding.location.region
        if path not in hashes:
            hashes[path] = line_hashes(sources.data(path) or b"")
        place = repository_or_shown(path, context)
        key = f"{place}\n{finding.id}\n{hashes[path].get(region.line, region.line)}"
        used[key] += 1
        digest = hashlib.sha256(f"{key}\n{used[key]}".encode("utf-8", "surrogatepass")).hexdigest()
        issues.append(
            {
                "description": explained_with_places(finding, context),
                "check_name": f"{finding.id} {finding.rule}",
                "fingerprint": digest,
                "severity": _SEVERITIES[finding.severity],
                "location": {
                    "path": place,
                    "positions": {
                        "begin": {"line": region.line, "column": region.column},
                        "end": {"line": region.end_line, "column": region.end_column},
                    },
                },
            }
        )
    return json.dumps(issues, indent=2) + "\n"
