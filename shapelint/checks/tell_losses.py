"""Words for losses: what the prediction is, what the target is, and which shape the target would have to have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shapelint.checks.tell_products import clash

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.checks.call import Call


def classes(call: Call) -> str:
    """cross_entropy and nll_loss: class numbers, or a probability for each class."""
    x, target = call.tensor(0, "input", role="prediction"), call.tensor(1, "target")
    if x is None or target is None or not x.rank:
        return ""
    axis = 1 if x.rank > 1 else 0
    wanted = (*x.sizes[:axis], *x.sizes[axis + 1 :])
    numbers = (*x.numbers[:axis], *x.numbers[axis + 1 :])
    shape = f"[{', '.join(wanted)}]"
    weight = call.tensor(2, "weight", role="weight")
    count = x.sizes[axis]
    if target.numbers == numbers:
        if weight is not None and weight.numbers != (x.numbers[axis],):
            return f"{call.spoken} takes a weight for each of {count} classes and gets {weight.shape}: {x.said}, {weight.said}."
        kept = re.search(r"weight tensor of shape: torch\.Size\(\[(\d+)\]\)", call.error)
        return f"{call.spoken} has weights for {kept[1]} classes and gets {count}: {x.said}." if kept else ""
    if target.numbers == x.numbers and not target.dtype.startswith(("float", "bfloat")):
        return f"{call.spoken} takes class numbers of {shape}, or a probability for each class, and gets {target.dtype}{target.shape}: {x.said}, {target.said}."
    floating = target.dtype.startswith(("float", "bfloat"))
    if floating and target.rank == x.rank:
        return f"{call.spoken} takes probabilities of {x.shape}, as its prediction, and gets {target.shape}: {x.said}, {target.said}."
    why = "the classes are axis 1 of the prediction" if x.rank > 1 else "the prediction has one sample"
    return f"{call.spoken} takes a target of {shape} and gets {target.shape} ({why}): {x.said}, {target.said}."


def pointwise(call: Call) -> str:
    """Losses that compare element by element: mse, l1, smooth_l1, huber, kl_div, bce and others."""
    x, target = call.tensor(0, "input", role="prediction"), call.tensor(1, "target")
    if x is None or target is None:
        return ""
    if x.numbers != target.numbers:
        return (
            f"{call.spoken} compares {x.shape} with {target.shape}, which must have one shape: {x.said}, {target.said}."
        )
    return _weights(call)


def _weights(call: Call) -> str:
    for name in ("weight", "pos_weight"):
        weight = call.tensor(-1, name)
        x = call.tensor(0, "input", role="prediction")
        if weight is not None and x is not None and (said := clash(x, weight)):
            return f"{call.spoken} can't broadcast its {name}, {said}: {x.said}, {weight.said}."
    return ""


def embeddings(call: Call) -> str:
    """cosine_embedding_loss, triplet_margin_loss, margin_ranking_loss: inputs that belong together row by row."""
    operands = call.tensors()
    if "same dimension" in call.error and len({one.rank for one in operands}) > 1:
        ranks = ", ".join(str(one.rank) for one in operands)
        return f"{call.spoken} takes operands of one rank and gets {ranks}: {', '.join(one.said for one in operands)}."
    for number, left in enumerate(operands):
        for right in operands[number + 1 :]:
            if left.rank == right.rank and left.rank > 1 and (said := clash(left, right)):
                return f"{call.spoken} compares rows that differ, {said}: {left.said}, {right.said}."
    if call.kind in ("cosine_embedding_loss", "CosineEmbeddingLoss") and len(operands) > 2:  # noqa: PLR2004  # with the target
        left, target = operands[0], operands[2]
        if target.rank != left.rank - 1 or target.numbers != left.numbers[: target.rank]:
            return f"{call.spoken} takes a target of [{', '.join(left.sizes[:-1])}] and gets {target.shape}: {left.said}, {target.said}."
    for number, left in enumerate(operands):
        for right in operands[number + 1 :]:
            if said := clash(left, right):
                return f"{call.spoken} can't broadcast {said}: {left.said}, {right.said}."
    return ""


def alignment(call: Call) -> str:
    """ctc_loss: log probabilities [T, N, C], targets, and a length for each sample."""
    x, target = call.tensor(0, "log_probs", role="log probabilities"), call.tensor(1, "targets")
    lengths = (call.tensor(2, "input_lengths"), call.tensor(3, "target_lengths"))
    if x is None:
        return ""
    if x.rank not in (2, 3):
        return f"{call.spoken} takes log probabilities of rank 3, [T, N, C], and gets rank {x.rank}: {x.said}."
    for name, one in zip(("input_lengths", "target_lengths"), lengths):
        if x.rank == 3 and one is not None and (one.rank != 1 or one.numbers[0] != x.numbers[1]):  # noqa: PLR2004  # batched
            return (
                f"{call.spoken} takes {name} of [{x.sizes[1]}], one a sample, and gets {one.shape}: {x.said} [T, N, C]."
            )
    if target is not None and target.rank == 2 and x.rank == 3 and target.numbers[0] != x.numbers[1]:  # noqa: PLR2004  # batched
        return f"{call.spoken} gets {x.sizes[1]} samples and targets for {target.sizes[0]}: {x.said} [T, N, C], {target.said} [N, S]."
    return ""


def margins(call: Call) -> str:
    """multi_margin_loss and multilabel losses."""
    x, target = call.tensor(0, "input", role="prediction"), call.tensor(1, "target")
    if x is None or target is None or not x.rank:
        return ""
    wanted = x.sizes[:1] if call.kind in ("multi_margin_loss", "MultiMarginLoss") else x.sizes
    if target.sizes == wanted:
        return ""
    return f"{call.spoken} takes a target of [{', '.join(wanted)}] and gets {target.shape}: {x.said}, {target.said}."


def broadcasts(call: Call) -> str:
    """The words for a loss that works and warns: its operands broadcast; "" where they have one shape."""
    x, target = call.tensor(0, "input", role="prediction"), call.tensor(1, "target")
    if x is None or target is None or x.numbers == target.numbers:
        return ""
    rank = max(x.rank, target.rank)
    sizes = []
    for back in range(rank, 0, -1):
        a = x.sizes[-back] if back <= x.rank else "1"
        b = target.sizes[-back] if back <= target.rank else "1"
        sizes.append(b if a == "1" else a)
    result = f"[{', '.join(sizes)}]"
    return f"{call.spoken} broadcasts {x.shape} with {target.shape} to {result}, so that elements meet others than their own: {x.said}, {target.said}."


_POINTWISE = (
    "mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits "
    "poisson_nll_loss soft_margin_loss hinge_embedding_loss MSELoss L1Loss SmoothL1Loss HuberLoss KLDivLoss BCELoss "
    "BCEWithLogitsLoss PoissonNLLLoss SoftMarginLoss HingeEmbeddingLoss"
).split()
_ROWS = (
    "cosine_embedding_loss triplet_margin_loss margin_ranking_loss triplet_margin_with_distance_loss "
    "gaussian_nll_loss CosineEmbeddingLoss TripletMarginLoss MarginRankingLoss TripletMarginWithDistanceLoss "
    "GaussianNLLLoss"
).split()
_MARGINS = [
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "MultiMarginLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
]

TELLERS: dict[str, Callable[[Call], str]] = {
    **dict.fromkeys(("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss", "NLLLoss2d"), classes),
    **dict.fromkeys(_POINTWISE, pointwise),
    **dict.fromkeys(_ROWS, embeddings),
    **dict.fromkeys(_MARGINS, margins),
    **dict.fromkeys(("ctc_loss", "CTCLoss"), alignment),
}
