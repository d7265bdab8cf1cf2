"""Every requirement of the MIL specification (`MILSpec.Program`) with a package that breaks it."""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import (
    DUPLICATE_NAME,
    MALFORMED_REGION,
    UNDEFINED_VALUE,
    UNKNOWN_OPERATION,
    WRONG_OPERAND_COUNT,
    WRONG_RESULT_TYPE,
)
from commonir.base.file_codes import (
    INTERFACE_MISMATCH,
    INVALID_NAME,
    MALFORMED_PROGRAM,
    MALFORMED_TYPE,
    MALFORMED_VALUE,
    MALFORMED_WEIGHTS,
)

from tests.formats.coreml import building as b
from tests.formats.coreml.rules import (
    HALF,
    NUMBER,
    Rule,
    X,
    block_of,
    branch,
    conditional,
    constants,
    edited,
    functions,
    image,
    main_of,
    program,
    relu,
    with_op,
)


def key(entries: b.Message) -> object:
    """Adds an attribute whose name begins with a digit."""
    return entries.add(key="1a", value=b.integer(1))


def specializations(*blocks: tuple[str, b.Message], opset: str = "CoreML5") -> b.Message:
    """A model of one function with several blocks."""
    one = b.function([("x", X)], b.block([relu()], ["y"]), opset)
    del one.block_specializations[:]
    for name, body in blocks:
        one.block_specializations.add(key=name, value=body)
    return b.model(b.program({"main": one}))


def typed(kind: b.Message) -> b.Message:
    """A model with an operation whose result has a type."""
    return program(relu(name="z", kind=kind), relu())


def malformed(change: str) -> b.Message:
    """A tensor type with something wrong."""
    kind = b.tensor(b.FLOAT32, 2, 3)
    match change:
        case "rank":
            kind.tensorType.rank = 3
        case "dimension":
            kind.tensorType.dimensions.add()
            kind.tensorType.rank = 3
        case "unused":
            kind.tensorType.dataType = 0
        case _:
            kind.tensorType.dataType = 99
    return kind


def unbound() -> b.Message:
    """A model with a binding of neither kind."""
    built = program(relu())
    del block_of(built).operations[0].inputs[0].value.arguments[0]
    block_of(built).operations[0].inputs[0].value.arguments.add()
    return built


def unequal(field: str) -> b.Message:
    """A list, tuple or dictionary whose value contradicts its type."""
    value = b.make("Value")
    if field == "list":
        value = b.strings_list("a", "b")
        value.type.listType.length.constant.size = 3
    elif field == "tuple":
        value.type.tupleType.types.add().CopyFrom(NUMBER)
        value.immediateValue.tuple.SetInParent()
    else:
        value.type.dictionaryType.keyType.CopyFrom(b.tensor(b.STRING))
        value.type.dictionaryType.valueType.CopyFrom(NUMBER)
        value.immediateValue.dictionary.values.add(key=b.integer(1), value=b.integer(1))
    return value


WELL_FORMED = "must be letters, digits, '_' and '@', and begin with a letter or '_'"
ADD = b.block([relu()], ["y"])

