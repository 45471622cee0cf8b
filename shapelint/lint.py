"""The whole run on one screen: configure, plan, trace, check, silence, sort."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shapelint.baseline import BaselineError
from shapelint.checks import check_report, merge_findings
from shapelint.checks.repair import with_fixes
from shapelint.checks.view import View
from shapelint.config import Config, ConfigError, Overrides, import_roots, load, override
from shapelint.discovered import tempered
from shapelint.findings import Finding, LintResult, Skipped
from shapelint.plan import Plan, Planned, in_shard, plan, shard
from shapelint.projects import PathError, Scope, find_scope, git_root, is_below, is_excluded, matches
from shapelint.rules import Rule, load_rules
from shapelint.selection import SelectionError, is_named
from shapelint.silence import by_baseline, by_comment
from shapelint.source.files import SourceCache
from shapelint.syntax import syntax_findings
from shapelint.trace.cache import FOLDER
from shapelint.trace.interpreter import InterpreterError
from shapelint.tracing import Pools, Traced, Workers, summarise, workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

EXPECTED = (BaselineError, ConfigError, InterpreterError, PathError, SelectionError)
"""What keeps a run from running, with a message for the person who asked for it."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. ``config`` is the one file to use, ``isolated`` uses none; ``shard`` is part i of n."""

    paths: tuple[str, ...]
    overrides: Overrides = field(default_factory=Overrides)
    python: str | None = None
    config: str | None = None
    isolated: bool = False
    jobs: int = 1
    cache: bool = True
    shard: tuple[int, int] | None = None
    update_baseline: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run, the rules that were on somewhere in it, and words on what else a person should know."""

    result: LintResult
    rules: tuple[Rule, ...]
    git_root: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run before its traces: the scope, the models, what is skipped, and by root the rules that are on."""

    request: Request
    rules: tuple[Rule, ...]
    scope: Scope
    planned: tuple[Planned, ...]
    skipped: tuple[Skipped, ...]
    enabled: Mapping[str, Sequence[Rule]]

    def workers(
        self, planned: Sequence[Planned], *, cache: bool, pools: Pools | None = None
    ) -> AbstractContextManager[Workers]:
        """The workers for some models, as the request wants them; of ``pools``, where these are kept."""
        request = self.request
        return workers(planned, python=request.python, jobs=request.jobs, cache=cache and request.cache, pools=pools)


def lint(
    request: Request, on_progress: Callable[[int, int], None] | None = None, pools: Pools | None = None
) -> Outcome:
    """The outcome of one run. ``on_progress`` is told how many models of how many are done. Raises `EXPECTED`.

    ``pools`` keeps the workers for the next run.
    """
    sources = SourceCache()
    run = prepare(request, sources)
    with run.workers(run.planned, cache=True, pools=pools) as at_work:
        found = syntax(run, sources)
        traced = at_work.trace(on_progress)
    return judge(run, traced, sources, found)


def prepare(request: Request, sources: SourceCache) -> Prepared:
    """The run that is asked for, up to its traces. Raises `EXPECTED`."""
    rules = load_rules()
    scope = configure(request, rules)
    enabled = {config.root: config.rules(rules) for config in scope.projects}
    scope, planned, skipped = _divided(request, scope, plan(scope, sources))
    return Prepared(request, rules, scope, planned, skipped, enabled)


def syntax(run: Prepared, sources: SourceCache) -> tuple[Finding, ...]:
    """The syntax errors in the files of a run."""
    found = []
    for path, config in run.scope.files:
        rule = next((rule for rule in run.enabled[config.root] if rule.name == "syntax-error"), None)
        if rule:
            found += [f for f in syntax_findings(path, sources, rule) if not _is_ignored(f, config)]
    return tuple(found)


def judge(
    run: Prepared, traced: Sequence[Traced], sources: SourceCache, broken: Sequence[Finding] | None = None
) -> Outcome:
    """What the traces of a run's models mean, silenced and sorted. ``broken`` is what `syntax` said, if it is known."""
    request, rules, scope, planned, enabled = run.request, run.rules, run.scope, run.planned, run.enabled
    found = [*(syntax(run, sources) if broken is None else broken)]
    for one, answer in zip(planned, traced):
        on = frozenset(rule.id for rule in enabled[one.config.root])
        checked = check_report(answer.report, one.target, sources, outputs=one.model.outputs)
        found += [tempered(f, one.model) for f in checked if f.id in on and _is_wanted(f, one, scope)]
    merged = _repairable(merge_findings(found), run, traced, sources)

    complete = {} if request.shard else _checked(scope, planned, traced, enabled)
    commented = by_comment(merged, sources, rules, complete)
    kept = [f for f in commented.kept if not _is_ignored(f, scope.project_of(f.location.path))]
    known = by_baseline(kept, sources, scope, enabled, update=request.update_baseline)

    result = LintResult(
        findings=tuple(sorted(known.kept, key=lambda finding: finding.sort_key)),
        suppressed=tuple(sorted((*commented.suppressed, *known.suppressed), key=lambda pair: pair[0].sort_key)),
        skipped=run.skipped,
        targets=tuple([summarise(one, answer) for one, answer in zip(planned, traced)]),
        files=tuple([path for path, _ in scope.files]),
    )
    on_somewhere = frozenset(rule.id for each in enabled.values() for rule in each)
    shown = tuple([rule for rule in rules if rule.id in on_somewhere])
    return Outcome(result, shown, git_root(scope.given[0]), (*_nothing(scope, planned), *known.notices))


