"""One operation as the moves ask for it: its arguments by name, the layouts that go in, the shapes that come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapelint.trace.axes.layout import Atom, Layout, Segment, Sizes, axis, axis_count, shape

if TYPE_CHECKING:
    from shapelint.records import Argument, ModuleRecord, OpRecord

Shape = tuple[Sizes, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of the trace. ``tensors`` are its tensor arguments in order, with their layouts (None: not known)."""

    op: OpRecord
    number: int
    short: str
    tensors: tuple[int, ...]
    layouts: tuple[Layout | None, ...]
    results: tuple[Shape | None, ...]
    batch: Sizes | None
    module: ModuleRecord | None = None

    @property
    def first(self) -> Layout | None:
        """The layout of the first tensor."""
        return self.layouts[0] if self.layouts else None

    def fresh(self, sizes: Sizes) -> Segment:
        """An axis of which only the size is known: the batch where that is the batch's in every run."""
        return axis(sizes, Atom(sizes, batch=sizes == self.batch))

    def unknown(self, wanted: Shape) -> Layout:
        """A layout that is known by its sizes alone."""
        return tuple([self.fresh(sizes) for sizes in wanted])

    def argument(self, position: int, *names: str) -> Argument | None:
        """The argument at this position (the tensor itself is 0) or with one of these names."""
        place = 0
        for name, given in self.op.args:
            if name in names:
                return given
            if not name:
                if place == position:
                    return given
                place += 1
        return None

    def rest(self, *names: str) -> list[Argument]:
        """The arguments behind the tensor: ``view(2, 3)`` and ``view((2, 3))`` alike; or the one of these names."""
        named = [given for name, given in self.op.args if name in names]
        if named:
            return list(named[0].items) if named[0].kind == "list" else named
        positional = [given for name, given in self.op.args if not name][1:]
        if len(positional) == 1 and positional[0].kind == "list":
            return list(positional[0].items)
        return positional

    def integer(self, position: int, name: str, default: Any = None) -> Any:
        """A plain integer argument; ``default`` where it isn't given, None where it is anything else."""
        given = self.argument(position, name)
        if given is None:
            return default
        return plain(given)

    def flag(self, position: int, name: str) -> bool:
        """A boolean argument."""
        given = self.argument(position, name)
        return given is not None and given.kind == "literal" and given.literal is True

    def dims(self, position: int, name: str = "dim") -> list[int] | None:
        """The axes an argument names, counted from the left; None where it isn't given or can't be read."""
        given = self.argument(position, name)
        if given is None or self.first is None:
            return None
        numbers = [plain(item) for item in (given.items if given.kind == "list" else (given,))]
        return self.counted(numbers)

    def counted(self, numbers: list[int | None]) -> list[int] | None:
        """The axes with these numbers, counted from the left of the first tensor."""
        rank = axis_count(self.first or ())
        if any(number is None or not -rank <= number < rank for number in numbers):
            return None
        return [(number or 0) % rank for number in numbers]


def plain(argument: Argument) -> int | None:
    """The integer that is the same in every run; None for anything else."""
    value = argument.literal
    return value if argument.kind == "literal" and type(value) is int else None


def fits(layout: Layout | None, wanted: Shape) -> bool:
    """Whether the layout is one of this shape."""
    return layout is not None and shape(layout) == wanted
