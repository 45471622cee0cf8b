"""JUnit XML, which nearly every CI server shows: a suite of the targets, a failed case for each finding."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from shapelint.report.prose import explained_with_places

if TYPE_CHECKING:
    from shapelint.findings import Finding, LintResult
    from shapelint.report.context import ReportContext

# What XML 1.0 can't hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(result: LintResult, context: ReportContext) -> str:
    """One suite with a case for each finding (failed), skipped target (skipped) and clean target (passed)."""
    faulty = {target for finding in result.findings for target in finding.targets}
    clean = [t for t in result.targets if t.target not in faulty]
    cases = len(result.findings) + len(result.skipped) + len(clean)
    totals = {
        "name": "shapelint",
        "tests": str(cases),
        "failures": str(len(result.findings)),
        "errors": "0",
        "skipped": str(len(result.skipped)),
        "time": f"{sum(t.seconds for t in result.targets):.3f}",
    }
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(root, "testsuite", totals)
    for finding in result.findings:
        _failed(suite, finding, context)
    for skipped in result.skipped:
        case = ET.SubElement(suite, "testcase", {"name": _xml(skipped.target), "classname": "shapelint.skipped"})
        hint = {"message": _xml(f"{skipped.reason} ({skipped.hint})" if skipped.hint else skipped.reason)}
        ET.SubElement(case, "skipped", hint)
    for target in clean:
        attributes = {"name": _xml(target.target), "classname": "shapelint.targets", "time": f"{target.seconds:.3f}"}
        ET.SubElement(suite, "testcase", attributes)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _failed(suite: ET.Element, finding: Finding, context: ReportContext) -> None:
    region = finding.location.region
    path = context.shown_path(finding.location.path)
    name = f"{finding.id} {finding.rule} at {path}:{region.line}:{region.column}"
    attributes = {"name": name, "classname": path, "file": path, "line": str(region.line)}
    case = ET.SubElement(suite, "testcase", {key: _xml(value) for key, value in attributes.items()})
    first = finding.message.splitlines()[0] if finding.message else finding.rule
    failure = ET.SubElement(case, "failure", {"type": finding.severity.value, "message": _xml(first)})
    failure.text = _xml(explained_with_places(finding, context))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
