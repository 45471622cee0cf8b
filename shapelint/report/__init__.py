"""Reporters: a LintResult in, the text of a report out. Nothing here prints."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

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


# A run writes one format, and importing the others would take longer than writing it.


def _github(result: LintResult, context: ReportContext) -> Report:
    from shapelint.report import github  # noqa: PLC0415

    return Report(github.render(result, context), github.notices(result))


def _sarif(result: LintResult, context: ReportContext) -> Report:
    from shapelint.report import sarif  # noqa: PLC0415

    return Report(*sarif.report(result, context))


def _only_text(name: str) -> Callable[[LintResult, ReportContext], Report]:
    return lambda result, context: Report(import_module(f"shapelint.report.{name}").render(result, context))


FORMATS: dict[str, Callable[[LintResult, ReportContext], Report]] = {
    "full": _only_text("full"),
    "concise": _only_text("concise"),
    "json": _only_text("json_report"),
    "github": _github,
    "gitlab": _only_text("gitlab"),
    "junit": _only_text("junit"),
    "sarif": _sarif,
}
"""The formats, in the order in which help lists them."""


def report(result: LintResult, format: str, context: ReportContext) -> Report:  # noqa: A002  # the option's name
    """The result in one of `FORMATS`. Raises KeyError for another format."""
    return FORMATS[format](result, context)


def render(result: LintResult, format: str, context: ReportContext) -> str:  # noqa: A002  # the option's name
    """The text of `report`. Raises KeyError for a format that isn't in `FORMATS`."""
    return report(result, format, context).text
