"""SARIF's plain text messages, in which ``[text](1)`` links to a related location and other brackets are escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shapelint.report.sarif_rules import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

_SPECIAL = re.compile(r"[\[\]\\]")


def escaped(text: str) -> str:
    """The text so that shapes such as ``[B, 3]`` are not read as links (SARIF 2.1.0, 3.11.6)."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def link(text: str, target: int) -> str:
    """A link to the related location with this id."""
    return f"[{escaped(text)}]({target})"


def place_line(said: str, place: str, source: str, target: int) -> str:
    """The message's line on a related place: ``Made here: [models/net.py:17](1) self.fc1 = nn.Linear(400, 120)``."""
    code = f" {escaped(source)}" if source else ""
    return f"{escaped(said[:1].upper() + said[1:])}: {link(place, target)}{code}"


def message(first: str, notes: Sequence[str], help_text: str, places: Sequence[str]) -> str:
    """The whole text: each of the facts a line that ends a sentence, since an alert's title is the first sentence.

    ``places`` are ready made (see `link`); the rest is escaped here.
    """
    facts = [escaped(sentence(fact)) for fact in (first, *notes) if fact]
    if help_text:
        facts.append(escaped(f"To repair it: {help_text}"))
    return "\n".join((*facts, *places))
