"""Bad input: each is told with file, key or line and what to do, and exits as it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli_samples import CLEAN, CONFIG, check, lay, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty and in no repository."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return tmp_path


def test_an_empty_folder_is_clean_with_a_word_on_stderr() -> None:
    result = run("check")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no Python files in ." in result.stderr


def test_a_path_that_does_not_exist_cannot_be_checked() -> None:
    result = run("check", "models/gone.py")
    assert (result.exit_code, result.stdout, result.stderr) == (
        2,
        "",
        "Error: models/gone.py: no such file or folder\n",
    )


@pytest.mark.parametrize(
    ("config", "told"),
    [
        (
            CONFIG + "inptus = {}\n",
            'shapelint.toml:5: models[0].inptus: unknown key; did you mean "inputs"?',
        ),
        (CONFIG + "explore = 3\n", "shapelint.toml:5: models[0].explore: expected true or false, not 3"),
        (
            CONFIG.replace("float32[B, 8]", "float33[B"),
            (
                'shapelint.toml:3: models[0].inputs.x: "float33[B" is no tensor: there is no dtype "float33"; '
                'did you mean "float32"?; the closing ] is missing '
                "(a tensor is dtype[dim, dim], as in float32[B, 3, 224, 224])"
            ),
        ),
        ("models = [\n", "shapelint.toml"),
    ],
)
def test_a_mistake_in_the_configuration_keeps_the_run_from_running(project: Path, config: str, told: str) -> None:
    lay(project, {"shapelint.toml": config, "net.py": CLEAN})
    result = run("check")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: {told}")


def test_a_mistake_in_a_configuration_far_below_is_told_with_its_path(project: Path) -> None:
    lay(project, {"a/b/shapelint.toml": "selct = []\n"})
    result = run("check")
    assert result.exit_code == 2
    assert result.stderr == 'Error: a/b/shapelint.toml:1: selct: unknown key; did you mean "select"?\n'


def test_an_interpreter_without_torch_is_refused_with_what_to_do(project: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "bare"], check=True)
    lay(project, {"shapelint.toml": CONFIG, "net.py": CLEAN})
    result = run("check", "--python", "bare")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "bare" in result.stderr
    assert "torch" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_interpreter_that_is_not_there_is_refused(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": CLEAN})
    result = run("check", "--python", "no/such/python")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no/such/python" in result.stderr


def test_where_nothing_is_to_be_traced_no_interpreter_is_asked_for(project: Path) -> None:
    lay(project, {"net.py": "x = 1\n"})
    assert run("check", "--python", "no/such/python").exit_code == 0


def test_a_file_that_cannot_be_parsed_is_a_finding(project: Path) -> None:
    lay(project, {"net.py": "def f(:\n    pass\n"})
    result = run("check", "--output-format", "concise", "-q")
    assert result.exit_code == 1
    assert result.stdout.startswith("net.py:1:7: SL006 ")
    assert result.stderr == ""


def test_odd_files_are_read_as_python_reads_them(project: Path) -> None:
    odd = {
        "bom.py": b"\xef\xbb\xbfx = 1\r\n",
        "empty.py": b"",
        "latin.py": b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        "wrong.py": b"x = '\xff'\n",
        "null.py": b"x = 1\0\n",
    }
    for name, data in odd.items():
        (project / name).write_bytes(data)
    found = json.loads(run("check", "--output-format", "json").stdout)["findings"]
    assert [finding["path"] for finding in found] == ["null.py", "wrong.py"]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("changes", "rule", "words"),
    [
        ({"shapelint.toml": CONFIG.replace("net:Net", "nte:Net")}, "import-failed", ["nte"]),
        ({"shapelint.toml": CONFIG.replace("net:Net", "net:Nte")}, "import-failed", ["Nte", "net"]),
        ({"net.py": CLEAN + "\nNet = 3\n"}, "construction-failed", ["Net"]),
        ({"net.py": "from torch import nn\n\ndef f(:\n"}, "syntax-error", []),
        ({"net.py": "import no_such_package\n" + CLEAN}, "import-failed", ["no_such_package"]),
        (
            {"net.py": CLEAN.replace("self.fc = nn.Linear(8, 4)", "raise KeyError('size')")},
            "construction-failed",
            ["size"],
        ),
        ({"shapelint.toml": CONFIG.replace("{ x =", "{ y =")}, "inputs-mismatch", ["y"]),
    ],
)
def test_a_model_that_cannot_be_traced_is_a_finding_that_names_it(
    project: Path, changes: dict[str, str], rule: str, words: list[str]
) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": CLEAN, **changes})
    result = check("--output-format", "json")
    assert result.exit_code == 1, result.stderr
    findings = json.loads(result.stdout)["findings"]
    assert [finding["rule"] for finding in findings] == [rule]
    for word in words:
        assert word in findings[0]["message"]
    assert findings[0]["path"]
    assert "Traceback" not in result.stderr


@pytest.mark.torch
def test_what_a_model_prints_stays_out_of_the_report(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": "print('hello')\n" + CLEAN.replace("return", "print(x); return")})
    result = check("--output-format", "json")
    assert result.exit_code == 0, result.stdout
    assert json.loads(result.stdout)["findings"] == []
    assert "hello" not in result.stdout + result.stderr


def test_a_folder_that_may_not_be_read_is_named_as_not_checked(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(project, {"closed/net.py": "", "open.py": ""})
    scandir = os.scandir

    def refuse(path: str) -> object:
        if os.path.basename(path) == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("shapelint.projects.os.scandir", refuse)  # root may read everything: no mode would refuse it
    result = run("check", "--output-format", "json")
    assert result.exit_code == 0
    skipped = json.loads(result.stdout)["skipped"]
    assert [entry["reason"] for entry in skipped] == ["it can't be read: Permission denied"]


def test_a_file_whose_name_is_not_unicode_is_reported_into_a_file(project: Path) -> None:
    """A report is UTF-8, which has no lone surrogates: Python's stand-ins for such bytes are escaped."""
    try:
        (project / os.fsdecode(b"a\xff.py")).write_text("x = (\n", encoding="utf-8")
    except (OSError, UnicodeError):
        pytest.skip("this file system takes Unicode names only")
    result = check("-o", "report.txt", "--sarif-output", "report.sarif", "--output-format", "concise")
    assert result.exit_code == 1, result.stderr
    assert (project / "report.txt").read_text("utf-8").startswith("a\\udcff.py:1:5: SL006 ")
    assert '"a%FF.py"' in (project / "report.sarif").read_text("utf-8")
