"""Reading and writing any program gives its messages back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonir.formats.coreml.read import read_with_findings
from commonir.formats.coreml.write import write

from tests.formats.coreml import building as b
from tests.formats.coreml.odd_model import UNKNOWN_FIELD
from tests.formats.coreml.test_write import canonical, model_of

IDENTIFIERS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_@]{0,3}", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=4)
SIZES = st.none() | st.integers(0, 3)
CODES = st.sampled_from(
    [b.BOOL, b.STRING, b.FLOAT16, b.FLOAT32, 12, 13, 21, 22, b.INT32, 24, 25, 31, 32, 33, 34, 35, 36, 37, 38, 39]
)
FIELDS = {
    b.BOOL: "bools",
    b.STRING: "strings",
    b.FLOAT32: "floats",
    12: "doubles",
    22: "ints",
    32: "ints",
    23: "ints",
    24: "longInts",
    34: "longInts",
}
BITS = {b.FLOAT16: 16, 13: 16, 21: 8, 25: 4, 31: 8, 33: 32, 35: 4, 36: 2, 37: 1, 38: 6, 39: 3}
NUMBERS = {
    b.BOOL: st.booleans(),
    b.STRING: TEXTS,
    b.FLOAT32: st.floats(width=32),
    12: st.floats(),
    22: st.integers(-(2**15), 2**15 - 1),
    32: st.integers(0, 2**16 - 1),
    23: st.integers(-(2**31), 2**31 - 1),
    24: st.integers(-(2**63), 2**63 - 1),
    34: st.integers(-(2**63), 2**63 - 1),
}


def _container(name: str, *parts: tuple[str, b.Message]) -> b.Message:
    result = b.make("ValueType")
    holder = getattr(result, name)
    holder.SetInParent()
    for field, part in parts:
        place = getattr(holder, field)
        (place.add() if hasattr(place, "add") else place).CopyFrom(part)
    return result


def _list(element: b.Message, length: int | None) -> b.Message:
    result = _container("listType", ("type", element))
    if length is None:
        result.listType.length.unknown.SetInParent()
    else:
        result.listType.length.constant.size = length
        result.listType.length.constant.SetInParent()
    return result


def _wider(inner: st.SearchStrategy[b.Message]) -> st.SearchStrategy[b.Message]:
    return (
        st.builds(_list, inner, SIZES)
        | st.lists(inner, max_size=2).map(lambda types: _container("tupleType", *[("types", t) for t in types]))
        | st.builds(lambda k, v: _container("dictionaryType", ("keyType", k), ("valueType", v)), inner, inner)
        | inner.map(lambda t: _container("stateType", ("wrappedType", t)))
    )


TENSORS = st.builds(lambda code, dims: b.tensor(code, *dims), CODES, st.lists(SIZES, max_size=3))
TYPES = st.recursive(TENSORS, _wider, max_leaves=4)


@st.composite
def tensors(draw: st.DrawFn) -> b.Message:
    """A constant tensor inside the program."""
    code = draw(CODES)
    shape = draw(st.lists(st.integers(0, 4), max_size=2))
    count = 1
    for size in shape:
        count *= size
    kind = b.tensor(code, *shape)
    if code in FIELDS:
        return b.immediate(kind, FIELDS[code], draw(st.lists(NUMBERS[code], min_size=count, max_size=count)))
    size_bytes = -(-count * BITS[code] // 8)
    return b.immediate(kind, "bytes", draw(st.binary(min_size=size_bytes, max_size=size_bytes)))


def _compound(values: list[b.Message], *, is_tuple: bool) -> b.Message:
    result = b.make("Value")
    types = [v.type for v in values]
    result.type.CopyFrom(
        _container("tupleType", *[("types", t) for t in types]) if is_tuple else _list(types[0], len(types))
    )
    holder = result.immediateValue.tuple if is_tuple else result.immediateValue.list
    holder.SetInParent()
    holder.values.extend(values)
    return result


def _documented(value: b.Message, text: str) -> b.Message:
    value.docString = text
    return value


VALUES = st.recursive(
    tensors(),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda values: _compound(values, is_tuple=True))
        | st.builds(lambda v, n: _compound([v] * n, is_tuple=False), inner, st.integers(1, 3))
        | st.builds(_documented, inner, TEXTS)
    ),
    max_leaves=4,
)


@st.composite
def operations(draw: st.DrawFn, names: list[str], depth: int) -> b.Message:
    """An operation that uses names in sight. What it is called, no dialect needs to know."""
    kind = draw(st.sampled_from(["add", "softmax", "concat", "cond", "of_tomorrow"]))
    bindings = st.sampled_from(names) | VALUES
    keys = draw(st.lists(st.sampled_from(["x", "y", "values", "axis"]) | IDENTIFIERS, max_size=3, unique=True))
    inputs = {key: draw(st.lists(bindings, max_size=2)) for key in keys}
    blocks = [draw(bodies(names, depth - 1)) for _ in range(draw(st.integers(0, 2)))] if depth else []
    new_op = b.op(
        kind,
        inputs,
        attributes=draw(st.dictionaries(IDENTIFIERS, VALUES, max_size=2)),
        blocks=blocks,
        name=draw(st.none() | IDENTIFIERS),
    )
    for result in draw(st.lists(IDENTIFIERS, max_size=2, unique=True)):
        if result not in names:
            new_op.outputs.add(name=result, type=draw(TYPES))
            names.append(result)
    if draw(st.booleans()):
        new_op.MergeFromString(UNKNOWN_FIELD)
    return new_op


@st.composite
def bodies(draw: st.DrawFn, outer: list[str], depth: int) -> b.Message:
    """A block: nested ones see the names around them."""
    inputs = [name for name in draw(st.lists(IDENTIFIERS, max_size=1)) if name not in outer]
    names = [*outer, *inputs]
    inside = [draw(operations(names, depth)) for _ in range(draw(st.integers(0, 3)))]
    outputs = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    return b.block(inside, outputs, [(name, draw(TYPES)) for name in inputs] if depth < 2 else [])


@st.composite
def programs(draw: st.DrawFn) -> b.Message:
    """A program of several functions, each with several bodies."""
    functions: dict[str, b.Message] = {}
    for name in draw(st.lists(IDENTIFIERS, min_size=1, max_size=2, unique=True)):
        inputs = [(inputs, draw(TYPES)) for inputs in draw(st.lists(IDENTIFIERS, min_size=1, max_size=3, unique=True))]
        result = b.make("Function", opset="CoreML5")
        for given_name, kind in inputs:
            result.inputs.add(name=given_name, type=kind)
        for opset in draw(st.lists(st.sampled_from(["CoreML5", "CoreML7", "Later"]), max_size=2, unique=True)):
            body = draw(bodies([n for n, _ in inputs], 2))
            del body.inputs[:]
            result.block_specializations.add(key=opset, value=body)
        functions[name] = result
    result = b.program(functions, draw(st.integers(0, 3)))
    result.docString = draw(TEXTS)
    for key, value in draw(st.dictionaries(IDENTIFIERS, VALUES, max_size=2)).items():
        result.attributes.add(key=key, value=value)
    return result


def _assert_the_same_after_reading_and_writing(content: b.Message) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = b.save(folder, b.model(content, 9), None)
        module, _ = read_with_findings(package, b.DIALECTS)
        assert module is not None
        write(module, folder / "out.mlpackage")
        assert canonical(model_of(folder / "out.mlpackage")) == canonical(model_of(package))


@pytest.mark.slow
@given(programs())
@settings(max_examples=40, deadline=None)
def test_program_is_the_same_after_reading_and_writing(content: b.Message) -> None:
    _assert_the_same_after_reading_and_writing(content)


def _with_one_operation(operation: b.Message, inputs: Iterable[tuple[str, b.Message]] = ()) -> b.Message:
    return b.program({"main": b.function(inputs, b.block([operation], []))})


@given(VALUES)
@settings(max_examples=10)
def test_value_is_the_same_after_reading_and_writing(value: b.Message) -> None:
    operation = b.op("add", {"x": [value]}, attributes={"y": value})
    _assert_the_same_after_reading_and_writing(_with_one_operation(operation))


@given(TYPES)
@settings(max_examples=10)
def test_type_is_the_same_after_reading_and_writing(kind: b.Message) -> None:
    operation = b.op("softmax", {"x": "x"}, [("y", kind)])
    _assert_the_same_after_reading_and_writing(_with_one_operation(operation, [("x", kind)]))
