"""Edits keep every character they don't speak of."""

from __future__ import annotations

import pytest

from shapelint.findings import Edit, Location, Region
from shapelint.source.edits import EditError, apply_edits, replace_argument
from shapelint.source.files import SourceFile, decode_source

PATH = "/p/net.py"


def edit(text: str, *region: int) -> Edit:
    return Edit(Location(PATH, Region(*region)), text)


def test_edits_keep_line_ends_encoding_and_order() -> None:
    data = b"# coding: latin-1\r\na = '\xe9' + b\r\nc\r\n"
    source = decode_source(PATH, data)
    done = apply_edits(source, [edit("dd\ne", 3, 1, 3, 2), edit("x", 2, 11, 2, 12), edit("x", 2, 11, 2, 12)])
    assert source.encoded(done) == b"# coding: latin-1\r\na = '\xe9' + x\r\ndd\r\ne\r\n"


def test_overlapping_edits_are_refused() -> None:
    source = SourceFile(PATH, "abcdef\n")
    with pytest.raises(EditError, match=r"two edits want to change /p/net\.py:1:2"):
        apply_edits(source, [edit("x", 1, 1, 1, 4), edit("y", 1, 2, 1, 3)])
    with pytest.raises(EditError, match="two edits"):
        apply_edits(source, [edit("x", 1, 1, 1, 4), edit("y", 1, 1, 1, 4)])
    assert apply_edits(source, [edit("x", 1, 1, 1, 2), edit("y", 1, 2, 1, 3)]) == "xycdef\n"


def test_a_text_that_the_encoding_cannot_hold_is_refused() -> None:
    source = decode_source(PATH, b"# coding: latin-1\na\n")
    with pytest.raises(EditError, match="can't hold '→'"):
        apply_edits(source, [edit("→", 2, 1, 2, 2)])


def changed(text: str, position: int, keyword: str, value: int) -> str | None:
    """The text with the call that fills it, after ``self.a = ``, changed."""
    source = SourceFile(PATH, f"é = 1\nself.a = {text}\n")
    last = source.lines[-1]
    region = Region(2, 10, len(source.lines), len(last) + 1)
    made = replace_argument(source, Location(PATH, region), position, keyword, value)
    return None if made is None else apply_edits(source, [made]).removeprefix("é = 1\nself.a = ").removesuffix("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nn.Linear(400, 120)", "nn.Linear(256, 120)"),
        ("nn.Linear( 16 * 5*5 , 120)", "nn.Linear( 256 , 120)"),
        ("nn.Linear(out_features=120, in_features=400)", "nn.Linear(out_features=120, in_features=256)"),
        (
            "nn.Linear(\n    # flattened\n    400,  # é\n    120,\n)",
            "nn.Linear(\n    # flattened\n    256,  # é\n    120,\n)",
        ),
        ("nn.Linear((400), 120)", "nn.Linear((256), 120)"),
        ("nn.Linear(width, 120)", None),
        ("nn.Linear(16 * width, 120)", None),
        ("nn.Linear(*sizes)", None),
        ("nn.Linear(400, **more)", None),
        ("nn.Linear(bias=False)", None),
        ("make", None),
    ],
)
def test_a_literal_of_a_constructor_is_replaced_and_nothing_else(text: str, expected: str | None) -> None:
    assert changed(text, 0, "in_features", 256) == expected
