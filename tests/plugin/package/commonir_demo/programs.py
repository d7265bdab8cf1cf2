"""A text format for small programs of the dialect, a conversion to it, a pass and an engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from commonir.base.codes import CANNOT_WRITE, UNSUPPORTED_CONVERSION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import UNREAD_FORMAT
from commonir.base.files import atomic_file
from commonir.conversions.conversion import Conversion, ConversionOptions
from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.formats.content import FileContent
from commonir.formats.format import (
    DEFAULT_READ_OPTIONS,
    DEFAULT_WRITE_OPTIONS,
    Certainty,
    Format,
    Opened,
    Outline,
    ReadOptions,
    Recognition,
    WriteOptions,
)
from commonir.ir.cloning import clone
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.types import FunctionType, TensorType, f32, tensor
from commonir.ods import Dialects
from commonir.passes.definition import OptionType, Pass, PassContext, PassOption, PassOptions, PassResult
from commonir.runtime.engine import DEFAULT_OPTIONS, EngineOptions, Engines, Executable
from commonir.runtime.state import State
from commonir_demo import Blend, Total

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

_MARK = "#demo 1\n"


class DemoFormat(Format):
    """Lines `input a 2x3`, `t = total a b` and `output t` after a mark."""

    name = "demo-text"
    suffixes = (".demo",)

    def recognize(self, content: FileContent) -> Recognition | None:
        is_own = content.text is not None and content.text.startswith(_MARK)
        return Recognition("demo program", Certainty.MARK) if is_own else None

    def read(
        self, path: str | os.PathLike[str], dialects: Dialects, options: ReadOptions = DEFAULT_READ_OPTIONS
    ) -> Opened:
        module, diagnostics = self.loads(Path(path).read_bytes(), dialects)
        return module, [d.located(file=os.fspath(path)) for d in diagnostics]

    def loads(self, content: bytes, dialects: Dialects) -> Opened:
        block, values, outputs = Block(), dict[str, Value](), list[str]()
        for number, line in enumerate(content.decode().splitlines()[1:], 2):
            match line.split():
                case ["input", name, shape]:
                    values[name] = block.add_argument(tensor(f32, *map(int, shape.split("x"))), name)
                case [name, "=", "total", a, b] if a in values and b in values:
                    op = Total(values[a], values[b])
                    block.append(op)
                    values[name] = op.results[0]
                case ["output", name] if name in values:
                    outputs.append(name)
                case _:
                    return None, [Diagnostic(UNREAD_FORMAT, f"line {number} is not understood: {line}")]
        returned = tuple([values[name] for name in outputs])
        block.append(ml_program.Return(returned))
        signature = FunctionType(tuple([a.type for a in block.arguments]), tuple([v.type for v in returned]))
        module = Module()
        module.body.append(ml_program.Func("main", signature, Region([block]), tuple(outputs)))
        return module, []

    def dumps(self, module: Module) -> bytes:
        lines: list[str] = []
        names: dict[Value, str] = {}
        for argument in module.main.body.arguments:
            names[argument] = f"i{len(names)}"
            assert isinstance(argument.type, TensorType)
            lines.append(f"input {names[argument]} {'x'.join(map(str, argument.type.static_shape))}")
        for op in module.main.body.operations:
            match op:
                case Total():
                    names[op.results[0]] = f"t{len(names)}"
                    lines.append(f"{names[op.results[0]]} = total {names[op.a]} {names[op.b]}")
                case ml_program.Return():
                    lines += [f"output {names[v]}" for v in op.operands]
                case _:
                    raise DiagnosticError(Diagnostic(CANNOT_WRITE, f"a demo program has no {op.name}"))
        return (_MARK + "\n".join(lines) + "\n").encode()

    def write(
        self, module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
    ) -> tuple[Path, ...]:
        content = self.dumps(module)
        with atomic_file(path) as stream:
            stream.write(content)
        return (Path(path),)

    def outline(self, module: Module) -> Outline:
        return Outline(title="Demo program")


def _convert(module: Module, _: ConversionOptions, __: Diagnostics) -> Module:
    """Replaces sums of the core by those of the dialect."""
    converted = clone(module)
    for op in list(converted.main.body.operations):
        match op:
            case core.Add():
                total = Total(*op.operands)
                converted.main.body.insert_before(op, total)
                op.results[0].replace_all_uses_with(total.results[0])
                op.erase()
            case ml_program.Return():
                pass
            case _:
                raise DiagnosticError(Diagnostic(UNSUPPORTED_CONVERSION, f"{op.name} has no form in 'demo'"))
    return converted


def _drop_blends(module: Module, _: PassContext, options: PassOptions) -> PassResult:
    weight = float(options.string("weight") or 1)
    blends = [op for op in module.nested() if isinstance(op, Blend) and op.weight == weight]
    for op in blends:
        op.results[0].replace_all_uses_with(op.a)
        op.erase()
    return PassResult(module, changed=bool(blends))


class _Rounded:
    """An executable that rounds the outputs of another one."""

    def __init__(self, exact: Executable) -> None:
        self._exact = exact

    @property
    def state(self) -> State:
        return self._exact.state

    @state.setter
    def state(self, state: State) -> None:
        self._exact.state = state

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        return {name: array.__array_namespace__().round(array) for name, array in self._exact.run(inputs).items()}


class RoundingEngine:
    """An engine that computes as the reference does, and rounds outputs to integers."""

    name = "demo-rounding"

    def prepare(
        self, module: Module, function: str | None = None, options: EngineOptions = DEFAULT_OPTIONS
    ) -> Executable:
        return _Rounded(Engines().get("reference").prepare(module, function, options))


FORMAT = DemoFormat()
CONVERSION = Conversion("demo", _convert, format="demo-text")
DROP_BLENDS = Pass(
    "demo-drop-blends",
    "replaces blends of one weight by their first operand",
    _drop_blends,
    (PassOption("weight", OptionType.STRING, "the weight of the blends that are replaced", "1"),),
)
ENGINE = RoundingEngine()
