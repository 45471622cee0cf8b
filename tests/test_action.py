"""The GitHub action: its steps run in order, as a runner would, with an uploader that only takes note."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from cli_samples import CLEAN, CONFIG, FAULTY, lay, run

from shapelint import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
UPLOADER = "github/codeql-action/upload-sarif"

pytestmark = pytest.mark.torch


@dataclass(frozen=True, slots=True)
class Done:
    """How a job with the action ended: its status, the log, the reports that were uploaded, and the outputs."""

    status: int
    log: str
    uploaded: tuple[dict[str, Any], ...]
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Runner:
    """A checkout and the folder for temporary files, in which the action is installed."""

    temp: Path
    checkout: Path

    def job(self, *, event: Mapping[str, str] | None = None, **given: str) -> Done:
        """Runs the steps with these inputs; ``event`` are values of the github context."""
        unknown = {name.replace("_", "-") for name in given} - ACTION["inputs"].keys()
        assert not unknown
        known = {f"inputs.{name}": str(entry["default"]) for name, entry in ACTION["inputs"].items()}
        known |= {f"inputs.{name.replace('_', '-')}": value for name, value in given.items()}
        known |= {"github.action_path": str(ROOT), **(event or {})}
        status, log, uploaded = 0, "", []
        for step in ACTION["runs"]["steps"]:
            if status or ("if" in step and not holds(step["if"], known)):
                continue
            if "uses" in step:
                assert step["uses"].startswith(f"{UPLOADER}@")
                uploaded.append(
                    json.loads((self.checkout / filled(step["with"]["sarif_file"], known)).read_text("utf-8"))
                )
            elif step["name"] != "Install shapelint":
                status, said, outputs = self.script(step, known)
                log += said
                known |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in outputs.items()}
        outputs = {name: filled(entry["value"], known) for name, entry in ACTION["outputs"].items()}
        return Done(status, log, tuple(uploaded), outputs)

    def script(self, step: Mapping[str, Any], known: Mapping[str, str]) -> tuple[int, str, dict[str, str]]:
        """Status, log and outputs of a step that runs a script."""
        output = self.temp / "output"
        output.write_text("")
        env = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
        env |= {name: filled(value, known) for name, value in step.get("env", {}).items()}
        env |= {
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_REPOSITORY": "them/project",
            "GITHUB_SERVER_URL": "https://github.com",
        }
        assert step["shell"] == "bash"
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=self.checkout, env=env, capture_output=True, text=True, check=False)
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return done.returncode, done.stdout + done.stderr, outputs


def filled(text: str, known: Mapping[str, str]) -> str:
    """The text with its expressions replaced; what a context doesn't have is empty, as for a runner."""
    return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda found: known.get(found[1], ""), text)


def holds(condition: str, known: Mapping[str, str]) -> bool:
    """The value of a condition of the one form that the action uses."""
    found = re.fullmatch(r"([\w.-]+) == '(\w+)'", condition)
    assert found, condition
    return known.get(found[1], "") == found[2]


