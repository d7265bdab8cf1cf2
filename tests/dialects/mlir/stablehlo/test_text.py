# ruff: noqa: E501  an operation stands on one line
"""Programs of stablehlo and chlo read, verified and printed as the stablehlo that IREE has does."""

from __future__ import annotations

from difflib import unified_diff

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects.mlir.stablehlo import DIALECT
from commonir.dialects.mlir.stablehlo.chlo import DIALECT as CHLO
from commonir.ods import Dialects
from commonir.ods.verify import verify
from commonir.text.parser import parse_module
from commonir.text.printer import Naming, print_module

from tests.dialects.mlir.stablehlo.programs import ALL
from tests.oracles import oracle


def upstream(source: str, *, generic: bool = False) -> str:
    """The text that IREE prints of a program. Raises: MLIRError when it refuses it."""
    ir = oracle("iree.compiler.ir")
    with ir.Context():
        module = ir.Module.parse(source).operation
        module.verify()
        return module.get_asm(print_generic_op_form=generic, large_elements_limit=None)


def _assert_same(ours: str, theirs: str) -> None:
    ours, theirs = ours.strip(), theirs.strip()
    assert ours == theirs, "\n".join(unified_diff(theirs.splitlines(), ours.splitlines(), "iree", "ours", n=0))


@pytest.mark.parametrize("name", ALL)
def test_program_is_printed_equally_in_both_forms(name: str) -> None:
    module = parse_module(ALL[name], Dialects())
    assert [str(d) for d in verify(module, Dialects())] == []
    _assert_same(print_module(module, elide=None, naming=Naming.MLIR), upstream(ALL[name]))
    generic = upstream(ALL[name], generic=True)
    _assert_same(print_module(module, generic=True, elide=None, naming=Naming.MLIR), generic)
    again = parse_module(generic, Dialects())
    _assert_same(print_module(again, elide=None, naming=Naming.MLIR), upstream(generic))


@pytest.mark.parametrize("name", ALL)
def test_program_with_its_own_names_reads_back(name: str) -> None:
    text = print_module(parse_module(ALL[name], Dialects()), elide=None)
    assert print_module(parse_module(text, Dialects()), elide=None) == text


def test_bounds_have_one_form() -> None:
    first, second = "#stablehlo.type_extensions<bounds = [4, ?]>", "#stablehlo<bounds<4,?>>"
    source = f"""
        func.func @f(%a: tensor<?x3xf32, {first}>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>> {{
          return %a : tensor<?x3xf32, {second}>
        }}
        func.func private @g(tensor<f32, #stablehlo.bounds<>>)
    """
    _assert_same(print_module(parse_module(source, Dialects()), elide=None, naming=Naming.MLIR), upstream(source))


# What IREE's stablehlo is older than, and what runs beside other operations.
_NOT_SHOWN = {
    "stablehlo.async_done",
    "stablehlo.async_start",
    "stablehlo.collective_reduce",
    "chlo.scan",
    "chlo.mulhi",
}


def test_every_operation_stands_in_a_program() -> None:
    shown = "\n".join(ALL.values())
    missing = {
        name
        for name in (*DIALECT.operations, *CHLO.operations)
        if f"{name} " not in shown and f"{name}(" not in shown and f'"{name}"' not in shown
    }
    assert missing == _NOT_SHOWN


