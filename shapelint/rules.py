"""The rules, read from their pages: the only home of id, name, severity, summary and message."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from shapelint.findings import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping


class RuleError(ValueError):
    """There is no such rule; the message suggests one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule and its page: ``message`` is a template, ``text`` the whole page in Markdown, ``path`` its file."""

    id: str
    name: str
    severity: Severity
    summary: str
    message: str
    text: str
    path: str

    def format(self, **facts: object) -> str:
        """The message with ``facts`` filled in. Raises KeyError where the template wants one that isn't given."""
        return self.message.format(**facts)


def rules_dir() -> Path:
    """The folder of the pages: inside the package where it is installed, beside it in a checkout."""
    here = Path(__file__).resolve().parent
    packaged = here / "_rules"
    return packaged if packaged.is_dir() else here.parent / "rules"


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules, ordered by id. Raises ValueError for a page that lacks one of its facts."""
    pages = [_read(entry.path) for entry in os.scandir(rules_dir()) if entry.name.endswith(".md")]
    return tuple(sorted(pages, key=lambda rule: rule.id))


def find_rule(text: str) -> Rule:
    """The rule with this id or name. Raises RuleError, with a suggestion, where there is none."""
    known: Mapping[str, Rule] = {key: rule for rule in load_rules() for key in (rule.id, rule.name)}
    found = known.get(text) or known.get(text.upper()) or known.get(text.lower())
    if found is not None:
        return found
    close = difflib.get_close_matches(text.lower(), [key.lower() for key in known], n=1)
    if not close:
        raise RuleError(f"there is no rule {text!r}; `shapelint rules` lists them all")
    meant = close[0].upper() if close[0].startswith("sl") and close[0].upper() in known else close[0]
    raise RuleError(f'there is no rule {text!r}; did you mean "{meant}"? `shapelint rules` lists them all')


def _read(path: str) -> Rule:
    text = Path(path).read_text(encoding="utf-8")
    facts: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.removeprefix("- ").partition(": ")
        if line.startswith("- ") and colon and key in ("id", "severity", "summary", "message"):
            facts.setdefault(key, value.strip().removeprefix("`").removesuffix("`"))
    missing = {"id", "severity", "summary", "message"} - facts.keys()
    if missing:
        raise ValueError(f"{path}: the page has no line '- {min(missing)}: …'")
    name = Path(path).stem
    return Rule(facts["id"], name, Severity(facts["severity"]), facts["summary"], facts["message"], text, path)
