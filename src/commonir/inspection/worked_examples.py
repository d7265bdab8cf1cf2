"""Small programs that reference pages show, as MLIR text with the values that they compute.

A file `examples.mlir` beside the modules of a dialect has programs, each after a comment with the operations that it
shows, separated by `// -----`. A definition states others itself (`example`), or they are guessed from its fields.
Values of results come from running the program.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from math import prod
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np

from commonir.base.arrays import dtype_of
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.core_types import core_type
from commonir.ir.types import DialectType, StateType, TensorType, Type, index
from commonir.ods import Dialects, MlirOp, Op
from commonir.ods.documentation import WorkedExample
from commonir.ods.examples import STATIC, example_of
from commonir.passes.lower import Deferral, lower
from commonir.runtime.engine import DEFAULT_OPTIONS, Engines
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

_MOST_ELEMENTS = 40
# Elements of the first operand, and of later ones, which are divisors, exponents and distances of shifts too.
_ELEMENTS: Mapping[str, tuple[Sequence[object], Sequence[object]]] = {
    "bool": ((True, False, True), (True, True, False)),
    "int": ((-7, 2, 5, 0, 9, -3), (2, 3, 1, 4)),
    "float": ((1.5, -0.5, 0.25, 3.0, -2.0), (2.0, 0.25, -1.0, 4.0, 1.0)),
    "complex": ((1 + 2j, -0.5 + 1j, 3 - 1j), (0.5 - 1j, 2 + 0j, 1 + 1j)),
}


def worked_example(definition: type[Op]) -> WorkedExample | None:
    """Returns a program with an operation of a definition, and what it computes; None if there is none."""
    text = _programs(definition.__module__).get(definition.name) or _printed(definition)
    if not text:
        return None
    try:
        module = parse_module(text, Dialects())
        lowered = lower(module, Deferral.OPEN)
        types = [v.type for v in module.main.inputs if not isinstance(v.type, StateType)]
        main = lowered.main
        named = zip(main.inputs, types, strict=True)
        inputs = {v.name: x for n, (v, type) in enumerate(named) if (x := _elements(type, n)) is not None}
        outputs = Engines().get("reference").prepare(lowered, None, DEFAULT_OPTIONS._replace(seed=0)).run(inputs)
    except DiagnosticError:
        return WorkedExample(text, (), None)  # it has no meaning in the core, or takes more than one process
    return WorkedExample(text, tuple([f"{name} = {_shown(x)}" for name, x in {**inputs, **outputs}.items()]), main)


@cache
def _programs(module: str) -> Mapping[str, str]:
    """Returns the programs beside a module, by the names of the operations that they show."""
    path = Path(getattr(sys.modules.get(module), "__file__", None) or module).with_name("examples.mlir")
    texts = path.read_text(encoding="utf-8").split("// -----\n") if path.is_file() else []
    parts = [text.removeprefix("// ").partition("\n") for text in texts]
    return {name: text.rstrip() for names, _, text in parts for name in names.split()}


def _printed(definition: type[Op]) -> str:
    """Returns a program of one operation; "" for one of another format, or where none is found."""
    dialect = Dialects().get(definition.name.partition(".")[0])
    if dialect is None or dialect.keeps_names or not issubclass(definition, MlirOp):
        return ""
    for text in definition.examples() or filter(None, [_guessed(definition)]):
        try:
            printed = print_module(parse_module(text, Dialects()))
        except DiagnosticError:
            continue
        return dedent("\n".join(printed.strip().splitlines()[1:-1])).rstrip()
    return ""


def _guessed(definition: type[Op]) -> str:
    """Returns a function of one operation in the generic form; "" when none is found."""
    op = example_of(definition, STATIC)
    if op is None:
        return ""
    fields = [*op.operand_fields()]
    for n, (f, v) in enumerate(zip(fields, op.operands, strict=True)):
        v.name = f"{f.spelling}_{n - fields.index(f)}" if f.variadic else f.spelling
    for f, r in zip(definition.layout.results, op.results, strict=False):
        r.name = f.spelling
    inputs = ", ".join([f"%{v.name}: {v.type}" for v in op.operands])
    types = ", ".join([str(r.type) for r in op.results])
    returned = f"{', '.join([f'%{r.name}' for r in op.results])} : {types}" if op.results else ""
    return f"func.func @main({inputs}) -> ({types}) {{\n{op}\nreturn {returned}\n}}"


def _elements(type: Type, position: int) -> Any:
    """Returns elements of an input by its type and position; None for what is not a tensor of static shape."""
    tensor = core_type(type)
    kinds = _ELEMENTS.get(tensor.element.kind.removeprefix("u")) if isinstance(tensor, TensorType) else None
    if kinds is None or not isinstance(tensor, TensorType) or not tensor.is_static:
        return None
    values = kinds[
        position > 0 or isinstance(type, DialectType) or (isinstance(type, TensorType) and type.element is index)
    ]
    elements = [values[(n + max(position - 1, 0)) % len(values)] for n in range(prod(tensor.static_shape))]
    return np.array(elements).astype(dtype_of(tensor.element.name)).reshape(tensor.static_shape)


def _shown(x: Any) -> str:
    """Returns the elements of an array; its shape where they are many."""
    array = np.asarray(x)
    if array.size > _MOST_ELEMENTS:
        return f"{array.dtype} {list(array.shape)}"
    shown = np.array2string(array, separator=", ", max_line_width=10_000, formatter={"all": _number})
    return re.sub(r",\s+", ", ", shown)


def _number(x: Any) -> str:
    if isinstance(x, str) or np.iscomplexobj(x):
        return f'"{x}"' if isinstance(x, str) else f"{x:.4g}"
    return f"{round(float(x), 9) + 0:.4g}" if x.dtype.kind == "f" else str(x).lower()
