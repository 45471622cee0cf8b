"""No call that fails, however odd its arguments are, keeps its sentence from being made."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from shapelint.checks.advice import advice
from shapelint.checks.call import Call
from shapelint.checks.view import View
from shapelint.checks.words import TELLERS, tell
from shapelint.records import (
    Argument,
    Case,
    CaseReport,
    Failure,
    ModuleRecord,
    OpRecord,
    TraceReport,
    TraceTarget,
    ValueRecord,
)
from shapelint.source.files import SourceCache

if TYPE_CHECKING:
    from pathlib import Path

RUNS = ((("B", 7), ("T", 11)), (("B", 13), ("T", 17)), (("B", 1), ("T", 11)))
SHOWN = ("", "3, 8, kernel_size=(3, 3), groups=2", "(10, 16), eps=1e-05", "4, 16", "dim=1", "16, 8, num_layers=2")
WORDS = (
    "",
    "Dimension out of range (expected to be in range of [-2, 1], but got 4)",
    "must be Tensor, not tuple",
    "expected predicate to be bool",
    "scalar types: Long, Int",
    "mat1 and mat2 must have the same dtype, but got Double and Float",
    "index 9 is out of bounds for dimension 1 with size 3",
    "view size is not compatible with input tensor's size and stride",
)


def value(pick: random.Random) -> ValueRecord:
    rank = pick.randrange(6)
    sizes = [pick.choice(("B", "T", 1, 2, 3, 8, 16)) for _ in range(rank)]
    shapes = [tuple(dict(run).get(size, size) if isinstance(size, str) else size for size in sizes) for run in RUNS]
    known: list[Any] = [shape if pick.random() > 0.05 else None for shape in shapes]
    return ValueRecord(tuple(known), pick.choice(("float32", "int64", "bool", "float64")))


def argument(pick: random.Random, values: int, depth: int = 2) -> Argument:
    kind = pick.choice(("value", "value", "value", "literal", "literal", "list"))
    if kind == "value":
        return Argument("value", pick.randrange(values))
    if kind == "list" and depth:
        return Argument("list", items=tuple(argument(pick, values, depth - 1) for _ in range(pick.randrange(4))))
    literal = pick.choice((None, 0, 1, -1, 3, 2.5, True, "btd,dk->btk", "...d,->", "mean", [7, 13, 1], [7, None, 1]))
    return Argument("literal", literal=literal)


@pytest.mark.parametrize("name", sorted(TELLERS))
def test_a_sentence_is_made_or_left_out_whatever_the_arguments(name: str, tmp_path: Path) -> None:
    pick = random.Random(name)
    target = TraceTarget("net:Net", str(tmp_path), (str(tmp_path),), (Case(),))
    for _ in range(150):
        values = tuple(value(pick) for _ in range(4))
        names = ("input", "target", "dim", "size", "index", "hx", "weight", "attn_mask", "key_padding_mask")
        plain = [("", argument(pick, 4)) for _ in range(pick.randrange(5))]
        named = [(each, argument(pick, 4)) for each in pick.sample(names, pick.randrange(3))]
        error = pick.choice(WORDS)
        layer = name[0].isupper()
        op = OpRecord(
            "call_module" if layer else pick.choice(("call_function", "call_method")),
            f"torch.nn.{name}",
            0 if layer else -1,
            (),
            (*plain, *named),
            failures=(Failure(0, "RuntimeError", error), Failure(1, "RuntimeError", error)),
            runs=(0, 1, 2),
        )
        params = (("weight", tuple(pick.choice((2, 3, 8)) for _ in range(pick.randrange(5)))),)
        module = ModuleRecord("net.0", f"torch.nn.modules.{name}", (), pick.choice(SHOWN), params)
        case = CaseReport(0, "eval", "", RUNS, 3, (op,), values, (), ())
        view = View(TraceReport("net:Net", cases=(case,), modules=(module,)), target, SourceCache())
        call = Call(view, case, op, name, error, (0, 1), None)
        said = tell(call)
        assert said == "" or said.endswith(".")
        assert "\n" not in said
        assert "\n" not in advice(call)
