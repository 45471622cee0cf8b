"""What autocast would do: meta tensors pass by torch's own autocast, which looks at the device of each tensor."""

from __future__ import annotations

from typing import Any

import torch

from shapelint.trace.log import map_tensors

# torch/csrc/autocast_mode.h, AT_FORALL_LOWER_PRECISION_FP and the CPU lists of aten/src/ATen/autocast_mode.cpp
LOWER = frozenset(
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d bmm mm linalg_vecdot baddbmm addmm addbmm linear "
    "matmul __matmul__ __rmatmul__ einsum scaled_dot_product_attention multi_head_attention_forward lstm gru rnn_tanh rnn_relu "
    "lstm_cell gru_cell bilinear addmv mv chain_matmul multi_dot prelu".split()
)
FULL = frozenset(
    "mse_loss binary_cross_entropy l1_loss smooth_l1_loss huber_loss cross_entropy nll_loss cosine_embedding_loss kl_div "
    "hinge_embedding_loss poisson_nll_loss soft_margin_loss triplet_margin_loss multi_margin_loss ctc_loss "
    "linalg_inv inverse stft cdist norm quantile nanquantile".split()
)


def autocast(short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the function ``short`` as CPU autocast would cast them."""
    if short in LOWER:
        dtype = torch.get_autocast_dtype("cpu")
    elif short in FULL:
        dtype = torch.float32
    else:
        return args, kwargs

    def cast(tensor: torch.Tensor) -> torch.Tensor:
        wanted = tensor.dtype in (torch.float32, torch.float16, torch.bfloat16) and tensor.dtype != dtype
        return tensor.to(dtype) if wanted else tensor

    return map_tensors(args, cast), map_tensors(kwargs, cast)
