"""Converts records to the JSON that llvm-tblgen prints for `--dump-json`.

Source: TableGen BackEnds, JSON reference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

from commonir.base.diagnostics import DiagnosticError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.tablegen.records import Record, Records
from commonir.tablegen.values import UNSET, Bit, Bits, Dag, DefRef, Int, List, String, Value, Variable, VariableBit

JsonValue = None | bool | int | str | list["JsonValue"] | dict[str, "JsonValue"]

VERSION = 1


MAX_VALUE_CHARS = 2**24
"""Characters of one value. A dag has its text beside its parts, at each level."""

MAX_CHARS = 2**28
"""Characters of all values together: more than the records of LLVM's largest targets have."""

_MARKUP = 40
"""Characters of names and marks around what a value holds."""


def records_json(records: Records) -> dict[str, JsonValue]:
    """Returns all records by name, and those that derive from each class.

    Raises: DiagnosticError (LIMIT_EXCEEDED), at the record with which the values become too large.
    """
    values = _Values()
    instances: dict[str, list[JsonValue]] = {name: [] for name in records.classes}
    result: dict[str, JsonValue] = {"!tablegen_json_version": VERSION}
    for name, record in sorted(records.defs.items(), key=lambda item: item[0].encode()):
        ancestors = [each.name_text for each in record.ancestors()]
        result[name] = _record_json(record, ancestors, values)
        for ancestor in ancestors:
            instances[ancestor].append(name)
    by_class: dict[str, JsonValue] = dict(instances)
    result["!instanceof"] = by_class
    return result


def json_text(content: Mapping[str, JsonValue]) -> str:
    """Returns JSON on one line, with sorted names."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _record_json(record: Record, ancestors: list[str], values: _Values) -> dict[str, JsonValue]:
    result: dict[str, JsonValue] = {}
    for name, field in record.fields.items():
        result[name], count = values.json(field.value)
        values.chars += count
        if count > MAX_VALUE_CHARS or values.chars > MAX_CHARS:
            of, most = (f"'{name}'", MAX_VALUE_CHARS) if count > MAX_VALUE_CHARS else ("all values", MAX_CHARS)
            message = f"{of} would have more than {most:,} characters as JSON"
            raise DiagnosticError(record.locations[0].diagnostic(LIMIT_EXCEEDED, message))
    marked: list[JsonValue] = [field.name for field in record.fields.values() if field.is_marked]
    superclasses: list[JsonValue] = [*ancestors]
    locations: list[JsonValue] = [f"{os.path.basename(at.file.name)}:{at.line}" for at in record.locations]
    result["!name"] = record.name_text
    result["!anonymous"] = record.is_anonymous
    result["!fields"] = marked
    result["!superclasses"] = superclasses
    result["!locs"] = locations
    return result


class _Values:
    """The JSON of values, each with about how many characters it is written; that of a dag is made once."""

    def __init__(self) -> None:
        self.chars = 0
        self._dags: dict[Dag, tuple[JsonValue, int]] = {}

    def json(self, value: Value) -> tuple[JsonValue, int]:
        """Returns the JSON of a value and its length."""
        match value:
            case _ if value is UNSET:
                return None, 4
            case Bit(value=number) | Int(value=number):
                return number, 2
            case String(value=text):
                return text, len(text)
            case Bits(bits=parts) | List(items=parts):
                return self._listed(parts)
            case DefRef():
                return {"kind": "def", "def": str(value), "printable": str(value)}, 2 * len(str(value)) + _MARKUP
            case Dag():
                if value not in self._dags:
                    self._dags[value] = self._dag(value)
                return self._dags[value]
            case Variable(name=name):
                return {"kind": "var", "var": name, "printable": name}, 2 * len(name)
            case VariableBit(base=Variable(name=name), index=index):
                return {"kind": "varbit", "var": name, "index": index, "printable": str(value)}, 2 * len(name)
            case _:
                return {"kind": "complex", "printable": str(value)}, len(str(value))

    def _listed(self, parts: Iterable[Value]) -> tuple[JsonValue, int]:
        pairs = [self.json(part) for part in parts]
        return [part for part, _ in pairs], sum([count for _, count in pairs])

    def _dag(self, dag: Dag) -> tuple[JsonValue, int]:
        pairs = [(*self.json(value), name) for value, name in dag.args]
        args: list[JsonValue] = [[part, name] for part, _, name in pairs]
        operator, count = self.json(dag.op)
        count += sum([n for _, n, _ in pairs]) + len(str(dag)) + _MARKUP
        result: dict[str, JsonValue] = {"kind": "dag", "operator": operator, "args": args, "printable": str(dag)}
        if dag.op_name is not None:
            result["name"] = dag.op_name
        return result, count
