"""Runs that ended before ``forward`` did: the model's own checks, and what Python itself refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.checks import branches
from shapelint.checks.classify import rule_of
from shapelint.checks.view import View, sized
from shapelint.findings import Related
from shapelint.source.branches import rank_check_at, rank_checks_at
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.findings import Finding
    from shapelint.records import CaseReport, Ending
    from shapelint.source.branches import RankCheck
    from shapelint.source.calls import CallInfo


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
            # A fault of the tracer's own is told even where other sizes came to the end.
            if ending.kind == "internal" or not any(run < case.probes for run in whole):
                yield view.finding("trace-incomplete", _gave_up(ending), place)
            continue
        rule = _rule(view, ending, bool(whole))
        said = f"{ending.error}: {ending.message.rstrip('. ')}" if ending.message else ending.error
        own = _refused(view, ending, rule) or _python(view, case, ending)
        refused = own or Refusal(f"{said}.")
        notes = refused.notes
        if whole:
            notes = (*notes, f"fails for {sized(case, ending.run)}", f"works for {sized(case, whole[0])}")
        elif own is None and any(character.isdigit() for character in said):
            notes = (*notes, f"for {sized(case, ending.run)}")
        notes = (*notes, "nothing after this line was checked")
        related = (*refused.related, *view.callers(ending.stack))
        yield view.finding(rule, refused.message, place, related=related, notes=notes)


def _gave_up(ending: Ending) -> str:
    said = f"{ending.error}: {ending.message}"
    if ending.kind == "internal":
        return f"The trace ended here by a fault of the tracer's own, which we would like to hear of: {said}."
    return f"The trace ended here: {said}."


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


def _python(view: View, case: CaseReport, ending: Ending) -> Refusal | None:
    """What Python or einops refused, where it can be said in the source's own words."""
    frame = view.report.frames[ending.stack[-1]] if ending.stack else None
    info = SourceMap(view.sources).call_at(frame) if frame is not None else None
    if ending.error == "EinopsError":
        return _einops(case, ending, info.callee if info is not None and info.kind == "call" else "einops")
    said = _unpacked(ending.message, info) or _called(ending.message, info)
    return Refusal(said) if said else None


def _unpacked(message: str, info: CallInfo | None) -> str:
    few = re.search(r"not enough values to unpack \(expected (at least )?(\d+), got (\d+)\)", message)
    many = re.search(r"too many values to unpack \(expected (\d+)", message)
    receiver = info.receiver if info is not None else None
    value = f": {receiver.text}" if receiver is not None and info is not None and info.kind == "unpack" else ""
    if few:
        return f"{few[1] or ''}{few[2]} names are unpacked from {few[3]} values{value}.".capitalize()
    if many:
        return f"{many[1]} names are unpacked from more values than that{value}."
    attribute = re.fullmatch(r"'(tuple|list|dict)' object has no attribute '(\w+)'", message)
    if attribute:
        owner = receiver.text if receiver is not None else "The value"
        return f"{owner} is a {attribute[1]}, which has no {attribute[2]}: take the tensor meant out of it."
    return ""


def _called(message: str, info: CallInfo | None) -> str:
    if info is None or info.kind != "call":
        return ""
    first = info.args[0].text if info.args else ""
    element = re.match(r"expected Tensor as element (\d+) in argument \d+, but got (\w+)", message)
    if element:
        return f"{info.callee} joins tensors, and element {element[1]} is a {element[2]}: {first}."
    if re.match(r"\w+\(\): argument '\w+' \(position 1\) must be tuple of Tensors, not Tensor", message):
        return f"{info.callee} takes a list of tensors and gets one: {first}."
    if message == "'NoneType' object is not callable":
        return f"{info.callee} is None here, and is called."
    return ""


def _einops(case: CaseReport, ending: Ending, called: str) -> Refusal:
    """What einops says, in one sentence: its own words are many lines, the last of which tells."""
    names = {size: name for name, size in case.assignments[ending.run] if size > 1}
    pattern = re.search(r'pattern "([^"]*)"', ending.message)
    reason = ending.message.strip().splitlines()[-1].strip().rstrip(".").replace(". ", ", ")
    shape = re.search(r"Input tensor shape: torch\.Size\(\[([^\]]*)\]\)", ending.message)
    sizes = [str(names.get(int(size), size)) for size in re.findall(r"\d+", shape[1])] if shape else []
    given = f": the input is [{', '.join(sizes)}]" if sizes else ""
    meant = f' "{pattern[1]}"' if pattern else ""
    return Refusal(f"{called}{meant}: {reason[:1].lower()}{reason[1:]}{given}.")


def _passes(check: RankCheck, rank: int) -> bool:
    return rank in check.ranks or (check.more and rank > max(check.ranks, default=0))


# What jaxtyping's run-time checking raises, where a project has it on.
_TYPE_CHECKERS = ("TypeCheckError", "BeartypeCallHintParamViolation", "BeartypeCallHintReturnViolation")


def _rule(view: View, ending: Ending, works: bool) -> str:  # noqa: FBT001
    if ending.kind == "call":
        return "inputs-mismatch"
    if ending.error in _TYPE_CHECKERS:
        return "annotation-mismatch"
    if ending.error == "EinopsError":
        return "tensor-rank" if "xpected" in ending.message and "dims" in ending.message else "reshape-numel"
    if ending.kind == "raise":
        frame = view.report.frames[ending.stack[-1]] if ending.stack else None
        if frame is not None and rank_check_at(view.sources, frame.path, frame.line) is not None:
            return "unsupported-rank"
        return "size-dependent" if works else "rejected-input"
    return rule_of("", ending.error, ending.message)
