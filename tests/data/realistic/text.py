"""Networks for text and speech, as people write them. A line's ``# fault:`` is what stands there in the faulty twin."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence
from torch.utils.checkpoint import checkpoint

log = logging.getLogger(__name__)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)).to(dtype) * self.weight


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


@dataclass
class Cache:
    keys: torch.Tensor | None = None
    values: torch.Tensor | None = None

    def update(self, k, v):
        self.keys = k if self.keys is None else torch.cat([self.keys, k], dim=2)
        self.values = v if self.values is None else torch.cat([self.values, v], dim=2)
        return self.keys, self.values


class Attention(nn.Module):
    def __init__(self, dim=64, heads=8, kv_heads=2):
        super().__init__()
        self.h, self.kv, self.d = heads, kv_heads, dim // heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.k, self.v = (nn.Linear(dim, kv_heads * self.d, bias=False) for _ in range(2))
        self.o = nn.Linear(dim, dim, bias=False)
        inv = 1.0 / 10000 ** (torch.arange(0, self.d, 2).float() / self.d)
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x, mask, cache):
        b, t, _ = x.shape
        q = self.q(x).view(b, t, self.h, self.d).transpose(1, 2)
        k = self.k(x).view(b, t, self.kv, self.d).transpose(1, 2)
        v = self.v(x).view(b, t, self.kv, self.d).transpose(1, 2)
        freqs = torch.outer(torch.arange(t, device=x.device).float(), self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos()[None, None], emb.sin()[None, None]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = cache.update(k, v)
        k, v = (one.repeat_interleave(self.h // self.kv, dim=1) for one in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.o(y.transpose(1, 2).contiguous().view(b, t, -1))


class LlamaBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.attn, self.n1, self.n2 = Attention(dim), RMSNorm(dim), RMSNorm(dim)
        self.gate, self.up, self.down = nn.Linear(dim, 96), nn.Linear(dim, 96), nn.Linear(96, dim)

    def forward(self, x, mask, cache):
        x = x + self.attn(self.n1(x), mask, cache)
        h = self.n2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


# shapelint: inputs(ids="int64[B, T]")
class Llama(nn.Module):
    def __init__(self, vocab=100, dim=64, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(LlamaBlock(dim) for _ in range(depth))
        self.norm = RMSNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.embed.weight
        self.apply(self._init)

    @torch.no_grad()
    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            m.weight.normal_(0.0, 0.02)

    def forward(self, ids):
        t = ids.size(1)
        mask = torch.full((t, t), float("-inf"), device=ids.device).triu_(1)  # fault: mask = torch.full((t, t + 1), float("-inf"), device=ids.device).triu_(1)
        x = self.embed(ids)
        caches = [Cache() for _ in self.blocks]
        for block, cache in zip(self.blocks, caches):
            x = block(x, mask, cache)
        return {"logits": self.head(self.norm(x)), "past": [(c.keys, c.values) for c in caches]}


# shapelint: inputs(src="int64[B, S]", tgt="int64[B, T]")
class Seq2Seq(nn.Module):
    def __init__(self, vocab=50, dim=32, max_len=512):
        super().__init__()
        self.src, self.tgt = nn.Embedding(vocab, dim, padding_idx=0), nn.Embedding(vocab, dim, padding_idx=0)
        pe = torch.zeros(max_len, dim)
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe.unsqueeze(0))
        self.net = nn.Transformer(dim, 4, 1, 1, 64, batch_first=True)
        self.out = nn.Linear(dim, vocab)
        self.dim = dim

    def position(self, x):
        return x * math.sqrt(self.dim) + self.pe[:, : x.size(1)]

    @staticmethod
    def padding(ids):
        return torch.zeros(ids.shape, device=ids.device).masked_fill_(ids.eq(0), float("-inf"))

    def forward(self, src, tgt):
        causal = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), device=tgt.device)
        y = self.net(
            self.position(self.src(src)),
            self.position(self.tgt(tgt)),
            tgt_mask=causal,
            src_key_padding_mask=self.padding(src),
            memory_key_padding_mask=self.padding(src),
            tgt_key_padding_mask=self.padding(tgt),
        )
        return self.out(y)  # fault: return self.out(y.transpose(1, 2))


# shapelint: inputs(ids="int64[B, T]", lengths="int64[B]")
class Tagger(nn.Module):
    def __init__(self, vocab=50, tags=7):
        super().__init__()
        self.emb = nn.Embedding(vocab, 24)
        self.rnn = nn.LSTM(24, 16, 2, batch_first=True, bidirectional=True, dropout=0.1)
        self.emit = nn.Linear(32, tags)  # fault: self.emit = nn.Linear(16, tags)
        self.move = nn.Parameter(torch.randn(tags, tags))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        packed, _ = self.rnn(packed)
        packed = PackedSequence(self.emit(packed.data), *packed[1:])
        emissions, lengths = pad_packed_sequence(packed, batch_first=True)
        score = emissions[:, 0]
        back = []
        for t in range(1, emissions.size(1)):
            best, index = (score.unsqueeze(2) + self.move + emissions[:, t].unsqueeze(1)).max(1)
            alive = (t < lengths.to(score.device)).unsqueeze(1)
            score = torch.where(alive, best, score)
            back.append(index)
        path = [score.argmax(-1)]
        for index in reversed(back):
            path.append(index.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        return torch.stack(path[::-1], 1), score


# shapelint: inputs(ids="int64[B, T]")
class Sentences(nn.Module):
    """Drops the padding, packs what is left, and pads again."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(40, 12)
        self.gru = nn.GRU(12, 20)
        self.out = nn.Linear(20, 3)  # fault: self.out = nn.Linear(12, 3)

    def forward(self, ids):
        rows = [self.emb(row[row != 0]) for row in ids]
        packed = pack_sequence(rows, enforce_sorted=False)
        out, h = self.gru(packed)
        padded = pad_sequence(rows, batch_first=True)
        log.debug("longest %d", padded.size(1))
        assert isinstance(out, PackedSequence)
        return self.out(h[-1])


