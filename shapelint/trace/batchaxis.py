"""Which axis of a value is the batch."""

from __future__ import annotations

from typing import Any


def follow(short: Any, args: Any, kwargs: Any, leaves: Any, infos: Any, outputs: Any, batch: int) -> list[Any]:
    return [None] * len(outputs)


def assume(leaves: Any, infos: Any, outputs: Any, batch: int) -> list[Any]:
    return [None] * len(outputs)


def of_input(tensor: Any, batch: int) -> Any:
    return None
