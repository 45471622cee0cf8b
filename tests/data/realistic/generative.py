"""Generative networks and training steps, as people write them. ``# fault:`` is what stands there in the faulty twin."""

from __future__ import annotations

import copy
import math

import torch
import torch.nn.functional as F
from torch import autocast, nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence
from torch.nn.utils import parametrizations


# shapelint: inputs(x="float32[B, 1, 16, 16]")
class Vae(nn.Module):
    def __init__(self, latent=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 4, 2, 1), nn.ReLU(), nn.Flatten())
        self.stats = nn.LazyLinear(2 * latent)
        self.dec = nn.Sequential(
            nn.Linear(latent, 256), nn.Unflatten(1, (16, 4, 4)), nn.ConvTranspose2d(16, 8, 4, 2, 1),
            nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1),  # fault: nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1),
        )

    def forward(self, x):
        mean, log = self.stats(self.enc(x)).chunk(2, dim=1)
        q = Independent(Normal(mean, F.softplus(log) + 1e-4), 1)
        p = Independent(Normal(torch.zeros_like(mean), torch.ones_like(mean)), 1)
        out = self.dec(q.rsample())
        rebuilt = F.binary_cross_entropy_with_logits(out, x, reduction="none").flatten(1).sum(1)
        return (rebuilt + kl_divergence(q, p)).mean()


# shapelint: inputs(x="float32[B, 4, 8, 8]")
class VectorQuantizer(nn.Module):
    def __init__(self, codes=16, dim=4):
        super().__init__()
        self.register_buffer("codebook", torch.randn(codes, dim))
        self.register_buffer("size", torch.zeros(codes))
        self.register_buffer("average", self.codebook.clone())
        self.decay = 0.99

    def forward(self, x):
        flat = x.permute(0, 2, 3, 1).reshape(-1, x.size(1))
        dist = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codebook.t() + self.codebook.pow(2).sum(1)  # fault: dist = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.codebook + self.codebook.pow(2).sum(1)
        index = dist.argmin(1)
        hot = F.one_hot(index, self.codebook.size(0)).type_as(flat)
        if self.training:
            with torch.no_grad():
                self.size.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
                self.average.lerp_(hot.t() @ flat, 1 - self.decay)
                self.codebook.copy_(self.average / self.size.clamp(min=1e-5).unsqueeze(1))
        b, _, h, w = x.shape
        quantised = F.embedding(index, self.codebook).view(b, h, w, -1).permute(0, 3, 1, 2)
        perplexity = torch.exp(-(hot.mean(0) * (hot.mean(0) + 1e-10).log()).sum())
        return x + (quantised - x).detach(), F.mse_loss(quantised.detach(), x), perplexity


class TimeBlock(nn.Module):
    def __init__(self, i, o, time):
        super().__init__()
        self.conv, self.time = nn.Conv2d(i, o, 3, padding=1), nn.Linear(time, 2 * o)

    def forward(self, x, t):
        scale, shift = self.time(t)[:, :, None, None].chunk(2, 1)  # fault: scale, shift = self.time(t)[:, :3, None, None].chunk(2, 1)
        return F.silu(F.group_norm(self.conv(x), 4) * (1 + scale) + shift)


