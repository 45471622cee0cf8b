"""What a failed call is told in, read aloud: the operation, both operands, the numbers that disagree, in the user's names."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from cli_samples import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

# fmt: off
# name: (inputs, what the constructor makes, what forward does, rule, first sentence)
CALLS = {
    "linear_after_convs": ('x = "float32[B, 3, 28, 28]"', "self.conv1 = nn.Conv2d(3, 16, 5)\nself.pool = nn.MaxPool2d(2)\nself.conv2 = nn.Conv2d(16, 36, 5)\nself.fc1 = nn.Linear(400, 120)", "x = self.pool(F.relu(self.conv1(x)))\nx = self.pool(F.relu(self.conv2(x)))\nx = torch.flatten(x, 1)\nx = self.fc1(x)\nreturn x", "matmul-dims", "self.fc1 takes 400 features and gets 576: x is [B, 576]."),
    "linear_var": ('x = "float32[B, 16]"', "hidden = 32\nself.a = nn.Linear(16, 20)\nself.b = nn.Linear(in_features=hidden, out_features=4)", "return self.b(self.a(x))", "matmul-dims", "self.b takes 32 features and gets 20: self.a(x) is [B, 20]."),
    "flinear": ('x = "float32[B, 16]"', "self.w = nn.Parameter(torch.zeros(4, 8))", "return F.linear(x, self.w)", "matmul-dims", "F.linear takes 8 features and gets 16: x is [B, 16]."),
    "matmul": ('a = "float32[B, 4, 5]", b = "float32[B, 6, 7]"', "", "return a @ b", "matmul-dims", "a @ b multiplies 5 columns by 6 rows: a is [B, 4, 5], b is [B, 6, 7]."),
    "bmm_rank": ('a = "float32[B, 5]", b = "float32[B, 5, 7]"', "", "return torch.bmm(a, b)", "tensor-rank", "torch.bmm takes rank 3 and gets rank 2: a is [B, 5], b is [B, 5, 7]."),
    "mm_t": ('a = "float32[B, 5]", b = "float32[5, 7]"', "", "return a.mm(b.t())", "matmul-dims", "a.mm multiplies 5 columns by 7 rows: a is [B, 5], b.t() is [7, 5]."),
    "addmm": ('a = "float32[B, 5]"', "self.w = nn.Parameter(torch.zeros(4, 8))\nself.b = nn.Parameter(torch.zeros(8))", "return torch.addmm(self.b, a, self.w)", "matmul-dims", "torch.addmm multiplies 5 columns by 4 rows: a is [B, 5], self.w is [4, 8]."),
    "mv": ('a = "float32[B, 5]"', "self.w = nn.Parameter(torch.zeros(4))", "return torch.mv(a, self.w)", "matmul-dims", "torch.mv multiplies 5 columns by 4 rows: a is [B, 5], self.w is [4]."),
    "conv_channels": ('x = "float32[B, 3, 28, 28]"', "self.c1 = nn.Conv2d(3, 8, 3)\nself.c2 = nn.Conv2d(16, 8, 3)", "return self.c2(self.c1(x))", "channel-count", "self.c2 takes 16 channels and gets 8: self.c1(x) is [B, 8, 26, 26]."),
    "conv_rank": ('x = "float32[B, 16]"', "self.c1 = nn.Conv1d(16, 8, 3)", "return self.c1(x.unsqueeze(0).unsqueeze(0))", "tensor-rank", "self.c1 takes rank 2 or 3 ([N, C, L]) and gets rank 4: x.unsqueeze(0).unsqueeze(0) is [1, 1, B, 16]."),
    "conv_kernel": ('x = "float32[B, 3, 4, 4]"', "self.c1 = nn.Conv2d(3, 8, 7, padding=1)", "return self.c1(x)", "window-size", "self.c1 has a kernel of 7 x 7, larger than its padded input of 6 x 6: x is [B, 3, 4, 4]."),
    "fconv": ('x = "float32[B, 3, 8, 8]"', "self.w = nn.Parameter(torch.zeros(8, 4, 3, 3))", "return F.conv2d(x, self.w)", "channel-count", "F.conv2d takes 4 channels and gets 3: x is [B, 3, 8, 8]."),
    "conv_groups": ('x = "float32[B, 6, 8, 8]"', "self.w = nn.Parameter(torch.zeros(8, 2, 3, 3))", "return F.conv2d(x, self.w, groups=4)", "channel-count", "F.conv2d takes 8 channels and gets 6: x is [B, 6, 8, 8]."),
    "bn_channels": ('x = "float32[B, 3, 28, 28]"', "self.c1 = nn.Conv2d(3, 8, 3)\nself.bn = nn.BatchNorm2d(16)", "return self.bn(self.c1(x))", "channel-count", "self.bn takes 16 channels and gets 8: self.c1(x) is [B, 8, 26, 26]."),
    "bn_rank": ('x = "float32[B, 16]"', "self.bn = nn.BatchNorm2d(16)", "return self.bn(x)", "tensor-rank", "self.bn takes rank 4 ([N, C, H, W]) and gets rank 2: x is [B, 16]."),
    "ln_nchw": ('x = "float32[B, 3, 28, 28]"', "self.norm = nn.LayerNorm(3)", "return self.norm(x)", "channel-count", "self.norm normalises a last axis of 3 and gets 28: x is [B, 3, 28, 28] (the 3 stands at axis 1)."),
    "ln_two": ('x = "float32[B, T, 16]"', "self.norm = nn.LayerNorm([10, 16])", "return self.norm(x)", "channel-count", "self.norm normalises last axes of [10, 16] and gets [T, 16]: x is [B, T, 16]."),
    "gn": ('x = "float32[B, 10, 8, 8]"', "self.gn = nn.GroupNorm(4, 16)", "return self.gn(x)", "channel-count", "self.gn takes 16 channels and gets 10: x is [B, 10, 8, 8]."),
    "inorm": ('x = "float32[B, 10, 8, 8]"', "self.n = nn.InstanceNorm2d(16, affine=True)", "return self.n(x)", "channel-count", "self.n takes 16 channels and gets 10: x is [B, 10, 8, 8]."),
    "rms": ('x = "float32[B, T, 10]"', "self.n = nn.RMSNorm(16)", "return self.n(x)", "channel-count", "self.n normalises a last axis of 16 and gets 10: x is [B, T, 10]."),
    "flayer_norm": ('x = "float32[B, T, 10]"', "", "return F.layer_norm(x, (12,))", "channel-count", "F.layer_norm normalises a last axis of 12 and gets 10: x is [B, T, 10]."),
    "add": ('x = "float32[B, 10]", y = "float32[B, 12]"', "", "return x + y", "broadcast-shapes", "x + y can't broadcast 10 with 12 (axis -1): x is [B, 10], y is [B, 12]."),
    "iadd": ('x = "float32[B, 10]", y = "float32[B, 12]"', "", "x = x * 2\nx += y\nreturn x", "broadcast-shapes", "x += y can't broadcast 10 with 12 (axis -1): x is [B, 10], y is [B, 12]."),
    "where": ('x = "float32[B, 10]", y = "float32[B, 12]"', "", "return torch.where(x > 0, x, y)", "broadcast-shapes", "torch.where can't broadcast 10 with 12 (axis -1): x > 0 is [B, 10], y is [B, 12]."),
    "mask_fill": ('x = "float32[B, 10, 10]", y = "bool[B, 10]"', "", "return x.masked_fill(y.unsqueeze(1).unsqueeze(1), 0.)[..., 0] + x.masked_fill(y[:, :4].unsqueeze(1), 0.)[..., 0]", "broadcast-shapes", "x.masked_fill can't broadcast 10 with 4 (axis -1): x is [B, 10, 10], y[:, :4].unsqueeze(1) is [B, 1, 4]."),
    "cat": ('x = "float32[B, 10, 8, 8]", y = "float32[B, 12, 9, 9]"', "", "return torch.cat([x, y], dim=1)", "cat-shapes", "torch.cat along axis 1 can't join 8 with 9 at axis 2 and 8 with 9 at axis 3: x is [B, 10, 8, 8], y is [B, 12, 9, 9]."),
    "cat_rank": ('x = "float32[B, 10, 8]", y = "float32[B, 12]"', "", "return torch.cat((x, y), 1)", "cat-shapes", "torch.cat can't join rank 3 with rank 2: x is [B, 10, 8], y is [B, 12]."),
    "stack": ('x = "float32[B, 10]", y = "float32[B, 12]"', "", "return torch.stack([x, y])", "cat-shapes", "torch.stack can't join 10 with 12 at axis 1: x is [B, 10], y is [B, 12]."),
    "view": ('x = "float32[B, 16]"', "", "return x.view(x.size(0), 3, 5)", "reshape-numel", "x.view to [B, 3, 5] wants 15*B elements and gets 16*B: x is [B, 16]."),
    "view_minus": ('x = "float32[B, 16, 5]"', "", "return x.view(x.size(0), -1, 3)", "reshape-numel", "x.view to [B, -1, 3] can't share 80*B elements out over 3*B: x is [B, 16, 5]."),
    "view_stride": ('x = "float32[B, 16, 5]"', "", "return x.transpose(1, 2).view(x.size(0), -1)", "reshape-numel", "x.transpose(1, 2).view to [B, -1] would join axes that don't lie side by side in memory, as after a transpose: x.transpose(1, 2) is [B, 5, 16]."),
    "unflatten": ('x = "float32[B, 16]"', "", "return x.unflatten(1, (3, 5))", "reshape-numel", "x.unflatten makes (3, 5), 15 elements, of axis 1, which has 16: x is [B, 16]."),
    "expand": ('x = "float32[B, 1, 16]"', "", "return x.expand(-1, 2, 8)", "reshape-numel", "x.expand to (-1, 2, 8) can't make 8 of 16 (axis -1), only an axis of size 1 grows: x is [B, 1, 16]."),
    "expand_rank": ('x = "float32[B, 1, 16]"', "", "return x.expand(2, 16)", "reshape-numel", "x.expand to (2, 16) names 2 sizes and the tensor has rank 3: x is [B, 1, 16]."),
    "dim_range": ('x = "float32[B, 10]"', "", "return x.sum(2)", "index-range", "x.sum names axis 2 and its input has rank 2: x is [B, 10]."),
    "index": ('x = "float32[B, 10]"', "", "return x[:, 10]", "index-range", "x[:, 10] takes index 10 of axis 1, which has size 10: x is [B, 10]."),
    "too_many": ('x = "float32[B, 10]"', "", "return x[:, 0, :]", "index-range", "x[:, 0, :] has 3 indices and x has rank 2: x is [B, 10]."),
    "split": ('x = "float32[B, 10]"', "", "a, b = x.split([4, 4], dim=1)\nreturn a + b", "index-range", "x.split into [4, 4] adds up to 8 and axis 1 has 10: x is [B, 10]."),
    "chunk_unpack": ('x = "float32[B, 10]"', "", "a, b, c = x.chunk(2, dim=1)\nreturn a + b", "unpack-count", "3 names are unpacked from 2 values: x.chunk(2, dim=1)."),
    "permute": ('x = "float32[B, 10, 3]"', "", "return x.permute(0, 3, 1, 2)", "tensor-rank", "x.permute names 4 axes (0, 3, 1, 2) and the tensor has rank 3: x is [B, 10, 3]."),
    "transpose": ('x = "float32[B, 10]"', "", "return x.transpose(1, 2)", "index-range", "x.transpose names axis 2 and its input has rank 2: x is [B, 10]."),
    "gather": ('x = "float32[B, 10]", i = "int64[B]"', "", "return x.gather(1, i)", "tensor-rank", "x.gather takes an index of rank 2, as the tensor, and gets rank 1: x is [B, 10], i is [B]."),
    "gather_dtype": ('x = "float32[B, 10]", i = "float32[B, 1]"', "", "return x.gather(1, i)", "dtype-mismatch", "x.gather takes indices of int64 and gets float32: i is float32[B, 1]."),
    "gather_size": ('x = "float32[B, 10, 4]", i = "int64[B, 2, 6]"', "", "return x.gather(1, i)", "index-range", "x.gather has an index larger than the tensor at axis 2, 6 against 4: x is [B, 10, 4], i is [B, 2, 6]."),
    "scatter": ('x = "float32[B, 10]", i = "int64[B, 3]"', "", "return torch.zeros_like(x).scatter_(1, i, x[:, :2])", "index-range", "torch.zeros_like(x).scatter_ has an index larger than its source at axis 1, 3 against 2: i is [B, 3], x[:, :2] is [B, 2]."),
    "einsum": ('x = "float32[B, T, 16]"', "self.w = nn.Parameter(torch.zeros(8, 4))", "return torch.einsum('btd,dk->btk', x, self.w)", "matmul-dims", "einsum 'btd,dk->btk': d is 16 in x and 8 in self.w: x is [B, T, 16], self.w is [8, 4]."),
    "einsum_rank": ('x = "float32[B, T, 16]"', "self.w = nn.Parameter(torch.zeros(16, 4))", "return torch.einsum('bd,dk->bk', x, self.w)", "tensor-rank", "einsum 'bd,dk->bk' names 2 axes of x (bd), which has rank 3: x is [B, T, 16]."),
    "interp": ('x = "float32[B, 16, 8]"', "", "return F.interpolate(x, scale_factor=2, mode='bilinear')", "tensor-rank", "F.interpolate in mode bilinear takes rank 4 and gets rank 3: x is [B, 16, 8]."),
    "interp_size": ('x = "float32[B, 16, 8, 8]"', "", "return F.interpolate(x, size=(4, 4, 4))", "tensor-rank", "F.interpolate is given a size for 3 axes and its input has 2 behind batch and channels: x is [B, 16, 8, 8]."),
    "emb_float": ('x = "float32[B, T]"', "self.e = nn.Embedding(100, 8)", "return self.e(x)", "dtype-mismatch", "self.e takes indices of int64 or int32 and gets float32: x is float32[B, T]."),
    "lstm_size": ('x = "float32[B, T, 16]"', "self.l = nn.LSTM(32, 8, batch_first=True)", "return self.l(x)[0]", "module-argument", "self.l takes 32 features and gets 16: x is [B, T, 16]."),
    "lstm_h": ('x = "float32[B, T, 16]"', "self.l = nn.LSTM(16, 8, num_layers=2, batch_first=True)", "h = x.new_zeros(1, x.size(0), 8)\nreturn self.l(x, (h, h))[0]", "module-argument", "self.l takes a hidden state of [2, B, 8] (layers, batch, size) and gets [1, B, 8]: h is [1, B, 8], x is [B, T, 16]."),
    "gru_h_rank": ('x = "float32[B, T, 16]"', "self.l = nn.GRU(16, 8, batch_first=True)", "h = x.new_zeros(x.size(0), 8)\nreturn self.l(x, h)[0]", "tensor-rank", "self.l takes a hidden state of [1, B, 8] (layers, batch, size) and gets [B, 8]: h is [B, 8], x is [B, T, 16]."),
    "lstm_rank": ('x = "float32[B, 2, T, 16]"', "self.l = nn.LSTM(16, 8)", "return self.l(x)[0]", "tensor-rank", "self.l takes rank 2 or 3 ([T, N, F], or [N, T, F] with batch_first) and gets rank 4: x is [B, 2, T, 16]."),
    "lstmcell": ('x = "float32[B, 16]"', "self.l = nn.LSTMCell(16, 8)", "h = x.new_zeros(x.size(0), 8)\nreturn self.l(x, h)[0]", "unpack-count", "self.l takes a pair of states (h, c) and gets one tensor: h is [B, 8]."),
    "grucell": ('x = "float32[B, 16]"', "self.l = nn.GRUCell(16, 8)", "h = x.new_zeros(x.size(0), 9)\nreturn self.l(x, h)", "module-argument", "self.l takes a state of [B, 8] and gets [B, 9]: h is [B, 9], x is [B, 16]."),
    "mha_embed": ('x = "float32[B, T, 16]"', "self.a = nn.MultiheadAttention(32, 4, batch_first=True)", "return self.a(x, x, x)[0]", "module-argument", "self.a takes a query of 32 features and gets 16: x is [B, T, 16]."),
    "mha_kpm": ('x = "float32[B, T, 16]", m = "bool[T, B]"', "self.a = nn.MultiheadAttention(16, 4, batch_first=True)", "return self.a(x, x, x, key_padding_mask=m)[0]", "module-argument", "self.a takes a key_padding_mask of [B, T] (batch, keys) and gets [T, B]: m is [T, B], x is [B, T, 16]."),
    "mha_mask": ('x = "float32[B, T, 16]", m = "bool[B, T, T]"', "self.a = nn.MultiheadAttention(16, 4, batch_first=True)", "return self.a(x, x, x, attn_mask=m)[0]", "broadcast-shapes", "self.a takes an attn_mask of [T, T] (queries, keys), or batch*heads of them (28 here) and gets [B, T, T]: m is [B, T, T], x is [B, T, 16]."),
    "mha_kv": ('x = "float32[B, T, 16]", y = "float32[B, S, 24]"', "self.a = nn.MultiheadAttention(16, 4, batch_first=True)", "return self.a(x, y, y)[0]", "module-argument", "self.a takes a key of 16 features and gets 24: y is [B, S, 24]."),
    "sdpa": ('q = "float32[B, 4, T, 16]", k = "float32[B, 4, S, 8]"', "", "return F.scaled_dot_product_attention(q, k, k)", "matmul-dims", "F.scaled_dot_product_attention compares queries of 16 features with keys of 8: q is [B, 4, T, 16], k is [B, 4, S, 8]."),
    "sdpa_mask": ('q = "float32[B, 4, T, 16]", m = "bool[B, T, T]"', "", "return F.scaled_dot_product_attention(q, q, q, attn_mask=m)", "broadcast-shapes", "F.scaled_dot_product_attention can't broadcast the mask [B, T, T] to the scores [B, 4, T, T]: m is [B, T, T], q is [B, 4, T, 16]."),
    "tel_size": ('x = "float32[B, T, 16]"', "self.t = nn.TransformerEncoderLayer(32, 4, batch_first=True)", "return self.t(x)", "module-argument", "self.t takes 32 features (d_model) and gets 16: x is [B, T, 16]."),
    "ce_shape": ('x = "float32[B, 10]", y = "int64[B, 1]"', "", "return F.cross_entropy(x, y)", "tensor-rank", "F.cross_entropy takes a target of [B] and gets [B, 1] (the classes are axis 1 of the prediction): x is [B, 10], y is [B, 1]."),
    "ce_seq": ('x = "float32[B, T, 10]", y = "int64[B, T]"', "self.loss = nn.CrossEntropyLoss()", "return self.loss(x, y)", "broadcast-shapes", "self.loss takes a target of [B, 10] and gets [B, T] (the classes are axis 1 of the prediction): x is [B, T, 10], y is [B, T]."),
    "ce_batch": ('x = "float32[B, 10]", y = "int64[2*B]"', "", "return F.cross_entropy(x, y)", "broadcast-shapes", "F.cross_entropy takes a target of [B] and gets [2*B] (the classes are axis 1 of the prediction): x is [B, 10], y is [2*B]."),
    "ce_float": ('x = "float32[B, 10]", y = "float32[B]"', "", "return F.cross_entropy(x, y)", "dtype-mismatch", "F.cross_entropy takes class numbers of int64 and gets float32: y is float32[B], x is float32[B, 10]."),
    "nll_int32": ('x = "float32[B, 10]", y = "int32[B]"', "", "return F.nll_loss(x.log_softmax(1), y)", "dtype-mismatch", "F.nll_loss takes class numbers of int64 and gets int32: y is int32[B], x.log_softmax(1) is float32[B, 10]."),
    "bce": ('x = "float32[B, 1]", y = "float32[B]"', "", "return F.binary_cross_entropy_with_logits(x, y)", "broadcast-shapes", "F.binary_cross_entropy_with_logits compares [B, 1] with [B], which must have one shape: x is [B, 1], y is [B]."),
    "bce_plain": ('x = "float32[B, 1]", y = "float32[B, 2]"', "", "return F.binary_cross_entropy(x.sigmoid(), y)", "broadcast-shapes", "F.binary_cross_entropy compares [B, 1] with [B, 2], which must have one shape: x.sigmoid() is [B, 1], y is [B, 2]."),
    "mse": ('x = "float32[B, 1]", y = "float32[B]"', "", "return F.mse_loss(x, y)", "outer-broadcast", "F.mse_loss broadcasts [B, 1] with [B] to [B, B], so that elements meet others than their own: x is [B, 1], y is [B]."),
    "mse_bad": ('x = "float32[B, 3]", y = "float32[B, 4]"', "", "return F.mse_loss(x, y)", "broadcast-shapes", "F.mse_loss compares [B, 3] with [B, 4], which must have one shape: x is [B, 3], y is [B, 4]."),
    "l1_layer": ('x = "float32[B, 3]", y = "float32[B, 4]"', "self.l = nn.SmoothL1Loss()", "return self.l(x, y)", "broadcast-shapes", "self.l compares [B, 3] with [B, 4], which must have one shape: x is [B, 3], y is [B, 4]."),
    "kl": ('x = "float32[B, 3]", y = "float32[B, 4]"', "", "return F.kl_div(x.log_softmax(1), y, reduction='batchmean')", "broadcast-shapes", "F.kl_div compares [B, 3] with [B, 4], which must have one shape: x.log_softmax(1) is [B, 3], y is [B, 4]."),
    "cosine": ('x = "float32[B, 16]", y = "float32[B, 24]", t = "float32[B]"', "", "return F.cosine_embedding_loss(x, y, t)", "broadcast-shapes", "F.cosine_embedding_loss compares rows that differ, 16 with 24 (axis -1): x is [B, 16], y is [B, 24]."),
    "cossim": ('x = "float32[B, 16]", y = "float32[B, 24]"', "", "return F.cosine_similarity(x, y)", "broadcast-shapes", "F.cosine_similarity compares rows of 16 numbers with rows of 24: x is [B, 16], y is [B, 24]."),
    "triplet": ('x = "float32[B, 16]", y = "float32[B, 24]"', "self.l = nn.TripletMarginLoss()", "return self.l(x, x, y)", "broadcast-shapes", "self.l compares rows that differ, 16 with 24 (axis -1): x is [B, 16], y is [B, 24]."),
    "ctc": ('x = "float32[T, B, 20]", y = "int64[B, S]"', "", "return F.ctc_loss(x.log_softmax(2), y, torch.full((3,), 5), torch.full((3,), 2))", "hard-coded-size", "Works for B = 3 only: F.ctc_loss takes input_lengths of [B], one a sample, and gets [3]: x.log_softmax(2) is [T, B, 20] [T, N, C]."),
    "pool_small": ('x = "float32[B, 3, 8, 8]"', "self.p = nn.AvgPool2d(9)", "return self.p(x)", "window-size", "self.p has a window of 9, larger than what is left, [8, 8], and would give 0x0: x is [B, 3, 8, 8]."),
    "maxpool_f": ('x = "float32[B, 3, 2, 2]"', "", "return F.max_pool2d(x, 4)", "window-size", "F.max_pool2d has a window of 4, larger than what is left, [2, 2], and would give 0x0: x is [B, 3, 2, 2]."),
    "pool_rank": ('x = "float32[B, 8]"', "self.p = nn.MaxPool2d(2)", "return self.p(x)", "tensor-rank", "self.p takes rank 3 or 4 ([N, C, H, W]) and gets rank 2: x is [B, 8]."),
    "pad_reflect": ('x = "float32[B, 3, 2, 2]"', "", "return F.pad(x, (3, 3, 3, 3), mode='reflect')", "window-size", "F.pad reflects 3 and 3 elements of axis 3, which has 2: x is [B, 3, 2, 2]."),
    "shuffle": ('x = "float32[B, 6, 2, 2]"', "self.s = nn.PixelShuffle(2)", "return self.s(x)", "channel-count", "self.s needs a multiple of 2*2 channels and gets 6: x is [B, 6, 2, 2]."),
    "bilinear": ('x = "float32[B, 6]"', "self.b = nn.Bilinear(6, 7, 3)", "return self.b(x, x)", "matmul-dims", "self.b takes 7 features as input 2 and gets 6: x is [B, 6]."),
    "dtype_linear": ('x = "float64[B, 16]"', "self.fc = nn.Linear(16, 2)", "return self.fc(x)", "dtype-mismatch", "self.fc has float32 weights and gets float64: x is float64[B, 16]."),
    "dtype_conv": ('x = "uint8[B, 3, 8, 8]"', "self.c = nn.Conv2d(3, 4, 3)", "return self.c(x)", "dtype-mismatch", "self.c has float32 weights and gets uint8: x is uint8[B, 3, 8, 8]."),
    "dtype_matmul": ('x = "float16[B, 8]", y = "float32[8, 4]"', "", "return x @ y", "dtype-mismatch", "x @ y mixes float16 with float32: x is float16[B, 8], y is float32[8, 4]."),
    "unpack_shape": ('x = "float32[B, 16]"', "", "b, c, h, w = x.shape\nreturn x", "unpack-count", "The shape of x is unpacked into 4 names, and x has rank 2."),
    "setitem": ('x = "float32[B, 16]"', "", "y = x.clone()\ny[:, :4] = x[:, :5]\nreturn y", "broadcast-shapes", "The assignment puts [B, 5] in a place of [B, 4]: the value is [B, 5]."),
    "unsq": ('x = "float32[B, 16]"', "", "return x.unsqueeze(4)", "index-range", "x.unsqueeze names axis 4 and its input has rank 2: x is [B, 16]."),
    "squeeze_dim": ('x = "float32[B, 16]"', "", "return x.squeeze(3)", "index-range", "x.squeeze names axis 3 and its input has rank 2: x is [B, 16]."),
    "flatten": ('x = "float32[B, 16]"', "", "return x.flatten(2)", "index-range", "x.flatten names axis 2 and its input has rank 2: x is [B, 16]."),
    "multi_margin": ('x = "float32[B, 16]", y = "int64[B, 2]"', "", "return F.multi_margin_loss(x, y)", "broadcast-shapes", "F.multi_margin_loss takes a target of [B] and gets [B, 2]: x is [B, 16], y is [B, 2]."),
    "glu": ('x = "float32[B, 15]"', "", "return F.glu(x)", "op-failed", "F.glu halves axis -1, which has 15: x is [B, 15]."),
    "unfold": ('x = "float32[B, 3, 5, 5]"', "", "return F.unfold(x, 8)", "window-size", "F.unfold has a window of [8, 8], larger than its input of [5, 5]: x is [B, 3, 5, 5]."),
    "loop": ('x = "float32[B, 16]"', "self.layers = nn.ModuleList([nn.Linear(16, 8) for _ in range(40)])", "for l in self.layers:\n    x = l(x)\nreturn x", "matmul-dims", "layers.1 (Linear) takes 16 features and gets 8: x is [B, 8]."),
    "prelu": ('x = "float32[B, 15, 4]"', "self.p = nn.PReLU(16)", "return self.p(x)", "channel-count", "self.p has 16 slopes, one a channel, and gets 15 channels: x is [B, 15, 4]."),
    "one_hot": ('y = "float32[B]"', "", "return F.one_hot(y, 10)", "dtype-mismatch", "F.one_hot takes indices of int64 and gets float32: y is float32[B]."),
    "cdist": ('x = "float32[B, 3, 8]", g = "float32[B, 5, 9]"', "", "return torch.cdist(x, g)", "matmul-dims", "torch.cdist compares rows of 8 numbers with rows of 9: x is [B, 3, 8], g is [B, 5, 9]."),
    "repeat": ('x = "float32[B, 3, 4]"', "", "return x.repeat(1, 2)", "tensor-rank", "x.repeat names 2 counts and the tensor has rank 3: x is [B, 3, 4]."),
    "outer": ('x = "float32[B, 3]"', "", "return torch.outer(x, x)", "tensor-rank", "torch.outer takes rank 1 and gets rank 2: x is [B, 3], x is [B, 3]."),
    "cumsum": ('x = "float32[B, 3]"', "", "return x.cumsum(2)", "index-range", "x.cumsum names axis 2 and its input has rank 2: x is [B, 3]."),
    "argmax": ('x = "float32[B, 3]"', "", "return x.argmax(dim=3)", "index-range", "x.argmax names axis 3 and its input has rank 2: x is [B, 3]."),
    "swap_index": ('x = "float32[B, 3]", i = "int64[4]", j = "int64[5]"', "", "return x[i, j]", "broadcast-shapes", "x[i, j] has indices that don't broadcast, 4 with 5: [4] and [5]."),
    "bool_index": ('x = "float32[B, 3]", i = "bool[B, 4]"', "", "return x[i]", "index-range", "x[i] has a mask of another shape: x is [B, 3], i is bool[B, 4]."),
}
# fmt: on


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[str, str]]]:
    root: Path = tmp_path_factory.mktemp("words")
    code = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
    config = ""
    for name, (inputs, init, forward, _, _) in CALLS.items():
        takes = ", ".join(part.split(" = ")[0] for part in inputs.split('", '))
        made = textwrap.indent(f"super().__init__()\n{init}", " " * 8)
        done = textwrap.indent(forward, " " * 8)
        code += f"\n\nclass {name}(nn.Module):\n    def __init__(self):\n{made}\n\n    def forward(self, {takes}):\n{done}\n"
        config += f'[[models]]\ntarget = "net:{name}"\nmodes = ["eval"]\ninputs = {{ {inputs} }}\n'
    (root / "net.py").write_text(code, encoding="utf-8")
    (root / "shapelint.toml").write_text(config, encoding="utf-8")
    result = run("check", str(root), "--python", sys.executable, "--no-cache", "--output-format", "json", "-q")
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in CALLS}
    for finding in json.loads(result.stdout)["findings"]:
        found[finding["target"].partition(":")[2]].append((finding["rule"], finding["message"].splitlines()[0]))
    return found


@pytest.mark.parametrize("name", CALLS)
def test_the_first_sentence_names_the_call_its_operands_and_the_numbers(
    told: dict[str, list[tuple[str, str]]], name: str
) -> None:
    assert CALLS[name][3:] in told[name]