RULES: Sequence[Rule] = (
    Rule(
        "Program.functions: names must be unique within the program",
        lambda: edited(lambda m: m.mlProgram.functions.add(key="main", value=main_of(m))),
        DUPLICATE_NAME,
        "the function 'main' is defined twice",
    ),
    Rule(
        "Program.functions: names must be valid identifiers",
        lambda: functions(["a", "1b"]),
        INVALID_NAME,
        "N1: the function name '1b' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Program.attributes: keys must be valid identifiers",
        lambda: edited(lambda m: key(m.mlProgram.attributes)),
        INVALID_NAME,
        "N1: the attribute name '1a' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Function.inputs: names must be valid identifiers",
        lambda: program(relu("1x"), inputs=[("1x", X)]),
        INVALID_NAME,
        "N1: the input name '1x' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Function.inputs: those of images are rank-4 tensors",
        lambda: image((3, 4, 8)),
        INTERFACE_MISMATCH,
        "D7: an image is a tensor of rank 4, but its value is tensor<3x4x8xf32>",
    ),
    Rule(
        "Function.inputs: images have N = 1",
        lambda: image((2, 3, 4, 8)),
        INTERFACE_MISMATCH,
        "D7: dimension 0 of the image must be 1, found 2",
    ),
    Rule(
        "Function.inputs: images have C = 1 for grayscale and 3 for RGB",
        lambda: image((1, 1, 4, 8)),
        INTERFACE_MISMATCH,
        "D7: dimension 1 of the image must be 3, found 1",
    ),
    Rule(
        "Function.opset: the key must exist in block_specializations",
        lambda: specializations(("CoreML6", ADD)),
        MALFORMED_PROGRAM,
        "F1: no specialization for the operation set 'CoreML5' that the function names",
    ),
    Rule(
        "Function.block_specializations: keys are names of operation sets",
        lambda: specializations(("CoreML5", ADD), ("CoreML55", ADD)),
        MALFORMED_PROGRAM,
        "F3: unknown operation set 'CoreML55'",
    ),
    Rule(
        "Function.block_specializations: outputs from all blocks must match",
        lambda: specializations(("CoreML5", ADD), ("CoreML6", b.block([relu(name="z")], ["z"]))),
        MALFORMED_PROGRAM,
        "F2: the outputs of specialization 'CoreML6' differ from those of 'CoreML5'",
    ),
    Rule(
        "Function.attributes: keys must be valid identifiers",
        lambda: edited(lambda m: key(main_of(m).attributes)),
        INVALID_NAME,
        "N1: the attribute name '1a' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Block.inputs: names must be valid identifiers",
        lambda: with_op(
            "while_loop",
            {"loop_vars": ["x"]},
            blocks=[b.block([], ["1v"], [("1v", X)]), b.block([relu("1v", "w")], ["w"], [("1v", X)])],
        ),
        INVALID_NAME,
        "N1: the block input name '1v' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Block.outputs: names must be valid identifiers",
        lambda: program(relu(name="1y"), outputs=["1y"]),
        INVALID_NAME,
        "N1: the output name '1y' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Block.outputs: each is an output of one of the operations",
        lambda: program(relu(), outputs=["z"]),
        UNDEFINED_VALUE,
        "'z' is not defined",
    ),
    Rule(
        "Block.operations: they are topologically sorted",
        lambda: program(relu("z"), relu(name="z")),
        UNDEFINED_VALUE,
        "'z' is used before it is defined",
    ),
    Rule(
        "Block.operations: values of a nested block are not seen outside of it",
        lambda: edited(
            lambda m: block_of(m).operations.append(relu("inner", "z")),
            conditional(branch("inner"), branch("inner")),
        ),
        UNDEFINED_VALUE,
        "'inner' is not defined",
    ),
    Rule(
        "Block.attributes: keys must be valid identifiers",
        lambda: edited(lambda m: key(block_of(m).attributes)),
        INVALID_NAME,
        "N1: the attribute name '1a' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Argument.Binding.name: the name of a previously defined value",
        lambda: program(relu("w")),
        UNDEFINED_VALUE,
        "'w' is not defined",
    ),
    Rule("Argument.Binding: a name or a value", unbound, UNDEFINED_VALUE, "the parameter is bound to nothing"),
    Rule(
        "Argument.Binding.value: a compile time constant, not in a file that does not hold it",
        lambda: with_op("relu", {"x": b.blob(X, 128)}),
        MALFORMED_WEIGHTS,
        "offset 128 leaves no room for metadata in a weight file of 152 bytes",
    ),
    Rule(
        "Operation.type: it defines the operation",
        lambda: with_op("rleu", {"x": "x"}),
        UNKNOWN_OPERATION,
        "unknown operation 'mil.rleu'",
    ),
    Rule(
        "Operation.type: it defines the expected inputs",
        lambda: with_op("relu", {"x": "x", "z": "x"}),
        WRONG_OPERAND_COUNT,
        "mil.relu has no parameter 'z'",
    ),
    Rule(
        "Operation.type: it defines the expected outputs",
        lambda: with_op("relu", {"x": "x"}, [("y", X), ("z", X)]),
        WRONG_RESULT_TYPE,
        "mil.relu: expected 1 result, found 2",
    ),
    Rule(
        "Operation.inputs: an argument is of length 1 where it is not variable",
        lambda: with_op("relu", {"x": ["x", "x"]}),
        WRONG_OPERAND_COUNT,
        "mil.relu: parameter 'x' takes one value, found 2",
    ),
    Rule(
        "Operation.outputs: names must be valid identifiers",
        lambda: program(relu(name="a.b"), relu()),
        INVALID_NAME,
        "N1: the output name 'a.b' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "Operation.outputs: names must be unique within the current scope",
        lambda: program(relu(), relu()),
        DUPLICATE_NAME,
        "the name 'y' is defined twice in one block",
    ),
    Rule(
        "Operation.blocks: a conditional has two",
        lambda: conditional(branch("a"), branch("c"), branch("d")),
        MALFORMED_REGION,
        "mil.cond has 2 blocks, found 3",
    ),
    Rule(
        "Operation.attributes: keys must be valid identifiers",
        lambda: edited(lambda m: key(block_of(m).operations[0].attributes)),
        INVALID_NAME,
        "N1: the attribute name '1a' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "NamedValueType.name: it must be a valid identifier",
        lambda: program(relu(""), inputs=[("", X)]),
        INVALID_NAME,
        "N1: the input name '' must be letters, digits, '_' and '@', and begin with a letter or '_'",
    ),
    Rule(
        "ValueType.type: one of the kinds",
        lambda: typed(b.make("ValueType")),
        MALFORMED_TYPE,
        "the type is missing or of a kind that is not known",
    ),
    Rule(
        "DataType: UNUSED_TYPE is not in use",
        lambda: typed(malformed("unused")),
        MALFORMED_TYPE,
        "0 is not the number of a data type",
    ),
    Rule(
        "DataType: it is one of the enumeration",
        lambda: typed(malformed("code")),
        MALFORMED_TYPE,
        "99 is not the number of a data type",
    ),
    Rule(
        "TensorType.dimensions: of length rank",
        lambda: typed(malformed("rank")),
        MALFORMED_TYPE,
        "the tensor type states rank 3 and has 2 dimensions",
    ),
    Rule(
        "Dimension: constant or unknown",
        lambda: typed(malformed("dimension")),
        MALFORMED_TYPE,
        "a dimension of the type is neither constant nor unknown",
    ),
    Rule(
        "Value.type: it never contains an unknown shape",
        lambda: constants(b.immediate(b.tensor(b.INT32, None), "ints", [1])),
        MALFORMED_VALUE,
        "the type of a constant must have no unknown dimension, found tensor<?xi32>",
    ),
    Rule(
        "Value.value: immediate or in a file",
        lambda: constants(b.make("Value", type=NUMBER)),
        MALFORMED_VALUE,
        "the constant of type tensor<i32> has no value",
    ),
    Rule(
        "TensorValue: it has the elements of its type",
        lambda: constants(b.immediate(X, "floats", [1.0])),
        MALFORMED_VALUE,
        "tensor<2x3xf32> has 6 elements, found 1",
    ),
    Rule(
        "TensorValue: it has the field of its type",
        lambda: constants(b.immediate(HALF, "floats", [1.0] * 6)),
        MALFORMED_VALUE,
        "elements of type fp16 must be in the field 'bytes', found 'floats'",
    ),
    Rule(
        "TupleValue: it has the values of its type",
        lambda: constants(unequal("tuple")),
        MALFORMED_VALUE,
        "tuple<tensor<i32>> is declared, but the tuple has 0 values",
    ),
    Rule(
        "ListValue: it has the length of its type",
        lambda: constants(unequal("list")),
        MALFORMED_VALUE,
        "!builtin.list<tensor<!builtin.string>, 3> is declared, but the list has 2 values",
    ),
    Rule(
        "DictionaryValue: keys have the type of its keys",
        lambda: constants(unequal("dictionary")),
        MALFORMED_VALUE,
        "value 0 must be tensor<!builtin.string>, found tensor<i32>",
    ),
    Rule(
        "BlobFileValue.offset: it is the place of metadata",
        lambda: constants(b.blob(X, 63)),
        MALFORMED_WEIGHTS,
        "offset 63 is not a multiple of 64",
    ),
)
