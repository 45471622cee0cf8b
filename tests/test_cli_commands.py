"""The commands that trace nothing, and what every failure is told and exits with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from cli_samples import CLEAN, CONFIG, lay, run
from click.testing import CliRunner

from shapelint import __version__, lint
from shapelint.cli import main
from shapelint.options import FORMATS, wants_color
from shapelint.report import FORMATS as REPORTS
from shapelint.rules import load_rules


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty and in no repository."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_version_is_one_line() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"shapelint {__version__}\n", "")


def test_a_rule_is_explained_by_its_id_and_by_its_name() -> None:
    page = next(rule for rule in load_rules() if rule.id == "SL101")
    assert run("rule", "SL101").stdout == run("rule", page.name).stdout == page.text.rstrip("\n") + "\n"


def test_all_rules_are_explained_one_after_another() -> None:
    result = run("rule", "--all")
    assert result.exit_code == 0
    for rule in load_rules():
        assert rule.text.strip() in result.stdout


def test_an_unknown_rule_is_refused_with_the_closest_one() -> None:
    result = run("rule", "matmul-dim")
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'did you mean "matmul-dims"?' in result.stderr


def test_rule_wants_one_name_or_all() -> None:
    for args in (("rule",), ("rule", "SL101", "--all")):
        result = run(*args)
        assert result.exit_code == 2
        assert "give the id or the name of one rule, or --all" in result.stderr


def test_rules_are_listed_one_a_line_in_the_order_of_their_ids() -> None:
    lines = run("rules").stdout.splitlines()
    assert [line.split()[:3] for line in lines] == [[r.id, r.name, r.severity.value] for r in load_rules()]


def test_the_schema_is_printed_as_it_is_shipped() -> None:
    shipped = resources.files("shapelint").joinpath("schema.json").read_text(encoding="utf-8")
    assert run("schema").stdout == shipped


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_names_the_tool(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_SHAPELINT_COMPLETE" in result.stdout


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("shapelint comp", ["completion"]),
        ("shapelint check --output-format s", ["sarif"]),
        ("shapelint rule matm", ["matmul-dims"]),
        ("shapelint check --select SL405,SL10", [f"SL405,SL10{n}" for n in range(1, 10)]),
        ("shapelint check --ignore no-such", []),
    ],
)
def test_a_shell_completes_commands_formats_and_rules(typed: str, completed: list[str]) -> None:
    """By the function that the script defines, in bash itself."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    words = typed.split()
    folder = str(Path(sys.executable).parent)
    script = (
        f"{run('completion', 'bash').stdout}\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}\n"
        '_shapelint_completion shapelint; printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.split() == completed, done.stderr


def test_settings_show_what_holds_in_each_project(project: Path) -> None:
    lay(project, {"a/shapelint.toml": CONFIG, "b/shapelint.toml": 'ignore = ["SL404"]\n[dims]\nH = { min = 2 }\n'})
    result = run("check", "--show-settings", "--select", "SL1")
    assert (result.exit_code, result.stderr) == (0, "")
    defaults = "timeout = 60.0\nmemory = 4294967296\n"
    assert result.stdout == (
        f"# {project} (no configuration)\n"
        f'src = ["{project}"]\nselect = ["SL1"]\nignore = []\nper-file-ignores = {{}}\nexclude = []\n'
        f'batch = ["B", "N", "batch"]\ndims = {{}}\n{defaults}models = []\n\n'
        f"# {project}/a/shapelint.toml\n"
        f'src = ["{project}/a"]\nselect = ["SL1"]\nignore = []\nper-file-ignores = {{}}\nexclude = []\n'
        f'batch = ["B", "N", "batch"]\ndims = {{}}\n{defaults}models = ["net:Net"]\n\n'
        f"# {project}/b/shapelint.toml\n"
        f'src = ["{project}/b"]\nselect = ["SL1"]\nignore = ["SL404"]\nper-file-ignores = {{}}\nexclude = []\n'
        f'batch = ["B", "N", "batch"]\ndims = {{ "H" = {{ "min" = 2 }} }}\n{defaults}models = []\n\n'
    )


def test_clean_removes_the_caches_of_the_projects_below(project: Path) -> None:
    lay(
        project, {"a/shapelint.toml": CONFIG, "a/.shapelint_cache/x": "", "b/.shapelint_cache/x": "", "b/net.py": CLEAN}
    )
    result = run("clean", "a")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "removed a/.shapelint_cache\n")
    assert not (project / "a/.shapelint_cache").exists()
    assert (project / "b/.shapelint_cache").exists()


def test_statistics_go_to_stderr_when_asked_for(project: Path) -> None:
    lay(project, {"a.py": "x = (\n", "b.py": "y = )\n"})
    counted, plain = run("check", "--statistics"), run("check")
    assert counted.stdout == plain.stdout
    assert "2  SL006  syntax-error\n" in counted.stderr
    assert "SL006" not in plain.stderr


def test_a_rule_is_added_to_those_of_the_configuration(project: Path) -> None:
    lay(project, {"a.py": "x = (\n", "shapelint.toml": 'select = ["SL1"]\n'})
    assert [run("check", *more).exit_code for more in ([], ["--extend-select", "syntax-error"])] == [0, 1]


