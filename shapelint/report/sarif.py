"""SARIF 2.1.0 as GitHub code scanning reads it. The only module that imports sarif_om.

https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import sarif_om as om

from shapelint.report import sarif_rules
from shapelint.report.context import ReportContext, Sources
from shapelint.report.fingerprint import line_hashes
from shapelint.report.sarif_merge import notification_order
from shapelint.report.sarif_message import escaped, message, place_line
from shapelint.report.sarif_region import visible
from shapelint.report.sarif_results import RELATED_LIMIT, arranged, fitted
from shapelint.report.sarif_writer import dumps, to_json

if TYPE_CHECKING:
    from shapelint.findings import Finding, LintResult, Location, Region, Skipped
    from shapelint.rules import Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
SYNTAX_ERROR = "SL006"

_SEMVER = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_NOTIFICATIONS = {
    "outside-repository": "A finding lies in a file that is not below the git root, so that no alert can show it.",
    "skipped": "A file or a model was not checked.",
    "unparsable-file": "A file can't be parsed; nothing in it was checked.",
}


def render(result: LintResult, context: ReportContext) -> str:
    """The document as text: one run, every enabled rule, one result a rule and line."""
    return report(result, context)[0]


def report(result: LintResult, context: ReportContext) -> tuple[str, tuple[str, ...]]:
    """The document as text, and what had to be left out for GitHub's limits, in words."""
    document, words = fitted(_Writer(context, Sources(context.read)).document(result))
    return dumps(document), words


