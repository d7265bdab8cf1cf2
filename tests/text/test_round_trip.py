"""A printed program reads back as the same program, in both forms."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonir.base.diagnostics import DiagnosticError
from commonir.formats.coreml.read import read
from commonir.ir import Module, UnregisteredOperation, Value, data_of, tensor
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    BytesAttr,
    DataAttr,
    DenseArrayAttr,
    DictionaryAttr,
    DimsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    UnitAttr,
    attribute_text,
)
from commonir.ir.equality import first_difference, same_attribute
from commonir.ir.literals import float_text
from commonir.ir.types import (
    ELEMENT_TYPES,
    FunctionType,
    ListType,
    OptionalType,
    StateType,
    TensorType,
    TupleType,
    Type,
    bf16,
    boolean,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    string,
    u16,
)
from commonir.ods import Dialects
from commonir.passes.lower import lower
from commonir.symbolic import symbol
from commonir.text.builtin_forms import attribute_reader
from commonir.text.lexer import TokenStream
from commonir.text.parser import parse_module
from commonir.text.printer import print_module

from tests.ods.sample import DIALECT, Mode, Scale

MODELS = Path(__file__).parents[1] / "models"
DIALECTS = Dialects([DIALECT])

TEXT = st.text(max_size=8)
NAMES = st.text(min_size=1, max_size=6)
DIMENSIONS = st.one_of(
    st.none(),
    st.integers(0, 9),
    st.sampled_from([symbol("N"), symbol("a b:0"), symbol("M", 0) * 2 - 1, symbol("H") // 2 + 3]),
)
ELEMENTS = st.sampled_from([e for e in ELEMENT_TYPES.values() if e.kind != "handle"])
TENSORS = st.builds(TensorType, ELEMENTS, st.one_of(st.none(), st.lists(DIMENSIONS, max_size=4).map(tuple)))


def _wider(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    several = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(TupleType, several),
        st.builds(FunctionType, several, several),
        st.builds(ListType, inner),
        st.builds(OptionalType, inner),
        st.builds(StateType, inner),
    )


TYPES = st.recursive(st.one_of(ELEMENTS, TENSORS), _wider, max_leaves=5)
FLOATS = st.one_of(
    st.builds(FloatAttr, st.floats(), st.just(f64)),
    st.builds(FloatAttr, st.floats(width=32, allow_nan=False), st.just(f32)),
    st.builds(FloatAttr, st.floats(width=16, allow_nan=False), st.just(f16)),
    st.sampled_from([FloatAttr(v, bf16) for v in (0.5, -3.0, math.inf, 2.0**100)]),
)
CONSTANTS = st.one_of(
    st.lists(st.integers(-128, 127), max_size=150).map(lambda v: data_of(i8, (len(v),), v)),
    st.lists(st.floats(width=32, allow_nan=False), min_size=4, max_size=4).map(lambda v: data_of(f32, (2, 2), v)),
    st.lists(st.booleans(), min_size=6, max_size=6).map(lambda v: data_of(boolean, (3, 1, 2), v)),
    st.lists(TEXT, min_size=2, max_size=2).map(lambda v: data_of(string, (2,), v)),
    st.integers(0, 65535).map(lambda v: data_of(u16, (), (v,))),
)
LEAVES: st.SearchStrategy[Attribute] = st.one_of(
    st.just(UnitAttr()),
    st.builds(BoolAttr, st.booleans()),
    st.builds(IntegerAttr, st.integers(-(2**63), 2**63 - 1), st.just(i64)),
    st.builds(IntegerAttr, st.integers(-(2**31), 2**31 - 1), st.just(i32)),
    FLOATS,
    st.builds(StringAttr, TEXT),
    st.builds(BytesAttr, st.binary(max_size=8)),
    st.builds(SymbolRefAttr, NAMES, NAMES),
    st.builds(TypeAttr, TYPES),
    st.lists(st.integers(-9, 9), max_size=3).map(lambda v: DenseArrayAttr(i64, tuple(v))),
    st.lists(st.floats(allow_nan=False), max_size=3).map(lambda v: DenseArrayAttr(f64, tuple(v))),
    st.lists(st.sampled_from([symbol("N"), symbol("N") * 3 + 1]), min_size=1, max_size=3).map(
        lambda v: DimsAttr(tuple(v))
    ),
    CONSTANTS.map(DataAttr),
)
ATTRIBUTES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda v: ArrayAttr(tuple(v))),
        st.dictionaries(NAMES, inner, max_size=3).map(lambda v: DictionaryAttr(tuple(v.items()))),
    ),
    max_leaves=5,
)


@given(TYPES)
def test_type(type: Type) -> None:
    assert attribute_reader(TokenStream(f"({type}) -> ()")).types.function_type().inputs == (type,)


@given(ATTRIBUTES)
def test_attribute(attribute: Attribute) -> None:
    assert same_attribute(attribute_reader(TokenStream(attribute_text(attribute, None))).attribute(), attribute)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_digits_of_a_number_mean_the_number(value: float) -> None:
    shown = float_text(value, f32)
    assert data_of(f32, (), (float(shown),)).buffer() == data_of(f32, (), (value,)).buffer()


@given(st.dictionaries(NAMES, ATTRIBUTES, max_size=3), st.lists(TYPES, max_size=3), st.lists(TEXT, max_size=3))
def test_operation_nobody_defines(attributes: dict[str, Attribute], types: list[Type], names: list[str]) -> None:
    module = Module()
    first = module.body.append(UnregisteredOperation("x.first", result_types=types))
    for value, name in zip(first.results, names, strict=False):
        value.name = name
    module.body.append(UnregisteredOperation("x.second", first.results, attributes))
    for generic in (False, True):
        again = parse_module(print_module(module, generic=generic, elide=None), DIALECTS)
        assert first_difference(again, module) is None


@given(st.floats(min_value=0, exclude_min=True), st.sampled_from(Mode), TEXT)
def test_operation_of_a_definition(factor: float, mode: Mode, note: str) -> None:
    module = Module()
    source = module.body.append(UnregisteredOperation("x.source", result_types=[tensor(f32, 4)]))
    op = module.body.append(Scale(source.result, factor, mode))
    op.set_extra("note", StringAttr(note))
    for generic in (False, True):
        again = parse_module(print_module(module, generic=generic, elide=None), DIALECTS)
        assert first_difference(again, module) is None


@given(st.binary(max_size=60))
def test_reader_of_any_bytes_gives_a_program_or_a_diagnostic(content: bytes) -> None:
    _read_or_refuse(content.decode("latin-1"))


TOKENS = [
    '"x.a"', "()", "(", ")", "{", "}", "<", ">", "[", "]", ":", "->", "%a", "%b", "=", ",", "i32", "tensor<4xf32>",
    "t.scale", "t.affine", "bias", "module", "^bb0", "@f", "#a", "!t", "dense<", "1", "1.5", "-", "ml_program.func",
    "ml_program.global", "private", "attributes", "loc", '"s"', "{-#", "#-}", "t.choose", "then", "array<i64:1>",
]  # fmt: skip


@given(st.lists(st.sampled_from(TOKENS), max_size=30))
def test_reader_of_any_tokens_gives_a_program_or_a_diagnostic(tokens: list[str]) -> None:
    _read_or_refuse(" ".join(tokens))


def _read_or_refuse(text: str) -> None:
    try:
        result = parse_module(text, DIALECTS)
    except DiagnosticError as error:
        assert error.diagnostics
    else:
        print_module(result)


def test_values_that_nobody_defines_are_named_all_the_same() -> None:
    assert print_module(Scale(Value(tensor(f32)))) == "%1 = t.scale %0 : tensor<f32>\n"


@pytest.mark.fast_every(4)
@pytest.mark.slow_cases("convnext_*", "llama_stateful_*", "mobilenet_v2_*", "t5_encoder_*", "*_fp32-*")
@pytest.mark.parametrize(
    "model", sorted(MODELS.glob("*/*.mlpackage")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_real_model_before_and_after_lowering(model: Path) -> None:
    dialects = Dialects()
    program = read(model, dialects)
    # A model in a pipeline that is not a program stands there closed, and cannot be lowered.
    is_closed = any(op.name == "mil.opaque_model" for part in program.modules for op in part.nested())
    for module in (program,) if is_closed else (program, lower(program)):
        for generic in (False, True):
            again = parse_module(print_module(module, generic=generic, elide=None), dialects)
            # Models of a pipeline may hand over equal names, and those of a block of MLIR differ.
            assert first_difference(again, module, names=not program.modules) is None
