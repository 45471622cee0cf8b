"""The table in pyproject.toml and shapelint.toml: what it means, and what each mistake is told."""

from __future__ import annotations

import json
import os
from importlib import resources
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from shapelint import config as config_module
from shapelint import limits, models
from shapelint.config import Config, ConfigError, Overrides, load, override
from shapelint.findings import Severity
from shapelint.limits import Limits
from shapelint.records import DimLimits, TensorSpec
from shapelint.rules import Rule
from shapelint.table import line_of
from shapelint.table import read as read_table

if TYPE_CHECKING:
    from pathlib import Path

RULES = tuple(
    Rule(id_, name, Severity.ERROR, "", "", "", "")
    for id_, name in (("SL101", "matmul-dims"), ("SL404", "unused-submodule"))
)
MODEL = """[[models]]
target = "net:Net"
inputs = { x = "float32[B, 3]" }
"""
FULL = """[tool.shapelint]
python = ".venv"
src = ["."]
select = ["ALL"]
ignore = ["SL404"]
timeout = 60
memory = "4GiB"

[tool.shapelint.dims]
T = { max = 512 }
H = { min = 64, multiple-of = 32 }

[[tool.shapelint.models]]
target = "models.resnet:ResNet18"
args = [3, "None", { value = "None" }]
kwargs = { num_classes = 10 }
method = "forward"
modes = ["eval", "train"]
inputs = { x = "float32[B, 3, H, W]" }
outputs = "float32[B, 10]"
dims = { H = { multiple-of = 32 } }
explore = true

[[tool.shapelint.models]]
target = "models.resnet:step"
inputs = [{ "*args" = ["f32[B]"], "**kwargs" = { y = "i64[B]" } }, "models.data:example"]
outputs = ["float32[]", "int64[?]"]
"""


def read(tmp_path: Path, text: str, name: str = "shapelint.toml") -> Config:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    config = load(str(path), RULES)
    assert config is not None
    return config


def refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str = "shapelint.toml") -> str:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text, name)
    return str(caught.value)


def test_every_key_of_the_table_is_read(tmp_path: Path) -> None:
    config = read(tmp_path, FULL, "pyproject.toml")
    assert (config.root, config.path) == (str(tmp_path), str(tmp_path / "pyproject.toml"))
    assert (config.python, config.src) == (".venv", (str(tmp_path),))
    assert (config.select, config.ignore) == (("ALL",), ("SL404",))
    assert config.limits == Limits(
        dims=(("T", DimLimits(max=512)), ("H", DimLimits(min=64, multiple_of=32))), timeout=60.0, memory=4 << 30
    )
    first, second = config.models
    assert (first.target, first.args, first.kwargs) == (
        "models.resnet:ResNet18",
        (3, None, "None"),
        (("num_classes", 10),),
    )
    assert first.outputs == (TensorSpec("float32", ("B", 10)),)
    assert first.limits.dims == (("H", DimLimits(multiple_of=32)),)
    assert (first.explore, first.modes, first.line) == (True, ("eval", "train"), 14)
    assert [name for name, _ in second.cases[0].inputs] == ["*args", "**kwargs"]
    assert second.cases[1].call == "models.data:example"
    assert second.outputs == (TensorSpec("float32", ()), TensorSpec("int64", ("?",)))
    assert second.line == 25


