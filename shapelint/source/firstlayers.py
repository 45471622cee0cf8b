"""What a model wants, from the first layer that an input reaches: ``nn.Conv2d(3, …)`` takes ``[B, 3, H, W]``."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shapelint.source.classes import ModuleClass, class_at, mentioned
from shapelint.source.names import Defined
from shapelint.source.ranks import shaped
from shapelint.source.tree import dotted, expressions, last_name, statements
from shapelint.source.values import UNKNOWN, Values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapelint.source.names import Project
    from shapelint.source.tree import FunctionNode

_DEPTH = 6  # of models inside models
_SPACE = {"1d": ("L",), "2d": ("H", "W"), "3d": ("D", "H", "W")}
_SAME = {"relu", "gelu", "silu", "tanh", "sigmoid", "leaky_relu", "dropout", "normalize", "elu", "log", "exp", "abs"}
_SAME |= {"contiguous", "to", "float", "cuda", "cpu", "clone", "detach", "type_as", "half", "double", "requires_grad_"}
_QUIET = {"shape", "size", "dim", "ndim", "device", "dtype", "numel", "is_cuda", "requires_grad", "new_zeros", "stride"}
_QUIET_CALLS = {"len", "isinstance", "print", "is_tensor", "zeros_like", "ones_like", "size"}
_PASSING = {"Identity", "Dropout", "ReLU", "GELU", "SiLU", "Tanh", "Sigmoid", "LeakyReLU", "Dropout2d", "ELU", "Mish"}
_SEQUENCE = re.compile(r"MultiheadAttention|TransformerEncoder|TransformerDecoder|nn\.(LSTM|GRU|RNN)\b")
_POOLED = re.compile(
    r"Adaptive(Avg|Max)Pool|adaptive_(avg|max)_pool|\.(mean|amax)\((dim=|axis=)?[\[(]|Global\w*Pool|LazyLinear"
)
_EXTENT = re.compile(r"(img|image|input|in)_?(size|res|resolution)|resolution")
_SCALED = re.compile(r"Pool\dd|pool\dd|stride|ConvTranspose|Upsample|interpolate|PixelShuffle")


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer's constructor call, with the file and the values it was written among."""

    path: str
    call: ast.Call
    values: Values


@dataclass(slots=True)
class _Model:
    """A class with its constructor followed: what ``self.fc1`` is."""

    owner: ModuleClass
    values: Values
    layers: dict[str, _Layer] = field(default_factory=dict)


