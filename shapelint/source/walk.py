"""The statements of a function followed for one rank of one variable."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from shapelint.source import ranks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shapelint.source.ranks import Value

_STATES = 64  # of a function with more paths than this only the first are followed


@dataclass(frozen=True, slots=True)
class Block:
    """A block whose condition speaks of the rank, and what stands for it: condition, case, or first statement."""

    body: tuple[ast.stmt, ...]
    shown: ast.expr | ast.stmt


@dataclass(frozen=True, slots=True)
class _State:
    """What is known on one path. ``sure`` is False once a condition on the rank could not be decided.

    ``near`` says that the last condition met was on the rank: a ``raise`` behind another one has another reason.
    """

    known: Mapping[str, Value]
    sure: bool = True
    near: bool = False


_States: TypeAlias = "list[_State]"


@dataclass(slots=True)
class Walk:
    """One walk. ``reached`` tells whether ``target`` was: True surely, None perhaps; ``blocks`` were entered."""

    variable: str
    rank: int
    target: ast.stmt | None
    reached: bool | None = False
    blocks: set[Block] = field(default_factory=set)

    def run(self, body: Iterable[ast.stmt]) -> Walk:
        """Follows the statements from the start; returns itself."""
        self._follow(body, [_State({ranks.key(self.variable): self.rank})])
        return self

    def _follow(self, body: Iterable[ast.stmt], states: _States) -> _States:
        for statement in body:
            states = _distinct(self._step(statement, states))
            if not states:
                break
        return states

    def _step(self, statement: ast.stmt, states: _States) -> _States:  # noqa: C901, PLR0911, PLR0912  # one answer a kind
        if statement is self.target and not isinstance(statement, ast.Assert):
            self._reach(states)
            return []
        match statement:
            case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
                return []
            case ast.Assert(test=test):
                held, failed = self._split(test, states)
                if statement is self.target:
                    # A condition that says nothing of the rank may fail, and proves nothing.
                    self._reach([s for s in failed if self._speaks(test, s)])
                return held
            case ast.If(test=test, body=body, orelse=orelse):
                return self._branch(test, body, orelse, states)
            case ast.Match(subject=subject, cases=cases):
                return self._match(subject, cases, states)
            case ast.For(body=body, orelse=orelse) | ast.AsyncFor(body=body, orelse=orelse):
                return [*self._follow(orelse, states), *self._follow(body, self._forget(body, states))]
            case ast.While(body=body, orelse=orelse):
                return [*self._follow(orelse, states), *self._follow(body, self._forget(body, states))]
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return self._follow(body, states)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                done = self._follow([*body, *orelse], states)
                caught = [s for h in handlers for s in self._follow(h.body, self._forget(body, states))]
                return self._follow(final, [*done, *caught])
            case ast.Assign(targets=targets, value=value):
                return [self._assigned(targets, value, s) for s in states]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return [self._assigned([target], value, s) for s in states]
            case _:
                return self._forget([statement], states)

    def _branch(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], states: _States) -> _States:
        yes, no = self._split(test, states)
        if any(self._speaks(test, s) for s in states):
            if yes:
                self.blocks.add(Block(tuple(body), test))
            # An elif is a branch of its own, and is seen there.
            if no and orelse and not (len(orelse) == 1 and isinstance(orelse[0], ast.If)):
                self.blocks.add(Block(tuple(orelse), orelse[0]))
            return [*self._follow(body, yes), *self._follow(orelse, no)]
        near = any(s.near for s in states)
        after, other = self._follow(body, yes), self._follow(orelse, no)
        # Where one side gives up, what follows depends on this condition; else it is as if it had not been there.
        return [replace(s, near=near and bool(after) and bool(other)) for s in (*after, *other)]

    def _match(self, subject: ast.expr, cases: list[ast.match_case], states: _States) -> _States:
        speaks = any(self._speaks(subject, s) for s in states)
        after: _States = []
        for case in cases:
            taken: _States = []
            left: _States = []
            for state in states:
                answer = ranks.pattern_truth(case.pattern, subject, state.known)
                if answer is True and case.guard is not None:
                    answer = ranks.truth(case.guard, state.known)
                decided = replace(state, near=speaks)
                doubt = replace(decided, sure=state.sure and not speaks)
                if answer is not False:
                    taken.append(decided if answer else doubt)
                if answer is not True:
                    left.append(doubt if answer is None else decided)
            if taken and speaks:
                shown = case.pattern.value if isinstance(case.pattern, ast.MatchValue) else case.body[0]
                self.blocks.add(Block(tuple(case.body), shown))
            after += self._follow(case.body, taken)
            states = left
        return [*after, *states]

    def _split(self, test: ast.expr, states: _States) -> tuple[_States, _States]:
        yes: _States = []
        no: _States = []
        for state in states:
            answer = ranks.truth(test, state.known)
            speaks = self._speaks(test, state)
            decided = replace(state, near=speaks)
            if answer is None:
                either = replace(decided, sure=state.sure and not speaks)
                yes.append(either)
                no.append(either)
            else:
                (yes if answer else no).append(decided)
        return yes, no

    def _speaks(self, test: ast.expr, state: _State) -> bool:
        return ranks.mentions(test, state.known, self.variable)

    def _assigned(self, targets: list[ast.expr], value: ast.expr, state: _State) -> _State:
        known = dict(state.known)
        rank = ranks.rank_after(value, known)
        # A name keeps its key when its value gets unknown: what is asked of it later is a doubt about the rank.
        plain = ranks.value(value, known)
        about = ranks.mentions(value, known, self.variable)
        for target in targets:
            text = ast.unparse(target)
            _lose(known, target, self.variable)
            if text == self.variable:
                known[ranks.key(text)] = rank
            elif isinstance(target, ast.Name) and about and (plain is not None or _is_condition(value)):
                known[text] = plain
        return replace(state, known=known)

    def _forget(self, body: list[ast.stmt], states: _States) -> _States:
        """The states with nothing known of what the statements may assign."""
        stored = [n for s in body for n in ast.walk(s) if isinstance(getattr(n, "ctx", None), ast.Store)]
        after = []
        for state in states:
            known = dict(state.known)
            for node in stored:
                _lose(known, node, self.variable)
            after.append(replace(state, known=known))
        return after

    def _reach(self, states: _States) -> None:
        for state in states:
            if state.sure and state.near:
                self.reached = True
            elif self.reached is False:
                self.reached = None


def body_lines(body: Iterable[ast.stmt]) -> tuple[int, int]:
    """First and last line of a block."""
    block = list(body)
    return block[0].lineno, block[-1].end_lineno or block[-1].lineno


def _is_condition(node: ast.expr) -> bool:
    return isinstance(node, (ast.Compare, ast.BoolOp, ast.UnaryOp))


def _lose(known: dict[str, Any], target: ast.AST, variable: str) -> None:
    """Drops what an assignment to the target makes untrue."""
    for node in ast.walk(target):
        text = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
        if not isinstance(getattr(node, "ctx", None), ast.Store) or not text:
            continue
        known.pop(text, None)
        if text == variable or variable.startswith((f"{text}.", f"{text}[")):
            known[ranks.key(variable)] = None


def _distinct(states: _States) -> _States:
    found: _States = []
    for state in states:
        if state not in found:
            found.append(state)
    return found[:_STATES]
