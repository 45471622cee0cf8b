"""Files are read as Python reads them, and a file that can't be is a value with the reason."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from shapelint.source.files import SourceCache, decode_source

if TYPE_CHECKING:
    from pathlib import Path

PATH = "net.py"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        (b"x = 1\r\ny = 2\r\n", "utf-8", "x = 1\r\ny = 2\r\n"),
        (b"\xef\xbb\xbfx = '\xc3\xa9'\n", "utf-8-sig", "x = 'é'\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "iso-8859-1", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/bin/sh\n# vim: set fileencoding=cp1252 :\nx = '\x80'", "cp1252", None),
        (b"x = '\\ud800'\n", "utf-8", None),
    ],
)
def test_the_bytes_come_back_and_the_text_parses(data: bytes, encoding: str, text: str | None) -> None:
    source = decode_source(PATH, data)
    assert source.encoding == encoding
    assert source.error is None
    assert source.encoded(source.text) == data
    assert text is None or source.text == text
    assert source.tree is not None
    assert source.module is not None
    assert ast.dump(source.tree) == ast.dump(ast.parse(data))


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        (b"x = 1\ny = '\xff'\n", 2, 6, "byte 0xff is not utf-8"),
        (b"a\nb\nc\nx = '\xc3\xa9' + '\xe9'\n", 4, 12, "byte 0xe9 is not utf-8"),
        (b"# coding: nonsense\n", 1, 1, "unknown encoding"),
        (b"# coding: hex\nx = 1\n", 1, 1, "encoding"),
        (b"def f(:\n", 1, None, "invalid syntax"),
        (b"x = (\n", 1, 5, "'(' was never closed"),
        (b"if x:\ny = 1\n", 2, 1, "expected an indented block"),
        (b"x = 1\n  y = 2\n", 2, None, "unexpected indent"),
        (b"print 'x'\n", 1, 1, "missing parentheses"),
        (b"x = 1\n\0\n", 2, 1, "null byte"),
        (b"x = " + b"(" * 300 + b")" * 300 + b"\n", 1, None, "nested"),
    ],
)
def test_a_fault_has_its_place_and_its_reason(data: bytes, line: int, column: int | None, message: str) -> None:
    error = decode_source(PATH, data).error
    assert error is not None
    assert message in error.message
    assert error.line == line
    assert column is None or error.column == column


def test_a_broken_file_is_still_shown_and_written_back() -> None:
    source = decode_source(PATH, b"x = '\xff'\r\n")
    assert source.lines == ("x = '\udcff'",)
    assert source.encoded(source.text) == b"x = '\xff'\r\n"
    assert source.module is None


def test_a_missing_file_and_a_folder_are_empty_with_the_reason(tmp_path: Path) -> None:
    sources = SourceCache()
    for path, reason in ((tmp_path / "gone.py", "No such file"), (tmp_path, "directory")):
        found = sources.load(str(path))
        assert found.text == ""
        assert found.error is not None
        assert reason in found.error.message


def test_form_feeds_and_unicode_separators_end_no_line() -> None:
    source = decode_source(PATH, "a = '\u2028'\x0c\nb = 1\rc = 2\r\n\x0cd = 3".encode())
    assert source.lines == ("a = '\u2028'\x0c", "b = 1", "c = 2", "\x0cd = 3")
    assert source.tree is not None
    assert [s.lineno for s in source.tree.body] == [1, 2, 3, 4]
    assert source.newline == "\n"
    assert source.position(source.offset(3, 5)) == (3, 5)
    assert source.offset(2, 99) == source.offset(2, 6)
    assert source.offset(99, 1) == len(source.text)


def test_unsaved_text_goes_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("saved = 1\n", encoding="utf-8")
    assert SourceCache({str(path): "unsaved = 1\n"}).load(str(path)).text == "unsaved = 1\n"
    lone = SourceCache({str(path): "x = 1\ny = '\ud800'\n"}).load(str(path))
    assert lone.error is not None
    assert (lone.error.line, lone.error.column) == (2, 6)


def test_a_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text("x = 1\n", encoding="utf-8")
    sources = SourceCache()
    first = sources.load(str(path))
    path.write_text("x = 2\n", encoding="utf-8")
    assert sources.load(str(path)) is first
