"""A model with every construct that messages can hold, many of which no tool is known to write."""

from __future__ import annotations

import struct

from tests.formats.coreml import building as b

KIND = b.tensor(b.FLOAT32, 2, 3)
LONG = 24

UNKNOWN_FIELD = b"\x9a\x06\x03abc"
"""Field 99 with three bytes, of a later version."""
SIGNALLING_NAN = b"\x01\x00\xa0\x7f"

WEIGHTS = b.weight_file((2, struct.pack("<6f", 1, 2, 3, 4, 5, 6)), (1, bytes(24)), (11, b"\x21\x43\x05"))
MORE_WEIGHTS = b.weight_file((4, bytes(range(6))))
MORE_NAME = "@model_path/weights/more.bin"


def _offsets(content: bytes) -> list[int]:
    """The places of metadata in a weight file."""
    places: list[int] = []
    at = 64
    for _ in range(struct.unpack_from("<I", content)[0]):
        places.append(at)
        size, start = struct.unpack_from("<QQ", content, at + 8)
        at = -(-(start + size) // 64) * 64
    return places


def odd_types() -> list[tuple[str, b.Message]]:
    """A type of every kind."""
    listed, unknown, endless, paired, mapped, state = (b.make("ValueType") for _ in range(6))
    listed.listType.type.CopyFrom(KIND)
    listed.listType.length.constant.size = 0
    unknown.listType.type.CopyFrom(KIND)
    unknown.listType.length.unknown.SetInParent()
    endless.listType.type.CopyFrom(KIND)
    paired.tupleType.types.add().CopyFrom(b.tensor(b.BOOL))
    paired.tupleType.types.add().CopyFrom(listed)
    mapped.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
    mapped.dictionaryType.valueType.CopyFrom(b.tensor(12))
    state.stateType.wrappedType.CopyFrom(b.tensor(b.FLOAT16, 4))
    unranked, attributed = b.make("ValueType"), b.make("ValueType")
    unranked.tensorType.dataType = b.INT32
    unranked.tensorType.rank = -1
    attributed.CopyFrom(b.tensor(b.FLOAT16, 1, None))
    attributed.tensorType.attributes.add(key="layout", value=b.integer(1))
    attributed.tensorType.dimensions[1].unknown.variadic = True
    empty = b.make("ValueType")
    empty.tupleType.SetInParent()
    zero = b.tensor(b.FLOAT32, 0)
    kinds = (listed, unknown, endless, paired, mapped, state, unranked, attributed, empty, zero)
    return [(f"t{n}", kind) for n, kind in enumerate(kinds)]


def odd_values() -> list[b.Message]:
    """A constant of every kind."""
    out = [
        b.immediate(b.tensor(b.FLOAT32, 2), "floats", [1.5, -0.0]),
        b.immediate(b.tensor(12, 2), "doubles", [1e300, 0.1]),
        b.immediate(b.tensor(b.INT32, 12), "ints", range(-6, 6)),
        b.immediate(b.tensor(22, 2), "ints", [-32768, 1]),
        b.immediate(b.tensor(32, 2), "ints", [65535, 1]),
        b.immediate(b.tensor(LONG, 2), "longInts", [-(2**63), 1]),
        b.immediate(b.tensor(34, 2), "longInts", [-1, 1]),
        b.immediate(b.tensor(b.BOOL, 12), "bools", [True, False] * 6),
        b.immediate(b.tensor(b.STRING, 2, 1), "strings", ["é", ""]),
        b.immediate(b.tensor(b.FLOAT16, 12), "bytes", bytes(range(24))),
        b.immediate(b.tensor(33, 1), "bytes", b"\xff\xff\xff\xff"),
        b.immediate(b.tensor(b.UINT4, 3), "bytes", b"\x21\x03"),
        b.immediate(b.tensor(39, 3), "bytes", b"\xf5\x01"),
        b.immediate(b.tensor(40, 2), "bytes", b"\x7f\x01"),
        b.immediate(b.tensor(13, 1), "bytes", b"\x80\x3f"),
        b.immediate(b.tensor(b.FLOAT32, 0, 2), "floats", []),
        b.immediate(b.tensor(b.STRING, 0), "strings", []),
        b.immediate(b.tensor(b.FLOAT16, 0), "bytes", b""),
        b.strings_list("cat", "dog"),
        b.blob(b.tensor(b.FLOAT16, 12), _offsets(WEIGHTS)[1]),
        b.blob(b.tensor(b.UINT4, 6), _offsets(WEIGHTS)[2], "weights/weight.bin"),
        b.blob(b.tensor(21, 6), 64, MORE_NAME),
    ]
    nan = b.immediate(b.tensor(b.FLOAT32, 1), "floats", [0.0])
    nan.immediateValue.tensor.floats.ParseFromString(b"\x0a\x04" + SIGNALLING_NAN)
    documented = b.integer(4)
    documented.docString = "four"
    pairs, both, nothing = b.make("Value"), b.make("Value"), b.make("Value")
    pairs.type.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
    pairs.type.dictionaryType.valueType.CopyFrom(b.tensor(b.INT32))
    for key, value in (("k", 7), ("a", 8)):
        pair = pairs.immediateValue.dictionary.values.add()
        pair.key.CopyFrom(b.text(key))
        pair.value.CopyFrom(b.integer(value))
    both.type.tupleType.types.add().CopyFrom(b.tensor(b.STRING))
    both.type.tupleType.types.add().CopyFrom(b.tensor(b.FLOAT16, 12))
    both.immediateValue.tuple.values.add().CopyFrom(documented_text("t"))
    both.immediateValue.tuple.values.add().CopyFrom(b.blob(b.tensor(b.FLOAT16, 12), _offsets(WEIGHTS)[1]))
    nothing.type.listType.type.CopyFrom(b.tensor(b.STRING))
    nothing.type.listType.length.constant.SetInParent()
    nothing.immediateValue.list.SetInParent()
    return [*out, nan, documented, pairs, both, nothing]


def documented_text(value: str) -> b.Message:
    """A scalar string with documentation."""
    result = b.text(value)
    result.docString = f"about {value}"
    return result


def odd_operations() -> list[b.Message]:
    """Operations with every way of binding, naming and nesting."""
    inner = b.block([b.op("add", {"x": "v", "y": "x"}, [("t", KIND)])], ["t"], [("v", KIND)])
    inner.attributes.add(key="of_inner", value=b.integer(1))
    inner.MergeFromString(UNKNOWN_FIELD)
    condition = b.block([b.const("go", b.immediate(b.tensor(b.BOOL), "bools", [True]))], ["go"], [("v", KIND)])
    shadow = b.block([b.op("add", {"x": "v", "y": "v"}, [("x", KIND)])], ["x"], [("v", KIND)])
    unknown = b.op("of_tomorrow", {"z": ["x", b.integer(1)], "a": [], "m": "x"}, [("o", KIND)], blocks=[inner])
    unknown.attributes.add(key="kind", value=b.strings_list("p", "q"))
    unknown.MergeFromString(UNKNOWN_FIELD)
    unknown.inputs[0].value.arguments[1].MergeFromString(UNKNOWN_FIELD)
    table = b.immediate(b.tensor(b.FLOAT16, 1), "bytes", b"\x00\x3c")
    return [
        b.const("w", b.blob(KIND, 64)),
        b.op("add", {"y": "w", "x": "x"}, [("s", KIND)], attributes={"extra": b.integer(1)}),
        b.op("softmax", {"x": "s", "axis": b.integer(0)}, [("p", KIND)], name="other"),
        b.op("softmax", {"x": "p"}, [("q", KIND)], name=None),
        b.op("concat", {"values": ["x", "q", b.blob(KIND, 64)], "axis": b.integer(1)}, [("c", b.tensor(11, 2, 9))]),
        b.op("concat", {"values": []}, [("e", b.tensor(11, 0))]),
        b.op("split", {"x": "c"}, [("a", KIND), ("b", KIND)]),
        b.op("while_loop", {"loop_vars": ["a"]}, [("l", KIND)], blocks=[condition, inner]),
        b.op("while_loop", {"loop_vars": ["l"]}, [("m", KIND)], blocks=[condition, shadow]),
        b.op("constexpr_expand", {}, [("g", KIND)], attributes={"table": table, "axis": b.integer(3)}),
        b.op("custom_layer", {"x": "m"}, [("k", KIND)], attributes={"class_name": b.text("Mine")}),
        b.op("write_state", {"input": "t5", "data": "h"}, [], name=None),
        unknown,
        *[b.const(f"v{n}", value) for n, value in enumerate(odd_values())],
    ]


def odd_model() -> b.Message:
    """The model. Its weight files are `WEIGHTS` and `MORE_WEIGHTS`."""
    body = b.block(odd_operations(), ["m", "o", "v0"])
    body.attributes.add(key="of_block", value=documented_text("block"))
    function = b.function([("x", KIND), ("h", b.tensor(b.FLOAT16, 4)), *odd_types()], body, "CoreML8")
    function.inputs[0].MergeFromString(UNKNOWN_FIELD)
    older = b.block([b.op("softmax", {"x": "x"}, [("m", KIND)])], ["m", "x", "x"])
    function.block_specializations.add(key="CoreML5", value=older)
    function.attributes.add(key="of_function", value=b.strings_list("f"))
    function.MergeFromString(UNKNOWN_FIELD)
    program = b.program({"zeta": function, "main": function, "alpha": b.make("Function", opset="CoreML5")})
    program.docString = "what it does"
    program.attributes.add(key="of_program", value=b.strings_list("a", "b"))
    program.attributes.add(key="buildInfo", value=b.text("info"))
    program.MergeFromString(UNKNOWN_FIELD)
    content = b.model(program, 9)
    content.isUpdatable = True
    content.description.metadata.author = "somebody"
    content.description.metadata.userDefined.add(key="k", value="v")
    content.description.input[0].shortDescription = "the input"
    content.description.MergeFromString(UNKNOWN_FIELD)
    return content
