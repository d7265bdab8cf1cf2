"""Attention operators of com.microsoft: with projections, masks and decoder caches, and rotary embedding.

Source: onnxruntime, contrib operator reference, version 1.
"""

from __future__ import annotations

from typing import Protocol

from commonir.dialects import core
from commonir.dialects.onnx.attention import heads_apart, heads_together, repeated_heads, rotated, usual_scale
from commonir.dialects.onnx.base import BYTES, OnnxOp, element_of, known, rank_of, shape_of, sizes_of_rank, tensor_type
from commonir.dialects.onnx.microsoft.quantized import HALF_OR_SINGLE, SINGLE, one
from commonir.dialects.onnx.quantization import HALF_AND_SINGLE, WHOLE
from commonir.dialects.onnx.quantized_products import shifted
from commonir.ir.operation import Value
from commonir.ir.types import Type, are_known, f8e4m3fn, i32, i64
from commonir.notation import NotationError, NotKnownError
from commonir.ods import attr_types, attribute, element_type, one_of, operand, positive, result
from commonir.symbolic import Dim, floor_div, largest

_FILTER = -10000.0
"""The default score added for a key that a mask excludes."""


def _refuse(**given: object) -> None:
    """Raises: NotationError for attributes and operands that have a meaning on devices only."""
    for name, value in given.items():
        if value:
            raise NotationError(f"'{name}' has a meaning on the devices of onnxruntime only")


def _key_mask(mask: Value, batch: Dim, keys: Dim) -> Value:
    """Returns the keys that a mask admits, [batch, 1, 1 or query, key].

    A matrix [batch, key] or a tensor [batch, query, key] keeps what is positive; a vector has where the keys of each
    text end, or then also where they begin.
    """
    shape = shape_of(mask)
    if len(shape) == 1:
        place = core.iota((1, 1, 1, keys), 3, i32)
        if shape[0] == batch:
            return core.less(place, core.reshape(mask, (batch, 1, 1, 1)))
        if shape[0] - batch * 2 != 0:
            text = f"a mask of {shape[0]} numbers for {batch} texts"
            is_fixed = isinstance(shape[0], int) and isinstance(batch, int)
            raise NotationError(text) if is_fixed else NotKnownError(text)
        ends, starts = (core.reshape(v, (batch, 1, 1, 1)) for v in core.split(mask, 0, (batch, batch)))
        return core.logical_and(core.less(place, ends), core.greater_equal(place, starts))
    if len(shape) not in (2, 3):
        raise NotationError(f"a mask of rank {len(shape)}, expected 1 to 3")
    kept = core.greater(mask, core.scalar(0, i32))
    return core.unsqueeze(kept, (1, 2) if len(shape) == 2 else (1,))


def _causal(queries: Dim, keys: Dim, before: Value) -> Value:
    """Returns whether a key is not after a query. The first query follows some keys, a number for all or for each
    sequence.
    """
    place = core.add(core.iota((queries, keys), 0, i64), before)
    return core.less_equal(core.iota((queries, keys), 1, i64), place)


def _number(size: Dim) -> Value:
    return core.dims((size,), i64, True)


class Masked(Protocol):
    """Attributes of operators with additive masks, which may be causal."""

    @property
    def unidirectional(self) -> bool: ...
    @property
    def mask_filter_value(self) -> float | None: ...
    @property
    def scale(self) -> float | None: ...


def _attended(
    op: Masked, query: Value, key: Value, value: Value, past: Dim, mask: Value | None, bias: Value | None
) -> Value:
    """Returns the attention of queries over values, for operands with an axis of heads; `past` is the number of earlier
    keys.
    """
    scale = op.scale or usual_scale(shape_of(query)[3])
    return core.attention(query, key, value, _added(op, query, key, past, mask, bias), scale)


def _added(op: Masked, query: Value, key: Value, past: Dim, mask: Value | None, bias: Value | None) -> Value | None:
    """Returns the bias that is added to scores."""
    batch, _, queries, _ = shape_of(query)
    keys = shape_of(key)[2]
    zero = core.splat(0.0, query)
    total = bias
    if mask is not None:
        away = core.splat(_FILTER if op.mask_filter_value is None else op.mask_filter_value, query)
        lowered = core.select(_key_mask(mask, batch, keys), zero, away)
        total = lowered if total is None else core.add(total, lowered)
    if op.unidirectional:
        causal = _causal(queries, keys, _number(past))
        least = core.splat(float("-inf"), query)
        total = core.select(causal, zero if total is None else total, least)
    return total