def test_the_formats_that_can_be_asked_for_are_those_that_can_be_written() -> None:
    assert tuple(REPORTS) == FORMATS


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("check", "--output-format", "xml"), "'xml' is not one of"),
        (("check", "--jobs", "0"), "Invalid value for '-j'"),
        (("check", "--shard", "3/2"), '"3/2" is no part of a whole; write 1/4 for the first of four'),
        (("check", "--select", "matmul-dim"), 'no rule is called "matmul-dim"; did you mean "matmul-dims"?'),
        (("check", "--ignore", "SL101,SL999"), 'no rule is called "SL999"'),
        (("check", "--config", "gone.toml"), "gone.toml: can't be read"),
        (("check", "--update-baseline"), "no baseline is named: add --baseline FILE"),
        (("check", "--baseline", "gone.json"), "gone.json: there is no such baseline; write it with --update-baseline"),
        (("check", "gone"), "gone: no such file or folder"),
        (("check", "--no-such-option"), "No such option"),
        (("bogus",), "No such command 'bogus'"),
        (("merge", "gone.sarif"), "'gone.sarif' does not exist"),
    ],
)
def test_what_cannot_run_exits_with_2_and_says_why_on_stderr(args: tuple[str, ...], words: str) -> None:
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_a_fault_of_our_own_exits_with_2_and_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(lint, "lint", fail)
    result = run("check")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" in result.stderr
    assert result.stderr.endswith(
        "Error: ZeroDivisionError: oops\n"
        "This is a fault of shapelint, not of your code: please report it with the lines above.\n"
    )


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lint, "lint", interrupt)
    result = run("check")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "shapelint: interrupted\n")


def test_a_reader_that_leaves_early_is_no_finding_and_no_traceback() -> None:
    command = f"{sys.executable} -m shapelint rule --all | head -1 > /dev/null; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode in {0, 2}  # 0 where all of it went into the pipe before the reader left
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("choice", "env", "terminal", "expected"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_follows_the_option_then_the_environment_then_the_terminal(
    choice: str,
    env: dict[str, str],
    terminal: bool,  # noqa: FBT001  # a table's column
    expected: bool,  # noqa: FBT001  # the same
) -> None:
    assert wants_color(choice, env, terminal=terminal) is expected


def test_merge_joins_the_reports_of_shards(project: Path) -> None:
    lay(project, {"broken.py": "x = (\n", "b/worse.py": "y = )\n", "fine.py": "", ".git/HEAD": ""})
    for part in ("1/2", "2/2"):
        run("check", "--shard", part, "--sarif-output", f"{part[0]}.sarif", "-q")
    run("check", "--sarif-output", "whole.sarif", "-q")
    result = run("merge", "1.sarif", "2.sarif", "-o", "merged.sarif")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    merged, whole = ((project / f"{name}.sarif").read_bytes() for name in ("merged", "whole"))
    assert merged == whole
    assert len(json.loads(whole)["runs"][0]["results"]) == 2
    assert run("merge", "1.sarif", "2.sarif", "--exit-code").exit_code == 1
    half = run("merge", "1.sarif", "-o", "half.sarif")
    assert (half.exit_code, (project / "half.sarif").exists()) == (2, False)
    assert "shard 2/2 is missing" in half.stderr


def test_merge_exits_with_1_only_when_asked_and_only_for_what_nothing_silences(project: Path) -> None:
    lay(project, {"fine.py": "", ".git/HEAD": ""})
    run("check", "--sarif-output", "clean.sarif", "-q")
    assert run("merge", "clean.sarif", "--exit-code").exit_code == 0
    lay(project, {"bad.py": "x = (\n", "shapelint.toml": 'baseline = "known.json"\n'})
    run("check", "--update-baseline", "-q")
    run("check", "--sarif-output", "silenced.sarif", "--show-suppressed", "-q")
    result = run("merge", "silenced.sarif", "--exit-code")
    assert (result.exit_code, '"suppressions": [{' in result.stdout) == (0, True)


def test_merge_names_the_file_that_is_none(project: Path) -> None:
    lay(project, {"half.sarif": '{"runs": ['})
    result = run("merge", "half.sarif")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: half.sarif: no SARIF file: ")


def test_every_file_is_in_exactly_one_shard(project: Path) -> None:
    lay(project, {f"{name}.py": "x = (\n" for name in "abcdefgh"})
    parts = [json.loads(run("check", "--shard", f"{i}/3", "--output-format", "json").stdout) for i in (1, 2, 3)]
    paths = [[finding["path"] for finding in part["findings"]] for part in parts]
    assert sorted(path for part in paths for path in part) == [f"{name}.py" for name in "abcdefgh"]
    assert max(len(part) for part in paths) < 8


def test_a_terminal_that_knows_only_ascii_gets_escapes(project: Path) -> None:
    lay(project, {"größe.py": "x = (\n"})
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    args = [sys.executable, "-m", "shapelint", "check", "--output-format", "concise"]
    done = subprocess.run(args, capture_output=True, env=env, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith(rb"gr\xf6\xdfe.py:1:5: SL006")


def test_the_runner_of_these_tests_sees_what_a_process_does(project: Path) -> None:
    lay(project, {"net.py": "x = (\n"})
    args = ["check", "--output-format", "concise", "-q"]
    done = subprocess.run([sys.executable, "-m", "shapelint", *args], capture_output=True, text=True, check=False)
    result = CliRunner().invoke(main, args)
    assert (done.returncode, done.stdout, done.stderr) == (result.exit_code, result.stdout, result.stderr)
    assert done.returncode == 1
