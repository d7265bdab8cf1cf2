"""Programs, blocks and values that a verifier must reject.

Each row has the sentence or a part of it, and a package that breaks it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from commonir.base.codes import (
    DUPLICATE_NAME,
    MALFORMED_REGION,
    NOT_CONSTANT,
    UNDEFINED_VALUE,
    UNKNOWN_OPERATION,
    VIOLATED_CONSTRAINT,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
    WRONG_RESULT_TYPE,
    WRONG_TYPE,
)
from commonir.base.file_codes import MALFORMED_PROGRAM, MALFORMED_VALUE, MALFORMED_WEIGHTS

from tests.formats.coreml import building as b
from tests.formats.coreml.rules import (
    FLOAT64,
    HALF,
    INT64,
    NUMBER,
    TRUTH,
    UINT1,
    UINT8,
    Broken,
    Rule,
    X,
    asks,
    block_of,
    branch,
    classifier,
    conditional,
    constants,
    edited,
    loop,
    program,
    relu,
    repeats,
    stateful,
    with_op,
)

WIDE = b.tensor(b.FLOAT32, 5, 3)


def vector(*values: int) -> b.Message:
    """A vector of int32."""
    return b.immediate(b.tensor(b.INT32, len(values)), "ints", values)


def floats(shape: Sequence[int], *values: float) -> b.Message:
    """A tensor of fp32."""
    return b.immediate(b.tensor(b.FLOAT32, *shape), "floats", values)


def packed(code: int, shape: Sequence[int], values: bytes) -> b.Message:
    """A tensor whose elements are given as bytes."""
    return b.immediate(b.tensor(code, *shape), "bytes", values)


def weights_with(**changes: int) -> Broken:
    """A package whose weight file has other metadata."""
    fields = {"sentinel": 0xDEADBEEF, "code": 2, "size": 24, "place": 128, "padding": 0} | changes
    file = struct.pack("<II56x", 1, 2) + struct.pack("<IIQQQ32x", *fields.values()) + struct.pack("<6f", *range(6))
    return Broken(constants(b.blob(X, 64)), file)


def expanded(
    type: str, inputs: Mapping[str, b.Message], outputs: Sequence[b.Output], opset: str = "CoreML8"
) -> b.Message:
    """A model with a compressed constant that nothing uses, whose parameters are literals."""
    return program(b.op(type, inputs, outputs), relu(), opset=opset)


def attributed(type: str, inputs: Mapping[str, b.Message], outputs: Sequence[b.Output]) -> b.Message:
    """A model with a compressed constant of iOS 16, whose parameters are attributes."""
    return program(b.op(type, {}, outputs, attributes=inputs), relu(), opset="CoreML6")


def table(count: int, indices: bytes = bytes(8), groups: int = 1) -> b.Message:
    """A model with 8 weights looked up in a table of `count` values for each group."""
    inputs = {
        "indices": packed(UINT8, [8, 1], indices),
        "lut": floats([groups, 1, count, 1], *[0.5] * count * groups),
    }
    return expanded("constexpr_lut_to_dense", inputs, [("w", b.tensor(b.FLOAT32, 8, 1))])


def written(kind: b.Message) -> b.Message:
    """A model that writes a tensor of some type to its state."""
    cast = b.op("cast", {"x": "r", "dtype": b.text("fp32")}, [("v", X)])
    return stateful(cast, b.op("write_state", {"input": "s", "data": "v"}))


RULES: Sequence[Rule] = (
    # -- program
    Rule(
        "program: version other than 1",
        lambda: edited(lambda m: setattr(m.mlProgram, "version", 2)),
        MALFORMED_PROGRAM,
        "P1: the version of a program must be 1, found 2",
    ),
    Rule(
        "program: it has a function",
        lambda: edited(lambda m: m.mlProgram.functions.__delitem__(slice(None))),
        MALFORMED_PROGRAM,
        "P2: the program has no function",
    ),
    Rule(
        "program: opset without its block",
        lambda: edited(lambda m: setattr(m.mlProgram.functions[0].value, "opset", "CoreML6")),
        MALFORMED_PROGRAM,
        "F1: no specialization for the operation set 'CoreML6' that the function names",
    ),
    Rule(
        "program: op unknown in that opset",
        lambda: with_op("read_state", {"input": "x"}, opset="CoreML7"),
        UNKNOWN_OPERATION,
        "mil.read_state is an operation from CoreML8 on, but its block is written in CoreML7",
    ),
    Rule(
        "program: op unknown", lambda: with_op("rellu", {"x": "x"}), UNKNOWN_OPERATION, "unknown operation 'mil.rellu'"
    ),
    Rule(
        "program: parameter unknown in that opset",
        lambda: with_op(
            "gather",
            {"x": "x", "indices": vector(0), "axis": b.integer(0), "batch_dims": b.integer(0)},
            [("y", b.tensor(b.FLOAT32, 1, 3))],
        ),
        WRONG_OPERAND_COUNT,
        "mil.gather has no parameter 'batch_dims'",
    ),
    Rule(
        "program: required parameter absent",
        lambda: with_op("add", {"x": "x"}),
        WRONG_OPERAND_COUNT,
        "mil.add: operand 'y' is missing",
    ),
    Rule(
        "program: value not const where required",
        lambda: program(
            b.op("shape", {"x": "x"}, [("n", b.tensor(b.INT32, 2))]),
            b.op("transpose", {"x": "x", "perm": "n"}, [("y", X)]),
        ),
        NOT_CONSTANT,
        "mil.transpose: 'perm' must be constant",
    ),
    Rule(
        "program: type outside the domain",
        lambda: with_op("relu", {"x": vector(1)}, [("y", b.tensor(b.INT32, 1))]),
        WRONG_TYPE,
        "mil.relu: operand 'x': expected element type f16, f32, found i32",
    ),
    Rule(
        "program: int64 is not a type of values inside",
        lambda: with_op(
            "add",
            {
                "x": b.immediate(b.tensor(INT64, 1), "longInts", [1]),
                "y": b.immediate(b.tensor(INT64, 1), "longInts", [1]),
            },
            [("y", b.tensor(INT64, 1))],
        ),
        WRONG_TYPE,
        "mil.add: operand 'x': expected element type f16, f32, i32, found i64",
    ),
    Rule(
        "program: int8 is a type of values inside from version 8 on",
        lambda: with_op("reverse", {"x": packed(21, [2], b"ab")}, [("y", b.tensor(21, 2))], opset="CoreML6"),
        WRONG_TYPE,
        "mil.reverse: operand 'x': expected element type f16, f32, i1, i32, found i8",
    ),
    Rule(
        "program: type not shared",
        lambda: with_op("add", {"x": "x", "y": packed(b.FLOAT16, [2, 3], bytes(12))}),
        WRONG_TYPE,
        "mil.add: operand 'y': expected element type f32 as of the other operands, found f16",
    ),
    Rule(
        "program: wrong number of outputs",
        lambda: with_op("relu", {"x": "x"}, [("y", X), ("z", X)]),
        WRONG_RESULT_TYPE,
        "mil.relu: expected 1 result, found 2",
    ),
    Rule(
        "program: no outputs",
        lambda: program(b.op("relu", {"x": "x"}), relu()),
        WRONG_RESULT_TYPE,
        "mil.relu: expected 1 result, found 0",
    ),
    Rule(
        "program: declared output type that contradicts inference, in shape",
        lambda: with_op("relu", {"x": "x"}, [("y", WIDE)]),
        WRONG_RESULT_TYPE,
        "mil.relu: result 'y' is declared tensor<5x3xf32>, but the definition gives tensor<2x3xf32>",
    ),
    Rule(
        "program: declared output type that contradicts inference, in element type",
        lambda: with_op("relu", {"x": "x"}, [("y", HALF)], opset="CoreML6"),
        WRONG_RESULT_TYPE,
        "mil.relu: result 'y' is declared tensor<2x3xf16>, but the definition gives tensor<2x3xf32>",
    ),
    Rule(
        "program: use before definition",
        lambda: program(relu("z"), relu(name="z")),
        UNDEFINED_VALUE,
        "'z' is used before it is defined",
    ),
    Rule(
        "program: redefinition in a scope",
        lambda: program(relu(), relu()),
        DUPLICATE_NAME,
        "the name 'y' is defined twice in one block",
    ),
    Rule(
        "program: redefinition of an input",
        lambda: program(relu(name="x"), relu()),
        DUPLICATE_NAME,
        "the name 'x' is defined twice in one block",
    ),
    Rule(
        "program: redefinition in a nested scope",
        lambda: conditional(b.block([relu(name="a"), relu(name="a")], ["a"]), branch("c")),
        DUPLICATE_NAME,
        "the name 'a' is defined twice in one block",
    ),
    Rule(
        "program: block outputs undefined",
        lambda: program(relu(), outputs=["z"]),
        UNDEFINED_VALUE,
        "'z' is not defined",
    ),
    Rule(
        "program: nested block outputs undefined",
        lambda: conditional(b.block([], ["a"]), branch("c")),
        UNDEFINED_VALUE,
        "'a' is not defined",
    ),
    Rule(
        "program: const has a value",
        lambda: program(b.op("const", outputs=[("c", NUMBER)]), relu()),
        WRONG_ATTRIBUTE,
        "mil.const: attribute 'val' is missing",
    ),
    Rule(
        "program: const has no inputs",
        lambda: program(b.op("const", {"x": "x"}, [("c", NUMBER)], attributes={"val": b.integer(1)}), relu()),
        WRONG_OPERAND_COUNT,
        "mil.const has no parameter 'x'",
    ),
    Rule(
        "program: const has one output",
        lambda: program(
            b.op("const", outputs=[("c", NUMBER), ("d", NUMBER)], attributes={"val": b.integer(1)}), relu()
        ),
        WRONG_RESULT_TYPE,
        "mil.const: expected 1 result, found 2",
    ),
    # -- blocks
    Rule(
        "blocks: wrong block count, too few",
        lambda: with_op(
            "cond", {"pred": "p"}, [("y", X)], b.const("p", b.immediate(TRUTH, "bools", [True])), blocks=[branch("a")]
        ),
        MALFORMED_REGION,
        "mil.cond has 2 blocks, found 1",
    ),
    Rule(
        "blocks: wrong block count, of an operation without",
        lambda: with_op("relu", {"x": "x"}, blocks=[branch("a")]),
        MALFORMED_REGION,
        "mil.relu has 0 blocks, found 1",
    ),
    Rule(
        "blocks: block inputs that differ from loop_vars, in number",
        lambda: loop(asks(inputs=[]), repeats()),
        MALFORMED_REGION,
        "mil.while_loop: inputs of the condition: expected 1 value, found 0",
    ),
    Rule(
        "blocks: block inputs that differ from loop_vars, in type",
        lambda: loop(asks(inputs=[("v", WIDE)]), repeats()),
        MALFORMED_REGION,
        "mil.while_loop: inputs of the condition: expected tensor<2x3xf32>, found 'v' of type tensor<5x3xf32>",
    ),
    Rule(
        "blocks: block inputs that differ from loop_vars, in the body",
        lambda: loop(asks(), repeats(inputs=[("v", X), ("u", X)])),
        MALFORMED_REGION,
        "mil.while_loop: inputs of the body: expected 1 value, found 2",
    ),
    Rule(
        "blocks: block outputs that differ from loop_vars",
        lambda: loop(
            asks(),
            b.block(
                [b.op("cast", {"x": "v", "dtype": b.text("int32")}, [("w", b.tensor(b.INT32, 2, 3))])],
                ["w"],
                [("v", X)],
            ),
        ),
        MALFORMED_REGION,
        "mil.while_loop: outputs of the body: expected tensor<2x3xf32>, found 'w' of type tensor<2x3xi32>",
    ),
    Rule(
        "blocks: blocks of a cond have no inputs",
        lambda: conditional(branch("a", inputs=[("u", X)]), branch("c")),
        MALFORMED_REGION,
        "mil.cond: the first block must have no inputs",
    ),
    Rule(
        "blocks: outputs that differ between branches",
        lambda: conditional(branch("a"), b.block([b.op("shape", {"x": "x"}, [("c", b.tensor(b.INT32, 2))])], ["c"])),
        MALFORMED_REGION,
        "mil.cond: outputs of the second block: expected tensor<2x3xf32>, found 'c' of type tensor<2xi32>",
    ),
    Rule(
        "blocks: non-bool condition of a cond",
        lambda: conditional(branch("a"), branch("c"), pred=b.integer(1)),
        WRONG_TYPE,
        "mil.cond: operand 'pred': expected element type i1, found i32",
    ),
    Rule(
        "blocks: non-bool condition of a loop",
        lambda: loop(asks(b.integer(1)), repeats()),
        MALFORMED_REGION,
        "mil.while_loop: outputs of the condition: expected tensor<i1>, found 'go' of type tensor<i32>",
    ),
    Rule(
        "blocks: the block of a function has no inputs",
        lambda: edited(lambda m: block_of(m).inputs.add(name="u", type=X)),
        MALFORMED_REGION,
        "the block of a function has no inputs of its own, found 'u'",
    ),
    Rule(
        "blocks: state used by anything but read_state and write_state",
        lambda: stateful(relu("s", "z")),
        MALFORMED_PROGRAM,
        "S1: the state 's' can only be used by read_state and write_state",
    ),
    Rule(
        "blocks: state of another type than what is written",
        lambda: written(X),
        VIOLATED_CONSTRAINT,
        "mil.write_state: C1: input is a state of the type of data",
    ),
    Rule(
        "blocks: state of another type than what is read",
        lambda: edited(lambda m: block_of(m).operations[0].outputs[0].type.CopyFrom(X), stateful()),
        WRONG_RESULT_TYPE,
        "mil.read_state: result 'r' is declared tensor<2x3xf32>, but the definition gives tensor<2x3xf16>",
    ),
    Rule(
        "blocks: classify not last",
        lambda: classifier(b.const("c", b.integer(1))),
        MALFORMED_PROGRAM,
        "B1: classify must be the last operation of its block",
    ),
    Rule(
        "blocks: results of classify used",
        lambda: classifier(b.op("identity", {"x": "l"}, [("k", b.tensor(b.STRING))])),
        MALFORMED_PROGRAM,
        "B1: classify must be the last operation of its block",
    ),
    # -- values
    Rule(
        "values: element count",
        lambda: constants(b.immediate(X, "floats", [1.0])),
        MALFORMED_VALUE,
        "tensor<2x3xf32> has 6 elements, found 1",
    ),
    Rule(
        "values: element count of bytes",
        lambda: constants(packed(b.FLOAT16, [2], b"abc")),
        MALFORMED_VALUE,
        "tensor<2xf16> takes 4 bytes, found 3",
    ),
    Rule(
        "values: element count of packed elements",
        lambda: constants(packed(b.UINT4, [3], b"abc")),
        MALFORMED_VALUE,
        "tensor<3xui4> takes 2 bytes, found 3",
    ),
    Rule(
        "values: TensorValue field",
        lambda: constants(b.immediate(b.tensor(FLOAT64), "floats", [1.0])),
        MALFORMED_VALUE,
        "elements of type fp64 must be in the field 'doubles', found 'floats'",
    ),
    Rule(
        "values: declared type of a const is that of its value",
        lambda: program(b.op("const", outputs=[("c", WIDE)], attributes={"val": b.integer(1)}), relu()),
        WRONG_RESULT_TYPE,
        "mil.const: result 'c' is declared tensor<5x3xf32>, but the definition gives tensor<i32>",
    ),
    Rule(
        "values: blob type",
        lambda: weights_with(code=1),
        MALFORMED_WEIGHTS,
        "the tensor at offset 64 holds f16, but tensor<2x3xf32> is declared",
    ),
    Rule(
        "values: blob sentinel",
        lambda: weights_with(sentinel=0xDEADBEE0),
        MALFORMED_WEIGHTS,
        "there is no metadata at offset 64",
    ),
    Rule(
        "values: blob alignment",
        lambda: constants(b.blob(X, 72)),
        MALFORMED_WEIGHTS,
        "offset 72 is not a multiple of 64",
    ),
    Rule(
        "values: blob bounds of the data",
        lambda: weights_with(place=136),
        MALFORMED_WEIGHTS,
        "the data of the tensor at offset 64 leave the weight file",
    ),
    Rule(
        "values: blob bounds of the metadata",
        lambda: constants(b.blob(X, 1 << 40)),
        MALFORMED_WEIGHTS,
        "offset 1099511627776 leaves no room for metadata in a weight file of 152 bytes",
    ),
    Rule(
        "values: blob size",
        lambda: weights_with(size=20),
        MALFORMED_WEIGHTS,
        "the tensor at offset 64 has 20 bytes, but tensor<2x3xf32> takes 24",
    ),
    Rule(
        "values: blob padding",
        lambda: Broken(constants(b.blob(b.tensor(b.UINT4, 3), 64)), b.weight_file((11, b"\x21\x03"))),
        MALFORMED_WEIGHTS,
        "the tensor at offset 64 states 0 unused bits, but tensor<3xui4> leaves 4",
    ),
    Rule(
        "values: blob storage version 1",
        lambda: Broken(constants(b.blob(X, 64)), struct.pack("<II56x", 1, 1)),
        MALFORMED_WEIGHTS,
        "the weight file has blob storage version 1, expected 2",
    ),
    Rule(
        "values: there is no bool in a weight file",
        lambda: Broken(constants(b.blob(b.tensor(b.BOOL, 6), 64))),
        MALFORMED_WEIGHTS,
        "the tensor at offset 64 holds f32, but tensor<6xi1> is declared",
    ),
    # -- compressed constants
    Rule(
        "constexpr: mask population count",
        lambda: expanded(
            "constexpr_sparse_to_dense",
            {"nonzero_data": floats([2], 1, 2), "mask": packed(UINT1, [8], b"\x07")},
            [("w", b.tensor(b.FLOAT32, 8))],
        ),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_sparse_to_dense: C1: 2 values for 3 bits of the mask that are set",
    ),
    Rule(
        "constexpr: mask population count, iOS 16",
        lambda: attributed(
            "constexpr_sparse_to_dense",
            {
                "nonzero_data": floats([2], 1, 2),
                "mask": packed(UINT8, [1], b"\x07"),
                "shape": packed(33, [1], struct.pack("<I", 8)),
            },
            [("w", b.tensor(b.FLOAT32, 8))],
        ),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_sparse_to_dense: C3: 2 values for 3 bits of the mask that are set",
    ),
    Rule(
        "constexpr: spare bits of a mask are zero",
        lambda: attributed(
            "constexpr_sparse_to_dense",
            {
                "nonzero_data": floats([2], 1, 2),
                "mask": packed(UINT8, [1], b"\x41"),
                "shape": packed(33, [1], struct.pack("<I", 6)),
            },
            [("w", b.tensor(b.FLOAT32, 6))],
        ),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_sparse_to_dense: C4: bits of mask beyond the 6 elements must be 0",
    ),
    Rule(
        "constexpr: table size 2^n",
        lambda: table(5),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_lut_to_dense: C1: lut has two axes more than indices, and as many entries as an "
        "index can select",
    ),
    Rule(
        "constexpr: table size 2^n, iOS 16",
        lambda: attributed(
            "constexpr_lut_to_dense",
            {
                "indices": packed(UINT8, [1], b"\x00"),
                "lut": floats([3], 1, 2, 3),
                "shape": packed(33, [1], struct.pack("<I", 4)),
            },
            [("w", b.tensor(b.FLOAT32, 4))],
        ),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_lut_to_dense: C2: lut has 2, 4, 16, 64 or 256 entries",
    ),
    Rule(
        "constexpr: table of the size that the indices have",
        lambda: table(16),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_lut_to_dense: C1: lut has two axes more than indices, and as many entries as an "
        "index can select",
    ),
    Rule(
        "constexpr: divisible groups",
        lambda: table(256, groups=3),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_lut_to_dense: C2: the number of blocks along each axis divides its size",
    ),
    Rule(
        "constexpr: divisible blocks",
        lambda: expanded(
            "constexpr_blockwise_shift_scale",
            {"data": packed(21, [4, 8], bytes(32)), "scale": floats([4, 3], *[1.0] * 12)},
            [("w", b.tensor(b.FLOAT32, 4, 8))],
        ),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_blockwise_shift_scale: C1: scale and offset have the rank of data, at least 1, and "
        "their sizes divide its sizes",
    ),
    Rule(
        "constexpr: scale for a channel or for all",
        lambda: attributed(
            "constexpr_affine_dequantize",
            {
                "quantized_data": packed(21, [4], bytes(4)),
                "zero_point": packed(21, [], b"\x00"),
                "scale": floats([3], 1, 2, 3),
                "axis": b.integer(0),
            },
            [("w", b.tensor(b.FLOAT32, 4))],
        ),
        VIOLATED_CONSTRAINT,
        "mil.constexpr_affine_dequantize: C2: axis is one of the axes of quantized_data, and vectors have its size",
    ),
    Rule(
        "constexpr: parameters are constant",
        lambda: program(
            b.op("constexpr_blockwise_shift_scale", {"data": packed(21, [2, 3], bytes(6)), "scale": "x"}, [("w", X)]),
            relu(),
            opset="CoreML8",
        ),
        NOT_CONSTANT,
        "mil.constexpr_blockwise_shift_scale: 'scale' must be constant",
    ),
    Rule(
        "constexpr: values that are computed, and of another rank, are not counted against the mask",
        lambda: program(
            b.op("constexpr_sparse_to_dense", {"nonzero_data": "x", "mask": packed(UINT1, [8], b"1")}, [("w", X)]),
            relu(),
            opset="CoreML8",
        ),
        NOT_CONSTANT,
        "mil.constexpr_sparse_to_dense: 'nonzero_data' must be constant",
    ),
    Rule(
        "constexpr: none before iOS 16, also where iOS 18 defines it anew",
        lambda: program(b.op("constexpr_cast", {}, [("w", b.tensor(b.FLOAT32, 1))]), relu()),
        UNKNOWN_OPERATION,
        "mil.constexpr_cast is an operation from CoreML6 on, but its block is written in CoreML5",
    ),
    Rule(
        "constexpr: none before iOS 16",
        lambda: program(b.op("constexpr_affine_dequantize", {}, [("w", b.tensor(b.FLOAT32, 1))]), relu()),
        UNKNOWN_OPERATION,
        "mil.constexpr_affine_dequantize is an operation from CoreML6 on, but its block is written in CoreML5",
    ),
)
