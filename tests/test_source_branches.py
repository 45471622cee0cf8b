"""The ranks that code accepts, read from its own checks."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from shapelint.source.branches import rank_branches, rank_check_at, rank_checks_at
from shapelint.source.files import SourceCache
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from pathlib import Path

    from shapelint.source.branches import RankCheck


def write(tmp_path: Path, body: str) -> str:
    path = tmp_path / "net.py"
    text = "class Net:\n    def forward(self, x, y, flag):\n" + textwrap.indent(textwrap.dedent(body), " " * 8)
    path.write_text(text, encoding="utf-8")
    return str(path)


def check(tmp_path: Path, body: str) -> RankCheck | None:
    """The check at the line that is marked with ``<-``."""
    path = write(tmp_path, body.replace("<-", "# <-"))
    with open(path, encoding="utf-8") as file:
        line = next(n for n, text in enumerate(file, 1) if "# <-" in text)
    return rank_check_at(SourceCache(), path, line)


CHECKS = [
    ("if x.dim() != 4:\n    raise ValueError  <-", (4,), False),
    ("if x.ndim == 4:\n    pass\nelse:\n    raise ValueError(  <-\n        'no')", (4,), False),
    ("if len(x.shape) not in (3, 4):\n    raise ValueError  <-", (3, 4), False),
    ("if not len(x.size()) in {3, 4}:\n    raise ValueError  <-", (3, 4), False),
    ("if x.ndimension() not in range(2, 4):\n    raise ValueError  <-", (2, 3), False),
    ("assert x.dim() == 3, 'no'  <-", (3,), False),
    ("assert flag and x.dim() == 3  <-", (3,), False),
    ("assert 2 <= x.dim() <= 4  <-", (2, 3, 4), False),
    ("if x.dim() < 3:\n    raise ValueError  <-", (3,), True),
    ("if x.dim() > 2:\n    raise ValueError  <-", (0, 1, 2), False),
    ("if x.dim() == 3:\n    y = 1\nelif x.dim() == 4:\n    y = 2\nelse:\n    raise RuntimeError  <-", (3, 4), False),
    ("if x.dim() == 3:\n    return 1\nif x.dim() == 4:\n    return 2\nraise RuntimeError  <-", (3, 4), False),
    ("if x.dim() == 3:\n    x = x.unsqueeze(0)\nif x.dim() != 4:\n    raise ValueError  <-", (3, 4), False),
    ("if x.dim() == 3:\n    x = x[None]\nassert x.dim() == 4  <-", (3, 4), False),
    ("if x.dim() == 2:\n    x = prepare(x)\nif x.dim() != 4:\n    raise ValueError  <-", (2, 4), False),
    ("n = x.dim()\nif n == 3:\n    y = 1\nelif n == 4:\n    y = 2\nelse:\n    raise ValueError  <-", (3, 4), False),
    ("ok = x.dim() in (3, 4)\nif not ok:\n    raise ValueError  <-", (3, 4), False),
    ("n = x.dim()\nx = x.unsqueeze(0)\nif n != 3:\n    raise ValueError  <-", (3,), False),
    ("if x.dim() != 4 or x.shape[1] != 3:\n    raise ValueError  <-", (4,), False),
    ("if flag:\n    if x.dim() != 4:\n        raise ValueError  <-", (4,), False),
    (
        "match x.dim():\n    case 3:\n        y = 1\n    case 4 | 5:\n        y = 2\n    case _:\n        raise E  <-",
        (3, 4, 5),
        False,
    ),
    (
        (
            "match x.shape:\n    case (b, c):\n        y = 1\n"
            "    case (b, *_) if flag:\n        y = 2\n    case _:\n        raise E  <-"
        ),
        (1,),
        True,
    ),
    ("with torch.no_grad():\n    for i in y:\n        if x.dim() != 4:\n            raise ValueError  <-", (4,), False),
    ("b, c, h, w = x.shape  <-", (4,), False),
    ("b, *rest = x.size()  <-", (1,), True),
    ("if self.x.dim() != 2:\n    raise ValueError  <-", (2,), False),
]


@pytest.mark.parametrize(("body", "ranks", "more"), CHECKS)
def test_the_accepted_ranks_are_read_from_the_check(
    tmp_path: Path,
    body: str,
    ranks: tuple[int, ...],
    more: bool,  # noqa: FBT001  # a fact of the table
) -> None:
    found = check(tmp_path, body)
    assert found is not None
    assert (found.ranks, found.more) == (ranks, more)
    assert found.variable in {"x", "self.x"}


@pytest.mark.parametrize(
    "body",
    [
        "if flag:\n    raise ValueError  <-",
        "if x.shape[0] != 3:\n    raise ValueError  <-",
        "if x.dim() == 4 and flag:\n    raise ValueError  <-",
        "if x.dim() == 2:\n    if flag:\n        raise ValueError  <-",
        "if x.dim() == 3:\n    return 1\nif flag:\n    return 2\nraise ValueError  <-",
        "raise NotImplementedError  <-",
        "assert flag  <-",
        "x = load(y)\nif x.dim() != 4:\n    raise ValueError  <-",
        "if x.dim() == 3:\n    y = 1\nif flag:\n    raise ValueError  <-",
        "y = x + 1  <-",
        "a, b = y  <-",
    ],
)
def test_a_raise_for_another_reason_is_no_rank_check(tmp_path: Path, body: str) -> None:
    assert check(tmp_path, body) is None


def test_a_check_on_two_variables_is_one_check_each(tmp_path: Path) -> None:
    path = write(tmp_path, "if x.dim() != 3 or y.dim() != 2:\n    raise ValueError\n")
    found = rank_checks_at(SourceCache(), path, 4)
    assert [(c.variable, c.ranks) for c in found] == [("x", (3,)), ("y", (2,))]


def test_the_branches_of_a_check_have_their_conditions(tmp_path: Path) -> None:
    path = write(tmp_path, "if x.dim() == 3:\n    y = 1\nelif x.dim() == 4:\n    y = 2\nelse:\n    raise ValueError\n")
    sources = SourceCache()
    found = rank_check_at(sources, path, 8)
    assert found is not None
    text = SourceMap(sources).expression_text
    assert [(b.ranks, text(b.location), b.lines) for b in found.branches] == [
        ((3,), "x.dim() == 3", (4, 4)),
        ((4,), "x.dim() == 4", (6, 6)),
    ]


def test_all_branches_on_rank_of_a_function_are_listed(tmp_path: Path) -> None:
    body = "if x.dim() == 3:\n    z = 1\nelse:\n    z = 2\nif flag:\n    z = 3\nif y.ndim < 2:\n    raise ValueError\n"
    path = write(tmp_path, body)
    sources = SourceCache()
    text = SourceMap(sources).expression_text
    found = [
        (b.variable, b.ranks, b.more, text(b.location), b.raises) for b in rank_branches(sources, path, "Net.forward")
    ]
    assert found == [
        ("x", (3,), False, "x.dim() == 3", False),
        ("x", (0, 1, 2, 4), True, "z = 2", False),
        ("y", (0, 1), False, "y.ndim < 2", True),
    ]
    assert rank_branches(sources, path, "Net.other") == ()
