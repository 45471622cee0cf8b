"""What the tracer says of the batch axis is compared with where real elements go."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

import torch  # noqa: E402

from shapelint.records import Case, CaseReport, InputTree, TensorSpec, TraceTarget  # noqa: E402
from shapelint.trace import session  # noqa: E402
from shapelint.trace.axes.follow import calls, start  # noqa: E402
from shapelint.trace.axes.layout import Layout, apart  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = Callable[[Any], Any]

CHAINS = 400
LONGEST = 6


class Model(torch.nn.Module):
    def __init__(self, function: Step) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def traced(function: Step, *dims: int | str) -> CaseReport:
    """The report of a function of one tensor ``x``."""
    case = Case((("x", InputTree("tensor", TensorSpec("float32", dims))),))
    target = TraceTarget("made:make", "/", (), (case,), modes=("eval",))
    report = session.trace(target, session.Loaded(SimpleNamespace(make=lambda: Model(function))))
    assert report.failure is None, report.failure
    assert report.cases[0].endings == ()
    return report.cases[0]


def layout_of(report: CaseReport) -> Layout | None:
    """Where the axes of the first output come from."""
    state = start(report, ("B",))
    assert state is not None
    for _ in calls(report, (), state):
        pass
    return state.layout(report, report.outputs[0][1])


def notes(function: Step, *dims: int | str) -> list[str]:
    """What is noted of the operations of a function, in order."""
    return [note.kind for op in traced(function, *dims).ops for note in op.notes]


# ------------------------------------------------------------------------------------------------- random movements


def movements(seed: int) -> Step:
    """A chain of random movements of data; what it does hangs on the seed and the rank alone."""

    def move(x: Any) -> Any:
        choose = random.Random(seed)  # a test that repeats itself
        for _ in range(choose.randint(1, LONGEST)):
            x = choose.choice(STEPS)(x, choose)
        return x

    return move


def _permute(x: Any, choose: random.Random) -> Any:
    return x.permute(choose.sample(range(x.dim()), x.dim()))


def _transpose(x: Any, choose: random.Random) -> Any:
    return x.transpose(0, choose.randrange(x.dim()))


def _merge(x: Any, choose: random.Random) -> Any:
    if x.dim() < 3:
        return x
    at = choose.randrange(x.dim() - 1)
    return x.flatten(at, at + 1)


def _split(x: Any, choose: random.Random) -> Any:
    at = choose.randrange(x.dim())
    return x.unflatten(at, (2, -1)) if x.shape[at] % 2 == 0 and x.shape[at] in (2, 4, 6, 12, 24) else x


def _regroup(x: Any, choose: random.Random) -> Any:
    """The sizes in another order: the elements stay, whatever the axes are called."""
    return x.reshape(choose.sample(list(x.shape), x.dim()))


def _column(x: Any, choose: random.Random) -> Any:
    return x.unsqueeze(choose.randrange(x.dim() + 1))


def _stack(x: Any, choose: random.Random) -> Any:
    return torch.stack([x, x], choose.randrange(x.dim()))


def _cat(x: Any, choose: random.Random) -> Any:
    return torch.cat([x, x], choose.randrange(x.dim()))


def _repeat(x: Any, choose: random.Random) -> Any:
    counts = [1] * x.dim()
    counts[choose.randrange(x.dim())] = 2
    return x.repeat(counts)


def _interleave(x: Any, choose: random.Random) -> Any:
    return x.repeat_interleave(2, dim=choose.randrange(x.dim()))


def _select(x: Any, choose: random.Random) -> Any:
    return x[:, 0] if x.dim() > 3 and choose.random() < 0.5 else x[..., 0] if x.dim() > 3 else x


def _pairs(x: Any, choose: random.Random) -> Any:
    return torch.einsum("...ab->...ba", x) if choose.random() < 0.5 else x * torch.ones_like(x)


STEPS: list[Callable[[Any, random.Random], Any]] = [
    *(_permute, _transpose, _merge, _split, _regroup, _column, _stack, _cat, _repeat, _interleave, _select, _pairs)
]


def label_of(index: int, segment: Any, run: int) -> int:
    """The sample that a place along an axis belongs to, as the axis's factors have it."""
    label, seen = 0, False
    for atom in reversed(segment.atoms):
        digit, index = index % atom.sizes[run], index // atom.sizes[run]
        if atom.batch:
            label, seen = digit, True
    assert seen
    return label