# shapelint: inputs(x="float32[B, 3, 16, 16]")
class Diffusion(nn.Module):
    def __init__(self, steps=50):
        super().__init__()
        betas = torch.linspace(1e-4, 0.02, steps)
        bars = torch.cumprod(1 - betas, 0)
        self.register_buffer("a", bars.sqrt())
        self.register_buffer("b", (1 - bars).sqrt())
        self.steps = steps
        self.block1, self.block2 = TimeBlock(3, 16, 32), TimeBlock(16, 16, 32)
        self.out = nn.Conv2d(16, 3, 1)

    @staticmethod
    def embed(t, dim):
        freqs = torch.exp(-math.log(10000) * torch.arange(dim // 2, device=t.device) / (dim // 2))
        args = t[:, None].float() * freqs[None]
        return torch.cat([args.cos(), args.sin()], -1)

    def extract(self, values, t, shape):
        return values.gather(0, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))

    def forward(self, x):
        t = torch.randint(0, self.steps, (x.size(0),), device=x.device).long()
        noise = torch.randn_like(x)
        noisy = self.extract(self.a, t, x.shape) * x + self.extract(self.b, t, x.shape) * noise
        e = self.embed(t, 32)
        return F.mse_loss(self.out(self.block2(self.block1(noisy, e), e)), noise)


class Coupling(nn.Module):
    def __init__(self, dim, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(dim // 2, 32), nn.Tanh(), nn.Linear(32, dim))

    def forward(self, x):
        a, b = x.chunk(2, -1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, -1)
        y = torch.cat((b * s.exp() + t, a) if self.flip else (a, b * s.exp() + t), -1)
        return y, s.sum(-1)


# shapelint: inputs(x="float32[B, 6]")
class Flow(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(dim, bool(i % 2)) for i in range(4))
        self.base = None
        self.mix = nn.Parameter(torch.eye(dim))

    def log_prob(self, x):
        total = x.new_zeros(x.size(0))
        for layer in self.layers:
            x, ldj = layer(x)
            total = total + ldj
            x = x @ self.mix  # fault: x = x @ self.mix[:4]
            total = total + torch.linalg.slogdet(self.mix)[1]
        base = Normal(torch.tensor(0.0, device=x.device), torch.tensor(1.0, device=x.device))
        return base.log_prob(x).sum(-1) + total

    def forward(self, x):
        return -self.log_prob(x).mean()


# shapelint: inputs(real="float32[B, 1, 8, 8]")
class Gan(nn.Module):
    def __init__(self):
        super().__init__()
        sn = parametrizations.spectral_norm
        self.g = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Unflatten(-1, (1, 8, 8)))
        self.d = nn.Sequential(sn(nn.Conv2d(1, 8, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(), sn(nn.Linear(128, 1)))  # fault: self.d = nn.Sequential(sn(nn.Conv2d(1, 8, 4, 2, 1)), nn.LeakyReLU(0.2), nn.Flatten(), sn(nn.Linear(64, 1)))

    def penalty(self, real, fake):
        alpha = torch.rand(real.size(0), 1, 1, 1, device=real.device)
        mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        with torch.enable_grad():
            score = self.d(mixed)  # also fails
            grad = torch.autograd.grad(score, mixed, torch.ones_like(score), create_graph=True, retain_graph=True)[0]
        return ((grad.flatten(1).norm(2, dim=1) - 1) ** 2).mean()

    def forward(self, real):
        fake = self.g(torch.randn(real.size(0), 5, device=real.device))
        return self.d(fake).mean() - self.d(real).mean() + 10 * self.penalty(real, fake.detach())


# shapelint: inputs(a="float32[B, 3, 16, 16]", b="float32[B, 3, 16, 16]")
class Moco(nn.Module):
    def __init__(self, dim=8, queue=32, temperature=0.07):
        super().__init__()
        self.t, self.m = temperature, 0.99
        self.online = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, dim))
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(dim, queue), dim=0))

    @torch.no_grad()
    def follow(self):
        for p, q in zip(self.online.parameters(), self.target.parameters()):
            q.data = q.data * self.m + p.data * (1.0 - self.m)

    def forward(self, a, b):
        q = F.normalize(self.online(a), dim=1)
        with torch.no_grad():
            self.follow()
            order = torch.randperm(b.size(0), device=b.device)
            k = F.normalize(self.target(b[order]), dim=1)[torch.argsort(order)]
        positive = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        negative = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())  # fault: negative = torch.einsum("nc,kc->nk", q, self.queue.clone().detach())
        logits = torch.cat([positive, negative], dim=1) / self.t
        return F.cross_entropy(logits, torch.zeros(logits.size(0), dtype=torch.long, device=logits.device))


