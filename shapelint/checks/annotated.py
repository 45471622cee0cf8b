"""SL406: annotations of shapes that the traced tensors contradict."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shapelint.checks.view import View, sized, values_of
from shapelint.findings import Related
from shapelint.records import size
from shapelint.source import shapespec, tree
from shapelint.source.names import Project
from shapelint.source.positions import location_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.findings import Finding, Location
    from shapelint.records import Argument, Bound, CallRecord, CaseReport
    from shapelint.source.shapespec import Dim, ShapeSpec, Spec


@dataclass(slots=True)
class _Names:
    """What the names of one call stand for in a run: sizes, where each was settled, how it is shown, on which line."""

    sizes: dict[str, int | tuple[int, ...]] = field(default_factory=dict)
    said_by: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)


def contradicted(view: View, case: CaseReport) -> Iterator[Finding]:
    """A finding for each annotated value whose traced shape or dtype isn't what the annotation asks for."""
    if not case.calls:
        return
    project, tainted = Project(view.sources, view.target.src), _tainted(case)
    for call in case.calls:
        node = _function(view, call)
        if node is None:
            continue
        names = [_Names() for _ in case.assignments]
        for bound in call.bound:
            written = _written(node, bound)
            spec = shapespec.read(written, project, call.path)
            if written is not None and spec.asks:
                yield from _checked(_At(view, case, call, bound, node, written), spec, names, tainted)


@dataclass(frozen=True, slots=True)
class _At:
    """An annotated value of a call, and where its annotation is written."""

    view: View
    case: CaseReport
    call: CallRecord
    bound: Bound
    node: tree.FunctionNode
    written: ast.expr

    @property
    def subject(self) -> str:
        """What the value is called: ``x``, or the result of a function."""
        return f"the result of {self.node.name}" if self.bound.name == "return" else self.bound.name


def _checked(at: _At, spec: Spec, names: list[_Names], tainted: set[int]) -> Iterator[Finding]:
    for suffix, asked, value in _leaves(spec, at.bound.value):
        if value in tainted:
            continue
        record = at.case.values[value]
        subject = at.subject + suffix
        shown = at.view.sizes(at.case, value)
        wrong: dict[int, str] = {}
        for run, shape in enumerate(record.shapes):
            if shape is None or run >= at.case.probes:
                continue
            value_seen = _Seen(
                subject, at.bound.line, shape, shown if len(shown) == len(shape) else tuple(map(str, shape))
            )
            answers = [_differs(one, value_seen, record.dtype, names[run]) for one in asked]
            if all(answers):
                wrong[run] = answers[0]
        if wrong:
            yield _finding(at, asked, value, subject, wrong)


def _finding(at: _At, asked: tuple[ShapeSpec, ...], value: int, subject: str, wrong: dict[int, str]) -> Finding:
    view, case = at.view, at.case
    first = next(iter(wrong))
    runs = [r for r, shape in enumerate(case.values[value].shapes) if shape is not None and r < case.probes]
    fine = [run for run in runs if run not in wrong]
    text = " or ".join(one.text for one in asked).replace("'", '"')
    shape = view.shape(case, value)
    message = f"{subject} is annotated {text} and is {case.values[value].dtype}{shape}: {wrong[first]}."
    notes = (f"fails for {sized(case, first)}", f"works for {sized(case, fine[0])}") if fine else ()
    place, annotation = _places(at)
    related = (Related(annotation, "annotated here"),) if place.region.line != annotation.region.line else ()
    called = view.callers((*at.call.caller, -1)) if at.call.caller else ()
    return view.finding(
        "annotation-mismatch", message, place, warning=bool(fine), related=(*related, *called), notes=notes
    )


def _places(at: _At) -> tuple[Location, Location]:
    """Where the value is at fault (what is returned, not what was promised), and where its annotation stands."""
    source = at.view.sources.load(at.call.path)
    annotation = location_of(source, at.written)
    if not at.bound.line:
        return annotation, annotation
    around = tree.path_to(source.tree, at.bound.line) if source.tree else ()
    statement = around[-1] if around else None
    if isinstance(statement, ast.Return) and statement.value is not None:
        return location_of(source, statement.value), annotation
    if isinstance(statement, ast.AnnAssign):
        return location_of(source, statement.value or statement), annotation
    return annotation, annotation


def _function(view: View, call: CallRecord) -> tree.FunctionNode | None:
    source = view.sources.load(call.path)
    nodes = [n for n in ast.walk(source.tree) if isinstance(n, ast.FunctionDef)] if source.tree else []
    return next((node for node in nodes if tree.first_line(node) == call.line), None)


def _written(node: tree.FunctionNode, bound: Bound) -> ast.expr | None:
    """The annotation of a bound name."""
    if bound.name == "return":
        return node.returns
    if not bound.line:
        taken = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return next((a.annotation for a in taken if a.arg == bound.name), None)
    inside = [n for n in ast.walk(node) if isinstance(n, ast.AnnAssign) and n.lineno == bound.line]
    return next((n.annotation for n in inside if isinstance(n.target, ast.Name) and n.target.id == bound.name), None)


