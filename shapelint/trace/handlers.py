"""Whether the user's code deals with what a call raises: then it is raised, and isn't a fault.

``try: y = x.view(...)`` with ``except RuntimeError: y = x`` is control flow, as ``if`` is. A handler that raises in its turn only says it
in other words: there, as without one, the failing call is recorded and the trace goes on.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from shapelint.trace import frames

if TYPE_CHECKING:
    from collections.abc import Iterator


def handled(stack: tuple[frames.Place, ...], error: BaseException) -> bool:
    """Whether one of these places stands in a ``try`` (or ``suppress``) that catches ``error`` and goes on."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    for place in reversed(stack):
        frame = frames.to_frame(place)
        around = [node for node in _guards(frame.path) if _inside(node, frame.line)]
        # The innermost one that catches it decides.
        for node in sorted(around, key=lambda one: one.lineno, reverse=True):
            if isinstance(node, ast.With):
                if any(_names(call.args) & kinds for call in _suppressing(node)):
                    return True
                continue
            for handler in node.handlers:
                if handler.type is None or _names([handler.type]) & kinds:
                    return not any(isinstance(inner, ast.Raise) for inner in ast.walk(handler))
    return False


@cache
def _guards(path: str) -> list[ast.Try | ast.With]:
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Try, ast.With))]
    return [node for node in nodes if isinstance(node, ast.Try) or any(_suppressing(node))]


def _suppressing(node: ast.With) -> Iterator[ast.Call]:
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and "suppress" in _names([call.func]):
            yield call


def _inside(node: ast.Try | ast.With, line: int) -> bool:
    last = node.body[-1]
    return node.body[0].lineno <= line <= (last.end_lineno or last.lineno)


def _names(nodes: list[ast.expr]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Tuple):
            found |= _names(node.elts)
    return found
