"""SL203: branches on rank that no case reaches."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from shapelint.source import ranks
from shapelint.source.branches import rank_branches
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.checks.view import View
    from shapelint.findings import Finding
    from shapelint.source.branches import RankBranch


def unexercised(view: View) -> Iterator[Finding]:
    """A note for each block that is for ranks that its variable had in no case; blocks that refuse are left out."""
    refused = {_where(view, ending.stack[-1]) for case in view.report.cases for ending in case.endings if ending.stack}
    for (path, function), told in _told(view).items():
        if (path, function) in refused:
            continue
        idle: list[RankBranch] = []
        for branch in rank_branches(view.sources, path, function):
            seen = told.get(branch.variable, set())
            if not seen or any(_takes(branch, rank) for rank in seen):
                continue
            # What is inside a block that is told of, or that refuses, is reached when that one is.
            if (
                not any(o.lines[0] <= branch.lines[0] and branch.lines[1] <= o.lines[1] for o in idle)
                and not branch.raises
            ):
                had = " and ".join(map(str, sorted(seen)))
                yield view.finding(
                    "unexercised-rank",
                    f"No case reaches this branch: it is for {branch.variable} of rank "
                    f"{spoken(branch.ranks, branch.more)}, and the cases give it rank {had}.",
                    branch.location,
                    fix="add a case with that rank to inputs",
                )
            idle.append(branch)


def spoken(numbers: tuple[int, ...], more: bool) -> str:  # noqa: FBT001
    """Ranks as a person says them: ``2, 3 or 5 and above``."""
    words = [str(rank) for rank in numbers]
    if more and words:
        words[-1] += " and above"
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "".join(words)


def _takes(branch: RankBranch, rank: int) -> bool:
    return rank in branch.ranks or (branch.more and rank > max(branch.ranks, default=0))


def ranks_told(view: View, path: str, line: int) -> dict[str, set[int]]:
    """The ranks that each variable of the function around a line was seen to have there."""
    return _told(view).get((path, SourceMap(view.sources).enclosing_function(path, line)), {})


def _told(view: View) -> dict[tuple[str, str], dict[str, set[int]]]:
    """For each function, what its variables' ranks were; a function with a question that can't be read is left out."""
    found: dict[tuple[str, str], dict[str, set[int]]] = {}
    unclear: set[tuple[str, str]] = set()
    source = SourceMap(view.sources)
    for seen in view.report.ranks:
        frame = view.report.frames[seen.frame]
        where = _where(view, seen.frame)
        variable = _variable(source.expression_text(source.locate(frame, seen.name)))
        if variable:
            found.setdefault(where, {}).setdefault(variable, set()).update(seen.ranks)
        elif frame.column < 0:
            unclear.add(where)
    return {where: told for where, told in found.items() if where not in unclear}


def _where(view: View, index: int) -> tuple[str, str]:
    frame = view.report.frames[index]
    return frame.path, SourceMap(view.sources).enclosing_function(frame.path, frame.line)


def _variable(text: str) -> str:
    """The text of ``x`` in ``x.dim()`` or ``x.shape[1]``."""
    try:
        node: ast.AST = ast.parse(text, mode="eval").body
    except SyntaxError:
        return ""
    if isinstance(node, ast.Subscript):
        node = node.value
    return ranks.ranked(node) or ranks.shaped(node)
