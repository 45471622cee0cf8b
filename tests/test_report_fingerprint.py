"""GitHub's line hash, against values worked out from its definition: sum(unit[i] * 37 ** (99 - i)) modulo 2 ** 64."""

from __future__ import annotations

import pytest

from shapelint.report.fingerprint import line_hashes

END = 65535


def worked_out(*units: int) -> str:
    """The hash of a window that starts with these units; zeros follow."""
    return format(sum(unit * 37 ** (99 - place) for place, unit in enumerate(units)) % 2**64, "x")


def test_an_empty_file_has_one_line_that_holds_the_end_alone() -> None:
    # 37 ** 99 mod 2 ** 64 = 0x89AA4AD3BC31365D, times 65535.
    assert pow(37, 99, 2**64) * 65535 % 2**64 == 0xC129715D7A2BC9A3
    assert line_hashes(b"") == {1: "c129715d7a2bc9a3:1"}


def test_each_line_is_hashed_from_its_start_to_the_end_of_the_file() -> None:
    assert line_hashes(b"a\nb") == {
        1: worked_out(ord("a"), 10, ord("b"), END) + ":1",
        2: worked_out(ord("b"), END) + ":1",
    }


def test_a_file_that_ends_in_a_line_feed_has_an_empty_last_line() -> None:
    assert line_hashes(b"a\n") == {1: worked_out(97, 10, END) + ":1", 2: worked_out(END) + ":1"}


@pytest.mark.parametrize("other", [b" a\t\n\n \tb ", b"a\r\n\r\nb", b"a\r\rb", b"a\n\rb", b"a\r\n\rb", b"a \r\n\t\nb"])
def test_spaces_tabs_and_the_kind_of_line_end_do_not_matter(other: bytes) -> None:
    assert line_hashes(other) == line_hashes(b"a\n\nb")


def test_a_space_between_carriage_return_and_line_feed_makes_two_lines() -> None:
    assert len(line_hashes(b"a\r \nb")) == 3


def test_only_the_first_hundred_units_count() -> None:
    # 98 * (37 ** 100 - 1) / 36: a geometric sum.
    expected = format(98 * ((37**100 - 1) // 36) % 2**64, "x") + ":1"
    assert line_hashes(b"b" * 100)[1] == expected
    assert line_hashes(b"b" * 100 + b"\nfurther lines\n")[1] == expected


def test_lines_with_the_same_hash_are_numbered() -> None:
    # 50 lines "x" + LF fill a window of 100 units: of 60 lines the first 11 see nothing else, the 12th sees the end.
    hashes = line_hashes(b"x\n" * 60)
    window = worked_out(*([ord("x"), 10] * 50))
    assert [hashes[line] for line in range(1, 12)] == [f"{window}:{count}" for count in range(1, 12)]
    assert hashes[12] == worked_out(*([ord("x"), 10] * 49), END) + ":1"


def test_characters_beyond_the_first_plane_count_as_two_units() -> None:
    assert line_hashes("🦀".encode())[1] == worked_out(0xD83E, 0xDD80, END) + ":1"


def test_the_byte_order_mark_counts() -> None:
    assert line_hashes(b"\xef\xbb\xbfa")[1] == worked_out(0xFEFF, ord("a"), END) + ":1"


def test_bytes_that_are_not_utf_8_count_as_replacement_characters() -> None:
    assert line_hashes(b"\xffa")[1] == worked_out(0xFFFD, ord("a"), END) + ":1"
