"""A value of the trace whose meta tensor need not be known."""

from __future__ import annotations

import dis
import sys
import types
from typing import Any

import torch

from shapelint.trace.invented import InventedInt


class UnknownSize(tuple):  # type: ignore[type-arg]  # a torch.Size can't have a length that isn't known
    """The shape of a value of unknown shape: every size is invented, and it unpacks into as many as are wanted."""

    __slots__ = ()

    def __iter__(self) -> Any:
        wanted = unpacked(sys._getframe(1))
        return iter([InventedInt(1)] * (4 if wanted is None else wanted))

    def __getitem__(self, index: Any) -> Any:
        return self if isinstance(index, slice) else InventedInt(1)

    def __len__(self) -> int:
        return 4

    def numel(self) -> int:  # noqa: D102
        return InventedInt(1)


def unpacked(frame: types.FrameType) -> int | None:
    """How many names the statement that ``frame`` stands at unpacks into; None where it doesn't unpack a fixed number."""
    code = frame.f_code
    for instruction in dis.get_instructions(code):
        if instruction.offset == frame.f_lasti:
            if instruction.opname == "UNPACK_SEQUENCE":
                return instruction.arg
            if instruction.opname == "UNPACK_EX" and instruction.arg is not None:
                return (instruction.arg & 0xFF) + (instruction.arg >> 8)
    return None


class MetaTensorProxy(torch.Tensor):
    """A value flowing through a trace.

    Values whose meta tensor is known are plain meta tensors. One of this class has none yet: it takes part in any torch
    call, arithmetic and unpacking, and what comes out has no shape either, until `install_meta_tensor` tells it.
    """

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def without_shape() -> MetaTensorProxy:
        """A new value of which nothing is known."""
        return torch.empty(0, device="meta").as_subclass(MetaTensorProxy)

    def install_meta_tensor(self, meta: torch.Tensor) -> MetaTensorProxy:
        """Attaches what is known of this value: from now on it has the shape, dtype and strides of ``meta``.

        Raises TypeError if ``meta`` is no tensor on the meta device.
        """
        if not isinstance(meta, torch.Tensor) or meta.device.type != "meta":
            raise TypeError("install_meta_tensor takes a tensor on the meta device")
        self.__dict__["_meta_tensor"] = meta
        return self

    @property
    def meta_tensor(self) -> torch.Tensor | None:
        """The meta tensor that was attached, or None."""
        found: torch.Tensor | None = self.__dict__.get("_meta_tensor")
        return found

    def __getattr__(self, name: str) -> Any:
        """A field of a result with names, such as ``values``, is as unknown as the result."""
        if name.startswith("_") or self.meta_tensor is not None:
            raise AttributeError(name)
        return self.__class__.without_shape()

    def __iter__(self) -> Any:
        wanted = unpacked(sys._getframe(1))
        if self.meta_tensor is not None:
            return iter(self.meta_tensor)
        return iter([self.__class__.without_shape() for _ in range(1 if wanted is None else wanted)])

    def __len__(self) -> int:
        return 1 if self.meta_tensor is None else len(self.meta_tensor)


_PAIRS = frozenset("topk sort kthvalue mode cummax cummin aminmax slogdet qr svd".split())
_PAIRS_WITH_DIM = frozenset("max min median nanmedian".split())


def without_shape(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the function ``short`` returns where nothing is known: a new value, or the names it has with a value each."""
    along = "dim" in kwargs or (len(args) > 1 and not isinstance(args[1], torch.Tensor))
    if short in _PAIRS or (short in _PAIRS_WITH_DIM and along):
        kind = getattr(torch.return_types, short)
        return kind([MetaTensorProxy.without_shape() for _ in range(kind.n_sequence_fields)])
    return MetaTensorProxy.without_shape()
