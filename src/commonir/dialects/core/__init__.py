"""The core dialect: the small, orthogonal set of operations in which every other dialect is defined.

Each operation is a class (`Conv`), and a function of the same arguments that returns its results (`conv`).
"""

from commonir.base.lazy import import_members
from commonir.dialects.core.constants import range_
from commonir.dialects.core.shape import slice_
from commonir.ods import Dialect, definitions_in

import_members(
    globals(),
    {
        "activation": (
            "Activation Clip Elu Gelu GeluForm HardSigmoid HardSwish LeakyRelu LogSoftmax Mish Prelu Reciprocal Relu "
            "Rsqrt Sigmoid Silu Softmax Softplus Softsign clip elu gelu hard_sigmoid hard_swish leaky_relu log_softmax "
            "mish per_channel prelu reciprocal relu rsqrt sigmoid silu softmax softplus softsign"
        ),
        "base": "CoreOp as_tensor axis_of tensor_type",
        "bits": "bits_as",
        "communication": (
            "AllReduce Barrier Exchange Recv Send all_reduce all_reduce_steps are_all_ranks rank_of ranks_of recv "
            "set_rank"
        ),
        "complex_numbers": "Imaginary MakeComplex Real imag make_complex real",
        "compression": (
            "Decoded Dequantize Quantize RepeatMask SparseDequantize SparseTableLookup SparseToDense TableLookup "
            "dequantize quantize repeat_mask sparse_dequantize sparse_table_lookup sparse_to_dense table_lookup"
        ),
        "constants": (
            "Constant Dimension Dims Iota Range ShapeOf constant dim dims iota scalar shape_of splat vector "
            "integer_values"
        ),
        "contraction": (
            "AveragePool Conv ConvTranspose Einsum Linear MatMul MaxPool MaxPoolWithPositions Pool SumPool "
            "average_pool conv conv_transpose einsum linear matmul max_pool max_pool_with_positions sum_pool"
        ),
        "control": "Call If Require Scan While Yield call if_ inlined nested scan while_ yielded",
        "conversion": (
            "NARROW BitCast FormatNumbers NarrowCast ParseNumbers Toward bit_cast format_numbers narrow_cast "
            "parse_numbers"
        ),
        "elementwise": (
            "Abs Acos Acosh Add Asin Asinh Atan Atanh Binary BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil "
            "Comparison Cos Cosh Div Equal Erf Exp Exp2 Floor FloorDiv Greater GreaterEqual IsInf IsNan Less "
            "LessEqual Log LogicalAnd LogicalNot LogicalOr LogicalXor Maximum Minimum Mod Mul Neg NotEqual Pow "
            "Predicate Remainder Round Select ShiftLeft ShiftRight Sign Sin Sinh Sqrt Sub Tan Tanh Truncate Unary abs "
            "acos acosh add asin asinh atan atanh bitwise_and bitwise_not bitwise_or bitwise_xor cast ceil cos cosh "
            "div equal erf exp exp2 floor floor_div greater greater_equal is_inf is_nan less less_equal log "
            "logical_and logical_not logical_or logical_xor maximum minimum mod mul narrowed neg not_equal pow "
            "remainder round select shift_left shift_right sign sin sinh sqrt sub tan tanh truncate widened"
        ),
        "images": "DecodeImage PixelFormat decode_image",
        "indexing": (
            "ArgMax ArgMin ArgReduce ArgSort BandPart CheckedPositions Gather GatherElements GatherNd NonZero OneHot "
            "Reduction ScatterElements ScatterNd TopK Unique arg_max arg_min argsort band_part checked_positions "
            "from_start gather gather_elements gather_nd non_zero one_hot scatter_elements scatter_nd top_k unique"
        ),
        "lookup": "Lookup lookup",
        "maps": (
            "MapErase MapGet MapHas MapInsert MapKeys MapLength MapOf MapsOfRows MapValues map_erase map_get map_has "
            "map_elements map_insert map_key map_keys map_length map_of map_values maps_of_rows"
        ),
        "matrices": "Det Eigh PairwiseCoupling Svd det eigh pairwise_coupling svd",
        "normalization": (
            "Attention BatchNorm GroupNorm InstanceNorm L2Norm LayerNorm RmsNorm RotaryEmbedding attention batch_norm "
            "group_norm instance_norm l2_norm layer_norm rms_norm rotary_embedding zero_where_masked"
        ),
        "random": "ANY_SEED Generator RandomNormal RandomTensor RandomUniform random_normal random_uniform",
        "recurrent": "Direction GateFunction Gru Lstm Recurrent Rnn gru lstm rnn",
        "reduction": (
            "CumProd CumSum Cumulative Reduce ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum cumprod cumsum "
            "reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
        ),
        "regions": "RegionAlign RegionMaxPool RegionMode region_align region_max_pool",
        "resize": (
            "Coordinates DynamicResize Resize ResizeMode Rounding dynamic_resize nearest_element position resize "
            "resize_to"
        ),
        "sampling": "Border GridSample NonMaxSuppression Unit grid_sample kept_boxes non_max_suppression",
        "sequences": (
            "ListAt ListConcat ListEmpty ListErase ListInsert ListLength ListOf OptionalGet OptionalHas OptionalNone "
            "OptionalOf SplitToList common_type list_at list_concat list_empty list_erase list_insert list_length "
            "list_of optional_get optional_has optional_none optional_of split_to_list"
        ),
        "shape": (
            "BlockOrder BroadcastTo Concat DepthToSpace DynamicPad DynamicReshape DynamicSlice Movement Pad PadMode "
            "Reshape Reverse Slice SpaceToDepth Split Squeeze Tile Transpose Unsqueeze broadcast_to concat "
            "depth_to_space dynamic_pad dynamic_reshape dynamic_slice fill pad reshape resolved_shape reverse "
            "slice_range space_to_depth split squeeze stack tile transpose unsqueeze"
        ),
        "signal": "Dft dft",
        "sparse": (
            "SparseIndices SparseLength SparseOf SparseShape SparseValues ToDense ToSparse sparse_indices "
            "sparse_length sparse_of sparse_shape sparse_values to_dense to_sparse"
        ),
        "strings": (
            "Case NgramCounts RegexFullMatch StringConcat StringNormalize StringSplit ngram_counts regex_full_match "
            "string_concat string_normalize string_split"
        ),
        "trees": "Aggregate NodeTest TreeEnsemble table_fault tree_ensemble",
        "tuples": (
            "HandleEqual HandleOf HandleValue TupleGet TupleLength TupleOf handle_equal handle_of handle_value "
            "tuple_get tuple_length tuple_of"
        ),
    },
)

range = range_
slice = slice_

DIALECT: Dialect = Dialect(
    "core",
    definitions_in(globals(), "core"),
    summary="Standard operations on tensors, in which the operations of every format are explained.",
    keeps_names=True,
)
