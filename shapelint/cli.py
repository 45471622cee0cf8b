"""The command line: the only module that prints or exits. Each command imports its heavy parts itself."""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from shapelint import RULES_URL, __version__
from shapelint.options import check_options, cores, rule_names, wants_color

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.lint import Outcome, Request

# Imports inside functions are meant: --version, --help and rule must not wait for what check needs.
# ruff: noqa: PLC0415

CLEAN, FINDINGS, COULD_NOT_RUN, INTERRUPTED = 0, 1, 2, 130
_REPORT_THIS = "This is a fault of shapelint, not of your code: please report it with the lines above."


class CouldNotRun(click.ClickException):
    """Ends the run with status 2 and the reason."""

    exit_code = COULD_NOT_RUN


class Commands(click.Group):
    """The group of commands, which gives every failure its exit status."""

    def invoke(self, ctx: click.Context) -> Any:
        """What the command returns. A fault of our own ends with 2, an interrupt with 130."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            click.echo("shapelint: interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            # Who read the report has gone. Without this the interpreter would fail once more while it exits.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(COULD_NOT_RUN)
        except Exception as error:
            import traceback

            click.echo(traceback.format_exc(), err=True, nl=False)
            raise CouldNotRun(f"{type(error).__name__}: {error}\n{_REPORT_THIS}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s", prog_name="shapelint")
def main() -> None:
    """Find shape errors in PyTorch models, without weights, data or a GPU."""
    # What a short-lived process makes stays, and looking through it for garbage takes a tenth of its time.
    gc.set_threshold(50_000, 20, 20)


@main.command()
@check_options
@click.pass_context
def check(ctx: click.Context, /, **given: Any) -> None:
    """Check the models that PATHS touch (default: the current folder).

    Exits with 0 if all is well, 1 if there are findings, 2 if it could not run.
    """
    from shapelint import lint
    from shapelint.settings import shown

    start = time.monotonic()
    request = _request(given)
    if (given["fix"] or given["diff"]) and given["update_baseline"]:
        raise click.UsageError("--update-baseline takes the findings as they are; run it without --fix and --diff")
    if given["watch"] and (given["fix"] or given["diff"] or given["update_baseline"] or given["show_settings"]):
        raise click.UsageError("--watch shows the findings after each save; it writes and repairs nothing")
    progress = _Progress(enabled=sys.stderr.isatty() and not given["quiet"] and not given["show_settings"])
    if given["watch"]:
        _watch(request, given, progress)
        return
    try:
        if given["show_settings"]:
            _write("".join(shown(project) for project in lint.settings(request)))
            return
        repairs = given["fix"] or given["diff"]
        outcome = _repaired(request, given, progress) if repairs else lint.lint(request, progress.show)
    except lint.EXPECTED as error:
        raise CouldNotRun(str(error)) from error
    finally:
        progress.clear()
    if not given["diff"]:
        _report(outcome, given, time.monotonic() - start)
    ctx.exit(FINDINGS if outcome.result.failing and not given["exit_zero"] else CLEAN)


@main.command()
@click.argument("name", required=False, shell_complete=rule_names)
@click.option("--all", "everything", is_flag=True, help="All pages.")
def rule(name: str | None, *, everything: bool) -> None:
    """Explain a rule, by its id or name."""
    from shapelint.rules import RuleError, find_rule, load_rules

    if everything == bool(name):
        raise click.UsageError("give the id or the name of one rule, or --all")
    try:
        pages = load_rules() if everything else (find_rule(str(name)),)
    except RuleError as error:
        raise CouldNotRun(str(error)) from error
    _write("\n".join(page.text.rstrip("\n") + "\n" for page in pages))


@main.command()
def rules() -> None:
    """List all rules."""
    from shapelint.rules import load_rules

    known = load_rules()
    width = max(len(each.name) for each in known)
    _write("".join(f"{r.id}  {r.name:{width}}  {r.severity.value:7}  {r.summary}\n" for r in known))


@main.command()
@click.argument("paths", nargs=-1, type=click.Path())
def clean(paths: tuple[str, ...]) -> None:
    """Remove the caches of the projects that PATHS touch."""
    from shapelint import lint

    try:
        removed = lint.clean(lint.Request(paths or (".",)))
    except lint.EXPECTED as error:
        raise CouldNotRun(str(error)) from error
    for folder in removed:
        click.echo(f"removed {os.path.relpath(folder)}", err=True)


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output-file", type=click.Path(dir_okay=False), metavar="FILE", help="Default: stdout.")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there are findings, as check does.")
@click.pass_context
def merge(ctx: click.Context, files: tuple[str, ...], output_file: str | None, *, exit_code: bool) -> None:
    """Merge the SARIF reports of a run's shards into one."""
    from shapelint.report.sarif_merge import MergeError, has_findings, merge_report
    from shapelint.report.sarif_writer import dumps

    try:
        merged, notices = merge_report([_json(name) for name in files])
    except MergeError as error:
        raise CouldNotRun(str(error)) from error
    _write(dumps(merged), output_file)
    for notice in notices:
        click.echo(notice, err=True)
    ctx.exit(FINDINGS if exit_code and has_findings(merged) else CLEAN)


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes shapelint's commands in a shell."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:  # a click without this shell
        raise CouldNotRun(f"this version of click completes nothing in {shell}")
    _write(kind(main, {}, "shapelint", "_SHAPELINT_COMPLETE").source())


