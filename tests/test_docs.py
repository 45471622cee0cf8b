"""The pages of the documentation are true: their commands run, print what is shown, and their links lead somewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cli_samples import lay

from shapelint import RULES_URL
from shapelint.report.sarif_rules import markdown, page_link
from shapelint.rules import load_rules

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.fc = nn.Linear(100, 10)

    def forward(self, x):
        return self.fc(x.flatten(1))
"""
CONFIG = '[[models]]\ntarget = "net:Net"\ninputs = { x = "float32[B, 3, 8, 8]" }\n'


def blocks(page: Path, kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == kind]


def commands(block: str) -> list[tuple[str, str]]:
    """Each command of a block with what is shown below it."""
    parts = re.split(r"^\$ (.+)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2]))


def expected(command: str) -> int:
    """The exit status in a project that has a finding: 1, but for what finds nothing, knows all or forgives all."""
    forgiving = ("--exit-zero", "--show-settings", "--baseline", "shapelint merge")
    return 0 if any(word in command for word in forgiving) else 1


@pytest.fixture
def project(tmp_path: Path) -> Path:
    local = yaml.safe_load(blocks(ROOT / "docs" / "pre-commit.md", "yaml")[1])
    net = NET.replace("        self.act = nn.ReLU()\n", "        # the layers\n")
    lay(tmp_path, {"net.py": net, "shapelint.toml": CONFIG, ".pre-commit-config.yaml": yaml.safe_dump(local)})
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run([*git, "add", "--all"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.torch
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_command_of_a_page_runs_and_prints_what_is_shown(page: Path, project: Path) -> None:
    """In the order of the page, each in the folder that the one before has left."""
    bin_folder = str(Path(sys.executable).parent)
    env = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "PRE_COMMIT_COLOR": "never"}
    env = {name: value for name, value in env.items() if name != "GITHUB_ACTIONS"}
    seen = 0
    for block in blocks(page, "console"):
        for command, shown in commands(block):
            done = subprocess.run(
                command, shell=True, cwd=project, env=env, capture_output=True, text=True, check=False
            )
            assert done.returncode == expected(command), (command, done.stdout, done.stderr)
            if shown.strip():
                assert _timeless(done.stdout).strip() == _timeless(shown).strip(), command
            seen += 1
    assert seen > 0


def _timeless(text: str) -> str:
    return re.sub(r"in \d+\.\d s\)", "in 1.0 s)", text)


@pytest.mark.torch
def test_the_gitlab_job_leaves_the_report_that_it_hands_over(project: Path) -> None:
    """All of its script but what installs."""
    job = yaml.safe_load((ROOT / "docs" / "samples" / "gitlab-ci.yml").read_text("utf-8"))["shapelint"]
    (command,) = [line for line in job["script"] if not line.startswith("pip install")]
    bin_folder = str(Path(sys.executable).parent)
    env = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, shell=True, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert job["artifacts"]["when"] == "always"  # also of a job that fails
    report = json.loads((project / job["artifacts"]["reports"]["codequality"]).read_text("utf-8"))
    assert [(each["check_name"], each["location"]["path"]) for each in report] == [("SL101 matmul-dims", "net.py")]


@pytest.mark.torch
def test_what_the_pages_write_is_what_they_say(project: Path) -> None:
    shapelint = str(Path(sys.executable).with_name("shapelint"))
    for part in ("1/2", "2/2"):
        words = ["check", ".", "--shard", part, "--output-format", "sarif", "-o", f"s{part[0]}.sarif", "--exit-zero"]
        assert subprocess.run([shapelint, *words], cwd=project, capture_output=True, check=False).returncode == 0
    merged = [shapelint, "merge", "s1.sarif", "s2.sarif", "-o", "all.sarif"]
    assert subprocess.run(merged, cwd=project, check=False).returncode == 0
    whole = [shapelint, "check", ".", "--output-format", "sarif", "-o", "whole.sarif"]
    assert subprocess.run(whole, cwd=project, capture_output=True, check=False).returncode == 1
    assert (project / "all.sarif").read_bytes() == (project / "whole.sarif").read_bytes()
    assert len(json.loads((project / "all.sarif").read_text("utf-8"))["runs"][0]["results"]) == 1


def test_every_link_leads_to_a_file() -> None:
    for page in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page.name, link)


def test_the_address_of_each_rule_is_that_of_its_page() -> None:
    """What SARIF links, and what pages link among each other."""
    for rule in load_rules():
        address = page_link(rule, RULES_URL)
        assert (ROOT / address.partition("/blob/main/")[2]).is_file(), address
        for link in re.findall(r"\]\(([^)#:\s]+)", markdown(rule, "")):
            assert (ROOT / "rules" / link).is_file(), (rule.name, link)


def test_the_pages_are_reached_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    assert [page.name for page in PAGES if f"(docs/{page.name})" not in readme] == []
    samples = sorted((ROOT / "docs" / "samples").iterdir())
    assert [each.name for each in samples if not any(f"(samples/{each.name})" in text for text in texts)] == []


def test_pre_commit_understands_the_configurations_shown(tmp_path: Path) -> None:
    """By its own judge, which refuses a kind of file that there isn't."""
    shown = [text for page in [*PAGES, ROOT / "README.md"] for text in blocks(page, "yaml")]
    assert len(shown) == 3
    for text in shown:
        assert objections(text, tmp_path) == ""
    assert "pythn" in objections(shown[1].replace("[python", "[pythn"), tmp_path)


def objections(config: str, folder: Path) -> str:
    """What pre-commit has against a configuration, warnings included."""
    file = folder / "config.yaml"
    file.write_text(config, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-config", str(file)], capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_the_hooks_shown_are_those_of_the_manifest() -> None:
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    isolated = yaml.safe_load(blocks(ROOT / "docs" / "pre-commit.md", "yaml")[0])
    assert {hook["id"] for hook in isolated["repos"][0]["hooks"]} <= known
    local = yaml.safe_load(blocks(ROOT / "docs" / "pre-commit.md", "yaml")[1])["repos"][0]["hooks"][0]
    manifest = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))[0]
    for key in ("entry", "types_or", "require_serial"):
        assert local[key] == manifest[key]
