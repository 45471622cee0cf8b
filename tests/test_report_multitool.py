"""Microsoft's SARIF Multitool, with its rules for the standard and for GitHub, has nothing to say."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from report_samples import NET, SITUATIONS, context, linear_fault, write

from shapelint.findings import LintResult
from shapelint.report import merge, render
from shapelint.report.sarif_writer import dumps

VERSION = "5.7.0"
NPM = shutil.which("npm")

pytestmark = pytest.mark.skipif(
    NPM is None or platform.system() != "Linux" or platform.machine() != "x86_64",
    reason="the SARIF Multitool comes from npm, as a program for Linux on x86-64",
)


@pytest.fixture(scope="session")
def multitool() -> Path:
    """The program, installed once into the user's cache folder."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / f"shapelint-multitool-{VERSION}"
    program = cache / "node_modules" / "@microsoft" / "sarif-multitool-linux" / "Sarif.Multitool"
    if not program.exists():
        cache.mkdir(parents=True, exist_ok=True)
        package = f"@microsoft/sarif-multitool-linux@{VERSION}"
        command = [str(NPM), "install", "--prefix", str(cache), "--no-audit", "--no-fund", "--no-save", package]
        installed = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if installed.returncode != 0 and not os.environ.get("CI"):
            pytest.skip(f"npm can't install {package}: {installed.stderr.strip()[-200:]}")
        assert installed.returncode == 0, installed.stderr
    program.chmod(0o755)  # newer npm versions don't run the package's own script for this
    return program


def objections(program: Path, sarif: Path) -> list[str]:
    """Rule and place of each of its errors and warnings, and whatever kept it from checking."""
    told = sarif.with_suffix(".validation")
    command = [str(program), "validate", str(sarif), "--rule-kind", "Sarif;Ghas", "-o", str(told)]
    # Its exit status is 0 whatever it finds, so its output file is read.
    subprocess.run([*command, "--log", "ForceOverwrite"], capture_output=True, text=True, timeout=120, check=False)
    run: dict[str, Any] = json.loads(told.read_text("utf-8-sig"))["runs"][0]
    notes = [
        note
        for invocation in run.get("invocations", ())
        for kind in ("toolExecutionNotifications", "toolConfigurationNotifications")
        for note in invocation.get(kind, ())
    ]
    found = [f"{r['ruleId']} {r['message'].get('id')} {r['message'].get('arguments')}" for r in run["results"]]
    return [*found, *(str(note["message"]) for note in notes)]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_multitool_accepts(tmp_path: Path, multitool: Path, situation: str) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    sarif = tmp_path / "report.sarif"
    sarif.write_text(render(*_in_order(situation, checkout)), encoding="utf-8")
    assert objections(multitool, sarif) == []


def test_the_multitool_accepts_a_merged_document(tmp_path: Path, multitool: Path) -> None:
    told = context(tmp_path)
    results = [LintResult((linear_fault(write(tmp_path, f"m{n}.py", NET)),)) for n in range(2)]
    sarif = tmp_path / "merged.sarif"
    merged = merge([json.loads(render(result, "sarif", told)) for result in results])
    sarif.write_text(dumps(merged), encoding="utf-8")
    assert objections(multitool, sarif) == []


def test_the_multitool_would_object(tmp_path: Path, multitool: Path) -> None:
    document = json.loads(render(*_in_order("one_finding", tmp_path)))
    del document["runs"][0]["results"][0]["locations"]
    sarif = tmp_path / "bad.sarif"
    sarif.write_text(json.dumps(document), encoding="utf-8")
    assert objections(multitool, sarif) != []


def _in_order(situation: str, root: Path) -> tuple[LintResult, str, Any]:
    result, told = SITUATIONS[situation](root)
    return result, "sarif", told
