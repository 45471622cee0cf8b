"""Records as JSON values and back: how they cross the process boundary."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

from shapelint import records

_T = TypeVar("_T")


def encode(record: Any) -> Any:
    """The record as JSON values: a dataclass is the list of its fields, in order."""
    if is_dataclass(record):
        return [encode(getattr(record, name)) for name in _names(typing.cast("Any", type(record)))]
    if isinstance(record, (tuple, list)):
        return [encode(item) for item in record]
    return record


def decode(kind: type[_T], data: Any) -> _T:
    """The record that `encode` wrote; ``kind`` is its dataclass. Raises ValueError for data of another shape."""
    try:
        return typing.cast("_T", _reader(typing.cast("Any", kind))(data))
    except (TypeError, IndexError, KeyError) as error:
        message = f"not a {kind.__name__}: {error}"
        raise ValueError(message) from error


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


@cache
def _reader(kind: Any) -> typing.Callable[[Any], Any]:
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind, vars(records))
        # Resolved at first use: InputTree and Argument contain themselves.
        readers: list[typing.Callable[[Any], Any]] = []

        def read(data: Any) -> Any:
            if not readers:
                readers.extend(_reader(hints[name]) for name in _names(typing.cast("Any", kind)))
            if len(data) != len(readers):
                raise ValueError(kind)
            return typing.cast("Any", kind)(*[r(d) for r, d in zip(readers, data)])

        return read
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if len(args) == 2 and args[1] is Ellipsis:  # noqa: PLR2004  # tuple[X, ...]
            item = _reader(args[0])
            return lambda data: tuple([item(d) for d in data])
        parts = [_reader(a) for a in args]
        return lambda data: tuple([p(d) for p, d in zip(parts, data)])
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in args if is_dataclass(a) or typing.get_origin(a) is tuple]
        if inner:
            some = _reader(inner[0])
            return lambda data: None if data is None else some(data)
    if kind is Any:
        return _frozen
    return lambda data: data


def _frozen(data: Any) -> Any:
    return data