# shapelint: inputs(x="float32[B, T, 40]", targets="int64[B, 6]")
class SpeechCtc(nn.Module):
    def __init__(self, classes=29):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, (2, 2), 1), nn.Hardtanh(0, 20))
        self.rnns = nn.ModuleList([nn.GRU(160 if i == 0 else 64, 32, bidirectional=True) for i in range(2)])
        self.norm = nn.ModuleList([nn.BatchNorm1d(64) for _ in range(2)])  # fault: self.norm = nn.ModuleList([nn.BatchNorm1d(32) for _ in range(2)])
        self.fc = nn.Linear(64, classes)

    def forward(self, x, targets):
        x = F.interpolate(x.transpose(1, 2), size=64).transpose(1, 2)
        x = self.conv(x.unsqueeze(1))
        b, c, t, f = x.size()
        x = x.permute(2, 0, 1, 3).reshape(t, b, c * f)
        for rnn, norm in zip(self.rnns, self.norm):
            x, _ = rnn(x)
            x = norm(x.permute(1, 2, 0)).permute(2, 0, 1)
        logits = F.log_softmax(self.fc(x), -1)
        sizes = torch.full((b,), t, dtype=torch.long)
        lengths = torch.full((b,), targets.size(1), dtype=torch.long)
        return F.ctc_loss(logits, targets, sizes, lengths, zero_infinity=True)


# shapelint: inputs(memory="float32[B, S, 32]")
class BeamDecoder(nn.Module):
    def __init__(self, vocab=30, dim=32, beam=3):
        super().__init__()
        self.vocab, self.beam = vocab, beam
        self.emb, self.cell = nn.Embedding(vocab, dim), nn.LSTMCell(2 * dim, dim)
        self.query, self.out = nn.Linear(dim, dim), nn.Linear(dim, vocab)

    @torch.inference_mode()
    def forward(self, memory, max_len: int = 5):
        b, s, d = memory.shape
        memory = memory.unsqueeze(1).expand(b, self.beam, s, d).reshape(b * self.beam, s, d)
        h = c = memory.new_zeros(b * self.beam, d)
        scores = memory.new_full((b, self.beam), -1e9)
        scores[:, 0] = 0.0
        tokens = torch.zeros(b, self.beam, 1, dtype=torch.long, device=memory.device)
        done = torch.zeros_like(scores, dtype=torch.bool)
        offset = (torch.arange(b, device=memory.device) * self.beam).unsqueeze(1)
        while not done.all() and tokens.size(-1) < max_len:
            attn = torch.einsum("nsd,nd->ns", memory, self.query(h)).softmax(-1)
            context = torch.einsum("nsd,ns->nd", memory, attn)  # fault: context = torch.einsum("nsd,nd->nd", memory, attn)
            h, c = self.cell(torch.cat([self.emb(tokens[..., -1].view(-1)), context], -1), (h, c))
            logp = self.out(h).log_softmax(-1).view(b, self.beam, -1)
            logp = logp.masked_fill(done.unsqueeze(-1), 0.0)
            scores, index = (scores.unsqueeze(-1) + logp).view(b, -1).topk(self.beam, -1)
            parent, word = torch.div(index, self.vocab, rounding_mode="floor"), index % self.vocab
            tokens = torch.cat([tokens.gather(1, parent.unsqueeze(-1).expand_as(tokens)), word.unsqueeze(-1)], -1)
            done = done.gather(1, parent) | word.eq(1)
            flat = (parent + offset).view(-1)
            h, c = h.index_select(0, flat), c[flat]
        return tokens[:, 0], scores.max(1)[0]


