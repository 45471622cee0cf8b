"""Operations along single axes: what has no entry among the moves keeps the axes whose size stays."""

from __future__ import annotations

from shapelint.trace.axes.calls import Call, Shape, fits
from shapelint.trace.axes.layout import Layout, Segment, apart, is_batch


def kept(call: Call, wanted: Shape) -> Layout:
    """An axis whose size stays is what it was, from the left; one whose size changes is known by its size."""
    first = call.first
    if first is None:
        return call.unknown(wanted)
    old = apart(first)
    if len(old) == len(wanted):
        return tuple([o if o.axes[0] == sizes else call.fresh(sizes) for o, sizes in zip(old, wanted)])
    out: list[Segment] = []
    same = True
    for position, sizes in enumerate(wanted):
        same = same and position < len(old) and old[position].axes[0] == sizes
        out.append(old[position] if same else call.fresh(sizes))
    return tuple(out)


def broadcast(call: Call, wanted: Shape) -> Layout:
    """Elementwise: each axis is what the operands say it is, where they differ the batch, or what is mixed."""
    whole = [layout for layout in call.layouts if fits(layout, wanted)]
    if whole and all(layout == whole[0] for layout in whole):
        small = [layout for layout in call.layouts if layout is not None and not fits(layout, wanted)]
        if not any(segment.batch or segment.mixed >= 0 for layout in small for segment in layout):
            return whole[0] or ()
    single = [apart(layout) for layout in call.layouts if layout is not None]
    out: list[Segment] = []
    for back in range(len(wanted), 0, -1):
        sizes = wanted[-back]
        there = [layout[-back] for layout in single if len(layout) >= back and layout[-back].axes[0] == sizes]
        out.append(strongest(there) or call.fresh(sizes))
    return tuple(out)


def strongest(segments: list[Segment]) -> Segment | None:
    """What an axis is where several operands say: mixed if one of them is, then the batch, then the first."""
    for segment in segments:
        if segment.mixed >= 0:
            return segment
    for segment in segments:
        if segment.batch:
            return segment
    return segments[0] if segments else None


def touched(layout: Layout, position: int) -> Layout:
    """The layout with the segment of one axis taken apart."""
    out: list[Segment] = []
    count = 0
    for segment in layout:
        inside = count <= position < count + len(segment.axes)
        out += apart((segment,)) if inside else [segment]
        count += len(segment.axes)
    return tuple(out)


def batch_at(layout: Layout) -> int | None:
    """The position of the axis that is the batch and nothing else; None where there is none, or more than one."""
    found = [at for at, segment in enumerate(apart(layout)) if is_batch(segment)]
    return found[0] if len(found) == 1 else None


ELEMENTWISE = frozenset(
    "add add_ sub sub_ mul mul_ div div_ true_divide rsub __rsub__ pow __rpow__ __rdiv__ __rtruediv__ remainder fmod floor_divide "
    "__floordiv__ maximum minimum where lerp addcmul addcdiv masked_fill masked_fill_ clamp clamp_ clip clamp_min clamp_max "
    "gt ge lt le eq ne logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not __and__ __or__ __xor__ __invert__ "
    "relu relu_ relu6 gelu silu sigmoid tanh leaky_relu leaky_relu_ elu celu selu hardtanh hardswish hardsigmoid mish softplus logsigmoid "
    "tanhshrink softshrink hardshrink softsign threshold exp log log1p expm1 sqrt rsqrt abs neg __neg__ sin cos tan sign erf reciprocal "
    "square floor ceil round trunc sigmoid_ tanh_ exp_ dropout dropout_ feature_dropout alpha_dropout dropout2d contiguous clone detach "
    "detach_ to float half double bfloat16 int long bool type type_as cpu cuda requires_grad_ nan_to_num isnan isinf isfinite "
    "zeros_like ones_like empty_like full_like rand_like randn_like fill_ zero_ copy_ data angle real imag conj "
    "ReLU ReLU6 GELU SiLU Sigmoid Tanh LeakyReLU ELU CELU SELU Hardtanh Hardswish Hardsigmoid Mish Softplus LogSigmoid Threshold Dropout "
    "Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout Identity PReLU Tanhshrink Softsign Softshrink Hardshrink".split()
)
"""Each element of the result hangs on the elements at the same place alone."""
