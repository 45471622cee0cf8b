"""Numbers and answers that only data could give, made up so that the trace can go on, and marked as such.

An `InventedInt` or `InventedFloat` stays marked through arithmetic. Comparing one, like asking a traced tensor for its
truth, is a *decision*: `Decisions` gives the answer, remembers that it was asked, and a second path may take the other.
"""

from __future__ import annotations

import ast
import contextlib
import math
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

from shapelint.trace import frames

Site = tuple[frames.Place, ...]


_TURNS = 64
"""How often a flipped answer is given at one place: a loop whose condition is data must end."""


class Decisions:
    """The answers of one path through the code: True inside an assert, False elsewhere, but for the sites in ``flips``."""

    def __init__(self, flips: frozenset[Site] = frozenset()) -> None:
        self.flips = dict.fromkeys(flips, _TURNS)
        self.asked: list[Site] = []

    def ask(self, frame: types.FrameType) -> bool:
        """The answer to the condition that the user's code is testing in or above ``frame``."""
        site = frames.user_stack(frame)
        asserted = _asserted(site[-1]) if site else None
        if asserted is not None:
            return asserted
        self.asked.append(site)
        if self.flips.get(site, 0):
            self.flips[site] -= 1
            return True
        return False


current = Decisions()
"""The decisions of the run at hand; `shapelint.trace.run` replaces it for each run."""


_CHECKED = str(Path("torch", "distributions"))


def decide(frame: types.FrameType) -> bool:
    """The answer of the current run for a condition on data: to torch.distributions, that all arguments are valid."""
    return _CHECKED in frame.f_code.co_filename or current.ask(frame)


@cache
def _asserts(path: str) -> list[tuple[ast.Assert, set[int]]]:
    """The assert statements of a file, each with the ids of the nodes that stand under an odd number of ``not``."""
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            negated: set[int] = set()
            _mark(node.test, False, negated)  # noqa: FBT003
            found.append((node, negated))
    return found


def _mark(node: ast.AST, odd: bool, negated: set[int]) -> None:  # noqa: FBT001
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        odd = not odd
    if odd:
        negated.add(id(node))
    for child in ast.iter_child_nodes(node):
        _mark(child, odd, negated)


def _asserted(place: frames.Place) -> bool | None:
    """What the condition at ``place`` must be for the assert around it to hold; None outside an assert."""
    frame = frames.to_frame(place)
    for statement, negated in _asserts(frame.path):
        if not statement.test.lineno <= frame.line <= (statement.test.end_lineno or statement.test.lineno):
            continue
        if frame.column < 0:
            return not (isinstance(statement.test, ast.UnaryOp) and isinstance(statement.test.op, ast.Not))
        inside = [
            node
            for node in ast.walk(statement.test)
            if isinstance(node, ast.expr) and (node.lineno, node.col_offset) == (frame.line, frame.column)
        ]
        return not any(id(node) in negated and not isinstance(node, ast.UnaryOp) for node in inside)
    return None


# ------------------------------------------------------------------------------------------------------- numbers


def _numeric(value: Any) -> Any:
    """``value`` marked as invented, where it is a number."""
    if isinstance(value, bool) or value is NotImplemented:
        return value
    if isinstance(value, int):
        return InventedInt(value)
    if isinstance(value, float):
        return InventedFloat(value)
    if isinstance(value, tuple):
        return tuple(_numeric(item) for item in value)
    return value


def _arithmetic(name: str, kind: type) -> Any:
    plain = getattr(kind, name)

    def method(self: Any, *others: Any) -> Any:
        try:
            return _numeric(plain(self, *others))
        except (ZeroDivisionError, OverflowError, ValueError):
            # The number was made up: what it can't be divided by says nothing about the code.
            return InventedInt(1) if kind is int else InventedFloat(1.0)

    method.__name__ = name
    return method


def _comparison(name: str, kind: type) -> Any:
    plain = getattr(kind, name)

    def method(self: Any, other: Any) -> Any:
        if plain(self, other) is NotImplemented:
            return NotImplemented
        return decide(sys._getframe(1))

    method.__name__ = name
    return method


_ARITHMETIC = (
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __truediv__ "
    "__rtruediv__ __divmod__ __rdivmod__ __pow__ __rpow__ __neg__ __pos__ __abs__ __round__"
).split()
_BITS = "__and__ __or__ __xor__ __rand__ __ror__ __rxor__ __lshift__ __rshift__ __invert__ __floor__ __ceil__ __trunc__".split()
_COMPARISONS = "__lt__ __le__ __gt__ __ge__ __eq__ __ne__".split()


class InventedInt(int):
    """A whole number that only data could give. It takes part in arithmetic and stays marked."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return decide(sys._getframe(1))

    def __hash__(self) -> int:
        return int.__hash__(self)


class InventedFloat(float):
    """A number that only data could give. It takes part in arithmetic and stays marked."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return decide(sys._getframe(1))

    def __hash__(self) -> int:
        return float.__hash__(self)

    def __floor__(self) -> InventedInt:
        return InventedInt(int(float.__floor__(self))) if math.isfinite(self) else InventedInt(1)

    __ceil__ = __trunc__ = __floor__


for _kind, _base, _names in (
    (InventedInt, int, _ARITHMETIC + _BITS),
    (InventedFloat, float, _ARITHMETIC),
):
    for _name in _names:
        setattr(_kind, _name, _arithmetic(_name, _base))
    for _name in _COMPARISONS:
        setattr(_kind, _name, _comparison(_name, _base))


def is_invented(value: Any) -> bool:
    """Whether ``value`` is an invented number, or holds one at any depth of lists, tuples and slices."""
    kind = type(value)
    if kind is InventedInt or kind is InventedFloat:
        return True
    if kind is list or kind is tuple:
        return any(is_invented(item) for item in value)
    if kind is slice:
        return any(is_invented(item) for item in (value.start, value.stop, value.step))
    return False


@contextlib.contextmanager
def path(flips: frozenset[Site]) -> Any:
    """Runs a block under decisions of its own, with those at ``flips`` answered True; yields them."""
    global current  # noqa: PLW0603  # torch calls back with no room for an argument
    before, current = current, Decisions(flips)
    try:
        yield current
    finally:
        current = before
