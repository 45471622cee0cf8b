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
    "gather_dtype": ('x = "float32[B, 10]", i = "float32[B, 1]"', "", "return x.gather(1, i)", "dtype-mismatch", "x.gather takes indices of int64 or int32 and gets float32: i is float32[B, 1]."),
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
    "tel_size": ('x = "float32[B, T, 16]"', "self.t = nn.TransformerEncoderLayer(32, 4, batch_first=True)", "return self.t(x)", "module-argument", "self.t takes an input of 32 features (d_model) and gets 16: x is [B, T, 16]."),
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
    "ctc": ('x = "float32[T, B, 20]", y = "int64[B, S]"', "", "return F.ctc_loss(x.log_softmax(2), y, torch.full((3,), 5), torch.full((3,), 2))", "broadcast-shapes", "F.ctc_loss takes input_lengths of [B], one a sample, and gets [3]: x.log_softmax(2) is [T, B, 20] [T, N, C]."),
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
    "einops_chunk": ('x = "float32[B, 16]"', "", "from einops import rearrange\nreturn rearrange(x, 'b (c d) -> b c d', d=3)", "reshape-numel", "rearrange \"b (c d) -> b c d\": shape mismatch, can't divide axis of length 16 in chunks of 3: the input is [B, 16]."),
    "einops_rank": ('x = "float32[B, 3, 28, 28]"', "", "from einops import rearrange\nreturn rearrange(x, 'b c h -> b h c')", "tensor-rank", 'rearrange "b c h -> b h c": wrong shape: expected 3 dims, Received 4-dim tensor: the input is [B, 3, 28, 28].'),
    "einops_einsum": ('x = "float32[B, T, 16]"', "self.w = nn.Parameter(torch.zeros(8, 4))", "from einops import einsum\nreturn einsum(x, self.w, 'b t d, d k -> b t k')", "matmul-dims", "einsum 'abc,cd->abd': c is 16 in the first operand and 8 in the second operand: the first operand is [B, T, 16], the second operand is [8, 4]."),
    "einops_layer": ('x = "float32[B, 16]"', "from einops.layers.torch import Rearrange\nself.r = nn.Sequential(Rearrange('b (h w) -> b h w', h=5), nn.Linear(4, 4))", "return self.r(x)", "reshape-numel", "self.r: shape mismatch, can't divide axis of length 16 in chunks of 5."),
    "transformer": ('x = "float32[B, T, 16]", y = "float32[B, S, 16]"', "self.t = nn.Transformer(32, 4, batch_first=True)", "return self.t(x, y)", "module-argument", "self.t takes an input of 32 features (d_model) and gets 16: x is [B, T, 16]."),
    "decoder": ('x = "float32[B, T, 16]", y = "float32[B, S, 24]"', "self.t = nn.TransformerDecoderLayer(16, 4, batch_first=True)", "return self.t(x, y)", "module-argument", "self.t takes a memory of 16 features (d_model) and gets 24: y is [B, S, 24]."),
    "tmask": ('x = "float32[B, T, 16]", m = "bool[T, B]"', "self.t = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, batch_first=True), 2)", "return self.t(x, src_key_padding_mask=m)", "module-argument", "self.t takes a padding mask of [batch, keys] and gets [T, B]: x is [B, T, 16], m is [T, B]."),
    "heads": ('x = "float32[B, T, 30]"', "self.h = 4", "b, t, d = x.shape\nreturn x.view(b, t, self.h, d // self.h)", "reshape-numel", "x.view to [B, T, 4, 7] wants 28*B*T elements and gets 30*B*T: x is [B, T, 30]."),
    "skip_sum": ('x = "float32[B, 3, 28, 28]"', "self.a = nn.Conv2d(3, 8, 3)\nself.b = nn.Conv2d(3, 8, 3, padding=1)", "return self.a(x) + self.b(x)", "broadcast-shapes", "self.a(x) + self.b(x) can't broadcast 26 with 28 (axis -1): self.a(x) is [B, 8, 26, 26], self.b(x) is [B, 8, 28, 28]."),
    "gan_d": ('x = "float32[B, 3, 32, 32]"', "self.c = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.Conv2d(8, 1, 4, 2, 1), nn.Flatten(), nn.Sigmoid())", "p = self.c(x)\nreturn F.binary_cross_entropy(p, torch.ones(x.size(0), 1, device=x.device))", "broadcast-shapes", "F.binary_cross_entropy compares [B, 64] with [B, 1], which must have one shape: p is [B, 64], the target is [B, 1]."),
    "step_onehot": ('x = "float32[B, 20]", y = "int64[B, 3]"', "self.net = nn.Linear(20, 3)\nself.crit = nn.CrossEntropyLoss()", "return self.crit(self.net(x), y)", "broadcast-shapes", "self.crit takes class numbers of [B], or a probability for each class, and gets int64[B, 3]: self.net(x) is [B, 3], y is [B, 3]."),
    "seg": ('x = "float32[B, 3, 32, 32]", y = "int64[B, 1, 32, 32]"', "self.net = nn.Conv2d(3, 5, 1)", "return F.cross_entropy(self.net(x), y)", "tensor-rank", "F.cross_entropy takes a target of [B, 32, 32] and gets [B, 1, 32, 32] (the classes are axis 1 of the prediction): self.net(x) is [B, 5, 32, 32], y is [B, 1, 32, 32]."),
    "seg_size": ('x = "float32[B, 3, 32, 32]", y = "int64[B, 32, 32]"', "self.net = nn.Conv2d(3, 5, 3, stride=2)", "return F.cross_entropy(self.net(x), y)", "broadcast-shapes", "F.cross_entropy takes a target of [B, 15, 15] and gets [B, 32, 32] (the classes are axis 1 of the prediction): self.net(x) is [B, 5, 15, 15], y is [B, 32, 32]."),
    "weight_ce": ('x = "float32[B, 5]", y = "int64[B]"', "self.register_buffer('w', torch.ones(4))", "return F.cross_entropy(x, y, weight=self.w)", "broadcast-shapes", "F.cross_entropy takes a weight for each of 5 classes and gets [4]: x is [B, 5], self.w is [4]."),
    "bce_posw": ('x = "float32[B, 5]", y = "float32[B, 5]"', "self.register_buffer('w', torch.ones(4))", "return F.binary_cross_entropy_with_logits(x, y, pos_weight=self.w)", "broadcast-shapes", "F.binary_cross_entropy_with_logits can't broadcast its pos_weight, 5 with 4 (axis -1): x is [B, 5], self.w is [4]."),
    "huber": ('x = "float32[B, 5]", y = "float32[B]"', "self.l = nn.HuberLoss()", "return self.l(x, y)", "broadcast-shapes", "self.l compares [B, 5] with [B], which must have one shape: x is [B, 5], y is [B]."),
    "rank": ('x = "float32[B]", y = "float32[B]", t = "float32[B, 1]"', "self.l = nn.MarginRankingLoss()", "return self.l(x, y, t)", "batch-folded", "self.l takes operands of one rank and gets 1, 1, 2: x is [B], y is [B], t is [B, 1]."),
    "cosemb": ('x = "float32[B, 8]", y = "float32[B, 8]", t = "float32[B, 1]"', "self.l = nn.CosineEmbeddingLoss()", "return self.l(x, y, t)", "tensor-rank", "self.l takes a target of [B] and gets [B, 1]: x is [B, 8], t is [B, 1]."),
    "ctc_int": ('x = "float32[T, B, 20]", y = "int64[B, S]", l = "int64[B]"', "self.l = nn.CTCLoss()", "return self.l(x.transpose(0, 1).log_softmax(2), y, l, l)", "broadcast-shapes", "self.l takes input_lengths of [T], one a sample, and gets [B]: x.transpose(0, 1).log_softmax(2) is [B, T, 20] [T, N, C]."),
    "gru_cell_rank": ('x = "float32[B, T, 16]"', "self.r = nn.GRUCell(16, 8)", "return self.r(x)", "tensor-rank", "self.r takes rank 1 or 2 ([N, F]) and gets rank 3: x is [B, T, 16]."),
    "emb_bag": ('x = "int64[B, 4, 5]"', "self.e = nn.EmbeddingBag(10, 4)", "return self.e(x)", "tensor-rank", "self.e takes rank 1 or 2 ([N, L]) and gets rank 3: x is [B, 4, 5]."),
    "convlstm": ('x = "float32[B, 3, 8, 8]", h = "float32[B, 6, 8, 8]"', "self.c = nn.Conv2d(8, 16, 3, padding=1)", "return self.c(torch.cat([x, h], 1))", "channel-count", "self.c takes 8 channels and gets 9: torch.cat([x, h], 1) is [B, 9, 8, 8]."),
    "conv1d_nlc": ('x = "float32[B, T, 16]"', "self.c = nn.Conv1d(16, 8, 3)", "return self.c(x)", "channel-count", "self.c takes 16 channels and gets T: x is [B, T, 16]."),
    "fgn": ('x = "float32[B, 6, 8, 8]"', "", "return F.group_norm(x, 4)", "channel-count", "F.group_norm makes 4 groups of 6 channels, which doesn't come out even: x is [B, 6, 8, 8]."),
    "maxp_pad": ('x = "float32[B, 6, 8, 8]"', "", "return F.max_pool2d(x, 2, padding=2)", "window-size", "F.max_pool2d pads by more than half of its window of 2: x is [B, 6, 8, 8]."),
    "upconv": ('x = "float32[B, 6, 8]"', "self.u = nn.Upsample(scale_factor=2, mode='bilinear')", "return self.u(x)", "tensor-rank", "self.u in mode bilinear takes rank 4 and gets rank 3: x is [B, 6, 8]."),
    "pixun": ('x = "float32[B, 6, 7, 7]"', "", "return F.pixel_unshuffle(x, 2)", "reshape-numel", "F.pixel_unshuffle needs sizes that are multiples of 2 and gets [7, 7]: x is [B, 6, 7, 7]."),
    "slice_assign": ('x = "float32[B, 3, 8, 8]"', "", "out = x.new_zeros(x.size(0), 3, 16, 16)\nout[:, :, :8, :8] = x\nout[:, :, 8:, :8] = x[:, :, :4]\nreturn out", "broadcast-shapes", "The assignment puts [B, 3, 4, 8] in a place of [B, 3, 8, 8]: the value is [B, 3, 4, 8]."),
    "narrow": ('x = "float32[B, 10]"', "", "return x.narrow(1, 4, 8)", "index-range", "x.narrow takes 8 elements from 4 on of axis 1, which has 10: x is [B, 10]."),
    "topk": ('x = "float32[B, 10]"', "", "return x.topk(12, dim=1)[0]", "index-range", "x.topk asks for 12 of axis 1, which has 10: x is [B, 10]."),
    "unbind": ('x = "float32[B, 3, 4]"', "", "q, k = x.unbind(1)\nreturn q + k", "unpack-count", "2 names are unpacked from more values than that: x.unbind(1)."),
    "attn_nt": ('x = "float32[B, T, 16]", c = "float32[B, S, 16]"', "", "w = (x @ c.transpose(1, 2)).softmax(-1)\nreturn w @ x", "matmul-dims", "w @ x multiplies S columns by T rows: w is [B, T, S], x is [B, T, 16]."),
    "bmm_kt": ('q = "float32[B, T, 16]", k = "float32[B, S, 16]"', "", "return torch.bmm(q, k)", "matmul-dims", "torch.bmm multiplies 16 columns by S rows: q is [B, T, 16], k is [B, S, 16]."),
    "scatter_add": ('x = "float32[E, 16]", i = "int64[E]"', "", "return torch.zeros(10, 16).scatter_add(0, i, x)", "tensor-rank", "torch.zeros(10, 16).scatter_add takes an index of rank 2, as the tensor, and gets rank 1: torch.zeros(10, 16) is [10, 16], i is [E]."),
    "half_conv": ('x = "float16[B, 3, 8, 8]"', "self.c = nn.Conv2d(3, 4, 3)", "return self.c(x)", "dtype-mismatch", "self.c has float32 weights and gets float16: x is float16[B, 3, 8, 8]."),
    "int_mean": ('x = "int64[B, 3]"', "", "return x.mean(1)", "dtype-mismatch", "x.mean takes floating point numbers and gets int64: x is int64[B, 3]."),
    "float_idx": ('x = "float32[B, 3]", i = "float32[B]"', "", "return x[i]", "dtype-mismatch", "x[i] takes indices of int64 and gets float32: i is float32[B]."),
    "mask_int": ('x = "float32[B, 3]", i = "int64[B, 3]"', "", "return x.masked_fill(i, 0.0)", "dtype-mismatch", "x.masked_fill takes a mask of bool and gets int64: i is int64[B, 3]."),
    "none_arg": ('x = "float32[B, 3]"', "self.fc = None", "return self.fc(x)", "op-failed", "self.fc is None here, and is called."),
    "str_cat": ('x = "float32[B, 3]"', "", "return torch.cat(x, 1)", "unpack-count", "torch.cat takes a list of tensors and gets one: x."),
    "shape_arith": ('x = "float32[B, 3, 9]"', "", "b, c, n = x.shape\nreturn x.view(b, c, n / 3)", "reshape-numel", "x.view to [B, 3, 3.0] takes whole numbers and gets 3.0: x is [B, 3, 9]."),
    "list_out": ('x = "float32[B, 3, 32, 32]"', "self.stages = nn.ModuleList([nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 16, 3, 2, 1), nn.Conv2d(8, 32, 3, 2, 1)])", "outs = []\nfor s in self.stages:\n    x = s(x)\n    outs.append(x)\nreturn outs", "channel-count", "stages.2 (Conv2d) takes 8 channels and gets 16: x is [B, 16, 8, 8]."),
    "dict_mod": ('x = "float32[B, 16]"', "self.heads = nn.ModuleDict({'a': nn.Linear(16, 2), 'b': nn.Linear(8, 2)})", "return {k: h(x) for k, h in self.heads.items()}", "matmul-dims", "heads.b (Linear) takes 8 features and gets 16: x is [B, 16]."),
    "nested_seq": ('x = "float32[B, 16]"', "self.net = nn.Sequential(nn.Sequential(nn.Linear(16, 8), nn.ReLU()), nn.Sequential(nn.Linear(4, 2)))", "return self.net(x)", "matmul-dims", "net.1.0 (Linear) takes 4 features and gets 8: the input is [B, 8]."),
    "kwcall": ('x = "float32[B, T, 16]"', "self.a = nn.MultiheadAttention(16, 4, kdim=8, batch_first=True)", "return self.a(query=x, key=x, value=x)[0]", "module-argument", "self.a takes a key of 8 features and gets 16: x is [B, T, 16]."),
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
