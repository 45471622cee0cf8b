"""One run of a model under the tracer: its layers, what it returned, how it ended, what it warned of."""

from __future__ import annotations

import contextlib
import sys
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules.lazy import LazyModuleMixin

from shapelint.trace import annotated, frames, handlers, invented, layers, lazy, owncheck
from shapelint.trace.doubt import Doubt
from shapelint.trace.edge import Outcome, call_user
from shapelint.trace.log import Log, Op, map_tensors, tensors_in
from shapelint.trace.mode import TraceMode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from shapelint.trace.owners import Owners


@dataclass(slots=True)
class RunResult:
    """What came of a run. ``outputs`` pairs a path into the result with the index of a value."""

    log: Log
    outcome: Outcome
    outputs: list[tuple[str, int]] = field(default_factory=list)
    warnings: list[tuple[str, str, tuple[frames.Place, ...]]] = field(default_factory=list)
    asked: list[tuple[frames.Place, ...]] = field(default_factory=list)
    invented: bool = False
    used: set[str] = field(default_factory=set)
    ranks: list[tuple[frames.Place, str, set[int]]] = field(default_factory=list)
    calls: list[annotated.Call] = field(default_factory=list)


def run(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    owners: Owners,
    *,
    is_leaf: Callable[[nn.Module], bool] | None = None,
    sizes: Callable[[], int] | None = None,
    flips: frozenset[invented.Site] = frozenset(),
    inputs: list[tuple[str, torch.Tensor]] | None = None,
    repeats: bool = False,
) -> RunResult:
    """Calls ``function`` with every torch call recorded. What it raises is in the result's ``outcome``, never raised."""
    mode = TraceMode(owners, sizes=sizes, repeats=repeats)
    caught: list[tuple[str, str, tuple[frames.Place, ...]]] = []
    for name, tensor in inputs or []:
        info = mode.info(tensor)
        mode.log.values[info.value].source = f"input:{name}"
        mode.log.inputs.append((name, info.value))
    watched = annotated.watching(mode, on=annotated.speaks_of_shapes())
    with (
        invented.path(flips) as decisions,
        _warnings(caught),
        _modules(mode, is_leaf or leaf),
        _functions(mode),
        mode,
        watched as calls,
    ):
        outcome = call_user(function, args, kwargs)
    result = RunResult(mode.log, outcome, warnings=caught, asked=decisions.asked, calls=calls)
    if outcome.error is None:
        result.outputs = [(path, mode.ref(tensor).value) for path, tensor in leaves_of(outcome.value)]
    result.invented = bool(mode.lossy) or bool(decisions.asked)
    result.used = _used(mode.log, mode.called, owners)
    result.ranks = [(place, name, ranks) for (_, _, name), (place, ranks) in mode.ranks.items()]
    return result


def _used(log: Log, called: set[nn.Module], owners: Owners) -> set[str]:
    """Paths of the modules that were called, with all that a layer of torch holds, and of the parameters that took part."""
    used = {value.source.partition(":")[2] for value in log.values if value.source.startswith("param:")}
    for module in called:
        if not leaf(module):
            used.add(owners.paths.get(module, ""))
            continue
        used.update(owners.paths.get(one, "") for one in module.modules())
        used.update(owners.find(parameter).partition(":")[2] for parameter in module.parameters())
    return used


# ---------------------------------------------------------------------------------------------------- warnings


@contextlib.contextmanager
def _warnings(caught: list[tuple[str, str, tuple[frames.Place, ...]]]) -> Iterator[None]:
    """Keeps each Python warning, once a place, with the user's frames that led to it."""
    seen: set[Any] = set()

    def show(message: Any, category: type[Warning], filename: str, lineno: int, *rest: Any) -> None:
        stack = frames.user_stack(sys._getframe(1))
        key = (category, str(message), stack)
        if key not in seen:
            seen.add(key)
            caught.append((category.__name__, str(message), stack))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show  # type: ignore[assignment]  # what it is called with is fixed
        yield


