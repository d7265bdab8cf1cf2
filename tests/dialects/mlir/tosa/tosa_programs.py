"""A program for each operation of tosa that computes, in the element types and modes that change what it does."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from tests.dialects.programs import Array, Case, arrays_of


class Const(NamedTuple):
    """A constant operand: its type and its elements as a text says them."""

    type: str
    values: str


Operand = str | Const | tuple[int, ...]
"""An input of a type, a constant, or a list of sizes."""


TOLERANCES = {"f16": 4e-3, "bf16": 3e-2, "f32": 2e-5, "f64": 1e-12}

EXTREMES = {
    "i8": (-128, 127, 0, 1, -1),
    "i16": (-(2**15), 2**15 - 1, 0, 1, -1),
    "i32": (-(2**31), 2**31 - 1, 0, 1, -1, 2**30, 3),
    "f16": (0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -1.5, 2.5, 1e4),
    "f32": (0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -1.5, 2.5, 1e9, -3e9, 127.5, -128.5),
}


def case(
    name: str, operation: str, operands: Sequence[Operand], results: str | Sequence[str], attributes: str = "", *,
    extreme: bool = False, low: float | None = None, high: float | None = None,
) -> Case:  # fmt: skip
    """A case whose inputs are drawn by its name: small numbers, those of a range, or also extreme ones."""
    random = Random(name)
    kinds = [o for o in operands if isinstance(o, str)]
    arrays = [_array(kind, random, extreme, low, high) for kind in kinds]
    outputs = [results] if isinstance(results, str) else list(results)
    lines: list[str] = []
    values: list[str] = []
    types: list[str] = []
    taken = 0
    for n, operand in enumerate(operands):
        if isinstance(operand, str):
            values.append(f"%x{taken}")
            types.append(operand)
            taken += 1
            continue
        values.append(f"%c{n}")
        if isinstance(operand, Const):
            types.append(operand.type)
            properties = f"values = dense<{operand.values}> : {operand.type}"
            lines.append(f'%c{n} = "tosa.const"() <{{{properties}}}> : () -> {operand.type}')
        else:
            count = len(operand)
            types.append(f"!tosa.shape<{count}>")
            properties = f"dense<{list(operand) if count else ''}> : tensor<{count}xindex>"
            lines.append(f"%c{n} = tosa.const_shape {{values = {properties}}} : () -> {types[-1]}")
    bound = ", ".join(f"%r{n}" for n in range(len(outputs)))
    shown = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    attributes = f" {{{attributes}}}" if attributes else ""
    lines.append(f"{bound} = tosa.{operation} {', '.join(values)}{attributes} : ({', '.join(types)}) -> {shown}")
    lines.append(f"return {bound} : {', '.join(outputs)}")
    inputs = ", ".join(f"%x{n}: {t}" for n, t in enumerate(kinds))
    body = "\n".join(f"  {line}" for line in lines)
    text = f"func.func @{name}({inputs}) -> {shown} {{\n{body}\n}}"
    return Case(name, operation, text, tuple(arrays), max(TOLERANCES.get(_element(t), 0) for t in outputs))


def _element(kind: str) -> str:
    return kind.rpartition("x")[2].removeprefix("tensor<").removesuffix(">")


def _array(kind: str, random: Random, extreme: bool, low: float | None, high: float | None) -> Array:
    element = _element(kind)
    if element == "bf16":
        import ml_dtypes  # noqa: PLC0415  only where such a type is

        (wide,) = arrays_of([kind.replace("bf16", "f32")], random)
        return wide.astype(ml_dtypes.bfloat16)
    (array,) = arrays_of([kind], random)
    flat = array.reshape(-1)
    if low is not None and high is not None:
        drawn = [random.uniform(low, high) if element[0] in "bf" else random.randint(int(low), int(high)) for _ in flat]
        flat[:] = np.array(drawn).astype(flat.dtype)
    elif element == "i1":
        flat[:] = [random.random() < 0.5 for _ in flat]
    elif extreme and element in EXTREMES:
        for n in range(len(flat)):
            if random.random() < 0.7:
                flat[n] = random.choice(EXTREMES[element])
    return array


def zero(element: str, value: str = "0") -> Const:
    """A zero point."""
    return Const(f"tensor<1x{element}>", value + ".0" if element[0] in "bf" and "." not in value else value)


def _elementwise() -> list[Case]:
    return [*_arithmetic(), *_shifts_and_limits(), *_products_and_casts()]


def _arithmetic() -> list[Case]:
    out: list[Case] = []
    for element in ("f32", "f16"):
        t = f"tensor<3x7x{element}>"
        for operations, low, high in (
            (("ceil", "floor", "exp", "erf", "tanh", "sigmoid", "abs", "reciprocal"), -3, 3),
            (("log", "rsqrt"), 0.1, 9),
            (("cos", "sin"), -7, 7),
        ):
            out += [case(f"{op}_{element}", op, [t], t, low=low, high=high) for op in operations]
        out.append(case(f"pow_{element}", "pow", [t, t], t, low=0.2, high=3))
    out += [
        case(f"{op}_i32", op, ["tensor<3x7xi32>"], "tensor<3x7xi32>", extreme=op != "abs")
        for op in ("abs", "clz", "bitwise_not")
    ]
    out.append(case("logical_not_i1", "logical_not", ["tensor<9xi1>"], "tensor<9xi1>"))
    out.append(case("identity_f32", "identity", ["tensor<2x3xf32>"], "tensor<2x3xf32>"))
    for op, kinds in (
        ("add", ("f32", "i32", "f16", "bf16")), ("sub", ("f32", "i32")), ("maximum", ("f32", "i32")),
        ("minimum", ("f32", "i32")), ("intdiv", ("i32",)), ("bitwise_and", ("i32", "i8")), ("bitwise_or", ("i16",)),
        ("bitwise_xor", ("i32",)),
    ):  # fmt: skip
        for element in kinds:
            a, b, r = (f"tensor<{s}x{element}>" for s in ("4x1x5", "1x3x5", "4x3x5"))
            low, high = (1, 9) if op == "intdiv" else (None, None)
            out.append(case(f"{op}_{element}", op, [a, b], r, extreme=op != "intdiv", low=low, high=high))
    out.append(case("intdiv_signs", "intdiv", ["tensor<40xi32>", Const("tensor<1xi32>", "-3")], "tensor<40xi32>"))
    for op in ("maximum", "minimum"):
        t = "tensor<64xf32>"
        out.append(case(f"{op}_ignore", op, [t, t], t, "nan_mode = IGNORE", extreme=True))
    out += [
        case(op, op, ["tensor<3x4xi1>", "tensor<1x4xi1>"], "tensor<3x4xi1>")
        for op in ("logical_and", "logical_or", "logical_xor")
    ]
    for op in ("equal", "greater", "greater_equal"):
        for element in ("f32", "i32"):
            a, b = f"tensor<8x5x{element}>", f"tensor<1x5x{element}>"
            out.append(case(f"{op}_{element}", op, [a, b], "tensor<8x5xi1>", extreme=True))
    return out


def _shifts_and_limits() -> list[Case]:
    out: list[Case] = []
    for op in ("logical_left_shift", "logical_right_shift"):
        for element, most in (("i32", 31), ("i8", 7)):
            t = f"tensor<12x{element}>"
            by = Const(t, str([n * most // 11 for n in range(12)]))
            out.append(case(f"{op}_{element}", op, [t, by], t, extreme=True))
    for round in ("true", "false"):
        for element, most in (("i32", 31), ("i16", 15)):
            t = f"tensor<12x{element}>"
            by = Const(t, str([n * most // 11 for n in range(12)]))
            name = f"arithmetic_right_shift_{element}_{round}"
            out.append(case(name, "arithmetic_right_shift", [t, by], t, f"round = {round}", extreme=True))
    for element, attributes in (
        ("f32", "min_val = -1.5 : f32, max_val = 2.0 : f32"),
        ("f32", "min_val = -1.5 : f32, max_val = 2.0 : f32, nan_mode = IGNORE"),
        ("i8", "min_val = -3 : i8, max_val = 100 : i8"),
        ("f16", "min_val = 0.0 : f16, max_val = 6.0 : f16"),
    ):
        t = f"tensor<5x9x{element}>"
        name = f"clamp_{element}{'_ignore' if 'IGNORE' in attributes else ''}"
        out.append(case(name, "clamp", [t], t, attributes, extreme=True))
    return out


def _products_and_casts() -> list[Case]:
    out: list[Case] = []
    out.append(case("negate_f32", "negate", ["tensor<9xf32>", zero("f32"), zero("f32")], "tensor<9xf32>"))
    out.append(case("negate_i32", "negate", ["tensor<9xi32>", zero("i32"), zero("i32")], "tensor<9xi32>"))
    for a, b in (("0", "0"), ("5", "-7")):
        operands = ["tensor<30xi8>", zero("i8", a), zero("i8", b)]
        out.append(case(f"negate_i8_{a}", "negate", operands, "tensor<30xi8>", extreme=True))
    for shift in ("0", "5", "31"):
        t = "tensor<4x10xi32>"
        name = f"mul_i32_{shift}"
        out.append(case(name, "mul", [t, t, Const("tensor<1xi8>", shift)], t, extreme=shift != "0"))
    out.append(case("mul_f32", "mul", ["tensor<4x1xf32>", "tensor<1x5xf32>", zero("i8")], "tensor<4x5xf32>"))
    out.append(case("mul_i8", "mul", ["tensor<20xi8>", "tensor<20xi8>", zero("i8")], "tensor<20xi32>", extreme=True))
    for element in ("f32", "i8", "i1"):
        kinds = ["tensor<3x5xi1>", f"tensor<1x5x{element}>", f"tensor<3x5x{element}>"]
        out.append(case(f"select_{element}", "select", kinds, f"tensor<3x5x{element}>"))
    for a, b in (
        ("f32", "i32"), ("f32", "i8"), ("f32", "i16"), ("f16", "i8"), ("f32", "f16"), ("f16", "f32"), ("i32", "f32"),
        ("i8", "f32"), ("i1", "f32"), ("i1", "i32"), ("i32", "i1"), ("i32", "i8"), ("i8", "i32"), ("f32", "bf16"),
    ):  # fmt: skip
        extreme = not (a == "f32" and b == "i32")
        out.append(case(f"cast_{a}_{b}", "cast", [f"tensor<40x{a}>"], f"tensor<40x{b}>", extreme=extreme))
    return out


def _layout() -> list[Case]:
    f = "tensor<2x3x4xf32>"
    return [
        case("concat", "concat", [f, "tensor<2x1x4xf32>", f], "tensor<2x7x4xf32>", "axis = 1 : i32"),
        case("pad", "pad", [f, (0, 1, 2, 0, 1, 1), Const("tensor<1xf32>", "2.5")], "tensor<3x5x6xf32>"),
        case("pad_i8", "pad", ["tensor<3xi8>", (2, 1), Const("tensor<1xi8>", "-5")], "tensor<6xi8>"),
        case("reshape", "reshape", [f, (4, 6)], "tensor<4x6xf32>"),
        case("reshape_rest", "reshape", [f, (-1, 2)], "tensor<12x2xf32>"),
        case("reshape_scalar", "reshape", ["tensor<1x1xi32>", ()], "tensor<i32>"),
        case("reverse", "reverse", [f], f, "axis = 2 : i32"),
        case("slice", "slice", [f, (0, 1, 2), (2, 2, 1)], "tensor<2x2x1xf32>"),
        case("tile", "tile", ["tensor<2x1x3xi32>", (1, 3, 2)], "tensor<2x3x6xi32>"),
        case("transpose", "transpose", [f], "tensor<4x2x3xf32>", "perms = array<i32: 2, 0, 1>"),
        case("gather", "gather", [f, Const("tensor<2x5xi32>", "[[0, 2, 1, 1, 0], [2, 2, 0, 1, 2]]")],
             "tensor<2x5x4xf32>"),
        case("scatter", "scatter", [f, Const("tensor<2x2xi32>", "[[2, 0], [1, 2]]"), "tensor<2x2x4xf32>"], f),
        case("dynamic_add", "add", ["tensor<?x4xf32>", "tensor<1x4xf32>"], "tensor<?x4xf32>"),
        case("dynamic_transpose", "transpose", ["tensor<?x2xf32>"], "tensor<2x?xf32>", "perms = array<i32: 1, 0>"),
        case("dynamic_reduce", "reduce_sum", ["tensor<?x4xf32>"], "tensor<?x1xf32>", "axis = 1 : i32"),
        case("dynamic_matmul", "matmul", ["tensor<?x3x4xf32>", "tensor<?x4x2xf32>", zero("f32"), zero("f32")],
             "tensor<?x3x2xf32>"),
    ]  # fmt: skip


def _reductions() -> list[Case]:
    out: list[Case] = []
    for op in ("reduce_sum", "reduce_product", "reduce_max", "reduce_min"):
        for element in ("f32", "i32"):
            for axis, shape in ((0, "1x4x5"), (2, "3x4x1")):
                name = f"{op}_{element}_{axis}"
                r = f"tensor<{shape}x{element}>"
                out.append(case(name, op, [f"tensor<3x4x5x{element}>"], r, f"axis = {axis} : i32"))
    for op in ("reduce_max", "reduce_min"):
        attributes = "axis = 1 : i32, nan_mode = IGNORE"
        out.append(case(f"{op}_ignore", op, ["tensor<30x3xf32>"], "tensor<30x1xf32>", attributes, extreme=True))
        out.append(case(f"{op}_nan", op, ["tensor<30x3xf32>"], "tensor<30x1xf32>", "axis = 1 : i32", extreme=True))
    out += [case(op, op, ["tensor<9x2xi1>"], "tensor<9x1xi1>", "axis = 1 : i32") for op in ("reduce_all", "reduce_any")]
    for element in ("f32", "i8"):
        kind = f"tensor<4x6x{element}>"
        out.append(case(f"argmax_{element}", "argmax", [kind], "tensor<4xi32>", "axis = 1 : i32"))
        out.append(case(f"argmax_{element}_0", "argmax", [kind], "tensor<6xi32>", "axis = 0 : i32"))
    for mode in ("", ", nan_mode = IGNORE"):
        attributes = f"axis = 1 : i32{mode}"
        name = f"argmax_nan{'_ignore' if mode else ''}"
        out.append(case(name, "argmax", ["tensor<30x5xf32>"], "tensor<30xi32>", attributes, extreme=True))
    return out


def _windows() -> list[Case]:
    out: list[Case] = []
    for element, acc, zp, wzp in (("f32", "f32", "0", "0"), ("i8", "i32", "3", "-2")):
        zeros = [zero(element, zp), zero(element, wzp)]
        sum_ = "f32" if element == "f32" else "i32"
        for n, (pad, stride, dilation, shape) in enumerate(
            (((0, 0, 0, 0), (1, 1), (1, 1), "5x5"), ((1, 1, 2, 0), (2, 3), (1, 1), "4x3"),
             ((1, 1, 1, 1), (1, 1), (2, 2), "5x5"))
        ):  # fmt: skip
            attributes = f"acc_type = {acc}, pad = array<i64: {_list(pad)}>, stride = array<i64: {_list(stride)}>, "
            attributes += f"dilation = array<i64: {_list(dilation)}>"
            window = "3x3"
            image = f"tensor<2x7x7x4x{element}>"
            operands = [image, f"tensor<6x{window}x4x{element}>", f"tensor<6x{sum_}>", *zeros]
            out.append(case(f"conv2d_{element}_{n}", "conv2d", operands, f"tensor<2x{shape}x6x{sum_}>", attributes))
            operands = [image, f"tensor<{window}x4x2x{element}>", f"tensor<8x{sum_}>", *zeros]
            name = f"depthwise_{element}_{n}"
            out.append(case(name, "depthwise_conv2d", operands, f"tensor<2x{shape}x8x{sum_}>", attributes))
        attributes = f"acc_type = {acc}, pad = array<i64: 0, 1, 1, 0, 0, 0>, stride = array<i64: 1, 2, 1>, "
        attributes += "dilation = array<i64: 1, 1, 2>"
        operands = [f"tensor<1x4x5x6x2x{element}>", f"tensor<3x2x2x2x2x{element}>", f"tensor<3x{sum_}>", *zeros]
        out.append(case(f"conv3d_{element}", "conv3d", operands, f"tensor<1x4x3x4x3x{sum_}>", attributes))
        for n, (pad, stride, shape) in enumerate(
            (((0, 0, 0, 0), (1, 1), "6x6"), ((1, 0, 0, 2), (2, 3), "10x14"), ((-1, -1, 0, 0), (2, 1), "7x6"))
        ):
            attributes = f"acc_type = {acc}, out_pad = array<i64: {_list(pad)}>, stride = array<i64: {_list(stride)}>"
            operands = [f"tensor<1x4x4x2x{element}>", f"tensor<5x3x3x2x{element}>", f"tensor<5x{sum_}>", *zeros]
            name = f"transpose_conv2d_{element}_{n}"
            out.append(case(name, "transpose_conv2d", operands, f"tensor<1x{shape}x5x{sum_}>", attributes))
        operands = [f"tensor<2x3x4x{element}>", f"tensor<2x4x5x{element}>", *zeros]
        out.append(case(f"matmul_{element}", "matmul", operands, f"tensor<2x3x5x{sum_}>"))
    for element, acc in (("f32", "f32"), ("i8", "i32"), ("f16", "f32")):
        for n, (kernel, stride, pad, shape) in enumerate(
            (((2, 2), (2, 2), (0, 0, 0, 0), "3x3"), ((3, 2), (1, 3), (1, 1, 1, 1), "6x3"))
        ):
            windows = f"kernel = array<i64: {_list(kernel)}>, stride = array<i64: {_list(stride)}>, "
            windows += f"pad = array<i64: {_list(pad)}>"
            image, r = f"tensor<1x6x6x3x{element}>", f"tensor<1x{shape}x3x{element}>"
            zeros = [zero(element, "4"), zero(element, "-3")] if element == "i8" else [zero(element)] * 2
            attributes = f"acc_type = {acc}, {windows}"
            out.append(case(f"avg_pool2d_{element}_{n}", "avg_pool2d", [image, *zeros], r, attributes))
            out.append(case(f"max_pool2d_{element}_{n}", "max_pool2d", [image], r, windows))
    windows = "kernel = array<i64: 2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>"
    for mode in ("PROPAGATE", "IGNORE"):
        attributes = f"{windows}, nan_mode = {mode}"
        kind = "tensor<1x5x5x2xf32>"
        out.append(case(f"max_pool2d_{mode}", "max_pool2d", [kind], "tensor<1x4x4x2xf32>", attributes, extreme=True))
    f = "tensor<2x4x8xf32>"
    out += [case(f"fft2d_{inverse}", "fft2d", [f, f], [f, f], f"inverse = {inverse}") for inverse in ("true", "false")]
    out.append(case("rfft2d", "rfft2d", [f], ["tensor<2x4x5xf32>"] * 2))
    return out


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _quantized() -> list[Case]:
    out: list[Case] = []
    modes = "input_unsigned = false, output_unsigned = false"
    for a, b in (("i8", "i8"), ("i32", "i8"), ("i8", "i32"), ("i32", "i16"), ("i16", "i8")):
        for rounding in ("SINGLE_ROUND", "DOUBLE_ROUND"):
            operands = [
                f"tensor<4x10x{a}>", Const("tensor<1xi32>", "1431655765"), Const("tensor<1xi8>", "37"),
                zero(a, "3" if a == "i8" else "0"), zero(b, "-4" if b == "i8" else "0"),
            ]  # fmt: skip
            attributes = f"scale32 = true, rounding_mode = {rounding}, per_channel = false, {modes}"
            name = f"rescale_{a}_{b}_{rounding}"
            out.append(case(name, "rescale", operands, f"tensor<4x10x{b}>", attributes, extreme=True))
    operands = [
        "tensor<4x3xi32>", Const("tensor<3xi32>", "[1073741824, 2000000000, 1100000000]"),
        Const("tensor<3xi8>", "[30, 34, 39]"), zero("i32"), zero("i8", "2"),
    ]  # fmt: skip
    attributes = f"scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = true, {modes}"
    out.append(case("rescale_channels", "rescale", operands, "tensor<4x3xi8>", attributes, low=-3000, high=3000))
    operands = ["tensor<30xi8>", Const("tensor<1xi16>", "19000"), Const("tensor<1xi8>", "14"), zero("i8"), zero("i8")]
    attributes = f"scale32 = false, rounding_mode = SINGLE_ROUND, per_channel = false, {modes}"
    out.append(case("rescale_16", "rescale", operands, "tensor<30xi8>", attributes, extreme=True))
    operands = [
        "tensor<40xi8>", Const("tensor<1xi32>", "1073741824"), Const("tensor<1xi8>", "30"), zero("i8", "-128"),
        zero("i8"),
    ]  # fmt: skip
    attributes = "scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, "
    unsigned = attributes + "input_unsigned = true, output_unsigned = false"
    out.append(case("rescale_unsigned_in", "rescale", operands, "tensor<40xi8>", unsigned, extreme=True))
    unsigned = attributes + "input_unsigned = false, output_unsigned = true"
    out.append(case("rescale_unsigned_out", "rescale", operands, "tensor<40xi8>", unsigned, extreme=True))
    for rounding in ("SINGLE_ROUND", "DOUBLE_ROUND"):
        t = "tensor<24xi32>"
        operands = [t, Const(t, "1500000000"), Const("tensor<24xi8>", str([2 + (n * 60) // 24 for n in range(24)]))]
        attributes = f"rounding_mode = {rounding}"
        out.append(case(f"apply_scale_{rounding}", "apply_scale", operands, t, attributes, low=-900, high=900))
    table = Const("tensor<256xi8>", str([(n * 37 + 11) % 251 - 125 for n in range(256)]))
    out.append(case("table_i8", "table", ["tensor<20xi8>", table], "tensor<20xi8>", extreme=True))
    table = Const("tensor<513xi16>", str([(n * 97 + 11) % 60001 - 30000 for n in range(513)]))
    out.append(case("table_i16", "table", ["tensor<20xi16>", table], "tensor<20xi32>", extreme=True))
    # Of integers between the first element and what lies before it, LLVM interpolates with negative weights.
    for element, r, offset in (("f32", "f32", -1), ("i8", "i32", 1)):
        operands = [f"tensor<1x3x4x2x{element}>", (4, 2, 3, 1), (offset, 0), (1, 1)]
        shape = f"1x{(8 - offset + 1) // 2 + 1}x{(9 + 1) // 1 + 1}x2"
        out.append(case(f"resize_bilinear_{element}", "resize", operands, f"tensor<{shape}x{r}>", "mode = BILINEAR"))
        nearest = f"tensor<{shape}x{element}>"
        out.append(case(f"resize_nearest_{element}", "resize", operands, nearest, "mode = NEAREST_NEIGHBOR"))
    return out


def cases() -> list[Case]:
    """All cases."""
    return [*_elementwise(), *_layout(), *_reductions(), *_windows(), *_quantized()]