def _with_past(key: Value, value: Value, past: Value | None) -> tuple[Value, Value, Dim]:
    """Keys and values after those of a past, which is [2, batch, head, position, size], and how many these are."""
    if past is None:
        return key, value, 0
    count = sizes_of_rank(past, "past", 5)[3]
    before_key, before_value = (core.squeeze(p, (0,)) for p in core.split(past, 0, (1, 1)))
    return core.concat((before_key, key), 2), core.concat((before_value, value), 2), count


class Attention(OnnxOp, name="onnx.microsoft.Attention", since="microsoft1"):
    """Scaled dot-product attention of projected queries, keys and values; also returns present keys and values."""

    input: Value = operand("T")
    weights: Value = operand("T")
    num_heads: int = attribute(attr_types.integer, check=positive)
    bias: Value | None = operand("T", default=None)
    mask_index: Value | None = operand("M", default=None)
    past: Value | None = operand("T", default=None)
    attention_bias: Value | None = operand("T", default=None)
    past_sequence_length: Value | None = operand("M", default=None)
    unidirectional: bool = attribute(attr_types.flag, default=False)
    mask_filter_value: float | None = attribute(attr_types.number, default=None)
    scale: float | None = attribute(attr_types.number, default=None)
    qkv_hidden_sizes: tuple[int, ...] | None = attribute(attr_types.integers, default=None)
    past_present_share_buffer: int | None = attribute(attr_types.integer, default=None)
    do_rotary: int | None = attribute(attr_types.integer, default=None)
    rotary_embedding_dim: int | None = attribute(attr_types.integer, default=None)
    output: Value = result("T")
    present: Value | None = result("T", optional=True)
    T = HALF_AND_SINGLE
    M = WHOLE

    def reference(
        self,
        input: Value,
        weights: Value,
        bias: Value | None,
        mask_index: Value | None,
        past: Value | None,
        attention_bias: Value | None,
        past_sequence_length: Value | None,
    ) -> tuple[Value, ...]:
        _refuse(
            do_rotary=self.do_rotary, past_present_share_buffer=self.past_present_share_buffer,
            past_sequence_length=past_sequence_length,
        )  # fmt: skip
        projected = core.matmul(input, weights)
        projected = projected if bias is None else core.add(projected, bias)
        sizes = self.qkv_hidden_sizes or (floor_div(shape_of(projected)[-1], 3),) * 3
        query, key, value = (heads_apart(v, self.num_heads) for v in core.split(projected, 2, sizes))
        keys, values, count = _with_past(key, value, past)
        y = heads_together(_attended(self, query, keys, values, count, mask_index, attention_bias))
        return (y, core.stack((keys, values), 0)) if self.trace_key() else (y,)

    def trace_key(self) -> bool:
        """Returns whether keys and values are expected: those of different sizes are not one tensor."""
        if self.built_results is None:
            return len(set(self.qkv_hidden_sizes or (0, 0, 0))) == 1
        return len(self.built_results) == 2


