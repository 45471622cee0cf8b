"""The public tracer: what it returns runs on real tensors and equals the model."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from shapelint.trace import MetaTensorProxy, MetaTensorTracer
from shapelint.trace.owners import Owners
from shapelint.trace.run import run

pytestmark = pytest.mark.torch


class Ranks(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        if x.dim() == 3:
            y = x[0, :, :]
        elif x.dim() == 4:
            y = x[0, :, :, :]
        else:
            raise RuntimeError("Unsupported rank for x")
        return y + y.shape[0] if y.shape[0] == 3 else torch.neg(y)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.block = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8))
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> Any:
        x = self.stem(x)
        x = torch.relu(x + self.block(x))
        return self.head(x.mean((2, 3)))


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.randn(1, 10, 16))
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)

    def forward(self, x: torch.Tensor, scale: float = 2.0) -> Any:
        y = self.layer(x + self.position[:, : x.shape[1]]) * scale
        steps = torch.arange(x.shape[1], device=x.device).float()
        return {"tokens": y * steps[None, :, None], "pooled": 1 - y.mean(1), "nothing": None}


def same(model: nn.Module, *inputs: torch.Tensor, **more: torch.Tensor) -> set[str]:
    tracer = MetaTensorTracer()
    metas = {**dict(zip("x", inputs)), **more}
    graph = tracer.trace(model, concrete_metas={name: value.to("meta") for name, value in metas.items()})
    module = torch.fx.GraphModule(tracer.root, graph)
    torch.testing.assert_close(module(**metas), model(**metas))
    return {node.op for node in graph.nodes}


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 3, 4), (2, 3, 4, 5), (2, 2, 4, 5)])
def test_both_ranks_and_both_sides_of_the_branch_equal_eager(shape: tuple[int, ...]) -> None:
    same(Ranks(), torch.randn(shape))


def test_a_rank_that_forward_rejects_raises_its_own_error() -> None:
    with pytest.raises(RuntimeError, match="Unsupported rank"):
        MetaTensorTracer().trace(Ranks(), concrete_metas=[torch.empty(1, 2, 3, 4, 5, device="meta")])


def test_a_residual_network_equals_eager_and_its_buffers_are_left_alone() -> None:
    model = Residual().train()
    count: Any = model.stem[1].num_batches_tracked
    before = count.clone()
    MetaTensorTracer().trace(model, concrete_metas=[torch.empty(2, 3, 16, 16, device="meta")])
    assert torch.equal(count, before)
    assert model.stem[1].num_batches_tracked is count
    assert same(model.eval(), torch.randn(2, 3, 16, 16)) >= {"placeholder", "call_module", "call_method", "output"}


def test_a_transformer_with_a_dict_for_output_equals_eager() -> None:
    opcodes = same(Tokens().eval(), torch.randn(2, 7, 16))
    assert opcodes == {"placeholder", "get_attr", "call_function", "call_method", "call_module", "output"}


def test_a_value_of_unknown_shape_flows_until_it_is_told() -> None:
    value = MetaTensorProxy.without_shape()
    first, second = value
    assert isinstance(first, torch.Tensor)
    assert second.meta_tensor is None
    value.install_meta_tensor(torch.empty(2, 3, device="meta"))
    assert value.meta_tensor is not None
    assert tuple(value.meta_tensor.shape) == (2, 3)
    with pytest.raises(TypeError, match="meta device"):
        value.install_meta_tensor(torch.empty(2))


class Unknown(nn.Module):
    """Its first call has no rule for its shape; a thing with fields, items and sizes comes out."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x: torch.Tensor) -> Any:
        found = torch.histogram(x, bins=5)
        y = self.fc(found.hist.view(-1, 3)) + 1
        a, b = torch.cat([y, y]).chunk(2)
        rows, columns = a.shape
        return b.reshape(columns, rows).sum(), x * 2


def test_what_follows_from_a_value_of_unknown_shape_is_no_failure() -> None:
    tracer = MetaTensorTracer()
    with pytest.raises(RuntimeError, match="doesn't see"):
        tracer.trace(Unknown(), concrete_metas=[torch.empty(2, 8, device="meta")])
    assert tracer.result.outcome.error is None
    assert [op.error for op in tracer.result.log.ops if op.error is not None] == []
    known = tracer.result.log.values[tracer.result.outputs[1][1]]
    assert known.shape == (2, 8)


class FromData(nn.Module):
    """Sizes, positions and answers that only data gives, each used as if it were known."""

    def forward(self, x: torch.Tensor, keep: torch.Tensor) -> Any:
        if not (x >= 0).all():
            raise ValueError("negative")
        chosen = x[keep] * x[keep].detach()
        rows = (keep.sum(0) > 1).nonzero()
        for row in rows[:2]:
            chosen = chosen + x[0, row[0]]
        length: Any = keep.sum().max()
        steps = torch.arange(length)
        return chosen, steps, x[:, : int(length)], x[:, :length]


def test_what_hangs_on_data_is_followed_and_is_no_failure() -> None:
    tracer = MetaTensorTracer()
    metas = [torch.empty(4, 6, device="meta"), torch.empty(4, 6, dtype=torch.bool, device="meta")]
    with pytest.raises(ValueError, match="negative"):
        tracer.trace(FromData(), concrete_metas=metas)
    assert tracer.result.asked
    site = frozenset(tracer.result.asked)
    again = run(FromData(), tuple(metas), {}, Owners(None), flips=site, sizes=lambda: 37)
    assert again.outcome.error is None
    assert [op.error for op in again.log.ops if op.error is not None] == []
    assert [again.log.values[value].shape for _, value in again.outputs[:2]] == [(37,), (37,)]
