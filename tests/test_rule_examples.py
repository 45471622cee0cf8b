"""Every example of every page, run through the whole tool: Bad fires exactly its marked lines, Good is silent."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest
from cli_samples import run

from shapelint.rules import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.torch

MARK = re.compile(r"# expect: ([\w-]+)$")
INPUTS = re.compile(r"^# shapelint: inputs\((.*)\)$", re.MULTILINE)
STANDARD = "x = 'float32[B, 16]'"
BLOCK = re.compile(r"(?:```toml\n(.*?)```\n\n)?```python\n(.*?)```", re.DOTALL)


def examples() -> Iterator[tuple[str, str, str]]:
    """Name, configuration and code of each example, in the order of the pages."""
    for rule in load_rules():
        for kind in ("Bad", "Good"):
            body = re.search(rf"^## {kind}\n(.*?)(?=^## |\Z)", rule.text, re.DOTALL | re.MULTILINE)
            for number, (toml, code) in enumerate(BLOCK.findall(body[1] if body else "")):
                inputs = INPUTS.search(code)
                table = f"inputs = {{ {inputs[1] if inputs else STANDARD} }}\n"
                extra = toml if "inputs" in toml or "target" in toml else table + toml
                target = "" if "target" in toml else 'target = "example:Net"\n'
                modes = "" if "modes" in toml else 'modes = ["eval"]\n'
                yield f"{rule.name}-{kind}-{number}".lower(), f"[[models]]\n{target}{modes}{extra}", code


def wanted(code: str) -> set[tuple[int, str]]:
    lines = enumerate(code.splitlines(), start=1)
    return {(number, mark[1]) for number, line in lines if (mark := MARK.search(line))}


def test_bad_examples_fire_where_they_are_marked_and_good_ones_are_silent(tmp_path: Path) -> None:
    found = {name: (config, code) for name, config, code in examples()}
    for name, (config, code) in found.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "shapelint.toml").write_text(config, encoding="utf-8")
        (tmp_path / name / "example.py").write_text(code, encoding="utf-8")
    result = run("check", str(tmp_path), "--python", sys.executable, "--no-cache", "--output-format", "json", "-q")
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    got: dict[str, set[tuple[int, str]]] = {name: set() for name in found}
    for finding in report["findings"]:
        got[finding["path"].rsplit("/", 2)[-2]].add((finding["line"], finding["rule"]))
    marked = {name: wanted(code) for name, (_, code) in found.items()}
    assert {name: (got[name], marked[name]) for name in found if got[name] != marked[name]} == {}
    assert len(report["targets"]) == len(found)