@dataclass(frozen=True, slots=True)
class _Writer:
    context: ReportContext
    sources: Sources
    hashes: dict[str, dict[int, str]] = field(default_factory=dict)
    paths: dict[str, str | None] = field(default_factory=dict)

    def document(self, result: LintResult) -> dict[str, Any]:
        """The document as JSON values, before GitHub's limits are seen to."""
        findings: list[tuple[Finding, str | None]] = [(finding, None) for finding in result.findings]
        if self.context.show_suppressed:
            findings += result.suppressed
        rules = {rule.id: index for index, rule in enumerate(self._rules())}
        results = [
            to_json(self._result(finding, rules, reason))
            for finding, reason in findings
            if self._uri(finding.location.path) is not None
        ]
        run = om.Run(
            tool=om.Tool(driver=self._driver()),
            automation_details=om.RunAutomationDetails(id=self.context.category.rstrip("/") + "/"),
            column_kind="unicodeCodePoints",
            invocations=[om.Invocation(execution_successful=True, tool_execution_notifications=self._notes(result))],
            original_uri_base_ids={
                ROOT: om.ArtifactLocation(description=om.Message(text="The root of the git repository."))
            },
            results=[],
            properties={"shard": self.context.shard} if self.context.shard else None,
        )
        document = cast("dict[str, Any]", to_json(om.SarifLog(version="2.1.0", schema_uri=SCHEMA, runs=[run])))
        document["runs"][0]["results"] = arranged(results)
        return document

    def _rules(self) -> list[Rule]:
        return sorted(self.context.rules, key=lambda rule: rule.id)

    def _driver(self) -> om.ToolComponent:
        version = self.context.version
        return om.ToolComponent(
            name="shapelint",
            version=version,
            semantic_version=version if _SEMVER.fullmatch(version) else None,
            information_uri=self.context.links or None,
            rules=[self._rule(rule) for rule in self._rules()],
            notifications=[
                om.ReportingDescriptor(id=name, short_description=text, full_description=text, help=text)
                for name, text in ((n, om.MultiformatMessageString(text=t)) for n, t in _NOTIFICATIONS.items())
            ],
        )

    def _rule(self, rule: Rule) -> om.ReportingDescriptor:
        links = self.context.links
        return om.ReportingDescriptor(
            id=rule.id,
            name=rule.name,
            short_description=om.MultiformatMessageString(text=sarif_rules.sentence(rule.summary)),
            full_description=om.MultiformatMessageString(text=sarif_rules.description(rule)),
            help=om.MultiformatMessageString(
                text=sarif_rules.plain(rule, links), markdown=sarif_rules.markdown(rule, links)
            ),
            help_uri=sarif_rules.page_link(rule, links) or None,
            default_configuration=om.ReportingConfiguration(level=rule.severity.value),
            properties={
                "precision": sarif_rules.PRECISION[rule.severity],
                "problem.severity": sarif_rules.PROBLEM[rule.severity],
                "tags": sarif_rules.tags(rule),
            },
        )

    def _result(self, finding: Finding, rules: dict[str, int], reason: str | None) -> om.Result:
        related = self._related(finding)
        places = [place_line(said, place, source, number) for number, (said, place, source, _) in enumerate(related, 1)]
        path, region = finding.location.path, self._region(finding.location)
        if path not in self.hashes:
            data = self.sources.data(path)
            self.hashes[path] = {} if data is None else line_hashes(data)
        line_hash = self.hashes[path].get(region.start_line)
        return om.Result(
            rule_id=finding.id,
            rule_index=rules.get(finding.id, -1),
            level=finding.severity.value,
            message=om.Message(text=message(finding.message or finding.rule, finding.notes, finding.help, places)),
            locations=[om.Location(physical_location=self._physical(finding.location))],
            partial_fingerprints={"primaryLocationLineHash": line_hash} if line_hash else None,
            related_locations=[
                om.Location(id=number, message=om.Message(text=escaped(text)), physical_location=physical)
                for number, (text, _, _, physical) in enumerate(related, 1)
            ]
            or None,
            code_flows=self._flow(finding),
            fixes=self._fix(finding),
            properties={"targets": sorted(finding.targets)} if finding.targets else None,
            suppressions=self._suppressions(reason),
        )

    def _suppressions(self, reason: str | None) -> list[om.Suppression] | None:
        if reason is None:  # either all results of a run have the property or none (SARIF 2.1.0, 3.27.23)
            return [] if self.context.show_suppressed else None
        kind = "external" if reason.startswith("baseline") else "inSource"
        return [om.Suppression(kind=kind, state="accepted", justification=reason)]

    def _related(self, finding: Finding) -> list[tuple[str, str, str, om.PhysicalLocation]]:
        """Of each related place in the repository: what it is, its path and line, its source, and the location."""
        found = []
        for related in finding.related[:RELATED_LIMIT]:
            uri = self._uri(related.location.path)
            if uri is not None:
                line = related.location.region.line
                shown = f"{self.paths[related.location.path]}:{line}"
                source = self.sources.line(related.location.path, line).strip()
                found.append((related.message, shown, source, self._physical(related.location)))
        return found

    def _flow(self, finding: Finding) -> list[om.CodeFlow] | None:
        steps = [
            om.ThreadFlowLocation(
                location=om.Location(
                    message=om.Message(text=escaped(step.message)), physical_location=self._physical(step.location)
                )
            )
            for step in finding.trail
            if self._uri(step.location.path) is not None
        ]
        return [om.CodeFlow(thread_flows=[om.ThreadFlow(locations=steps)])] if steps else None

    def _fix(self, finding: Finding) -> list[om.Fix] | None:
        if not finding.fix or any(self._uri(edit.location.path) is None for edit in finding.fix):
            return None
        changes = [
            om.ArtifactChange(
                artifact_location=self._artifact(edit.location.path),
                replacements=[
                    om.Replacement(
                        deleted_region=_plain_region(edit.location.region),
                        inserted_content=om.ArtifactContent(text=edit.text),
                    )
                ],
            )
            for edit in finding.fix
        ]
        told = sarif_rules.sentence(finding.help or "Repair it")
        return [om.Fix(artifact_changes=changes, description=om.Message(text=escaped(told)))]

    def _notes(self, result: LintResult) -> list[dict[str, Any]] | None:
        """What was not checked or can't be shown, sorted."""
        notes = [self._skipped(skipped) for skipped in result.skipped]
        for finding in result.findings:
            said = sarif_rules.sentence(finding.message)
            if self._uri(finding.location.path) is None:
                told = f"{finding.id} at {self.context.shown_path(finding.location.path)}: {said}"
                notes.append(_note("outside-repository", "warning", told, None))
            elif finding.id == SYNTAX_ERROR:
                notes.append(_note("unparsable-file", "error", said, self._physical(finding.location)))
        unique = {str(note): note for note in map(to_json, notes)}
        return sorted(unique.values(), key=notification_order) or None

    def _skipped(self, skipped: Skipped) -> om.Notification:
        hint = f" To have it checked: {skipped.hint}" if skipped.hint else ""
        told = f"{skipped.target} was not checked: {sarif_rules.sentence(skipped.reason)}{hint}"
        if self._uri(skipped.path) is None:
            return _note("skipped", "warning", told, None)
        region = om.Region(start_line=skipped.line) if skipped.line > 0 else None
        place = om.PhysicalLocation(artifact_location=self._artifact(skipped.path), region=region)
        return _note("skipped", "warning", told, place)

    def _physical(self, location: Location) -> om.PhysicalLocation:
        return om.PhysicalLocation(artifact_location=self._artifact(location.path), region=self._region(location))

    def _artifact(self, path: str) -> om.ArtifactLocation:
        return om.ArtifactLocation(uri=self._uri(path), uri_base_id=ROOT)

    def _uri(self, path: str) -> str | None:
        """The path below the git root, percent-encoded; None where GitHub could not show it."""
        if path not in self.paths:
            self.paths[path] = self.context.repository_path(path)
        inside = self.paths[path]
        return None if inside is None else quote(os.fsencode(inside))

    def _region(self, location: Location) -> om.Region:
        lines = self.sources.lines(location.path)
        return _plain_region(location.region if lines is None else visible(location.region, lines))


def _plain_region(region: Region) -> om.Region:
    return om.Region(
        start_line=region.line, start_column=region.column, end_line=region.end_line, end_column=region.end_column
    )


def _note(kind: str, level: str, text: str, place: om.PhysicalLocation | None) -> om.Notification:
    return om.Notification(
        descriptor=om.ReportingDescriptorReference(id=kind),
        level=level,
        message=om.Message(text=escaped(text)),
        locations=None if place is None else [om.Location(physical_location=place)],
    )
