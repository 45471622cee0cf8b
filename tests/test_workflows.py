"""The action, the hooks and the samples of the documentation, judged by the tools that know their formats."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
ACTION = ROOT / "action.yml"
SAMPLES = ROOT / "docs" / "samples"
WORKFLOWS = sorted(SAMPLES.glob("github*.yml"))


def schema_objections(kind: str, file: Path) -> str:
    """What check-jsonschema's own copy of a schema objects to; empty for nothing."""
    args = ["--builtin-schema", f"vendor.{kind}", str(file)]
    if kind == "gitlab-ci":
        args += ["--data-transform", "gitlab-ci"]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *args], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def zizmor_objections(*files: Path) -> str:
    """What zizmor objects to at its strictest, asking nobody; empty for nothing."""
    program = Path(sys.executable).with_name("zizmor")
    args = [str(program), "--offline", "--no-progress", "--persona=pedantic", *map(str, files)]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("github-actions", ACTION),
        *(("github-workflows", file) for file in WORKFLOWS),
        ("gitlab-ci", SAMPLES / "gitlab-ci.yml"),
    ],
)
def test_the_schemas_have_no_objection(kind: str, file: Path) -> None:
    assert schema_objections(kind, file) == ""


def test_the_schemas_would_object(tmp_path: Path) -> None:
    for kind, good in (("github-actions", ACTION), ("github-workflows", WORKFLOWS[0])):
        document = yaml.safe_load(good.read_text("utf-8"))
        document.pop("runs" if kind == "github-actions" else "jobs")
        bad = tmp_path / f"{kind}.yml"
        bad.write_text(yaml.safe_dump(document), encoding="utf-8")
        assert "is a required property" in schema_objections(kind, bad)


def test_zizmor_has_no_objection(tmp_path: Path) -> None:
    assert len(WORKFLOWS) == 2
    assert zizmor_objections(ACTION, *WORKFLOWS) == ""
    text = ACTION.read_text("utf-8").replace('run: bash "$ACTION_FOLDER/action/check"', "run: echo ${{ inputs.paths }}")
    bad = tmp_path / "action.yml"
    bad.write_text(text, encoding="utf-8")
    assert "template-injection" in zizmor_objections(bad)


def test_every_input_of_the_samples_is_one_of_the_action() -> None:
    known = yaml.safe_load(ACTION.read_text("utf-8"))["inputs"].keys()
    given = [
        set(step["with"])
        for file in WORKFLOWS
        for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values()
        for step in job["steps"]
        if step.get("uses", "").startswith("shapelint/")
    ]
    assert len(given) == 3
    for each in given:
        assert each <= known


def test_the_scripts_of_the_action_are_sound_bash() -> None:
    for script in sorted((ROOT / "action").iterdir()):
        done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), script
