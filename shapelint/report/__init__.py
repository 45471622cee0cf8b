"""Reporters: a LintResult in, the text of a report out. Nothing here prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.report import concise, full, github, gitlab, json_report, junit
from shapelint.report.context import ReportContext, read_bytes
from shapelint.report.sarif_merge import MergeError, merge
from shapelint.report.statistics import statistics
from shapelint.report.summary import summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.findings import LintResult

__all__ = [
    "FORMATS",
    "MergeError",
    "Report",
    "ReportContext",
    "merge",
    "read_bytes",
    "render",
    "report",
    "statistics",
    "summary",
]


@dataclass(frozen=True, slots=True)
class Report:
    """A rendered report, and words for stderr on what it had to leave out."""

    text: str
    notices: tuple[str, ...] = ()


def _github(result: LintResult, context: ReportContext) -> Report:
    return Report(github.render(result, context), github.notices(result))


def _sarif(result: LintResult, context: ReportContext) -> Report:
    from shapelint.report import sarif  # noqa: PLC0415  # importing sarif_om takes longer than writing any other format

    return Report(*sarif.report(result, context))


def _only_text(render: Callable[[LintResult, ReportContext], str]) -> Callable[[LintResult, ReportContext], Report]:
    return lambda result, context: Report(render(result, context))


FORMATS: dict[str, Callable[[LintResult, ReportContext], Report]] = {
    "full": _only_text(full.render),
    "concise": _only_text(concise.render),
    "json": _only_text(json_report.render),
    "github": _github,
    "gitlab": _only_text(gitlab.render),
    "junit": _only_text(junit.render),
    "sarif": _sarif,
}
"""The formats, in the order in which help lists them."""


def report(result: LintResult, format: str, context: ReportContext) -> Report:  # noqa: A002  # the option's name
    """The result in one of `FORMATS`. Raises KeyError for another format."""
    return FORMATS[format](result, context)


def render(result: LintResult, format: str, context: ReportContext) -> str:  # noqa: A002  # the option's name
    """The text of `report`. Raises KeyError for a format that isn't in `FORMATS`."""
    return report(result, format, context).text
