"""Which configured models the given paths touch, and what the worker needs to know of each."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shapelint.discovered import find_models
from shapelint.records import DimLimits, TraceTarget
from shapelint.source.imports import imports_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shapelint.config import Config
    from shapelint.findings import Skipped
    from shapelint.models import ModelConfig
    from shapelint.projects import Scope
    from shapelint.source.files import SourceCache


@dataclass(frozen=True, slots=True)
class Planned:
    """One model to check. ``whole`` says that its whole project was asked for, not only some files of it.

    ``reach`` are the files (symlinks resolved) that its module imports, however indirectly, as the source says.
    """

    target: TraceTarget
    model: ModelConfig
    config: Config
    whole: bool
    reach: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """The models to check, and the classes that were found and can't be."""

    models: tuple[Planned, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def plan(scope: Scope, sources: SourceCache) -> Plan:
    """The models to check, in the order of projects and of their configuration, or where there is none, of the files.

    A project whose configuration lies at or below a given path is checked as a whole. Of the others come the models
    whose module is a given file, or imports one however indirectly.
    """
    files = frozenset(os.path.realpath(path) for path, _ in scope.files)
    planned: list[Planned] = []
    skipped: list[Skipped] = []
    for config in scope.projects:
        whole = config.root in scope.whole
        reach = _Reach(config.src)
        models = config.models
        if not models:
            found = find_models(scope.files_of(config), config.src, sources)
            models = found.models
            skipped += [one for one in found.skipped if scope.covers(one.path)]
        for model in models:
            # Of a whole project all models are checked: reading what they import would only take time.
            reached = frozenset() if whole else reach.of(_modules(model))
            if whole or reached & files:
                planned.append(Planned(trace_target(config, model), model, config, whole, reached))
    return Plan(tuple(planned), tuple(skipped))


def trace_target(config: Config, model: ModelConfig) -> TraceTarget:
    """What the worker is told of a model: its own limits where it has any, else the project's."""
    own, project = model.limits, config.limits
    default = TraceTarget(target=model.target, root=config.root, src=config.src, cases=model.cases)
    return replace(
        default,
        args=model.args,
        kwargs=model.kwargs,
        method=model.method,
        modes=model.modes,
        dims=tuple(_dims(config, model).items()),
        batch=own.batch or project.batch or default.batch,
        explore=model.explore,
        timeout=own.timeout or project.timeout or default.timeout,
        memory=own.memory or project.memory or default.memory,
    )


def shard(planned: Iterable[Planned], index: int, count: int, base: str) -> tuple[Planned, ...]:
    """The ``index``-th of ``count`` parts (from 1): by a hash of names, so that each model stays in its part.

    ``base`` is the folder that paths are taken relative to; it must not differ between machines in what lies below it.
    """
    return tuple(
        [p for p in planned if _bucket(f"{_relative(p.config.root, base)}|{p.target.target}", count) == index - 1]
    )


def in_shard(path: str, index: int, count: int, base: str) -> bool:
    """Whether a file belongs to this part."""
    return _bucket(_relative(path, base), count) == index - 1


def _bucket(text: str, count: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:8], "big") % count


def _relative(path: str, base: str) -> str:
    return os.path.relpath(path, base).replace(os.sep, "/")


def _dims(config: Config, model: ModelConfig) -> dict[str, DimLimits]:
    return {**dict(config.limits.dims), **dict(model.limits.dims)}


def _modules(model: ModelConfig) -> Iterator[str]:
    yield model.target.partition(":")[0]
    for case in model.cases:
        if case.call:
            yield case.call.partition(":")[0]


class _Reach:
    """The project files that a module imports, however indirectly, read from the source; remembered for one project."""

    def __init__(self, src: tuple[str, ...]) -> None:
        self.src = src
        self._imports: dict[str, tuple[str, ...]] = {}

    def of(self, modules: Iterable[str]) -> frozenset[str]:
        """The modules' own files and those they import, symlinks resolved."""
        waiting = [path for module in modules for path in self._files_of(module)]
        seen = set(waiting)
        while waiting:
            new = [found for found in self._direct(waiting.pop()) if found not in seen]
            seen.update(new)
            waiting.extend(new)
        return frozenset(map(os.path.realpath, seen))

    def _direct(self, path: str) -> tuple[str, ...]:
        if path not in self._imports:
            self._imports[path] = imports_of(path, self.src)
        return self._imports[path]

    def _files_of(self, module: str) -> Iterator[str]:
        """The files that importing a dotted name runs: each package's ``__init__`` and the module."""
        parts = module.split(".")
        for root in self.src:
            base = os.path.join(root, *parts)
            chosen = next((p for p in (os.path.join(base, "__init__.py"), f"{base}.py") if os.path.isfile(p)), None)
            if chosen:
                packages = (os.path.join(root, *parts[:n], "__init__.py") for n in range(1, len(parts)))
                yield from (path for path in packages if os.path.isfile(path))
                yield chosen
                return
