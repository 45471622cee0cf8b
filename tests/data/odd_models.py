import functools, dataclasses
from typing import NamedTuple
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrize, parametrizations, prune
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pack_sequence, pad_sequence, PackedSequence
from torch.utils.checkpoint import checkpoint


class LazyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.LazyConv2d(8, 3, padding=1)
        self.bn = nn.LazyBatchNorm2d()
        self.fc = nn.LazyLinear(10)

    def forward(self, x):
        return self.fc(F.relu(self.bn(self.conv(x))).mean((2, 3)))


class LazyFlat(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.LazyLinear(32)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, x):
        return self.fc2(self.fc1(x.flatten(1)))


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 16)
        self.rnn = nn.LSTM(16, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, 5)

    def forward(self, ids, lengths):
        x = pack_padded_sequence(self.emb(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        y, (h, c) = self.rnn(x)
        y, _ = pad_packed_sequence(y, batch_first=True, total_length=ids.size(1))
        return self.out(y), torch.cat([h[0], h[1]], -1)


class PackedSeqArg(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(16, 32, num_layers=2)
        self.lin = nn.Linear(32, 3)

    def encode(self, p: PackedSequence):
        out, h = self.rnn(p)
        return PackedSequence(self.lin(out.data), out.batch_sizes, out.sorted_indices, out.unsorted_indices), h

    def forward(self, x, lengths):
        p = pack_padded_sequence(x, lengths.cpu(), enforce_sorted=True)
        y, h = self.encode(p)
        return pad_packed_sequence(y)[0], h[-1]


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = parametrizations.weight_norm(nn.Linear(8, 16))
        self.b = parametrizations.spectral_norm(nn.Conv1d(16, 16, 3, padding=1))
        self.c = nn.utils.spectral_norm(nn.Linear(16, 16))
        self.d = nn.utils.weight_norm(nn.Linear(16, 16))
        self.e = parametrizations.orthogonal(nn.Linear(16, 16))

    def forward(self, x):
        x = self.a(x)
        x = self.b(x.transpose(1, 2)).transpose(1, 2)
        return self.e(self.d(self.c(x)))


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)


class Custom(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        parametrize.register_parametrization(self.lin, "weight", Symmetric())
        self.pr = nn.Linear(8, 4)
        prune.l1_unstructured(self.pr, "weight", amount=0.3)

    def forward(self, x):
        return self.pr(self.lin(x))


class Check(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 32), nn.Linear(32, 8)

    def block(self, x, scale):
        return self.b(F.gelu(self.a(x))) * scale

    def forward(self, x):
        x = checkpoint(self.block, x, 2.0, use_reentrant=False)
        return checkpoint(self.block, x, 0.5, use_reentrant=True)


@torch.jit.script
def scripted_gelu(x: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (x + b) * torch.sigmoid(1.702 * (x + b))


class ScriptFn(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 16)
        self.bias = nn.Parameter(torch.zeros(16))
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(scripted_gelu(self.lin(x), self.bias))


class Inner(nn.Module):
    def __init__(self, d: int):
        super().__init__()
        self.lin = nn.Linear(d, d)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() == 3:
            return self.lin(x)
        return self.lin(x).unsqueeze(1)


class ScriptMod(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.jit.script(Inner(8))
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.inner(x))


@torch.compile
def compiled_fn(x, y):
    return F.silu(x) * y


class Compiled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.compile(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)))
        self.inner = Inner(8)
        self.inner.compile()

    @torch.compile(dynamic=True)
    def mix(self, x):
        return x.softmax(-1)

    def forward(self, x):
        y = self.inner(self.net(x))
        return self.mix(compiled_fn(y, x))


class Vmapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 8, 8))

    def forward(self, x):
        per = torch.vmap(lambda w, v: v @ w, in_dims=(0, None))(self.w, x)
        norm = torch.vmap(torch.vmap(lambda v: v / v.norm()))(x)
        return per.mean(0) + norm


class Jac(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, x):
        with torch.enable_grad():
            x = x.requires_grad_()
            u = self.f(x)
            g = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
        g2 = torch.func.vmap(torch.func.grad(lambda v: self.f(v).squeeze()))(x)
        return u, g, g2


class FunctionalCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(8, 4)

    def forward(self, x):
        params = {k: v * 0.9 for k, v in self.base.named_parameters()}
        return torch.func.functional_call(self.base, params, (x,))


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)
        self.feats = {}
        self.a.register_forward_hook(self.save("a"))
        self.b.register_forward_pre_hook(lambda m, args: (args[0] * 2,))

    def save(self, name):
        def hook(module, args, out):
            self.feats[name] = out

        return hook

    def forward(self, x):
        y = self.b(self.a(x))
        return y + self.feats["a"]


class DP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.DataParallel(nn.Sequential(nn.Linear(8, 8), nn.ReLU()))

    def forward(self, x):
        return self.net(x)


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * x * w

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return 2 * x * w * g, (g * x * x).sum(0)


class CustomFn(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(8))

    def forward(self, x):
        return Square.apply(x, self.w)


class Tagged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class Subclass(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        t = x.as_subclass(Tagged)
        return self.lin(t) + t


@torch.library.custom_op("odd::shift", mutates_args=())
def shift(x: torch.Tensor, n: int) -> torch.Tensor:
    return torch.roll(x, n, -1).clone()


@shift.register_fake
def _(x, n):
    return torch.empty_like(x)


@torch.library.custom_op("odd::nofake", mutates_args=())
def nofake(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() * 2)


class CustomOp(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        return self.lin(shift(x, 1))


class NoFake(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        return self.lin(nofake(x))


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(8, 8)
        self.dec = nn.Linear(4, 8)

    def forward(self, x):
        mu, log = self.enc(x).chunk(2, -1)
        q = torch.distributions.Normal(mu, log.exp())
        p = torch.distributions.Normal(torch.zeros_like(mu), torch.ones_like(mu))
        z = q.rsample()
        kl = torch.distributions.kl_divergence(q, p).sum(-1).mean()
        out = torch.distributions.Bernoulli(logits=self.dec(z))
        return out.log_prob((x > 0).float()).sum(-1).mean() - kl


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.pi = nn.Linear(16, 4)
        self.v = nn.Linear(16, 1)

    def forward(self, obs):
        h = torch.tanh(self.body(obs))
        dist = torch.distributions.Categorical(logits=self.pi(h))
        a = dist.sample()
        mvn = torch.distributions.MultivariateNormal(h, torch.eye(16))
        return a, dist.log_prob(a), dist.entropy(), self.v(h).squeeze(-1), mvn.log_prob(mvn.rsample())


class Fourier(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 4, 5, dtype=torch.cfloat))

    def forward(self, x):
        f = torch.fft.rfft(x)
        out = torch.zeros_like(f)
        out[..., :5] = torch.einsum("bim,iom->bom", f[..., :5], self.w)
        return torch.fft.irfft(out, n=x.size(-1))


class Amp(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.n = nn.LayerNorm(8)

    @torch.no_grad()
    def half(self, x):
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            return self.n(self.a(x))

    def forward(self, x):
        return self.half(x).float() @ self.a.weight


class Containers(nn.Module):
    def __init__(self):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.randn(8, 8)) for _ in range(3)])
        self.pd = nn.ParameterDict({"scale": nn.Parameter(torch.ones(8))})
        self.md = nn.ModuleDict({"relu": nn.ReLU(), "lin": nn.Linear(8, 8)})

    def forward(self, x, *extra, mode="lin", **kw):
        for p in self.ps:
            x = x @ p
        return self.md[mode](x) * self.pd["scale"]


class KVCache(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(16, 16) for _ in range(3))
        self.cache = None

    def step(self, x, cache):
        q, k, v = self.q(x), self.k(x), self.v(x)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
        return F.scaled_dot_product_attention(q, k, v), (k, v)

    def forward(self, x):
        cache, outs = None, []
        for t in range(x.size(1)):
            y, cache = self.step(x[:, t : t + 1], cache)
            outs.append(y)
        return torch.cat(outs, 1)


class Out(NamedTuple):
    logits: torch.Tensor
    hidden: torch.Tensor


@dataclasses.dataclass
class Res:
    out: Out
    extra: dict


class Structs(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 4)

    def forward(self, batch):
        h = self.lin(batch["x"])
        return Res(Out(h.softmax(-1), h), {"n": h.size(0), "m": batch["mask"].any(-1)})


