"""Calls that compute nothing: facts about a tensor (shape, device), and its data, which isn't there.

`HANDLERS` maps a torch function to the one here that answers it. Facts are answered by the tensor itself, but for the
device. Data of a constant is real; any other is invented.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from shapelint.trace import frames, invented
from shapelint.trace.devices import DATA_DEVICE
from shapelint.trace.proxy import MetaTensorProxy, UnknownSize

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.trace.mode import TraceMode

    Handler = Callable[[TraceMode, Any, tuple[Any, ...], dict[str, Any]], Any]

FACTS = (
    "size dim ndimension numel nelement stride storage_offset is_contiguous __len__ element_size is_floating_point is_complex "
    "is_signed is_shared requires_grad_ retain_grad register_hook register_post_accumulate_grad_hook has_names __hash__ __dir__ "
    "__repr__ __str__ is_set_to dim_order is_inference storage untyped_storage _typed_storage data_ptr is_conj is_neg "
    "is_coalesced is_pinned _is_view is_same_size is_distributed __setstate__ _nested_tensor_size backward"
).split()
GETTERS = (
    "shape dtype layout ndim requires_grad is_leaf grad_fn names _version is_sparse is_sparse_csr is_quantized itemsize nbytes "
    "retains_grad output_nr is_nested is_mkldnn _base grad _grad name is_vulkan is_maia _backward_hooks _post_accumulate_grad_hooks"
).split()
ELSEWHERE = "is_cuda is_xpu is_mps is_hpu is_ipu is_xla is_ort is_mtia".split()
FUNCTIONS = (
    "numel is_floating_point is_complex is_same_size result_type is_conj is_neg is_signed is_inference can_cast "
    "promote_types get_default_dtype _has_compatible_shallow_copy_type"
).split()

HANDLERS: dict[Any, Handler] = {}
_RANKS: dict[Any, str] = {}


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()), None)


def _fact(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0] if args else None
    if type(tensor) is MetaTensorProxy:
        return _unknown_fact(mode, func, tensor, args, kwargs)
    return func(*args, **kwargs)


def _rank(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A fact that tells the rank: which place of the project's code asked, and what it was told, is remembered."""
    tensor = args[0] if args else None
    if type(tensor) is MetaTensorProxy:
        return _fact(mode, func, args, kwargs)
    if not mode.quiet and isinstance(tensor, torch.Tensor):
        frame = sys._getframe(2)
        code, index = frame.f_code, frame.f_lasti
        if frames.rank(code) == frames.PROJECT:
            seen = mode.ranks.setdefault((id(code), index, _RANKS[func]), ((code, index), set()))
            seen[1].add(torch.Tensor.dim(tensor))
    return func(*args, **kwargs)


