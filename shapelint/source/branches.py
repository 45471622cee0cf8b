"""Which ranks the code accepts, read from its conditions on ``x.dim()`` and the like.

The statements of the function are followed for each rank from 0 on, with nothing known but that rank. A condition that
doesn't speak of the rank goes both ways and says nothing; one that does, and still can't be decided, makes what lies
behind it doubtful. A rank is rejected where the ``raise`` is reached without doubt.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.source import ranks, tree
from shapelint.source.positions import location_of
from shapelint.source.walk import Walk, body_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shapelint.findings import Location
    from shapelint.source.files import SourceCache, SourceFile


@dataclass(frozen=True, slots=True)
class RankBranch:
    """A block that runs for some ranks only. ``more`` says that every rank above the last is among them.

    ``location`` is its condition (for an ``else`` the first statement), ``lines`` the first and last line of the block,
    ``raises`` that it does nothing but refuse.
    """

    variable: str
    ranks: tuple[int, ...]
    more: bool
    location: Location
    lines: tuple[int, int]
    raises: bool = False


@dataclass(frozen=True, slots=True)
class RankCheck:
    """A check of the code on the rank of ``variable``: ``ranks`` pass, and all above the last where ``more``.

    ``branches`` are the blocks that take them, where there are such.
    """

    variable: str
    ranks: tuple[int, ...]
    more: bool
    branches: tuple[RankBranch, ...] = ()


def rank_check_at(sources: SourceCache, path: str, line: int) -> RankCheck | None:
    """The rank check that a ``raise``, ``assert`` or unpacking at a line is, or None: the first of `rank_checks_at`."""
    return next(iter(rank_checks_at(sources, path, line)), None)


def rank_checks_at(sources: SourceCache, path: str, line: int) -> tuple[RankCheck, ...]:
    """The rank checks at a line, one for each variable whose rank decides whether the code gives up there."""
    source = sources.load(path)
    around = tree.path_to(source.tree, line) if source.tree else ()
    if not around:
        return ()
    target = around[-1]
    if isinstance(target, ast.Assign):
        unpacked = _unpacked(target)
        return (unpacked,) if unpacked else ()
    if not isinstance(target, (ast.Raise, ast.Assert)):
        return ()
    function = next((s for s in reversed(around) if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    body = function.body if function else source.tree.body if source.tree else []
    checks = [_check(source, body, target, variable) for variable in ranks.variables(_nodes(body))]
    return tuple([check for check in checks if check])


def rank_branches(sources: SourceCache, path: str, function: str) -> tuple[RankBranch, ...]:
    """The blocks of a function (by qualified name, ``Net.forward``) that run for some ranks of a variable only."""
    source = sources.load(path)
    node = _named(source.tree, function) if source.tree else None
    if node is None:
        return ()
    return tuple([b for v in ranks.variables(_nodes(node.body)) for b in _branches(source, node.body, v)])


def _check(source: SourceFile, body: list[ast.stmt], target: ast.stmt, variable: str) -> RankCheck | None:
    tried = _tried(body)
    walks = [Walk(variable, rank, target).run(body) for rank in tried]
    rejected = [rank for rank, walk in zip(tried, walks) if walk.reached is True]
    if not rejected or len(rejected) == len(tried):
        return None
    accepted = [rank for rank in tried if rank not in rejected]
    passed, more = _shortened(accepted, tried[-1])
    branches = _branches(source, body, variable)
    own = [b for b in branches if not b.raises and b.lines[1] < target.lineno and set(b.ranks) & set(accepted)]
    return RankCheck(variable, passed, more, tuple(own))


def _branches(source: SourceFile, body: list[ast.stmt], variable: str) -> Iterator[RankBranch]:
    tried = _tried(body)
    walks = [Walk(variable, rank, None).run(body) for rank in tried]
    blocks = dict.fromkeys(block for walk in walks for block in walk.blocks)
    for block in sorted(blocks, key=lambda b: b.body[0].lineno):
        taken = [rank for rank, walk in zip(tried, walks) if block in walk.blocks]
        if len(taken) == len(tried):
            continue
        found, more = _shortened(taken, tried[-1])
        raises = isinstance(block.body[-1], ast.Raise)
        yield RankBranch(variable, found, more, location_of(source, block.shown), body_lines(block.body), raises)


def _shortened(found: list[int], last: int) -> tuple[tuple[int, ...], bool]:
    """The ranks, and whether all above the last count too: then the run up to there is its first rank alone."""
    if last not in found:
        return tuple(found), False
    start = last
    while start - 1 in found:
        start -= 1
    return tuple([rank for rank in found if rank <= start]), True


def _tried(body: list[ast.stmt]) -> tuple[int, ...]:
    """From 0 to past every number that the code might compare a rank with."""
    numbers = [n.value for n in _nodes(body) if isinstance(n, ast.Constant) and type(n.value) is int]
    numbers += [len(n.patterns) for n in _nodes(body) if isinstance(n, ast.MatchSequence)]
    return tuple(range(max([2, *(n for n in numbers if 0 <= n <= 10)]) + 3))  # noqa: PLR2004  # no rank is above 10


def _unpacked(statement: ast.Assign) -> RankCheck | None:
    variable = ranks.shaped(statement.value)
    target = statement.targets[0]
    if not variable or not isinstance(target, (ast.Tuple, ast.List)):
        return None
    starred = any(isinstance(item, ast.Starred) for item in target.elts)
    return RankCheck(variable, (len(target.elts) - starred,), starred)


def _nodes(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from ast.walk(statement)


def _named(module: ast.AST, function: str) -> tree.FunctionNode | None:
    node: ast.AST | None = module
    for name in function.replace("<locals>.", "").split("."):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        inside = tree.statements(node) if node is not None else ()
        node = next((s for s in inside if isinstance(s, kinds) and s.name == name), None)
    return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