_A, _B, _I = "tensor<4x3xf32>", "tensor<5x3xf32>", "tensor<4x3xi32>"
_GATHER = (
    "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [{}], start_index_map = [0], index_vector_dim = {}>"
)
WRONG = {
    "operands_of_other_types": f"%0 = stablehlo.add %a, %b : ({_A}, {_B}) -> {_A}",
    "integers_for_floats": f"%0 = stablehlo.exponential %i : {_I}",
    "floats_for_integers": f"%0 = stablehlo.popcnt %a : {_A}",
    "result_of_a_comparison": f"%0 = stablehlo.compare LT, %a, %a : ({_A}, {_A}) -> {_A}",
    "condition_that_is_not_a_bool": f"%0 = stablehlo.select %a, %a, %a : {_A}, {_A}",
    "values_to_choose_from_differ": f"%0 = stablehlo.select %p, %a, %b : (tensor<4x3xi1>, {_A}, {_B}) -> {_A}",
    "count_of_elements": f"%0 = stablehlo.reshape %a : ({_A}) -> tensor<11xf32>",
    "permutation": f"%0 = stablehlo.transpose %a, dims = [0, 0] : ({_A}) -> tensor<3x4xf32>",
    "shape_of_a_transpose": f"%0 = stablehlo.transpose %a, dims = [1, 0] : ({_A}) -> {_A}",
    "axes_of_a_broadcast": f"%0 = stablehlo.broadcast_in_dim %a, dims = [0] : ({_A}) -> {_A}",
    "size_of_a_broadcast": f"%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : ({_A}) -> tensor<4x4xf32>",
    "end_of_a_slice": f"%0 = stablehlo.slice %a [0:5, 0:3] : ({_A}) -> tensor<5x3xf32>",
    "order_of_a_slice": f"%0 = stablehlo.slice %a [3:2, 0:3] : ({_A}) -> tensor<1x3xf32>",
    "axis_of_a_concatenation": f"%0 = stablehlo.concatenate %a, %b, dim = 2 : ({_A}, {_B}) -> {_A}",
    "sizes_of_a_concatenation": f"%0 = stablehlo.concatenate %a, %b, dim = 1 : ({_A}, {_B}) -> {_A}",
    "padding_of_other_rank": f"%0 = stablehlo.pad %a, %s, low = [0], high = [0], interior = [0] : ({_A}, tensor<f32>) -> {_A}",
    "axis_of_an_iota": "%0 = stablehlo.iota dim = 1 : tensor<4xi32>",
    "contracted_sizes": f"%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : ({_A}, {_B}) -> tensor<3x3xf32>",
    "contracted_axis_that_is_not_there": f"%0 = stablehlo.dot_general %a, %a, contracting_dims = [2] x [0] : ({_A}, {_A}) -> {_A}",
    "shape_of_a_product": f"%0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : ({_A}, {_A}) -> {_A}",
    "axis_of_a_reduction": f"%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [2] : ({_A}, tensor<f32>) -> tensor<4xf32>",
    "start_of_a_reduction": f"%0 = stablehlo.reduce(%a init: %n) applies stablehlo.add across dimensions = [1] : ({_A}, tensor<i32>) -> tensor<4xf32>",
    "no_commutative_operation": f"%0 = stablehlo.reduce(%a init: %s) applies stablehlo.subtract across dimensions = [1] : ({_A}, tensor<f32>) -> tensor<4xf32>",
    "dropped_axis_of_a_gather": f'%0 = "stablehlo.gather"(%a, %k) <{{dimension_numbers = {_GATHER.format(2, 1)}, slice_sizes = array<i64: 1, 3>}}> : ({_A}, tensor<2xi32>) -> tensor<2x3xf32>',
    "positions_of_a_gather": f'%0 = "stablehlo.gather"(%a, %k) <{{dimension_numbers = {_GATHER.format(0, 3)}, slice_sizes = array<i64: 1, 3>}}> : ({_A}, tensor<2xi32>) -> tensor<2x3xf32>',
    "part_of_a_gather": f'%0 = "stablehlo.gather"(%a, %k) <{{dimension_numbers = {_GATHER.format(0, 1)}, slice_sizes = array<i64: 1, 4>}}> : ({_A}, tensor<2xi32>) -> tensor<2x4xf32>',
    "branch_of_another_type": f'%0 = "stablehlo.if"(%q) ({{ stablehlo.return %a : {_A} }}, {{ stablehlo.return %b : {_B} }}) : (tensor<i1>) -> {_A}',
    "no_branches": f'%0 = "stablehlo.case"(%n) : (tensor<i32>) -> {_A}',
    "condition_of_a_loop": "stablehlo.while() cond { stablehlo.return %n : tensor<i32> } do { stablehlo.return }",
    "element_of_a_tuple": "%1 = stablehlo.tuple %a : tuple<tensor<4x3xf32>>\n %0 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<4x3xf32>>) -> tensor<4x3xf32>",
    "matrix_that_is_not_square": f"%0 = stablehlo.cholesky %a, lower = true : {_A}",
    "features_of_a_normalization": f'%0 = "stablehlo.batch_norm_inference"(%a, %k, %k, %k, %k) <{{epsilon = 0.1 : f32, feature_index = 2 : i64}}> : ({_A}, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> {_A}',
    "unknown_direction": f"%0 = stablehlo.compare LESS, %a, %a : ({_A}, {_A}) -> tensor<4x3xi1>",
    "axes_of_a_convolution": "%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>",
    "groups_of_a_convolution": "%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>",
    "function_of_a_composite": f'%0 = stablehlo.composite "x" %a {{decomposition = @nothere}} : ({_A}) -> {_A}',
    "more_elements_than_there_are": f"%0, %1 = chlo.top_k(%a, k = 9) : {_A} -> (tensor<4x9xf32>, tensor<4x9xi32>)",
}
_Q = "tensor<4x3x!quant.uniform<i8:f32, 0.5:7>>"
_AXIS = "tensor<4x2x!quant.uniform<i8:f32:1, {0.5:1, 0.25:2}>>"