class QAttention(OnnxOp, name="onnx.microsoft.QAttention", since="microsoft1"):
    """Attention with quantized input and projection weights; weight may have per-column scales."""

    input: Value = operand("T1")
    weight: Value = operand("T2")
    bias: Value = operand("T3")
    input_scale: Value = operand("T3")
    weight_scale: Value = operand("T3")
    num_heads: int = attribute(attr_types.integer, check=positive)
    mask_index: Value | None = operand("T4", default=None)
    input_zero_point: Value | None = operand("T1", default=None)
    weight_zero_point: Value | None = operand("T2", default=None)
    past: Value | None = operand("T3", default=None)
    unidirectional: bool = attribute(attr_types.flag, default=False)
    mask_filter_value: float | None = attribute(attr_types.number, default=None)
    scale: float | None = attribute(attr_types.number, default=None)
    do_rotary: int | None = attribute(attr_types.integer, default=None)
    past_present_share_buffer: int | None = attribute(attr_types.integer, default=None)
    output: Value = result("T3")
    present: Value | None = result("T3", optional=True)
    T1 = BYTES
    T2 = BYTES
    T3 = HALF_OR_SINGLE
    T4 = WHOLE

    def reference(
        self,
        input: Value,
        weight: Value,
        bias: Value,
        input_scale: Value,
        weight_scale: Value,
        mask_index: Value | None,
        input_zero_point: Value | None,
        weight_zero_point: Value | None,
        past: Value | None,
    ) -> tuple[Value, ...]:
        _refuse(do_rotary=self.do_rotary, past_present_share_buffer=self.past_present_share_buffer)
        zero = None if input_zero_point is None else one(input_zero_point)
        summed = core.matmul(shifted(input, zero, i32), shifted(weight, weight_zero_point, i32))
        numbers = core.cast(summed, element_of(bias))
        projected = core.add(core.mul(numbers, core.mul(one(input_scale), weight_scale)), bias)
        size = floor_div(shape_of(projected)[-1], 3)
        query, key, value = (heads_apart(v, self.num_heads) for v in core.split(projected, 2, (size,) * 3))
        keys, values, count = _with_past(key, value, past)
        y = heads_together(_attended(self, query, keys, values, count, mask_index, None))
        return y, core.stack((keys, values), 0)


class MultiHeadAttention(OnnxOp, name="onnx.microsoft.MultiHeadAttention", since="microsoft1"):
    """Multi-head attention: attention of queries, keys and values, each plus an optional bias; also returns the present
    keys and values.

    Keys and values have concatenated heads, or an axis of heads, then without a bias.
    """

    query: Value = operand("T")
    num_heads: int = attribute(attr_types.integer, check=positive)
    key: Value | None = operand("T", default=None)
    value: Value | None = operand("T", default=None)
    bias: Value | None = operand("T", default=None)
    key_padding_mask: Value | None = operand("M", default=None)
    attention_bias: Value | None = operand("T", default=None)
    past_key: Value | None = operand("T", default=None)
    past_value: Value | None = operand("T", default=None)
    past_sequence_length: Value | None = operand("M", default=None)
    cache_indirection: Value | None = operand("M", default=None)
    unidirectional: bool = attribute(attr_types.flag, default=False)
    mask_filter_value: float | None = attribute(attr_types.number, default=None)
    scale: float | None = attribute(attr_types.number, default=None)
    output: Value = result("T")
    present_key: Value | None = result("T", optional=True)
    present_value: Value | None = result("T", optional=True)
    qk: Value | None = result("QK", optional=True)
    T = HALF_AND_SINGLE
    QK = HALF_AND_SINGLE
    M = WHOLE

    def reference(
        self,
        query: Value,
        key: Value | None,
        value: Value | None,
        bias: Value | None,
        key_padding_mask: Value | None,
        attention_bias: Value | None,
        past_key: Value | None,
        past_value: Value | None,
        past_sequence_length: Value | None,
        cache_indirection: Value | None,
    ) -> tuple[Value, ...]:
        _refuse(past_sequence_length=past_sequence_length, cache_indirection=cache_indirection)
        if key is None or value is None or rank_of(query) != 3:
            raise NotationError("queries, keys and values in one tensor have a meaning on devices of onnxruntime only")
        biases = self._biases(query, value, bias)
        queries = self._apart(query, biases[0])
        keys, values = self._apart(key, biases[1]), self._apart(value, biases[2])
        count: Dim = 0
        if past_key is not None and past_value is not None:
            count = sizes_of_rank(past_key, "past_key", 4)[2]
            keys, values = core.concat((past_key, keys), 2), core.concat((past_value, values), 2)
        y = heads_together(_attended(self, queries, keys, values, count, key_padding_mask, attention_bias))
        if not self.trace_key():
            return y, keys, values
        added = _added(self, queries, keys, count, key_padding_mask, attention_bias)
        scale = self.scale or usual_scale(shape_of(queries)[3])
        scores = core.matmul(core.mul(queries, core.splat(scale, queries)), keys, False, True)
        return y, keys, values, scores if added is None else core.add(scores, added)

    def trace_key(self) -> bool:
        """Returns whether scores are asked for; an operation that is being made has all results."""
        return self.built_results is None or len(self.built_results) == 4

    def _biases(self, query: Value, value: Value, bias: Value | None) -> tuple[Value | None, ...]:
        """The parts of a bias for queries, keys and values."""
        if bias is None:
            return None, None, None
        size = shape_of(query)[-1]
        return core.split(bias, 0, (size, size, shape_of(bias)[0] - size * 2))

    def _apart(self, x: Value, bias: Value | None) -> Value:
        """An operand, with a bias, with an axis of heads."""
        if rank_of(x) == 4:
            return x
        return heads_apart(x if bias is None else core.add(x, bias), self.num_heads)


