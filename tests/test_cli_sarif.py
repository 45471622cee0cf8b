"""The SARIF report of a whole run, in a repository as repositories are, as GitHub judges it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from cli_samples import CLEAN, CONFIG, FAULT_LINE, FAULTY, check, lay
from sarif_judge import objections, schema

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

EMOJI = FAULTY.replace("return self", 'label = "🦀🦀"; return self')


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A project a folder: what each of them is for stands in its name."""
    lay(
        tmp_path,
        {f"{name}/shapelint.toml": CONFIG for name in ("clean", "crlf", "my größe", "linked", "wide", "quiet")},
    )
    lay(tmp_path, {"clean/net.py": CLEAN, "my größe/net.py": FAULTY, "real.py": FAULTY, "wide/net.py": EMOJI})
    lay(tmp_path, {"broken.py": "def f(:\n", "empty/notes.txt": ""})
    lay(tmp_path, {"quiet/net.py": FAULTY.replace("fc(x)", "fc(x)  # shapelint: ignore[SL101]")})
    lay(tmp_path, {"crlf/net.py": ""})
    (tmp_path / "crlf" / "net.py").write_bytes(FAULTY.lstrip("\n").replace("\n", "\r\n").encode())
    (tmp_path / "linked" / "net.py").symlink_to("../real.py")
    (tmp_path / ".git").mkdir()
    return tmp_path


def run_of(*args: str) -> dict[str, Any]:
    """The run of a report that the standard's schema accepts."""
    result = check("--output-format", "sarif", *args)
    assert result.exit_code in {0, 1}, result.stderr
    document = json.loads(result.stdout)
    assert [error.message for error in schema().iter_errors(document)] == []
    (run,) = document["runs"]
    assert result.exit_code == bool(run["results"])
    return dict(run)


def places(run: dict[str, Any]) -> list[tuple[str, str, int, int]]:
    physical = [(r["ruleId"], r["locations"][0]["physicalLocation"]) for r in run["results"]]
    return [
        (rule, unquote(p["artifactLocation"]["uri"]), p["region"]["startLine"], p["region"]["startColumn"])
        for rule, p in physical
    ]


def test_github_takes_the_report_of_a_repository(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told from the git root, whatever the current folder and the number of models traced at once."""
    monkeypatch.chdir(repository)
    run = run_of("-j", "1")
    assert objections(run, repository) == []
    assert places(run) == [
        ("SL006", "broken.py", 1, 7),
        ("SL101", "crlf/net.py", FAULT_LINE, 16),
        ("SL101", "my größe/net.py", FAULT_LINE, 16),
        ("SL101", "real.py", FAULT_LINE, 16),
        ("SL101", "wide/net.py", FAULT_LINE, 30),
    ]
    assert run["invocations"][0]["executionSuccessful"] is True
    os.chdir("clean")
    assert run_of("..", "-j", "4") == run


@pytest.mark.parametrize("path", ["clean", "empty", "quiet"])
def test_a_report_without_findings_has_an_empty_list_of_results(
    repository: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not none at all: the list is what closes the alerts."""
    monkeypatch.chdir(repository)
    assert run_of(path)["results"] == []