def _made(operation: str, source: str, result: str) -> str:
    """An operation on a value of a type that a cast gives."""
    cast = f"%q0 = builtin.unrealized_conversion_cast %a : {_A} to {source}"
    return f'{cast}\n  %0 = "stablehlo.{operation} : ({source}) -> {result}'


def _product(left: str, right: str, result: str, more: str = "") -> str:
    """A product of matrices of some types."""
    casts = [f"%q{n} = builtin.unrealized_conversion_cast %a : {_A} to {t}" for n, t in enumerate((left, right))]
    dims = f"contracting_dims = [0] x [0]{more}"
    return "\n  ".join([*casts, f"%0 = stablehlo.dot_general %q0, %q1, {dims} : ({left}, {right}) -> {result}"])


_ALGORITHM = (
    ", algorithm = <lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = f32, lhs_component_count = {}, "
    "rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>"
)
_I8, _I8Z = "tensor<4x3x!quant.uniform<i8:f32, 0.5>>", "tensor<3x3x!quant.uniform<i8:f32, 0.5:3>>"
_GROUPS = "replica_groups = dense<{}> : tensor<{}xi64>"
OF_TYPES = {
    "factors_of_a_transpose": _made(
        'transpose"(%q0) <{permutation = array<i64: 1, 0>}>', _Q, "tensor<3x4x!quant.uniform<i8:f32, 0.25:7>>"
    ),
    "axis_of_factors_of_a_transpose": _made(
        'transpose"(%q0) <{permutation = array<i64: 0, 1>}>', *(_AXIS,) * 2
    ).replace("array<i64: 0, 1>", "array<i64: 1, 0>"),
    "factors_of_a_reshape": _made('reshape"(%q0)', _Q, "tensor<3x4x!quant.uniform<i8:f32, 0.5:8>>"),
    "axis_of_factors_of_a_reshape": _made(
        'reshape"(%q0)', _AXIS, "tensor<2x2x2x!quant.uniform<i8:f32:0, {0.5:1, 0.25:2}>>"
    ),
    "factors_of_a_broadcast": _made(
        'broadcast_in_dim"(%q0) <{broadcast_dimensions = array<i64: 1, 2>}>',
        _Q,
        "tensor<2x4x3x!quant.uniform<i8:f32, 0.5:8>>",
    ),
    "zero_that_cannot_be_stored": _made('reshape"(%q0)', *("tensor<4x3x!quant.uniform<i8<0:9>:f32, 0.5:77>>",) * 2),
    "fewer_factors_than_places": _made('reshape"(%q0)', *("tensor<4x3x!quant.uniform<i8:f32:1, {0.5, 0.25}>>",) * 2),
    "quantized_as_other_numbers": _made('uniform_quantize"(%q0)', _A, "tensor<4x3x!quant.uniform<i8:f64, 0.5>>"),
    "storage_of_a_product": _product(
        _Q, "tensor<4x3x!quant.uniform<i16:f32, 0.5>>", "tensor<3x3x!quant.uniform<i8:f32, 0.5>>"
    ),
    "zero_of_the_second_of_a_product": _product(_I8, _Q, _I8Z),
    "product_of_one_that_is_quantized": _product(_I8, _A, _I8Z),
    "algorithm_without_parts": _product(_A, _A, "tensor<3x3xf32>", _ALGORITHM.format("f32", "f32", 0)),
    "algorithm_that_no_machine_has": _product(_A, _A, "tensor<3x3xf32>", _ALGORITHM.format("f32", "f16", 1)),
    "accuracy_that_is_highest_and_stated": f'%0 = "stablehlo.tanh"(%a) <{{result_accuracy = #stablehlo.result_accuracy<'
    f"atol = 1.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<HIGHEST>>}}> : ({_A}) -> {_A}",
    "process_that_is_in_no_group": f'%0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, '
    f"{_GROUPS.format('[[0, 2]]', '1x2')}}}> : ({_A}) -> tensor<8x3xf32>",
    "axis_of_what_all_have": f'%0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 2 : i64, '
    f"{_GROUPS.format('[[0, 1]]', '1x2')}}}> : ({_A}) -> tensor<8x3xf32>",
    "size_of_what_all_have": f'%0 = "stablehlo.all_gather"(%a) <{{all_gather_dim = 0 : i64, '
    f"{_GROUPS.format('[[0, 1]]', '1x2')}}}> : ({_A}) -> tensor<9x3xf32>",
    "no_parts_to_exchange": f'%0 = "stablehlo.all_to_all"(%a) <{{split_dimension = 0 : i64, concat_dimension = 1 : i64, '
    f"split_count = 0 : i64, {_GROUPS.format('[[0]]', '1x1')}}}> : ({_A}) -> {_A}",
    "convolution_of_no_groups": "%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 0 : i64, feature_group_count = 1 : i64} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>",
    "reduction_to_a_tuple": '%0 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 1>}> ({\n  '
    "^bb0(%l: tensor<f32>, %r: tensor<f32>):\n  %t = stablehlo.tuple %l : tuple<tensor<f32>>\n  "
    '"stablehlo.return"(%t) : (tuple<tensor<f32>>) -> ()\n  }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>',
}
_INPUTS = (
    f"%a: {_A}, %b: {_B}, %i: {_I}, %p: tensor<4x3xi1>, %s: tensor<f32>, %n: tensor<i32>, %q: tensor<i1>, "
    "%k: tensor<2xi32>, %x: tensor<1x1x1x1xf32>"
)


@pytest.mark.parametrize("name", [*WRONG, *OF_TYPES])
def test_program_that_iree_refuses_is_refused(name: str) -> None:
    source = f"func.func @f({_INPUTS}) {{\n  {(WRONG | OF_TYPES)[name]}\n  return\n}}\n"
    ir = oracle("iree.compiler.ir")
    with ir.Context(), pytest.raises(ir.MLIRError):
        ir.Module.parse(source).operation.verify()
    try:
        diagnostics = verify(parse_module(source, Dialects()), Dialects())
    except DiagnosticError:
        return
    assert diagnostics, "accepted"
