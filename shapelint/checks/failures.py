"""Failed operations: SL101 to SL112 and SL199."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from shapelint.checks.classify import rule_of
from shapelint.checks.meant import meant_size
from shapelint.checks.trail import trail
from shapelint.checks.view import View, sized, values_of
from shapelint.checks.words import Words, explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.findings import Finding, Location
    from shapelint.records import CaseReport, OpRecord


# Where a number that stands for a named dimension may be what is wrong.
_MEANT = frozenset(
    (
        "broadcast-shapes",
        "cat-shapes",
        "reshape-numel",
        "module-argument",
        "matmul-dims",
        "index-range",
        "channel-count",
    )
)


_NAMED = 4
"""So many other modules are named at most."""


def failed_ops(view: View, case: CaseReport) -> Iterator[Finding]:
    """A finding for each place at which ops raised: an error if they did in every regular run, else a warning.

    A loop over layers is one place: its first failure speaks, and names the other modules.
    """
    found: dict[tuple[str, Location], list[tuple[Finding, str]]] = {}
    for op in case.ops:
        # An extra probe only asks whether a neighbouring size works: its own failure says nothing.
        if any(failure.run < case.probes for failure in op.failures) and not _counts_up(case, op):
            finding = _finding(view, case, op)
            path = view.report.modules[op.module].path if op.module >= 0 else ""
            found.setdefault((finding.rule, finding.location), []).append((finding, path))
    for alike in found.values():
        yield _counted(alike)


_POSITION = re.compile(r"index out of range in self: (\d+)|index (\d+) is out of bounds")


def _counts_up(case: CaseReport, op: OpRecord) -> bool:
    """Whether the positions of a named dimension run past the end of a table, as those of a long text do.

    That is the limit of the name, which ``dims`` may state; a number in the code points to the same place for every
    size.
    """
    last: dict[int, int] = {}
    for failure in op.failures:
        found = _POSITION.search(failure.message)
        if found is None:
            return False
        last[failure.run] = int(found[1] or found[2])
    named = any(at + 1 in dict(case.assignments[run]).values() for run, at in last.items())
    return named or len(set(last.values())) > 1


def _counted(alike: list[tuple[Finding, str]]) -> Finding:
    """The worst of the findings of one place, which names the modules that the others are in."""
    first, its_path = min(alike, key=lambda pair: pair[0].severity.rank)
    others = [path for path in dict.fromkeys(path for _, path in alike) if path not in ("", its_path)]
    if not others:
        return first
    shown = ", ".join(others) if len(others) <= _NAMED else f"{', '.join(others[: _NAMED - 1])} … {others[-1]}"
    note = f"the same in {len(others)} other module{'s' if len(others) > 1 else ''}: {shown}"
    return replace(first, notes=(*first.notes, note))


def _finding(view: View, case: CaseReport, op: OpRecord) -> Finding:
    first = next(failure for failure in op.failures if failure.run < case.probes)
    name = f"{op.target.rsplit('.', 1)[-1]}.{op.inner.rsplit('.', 1)[-1]}".rstrip(".")
    rule = rule_of(name, first.error, first.message)
    runs = tuple(failure.run for failure in op.failures)
    working = [run for run in op.runs if run not in runs and run < case.probes]
    if rule == "reshape-numel" and _swallows(case, op):
        rule = "batch-folded"
    single = rule in ("op-failed", "channel-count") and "more than 1 value per channel" in first.message
    if single:
        rule = "size-dependent"
    if rule == "broadcast-shapes" and _is_folded(case, op):
        rule = "batch-folded"
    words = explain(view, case, op, first, runs)
    notes = [f"fails for {sized(case, first.run)}", f"works for {sized(case, working[0])}"] if working else []
    # With a batch of 1 much broadcasts that isn't meant to.
    alone = all(1 in dict(case.assignments[run]).values() for run in working)
    meant = meant_size(view, case, op) if alone else None
    if working and meant is not None and not meant.hard_coded:
        meant = None
    turned = any(note.kind == "view-as-transpose" for note in op.notes)
    if turned:
        words = Words(
            words.message.replace(" Use .reshape(...) instead.", ""),
            "transpose or permute moves the axes; a reshape would mix the elements",
        )
    if meant is not None:
        notes = notes or [f"works for {meant.text}"]
        if meant.hard_coded and rule in _MEANT and not turned and not _axis_missing(view, case, op):
            rule = "hard-coded-size"
            notes = [f"fails for {sized(case, first.run)}"]
            words = Words(f"Works for {meant.text} only: {words.message}", words.help)
    short = op.target.rsplit(".", 1)[-1]
    return view.finding(
        rule,
        words.message,
        view.place(op.stack, short if op.opcode != "call_module" else ""),
        # Everybody knows it of a plain [1, C].
        note=single and len(case.values[values_of(op)[0]].shapes[first.run] or ()) == 2,  # noqa: PLR2004
        warning=bool(working) or (meant is not None and meant.many),
        related=view.related(case, op),
        notes=tuple(notes),
        fix=words.help,
        trail=trail(view, case, op, runs),
    )


def _axis_missing(view: View, case: CaseReport, op: OpRecord) -> bool:
    """Whether both operands come from the data and differ in rank: that a size makes them fit is a coincidence."""
    shapes = [view.sizes(case, value) for value in values_of(op)[:2]]
    names = [any(not size.lstrip("-").isdigit() for size in shape) for shape in shapes]
    return len(shapes) > 1 and all(names) and len(shapes[0]) != len(shapes[1])


def _swallows(case: CaseReport, op: OpRecord) -> bool:
    """Whether a reshape's -1 stands in front and the fixed sizes behind it don't make up whole samples."""
    if len(op.args) < 2 or not case.assignments[0]:  # noqa: PLR2004  # the tensor and at least one size
        return False
    sizes = [item.literal for _, a in op.args[1:] for item in (a.items or (a,))]
    if not sizes or sizes[0] != -1 or not all(isinstance(s, int) for s in sizes):
        return False
    values = values_of(op)
    shape = case.values[values[0]].shapes[op.failures[0].run] if values else None
    fixed = 1
    for size in sizes[1:]:
        fixed *= size
    if not shape or not fixed:
        return False
    sample = 1
    for size in shape[1:]:
        sample *= size
    return sample % fixed != 0


def _is_folded(case: CaseReport, op: OpRecord) -> bool:
    """Whether a vector holds several entries a sample and meets one with an entry a sample."""
    shapes = [case.values[value].shapes[op.failures[0].run] for value in values_of(op)[:2]]
    if len(shapes) < 2 or any(s is None or len(s) != 1 for s in shapes):  # noqa: PLR2004  # two operands
        return False
    (a,), (b,) = (s or (0,) for s in shapes)
    batch = {size for _, size in case.assignments[op.failures[0].run]}
    small, large = min(a, b), max(a, b)
    return small in batch and small > 1 and large % small == 0
