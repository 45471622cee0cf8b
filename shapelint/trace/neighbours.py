"""Extra sizes to try where a model fails for all regular ones: it may work for another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapelint.records import Case, DimLimits, TraceTarget
from shapelint.trace import assign
from shapelint.trace.log import Op, Ref

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.trace.run import RunResult

_PICTURES = (64, 224, 256, 32)
"""Sizes that networks for pictures are made for: multiples of 32, as five halvings need."""
_OPS = 4
_EACH = 4
_MOST = 12


def sizes_to_try(
    target: TraceTarget, case: Case, regular: list[assign.Assignment], runs: list[RunResult]
) -> list[assign.Assignment]:
    """Assignments that differ from the first in one name, or in all axes of pictures; none where a regular one works.

    A number that stands in a failing operation in every run, as an argument or as a size, may be what a named dimension was
    meant to be: ``zeros(32, F)`` works for ``B = 32``. A name that isn't the batch also gets twice that number: where both
    work, it is no single size that the model is made for.
    """
    # With a batch of 1 much broadcasts that isn't meant to.
    telling = [run for sizes, run in zip(regular, runs) if 1 not in sizes.values()]
    if not regular[0] or not telling or not all(_fails(run) for run in telling):
        return []
    limits = dict(target.dims)
    names, pictures = assign.names(case)
    out: list[assign.Assignment] = []
    for name in names:
        batch = name in target.batch
        limit = limits.get(name, DimLimits())
        numbers = [n for n in _numbers(regular, runs, params=not batch) if _allowed(n, limit)]
        for number in numbers[: _EACH if batch else _EACH // 2]:
            out.append({**regular[0], name: number})
            if not batch and _allowed(2 * number, limit):
                out.append({**regular[0], name: 2 * number})
    bounds = [limits.get(name, DimLimits()) for name in pictures]
    squares = [size for size in _PICTURES if pictures and all(_allowed(size, limit) for limit in bounds)]
    out += [{**regular[0], **dict.fromkeys(pictures, size)} for size in squares]
    return [one for n, one in enumerate(out) if one not in regular and one not in out[:n]][:_MOST]


def _fails(run: RunResult) -> bool:
    return run.outcome.error is not None or any(op.error is not None for op in run.log.ops)


def _allowed(size: int, limit: DimLimits) -> bool:
    return (limit.min or 1) <= size <= (limit.max or size) and size % (limit.multiple_of or 1) == 0


def _numbers(regular: list[assign.Assignment], runs: list[RunResult], *, params: bool) -> list[int]:
    """The numbers in the first failing operations that are the same in every run whose sizes all differ."""
    common: dict[int, None] | None = None
    for sizes, run in zip(regular, runs):
        if 1 in sizes.values():
            continue
        failing = [op for op in run.log.ops if op.error is not None][:_OPS]
        found = dict.fromkeys(n for op in failing for n in _of(op, run, params))
        common = found if common is None else {n: None for n in common if n in found}
    return list(common or ())


def _of(op: Op, run: RunResult, params: bool) -> Iterator[int]:  # noqa: FBT001
    """The integers above 1 among an operation's arguments and the sizes of its tensors, parameters too if ``params``."""
    for tree in (*op.args, *op.kwargs.values()):
        yield from _in(tree, run, params)


def _in(tree: Any, run: RunResult, params: bool) -> Iterator[int]:  # noqa: FBT001
    if isinstance(tree, Ref):
        value = run.log.values[tree.value]
        if params or not value.source.startswith("param:"):
            yield from (size for size in value.shape or () if size > 1)
    elif type(tree) is int and tree > 1:
        yield tree
    elif isinstance(tree, (tuple, list)):
        for item in tree:
            yield from _in(item, run, params)
