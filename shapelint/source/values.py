"""Plain values and tensors that a script writes down, read from its text."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shapelint.source.declared import batch_name
from shapelint.source.tree import dotted, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

UNKNOWN = object()
"""What stands for a value that the text doesn't tell; None is one that it does."""

_FACTORIES = {"randn", "rand", "zeros", "ones", "empty", "normal", "full"}
_KEPT = {"to", "cuda", "cpu", "contiguous", "requires_grad_", "clone", "detach"}
_CASTS = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "bool": "bool"}
_DTYPES = {"float", "float32", "float64", "float16", "bfloat16", "long", "int64", "int32", "int", "bool", "uint8"}


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a script: dtype, sizes, and the names that the sizes had in the text ("" for a number)."""

    dtype: str
    sizes: tuple[int, ...]
    names: tuple[str, ...]

    def spec(self, *, batch: bool) -> str:
        """The tensor as the configuration writes it; with ``batch`` its first dim is B."""
        dims = [str(size) for size in self.sizes]
        if dims and (batch or batch_name(self.names[0], 0) == "B"):
            dims[0] = "B"
        return f"{self.dtype}[{', '.join(dims)}]"


@dataclass(slots=True)
class Values:
    """What names hold at the end of a block of statements, as far as they are plain values, tensors or calls."""

    names: dict[str, Any] = field(default_factory=dict)

    def take(self, statement: ast.stmt) -> None:
        """Follows one statement."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.names[name] = self.value(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self.names[name] = self.value(value)
            case ast.Assign(targets=[ast.Attribute() as attribute], value=value) if dotted(attribute):
                self.names[dotted(attribute)] = self.value(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                if len(targets) == len(values):
                    for target, value in zip(targets, values):
                        if isinstance(target, ast.Name):
                            self.names[target.id] = self.value(value)
            case _:
                return

    def value(self, node: ast.expr) -> Any:  # noqa: PLR0911  # one answer a kind of expression
        """The value of an expression: plain, a `Tensor`, the call itself where it makes another thing, or UNKNOWN."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name, UNKNOWN)
            case ast.Attribute():
                return self.names.get(dotted(node), UNKNOWN)
            case ast.Call():
                tensor = self.tensor(node)
                return tensor if tensor is not None else self._call(node)
            case ast.BinOp(left=left, op=op, right=right):
                return _arithmetic(self.value(left), op, self.value(right))
            case ast.Tuple(elts=items) | ast.List(elts=items):
                values = [self.value(item) for item in items]
                return UNKNOWN if any(v is UNKNOWN for v in values) else values
            case _:
                try:
                    return ast.literal_eval(node)
                except (ValueError, TypeError, SyntaxError, RecursionError):
                    return UNKNOWN

    def plain(self, node: ast.expr) -> Any:
        """The value where it is a number, a text, None, or a list of these; else UNKNOWN."""
        value = self.value(node)
        return value if _is_plain(value) else UNKNOWN

    def tensor(self, node: ast.expr) -> Tensor | None:
        """The tensor that an expression makes, such as ``torch.randn(2, 3)``, or None."""
        if isinstance(node, ast.Name):
            held = self.names.get(node.id)
            return held if isinstance(held, Tensor) else None
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute) and not dotted(node.func).startswith("torch."):
            inner = self.tensor(node.func.value)
            cast = _CASTS.get(node.func.attr, "")
            if inner and (cast or node.func.attr in _KEPT):
                return Tensor(cast or inner.dtype, inner.sizes, inner.names)
            return None
        return self._factory(node, dotted(node.func).rpartition(".")[2])

    def _factory(self, node: ast.Call, name: str) -> Tensor | None:
        keywords = {k.arg: k.value for k in node.keywords if k.arg}
        args = list(node.args)
        default = "float32"
        if name == "randint":
            args, default = args[-1:], "int64"
        elif name not in _FACTORIES:
            return None
        elif name == "full":
            args = args[:1]
        if "size" in keywords:
            args = [keywords["size"]]
        if len(args) == 1 and isinstance(args[0], (ast.Tuple, ast.List)):
            args = list(args[0].elts)
        sizes = [self.value(a) for a in args]
        if not all(type(s) is int for s in sizes):
            return None
        names = tuple([a.id if isinstance(a, ast.Name) else "" for a in args])
        asked = dotted(keywords["dtype"]).rpartition(".")[2] if "dtype" in keywords else default
        dtype = {"float": "float32", "long": "int64", "int": "int32"}.get(asked, asked)
        return Tensor(dtype, tuple(sizes), names) if asked in _DTYPES else None

    def _call(self, node: ast.Call) -> Any:
        """The call itself, so that the class it builds can be looked up; moves to a device or a mode are dropped."""
        while isinstance(node.func, ast.Attribute) and node.func.attr in {*_KEPT, "eval", "train"}:
            if not isinstance(node.func.value, ast.Call):
                return self.value(node.func.value)
            node = node.func.value
        return node


def blocks(module: ast.Module) -> Iterator[list[ast.stmt]]:
    """The stretches of a file that run as a script or a test, each with the constants of the file before it."""
    constants = [s for s in module.body if isinstance(s, (ast.Assign, ast.AnnAssign))]
    for statement in module.body:
        match statement:
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                yield [*constants, *statements(statement)]
            case ast.FunctionDef(name=name) if name.startswith(("test", "main", "demo", "example", "run", "_test")):
                yield [*constants, *statements(statement)]
            case ast.ClassDef(name=name) if name.startswith("Test"):
                for method in statement.body:
                    if isinstance(method, ast.FunctionDef) and method.name.startswith("test"):
                        yield [*constants, *statements(method)]
            case _:
                continue
    yield [s for s in module.body if not isinstance(s, (ast.If, ast.FunctionDef, ast.ClassDef, ast.Import))]


def _arithmetic(left: Any, op: ast.operator, right: Any) -> Any:
    if type(left) is not int or type(right) is not int:
        return UNKNOWN
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv() if right:
            return left // right
        case _:
            return UNKNOWN


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_plain(v) for v in value)
    return value is None or isinstance(value, (bool, int, float, str))
