"""Networks for images, as people write them. A line's ``# fault:`` is what stands there in the faulty twin."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inplanes, planes, stride=1, downsample=None, norm_layer=nn.BatchNorm2d):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = norm_layer(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += identity
        return F.relu(out, inplace=True)


# shapelint: inputs(x="float32[B, 3, 32, 32]")
class ResNet(nn.Module):
    def __init__(self, layers=(2, 2, 2), num_classes=10):
        super().__init__()
        self.inplanes = 16
        self.stem = nn.Sequential(OrderedDict(conv=nn.Conv2d(3, 16, 3, padding=1), bn=nn.BatchNorm2d(16)))
        self.layer1 = self._make_layer(16, layers[0])
        self.layer2 = self._make_layer(32, layers[1], stride=2)
        self.layer3 = self._make_layer(64, layers[2], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(64, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def _make_layer(self, planes, blocks, stride=1):
        down = None
        if stride != 1 or self.inplanes != planes:
            down = nn.Sequential(nn.Conv2d(self.inplanes, planes, 1, stride), nn.BatchNorm2d(planes))
        layers = [BasicBlock(self.inplanes, planes, stride, down)]
        self.inplanes = planes
        layers += [BasicBlock(planes, planes) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(F.relu(self.stem(x)))))
        return self.fc(torch.flatten(self.avgpool(x), 1))  # fault: return self.fc(torch.flatten(x, 1))


class Down(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU(), nn.MaxPool2d(2))

    def forward(self, x):
        return self.net(x)


class Up(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.up = nn.ConvTranspose2d(i, i // 2, 2, 2)
        self.conv = nn.Conv2d(i // 2 + o, o, 3, padding=1)

    def forward(self, x, skip):
        x = self.up(x)
        dy, dx = skip.size(2) - x.size(2), skip.size(3) - x.size(3)
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.conv(torch.cat([skip, x], dim=1))


# shapelint: inputs(x="float32[B, 1, H, W]")
class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.inc = nn.Conv2d(1, width, 3, padding=1)
        self.downs = nn.ModuleList([Down(width * 2**i, width * 2 ** (i + 1)) for i in range(2)])
        self.ups = nn.ModuleList([Up(width * 2 ** (i + 1), width * 2**i) for i in reversed(range(2))])
        self.outc = nn.Conv2d(width, 2, 1)  # fault: self.outc = nn.Conv2d(2 * width, 2, 1)

    def forward(self, x):
        x = F.interpolate(x, size=(32, 32), mode="bilinear", align_corners=False)
        skips = [self.inc(x)]
        for down in self.downs:
            skips.append(down(skips[-1]))
        y = skips.pop()
        for up in self.ups:
            y = up(y, skips.pop())
        return self.outc(y)


@dataclass
class ViTConfig:
    image: int = 32
    patch: int = 8
    dim: int = 48
    heads: int = 4
    depth: int = 2
    norm: type = field(default=partial(nn.LayerNorm, eps=1e-6))


class ViTBlock(nn.Module):
    def __init__(self, cfg: ViTConfig):
        super().__init__()
        self.heads, self.scale = cfg.heads, (cfg.dim // cfg.heads) ** -0.5
        self.norm1, self.norm2 = cfg.norm(cfg.dim), cfg.norm(cfg.dim)
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.proj = nn.Linear(cfg.dim, cfg.dim)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))

    def attend(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        attn = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.mlp(self.norm2(x))


# shapelint: inputs(x="float32[B, 3, 32, 32]")
class ViT(nn.Module):
    def __init__(self, cfg: ViTConfig | None = None):
        super().__init__()
        cfg = cfg or ViTConfig()
        n = (cfg.image // cfg.patch) ** 2
        self.patch = nn.Conv2d(3, cfg.dim, cfg.patch, cfg.patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, cfg.dim))
        self.pos = nn.Parameter(torch.zeros(1, n + 1, cfg.dim))  # fault: self.pos = nn.Parameter(torch.zeros(1, n, cfg.dim))
        nn.init.trunc_normal_(self.pos, std=0.02)
        self.blocks = nn.Sequential(*[ViTBlock(cfg) for _ in range(cfg.depth)])
        self.head = nn.Linear(cfg.dim, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1) + self.pos
        return self.head(self.blocks(x)[:, 0])


# shapelint: inputs(x="float32[B, 32, 16, 16]")
class Swin(nn.Module):
    def __init__(self, dim=32, window=4, heads=2):
        super().__init__()
        self.window, self.heads = window, heads
        self.table = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        coords = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        rel = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
        rel[:, :, 0] += window - 1
        rel[:, :, 1] += window - 1
        rel[:, :, 0] *= 2 * window - 1
        self.register_buffer("index", rel.sum(-1))
        self.qkv, self.out = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)

    def forward(self, x):
        B, C, H, W = x.shape
        w = self.window
        x = torch.roll(x, (-w // 2, -w // 2), dims=(2, 3))
        x = x.view(B, C, H // w, w, W // w, w).permute(0, 2, 4, 3, 5, 1).reshape(-1, w * w, C)
        q, k, v = self.qkv(x).view(-1, w * w, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        bias = self.table[self.index.view(-1)].view(w * w, w * w, -1).permute(2, 0, 1)  # fault: bias = self.table[self.index.view(-1)].view(w * w, w * w, -1).permute(1, 2, 0)
        attn = (q @ k.mT / math.sqrt(C // self.heads) + bias.unsqueeze(0)).softmax(-1)
        x = self.out((attn @ v).transpose(1, 2).flatten(2))
        x = x.view(B, H // w, W // w, w, w, C).permute(0, 5, 1, 3, 2, 4).reshape(B, C, H, W)
        return torch.roll(x, (w // 2, w // 2), dims=(2, 3))


class Detections(NamedTuple):
    boxes: Tensor
    scores: Tensor
    labels: Tensor


# shapelint: inputs(x="float32[B, 3, 64, 64]")
class AnchorDetector(nn.Module):
    def __init__(self, classes=5, anchors=3):
        super().__init__()
        self.classes, self.anchors = classes, anchors
        self.backbone = nn.ModuleDict({"c3": nn.Conv2d(3, 16, 3, 4, 1), "c4": nn.Conv2d(16, 32, 3, 2, 1)})
        self.lateral = nn.ModuleDict({"c3": nn.Conv2d(16, 24, 1), "c4": nn.Conv2d(32, 24, 1)})
        self.head = nn.Conv2d(24, anchors * (classes + 4), 3, padding=1)

    def levels(self, x):
        feats = {}
        for name, layer in self.backbone.items():
            x = F.relu(layer(x))
            feats[name] = self.lateral[name](x)
        feats["c3"] = feats["c3"] + F.interpolate(feats["c4"], scale_factor=2.0)  # fault: feats["c3"] = feats["c3"] + feats["c4"]
        yield from feats.values()

    @torch.no_grad()
    def select(self, logits, boxes):
        found = []
        for score, box in zip(logits.sigmoid(), boxes):
            best, label = score.max(-1)
            keep = best > 0.05
            best, label, box = best[keep], label[keep], box[keep]
            top, order = best.topk(min(10, best.numel()))
            found.append(Detections(box[order], top, label[order]))
        return found

    def forward(self, x):
        outs = []
        for level in self.levels(x):
            out = self.head(level)
            n, _, h, w = out.shape
            outs.append(out.view(n, self.anchors, -1, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, self.classes + 4))
        logits, boxes = torch.cat(outs, 1).split([self.classes, 4], -1)
        return self.select(logits, boxes)


# shapelint: inputs(img="float32[B, 3, 24, 24]", flow="float32[B, 2, 24, 24]")
class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.refine = nn.Conv2d(6, 3, 3, padding=1)

    def forward(self, img, flow):
        b, _, h, w = img.shape
        ys, xs = torch.meshgrid(
            torch.arange(h, device=img.device), torch.arange(w, device=img.device), indexing="ij"
        )
        grid = torch.stack((xs, ys), 0).float().unsqueeze(0).repeat(b, 1, 1, 1) + flow
        grid[:, 0] = 2.0 * grid[:, 0].clone() / max(w - 1, 1) - 1.0
        grid[:, 1] = 2.0 * grid[:, 1].clone() / max(h - 1, 1) - 1.0
        warped = F.grid_sample(img, grid.permute(0, 2, 3, 1), align_corners=True)  # fault: warped = F.grid_sample(img, grid, align_corners=True)
        seen = F.grid_sample(torch.ones_like(img), grid.permute(0, 2, 3, 1), align_corners=True) > 0.999
        warped = torch.where(seen, warped, torch.zeros_like(warped))
        return self.refine(torch.cat([img, warped], 1)).clamp_(0, 1)


# shapelint: inputs(x="float32[B, 3, 16, 16]")
class SuperResolution(nn.Module):
    def __init__(self, scale=3):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 5, padding=2), nn.PReLU(32))
        self.up = nn.Sequential(nn.Conv2d(32, 3 * scale**2, 3, padding=1), nn.PixelShuffle(scale))
        self.register_buffer("mean", torch.tensor([0.48, 0.46, 0.41]).view(1, 3, 1, 1))

    def forward(self, x):
        y = self.up(self.body(x - self.mean)) + self.mean
        low = F.interpolate(x, scale_factor=3, mode="bicubic", align_corners=False)
        patches = F.unfold(low, 3, padding=1)
        blurred = F.fold(patches * (1 / 9), low.shape[-2:], 3, padding=1)  # fault: blurred = F.fold(patches * (1 / 9), low.shape[-2:], 5, padding=1)
        return y + low - blurred


# shapelint: inputs(points="float32[B, N, 3]")
class PointNet(nn.Module):
    def __init__(self, k=4, centres=8):
        super().__init__()
        self.k, self.centres = k, centres
        self.mlp = nn.Sequential(nn.Conv2d(6, 16, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 1))
        self.tnet = nn.Linear(3, 9)
        self.head = nn.Linear(32, 4)

    def sample(self, xyz):
        b, n, _ = xyz.shape
        picked = torch.zeros(b, self.centres, dtype=torch.long, device=xyz.device)
        distance = torch.full((b, n), 1e10, device=xyz.device)
        farthest = torch.randint(0, n, (b,), device=xyz.device)
        rows = torch.arange(b, device=xyz.device)
        for i in range(self.centres):
            picked[:, i] = farthest
            centre = xyz[rows, farthest, :].view(b, 1, 3)
            dist = torch.sum((xyz - centre) ** 2, -1)
            mask = dist < distance
            distance[mask] = dist[mask]
            farthest = torch.max(distance, -1)[1]
        return picked

    def forward(self, points):
        turn = self.tnet(points.amax(1)).view(-1, 3, 3) + torch.eye(3, device=points.device)
        points = points @ turn
        centres = points.gather(1, self.sample(points).unsqueeze(-1).expand(-1, -1, 3))
        near = torch.cdist(centres, points).topk(self.k, largest=False).indices
        b, s, k = near.shape
        grouped = points.unsqueeze(1).expand(-1, s, -1, -1).gather(2, near.unsqueeze(-1).expand(-1, -1, -1, 3))
        edge = torch.cat([grouped - centres.unsqueeze(2), centres.unsqueeze(2).expand(-1, -1, k, -1)], -1)
        feats = self.mlp(edge.permute(0, 3, 1, 2)).max(-1).values  # fault: feats = self.mlp(edge).max(-1).values
        return self.head(feats.mean(-1))
