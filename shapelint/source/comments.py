"""The comments that speak to the linter: ``# shapelint: ignore[...]``, ``ignore-file[...]``, ``inputs(...)``."""

from __future__ import annotations

import io
import re
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.findings import Location, Region
from shapelint.source.files import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.source.files import SourceFile

_IGNORE = re.compile(r"#\s*shapelint:\s*(?P<kind>ignore(?:-file)?)(?![\w-])\s*(?:\[(?P<codes>[^\]#]*)\])?[^#]*")
_QUIET = {tokenize.COMMENT, tokenize.NL, tokenize.STRING, tokenize.NEWLINE, tokenize.ENCODING, tokenize.INDENT}


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, with the ``#``. ``alone`` says that nothing else stands on its line, ``top`` that no code is above."""

    text: str
    line: int
    column: int
    alone: bool
    top: bool


@dataclass(frozen=True, slots=True)
class Ignore:
    """An ignore comment. ``codes`` are ids, id prefixes and names; none means every rule. ``text`` is what it says.

    ``start`` and ``end`` are its stretch on the line (1-based columns, end exclusive): another remark may share the
    comment.
    """

    comment: Comment
    whole_file: bool
    codes: tuple[str, ...]
    text: str
    start: int
    end: int

    def location(self, path: str) -> Location:
        """Where it stands."""
        return Location(absolute(path), Region(self.comment.line, self.start, self.comment.line, self.end))


def comments(source: SourceFile) -> tuple[Comment, ...]:
    """All comments of a file, in order; of one that can't be parsed, those before the fault."""
    return tuple(_comments(source)) if "#" in source.text else ()


def ignores(source: SourceFile) -> tuple[Ignore, ...]:
    """The ignore comments of a file, in order."""
    if "shapelint" not in source.text:  # spares nearly every file the tokenizer
        return ()
    return tuple([i for comment in comments(source) for i in _ignores(comment)])


def _ignores(comment: Comment) -> Iterator[Ignore]:
    for found in _IGNORE.finditer(comment.text):
        listed = found.group("codes")
        codes = tuple([c.strip() for c in listed.split(",") if c.strip()]) if listed is not None else ()
        if listed is not None and not codes:
            codes = ("",)  # ignore[] names no rule, and must not mean every rule
        kind = found.group("kind")
        text = f"shapelint: {kind}" + (f"[{listed}]" if listed is not None else "")
        start = comment.column + found.start()
        end = comment.column + found.start() + len(found.group().rstrip())
        yield Ignore(comment, kind == "ignore-file", codes, text, start, end)


def _comments(source: SourceFile) -> Iterator[Comment]:
    # The tokenizer sees "\n" alone as a line end; the lines are those of the file.
    reader = io.StringIO("\n".join(source.lines) + "\n")
    top = True
    try:
        for token in tokenize.generate_tokens(reader.readline):
            if token.type == tokenize.COMMENT:
                alone = not token.line[: token.start[1]].strip()
                yield Comment(token.string, token.start[0], token.start[1] + 1, alone, top)
            top = top and token.type in _QUIET
    except (tokenize.TokenError, SyntaxError):
        return  # what stands behind the fault can't be told from text
