"""The edge to user code: the one place where anything it raises is caught."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapelint.trace import frames

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call of user code gave: its value, or what it raised and the user's places that led there."""

    value: Any = None
    error: BaseException | None = None
    stack: tuple[frames.Place, ...] = ()


def call_user(
    function: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Outcome:
    """Calls the user's code. Whatever it raises is a fact about it, SystemExit included.

    Raises KeyboardInterrupt and MemoryError, which are not about the code but end the process's work.
    """
    try:
        return Outcome(function(*args, **(kwargs or {})))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001  # user code may raise anything; it must not end the worker
        return Outcome(error=error, stack=frames.traceback_stack(error))


frames.edge(call_user)
