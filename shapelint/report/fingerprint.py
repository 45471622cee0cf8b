"""GitHub's ``primaryLocationLineHash``: a hash for each line of a file that survives edits elsewhere in it.

GitHub code scanning computes the same value when a SARIF file is uploaded (``src/fingerprints.ts`` of
github/codeql-action) and warns about every result that brings another one.
"""

from __future__ import annotations

import struct
from collections import Counter

_WINDOW = 100
_BASE = 37
_MASK = (1 << 64) - 1
_DROP = pow(_BASE, _WINDOW, 1 << 64)
_BLANKS = frozenset((0x20, 0x09))
_CR, _LF = 0x0D, 0x0A
_END_OF_FILE = 0xFFFF


def line_hashes(data: bytes) -> dict[int, str]:
    """The hash of each line (from 1) of a file with this content, as ``hash:count``.

    The hash of a line covers the 100 UTF-16 units that follow its start, spaces and tabs left out and every line end
    read as a line feed: ``sum(unit[i] * 37 ** (99 - i))`` modulo 2**64 in hexadecimal. Behind the last unit stands
    65535, then zeros. ``count`` numbers the lines of the file that share a hash. Bytes that aren't UTF-8 count as
    U+FFFD.
    """
    units, starts = _units(data)
    prefix = [0]
    for unit in [*units, *([0] * _WINDOW)]:
        prefix.append((prefix[-1] * _BASE + unit) & _MASK)
    seen: Counter[int] = Counter()
    hashes: dict[int, str] = {}
    for line, start in enumerate(starts, 1):
        value = (prefix[start + _WINDOW] - prefix[start] * _DROP) & _MASK
        seen[value] += 1
        hashes[line] = f"{value:x}:{seen[value]}"
    return hashes


def _units(data: bytes) -> tuple[list[int], list[int]]:
    """The units that are hashed, and where among them each line starts."""
    # The byte order mark stays, as it does in a Node.js stream: it is the first unit of line 1.
    wide = data.decode("utf-8", "replace").encode("utf-16-le")
    units: list[int] = []
    starts = [0]
    after_cr = False
    for unit, *_ in struct.iter_unpack("<H", wide):
        if unit in _BLANKS or (after_cr and unit == _LF):
            after_cr = False
            continue
        after_cr = unit == _CR
        if after_cr or unit == _LF:
            units.append(_LF)
            starts.append(len(units))
        else:
            units.append(unit)
    units.append(_END_OF_FILE)
    return units, starts
