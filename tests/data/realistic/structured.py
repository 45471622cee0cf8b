"""Networks for graphs, series and tables, as people write them. ``# fault:`` is what stands there in the faulty twin."""

from __future__ import annotations

import abc
import types
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

LAYERS: dict[str, type] = {}


class Registered(type(nn.Module)):
    def __new__(mcs, name, bases, body, **options):
        made = super().__new__(mcs, name, bases, body)
        if key := options.get("key"):
            LAYERS[key] = made
        return made

    def __init__(cls, name, bases, body, **options):
        super().__init__(name, bases, body)


def scatter_mean(src, index, size):
    out = src.new_zeros(size, src.size(-1)).scatter_add_(0, index.unsqueeze(-1).expand_as(src), src)
    count = torch.zeros(size, device=src.device).index_add_(0, index, torch.ones_like(index, dtype=src.dtype))
    return out / count.clamp_(min=1).unsqueeze(-1)


class Sage(nn.Module, metaclass=Registered, key="sage"):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.near = nn.Linear(i, o), nn.Linear(i, o, bias=False)

    def forward(self, x, edge):
        source, target = edge
        return self.own(x) + self.near(scatter_mean(x[source], target, x.size(0)))


class Gat(nn.Module, metaclass=Registered, key="gat"):
    def __init__(self, i, o, heads=2):
        super().__init__()
        self.heads, self.o = heads, o // heads
        self.lin = nn.Linear(i, o, bias=False)
        self.left, self.right = nn.Parameter(torch.randn(1, heads, o // heads)), nn.Parameter(torch.randn(1, heads, o // heads))

    def forward(self, x, edge):
        source, target = edge[0], edge[1]
        h = self.lin(x).view(-1, self.heads, self.o)
        score = F.leaky_relu((h * self.left).sum(-1)[source] + (h * self.right).sum(-1)[target], 0.2)
        top = torch.full((x.size(0), self.heads), -1e9, device=x.device)
        top = top.scatter_reduce(0, target.unsqueeze(-1).expand_as(score), score, reduce="amax")
        score = (score - top[target]).exp()
        total = torch.zeros_like(top).index_add(0, target, score)
        weight = score / (total[target] + 1e-16)
        out = torch.zeros_like(h).index_add(0, target, h[source] * weight.unsqueeze(-1))  # fault: out = torch.zeros_like(h).index_add(0, target, h[source] * weight)
        return out.flatten(1)


# shapelint: inputs(x="float32[N, 8]", edge="int64[2, E]", batch="int64[N]")
class GraphNet(nn.Module):
    def __init__(self, kinds=("sage", "gat")):
        super().__init__()
        self.layers = nn.ModuleList([LAYERS[kind](8 if i == 0 else 16, 16) for i, kind in enumerate(kinds)])
        self.out = nn.Linear(16, 2)

    def forward(self, x, edge, batch):
        keep = edge[0] != edge[1]
        edge = torch.cat([edge[:, keep], torch.arange(x.size(0), device=x.device).repeat(2, 1)], 1)
        for layer in self.layers:
            x = F.elu(layer(x, edge))
        graphs = int(batch.max()) + 1
        return self.out(scatter_mean(x, batch, graphs))


# shapelint: inputs(x="float32[B, 96, 7]")
class DLinear(nn.Module):
    def __init__(self, seq=96, pred=24, kernel=25):
        super().__init__()
        self.kernel = kernel
        self.avg = nn.AvgPool1d(kernel, 1)
        self.seasonal, self.trend = nn.Linear(seq, pred), nn.Linear(seq, pred)

    def forward(self, x):
        mean, std = x.mean(1, keepdim=True).detach(), (x.var(1, keepdim=True, unbiased=False) + 1e-5).sqrt()
        x = (x - mean) / std
        pad = (self.kernel - 1) // 2
        padded = torch.cat([x[:, :1].repeat(1, pad, 1), x, x[:, -1:].repeat(1, pad, 1)], 1)  # fault: padded = torch.cat([x[:, :1].repeat(1, pad, 1), x], 1)
        trend = self.avg(padded.permute(0, 2, 1)).permute(0, 2, 1)
        seasonal = x - trend
        y = self.seasonal(seasonal.transpose(1, 2)) + self.trend(trend.transpose(1, 2))  # also fails
        return y.transpose(1, 2) * std + mean


class CausalConv(nn.Conv1d):
    def __init__(self, i, o, kernel, dilation):
        super().__init__(i, o, kernel, dilation=dilation)
        self.left = (kernel - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


# shapelint: inputs(x="float32[B, 1, T]")
class WaveNet(nn.Module):
    def __init__(self, width=8, layers=4):
        super().__init__()
        self.start = CausalConv(1, width, 2, 1)
        self.gates = nn.ModuleList(CausalConv(width, 2 * width, 2, 2**i) for i in range(layers))
        self.mix = nn.ModuleList(nn.Conv1d(width, width, 1) for _ in range(layers))  # fault: self.mix = nn.ModuleList(nn.Conv1d(2 * width, width, 1) for _ in range(layers))
        self.end = nn.Conv1d(width, 16, 1)

    def forward(self, x):
        x, skips = self.start(x), 0
        for gate, mix in zip(self.gates, self.mix):
            a, b = gate(x).chunk(2, 1)
            h = mix(a.tanh() * b.sigmoid())
            x, skips = x + h, skips + h
        return self.end(F.relu(skips))


# shapelint: inputs(x="float32[B, T, 6]")
class Forecaster(nn.Module):
    """Teacher forcing by chance, a state of its own and a residual quantile head."""

    def __init__(self, horizon=5, quantiles=(0.1, 0.5, 0.9)):
        super().__init__()
        self.horizon, self.quantiles = horizon, quantiles
        self.encoder, self.decoder = nn.LSTM(6, 16, batch_first=True), nn.LSTMCell(6, 16)
        self.out = nn.Linear(16, 6)
        self.head = nn.ModuleDict({f"q{int(100 * q)}": nn.Linear(16, 6) for q in quantiles})

    def loss(self, found, target):
        errors = [target - one for one in found.unbind(-1)]
        return torch.stack([torch.maximum(q * e, (q - 1) * e) for q, e in zip(self.quantiles, errors)]).sum(0).mean()

    def forward(self, x):
        past, future = x[:, : -self.horizon], x[:, -self.horizon :]
        _, (h, c) = self.encoder(past)
        h, c = h[-1], c[-1]  # fault: c = c[-1]
        step, outs = past[:, -1], []
        for t in range(self.horizon):
            h, c = self.decoder(step, (h, c))
            outs.append(torch.stack([layer(h) for layer in self.head.values()], -1))
            use_truth = self.training and torch.rand(1).item() < 0.5
            step = future[:, t] if use_truth else self.out(h)
        return self.loss(torch.stack(outs, 1), future)


class Feature(abc.ABC):
    @abc.abstractmethod
    def embed(self, column: torch.Tensor) -> torch.Tensor: ...


class Category(nn.Module, Feature):
    def __init__(self, size, dim):
        super().__init__()
        self.table = nn.EmbeddingBag(size, dim, mode="mean")

    def embed(self, column):
        return self.table(column.unsqueeze(-1))


class Number(nn.Module, Feature):
    def __init__(self, dim):
        super().__init__()
        self.w = nn.Parameter(torch.randn(dim))
        self.register_buffer("edges", torch.linspace(-2, 2, 9))
        self.bins = nn.Embedding(10, dim)

    def embed(self, column):
        return column.unsqueeze(-1) * self.w + self.bins(torch.bucketize(column, self.edges))


# shapelint: inputs(batch={"numbers": "float32[B, 4]", "kinds": "int64[B, 3]"})
class Tabular(nn.Module):
    def __init__(self, dim=8, **options: Any):
        super().__init__()
        self.cfg = types.SimpleNamespace(**{"heads": 2, "hidden": 16} | options)
        self.kinds = nn.ModuleList(Category(size, dim) for size in (5, 9, 12))
        self.numbers = nn.ModuleList(Number(dim) for _ in range(4))
        self.token = nn.Parameter(torch.zeros(dim))
        self.attention = nn.MultiheadAttention(dim, self.cfg.heads, batch_first=True)
        self.out = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, self.cfg.hidden), nn.ReLU(), nn.Linear(self.cfg.hidden, 1))

    @property
    def width(self):
        return len(self.kinds) + len(self.numbers)

    def forward(self, batch):
        columns = [f.embed(c) for f, c in zip(self.kinds, batch["kinds"].unbind(1))]
        columns += [f.embed(batch["numbers"][:, i]) for i, f in enumerate(self.numbers)]
        x = torch.stack([self.token.expand(columns[0].size(0), -1), *columns], dim=1)  # fault: x = torch.stack([self.token.expand(columns[0].size(0), 1, -1), *columns], dim=1)
        assert x.size(1) == self.width + 1, f"{x.shape} for {self.width} features"
        y, weights = self.attention(x, x, x, need_weights=True, average_attn_weights=False)
        return self.out((x + y)[:, 0]).squeeze(-1), weights.mean(1)


# shapelint: inputs(users="int64[B]", items="int64[B, K]", ratings="float32[B, K]")
class Recommender(nn.Module):
    def __init__(self, users=20, items=30, dim=8):
        super().__init__()
        self.user, self.item = nn.Embedding(users, dim), nn.Embedding(items, dim)
        self.bias = nn.Embedding(items, 1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, users, items, ratings):
        score = torch.bmm(self.item(items), self.user(users).unsqueeze(-1)).squeeze(-1)  # fault: score = torch.bmm(self.item(items), self.user(users)).squeeze(-1)
        score = score + self.bias(items).squeeze(-1)
        order = ratings.argsort(dim=1, descending=True)
        ranked = score.gather(1, order)
        likelihood = (ranked - ranked.flip(1).logcumsumexp(1).flip(1)).sum(1)
        hits = (score.topk(2, 1).indices.unsqueeze(2) == order[:, None, :2]).any(-1).float().mean()
        return -likelihood.mean(), hits


# shapelint: inputs(x="float32[B, 2, 32]")
class FourierOperator(nn.Module):
    def __init__(self, width=8, modes=6):
        super().__init__()
        self.modes = modes
        self.lift, self.drop = nn.Conv1d(3, width, 1), nn.Conv1d(width, 1, 1)
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(width, width, modes, dtype=torch.cfloat)) for _ in range(2)])
        self.skips = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(2)])

    def forward(self, x):
        grid = torch.linspace(0, 1, x.size(-1), device=x.device).expand(x.size(0), 1, -1)
        x = self.lift(torch.cat([x, grid], 1))
        for weight, skip in zip(self.weights, self.skips):
            ft = torch.fft.rfft(x)
            out = torch.zeros(*ft.shape, dtype=torch.cfloat, device=x.device)
            out[:, :, : self.modes] = torch.einsum("bix,iox->box", ft[:, :, : self.modes], weight)  # fault: out[:, :, : self.modes] = torch.einsum("bix,iox->box", ft, weight)
            x = F.gelu(torch.fft.irfft(out, n=x.size(-1)) + skip(x))
        return self.drop(x)