class Hyper(nn.Module):
    def __init__(self):
        super().__init__()
        self.gen = nn.Linear(6, 8 * 4 + 4)

    def forward(self, x, z):
        p = self.gen(z)
        w, b = p[:, :32].view(-1, 4, 8), p[:, 32:]
        return torch.baddbmm(b.unsqueeze(-1), w, x.unsqueeze(-1)).squeeze(-1)


class MoE(nn.Module):
    def __init__(self, n=4, k=2, d=16):
        super().__init__()
        self.gate = nn.Linear(d, n, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(d, 32), nn.GELU(), nn.Linear(32, d)) for _ in range(n))
        self.k = k

    def forward(self, x):
        b, t, d = x.shape
        flat = x.reshape(-1, d)
        w, idx = self.gate(flat).softmax(-1).topk(self.k, -1)
        w = w / w.sum(-1, keepdim=True)
        out = torch.zeros_like(flat)
        mask = F.one_hot(idx, len(self.experts)).permute(2, 1, 0)
        for e, expert in enumerate(self.experts):
            slot, tok = torch.where(mask[e])
            out.index_add_(0, tok, expert(flat[tok]) * w[tok, slot, None])
        return out.view(b, t, d)


class Beam(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 16)
        self.cell = nn.GRUCell(16, 32)
        self.out = nn.Linear(32, 20)

    def forward(self, h, max_len=6):
        b = h.size(0)
        tok = torch.zeros(b, dtype=torch.long, device=h.device)
        done = torch.zeros(b, dtype=torch.bool, device=h.device)
        outs = []
        step = 0
        while not done.all() and step < max_len:
            h = self.cell(self.emb(tok), h)
            logits = self.out(h)
            tok = logits.argmax(-1)
            done = done | (tok == 2)
            outs.append(tok)
            step += 1
        return torch.stack(outs, 1)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Conv2d(8, 5, 1)

    def forward(self, x):
        p = self.head(F.relu(self.conv(x))).flatten(2).transpose(1, 2)
        results = []
        for one in p:
            score = one[:, 4].sigmoid()
            keep = score > 0.5
            boxes, score = one[keep, :4], score[keep]
            if boxes.numel() == 0:
                results.append({"boxes": boxes.new_zeros(0, 4), "scores": score})
                continue
            order = score.argsort(descending=True)[:100]
            results.append({"boxes": boxes[order], "scores": score[order]})
        return results


class Numpy(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        y = self.lin(x)
        n = y.detach().cpu().numpy().mean(0)
        return y + torch.from_numpy(n).to(y)


class Printing(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        y = self.lin(x)
        assert torch.isfinite(y).all(), f"bad {y.mean().item():.3f}"
        if torch.isnan(y).any():
            raise ValueError("nan")
        print(f"{y.mean():.3f}", y.shape, y.std().item())
        try:
            z = y.view(-1, 7)
        except RuntimeError:
            z = y
        return z


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 16)
        self.head = nn.Linear(16, 30, bias=False)
        self.head.weight = self.emb.weight

    def __getattr__(self, name):
        if name == "width":
            return 16
        return super().__getattr__(name)

    def forward(self, ids):
        return self.head(self.emb(ids) * self.width**0.5)


class SparseGcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 4)

    def forward(self, x, edge):
        n = x.size(0)
        val = torch.ones(edge.size(1), device=x.device)
        adj = torch.sparse_coo_tensor(edge, val, (n, n))
        deg = torch.zeros(n, device=x.device).index_add(0, edge[0], val).clamp(min=1)
        return torch.sparse.mm(adj, self.lin(x)) / deg.unsqueeze(-1)


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)

    def forward(self, x, pad):
        return self.enc(x, src_key_padding_mask=pad)


class Partial(nn.Module):
    def __init__(self, norm=functools.partial(nn.LayerNorm, eps=1e-6)):
        super().__init__()
        self.norm = norm(8)
        self.act = functools.partial(F.leaky_relu, negative_slope=0.1)

    @property
    def scale(self):
        return self.norm.weight.shape[0] ** -0.5

    def forward(self, x):
        return self.act(self.norm(x)) * self.scale


class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8)).half()

    def forward(self, x):
        return self.net(x.half()).float()


class Cuda(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def forward(self, x):
        x = x.to(self.device)
        mask = torch.ones(x.shape[0], 1, device=self.device)
        return self.lin(x) * mask


def train_step(x, y):
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)
    for _ in range(2):
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
    return loss
