"""The configuration of one project: defaults, then the file, then the command line."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shapelint.limits import NO_LIMITS, SHARED_KEYS, Limits, read_limits
from shapelint.models import ModelConfig, read_model
from shapelint.selection import SelectionError, expand, select_rules
from shapelint.table import ConfigError, Table, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapelint.rules import Rule

__all__ = ["Config", "ConfigError", "ModelConfig", "Overrides", "load", "override"]

PROJECT_KEYS = (
    "python",
    "src",
    "select",
    "extend-select",
    "ignore",
    "per-file-ignores",
    "exclude",
    "baseline",
    "models",
    *SHARED_KEYS,
)


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one project. ``root`` and ``src`` are absolute, ``path`` its file ("" where there is none).

    ``timeout`` is in seconds a model, ``memory`` in bytes a worker. ``cli_select`` and ``cli_ignore`` came on the
    command line: what they say of a rule outweighs what the file says as precisely.
    """

    root: str
    path: str = ""
    python: str | None = None
    src: tuple[str, ...] = ()
    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    cli_select: tuple[str, ...] = ()
    cli_ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] = ()
    limits: Limits = NO_LIMITS
    baseline: str = ""
    models: tuple[ModelConfig, ...] = ()

    def rules(self, known: Sequence[Rule]) -> tuple[Rule, ...]:
        """The rules that are on. Raises SelectionError for a word of the command line that names none."""
        return select_rules(known, self.select, self.ignore, self.cli_select, self.cli_ignore)


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says of every project; what is empty leaves the file's word."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    baseline: str = ""


def load(path: str, rules: Sequence[Rule]) -> Config | None:
    """The configuration in a pyproject.toml or shapelint.toml; None for a pyproject.toml without the table.

    ``rules`` are all there are. Raises ConfigError for what can't be read, unknown keys and rules, wrong types and
    tensors that are none.
    """
    table = read(path, ("tool", "shapelint") if os.path.basename(path) == "pyproject.toml" else ())
    return None if table is None else _project(table, os.path.dirname(path), rules)


def override(config: Config, given: Overrides) -> Config:
    """The configuration with the command line's word on top."""
    return replace(
        config,
        select=() if given.select else config.select,
        cli_select=(*given.select, *given.extend_select),
        cli_ignore=given.ignore,
        baseline=given.baseline or config.baseline,
    )


def _project(table: Table, root: str, rules: Sequence[Rule]) -> Config:
    table.expect(PROJECT_KEYS)
    default = Config(root)
    baseline = table.string("baseline")
    ignores = table.table("per-file-ignores")
    return Config(
        root=root,
        path=table.path,
        python=table.string("python"),
        src=_or(_src(table, root), import_roots(root)),
        select=(*_rules(table, "select", rules, default.select), *_rules(table, "extend-select", rules, ())),
        ignore=_rules(table, "ignore", rules, ()),
        per_file_ignores=tuple([(p, _rules(ignores, p, rules, ())) for p in ignores.values]) if ignores else (),
        exclude=_or(table.strings("exclude"), ()),
        limits=read_limits(table),
        baseline=os.path.join(root, baseline) if baseline else "",
        models=tuple([read_model(model) for model in table.tables("models")]),
    )


def import_roots(root: str) -> tuple[str, ...]:
    """Where modules are imported from unless a project says so: its root, and a ``src`` folder that is no package."""
    src = os.path.join(root, "src")
    is_root = os.path.isdir(src) and not os.path.exists(os.path.join(src, "__init__.py"))
    return (root, src) if is_root else (root,)


def _src(table: Table, root: str) -> tuple[str, ...] | None:
    roots = table.strings("src", single=True)
    for given in roots or ():
        if not os.path.isdir(os.path.join(root, given)):
            raise table.error(f'there is no folder "{given}" below {root}', "src")
    return None if roots is None else tuple([os.path.normpath(os.path.join(root, given)) for given in roots])


def _rules(table: Table, key: str, known: Sequence[Rule], default: tuple[str, ...]) -> tuple[str, ...]:
    words = _or(table.strings(key, single=True), default)
    try:
        for word in words:
            expand(known, word)
    except SelectionError as error:
        raise table.error(str(error), key) from error
    return tuple(words)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value