def _unknown_fact(
    mode: TraceMode, func: Any, tensor: MetaTensorProxy, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    if tensor.meta_tensor is not None:
        return func(tensor.meta_tensor, *args[1:], **kwargs)
    del mode
    name = getattr(func, "__name__", "")
    if name == "__get__":
        name = func.__self__.__name__
    if name in ("shape", "size", "stride"):
        return UnknownSize() if name == "shape" or not (args[1:] or kwargs) else invented.InventedInt(1)
    if name in ("dim", "ndim", "ndimension", "numel", "nelement"):
        return invented.InventedInt(4 if (name.startswith("n") and "dim" in name) or name == "dim" else 1)
    return func(*args, **kwargs)


def _device(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func, kwargs
    info = mode.info(args[0])
    return info.device or DATA_DEVICE


def _elsewhere(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del kwargs
    device = mode.info(args[0]).device
    return device is not None and func.__self__.__name__ == f"is_{device.type}"


def _cpu(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func, kwargs
    device = mode.info(args[0]).device
    return device is None or device.type == "cpu"


def _never(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del mode, func, args, kwargs
    return False


def _get_device(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del func
    device = mode.info(_first(args, kwargs)).device
    return -1 if device is None or device.type == "cpu" else device.index or 0


def _set(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``t.data = u``: the object takes over what is known of ``u``, whatever memory either has."""
    del kwargs
    target, value = args
    if func.__self__.__name__ == "data" and isinstance(value, torch.Tensor):
        if target.is_meta == value.is_meta and target.layout == value.layout:
            return func(target, value)
        info, new = mode.info(target), mode.info(value)
        info.constant, info.twin = new.constant and not value.is_meta, new.twin if new.twin is not None else value
        return None
    if func.__self__.__name__ in ("grad", "_grad"):
        return None
    return func(target, value)


# -------------------------------------------------------------------------------------------------------- data


def _is_real(mode: TraceMode, tensors: list[torch.Tensor]) -> bool:
    for tensor in tensors:
        info = mode.info(tensor)
        if not info.constant or tensor.is_meta:
            return False
    return True


def _number(mode: TraceMode, dtype: torch.dtype, frame: Any) -> Any:
    if dtype is torch.bool:
        return invented.decide(frame)
    if dtype.is_floating_point or dtype.is_complex:
        return invented.InventedFloat(0.5)
    return invented.InventedInt(mode.number(frame))


def _item(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if _is_real(mode, [tensor]):
        return func(*args, **kwargs)
    if type(tensor) is not MetaTensorProxy and tensor.numel() != 1:
        raise RuntimeError(f"a Tensor with {tensor.numel()} elements cannot be converted to Scalar")
    return _number(mode, tensor.dtype, sys._getframe(2))


def _to_number(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``int(t)`` and its like: Python takes the mark off, so the number itself must be known again."""
    tensor = args[0]
    if _is_real(mode, [tensor]):
        return func(*args, **kwargs)
    if type(tensor) is not MetaTensorProxy and tensor.numel() != 1:
        raise RuntimeError(f"a Tensor with {tensor.numel()} elements cannot be converted to Scalar")
    name = func.__name__
    if name == "__float__":
        return 0.5
    if name == "__complex__":
        return 0.5 + 0j
    return mode.number(sys._getframe(2))


def _bool(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = _first(args, kwargs)
    if _is_real(mode, [tensor]):
        return func(*args, **kwargs)
    if type(tensor) is not MetaTensorProxy and tensor.numel() != 1:
        if tensor.numel() == 0:
            return False
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return invented.decide(sys._getframe(2))


def _compare(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``torch.equal`` and ``allclose``: an answer that only data could give, unless the shapes give it."""
    tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
    if _is_real(mode, tensors):
        return func(*args, **kwargs)
    if func.__name__ == "equal" and len({tuple(t.shape) for t in tensors if type(t) is not MetaTensorProxy}) > 1:
        return False
    return invented.decide(sys._getframe(2))


def _contains(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _is_real(mode, [a for a in args if isinstance(a, torch.Tensor)]):
        return func(*args, **kwargs)
    return invented.decide(sys._getframe(2))


def _tolist(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if _is_real(mode, [tensor]):
        return func(*args, **kwargs)
    frame = sys._getframe(2)
    if type(tensor) is MetaTensorProxy:
        return [_number(mode, tensor.dtype, frame)]

    def fill(shape: tuple[int, ...]) -> Any:
        if not shape:
            return _number(mode, tensor.dtype, frame)
        return [fill(shape[1:]) for _ in range(shape[0])]

    return fill(tuple(tensor.shape))


def _numpy(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An array of zeros in place of the data; what is computed from it outside torch is not followed."""
    tensor = args[0]
    if _is_real(mode, [tensor]):
        return func(*args, **kwargs)
    return func(torch.zeros(tuple(tensor.shape), dtype=tensor.dtype), *args[1:], **kwargs)


def _format(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``f"{loss:.3f}"``: the text of a number that is made up, for a number that only data could tell."""
    tensor, spec = args[0], args[1] if len(args) > 1 else ""
    if _is_real(mode, [tensor]):
        return func(*args, **kwargs)
    if type(tensor) is MetaTensorProxy or tensor.dim() == 0:
        real = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        return format(0.5 if real else 1, spec)
    if spec:
        raise TypeError("unsupported format string passed to Tensor.__format__")
    return repr(tensor)


def _copy(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``copy.deepcopy(t)``: a clone, known as what ``t`` is."""
    del kwargs
    tensor = args[0]
    memo = args[1] if len(args) > 1 and isinstance(args[1], dict) else {}
    if id(tensor) in memo:
        return memo[id(tensor)]
    info = mode.info(tensor)
    made = (
        tensor.detach().clone()
        if type(tensor) is not torch.nn.Parameter
        else torch.nn.Parameter(tensor.detach().clone(), tensor.requires_grad)
    )
    new = mode.info(made)
    new.constant, new.twin, new.pinned = info.constant, info.twin, info.pinned
    memo[id(tensor)] = made
    del func
    return made


def _plain(mode: TraceMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del mode
    return func(*args, **kwargs)


def _register() -> None:
    tensor = torch.Tensor
    for name in FACTS:
        if hasattr(tensor, name):
            HANDLERS[getattr(tensor, name)] = _fact
    for name in GETTERS:
        if hasattr(tensor, name):
            HANDLERS[getattr(tensor, name).__get__] = _fact
    for name in ("dim", "ndimension", "size"):
        _RANKS[getattr(tensor, name)] = name
    for name in ("ndim", "shape"):
        _RANKS[getattr(tensor, name).__get__] = name
    HANDLERS.update(dict.fromkeys(_RANKS, _rank))
    for name in ELSEWHERE:
        if hasattr(tensor, name):
            HANDLERS[getattr(tensor, name).__get__] = _elsewhere
    for name in FUNCTIONS:
        if hasattr(torch, name):
            HANDLERS[getattr(torch, name)] = _fact
    for name in ("data", "grad", "_grad", "requires_grad", "names", "real", "imag"):
        if hasattr(tensor, name):
            HANDLERS[getattr(tensor, name).__set__] = _set
    HANDLERS[tensor.device.__get__] = _device
    attributes: Any = tensor
    HANDLERS[attributes.is_cpu.__get__] = _cpu
    HANDLERS[attributes.is_meta.__get__] = _never
    HANDLERS[tensor.get_device] = HANDLERS[torch.get_device] = _get_device
    HANDLERS[tensor.item] = _item
    for name in ("__int__", "__float__", "__index__", "__complex__"):
        HANDLERS[getattr(tensor, name)] = _to_number
    HANDLERS[tensor.__bool__] = HANDLERS[tensor.is_nonzero] = HANDLERS[torch.is_nonzero] = _bool
    for name in ("equal", "allclose"):
        HANDLERS[getattr(tensor, name)] = HANDLERS[getattr(torch, name)] = _compare
    HANDLERS[tensor.__contains__] = _contains
    HANDLERS[tensor.tolist] = _tolist
    HANDLERS[tensor.__format__] = _format
    HANDLERS[tensor.numpy] = HANDLERS[tensor.__array__] = _numpy
    HANDLERS[tensor.__deepcopy__] = _copy
    for function in (torch._C._set_grad_enabled, torch._C._get_tracing_state, torch.is_autocast_enabled):
        HANDLERS[function] = _plain


_register()
