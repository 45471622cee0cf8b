"""The settings of a project as ``--show-settings`` prints them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shapelint.records import TraceTarget

if TYPE_CHECKING:
    from shapelint.config import Config


def shown(config: Config) -> str:
    """What holds in a project, one key a line in TOML's notation, under the file that says it."""
    limits, default = config.limits, TraceTarget("", config.root, config.src, ())
    settings: dict[str, Any] = {
        "python": config.python,
        "src": list(config.src),
        "select": list(config.cli_select or config.select),
        "ignore": [*config.ignore, *config.cli_ignore],
        "per-file-ignores": {pattern: list(words) for pattern, words in config.per_file_ignores},
        "exclude": list(config.exclude),
        "baseline": config.baseline or None,
        "batch": list(default.batch if limits.batch is None else limits.batch),
        "dims": {
            name: {"min": size.min, "max": size.max, "multiple-of": size.multiple_of} for name, size in limits.dims
        },
        "timeout": limits.timeout or default.timeout,
        "memory": limits.memory or default.memory,
        "models": [model.target for model in config.models],
    }
    lines = [f"{key} = {_toml(value)}" for key, value in settings.items() if value is not None]
    return f"# {config.path or config.root + ' (no configuration)'}\n" + "\n".join(lines) + "\n\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items() if item is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
