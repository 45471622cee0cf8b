"""``shapelint check`` from the configuration to the exit status, on models that are really traced."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from cli_samples import CLEAN, CONFIG, FAULT_LINE, FAULTY, check, lay

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

TREE = {
    "shapelint.toml": CONFIG.replace("net:Net", "pkg.net:Net"),
    "pkg/__init__.py": "",
    "pkg/net.py": "from pkg import parts\nfrom pkg.parts import Net\n",
    "pkg/parts.py": FAULTY,
    "pkg/other.py": "x = 1\n",
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty and in no repository."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(*args: str) -> list[tuple[str, int, str]]:
    result = check(*args, "--output-format", "json")
    assert result.exit_code in {0, 1}, result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    found = [(finding["path"], finding["line"], finding["rule"]) for finding in report["findings"]]
    assert result.exit_code == bool(found)
    return found


def test_a_clean_model_exits_with_0_and_an_empty_stdout(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": CLEAN})
    result = check()
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert result.stderr.startswith("no findings (1 model, 1 case, ")


def test_a_fault_exits_with_1_and_stands_at_its_line(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY})
    assert places() == [("net.py", FAULT_LINE, "matmul-dims")]


NOTED = """from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(x)
"""


def test_a_note_alone_stops_nobodys_commit(project: Path) -> None:
    """BatchNorm1d over one sample raises in training, which everybody knows."""
    config = '[[models]]\ntarget = "net:Net"\ninputs = { x = "float32[B, 8]" }\n'
    lay(project, {"shapelint.toml": config, "net.py": NOTED})
    result = check("--output-format", "json")
    found = json.loads(result.stdout)["findings"]
    assert (result.exit_code, [(f["severity"], f["rule"], f["line"]) for f in found]) == (
        0,
        [("note", "size-dependent", 10)],
    )


def test_exit_zero_changes_only_the_status(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY})
    normal, zero = check(), check("--exit-zero")
    assert (normal.exit_code, zero.exit_code) == (1, 0)
    assert normal.stdout == zero.stdout
    assert check("--exit-zero", "gone").exit_code == 2


def test_a_report_goes_to_a_file_and_a_sarif_report_beside_it(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY})
    result = check("-o", "report.txt", "--sarif-output", "report.sarif", "--output-format", "concise", "-q")
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", "")
    assert (project / "report.txt").read_text(encoding="utf-8").startswith(f"net.py:{FAULT_LINE}:")
    run = json.loads((project / "report.sarif").read_text(encoding="utf-8"))["runs"][0]
    assert [entry["ruleId"] for entry in run["results"]] == ["SL101"]
    assert run["automationDetails"]["id"] == "shapelint/"


def test_a_report_that_cannot_be_written_is_no_finding(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY})
    result = check("-o", "no/such/folder/report.txt")
    assert result.exit_code == 2
    assert "no/such/folder/report.txt: can't be written: No such file or directory" in result.stderr


def test_one_run_spans_projects_that_have_modules_of_the_same_name(project: Path) -> None:
    lay(project, {"a/shapelint.toml": CONFIG, "a/net.py": FAULTY, "b/shapelint.toml": CONFIG, "b/net.py": CLEAN})
    (project / "c").mkdir()
    lay(project, {"c/pyproject.toml": '[[tool.shapelint.models]]\ntarget = "net:Net"\ninputs = { x = "f32[B, 8]" }\n'})
    lay(project, {"c/net.py": "\n" + FAULTY})
    assert places() == [("a/net.py", FAULT_LINE, "matmul-dims"), ("c/net.py", FAULT_LINE, "matmul-dims")]
    os.chdir("a")
    assert places("../c", ".") == [("net.py", FAULT_LINE, "matmul-dims"), ("../c/net.py", FAULT_LINE, "matmul-dims")]


def test_a_file_brings_in_the_models_that_import_it_and_only_its_own_findings(project: Path) -> None:
    lay(project, TREE)
    fault = ("pkg/parts.py", FAULT_LINE, "matmul-dims")
    assert places() == [fault]
    assert places("pkg/parts.py") == [fault]
    assert places("pkg/net.py") == []
    assert places("pkg/other.py") == []
    assert places("pkg") == [fault]
    files = [name for name in TREE if name.endswith(".py")]
    assert sorted(place for name in files for place in places(name)) == places(*files) == [fault]


def test_rules_are_turned_off_in_the_file_for_some_files_and_on_the_command_line(project: Path) -> None:
    lay(project, {"shapelint.toml": 'ignore = ["SL101"]\n' + CONFIG, "net.py": FAULTY})
    assert places() == []
    assert places("--select", "SL101") == [("net.py", FAULT_LINE, "matmul-dims")]
    lay(project, {"shapelint.toml": CONFIG + '[per-file-ignores]\n"net.py" = ["matmul-dims"]\n'})
    assert places() == []
    lay(project, {"shapelint.toml": CONFIG})
    assert places("--ignore", "SL1") == []
    assert places("--select", "SL4") == []


def test_what_a_comment_silences_is_counted_and_shown_when_asked_for(project: Path) -> None:
    comment = "return self.fc(x)  # shapelint: ignore[SL101]"
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY.replace("return self.fc(x)", comment)})
    result = check()
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("no findings, 1 silenced (")
    assert "SL101" in check("--show-suppressed").stdout


def test_a_comment_that_silences_nothing_is_a_finding(project: Path) -> None:
    comment = "return self.fc(x)  # shapelint: ignore[SL101]"
    lay(project, {"shapelint.toml": CONFIG, "net.py": CLEAN.replace("return self.fc(x)", comment)})
    assert places() == [("net.py", FAULT_LINE, "unused-suppression")]
    assert places("--ignore", "SL901") == []


def test_a_baseline_holds_what_it_knows_wherever_the_line_moves_and_says_what_is_gone(project: Path) -> None:
    lay(project, {"shapelint.toml": 'baseline = "known.json"\n' + CONFIG, "net.py": FAULTY})
    written = check("--update-baseline")
    assert (written.exit_code, written.stdout) == (0, "")
    assert "known.json: knows 1 finding now" in written.stderr
    lay(project, {"net.py": "# moved\n\n" + FAULTY})
    assert places() == []
    lay(project, {"net.py": CLEAN})
    result = check()
    assert result.exit_code == 0
    assert "known.json: SL101 in net.py is no longer found" in result.stderr
    assert "write the baseline anew with --update-baseline" in result.stderr


def test_declared_outputs_are_compared_with_what_comes_out(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG + 'outputs = "float32[B, 4]"\n', "net.py": CLEAN})
    assert places() == []
    lay(project, {"shapelint.toml": CONFIG + 'outputs = "float32[B, ?]"\n'})
    assert places() == []
    lay(project, {"shapelint.toml": CONFIG + 'outputs = "float32[B, 5]"\n'})
    assert [rule for _, _, rule in places()] == ["output-mismatch"]


def test_the_report_is_the_same_for_any_number_of_jobs(project: Path) -> None:
    for name in "abc":
        lay(project, {f"{name}/shapelint.toml": CONFIG, f"{name}/net.py": FAULTY})
    one, four = check("-j", "1"), check("-j", "4")
    assert one.stdout == four.stdout
    assert one.stdout.count("SL101") == 3


def test_one_configuration_serves_every_path_and_isolated_none(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY, "sub/shapelint.toml": CONFIG.replace("Net", "Gone")})
    assert places("--config", "shapelint.toml", ".") == [("net.py", FAULT_LINE, "matmul-dims")]
    assert places("--isolated", "sub") == []
