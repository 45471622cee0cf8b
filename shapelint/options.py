"""The options of ``shapelint check``, and what they say about colour."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

F = TypeVar("F", bound="Callable[..., Any]")

FORMATS = ("full", "concise", "json", "github", "gitlab", "junit", "sarif")


def check_options(command: F) -> F:
    """The command with all options of ``check``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def wants_color(choice: str, env: Mapping[str, str], *, terminal: bool) -> bool:
    """Whether to colour: as the option says, else NO_COLOR, FORCE_COLOR, TERM=dumb, and whether it is a terminal."""
    if choice != "auto":
        return choice == "always"
    if env.get("NO_COLOR"):
        return False
    if env.get("FORCE_COLOR"):
        return env["FORCE_COLOR"] != "0"
    return terminal and env.get("TERM") != "dumb"


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _shard(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Part i, from 1, and of how many. Fails unless 1 <= I <= N."""
    if value is None:
        return None
    index, slash, count = value.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise click.BadParameter(f'"{value}" is no part of a whole; write 1/4 for the first of four')
    return int(index), int(count)


def _words(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple([word.strip() for text in value for word in text.split(",") if word.strip()])


def rule_names(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    """The names and ids of rules that complete the last word of a list, for a shell."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  # needed by a shell alone, as are the pages

    from shapelint.rules import load_rules  # noqa: PLC0415

    before, comma, word = begun.rpartition(",")
    rules = load_rules()
    known = [(rule.name, rule) for rule in rules] + [(rule.id, rule) for rule in rules]
    return [
        CompletionItem(f"{before}{comma}{name}", help=rule.summary) for name, rule in known if name.startswith(word)
    ]


_FILE = click.Path(dir_okay=False)
_OPTIONS = (
    click.argument("paths", nargs=-1, type=click.Path()),
    click.option("--python", metavar="PATH", help="Interpreter, or folder of an environment, that has torch."),
    click.option("--config", type=_FILE, metavar="FILE", help="Use this configuration for every path."),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
    click.option(
        "--select",
        metavar="RULES",
        multiple=True,
        callback=_words,
        shell_complete=rule_names,
        help="Only these rules: ids, id prefixes, names, ALL.",
    ),
    click.option(
        "--extend-select",
        metavar="RULES",
        multiple=True,
        callback=_words,
        shell_complete=rule_names,
        help="These rules too.",
    ),
    click.option(
        "--ignore",
        metavar="RULES",
        multiple=True,
        callback=_words,
        shell_complete=rule_names,
        help="Not these rules.",
    ),
    click.option("--output-format", type=click.Choice(FORMATS), default="full", show_default=True),
    click.option("-o", "--output-file", type=_FILE, metavar="FILE", help="Write the report there, not on stdout."),
    click.option("--sarif-output", type=_FILE, metavar="FILE", help="Write a SARIF report too."),
    click.option("--sarif-category", default="shapelint", metavar="NAME", help="Tells analyses of one commit apart."),
    click.option("--fix", is_flag=True, help="Write the edits that remove a finding and bring no other."),
    click.option("--diff", is_flag=True, help="Print what --fix would write, as a diff, and write nothing."),
    click.option("--watch", is_flag=True, help="Check again after each save, until Ctrl-C."),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
    click.option("--show-suppressed", is_flag=True, help="Report silenced findings too, marked so."),
    click.option("--baseline", type=_FILE, metavar="FILE", help="Leave out the findings that this file knows."),
    click.option("--update-baseline", is_flag=True, help="Write all findings of this run into the baseline."),
    click.option(
        "--shard",
        metavar="I/N",
        callback=_shard,
        help="Check the I-th of N parts; shapelint merge joins the SARIF reports.",
    ),
    click.option("-j", "--jobs", type=click.IntRange(min=1), help="Models traced at once. Default: all processors."),
    click.option("--no-cache", is_flag=True, help="Trace every model anew and store nothing."),
    click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True),
    click.option("--statistics", is_flag=True, help="Count the findings of each rule, on stderr."),
    click.option("--show-settings", is_flag=True, help="Print the settings of each project and check nothing."),
    click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors."),
    click.option("-v", "--verbose", is_flag=True, help="Name every model on stderr."),
)
