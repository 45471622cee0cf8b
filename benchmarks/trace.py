"""The tracer: against the plain meta forward, against torch.export, and the memory of a large model."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import models
import torch
from measure import RUNS, Row, command, paired, peak_of_children, seconds, shapelint

from shapelint.records import Case, TraceTarget
from shapelint.specs import parse_input
from shapelint.trace import memo
from shapelint.trace.owners import Owners
from shapelint.trace.run import run
from shapelint.trace.session import load
from shapelint.trace.session import trace as trace_all

HERE = Path(__file__).resolve().parent
INPUTS = {
    "bert": ("ids", (2, 64)),
    "resnet": ("x", (2, 3, 64, 64)),
    "llama": ("ids", (2, 64)),
    "unet": ("x", (2, 3, 64, 64)),
}
SPECS = {
    "bert": "int64[B, 64]",
    "resnet": "float32[B, 3, 64, 64]",
    "llama": "int64[B, 64]",
    "unet": "float32[B, 3, 64, 64]",
}


def overhead() -> list[Row]:
    """The trace of one assignment against the plain meta forward of the same model."""
    rows = []
    for name, (argument, shape) in INPUTS.items():
        with torch.device("meta"):
            model = getattr(models, name)().eval()
            given = torch.zeros(shape, dtype=torch.int64 if argument == "ids" else torch.float32)
        owners = Owners(model)

        def traced(model: Any = model, given: Any = given, owners: Any = owners) -> None:
            memo.forget()
            assert run(model, (given,), {}, owners, repeats=True).outcome.error is None

        ratio, ours, plain = paired(traced, lambda model=model, given=given: model(given), 2 * RUNS)
        rows.append(Row(f"one assignment, {name}", ratio, "", f"{ours * 1000:.0f} ms / {plain * 1000:.0f} ms"))
    rows.append(Row("one assignment / plain meta forward", statistics.median(r.seen for r in rows), "<= 2.0", "median"))
    return rows


def export() -> list[Row]:
    """All assignments, their alignment and the batch axis, against torch.export with a dynamic batch."""
    rows = []
    for name, (argument, shape) in INPUTS.items():
        case = Case(((argument, parse_input(SPECS[name])),))
        target = TraceTarget(f"models:{name}", str(HERE), (str(HERE),), (case,), modes=("eval",))
        loaded = load(target)

        def ours(target: Any = target, loaded: Any = loaded) -> None:
            memo.forget()
            assert trace_all(target, loaded).failure is None

        model = getattr(models, name)().eval()
        given = torch.zeros(shape, dtype=torch.int64 if argument == "ids" else torch.float32)
        dynamic = {argument: {0: torch.export.Dim("B", min=2, max=64)}}

        def theirs(model: Any = model, given: Any = given, dynamic: Any = dynamic) -> None:
            torch.export.export(model, (given,), dynamic_shapes=dynamic)

        ratio, first, second = paired(theirs, ours)
        rows.append(Row(f"torch.export, {name}", ratio, "", f"{first:.2f} s / {second:.2f} s"))
    rows.append(Row("torch.export / all assignments", statistics.median(r.seen for r in rows), ">= 8", "median"))
    return rows


def memory() -> list[Row]:
    """A model of 70 billion parameters, built and traced by the command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "shapelint.toml")
        (Path(folder) / "big.py").write_text((HERE / "models.py").read_text(encoding="utf-8"), encoding="utf-8")
        path.write_text('[[models]]\ntarget = "big:llama70"\ninputs = { ids = "int64[B, T]" }\n', encoding="utf-8")
        check = command(*shapelint("check", folder, "--no-cache", "--python", sys.executable))
        took = statistics.median(seconds(check) for _ in range(3))
    return [
        Row("70 billion parameters, memory", peak_of_children(), "<= 1.5", "built and traced", "GiB"),
        Row("70 billion parameters, time", took, "<= 30", "median of 3", "s"),
    ]
