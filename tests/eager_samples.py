"""Models configured for the linter, and run on real tensors to confirm that what a test says of them is true."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

SIZES = {"B": 4, "T": 7, "S": 5, "N": 9, "E": 12, "K": 3, "H": 8, "W": 8}
"""What the named dimensions are on real tensors."""


def configured(targets: list[tuple[str, dict[str, Any]]]) -> str:
    """The configuration that names these targets, each with its inputs."""

    def toml(value: Any) -> str:
        if isinstance(value, str):
            return f'"{value}"'
        return "{ " + ", ".join(f"{name} = {toml(one)}" for name, one in value.items()) + " }"

    return "\n".join(f'[[models]]\ntarget = "{name}"\ninputs = {toml(inputs)}\n' for name, inputs in targets)


def load(path: Path) -> ModuleType:
    """The module in the file ``path``, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def example(spec: Any, name: str = "") -> Any:
    """A tensor, or a dict of tensors, for what a comment or a configuration says of an input."""
    if isinstance(spec, dict):
        return {key: example(value, key) for key, value in spec.items()}
    dtype, _, inside = spec.rstrip("]").partition("[")
    shape = [SIZES.get(one, 0) or int(one) for one in inside.split(", ")]
    if name == "lengths":
        return torch.full(shape, SIZES["T"])
    if dtype == "float32":
        return torch.randn(shape)
    return torch.randint(0, 3 if dtype == "int64" else 2, shape).to(getattr(torch, dtype))


def raised_at(path: Path, found: Any, inputs: dict[str, Any]) -> tuple[int, str]:
    """Where in the file ``path`` the model or function raises on real tensors, and what; (0, "") where it doesn't."""
    given = {name: example(spec, name) for name, spec in inputs.items()}
    try:
        (found() if isinstance(found, type) else found)(**given)
    except (RuntimeError, ValueError, IndexError) as error:
        lines = [step.lineno or 0 for step in traceback.extract_tb(error.__traceback__) if step.filename == str(path)]
        return lines[-1], str(error)
    return 0, ""
