"""Importing torch without what a trace has no use for.

``import torch`` takes a second, and the first operator on a meta tensor another one. Three quarters of that go into
``torch._dynamo``, which torch imports only to mark functions as not to be compiled. As long as nobody has imported it,
nothing is being compiled and no mark is needed; from then on, torch's own code does the marking. So ``torch.compile``
and ``torch.export`` in user code work as ever, and pay for their import themselves. The rest (sympy, a quarter of a
second) comes with the first operator, once, before the worker forks.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def import_torch() -> None:
    """Import torch, one thread and no compiler, and run a first operator. Raises what a broken torch raises."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))  # threads don't survive a fork
    collecting = gc.isenabled()
    gc.disable()  # a thousand modules, none of them garbage
    try:
        _ease_compile()
        torch: Any = importlib.import_module("torch")
        if "torch._compile" in sys.modules:
            torch._compile = sys.modules["torch._compile"]  # as the import system would have set it
        torch.set_num_threads(1)
        x = torch.empty(2, 3, device="meta")
        torch.nn.functional.linear(x, torch.empty(5, 3, device="meta"), torch.empty(5, device="meta"))
    finally:
        if collecting:
            gc.enable()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _ease_compile() -> None:
    """Load ``torch._compile`` ahead of torch, with a ``_disable_dynamo`` that doesn't import torch._dynamo.

    While torch._dynamo isn't loaded nothing is being compiled, and a function needs no mark.
    """
    if "torch" in sys.modules:
        return
    package = importlib.util.find_spec("torch")
    folders = package.submodule_search_locations if package is not None else None
    path = os.path.join(folders[0], "_compile.py") if folders else ""
    if not os.path.isfile(path):
        return
    spec = importlib.util.spec_from_file_location("torch._compile", path)
    if spec is None or spec.loader is None:
        return
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "_disable_dynamo"):
        return
    module._disable_dynamo = _lazy_disable(module._disable_dynamo)  # it has no public name
    sys.modules["torch._compile"] = module


def _lazy_disable(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def disable(fn: Any = None, recursive: bool = True) -> Any:  # noqa: FBT001, FBT002  # torch's own signature
        if fn is None:
            return functools.partial(disable, recursive=recursive)
        marked = original(fn, recursive)

        @functools.wraps(fn)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return (marked if "torch._dynamo" in sys.modules else fn)(*args, **kwargs)

        return inner

    return disable
