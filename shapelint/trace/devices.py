"""The device that values say they are on, and which tensors stay behind when a model moves.

Data, parameters and buffers are on `DATA_DEVICE`. What the code makes without naming a device stays on the CPU when the model
goes to a GPU, and so is *pinned*; what it makes on ``x.device`` follows. The two are told apart by the identity of the
device object, since both say ``cpu``.
"""

from __future__ import annotations

from typing import Any

import torch

DATA_DEVICE = torch.device("cpu")
"""What ``x.device`` answers for data. Not equal by chance to a device the user makes: it is compared by identity."""


def place(short: str, device: Any) -> str:
    """What a factory's result is pinned to: ``cpu`` without a device, ``cuda`` for that literal, else "" (it follows)."""
    if short in ("as_tensor", "from_numpy", "asarray") and device is not None:
        return ""
    if device is None:
        return "" if torch.get_default_device().type != "cpu" else "cpu"
    if isinstance(device, str) and device.startswith("cuda"):
        return "cuda"
    return ""


def without_device(kwargs: dict[str, Any]) -> dict[str, Any]:
    """``kwargs`` without what says where the memory is: a trace has none."""
    return {key: value for key, value in kwargs.items() if key not in ("device", "pin_memory")}
