"""Models with a few fields changed at random are read, checked and written, or refused, and nothing else happens."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.formats.onnx.read import check, loads
from commonir.formats.onnx.verify import verify_model
from commonir.formats.onnx.write import dumps
from commonir.ods import Dialects, verify

from tests.formats.onnx import odd_models
from tests.formats.onnx.test_round_trip import ODD

DIALECTS = Dialects()
_ROUNDS = 60
_NUMBERS = (0, 1, -1, 2, 7, 255, 2**31 - 1, -(2**31))
_LARGE = (2**31, 2**62, -(2**63))
_TEXTS = ("", "x", "y", "a", "w", "Relu", "If", "ai.onnx.ml", "f.d", "\0", "é", "../x", "N+1", "axis", "g" * 300)


def _messages(message: Any) -> Iterator[Any]:
    """A message and all that are in it."""
    pending = [message]
    while pending:
        at = pending.pop()
        yield at
        for field, value in at.ListFields():
            if field.message_type is not None:
                pending += list(value) if field.is_repeated else [value]


def _mutate(model: onnx.ModelProto, source: random.Random) -> None:
    """Changes one field of one message."""
    at = source.choice(list(_messages(model)))
    field = source.choice(list(at.DESCRIPTOR.fields))
    value = getattr(at, field.name)
    if source.random() < 0.2:
        at.ClearField(field.name)
    elif field.is_repeated and len(value) and source.random() < 0.5:
        n = source.randrange(len(value))
        if source.random() < 0.5:
            del value[n]
        elif field.message_type is not None:
            value.add().CopyFrom(value[n])
        else:
            value.append(value[n])
    elif field.message_type is not None:
        others = [m for m in _messages(model) if m.DESCRIPTOR.full_name == field.message_type.full_name and m is not at]
        target = value.add() if field.is_repeated else value
        target.SetInParent()
        if others:
            copied = type(others[0])()
            copied.CopyFrom(source.choice(others))
            target.CopyFrom(copied)
    elif field.is_repeated:
        value.append(_scalar(field, source))
    else:
        setattr(at, field.name, _scalar(field, source))


def _scalar(field: Any, source: random.Random) -> Any:
    if field.enum_type is not None:
        return source.choice([v.number for v in field.enum_type.values])
    match field.type:
        case field.TYPE_STRING:
            return source.choice(_TEXTS)
        case field.TYPE_BYTES:
            return source.choice((b"", b"\xff\xfe", b"abcd", b"\0" * 24))
        case field.TYPE_FLOAT | field.TYPE_DOUBLE:
            return source.choice((0.0, -1.5, float("nan"), float("inf")))
        case field.TYPE_UINT64:
            return source.choice((0, 1, 2**63))
        case field.TYPE_INT64:
            return source.choice(_NUMBERS + _LARGE)
        case _:
            return source.choice(_NUMBERS)


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_models_with_changed_fields_are_handled(make: Any) -> None:
    source = random.Random(make.__name__)
    original = make()
    for _ in range(_ROUNDS):
        model = onnx.ModelProto()
        model.CopyFrom(original)
        for _ in range(source.randint(1, 3)):
            _mutate(model, source)
        try:
            module, _ = loads(model.SerializeToString(), DIALECTS)
            verify(module, DIALECTS)
            verify_model(module)
            dumps(module)
        except DiagnosticError:
            continue


def test_bytes_changed_at_random_are_handled(tmp_path: Path) -> None:
    content = odd_models.texts_everywhere().SerializeToString()
    source = random.Random(0)
    path = tmp_path / "m.onnx"
    for _ in range(300):
        changed = bytearray(content)
        for _ in range(source.randint(1, 4)):
            changed[source.randrange(len(changed))] = source.randrange(256)
        path.write_bytes(changed)
        check(path, DIALECTS)
