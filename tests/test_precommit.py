"""The hooks through the real pre-commit, in a repository with a faulty model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cli_samples import CLEAN, CONFIG, FAULTY, lay

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ("shapelint", "rules", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
LIMIT = 60_000_000
"""Bytes that the hook's environment may take; with a torch in it it would be 880 MB."""


def hooks() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    return found


def command(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    return subprocess.run(args, cwd=cwd, env={**clean, **env}, capture_output=True, text=True, check=False)


class Repository:
    """A git repository with the hooks installed."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        self.env = {"PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never", "GIT_CONFIG_NOSYSTEM": "1"}

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """What a command does in the repository, as somebody with a bare configuration of git."""
        config = self.folder / ".git" / "global"
        return command(*args, cwd=self.folder, GIT_CONFIG_GLOBAL=str(config), **self.env, **env)

    def git(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        """What git does."""
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
        return self.run("git", *who, *args, **env)

    def commit(self, **env: str) -> subprocess.CompletedProcess[str]:
        """What a commit of everything does, the hook's output with it."""
        self.git("add", "--all")
        return self.git("commit", "-m", "a change", **env)


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Path]:
    """A repository with what is shipped, its commit, and pre-commit's folder of environments."""
    source = tmp_path_factory.mktemp("hook")
    for name in SHIPPED:
        here = ROOT / name
        if here.is_dir():
            shutil.copytree(here, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(here, source / name)
    (source / ".git").mkdir()
    origin = Repository(source, source)
    origin.git("init", "-q")
    committed = origin.commit()
    assert committed.returncode == 0, committed.stderr
    return source, origin.git("rev-parse", "HEAD").stdout.strip(), tmp_path_factory.mktemp("pre-commit")


@pytest.fixture
def repository(hook: tuple[Path, str, Path], tmp_path: Path) -> Repository:
    source, commit, home = hook
    chosen = f"repos:\n- repo: {source}\n  rev: {commit}\n  hooks:\n  - id: shapelint\n  - id: shapelint-project\n"
    config = f'python = "{sys.executable}"\n{CONFIG}'
    lay(tmp_path, {".pre-commit-config.yaml": chosen, "shapelint.toml": config, "net.py": FAULTY, "x.txt": ""})
    (tmp_path / ".git").mkdir()
    made = Repository(tmp_path, home)
    made.git("init", "-q")
    made.git("add", "--all")
    installed = made.run(sys.executable, "-m", "pre_commit", "install", "--install-hooks")
    assert installed.returncode == 0, installed.stdout
    return made


@pytest.mark.torch
def test_a_faulty_model_is_not_committed_and_its_repair_is(repository: Repository) -> None:
    refused = repository.commit()
    assert refused.returncode == 1
    assert refused.stderr.count("net.py:10:16: error SL101 matmul-dims") == 2  # once from each hook
    assert "\x1b" not in refused.stderr
    assert repository.git("log").returncode == 128  # no commit at all
    skipped = repository.commit(SKIP="shapelint,shapelint-project")
    assert skipped.returncode == 0, skipped.stderr
    lay(repository.folder, {"net.py": CLEAN})
    accepted = repository.commit()
    assert accepted.returncode == 0, accepted.stderr
    assert accepted.stderr.count("Passed") == 2
    assert repository.git("status", "--porcelain").stdout == ""  # the cache is no litter
    lay(repository.folder, {"x.txt": "other\n"})
    other = repository.commit()
    assert (other.returncode, other.stderr.count("(no files to check)Skipped")) == (0, 2), other.stderr


def test_the_environment_of_the_hook_is_small_and_has_no_torch(
    repository: Repository, hook: tuple[Path, str, Path]
) -> None:
    del repository  # its making has installed the environment
    (environment,) = hook[2].glob("repo*/py_env-*")
    files = [path for path in environment.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < LIMIT
    names = {path.name.lower() for path in environment.glob("lib/python*/site-packages/*")}
    assert {"shapelint", "click", "libcst"} <= names
    assert not names & {"torch", "numpy", "functorch"}
    assert "rules" not in names


def test_pre_commit_accepts_the_manifest_and_it_says_what_hooks_need(tmp_path: Path) -> None:
    done = command(
        sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    files, project = hooks()
    assert (files["id"], project["id"]) == ("shapelint", "shapelint-project")
    for each in (files, project):
        assert (each["language"], each["require_serial"]) == ("python", True)
    assert files["types_or"] == ["python", "pyi"]
    assert files.get("pass_filenames", True) is True
    assert project["pass_filenames"] is False


def test_the_version_is_written_in_pyproject() -> None:
    """A hook's shallow clone has no tags to take a version from."""
    from shapelint import __version__  # noqa: PLC0415  # the version under test

    text = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{__version__}"\n' in text
    assert "dynamic" not in text