# ------------------------------------------------------------------------------------------------------ layers

_plain_call = nn.Module.__call__


def leaf(module: nn.Module) -> bool:
    """Whether ``module`` is one of torch's own layers, called as one node (``torch.fx.Tracer.is_leaf_module``)."""
    return type(module).__module__.startswith(("torch.nn.", "torch.ao.nn.")) and not isinstance(
        module, (nn.Sequential, nn.DataParallel, nn.parallel.DistributedDataParallel)
    )


_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _whole(module: nn.Module, is_leaf: Callable[[nn.Module], bool]) -> bool:
    """A leaf that runs no code of the user's inside: no hook, no parametrisation, no module of another kind."""
    if (
        not is_leaf(module)
        or hasattr(module, "parametrizations")
        or any(getattr(module, name, None) for name in _HOOKS)
    ):
        return False
    return all(_whole(child, lambda m: is_leaf(m) or isinstance(m, nn.Sequential)) for child in module.children())


@contextlib.contextmanager
def _modules(mode: TraceMode, is_leaf: Callable[[nn.Module], bool]) -> Iterator[None]:
    """While active, each call of a module passes the tracer, as in ``torch.fx.Tracer.trace``."""
    whole: dict[nn.Module, bool] = {}

    def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        if module not in mode.called and module not in mode.owners.paths:
            # Made in the code that is traced, as a training step makes its model.
            for buffer in module.buffers(recurse=False):
                mode.moved_along(buffer)
        mode.called.add(module)
        if isinstance(module, LazyModuleMixin):
            lazy.initialise(module, args, kwargs)
        if mode.quiet:
            return _plain_call(module, *args, **kwargs)
        known = whole.get(module)
        if known is None:
            known = whole[module] = _whole(module, is_leaf)
        if known:
            return _call_leaf(mode, module, args, kwargs)
        mode.modules.append(module)
        try:
            return _plain_call(module, *args, **kwargs)
        finally:
            mode.modules.pop()

    before = nn.Module.__call__
    nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__call__ = before  # type: ignore[method-assign]