class FirstLayers:
    """Looks inputs up through the layers of a project's models."""

    def __init__(self, project: Project) -> None:
        """Reads nothing before it is asked."""
        self.project = project

    def spec(self, owner: ModuleClass, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """The tensor that the first layer reached by the parameter ``name`` of ``forward`` wants, "" if unclear."""
        found = owner.method("forward")
        init = owner.method("__init__")
        if found is None:
            return ""
        bound = bind(init[1], args, kwargs) if init else {}
        return self._through(owner, found[1], name, bound, _DEPTH)

    def sequence_first(self, owner: ModuleClass) -> bool:
        """Whether a layer of the model takes ``[T, B, F]`` because nothing says ``batch_first=True``."""
        return self._has(owner, _SEQUENCE) and not self._has(owner, re.compile(r"batch_first=True"))

    def _through(self, owner: ModuleClass, forward: FunctionNode, name: str, bound: dict[str, Any], depth: int) -> str:
        model = self._model(owner, bound)
        aliases = {name}
        for statement in statements(forward):
            if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
                listed = _element(model.layers.get(dotted(statement.iter)))
                if listed:
                    model.layers[statement.target.id] = listed
            parents: dict[int, ast.AST] = {
                id(c): n for n in (statement, *expressions(statement)) for c in ast.iter_child_nodes(n)
            }
            for use in _uses(statement, aliases):
                outcome = self._use(model, forward, use, parents, depth)
                if outcome is not None:
                    return outcome
                target = _assigned_whole(statement, use, parents)
                aliases |= {target} if target else set()
        return ""

    def _use(  # noqa: C901, PLR0911, PLR0912  # one answer a kind of use
        self, model: _Model, forward: FunctionNode, use: ast.expr, parents: dict[int, ast.AST], depth: int
    ) -> str | None:
        """What the layer around a use of the input wants; "" where that ends the search, None where it goes on."""
        node: ast.AST = use
        flat = False
        while True:
            parent = parents.get(id(node))
            match parent:
                case ast.Attribute(attr=attr):
                    if attr in _QUIET:
                        return None
                    call = parents.get(id(parent))
                    flat = flat or attr in {"view", "flatten", "reshape"}
                    if not isinstance(call, ast.Call) or not (attr in _SAME or _flattens(call)):
                        return ""
                    node = call
                case ast.Call(func=func, args=args) if node in args:
                    layer = model.layers.get(dotted(func))
                    if layer:
                        wanted = self._wanted(model.owner, layer, args.index(node), depth, flat=flat)
                        return self._ranked(wanted, forward, use) if wanted else ""
                    if last_name(func) in _QUIET_CALLS:
                        return None
                    if _flattens(parent):
                        flat = True
                    elif last_name(func) not in _SAME:
                        return ""
                    node = parent
                case ast.BinOp(left=left, right=right):
                    other = right if node is left else left
                    if not isinstance(other, ast.Constant):
                        return ""
                    node = parent
                case ast.Compare() | ast.Assign() | ast.If() | ast.Assert() | ast.BoolOp() | ast.UnaryOp():
                    return None
                case _:
                    return ""

    def _ranked(self, wanted: list[str], forward: FunctionNode, use: ast.expr) -> str:
        """The spec; of a layer over the last axis with as many dims as ``forward`` unpacks the shape into."""
        dtype, *dims = wanted
        for statement in statements(forward):
            match statement:
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=value) if shaped(value) == ast.unparse(use):
                    if len(dims) != len(names) and dims[0] == "B" and len(dims) < 4 and len(names) > 1:  # noqa: PLR2004
                        middle = ["T", "S", "R"][: len(names) - 2]
                        dims = ["B", *middle, dims[-1]]
                case _:
                    continue
        return f"{dtype}[{', '.join(dims)}]"

    def _wanted(  # noqa: C901, PLR0911  # one answer a kind of layer
        self, owner: ModuleClass, layer: _Layer, position: int, depth: int, *, flat: bool
    ) -> list[str] | None:
        what = self.project.resolve(layer.path, dotted(layer.call.func))
        if isinstance(what, Defined):
            return self._inside(what, layer, position, depth)
        kind = what.rpartition(".")[2]
        if not what.startswith("torch.nn"):
            return None
        if kind == "Sequential":
            return self._sequence(owner, layer, depth, flat=flat)
        first = layer.values.plain(layer.call.args[0]) if layer.call.args else UNKNOWN
        for keyword in layer.call.keywords:
            if keyword.arg in {"in_channels", "in_features", "num_features", "input_size", "num_embeddings"}:
                first = layer.values.plain(keyword.value)
        if kind == "Embedding":
            return ["int64", "B", "T"]
        if type(first) is not int:
            return None
        size = str(first)
        if kind == "Linear":
            return ["float32", "B", "T", size] if self._has(owner, _SEQUENCE) and not flat else ["float32", "B", size]
        if kind in {"LSTM", "GRU", "RNN"}:
            ahead = any(k.arg == "batch_first" and layer.values.plain(k.value) is True for k in layer.call.keywords)
            return ["float32", "B", "T", size] if ahead else ["float32", "T", "B", size]
        if re.fullmatch(r"(Conv|ConvTranspose|BatchNorm|InstanceNorm)[123]d", kind) and not flat:
            return self._spatial(owner, size, _SPACE[kind[-2:]], layer.values)
        return None

    def _spatial(self, owner: ModuleClass, channels: str, axes: tuple[str, ...], values: Values) -> list[str] | None:
        """Batch, channels and extents: nothing where a linear layer behind it fixes an extent that isn't written."""
        known = next((v for n, v in values.names.items() if _EXTENT.fullmatch(n) and type(v) is int), None)
        if known:
            return ["float32", "B", channels, *[str(known)] * len(axes)]
        if self._has(owner, re.compile(r"\bLinear\(")) and not self._has(owner, _POOLED):
            return None
        # Halving and doubling seldom fit every size; one that people use says less, and nothing wrong.
        sizes = ["224"] * len(axes) if self._has(owner, _SCALED) and len(axes) < 3 else list(axes)  # noqa: PLR2004
        return ["float32", "B", channels, *sizes]

    def _sequence(self, owner: ModuleClass, layer: _Layer, depth: int, *, flat: bool) -> list[str] | None:
        items: list[ast.expr] = list(layer.call.args)
        match items:
            case [ast.Call(func=func, args=[ast.List(elts=pairs)])] if last_name(func) == "OrderedDict":
                items = [p.elts[-1] for p in pairs if isinstance(p, ast.Tuple) and p.elts]
            case _:
                pass
        for item in items:
            if not isinstance(item, ast.Call):
                return None
            kind = last_name(item.func)
            if kind in _PASSING:
                continue
            if kind == "Flatten":
                flat = True
                continue
            return self._wanted(owner, _Layer(layer.path, item, layer.values), 0, depth, flat=flat)
        return None

    def _inside(self, what: Defined, layer: _Layer, position: int, depth: int) -> list[str] | None:
        """What a layer of the project's own wants, found in its own ``forward``."""
        inner = class_at(self.project, what)
        forward = inner.method("forward") if inner else None
        init = inner.method("__init__") if inner else None
        if inner is None or forward is None or depth == 0:
            return None
        names = [a.arg for a in forward[1].args.args[1:]]
        if position >= len(names):
            return None
        args = tuple([layer.values.plain(a) for a in layer.call.args])
        kwargs = {k.arg: layer.values.plain(k.value) for k in layer.call.keywords if k.arg}
        bound = bind(init[1], args, kwargs) if init else {}
        spec = self._through(inner, forward[1], names[position], bound, depth - 1)
        dtype, _, rest = spec.partition("[")
        return [dtype, *rest.rstrip("]").split(", ")] if spec else None

    def _model(self, owner: ModuleClass, bound: dict[str, Any]) -> _Model:
        """The layers that the constructor makes, those of base classes first."""
        model = _Model(owner, Values(dict(bound)))
        for one in (*reversed(owner.bases), owner.defined):
            values = model.values if one is owner.defined else Values()
            for function in one.node.body:
                if isinstance(function, ast.FunctionDef) and function.name == "__init__":
                    _constructed(model, one.path, function, values)
        return model

    def _has(self, owner: ModuleClass, pattern: re.Pattern[str]) -> bool:
        """Whether the text of a model, with all parts and bases in the project, has something."""
        seen: dict[tuple[str, str], Defined] = {}
        waiting = [owner.defined, *owner.bases]
        while waiting:
            one = waiting.pop()
            if one.key not in seen:
                seen[one.key] = one
                if pattern.search(ast.unparse(one.node)):
                    return True
                waiting += list(mentioned(self.project, one))
        return False


