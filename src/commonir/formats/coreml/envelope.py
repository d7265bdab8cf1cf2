"""The outermost message of a model taken apart, before anything in it is decoded: what it is, and where its parts lie.

Weights of models that are not programs lie inside their messages: nothing is copied here but what stands beside them.
Source: Model.proto of coremltools 9.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.file_codes import DAMAGED_MESSAGE
from commonir.base.tuples import NamedTuple
from commonir.formats.protobuf.wire import BYTES, WireError, fields, length_delimited

PROGRAM = "mlProgram"
PIPELINES = frozenset({"pipeline", "pipelineClassifier", "pipelineRegressor"})

_MODELS = 1
_PIPELINE = 1


class Outer(NamedTuple):
    """A `Model` message taken apart: its type, its program, the models of a pipeline, and the rest of it."""

    type: str
    program: memoryview | None
    models: tuple[memoryview, ...]
    rest: bytes


def take_apart(content: memoryview, *, with_content: bool = True) -> Outer:
    """Takes a `Model` message apart. What has no part of its own, such as a neural network, is in the rest.

    Without content the rest is only what the message says about the model.

    Raises: WireError.
    """
    # Loads protobuf, which `import commonir` must not.
    from commonir.formats.coreml.messages import message_class  # noqa: PLC0415

    types = {f.number: f.name for f in message_class("Model").DESCRIPTOR.oneofs_by_name["Type"].fields}
    kind = ""
    program: list[memoryview] = []
    models: list[memoryview] = []
    rest: list[bytes | memoryview] = []
    for field in fields(content):
        name = types.get(field.number, "")
        if name and kind and name != kind:
            raise WireError(DAMAGED_MESSAGE, f"a model has one type, found '{kind}' and '{name}'", field.start)
        kind = name or kind
        if (name == PROGRAM or name in PIPELINES) and field.wire_type != BYTES:
            raise WireError(DAMAGED_MESSAGE, f"'{name}' must be a message", field.start)
        if name == PROGRAM:
            program.append(content[field.content : field.end])
        elif name in PIPELINES:
            inner = content[field.content : field.end]
            parts = _without_models(inner, models) if name == "pipeline" else b"".join(_within(inner, models))
            rest.append(length_delimited(field.number, parts))
        elif with_content or not name:
            rest.append(content[field.start : field.end])
    # Parts of one message that occur repeatedly are merged, which for bytes is putting them together.
    whole = program[0] if len(program) == 1 else memoryview(b"".join(program)) if program else None
    return Outer(kind, whole, tuple(models), b"".join(rest))


def _within(content: memoryview, models: list[memoryview]) -> Iterator[bytes]:
    """The parts of a pipeline of one purpose, the models left out."""
    for field in fields(content):
        if field.number == _PIPELINE and field.wire_type == BYTES:
            yield length_delimited(_PIPELINE, _without_models(content[field.content : field.end], models))
        else:
            yield bytes(content[field.start : field.end])


def _without_models(content: memoryview, models: list[memoryview]) -> bytes:
    rest: list[memoryview] = []
    for field in fields(content):
        if field.number == _MODELS and field.wire_type == BYTES:
            models.append(content[field.content : field.end])
        else:
            rest.append(content[field.start : field.end])
    return b"".join(rest)
