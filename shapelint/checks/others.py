"""What isn't a failed operation: targets without a trace, runs that ended, warnings, silent faults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks import branches
from shapelint.checks.classify import rule_of
from shapelint.checks.view import View, sized, values_of
from shapelint.findings import Location, Region, Related
from shapelint.records import size
from shapelint.source.branches import rank_check_at, rank_checks_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.findings import Finding
    from shapelint.records import CaseReport, Ending, TensorSpec
    from shapelint.source.branches import RankCheck

_FAILED = {
    "import": ("import-failed", "{target} can't be imported: {error}: {message}."),
    "attribute": ("import-failed", "{target} isn't there: {message}."),
    "not-a-model": ("construction-failed", "{target} is no model: {message}."),
    "construction": ("construction-failed", "{target} can't be built: {error}: {message}."),
    "inputs": ("inputs-mismatch", "The inputs don't fit {target}: {message}."),
    "no-torch": ("trace-crashed", "{message}"),
    "crash": ("trace-crashed", "{message}"),
}


def target_failed(view: View) -> Iterator[Finding]:
    """SL001 to SL004: why a target has no trace; a constructor's own check is `rejected-input`."""
    failure = view.report.failure
    if failure is None:
        return
    rule, text = _FAILED.get(failure.kind, ("trace-crashed", "{target} could not be traced: {error}: {message}."))
    message = failure.message.split("\n")[0].rstrip(". ")
    if failure.kind == "construction" and failure.error == "AssertionError":
        rule = "rejected-input"
    if failure.kind == "construction" and "num_groups" in failure.message:
        rule = "channel-count"
    broken = re.search(r"\((.+):\d+\)$", message) if failure.error == "SyntaxError" else None
    error = view.sources.load(broken[1]).error if broken else None
    if broken and error is not None:
        place = Location(broken[1], Region(error.line, error.column, error.line, error.column + 1))
        yield view.finding("syntax-error", error.message, place)
        return
    said = text.format(target=view.target.target, error=failure.error, message=message)
    yield view.finding(rule, said, view.place(failure.stack), related=view.callers(failure.stack))


def ended(view: View, case: CaseReport) -> Iterator[Finding]:
    """Runs that ended before ``forward`` did."""
    stopped = {ending.run for ending in case.endings}
    whole = [run for run in range(len(case.assignments)) if run not in stopped]
    seen: set[tuple[int, ...]] = set()
    for ending in case.endings:
        if ending.run >= case.probes or ending.stack in seen:
            continue
        seen.add(ending.stack)
        place = view.place(ending.stack)
        if ending.invented or ending.kind in ("data", "internal"):
            if not any(run < case.probes for run in whole):
                yield view.finding(
                    "trace-incomplete", f"The trace ended here: {ending.error}: {ending.message}.", place
                )
            continue
        rule = _rule(view, ending, bool(whole))
        said = f"{ending.error}: {ending.message.rstrip('. ')}" if ending.message else ending.error
        own = _refused(view, ending, rule)
        refused = own or Refusal(f"{said}.")
        notes = refused.notes
        if whole:
            notes = (*notes, f"fails for {sized(case, ending.run)}", f"works for {sized(case, whole[0])}")
        elif own is None and any(character.isdigit() for character in said):
            notes = (*notes, f"for {sized(case, ending.run)}")
        notes = (*notes, "nothing after this line was checked")
        related = (*refused.related, *view.callers(ending.stack))
        yield view.finding(rule, refused.message, place, related=related, notes=notes)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is said of a check of the code's own that refuses an input."""

    message: str
    notes: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()


def _refused(view: View, ending: Ending, rule: str) -> Refusal | None:
    """The ranks that the code takes where it gave up, and the branches that take them; None for any other check."""
    if rule not in ("unsupported-rank", "unpack-count") or not ending.stack:
        return None
    frame = view.report.frames[ending.stack[-1]]
    checks = rank_checks_at(view.sources, frame.path, frame.line)
    if not checks:
        return None
    told = branches.ranks_told(view, frame.path, frame.line)
    # The check that the rank seen doesn't pass is the one that refused.
    refusing = [c for c in checks if any(not _passes(c, rank) for rank in told.get(c.variable, ()))] or list(checks)
    check = refusing[0]
    seen = sorted(rank for rank in told.get(check.variable, ()) if not _passes(check, rank))
    accepted = branches.spoken(check.ranks, check.more)
    if rule == "unpack-count":
        names = f"at least {accepted.split()[0]}" if check.more else accepted
        has = f"{check.variable} has rank {seen[-1]}" if seen else f"{check.variable} has another rank"
        return Refusal(f"The shape of {check.variable} is unpacked into {names} names, and {has}.")
    has = f"{check.variable} has rank {seen[-1]}, and the code" if seen else "The code"
    said = f"{ending.error}: {ending.message.rstrip('. ')}" if ending.message else ending.error
    related = tuple(
        Related(branch.location, f"rank {branches.spoken(branch.ranks, branch.more)} is taken here")
        for branch in check.branches
    )
    return Refusal(f"{has} takes {check.variable if not seen else 'it'} with rank {accepted} only.", (said,), related)


