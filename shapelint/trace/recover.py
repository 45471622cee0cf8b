"""What a failing call plainly meant: the result the trace goes on with.

A linear layer gives ``[..., out_features]``, a convolution its out_channels, ``cat`` the sum, a broadcast the larger side, ``view``
the asked shape. Where two repairs are as likely (either operand of a broadcast), both results are given: what fails downstream
is reported only if it fails for both.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  # the field's own name for it

Meant = tuple[Any, list[torch.Tensor]]


def _empty(shape: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(tuple(max(0, int(s)) for s in shape), dtype=dtype, device="meta")


def meant(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Meant | None:
    """The assumed result of the function ``short`` on these meta tensors, with the other world's; None if nothing can be assumed."""
    rule = _RULES.get(short)
    if rule is None:
        return None
    try:
        found = rule(short, args, kwargs)
    except Exception:  # noqa: BLE001  # the arguments are wrong in a way the rule doesn't foresee: nothing is assumed
        return None
    if found is None:
        return None
    return found if type(found) is tuple and len(found) == 2 and type(found[1]) is list else (found, [])  # noqa: PLR2004


def _given(names: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**dict(zip(names.split(), args)), **kwargs}


# ------------------------------------------------------------------------------------------------- elementwise


def _broadcast(shapes: list[torch.Size], pick: Any) -> list[int]:
    rank = max(len(s) for s in shapes)
    out = []
    for axis in range(1, rank + 1):
        sizes = [s[-axis] for s in shapes if len(s) >= axis]
        wide = [s for s in sizes if s != 1] or [1]
        out.append(pick(wide))
    return out[::-1]


