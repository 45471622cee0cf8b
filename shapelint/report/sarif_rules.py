"""A rule's page in the pieces that a SARIF viewer shows: a description without markup, and the page with its link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shapelint.findings import Severity

if TYPE_CHECKING:
    from shapelint.rules import Rule

DESCRIPTION_LIMIT = 1024
"""GitHub keeps so many characters of a description."""

PRECISION = {Severity.ERROR: "very-high", Severity.WARNING: "high", Severity.NOTE: "medium"}
"""An error must be true (eager execution raises as well); a warning is a judgement on code that runs."""

PROBLEM = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}
"""GitHub's words for severities of alerts that are no security alerts."""

_FAMILIES = {
    "SL0": "analysis",
    "SL1": "correctness",
    "SL2": "contract",
    "SL3": "analysis",
    "SL4": "suspicious",
    "SL9": "maintenance",
}
_HEADER = re.compile(r"\A(?:---|\+\+\+)\n.*?\n(?:---|\+\+\+)\n+", re.DOTALL)
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)
_RELATIVE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def page_link(rule: Rule, links: str) -> str:
    """The address of the rule's page, empty where the pages have none."""
    return f"{links}{rule.name}.md" if links else ""


def tags(rule: Rule) -> list[str]:
    """What to filter alerts by."""
    return ["pytorch", "shapes", _FAMILIES.get(rule.id[:3], "shapes-other")]


def markdown(rule: Rule, links: str) -> str:
    """The page with absolute links, and its own address at the end: GitHub doesn't show ``helpUri``."""
    text = _HEADER.sub("", rule.text).strip()
    if links:
        text = _RELATIVE_LINK.sub(rf"]({links}\1)", text)
        text += f"\n\n[Documentation of {rule.id} {rule.name}]({page_link(rule, links)})"
    return text + "\n"


def plain(rule: Rule, links: str) -> str:
    """The page as plain text."""
    text = _LINK.sub(r"\1", _HEADER.sub("", rule.text)).strip()
    return f"{text}\n\nDocumentation: {page_link(rule, links)}\n" if links else f"{text}\n"


def description(rule: Rule) -> str:
    """The first paragraphs of the page without markup, as many as fit into `DESCRIPTION_LIMIT`; else the summary."""
    prose = _FENCE.sub("", _HEADER.sub("", rule.text))
    kept = ""
    for block in re.split(r"\n\s*\n", prose):
        paragraph = " ".join(_LINK.sub(r"\1", block).replace("`", "").replace("**", "").split())
        if not paragraph or paragraph[0] in "#|-*<>":
            continue
        longer = f"{kept} {paragraph}".strip()
        if len(longer) > DESCRIPTION_LIMIT:
            break
        kept = longer
    return kept or sentence(rule.summary)


def sentence(text: str) -> str:
    """The text, ended by a full stop where it ends in nothing like it."""
    stripped = text.rstrip()
    return stripped if not stripped or stripped[-1] in ".!?:" else f"{stripped}."