# shapelint: inputs(a="float32[B, 12]", b="float32[B, 12]")
class SimClr(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(inplace=True), nn.Linear(16, 8))

    def forward(self, a, b):
        n = a.size(0)
        z = F.normalize(self.net(torch.cat([a, b], 0)), dim=-1)
        sim = z @ z.T / 0.5
        sim.fill_diagonal_(-9e15)
        labels = torch.cat([torch.arange(n, 2 * n), torch.arange(n)]).to(a.device)  # fault: labels = torch.arange(n, device=a.device)
        return F.cross_entropy(sim, labels)


# shapelint: inputs(obs="float32[T, B, 10]", reward="float32[T, B]", done="bool[T, B]")
class ActorCritic(nn.Module):
    def __init__(self, actions=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.Tanh())
        self.cell = nn.GRUCell(32, 32)
        self.pi, self.v = nn.Linear(32, actions), nn.Linear(32, 1)

    def forward(self, obs, reward, done):
        steps, b = reward.shape
        h = obs.new_zeros(b, 32)
        hidden = []
        for x, d in zip(self.body(obs), done):
            h = self.cell(x, h * (~d).float().unsqueeze(-1))  # fault: h = self.cell(x, h * (~d).float())
            hidden.append(h)
        hidden = torch.stack(hidden)
        dist = Categorical(logits=self.pi(hidden))
        action = dist.sample()
        value = self.v(hidden).squeeze(-1)
        advantage = torch.zeros_like(value)
        last = torch.zeros_like(value[0])
        for t in reversed(range(steps)):
            following = value[t + 1] if t + 1 < steps else torch.zeros_like(value[0])
            delta = reward[t] + 0.99 * following * (~done[t]) - value[t]
            advantage[t] = last = delta + 0.95 * last
        policy = -(dist.log_prob(action) * advantage.detach()).mean()
        return policy + F.mse_loss(value, (advantage + value).detach()) - 0.01 * dist.entropy().mean()


# shapelint: inputs(x="float32[N, 2]")
class Pinn(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
        self.scale = nn.Parameter(torch.ones(2))

    def forward(self, x):
        def u(point):
            return self.net(point * self.scale).squeeze(-1)

        jac = torch.func.vmap(torch.func.jacrev(u))(x)
        hess = torch.func.vmap(torch.func.hessian(u))(x)
        laplace = hess.diagonal(dim1=-2, dim2=-1).sum(-1)
        return ((laplace + jac @ self.scale) ** 2).mean()  # fault: return ((laplace + jac @ self.scale[:1]) ** 2).mean()


# shapelint: inputs(x="float32[B, 8]", weights="float32[5, 8]")
class Ensemble(nn.Module):
    def __init__(self, count=3):
        super().__init__()
        models = [nn.Linear(8, 5) for _ in range(count)]
        params, _ = torch.func.stack_module_state(models)
        self.w, self.b = nn.Parameter(params["weight"].detach()), nn.Parameter(params["bias"].detach())
        self.base = nn.Linear(8, 5)

    def forward(self, x, weights):
        def one(w, b, v):
            return torch.func.functional_call(self.base, {"weight": w, "bias": b}, (v,))

        outs = torch.vmap(one, in_dims=(0, 0, None))(self.w, self.b, x)
        return outs.mean(0) + F.linear(x, weights)  # fault: return outs.mean(0) + F.linear(x, weights.t())


# shapelint: inputs(x="float32[B, 12]", y="int64[B]")
def train_step(x, y):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 4))
    average = torch.optim.swa_utils.AveragedModel(model)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    for epoch in range(2):
        with autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
            loss = F.cross_entropy(logits.float(), y, label_smoothing=0.1)  # fault: loss = F.cross_entropy(logits.float()[1:], y, label_smoothing=0.1)
        scaler.scale(loss).backward()
        scaler.unscale_(optimiser)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimiser)
        scaler.update()
        optimiser.zero_grad(set_to_none=True)
        average.update_parameters(model)
        print(f"{epoch}: loss {loss.item():.4f}, norm {norm:.2f}, accuracy {(logits.argmax(1) == y).float().mean():.2%}")
    return loss.detach()