def _elementwise(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
    if not tensors:
        return None
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    if short in _COMPARE:
        dtype = torch.bool
    if short in ("where", "masked_fill"):
        dtype = tensors[-1].dtype if short == "where" else tensors[0].dtype
    shapes = [t.shape for t in tensors]
    wide, narrow = _broadcast(shapes, max), _broadcast(shapes, min)
    return _empty(wide, dtype), ([] if wide == narrow else [_empty(narrow, dtype)])


def _like_first(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    first = next(a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor))
    return torch.empty_like(first)


def _layer_norm(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Its input's shape; in the other world the last axes are what the norm was made for."""
    del short
    given = _given("input normalized_shape", args, kwargs)
    first, wanted = given["input"], tuple(given["normalized_shape"])
    lead = first.shape[: max(first.dim() - len(wanted), 0)]
    return torch.empty_like(first), [_empty((*lead, *wanted), first.dtype)]


def _loss(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    reduction = kwargs.get("reduction", "mean")
    first, second = args[0], args[1] if len(args) > 1 else kwargs.get("target")
    dtype = first.dtype if first.is_floating_point() else torch.float32
    if reduction != "none":
        return _empty((), dtype)
    if short in ("cross_entropy", "nll_loss") and isinstance(second, torch.Tensor):
        return _empty(second.shape, dtype)
    return _empty(first.shape, dtype)


# ---------------------------------------------------------------------------------------------------- products


def _linear(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("input weight bias", args, kwargs)
    tensor, weight = given["input"], given["weight"]
    out = _empty((*tensor.shape[:-1], *weight.shape[:1]), weight.dtype)
    # A layer's own weight stands as the layer made it; one that is computed may stand the other way.
    made = isinstance(weight, torch.nn.Parameter)
    if not made and weight.dim() == 2 and tensor.shape[-1:] == weight.shape[:1]:  # noqa: PLR2004
        return out, [_empty((*tensor.shape[:-1], weight.shape[1]), weight.dtype)]
    return out


def _matmul(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = [t for t in (*args, *kwargs.values()) if isinstance(t, torch.Tensor)][:2]
    if short == "__rmatmul__":
        a, b = b, a
    if short == "mv" or b.dim() == 1:
        return _empty(a.shape[:-1], a.dtype)
    if a.dim() == 1:
        return _empty((*b.shape[:-2], b.shape[-1]), a.dtype)
    if short in ("mm", "bmm") and a.dim() != b.dim() and a.shape[-1] != b.shape[-2]:
        return None  # neither the rank nor the sizes say what was to be multiplied
    lead = [a.shape[:-2], b.shape[:-2]]
    wide, narrow = _broadcast(lead, max), _broadcast(lead, min)
    tail = (a.shape[-2], b.shape[-1])
    if wide == narrow and a.shape[-1] == b.shape[-1]:  # a transpose is missing, or is one too many
        return _empty((*wide, *tail), a.dtype), [_empty((*wide, a.shape[-2], b.shape[-2]), a.dtype)]
    return _empty((*wide, *tail), a.dtype), ([] if wide == narrow else [_empty((*narrow, *tail), a.dtype)])


def _addmm(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    first, second = [t for t in (*args, *kwargs.values()) if isinstance(t, torch.Tensor)][1:3]
    return _empty((*first.shape[:-1], second.shape[-1]), first.dtype)


def _einsum(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short, kwargs
    equation = args[0].replace(" ", "")
    operands = args[1] if isinstance(args[1], (list, tuple)) else args[1:]
    left, _, right = equation.partition("->")
    if "..." in equation:
        return None
    if not right:
        letters = "".join(left.split(","))
        right = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    sizes: dict[str, list[int]] = {}
    for term, operand in zip(left.split(","), operands):
        # A term with more or fewer letters than axes says nothing certain about any of them but the last ones.
        for letter, size in zip(term[::-1], tuple(operand.shape)[::-1]):
            sizes.setdefault(letter, []).append(size)
    wide = [max(sizes.get(c, [1])) for c in right]
    narrow = [min([s for s in sizes.get(c, [1]) if s != 1] or [1]) for c in right]
    dtype = operands[0].dtype
    return _empty(wide, dtype), ([] if wide == narrow else [_empty(narrow, dtype)])


def _attention(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("query key value", args, kwargs)
    query, value = given["query"], given["value"]
    return _empty((*query.shape[:-1], value.shape[-1]), query.dtype)


def _multi_head(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("query key value embed_dim_to_check num_heads", args, kwargs)
    query, key = given["query"], given["key"]
    out = _empty((*query.shape[:-1], given["embed_dim_to_check"]), query.dtype)
    if not kwargs.get("need_weights", True):
        return (out, None), []
    if query.dim() == 2:  # noqa: PLR2004  # unbatched: [T, E]
        return (out, _empty((query.shape[0], key.shape[0]), query.dtype)), []
    batch, target, source = query.shape[1], query.shape[0], key.shape[0]
    heads = () if kwargs.get("average_attn_weights", True) else (given["num_heads"],)
    return (out, _empty((batch, *heads, target, source), query.dtype)), []


# ----------------------------------------------------------------------------------- convolutions, pools, norms


def _retry(function: Any, tensor: torch.Tensor, rest: tuple[Any, ...], kwargs: dict[str, Any], spatial: int) -> Any:
    """``function`` on the input, its last ``spatial`` axes made larger until the kernel fits."""
    shape = list(tensor.shape)
    for _ in range(12):
        try:
            return function(_empty(shape, tensor.dtype), *rest, **kwargs)
        except Exception:  # noqa: BLE001  # tried again with a larger input
            shape[-spatial:] = [2 * s + 1 for s in shape[-spatial:]]
    return None


def _convolution(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = _given("input weight bias", args, kwargs)
    tensor, weight, bias = given["input"], given["weight"], given.get("bias")
    spatial = weight.dim() - 2
    groups = given.get("groups", (args[7] if "transpose" in short else args[6]) if len(args) > 6 else 1)  # noqa: PLR2004
    function = getattr(torch, short)
    rest = {k: v for k, v in given.items() if k not in ("input", "weight", "bias")}
    positional = args[3:]
    wanted = weight.shape[0] if "transpose" in short else weight.shape[1] * groups
    shape = list(tensor.shape)
    if len(shape) == spatial + 1:
        shape[0] = wanted
    elif len(shape) == spatial + 2:
        shape[1] = wanted
    elif len(shape) > spatial + 2:
        shape = [math.prod(shape[: len(shape) - spatial - 1]), wanted, *shape[-spatial:]]
    else:
        shape = [shape[0], wanted, *(shape[1:] or [1]), *[1] * spatial][: spatial + 2]
    return _retry(
        lambda x, *a, **k: function(x, weight.to(x.dtype), None if bias is None else bias.to(x.dtype), *a, **k),
        _empty(shape, weight.dtype),
        positional,
        rest,
        spatial,
    )


def _pool(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    spatial = next((int(c) for c in short if c.isdigit()), 2)
    function = getattr(F, short, None) or getattr(torch, short)
    tensor = args[0] if args else kwargs["input"]
    rest = {k: v for k, v in kwargs.items() if k != "input"}
    return _retry(function, tensor, args[1:], rest, spatial)


def _embedding(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("input weight", args, kwargs)
    return _empty((*given["input"].shape, *given["weight"].shape[1:]), given["weight"].dtype)


def _interpolate(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("input size scale_factor mode", args, kwargs)
    tensor, size, scale = given["input"], given.get("size"), given.get("scale_factor")
    count = max(tensor.dim() - 2, 1)
    if size is not None:
        sizes = list(size) if isinstance(size, (tuple, list)) else [size] * count
    else:
        scales = list(scale) if isinstance(scale, (tuple, list)) else [scale] * count
        sizes = [math.floor(s * f) for s, f in zip(tensor.shape[-len(scales) :], scales)]
    lead = list(tensor.shape[: max(tensor.dim() - len(sizes), 0)])
    return _empty([*lead, *sizes], tensor.dtype)


# ------------------------------------------------------------------------------------------------ moving shapes


def _asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int] | None:
    shape: Any = args[1:] or kwargs.get("shape") or kwargs.get("size")
    if isinstance(shape, tuple) and len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    if shape is None or not all(isinstance(s, int) for s in shape):
        return None
    return list(shape)


def _view(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    tensor, shape = args[0], _asked(args, kwargs)
    if shape is None:
        return None
    if shape.count(-1) == 1:
        at = shape.index(-1)
        fixed = math.prod(s for s in shape if s != -1)
        rest = tensor.numel() // fixed if fixed else 1
        # -1 in front of fixed sizes means the batch to whoever writes it.
        shape[at] = tensor.shape[0] if at == 0 and tensor.dim() and fixed and tensor.numel() % fixed else max(rest, 1)
    return _empty(shape, tensor.dtype) if -1 not in shape else None


def _expand(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    tensor, shape = args[0], _asked(args, kwargs)
    if shape is None:
        return None
    old = [1] * (len(shape) - tensor.dim()) + list(tensor.shape)
    return _empty([o if s == -1 else s for s, o in zip(shape, old[-len(shape) :])], tensor.dtype)


def _cat(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("tensors dim", args, kwargs)
    tensors, dim = list(given["tensors"]), given.get("dim", given.get("axis", 0))
    rank = max(t.dim() for t in tensors)
    same = [t for t in tensors if t.dim() == rank]
    if not -rank <= dim < rank:
        return None
    dim %= rank
    worlds = []
    for pick in (max, min):
        shape = [pick(t.shape[axis] for t in same) for axis in range(rank)]
        shape[dim] = sum(t.shape[dim] if t.dim() == rank else 1 for t in tensors)
        worlds.append(_empty(shape, tensors[0].dtype))
    return worlds[0], ([] if worlds[0].shape == worlds[1].shape else worlds[1:])


def _stack(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("tensors dim", args, kwargs)
    tensors, dim = list(given["tensors"]), given.get("dim", 0)
    ranks = [t.dim() for t in tensors]
    common = sorted(set(ranks), key=ranks.count, reverse=True)
    worlds = []
    # Of different ranks, the one that most of them have is meant, or the next.
    for rank, pick in zip(common if len(common) > 1 else 2 * common, (max, min)):
        same = [t for t in tensors if t.dim() == rank]
        shape = [pick(t.shape[axis] for t in same) for axis in range(rank)]
        shape.insert(dim % (rank + 1), len(tensors))
        worlds.append(_empty(shape, tensors[0].dtype))
    return worlds[0], ([] if worlds[0].shape == worlds[1].shape else worlds[1:])


def _split(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("tensor sizes dim", args, kwargs)
    tensor: Any = given.get("tensor", given.get("self"))
    sizes, dim = given.get("sizes", given.get("split_size_or_sections", given.get("split_size"))), given.get("dim", 0)
    if not isinstance(sizes, (list, tuple)):
        return None
    shape = list(tensor.shape)
    out = []
    for size in sizes:
        shape[dim] = size
        out.append(_empty(shape, tensor.dtype))
    return tuple(out), []


def _getitem(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An integer out of range still takes its axis away; clashing index tensors give the larger one's shape."""
    del short, kwargs
    tensor, index = args
    items = list(index) if type(index) is tuple else [index]
    if sum(i is not None and i is not Ellipsis for i in items) > tensor.dim():
        return None
    tensors = [i for i in items if isinstance(i, torch.Tensor) and i.dtype != torch.bool]
    if not tensors:
        fitting = [0 if isinstance(i, int) else i for i in items]
        return tensor[tuple(fitting)]
    if len(tensors) == sum(not isinstance(i, (int, slice)) for i in items):
        wide = _broadcast([t.shape for t in tensors], max)
        index_meta = torch.zeros(tuple(wide), dtype=torch.int64, device="meta")
        return tensor[tuple(index_meta if isinstance(i, torch.Tensor) else i for i in items)]
    return None


def _like_index(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("input dim index", args, kwargs)
    return _empty(given["index"].shape, args[0].dtype)


def _index_select(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("input dim index", args, kwargs)
    shape = list(args[0].shape)
    shape[given["dim"]] = given["index"].numel()
    return _empty(shape, args[0].dtype)


def _cell(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del kwargs
    tensor, weights = args[0], args[2]
    gates = {"lstm_cell": 4, "gru_cell": 3}.get(short, 1)
    state = _empty((*tensor.shape[:-1], weights.shape[0] // gates), tensor.dtype)
    return ((state, torch.empty_like(state)), []) if short == "lstm_cell" else state


def _gradients(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    del short
    given = _given("outputs inputs", args, kwargs)
    wanted = given["inputs"] if isinstance(given["inputs"], (tuple, list)) else (given["inputs"],)
    return tuple(torch.empty_like(t) for t in wanted), []


_COMPARE = frozenset("gt ge lt le eq ne logical_and logical_or logical_xor isclose".split())
_BINARY = (
    "add sub mul div true_divide floor_divide remainder fmod pow maximum minimum fmax fmin atan2 where lerp addcmul addcdiv "
    "masked_fill __rsub__ __rpow__ __rdiv__ __rmul__ __radd__ __rtruediv__ __and__ __or__ __xor__ bitwise_and bitwise_or bitwise_xor "
    "rsub subtract multiply divide hypot copysign logaddexp clamp clip"
).split()
_SAME = (
    "relu relu_ gelu silu sigmoid tanh softmax log_softmax softmin dropout leaky_relu elu celu selu hardtanh hardswish hardsigmoid mish "
    "softplus batch_norm layer_norm group_norm instance_norm rms_norm local_response_norm normalize scatter scatter_add "
    "index_add index_copy index_fill index_put masked_scatter cumsum cumprod flip roll clone contiguous prelu glu_ exp log sqrt abs neg "
    "sin cos tril triu logcumsumexp native_layer_norm masked_fill_ renorm to float half double"
).split()
_LOSSES = (
    "mse_loss l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
    "cosine_embedding_loss margin_ranking_loss hinge_embedding_loss poisson_nll_loss gaussian_nll_loss triplet_margin_loss "
    "soft_margin_loss multilabel_margin_loss multilabel_soft_margin_loss multi_margin_loss ctc_loss"
).split()

_RULES: dict[str, Any] = {
    **dict.fromkeys(_BINARY, _elementwise),
    **dict.fromkeys(_COMPARE, _elementwise),
    **dict.fromkeys(_SAME, _like_first),
    **dict.fromkeys(_LOSSES, _loss),
    **dict.fromkeys(("layer_norm", "rms_norm"), _layer_norm),
    "linear": _linear,
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "__matmul__", "__rmatmul__", "spmm"), _matmul),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), _addmm),
    "einsum": _einsum,
    "scaled_dot_product_attention": _attention,
    "multi_head_attention_forward": _multi_head,
    **{f"conv{n}d": _convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _convolution for n in (1, 2, 3)},
    **{f"{kind}_pool{n}d": _pool for kind in ("max", "avg", "lp", "adaptive_avg", "adaptive_max") for n in (1, 2, 3)},
    **{f"max_pool{n}d_with_indices": _pool for n in (1, 2, 3)},
    "pad": None,
    "embedding": _embedding,
    "interpolate": _interpolate,
    "upsample": _interpolate,
    **dict.fromkeys(("view", "reshape", "view_as", "reshape_as"), _view),
    **dict.fromkeys(("expand", "broadcast_to"), _expand),
    **dict.fromkeys(("cat", "concat", "concatenate"), _cat),
    "stack": _stack,
    **dict.fromkeys(("split", "split_with_sizes"), _split),
    "__getitem__": _getitem,
    "gather": _like_index,
    "take_along_dim": _like_index,
    "index_select": _index_select,
    **dict.fromkeys(("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"), _cell),
    "grad": _gradients,
}
