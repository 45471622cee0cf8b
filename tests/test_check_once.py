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


WORDS = ("SL104", "SL1", "cat-shapes", "ALL")


def projects(root: Path, settings: list[tuple[str, str]]) -> list[str]:
    """The names of those folders in which something is found: each has a line of configuration and a file of code."""
    for number, (line, code) in enumerate(settings):
        lay(root / str(number), {"net.py": code, "shapelint.toml": f"{line}\n{MODEL.format('net:Net', ROWS)}"})
    return [one["path"].rsplit("/", 2)[-2] for one in findings(root)]


def test_a_comment_on_any_line_of_the_statement_silences(tmp_path: Path) -> None:
    settings = []
    for number in range(6, 13):
        lines = LONG.lstrip("\n").splitlines()
        lines[number] += "  # shapelint: ignore[cat-shapes]"
        settings.append(("", "\n".join(lines) + "\n"))
    assert LONG.lstrip("\n").splitlines()[5].endswith("def forward(self, x):")
    assert projects(tmp_path, [*settings, ("", LONG)]) == ["7"]


def test_a_rule_is_turned_off_for_a_file_by_id_prefix_and_name(tmp_path: Path) -> None:
    own = [(f'per-file-ignores = {{ "net.py" = ["{word}"] }}', LONG) for word in WORDS]
    other = [('per-file-ignores = { "other.py" = ["ALL"] }', LONG)]
    comments = [("", f"# shapelint: ignore-file[{word}]\n{LONG}") for word in WORDS[:3]]
    assert projects(tmp_path, [*own, *other, *comments]) == ["4"]


def test_only_what_is_selected_is_told_and_what_is_ignored_is_not(tmp_path: Path) -> None:
    selected = [(f'select = ["{word}"]', LONG) for word in WORDS]
    others = [('select = ["SL2"]', LONG), *[(f'ignore = ["{word}"]', LONG) for word in WORDS]]
    assert projects(tmp_path, [*selected, *others]) == ["0", "1", "2", "3"]
