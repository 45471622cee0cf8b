"""Words for products and what broadcasts: matmul, einsum, attention by hand, arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.checks.call import Call, Tensor

_MATRIX_RANKS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1), "outer": (1, 1), "ger": (1, 1)}


def product(call: Call) -> str:
    """matmul, ``@``, mm, bmm, mv, dot and outer."""
    left, right = (
        call.tensor(0, "input", role="left operand"),
        call.tensor(1, "other", "mat2", "vec", "vec2", role="right operand"),
    )
    if left is None or right is None:
        return ""
    if call.kind == "__rmatmul__":
        left, right = right, left
    for one, wanted in zip((left, right), _MATRIX_RANKS.get(call.kind, ())):
        if one.rank != wanted:
            return f"{call.spoken} takes rank {wanted} and gets rank {one.rank}: {left.said}, {right.said}."
    if call.kind in ("outer", "ger") or not left.rank or not right.rank:
        return ""
    if call.kind == "dot" and left.numbers != right.numbers:
        return f"{call.spoken} pairs {left.sizes[0]} numbers with {right.sizes[0]}: {left.said}, {right.said}."
    inner = -2 if right.rank > 1 else -1
    if left.numbers[-1] != right.numbers[inner]:
        return f"{call.spoken} multiplies {left.sizes[-1]} columns by {right.sizes[inner]} rows: {left.said}, {right.said}."
    return _batches(call, left, right)


def _batches(call: Call, left: Tensor, right: Tensor) -> str:
    for axis in range(3, max(left.rank, right.rank) + 1):
        if axis > left.rank or axis > right.rank:
            break
        a, b = left.numbers[-axis], right.numbers[-axis]
        if a != b and (call.kind == "bmm" or 1 not in (a, b)):
            return (
                f"{call.spoken} pairs {left.sizes[-axis]} matrices with {right.sizes[-axis]} (axis -{axis}): "
                f"{left.said}, {right.said}."
            )
    return ""


def added_product(call: Call) -> str:
    """addmm, baddbmm and addbmm."""
    left, right = (
        call.tensor(1, "mat1", "batch1", role="left operand"),
        call.tensor(2, "mat2", "batch2", role="right operand"),
    )
    added = call.tensor(0, "input", role="added operand")
    if left is None or right is None or left.rank < 2 or right.rank < 2:  # noqa: PLR2004  # matrices
        return ""
    if left.numbers[-1] != right.numbers[-2]:
        return (
            f"{call.spoken} multiplies {left.sizes[-1]} columns by {right.sizes[-2]} rows: {left.said}, {right.said}."
        )
    if added is not None:
        result = ", ".join((*left.sizes[:-1], right.sizes[-1]))
        return f"{call.spoken} adds {added.shape} to a product of [{result}]: {added.said}, {left.said}, {right.said}."
    return ""


def einsum(call: Call) -> str:
    """einsum, by its letters."""
    equation = call.argument(0, "equation")
    operands = call.tensors()
    if equation is None or not isinstance(equation.literal, str):
        return ""
    text = equation.literal
    terms = text.replace(" ", "").partition("->")[0].split(",")
    if len(terms) != len(operands):
        return f"einsum {text!r} names {len(terms)} operands and gets {len(operands)}."
    seen: dict[str, tuple[int, str, Tensor]] = {}
    for term, one in zip(terms, operands):
        letters = term.replace("...", "")
        if ("..." not in term and len(letters) != one.rank) or len(letters) > one.rank:
            return f"einsum {text!r} names {len(letters)} axes of {one.name} ({term}), which has rank {one.rank}: {one.said}."
        axes = _axes(term, one.rank)
        for letter, axis in axes:
            size, shown = one.numbers[axis], one.sizes[axis]
            known = seen.setdefault(letter, (size, shown, one))
            if size != known[0] and 1 not in (size, known[0]):
                other = known[2]
                return f"einsum {text!r}: {letter} is {known[1]} in {other.name} and {shown} in {one.name}: {other.said}, {one.said}."
            if known[0] == 1:
                seen[letter] = (size, shown, one)
    return ""


def _axes(term: str, rank: int) -> list[tuple[str, int]]:
    ahead, dots, behind = term.partition("...")
    if not dots:
        return list(zip(term, range(rank)))
    return [*zip(ahead, range(len(ahead))), *zip(behind, range(rank - len(behind), rank))]


def scaled_attention(call: Call) -> str:
    """``F.scaled_dot_product_attention``."""
    query, key, value = (call.tensor(i, n) for i, n in enumerate(("query", "key", "value")))
    if query is None or key is None or value is None or min(query.rank, key.rank, value.rank) < 2:  # noqa: PLR2004  # [T, E]
        return ""
    if query.numbers[-1] != key.numbers[-1]:
        return f"{call.spoken} compares queries of {query.sizes[-1]} features with keys of {key.sizes[-1]}: {query.said}, {key.said}."
    if key.numbers[-2] != value.numbers[-2]:
        return f"{call.spoken} gets {key.sizes[-2]} keys and {value.sizes[-2]} values: {key.said}, {value.said}."
    mask = call.tensor(3, "attn_mask", role="mask")
    scores = (*query.sizes[:-1], key.sizes[-2])
    if mask is not None:
        return f"{call.spoken} can't broadcast the mask {mask.shape} to the scores [{', '.join(scores)}]: {mask.said}, {query.said}."
    for axis in range(3, min(query.rank, key.rank) + 1):
        if query.numbers[-axis] != key.numbers[-axis]:
            return f"{call.spoken} pairs {query.sizes[-axis]} with {key.sizes[-axis]} at axis -{axis}: {query.said}, {key.said}."
    return ""


def broadcast(call: Call) -> str:
    """Arithmetic, comparisons, ``where``, ``masked_fill`` and the rest of what broadcasts."""
    operands = call.tensors()
    for index, left in enumerate(operands):
        for right in operands[index + 1 :]:
            said = clash(left, right)
            if said:
                return f"{call.spoken} can't broadcast {said}: {left.said}, {right.said}."
    return ""


def clash(left: Tensor, right: Tensor) -> str:
    """The first sizes, from the last axis on, that don't broadcast: ``3 with 5 (axis -1)``."""
    for axis in range(1, min(left.rank, right.rank) + 1):
        a, b = left.numbers[-axis], right.numbers[-axis]
        if a != b and 1 not in (a, b):
            return f"{left.sizes[-axis]} with {right.sizes[-axis]} (axis -{axis})"
    return ""


