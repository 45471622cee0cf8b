"""From the frames that Python records to the expression that was running."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from shapelint.findings import Region
from shapelint.records import Frame
from shapelint.source.files import SourceCache
from shapelint.source.map import SourceMap

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

NET = '''\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(256, 10)
        self.layers = nn.ModuleList(
            nn.Linear(4, 4)
            for _ in range(3)
        )
    def forward(self, x, y):
        """🔥 é"""; x = self.fc1(x) + y
        x = (x
             .view(-1, 400)
             .relu())
        out = torch.cat([x, y], dim=1)
        b, c, h, w = x.shape
        x += y
        for item in self.fc1(x):
            pass
        return self.layers[0](
            x,  # the input
            scale=2,
        )
'''


def saved(tmp_path: Path, text: str) -> str:
    path = tmp_path / "net.py"
    path.write_bytes(text.encode())
    return str(path)


@pytest.fixture
def net(tmp_path: Path) -> str:
    return saved(tmp_path, NET)


@pytest.fixture
def mapped() -> SourceMap:
    return SourceMap(SourceCache())


def frame_of(path: str, call: str, **values: Any) -> Frame:
    """The frame of the code at ``path`` in which ``call`` fails, with the columns that this Python records."""
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    names = dict(values)
    exec(code, names)
    try:
        eval(call, names)
    except Exception as error:  # noqa: BLE001  # whatever the text raises
        step: TracebackType | None = error.__traceback__
        last: TracebackType | None = None
        while step is not None:
            if step.tb_frame.f_code.co_filename == path:
                last = step
            step = step.tb_next
        assert last is not None
        return recorded(path, last)
    message = f"{call} did not fail"
    raise AssertionError(message)


def recorded(path: str, step: TracebackType) -> Frame:
    name = step.tb_frame.f_code.co_name
    if sys.version_info < (3, 11):
        return Frame(path, name, step.tb_lineno)
    line, end_line, column, end_column = list(step.tb_frame.f_code.co_positions())[step.tb_lasti // 2]
    return Frame(path, name, line or 0, end_line or -1, *(-1 if c is None else c for c in (column, end_column)))


class Refuses:
    """Fails at whatever is done with it, except what a test allows."""

    def view(self, *_: int) -> Refuses:
        return self

    def relu(self) -> Refuses:
        return self


@pytest.mark.parametrize(
    ("body", "hint", "expected"),
    [
        ("return 1 + (x @ x)", "matmul", "x @ x"),
        ("return 'é🔥' , x @ x", "matmul", "x @ x"),
        ("return max(1, x(1, 2))", "x", "x(1, 2)"),
        ("return x[1]", "getitem", "x[1]"),
        ("return [-x, 1]", "neg", "-x"),
        ("return x.foo", "foo", "x.foo"),
        ("a, b = x", "unpack", "a, b"),
        ("x += 1", "iadd", "x += 1"),
        ("for i in x: pass", "", "x"),
        ("with x: pass", "", "x"),
        ("return (x\n    .view(1)\n    .relu(2))", "relu", "relu(2)"),
        ("return (x\n    .view(1)\n    .shape)", "shape", "shape"),
        ("raise ValueError('no')", "", "raise ValueError('no')"),
        ("return max(\n    x @ x,\n    1)", "matmul", "x @ x"),
        ("y = 1; x @ 1; y = 2", "matmul", "x @ 1"),
    ],
)
def test_the_failing_expression_is_found_as_this_python_records_it(
    tmp_path: Path, mapped: SourceMap, body: str, hint: str, expected: str
) -> None:
    path = saved(tmp_path, f"def f(x):\n    {body}\n")
    location = mapped.locate(frame_of(path, "f(x)", x=Refuses()), hint)
    if sys.version_info < (3, 11) and expected == "x":
        return  # a line alone doesn't say that it was the loop or the context
    assert mapped.expression_text(location) == expected


@pytest.mark.skipif(sys.version_info < (3, 11), reason="columns are recorded from Python 3.11 on")
def test_a_failed_assert_is_its_condition_in_every_version(tmp_path: Path, mapped: SourceMap) -> None:
    path = saved(tmp_path, "def f(x):\n    assert x > 5, (\n        'no')\n")
    assert mapped.expression_text(mapped.locate(frame_of(path, "f(1)"))) == "x > 5"


def at(path: str, line: int, text: str) -> Frame:
    """A frame with the columns of a piece of text on one line."""
    with open(path, encoding="utf-8") as file:
        found = file.read().split("\n")[line - 1]
    start = found.index(text)
    return Frame(path, "forward", line, line, len(found[:start].encode()), len(found[: start + len(text)].encode()))


def test_columns_are_code_points_after_wide_characters(net: str, mapped: SourceMap) -> None:
    assert mapped.locate(at(net, 14, "self.fc1(x) + y")).region == Region(14, 24, 14, 39)


@pytest.mark.parametrize(
    ("line", "hint", "expected"),
    [
        (14, "fc1", "self.fc1(x)"),
        (14, "Tensor.add", "self.fc1(x) + y"),
        (14, "torch.Tensor.__radd__", "self.fc1(x) + y"),
        (16, "Tensor.view", "view(-1, 400)"),
        (17, "relu", "relu()"),
        (18, "torch.cat", "torch.cat([x, y], dim=1)"),
        (18, "linear", "torch.cat([x, y], dim=1)"),
        (19, "unpack", "b, c, h, w"),
        (20, "add_", "x += y"),
        (14, "unheard_of", '"""🔥 é"""; x = self.fc1(x) + y'),
        (20, "unheard_of", "x += y"),
        (23, "layers", "self.layers[0](x, scale=2)"),
    ],
)
def test_without_columns_the_name_finds_the_expression(
    net: str, mapped: SourceMap, line: int, hint: str, expected: str
) -> None:
    assert mapped.expression_text(mapped.locate(Frame(net, "forward", line), hint)) == expected


def test_two_calls_of_one_name_on_a_line_give_no_operands(tmp_path: Path, mapped: SourceMap) -> None:
    path = saved(tmp_path, "def f(a, b):\n    return 1, g(a) + g(b)\n")
    frame = Frame(path, "f", 2)
    assert mapped.expression_text(mapped.locate(frame, "g")) == "g(a) + g(b)"
    assert mapped.call_at(frame, "g") is None


def test_a_call_names_its_receiver_and_arguments(net: str, mapped: SourceMap) -> None:
    call = mapped.call_at(Frame(net, "forward", 18), "cat")
    assert call is not None
    assert (call.kind, call.callee, call.name) == ("call", "torch.cat", "cat")
    assert [i.text for i in call.args[0].items] == ["x", "y"]
    dim = call.argument(1, "dim")
    assert dim is not None
    assert (dim.text, dim.keyword, dim.literal, dim.value) == ("1", "dim", True, 1)
    assert dim.location.region == Region(18, 37, 18, 38)
    view = mapped.call_at(Frame(net, "forward", 16), "view")
    assert view is not None
    assert view.receiver is not None
    assert view.receiver.text == "x"
    assert [a.value for a in view.args] == [-1, 400]


def test_operators_unpacking_and_augmented_assignment_name_their_operands(net: str, mapped: SourceMap) -> None:
    plus = mapped.call_at(at(net, 14, "self.fc1(x) + y"))
    assert plus is not None
    assert (plus.kind, plus.callee, [a.text for a in plus.args]) == ("operator", "+", ["self.fc1(x)", "y"])
    unpack = mapped.call_at(at(net, 19, "b, c, h, w"))
    assert unpack is not None
    assert unpack.receiver is not None
    assert (unpack.kind, unpack.receiver.text, len(unpack.args)) == ("unpack", "x.shape", 4)
    augmented = mapped.call_at(at(net, 20, "x += y"))
    assert augmented is not None
    assert (augmented.callee, [a.text for a in augmented.args]) == ("+=", ["x", "y"])


def test_an_argument_behind_a_star_is_not_guessed(tmp_path: Path, mapped: SourceMap) -> None:
    path = saved(tmp_path, "def f(a, b):\n    return g(*a, b, **c)\n")
    call = mapped.call_at(Frame(path, "f", 2), "g")
    assert call is not None
    assert [a.star for a in call.args] == ["*", "", "**"]
    assert call.argument(0) is None
    assert call.argument(1) is None


def test_statements_functions_and_assignments_are_found_by_line(net: str, mapped: SourceMap) -> None:
    assert mapped.statement_lines(net, 25) == (23, 26)
    assert mapped.statement_lines(net, 21) == (21, 21)
    assert mapped.expression_text(mapped.statement(net, 21)) == "for item in self.fc1(x)"
    assert mapped.enclosing_function(net, 25) == "Net.forward"
    assert mapped.enclosing_function(net, 1) == ""
    assert mapped.expression_text(mapped.definition(net, 25)) == "forward"
    made = mapped.assigned_to(net, 8)
    assert made is not None
    assert made.name == "self.fc1"
    assert mapped.expression_text(made.location) == "self.fc1 = nn.Linear(256, 10)"
    assert mapped.expression_text(made.value) == "nn.Linear(256, 10)"
    inside = mapped.assigned_to(net, 10)
    assert inside is not None
    assert inside.name == "self.layers"
    assert inside.location.region == Region(9, 9, 12, 10)
    assert mapped.assigned_to(net, 7) is None


def test_a_decorated_function_and_an_else_line_have_their_own_place(tmp_path: Path, mapped: SourceMap) -> None:
    path = saved(tmp_path, "@wraps(\n    1)\ndef f(x):\n    if x:\n        pass\n    else:\n        pass\n")
    assert mapped.statement_lines(path, 2) == (1, 3)
    assert mapped.statement_lines(path, 6) == (6, 6)
    assert mapped.expression_text(mapped.statement(path, 6)) == "else:"
    assert mapped.expression_text(mapped.statement(path, 1)) == "f"


def test_a_frame_outside_the_text_gives_a_line_and_no_error(tmp_path: Path, mapped: SourceMap) -> None:
    path = saved(tmp_path, "x = 1\n")
    assert mapped.locate(Frame(path, "f", 40)).region == Region(40, 1, 40, 1)
    gone = mapped.locate(Frame(str(tmp_path / "gone.py"), "f", 3, 3, 4, 9))
    assert gone.region == Region(3, 1, 3, 1)
    assert mapped.call_at(Frame(str(tmp_path / "gone.py"), "f", 3)) is None


def test_columns_still_count_in_a_file_that_only_a_newer_python_can_parse(tmp_path: Path, mapped: SourceMap) -> None:
    path = saved(tmp_path, "def f(x):\n    return x(1)\n)\n")
    assert mapped.expression_text(mapped.locate(at(path, 2, "x(1)"))) == "x(1)"


def test_text_is_shown_on_one_line_without_comments(tmp_path: Path, mapped: SourceMap) -> None:
    path = saved(tmp_path, "y = f(\n    a,  # first\n    'b  # c',\n    d\n    + e,\n)\n")
    assert mapped.expression_text(mapped.locate(Frame(path, "", 1), "f")) == "f(a, 'b  # c', d + e)"
