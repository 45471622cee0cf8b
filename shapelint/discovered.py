"""Models of a project that configures none: found in its source, with the inputs that can be told from there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shapelint.findings import Severity, Skipped
from shapelint.models import ModelConfig
from shapelint.records import Case
from shapelint.specs import SpecError, parse_input

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapelint.findings import Finding
    from shapelint.source.discovery import Discovered
    from shapelint.source.files import SourceCache

_STATED = ("comment",)
# These stand whatever the inputs are.
_CERTAIN = frozenset({"import-failed", "syntax-error"})


@dataclass(frozen=True, slots=True)
class Found:
    """The models that can be checked, and the classes that can't, each with its reason."""

    models: tuple[ModelConfig, ...]
    skipped: tuple[Skipped, ...]


def find_models(files: Sequence[str], src: Sequence[str], sources: SourceCache) -> Found:
    """The models whose classes stand in the files (absolute paths), in the order of files and lines."""
    from shapelint.source.discovery import discover  # noqa: PLC0415  # a configured project never needs it

    read = [_read(one) for one in discover(files, src, sources)]
    models = tuple([one for one in read if isinstance(one, ModelConfig)])
    return Found(models, tuple([one for one in read if isinstance(one, Skipped)]))


def tempered(finding: Finding, model: ModelConfig) -> Finding:
    """The finding as it may be told of the model: where the inputs are assumed it says so, and is no error."""
    if not model.assumed or finding.rule in _CERTAIN:
        return finding
    severity = Severity.WARNING if finding.severity is Severity.ERROR else finding.severity
    return replace(finding, severity=severity, notes=(*finding.notes, model.assumed))


def _read(one: Discovered) -> ModelConfig | Skipped:
    if one.reason:
        return Skipped(one.target, one.reason, one.hint, one.path, one.line)
    try:
        cases = tuple([Case(tuple([(name, parse_input(value)) for name, value in case])) for case in one.cases])
    except SpecError as error:
        return Skipped(one.target, str(error), "", one.path, one.line)
    stated = one.inferred in {(), _STATED}
    shown = "; ".join(", ".join(f"{name} = {_text(value)}" for name, value in case) for case in one.cases)
    return ModelConfig(
        target=one.target,
        cases=cases,
        args=one.args,
        kwargs=one.kwargs,
        line=one.line,
        assumed="" if stated else f"the inputs are inferred, from its {' and its '.join(one.inferred)}: {shown}",
    )


def _text(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
