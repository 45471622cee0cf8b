"""A call that fails has the result that the code plainly meant, and what comes after is judged on its own."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from test_meta_against_eager import _meta, _names
from torch import nn

from shapelint.trace.log import tensors_in
from shapelint.trace.owners import Owners
from shapelint.trace.run import RunResult, run

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

MEANT = {
    "F.linear(f(2, 7, 3), f(4, 5))": [(2, 7, 4)],
    "nn.Linear(5, 4)(f(2, 3))": [(2, 4)],
    "f(2, 3) @ f(4, 5)": [(2, 5)],
    "f(6, 2, 3) @ f(6, 4, 5)": [(6, 2, 5)],
    "torch.bmm(f(6, 2, 3), f(6, 4, 5))": [(6, 2, 5)],
    "torch.addmm(f(5), f(2, 3), f(4, 5))": [(2, 5)],
    "torch.einsum('bij,bjk->bik', f(6, 2, 3), f(6, 4, 5))": [(6, 2, 5)],
    "F.conv1d(f(2, 4, 9), f(6, 3, 3))": [(2, 6, 7)],
    "F.conv2d(f(2, 4, 9, 9), f(6, 3, 3, 3), padding=1)": [(2, 6, 9, 9)],
    "nn.Conv2d(3, 6, 3, stride=2)(f(2, 4, 9, 9))": [(2, 6, 4, 4)],
    "F.conv3d(f(2, 4, 5, 5, 5), f(6, 3, 3, 3, 3))": [(2, 6, 3, 3, 3)],
    "F.conv_transpose2d(f(2, 4, 9, 9), f(3, 6, 2, 2), stride=2)": [(2, 6, 18, 18)],
    "nn.ConvTranspose1d(3, 6, 2, stride=2)(f(2, 4, 9))": [(2, 6, 18)],
    "nn.BatchNorm2d(3)(f(2, 4, 9, 9))": [(2, 4, 9, 9)],
    "nn.BatchNorm1d(3)(f(2, 3, 9, 9))": [(2, 3, 9, 9)],
    "nn.LayerNorm(3)(f(2, 7, 4))": [(2, 7, 4)],
    "nn.GroupNorm(2, 6)(f(2, 4, 9))": [(2, 4, 9)],
    "F.max_pool2d(f(2, 4, 3, 3), 5)": [(2, 4, 1, 1)],
    "F.avg_pool1d(f(2, 4, 3), 5)": [(2, 4, 1)],
    "torch.cat([f(2, 3), f(4, 5)], 1)": [(4, 8)],
    "torch.stack([f(2, 3), f(2, 4)])": [(2, 2, 4)],
    "f(2, 3) + f(2, 4)": [(2, 4)],
    "torch.where(m(2, 3), f(2, 4), f(2, 1))": [(2, 4)],
    "f(2, 3).masked_fill(m(2, 4), 0.0)": [(2, 4)],
    "f(2, 3) > f(2, 4)": [(2, 4)],
    "f(2, 6).view(3, 5)": [(3, 5)],
    "f(2, 6).reshape(2, -1, 5)": [(2, 1, 5)],
    "f(2, 3).expand(4, 2, 5)": [(4, 2, 5)],
    "F.embedding(f(2, 3), f(9, 4))": [(2, 3, 4)],
    "nn.Embedding(9, 4)(f(2, 3))": [(2, 3, 4)],
    "nn.RNN(8, 6)(f(5, 2, 7))": [(5, 2, 6), (1, 2, 6)],
    "nn.LSTM(8, 6, num_layers=2, batch_first=True)(f(2, 5, 7))": [(2, 5, 6), (2, 2, 6), (2, 2, 6)],
    "nn.GRU(8, 6, bidirectional=True)(f(5, 2, 7))": [(5, 2, 12), (2, 2, 6)],
    "nn.LSTMCell(8, 6)(f(2, 7))": [(2, 6), (2, 6)],
    "nn.GRUCell(8, 6)(f(2, 7))": [(2, 6)],
    "nn.MultiheadAttention(8, 2)(f(5, 2, 6), f(5, 2, 6), f(5, 2, 6))": [(5, 2, 8), (2, 5, 5)],
    "nn.TransformerEncoderLayer(8, 2)(f(5, 2, 6))": [(5, 2, 8)],
    "nn.TransformerDecoderLayer(8, 2)(f(5, 2, 8), f(7, 3, 8))": [(5, 2, 8)],
    "F.scaled_dot_product_attention(f(2, 4, 5, 8), f(2, 4, 7, 6), f(2, 4, 7, 8))": [(2, 4, 5, 8)],
    "F.interpolate(f(2, 3, 4), size=(8, 8))": [(2, 8, 8)],
    "F.cross_entropy(f(4, 3), i(5))": [()],
    "F.cross_entropy(f(4, 3), i(5), reduction='none')": [(5,)],
    "F.mse_loss(f(4, 3), f(4, 2))": [()],
    "nn.BCELoss()(f(4), f(4, 1))": [()],
    "f(2, 3)[:, 7]": [(2,)],
    "f(2, 3)[i(4), i(5)]": [(5,)],
    "f(6, 2).split([1, 4])": [(1, 2), (4, 2)],
    "torch.gather(f(2, 3), 1, i(4, 5))": [(4, 5)],
}

NEXT = "F.linear(f(2, 3), f(4, 9))"


def followed(*lines: str) -> tuple[RunResult, list[Any]]:
    """The trace of these expressions one after another; each may use the results of those before as ``y``."""
    names = _names(_meta)
    results: list[Any] = []

    def forward() -> None:
        for line in lines:
            results.append(eval(line, names, {"y": results[-1] if results else None}))

    outcome = run(forward, (), {}, Owners(nn.Module()))
    assert outcome.outcome.error is None, outcome.outcome.error
    return outcome, results


def errors(result: RunResult) -> int:
    return sum(op.error is not None for op in result.log.ops)


def shapes(tree: Any) -> list[tuple[int, ...]]:
    found: list[torch.Tensor] = []
    tensors_in(tree, found)
    return [tuple(tensor.shape) for tensor in found]


@pytest.mark.parametrize("line", MEANT)
def test_a_failing_call_gives_what_was_meant_and_the_next_fault_is_found(line: str) -> None:
    result, made = followed(line, NEXT)
    assert shapes(made[0]) == MEANT[line]
    assert errors(result) == 2


def test_what_follows_from_either_side_of_a_broadcast_is_no_fault() -> None:
    """[2, 3] + [2, 4]: whichever side is repaired, one of the two layers fits."""
    for width in (3, 4):
        result, _ = followed("f(2, 3) + f(2, 4)", f"F.linear(y, f(5, {width}))")
        assert errors(result) == 1
    result, _ = followed("f(2, 3) + f(2, 4)", "F.linear(y, f(5, 6))")
    assert errors(result) == 2


UNKNOWN = [
    "y + 1",
    "y @ f(3, 4)",
    "F.relu(y)",
    "nn.Linear(3, 4)(y)",
    "nn.LSTM(3, 4)(y)[0]",
    "torch.cat([y, f(2, 3)], 1)",
    "y.view(-1, 7).mean(0)",
    "y[:, 0].softmax(-1)",
    "torch.stack(list(y))",
    "[*y]",
    "y.shape[0] * 2",
    "y.size(-1) // 2",
    "f'{y.shape} {y}'",
    "(y > 0).float().sum()",
    "y.chunk(2, -1)",
    "F.cross_entropy(y, i(5))",
    "nn.Conv2d(3, 4, 3)(y)",
    "y.transpose(1, 2).reshape(y.size(0), -1)",
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_a_value_of_unknown_shape_flows_through_anything(line: str) -> None:
    result, _ = followed("torch.linalg.solve(f(3, 3), f(2, 3))", line, NEXT)
    assert errors(result) == 2


def test_the_shape_of_a_solve_that_fails_is_unknown() -> None:
    _, made = followed("torch.linalg.solve(f(3, 3), f(2, 3))")
    assert shapes(made[0]) == [(0,)]
