"""One cause is one finding: in a loop, in several models, cases and modes; and what is silenced stays silent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cli_samples import check, lay

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

LOOP = """
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 8) for _ in range(40))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
SHARED = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 8)

    def forward(self, x):
        return self.fc(x)


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)


class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Block(), Block()

    def forward(self, x):
        return self.one(x) + self.two(x)
"""
MODEL = '[[models]]\ntarget = "{}"\ninputs = {}\n'
ROWS, STEPS = '{ x = "float32[B, 8]" }', '{ x = "float32[B, T, 8]" }'


def findings(root: Path, *args: str) -> list[dict[str, Any]]:
    result = check(str(root), "--output-format", "json", "-q", *args)
    found: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    return found


def test_a_loop_over_layers_is_one_finding_that_counts_them(tmp_path: Path) -> None:
    lay(tmp_path, {"net.py": LOOP, "shapelint.toml": MODEL.format("net:Net", '{ x = "float32[B, 16]" }')})
    (finding,) = findings(tmp_path)
    message, note = finding["message"].splitlines()
    assert message == "layers.1 (Linear) takes 16 features and gets 8: x is [B, 8]."
    assert note == "the same in 38 other modules: layers.2, layers.3, layers.4 … layers.39"


def test_models_that_share_a_faulty_block_are_one_finding_that_names_them(tmp_path: Path) -> None:
    config = MODEL.format("net:First", ROWS) + MODEL.format("net:Second", ROWS)
    lay(tmp_path, {"net.py": SHARED, "shapelint.toml": config})
    (finding,) = findings(tmp_path)
    assert (finding["rule"], finding["line"]) == ("matmul-dims", 11)
    text = check(str(tmp_path), "-q").stdout
    assert "seen in: net:First, net:Second" in text
    assert text.count("SL101") == 1


def test_cases_modes_and_assignments_are_merged_too(tmp_path: Path) -> None:
    config = MODEL.format("net:Second", f"[{ROWS}, {STEPS}]") + 'modes = ["eval", "train"]\n'
    lay(tmp_path, {"net.py": SHARED, "shapelint.toml": config})
    (finding,) = findings(tmp_path)
    assert finding["message"].splitlines()[0] == "self.fc takes 9 features and gets 8: x is [B, 8]."


LONG = """
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        y = torch.cat(
            [
                x,
                x.unsqueeze(0),
            ],
            dim=1,
        )
        return y
"""


@pytest.mark.parametrize("line", range(7, 14))
def test_a_comment_on_any_line_of_the_statement_silences(tmp_path: Path, line: int) -> None:
    lay(tmp_path, {"net.py": LONG, "shapelint.toml": MODEL.format("net:Net", ROWS)})
    lines = (tmp_path / "net.py").read_text(encoding="utf-8").splitlines()
    lines[line - 1] += "  # shapelint: ignore[cat-shapes]"
    (tmp_path / "net.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert findings(tmp_path) == []


@pytest.mark.parametrize("word", ["SL104", "SL1", "cat-shapes", "ALL"])
def test_a_rule_is_turned_off_by_id_prefix_and_name(tmp_path: Path, word: str) -> None:
    model = MODEL.format("net:Net", ROWS)
    lay(tmp_path, {"net.py": LONG, "shapelint.toml": model})
    assert [one["id"] for one in findings(tmp_path)] == ["SL104"]
    assert findings(tmp_path, "--ignore", word) == []
    lay(tmp_path, {"shapelint.toml": f'per-file-ignores = {{ "net.py" = ["{word}"] }}\n{model}'})
    assert findings(tmp_path) == []
    lay(tmp_path, {"shapelint.toml": f'per-file-ignores = {{ "other.py" = ["{word}"] }}\n{model}'})
    assert len(findings(tmp_path)) == 1
    code = LONG.replace("import torch\n", f"# shapelint: ignore-file[{word}]\nimport torch\n", 1)
    if word != "ALL":
        lay(tmp_path, {"net.py": code, "shapelint.toml": model})
        assert findings(tmp_path) == []


@pytest.mark.parametrize("word", ["SL104", "SL1", "cat-shapes", "ALL"])
def test_only_what_is_selected_is_told(tmp_path: Path, word: str) -> None:
    lay(tmp_path, {"net.py": LONG, "shapelint.toml": f'select = ["{word}"]\n' + MODEL.format("net:Net", ROWS)})
    assert [one["id"] for one in findings(tmp_path)] == ["SL104"]


def test_what_is_not_selected_is_not_told(tmp_path: Path) -> None:
    lay(tmp_path, {"net.py": LONG, "shapelint.toml": 'select = ["SL2"]\n' + MODEL.format("net:Net", ROWS)})
    assert findings(tmp_path) == []
