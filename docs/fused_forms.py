"""The table of recognitions, from their definitions and from the conversions of what they make."""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.conversion import Conversions
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region
from commonir.ir.types import FunctionType, TensorType, f32
from commonir.ods import Dialects, Op, operations_behind, traits
from commonir.passes.recognitions import RECOGNITIONS, Form, summary_of

_FORMATS = {"onnx": "onnx", "coreml": "mil"}
"""The dialects of conversions."""
_SHAPE = (2, 3, 4, 8)


def fused_forms() -> Iterator[str]:
    """Yields the rows of the table."""
    for recognition in RECOGNITIONS:
        operations = [", ".join(dict.fromkeys(_operations(recognition.forms, c))) or "-" for c in _FORMATS]
        core = recognition.definition.name.removeprefix("core.")
        yield f"| `{recognition.name}` | `{core}` | {summary_of(recognition)} | {' | '.join(operations)} |"


def _operations(forms: tuple[Form, ...], format: str) -> Iterator[str]:
    """Yields the operations of a format that express forms, with the versions that have them."""
    dialect = Dialects().get(_FORMATS[format])
    assert dialect is not None
    for form in forms:
        for version in dialect.versions:
            name = _operation(form, format, version)
            if name:
                yield f"`{name.partition('.')[2]}` ({dialect.version_text(version)})"
                break


def _operation(form: Form, format: str, version: str) -> str:
    """Returns the name of the only operation by which a version of a format expresses a form; "" if there is none."""
    block = Block([TensorType(f32, _SHAPE)], ["x"])
    value = form.build(*block.arguments)
    for op in operations_behind([value]):
        block.append(op)
    block.append(ml_program.Return((value,)))
    module = Module()
    signature = FunctionType(tuple([a.type for a in block.arguments]), (value.type,))
    module.body.append(ml_program.Func("main", signature, Region([block]), ("y",)))
    beside = Conversions().get(format).beside
    assert beside is not None
    try:
        body = beside(module, version).main.body.operations
    except DiagnosticError:
        return ""
    made = [op.name for op in body if isinstance(op, Op) and not op.has_trait(traits.ConstantLike)]
    made = [name for name in made if not name.endswith((".return", ".const"))]
    return made[0] if len(made) == 1 else ""
