"""Common IR files of the cases of `common_ir.toml`, which abbreviate the messages of a file in JSON.

A string in the place of a parameter is its name and its type, as `a: float32[n, m*]`; the types are those of the
document, and `sparse<...>`, `list<...>`, `tuple<..., ...>`, `map<..., ...>` and `optional<...>` nest. A string in the
place of a node is `NAME: OUTPUTS = OPERATOR[COUNTS](INPUTS) {ATTRIBUTES} after CONTROL INPUTS`, of which the name, the
counts, the attributes and the control inputs may be missing. `ATTRIBUTES` is JSON with the fields of each attribute by
name. Everything else is the message itself. A model has the metadata in `ABOUT` unless it states its own; a field that
is null is left out.
"""

from __future__ import annotations

import json
import re
from typing import TypeAlias

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | None"

ABOUT: dict[str, Json] = {"ir_version": 10, "domain": "com.example", "model_version": 1, "common_ir_version": 1}
OPSETS: list[Json] = [{"domain": "", "version": 22}]

_PARAMETERS = ("input", "output", "value_info", "input_params", "output_params", "input_attributes")
_ELEMENTS = {
    "float16": "FLOAT16", "float32": "FLOAT", "float64": "DOUBLE", "int8": "INT8", "int16": "INT16", "int32": "INT32",
    "int64": "INT64", "uint8": "UINT8", "uint16": "UINT16", "complex64": "COMPLEX64", "complex128": "COMPLEX128",
    "string": "STRING", "bool": "BOOL",
}  # fmt: skip
_NODE = re.compile(
    r"(?:(?P<name>\S+): )?(?P<outputs>[^=]*?) ?= ?(?P<op_type>[^\s\[(]+)(?P<counts>\[[^\]]*\])?\((?P<inputs>[^)]*)\)"
    r"(?: (?P<attributes>\{.*\}))?(?: after (?P<control>.*))?"
)


def document(text: str) -> str:
    """Returns the file that a case abbreviates."""
    messages: dict[str, dict[str, Json]] = json.loads(text)
    complete: Json = {
        kind: {k: v for k, v in (ABOUT | {"opset_import": OPSETS} | message).items() if v is not None}
        for kind, message in messages.items()
    }
    return json.dumps(_expanded("", complete))


def _expanded(key: str, value: Json) -> Json:
    match value:
        case dict():
            is_node = key == "node"
            return {k: v if is_node and k in ("input", "output") else _expanded(k, v) for k, v in value.items()}
        case list() if key in _PARAMETERS:
            return [_parameter(v) if isinstance(v, str) else _expanded(key, v) for v in value]
        case list() if key == "node":
            return [_node(v) if isinstance(v, str) else _expanded(key, v) for v in value]
        case list():
            return [_expanded(key, v) for v in value]
        case _:
            return value


def _node(text: str) -> Json:
    match = _NODE.fullmatch(text)
    assert match is not None, f"{text!r} is not a node"
    out: dict[str, Json] = {"op_type": match["op_type"]}
    for key in ("inputs", "outputs"):
        names: list[Json] = [name.strip() for name in match[key].split(",")] if match[key] else []
        out[key.removesuffix("s")] = names
    if match["name"]:
        out["name"] = match["name"]
    if match["counts"]:
        out["input_arg_count"] = json.loads(match["counts"])
    if match["attributes"]:
        fields: dict[str, dict[str, Json]] = json.loads(match["attributes"])
        out["attribute"] = [_expanded("attribute", {"name": name, **entry}) for name, entry in fields.items()]
    if match["control"]:
        out["control_input"] = [*match["control"].split(", ")]
    return out


def _parameter(text: str) -> Json:
    name, _, type = text.partition(":")
    return {"name": name, "type": value_type(type.strip())} if type else {"name": name}


def value_type(text: str) -> Json:
    """Returns the message of a type."""
    word, _, rest = text.partition("<")
    if not rest:
        return _tensor(text)
    parts = [value_type(part) for part in _parts(rest.removesuffix(">"))]
    match word:
        case "list" | "optional":
            return {"sequence_type" if word == "list" else "optional_type": {"elem_type": parts[0]}}
        case "tuple":
            return {"tuple_type": {"elem_type": parts}}
        case "map":
            key = _ELEMENTS[_parts(rest)[0]]
            return {"map_type": {"key_type": key, "value_type": parts[1]}}
        case _:
            assert word == "sparse", f"{text!r} is not a type"
            (dense,) = parts
            assert isinstance(dense, dict)
            return {"sparse_tensor_type": dense["tensor_type"]}


def _parts(text: str) -> list[str]:
    """Splits a text at the commas outside of brackets."""
    out, depth = [""], 0
    for char in text:
        depth += (char in "<[") - (char in ">]")
        if char == "," and depth == 0:
            out.append("")
        else:
            out[-1] += char
    return [part.strip() for part in out]


def _tensor(text: str) -> Json:
    """Returns the message of a tensor type; without brackets it has no shape."""
    element, bracket, dims = text.removesuffix("]").partition("[")
    if element == "handle":
        return {"handle_type": {}}
    tensor: dict[str, Json] = {"elem_type": _ELEMENTS[element]} if element in _ELEMENTS else {"elem_param": element}
    if bracket:
        names = [name.strip() for name in dims.split(",")] if dims.strip() else []
        shape: list[Json] = [
            {"dim_value": int(n)} if n.removeprefix("-").isdigit() else {"dim_param": n} for n in names
        ]
        tensor["shape"] = {"dim": shape}
    return {"tensor_type": tensor}