class Expert(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w1, self.w2 = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


# shapelint: inputs(x="float32[B, T, 32]")
class SwitchTransformer(nn.Module):
    def __init__(self, dim=32, experts=4):
        super().__init__()
        self.router = nn.Linear(dim, experts)
        self.experts = nn.ModuleList([Expert(dim) for _ in range(experts)])
        self.aux = None

    def route(self, x):
        probs = self.router(x).softmax(-1)
        gate, chosen = probs.max(-1)
        out = torch.zeros_like(x)
        count = torch.bincount(chosen, minlength=len(self.experts))
        for number, expert in enumerate(self.experts):
            where = (chosen == number).nonzero(as_tuple=True)[0]
            if where.numel() == 0:
                continue
            out[where] = expert(x[where]) * gate[where].unsqueeze(-1)  # fault: out[where] = expert(x[where, :16]) * gate[where].unsqueeze(-1)
        self.aux = (count.float() / count.sum() * probs.mean(0)).sum() * len(self.experts)
        return out

    def forward(self, x):
        b, t, d = x.shape
        y = checkpoint(self.route, x.reshape(-1, d), use_reentrant=False)
        return x + y.view(b, t, d)


# shapelint: inputs(ids="int64[B, T]")
class MaskedModel(nn.Module):
    def __init__(self, vocab=64, dim=32):
        super().__init__()
        self.embed = nn.ModuleDict({"word": nn.Embedding(vocab, dim), "kind": nn.Embedding(2, dim)})
        layer = nn.TransformerEncoderLayer(dim, 4, 64, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)
        self.vocab = vocab

    def forward(self, ids):
        hide = torch.rand(ids.shape, device=ids.device) < 0.15
        labels = ids.masked_fill(~hide, -100)
        noisy = ids.clone()
        noisy[hide] = self.vocab - 1
        random = torch.randint(self.vocab, ids.shape, device=ids.device)
        noisy = torch.where(hide & torch.bernoulli(torch.full(ids.shape, 0.1)).bool().to(ids.device), random, noisy)
        x = self.embed["word"](noisy) + self.embed["kind"](torch.zeros_like(ids))
        logits = self.head(self.encoder(x, src_key_padding_mask=ids == 0))
        loss = F.cross_entropy(logits.view(-1, self.vocab), labels.view(-1))  # fault: loss = F.cross_entropy(logits, labels)
        accuracy = (logits.argmax(-1) == labels)[hide].float().mean()
        return {"loss": loss, "accuracy": accuracy.item()}


# shapelint: inputs(x="float32[B, T, 16]")
class Mamba(nn.Module):
    def __init__(self, dim=16, state=4, width=4):
        super().__init__()
        inner = 2 * dim
        self.into, self.out = nn.Linear(dim, 2 * inner), nn.Linear(inner, dim)
        self.conv = nn.Conv1d(inner, inner, width, groups=inner, padding=width - 1)
        self.to_bc, self.to_dt = nn.Linear(inner, 2 * state), nn.Linear(inner, inner)
        self.a_log = nn.Parameter(torch.log(torch.arange(1, state + 1).float()).repeat(inner, 1))
        self.d = nn.Parameter(torch.ones(inner))

    def scan(self, u, dt, b, c):
        a = -self.a_log.exp()
        da = torch.exp(dt.unsqueeze(-1) * a)
        dbu = dt.unsqueeze(-1) * b.unsqueeze(2) * u.unsqueeze(-1)
        h = torch.zeros_like(da[:, 0])
        ys = []
        for t in range(u.shape[1]):
            h = da[:, t] * h + dbu[:, t]
            ys.append((h @ c[:, t].unsqueeze(-1)).squeeze(-1))  # fault: ys.append((h * c[:, t].unsqueeze(-1)).sum(-1))
        return torch.stack(ys, 1) + u * self.d

    def forward(self, x):
        t = x.size(1)
        u, z = self.into(x).chunk(2, -1)
        u = F.silu(self.conv(u.mT)[..., :t].mT)
        b, c = self.to_bc(u).chunk(2, -1)
        return self.out(self.scan(u, F.softplus(self.to_dt(u)), b, c) * F.silu(z))
