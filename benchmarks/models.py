"""Models of the shapes that people train, written out: BERT, a ResNet-50, a U-Net, Llama."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Bert(nn.Module):
    """Twelve layers over int64[B, T]."""

    def __init__(self, layers: int = 12, width: int = 768, heads: int = 12, vocab: int = 30522) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(vocab, width), nn.Embedding(512, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(BertLayer(width, heads) for _ in range(layers))
        self.out = nn.Linear(width, vocab)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.size(1), device=ids.device)))
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


class BertLayer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.dense, self.up, self.down = (
            nn.Linear(width, width),
            nn.Linear(width, 4 * width),
            nn.Linear(4 * width, width),
        )
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.drop = nn.Dropout(0.1)

    def split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = self.drop((q @ k.transpose(-1, -2) / q.size(-1) ** 0.5).softmax(-1))
        x = self.first(x + self.drop(self.dense((weights @ v).transpose(1, 2).flatten(2))))
        return self.second(x + self.drop(self.down(F.gelu(self.up(x)))))


class ResNet(nn.Module):
    """A ResNet-50 over float32[B, 3, H, W]."""

    def __init__(self, depths: tuple[int, ...] = (3, 4, 6, 3)) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        stages, channels = [], 64
        for number, depth in enumerate(depths):
            for at in range(depth):
                stages.append(Bottleneck(channels, 64 << number, 2 if number and not at else 1))
                channels = 256 << number
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(channels, 1000)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


class Bottleneck(nn.Module):
    def __init__(self, channels: int, inner: int, stride: int) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(channels, inner, 1, bias=False), nn.Conv2d(inner, inner, 3, stride, 1, bias=False)
        self.c = nn.Conv2d(inner, 4 * inner, 1, bias=False)
        self.na, self.nb, self.nc = nn.BatchNorm2d(inner), nn.BatchNorm2d(inner), nn.BatchNorm2d(4 * inner)
        same = channels == 4 * inner and stride == 1
        self.short = (
            nn.Identity()
            if same
            else nn.Sequential(nn.Conv2d(channels, 4 * inner, 1, stride, bias=False), nn.BatchNorm2d(4 * inner))
        )

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.na(self.a(x)))
        y = F.relu(self.nb(self.b(y)))
        return F.relu(self.nc(self.c(y)) + self.short(x))


class UNet(nn.Module):
    """Four levels over float32[B, 3, 16*h, 16*w]."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        sizes = [width << n for n in range(5)]
        self.down = nn.ModuleList(double(i, o) for i, o in zip([3, *sizes], sizes))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * s, s, 2, 2) for s in sizes[-2::-1])
        self.join = nn.ModuleList(double(2 * s, s) for s in sizes[-2::-1])
        self.out = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for number, block in enumerate(self.down):
            x = block(x if number == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([up(x), skip], 1))
        return self.out(x)


def double(i: int, o: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(i, o, 3, padding=1),
        nn.BatchNorm2d(o),
        nn.ReLU(),
        nn.Conv2d(o, o, 3, padding=1),
        nn.BatchNorm2d(o),
        nn.ReLU(),
    )


class Llama(nn.Module):
    """Rotary attention with grouped keys over int64[B, T]; the defaults are those of the 7-billion one."""

    def __init__(
        self,
        layers: int = 32,
        width: int = 4096,
        heads: int = 32,
        groups: int = 32,
        inner: int = 11008,
        vocab: int = 32000,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(LlamaLayer(width, heads, groups, inner) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.out = nn.Linear(width, vocab, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.out(self.norm(x))


class LlamaLayer(nn.Module):
    def __init__(self, width: int, heads: int, groups: int, inner: int) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.q = nn.Linear(width, width, bias=False)
        self.k, self.v = (nn.Linear(width, groups * self.size, bias=False) for _ in range(2))
        self.o = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.down = nn.Linear(inner, width, bias=False)
        self.first, self.second = nn.RMSNorm(width), nn.RMSNorm(width)
        self.register_buffer(
            "steps", 1.0 / 10000 ** (torch.arange(0, self.size, 2).float() / self.size), persistent=False
        )

    def turn(self, x: Tensor) -> Tensor:
        angle = torch.outer(torch.arange(x.size(2), device=x.device).float(), self.steps)
        cos, sin = angle.cos().repeat(1, 2), angle.sin().repeat(1, 2)
        left, right = x.chunk(2, -1)
        return x * cos + torch.cat([-right, left], -1) * sin

    def forward(self, x: Tensor) -> Tensor:
        b, t, _ = x.shape
        y = self.first(x)
        q = self.turn(self.q(y).view(b, t, self.heads, self.size).transpose(1, 2))
        k = self.turn(self.k(y).view(b, t, self.groups, self.size).transpose(1, 2))
        v = self.v(y).view(b, t, self.groups, self.size).transpose(1, 2)
        k, v = (one.repeat_interleave(self.heads // self.groups, 1) for one in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, -1))
        y = self.second(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def bert() -> Bert:
    return Bert()


def resnet() -> ResNet:
    return ResNet()


def unet() -> UNet:
    return UNet()


def llama() -> Llama:
    return Llama(width=512, heads=8, groups=8, inner=1376)


def llama70() -> Llama:
    """The 70-billion one: 80 layers, 8 groups of keys."""
    return Llama(80, 8192, 64, 8, 28672)
