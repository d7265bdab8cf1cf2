"""Every labelled constraint of a core operation: what breaks it is refused with E0504, its label and what was found."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from commonir.base.codes import VIOLATED_CONSTRAINT
from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir import Value, tensor
from commonir.ir.types import ElementType, TupleType, boolean, f16, f32, i8, i32, i64, string
from commonir.ods import infer
from commonir.ods.documentation import operation_record
from commonir.symbolic import Dim, largest, symbol

from tests.dialects.core.running import definition


def x(*dims: Dim, element: ElementType = f32) -> Value:
    """A value of a shape."""
    return Value(tensor(element, *dims))


def p(*dims: Dim) -> Value:
    """Positions."""
    return x(*dims, element=i64)


def refused(name: str, *operands: Any, **attributes: Any) -> str:
    """The only finding of an operation: its text after the name of the operation."""
    with pytest.raises(DiagnosticError) as caught:
        definition(f"core.{name}")(*operands, **attributes)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code is VIOLATED_CONSTRAINT
    assert diagnostic.message.startswith(f"core.{name}: ")
    return diagnostic.message.removeprefix(f"core.{name}: ")


def open_constraints(name: str, *operands: Any, **attributes: Any) -> list[tuple[str | None, str]]:
    """Labels and texts of what cannot be decided for an operation."""
    constraints = infer(definition(f"core.{name}")(*operands, **attributes)).constraints
    return [(c.label, f"{c.lhs} {c.relation} {c.rhs}") for c in constraints]


N, M = symbol("N"), symbol("M")


def test_every_labelled_constraint_has_a_test_named_after_it() -> None:
    declared: set[str] = set()
    for name in core.DIALECT.operations:
        labels = operation_record(core.DIALECT, name)["constraints"]
        assert isinstance(labels, dict)
        declared |= {f"{name.removeprefix('core.')}_{label.lower()}" for label in labels}
    tested = {m.group(1) for n in globals() if (m := re.match(r"test_(\w+?_c\d)_", n))}
    assert tested == declared


# -- constants


def test_dims_c1_refuses_a_scalar_of_two_numbers() -> None:
    assert refused("dims", (1, 2), i64, True) == "C1: a scalar has one number"


def test_dims_c2_refuses_a_number_that_is_not_a_value_of_the_element_type() -> None:
    assert refused("dims", (1, 200), i8) == "C2: numbers are values of the element type"


def test_range_c1_refuses_a_known_step_of_zero() -> None:
    numbers = [core.scalar(v, i32) for v in (0, 4, 0)]
    assert refused("range", *numbers) == "C1: the step is not 0"


# -- elementwise operations and normalizations


def test_clip_c1_refuses_nan_as_a_bound() -> None:
    assert refused("clip", x(2), math.nan, 1.0) == "C1: no bound is NaN"


def test_layer_norm_c1_refuses_a_scale_of_another_size() -> None:
    text = "C1: scale and bias have the sizes of x along axes, in ascending order of axes"
    assert refused("layer_norm", x(2, 4), x(1)) == f"{text}: size of scale: expected 4, found 1"
    assert refused("layer_norm", x(2, 4), None, x(2, 4)) == f"{text}: bias has rank 2, but 1 axes are normalized"
    assert open_constraints("layer_norm", x(2, N), x(M)) == [("C1", "M == N")]


def test_layer_norm_c2_refuses_no_axis_and_one_axis_twice() -> None:
    assert refused("layer_norm", x(2, 4), axes=()) == "C2: no axis is normalized"
    assert refused("layer_norm", x(2, 4), axes=(1, -1)) == "C2: axes [1, -1] name one axis twice"


def test_rms_norm_c1_refuses_a_scale_of_another_size() -> None:
    text = "C1: scale has the sizes of x along axes, in ascending order of axes"
    assert refused("rms_norm", x(2, 4), x(2)) == f"{text}: size of scale: expected 4, found 2"


def test_rms_norm_c2_refuses_no_axis_and_one_axis_twice() -> None:
    assert refused("rms_norm", x(2, 4), axes=()) == "C2: no axis is normalized"
    assert refused("rms_norm", x(2, 4), axes=(0, 0)) == "C2: axes [0, 0] name one axis twice"


def test_l2_norm_c1_refuses_no_axis_and_one_axis_twice() -> None:
    assert refused("l2_norm", x(2, 4), ()) == "C1: no axis is normalized"
    assert refused("l2_norm", x(2, 4), (0, -2)) == "C1: axes [0, -2] name one axis twice"


def test_instance_norm_c1_refuses_a_tensor_without_spatial_axes() -> None:
    assert refused("instance_norm", x(2, 4)) == "C1: no axis is normalized"


def test_group_norm_c1_refuses_groups_of_different_sizes() -> None:
    assert refused("group_norm", x(2, 4, 3), groups=3) == "C1: the number of channels is divisible by groups"
    assert core.group_norm(x(2, 4, 3), groups=2).type is tensor(f32, 2, 4, 3)


def test_attention_c1_refuses_a_query_of_unknown_size_without_a_scale() -> None:
    operands = x(2, N), x(3, N), x(3, 4)
    assert refused("attention", *operands) == "C1: no scale is given, and the size of a query is N"
    assert core.Attention(*operands, scale=0.5).y.type is tensor(f32, 2, 4)


def test_attention_c2_refuses_a_mask_of_integers() -> None:
    operands = x(2, 4), x(3, 4), x(3, 4), x(2, 3, element=f16)
    assert refused("attention", *operands) == "C2: a mask is of bools or of the element type of query"


def test_rotary_embedding_c1_refuses_more_pairs_than_elements() -> None:
    angles = x(2, 3, 4), x(2, 3, 4)
    message = refused("rotary_embedding", x(2, 1, 3, 7), *angles)
    assert message.startswith("C1: ")
    assert message.endswith("expected at least 8, found 7")
    assert core.rotary_embedding(x(2, 1, 3, 9), *angles).type is tensor(f32, 2, 1, 3, 9)


# -- contractions and windows


def test_matmul_c1_refuses_a_scalar() -> None:
    assert refused("matmul", x(), x(2, 3)) == "C1: an operand has rank 0"


def test_matmul_c2_refuses_summed_axes_of_different_sizes() -> None:
    assert refused("matmul", x(2, 3), x(4, 5)) == "C2: size of the summed axes: expected 4, found 3"
    assert open_constraints("matmul", x(2, N), x(M, 5)) == [("C2", "N == M")]


def test_operands_that_do_not_broadcast_are_named_with_their_dims() -> None:
    assert refused("add", x(2, 3), x(4)) == "axis -1 is 3 in a and 4 in b, which do not broadcast"
    assert refused("matmul", x(2, 3, 4), x(5, 4, 3)) == (
        "axis -1 is 2 in the batch of a and 5 in the batch of b, which do not broadcast"
    )
    assert (
        refused("select", x(3, element=boolean), x(3), x(1, 4))
        == "axis -1 is 3 in condition and 4 in b, which do not broadcast"
    )


def test_matmul_c3_refuses_a_transposed_vector() -> None:
    assert refused("matmul", x(3), x(3, 2), True) == "C3: a vector cannot be transposed"


def test_einsum_c1_refuses_an_equation_of_other_ranks_and_signs() -> None:
    assert refused("einsum", (x(2, 3),), "ijk->i") == "C1: equation 'ijk->i' does not fit the operands"
    assert refused("einsum", (x(2, 3),), "ij") == "C1: equation 'ij' does not fit the operands"
    assert refused("einsum", (x(2, 3, 4),), "...->i") == "C1: equation '...->i' names axes otherwise than by letters"


def test_einsum_c3_refuses_more_operands_than_numpy_takes() -> None:
    equation = ",".join(["i"] * 65)
    assert refused("einsum", (x(2),) * 65, f"{equation}->i") == "C3: there are 65 operands, at most 64 are allowed"


def test_einsum_c2_refuses_a_result_with_a_letter_twice_or_a_new_one() -> None:
    assert refused("einsum", (x(2),), "i->ii") == "C2: equation 'i->ii' has no result 'ii'"
    assert refused("einsum", (x(2),), "i->j") == "C2: equation 'i->j' has no result 'j'"


def test_conv_c1_refuses_channels_that_are_not_groups_times_those_of_weight() -> None:
    assert refused("conv", x(1, 5, 8), x(4, 2, 3), groups=2) == "C1: channels of x: expected 4, found 5"
    assert open_constraints("conv", x(1, N, 8), x(4, M, 3), groups=2) == [("C1", "N == 2*M")]


def test_conv_c2_refuses_filters_that_do_not_divide_into_groups() -> None:
    assert refused("conv", x(1, 4, 8), x(3, 2, 3), groups=2) == "C2: filters modulo groups: expected 0, found 1"


def test_conv_c3_refuses_a_filter_larger_than_the_padded_input() -> None:
    assert (
        refused("conv", x(1, 2, 4), x(3, 2, 7), pads=((1, 1),)) == "C3: size of the filter: expected at most 6, found 7"
    )
    assert (
        refused("conv", x(1, 2, 4), x(3, 2, 3), dilations=(2,)) == "C3: size of the filter: expected at most 4, found 5"
    )
    assert open_constraints("conv", x(1, 2, N), x(3, 2, 3)) == [("C3", "3 <= N")]


def test_conv_c4_refuses_another_number_of_strides_than_of_axes() -> None:
    operands = x(1, 2, 8, 8), x(3, 2, 3, 3)
    assert refused("conv", *operands, strides=(1,)) == "C4: 1 strides for 2 spatial axes"
    assert refused("conv", *operands, dilations=(1, 1, 1)) == "C4: 3 dilations for 2 spatial axes"
    assert refused("conv", *operands, pads=((0, 0),)) == "C4: 1 pads for 2 spatial axes"


def test_conv_transpose_c1_refuses_channels_that_do_not_divide_into_groups() -> None:
    assert (
        refused("conv_transpose", x(1, 3, 8), x(3, 2, 3), groups=2) == "C1: channels modulo groups: expected 0, found 1"
    )


def test_conv_transpose_c2_refuses_padding_that_leaves_no_result() -> None:
    diagnostics = refused("conv_transpose", x(1, 2, 1), x(2, 2, 3), pads=((2, 1),))
    assert diagnostics == "C2: size of the result: expected at least 1, found 0"


def test_conv_transpose_c3_refuses_another_number_of_strides_than_of_axes() -> None:
    operands = x(1, 2, 8, 8), x(2, 3, 3, 3)
    assert refused("conv_transpose", *operands, strides=(1,)) == "C3: 1 strides for 2 spatial axes"
    assert refused("conv_transpose", *operands, output_padding=(1,)) == "C3: 1 output paddings for 2 spatial axes"


@pytest.mark.parametrize("name", ["max_pool", "sum_pool", "average_pool"])
class TestPools:
    """Constraints that all pools share."""

    def test_a_window_larger_than_the_padded_input_is_refused(self, name: str) -> None:
        diagnostics = refused(name, x(1, 2, 4), (6,), pads=((1, 0),))
        assert diagnostics == "C1: size of the window: expected at most 5, found 6"
        assert open_constraints(name, x(1, 2, N), (3,)) == [("C1", "3 <= N")]

    def test_another_number_of_strides_than_of_axes_is_refused(self, name: str) -> None:
        assert refused(name, x(1, 2, 4), (2, 2)) == "C2: a kernel of 2 axes for 1 spatial axis"
        assert refused(name, x(1, 2, 4), (2,), strides=(1, 1)) == "C2: 2 strides for 1 spatial axes"


def test_max_pool_c1_refuses_a_window_larger_than_the_padded_input() -> None:
    TestPools().test_a_window_larger_than_the_padded_input_is_refused("max_pool")


def test_max_pool_c2_refuses_another_number_of_strides_than_of_axes() -> None:
    TestPools().test_another_number_of_strides_than_of_axes_is_refused("max_pool")


def test_sum_pool_c1_refuses_a_window_larger_than_the_padded_input() -> None:
    TestPools().test_a_window_larger_than_the_padded_input_is_refused("sum_pool")


def test_sum_pool_c2_refuses_another_number_of_strides_than_of_axes() -> None:
    TestPools().test_another_number_of_strides_than_of_axes_is_refused("sum_pool")


def test_average_pool_c1_refuses_a_window_larger_than_the_padded_input() -> None:
    TestPools().test_a_window_larger_than_the_padded_input_is_refused("average_pool")


def test_average_pool_c2_refuses_another_number_of_strides_than_of_axes() -> None:
    TestPools().test_another_number_of_strides_than_of_axes_is_refused("average_pool")


def test_resize_c1_refuses_more_sizes_than_axes() -> None:
    assert refused("resize", x(4), (8, 8)) == "C1: 2 sizes for a tensor of rank 1"


def test_resize_c2_refuses_sizes_of_zero() -> None:
    assert refused("resize", x(4), (0,)) == "C2: size asked for: expected at least 1, found 0"
    assert refused("resize", x(0), (4,)) == "C2: size of an axis: expected at least 1, found 0"


def test_resize_c3_refuses_to_interpolate_integers() -> None:
    assert refused("resize", x(4, element=i32), (8,)) == "C3: no interpolation between elements of type i32"


def test_dynamic_resize_c1_refuses_more_sizes_than_axes() -> None:
    assert (
        refused("dynamic_resize", x(4), x(2, element=i64))
        == "C1: there are not more sizes than axes: number of sizes: expected at most 1, found 2"
    )


def test_dynamic_resize_c2_refuses_to_interpolate_integers() -> None:
    assert (
        refused("dynamic_resize", x(4, element=i32), x(1, element=i64))
        == "C2: elements that are interpolated are floats"
    )


def test_dynamic_pad_c1_refuses_amounts_for_other_axes() -> None:
    diagnostics = refused("dynamic_pad", x(4), x(2, element=i64), x(2, element=i64))
    assert diagnostics == "C1: before and after have one entry for each axis: number of amounts: expected 1, found 2"


def test_grid_sample_c1_refuses_to_interpolate_integers() -> None:
    diagnostics = refused("grid_sample", x(1, 1, 2, 2, element=i32), x(1, 3, 3, 2))
    assert diagnostics == "C1: no interpolation between elements of type i32"


def test_grid_sample_c2_refuses_positions_of_another_number_of_coordinates() -> None:
    diagnostics = refused("grid_sample", x(1, 1, 2, 2, 2), x(1, 3, 3, 2))
    assert diagnostics == "C2: coordinates of a position: expected 3, found 2"


def test_max_pool_with_positions_c1_refuses_a_window_that_does_not_fit() -> None:
    diagnostics = refused("max_pool_with_positions", x(1, 1, 2), (5,), pads=((1, 1),))
    assert diagnostics == "C1: size of the window: expected at most 4, found 5"


def test_max_pool_with_positions_c2_refuses_another_number_of_strides() -> None:
    diagnostics = refused("max_pool_with_positions", x(1, 1, 8), (2,), strides=(1, 1))
    assert diagnostics == "C2: 2 strides for 1 spatial axes"


def test_dft_c1_refuses_the_axis_of_real_and_imaginary_part() -> None:
    text = "C1: the axis is none of the last one, whose size is 1 or 2"
    assert refused("dft", x(4, 2), 4, axis=-1) == text
    assert refused("dft", x(4, 3), 4, axis=0) == text


def test_region_align_c1_refuses_three_sizes() -> None:
    diagnostics = refused("region_align", x(1, 1, 8, 8), x(2, 4), p(2), (2, 2, 2))
    assert diagnostics == "C1: the result has two sizes"


def test_region_max_pool_c1_refuses_three_sizes() -> None:
    assert refused("region_max_pool", x(1, 1, 8, 8), x(2, 5), (2, 2, 2)) == "C1: the result has two sizes"


def test_non_max_suppression_c1_refuses_a_number_of_groups_that_are_not_there() -> None:
    diagnostics = refused("non_max_suppression", x(1, 3, 4), x(1, 3), 0.5, group_count=2)
    assert diagnostics == "C1: groups are given exactly where their number is"


def test_non_max_suppression_c2_refuses_a_limit_beside_groups() -> None:
    diagnostics = refused("non_max_suppression", x(1, 3, 4), x(1, 3), 0.5, x(1, 3, element=i32), most=1)
    assert diagnostics == "C2: `most` is given only without groups"


# -- indexing


def test_arg_max_c1_refuses_an_empty_axis() -> None:
    assert refused("arg_max", x(2, 0), 1) == "C1: size of the axis: expected at least 1, found 0"


def test_arg_min_c1_refuses_an_empty_axis() -> None:
    assert refused("arg_min", x(0), 0) == "C1: size of the axis: expected at least 1, found 0"


def test_gather_elements_c1_refuses_positions_longer_than_x_along_another_axis() -> None:
    assert refused("gather_elements", x(2, 3), p(3, 1), 1) == "C1: axis 0 of positions: expected at most 2, found 3"
    assert open_constraints("gather_elements", x(N, 3), p(M, 1), 1) == [("C1", "M <= N")]


def test_gather_nd_c1_refuses_rows_longer_than_the_rank_or_of_unknown_length() -> None:
    assert refused("gather_nd", x(2, 3), p(4, 3)) == "C1: rows of 3 positions into rank 2 after 0 axes"
    assert refused("gather_nd", x(2, 3), p(4, N)) == "C1: rows of N positions into rank 2 after 0 axes"


def test_gather_nd_c2_refuses_positions_with_batch_axes_alone() -> None:
    assert refused("gather_nd", x(2, 3), p(2), batch=1) == "C2: positions of rank 1 after 1 axes"


def test_scatter_elements_c1_refuses_positions_longer_than_x_along_another_axis() -> None:
    text = "C1: the other axes of positions are not longer than those of x"
    diagnostics = refused("scatter_elements", x(2, 3), p(3, 1), x(3, 1), 1)
    assert diagnostics == f"{text}: size of positions: expected at most 2, found 3"
    assert open_constraints("scatter_elements", x(N, 3), p(2, 1), x(2, 1), 1) == [("C1", "2 <= N")]


def test_scatter_elements_c2_refuses_to_add_bools() -> None:
    b = x(2, element=boolean)
    assert refused("scatter_elements", b, p(2), b, 0, core.Reduction.ADD) == "C2: bools are only replaced"


def test_scatter_nd_c1_refuses_rows_longer_than_the_rank_or_of_unknown_length() -> None:
    text = "C1: the last axis of positions has a fixed size of at most rank(x)"
    assert refused("scatter_nd", x(2), p(1, N), x(1)) == text
    with pytest.raises(DiagnosticError) as caught:
        core.ScatterNd(x(2), p(1, 2), x(1))
    assert caught.value.diagnostics[0].message == f"core.scatter_nd: {text}"


def test_scatter_nd_c2_refuses_to_add_bools() -> None:
    b = x(2, element=boolean)
    diagnostics = refused("scatter_nd", b, p(2, 1), b, core.Reduction.MUL)
    assert diagnostics == "C2: bools are only replaced"


def test_scatter_nd_c3_refuses_updates_of_another_shape() -> None:
    text = "C3: updates have the leading sizes of positions and then the remaining ones of x"
    assert refused("scatter_nd", x(2, 3), p(1, 1), x(1, 4)) == f"{text}: size of updates: expected 3, found 4"
    assert refused("scatter_nd", x(2, 3), p(1, 1), x(3)) == text


def test_top_k_c1_refuses_more_elements_than_the_axis_has() -> None:
    assert refused("top_k", x(2, 3), 4) == "C1: k is not larger than the axis: k: expected at most 3, found 4"
    assert open_constraints("top_k", x(N), 4) == [("C1", "4 <= N")]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
def test_reductions_refuse_one_axis_twice(name: str) -> None:
    assert refused(f"reduce_{name}", x(2, 3), (0, -2)) == "C1: axes [0, -2] name one axis twice"


def test_reduce_sum_c1_refuses_one_axis_twice() -> None:
    test_reductions_refuse_one_axis_twice("sum")


def test_reduce_prod_c1_refuses_one_axis_twice() -> None:
    test_reductions_refuse_one_axis_twice("prod")


def test_reduce_max_c1_refuses_one_axis_twice() -> None:
    test_reductions_refuse_one_axis_twice("max")


def test_reduce_min_c1_refuses_one_axis_twice() -> None:
    test_reductions_refuse_one_axis_twice("min")


def test_reduce_mean_c1_refuses_one_axis_twice() -> None:
    test_reductions_refuse_one_axis_twice("mean")


# -- movement


def test_reshape_c1_refuses_another_number_of_elements() -> None:
    assert refused("reshape", x(2, 3), (4,)) == "C1: number of elements: expected 6, found 4"
    assert refused("reshape", x(2, 3), (4, -1)) == "C1: number of elements: expected 6, found 4"
    assert open_constraints("reshape", x(N, 3), (M, 3)) == [("C1", "3*M == 3*N")]


def test_reshape_c2_refuses_a_size_that_is_not_determined() -> None:
    assert refused("reshape", x(2, 3), (-1, -1)) == "C2: more than one size is -1"
    assert refused("reshape", x(0, 3), (-1, 0)) == "C2: one size is -1 and another 0"


def test_broadcast_to_c1_refuses_a_size_that_is_neither_1_nor_that_asked_for() -> None:
    assert refused("broadcast_to", x(2, 3), (2, 4)) == "C1: broadcast axis: expected 4, found 3"
    assert refused("broadcast_to", x(2, 3), (3,)) == "C1: rank 2 cannot be broadcast to rank 1"
    assert open_constraints("broadcast_to", x(N), (5, M)) == [("C1", "N == M")]


def test_squeeze_c1_refuses_an_axis_of_another_size() -> None:
    assert refused("squeeze", x(2, 1), (0,)) == "C1: axis 0: expected 1, found 2"
    assert open_constraints("squeeze", x(N, 1), (0,)) == [("C1", "N == 1")]


def test_squeeze_c2_refuses_one_axis_twice() -> None:
    assert refused("squeeze", x(2, 1), (1, -1)) == "C2: axes [1, -1] name one axis twice"


def test_unsqueeze_c1_refuses_one_axis_twice() -> None:
    assert refused("unsqueeze", x(2), (0, -3)) == "C1: axes [0, -3] name one axis twice"


def test_transpose_c1_refuses_an_order_that_is_none() -> None:
    assert refused("transpose", x(2, 3), (0, 0)) == "C1: perm [0, 0] does not name each of 2 axes once"


def test_slice_c1_refuses_bounds_for_another_number_of_axes() -> None:
    assert refused("slice", x(2, 3), (0,), (1,), (1,)) == "C1: bounds of 1 axes for a tensor of rank 2"


def test_slice_c2_refuses_a_step_of_zero() -> None:
    assert refused("slice", x(2), (0,), (1,), (0,)) == "C2: a step is 0"


def test_slice_c3_asks_for_expressions_that_do_not_become_negative() -> None:
    assert open_constraints("slice", x(8), (0,), (N - 3,), (1,)) == [("C3", "N - 3 >= 0")]
    assert open_constraints("slice", x(8), (0,), (N - 1,), (1,)) == []
    assert core.Slice(x(8), (-N,), (8,), (1,)).y.type is tensor(f32, -largest(8 - N, 0) + 8)


def test_dynamic_slice_c1_refuses_bounds_for_another_number_of_axes() -> None:
    diagnostics = refused("dynamic_slice", x(2, 3), p(2), p(2), (1,))
    assert diagnostics == "C1: starts, stops and steps have one entry for each axis"


def test_dynamic_slice_c2_refuses_a_step_of_zero() -> None:
    assert refused("dynamic_slice", x(2), p(1), p(1), (0,)) == "C2: no step is 0"


def test_reverse_c1_refuses_one_axis_twice() -> None:
    assert refused("reverse", x(2, 3), (0, 0)) == "C1: axes [0, 0] name one axis twice"


def test_pad_c1_refuses_amounts_for_another_number_of_axes() -> None:
    assert refused("pad", x(2, 3), (1,), (1,)) == "C1: amounts for 1 axes of a tensor of rank 2"


def test_pad_c2_refuses_a_value_that_the_element_type_does_not_have() -> None:
    diagnostics = refused("pad", x(2, element=i32), (1,), (1,), value=math.inf)
    assert diagnostics == "C2: inf is not a value of i32"


def test_pad_c3_refuses_to_mirror_more_than_there_is() -> None:
    diagnostics = refused("pad", x(2), (2,), (0,), core.PadMode.REFLECT)
    assert diagnostics == "C3: amount to mirror: expected less than 2, found 2"
    assert ("C3", "2 < N") in open_constraints("pad", x(N), (2,), (0,), core.PadMode.REFLECT)


def test_concat_c1_refuses_no_tensors() -> None:
    assert refused("concat", (), 0) == "C1: no tensors"


def test_concat_c2_refuses_other_ranks_and_other_sizes() -> None:
    assert refused("concat", (x(2, 3), x(2)), 0) == "C2: tensors of rank 2 and 1"
    assert refused("concat", (x(2, 3), x(2, 4)), 0) == "C2: axis 1: expected 4, found 3"
    assert ("C2", "N == M") in open_constraints("concat", (x(2, N), x(2, M)), 0)


def test_split_c1_refuses_sizes_that_do_not_add_up() -> None:
    assert refused("split", x(5), 0, (2, 2)) == "C1: sum of the sizes: expected 5, found 4"
    assert open_constraints("split", x(N), 0, (2, M)) == [("C1", "M + 2 == N")]


def test_tile_c1_refuses_repeats_for_another_number_of_axes() -> None:
    assert refused("tile", x(5), (1, 2)) == "C1: repeats for 2 axes of a tensor of rank 1"


def test_depth_to_space_c1_refuses_channels_that_are_not_multiples_of_a_block() -> None:
    assert refused("depth_to_space", x(1, 6, 2, 2), 2) == "C1: channels of x modulo block squared: expected 0, found 2"


def test_space_to_depth_c1_refuses_dims_that_are_not_multiples_of_a_block() -> None:
    assert refused("space_to_depth", x(1, 1, 3, 4), 2) == "C1: height modulo block: expected 0, found 1"
    assert refused("space_to_depth", x(1, 1, 4, 3), 2) == "C1: width modulo block: expected 0, found 1"


# -- sequences


def layer(gates: int, *, directions: int = 1, rows: int = 0) -> tuple[Value, ...]:
    """The first operands of a recurrent layer for inputs of size 2 and states of size 3."""
    rows = rows or gates * 3
    return x(5, 4, 2), x(directions, rows, 2), x(directions, rows, 3), x(directions, 4, 3)


ONE_DIRECTION = "C1: the axis of directions has size 2 when the layer is bidirectional, else 1"
PARAMETERS = "C3: there are as many parameters as the functions have, or none for the usual ones"
ROWS = "C2: weights have as many rows for each gate as a state has elements"


def test_rnn_c1_refuses_weights_of_another_number_of_directions() -> None:
    assert refused("rnn", *layer(1, directions=2)) == ONE_DIRECTION


def test_rnn_c2_refuses_weights_of_another_number_of_rows() -> None:
    assert refused("rnn", *layer(1, rows=4)) == ROWS


def test_rnn_c3_refuses_another_number_of_parameters() -> None:
    assert refused("rnn", *layer(1), parameters=(1.0,)) == PARAMETERS
    assert refused("rnn", *layer(1), activation=core.GateFunction.ELU, parameters=(1.0, 2.0)) == PARAMETERS


def test_gru_c3_refuses_another_number_of_parameters() -> None:
    assert refused("gru", *layer(3), parameters=(1.0,)) == PARAMETERS


def test_lstm_c3_refuses_another_number_of_parameters() -> None:
    inputs = layer(4)
    assert refused("lstm", *inputs, inputs[-1], parameters=(1.0,)) == PARAMETERS


def test_gru_c1_refuses_weights_of_another_number_of_directions() -> None:
    assert refused("gru", *layer(3), direction=core.Direction.BIDIRECTIONAL) == ONE_DIRECTION


def test_gru_c2_refuses_weights_of_another_number_of_rows() -> None:
    assert refused("gru", *layer(3, rows=8)) == ROWS


def test_lstm_c1_refuses_weights_of_another_number_of_directions() -> None:
    assert refused("lstm", *layer(4, directions=2), x(2, 4, 3), direction=core.Direction.REVERSE) == ONE_DIRECTION


def test_lstm_c2_refuses_weights_of_another_number_of_rows() -> None:
    assert refused("lstm", *layer(4, rows=9), x(1, 4, 3)) == ROWS


def test_scan_c1_refuses_sequences_of_different_lengths_and_of_none() -> None:
    body = core.nested([tensor(f32), tensor(f32)], lambda a, b: (core.add(a, b),))
    assert refused("scan", (), (x(2), x(3)), body) == "C1: length of a sequence: expected 2, found 3"
    assert refused("scan", (x(),), (), body) == "C1: there is a sequence, and all have the same first size"
    assert refused("scan", (), (x(), x(3)), body) == "C1: a sequence has no axis"
    assert open_constraints("scan", (), (x(N), x(M)), body) == [("C1", "M == N")]


def test_random_uniform_c1_refuses_a_negative_size() -> None:
    assert refused("random_uniform", core.vector((2, -1))) == "C1: no size is negative"


def test_random_normal_c1_refuses_a_negative_size() -> None:
    assert refused("random_normal", core.vector((-1,))) == "C1: no size is negative"


# -- compressed tensors


def test_dequantize_c1_refuses_blocks_that_do_not_fit() -> None:
    codes = x(4, 6, element=i8)
    assert refused("dequantize", codes, x(4, 4)) == "C1: 4 blocks of scale along an axis of size 6"
    assert refused("dequantize", codes, x(4)) == "C1: blocks of rank 1 for rank 2"
    assert refused("dequantize", codes, x(1, 1), x(3, 1)) == "C1: 3 blocks of zero_point along an axis of size 4"
    assert open_constraints("dequantize", x(N, element=i8), x(3)) == [("C1", "3 == N")]


def test_quantize_c1_refuses_blocks_that_do_not_fit() -> None:
    assert refused("quantize", x(4), x(3), i8) == "C1: 3 blocks of scale along an axis of size 4"


def test_table_lookup_c1_refuses_tables_that_do_not_fit() -> None:
    assert refused("table_lookup", p(4), x(4, 1)) == "C1: tables of rank 2 for positions of rank 1"
    assert refused("table_lookup", p(4), x(3, 16, 1)) == "C1: 3 blocks of tables along an axis of size 4"


def test_table_lookup_c2_refuses_entries_without_an_axis() -> None:
    assert refused("table_lookup", p(4), x(1, 16, 2)) == "C2: entries of 2 elements along axis None of rank 1"
    assert refused("table_lookup", p(4), x(1, 16, 2), 1) == "C2: entries of 2 elements along axis 1 of rank 1"


def test_sparse_table_lookup_c1_refuses_tables_that_do_not_fit() -> None:
    message = "C1: tables have two axes more than mask, and their sizes divide its sizes"
    mask = x(4, element=boolean)
    assert refused("sparse_table_lookup", mask, p(2), x(16, 1)) == message
    assert refused("sparse_table_lookup", mask, p(2), x(3, 16, 1)) == message


def test_sparse_table_lookup_c2_refuses_entries_without_an_axis() -> None:
    diagnostics = refused("sparse_table_lookup", x(4, element=boolean), p(2), x(1, 16, 2))
    assert diagnostics == "C2: entries of 2 elements along axis None of rank 1"


def test_sparse_dequantize_c1_refuses_blocks_that_do_not_fit() -> None:
    message = "C1: scale and zero_point have the rank of mask and sizes that divide its sizes"
    mask, codes = x(4, element=boolean), x(2, element=i8)
    assert refused("sparse_dequantize", mask, codes, x(3)) == message
    assert refused("sparse_dequantize", mask, codes, x(2), x(1, 1)) == message


def test_repeat_mask_c1_refuses_an_axis_that_is_not_there() -> None:
    assert refused("repeat_mask", x(4, element=boolean), 2, 1) == "C1: axis 1 of a mask of rank 1"


# -- conversions, texts, lists


def test_bit_cast_c1_refuses_a_type_of_another_width() -> None:
    assert refused("bit_cast", x(2), i64) == "C1: both types have the same width"


def test_string_normalize_c1_refuses_several_rows() -> None:
    claim = "C1: the operand has one axis, or two, of which the first has size 1"
    assert refused("string_normalize", x(2, 3, element=string)) == claim
    assert refused("string_normalize", x(element=string)) == claim


def test_regex_full_match_c1_refuses_what_is_not_a_pattern() -> None:
    diagnostics = refused("regex_full_match", x(2, element=string), "(a")
    assert diagnostics == "C1: a '(' without a ')' at position 2 of the pattern '(a'"


def _ngrams(*operands: Any, **changes: Any) -> str:
    return refused("ngram_counts", *operands, **{"starts": (0,), "columns": (0, 1), "numbers": (5, 6), **changes})


def test_ngram_counts_c1_refuses_a_pool_of_another_type() -> None:
    claim = "C1: the pool is of numbers for numbers, of texts for texts"
    assert _ngrams(x(3, element=string)) == claim
    assert _ngrams(p(3), texts=("a", "b")) == claim


def test_ngram_counts_c2_refuses_starts_outside_of_the_pool() -> None:
    assert _ngrams(p(3), starts=(0, 3), columns=(0, 1)) == "C2: starts do not decrease and lie in the pool"


def test_ngram_counts_c3_refuses_too_few_columns_and_negative_ones() -> None:
    claim = "C3: there is a column for each n-gram of the pool, and none is negative"
    assert _ngrams(p(3), columns=(0,)) == claim
    assert _ngrams(p(3), columns=(0, -1)) == claim


def test_ngram_counts_c4_refuses_three_axes() -> None:
    assert _ngrams(p(3, 3, 3)) == "C4: the operand has one or two axes"


def test_list_of_c1_refuses_no_values() -> None:
    assert refused("list_of", ()) == "C1: there is a value"


def test_pairwise_coupling_c1_refuses_columns_that_are_not_pairs() -> None:
    claim = "C1: there are as many columns as pairs of classes: number of columns: expected 3, found 4"
    assert refused("pairwise_coupling", x(2, 4), classes=3) == claim


def test_optional_get_c1_refuses_what_cannot_be_absent() -> None:
    assert refused("optional_get", x(2)) == "C1: the operand is one that may be absent"


def test_tuple_get_c1_refuses_a_position_outside_of_the_tuple() -> None:
    pair = Value(TupleType((tensor(f32, 2), tensor(i64))))
    assert refused("tuple_get", pair, 2) == "C1: index 2 in a tuple of 2"
    assert refused("tuple_get", pair, -1) == "C1: index -1 in a tuple of 2"


def test_sparse_of_c1_refuses_indices_of_other_elements_or_axes() -> None:
    claim = "C1: indices has shape [n], or [n, r]"
    for indices in (p(4, 3), p(4, 2, 1), p()):
        assert refused("sparse_of", x(4), indices, core.vector((2, 3))) == claim
