"""A call as a message speaks of it: what the source calls its operands, their shapes in names, what was asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks.sizes import expression
from shapelint.checks.view import values_of
from shapelint.source.calls import CallInfo
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from shapelint.checks.view import View
    from shapelint.records import Argument, CaseReport, ModuleRecord, OpRecord
    from shapelint.source.calls import Operand

_LONGEST = 40
_ORDINAL = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class Tensor:
    """An operand: its text in the source ("" where it is long or unknown), sizes in names, sizes in one failing run."""

    text: str
    sizes: tuple[str, ...]
    numbers: tuple[int, ...]
    dtype: str
    value: int
    role: str

    @property
    def shape(self) -> str:
        """The shape in names: ``[B, 3, H, W]``."""
        return f"[{', '.join(self.sizes)}]"

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.numbers)

    @property
    def name(self) -> str:
        """What to call it: ``x``, or ``the input`` where the source has no short name for it."""
        return self.text or f"the {self.role}"

    @property
    def said(self) -> str:
        """``x is [B, 16]``."""
        return f"{self.name} is {self.shape}"

    @property
    def typed(self) -> str:
        """``x is float64[B, 16]``."""
        return f"{self.name} is {self.dtype}{self.shape}"


@dataclass(frozen=True, slots=True)
class Call:
    """A call that failed.

    ``kind`` is the class of the layer or the short name of the function, ``error`` what torch said, ``runs`` those that
    failed.
    """

    view: View
    case: CaseReport
    op: OpRecord
    kind: str
    error: str
    runs: tuple[int, ...]
    info: CallInfo | None

    @property
    def layer(self) -> ModuleRecord | None:
        """The layer that was called, None for a function."""
        is_layer = self.op.opcode == "call_module" and self.op.module >= 0
        return self.view.report.modules[self.op.module] if is_layer else None

    def field(self, name: str, position: int = -1) -> int | None:
        """A whole number that the layer shows of itself, by name or by position: ``Conv2d(3, 8, …)``."""
        shown = self.layer.shown if self.layer is not None else ""
        found = re.search(rf"\b{name}=\(?(\d+)", shown)
        if found:
            return int(found[1])
        parts = shown.split(", ")
        return int(parts[position]) if 0 <= position < len(parts) and parts[position].isdigit() else None

    @property
    def spoken(self) -> str:
        """What the source calls it: ``self.fc1``, ``F.cross_entropy``, ``x.view``, ``a @ b``; else its path or name."""
        info, layer = self.info, self.layer
        if layer is not None:
            path = layer.path or "the model"
            if info is not None and info.kind == "call" and path.rpartition(".")[2] == info.name:
                return info.callee
            return f"{path} ({self.kind})"
        if info is None:
            return self.kind
        if info.kind in ("operator", "augmented", "subscript"):
            return self._expression(info)
        is_it = info.kind == "call" and self._is_written(info.name)
        return info.callee if is_it and len(info.callee) <= _LONGEST else self.kind

    def _expression(self, info: CallInfo) -> str:
        """An operation as it is written; of a long one its sign, between operands that are short."""
        text = SourceMap(self.view.sources).expression_text(info.location)
        if len(text) <= _LONGEST:
            return text
        if info.kind == "subscript" or len(info.args) != 2:  # noqa: PLR2004  # two operands
            return self.kind
        left, right = (one.text if len(one.text) <= _LONGEST // 2 else "…" for one in info.args)
        return f"{left} {info.name} {right}"

    def argument(self, position: int, *names: str) -> Argument | None:
        """An argument by position (a method's tensor is the first) or by one of its names."""
        named = {key: argument for key, argument in self.op.args if key}
        plain = [argument for key, argument in self.op.args if not key]
        for name in names:
            if name in named:
                return named[name]
        return plain[position] if 0 <= position < len(plain) else None

    def tensor(self, position: int, *names: str, role: str = "") -> Tensor | None:
        """The tensor that is passed there, None where there is none or its shape isn't known."""
        argument = self.argument(position, *names)
        if argument is None or argument.kind != "value" or argument.value < 0:
            return None
        return self._tensor(argument.value, self.text(position, *names), role or (names[0] if names else "input"))

    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors among the arguments whose shapes are known, in order."""
        texts = self._texts()
        found = []
        for index, value in enumerate(values_of(self.op)):
            what = "operand" if self.layer is None else "argument" if index else "input"
            role = f"{_ORDINAL[index]} {what}" if index < len(_ORDINAL) and what != "input" else what
            one = self._tensor(value, texts[index] if index < len(texts) else "", role)
            if one is not None:
                found.append(one)
        return tuple(found)

    def shown(self, argument: Argument | None) -> str:
        """A number or a list of numbers in names: ``(-1, 400)``, ``2*B``; "" where it is neither."""
        if argument is None:
            return ""
        if argument.kind == "list":
            parts = [self.shown(item) for item in argument.items]
            return f"({', '.join(parts)})" if all(parts) else ""
        if argument.kind != "literal":
            return ""
        if isinstance(argument.literal, (list, tuple)):
            return self.number(tuple(argument.literal))
        return str(argument.literal)

    def numbers(self, argument: Argument | None) -> tuple[int, ...]:
        """The whole numbers of an argument in the first failing run; nothing where there are others."""
        items = () if argument is None else argument.items if argument.kind == "list" else (argument,)
        found = []
        for item in items:
            literal = item.literal
            if isinstance(literal, (list, tuple)):
                literal = literal[self.runs[0]] if self.runs[0] < len(literal) else None
            if item.kind != "literal" or not isinstance(literal, int) or isinstance(literal, bool):
                return ()
            found.append(literal)
        return tuple(found)

    def number(self, sizes: tuple[int | None, ...]) -> str:
        """A number that differs from run to run (``sizes[run]``), in names."""
        known = [(run, size) for run, size in enumerate(sizes) if isinstance(size, int)]
        if not known:
            return "?"
        return expression(tuple(size for _, size in known), tuple(self.case.assignments[run] for run, _ in known))

    def told(self, pattern: str) -> tuple[str, ...]:
        """A list of numbers in torch's own words, in names: each run's words have its own numbers."""
        rows: dict[int, list[int]] = {}
        for failure in self.op.failures:
            found = re.search(pattern, failure.message)
            if found:
                rows[failure.run] = [int(number) for number in re.findall(r"-?\d+", found[1])]
        if not rows or len({len(row) for row in rows.values()}) != 1:
            return ()
        count = len(next(iter(rows.values())))
        runs = range(len(self.case.assignments))
        return tuple([self.number(tuple(rows[r][k] if r in rows else None for r in runs)) for k in range(count)])

    def _tensor(self, value: int, text: str, role: str) -> Tensor | None:
        record = self.case.values[value]
        numbers = record.shapes[self.runs[0]] if self.runs[0] < len(record.shapes) else None
        if numbers is None:
            return None
        sizes = self.view.told(self.case, value, self.runs)
        return Tensor(text if len(text) <= _LONGEST else "", sizes, numbers, record.dtype, value, role)

    def _texts(self) -> list[str]:
        """The texts of the operands that are tensors, in the order of `values_of`, as far as they can be told."""
        positions: list[str] = []
        plain = 0
        for name, argument in self.op.args:
            operand = self._operand(-1 if name else plain, (name,) if name else ())
            plain += not name
            count = len(_values(argument))
            if count == 1 and argument.kind == "value":
                positions.append(operand.text if operand else "")
            elif self.info is not None and self.info.kind == "subscript" and len(self.info.args) == len(argument.items):
                pairs = zip(self.info.args, argument.items)
                positions += [one.text for one, part in pairs for _ in range(len(_values(part)))]
            elif operand is not None and len(operand.items) == len(argument.items):
                positions += [
                    item.text for item, part in zip(operand.items, argument.items) for _ in range(len(_values(part)))
                ]
            else:
                positions += [""] * count
        return positions

    def text(self, position: int, *names: str) -> str:
        """What the source passes there, "" where it is long or can't be told."""
        operand = self._operand(position, names)
        return operand.text if operand is not None and len(operand.text) <= _LONGEST else ""

    def _operand(self, position: int, names: tuple[str, ...]) -> Operand | None:
        """The operand of the source at a position, the tensor of a method being the first."""
        match self.info:
            case CallInfo(kind="operator" | "augmented", args=args):
                swapped = self.kind.startswith("__r") and len(args) == 2  # noqa: PLR2004  # two operands
                written: tuple[Operand | None, ...] = args[::-1] if swapped else args
            case CallInfo(kind="subscript", args=args, receiver=receiver):
                written = (receiver, *(args if len(args) == 1 else ()))
            case CallInfo(kind="call", name=name) as info if self._is_written(name):
                return self._passed(info, position, names)
            case _:
                return None
        return written[position] if 0 <= position < len(written) else None

    def _is_written(self, name: str) -> bool:
        """Whether the call in the source, of ``name``, is this one: inside a Sequential it is the call of the whole."""
        if self.layer is None:
            # torch.linalg.inv is linalg_inv to torch; einops has functions of the same names, with other arguments.
            same = name.rstrip("_") == self.kind.rstrip("_") or self.kind.endswith(f"_{name}")
            return same and not self._has_other_texts()
        above, _, own = self.layer.path.rpartition(".")
        if own == name or not own:
            return True
        kind = next((one.type for one in self.view.report.modules if one.path == above), "")
        return kind.endswith((".ModuleList", ".ModuleDict"))

    def _has_other_texts(self) -> bool:
        """Whether the source passes a text that the call didn't get."""
        got = {argument.literal for _, argument in self.op.args if isinstance(argument.literal, str)}
        written = self.info.args if self.info is not None else ()
        return any(one.literal and isinstance(one.value, str) and one.value not in got for one in written)

    def _passed(self, info: CallInfo, position: int, names: tuple[str, ...]) -> Operand | None:
        named = next((a for a in info.args if a.keyword and a.keyword in names), None)
        if named is not None or position < 0:
            return named
        if self.op.opcode == "call_method":
            if position == 0:
                return info.receiver
            position -= 1
        found = info.argument(position)
        return None if found is None or found.star or found.keyword else found


def _values(argument: Argument) -> list[int]:
    if argument.kind == "value" and argument.value >= 0:
        return [argument.value]
    return [value for item in argument.items for value in _values(item)]