class RotaryEmbedding(OnnxOp, name="onnx.microsoft.RotaryEmbedding", since="microsoft1"):
    """Rotary position embedding: rotates pairs of elements of each head by an angle that depends on the position.

    position_ids has the position of each element, or only that of the first.
    """

    input: Value = operand("T")
    position_ids: Value = operand("M")
    cos_cache: Value = operand("T")
    sin_cache: Value = operand("T")
    interleaved: int | None = attribute(attr_types.integer, default=None)
    num_heads: int | None = attribute(attr_types.integer, default=None)
    rotary_embedding_dim: int | None = attribute(attr_types.integer, default=None)
    scale: float | None = attribute(attr_types.number, default=None)
    is_packed_batching: int | None = attribute(attr_types.integer, default=None)
    output: Value = result("T")
    T = HALF_AND_SINGLE
    M = element_type(i64)

    def reference(self, input: Value, position_ids: Value, cos_cache: Value, sin_cache: Value) -> Value:
        _refuse(is_packed_batching=self.is_packed_batching)
        if self.scale not in (None, 1.0):
            raise NotationError(f"a scale of {self.scale} has a meaning on the devices of onnxruntime only")
        is_flat = rank_of(input) == 3
        length = shape_of(input)[1 if is_flat else 2]
        x = input
        if is_flat:
            width = sizes_of_rank(cos_cache, "cos_cache", 2)[1] * 2
            heads = self.num_heads or floor_div(shape_of(input)[2], width)
            if not isinstance(heads, int):
                raise NotationError("the number of heads is neither given nor known before running")
            x = heads_apart(input, heads)
        places = position_ids
        if rank_of(position_ids) == 1:
            places = core.unsqueeze(core.add(position_ids, core.iota((length,), 0, i64)), (0,))
        cos, sin = (core.gather(c, places, 0) for c in (cos_cache, sin_cache))
        y = rotated(x, cos, sin, self.rotary_embedding_dim or 0, interleaved=bool(self.interleaved))
        return heads_together(y) if is_flat else y