def _leaves(spec: Spec, value: Argument) -> Iterator[tuple[str, tuple[ShapeSpec, ...], int]]:
    """The tensors of a value that a spec asks something of: where in the value, what is asked, and its index."""
    if value.kind == "value" and spec.tensors and value.value >= 0:
        yield "", spec.tensors, value.value
    elif value.kind == "list" and spec.items:
        asked = spec.items * len(value.items) if spec.repeats else spec.items
        if len(asked) == len(value.items):
            for index, (one, item) in enumerate(zip(asked, value.items)):
                for suffix, tensors, found in _leaves(one, item):
                    yield f"[{index}]{suffix}", tensors, found


def _tainted(case: CaseReport) -> set[int]:
    """Values that follow from an operation that failed: their shapes are what the code meant."""
    found: set[int] = set()
    for op in case.ops:
        if op.failures or not found.isdisjoint(values_of(op)):
            found.update(op.outputs)
    return found


# ------------------------------------------------------------------------------------------------- one tensor


@dataclass(frozen=True, slots=True)
class _Seen:
    """A tensor of one run: what it is called, the line it was annotated at, its shape, and the shape in names."""

    subject: str
    line: int
    shape: tuple[int, ...]
    shown: tuple[str, ...]

    def axis(self, index: int) -> str:
        return f"axis {index} of {self.subject}"


def _differs(spec: ShapeSpec, seen: _Seen, dtype: str, names: _Names) -> str:
    """What is wrong with a tensor, empty where nothing is; the names it settles are kept in ``names``."""
    if spec.dtypes is not None and dtype not in spec.dtypes:
        return f"{spec.text.partition('[')[0]} doesn't take {dtype}"
    rank = len(seen.shape)
    many = [index for index, dim in enumerate(spec.dims) if dim.many]
    fixed = len(spec.dims) - len(many)
    if len(many) > 1:
        return ""  # jaxtyping itself refuses this
    if rank < fixed or (rank > fixed and not many):
        return f"{fixed}{' or more' if many else ''} axes are annotated, {rank} are there"
    ahead = many[0] if many else fixed
    behind = fixed - ahead
    pairs = [
        *zip(spec.dims[:ahead], range(ahead)),
        *zip(spec.dims[len(spec.dims) - behind :], range(rank - behind, rank)),
    ]
    said = next((text for dim, axis in pairs if (text := _one(dim, seen, axis, names))), "")
    if not said and many:
        said = _several(spec.dims[ahead], seen, slice(ahead, rank - behind), names)
    return said


def _one(dim: Dim, seen: _Seen, axis: int, names: _Names) -> str:
    got = seen.shape[axis]
    if dim.kind == "any" or (dim.broadcast and got == 1):
        return ""
    if dim.kind == "size":
        return "" if got == dim.size else f"{dim.size} is annotated at axis {axis}, and {seen.shown[axis]} is there"
    if dim.kind == "sum":
        wanted = _sum(dim, names)
        return "" if wanted in (None, got) else f"{dim.text} is {wanted}, and {seen.shown[axis]} is at axis {axis}"
    return _settled(dim.text, got, (seen.axis(axis), seen.shown[axis], seen.line), names)


def _settled(name: str, got: int | tuple[int, ...], here: tuple[str, str, int], names: _Names) -> str:
    """What is wrong with a name that stands for ``got`` here, empty where it isn't known or stands for the same."""
    where, shown, line = here
    known = names.sizes.setdefault(name, got)
    by, before, line_before = names.said_by.setdefault(name, here)
    if known == got or name in names.doubtful:
        return ""
    if line and line == line_before:
        # The same line once more, in a loop: what it calls h is another h in each turn.
        names.sizes[name], names.said_by[name] = got, here
        return ""
    names.doubtful.add(name)
    return f"{name} is {before} ({by}) and {shown} ({where})"


def _sum(dim: Dim, names: _Names) -> int | None:
    """The size that arithmetic on names asks for, None where a name isn't known."""
    sizes = {name: known for name, known in names.sizes.items() if isinstance(known, int)}
    try:
        used = {n.id for n in ast.walk(ast.parse(dim.text, mode="eval")) if isinstance(n, ast.Name)}
        return size(dim.text, sizes) if used <= sizes.keys() - names.doubtful else None
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _several(dim: Dim, seen: _Seen, axes: slice, names: _Names) -> str:
    if dim.kind != "name":
        return ""
    got, name = seen.shape[axes], f"*{dim.text}"
    known = names.sizes.get(name)
    if dim.broadcast and isinstance(known, tuple) and _broadcasts(known, got):
        return ""
    return _settled(name, got, (seen.subject, f"[{', '.join(seen.shown[axes])}]", seen.line), names)


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(a[::-1], b[::-1]))