def _repairable(
    findings: Sequence[Finding], run: Prepared, traced: Sequence[Traced], sources: SourceCache
) -> tuple[Finding, ...]:
    """The findings, with a fix where there is a certain one in the project's own files."""
    views = [View(answer.report, one.target, sources) for one, answer in zip(run.planned, traced)]
    stated = [view for view, one in zip(views, run.planned) if not one.model.assumed]
    return tuple(
        [
            replace(f, fix=()) if any(not _is_own(edit.location.path, run.scope) for edit in f.fix) else f
            for f in with_fixes(findings, views, stated)
        ]
    )


def _is_own(path: str, scope: Scope) -> bool:
    config = scope.project_of(path)
    return is_below(path, config.root) and not is_excluded(path, config)


def configure(request: Request, rules: Sequence[Rule]) -> Scope:
    """The projects and files that the paths mean, with the command line's word on top of each configuration."""
    fixed = None
    if request.isolated:
        fixed = Config(os.getcwd(), src=import_roots(os.getcwd()))
    elif request.config:
        fixed = load(os.path.abspath(request.config), rules)
        if fixed is None:
            raise ConfigError(f"{request.config}: there is no table [tool.shapelint] in it")
    over = request.overrides

    def read(path: str) -> Config | None:
        config = load(path, rules)
        return config and override(config, over)

    return find_scope(request.paths, read, override(Config(""), over), fixed and override(fixed, over))


def settings(request: Request) -> tuple[Config, ...]:
    """The projects that the paths touch, as they would be checked. Raises one of `EXPECTED`."""
    return configure(request, load_rules()).projects


def watched(request: Request) -> tuple[str, ...]:
    """The files that a run may read: Python and configuration files of its projects. Raises `EXPECTED`."""
    scope = configure(request, load_rules())
    configs = [os.path.join(c.root, name) for c in scope.projects for name in ("pyproject.toml", "shapelint.toml")]
    return (*[path for path, _ in scope.files], *configs)


def clean(request: Request) -> tuple[str, ...]:
    """The cache folders of the projects that the paths touch, which are gone now. Raises one of `EXPECTED`."""
    folders = [os.path.join(config.root, FOLDER) for config in settings(request)]
    found = tuple([folder for folder in folders if os.path.isdir(folder)])
    for folder in found:
        shutil.rmtree(folder)
    return found


def _divided(request: Request, scope: Scope, planned: Plan) -> tuple[Scope, tuple[Planned, ...], tuple[Skipped, ...]]:
    """The scope, the models and what is skipped, or this shard's part of them."""
    unreadable = tuple([Skipped(path, f"it can't be read: {why}", path=path) for path, why in scope.unreadable])
    skipped = (*planned.skipped, *unreadable)
    if request.shard is None:
        return scope, planned.models, skipped
    base = git_root(scope.given[0]) or os.getcwd()
    files = tuple([(path, config) for path, config in scope.files if in_shard(path, *request.shard, base)])
    own = tuple([one for one in skipped if in_shard(one.path, *request.shard, base)])
    return replace(scope, files=files), shard(planned.models, *request.shard, base), own


def _is_wanted(finding: Finding, planned: Planned, scope: Scope) -> bool:
    """Whether a finding is to be told; those of a model that some files brought in, only where they stand in these.

    A file counts for a model only if it would bring it in alone: what is told must not hang on which files are given
    together, since pre-commit divides a long list.
    """
    path = finding.location.path
    here = planned.whole or (scope.covers(path) and os.path.realpath(path) in planned.reach)
    return here and not is_excluded(path, planned.config) and not _is_ignored(finding, planned.config)


def _is_ignored(finding: Finding, config: Config) -> bool:
    words = [
        w
        for pattern, words in config.per_file_ignores
        if matches(finding.location.path, pattern, config.root)
        for w in words
    ]
    return any(is_named(finding.id, finding.rule, word) for word in words)


def _checked(
    scope: Scope, planned: Sequence[Planned], traced: Sequence[Traced], enabled: Mapping[str, Sequence[Rule]]
) -> dict[str, Sequence[Rule]]:
    """The given files that a model was traced through, if every such model was traced to the end, with their rules."""
    ends = []
    for one, answer in zip(planned, traced):
        files = frozenset(map(os.path.realpath, answer.report.files))
        ends.append((answer.complete, files if one.whole else files & one.reach))
    whole = {file for complete, files in ends if complete for file in files}
    part = {file for complete, files in ends if not complete for file in files}
    reached = whole - part
    return {path: enabled[config.root] for path, config in scope.files if os.path.realpath(path) in reached}


def _nothing(scope: Scope, planned: Sequence[Planned]) -> Iterator[str]:
    """A word on why nothing was checked, if nothing was."""
    if not scope.files and not planned:
        yield f"no Python files in {', '.join(os.path.relpath(path) for path in scope.given)}"
    elif not planned and not any(config.models for config in scope.projects):
        yield "no model to check was found: add [[tool.shapelint.models]], with target and inputs, to pyproject.toml"
