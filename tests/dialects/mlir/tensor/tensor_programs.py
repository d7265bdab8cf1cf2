"""A program for each operation of the tensor dialect that computes, with sizes in the text and as values."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import numpy as np

from tests.dialects.programs import Array, Case, arrays_of


def case(name: str, operation: str, inputs: str, result_type: str, body: str, /, **arguments: Array | int) -> Case:
    """A case whose body computes `%r`, on random arrays but for the inputs that are given."""
    arrays = _arrays(name, inputs, arguments)
    lines = "\n".join(f"  {line.strip()}" for line in [*body.strip().splitlines(), f"return %r : {result_type}"])
    return Case(name, operation, f"func.func @{name}({inputs}) -> {result_type} {{\n{lines}\n}}", arrays)


def _arrays(name: str, inputs: str, arguments: Mapping[str, Array | int]) -> tuple[Array, ...]:
    random = Random(name)
    out: list[Array] = []
    for text in inputs.split(", ") if inputs else []:
        input_, kind = text.removeprefix("%").split(": ")
        if input_ in arguments:
            out.append(np.asarray(arguments[input_], "i8" if kind == "index" else None))
        elif kind.startswith("tensor"):
            out += arrays_of([kind], random)
        else:
            (scalar,) = arrays_of([f"tensor<1x{kind}>"], random)
            out.append(scalar.reshape(()))
    return tuple(out)


F = "tensor<2x3x4xf32>"


def cases() -> list[Case]:
    """Cases that LLVM's tools lower."""
    return [
        case("empty", "empty", "%n: index", "index", """
            %c0 = arith.constant 0 : index
            %e = tensor.empty(%n) : tensor<?x3xf32>
            %r = tensor.dim %e, %c0 : tensor<?x3xf32>""", n=5),
        case("splat", "splat", "%x: f32", "tensor<2x3xf32>", "%r = tensor.splat %x : tensor<2x3xf32>"),
        case("splat_sizes", "splat", "%x: i32, %n: index", "tensor<?x2xi32>",
             "%r = tensor.splat %x[%n] : tensor<?x2xi32>", n=3),
        case("from_elements", "from_elements", "%a: i32, %b: i32", "tensor<2x2xi32>",
             "%r = tensor.from_elements %a, %b, %b, %a : tensor<2x2xi32>"),
        case("from_elements_0", "from_elements", "%a: f64", "tensor<f64>",
             "%r = tensor.from_elements %a : tensor<f64>"),
        *[case(f"dim_{n}", "dim", "%x: tensor<?x4xf32>, %n: index", "index",
               "%r = tensor.dim %x, %n : tensor<?x4xf32>", n=n) for n in (0, 1)],
        case("rank", "rank", "%x: tensor<?x4xf32>", "index", "%r = tensor.rank %x : tensor<?x4xf32>"),
        case("extract", "extract", f"%x: {F}, %i: index, %j: index", "f32", f"%r = tensor.extract %x[%i, %j, %i] : {F}",
             i=1, j=2),
        case("insert", "insert", f"%v: f32, %x: {F}, %i: index", F,
             f"%r = tensor.insert %v into %x[%i, %i, %i] : {F}", i=1),
        case("generate", "generate", "%n: index, %x: tensor<3xi32>", "tensor<?x3xi32>", """
            %r = tensor.generate %n {
            ^bb0(%i: index, %j: index):
              %v = tensor.extract %x[%j] : tensor<3xi32>
              %k = arith.index_cast %i : index to i32
              %s = arith.muli %v, %k : i32
              tensor.yield %s : i32
            } : tensor<?x3xi32>""", n=4),
        case("cast", "cast", f"%x: {F}", "tensor<?x3x?xf32>", f"%r = tensor.cast %x : {F} to tensor<?x3x?xf32>"),
        case("reshape", "reshape", f"%x: {F}, %s: tensor<2xindex>", "tensor<?x?xf32>",
             f"%r = tensor.reshape %x(%s) : ({F}, tensor<2xindex>) -> tensor<?x?xf32>", s=np.array([8, 3])),
        case("expand_shape", "expand_shape", "%x: tensor<?x6xf32>, %n: index", "tensor<?x4x2x3xf32>", """
            %r = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [%n, 4, 2, 3]
              : tensor<?x6xf32> into tensor<?x4x2x3xf32>""", x=np.arange(48, dtype="f4").reshape(8, 6), n=2),
        case("collapse_shape", "collapse_shape", "%x: tensor<2x?x4xf32>", "tensor<?x4xf32>",
             "%r = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x?x4xf32> into tensor<?x4xf32>"),
        case("extract_slice", "extract_slice", f"%x: {F}, %i: index", "tensor<2x2xf32>",
             f"%r = tensor.extract_slice %x[0, %i, 1] [2, 1, 2] [1, 1, 2] : {F} to tensor<2x2xf32>", i=1),
        case("extract_slice_sizes", "extract_slice", "%x: tensor<?x9xi32>, %n: index, %s: index", "tensor<?x?xi32>",
             "%r = tensor.extract_slice %x[1, 0] [%n, %n] [1, %s] : tensor<?x9xi32> to tensor<?x?xi32>", n=2, s=3),
        case("insert_slice", "insert_slice", f"%v: tensor<2x2xf32>, %x: {F}, %i: index", F,
             f"%r = tensor.insert_slice %v into %x[0, %i, 1] [2, 1, 2] [1, 1, 2] : tensor<2x2xf32> into {F}", i=2),
        case("pad", "pad", f"%x: {F}, %n: index, %v: f32", "tensor<?x5x5xf32>", f"""
            %r = tensor.pad %x low[%n, 1, 0] high[0, 1, 1] {{
            ^bb0(%a: index, %b: index, %c: index):
              tensor.yield %v : f32
            }} : {F} to tensor<?x5x5xf32>""", n=2),
        case("pad_computed", "pad", "%x: tensor<3xi32>", "tensor<7xi32>", """
            %r = tensor.pad %x low[2] high[2] {
            ^bb0(%a: index):
              %k = arith.index_cast %a : index to i32
              tensor.yield %k : i32
            } : tensor<3xi32> to tensor<7xi32>"""),
        case("concat", "concat", "%x: tensor<2x3xi32>, %y: tensor<2x?xi32>", "tensor<2x?xi32>",
             "%r = tensor.concat dim(1) %x, %y, %x : (tensor<2x3xi32>, tensor<2x?xi32>, tensor<2x3xi32>)"
             " -> tensor<2x?xi32>"),
    ]  # fmt: skip