@main.command()
def schema() -> None:
    """Print the JSON schema of the configuration."""
    from importlib.resources import files

    _write(files("shapelint").joinpath("schema.json").read_text(encoding="utf-8"))


def _request(given: dict[str, Any]) -> Request:
    from shapelint.config import Overrides
    from shapelint.lint import Request

    return Request(
        paths=given["paths"] or (".",),
        overrides=Overrides(
            select=given["select"],
            extend_select=given["extend_select"],
            ignore=given["ignore"],
            baseline=os.path.abspath(given["baseline"]) if given["baseline"] else "",
        ),
        python=given["python"],
        config=given["config"],
        isolated=given["isolated"],
        jobs=given["jobs"] or cores(),
        cache=not given["no_cache"],
        shard=given["shard"],
        update_baseline=given["update_baseline"],
    )


def _repaired(request: Request, given: dict[str, Any], progress: _Progress) -> Outcome:
    """What remains after the edits, which are written; with --diff they are printed, and all findings remain."""
    from shapelint import fix

    repaired = fix.repair(request, progress.show)
    progress.clear()
    if given["diff"]:
        _write(fix.diff(repaired.changes), given["output_file"])
    else:
        try:
            fix.write(repaired.changes)
        except fix.FixError as error:
            raise CouldNotRun(str(error)) from error
    if not given["quiet"]:
        for line in fix.told(repaired, written=not given["diff"]):
            click.echo(line, err=True)
    return repaired.before if given["diff"] else repaired.after


def _watch(request: Request, given: dict[str, Any], progress: _Progress) -> None:
    """The report of each run, on a terminal on a screen of its own, until an interrupt."""
    from shapelint import watch

    try:
        for outcome, seconds in watch.watch(request, progress.show):
            progress.clear()
            if sys.stdout.isatty():
                click.clear()
            if isinstance(outcome, Exception):
                click.echo(f"Error: {outcome}", err=True)
            else:
                _report(outcome, given, seconds)
            click.echo("watching for changes; Ctrl-C ends it", err=True)
    except KeyboardInterrupt:
        progress.clear()


def _report(outcome: Outcome, given: dict[str, Any], seconds: float) -> None:
    from dataclasses import replace

    from shapelint.report import ReportContext, report, summary
    from shapelint.report.statistics import statistics

    to_file = given["output_file"] is not None
    context = ReportContext(
        cwd=os.getcwd(),
        git_root=outcome.git_root or os.getcwd(),
        rules=outcome.rules,
        version=__version__,
        links=(os.environ.get("SHAPELINT_RULES_URL") or RULES_URL).rstrip("/") + "/",
        color=wants_color(given["color"], os.environ, terminal=sys.stdout.isatty() and not to_file),
        category=given["sarif_category"],
        show_suppressed=given["show_suppressed"],
        shard="/".join(map(str, given["shard"] or ())),
    )
    notices = list(outcome.notices)
    asked = [(given["output_format"], given["output_file"], context)]
    if given["sarif_output"]:
        asked.append(("sarif", given["sarif_output"], replace(context, color=False)))
    for format_name, path, how in asked:
        written = report(outcome.result, format_name, how)
        _write(written.text, path, color=how.color)
        notices += written.notices
    if given["quiet"]:
        return
    for line in notices:
        click.echo(line, err=True)
    if given["verbose"]:
        for target in outcome.result.targets:
            source = "from the cache" if target.cached else f"{target.seconds:.2f} s"
            whole = "" if target.complete else ", in part"
            click.echo(f"{context.shown_path(target.path) or '?'}: {target.target} ({source}{whole})", err=True)
    if given["statistics"]:
        click.echo(statistics(outcome.result), err=True, nl=False)
    click.echo(summary(outcome.result, context, seconds), err=True, nl=False)


def _json(path: str) -> Any:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise CouldNotRun(f"{path}: can't be read: {error.strerror}") from error
    except ValueError as error:
        raise CouldNotRun(f"{path}: no SARIF file: {error}") from error


def _write(text: str, path: str | None = None, *, color: bool = False) -> None:
    """Writes to the file, else to stdout. Characters that the terminal's encoding lacks are escaped, not refused."""
    if path is not None:
        try:
            with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.write(text)
        except OSError as error:
            raise CouldNotRun(f"{path}: can't be written: {error.strerror}") from error
        return
    reconfigure: Callable[..., None] | None = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="backslashreplace")
    # Named, because click puts a UTF-8 stream in the place of one that only knows ASCII.
    click.echo(text, file=sys.stdout, nl=False, color=color)


class _Progress:
    """A line on stderr that counts the models, drawn over itself."""

    def __init__(self, *, enabled: bool) -> None:
        self.enabled = enabled
        self.drawn = False

    def show(self, done: int, count: int) -> None:
        """Draws the line anew."""
        if self.enabled:
            self.drawn = True
            click.echo(f"\r\033[Kchecking models: {done} of {count}", err=True, nl=False, color=True)

    def clear(self) -> None:
        """Removes the line, so that nothing of it stands beside the report."""
        if self.drawn:
            click.echo("\r\033[K", err=True, nl=False, color=True)
            self.drawn = False
