"""Programs of ranks as MLIR text, made as the format ARK expands an all-reduce, without the code under test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from commonir.dialects import core
from commonir.dialects.mlir import ml_program
from commonir.ir.module import Module
from commonir.ir.operation import Operation, Value
from commonir.ir.types import f16, f32

Array = npt.NDArray[Any]


def program(bodies: Sequence[Sequence[str]], element: str = "4xf32") -> str:
    """A program of ranks: of each the lines of its body, which is given `%x` and gives `%y`."""
    kind = f"tensor<{element}>"
    out = ["module {"]
    for rank, lines in enumerate(bodies):
        numbers = f"core.rank = {rank} : i64, core.world_size = {len(bodies)} : i64"
        out.append(f"  ml_program.func @rank{rank}(%x: {kind}) -> {kind} attributes {{{numbers}}} {{")
        out += [f"    {line}" for line in lines]
        out += [f"    ml_program.return %y : {kind}", "  }"]
    return "\n".join([*out, "}", ""])


def send(value: str, to: int, tag: int, element: str = "4xf32") -> str:
    return f"core.send {value} {{destination = {to}, tag = {tag}}} : (tensor<{element}>) -> ()"


def recv(name: str, source: int, tag: int, port: str = "4xf32") -> str:
    shape, _, element = port.rpartition("x")
    sizes = ", ".join(shape.split("x"))
    declared = f"source = {source}, tag = {tag}, shape = [{sizes}], element = {element}"
    return f"{name} = core.recv {{{declared}}} : tensor<{port}>"


def add(name: str, a: str, b: str, port: str = "4xf32", kind: str = "add") -> list[str]:
    """The sum, or what `kind` names, as ARK defines it: half precision in single precision, rounded once."""
    if not port.endswith("f16"):
        return [f"{name} = core.{kind} {a}, {b} : tensor<{port}>"]
    wide = port.rpartition("x")[0] + "xf32"
    casts = [
        f"{name}_{n} = core.cast {v} {{to = f32}} : (tensor<{port}>) -> tensor<{wide}>"
        for n, v in zip("ab", (a, b), strict=True)
    ]
    element = port.rpartition("x")[2]
    total = f"{name}_s = core.{kind} {name}_a, {name}_b : tensor<{wide}>"
    return [*casts, total, f"{name} = core.cast {name}_s {{to = {element}}} : (tensor<{wide}>) -> tensor<{port}>"]


def ring(rank: int, world: int, x: str = "%p", y: str = "%y", tag: int = 0, element: str = "4xf32") -> list[str]:
    """Returns what a rank does in an all-reduce as ARK writes it, with a tag for each rank."""
    out: list[str] = []
    total = x
    for step in range(1, world):
        to, source = (rank + step) % world, (rank - step) % world
        following = y if step == world - 1 else f"{y}_t{step}"
        out.append(send(x, to, tag + rank, element))
        out.append(recv(f"{y}_r{step}", source, tag + source, element))
        out += add(following, total, f"{y}_r{step}", element)
        total = following
    return out


def summing(world: int, element: str = "4xf32", rings: int = 1) -> str:
    """Each rank squares its tensor; all add up, once or several times in a row."""
    bodies: list[list[str]] = []
    for rank in range(world):
        lines = add("%p0", "%x", "%x", element, "mul")
        for n in range(rings):
            y = "%y" if n == rings - 1 else f"%p{n + 1}"
            lines += ring(rank, world, f"%p{n}", y, n * world, element)
        bodies.append(lines)
    return program(bodies, element)


Arrays = dict[Value, Array]
Messages = dict[tuple[int, int, int], list[Array]]


def run(module: Module, inputs: Sequence[Array]) -> list[Array]:
    """Returns what the ranks of a program give: a small interpreter of its own, all ranks taking steps in turn.

    Raises: RuntimeError when all ranks wait.
    """
    functions = [module.functions[f"rank{n}"] for n in range(len(inputs))]
    values: list[Arrays] = [{f.inputs[0]: x} for f, x in zip(functions, inputs, strict=True)]
    pending = [list(f.body.operations) for f in functions]
    sent: Messages = {}
    arguments: list[Array] = [*inputs]
    while any(pending):
        moved = False
        for rank, ops in enumerate(pending):
            while ops and _step(ops[0], rank, values[rank], sent, arguments):
                ops.pop(0)
                moved = True
        at_sum = [ops[0] if ops else None for ops in pending]
        if all(isinstance(op, core.AllReduce) for op in at_sum):
            parts = [values[rank][op.operands[0]] for rank, op in enumerate(at_sum) if op is not None]
            for rank, ops in enumerate(pending):
                total = parts[rank]
                for other in range(rank - 1, rank - len(parts), -1):
                    total = _sum(total, parts[other % len(parts)])
                values[rank][ops.pop(0).results[0]] = total
            moved = True
        if not moved:
            raise RuntimeError("all ranks wait")
    return arguments


def _sum(a: Array, b: Array) -> Array:
    return (a.astype(np.float32) + b.astype(np.float32)).astype(a.dtype)


def _step(op: Operation, rank: int, values: Arrays, sent: Messages, inputs: list[Array]) -> bool:
    """Does one operation; whether it could be done."""
    operands = [values[v] for v in op.operands]
    match op:
        case core.AllReduce():
            return False
        case core.Send():
            sent.setdefault((rank, op.destination, op.tag), []).append(operands[0])
            return True
        case core.Recv():
            stored = sent.get((op.source, rank, op.tag))
            if not stored:
                return False
            result = stored.pop(0)
        case core.Add():
            result = _sum(operands[0], operands[1])
        case core.Mul():
            result = (operands[0].astype(np.float32) * operands[1].astype(np.float32)).astype(operands[0].dtype)
        case core.Cast():
            result = operands[0].astype({f16: np.float16, f32: np.float32}[op.to])
        case ml_program.Return():
            inputs[rank] = operands[0]
            return True
        case _:
            raise NotImplementedError(op.name)
    values[op.results[0]] = result
    return True
