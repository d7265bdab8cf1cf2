"""ONNX attention operators: scaled dot-product, linear and flexible attention, and rotary embedding.

Source: ONNX operator reference, default domain, Attention, RotaryEmbedding and LinearAttention; preview domain,
FlexAttention.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple
from commonir.dialects import core
from commonir.dialects.onnx.base import (
    BOOLEAN,
    FLOATS,
    NUMBERS,
    OnnxOp,
    element_of,
    rank_of,
    shape_of,
    sizes_of_rank,
    tensor_type,
)
from commonir.dialects.onnx.program import check_graph, returned
from commonir.ir.operation import Region, Value
from commonir.ir.types import ElementType, TensorType, Type, bf16, boolean, f16, f32, f64, i64
from commonir.notation import NotationError, NotKnownError, limits
from commonir.ods import attr_types, attribute, element_type, one_of, operand, region, result, traits
from commonir.symbolic import Dim, floor_div

_PRECISIONS = one_of(f32, f16, f64, bf16)


def heads_apart(x: Value, count: int) -> Value:
    """A tensor [batch, position, heads and size] as [batch, head, position, size]."""
    batch, length, width = sizes_of_rank(x, "packed heads", 3)
    return core.transpose(core.reshape(x, (batch, length, count, floor_div(width, count))), (0, 2, 1, 3))


def heads_together(x: Value) -> Value:
    """A tensor [batch, head, position, size] as [batch, position, heads and size]."""
    batch, heads, length, size = shape_of(x)
    return core.reshape(core.transpose(x, (0, 2, 1, 3)), (batch, length, heads * size))


def repeated_heads(x: Value, count: Dim) -> Value:
    """Heads repeated one after another so that there are a given number of them."""
    batch, heads, *rest = sizes_of_rank(x, "heads", 4)
    if heads == count:
        return x
    times = floor_div(count, heads)
    wide = core.broadcast_to(core.unsqueeze(x, (2,)), (batch, heads, times, *rest))
    return core.reshape(wide, (batch, count, *rest))


class Masks:
    """Attention masks: a bool for each pair of query and key, and a bias that is added to scores."""

    def __init__(self, like: Value, queries: Dim, keys: Dim) -> None:
        self.like = like
        self.shape = (queries, keys)
        self.allowed: Value | None = None
        self.added: Value | None = None
        # Whether all keys of a query may be masked.
        self.may_be_empty = False

    def allow(self, pairs: Value) -> None:
        """Allows only pairs that are true, of those allowed so far."""
        self.allowed = pairs if self.allowed is None else core.logical_and(self.allowed, pairs)

    def give(self, mask: Value) -> None:
        """A mask of bools, or of numbers that are added. It is continued to all keys, which it keeps away."""
        self.may_be_empty = True
        *lead, last = shape_of(mask)
        if self.shape[1] - last != 0:
            end = core.splat(False if element_of(mask) is boolean else limits(element_of(mask))[0], mask)
            mask = core.concat((mask, core.fill(end, (*lead, self.shape[1] - last))), -1)
        if element_of(mask) is boolean:
            self.allow(mask)
        else:
            self.added = core.cast(mask, element_of(self.like))

    def window(self, offset: Value, left: int, right: int) -> None:
        """Keeps the keys from `left` before to `right` after a query's position; -1 leaves a side open.

        `offset` is the position of the first query, one for all or one for each batch.
        """
        place = core.add(core.iota(self.shape, 0, i64), offset)
        key = core.iota(self.shape, 1, i64)
        if left >= 0:
            self.allow(core.less_equal(core.sub(place, key), core.scalar(left, i64)))
        if right >= 0:
            self.allow(core.less_equal(core.sub(key, place), core.scalar(right, i64)))

    def combined(self) -> Value | None:
        """One mask: of bools where nothing is added, else of numbers."""
        if self.added is None or self.allowed is None:
            return self.allowed if self.added is None else self.added
        return core.select(self.allowed, self.added, core.splat(-math.inf, self.added))


class Scores(NamedTuple):
    """Scores of pairs of a query and a key at each stage of their computation, and the weights computed from them."""

    raw: Value
    capped: Value
    masked: Value
    weights: Value


def scores_of(
    query: Value, key: Value, scale: float, cap: float, masks: Masks, precision: ElementType | None
) -> Scores:
    """The scores of pairs, and their softmax; a query that is kept from every key has weights of 0."""
    root = core.splat(math.sqrt(scale), query)
    raw = core.matmul(core.mul(query, root), core.mul(key, root), False, True)
    capped = raw
    if cap > 0:
        limit = core.splat(cap, raw)
        capped = core.mul(core.tanh(core.div(raw, limit)), limit)
    mask = masks.combined()
    masked = capped
    if mask is not None and element_of(mask) is boolean:
        masked = core.select(mask, capped, core.splat(-math.inf, capped))
    elif mask is not None:
        masked = core.add(capped, mask)
    wide = masked if precision is None else core.cast(masked, precision)
    weights = core.cast(core.softmax(wide, -1), element_of(query))
    if mask is not None and masks.may_be_empty:
        weights = core.zero_where_masked(mask, weights)
    return Scores(raw, capped, masked, weights)


def _attended(query: Value, key: Value, value: Value, masks: Masks, scale: float) -> Value:
    """Attention in one operation; a query whose keys are all masked gives 0."""
    mask = masks.combined()
    return core.attention(query, key, value, mask, scale, mask is not None and masks.may_be_empty)


def usual_scale(size: Dim) -> float:
    """The factor of scores where none is given, for queries of a size."""
    if not isinstance(size, int) or size < 1:
        fault = NotationError if size == 0 else NotKnownError
        raise fault(f"no scale is given, and the size of a query is {size}")
    return 1 / math.sqrt(size)


class Attention(OnnxOp, name="onnx.Attention", since="opset23"):
    """Scaled dot-product attention: softmax(Q K^T * scale + mask) V for each head; a query whose keys are all masked
    gives 0.

    Operands have an axis of heads, or the heads concatenated along the last axis. Keys and values may have fewer heads
    than queries (grouped-query attention). Past keys and values are prepended to them. Returns the result, the present
    keys and values, and the scores at the stage selected by `qk_matmul_output_mode`.
    """

    Q: Value = operand("T1")
    K: Value = operand("T1")
    V: Value = operand("T2")
    attn_mask: Value | None = operand("U", default=None)
    past_key: Value | None = operand("T1", default=None)
    past_value: Value | None = operand("T2", default=None)
    nonpad_kv_seqlen: Value | None = operand("i64", default=None, since="opset24")
    qk_matmul_output_mode: int = attribute(attr_types.integer, default=0, check=one_of(0, 1, 2, 3))
    softcap: float = attribute(attr_types.number, default=0.0)
    softmax_precision: ElementType | None = attribute(attr_types.element, default=None, check=_PRECISIONS)
    kv_num_heads: int | None = attribute(attr_types.integer, default=None)
    q_num_heads: int | None = attribute(attr_types.integer, default=None)
    scale: float | None = attribute(attr_types.number, default=None)
    is_causal: bool = attribute(attr_types.flag, default=False)
    left_window_size: int = attribute(attr_types.integer, default=-1, since="opset25")
    right_window_size: int = attribute(attr_types.integer, default=-1, since="opset25")
    Y: Value = result("T1")
    present_key: Value | None = result("T1", optional=True)
    present_value: Value | None = result("T2", optional=True)
    qk_matmul_output: Value | None = result("T1", optional=True)
    T1 = FLOATS
    T2 = FLOATS
    U = NUMBERS | BOOLEAN

    def reference(
        self,
        Q: Value,
        K: Value,
        V: Value,
        attn_mask: Value | None,
        past_key: Value | None,
        past_value: Value | None,
        nonpad_kv_seqlen: Value | None,
    ) -> tuple[Value, ...]:
        if (past_key is None) != (past_value is None):
            raise NotationError("past_key and past_value are given together")
        is_flat = rank_of(Q) == 3
        for name, operand_ in (("Q", Q), ("K", K), ("V", V)):
            sizes_of_rank(operand_, name, 3 if is_flat else 4)
        query, key, value = self._apart(Q, K, V) if is_flat else (Q, K, V)
        if past_key is not None and past_value is not None:
            key, value = core.concat((past_key, key), 2), core.concat((past_value, value), 2)
        masks = self._masks(query, key, attn_mask, past_key, nonpad_kv_seqlen)
        heads = shape_of(query)[1]
        keys, values = repeated_heads(key, heads), repeated_heads(core.cast(value, element_of(query)), heads)
        scale, precision = self.scale or usual_scale(shape_of(query)[3]), self.softmax_precision
        is_plain = self.softcap <= 0 and precision in (None, f32, element_of(query))
        if is_plain and not self.trace_key():
            y = _attended(query, keys, values, masks, scale)
            return heads_together(y) if is_flat else y, key, value
        steps = scores_of(query, keys, scale, self.softcap, masks, precision)
        y = _attended(query, keys, values, masks, scale) if is_plain else core.matmul(steps.weights, values)
        shown = (steps.raw, steps.capped, steps.masked, steps.weights)[self.qk_matmul_output_mode]
        return heads_together(y) if is_flat else y, key, value, shown

    def trace_key(self) -> bool:
        """Returns whether scores are asked for; an operation that is being made has all results."""
        return self.built_results is None or len(self.built_results) == 4

    def _apart(self, Q: Value, K: Value, V: Value) -> tuple[Value, Value, Value]:
        """The operands with an axis of heads."""
        if not self.q_num_heads or not self.kv_num_heads:
            raise NotationError("operands without an axis of heads need the numbers of heads")
        key, value = heads_apart(K, self.kv_num_heads), heads_apart(V, self.kv_num_heads)
        return heads_apart(Q, self.q_num_heads), key, value

    def _masks(
        self, Q: Value, K: Value, attn_mask: Value | None, past_key: Value | None, lengths: Value | None
    ) -> Masks:
        """Returns the masks of the operands."""
        queries, keys = shape_of(Q)[2], shape_of(K)[2]
        masks = Masks(Q, queries, keys)
        if attn_mask is not None:
            masks.give(attn_mask)
        offset = _number(0 if past_key is None else shape_of(past_key)[2])
        if lengths is not None:
            if past_key is not None:
                raise NotationError("nonpad_kv_seqlen and past_key are not given together")
            each = core.reshape(lengths, (-1, 1, 1, 1))
            masks.allow(core.less(core.iota((1, 1, 1, keys), 3, i64), each))
            masks.may_be_empty = True
            offset = core.sub(each, _number(queries))
        if self.is_causal:
            masks.window(offset, -1, 0)
        if self.left_window_size >= 0 or self.right_window_size >= 0:
            masks.may_be_empty = True
            masks.window(offset, self.left_window_size, self.right_window_size)
        return masks


def _number(size: Dim) -> Value:
    return core.dims((size,), i64, True)


class RotaryEmbedding(OnnxOp, name="onnx.RotaryEmbedding", since="opset23"):
    """Rotary position embedding: rotates pairs of elements of each head by an angle that depends on the position.

    A pair is element i of the first half and element i of the second, or, with `interleaved`, two adjacent elements.
    With position_ids the caches have a row for each position, else one for each element of the sequence.
    """

    X: Value = operand("T")
    cos_cache: Value = operand("T")
    sin_cache: Value = operand("T")
    position_ids: Value | None = operand("M", default=None)
    num_heads: int | None = attribute(attr_types.integer, default=None)
    rotary_embedding_dim: int = attribute(attr_types.integer, default=0)
    interleaved: bool = attribute(attr_types.flag, default=False)
    Y: Value = result("T")
    T = element_type(bf16, f16, f32)
    M = element_type(i64)

    def reference(self, X: Value, cos_cache: Value, sin_cache: Value, position_ids: Value | None) -> Value:
        is_flat = rank_of(X) == 3
        sizes_of_rank(X, "X", 3 if is_flat else 4)
        if is_flat and not self.num_heads:
            raise NotationError("an operand without an axis of heads needs the number of heads")
        x = heads_apart(X, self.num_heads or 1) if is_flat else X
        cos, sin = (c if position_ids is None else core.gather(c, position_ids, 0) for c in (cos_cache, sin_cache))
        y = rotated(x, cos, sin, self.rotary_embedding_dim, interleaved=self.interleaved)
        return heads_together(y) if is_flat else y


def rotated(x: Value, cos: Value, sin: Value, count: Dim, *, interleaved: bool) -> Value:
    """Pairs of the first `count` elements of each head turned, of all for 0: by angles of each element of a sequence.

    Shapes: x [batch, head, position, size]; cos and sin [batch, position, half of what is turned].
    """
    batch, _, length, size = shape_of(x)
    shape = (batch, length, floor_div(count or size, 2))
    return core.rotary_embedding(x, core.broadcast_to(cos, shape), core.broadcast_to(sin, shape), interleaved)


class LinearAttention(OnnxOp, name="onnx.LinearAttention", since="opset27"):
    """Linear attention: a recurrence over a state matrix S of each head, with the output o = scale S^T q.

    Each position first multiplies S by exp(decay) if the update rule is gated, and then adds k v^T to it, or, with a
    delta rule, beta k (v - S^T k)^T. The state is an operand and a result, in single precision.
    """

    query: Value = operand("T")
    key: Value = operand("T")
    value: Value = operand("T")
    q_num_heads: int = attribute(attr_types.integer)
    kv_num_heads: int = attribute(attr_types.integer)
    past_state: Value | None = operand("S", default=None)
    decay: Value | None = operand("T", default=None)
    beta: Value | None = operand("T", default=None)
    chunk_size: int = attribute(attr_types.integer, default=64)
    scale: float = attribute(attr_types.number, default=0.0)
    update_rule: str = attribute(
        attr_types.string, default="gated_delta", check=one_of("linear", "gated", "delta", "gated_delta")
    )
    output: Value = result("T")
    present_state: Value = result("S")
    T = element_type(bf16, f16, f32)
    S = element_type(bf16, f16, f32)

    def reference(
        self, query: Value, key: Value, value: Value, past_state: Value | None, decay: Value | None, beta: Value | None
    ) -> tuple[Value, Value]:
        gated, corrected = "gated" in self.update_rule, "delta" in self.update_rule
        if (decay is not None) != gated or (beta is not None) != corrected:
            raise NotationError(f"the rule '{self.update_rule}' takes {self._taken(gated, corrected)}")
        if self.kv_num_heads < 1 or self.q_num_heads < 1 or self.q_num_heads % self.kv_num_heads:
            raise NotationError(f"{self.q_num_heads} heads of queries for {self.kv_num_heads} of keys")
        sequences = [
            _steps(query, self.q_num_heads), _steps(key, self.kv_num_heads), _steps(value, self.kv_num_heads),
        ]  # fmt: skip
        batch, size, width = shape_of(query)[0], shape_of(sequences[1])[3], shape_of(sequences[2])[3]
        if decay is not None:
            sequences.append(core.exp(_steps(decay, self.kv_num_heads)))
        if beta is not None:
            count = self.kv_num_heads if shape_of(beta)[2] != 1 else 1
            sequences.append(_steps(beta, count))
        state_shape = (batch, self.kv_num_heads, size, width)
        state = core.fill(core.scalar(0.0, f32), state_shape) if past_state is None else core.cast(past_state, f32)
        scale = self.scale or usual_scale(size)

        def body(state: Value, q: Value, k: Value, v: Value, *rest: Value) -> Sequence[Value]:
            if gated:
                state = core.mul(state, core.unsqueeze(rest[0], (-1,)))
            column, row = core.unsqueeze(k, (-1,)), core.unsqueeze(v, (-2,))
            if corrected:
                result = core.matmul(column, state, True, False)
                row = core.mul(core.unsqueeze(rest[-1], (-1,)), core.sub(row, result))
            state = core.add(state, core.mul(column, row))
            read = core.matmul(core.unsqueeze(q, (-2,)), repeated_heads(state, self.q_num_heads))
            return state, core.mul(core.squeeze(read, (-2,)), core.scalar(scale, f32))

        slices = [core.tensor_type(s).with_shape(shape_of(s)[1:]) for s in sequences]
        last, outputs = core.scan((state,), tuple(sequences), core.nested([state.type, *slices], body))
        length = shape_of(outputs)[0]
        y = core.reshape(core.transpose(outputs, (1, 0, 2, 3)), (batch, length, self.q_num_heads * width))
        kept = element_of(query if past_state is None else past_state)
        return core.cast(y, element_of(query)), core.cast(last, kept)

    def _taken(self, gated: bool, corrected: bool) -> str:
        names = [n for n, is_taken in (("decay", gated), ("beta", corrected)) if is_taken]
        return " and ".join(names) or "neither decay nor beta"


def _steps(x: Value, heads: int) -> Value:
    """A tensor [batch, position, heads and size] as [position, batch, head, size], in single precision."""
    batch, length, width = sizes_of_rank(x, "packed heads", 3)
    apart = core.reshape(core.cast(x, f32), (batch, length, heads, floor_div(width, heads)))
    return core.transpose(apart, (1, 0, 2, 3))


class FlexAttention(
    OnnxOp, name="onnx.preview.FlexAttention", since="preview1", traits=(traits.SingleBlock, traits.RunsNested)
):
    """Flexible attention: softmax(Q K^T * scale) V for each head, where nested graphs may modify scores and weights.

    Each graph maps a tensor [batch, head, query, key], in the precision of the softmax, to one of the same type and
    shape. Keys and values may have fewer heads than queries (grouped-query attention).
    """

    Q: Value = operand("T1")
    K: Value = operand("T1")
    V: Value = operand("T1")
    prob_mod: Region | None = region(default=None, doc="modifies the weights")
    score_mod: Region | None = region(default=None, doc="modifies the scores")
    softmax_precision: ElementType | None = attribute(attr_types.element, default=None, check=_PRECISIONS)
    scale: float | None = attribute(attr_types.number, default=None)
    Y: Value = result("T1")
    T1 = FLOATS

    def infer(self) -> tuple[Type, ...]:
        query, value = tensor_type(self.Q), tensor_type(self.V).shape
        if query.shape is None or value is None:
            return (query.with_shape(None),)
        return (query.with_shape((*query.shape[:-1], value[-1])),)

    def entry_types(self) -> tuple[tuple[Type, ...], ...]:
        query, key = tensor_type(self.Q).shape, tensor_type(self.K).shape
        shape = None if query is None or key is None else (*query[:3], key[2])
        types = (TensorType(self._precision(self.Q), shape),)
        return tuple([() if graph is None else types for graph in (self.prob_mod, self.score_mod)])

    def verify(self) -> Iterator[Diagnostic]:
        for graph in (self.prob_mod, self.score_mod):
            if graph is not None:
                yield from check_graph(graph)
                if (len(graph.blocks[0].arguments), len(returned(graph))) != (1, 1):
                    yield Diagnostic(MALFORMED_REGION, f"{self.name}: a graph takes one tensor and gives one")

    def _precision(self, query: Value) -> ElementType:
        return self.softmax_precision or (f64 if element_of(query) is f64 else f32)

    def reference(self, Q: Value, K: Value, V: Value, *, prob_mod: Region, score_mod: Region) -> Value:
        for name, operand_ in (("Q", Q), ("K", K), ("V", V)):
            sizes_of_rank(operand_, name, 4)
        heads = shape_of(Q)[1]
        root = core.splat(math.sqrt(self.scale or usual_scale(shape_of(Q)[3])), Q)
        key = core.mul(repeated_heads(K, heads), root)
        precision = self._precision(Q)
        scores = core.cast(core.matmul(core.mul(Q, root), key, False, True), precision)
        weights = _changed(core.softmax(_changed(scores, score_mod), -1), prob_mod)
        return core.cast(core.matmul(weights, core.cast(repeated_heads(V, heads), precision)), element_of(V))


def _changed(value: Value, graph: Region) -> Value:
    """Returns a value as a nested graph modifies it; the value itself when there is no graph."""
    return core.inlined(graph, (value,))[0] if graph.blocks else value
