"""The records of a case, from the logs of its runs laid side by side."""

from __future__ import annotations

import difflib
import os
from typing import Any

import torch
from torch import nn

from shapelint.records import (
    Argument,
    Bound,
    CallRecord,
    CaseReport,
    Ending,
    Failure,
    Frame,
    ModuleRecord,
    OpNote,
    OpRecord,
    ValueRecord,
    WarningRecord,
)
from shapelint.trace import doubt, frames
from shapelint.trace.annotated import Call
from shapelint.trace.log import Op, Ref
from shapelint.trace.run import RunResult


class Tables:
    """The frames and modules that a report refers to by index."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.modules: list[ModuleRecord] = []
        self._frame_of: dict[tuple[int, int], int] = {}
        self._module_of: dict[nn.Module, int] = {}

    def stack(self, places: tuple[frames.Place, ...]) -> tuple[int, ...]:
        """Indices of the frames, outermost first."""
        out = []
        for place in places:
            # By identity: code objects of the same text in two files are equal.
            key = (id(place[0]), place[1])
            if key not in self._frame_of:
                self._frame_of[key] = len(self.frames)
                self.frames.append(frames.to_frame(place))
            out.append(self._frame_of[key])
        return tuple(out)

    def add_frame(self, path: str, function: str, line: int, end_line: int) -> int:
        """The index of a new frame: a place of the source that no code ran at."""
        self.frames.append(Frame(path, function, line, end_line))
        return len(self.frames) - 1

    def add_modules(self, root: Any, made: dict[nn.Module, tuple[frames.Place, ...]]) -> None:
        """Takes in the modules of a model."""
        if not isinstance(root, nn.Module):
            return
        for path, module in root.named_modules():
            self._module_of[module] = len(self.modules)
            own = [*module._parameters.items(), *module._buffers.items()]
            shapes = tuple((n, tuple(t.shape)) for n, t in own if t is not None and not nn.parameter.is_lazy(t))
            name = f"{type(module).__module__}.{type(module).__qualname__}"
            self.modules.append(
                ModuleRecord(
                    path,
                    name,
                    self.stack(made.get(module, ())),
                    module.extra_repr()[:200],
                    shapes,
                    _batch_first(module),
                )
            )

    def module(self, module: Any) -> int:
        """The index of a module, -1 where it isn't the model's."""
        return self._module_of.get(module, -1)


def _batch_first(module: nn.Module) -> bool | None:
    """What a layer for sequences was told of its axes; a stack of layers is what its first layer is."""
    if isinstance(module, (nn.TransformerEncoder, nn.TransformerDecoder)):
        return next((_batch_first(layer) for layer in module.layers), None)
    if isinstance(module, (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)):
        return _batch_first(module.self_attn)
    told = getattr(module, "batch_first", None)
    return told if isinstance(told, bool) else None


def merge(
    tables: Tables,
    number: int,
    mode: str,
    flags: str,
    sizes: list[dict[str, int]],
    probes: int,
    runs: list[RunResult],
) -> CaseReport:
    """One report of all runs of a case."""
    return _Merger(tables, runs, sizes).report(number, mode, flags, sizes, probes)


def _key(op: Op) -> Any:
    return (op.name, op.stack, op.module)


class _Merger:
    def __init__(self, tables: Tables, runs: list[RunResult], sizes: list[dict[str, int]]) -> None:
        self.tables, self.runs, self.sizes = tables, runs, sizes
        self.rows: list[list[int]] = []
        self.values: list[ValueRecord] = []
        self.value_of: list[dict[int, int]] = [{} for _ in runs]
        self._rows()

    def _rows(self) -> None:
        """Each row: the index of the op in every run, -1 where a run has none."""
        base = [_key(op) for op in self.runs[0].log.ops]
        self.rows = [[i, *[-1] * (len(self.runs) - 1)] for i in range(len(base))]
        for r, run in enumerate(self.runs[1:], start=1):
            keys = [_key(op) for op in run.log.ops]
            current = [self._row_key(row) for row in self.rows]
            if keys == current:
                for i, row in enumerate(self.rows):
                    row[r] = i
                continue
            merged: list[list[int]] = []
            for tag, a0, a1, b0, b1 in difflib.SequenceMatcher(None, current, keys, autojunk=False).get_opcodes():
                if tag == "equal":
                    for i, j in zip(range(a0, a1), range(b0, b1)):
                        self.rows[i][r] = j
                        merged.append(self.rows[i])
                else:
                    merged += self.rows[a0:a1]
                    for j in range(b0, b1):
                        row = [-1] * len(self.runs)
                        row[r] = j
                        merged.append(row)
            self.rows = merged

    def _row_key(self, row: list[int]) -> Any:
        r = next(i for i, index in enumerate(row) if index >= 0)
        return _key(self.runs[r].log.ops[row[r]])

    def _value(self, indices: list[int], producer: int) -> int:
        """The record of a value, given its index in each run (-1: none)."""
        first = next((r for r, i in enumerate(indices) if i >= 0), None)
        if first is None:
            return -1
        known = self.value_of[first].get(indices[first])
        if known is not None:
            return known
        logs = [run.log for run in self.runs]
        shapes = tuple(logs[r].values[i].shape if i >= 0 else None for r, i in enumerate(indices))
        value = logs[first].values[indices[first]]
        self.values.append(ValueRecord(shapes, value.dtype, value.source, producer, value.pinned))
        for r, i in enumerate(indices):
            if i >= 0:
                self.value_of[r][i] = len(self.values) - 1
        return len(self.values) - 1

    def _argument(self, trees: list[Any]) -> Argument:
        """An argument over the runs; ``trees`` has None where a run has no such op."""
        first = next(t for t in trees if t is not None) if any(t is not None for t in trees) else None
        if isinstance(first, Ref):
            return Argument("value", self._value([t.value if isinstance(t, Ref) else -1 for t in trees], -1))
        if isinstance(first, (tuple, list)):
            items = [
                self._argument([t[i] if isinstance(t, (tuple, list)) and i < len(t) else None for t in trees])
                for i in range(len(first))
            ]
            return Argument("list", items=tuple(items))
        if isinstance(first, slice):
            parts = [
                [getattr(t, name) if isinstance(t, slice) else None for t in trees]
                for name in ("start", "stop", "step")
            ]
            return Argument("list", items=tuple(self._argument(part) for part in parts), literal="slice")
        if first is None or isinstance(first, (bool, str)) or type(first) in (int, float):
            same = all(t == first for t in trees if t is not None)
            return Argument("literal", literal=first if same else list(trees))
        if isinstance(first, (int, float)):
            return Argument("literal", literal=float(first) if isinstance(first, float) else int(first))
        return Argument("other", literal=str(first) if isinstance(first, torch.dtype) else type(first).__name__)

    def report(self, number: int, mode: str, flags: str, sizes: list[dict[str, int]], probes: int) -> CaseReport:
        logs = [run.log for run in self.runs]
        inputs = tuple(
            (name, self._value([log.inputs[k][1] if k < len(log.inputs) else -1 for log in logs], -1))
            for k, (name, _) in enumerate(logs[0].inputs)
        )
        ops = [self._op(number_, row) for number_, row in enumerate(self.rows)]
        longest = max(self.runs, key=lambda run: len(run.outputs))
        outputs = []
        for k, (path, _) in enumerate(longest.outputs):
            indices = [run.outputs[k][1] if k < len(run.outputs) else -1 for run in self.runs]
            outputs.append((path, self._value(indices, -1)))
        return CaseReport(
            number,
            mode,
            flags,
            tuple(tuple(s.items()) for s in sizes),
            probes,
            tuple(ops),
            tuple(self.values),
            inputs,
            tuple(outputs),
            tuple(self._endings()),
            tuple(self._warnings()),
            tuple(self._calls()),
        )

    def _op(self, number: int, row: list[int]) -> OpRecord:
        ops = [run.log.ops[i] if i >= 0 else None for run, i in zip(self.runs, row)]
        first = next(op for op in ops if op is not None)
        args = [
            ("", self._argument([op.args[k] if op and k < len(op.args) else None for op in ops]))
            for k in range(len(first.args))
        ]
        args += [(name, self._argument([op.kwargs.get(name) if op else None for op in ops])) for name in first.kwargs]
        outputs = [
            self._value([op.outputs[k] if op and k < len(op.outputs) else -1 for op in ops], number)
            for k in range(len(first.outputs))
        ]
        sure = any(op.doubt for op in ops if op) and doubt.certain(ops, self.sizes)
        errors = [None if op is None else op.error or (op.doubt.error if sure and op.doubt else None) for op in ops]
        failures = [Failure(r, type(error).__name__, str(error)) for r, error in enumerate(errors) if error is not None]
        notes: dict[tuple[str, str], list[int]] = {}
        values: dict[tuple[str, str], tuple[int, ...]] = {}
        for r, op in enumerate(ops):
            for kind, refs, text in op.notes if op else ():
                notes.setdefault((kind, text), []).append(r)
                values.setdefault((kind, text), tuple(self.value_of[r].get(i, -1) for i in refs))
        inner = next((op.inner for op in ops if op and op.inner), "")
        return OpRecord(
            first.opcode,
            first.name,
            self.tables.module(first.module),
            self.tables.stack(first.stack),
            tuple(args),
            tuple(outputs),
            tuple(failures),
            tuple(OpNote(kind, values[kind, text], text, tuple(at)) for (kind, text), at in notes.items()),
            # A run whose own failure is in doubt says neither that it fails nor that it works.
            tuple(
                r for r, op in enumerate(ops) if op is not None and not (failures and op.doubt and errors[r] is None)
            ),
            inner,
        )

    def _endings(self) -> list[Ending]:
        out = []
        for r, run in enumerate(self.runs):
            error = run.outcome.error
            if error is not None:
                by_user = frames.raised_by_user(error)
                kind = "raise" if by_user else "python"
                if not by_user and isinstance(error, TypeError) and "missing" in str(error) and len(run.log.ops) == 0:
                    kind = "call"
                message = str(error)[:500]
                if fault := frames.own_fault(error):
                    kind, message = "internal", f"{message} ({fault})"
                out.append(
                    Ending(
                        r,
                        kind,
                        type(error).__name__,
                        message,
                        self.tables.stack(run.outcome.stack),
                        run.invented,
                    )
                )
        return out

    def _calls(self) -> list[CallRecord]:
        """The calls of annotated functions: the n-th of a function in one run is the n-th in the others."""
        rows: dict[tuple[int, int], list[Call | None]] = {}
        for r, run in enumerate(self.runs):
            count: dict[int, int] = {}
            for call in run.calls:
                number = count[id(call.code)] = count.get(id(call.code), 0) + 1
                rows.setdefault((id(call.code), number), [None] * len(self.runs))[r] = call
        found = []
        for row in rows.values():
            first = next(call for call in row if call is not None)
            bound = []
            for k, (name, line, _) in enumerate(first.bound):
                trees = [
                    call.bound[k][2] if call and k < len(call.bound) and call.bound[k][:2] == (name, line) else None
                    for call in row
                ]
                bound.append(Bound(name, line, self._argument(trees)))
            path = os.path.abspath(first.code.co_filename)
            found.append(CallRecord(path, first.code.co_firstlineno, tuple(bound), self.tables.stack(first.caller)))
        return found

    def _warnings(self) -> list[WarningRecord]:
        found: dict[Any, list[int]] = {}
        for r, run in enumerate(self.runs):
            for warning in run.warnings:
                key = (warning[0], warning[2])
                found.setdefault(key, []).append(r)
        texts = {(w[0], w[2]): w[1] for run in reversed(self.runs) for w in run.warnings}
        return [WarningRecord(c, texts[c, s], self.tables.stack(s), tuple(rs)) for (c, s), rs in found.items() if s]
