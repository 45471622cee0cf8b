"""torch: the meta tensor tracer; and the pool that starts workers, which needs no torch.

`MetaTensorTracer` and `MetaTensorProxy` are loaded on first use, so that the front end can import
``shapelint.trace.pool`` without torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shapelint.trace.tracer import MetaTensorProxy, MetaTensorTracer

__all__ = ["MetaTensorProxy", "MetaTensorTracer"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from importlib import import_module  # noqa: PLC0415  # torch is imported only when the tracer is asked for

        return getattr(import_module("shapelint.trace.tracer"), name)
    raise AttributeError(name)