def _passes(check: RankCheck, rank: int) -> bool:
    return rank in check.ranks or (check.more and rank > max(check.ranks, default=0))


# What jaxtyping's run-time checking raises, where a project has it on.
_TYPE_CHECKERS = ("TypeCheckError", "BeartypeCallHintParamViolation", "BeartypeCallHintReturnViolation")


def _rule(view: View, ending: Ending, works: bool) -> str:  # noqa: FBT001
    if ending.kind == "call":
        return "inputs-mismatch"
    if ending.error in _TYPE_CHECKERS:
        return "annotation-mismatch"
    if ending.kind == "raise":
        frame = view.report.frames[ending.stack[-1]] if ending.stack else None
        if frame is not None and rank_check_at(view.sources, frame.path, frame.line) is not None:
            return "unsupported-rank"
        return "size-dependent" if works else "rejected-input"
    return rule_of("", ending.error, ending.message)


def warned(view: View, case: CaseReport) -> Iterator[Finding]:
    """SL302, and SL403 for a loss that warns of its target's size."""
    for warning in case.warnings:
        if warning.runs and warning.runs[0] >= case.probes:
            continue
        rule = "outer-broadcast" if "target size" in warning.message.lower() else "emitted-warning"
        yield view.finding(rule, f"{warning.category}: {_first_line(warning.message)}", view.place(warning.stack))


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "(no message)")


# In place, a vector and a column don't broadcast: torch refuses.
_PAIRWISE = frozenset(
    (
        *("add", "sub", "mul", "div", "rsub", "pow", "true_divide", "__rsub__", "__rtruediv__", "__rpow__"),
        *("gt", "lt", "ge", "le", "eq", "ne", "maximum", "minimum"),
    )
)


def silent(view: View, case: CaseReport) -> Iterator[Finding]:
    """Shapes that run and are wrong: SL403, SL111; and what could not be computed, SL301."""
    for op in case.ops:
        short = op.target.rsplit(".", 1)[-1]
        for note in op.notes:
            if note.kind == "device":
                message = (
                    f"{view.layer(op)} mixes a tensor that stays on the {note.text or 'cpu'} with data that moves: "
                    "it fails on every GPU."
                )
                yield view.finding(
                    "device-mismatch", message, view.place(op.stack, short), related=view.related(case, op)
                )
            elif note.kind == "unknown":
                yield view.finding(
                    "unknown-shape",
                    f"The shape of {view.layer(op)} could not be computed.",
                    view.place(op.stack, short),
                )
        if short in _PAIRWISE and op.outputs and not op.failures:
            values = values_of(op)
            shapes = sorted(view.shape(case, value) for value in values[:2])
            names = {name for name, _ in case.assignments[0]} & set(view.target.batch)
            for name in names:
                if shapes == [f"[{name}, 1]", f"[{name}]"]:
                    yield view.finding(
                        "outer-broadcast",
                        f"{short} of [{name}] with [{name}, 1] gives [{name}, {name}]: every sample meets every other.",
                        view.place(op.stack, short),
                    )


def outputs_differ(view: View, case: CaseReport, outputs: tuple[TensorSpec, ...] | None) -> Iterator[Finding]:
    """SL405: another number of tensors than declared, or another dtype."""
    stopped = any(ending.run < case.probes for ending in case.endings)
    if outputs is None or stopped or view.report.failure is not None:
        return
    if len(outputs) != len(case.outputs):
        yield view.finding(
            "output-mismatch",
            f"{view.target.target} returns {len(case.outputs)} tensors, declared are {len(outputs)}.",
            view.definition(),
        )
        return
    for spec, (path, value) in zip(outputs, case.outputs):
        record = case.values[value]
        if record.dtype != spec.dtype or not all(
            _fits(spec, shape, dict(case.assignments[run]))
            for run, shape in enumerate(record.shapes[: case.probes])
            if shape is not None
        ):
            yield view.finding(
                "output-mismatch",
                f"Output {path or '0'} is {record.dtype}{view.shape(case, value)}, declared is "
                f"{spec.dtype}[{', '.join(map(str, spec.dims))}].",
                view.definition(),
            )


def _fits(spec: TensorSpec, shape: tuple[int, ...], sizes: dict[str, int]) -> bool:
    """Whether a shape is the declared one under these sizes; ``?`` is any size, and so is a name without one."""
    if len(shape) != len(spec.dims):
        return False
    for dim, got in zip(spec.dims, shape):
        if dim == "?":
            continue
        try:
            if size(dim, sizes) != got:
                return False
        except KeyError:
            continue
    return True
