"""A view or reshape that means a transpose: its result's sizes are the input's in another order, the elements stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapelint.trace.axes.layout import Sizes, shape, times

if TYPE_CHECKING:
    from shapelint.records import CaseReport
    from shapelint.trace.axes.calls import Call, Shape
    from shapelint.trace.axes.follow import Followed

RESHAPES = frozenset(("view", "reshape", "view_as", "reshape_as"))
_SKEWS = frozenset(("cat", "concat", "pad", "ConstantPad1d", "ZeroPad2d", "constant_pad_nd"))
_PASSES = frozenset(("__getitem__", "getitem", "view", "reshape", "contiguous", "narrow", "view_as", "reshape_as"))
_BACK = 5


def swapped(call: Call, case: CaseReport, state: Followed) -> bool:
    """Whether this reshape of data puts axes where only a transpose could bring them.

    The skew of relative attention (Dai et al. 2019, Transformer-XL, appendix B) pads a score matrix by one and views it the
    other way round on purpose: what comes from a pad is passed over.
    """
    wanted = call.results[0] if call.results else None
    if call.short not in RESHAPES or call.first is None or wanted is None:
        return False
    if not call.tensors or call.tensors[0] not in state.data:
        return False
    one = (1,) * len(state.runs)
    old = [sizes for sizes in shape(call.first) if sizes != one]
    new = [sizes for sizes in wanted if sizes != one]
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    exchanged = _exchanged(tuple(old), tuple(new)) and not _in_order(tuple(old), tuple(new))
    return exchanged and not _skewed(call, case)


def _exchanged(old: Shape, new: Shape) -> bool:
    """Whether ``new`` is ``old`` with two neighbouring groups of axes exchanged, one of them a single axis.

    A group may be given as its product, as in ``[C, H, W]`` to ``[H*W, C]`` or ``[T, E]`` to ``[H, T, E//H]``.
    """
    if min(len(old), len(new)) < 2:  # noqa: PLR2004  # one axis can't change places
        return False
    if sorted(old) == sorted(new):
        return True
    return _moved(old, new) or _moved(new, old) or _inside(old, new) or _inside(new, old)


def _in_order(old: Shape, new: Shape) -> bool:
    """Whether whole axes are split or joined from left to right, as any reshape may."""
    one = (1,) * len(old[0])
    a, b = list(old), list(new)
    while a and b:
        have, need = a.pop(0), b.pop(0)
        joined = split = False
        while have != need:
            if all(h <= n for h, n in zip(have, need)) and a:
                have, joined = times(have, a.pop(0)), True
            elif b:
                need, split = times(need, b.pop(0)), True
            else:
                return False
        if joined and split:
            return False
    return all(sizes == one for sizes in (*a, *b))


def _product(group: Shape, like: Sizes) -> Sizes:
    total = (1,) * len(like)
    for sizes in group:
        total = times(total, sizes)
    return total


def _moved(old: Shape, new: Shape) -> bool:
    """``[C, H, W]`` to ``[H*W, C]``, or ``[H, W, C]`` to ``[C, H*W]``: one axis from one end to the other, the rest joined."""
    if len(new) != 2 or len(old) < 3:  # noqa: PLR2004  # a pair, and what is joined into it
        return False
    first, last = new
    forward = old[0] == last and _product(old[1:], last) == first
    backward = old[-1] == first and _product(old[:-1], first) == last
    return (forward or backward) and first != last


def _inside(old: Shape, new: Shape) -> bool:
    """``[T, E]`` to ``[H, T, E//H]``: the heads stand in front of the axis they should stand behind."""
    if len(old) != 2 or len(new) != 3:  # noqa: PLR2004  # a pair, and the pair with the second axis split round the first
        return False
    heads, middle, features = new
    return old[0] == middle and times(heads, features) == old[1] and heads != middle


def without_skews(numbers: set[int], case: CaseReport) -> set[int]:
    """The reshapes among ``numbers`` that aren't half of a skew: viewed the other way round, cut, and viewed back."""
    halves: set[int] = set()
    for number in numbers:
        for later in range(number + 1, min(number + 1 + _BACK, len(case.ops))):
            cut = case.ops[later]
            if cut.target.rsplit(".", 1)[-1] not in ("__getitem__", "getitem", "narrow") or not _takes(
                case, later, number
            ):
                continue
            back = {n for n in numbers if n > later and _takes(case, n, later)}
            halves |= back | {number} if back else set()
    return numbers - halves


def _takes(case: CaseReport, later: int, earlier: int) -> bool:
    """Whether the first argument of one op is a result of the other."""
    args = case.ops[later].args
    return bool(args) and args[0][1].kind == "value" and args[0][1].value in case.ops[earlier].outputs


def _skewed(call: Call, case: CaseReport) -> bool:
    """Whether the tensor comes from a pad or a cat through nothing but views and slices."""
    value = call.tensors[0]
    for _ in range(_BACK):
        producer = case.values[value].producer
        if producer < 0:
            return False
        op = case.ops[producer]
        short = op.target.rsplit(".", 1)[-1]
        if short in _SKEWS:
            return True
        if short not in _PASSES or not op.args or op.args[0][1].kind != "value":
            return False
        value = op.args[0][1].value
    return False
