"""The keys that a project and a model share: dims, batch, timeout and memory."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shapelint.records import DimLimits

if TYPE_CHECKING:
    from shapelint.table import Table

SHARED_KEYS = ("batch", "dims", "timeout", "memory")
DIM_KEYS = ("min", "max", "multiple-of")
_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}

Dims = tuple[tuple[str, DimLimits], ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What was said of sizes and costs; None where nothing was. ``timeout`` in seconds, ``memory`` in bytes."""

    dims: Dims = ()
    batch: tuple[str, ...] | None = None
    timeout: float | None = None
    memory: int | None = None


NO_LIMITS = Limits()


def read_limits(table: Table) -> Limits:
    """The limits a table states. Raises ConfigError for any that can't be kept."""
    return Limits(_dims(table), _batch(table), _timeout(table), _memory(table))


def _dims(table: Table) -> Dims:
    dims = table.table("dims")
    if dims is None:
        return ()
    found = []
    for name in dims.values:
        if not name.isidentifier():
            raise dims.error("no name of a dimension", name)
        limits = dims.table(name)
        if limits is None:
            raise dims.error("expected a table", name)
        found.append((name, _limits(limits)))
    return tuple(found)


def _limits(table: Table) -> DimLimits:
    table.expect(DIM_KEYS)
    low, high, step = [_size(table, key, least) for key, least in zip(DIM_KEYS, (0, 1, 1))]
    first = math.ceil((low or 1) / (step or 1)) * (step or 1)
    if high is not None and first > high:
        reason = f"no multiple of {step} is" if step else "no size is"
        raise table.error(f"{reason} between {low or 1} and {high}")
    return DimLimits(low, high, step)


def _size(table: Table, key: str, least: int) -> int | None:
    value = table.value(key, int)
    if value is not None and value < least:
        raise table.error(f"expected at least {least}, not {value}", key)
    return value if value is None else int(value)


def _batch(table: Table) -> tuple[str, ...] | None:
    names = table.strings("batch", single=True)
    if names == ():
        raise table.error("no name is left for the batch; leave the key out for B, N and batch", "batch")
    for name in names or ():
        if not name.isidentifier():
            raise table.error(f'"{name}" is no name of a dimension', "batch")
    return names


def _timeout(table: Table) -> float | None:
    seconds = table.value("timeout", int, float)
    if seconds is not None and not (seconds > 0 and math.isfinite(seconds)):
        raise table.error(f"expected seconds above 0, not {seconds}", "timeout")
    return seconds if seconds is None else float(seconds)


def _memory(table: Table) -> int | None:
    value = table.value("memory", str, int)
    if value is None:
        return None
    match = re.fullmatch(r"([\d.]+)\s*([a-z]*)", str(value).strip().lower())
    unit = _UNITS.get(match[2]) if match else None
    try:
        size = int(float(match[1]) * unit) if match and unit else 0
    except ValueError:
        size = 0
    if size <= 0:
        raise table.error(f'expected a size such as "4GiB" or a number of bytes, not {value!r}', "memory")
    return size
