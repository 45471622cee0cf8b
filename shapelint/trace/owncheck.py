"""Where a meta kernel and eager mode disagree: what eager rejects and meta accepts is checked here.

Found by running the same calls on CPU and on meta tensors (``tests/test_meta_against_eager.py``).
"""

from __future__ import annotations

from typing import Any

import torch

_NAMES = {
    torch.float32: "Float",
    torch.float64: "Double",
    torch.float16: "Half",
    torch.bfloat16: "BFloat16",
    torch.int64: "Long",
    torch.int32: "Int",
    torch.bool: "Bool",
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.complex64: "ComplexFloat",
}


def name(dtype: torch.dtype) -> str:
    """The name that torch's messages use: ``Float`` for float32."""
    return _NAMES.get(dtype, str(dtype)[6:])


def is_gap(error: BaseException) -> bool:
    """Whether the error only says that there is no meta kernel, or that a meta tensor has no data."""
    text = str(error)
    if isinstance(error, NotImplementedError):
        return "aten::" in text or "meta tensor" in text.lower() or "Meta" in text
    return any(
        part in text
        for part in (
            "Cannot copy out of meta tensor",
            "cannot be called on meta tensors",
            "on the meta device",
            "is on the meta device",
            "'Meta' backend",
            "data is not allocated yet",
            "DynamicOutputShape",
            "not on the expected device meta",
        )
    )


def _same_dtype(first: Any, second: Any, text: str) -> None:
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor) and first.dtype != second.dtype:
        raise RuntimeError(text.format(name(first.dtype), name(second.dtype)))


_PRODUCT = "mat1 and mat2 must have the same dtype, but got {} and {}"


def _linear(input: Any, weight: Any, bias: Any = None) -> None:  # noqa: A002
    _same_dtype(input, weight, _PRODUCT)
    _same_dtype(input, bias, "self and mat2 must have the same dtype, but got {1} and {0}")


def _product(input: Any, other: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest
    if other is None:
        other = kwargs.get("mat2", kwargs.get("other", kwargs.get("tensor2", kwargs.get("vec"))))
    _same_dtype(input, other, _PRODUCT)


def _add_product(input: Any, first: Any = None, second: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest
    first = first if first is not None else kwargs.get("mat1", kwargs.get("batch1"))
    second = second if second is not None else kwargs.get("mat2", kwargs.get("batch2"))
    _same_dtype(first, second, _PRODUCT)
    _same_dtype(input, first, "self and mat2 must have the same dtype, but got {} and {}")


def _convolution(input: Any = None, weight: Any = None, bias: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest, kwargs
    _same_dtype(input, weight, "Input type ({}) and weight type ({}) should be the same")
    _same_dtype(input, bias, "Input type ({}) and bias type ({}) should be the same")


def _index_dtype(index: Any) -> None:
    if isinstance(index, torch.Tensor) and index.dtype not in (torch.int64, torch.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{name(index.dtype)}Tensor instead"
        )


def _embedding(input: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest, kwargs
    _index_dtype(input)


def _class_target(input: Any = None, target: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest, kwargs
    if not isinstance(input, torch.Tensor) or not isinstance(target, torch.Tensor):
        return
    if target.shape == input.shape and target.is_floating_point():
        return
    if target.dtype not in (torch.int64, torch.uint8):
        if target.is_floating_point():
            raise RuntimeError(f"expected target dtype to be Long or Byte, but got {name(target.dtype)}")
        raise RuntimeError(f"expected scalar type Long but found {name(target.dtype)}")


def _index(input: Any = None, dim: Any = None, index: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del input, dim, rest
    index = index if index is not None else kwargs.get("index")
    if isinstance(index, torch.Tensor) and index.dtype not in (torch.int64, torch.int32):
        raise RuntimeError("expected index to be an integer tensor (int32 or int64), but got " + name(index.dtype))


def _index_long(input: Any = None, dim: Any = None, index: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del input, dim, rest
    index = index if index is not None else kwargs.get("index")
    if isinstance(index, torch.Tensor) and index.dtype not in (torch.int64, torch.int32):
        raise RuntimeError("gather(): Expected dtype int64 for index")


CHECKS: dict[str, Any] = {
    "linear": _linear,
    "matmul": _product,
    "mm": _product,
    "bmm": _product,
    "mv": _product,
    "dot": _product,
    "addmm": _add_product,
    "baddbmm": _add_product,
    "addbmm": _add_product,
    "embedding": _embedding,
    "cross_entropy": _class_target,
    "nll_loss": _class_target,
    "index_select": _index,
    "gather": _index_long,
    "scatter": _index_long,
    "scatter_": _index_long,
    **{f"conv{n}d": _convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _convolution for n in (1, 2, 3)},
}
