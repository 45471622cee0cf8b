"""A TOML table read with its types checked: every error names the file, the line, the key and the remedy."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from shapelint.specs import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Key = tuple[str | int, ...]
_KINDS = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "an array",
    dict: "a table",
}
_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")


class ConfigError(Exception):
    """A configuration that can't be used; the message names file, line, key and remedy."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a configuration file, with the way to it (``key``) for messages."""

    path: str
    text: str
    key: Key
    values: Mapping[str, Any]

    def error(self, message: str, *below: str | int) -> ConfigError:
        """The error to raise for the key ``below`` this table, or for the table itself."""
        key = (*self.key, *below)
        line = self.line(*below)
        where = f"{_shown(self.path)}:{line}" if line else _shown(self.path)
        return ConfigError(f"{where}: {key_text(key)}{': ' if key else ''}{message}")

    def line(self, *below: str | int) -> int:
        """The line, from 1, on which the key below this table is set; 0 if that can't be told."""
        return line_of(self.text, (*self.key, *below))

    def expect(self, known: Sequence[str]) -> None:
        """Raises ConfigError for the first key that is none of ``known``."""
        for key in self.values:
            if key not in known:
                hint = suggestion(key, list(known)) or f"; known are {', '.join(sorted(known))}"
                raise self.error(f"unknown key{hint}", key)

    def value(self, key: str, *kinds: type) -> Any:
        """What stands under the key, None where nothing does. Raises ConfigError unless it is of one of the kinds."""
        value = self.values.get(key)
        if value is None or type(value) in kinds:
            return value
        raise self.error(f"expected {_kinds(kinds)}, not {_described(value)}", key)

    def string(self, key: str) -> str | None:
        """The text under the key, if any."""
        value = self.value(key, str)
        return value if value is None else str(value)

    def strings(self, key: str, *, single: bool = False) -> tuple[str, ...] | None:
        """The array of texts under the key, if any; with ``single`` one text stands for an array of it."""
        value = self.value(key, list, *((str,) if single else ()))
        if isinstance(value, str):
            return (value,)
        for n, item in enumerate(value or ()):
            if not isinstance(item, str):
                raise self.error(f"item {n} must be text, not {_described(item)}", key)
        return None if value is None else tuple(value)

    def table(self, key: str) -> Table | None:
        """The table under the key, if any."""
        value = self.value(key, dict)
        return None if value is None else Table(self.path, self.text, (*self.key, key), value)

    def tables(self, key: str) -> tuple[Table, ...]:
        """The array of tables under the key; empty where there is none."""
        value = self.value(key, list) or []
        for n, item in enumerate(value):
            if not isinstance(item, dict):
                raise self.error(f"item {n} must be a table, not {_described(item)}", key)
        return tuple([Table(self.path, self.text, (*self.key, key, n), item) for n, item in enumerate(value)])


def read(path: str, table: tuple[str, ...] = ()) -> Table | None:
    """The table at ``table`` in a TOML file, None where the file has none. Raises ConfigError if it can't be read."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{_shown(path)}: can't be read: {error}") from error
    if table and table[-1] not in text:
        return None  # most pyproject.toml files never mention the tool: nothing to parse
    try:
        values: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        where = f"{_shown(path)}:{at[1]}" if at else _shown(path)
        raise ConfigError(f"{where}: no valid TOML: {error}") from error
    for n, name in enumerate(table):
        if not isinstance(values, dict):
            raise Table(path, text, table[:n], {}).error(f"expected a table, not {_described(values)}")
        if name not in values:
            return None
        values = values[name]
    if not isinstance(values, dict):
        raise Table(path, text, table, {}).error(f"expected a table, not {_described(values)}")
    return Table(path, text, table, values)


def key_text(key: Key) -> str:
    """The key as a person would write it: ``models[2].inputs.x``."""
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f"{'.' if text else ''}{part if re.fullmatch(r'[A-Za-z0-9_-]+', part) else repr(part)}"
    return text


def line_of(text: str, key: Key) -> int:
    """The line (from 1) on which the key is set, else the one of the closest table around it; 0 if that is nowhere.

    A reading of headers and ``key =`` by eye, not of TOML: tomllib keeps no positions, and a near line is enough.
    """
    names = tuple([part for part in key if isinstance(part, str)])
    indices = {
        tuple(p for p in key[:n] if isinstance(p, str)): part for n, part in enumerate(key) if isinstance(part, int)
    }
    best, depth = 0, 0
    for number, found, counts in _keys(text):
        if len(found) > depth and found == names[: len(found)]:
            if any(counts.get(name, index) != index for name, index in indices.items()):
                continue
            best, depth = number, len(found)
    return best


@lru_cache(maxsize=8)
def _keys(text: str) -> tuple[tuple[int, tuple[str, ...], dict[tuple[str, ...], int]], ...]:
    """Each line that sets a key or opens a table: its number, the key, the index that each array of tables is at."""
    keys = []
    section: tuple[str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header:
            section = _split(header[2])
            if header[1] == "[[":
                below = [c for c in counts if len(c) > len(section) and c[: len(section)] == section]
                counts = {name: count for name, count in counts.items() if name not in below}
                counts[section] = counts.get(section, -1) + 1
            keys.append((number, section, counts))
        elif "=" in line:
            keys.append((number, (*section, *_split(line.split("=", 1)[0])), counts))
    return tuple(keys)


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(a or b or c for a, b, c in re.findall(r'"([^"]*)"|\'([^\']*)\'|([^\s."\']+)', dotted))


def _kinds(kinds: tuple[type, ...]) -> str:
    return " or ".join(_KINDS[kind] for kind in kinds if not (kind is int and float in kinds))


def _described(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return f'"{value}"' if isinstance(value, str) else _KINDS.get(type(value), f"a {type(value).__name__}")


def _shown(path: str) -> str:
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative
