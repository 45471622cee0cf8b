"""Networks as people write them: the right ones are traced in silence, and a planted fault is found at its line.

They stand in ``tests/data/realistic/``. What follows ``# fault:`` on a line replaces that line in the faulty
twin, at most one in each model, and the eager run decides what is true: the right network runs, its twin raises, and
the linter speaks of the line at which it raises. ``# also fails`` marks what would raise next, for the same value.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_samples import run

pytest.importorskip("torch")

from eager_samples import configured, load, raised_at

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

NETWORKS = sorted((Path(__file__).parent / "data" / "realistic").glob("*.py"))
_FAULT = re.compile(r"^(\s*).*# fault: (.*)$", re.MULTILINE)
_MODEL = re.compile(r"^# shapelint: inputs\((.*)\)\n(?:class|def) (\w+)", re.MULTILINE)


def models(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each model in the file, with the inputs that its comment names."""
    for match in _MODEL.finditer(path.read_text(encoding="utf-8")):
        call = ast.parse(f"dict({match[1]})", mode="eval").body
        assert isinstance(call, ast.Call)
        yield match[2], {word.arg or "": ast.literal_eval(word.value) for word in call.keywords}


def also_failing(path: Path, name: str) -> set[int]:
    """The lines of the model ``name`` that are marked with ``# also fails``."""
    text = path.read_text(encoding="utf-8")
    node = next(one for one in ast.parse(text).body if getattr(one, "name", "") == name)
    lines = enumerate(text.splitlines(), start=1)
    return {n for n, line in lines if line.endswith("# also fails") and node.lineno <= n <= (node.end_lineno or 0)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each file as it stands, and with its faults."""
    root = tmp_path_factory.mktemp("networks")
    tables = []
    for path in NETWORKS:
        text = path.read_text(encoding="utf-8")
        (root / path.name).write_text(text, encoding="utf-8")
        (root / f"{path.stem}_faulty.py").write_text(_FAULT.sub(r"\1\2", text), encoding="utf-8")
        for name, inputs in models(path):
            tables += [(f"{stem}:{name}", inputs) for stem in (path.stem, f"{path.stem}_faulty")]
    (root / "shapelint.toml").write_text(configured(tables), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def report(folder: Path) -> Any:
    """What one run says of all of them."""
    result = run("check", str(folder), "--python", sys.executable, "--no-cache", "--output-format", "json", "-q")
    return json.loads(result.stdout)


def test_right_networks_are_traced_to_their_end_with_nothing_to_report(report: Any, folder: Path) -> None:
    names = {f"{path.stem}:{name}" for path in NETWORKS for name, _ in models(folder / path.name)}
    assert len(names) >= 30
    traced = {one["target"]: one["complete"] for one in report["targets"] if one["target"] in names}
    assert traced == dict.fromkeys(names, True)
    told = [one for one in report["findings"] if one["target"] in names and one["severity"] != "note"]
    assert [(one["target"], one["line"], one["message"]) for one in told] == []


def test_a_planted_fault_is_the_one_error_and_stands_at_the_line_that_raises(report: Any, folder: Path) -> None:
    found: dict[str, set[int]] = {}
    expected: dict[str, set[int]] = {}
    for source in NETWORKS:
        path = folder / f"{source.stem}_faulty.py"
        module = load(path)
        for name, inputs in models(path):
            target = f"{path.stem}:{name}"
            line, _ = raised_at(path, getattr(module, name), inputs)
            expected[target] = {line} | also_failing(path, name)
            found[target] = {
                one["line"] for one in report["findings"] if one["target"] == target and one["severity"] == "error"
            }
    assert found == expected


@pytest.mark.parametrize("source", NETWORKS, ids=lambda path: path.stem)
def test_right_networks_run_eagerly_and_each_has_a_twin_that_raises(source: Path, folder: Path) -> None:
    right, wrong = folder / source.name, folder / f"{source.stem}_faulty.py"
    for name, inputs in models(source):
        assert raised_at(right, getattr(load(right), name), inputs) == (0, ""), name
        assert raised_at(wrong, getattr(load(wrong), name), inputs)[0] > 0, name