class GroupQueryAttention(OnnxOp, name="onnx.microsoft.GroupQueryAttention", since="microsoft1"):
    """Grouped-query attention of a decoder: each query attends to keys up to its own position; several query heads
    share one head of keys and values.

    The cache has at least `total_sequence_length` positions. New keys and values are appended to those of each
    sequence, `seqlens_k` + 1 in all. Returns the result and the present cache.
    """

    query: Value = operand("T")
    key: Value | None = operand("T", optional=True)
    value: Value | None = operand("T", optional=True)
    past_key: Value | None = operand("T_CACHE", optional=True)
    past_value: Value | None = operand("T_CACHE", optional=True)
    seqlens_k: Value = operand("M")
    total_sequence_length: Value = operand("M", by_value=True)
    num_heads: int = attribute(attr_types.integer, check=positive)
    kv_num_heads: int = attribute(attr_types.integer, check=positive)
    cos_cache: Value | None = operand("T", default=None)
    sin_cache: Value | None = operand("T", default=None)
    position_ids: Value | None = operand("i64", default=None)
    attention_bias: Value | None = operand("T", default=None)
    head_sink: Value | None = operand("T", default=None)
    k_scale: Value | None = operand("T_KV_SCALE", default=None)
    v_scale: Value | None = operand("T_KV_SCALE", default=None)
    q_norm_weight: Value | None = operand("T", default=None)
    k_norm_weight: Value | None = operand("T", default=None)
    scale: float | None = attribute(attr_types.number, default=None)
    softcap: float | None = attribute(attr_types.number, default=None)
    local_window_size: int = attribute(attr_types.integer, default=-1)
    do_rotary: int | None = attribute(attr_types.integer, default=None)
    rotary_interleaved: int | None = attribute(attr_types.integer, default=None)
    smooth_softmax: int = attribute(attr_types.integer, default=-1)
    causal: int = attribute(attr_types.integer, default=1, check=one_of(0, 1))
    qk_output: int = attribute(attr_types.integer, default=0)
    qk_norm_epsilon: float = attribute(attr_types.number, default=1e-6)
    kv_cache_bit_width: int | None = attribute(attr_types.integer, default=None)
    k_quant_type: str = attribute(attr_types.string, default="NONE")
    v_quant_type: str = attribute(attr_types.string, default="NONE")
    sliding_window_cache: int = attribute(attr_types.integer, default=0)
    output: Value = result("T")
    present_key: Value | None = result("T_CACHE", optional=True)
    present_value: Value | None = result("T_CACHE", optional=True)
    output_qk: Value | None = result("T", optional=True)
    T = HALF_AND_SINGLE
    T_CACHE = HALF_AND_SINGLE | BYTES | element_type(f8e4m3fn)
    T_KV_SCALE = SINGLE
    M = WHOLE

    def infer_partially(self) -> tuple[Type, ...]:
        query = tensor_type(self.query)
        if not are_known(query.shape) or len(query.shape) != 3:
            return (query.with_shape(None),) * 3
        batch, length, width = query.shape
        packed = self.key is None
        size = floor_div(width, self.num_heads + 2 * self.kv_num_heads if packed else self.num_heads)
        state = query.with_shape((batch, self.kv_num_heads, None, size))
        return query.with_shape((batch, length, size * self.num_heads)), state, state

    def reference(
        self,
        query: Value,
        key: Value | None,
        value: Value | None,
        past_key: Value | None,
        past_value: Value | None,
        seqlens_k: Value,
        total_sequence_length: Value,
        cos_cache: Value | None,
        sin_cache: Value | None,
        position_ids: Value | None,
        attention_bias: Value | None,
        head_sink: Value | None,
        k_scale: Value | None,
        v_scale: Value | None,
        q_norm_weight: Value | None,
        k_norm_weight: Value | None,
    ) -> tuple[Value, ...]:
        is_quantized = self.k_quant_type != "NONE" or self.v_quant_type != "NONE"
        _refuse(
            k_scale=k_scale, v_scale=v_scale, q_norm_weight=q_norm_weight, k_norm_weight=k_norm_weight,
            k_quant_type=is_quantized, sliding_window_cache=self.sliding_window_cache, qk_output=self.qk_output,
        )  # fmt: skip
        queries, new_keys, new_values = self._projected(query, key, value)
        batch, _, length, _ = shape_of(queries)
        (total,) = known(total_sequence_length, "total_sequence_length")
        ends = core.add(core.reshape(core.cast(seqlens_k, i64), (batch,)), core.scalar(1, i64))
        # All positions are new in the first run, whatever the lengths of sequences are.
        is_first = core.equal(_number(length), _number(total))
        before = core.select(is_first, core.scalar(0, i64), core.sub(ends, _number(length)))
        if self.do_rotary:
            if cos_cache is None or sin_cache is None:
                raise NotationError("do_rotary needs cos_cache and sin_cache")
            places = _places(position_ids, before, length, is_first)
            cos, sin = core.gather(cos_cache, places, 0), core.gather(sin_cache, places, 0)
            is_interleaved = bool(self.rotary_interleaved)
            half = shape_of(cos_cache)[1]
            turned = 2 * half if isinstance(half, int) else 0
            queries = rotated(queries, cos, sin, turned, interleaved=is_interleaved)
            new_keys = rotated(new_keys, cos, sin, turned, interleaved=is_interleaved)
        keys, values = _stored(past_key, new_keys, before, total), _stored(past_value, new_values, before, total)
        allowed = self._allowed(length, shape_of(keys)[2], before, ends)
        y = self._attended(queries, keys, values, allowed, attention_bias, head_sink)
        return heads_together(y), keys, values

    def _projected(self, query: Value, key: Value | None, value: Value | None) -> tuple[Value, Value, Value]:
        """Queries, keys and values with an axis of heads; without keys and values they are part of query."""
        parts = (query, key, value)
        if key is None or value is None:
            heads, others = self.num_heads, self.kv_num_heads
            size = floor_div(sizes_of_rank(query, "query", 3)[2], heads + 2 * others)
            parts = core.split(query, 2, (size * heads, size * others, size * others))
        q, k, v = parts
        assert k is not None
        assert v is not None
        return heads_apart(q, self.num_heads), heads_apart(k, self.kv_num_heads), heads_apart(v, self.kv_num_heads)

    def _allowed(self, queries: Dim, keys: Dim, before: Value, ends: Value) -> Value:
        """Returns the keys that each query attends to, [batch, 1, query, key]."""
        first, last = (core.reshape(v, (-1, 1, 1, 1)) for v in (before, ends))
        if not self.causal:
            return core.less(core.iota((1, 1, 1, keys), 3, i64), last)
        allowed = _causal(queries, keys, first)
        if self.local_window_size >= 0:
            place = core.add(core.iota((queries, keys), 0, i64), first)
            oldest = core.sub(place, core.scalar(self.local_window_size, i64))
            allowed = core.logical_and(allowed, core.greater(core.iota((queries, keys), 1, i64), oldest))
        return allowed

    def _attended(
        self, query: Value, key: Value, value: Value, allowed: Value, bias: Value | None, sink: Value | None
    ) -> Value:
        """Returns the attention of queries over values. A sink takes a share of the weights of its head and adds
        nothing.
        """
        keys, values = repeated_heads(key, self.num_heads), repeated_heads(value, self.num_heads)
        scale = self.scale or usual_scale(shape_of(query)[3])
        mask = allowed
        if bias is not None:
            room = shape_of(keys)[2] - shape_of(bias)[3]
            if room != 0:
                bias = core.concat((bias, core.fill(core.splat(0.0, bias), (*shape_of(bias)[:3], room))), 3)
            mask = core.select(allowed, bias, core.splat(float("-inf"), bias))
        has_sink = sink is not None or self.smooth_softmax > 0
        if not self.softcap and not has_sink:
            return core.attention(query, keys, values, mask, scale)
        scores = core.matmul(core.mul(query, core.splat(scale, query)), keys, False, True)
        if self.softcap:
            limit = core.splat(self.softcap, scores)
            scores = core.mul(core.tanh(core.div(scores, limit)), limit)
        least = core.splat(float("-inf"), scores)
        scores = core.select(allowed, scores if bias is None else core.add(scores, bias), least)
        if not has_sink:
            return core.matmul(core.softmax(scores, -1), values)
        given = core.splat(0.0, scores) if sink is None else core.reshape(sink, (1, -1, 1, 1))
        column = core.broadcast_to(given, (*shape_of(scores)[:3], 1))
        weights = core.softmax(core.concat((scores, column), 3), -1)
        stops = shape_of(scores)
        return core.matmul(core.slice(weights, (0, 0, 0, 0), stops, (1, 1, 1, 1)), values)


