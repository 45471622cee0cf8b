"""What a torch.nn layer that refused its input plainly meant to return."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def _empty(shape: Any, dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(tuple(shape), dtype=dtype, device="meta")


def meant(layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The assumed result of calling ``layer``; None if nothing can be assumed. Tensors in ``args`` are meta tensors."""
    first = next((a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)), None)
    if first is None:
        return None
    if isinstance(layer, nn.RNNBase):
        return _recurrent(layer, first)
    if isinstance(layer, nn.RNNCellBase):
        state = _empty((*first.shape[:-1], layer.hidden_size), first.dtype)
        return (state, torch.empty_like(state)) if isinstance(layer, nn.LSTMCell) else state
    if isinstance(layer, nn.MultiheadAttention):
        return _attention(layer, first, args, kwargs)
    if isinstance(
        layer, (nn.TransformerDecoderLayer, nn.TransformerEncoderLayer, nn.TransformerEncoder, nn.TransformerDecoder)
    ):
        return torch.empty_like(first)
    if isinstance(layer, nn.Transformer):
        return torch.empty_like(args[1]) if len(args) > 1 and isinstance(args[1], torch.Tensor) else None
    if isinstance(layer, nn.Linear):
        return _empty((*first.shape[:-1], layer.out_features), first.dtype)
    if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
        return _empty((*first.shape, layer.embedding_dim), layer.weight.dtype)
    if isinstance(layer, nn.modules.conv._ConvNd):  # the base class of all convolutions has no public name
        return _convolution(layer, first)
    if isinstance(layer, nn.modules.loss._Loss):  # the same
        return torch.empty_like(first) if layer.reduction == "none" else _empty((), first.dtype)
    if isinstance(layer, (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm)):  # the same
        return torch.empty_like(first)
    return None


def _recurrent(layer: nn.RNNBase, first: torch.Tensor) -> Any:
    both = 2 if layer.bidirectional else 1
    features = (getattr(layer, "proj_size", 0) or layer.hidden_size) * both
    lead = list(first.shape[:-1])
    batched = len(lead) > 1
    batch = (lead[0] if layer.batch_first else lead[1]) if batched else None
    out = _empty((*lead, features), first.dtype)
    middle = [] if batch is None else [batch]
    state = _empty((layer.num_layers * both, *middle, features // both), first.dtype)
    if isinstance(layer, nn.LSTM):
        return out, (state, _empty((layer.num_layers * both, *middle, layer.hidden_size), first.dtype))
    return out, state


def _attention(layer: nn.MultiheadAttention, query: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    out = _empty((*query.shape[:-1], layer.embed_dim), query.dtype)
    key = args[1] if len(args) > 1 and isinstance(args[1], torch.Tensor) else kwargs.get("key", query)
    if not kwargs.get("need_weights", True) or query.dim() not in (2, 3) or key.dim() != query.dim():
        return out, None
    if query.dim() == 2:  # noqa: PLR2004  # unbatched: [T, E]
        return out, _empty((query.shape[0], key.shape[0]), query.dtype)
    time = 1 if layer.batch_first else 0
    batch = query.shape[1 - time]
    heads = [] if kwargs.get("average_attn_weights", True) else [layer.num_heads]
    return out, _empty((batch, *heads, query.shape[time], key.shape[time]), query.dtype)


def _convolution(layer: Any, first: torch.Tensor) -> Any:
    spatial = layer.weight.dim() - 2
    if first.dim() not in (spatial + 1, spatial + 2):
        return None
    shape = list(first.shape)
    shape[-spatial - 1] = layer.in_channels
    for _ in range(12):
        try:
            return layer.forward(_empty(shape, layer.weight.dtype))
        except Exception:  # noqa: BLE001  # tried again with a larger input
            shape[-spatial:] = [2 * s + 1 for s in shape[-spatial:]]
    return None
