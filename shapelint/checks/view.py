"""What a check asks of a case's report: shapes in names, places in the source, layers as the user calls them."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks.sizes import expression
from shapelint.findings import Finding, Location, Region, Related, Severity, Step
from shapelint.rules import find_rule
from shapelint.source import tree
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.records import Argument, CaseReport, OpRecord, TraceReport, TraceTarget
    from shapelint.source.files import SourceCache

_SHOWN = 80
"""So many characters of what a layer says of itself are told."""


@dataclass(frozen=True, slots=True)
class View:
    """A report with the source it speaks of."""

    report: TraceReport
    target: TraceTarget
    sources: SourceCache

    def place(self, stack: tuple[int, ...], hint: str = "") -> Location:
        """The innermost place of a stack; the definition of the target where there is none."""
        if not stack:
            return self.definition()
        return SourceMap(self.sources).locate(self.report.frames[stack[-1]], hint)

    def definition(self) -> Location:
        """Where the target's class or function is defined: as the trace saw it, else as the source says."""
        if self.report.path:
            line = max(self.report.line, 1)
            return SourceMap(self.sources).whole_line(self.report.path, line)
        module, _, attribute = self.target.target.partition(":")
        path = self._file_of(module)
        parsed = self.sources.load(path).tree if path else None
        for node in parsed.body if parsed is not None else ():
            if getattr(node, "name", "") == attribute.partition(".")[0]:
                return SourceMap(self.sources).whole_line(path, node.lineno)
        return Location(path or self.target.root, Region(1, 1, 1, 1))

    def _file_of(self, module: str) -> str:
        parts = module.split(".")
        for folder in self.target.src:
            for path in (os.path.join(folder, *parts) + ".py", os.path.join(folder, *parts, "__init__.py")):
                if os.path.isfile(path):
                    return path
        return ""

    def finding(
        self,
        rule: str,
        message: str,
        location: Location,
        *,
        warning: bool = False,
        note: bool = False,
        related: tuple[Related, ...] = (),
        notes: tuple[str, ...] = (),
        fix: str = "",
        trail: tuple[Step, ...] = (),
    ) -> Finding:
        """A finding of the rule with this name; ``warning`` and ``note`` are the most it is to be."""
        known = find_rule(rule)
        severity = Severity.WARNING if warning and known.severity is Severity.ERROR else known.severity
        severity = Severity.NOTE if note else severity
        said = known.format(message=message, error=message)
        return Finding(
            known.id, known.name, severity, said, location, (self.target.target,), notes, fix, related, trail
        )

    def sizes(self, case: CaseReport, value: int, runs: tuple[int, ...] | None = None) -> tuple[str, ...]:
        """The sizes of a value in names; ``("?",)`` where its shape isn't known.

        All regular runs take part where the value has one rank in them: a name shows though only one run failed.
        """
        record = case.values[value]
        known = [(r, s) for r, s in enumerate(record.shapes) if s is not None]
        every = [(r, s) for r, s in known if r < case.probes] or known
        picked = every
        if len({len(s) for _, s in every}) != 1:
            picked = [(r, s) for r, s in every if runs is None or r in runs]
        if not picked or len({len(s) for _, s in picked}) != 1:
            return ("?",)
        assignments = tuple(case.assignments[r] for r, _ in picked)
        return tuple(expression(sizes, assignments) for sizes in zip(*(s for _, s in picked)))

    def shape(self, case: CaseReport, value: int, runs: tuple[int, ...] | None = None) -> str:
        """The shape of a value in names: ``[2*B, 400]``."""
        return f"[{', '.join(self.sizes(case, value, runs))}]"

    def told(self, case: CaseReport, value: int, runs: tuple[int, ...]) -> tuple[str, ...]:
        """The sizes as `sizes`, but that one which no expression fits is the number of the first of ``runs``."""
        shapes = case.values[value].shapes
        numbers = shapes[runs[0]] if runs and runs[0] < len(shapes) else None
        sizes = self.sizes(case, value, runs)
        if numbers is None:
            return sizes
        if len(sizes) != len(numbers):
            return tuple(map(str, numbers))
        return tuple([str(number) if size == "?" else size for size, number in zip(sizes, numbers)])

    def related(self, case: CaseReport, op: OpRecord) -> tuple[Related, ...]:
        """Where the layer was made, and the calls that led to the op, the closest first."""
        del case
        made = self.report.modules[op.module].made if op.opcode == "call_module" and op.module >= 0 else ()
        return (*self._made(op, made), *self.callers(op.stack))

    def _made(self, op: OpRecord, made: tuple[int, ...]) -> Iterator[Related]:
        """Where a layer was made; where its numbers don't stand there, with which it was, and what gave them."""
        if not made:
            return
        info = SourceMap(self.sources).call_at(self.report.frames[made[-1]])
        given = [one for one in info.args if not one.literal and not one.star] if info is not None else []
        shown = self.report.modules[op.module].shown
        kind = op.target.rsplit(".", 1)[-1]
        told = f" as {kind}({shown})" if given and shown and len(shown) <= _SHOWN else ""
        yield Related(self.place(made), f"made here{told}")
        if len(made) > 1 and any(self._is_parameter(one.text, made[-1]) for one in given):
            yield Related(self.place(made[:-1]), "with the arguments given here")

    def _is_parameter(self, text: str, frame: int) -> bool:
        at = self.report.frames[frame]
        source = self.sources.load(at.path)
        around = tree.functions_around(source.tree, at.line) if source.tree else ()
        node = around[-1] if around else None
        if node is None or isinstance(node, ast.ClassDef):
            return False
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return any(one.arg == text for one in arguments)

    def callers(self, stack: tuple[int, ...]) -> tuple[Related, ...]:
        """The calls above the innermost place of a stack, the closest first, each with the function it stands in."""
        return tuple(
            Related(self.place((index,)), f"called from {self.report.frames[index].function}")
            for index in reversed(stack[:-1])
        )

    def layer(self, op: OpRecord) -> str:
        """The op as a person would call it: ``self.fc1``'s path for a layer, the function's name otherwise."""
        if op.opcode == "call_module" and op.module >= 0:
            record = self.report.modules[op.module]
            kind = op.target.rsplit(".", 1)[-1]
            return (
                f"{record.path or 'the model'} ({kind}({record.shown}))" if record.shown else f"{record.path} ({kind})"
            )
        return op.target.rsplit(".", 1)[-1]


def values_of(op: OpRecord) -> list[int]:
    """The tensors among an op's arguments, in order."""
    found: list[int] = []

    def look(argument: Argument) -> None:
        if argument.kind == "value" and argument.value >= 0:
            found.append(argument.value)
        for item in argument.items:
            look(item)

    for _, argument in op.args:
        look(argument)
    return found


def sized(case: CaseReport, run: int) -> str:
    """The sizes of a run, as a person says them: ``B = 7, T = 11``."""
    return ", ".join(f"{name} = {size}" for name, size in case.assignments[run]) or "these inputs"
