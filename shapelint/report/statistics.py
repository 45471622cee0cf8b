"""How often each rule was broken."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapelint.findings import LintResult


def statistics(result: LintResult) -> str:
    """A line for each rule with findings, ``12  SL101  matmul-dims``, the most frequent first."""
    counts = Counter((finding.id, finding.rule) for finding in result.findings)
    wide = max([len(str(count)) for count in counts.values()], default=0)
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return "".join(f"{count:>{wide}}  {rule_id}  {name}\n" for (rule_id, name), count in ordered)