def bind(function: FunctionNode, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What each parameter of a constructor holds; ``self`` left out, UNKNOWN where the text doesn't tell."""
    spec = function.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)][1:]
    defaults = dict(zip(names[::-1], [*spec.defaults[::-1]]))
    defaults |= {a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None}
    bound = {name: Values().plain(node) for name, node in defaults.items()}
    return {**bound, **dict(zip(names, args)), **kwargs}


def _constructed(model: _Model, path: str, function: ast.FunctionDef, values: Values) -> None:
    for statement in statements(function):
        match statement:
            case ast.Assign(targets=[ast.Attribute() as target], value=ast.Call() as call):
                model.layers[dotted(target)] = _Layer(path, call, Values(dict(values.names)))
            case _:
                pass
        values.take(statement)


def _element(layer: _Layer | None) -> _Layer | None:
    """The first layer of a ModuleList that is written out."""
    match layer.call.args if layer and last_name(layer.call.func) in {"ModuleList", "Sequential"} else []:
        case [ast.List(elts=[ast.Call() as first, *_]), *_] if layer:
            return _Layer(layer.path, first, layer.values)
        case _:
            return None


def _uses(statement: ast.stmt, aliases: set[str]) -> Iterator[ast.expr]:
    found = [n for n in expressions(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    yield from sorted((n for n in found if n.id in aliases), key=lambda n: (n.lineno, n.col_offset))


def _assigned_whole(statement: ast.stmt, use: ast.expr, parents: dict[int, ast.AST]) -> str:
    """The name that a statement gives to the input, where it changes nothing of its shape."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            node: ast.AST | None = parents.get(id(use))
            while isinstance(node, (ast.Call, ast.BinOp)) or (isinstance(node, ast.Attribute) and node.attr in _SAME):
                node = parents.get(id(node))
            return name if node is statement else ""
        case _:
            return ""


def _flattens(call: ast.Call) -> bool:
    """Whether a call keeps the first axis and joins the others: ``flatten(1)``, ``view(x.size(0), -1)``."""
    name = last_name(call.func)
    own = call.args if not dotted(call.func).startswith("torch.") else call.args[1:]
    own = [*own, *(k.value for k in call.keywords if k.arg == "start_dim")]
    last = own[-1] if own else None
    if name == "flatten":
        return isinstance(last, ast.Constant) and last.value == 1
    # Both (x.size(0), -1) and (-1, 784) leave [B, 784] as it is.
    rest = any(isinstance(a, ast.UnaryOp) and isinstance(a.op, ast.USub) for a in own)
    return name in {"view", "reshape"} and len(own) == 2 and rest  # noqa: PLR2004  # the batch and the rest
