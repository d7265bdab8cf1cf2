"""Models of the suite that are not run: verified, or written again, when the messages of both files must be equal."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import onnx
from google.protobuf.message import Message

import commonir

from tests.onnx_suite.cases import Value
from tests.onnx_suite.evaluators import Prepared, refusing
from tests.onnx_suite.values import Disagreement


class Verifying:
    """Reads a model and verifies its operations."""

    name = "commonir verifying"

    def __init__(self, engine: str = "") -> None:
        pass

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        with refusing():
            errors = [d for d in commonir.verify(commonir.load(model)) if d.is_error]
            if errors:
                raise commonir.DiagnosticError(*errors)
        return Prepared(None)


class Rewriting:
    """Reads a model, writes it and compares the messages."""

    name = "commonir reading and writing"

    def __init__(self, engine: str = "") -> None:
        pass

    def prepare(self, model: Path, inputs: Mapping[str, Value]) -> Prepared:
        with tempfile.TemporaryDirectory() as scratch, refusing():
            again = Path(scratch) / "again.onnx"
            commonir.save(commonir.load(model), again)
            require_equal(onnx.load(model), onnx.load(again))
        return Prepared(None)


def require_equal(one: Message, other: Message, where: str = "model") -> None:
    """Compares messages. Raises: Disagreement with the place of the first difference."""
    if one == other:
        return
    fields = {d.name: (d, v) for d, v in one.ListFields()}
    others = {d.name: (d, v) for d, v in other.ListFields()}
    for name in sorted(fields.keys() | others.keys()):
        if name not in fields or name not in others:
            raise Disagreement(f"{where}.{name} is only in the {'first' if name in fields else 'second'}")
        descriptor, result = fields[name]
        expected = others[name][1]
        if result == expected:
            continue
        if descriptor.message_type is None:
            raise Disagreement(f"{where}.{name} differs: {str(result)[:60]} and {str(expected)[:60]}")
        if isinstance(result, Message):
            require_equal(result, expected, f"{where}.{name}")
            continue
        if len(result) != len(expected):
            raise Disagreement(f"{where}.{name} has {len(expected)} entries instead of {len(result)}")
        for number, (a, b) in enumerate(zip(result, expected, strict=True)):
            require_equal(a, b, f"{where}.{name}[{number}]")
    raise Disagreement(f"{where} differs in fields that onnx does not know")
