"""``check --fix`` and ``--diff``: what is written is what makes the model right, and nothing else."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

import pytest
from cli_samples import CLEAN, CONFIG, FAULTY, check, lay

from shapelint import fix
from shapelint.lint import Request

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

DIFF = """\
--- net.py
+++ net.py
@@ -4,7 +4,7 @@
 class Net(nn.Module):
     def __init__(self):
         super().__init__()
-        self.fc = nn.Linear(9, 4)
+        self.fc = nn.Linear(8, 4)
{space}
     def forward(self, x):
         return self.fc(x)
""".format(space=" ")
ATTENTION = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.MultiheadAttention(12, 3, batch_first=True)

    def forward(self, x):
        return self.mix(x[:, None], x[:, None], x[:, None])[0]
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty and in no repository."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_diff_prints_what_fix_then_writes_and_writes_nothing_itself(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY})
    before = (project / "net.py").read_bytes()
    shown = check("--diff")
    assert (shown.exit_code, shown.stdout) == (1, DIFF)
    assert shown.stderr == "would fix 1 finding in 1 file\n"
    assert (project / "net.py").read_bytes() == before
    done = check("--fix")
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert done.stderr.startswith("fixed 1 finding in 1 file\nno findings (1 model, 1 case, ")
    assert (project / "net.py").read_bytes() == before.replace(b"Linear(9, 4)", b"Linear(8, 4)")
    assert sorted(os.listdir(project)) == ["net.py", "shapelint.toml"]


def test_line_ends_encoding_mode_and_a_link_are_kept(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG})
    spread = "\n            in_features=3 * 3,  # neuf\n            out_features=4,\n        "
    text = "# -*- coding: latin-1 -*-\n# caf\xe9" + FAULTY.replace("9, 4", spread)
    data = text.replace("\n", "\r\n").encode("latin-1")
    (project / "real.txt").write_bytes(data)
    (project / "real.txt").chmod(0o750)
    (project / "net.py").symlink_to("real.txt")
    done = check("--fix")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert (project / "real.txt").read_bytes() == data.replace(b"in_features=3 * 3", b"in_features=8")
    assert stat.S_IMODE((project / "real.txt").stat().st_mode) == 0o750
    assert (project / "net.py").is_symlink()


def test_an_edit_that_brings_another_finding_is_not_written_while_the_others_are(project: Path) -> None:
    other = CONFIG.replace("net:Net", "other:Net")
    lay(project, {"shapelint.toml": CONFIG + other, "net.py": ATTENTION, "other.py": FAULTY})
    done = check("--fix", "--output-format", "json")
    # 8 features can't be divided among 3 heads.
    assert (project / "net.py").read_text(encoding="utf-8") == ATTENTION.lstrip("\n")
    assert "Linear(8, 4)" in (project / "other.py").read_text(encoding="utf-8")
    assert done.exit_code == 1
    assert [(f["path"], f["rule"]) for f in json.loads(done.stdout)["findings"]] == [("net.py", "module-argument")]
    assert "fixed 1 finding in 1 file\nnot fixed: net.py:10: SL112: the edit brings SL202 at net.py:7: " in done.stderr


def test_an_edit_that_leaves_its_fault_is_not_written(project: Path) -> None:
    twice = FAULTY.replace("4)\n", "4)\n        if self.fc.in_features != 9:\n            self.fc = nn.Linear(10, 4)\n")
    lay(project, {"shapelint.toml": CONFIG, "net.py": twice})
    done = check("--fix")
    assert (project / "net.py").read_text(encoding="utf-8") == twice.lstrip("\n")
    assert done.exit_code == 1
    assert "fixed 0 findings\nnot fixed: net.py:12: SL101: the fault is still there after the edit\n" in done.stderr


@pytest.mark.parametrize(
    ("config", "net"),
    [
        pytest.param(CONFIG + CONFIG.replace("B, 8", "B, 7"), FAULTY, id="two models want different sizes"),
        pytest.param(CONFIG + CONFIG.replace("B, 8", "B, 9"), FAULTY, id="it is right for another model"),
        pytest.param(CONFIG.replace("B, 8", "B, F"), FAULTY, id="the size is a named dimension"),
        pytest.param(CONFIG.replace("B, 8", "B, 9, 8"), FAULTY, id="the axes are in the wrong order"),
        pytest.param(CONFIG.replace("B, 8", "B, 3, 3"), FAULTY, id="a flatten is missing"),
        pytest.param(CONFIG, FAULTY.replace("9, 4", "len('123456789'), 4"), id="it is no literal"),
    ],
)
def test_where_no_number_is_certain_there_is_no_fix(project: Path, config: str, net: str) -> None:
    lay(project, {"shapelint.toml": config, "net.py": net})
    shown = check("--output-format", "json")
    findings = json.loads(shown.stdout)["findings"]
    assert findings
    assert not [f for f in findings if "fix" in f]


def test_a_comment_that_the_fix_makes_needless_goes_with_its_line(project: Path) -> None:
    net = FAULTY.replace("import nn\n", "import nn\n\n# shapelint: ignore[SL102]\nWIDTH = 4\n").replace(
        "9, 4", "9, WIDTH"
    )
    lay(project, {"shapelint.toml": CONFIG, "net.py": net})
    done = check("--fix")
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert done.stderr.startswith("fixed 2 findings in 1 file\n")
    wanted = net.replace("# shapelint: ignore[SL102]\n", "").replace("9, WIDTH", "8, WIDTH")
    assert (project / "net.py").read_text(encoding="utf-8") == wanted.lstrip("\n")


def test_a_file_that_was_not_given_is_not_edited(project: Path) -> None:
    made = "from torch import nn\n\n\ndef head():\n    return nn.Linear(9, 4)\n"
    net = FAULTY.replace("nn.Linear(9, 4)", "head()").replace("import nn\n", "import nn\n\nfrom heads import head\n")
    lay(project, {"shapelint.toml": CONFIG, "net.py": net, "heads.py": made})
    alone = check("net.py", "--fix")
    assert alone.exit_code == 1
    assert "its edit is in heads.py, which is not among the given paths" in alone.stderr
    assert (project / "heads.py").read_text(encoding="utf-8") == made
    assert check("--fix").exit_code == 0
    assert (project / "heads.py").read_text(encoding="utf-8") == made.replace("9", "8")


def test_a_file_that_changed_meanwhile_is_left_alone(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY, "two.py": "x = 1\n"})
    repaired = fix.repair(Request((".",), cache=False))
    assert [change.source.path for change in repaired.changes] == [str(project / "net.py")]
    (project / "net.py").write_text(CLEAN, encoding="utf-8")
    with pytest.raises(fix.FixError, match=r"net\.py has changed since it was read: nothing was written"):
        fix.write(repaired.changes)
    assert (project / "net.py").read_text(encoding="utf-8") == CLEAN


def test_a_baseline_is_not_written_from_files_that_are_about_to_change(project: Path) -> None:
    lay(project, {"shapelint.toml": CONFIG, "net.py": FAULTY})
    done = check("--fix", "--baseline", "known.json", "--update-baseline")
    assert done.exit_code == 2
    assert "--update-baseline takes the findings as they are" in done.stderr