@pytest.mark.parametrize("block", range(8))
def test_an_axis_is_the_batch_just_where_the_samples_lie_along_it(block: int) -> None:
    """On each axis: the batch where it is said to be, one sample where no batch is said to be, or else mixed."""
    told = 0
    for seed in range(block * CHAINS // 8, (block + 1) * CHAINS // 8):
        report = traced(movements(seed), "B", "T", 4, 6)
        layout = layout_of(report)
        assert layout is not None
        sizes = dict(report.assignments[0])
        labels = torch.arange(sizes["B"]).view(-1, 1, 1, 1).expand(-1, sizes["T"], 4, 6).clone()
        moved = movements(seed)(labels)
        assert tuple(moved.shape) == tuple(axis[0] for segment in layout for axis in segment.axes), seed
        for at, segment in enumerate(apart(layout)):
            along = moved.movedim(at, 0)
            if segment.mixed >= 0:
                continue
            told += segment.batch
            for index in range(along.shape[0]):
                if segment.batch:
                    assert (along[index] == label_of(index, segment, 0)).all(), (seed, at)
                else:
                    assert (along[index] == along[0]).all(), (seed, at)
    assert told > CHAINS // 8 // 4  # the claim is made often enough to be worth something


# ----------------------------------------------------------------------------------------------------- what is noted


@pytest.mark.parametrize(
    ("function", "dims", "noted"),
    [
        (lambda x: x.softmax(0), ("B", 5), ["batch-axis-mixed"]),
        (lambda x: x.softmax(-1), ("B", 5), []),
        (lambda x: x.transpose(0, 1).softmax(0), ("B", 5), []),
        (lambda x: (x @ x.t()).softmax(0), ("B", 5), []),
        (lambda x: x.t().cumsum(-1), ("B", 5), ["batch-axis-mixed"]),
        (lambda x: x.view(-1, 400), ("B", 16, 10, 10), ["batch-folded"]),
        (lambda x: x.view(-1, 1600), ("B", 16, 10, 10), []),
        (lambda x: x.view(-1, 400).view(x.size(0), 4, 400), ("B", 16, 10, 10), []),
        (lambda x: x.reshape(x.size(1), x.size(0), 8), ("B", "T", 8), ["view-as-transpose"]),
        (lambda x: x.view(x.size(0), 4, x.size(1), 8), ("B", "T", 32), ["view-as-transpose"]),
        (lambda x: x.view(x.size(0), x.size(1), 4, 8), ("B", "T", 32), []),
        (lambda x: x.flatten(2).transpose(1, 2), ("B", 3, "H", "W"), []),
        (lambda x: x.reshape(x.size(0), -1, 3), ("B", 3, "H", "W"), ["view-as-transpose"]),
        (lambda x: x.repeat(4, 1).view(x.size(0), 4, 5), ("B", 5), ["batch-folded"]),
        (lambda x: x.repeat_interleave(4, 0).view(x.size(0), 4, 5), ("B", 5), []),
        (lambda x: x[..., :1].squeeze(), ("B", 5), ["squeezed-batch"]),
        (lambda x: x[..., :1].squeeze(-1), ("B", 5), []),
        (lambda x: x[..., :1].squeeze().sum(), ("B", 5), []),
        (lambda x: x + torch.zeros(100, 1)[: x.size(0)], ("B", "T"), ["batch-sliced-constant"]),
        (lambda x: x + torch.zeros(100)[: x.size(1)], ("B", "T"), []),
    ],
)
def test_what_treats_the_batch_as_something_else_is_noted(
    function: Step, dims: tuple[int | str, ...], noted: list[str]
) -> None:
    assert [kind for kind in notes(function, *dims) if kind != "device"] == noted


def test_the_skew_of_relative_attention_is_no_transpose() -> None:
    """Dai et al. 2019: a score matrix is padded by one column, viewed the other way round, and cut."""

    def skew(x: Any) -> Any:
        b, h, t, _ = x.shape
        padded = torch.nn.functional.pad(x, (1, 0))
        return padded.view(b, h, t + 1, t)[:, :, 1:].view_as(x)

    assert notes(skew, "B", 4, "T", "T") == []


def test_a_name_that_stands_twice_in_an_input_is_no_batch() -> None:
    assert notes(lambda x: x.softmax(0), "B", "B") == []
