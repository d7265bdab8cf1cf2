"""Functions of MLIR run by LLVM's own tools: lowered by mlir-opt, compiled and run by mlir-runner.

All calls of a test go into one program, whose operands are constants and whose results are printed as bits.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonir.dialects.mlir.func import Func
from commonir.ir.types import ElementType, TensorType, Type, boolean, index
from commonir.ods import Dialects
from commonir.text.parser import parse_module

from tests.oracles import mlir_opt, report_missing

Array = NDArray[Any]

PIPELINE = (
    "func.func(test-linalg-transform-patterns{test-decompose-winograd-ops}),"
    "tosa-to-mlprogram,func.func(tosa-optional-decompositions,tosa-infer-shapes,tosa-make-broadcastable,tosa-to-linalg-named,"
    "canonicalize,tosa-to-scf,tosa-to-linalg,tosa-to-arith{include-apply-rescale=true},tosa-to-tensor,"
    "convert-elementwise-to-linalg,linalg-generalize-named-ops),canonicalize,"
    "one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops},"
    "func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
    "func.func(arith-expand,math-expand-ops),convert-scf-to-cf,convert-complex-to-standard,convert-math-to-llvm,"
    "convert-math-to-libm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"
)


class Call(NamedTuple):
    """A call of a function of a program."""

    function: str
    arrays: Sequence[Array]


@cache
def _runner() -> tuple[str, list[str]]:
    """mlir-runner and the libraries that its programs use; they are beside mlir-opt."""
    folder = Path(os.path.realpath(mlir_opt())).parent
    result = which("mlir-runner", path=str(folder))
    libraries = [folder.parent / "lib" / f"libmlir_{name}runner_utils.so" for name in ("", "c_")]
    if result is None or not all(path.exists() for path in libraries):
        report_missing("mlir-opt")
    return result, [str(path) for path in libraries]


def results_of_calls(source: str, calls: Sequence[Call]) -> list[list[Array]]:
    """Returns what functions of a program return, one call after the other."""
    symbols = parse_module(source, Dialects()).functions
    functions = {name: f for name, f in symbols.items() if isinstance(f, Func)}
    bodies = [_call(n, functions[call.function], call.arrays) for n, call in enumerate(calls)]
    main = "\n".join(f"  call @call{n}() : () -> ()" for n in range(len(calls)))
    printers = "\n".join(
        f"func.func private @printMemref{kind}(memref<*x{kind.lower()}>) attributes {{llvm.emit_c_interface}}"
        for kind in ("I32", "I64")
    )
    program = f"{source}\n{printers}\n" + "\n".join(bodies) + f"\nfunc.func @main() {{\n{main}\n  return\n}}\n"
    lowered = subprocess.run(
        [mlir_opt(), f"--pass-pipeline=builtin.module({PIPELINE})"],
        input=program,
        capture_output=True,
        text=True,
        check=False,
    )
    assert lowered.returncode == 0, lowered.stderr[:4000]
    runner, libraries = _runner()
    command = [runner, "-e", "main", "-entry-point-result=void", f"-shared-libs={','.join(libraries)}"]
    ran = subprocess.run(command, input=lowered.stdout, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:4000]
    printed = iter(re.split(r"^Unranked Memref ", ran.stdout, flags=re.MULTILINE)[1:])
    return [[_read(next(printed), t) for t in functions[call.function].function_type.results] for call in calls]


def _call(number: int, function: Func, arrays: Sequence[Array]) -> str:
    """A function that calls one on constants and prints what it returns."""
    kinds = function.function_type.inputs
    lines: list[str] = []
    for n, (kind, array) in enumerate(zip(kinds, arrays, strict=True)):
        lines += _constant(f"%x{n}", kind, array)
    results = function.function_type.results
    bound = f"%r:{len(results)} = " if results else ""
    arguments = ", ".join(f"%x{n}" for n in range(len(arrays)))
    lines.append(f"{bound}call @{function.symbol_name}({arguments}) : {function.function_type}")
    for n, kind in enumerate(results):
        lines += _print(f"%r#{n}", f"p{n}", kind)
    return f"func.func @call{number}() {{\n" + "\n".join(f"  {line}" for line in [*lines, "return"]) + "\n}"


def _constant(name: str, kind: Type, array: Array) -> list[str]:
    element = kind.element if isinstance(kind, TensorType) else kind
    attributes = f"tensor<{''.join(f'{d}x' for d in array.shape)}{element}>"
    if array.size == 0:
        text = "dense<>"
    elif array.dtype == np.bool_:
        text = f"dense<{str(array.tolist()).lower()}>"
    else:
        text = f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}">'
    lines = [f"{name}_c = arith.constant {text} : {attributes}"]
    if not isinstance(kind, TensorType):
        return [*lines, f"{name} = tensor.extract {name}_c[] : {attributes}"]
    if str(kind) == attributes:
        return [f"{name} = arith.constant {text} : {attributes}"]
    return [*lines, f"{name} = tensor.cast {name}_c : {attributes} to {kind}"]


def _print(value: str, name: str, kind: Type) -> list[str]:
    """Prints a tensor or a number as integers of 32 or 64 bits that have its bits."""
    element = kind.element if isinstance(kind, TensorType) else kind
    assert isinstance(element, ElementType)
    lines: list[str] = []
    if not isinstance(kind, TensorType):
        lines.append(f"%{name}_t = tensor.from_elements {value} : tensor<{element}>")
        value, kind = f"%{name}_t", TensorType(element, ())
    shape = str(kind).rpartition(str(element))[0]
    bits = 64 if element is index else element.bits
    wide = "i64" if bits > 32 else "i32"
    steps: list[tuple[str, str]] = []
    if element is index:
        steps.append(("arith.index_cast", "i64"))
    elif element.is_float:
        steps.append(("arith.bitcast", f"i{bits}"))
    if element is not index and (element is boolean or bits not in (32, 64)):
        steps.append(("arith.extui" if element is boolean or element.is_float else "arith.extsi", wide))
    stored = str(element)
    for n, (step, target) in enumerate(steps):
        lines.append(f"%{name}_{n} = {step} {value} : {shape}{stored}> to {shape}{target}>")
        value, stored = f"%{name}_{n}", target
    memory = f"{shape.replace('tensor', 'memref')}{stored}>"
    lines.append(f"%{name}_m = bufferization.to_buffer {value} : {shape}{stored}> to {memory}")
    lines.append(f"%{name}_u = memref.cast %{name}_m : {memory} to memref<*x{stored}>")
    lines.append(f"call @printMemref{stored.upper()}(%{name}_u) : (memref<*x{stored}>) -> ()")
    return lines


def _read(printed: str, kind: Type) -> Array:
    """A tensor from what the runner prints of it."""
    element = kind.element if isinstance(kind, TensorType) else kind
    assert isinstance(element, ElementType)
    match = re.search(r"sizes = \[([\d, ]*)\]", printed)
    shape = [int(n) for n in match[1].split(",") if n.strip()] if match else []
    numbers = [int(n) for n in re.findall(r"-?\d+", printed.partition("data =")[2])]
    if element is index:
        return np.array(numbers, "i8").reshape(shape)
    if element.is_float:
        stored = np.array(numbers, "i8").astype(f"u{element.bits // 8}")
        return stored.view(_floats()[str(element)]).reshape(shape)
    size = max(8, 1 << (element.bits - 1).bit_length()) // 8
    return np.array(numbers, "i8").astype("?" if element is boolean else f"i{size}").reshape(shape)


def _floats() -> dict[str, np.dtype[Any]]:
    import ml_dtypes  # noqa: PLC0415  only where such a type is

    return {"f16": np.dtype("f2"), "f32": np.dtype("f4"), "f64": np.dtype("f8"), "bf16": np.dtype(ml_dtypes.bfloat16)}
