"""Whether a failure beside made-up numbers is one of the user's, which no single run can tell.

The made-up numbers of a case differ from run to run, and so do the sizes of the named dimensions. What stays the same in
each, or is the size of one name in each, hangs on nothing made up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapelint.trace.log import Op


@dataclass(frozen=True, slots=True)
class Doubt:
    """A failure that may only follow from something made up; ``excused`` where the other repair of a fault upstream works."""

    error: BaseException
    excused: bool


PRODUCTS = frozenset(
    "linear matmul __matmul__ mm bmm mv addmm baddbmm einsum bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d batch_norm layer_norm rms_norm lstm_cell gru_cell".split()
)
"""Calls whose operands alone decide whether they fit, and no number beside them that may have been made up."""

_ELEMENTWISE = frozenset("add sub mul div true_divide where maximum minimum eq ne lt le gt ge".split())
_LAYERS = frozenset(
    "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LayerNorm Bilinear".split()
)
_SPOKEN = PRODUCTS | _ELEMENTWISE | _LAYERS
"""Calls whose errors name all the sizes that disagree."""

_BROADCAST = re.compile(r"a dimension of length (\d+) at (-\d+)!.*\[([\d, ]+)\]$")
_RUNS = 3
"""Fewer runs may agree by chance."""


def certain(ops: list[Op | None], sizes: list[dict[str, int]]) -> bool:
    """Whether the failures of one operation, over the runs of a case, hang on no number that was made up."""
    reached = [(op, given) for op, given in zip(ops, sizes) if op is not None]
    if any(op.doubt and op.doubt.excused for op, _ in reached):
        return False
    texts = [str(op.error or (op.doubt.error if op.doubt else "")) for op, _ in reached]
    if len(reached) < _RUNS or not all(texts) or reached[0][0].name.rpartition(".")[2] not in _SPOKEN:
        return False
    numbers = [_disagreeing(text) for text in texts]
    words = {re.sub(r"\d+", "", text) for text in texts}
    if len(words) != 1 or not numbers[0]:
        return False
    return all(_explained(column, [given for _, given in reached]) for column in zip(*numbers))


def _disagreeing(text: str) -> tuple[int, ...]:
    """The numbers that an error speaks of: of two whole shapes that don't broadcast, the sizes of the axis it names."""
    axis = _BROADCAST.search(text)
    if axis is not None:
        return int(axis[1]), int(axis[3].split(",")[int(axis[2])])
    return tuple(int(number) for number in re.findall(r"\d+", text))


def _explained(found: tuple[int, ...], sizes: list[dict[str, int]]) -> bool:
    return len(set(found)) == 1 or any(
        all(given[name] == number for given, number in zip(sizes, found)) for name in sizes[0]
    )