def test_a_pyproject_without_the_table_is_no_configuration(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text('[project]\nname = "shapelint-user"\n', encoding="utf-8")
    assert load(str(path), RULES) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []\n" + MODEL, 'shapelint.toml:1: selct: unknown key; did you mean "select"?'),
        (MODEL + "input = 3\n", 'shapelint.toml:4: models[0].input: unknown key; did you mean "inputs"?'),
        (
            MODEL + "dims = { H = { multiple_of = 2 } }\n",
            'shapelint.toml:4: models[0].dims.H.multiple_of: unknown key; did you mean "multiple-of"?',
        ),
        ("timeout = true\n", "shapelint.toml:1: timeout: expected a number, not true"),
        ("timeout = -1\n", "shapelint.toml:1: timeout: expected seconds above 0, not -1"),
        (
            "memory = 'lots'\n",
            "shapelint.toml:1: memory: expected a size such as \"4GiB\" or a number of bytes, not 'lots'",
        ),
        ("select = 'SL999'\n", 'shapelint.toml:1: select: no rule is called "SL999"; shapelint rules lists them all'),
        (
            "ignore = ['matmul-dim']\n",
            'shapelint.toml:1: ignore: no rule is called "matmul-dim"; did you mean "matmul-dims"?',
        ),
        ("exclude = [1]\n", "shapelint.toml:1: exclude: item 0 must be text, not 1"),
        ("models = {}\n", "shapelint.toml:1: models: expected an array, not a table"),
        ("models = [3]\n", "shapelint.toml:1: models: item 0 must be a table, not 3"),
        ("[[models]]\n", 'shapelint.toml:1: models[0]: target is missing: write target = "package.module:Class"'),
        (
            "[[models]]\ntarget = 'models.net.Net'\n",
            (
                'shapelint.toml:2: models[0].target: "models.net.Net" is no target: it is written '
                'module:Class, as in "models.resnet:ResNet18"; did you mean "models.net:Net"?'
            ),
        ),
        (
            "[[models]]\ntarget = 'models/net.py:Net'\n",
            (
                'shapelint.toml:2: models[0].target: "models/net.py:Net" is no target: it is written '
                'module:Class, as in "models.resnet:ResNet18"; did you mean "models.net:Net"?'
            ),
        ),
        (
            "[[models]]\ntarget = 'net:Net'\n",
            'shapelint.toml:1: models[0]: inputs are missing: write inputs = { x = "float32[B, 3, 224, 224]" }',
        ),
        (
            "[[models]]\ntarget = 'net:Net'\ninputs = 'float32[B, 3]'\n",
            (
                'shapelint.toml:3: models[0].inputs: "float32[B, 3]" is no function that makes inputs '
                '("module:function"); to name a tensor, write inputs = { x = "float32[B, 3, 224, 224]" }'
            ),
        ),
        (
            MODEL + "[[models]]\ntarget = 'net:Net'\n[models.inputs]\nx = 'float33[B'\n",
            (
                'shapelint.toml:7: models[1].inputs.x: "float33[B" is no tensor: there is no dtype "float33"; '
                'did you mean "float32"?; the closing ] is missing '
                "(a tensor is dtype[dim, dim], as in float32[B, 3, 224, 224])"
            ),
        ),
        (
            "[[models]]\ntarget = 'net:Net'\ninputs = { '*xs' = 'f32[B]' }\n",
            'shapelint.toml:3: models[0].inputs.\'*xs\': * passes an array, as in ["float32[B, 4]", "float32[B, 8]"]',
        ),
        (MODEL + "modes = ['evla']\n", 'shapelint.toml:4: models[0].modes: "evla" is no mode; did you mean "eval"?'),
        (
            "[dims]\nH = { min = 33, max = 63, multiple-of = 32 }\n",
            "shapelint.toml:2: dims.H: no multiple of 32 is between 33 and 63",
        ),
        ("src = ['lib']\n", 'shapelint.toml:1: src: there is no folder "lib" below {root}'),
        ("= 3\n", "shapelint.toml:1: no valid TOML: "),
        (
            MODEL + "kwargs = { at = 2020-01-01 }\n",
            'shapelint.toml:4: models[0].kwargs.at: a date can\'t be passed to a model; write it as text: "2020-01-01"',
        ),
    ],
)
def test_a_mistake_is_told_with_file_line_key_and_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    told = refusal(tmp_path, monkeypatch, text)
    expected = message.replace("{root}", str(tmp_path))
    # tomllib's own words on broken TOML differ between versions of Python
    assert told.startswith(expected) if expected.endswith(": ") else told == expected


def test_in_pyproject_the_key_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = refusal(tmp_path, monkeypatch, "[tool.shapelint]\nsrcs = []\n", "pyproject.toml")
    assert told == 'pyproject.toml:2: tool.shapelint.srcs: unknown key; did you mean "src"?'


def test_the_command_line_goes_before_the_file(tmp_path: Path) -> None:
    config = override(read(tmp_path, "select = ['SL1']\nignore = ['SL404']\n"), Overrides(("SL404",)))
    assert [rule.id for rule in config.rules(RULES)] == ["SL404"]


def test_memory_is_read_in_the_usual_units(tmp_path: Path) -> None:
    sizes = {
        text: read(tmp_path, f"memory = {text}\n").limits.memory for text in ('"1.5GiB"', '"2 GB"', "1000", '"64mib"')
    }
    assert sizes == {'"1.5GiB"': 3 << 29, '"2 GB"': 2 * 10**9, "1000": 1000, '"64mib"': 64 << 20}


def test_a_src_layout_is_found_by_itself(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert read(tmp_path, MODEL).src == (str(tmp_path), os.path.join(str(tmp_path), "src"))


def test_the_line_of_a_key_is_found_through_headers_and_arrays_of_tables() -> None:
    assert line_of(FULL, ("tool", "shapelint", "models", 1, "inputs", 0, "*args")) == 26
    assert line_of(FULL, ("tool", "shapelint", "models", 0, "outputs")) == 20
    assert line_of(FULL, ("tool", "shapelint", "dims", "H", "min")) == 11
    assert line_of("", ("anything",)) == 0


def schema() -> dict[str, Any]:
    text = resources.files("shapelint").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def test_the_shipped_schema_knows_exactly_the_keys_the_parser_knows() -> None:
    known = schema()
    assert sorted(known["properties"]) == sorted(config_module.PROJECT_KEYS)
    assert sorted(known["$defs"]["model"]["properties"]) == sorted(models.MODEL_KEYS)
    assert sorted(known["$defs"]["dim"]["properties"]) == sorted(limits.DIM_KEYS)


def test_the_shipped_schema_accepts_the_example_and_refuses_what_the_parser_refuses(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())

    def faults(text: str) -> list[object]:
        path = tmp_path / "shapelint.toml"
        path.write_text(text.replace("tool.shapelint.", "").replace("[tool.shapelint]", ""), encoding="utf-8")
        table = read_table(str(path))
        assert table is not None
        return list(validator.iter_errors(table.values))

    assert faults(FULL) == []
    for wrong in ("selct = []", "timeout = true", "[[models]]", "models = {}", MODEL + "modes = ['evla']"):
        assert faults(wrong), wrong
