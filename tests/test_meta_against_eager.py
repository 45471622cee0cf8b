"""What the tracer accepts and refuses is what eager mode accepts and refuses, with the same shape and dtype."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
import torch.nn.functional as F  # noqa: N812  # the field's own name for it
from operator_calls import CALLS
from torch import nn

from shapelint.trace.log import tensors_in
from shapelint.trace.owners import Owners
from shapelint.trace.run import run

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

LINES = [line for line in CALLS.strip().splitlines() if not line.startswith("#")]
DTYPES = {
    "f": torch.float32,
    "h": torch.float16,
    "b": torch.bfloat16,
    "d": torch.float64,
    "i": torch.int64,
    "i32": torch.int32,
    "u8": torch.uint8,
    "m": torch.bool,
    "c": torch.complex64,
}

KNOWN: dict[str, str] = {
    "F.conv_transpose2d(f(2, 3, 1, 1), f(3, 4, 2, 2), padding=1)": "a result without an element is told as too small",
    "torch.linalg.lstsq(f(4, 2), f(4, 3)).solution": "no meta kernel: the shape is unknown, and that is said",
    "torch.fft.fft(h(2, 6))": "half precision lacks kernels on CPU that every GPU has: never a fault",
    "F.scaled_dot_product_attention(f(2, 4, 5, 8), f(2, 4, 7, 8), f(2, 4, 6, 8))": (
        "the CPU's kernel reads past the end of the values, every other one refuses"
    ),
    "F.huber_loss(f(4), d(4))": "the CPU's kernel doesn't promote, the meta kernel does",
}
"""Where the verdicts differ, and why that is left so."""


def put(tensor: torch.Tensor, index: Any, value: Any) -> torch.Tensor:
    """An assignment as an expression."""
    tensor[index] = value
    return tensor


def _data(dtype: torch.dtype) -> Any:
    def make(*sizes: int) -> torch.Tensor:
        floats = dtype.is_floating_point or dtype.is_complex
        return torch.rand(sizes).to(dtype) if floats else torch.zeros(sizes, dtype=dtype)

    return make


def _meta(dtype: torch.dtype) -> Any:
    def make(*sizes: int) -> torch.Tensor:
        # Not a call of the model's: an input of it.
        with torch._C.DisableTorchFunction():  # noqa: SLF001  # there is no public name for it
            return torch.empty(sizes, dtype=dtype, device="meta")

    return make


def _names(maker: Any) -> dict[str, Any]:
    return {"torch": torch, "F": F, "nn": nn, "put": put, **{name: maker(dtype) for name, dtype in DTYPES.items()}}


def described(result: Any) -> list[tuple[tuple[int, ...], str]]:
    """Shape and dtype of each tensor of a result."""
    found: list[torch.Tensor] = []
    tensors_in(result, found)
    return [(tuple(t.shape), str(t.dtype)[6:]) for t in found]


def eager(line: str) -> list[tuple[tuple[int, ...], str]] | str:
    """What the call gives on real tensors; the error's first line where it is refused."""
    try:
        return described(eval(line, _names(_data)))  # our own table
    except Exception as error:  # noqa: BLE001  # whatever torch raises is its verdict
        return f"{type(error).__name__}: {error}".split("\n")[0]


def traced(line: str) -> list[tuple[tuple[int, ...], str]] | str:
    """The same of the tracer."""
    code = compile(line, "<call>", "eval")
    names = _names(_meta)
    result = run(lambda: eval(code, names), (), {}, Owners(nn.Module()))  # our own table
    errors = [op.error for op in result.log.ops if op.error is not None]
    error = errors[0] if errors else result.outcome.error
    if error is not None:
        return f"{type(error).__name__}: {error}".split("\n")[0]
    return described(result.outcome.value)


def _agree(line: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted, got = eager(line), traced(line)
    if isinstance(wanted, str) and isinstance(got, str):
        return ""
    return "" if wanted == got else f"{line}\n   eager: {wanted}\n  traced: {got}"


def test_the_table_has_right_and_wrong_calls_in_number() -> None:
    verdicts = [isinstance(eager(line), str) for line in LINES]
    assert len(set(LINES)) == len(LINES)
    assert min(sum(verdicts), len(verdicts) - sum(verdicts)) > 150


def test_the_tracer_agrees_with_eager_mode_on_every_call() -> None:
    wrong = [text for line in LINES if line not in KNOWN and (text := _agree(line))]
    assert not wrong, "\n".join(wrong)


def test_what_is_known_to_differ_still_does() -> None:
    """An entry that isn't needed any more goes."""
    assert [line for line in KNOWN if line not in LINES] == []
    assert [line for line in KNOWN if not _agree(line)] == []