def _places(position_ids: Value | None, before: Value, length: Dim, is_first: Value) -> Value:
    """The position of each new element of each text, or of all: in the first run they follow the very first one."""
    following = core.iota((1, length), 1, i64)
    if position_ids is None:
        return core.add(core.unsqueeze(before, (1,)), following)
    start = core.slice(position_ids, (0, 0), (1, 1), (1, 1))
    return core.select(is_first, core.add(start, following), position_ids)


def _stored(past: Value | None, new: Value, before: Value, total: Dim) -> Value:
    """A cache with new positions, [batch, head, position, size], of which each sequence has some `before`.

    It has space for all positions; unused ones are zero.
    """
    batch, heads, length, size = shape_of(new)
    held = 0 if past is None else shape_of(past)[2]
    room = largest(held, total)
    if past is None or held == 0:
        if room == length:
            return new
        source: Value = new
    else:
        source = core.concat((past, new), 2)
    place = core.iota((1, room), 1, i64)
    first = core.unsqueeze(before, (1,))
    since = core.sub(place, first)
    nearest = core.minimum(core.maximum(since, core.scalar(0, i64)), _number(length - 1))
    at = core.select(core.less(place, first), place, core.add(nearest, _number(held)))
    lying = core.broadcast_to(core.reshape(at, (batch, 1, room, 1)), (batch, heads, room, size))
    is_used = core.reshape(core.less(since, _number(length)), (batch, 1, room, 1))
    return core.select(is_used, core.gather_elements(source, lying, 2), core.splat(0.0, new))
