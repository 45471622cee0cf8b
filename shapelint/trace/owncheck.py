"""Where a meta kernel and eager mode disagree on shapes: what eager rejects and meta accepts is checked here.

Found by running the same calls on CPU and on meta tensors (``tests/test_meta_against_eager.py``). Each check has the arguments of its
function, and raises what the CPU's kernel raises, in its words. What kernels refuse because of a dtype is asked in `dtypes`.
"""

from __future__ import annotations

from typing import Any

import torch


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
            "no fake impl registered",
        )
    )


# ------------------------------------------------------------------------------------------------- convolutions


def _convolution(
    input: Any,  # noqa: A002  # torch's own name
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> None:
    del input, stride, dilation
    out = weight.shape[0]
    if groups > 0 and out % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{list(weight.shape)}] instead"
        )
    _bias(bias, out, f"Given weight of size {list(weight.shape)}")
    _padding(padding)


def _transposed(
    input: Any,  # noqa: A002  # torch's own name
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> None:
    size, spatial = list(weight.shape), weight.dim() - 2
    if groups > 0 and size[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"[{size}] instead"
        )
    channels = input.shape[-spatial - 1] if input.dim() > spatial else None
    if channels is not None and channels != size[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {size}, expected input{list(input.shape)} to have {size[0]} channels, but "
            f"got {channels} channels instead"
        )
    _bias(bias, size[1] * groups, f"Given transposed=1, weight of size {size}")
    _padding(padding)
    for more, step, gap in zip(_each(output_padding, spatial), _each(stride, spatial), _each(dilation, spatial)):
        if more >= step and more >= gap:
            raise RuntimeError(
                f"output padding must be smaller than either stride or dilation, but got output_padding: {more} stride: "
                f"{step} dilation: {gap}"
            )


def _each(value: Any, count: int) -> list[int]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values


def _bias(bias: Any, out: int, given: str) -> None:
    if bias is not None and tuple(bias.shape) != (out,):
        raise RuntimeError(
            f"{given}, expected bias to be 1-dimensional with {out} elements, but got bias of size {list(bias.shape)} instead"
        )


def _padding(padding: Any) -> None:
    if not isinstance(padding, str) and min(_each(padding, 1), default=0) < 0:
        raise RuntimeError("negative padding is not supported")


# ------------------------------------------------------------------------------------------------- along an axis


def _along(input: Any, dim: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest, kwargs
    rank = max(input.dim(), 1)
    if isinstance(dim, int) and not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")


def _sorted(input: Any, dim: Any = -1, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    _along(input, dim, *rest, **kwargs)


def _largest(input: Any, dim: Any = None, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest, kwargs
    if dim is None and input.numel() == 0:
        raise RuntimeError(
            "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
            "argument."
        )
    if isinstance(dim, int) and -input.dim() <= dim < input.dim() and input.shape[dim] == 0:
        raise IndexError(f"max(): Expected reduction dim {dim} to have non-zero size.")


def _bucketize(input: Any, boundaries: Any, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del input, rest, kwargs
    if boundaries.dim() != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")


def _meshgrid(*tensors: Any, **kwargs: Any) -> None:
    del kwargs
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    for tensor in given:
        if tensor.dim() > 1:
            raise RuntimeError(
                f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: one of size {list(tensor.shape)}"
            )


# ------------------------------------------------------------------------------------------------------- indices


def _index_select(input: Any, dim: Any, index: Any) -> None:  # noqa: A002
    del input, dim
    if index.dim() > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")


def _index_add(input: Any, dim: Any, index: Any, source: Any, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del index, rest, kwargs
    if not isinstance(dim, int) or input.dim() != source.dim() or not -input.dim() <= dim < input.dim():
        return
    wanted, got = list(input.shape), list(source.shape)
    del wanted[dim], got[dim]
    if wanted != got:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(input.shape)} source.shape = {list(source.shape)}"
        )


def _index_put(input: Any, indices: Any, values: Any, *rest: Any, **kwargs: Any) -> None:  # noqa: A002
    del rest, kwargs
    assigned(input, tuple(indices), values)


def assigned(tensor: torch.Tensor, index: Any, value: Any) -> None:
    """Raises what ``tensor[index] = value`` raises where tensors of whole numbers stand in the index."""
    chosen = tensor[index].shape
    if not isinstance(value, torch.Tensor):
        return
    shape = list(value.shape)
    while len(shape) > len(chosen) and shape[0] == 1:
        shape = shape[1:]
    fits = len(shape) <= len(chosen) and all(a in (1, b) for a, b in zip(shape[::-1], chosen[::-1]))
    if not fits:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of shape "
            f"{list(chosen)}"
        )


CHECKS: dict[str, Any] = {
    **{f"conv{n}d": _convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _transposed for n in (1, 2, 3)},
    **dict.fromkeys(("softmax", "log_softmax", "softmin"), _along),
    **dict.fromkeys(("sort", "argsort"), _sorted),
    **dict.fromkeys(("max", "min"), _largest),
    "bucketize": _bucketize,
    "meshgrid": _meshgrid,
    "index_select": _index_select,
    **dict.fromkeys(("index_add", "index_add_"), _index_add),
    **dict.fromkeys(("index_put", "index_put_"), _index_put),
}
