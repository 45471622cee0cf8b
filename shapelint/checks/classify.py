"""Which rule a failed operation belongs to, from what was called and torch's own words."""

from __future__ import annotations

# The first pair whose words stand in the message decides; what was called decides where the words don't.
_WORDS: tuple[tuple[str, str], ...] = (
    ("must be tuple of tensors, not tensor", "unpack-count"),
    ("must be tensor, not", "unpack-count"),
    ("expected tensor as element", "unpack-count"),
    ("'tuple' object has no attribute", "unpack-count"),
    ("not enough values to unpack", "unpack-count"),
    ("too many values to unpack", "unpack-count"),
    ("same dtype", "dtype-mismatch"),
    ("scalar type", "dtype-mismatch"),
    ("target dtype", "dtype-mismatch"),
    ("weight type", "dtype-mismatch"),
    ("bias type", "dtype-mismatch"),
    ("index tensor of type", "dtype-mismatch"),
    ("dtype int64 for index", "dtype-mismatch"),
    ("integer tensor", "dtype-mismatch"),
    ("kernel size", "window-size"),
    ("more than 1 spatial element", "window-size"),
    ("output size is too small", "window-size"),
    ("padding size should be less", "window-size"),
    ("sliding blocks", "window-size"),
    ("number of dimensions of tensors must match", "cat-shapes"),
    ("does not match the length of the desired ordering", "tensor-rank"),
    ("must have the same number of dimensions as", "tensor-rank"),
    ("same number of spatial dimensions", "tensor-rank"),
    ("mode needs", "tensor-rank"),
    ("multi-target not supported", "tensor-rank"),
    ("repeat dims can not be smaller", "tensor-rank"),
    ("expected 1-d argument", "tensor-rank"),
    ("must be a 3d tensor", "tensor-rank"),
    ("to be no larger than", "index-range"),
    ("inconsistent hidden_size", "module-argument"),
    ("parameter numbers and input channel size", "channel-count"),
    ("pixel_shuffle", "channel-count"),
    ("same number of columns", "matmul-dims"),
    ("lengths must be of size batch_size", "broadcast-shapes"),
    ("(unbatched) or", "tensor-rank"),
    ("expected hidden", "module-argument"),
    ("must be equal to input_size", "module-argument"),
    ("was expecting embedding dimension", "module-argument"),
    ("key_padded_mask", "module-argument"),
    ("key_padding_mask", "module-argument"),
    ("embed_dim", "module-argument"),
    ("expected 2d or 3d", "tensor-rank"),
    ("d input (got", "tensor-rank"),
    ("to be 2d or 3d", "tensor-rank"),
    ("number of subscripts", "tensor-rank"),
    ("hx and cx should also be", "tensor-rank"),
    ("hx should also be", "tensor-rank"),
    ("input must have", "tensor-rank"),
    ("dimension specified as", "tensor-rank"),
    ("1d tensors expected", "tensor-rank"),
    ("must be a matrix", "tensor-rank"),
    ("must be 2d", "tensor-rank"),
    ("must be 3d", "tensor-rank"),
    ("expected to see rank", "tensor-rank"),
    ("does not broadcast with previously seen", "matmul-dims"),
    ("same reduction dim", "matmul-dims"),
    ("cannot be multiplied", "matmul-dims"),
    ("first two dimensions of batch2", "matmul-dims"),
    ("contracting", "matmul-dims"),
    ("size mismatch", "matmul-dims"),
    ("sizes of tensors must match", "cat-shapes"),
    ("stack expects each tensor", "cat-shapes"),
    ("zero-dimensional tensor", "cat-shapes"),
    ("tensors must have same number of dimensions", "cat-shapes"),
    ("is invalid for input of size", "reshape-numel"),
    ("view size is not compatible", "reshape-numel"),
    ("cannot view a tensor", "reshape-numel"),
    ("expanded size", "reshape-numel"),
    ("number of sizes provided", "reshape-numel"),
    ("don't multiply up to the size", "reshape-numel"),
    ("channels", "channel-count"),
    ("invalid channel dimensions", "channel-count"),
    ("running_mean", "channel-count"),
    ("running_var", "channel-count"),
    ("normalized_shape", "channel-count"),
    ("num_groups", "channel-count"),
    ("output size", "window-size"),
    ("shape mismatch: indexing tensors", "broadcast-shapes"),
    ("attempting to broadcast", "broadcast-shapes"),
    ("must match the size of tensor b", "broadcast-shapes"),
    ("match the broadcast shape", "broadcast-shapes"),
    ("not broadcastable", "broadcast-shapes"),
    ("attn_mask", "broadcast-shapes"),
    ("target size", "broadcast-shapes"),
    ("target batch_size", "broadcast-shapes"),
    ("shape mismatch", "broadcast-shapes"),
    ("out of range", "index-range"),
    ("out of bounds", "index-range"),
    ("too many indices", "index-range"),
    ("split_with_sizes", "index-range"),
    ("does not match the shape of the indexed tensor", "index-range"),
)
_CALLS: tuple[tuple[str, str], ...] = (
    ("conv", "channel-count"),
    ("norm", "channel-count"),
    ("linear", "matmul-dims"),
    ("matmul", "matmul-dims"),
    ("pool", "window-size"),
)


# What torch's words mean where a call of this kind says them.
_INSIDE: tuple[tuple[str, str, str], ...] = (
    ("multihead", "matmul-dims", "module-argument"),
    ("multi_head", "matmul-dims", "module-argument"),
    ("transformer", "matmul-dims", "module-argument"),
    ("pool", "index-range", "tensor-rank"),
    ("grid_sample", "unpack-count", "tensor-rank"),
    ("__setitem__", "reshape-numel", "broadcast-shapes"),
)


def rule_of(name: str, error: str, message: str) -> str:
    """The name of the rule for a call of ``name`` that raised ``error`` with ``message``."""
    text = message.lower()
    for words, rule in _WORDS:
        if words in text:
            return next((new for part, old, new in _INSIDE if part in name.lower() and old == rule), rule)
    if error == "IndexError":
        return "index-range"
    for part, rule in _CALLS:
        if part in name.lower():
            return rule
    return "op-failed"
