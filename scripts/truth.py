#!/usr/bin/env python3
"""scripts/truth.py [PATH ...]: confirms every error of SL1xx and SL2xx by running the model eagerly on CPU.

Each model of the findings is built for real and called with real tensors of the sizes it was traced for. A finding is
true if something raises at its line. Where one raises at the line of a finding, the run goes on with a stand-in of the
shape that the tracer assumed, so that later findings are reached too. SL111 speaks of other devices, notes and SL203 of
no failure: they are passed over. Prints one line a finding that could not be confirmed, and a summary; exits with 1 if
there is one.

Run it with an interpreter that has shapelint and what the models need. Models made for a GPU's memory won't fit.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import traceback
import warnings
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from shapelint.lint import Request, lint, prepare
from shapelint.source.files import SourceCache
from shapelint.trace import assign, inputs, layers, recover
from shapelint.trace.log import map_tensors
from shapelint.trace.names import describe
from shapelint.trace.run import leaf
from shapelint.trace.session import _build

if TYPE_CHECKING:
    from shapelint.findings import Finding
    from shapelint.records import TraceTarget

Line = tuple[str, int]
_PASSED_OVER = ("SL111", "SL203")


class Standins(TorchFunctionMode):
    """Notes the lines at which a call raises, and goes on with what the tracer would have assumed."""

    def __init__(self, lines: frozenset[Line]) -> None:
        super().__init__()
        self.lines = lines
        self.raised: set[Line] = set()

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Torch's hook."""
        try:
            return func(*args, **(kwargs or {}))
        except Exception:
            meant = recover.meant(describe(func)[2], args, kwargs or {}) if self.noted() else None
            if meant is None:
                raise
            return map_tensors(meant[0], _zeros)

    def noted(self) -> bool:
        """Notes the lines that led here; whether a finding stands at one of them."""
        here = {(os.path.realpath(f.filename), n) for f in traceback.extract_stack() for n in _lines(f)}
        self.raised |= here
        return bool(here & self.lines)

    def layer(self, module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        """In place of ``nn.Module.__call__``: a layer may refuse its input before any operation."""
        try:
            return _call(module, *args, **kwargs)
        except Exception:
            meant = layers.meant(module, args, kwargs) if leaf(module) and self.noted() else None
            if meant is None:
                raise
            return map_tensors(meant, _zeros)


_call = torch.nn.Module.__call__


def _zeros(tensor: torch.Tensor) -> torch.Tensor:
    return torch.zeros(tensor.shape, dtype=tensor.dtype)


def _lines(frame: traceback.FrameSummary) -> range:
    return range(frame.lineno or 0, (frame.end_lineno or frame.lineno or 0) + 1)


def raised_lines(target: TraceTarget, lines: frozenset[Line]) -> set[Line]:
    """The lines at which eager runs of a model raise, over its cases, its modes and the sizes it is traced for."""
    sys.path[:0] = [target.root, *target.src]
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    found: set[Line] = set()
    for mode in target.modes:
        for case in target.cases:
            for sizes in assign.assignments(target, case, frozenset()):
                found |= _run(target, case, mode, sizes, lines)
    return found


def _run(target: TraceTarget, case: Any, mode: str, sizes: dict[str, int], lines: frozenset[Line]) -> set[Line]:
    standins = Standins(lines)
    try:
        module = importlib.import_module(target.target.partition(":")[0])
        found: Any = module
        for part in target.target.partition(":")[2].split("."):
            found = getattr(found, part)
        with standins:
            model = _build(found, target)
        if isinstance(model, torch.nn.Module):
            model.train(mode == "train")
            model = model if target.method == "forward" else getattr(model, target.method)
        args, kwargs = inputs.arguments(case, sizes)
        torch.nn.Module.__call__ = _layer(standins)  # type: ignore[method-assign]
        with standins:
            model(*map_tensors(args, _real), **map_tensors(kwargs, _real))
    except BaseException as error:  # noqa: BLE001  # whatever the model raises is what is asked for
        frames = traceback.extract_tb(error.__traceback__)
        standins.raised |= {(os.path.realpath(f.filename), n) for f in frames for n in _lines(f)}
    finally:
        torch.nn.Module.__call__ = _call  # type: ignore[method-assign]
    return standins.raised


def _layer(standins: Standins) -> Any:
    # A bound method wouldn't be given the module.
    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        return standins.layer(module, *args, **kwargs)

    return call


def _real(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        return torch.rand(tensor.shape).to(tensor.dtype)
    return torch.zeros(tensor.shape, dtype=tensor.dtype)


def unconfirmed(paths: tuple[str, ...]) -> tuple[list[Finding], int]:
    """The findings below ``paths`` that no eager run confirms, and the number of those that were asked about."""
    request = Request(paths, python=sys.executable, cache=False)
    targets = {one.target.target + one.target.root: one.target for one in prepare(request, SourceCache()).planned}
    findings = lint(request).result.findings
    asked = [f for f in findings if _speaks_of_eager(f)]
    lines = frozenset((os.path.realpath(f.location.path), f.location.region.line) for f in findings)
    raised: set[Line] = set()
    wanted = {name for f in asked for name in f.targets}
    jobs = [(target, lines) for target in targets.values() if target.target in wanted]
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for one in pool.starmap(raised_lines, jobs, chunksize=1):
            raised |= one
    return [f for f in asked if (os.path.realpath(f.location.path), f.location.region.line) not in raised], len(asked)


def _speaks_of_eager(finding: Finding) -> bool:
    return finding.id.startswith(("SL1", "SL2")) and finding.id not in _PASSED_OVER and finding.severity.name != "NOTE"


def main() -> int:
    """The command."""
    left, asked = unconfirmed(tuple(sys.argv[1:]) or (".",))
    for finding in left:
        place = f"{finding.location.path}:{finding.location.region.line}"
        print(f"{place}: {finding.id} {finding.message.splitlines()[0]} ({', '.join(finding.targets)})")
    print(f"{asked - len(left)} of {asked} findings are confirmed by an eager run")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