def _call_leaf(mode: TraceMode, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """One of torch's layers: what runs inside is watched and not recorded, the call itself is one node."""
    stack = frames.user_stack(sys._getframe(2))
    # The tracer's own look at a tensor must not pass the tracer: to it, no tensor is a meta tensor.
    with torch._C.DisableTorchFunction():
        leaves: list[torch.Tensor] = []
        tensors_in((args, kwargs), leaves)
        infos = [mode.info(t) for t in leaves]
        arguments = map_tensors(args, mode.ref), map_tensors(kwargs, mode.ref)
    mode.quiet += 1
    mode.inner_error, mode.inner_notes, mode.inner_doubt = None, [], None
    refused: BaseException | None = None
    result: Any = None
    try:
        result = _plain_call(module, *args, **kwargs)
    except Exception as error:  # a layer that refuses its input is a fact about the call
        if frames.own_fault(error) or handlers.handled(stack, error):
            raise
        if mode.inner_error is None:
            refused = error
    finally:
        mode.quiet -= 1
    with torch._C.DisableTorchFunction():
        return _leaf_done(mode, module, (args, kwargs), arguments, (leaves, infos), stack, result, refused)


def _leaf_done(
    mode: TraceMode,
    module: nn.Module,
    call: tuple[tuple[Any, ...], dict[str, Any]],
    arguments: Any,
    known: tuple[list[torch.Tensor], list[Any]],
    stack: tuple[frames.Place, ...],
    result: Any,
    refused: BaseException | None,
) -> Any:
    """Records the call of a layer, with what went wrong inside."""
    leaves, infos = known
    inner, error = mode.inner_error or ("", refused)
    notes, doubt = mode.inner_notes, mode.inner_doubt
    mode.inner_error, mode.inner_notes, mode.inner_doubt = None, [], None
    if result is None and (refused is not None or inner):
        result = layers.meant(module, map_tensors(call[0], mode.meta), map_tensors(call[1], mode.meta))
    invented_here = any(info.invented for info in infos) or mode.lossy_shapes(leaves)
    if refused is not None and (invented_here or any(i.unknown for i in infos) or owncheck.is_gap(refused)):
        if owncheck.is_gap(refused) and result is None:
            notes.append(("unknown", (), str(refused).split("\n")[0]))
        error, doubt = None, Doubt(refused, excused=False)
    if result is None and (refused is not None or inner):
        result = mode.unknown_value()
    outputs: list[torch.Tensor] = []
    tensors_in(result, outputs)
    if refused is not None:
        for output in outputs:
            mode.assumed(output, marked=invented_here)
    name = _public(f"{type(module).__module__}.{type(module).__qualname__}")
    given, named = arguments
    op = Op("call_module", module, name, module, stack, given, named, error=error, doubt=doubt, inner=inner)
    mode.record(op, result, outputs, notes, ready=True)
    return result


def _public(name: str) -> str:
    """``torch.nn.Linear`` for ``torch.nn.modules.linear.Linear``."""
    parts = name.split(".")
    return f"torch.nn.{parts[-1]}" if name.startswith("torch.nn.modules.") else name


# ------------------------------------------------------------------------------------- autograd functions, vmap


@contextlib.contextmanager
def _functions(mode: TraceMode) -> Iterator[None]:
    """While active, what a custom ``autograd.Function`` returns is known as what its ``forward`` returned."""
    owner: Any = torch.autograd.Function
    kept = owner.__dict__.get("apply")
    plain = owner.apply

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        returned: list[Any] = []
        forward = cls.forward

        def watched(*inner: Any, **named: Any) -> Any:
            returned.append(forward(*inner, **named))
            return returned[-1]

        twin: Any = type(cls)(cls.__name__, (cls,), {"forward": staticmethod(watched), "__module__": cls.__module__})
        result = _bound(kept, plain, twin)(*args, **kwargs)
        before: list[torch.Tensor] = []
        after: list[torch.Tensor] = []
        tensors_in(returned[-1] if returned else None, before)
        tensors_in(result, after)
        with torch._C.DisableTorchFunction():
            for old, new in zip(before, after):
                if old is not new:
                    mode.same(old, new)
        return result

    owner.apply = classmethod(apply)
    try:
        yield
    finally:
        if kept is None:
            del owner.apply
        else:
            owner.apply = kept


def _bound(kept: Any, plain: Any, cls: Any) -> Any:
    """Torch's own ``apply`` for the class ``cls``, whether it is written in C or in Python."""
    return kept.__get__(None, cls) if kept is not None else plain.__func__.__get__(cls, type(cls))


# ------------------------------------------------------------------------------------------------------ results


def leaves_of(result: Any, path: str = "", depth: int = 8) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of what ``forward`` returned, in order, each with its path: ``[0]``, ``['logits']``, ``.boxes``."""
    if isinstance(result, torch.Tensor):
        yield path, result
    elif depth == 0 or result is None or isinstance(result, (str, int, float, bool)):
        return
    elif isinstance(result, dict):
        for key, item in result.items():
            yield from leaves_of(item, f"{path}[{key!r}]", depth - 1)
    elif isinstance(result, tuple) and hasattr(result, "_fields"):
        for name, item in zip(result._fields, result):
            yield from leaves_of(item, f"{path}.{name}", depth - 1)
    elif isinstance(result, (tuple, list)):
        for index, item in enumerate(result):
            yield from leaves_of(item, f"{path}[{index}]", depth - 1)
    elif hasattr(result, "__dict__") and not isinstance(result, (type, nn.Module)) and not callable(result):
        for name, item in vars(result).items():
            yield from leaves_of(item, f"{path}.{name}", depth - 1)
