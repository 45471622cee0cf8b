"""Tensors as they are written in a configuration."""

from __future__ import annotations

import pytest

from shapelint.records import InputTree, TensorSpec
from shapelint.specs import SpecError, parse_input, parse_tensor


@pytest.mark.parametrize(
    ("text", "dtype", "dims"),
    [
        ("float32[B, 3, H, W]", "float32", ("B", 3, "H", "W")),
        ("float32[B, 3, H//2, (H//4)*(W//4)+1]", "float32", ("B", 3, "H//2", "(H//4)*(W//4)+1")),
        ("f32[B, 4 * H]", "float32", ("B", "4*H")),
        ("i64[B]", "int64", ("B",)),
        ("b[]", "bool", ()),
        ("u8[2 * 3 + 1, 7 // 2]", "uint8", (7, 3)),
        ("bf16[ batch , 10, ]", "bfloat16", ("batch", 10)),
        ("torch.long[N-1]", "int64", ("N-1",)),
        ("float8_e4m3fn[Größe]", "float8_e4m3fn", ("Größe",)),
        ("float32[B, 0]", "float32", ("B", 0)),
    ],
)
def test_a_tensor_is_dtype_and_dims(text: str, dtype: str, dims: tuple[int | str, ...]) -> None:
    assert parse_tensor(text) == TensorSpec(dtype, dims)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("float33[B", ['there is no dtype "float33"; did you mean "float32"?', "the closing ] is missing"]),
        ("float32[B, 3", ["the closing ] is missing"]),
        ("float32", ["the dims are missing: write float32[] for rank 0"]),
        ("Float[B]", ['there is no dtype "Float"; did you mean "float"?']),
        ("float32[B,, 3]", ["a dim is missing between two commas"]),
        ("float32[B, -1]", ["a size can't be -1", "give it a name"]),
        ("float32[B, 2 - 3]", ["a size can't be -1"]),
        ("float32[B, H/2]", ['"/" can\'t stand in a dim', "//"]),
        ("float32[B, (H]", ["a closing ) is missing"]),
        ("float32[B, H+]", ["it ends too early"]),
        ("float32[B, H//0]", ["a division by 0"]),
        ("float32[B, 3 H]", ['"H" is not expected here']),
        ("float32[B, lambda]", ['"lambda" is a Python keyword']),
        ("float32[B, ?]", ["? stands for any size, which only an output may have"]),
        ("float32[..., 3]", ["... is not supported; write every dim"]),
        ("float32[B] * 2", ["the closing ] is missing"]),
    ],
)
def test_what_is_no_tensor_is_named_with_a_remedy(text: str, words: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        parse_tensor(text)
    message = str(caught.value)
    assert message.startswith(f'"{text}" is no tensor: ')
    for word in words:
        assert word in message


def test_an_output_may_have_a_dim_of_any_size() -> None:
    assert parse_tensor("float32[B, ?, 4]", wildcard=True) == TensorSpec("float32", ("B", "?", 4))


def test_inputs_nest_and_pass_values_as_they_are() -> None:
    value = {"ids": "i64[B, T]", "scales": ["f32[B]", 2.5, True, "None"], "mode": {"value": "None"}}
    tree = parse_input(value)
    assert tree.kind == "dict"
    assert tree.keys == ("ids", "scales", "mode")
    assert tree.items[0] == InputTree("tensor", tensor=TensorSpec("int64", ("B", "T")))
    assert tree.items[1] == InputTree(
        "list",
        items=(
            InputTree("tensor", tensor=TensorSpec("float32", ("B",))),
            InputTree("value", value=2.5),
            InputTree("value", value=True),
            InputTree("value", value=None),
        ),
    )
    assert tree.items[2] == InputTree("value", value="None")


def test_a_function_may_make_one_input() -> None:
    assert parse_input("models.data:example") == InputTree("call", call="models.data:example")


def test_bare_text_is_refused_with_the_way_to_pass_it() -> None:
    with pytest.raises(SpecError, match=r'write \{ value = "fast" \}'):
        parse_input("fast")


def test_an_error_deep_inside_says_where() -> None:
    with pytest.raises(SpecError, match=r'^batch: item 1: "float3\[B\]" is no tensor'):
        parse_input({"batch": ["float32[B]", "float3[B]"]})