def in_place(call: Call) -> str:
    """``x += y``, where the result has to keep the shape of ``x``."""
    left, right = call.tensor(0, "input"), call.tensor(1, "other", role="second operand")
    if left is None or right is None:
        return ""
    said = broadcast(call)
    if said or "output with shape" not in call.error:
        return said
    return f"{call.spoken} can't keep the shape {left.shape} in place: {left.said}, {right.said}."


def columns(call: Call) -> str:
    """cdist, cosine_similarity and pairwise_distance."""
    left, right = call.tensor(0, "x1", role="first operand"), call.tensor(1, "x2", role="second operand")
    if left is None or right is None or not left.rank or not right.rank:
        return ""
    if left.numbers[-1] != right.numbers[-1]:
        return f"{call.spoken} compares rows of {left.sizes[-1]} numbers with rows of {right.sizes[-1]}: {left.said}, {right.said}."
    said = clash(left, right)
    return f"{call.spoken} can't broadcast {said}: {left.said}, {right.said}." if said else ""


_ARITHMETIC = (
    "add sub mul div true_divide floor_divide remainder fmod pow maximum minimum fmax fmin atan2 where lerp addcmul "
    "addcdiv masked_fill masked_scatter __rsub__ __rpow__ __rdiv__ __rmul__ __radd__ __rtruediv__ __and__ __or__ "
    "__xor__ bitwise_and bitwise_or bitwise_xor rsub subtract multiply divide hypot copysign logaddexp clamp gt ge lt "
    "le eq ne logical_and logical_or logical_xor isclose"
).split()
_IN_PLACE = "add_ sub_ mul_ div_ pow_ __iadd__ __isub__ __imul__ __itruediv__ copy_ masked_fill_ addcmul_ addcdiv_ lerp_".split()

TELLERS: dict[str, Callable[[Call], str]] = {
    **dict.fromkeys(("matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "mv", "dot", "outer", "ger"), product),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm"), added_product),
    "einsum": einsum,
    "scaled_dot_product_attention": scaled_attention,
    **dict.fromkeys(_ARITHMETIC, broadcast),
    **dict.fromkeys(_IN_PLACE, in_place),
    **dict.fromkeys(("cdist", "cosine_similarity", "pairwise_distance"), columns),
}


def pairwise(call: Call) -> str:
    """The words for a vector that meets a column; "" where it doesn't."""
    for left, right in ((a, b) for a in call.tensors() for b in call.tensors() if a.value != b.value):
        if left.rank == 1 and right.sizes == (left.sizes[0], "1"):
            size = left.sizes[0]
            return f"{call.spoken} of [{size}] with [{size}, 1] gives [{size}, {size}], every sample meets every other: {left.said}, {right.said}."
    return ""
