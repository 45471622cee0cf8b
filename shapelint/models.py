"""One configured model: what to build, what to call, and with which inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapelint.limits import NO_LIMITS, SHARED_KEYS, Limits, read_limits
from shapelint.records import Case, InputTree, TensorSpec
from shapelint.specs import SpecError, is_call, parse_input, parse_tensor, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapelint.table import Table

_EXAMPLE = 'inputs = { x = "float32[B, 3, 224, 224]" }'
MODEL_KEYS = ("target", "args", "kwargs", "method", "modes", "inputs", "outputs", "explore", *SHARED_KEYS)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One configured model. ``limits`` go before the project's; ``line`` is where the file names it, 0 if unknown.

    ``assumed`` says what was inferred of the inputs of a model that nobody configured, "" where they are stated.
    """

    target: str
    cases: tuple[Case, ...]
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    method: str = "forward"
    modes: tuple[str, ...] = ("eval", "train")
    outputs: tuple[TensorSpec, ...] | None = None
    explore: bool = False
    limits: Limits = NO_LIMITS
    line: int = 0
    assumed: str = ""


def read_model(table: Table) -> ModelConfig:
    """The model that one entry of ``models`` describes. Raises ConfigError for an entry that can't be meant."""
    table.expect(MODEL_KEYS)
    args = table.value("args", list) or []
    kwargs = table.value("kwargs", dict) or {}
    return ModelConfig(
        target=_target(table),
        cases=_cases(table),
        args=tuple([_plain(table, item, "args", n) for n, item in enumerate(args)]),
        kwargs=tuple([(name, _plain(table, item, "kwargs", name)) for name, item in kwargs.items()]),
        method=_method(table),
        modes=_modes(table),
        outputs=_outputs(table),
        explore=bool(table.value("explore", bool)),
        limits=read_limits(table),
        line=table.line("target"),
    )


def _target(table: Table) -> str:
    target = table.string("target")
    if target is None:
        raise table.error('target is missing: write target = "package.module:Class"')
    if is_call(target):
        return target
    module, _, name = target.replace("/", ".").replace(".py:", ":").rpartition(":" if ":" in target else ".")
    guess = f"{module.strip('.').removesuffix('.py')}:{name}"
    hint = f'; did you mean "{guess}"?' if is_call(guess) else ""
    raise table.error(
        f'"{target}" is no target: it is written module:Class, as in "models.resnet:ResNet18"{hint}', "target"
    )


def _method(table: Table) -> str:
    method = table.string("method") or "forward"
    if not method.isidentifier():
        raise table.error(f'"{method}" is no name of a method', "method")
    return method


def _modes(table: Table) -> tuple[str, ...]:
    modes = table.strings("modes")
    if modes == ():
        raise table.error('no mode is left to check: write ["eval"], ["train"] or both', "modes")
    for mode in modes or ():
        if mode not in {"eval", "train"}:
            hint = suggestion(mode, ["eval", "train"]) or '; known are "eval" and "train"'
            raise table.error(f'"{mode}" is no mode{hint}', "modes")
    return tuple(dict.fromkeys(modes or ("eval", "train")))


def _cases(table: Table) -> tuple[Case, ...]:
    value = table.value("inputs", dict, list, str)
    if value is None:
        raise table.error(f"inputs are missing: write {_EXAMPLE}")
    if isinstance(value, list):
        if not value:
            raise table.error(f"an empty array holds no case: write {_EXAMPLE}", "inputs")
        return tuple([_case(table, item, "inputs", n) for n, item in enumerate(value)])
    return (_case(table, value, "inputs"),)


def _case(table: Table, value: Any, *key: str | int) -> Case:
    if isinstance(value, str):
        if is_call(value):
            return Case(call=value)
        raise table.error(
            f'"{value}" is no function that makes inputs ("module:function"); to name a tensor, write {_EXAMPLE}', *key
        )
    if not isinstance(value, dict):
        raise table.error(f"a case is a table of inputs: write {_EXAMPLE}", *key)
    return Case(tuple([(name, _input(table, value, name, key)) for name in value]))


def _input(table: Table, case: Mapping[str, Any], name: str, key: tuple[str | int, ...]) -> InputTree:
    value = case[name]
    if name.startswith("**"):
        if not isinstance(value, dict):
            raise table.error('** passes a table, as in { mask = "bool[B, T]" }', *key, name)
    elif name.startswith("*") and not isinstance(value, list):
        raise table.error('* passes an array, as in ["float32[B, 4]", "float32[B, 8]"]', *key, name)
    if not name.removeprefix("*").removeprefix("*").isidentifier():
        raise table.error("that is no name of a parameter", *key, name)
    try:
        return parse_input(value)
    except SpecError as error:
        raise table.error(str(error), *key, name) from error


def _outputs(table: Table) -> tuple[TensorSpec, ...] | None:
    specs = table.strings("outputs", single=True)
    try:
        return None if specs is None else tuple([parse_tensor(spec, wildcard=True) for spec in specs])
    except SpecError as error:
        raise table.error(str(error), "outputs") from error


def _plain(table: Table, value: Any, *key: str | int) -> Any:
    """The constructor argument itself; "None" and { value = "text" } mean what they mean among the inputs."""
    if value == "None":
        return None
    if isinstance(value, list):
        return [_plain(table, item, *key, n) for n, item in enumerate(value)]
    if isinstance(value, dict):
        if set(value) == {"value"} and isinstance(value["value"], str):
            return value["value"]
        return {name: _plain(table, item, *key, name) for name, item in value.items()}
    if isinstance(value, (str, bool, int, float)):
        return value
    raise table.error(f'a {type(value).__name__} can\'t be passed to a model; write it as text: "{value}"', *key)
