"""Small models with marked lines, run through the whole tool at once."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from typing import TYPE_CHECKING

from cli_samples import run

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn, Tensor


"""
MARK = re.compile(r"# expect: ([\w-]+)$", re.MULTILINE)
Flagged = set[tuple[int, str]]


def wrongly_flagged(
    root: Path, models: dict[str, str], inputs: str, head: str = HEAD
) -> dict[str, tuple[Flagged, Flagged]]:
    """What is marked and what was flagged, where they differ, by model. ``# expect: rule`` ends a marked line."""
    texts = {fact: (head + textwrap.dedent(code)).lstrip("\n") for fact, code in models.items()}
    for number, text in enumerate(texts.values()):
        folder = root / str(number)
        folder.mkdir()
        table = f'[[models]]\ntarget = "net:Net"\nmodes = ["eval"]\ninputs = {{ {inputs} }}\n'
        (folder / "shapelint.toml").write_text(table, encoding="utf-8")
        (folder / "net.py").write_text(text, encoding="utf-8")
    result = run("check", str(root), "--python", sys.executable, "--no-cache", "--output-format", "json", "-q")
    report = json.loads(result.stdout)
    assert len(report["targets"]) == len(models), result.output
    got: list[Flagged] = [set() for _ in models]
    for finding in report["findings"]:
        got[int(finding["path"].rsplit("/", 2)[-2])].add((finding["line"], finding["rule"]))
    wrong = {}
    for number, (fact, text) in enumerate(texts.items()):
        lines = enumerate(text.splitlines(), start=1)
        marked = {(line, mark[1]) for line, code in lines if (mark := MARK.search(code))}
        if marked != got[number]:
            wrong[fact] = (marked, got[number])
    return wrong
