"""Results to report: small repositories on disk with findings in them, shared by the reporters' tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shapelint.findings import (
    Edit,
    Finding,
    LintResult,
    Location,
    Region,
    Related,
    Severity,
    Skipped,
    Step,
    TargetSummary,
)
from shapelint.report import ReportContext
from shapelint.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGE = """# SL101 matmul-dims

A matrix product or a linear layer gets another number of features than its `weight` has.

See [channel-count](channel-count.md) for convolutions.

## Bad

```python
nn.Linear(3, 4)(torch.zeros(2, 5))  # expect: matmul-dims
```
"""

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(400, 120)

    def forward(self, x):
        x = self.pool(self.conv1(x))
        x = torch.flatten(x, 1)
        return self.fc1(x)
"""


def rule(rule_id: str, name: str, severity: Severity = Severity.ERROR) -> Rule:
    return Rule(rule_id, name, severity, f"what {name} says", "{message}", PAGE, f"rules/{name}.md")


RULES = (
    rule("SL006", "syntax-error"),
    rule("SL101", "matmul-dims"),
    rule("SL203", "unexercised-rank", Severity.NOTE),
    rule("SL401", "batch-folded", Severity.WARNING),
)
NAMES = {r.id: r for r in RULES}


def context(root: Path, **changes: object) -> ReportContext:
    known: dict[str, object] = {
        "cwd": str(root),
        "git_root": str(root),
        "rules": RULES,
        "version": "0.1.0",
        "links": "https://example.org/rules/",
    }
    return ReportContext(**{**known, **changes})  # type: ignore[arg-type]  # each value has its field's type


def write(root: Path, name: str, text: str, encoding: str = "utf-8") -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode(encoding))
    return str(path)


def at(path: str, text: str, needle: str, occurrence: int = 0) -> Location:
    """Where the needle stands in the text, which is on one line, lines ended by LF or CRLF."""
    lines = text.replace("\r\n", "\n").split("\n")
    hits = [(n, line.index(needle)) for n, line in enumerate(lines, 1) if needle in line]
    number, column = hits[occurrence]
    return Location(path, Region(number, column + 1, number, column + 1 + len(needle)))


def finding(rule_id: str, location: Location, message: str = "two shapes differ", **more: object) -> Finding:
    known = NAMES[rule_id]
    return Finding(rule_id, known.name, known.severity, message, location, **more)  # type: ignore[arg-type]


def linear_fault(path: str) -> Finding:
    """The fault of NET: fc1 takes 400 features and gets 3136."""
    return finding(
        "SL101",
        at(path, NET, "self.fc1(x)"),
        "self.fc1 takes 400 features and gets 3136: x is [B, 3136]",
        targets=("net:Net",),
        notes=("400 is [16, 5, 5] flattened",),
        help="nn.Linear(3136, 120)",
        related=(Related(at(path, NET, "self.fc1 = nn.Linear(400, 120)"), "made here"),),
        trail=(
            Step(at(path, NET, "x", 2), "x -> [B, 3, 32, 32]"),
            Step(at(path, NET, "self.conv1(x)"), "conv1 -> [B, 16, 28, 28]"),
            Step(at(path, NET, "self.pool(self.conv1(x))"), "pool -> [B, 16, 14, 14]"),
            Step(at(path, NET, "torch.flatten(x, 1)"), "flatten -> [B, 3136]"),
        ),
        fix=(Edit(at(path, NET, "400"), "3136"),),
    )


TARGET = TargetSummary("net:Net", "", cases=2, assignments=6, complete=True, seconds=0.25)


def clean(root: Path) -> tuple[LintResult, ReportContext]:
    write(root, "net.py", NET)
    return LintResult(targets=(TARGET,)), context(root)


def one_finding(root: Path) -> tuple[LintResult, ReportContext]:
    path = write(root, "models/net.py", NET)
    return LintResult((linear_fault(path),), targets=(TARGET,)), context(root)


def suppressed(root: Path) -> tuple[LintResult, ReportContext]:
    path = write(root, "net.py", NET)
    return LintResult(suppressed=((linear_fault(path), "shapelint: ignore[SL101]"),), targets=(TARGET,)), context(root)


def unparsable(root: Path) -> tuple[LintResult, ReportContext]:
    text = "def f(:\n    pass\n"
    path = write(root, "broken.py", text)
    fault = finding("SL006", at(path, text, ":"), "broken.py can't be parsed: expected ')'")
    skipped = Skipped("broken", "its file can't be parsed", "repair the syntax error", path, 1)
    return LintResult((fault,), skipped=(skipped,)), context(root)


def odd_path(root: Path) -> tuple[LintResult, ReportContext]:
    path = write(root, "my models/größe [1] 100%.py", NET)
    return LintResult((linear_fault(path),)), context(root)


def crlf(root: Path) -> tuple[LintResult, ReportContext]:
    path = write(root, "net.py", NET.replace("\n", "\r\n"))
    return LintResult((linear_fault(path),)), context(root)


def symlinked(root: Path) -> tuple[LintResult, ReportContext]:
    path = write(root, "real/net.py", NET)
    link = str(root / "link.py")
    os.symlink(path, link)
    return LintResult((linear_fault(link),)), context(root)


def no_files(root: Path) -> tuple[LintResult, ReportContext]:
    return LintResult(), context(root)


def wide_emoji(root: Path) -> tuple[LintResult, ReportContext]:
    text = 'def forward(self, x):\n    label = "🦀🦀"; return self.fc1(x)\n'
    path = write(root, "emoji.py", text)
    return LintResult((finding("SL101", at(path, text, "self.fc1(x)")),)), context(root)


def below_the_root(root: Path) -> tuple[LintResult, ReportContext]:
    path = write(root, "sub/net.py", NET)
    return LintResult((linear_fault(path),)), context(root, cwd=str(root / "sub"))


SITUATIONS: dict[str, Callable[[Path], tuple[LintResult, ReportContext]]] = {
    "clean": clean,
    "one_finding": one_finding,
    "suppressed": suppressed,
    "unparsable": unparsable,
    "odd_path": odd_path,
    "crlf": crlf,
    "symlinked": symlinked,
    "no_files": no_files,
    "wide_emoji": wide_emoji,
    "below_the_root": below_the_root,
}
