"""Turns sarif-om objects into JSON values, by the ``schema_property_name`` each attribute carries.

Own code because jschema-to-python's ``to_json`` drops ``level: "warning"``, writes NaN and takes seven times as long.
"""

from __future__ import annotations

import json
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

# sarif-om 1.0.4 writes Suppression.state where the standard says `status`.
_RENAMED = {("Suppression", "state"): "status"}
# Written also where they equal the schema's default: GitHub takes a missing level from elsewhere.
_ALWAYS = frozenset(("level",))
# The place of a run's results in an indented document; no string can hold it, since quotes are escaped there.
_NO_RESULTS = '\n   "results": []'


def to_json(value: Any) -> Any:
    """The value as dicts, lists and plain values. None and defaults are left out, but for ``level``.

    Raises TypeError for an object that is neither JSON nor of sarif-om.
    """
    if isinstance(value, str):
        return _valid(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Enum):
        return to_json(value.value)
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {_valid(key): to_json(item) for key, item in value.items()}
    written: dict[str, Any] = {}
    for attribute, name, default in _attributes(value.__class__):
        item = getattr(value, attribute)
        if item is not None and (name in _ALWAYS or item != default):
            written[name] = to_json(item)
    return written


def dumps(document: dict[str, Any]) -> str:
    """The document as text with each result on a line, the same bytes for the same document.

    Raises ValueError for NaN and infinities.
    """
    (run,) = document["runs"]
    results = [json.dumps(result, ensure_ascii=False, allow_nan=False) for result in run["results"]]
    frame = {**document, "runs": [{**run, "results": []}]}
    # Indenting is left to json only for the frame: it falls back to slow code, four seconds for 10,000 results.
    text = json.dumps(frame, ensure_ascii=False, allow_nan=False, indent=1)
    if results:
        listed = ",\n    ".join(results)
        text = text.replace(_NO_RESULTS, f"{_NO_RESULTS[:-1]}\n    {listed}\n   ]", 1)
    return text + "\n"


@cache
def _attributes(kind: Hashable) -> tuple[tuple[str, str, Any], ...]:
    """Attribute, JSON name and default of each attribute, ``$schema`` and ``version`` first as readers expect it."""
    kind_name = getattr(kind, "__name__", "")
    found = []
    for attribute in getattr(kind, "__attrs_attrs__", ()):
        name = attribute.metadata["schema_property_name"]
        default = attribute.default
        factory = getattr(default, "factory", None)
        found.append((attribute.name, _RENAMED.get((kind_name, name), name), factory() if factory else default))
    if not found:
        raise TypeError(f"not a SARIF object: {kind_name}")
    return tuple(sorted(found, key=lambda entry: entry[1] not in ("$schema", "version")))


def _valid(text: str) -> str:
    """The text without lone surrogates, which no encoding of JSON can hold."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