@pytest.fixture(scope="session")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runner's temporary folder, after the action's first step."""
    folder = tmp_path_factory.mktemp("runner temp")
    runner = Runner(folder, folder)
    status, log, _ = runner.script(ACTION["runs"]["steps"][0], {"github.action_path": str(ROOT)})
    assert status == 0, log
    assert f"shapelint {__version__}\n" in log
    return folder


@pytest.fixture
def runner(temp: Path, tmp_path: Path) -> Runner:
    checkout = tmp_path / "check out"
    lay(checkout, {"shapelint.toml": CONFIG, "net.py": FAULTY, ".git/HEAD": ""})
    return Runner(temp, checkout)


def results(done: Done) -> list[str]:
    (document,) = done.uploaded
    return [result["ruleId"] for result in document["runs"][0]["results"]]


def test_findings_are_uploaded_before_the_job_fails(runner: Runner) -> None:
    done = runner.job(python=sys.executable)
    assert (done.status, results(done)) == (1, ["SL101"]), done.log
    assert done.outputs == {"exit-code": "1", "sarif-file": "shapelint.sarif"}
    assert "net.py:10:16: error SL101 matmul-dims" in done.log


def test_a_clean_run_uploads_an_empty_report_which_closes_alerts(runner: Runner) -> None:
    lay(runner.checkout, {"net.py": CLEAN})
    done = runner.job(python=sys.executable)
    assert (done.status, results(done)) == (0, []), done.log


@pytest.mark.parametrize(
    ("inputs", "files"),
    [
        ({}, {"shapelint.toml": "selct = 1\n"}),
        ({"paths": "gone.py"}, {}),
        ({"args": "--no-such-option"}, {}),
        ({"python": "no/such/python"}, {}),
        ({"merge": "gone/*.sarif"}, {}),
        ({"merge": "net.py"}, {}),
        ({"args": "--exit-zero", "paths": "gone.py"}, {}),
    ],
)
def test_a_run_that_could_not_run_uploads_nothing(
    runner: Runner, inputs: dict[str, str], files: dict[str, str]
) -> None:
    lay(runner.checkout, {**files, "shapelint.sarif": "{}"})  # an earlier step's report
    done = runner.job(event=None, **{"python": sys.executable, **inputs})
    assert (done.status, done.uploaded, done.outputs["exit-code"]) == (2, (), "2"), done.log
    assert "::error title=shapelint::shapelint could not run (status 2)" in done.log


def test_a_tool_that_is_not_there_uploads_nothing(runner: Runner, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = Runner(empty, runner.checkout).job()
    assert (done.status, done.uploaded) == (127, ())


def test_a_pull_request_from_a_fork_gets_annotations(runner: Runner) -> None:
    head = "github.event.pull_request.head.repo.full_name"
    done = runner.job(python=sys.executable, event={head: "someone/project"})
    assert (done.status, done.uploaded) == (1, ()), done.log
    assert "::error file=net.py,line=10,endLine=10,col=16,endColumn=26,title=SL101 matmul-dims::" in done.log
    assert (runner.checkout / "shapelint.sarif").exists()
    own = runner.job(python=sys.executable, event={head: "them/project"})
    assert results(own) == ["SL101"]


def test_without_upload_there_are_annotations(runner: Runner) -> None:
    done = runner.job(python=sys.executable, upload="false")
    assert (done.status, done.uploaded) == (1, ())
    assert "::error file=net.py," in done.log


def test_inputs_are_words_and_never_code(runner: Runner) -> None:
    baseline = '{"version": 1, "findings": []}'
    lay(runner.checkout, {"a b/$(touch pwned).py": "x = (\n", "$(touch pwned)": baseline})
    done = runner.job(
        python=sys.executable,
        paths="a b/$(touch pwned).py\n\n",
        args="--select=SL006\n--baseline=$(touch pwned)",
        category="`touch pwned`",
        sarif_file="out $(touch pwned).sarif",
    )
    assert (done.status, results(done)) == (1, ["SL006"]), done.log
    assert done.uploaded[0]["runs"][0]["automationDetails"]["id"] == "`touch pwned`/"
    assert not (runner.checkout / "pwned").exists()
    steps = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert [step["run"] for step in steps if "${{" in step["run"]] == []


def test_the_links_lead_to_the_pages_of_the_commit_in_use(runner: Runner) -> None:
    used = {"github.action_repository": "them/fork", "github.action_ref": "abc123"}
    done = runner.job(python=sys.executable, event=used)
    rule = done.uploaded[0]["runs"][0]["tool"]["driver"]["rules"][0]
    assert rule["helpUri"] == "https://github.com/them/fork/blob/abc123/rules/import-failed.md"


def test_shards_are_merged_into_one_upload(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"net{n}" for n in range(5)]
    config = "".join(CONFIG.replace("net:Net", f"{name}:Net") for name in names)
    lay(runner.checkout, {"shapelint.toml": config, **{f"{name}.py": FAULTY for name in names}})
    (runner.checkout / "shards").mkdir()
    for part in (1, 2, 3):
        shard = runner.job(
            python=sys.executable,
            args=f"--shard={part}/3\n--exit-zero\n",
            upload="false",
            sarif_file=f"shards/{part}.sarif",
        )
        assert (shard.status, shard.uploaded) == (0, ()), shard.log
    done = runner.job(merge="shards/*.sarif")
    assert (done.status, results(done)) == (1, ["SL101"] * 5), done.log
    monkeypatch.chdir(runner.checkout)
    run("check", "--python", sys.executable, "--sarif-output", "whole.sarif", "-q")
    assert (runner.checkout / "whole.sarif").read_bytes() == (runner.checkout / "shapelint.sarif").read_bytes()
