"""Tensors as people write them in a configuration, ``float32[B, 3, H//2]``, parsed without torch."""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any

from shapelint.records import InputTree, TensorSpec

_DTYPES = (
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "complex128",
    "complex64",
    "complex32",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint64",
    "uint32",
    "uint16",
    "uint8",
    "bool",
)
_SHORT = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "c128": "complex128",
    "c64": "complex64",
    "c32": "complex32",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u64": "uint64",
    "u32": "uint32",
    "u16": "uint16",
    "u8": "uint8",
    "b": "bool",
    # torch's own second names
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}
_EXAMPLE = "float32[B, 3, 224, 224]"
_TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<name>[^\W\d]\w*)|(?P<sign>//|[-+*()])|(?P<other>\S))")
_CALL = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


class SpecError(ValueError):
    """A text that is no tensor, with the reason and the remedy as its message."""


def parse_tensor(text: str, *, wildcard: bool = False) -> TensorSpec:
    """The tensor that ``dtype[dim, dim, ...]`` describes; with ``wildcard`` a dim may be ``?``, any size.

    A dim is an integer or an expression in names with ``+ - * //`` and parentheses, as it is written, without spaces.
    Raises SpecError where the text is anything else.
    """
    name, bracket, rest = text.partition("[")
    problems = []
    dtype = _dtype(name.strip())
    if dtype is None:
        problems.append(f'there is no dtype "{name.strip()}"{suggestion(name.strip(), [*_DTYPES, *_SHORT])}')
    if not bracket:
        problems.append(f"the dims are missing: write {dtype or 'float32'}[] for rank 0, {_EXAMPLE} for rank 4")
    elif not rest.rstrip().endswith("]"):
        problems.append("the closing ] is missing")
    if dtype is None or problems:
        raise SpecError(f'"{text}" is no tensor: {"; ".join(problems)} (a tensor is dtype[dim, dim], as in {_EXAMPLE})')
    inside = rest.rstrip()[:-1]
    if not inside.strip():
        return TensorSpec(dtype, ())
    parts = inside.split(",")
    if len(parts) > 1 and not parts[-1].strip():  # a trailing comma, as Python allows it
        parts.pop()
    try:
        return TensorSpec(dtype, tuple([_dim(part.strip(), wildcard=wildcard) for part in parts]))
    except SpecError as error:
        raise SpecError(f'"{text}" is no tensor: {error}') from None


def parse_input(value: Any) -> InputTree:
    """One input of the configuration: a spec string, ``"None"``, ``{ value = "text" }``, a number, a table or an array.

    Raises SpecError; its message begins with the place inside a nested value.
    """
    if isinstance(value, str):
        return _text_input(value)
    if isinstance(value, Mapping):
        if set(value) == {"value"} and isinstance(value["value"], str):
            return InputTree("value", value=value["value"])
        items = tuple([_nested(f"{key}: ", item) for key, item in value.items()])
        return InputTree("dict", items=items, keys=tuple(value))
    if isinstance(value, list):
        return InputTree("list", items=tuple([_nested(f"item {n}: ", item) for n, item in enumerate(value)]))
    if isinstance(value, (bool, int, float)):
        return InputTree("value", value=value)
    raise SpecError(f'a {type(value).__name__} can\'t be passed to a model; write it as text: {{ value = "{value}" }}')


def is_call(text: str) -> bool:
    """Whether the text is ``module:function``."""
    return _CALL.fullmatch(text) is not None


def names_in(spec: TensorSpec) -> tuple[str, ...]:
    """The named dimensions of a spec, in order of appearance, each once."""
    found = [m for dim in spec.dims if isinstance(dim, str) for m in re.findall(r"[^\W\d]\w*", dim)]
    return tuple(dict.fromkeys(found))


def suggestion(word: str, known: list[str] | tuple[str, ...]) -> str:
    """``; did you mean "x"?`` for the known word closest to this one, or nothing."""
    lower = {k.lower().replace("_", "-"): k for k in known}
    close = difflib.get_close_matches(word.lower().replace("_", "-"), list(lower), n=1)
    return f'; did you mean "{lower[close[0]]}"?' if close else ""


def _dtype(name: str) -> str | None:
    name = name.removeprefix("torch.")
    return name if name in _DTYPES else _SHORT.get(name)


def _nested(where: str, value: Any) -> InputTree:
    try:
        return parse_input(value)
    except SpecError as error:
        raise SpecError(f"{where}{error}") from None


def _text_input(text: str) -> InputTree:
    if text == "None":
        return InputTree("value", value=None)
    if "[" in text or _dtype(text) is not None:
        return InputTree("tensor", tensor=parse_tensor(text))
    if is_call(text):
        return InputTree("call", call=text)
    raise SpecError(f'"{text}" is no tensor such as {_EXAMPLE}; to pass the text itself, write {{ value = "{text}" }}')


def _dim(text: str, *, wildcard: bool) -> int | str:
    if not text:
        raise SpecError("a dim is missing between two commas")
    if text == "?":
        if wildcard:
            return "?"
        raise SpecError(
            "? stands for any size, which only an output may have; give the dim a name, as in float32[B, T]"
        )
    if text == "...":
        raise SpecError("... is not supported; write every dim, and one case for each rank")
    return _Expression(text).parse()


class _Expression:
    """A recursive-descent parser of one dim; a constant is folded, so that it is checked once and for all."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: list[str] = []
        for match in _TOKEN.finditer(text):
            part = match.group().strip()
            if match.group("other"):
                raise self._error(f'"{part}" can\'t stand in a dim')
            if keyword.iskeyword(part):
                raise self._error(f'"{part}" is a Python keyword; choose another name')
            self.parts.append(part)
        self.at = 0

    def parse(self) -> int | str:
        """An integer where no name is in it, else the expression without spaces."""
        value = self._sum()
        if self.at < len(self.parts):
            raise self._error(f'"{self.parts[self.at]}" is not expected here')
        if value is None:
            return "".join(self.parts)
        if value < 0:
            raise self._error(
                f"a size can't be {value}; for a size that is not fixed give it a name, as in float32[B, T]"
            )
        return value

    def _sum(self) -> int | None:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> int | None:
        return self._chain(("*", "//"), self._atom)

    def _chain(self, signs: tuple[str, ...], operand: Callable[[], int | None]) -> int | None:
        value = operand()
        while self._peek() in signs:
            sign = self._take()
            value = self._apply(sign, value, operand())
        return value

    def _apply(self, sign: str, left: int | None, right: int | None) -> int | None:
        if sign == "//" and right == 0:
            raise self._error("a division by 0")
        if left is None or right is None:
            return None
        match sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                return left // right

    def _atom(self) -> int | None:
        part = self._take()
        if part == "(":
            value = self._sum()
            if self._take() != ")":
                raise self._error("a closing ) is missing")
            return value
        if part == "-" and self._peek().isdigit():
            return -int(self._take())
        if part.isdigit():
            return int(part)
        if part.isidentifier():
            return None
        raise self._error(f'"{part}" is not expected here' if part else "it ends too early")

    def _peek(self) -> str:
        return self.parts[self.at] if self.at < len(self.parts) else ""

    def _take(self) -> str:
        part = self._peek()
        self.at += 1
        return part

    def _error(self, reason: str) -> SpecError:
        return SpecError(
            f'in the dim "{self.text}" {reason} (a dim is a number, a name, or both with + - * // and parentheses)'
        )
