"""Converts records to the JSON that llvm-tblgen prints for `--dump-json`.

Source: TableGen BackEnds, JSON reference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from commonir.tablegen.records import Record, Records
from commonir.tablegen.values import UNSET, Bit, Bits, Dag, DefRef, Int, List, String, Value, Variable, VariableBit

JsonValue = None | bool | int | str | list["JsonValue"] | dict[str, "JsonValue"]

VERSION = 1


def records_json(records: Records) -> dict[str, JsonValue]:
    """Returns all records by name, and those that derive from each class."""
    instances: dict[str, list[JsonValue]] = {name: [] for name in records.classes}
    result: dict[str, JsonValue] = {"!tablegen_json_version": VERSION}
    for name, record in sorted(records.defs.items(), key=lambda item: item[0].encode()):
        ancestors = [each.name_text for each in record.ancestors()]
        result[name] = _record_json(record, ancestors)
        for ancestor in ancestors:
            instances[ancestor].append(name)
    by_class: dict[str, JsonValue] = dict(instances)
    result["!instanceof"] = by_class
    return result


def json_text(content: Mapping[str, JsonValue]) -> str:
    """Returns JSON on one line, with sorted names."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _record_json(record: Record, ancestors: list[str]) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {name: _value_json(field.value) for name, field in record.fields.items()}
    marked: list[JsonValue] = [field.name for field in record.fields.values() if field.is_marked]
    superclasses: list[JsonValue] = [*ancestors]
    locations: list[JsonValue] = [f"{os.path.basename(at.file.name)}:{at.line}" for at in record.locations]
    result["!name"] = record.name_text
    result["!anonymous"] = record.is_anonymous
    result["!fields"] = marked
    result["!superclasses"] = superclasses
    result["!locs"] = locations
    return result


def _value_json(value: Value) -> JsonValue:
    match value:
        case _ if value is UNSET:
            return None
        case Bit(value=number) | Int(value=number):
            return number
        case String(value=text):
            return text
        case Bits(bits=parts) | List(items=parts):
            return [_value_json(part) for part in parts]
        case DefRef():
            return {"kind": "def", "def": str(value), "printable": str(value)}
        case Dag():
            return _dag_json(value)
        case Variable(name=name):
            return {"kind": "var", "var": name, "printable": name}
        case VariableBit(base=Variable(name=name), index=index):
            return {"kind": "varbit", "var": name, "index": index, "printable": str(value)}
        case _:
            return {"kind": "complex", "printable": str(value)}


def _dag_json(dag: Dag) -> JsonValue:
    args: list[JsonValue] = [[_value_json(value), name] for value, name in dag.args]
    result: dict[str, JsonValue] = {"kind": "dag", "operator": _value_json(dag.op), "args": args, "printable": str(dag)}
    if dag.op_name is not None:
        result["name"] = dag.op_name
    return result
