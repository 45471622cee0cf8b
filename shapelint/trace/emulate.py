"""Results that depend on data, or on a device that isn't there: what a call gives without running it.

Each of `KERNELS` takes the mode, the function, its arguments on meta tensors and as the user gave them, and returns the result or
NotImplemented, which means that torch's own meta kernel does.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import torch

from shapelint.trace import indexing, recurrent
from shapelint.trace.devices import DATA_DEVICE
from shapelint.trace.log import map_tensors, tensors_in
from shapelint.trace.metas import empty

if TYPE_CHECKING:
    from shapelint.trace.mode import TraceMode


# ---------------------------------------------------------------------------------------------------- devices

_TYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "LongTensor": torch.int64,
    "IntTensor": torch.int32,
    "ShortTensor": torch.int16,
    "CharTensor": torch.int8,
    "ByteTensor": torch.uint8,
    "BoolTensor": torch.bool,
}


def stay(
    short: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], torch.device | None]:
    """The call without its device, and the device it asked for (None where that is the data's own)."""
    asked: Any = kwargs.get("device")
    kept = {key: value for key, value in kwargs.items() if key not in ("device", "pin_memory", "non_blocking")}
    if short == "to":
        rest = []
        for item in args[1:]:
            if isinstance(item, torch.device) or (isinstance(item, (str, int)) and not isinstance(item, bool)):
                asked = item
            else:
                rest.append(item)
        if rest and isinstance(rest[0], torch.Tensor):
            rest[0] = rest[0].dtype
        rest = [item for item in rest if isinstance(item, (torch.dtype, torch.memory_format))]
        if not rest and kept.get("dtype") is None:
            kept.pop("dtype", None)
            rest = [args[0].dtype]
        args = (args[0], *rest)
    elif short in ("cuda", "xpu", "cpu"):
        asked = short if short != "cpu" else None
        args, kept = (args[0],), {}
    elif short == "type" and len(args) > 1 and not isinstance(args[1], torch.dtype):
        name = args[1] if isinstance(args[1], str) else getattr(args[1], "__name__", "")
        asked = "cuda" if "cuda" in str(args[1]) else None
        args = (args[0], _TYPES.get(name.rsplit(".", 1)[-1], args[0].dtype))
    if asked is None or asked is DATA_DEVICE:
        return args, kept, None
    device = torch.device("cuda", asked) if isinstance(asked, int) else torch.device(asked)
    return args, kept, None if device.type in ("cpu", "meta") else device


def _same(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del mode, func, kwargs
    return args[0]


# ---------------------------------------------------------------------------------------------- sizes from data


def _count(mode: TraceMode) -> int:
    return mode.number(sys._getframe(1))


def _nonzero(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func
    tensor = args[0]
    n = mode.chosen(tensor, sys._getframe())
    if kwargs.get("as_tuple") or (len(args) > 1 and args[1]):
        return tuple(empty((n,)) for _ in range(max(tensor.dim(), 1)))
    return empty((n, tensor.dim()))


def _where(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) + len(kwargs) > 1:
        if args and args[0].dtype is torch.uint8:
            # Eager mode takes bytes for a mask still, and warns.
            return func(args[0].bool(), *args[1:], **kwargs)
        return NotImplemented
    return _nonzero(mode, func, (args[0] if args else kwargs["condition"],), {"as_tuple": True})


def _masked_select(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func
    mask = args[1] if len(args) > 1 else kwargs["mask"]
    torch.broadcast_shapes(args[0].shape, mask.shape)  # type: ignore[no-untyped-call]  # torch types it nowhere
    return empty((mode.chosen(mask, sys._getframe()),), args[0].dtype)


def _unique(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor, n = args[0], _count(mode)
    consecutive = func.__name__ == "unique_consecutive"
    names = (
        ("return_inverse", "return_counts", "dim")
        if consecutive
        else ("sorted", "return_inverse", "return_counts", "dim")
    )
    given = {**dict(zip(names, args[1:])), **kwargs}
    dim = given.get("dim")
    shape = list(tensor.shape)
    if dim is None:
        values = empty((n,), tensor.dtype)
    else:
        shape[dim] = n
        values = empty(shape, tensor.dtype)
    out = [values]
    if given.get("return_inverse"):
        out.append(empty(tensor.shape if dim is None else (tensor.shape[dim],)))
    if given.get("return_counts"):
        out.append(empty((n,)))
    return out[0] if len(out) == 1 else tuple(out)


def _repeat_interleave(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func
    given = {**dict(zip(("input", "repeats", "dim"), args)), **kwargs}
    tensor, repeats, dim = given.get("input", given.get("self")), given.get("repeats"), given.get("dim")
    if repeats is None and isinstance(tensor, torch.Tensor):
        return empty((given.get("output_size") or _count(mode),))
    if not isinstance(repeats, torch.Tensor) or not isinstance(tensor, torch.Tensor):
        return NotImplemented
    size = given.get("output_size")
    if repeats.dim() == 1 and repeats.numel() not in (1, tensor.numel() if dim is None else tensor.shape[dim]):
        raise RuntimeError("repeats must have the same size as input along dim")
    n = size if size is not None else _count(mode)
    shape = list(tensor.shape) if dim is not None else [n]
    if dim is not None:
        shape[dim] = n
    return empty(shape, tensor.dtype)


def _bincount(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func
    given = {**dict(zip(("input", "weights", "minlength"), args)), **kwargs}
    if args[0].dim() != 1 or args[0].dtype.is_floating_point:
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    weights = given.get("weights")
    dtype = torch.int64 if weights is None else (weights.dtype if weights.dtype == torch.float32 else torch.float64)
    return empty((given.get("minlength") or _count(mode),), dtype)


def _one_hot(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func
    given = {**dict(zip(("tensor", "num_classes"), args)), **kwargs}
    tensor: Any = given.get("tensor", given.get("input"))
    if tensor.dtype != torch.int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}.")
    classes = given.get("num_classes", -1)
    return empty((*tensor.shape, classes if classes > 0 else _count(mode)))


def _ctc_loss(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del mode, func
    names = ("log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction", "zero_infinity")
    given = {**dict(zip(names, args)), **kwargs}
    probs, batched = given["log_probs"], given["log_probs"].dim() == 3  # noqa: PLR2004  # [T, B, C]
    batch = probs.shape[1] if batched else 1
    for name in ("input_lengths", "target_lengths"):
        lengths = given[name]
        count = lengths.numel() if isinstance(lengths, torch.Tensor) else len(lengths)
        if count != batch:
            raise RuntimeError(f"{name} must be of size batch_size: expected {batch}, got {count}")
    targets = given["targets"]
    if targets.dim() == 2 and targets.shape[0] != batch:  # noqa: PLR2004  # [B, S]
        raise RuntimeError(f"Expected targets to have batch size {batch}, got {targets.shape[0]}")
    if targets.dtype not in (torch.int64, torch.int32):
        raise RuntimeError("ctc_loss: targets must be integers")
    none = given.get("reduction", "mean") in ("none", 0)
    return empty((batch,) if none and batched else (), probs.dtype)


def _covariance(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``cov`` and ``corrcoef``: each variable, a row, against each."""
    del mode, func, kwargs
    rows = 2
    if args[0].dim() > rows:
        raise RuntimeError(f"expected input to have two or fewer dimensions but got an input with {args[0].dim()}")
    return empty((args[0].shape[0],) * 2 if args[0].dim() == rows else (), args[0].dtype)


def _combinations(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del mode, func
    given = {**dict(zip(("input", "r", "with_replacement"), args)), **kwargs}
    tensor, chosen = given["input"], given.get("r", 2)
    if tensor.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")
    of = tensor.shape[0] + (chosen - 1 if given.get("with_replacement") else 0)
    return empty((math.comb(of, chosen), chosen), tensor.dtype)


def _istft(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As many samples as the hops between the frames cover, or as were asked for."""
    del mode, func
    names = "input n_fft hop_length win_length window center normalized onesided length return_complex".split()
    given = {**dict(zip(names, args)), **kwargs}
    tensor, size = given["input"], given["n_fft"]
    rows = size if given.get("onesided") is False else size // 2 + 1
    if not tensor.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if tensor.shape[-2] != rows:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 "
            f"= {rows}, but got {tensor.shape[-2]}"
        )
    hop = given.get("hop_length") or size // 4
    whole = size + hop * (tensor.shape[-1] - 1)
    length = given.get("length") or (whole - 2 * (size // 2) if given.get("center", True) else whole)
    real = torch.float64 if tensor.dtype is torch.complex128 else torch.float32
    return empty((*tensor.shape[:-2], length), tensor.dtype if given.get("return_complex") else real)


def _classes(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Class numbers may be bytes, which the meta kernel refuses."""
    del mode
    target = args[1] if len(args) > 1 else kwargs.get("target")
    if not isinstance(target, torch.Tensor) or target.dtype is not torch.uint8:
        return NotImplemented
    given = {**dict(zip(("input", "target"), args)), **kwargs, "target": target.long()}
    return func(given.pop("input"), given.pop("target"), *args[2:], **given)


def _grouped(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A product for each group of rows, as experts have it: the meta kernel of torch 2.13 takes bfloat16 alone."""
    del mode
    given = args[0].dtype
    if given is torch.bfloat16 or not given.is_floating_point:
        return NotImplemented

    def narrow(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(torch.bfloat16) if tensor.dtype is given else tensor

    return func(*map_tensors(args, narrow), **map_tensors(kwargs, narrow)).to(given)


def _arange(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A range whose ends are data: as long as the number that is made up for its last end."""
    del args
    return func(_count(mode), device="meta", **{key: kwargs[key] for key in ("dtype",) if key in kwargs})


def _sparse_mm(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del mode, func, kwargs
    tensors: list[torch.Tensor] = []
    tensors_in(args, tensors)
    if not any(t.layout is not torch.strided for t in tensors[:2]):
        return NotImplemented
    left, right = tensors[:2]
    if left.shape[-1] != right.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_by(left)} and {_by(right)})")
    return empty((left.shape[0], *right.shape[1:]), right.dtype)


def _by(tensor: torch.Tensor) -> str:
    return "x".join(map(str, tensor.shape))


def _random_choice(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del mode, func
    given = {**dict(zip(("input", "num_samples"), args)), **kwargs}
    return empty((*given["input"].shape[:-1], given["num_samples"]))


def _unaligned(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """No: a TransformerEncoder asks whether the padding stands at the end, for a faster way to the same shapes."""
    return False


KERNELS: dict[str, Any] = {
    "nonzero": _nonzero,
    "argwhere": _nonzero,
    "where": _where,
    "masked_select": _masked_select,
    "unique": _unique,
    "unique_consecutive": _unique,
    "repeat_interleave": _repeat_interleave,
    "bincount": _bincount,
    "one_hot": _one_hot,
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "_pack_padded_sequence": recurrent.pack,
    "_pad_packed_sequence": recurrent.pad_packed,
    "lstm": recurrent.recurrent,
    "gru": recurrent.recurrent,
    "rnn_tanh": recurrent.recurrent,
    "rnn_relu": recurrent.recurrent,
    "ctc_loss": _ctc_loss,
    "grouped_mm": _grouped,
    "_grouped_mm": _grouped,
    "cov": _covariance,
    "corrcoef": _covariance,
    "combinations": _combinations,
    "istft": _istft,
    "cross_entropy": _classes,
    "nll_loss": _classes,
    "arange": _arange,
    "mm": _sparse_mm,
    "spmm": _sparse_mm,
    "_sparse_mm": _sparse_mm,
    "multinomial": _random_choice,
    "_nested_tensor_from_mask_left_aligned": _unaligned,
    "cuda": _same,
    "cpu": _same,
    "xpu": _same,
}
