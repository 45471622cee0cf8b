"""Words for layers: linear, convolutions, norms, pools, recurrent layers, attention, embeddings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.checks.call import Call, Tensor

_SPATIAL = re.compile(r"([123])d")
_PLACES = {1: "[N, C, L]", 2: "[N, C, H, W]", 3: "[N, C, D, H, W]"}


def _spatial(call: Call) -> int:
    found = _SPATIAL.search(call.kind)
    return int(found[1]) if found else 0


def _params(call: Call) -> dict[str, tuple[int, ...]]:
    return dict(call.layer.params) if call.layer is not None else {}


def _wrong_rank(call: Call, x: Tensor, ranks: tuple[int, ...], layout: str) -> str:
    if x.rank in ranks:
        return ""
    wanted = " or ".join(map(str, ranks))
    return f"{call.spoken} takes rank {wanted} ({layout}) and gets rank {x.rank}: {x.said}."


# --------------------------------------------------------------------------------------- linear, convolutions


def linear(call: Call) -> str:
    """A linear layer, or ``F.linear``."""
    x = call.tensor(0, "input")
    weight = _params(call).get("weight", ())
    if call.layer is None:
        given = call.tensor(1, "weight")
        weight = given.numbers if given is not None else ()
    if x is None or len(weight) != 2 or not x.rank:  # noqa: PLR2004  # [out, in]
        return ""
    if x.numbers[-1] != weight[1]:
        return f"{call.spoken} takes {weight[1]} features and gets {x.sizes[-1]}: {x.said}."
    return ""


def bilinear(call: Call) -> str:
    """``nn.Bilinear``."""
    weight = _params(call).get("weight", ())
    for index, wanted in enumerate(weight[1:3]):
        x = call.tensor(index, f"input{index + 1}")
        if x is not None and x.rank and x.numbers[-1] != wanted:
            return f"{call.spoken} takes {wanted} features as input {index + 1} and gets {x.sizes[-1]}: {x.said}."
    return ""


def convolution(call: Call) -> str:
    """A convolution, transposed or not, as a layer or a function."""
    x, spatial = call.tensor(0, "input"), _spatial(call)
    weight = _params(call).get("weight", ())
    groups = call.field("groups") or 1
    if call.layer is None:
        given = call.tensor(1, "weight")
        weight = given.numbers if given is not None else ()
        told = call.numbers(call.argument(8 if "transpose" in call.kind else 6, "groups"))
        groups = told[0] if told else 1
    if x is None or len(weight) != spatial + 2:
        return ""
    said = _wrong_rank(call, x, (spatial + 1, spatial + 2), _PLACES[spatial])
    if said:
        return said
    transposed = "transpose" in call.kind.lower()
    wanted = weight[0] if transposed else weight[1] * groups
    axis = x.rank - spatial - 1
    if x.numbers[axis] != wanted:
        return f"{call.spoken} takes {wanted} channels and gets {x.sizes[axis]}: {x.said}."
    if groups > 1 and weight[0] % groups:
        return f"{call.spoken} splits {weight[0]} output channels into {groups} groups, which doesn't come out even."
    fits = re.search(r"padded input size per channel: \(([^)]*)\)\. Kernel size: \(([^)]*)\)", call.error)
    if fits:
        return f"{call.spoken} has a kernel of {fits[2]}, larger than its padded input of {fits[1]}: {x.said}."
    return ""


# -------------------------------------------------------------------------------------------------- norms, pools


def batch_norm(call: Call) -> str:
    """BatchNorm, InstanceNorm, and their functions."""
    x, spatial = call.tensor(0, "input"), _spatial(call)
    if x is None:
        return ""
    if "more than 1 value per channel" in call.error or "more than 1 spatial element" in call.error:
        if "spatial" in call.error:
            return f"{call.spoken} has a single spatial element to normalise over: {x.said}."
        return (
            f"{call.spoken} has a single value for each channel of {list(x.numbers)}, which training refuses: {x.said}."
        )
    batch = call.kind.startswith("BatchNorm")
    ranks = (spatial + 1, spatial + 2) if spatial == 1 or not batch else (spatial + 2,)
    if spatial:
        said = _wrong_rank(call, x, ranks, "[N, C] or [N, C, L]" if batch and spatial == 1 else _PLACES[spatial])
        if said:
            return said
    wanted = call.field("num_features", 0)
    if wanted is None:
        return ""
    axis = 1 if batch or x.rank == spatial + 2 else 0
    if x.rank > axis and x.numbers[axis] != wanted:
        return f"{call.spoken} takes {wanted} channels and gets {x.sizes[axis]}: {x.said}."
    return ""


def layer_norm(call: Call) -> str:
    """LayerNorm and RMSNorm, and their functions."""
    x = call.tensor(0, "input")
    if call.layer is not None:
        found = re.match(r"\(([\d, ]+)\)", call.layer.shown)
        wanted = tuple(int(n) for n in re.findall(r"\d+", found[1])) if found else ()
    else:
        wanted = call.numbers(call.argument(1, "normalized_shape"))
    if x is None or not wanted:
        return ""
    if x.rank < len(wanted):
        return f"{call.spoken} normalises the last {len(wanted)} axes and gets rank {x.rank}: {x.said}."
    if x.numbers[-len(wanted) :] == wanted:
        return ""
    got = x.sizes[-len(wanted) :]
    if len(wanted) > 1:
        asked, given = ", ".join(map(str, wanted)), ", ".join(got)
        return f"{call.spoken} normalises last axes of [{asked}] and gets [{given}]: {x.said}."
    elsewhere = x.numbers.index(wanted[0]) if wanted[0] in x.numbers else -1
    hint = f" (the {wanted[0]} stands at axis {elsewhere})" if elsewhere >= 0 else ""
    return f"{call.spoken} normalises a last axis of {wanted[0]} and gets {got[0]}: {x.said}{hint}."


def group_norm(call: Call) -> str:
    """GroupNorm and its function."""
    x = call.tensor(0, "input")
    groups, channels = call.field("num_groups", 0), call.field("num_channels", 1)
    if call.layer is None:
        told = call.numbers(call.argument(1, "num_groups"))
        groups, channels = (told[0] if told else None), None
    if x is None or x.rank < 2:  # noqa: PLR2004  # [N, C]
        return ""
    if channels is not None and x.numbers[1] != channels:
        return f"{call.spoken} takes {channels} channels and gets {x.sizes[1]}: {x.said}."
    if groups and x.numbers[1] % groups:
        return f"{call.spoken} makes {groups} groups of {x.sizes[1]} channels, which doesn't come out even: {x.said}."
    return ""


def prelu(call: Call) -> str:
    """PReLU."""
    x, weight = call.tensor(0, "input"), _params(call).get("weight", ())
    if x is None or not weight or x.rank < 2 or weight[0] in (1, x.numbers[1]):  # noqa: PLR2004  # [N, C]
        return ""
    return f"{call.spoken} has {weight[0]} slopes, one a channel, and gets {x.sizes[1]} channels: {x.said}."


def pool(call: Call) -> str:
    """Pooling, as a layer or a function."""
    x, spatial = call.tensor(0, "input"), _spatial(call)
    if x is None or not spatial:
        return ""
    said = _wrong_rank(call, x, (spatial + 1, spatial + 2), _PLACES[spatial])
    if said:
        return said
    left = ", ".join(x.sizes[-spatial:])
    kernel = _kernel(call)
    if "output size is too small" in call.error.lower():
        made = re.search(r"Calculated output size: \(([^)]*)\)", call.error)
        given = "x".join(made[1].split("x")[1:]) if made and all(size.isdigit() for size in x.sizes[-spatial:]) else ""
        gives = f", and would give {given}" if given else ""
        return f"{call.spoken} has a window of {kernel}, larger than what is left, [{left}]{gives}: {x.said}."
    if "half of" in call.error:
        return f"{call.spoken} pads by more than half of its window of {kernel}: {x.said}."
    return ""


def _kernel(call: Call) -> str:
    found = re.search(r"kernel_size=(\([^)]*\)|\d+)", call.layer.shown) if call.layer is not None else None
    text = found[1] if found else call.shown(call.argument(1, "kernel_size"))
    return text or "that size"


def pixel_shuffle(call: Call) -> str:
    """PixelShuffle and its function."""
    x = call.tensor(0, "input")
    factor = call.field("upscale_factor") or next(iter(call.numbers(call.argument(1, "upscale_factor"))), 0)
    if x is None or not factor or x.rank < 3 or x.numbers[-3] % factor**2 == 0:  # noqa: PLR2004  # [C, H, W]
        return ""
    return f"{call.spoken} needs a multiple of {factor}*{factor} channels and gets {x.sizes[-3]}: {x.said}."


# --------------------------------------------------------------------------------- recurrent layers, attention


def recurrent(call: Call) -> str:
    """RNN, LSTM and GRU."""
    x, layer = call.tensor(0, "input"), call.layer
    if x is None or layer is None:
        return ""
    said = _wrong_rank(call, x, (2, 3), "[T, N, F], or [N, T, F] with batch_first")
    if said:
        return said
    wanted = call.field("input_size", 0)
    if wanted is not None and x.numbers[-1] != wanted:
        return f"{call.spoken} takes {wanted} features and gets {x.sizes[-1]}: {x.said}."
    return _hidden(call, x)


def _hidden(call: Call, x: Tensor) -> str:
    layer = call.layer
    given = call.argument(1, "hx")
    hidden = call.field("hidden_size", 1)
    if layer is None or given is None or hidden is None:
        return ""
    if call.kind == "LSTM" and given.kind == "value":
        state = call.tensor(1, "hx")
        return f"{call.spoken} takes a pair of states (h, c) and gets one tensor: {state.said}." if state else ""
    states = [one for one in call.tensors() if one.value != x.value]
    both = 2 if "bidirectional=True" in layer.shown else 1
    count = (call.field("num_layers") or 1) * both
    batch_first = "batch_first=True" in layer.shown
    batch = x.sizes[0 if batch_first else 1] if x.rank == 3 else ""  # noqa: PLR2004  # batched
    wanted = [str(count), *([batch] if batch else []), str(call.field("proj_size") or hidden)]
    for number, state in enumerate(states):
        asked = [*wanted[:-1], str(hidden)] if number else wanted
        if list(state.sizes) != asked:
            of = "layers" if both == 1 else "layers times directions"
            name = ("hidden state", "cell state")[min(number, 1)]
            told = ", ".join(one.said for one in (state, x) if one.text or one is x)
            layout = f"{of}, {'batch, ' if batch else ''}size"
            return f"{call.spoken} takes a {name} of [{', '.join(asked)}] ({layout}) and gets {state.shape}: {told}."
    return ""


def cell(call: Call) -> str:
    """RNNCell, LSTMCell and GRUCell."""
    x = call.tensor(0, "input")
    wanted, hidden = call.field("input_size", 0), call.field("hidden_size", 1)
    if x is None:
        return ""
    said = _wrong_rank(call, x, (1, 2), "[N, F]")
    if said:
        return said
    if wanted is not None and x.numbers[-1] != wanted:
        return f"{call.spoken} takes {wanted} features and gets {x.sizes[-1]}: {x.said}."
    given = call.argument(1, "hx")
    state = call.tensor(1, "hx", role="state")
    if call.kind == "LSTMCell" and given is not None and given.kind == "value" and state is not None:
        return f"{call.spoken} takes a pair of states (h, c) and gets one tensor: {state.said}."
    for one in call.tensors()[1:]:
        if (
            one.rank != x.rank
            or (hidden is not None and one.numbers[-1] != hidden)
            or one.numbers[:-1] != x.numbers[:-1]
        ):
            shape = ", ".join((*x.sizes[:-1], str(hidden)))
            return f"{call.spoken} takes a state of [{shape}] and gets {one.shape}: {one.said}, {x.said}."
    return ""


def attention(call: Call) -> str:
    """``nn.MultiheadAttention``."""
    params = _params(call)
    query, key, value = (call.tensor(i, n) for i, n in enumerate(("query", "key", "value")))
    if query is None or key is None or value is None:
        return ""
    said = _wrong_rank(call, query, (2, 3), "[N, T, E] or [T, N, E]")
    if said:
        return said
    embed = params.get("in_proj_bias", params.get("in_proj_weight", (0,)))[0] // 3
    widths = {
        "query": (query, embed),
        "key": (key, params["k_proj_weight"][1] if "k_proj_weight" in params else embed),
        "value": (value, params["v_proj_weight"][1] if "v_proj_weight" in params else embed),
    }
    for name, (one, wanted) in widths.items():
        if wanted and one.rank and one.numbers[-1] != wanted:
            return f"{call.spoken} takes a {name} of {wanted} features and gets {one.sizes[-1]}: {one.said}."
    return _masks(call, query, key)


def _masks(call: Call, query: Tensor, key: Tensor) -> str:
    first = bool(call.layer and call.layer.batch_first) and query.rank == 3  # noqa: PLR2004  # batched
    time = 0 if query.rank == 2 else int(first)  # noqa: PLR2004  # unbatched
    batch = "" if query.rank == 2 else query.sizes[1 - time]  # noqa: PLR2004  # the same
    padding = call.tensor(3, "key_padding_mask")
    if padding is not None:
        wanted = [*([batch] if batch else []), key.sizes[time]]
        if list(padding.sizes) != wanted:
            return (
                f"{call.spoken} takes a key_padding_mask of [{', '.join(wanted)}] (batch, keys) and gets {padding.shape}: "
                f"{padding.said}, {key.said}."
            )
    mask = call.tensor(5, "attn_mask")
    if mask is not None:
        flat = [query.sizes[time], key.sizes[time]]
        if mask.rank not in (2, 3) or list(mask.sizes[-2:]) != flat or mask.rank == 3:  # noqa: PLR2004  # one mask a head
            heads = re.search(r"should be \((\d+), (\d+), (\d+)\)", call.error)
            per = f", or batch*heads of them ({heads[1]} here)" if heads else ""
            return (
                f"{call.spoken} takes an attn_mask of [{', '.join(flat)}] (queries, keys){per} and gets {mask.shape}: "
                f"{mask.said}, {query.said}."
            )
    return ""


def transformer(call: Call) -> str:
    """``nn.Transformer``, its encoder and decoder and their layers."""
    layer = call.layer
    inside = f"{layer.path}." if layer is not None and layer.path else ""
    norms = [one for one in call.view.report.modules if one.path.startswith(inside) and one.type.endswith(".LayerNorm")]
    width = next((dict(one.params).get("weight", (0,))[0] for one in norms), 0)
    given = [
        call.tensor(0, "src" if "Decoder" not in call.kind else "tgt"),
        call.tensor(1, "tgt" if call.kind == "Transformer" else "memory"),
    ]
    for name, one in zip(("input", "target" if call.kind == "Transformer" else "memory"), given):
        if one is not None and one.rank in (2, 3) and width and one.numbers[-1] != width and one.dtype != "bool":
            return f"{call.spoken} takes {'an' if name == 'input' else 'a'} {name} of {width} features (d_model) and gets {one.sizes[-1]}: {one.said}."
    x = given[0]
    found = re.search(r"key_padded_mask\.shape\[(\d)\] to be (\d+), but got (\d+)", call.error)
    masks = [one for one in call.tensors() if one.rank == 2 and x is not None and one.value != x.value]  # noqa: PLR2004  # [N, T]
    if x is not None and found and masks:
        return f"{call.spoken} takes a padding mask of [batch, keys] and gets {masks[-1].shape}: {x.said}, {masks[-1].said}."
    return ""


def bag(call: Call) -> str:
    """``nn.EmbeddingBag``."""
    x = call.tensor(0, "input")
    return _wrong_rank(call, x, (1, 2), "[N, L]") if x is not None else ""


TELLERS: dict[str, Callable[[Call], str]] = {
    **dict.fromkeys(("Linear", "linear"), linear),
    "Bilinear": bilinear,
    **{f"Conv{n}d": convolution for n in (1, 2, 3)},
    **{f"ConvTranspose{n}d": convolution for n in (1, 2, 3)},
    **{f"conv{n}d": convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": convolution for n in (1, 2, 3)},
    **{f"BatchNorm{n}d": batch_norm for n in (1, 2, 3)},
    **{f"InstanceNorm{n}d": batch_norm for n in (1, 2, 3)},
    "SyncBatchNorm": batch_norm,
    **dict.fromkeys(("batch_norm", "instance_norm"), batch_norm),
    **dict.fromkeys(("LayerNorm", "RMSNorm", "layer_norm", "rms_norm"), layer_norm),
    **dict.fromkeys(("GroupNorm", "group_norm"), group_norm),
    "PReLU": prelu,
    **{f"{kind}Pool{n}d": pool for kind in ("Max", "Avg", "LP", "AdaptiveAvg", "AdaptiveMax") for n in (1, 2, 3)},
    **{f"{kind}_pool{n}d": pool for kind in ("max", "avg", "lp", "adaptive_avg", "adaptive_max") for n in (1, 2, 3)},
    **dict.fromkeys(("PixelShuffle", "pixel_shuffle"), pixel_shuffle),
    **dict.fromkeys(("RNN", "LSTM", "GRU"), recurrent),
    **dict.fromkeys(("RNNCell", "LSTMCell", "GRUCell"), cell),
    "MultiheadAttention": attention,
    **dict.fromkeys(("EmbeddingBag", "embedding_bag"), bag),
    **dict.fromkeys(
        (
            "TransformerEncoderLayer",
            "TransformerDecoderLayer",
            "TransformerEncoder",
            "TransformerDecoder",
            "Transformer",
        ),
        transformer,
    ),
}
