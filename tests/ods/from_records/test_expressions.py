"""C++ conditions of predicates, as tests of types and attributes; what they hold of is written out by hand."""

from __future__ import annotations

import pytest

from commonir.ods import Dialects
from commonir.ods.from_records.cpp_classes import BUILTIN
from commonir.ods.from_records.expressions import compiled
from commonir.text.parser import parse_module


def _attribute(text: str) -> object:
    module = parse_module(f'"t.t"() {{a = {text}}} : () -> ()', Dialects())
    return next(iter(module.nested())).attribute_dictionary["a"]


def _type(text: str) -> object:
    module = parse_module(f'"t.t"() : () -> ({text})', Dialects())
    return next(iter(module.nested())).results[0].type


_OF_ELEMENT = """[](::mlir::Type elementType) {
  return (elementType.isF32()) || (elementType.isF64()); }(::llvm::cast<::mlir::ShapedType>($_self).getElementType())"""
_OF_SECOND = """::llvm::cast<::mlir::ArrayAttr>($_self).size() > 1 &&
  ::llvm::cast<::mlir::IntegerAttr>(::llvm::cast<::mlir::ArrayAttr>($_self)[1]).getInt() == 8"""
_DIFFERING = """[](::llvm::ArrayRef<int64_t> a) {
return std::adjacent_find(std::begin(a), std::end(a)) == std::end(a);
}(::llvm::cast<DenseI64ArrayAttr>($_self).asArrayRef())"""


@pytest.mark.parametrize(
    ("condition", "holds", "fails"),
    [
        ("$_self.isSignlessInteger(8)", ["i8"], ["si8", "i16", "index", "f32"]),
        ("$_self.isSignlessIntOrIndex()", ["i1", "i48", "index"], ["ui8", "f32", "tensor<i8>"]),
        ("::llvm::isa<::mlir::RankedTensorType>($_self)", ["tensor<f32>", "tensor<?x4xi1>"], ["tensor<*xf32>", "f32"]),
        ("::llvm::isa<::mlir::FloatType, ::mlir::IndexType>($_self)", ["bf16", "index"], ["i32", "complex<f32>"]),
        ("::llvm::cast<::mlir::ShapedType>($_self).getRank()\n  == 2", ["tensor<2x?xf32>", "memref<1x1xi8>"], ["f32"]),
        ("::llvm::cast<::mlir::ShapedType>($_self).hasStaticShape()", ["vector<4xf32>"], ["tensor<?xf32>"]),
        (
            "::llvm::all_of(::llvm::cast<::mlir::RankedTensorType>($_self).getShape(), [](auto v) { return v == 1; })",
            ["tensor<f32>", "tensor<1x1xf32>"],
            ["tensor<?xf32>", "tensor<1x2xf32>", "tensor<*xf32>"],
        ),
        (
            _OF_ELEMENT,
            ["tensor<4xf32>", "vector<2xf64>"],
            ["tensor<4xf16>", "tensor<i32>"],
        ),
        ("!(::llvm::isa<::mlir::IndexType>($_self)) && $_self.isIntOrIndex()", ["i8"], ["index", "f32"]),
        ("$_self.hasTrait<::mlir::ValueSemantics>()", ["tensor<f32>", "vector<4xf32>"], ["memref<4xf32>", "f32"]),
    ],
)
def test_conditions_on_types(condition: str, holds: list[str], fails: list[str]) -> None:
    test = compiled(f"({condition})", BUILTIN)
    assert test is not None
    assert [t for t in holds if not test(_type(t))] == []
    assert [t for t in fails if test(_type(t))] == []


@pytest.mark.parametrize(
    ("condition", "holds", "fails"),
    [
        ("::llvm::cast<::mlir::IntegerAttr>($_self).getInt() >= 3", ["3 : i32", "9"], ["2", "-5 : i8", '"x"']),
        ("::llvm::cast<::mlir::IntegerAttr>($_self).getValue().isStrictlyPositive()", ["1"], ["0", "-1"]),
        ("::llvm::cast<::mlir::IntegerAttr>($_self).getValue().isPowerOf2()", ["1", "64"], ["0", "3", "-2"]),
        ("!::llvm::cast<::mlir::IntegerAttr>($_self).getValue().isNegative()", ["0"], ["-1"]),
        ("::llvm::isa<::mlir::FlatSymbolRefAttr>($_self)", ["@a"], ["@a::@b", '"a"']),
        ("::llvm::isa<::mlir::DenseI64ArrayAttr>($_self)", ["array<i64: 1>", "array<i64>"], ["array<i32: 1>", "[1]"]),
        ("::llvm::cast<::mlir::DenseArrayAttr>($_self).size() == 2", ["array<i8: 1, 2>"], ["array<i8: 1>"]),
        ("::llvm::cast<::mlir::ArrayAttr>($_self).size() <= 1", ["[]", "[1]"], ["[1, 2]"]),
        (
            _OF_SECOND,
            ["[1, 8]"],
            ["[8, 1]", "[8]", '[1, "8"]'],
        ),
        (
            "llvm::is_sorted(::llvm::cast<DenseI64ArrayAttr>($_self).asArrayRef())",
            ["array<i64: 1, 1, 2>"],
            ["array<i64: 2, 1>"],
        ),
        (
            _DIFFERING,
            ["array<i64: 1, 2>", "array<i64>"],
            ["array<i64: 1, 1>"],
        ),
        (
            "::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType().getShape() == ::mlir::ArrayRef<int64_t>({2})",
            ["dense<1> : tensor<2xi64>"],
            ["dense<1> : tensor<3xi64>", "dense<1> : tensor<2x1xi64>"],
        ),
        ("::llvm::is_contained({2, 4}, ::llvm::cast<::mlir::IntegerAttr>($_self).getInt())", ["4"], ["3"]),
        (
            "::llvm::isa<::mlir::FunctionType>(::llvm::cast<::mlir::TypeAttr>($_self).getValue())",
            ["() -> ()"],
            ["i32", "1"],
        ),
    ],
)
def test_conditions_on_attributes(condition: str, holds: list[str], fails: list[str]) -> None:
    test = compiled(condition, BUILTIN)
    assert test is not None
    assert [a for a in holds if not test(_attribute(a))] == []
    assert [a for a in fails if test(_attribute(a))] == []


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "my::isOdd($_self)",
        "::llvm::isa<::my::Thing>($_self)",
        "$_self.frobnicate()",
        "$_self.getRank() == otherRank",
        "$_self.isSignlessInteger(width)",
        "$_self.isF32() || my::isOdd($_self)",
        "((((((((((((((((((((((((((((((",
        "$_self." * 1000,
        "[](auto v) { return " * 100,
        "all_of(" * 400 + "$_self",
        "!" * 3000,
    ],
)
def test_what_is_not_understood_is_not_guessed(condition: str) -> None:
    assert compiled(condition, BUILTIN) is None
