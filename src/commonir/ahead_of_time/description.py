"""Describes a compiled library for `load_compiled`: functions, types, states, and the processor."""

from __future__ import annotations

from collections.abc import Mapping

from commonir.ahead_of_time.c_header import CFunction, CProgram
from commonir.ahead_of_time.cpu_check import enabled_features
from commonir.ahead_of_time.entry_code import state_bytes
from commonir.ahead_of_time.library_file import SCHEMA
from commonir.base.strict_json import Json
from commonir.base.version import __version__
from commonir.ir.types import TensorType
from commonir.symbolic import text


def description(program: CProgram, weights_file: str) -> Mapping[str, Json]:
    """Returns the description of a library; `weights_file` is the name of the file beside it with the weights."""
    interface, target = program.interface, program.target
    weights_text: Json = None
    if program.takes_weights:
        weights_text = {"file": weights_file, "size_bytes": program.weights_bytes}
    states: list[Json] = [{"name": n, "place": f.place, **_type_entries(f.type)} for n, f in interface.states.items()]
    return {
        "schema": SCHEMA,
        "identity": f"{interface.identity:x}",
        "commonir": __version__,
        "prefix": program.prefix,
        "triple": target.triple,
        "cpu": target.cpu,
        "features": list(enabled_features(target)),
        "is_checked": program.is_checked,
        "is_static": bool(interface.workspace),
        "workspace_bytes": program.workspace_bytes,
        "weights": weights_text,
        "states": states,
        "state_bytes": state_bytes(interface.states),
        "functions": [_function_entry(f) for f in program.functions],
    }


def _function_entry(function: CFunction) -> Json:
    entry = function.entry
    return {
        "name": entry.name,
        "symbol": function.name,
        "sizes": [s.name for s in entry.sizes],
        "inputs": [{"name": i.name, "default": i.port.default, **_type_entries(i.type)} for i in entry.inputs],
        "outputs": [{"name": o.name, **_type_entries(o.type)} for o in entry.outputs],
        "has_states": bool(entry.states),
    }


def _type_entries(type: TensorType) -> dict[str, Json]:
    shape: list[Json] = [text(d) for d in type.shape or () if d is not None]
    return {"element": type.element.name, "shape": shape}
