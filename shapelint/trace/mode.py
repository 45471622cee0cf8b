"""The meta tensor tracer's eye: a TorchFunctionMode that sees every call of torch and lets it run on meta tensors.

Values are ordinary tensor objects on the meta device, so code that runs eagerly traces. What the tracer knows of one is its
`Info`, tied to the object. `TraceMode` decides for each call whether it asks for facts (shape, device), for data (``item``),
or computes, and then what is recorded.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from shapelint.trace import (
    access,
    dtypes,
    emulate,
    frames,
    handlers,
    indexing,
    invented,
    memo,
    owncheck,
    precision,
    recover,
)
from shapelint.trace.devices import DATA_DEVICE, place, without_device
from shapelint.trace.doubt import PRODUCTS, Doubt
from shapelint.trace.log import KEY, Info, Log, Op, Ref, map_tensors, tensors_in
from shapelint.trace.metas import empty, to_meta, wrapped
from shapelint.trace.names import GETTER, METHOD, describe
from shapelint.trace.proxy import MetaTensorProxy, without_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapelint.trace.owners import Owners

LIMIT = 1 << 14
"""Tensors of more elements than this are never made for real."""

RANDOM = frozenset(
    "rand randn randint randperm normal bernoulli multinomial poisson rand_like randn_like randint_like dropout dropout1d "
    "dropout2d dropout3d alpha_dropout feature_alpha_dropout normal_ uniform_ random_ bernoulli_ exponential_ geometric_ "
    "cauchy_ log_normal_ rrelu gumbel_softmax native_dropout".split()
)
"""What these return is data, though nothing but constants went in."""

GIVEN = frozenset("tensor as_tensor from_numpy asarray from_dlpack frombuffer scalar_tensor sparse_coo_tensor".split())
"""Makers whose elements are handed in, so that nothing is gained by asking for the size first."""

MIXED_DEVICES = frozenset(
    "__getitem__ __setitem__ copy_ to cpu cuda type type_as expand_as view_as reshape_as zeros_like ones_like empty_like "
    "full_like rand_like randn_like randint_like new_tensor new_zeros new_ones new_full new_empty set_ index_put_ index_put "
    "_pack_padded_sequence _pad_packed_sequence ctc_loss tensor_split detach detach_ data".split()
)
"""Calls that take tensors on several devices, or whose result doesn't depend on where their second operand is."""


