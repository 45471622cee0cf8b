"""Words for operands of the wrong dtype."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapelint.checks.call import Call
    from shapelint.records import Argument

_MIXED = re.compile(
    r"must have the same dtype|should be the same|expected .* to have the same dtype|expected scalar type \w+ but found",
    re.IGNORECASE,
)
_INDEX = re.compile(
    r"scalar types: Long, Int|dtype int\S* for index|long tensor for index|to be an integer tensor|index tensor of type|tensors used as indices must be",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"not implemented for '(\w+)'")
_WHOLE = re.compile(
    r"could not infer output dtype|must be either a floating point|only supports? floating|std and var only"
)
_TARGETS = frozenset(("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss"))
_LAYERS = {"Embedding": 0, "EmbeddingBag": 0, "embedding": 0, "embedding_bag": 0, "one_hot": 0}


def dtypes(call: Call) -> str:
    """The words for a call that was refused for a dtype, "" for any other."""
    if no_tensor := re.search(r"must be Tensor, not (\w+)", call.error):
        return _no_tensor(call, no_tensor[1])
    if call.kind in _TARGETS and ("target dtype" in call.error or "scalar type Long" in call.error):
        x, target = call.tensor(0, "input", role="prediction"), call.tensor(1, "target")
        if x is None or target is None:
            return ""
        return f"{call.spoken} takes class numbers of int64 and gets {target.dtype}: {target.typed}, {x.typed}."
    if refused := _REFUSED.search(call.error):
        return _refused(call, _SPOKEN.get(refused[1], ""))
    if _WHOLE.search(call.error):
        x = next(iter(call.tensors()), None)
        return f"{call.spoken} takes floating point numbers and gets {x.dtype}: {x.typed}." if x is not None else ""
    if "predicate to be bool" in call.error or "only supports boolean masks" in call.error:
        mask = call.tensor(1, "mask")
        return f"{call.spoken} takes a mask of bool and gets {mask.dtype}: {mask.typed}." if mask is not None else ""
    if _INDEX.search(call.error):
        return _indices(call)
    if _MIXED.search(call.error):
        return _mixed(call)
    return ""


def _indices(call: Call) -> str:
    if call.kind in ("__getitem__", "__setitem__"):
        wrong = [one for one in call.tensors()[1:] if one.dtype not in ("int64", "int32", "uint8", "bool")]
        return f"{call.spoken} takes indices of int64 and gets {wrong[0].dtype}: {wrong[0].typed}." if wrong else ""
    at = call.tensor(_LAYERS.get(call.kind, 2), "index", "input")
    wanted = "int64" if re.search("dtype int64|LongTensor|long tensor", call.error) else "int64 or int32"
    if at is None or at.dtype in ("int64", "int32"):
        return ""
    return f"{call.spoken} takes indices of {wanted} and gets {at.dtype}: {at.typed}."


def _refused(call: Call, dtype: str) -> str:
    x = next((one for one in call.tensors() if one.dtype == dtype), None)
    if x is None:
        return ""
    wanted = (
        "floating point numbers"
        if dtype in _NO_FLOATS
        else "whole numbers"
        if dtype.startswith("float")
        else "real numbers"
    )
    return f"{call.spoken} takes {wanted} and gets {dtype}: {x.typed}."


def _no_tensor(call: Call, kind: str) -> str:
    given = call.argument(0, "input")
    text = call.text(0, "input")
    named = f": {text} is {_nested(call, given)}" if given is not None and given.kind == "list" and text else ""
    return f"{call.spoken} takes a tensor and gets a {kind}{named}."


def _nested(call: Call, argument: Argument) -> str:
    if argument.kind == "list":
        return f"({', '.join(_nested(call, item) for item in argument.items)})"
    return call.view.shape(call.case, argument.value) if argument.kind == "value" else str(argument.literal)


def _mixed(call: Call) -> str:
    tensors = call.tensors()
    if not tensors:
        return ""
    if call.layer is not None:
        wanted = next((one.dtype for one in tensors[1:] if one.dtype != tensors[0].dtype), _weights(call))
        return f"{call.spoken} has {wanted} weights and gets {tensors[0].dtype}: {tensors[0].typed}."
    other = next((one for one in tensors[1:] if one.dtype != tensors[0].dtype), None)
    if other is None:
        return ""
    return f"{call.spoken} mixes {tensors[0].dtype} with {other.dtype}: {tensors[0].typed}, {other.typed}."


def _weights(call: Call) -> str:
    found = re.search(r"(?:weight type|bias type) \((\w+)\)|, but got \w+ and (\w+)", call.error)
    word = next((group for group in found.groups() if group), "") if found else ""
    return _SPOKEN.get(word, "other")


_SPOKEN = {
    "Float": "float32",
    "float": "float32",
    "Double": "float64",
    "double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}
_NO_FLOATS = frozenset(("int64", "int32", "int16", "int8", "uint8", "bool"))