class TraceMode(TorchFunctionMode):
    """Records what torch is asked for while it is active, in ``log``."""

    def __init__(self, owners: Owners, sizes: Callable[[], int] | None = None, *, repeats: bool = False) -> None:
        """``repeats``: no code looks at the history of a tensor, so that what a call gave before may be given again."""
        super().__init__()
        self.repeats = repeats
        self.log = Log()
        self.owners = owners
        self.fresh = sizes or (lambda: 3)
        self.quiet = 0
        self.modules: list[Any] = []
        self.called: set[Any] = set()
        self.ranks: dict[tuple[int, int, str], tuple[frames.Place, set[int]]] = {}
        self.inner_error: tuple[str, BaseException] | None = None
        self.inner_notes: list[tuple[str, tuple[int, ...], str]] = []
        self.inner_doubt: Doubt | None = None
        self.lossy: set[int] = set()
        self.names: dict[frames.Place | None, int] = {}
        self.masks: dict[int, int] = {}

    # ----------------------------------------------------------------------------------------------- torch calls

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Torch's hook: every function and attribute of torch that is used comes here."""
        kwargs = kwargs or {}
        handler = access.HANDLERS.get(func)
        if handler is not None:
            return handler(self, func, args, kwargs)
        kind, name, short = describe(func)
        leaves: list[torch.Tensor] = []
        tensors_in(args, leaves)
        if kwargs:
            tensors_in(kwargs, leaves)
        if not leaves:
            return self._make(func, name, short, args, kwargs)
        infos = [self.info(leaf) for leaf in leaves]
        return self._operate(func, (kind, name, short), args, kwargs, leaves, infos)

    def info(self, tensor: torch.Tensor) -> Info:
        """What is known of ``tensor`` in this run; a tensor seen for the first time is taken in."""
        info: Info | None = tensor.__dict__.get(KEY)
        if info is not None and info.run is self:
            if info.unknown and type(tensor) is MetaTensorProxy and tensor.meta_tensor is not None:
                info.unknown, info.twin = False, tensor.meta_tensor
            return info
        return self._adopt(tensor, info)

    def _adopt(self, tensor: torch.Tensor, old: Info | None) -> Info:
        owner = self.owners.find(tensor)
        source = owner or ("constant" if old is None else "state")
        shape = None if type(tensor) is MetaTensorProxy else tuple(tensor.shape)
        info = Info(self, self.log.add_value(tensor, shape, str(tensor.dtype)[6:], source, -1))
        if type(tensor) is MetaTensorProxy and tensor.meta_tensor is None:
            info.unknown = info.invented = True
        elif old is not None:
            # Kept from an earlier run, as training keeps it: a cache, a mask, a running mean.
            info.constant, info.twin, info.pinned = old.constant, old.twin, old.pinned
            info.invented, info.unknown, info.device = old.invented, old.unknown, old.device
        elif not tensor.is_meta:
            trained = isinstance(tensor, torch.nn.Parameter)
            info.constant = not trained
            if not owner and not trained and tensor.dim() and not wrapped(tensor):
                info.pinned = "cpu"
        elif not owner and self.owners.is_plain(tensor) and tensor.dim():
            info.pinned = "cpu"
        self.log.values[info.value].pinned = info.pinned
        tensor.__dict__[KEY] = info
        return info

    # ---------------------------------------------------------------------------------------------------- making

    def _make(self, func: Any, name: str, short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call without a tensor: a factory, or something that makes no tensor at all."""
        device = kwargs.get("device")
        plain = without_device(kwargs)
        try:
            if short in RANDOM:
                plain.pop("generator", None)
                result = func(*args, **plain, device="meta")
            elif short in GIVEN or "dtype" not in _FACTORY.get(short, ("dtype",)):
                result = func(*args, **plain)
            elif short in _FACTORY:
                result = func(*args, **plain, device="meta")
                if result.numel() <= LIMIT:
                    result = func(*args, **plain)
            else:
                return self._other(func, short, args, kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            return self._failed(func, ("function", name, short), args, kwargs, [], [], error)
        outputs: list[torch.Tensor] = []
        tensors_in(result, outputs)
        marked = invented.is_invented(args) or self._lossy_in(args)
        pinned = place(short, device)
        for output in outputs:
            info = self._new(output)
            info.constant = not output.is_meta
            info.pinned = pinned if output.dim() else ""
            info.invented = marked
            info.device = torch.device(device) if device is not None and device is not DATA_DEVICE else None
        self._record("call_function", func, name, args, kwargs, result, outputs)
        return result

    def _other(self, func: Any, short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        outputs: list[torch.Tensor] = []
        tensors_in(result, outputs)
        for output in outputs:
            info = self._new(output)
            info.constant = not output.is_meta
        if outputs:
            self._record("call_function", func, describe(func)[1], args, kwargs, result, outputs)
        return result

    # ------------------------------------------------------------------------------------------------- computing

    def _operate(
        self,
        func: Any,
        what: tuple[str, str, str],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: list[torch.Tensor],
        infos: list[Info],
    ) -> Any:
        short = what[2]
        constant, unknown, twins = short not in RANDOM, False, False
        for info in infos:
            constant = constant and info.constant
            unknown = unknown or info.unknown
            twins = twins or info.constant or info.twin is not None
        if unknown:
            return self._unknown(func, what, args, kwargs, leaves, report=False)
        run_args, run_kwargs = args, kwargs
        if twins and short in _INDEXING:
            run_args = args = indexing.real_masks(self, args)
        if not constant and (twins or any(not leaf.is_meta for leaf in leaves)):
            run_args, run_kwargs = map_tensors(args, self.meta), map_tensors(kwargs, self.meta)
        moved: torch.device | None = None
        if short in _MOVING or "device" in run_kwargs:
            run_args, run_kwargs, moved = emulate.stay(short, run_args, run_kwargs)
        try:
            if not constant:
                if torch.is_autocast_enabled("cpu"):
                    run_args, run_kwargs = precision.autocast(short, run_args, run_kwargs)
                if short in indexing.RANGED and (twins or short in _INDEXING):
                    indexing.in_range(self, short, args, kwargs)
                result = self._computed(func, short, run_args, run_kwargs, leaves)
            else:
                result = func(*run_args, **run_kwargs)
        except Exception as error:  # whatever torch raises is a fact about the user's call
            if frames.own_fault(error):
                raise
            if owncheck.is_gap(error):
                return self._gap(func, what, args, kwargs, leaves, infos, error)
            if constant and "allocate memory" in str(error):
                # Constants are real as long as they are small; this one need not be.
                for leaf, info in zip(leaves, infos):
                    info.constant, info.twin = False, self.meta(leaf)
                return self._operate(func, what, args, kwargs, leaves, infos)
            return self._failed(func, what, args, kwargs, leaves, infos, error)
        return self._done(func, what, args, kwargs, leaves, infos, result, (run_args, constant, moved))

    def _computed(
        self, func: Any, short: str, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[torch.Tensor]
    ) -> Any:
        """The result of a call on meta tensors. Raises what eager mode raises."""
        key = memo.key_of(func, args, kwargs) if self.repeats and short in memo.PURE else None
        if key is not None:
            known = memo.recall(key)
            if known is not None:
                return known
        check = owncheck.CHECKS.get(short)
        if check is not None:
            check(*args, **kwargs)
        dtypes.check(func, short, args, kwargs)
        replaced = emulate.KERNELS.get(short)
        result = replaced(self, func, args, kwargs) if replaced is not None else NotImplemented
        if result is NotImplemented:
            result = func(*args, **kwargs)
        if key is not None:
            memo.keep(key, result, leaves)
        return result

    def meta(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor to compute with in place of ``tensor``: itself, or the meta tensor of its shape."""
        info = self.info(tensor)
        if info.twin is not None:
            return info.twin
        if tensor.is_meta:
            return tensor
        info.twin = to_meta(tensor)
        return info.twin

    def _done(
        self,
        func: Any,
        what: tuple[str, str, str],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: list[torch.Tensor],
        infos: list[Info],
        result: Any,
        how: tuple[tuple[Any, ...], bool, torch.device | None],
    ) -> Any:
        """Records a call that worked, and what is known of its results."""
        kind, name, short = what
        run_args, constant, moved = how
        changed = _changes_first(short) and bool(leaves)
        if changed and isinstance(result, torch.Tensor) and run_args and result is run_args[0]:
            result = args[0]
        outputs: list[torch.Tensor] = []
        tensors_in(result, outputs)
        if not outputs and not changed:
            return result
        marked = any(info.invented for info in infos) or self._invented_call(args, kwargs, leaves)
        others: list[torch.Tensor] = []
        if any(info.other is not None for info in infos):
            others = self._other_world(func, args, kwargs) or self._other_meant(short, args, kwargs)
        pinned, note = self._meet(short, leaves, infos) if not constant else ("", None)
        if constant:
            pins = {info.pinned for info in infos if info.pinned}
            pinned = (
                pins.pop() if len(pins) == 1 and all(i.pinned or not t.dim() for i, t in zip(infos, leaves)) else ""
            )
        if changed:
            self._changed(leaves[0], infos, constant=constant, marked=marked, reshaped=short in _RESHAPING)
        old = infos[0]
        for index, output in enumerate(outputs):
            info = self._new(output)
            # Real after a call on meta tensors: made from sizes alone.
            info.constant = not output.is_meta
            info.invented = old.invented if changed and output is leaves[0] else marked
            info.pinned = "" if not output.dim() else pinned
            info.device = moved or old.device
            if moved is not None or short in ("to", "cuda", "cpu", "type_as", "type"):
                info.pinned = "cuda" if short == "cuda" else ""
            if index < len(others):
                info.other = others[index]
            if old.twin is not None and output is leaves[0]:
                info.twin = old.twin
        self._record(_OPCODE[kind], func, name, args, kwargs, result, outputs, notes=[note] if note else [])
        return result

    def _changed(
        self, target: torch.Tensor, infos: list[Info], *, constant: bool, marked: bool, reshaped: bool = False
    ) -> None:
        """A tensor that was changed in place by data isn't a constant any more."""
        info = infos[0]
        if not constant and info.constant:
            info.constant = False
            if info.twin is None:
                info.twin = to_meta(target)
        # What is written into it may be of any size: its own shape stays.
        info.invented = info.invented or (marked and reshaped)
        if info.pinned and any(not other.pinned for other in infos[1:]):
            info.pinned = ""

    def _meet(self, short: str, leaves: list[torch.Tensor], infos: list[Info]) -> tuple[str, Any]:
        """Where the result lives, and the note that says that tensors on different devices met."""
        pins = [(leaf, info) for leaf, info in zip(leaves, infos) if info.pinned]
        if not pins:
            return "", None
        free = [(leaf, info) for leaf, info in zip(leaves, infos) if not info.pinned and leaf.dim()]
        if not free:
            return (pins[0][1].pinned if len(pins) == len(leaves) else ""), None
        if short in MIXED_DEVICES:
            return "", None
        values = (pins[0][1].value, free[0][1].value)
        return "", ("device", values, pins[0][1].pinned)

    def _elsewhere(self, tensor: torch.Tensor) -> torch.Tensor:
        info = self.info(tensor)
        return info.other if info.other is not None else self.meta(tensor)

    def _other_world(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor] | None:
        """The results under the other repair of a fault upstream; None where the call doesn't work there."""
        try:
            result = func(*map_tensors(args, self._elsewhere), **map_tensors(kwargs, self._elsewhere))
        except Exception:  # noqa: BLE001  # only the first world is reported; this one is a question
            return None
        found: list[torch.Tensor] = []
        tensors_in(result, found)
        return found

    def _other_meant(self, short: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """What a call that works only in the first world means in the other one, where that can be assumed."""
        meant = recover.meant(short, map_tensors(args, self._elsewhere), map_tensors(kwargs, self._elsewhere))
        if meant is None:
            return []
        found: list[torch.Tensor] = []
        tensors_in(meant[1] or meant[0], found)
        return found

    # --------------------------------------------------------------------------------------------------- failing

    def _failed(
        self,
        func: Any,
        what: tuple[str, str, str],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: list[torch.Tensor],
        infos: list[Info],
        error: BaseException,
    ) -> Any:
        """A call that raised: a failed-shape node, whose result is what the code plainly meant."""
        if handlers.handled(frames.user_stack(sys._getframe(1)), error):
            raise error
        kind, name, short = what
        marked = any(info.invented for info in infos) or self._invented_call(args, kwargs, leaves)
        suspect = marked and not (short in PRODUCTS and self._fails_anyway(func, args, kwargs, leaves, infos))
        excused = False
        if any(info.other is not None for info in infos):
            excused = self._other_world(func, args, kwargs) is not None
        meant = recover.meant(short, map_tensors(args, self.meta), map_tensors(kwargs, self.meta))
        doubt = Doubt(error, excused) if suspect or excused else None
        self.inner_doubt = self.inner_doubt or doubt
        if meant is None:
            return self._unknown(func, what, args, kwargs, leaves, error=error, doubt=doubt)
        result, others = self._with_history(meant[0], leaves), meant[1]
        outputs: list[torch.Tensor] = []
        changed = _changes_first(short) and bool(leaves) and isinstance(args[0] if args else None, torch.Tensor)
        if changed:
            self._changed(args[0], infos, constant=False, marked=marked, reshaped=short in _RESHAPING)
            result = args[0] if short != "__setitem__" else None
        tensors_in(result, outputs)
        for index, output in enumerate(outputs):
            info = self._new(output)
            info.invented = marked
            info.other = others[index] if index < len(others) and not changed else None
        if doubt is None:
            self._note_error(name, error)
        self._record(
            _OPCODE[kind],
            func,
            name,
            args,
            kwargs,
            result,
            outputs,
            error=None if doubt else error,
            doubt=doubt,
        )
        return result

    def _with_history(self, result: Any, leaves: list[torch.Tensor]) -> Any:
        """An assumed result, made to hang on what the call was given: it can be differentiated, as the real one could."""
        roots = [self.meta(leaf) for leaf in leaves if leaf.requires_grad]
        if not roots or not torch.is_grad_enabled():
            return result
        tie = torch.stack([root.sum().float() for root in roots]).sum()
        return map_tensors(result, lambda t: t + tie.to(t.dtype) if t.is_floating_point() else t)

    def _fails_anyway(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[torch.Tensor], infos: list[Info]
    ) -> bool:
        """Whether a call on values of made-up sizes fails whatever these sizes really are: then they aren't why."""
        if not self.lossy or invented.is_invented(args) or invented.is_invented(tuple(kwargs.values())):
            return False
        if any(info.invented and not self._lossy_in(tuple(leaf.shape)) for leaf, info in zip(leaves, infos)):
            return False
        sizes = {1}.union(*[leaf.shape for leaf in leaves])

        def works(count: int) -> bool:
            def change(tensor: torch.Tensor) -> torch.Tensor:
                return empty([self._recounted(size, count) for size in tensor.shape], tensor.dtype)

            try:
                func(*map_tensors(args, change), **map_tensors(kwargs, change))
            except Exception:  # noqa: BLE001  # asked for nothing but whether it works
                return False
            return True

        return not any(works(count) for count in sizes if count >= 0)

    def _recounted(self, size: int, count: int) -> int:
        """``size`` with each made-up number in it replaced by ``count``."""
        for number in self.lossy:
            if size and size % number == 0:
                size = size // number * count
        return size

    def _note_error(self, name: str, error: BaseException) -> None:
        if self.quiet and self.inner_error is None:
            self.inner_error = (name, error)

    def _gap(
        self,
        func: Any,
        what: tuple[str, str, str],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: list[torch.Tensor],
        infos: list[Info],
        error: BaseException,
    ) -> Any:
        """Torch has no meta kernel for this call: its result is assumed, and where it can't be, that is said."""
        meant = recover.meant(what[2], map_tensors(args, self.meta), map_tensors(kwargs, self.meta))
        if meant is None:
            return self._unknown(func, what, args, kwargs, leaves, report=True, text=str(error).split("\n")[0])
        return self._done(func, what, args, kwargs, leaves, infos, meant[0], (args, False, None))

    def _unknown(
        self,
        func: Any,
        what: tuple[str, str, str],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        leaves: list[torch.Tensor],
        *,
        error: BaseException | None = None,
        doubt: Doubt | None = None,
        report: bool = False,
        text: str = "",
    ) -> Any:
        """A value of unknown shape that flows on silently."""
        kind, name, short = what
        if _changes_first(short) and leaves:
            result: Any = None if short == "__setitem__" else args[0]
            if not self.info(leaves[0]).unknown:
                infos = [self.info(leaf) for leaf in leaves]
                self._changed(leaves[0], infos, constant=False, marked=True, reshaped=short in _RESHAPING)
        else:
            result = without_shape(short, args, kwargs)
        outputs: list[torch.Tensor] = []
        tensors_in(result, outputs)
        for output in outputs:
            info = self._new(output)
            info.unknown = type(output) is MetaTensorProxy
            info.invented = True
        if doubt is not None:
            error = None
        if error is not None:
            self._note_error(name, error)
        notes = [("unknown", (), text)] if report else []
        if report and self.quiet:
            self.inner_notes += notes
        self._record(_OPCODE[kind], func, name, args, kwargs, result, outputs, error=error, doubt=doubt, notes=notes)
        return result

    # ------------------------------------------------------------------------------------------------- recording

    def _new(self, tensor: torch.Tensor) -> Info:
        info = Info(self, -1)
        tensor.__dict__[KEY] = info
        return info

    def _record(
        self,
        opcode: str,
        func: Any,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        outputs: list[torch.Tensor],
        *,
        error: BaseException | None = None,
        doubt: Doubt | None = None,
        notes: list[Any] | None = None,
    ) -> None:
        if self.quiet:
            if notes:
                self.inner_notes += notes
            return
        stack = frames.user_stack(sys._getframe(2))
        module = self.modules[-1] if self.modules else None
        op = Op(opcode, func, name, module, stack, args, kwargs, error=error, doubt=doubt)
        self.record(op, result, outputs, notes)

    def record(
        self, op: Op, result: Any, outputs: list[torch.Tensor], notes: list[Any] | None = None, *, ready: bool = False
    ) -> None:
        """Adds ``op`` to the log; its arguments become Refs (unless ``ready``), and its outputs values of the log."""
        if not ready:
            op.args, op.kwargs = map_tensors(op.args, self.ref), map_tensors(op.kwargs, self.ref)
        number = len(self.log.ops)
        made = []
        for output in outputs:
            info = self.info(output)
            shape = None if info.unknown else tuple(output.shape)
            info.value = self.log.add_value(output, shape, str(output.dtype)[6:], "op", number)
            value = self.log.values[info.value]
            value.pinned = info.pinned
            made.append(info.value)
        op.outputs = tuple(made)
        op.result = map_tensors(result, self.ref) if made else None
        op.notes = notes or []
        self.log.ops.append(op)

    def ref(self, tensor: torch.Tensor) -> Ref:
        """The log's reference to ``tensor``."""
        info = self.info(tensor)
        if info.value < 0:
            # Made inside a layer and kept by it, as a hook may do.
            info.value = self.log.add_value(tensor, tuple(tensor.shape), str(tensor.dtype)[6:], "layer", -1)
        return Ref(info.value)

    def same(self, old: torch.Tensor, new: torch.Tensor) -> None:
        """Makes ``new`` known as what ``old`` is."""
        known, info = self.info(old), Info(self, -1)
        for name in Info.__slots__:
            setattr(info, name, getattr(known, name))
        new.__dict__[KEY] = info

    def unknown_value(self) -> MetaTensorProxy:
        """A new value of unknown shape."""
        value = MetaTensorProxy.without_shape()
        info = self._new(value)
        info.unknown = info.invented = True
        return value

    def moved_along(self, buffer: torch.Tensor) -> None:
        """``buffer`` goes where its module goes, though that module isn't one of the model's."""
        info = self.info(buffer)
        info.pinned = self.log.values[info.value].pinned = ""

    def assumed(self, tensor: torch.Tensor, *, marked: bool) -> None:
        """Marks ``tensor`` as the assumed result of a layer that refused its input."""
        info = self.info(tensor)
        info.invented = info.invented or marked
        info.pinned = ""

    # -------------------------------------------------------------------------------------------------- invented

    def lossy_shapes(self, leaves: list[torch.Tensor]) -> bool:
        """Whether a size of one of these tensors comes from an invented number that lost its mark."""
        return bool(self.lossy) and any(self._lossy_in(tuple(leaf.shape)) for leaf in leaves)

    def _invented_call(self, args: tuple[Any, ...], kwargs: dict[str, Any], leaves: list[torch.Tensor]) -> bool:
        if invented.is_invented(args) or (kwargs and invented.is_invented(tuple(kwargs.values()))):
            return True
        if not self.lossy:
            return False
        return self._lossy_in(args) or any(self._lossy_in(tuple(leaf.shape)) for leaf in leaves)

    def _lossy_in(self, tree: Any) -> bool:
        """Whether a number in ``tree`` comes from one that was invented and lost its mark, as ``int(t)`` loses it."""
        if not self.lossy:
            return False
        if type(tree) is int:
            return any(tree and tree % number == 0 for number in self.lossy)
        if isinstance(tree, (tuple, list)):
            return any(self._lossy_in(item) for item in tree)
        return type(tree) is slice and self._lossy_in((tree.start, tree.stop, tree.step))

    def number(self, frame: Any) -> int:
        """The number to make up at the place ``frame`` stands at: the same one at the same place, a prime."""
        stack = frames.user_stack(frame)
        site = stack[-1] if stack else None
        if site not in self.names:
            self.names[site] = self.fresh()
            # It comes back as a size, without a mark: what only goes wrong because of it is no fault.
            self.lossy.add(self.names[site])
        return self.names[site]

    def chosen(self, mask: torch.Tensor, frame: Any) -> int:
        """How many elements ``mask`` chooses: made up, and the same each time it is used."""
        key = id(self.info(mask))
        if key not in self.masks:
            self.masks[key] = self.number(frame)
        return self.masks[key]


_OPCODE = {METHOD: "call_method", GETTER: "call_function", "function": "call_function"}
_INDEXING = frozenset(("__getitem__", "__setitem__"))
_RESHAPING = frozenset(
    "resize_ resize_as_ set_ squeeze_ unsqueeze_ t_ transpose_ swapaxes_ swapdims_ as_strided_".split()
)
"""Calls that change a tensor in place, and its shape too."""

_MOVING = frozenset("to cuda cpu type xpu".split())
_FACTORY: dict[str, tuple[str, ...]] = dict.fromkeys(
    "zeros ones full empty eye arange range linspace logspace empty_strided zeros_like hann_window hamming_window blackman_window bartlett_window kaiser_window tril_indices triu_indices complex".split(),
    ("dtype",),
)


def _changes_first(short: str) -> bool:
    return short == "__setitem__" or (short.endswith("_") and not short.endswith("__") and not short.startswith("_"))
