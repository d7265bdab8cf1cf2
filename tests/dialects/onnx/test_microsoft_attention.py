"""Attention of com.microsoft gives what onnxruntime gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.dialects.onnx.microsoft_programs import Array, Draws, check, scalar

BATCH, LENGTH, WIDTH, HEADS = 2, 4, 8, 2
ONE_WAY = pytest.mark.parametrize("unidirectional", [0, 1])
MASKS = pytest.mark.parametrize("kind", ["none", "ends", "ends and starts", "keys", "pairs"])


def mask_of(kind: str, keys: int) -> Array | None:
    """A mask of one of the kinds that there are, which keeps a key for each query."""
    preserved = np.random.default_rng(0).integers(0, 2, (BATCH, LENGTH, keys)).astype(np.int32)
    preserved[:, :, 0] = 1
    result = {
        "none": None,
        "ends": np.array([3, keys], np.int32),
        "ends and starts": np.array([3, keys, 1, 0], np.int32),
        "keys": preserved[:, 0],
        "pairs": preserved,
    }
    return result[kind]


@ONE_WAY
@MASKS
def test_attention_with_projections(unidirectional: int, kind: str) -> None:
    draws, mask = Draws(1), mask_of(kind, LENGTH)
    x, weights, bias = draws.floats(BATCH, LENGTH, WIDTH), draws.floats(WIDTH, 3 * WIDTH), draws.floats(3 * WIDTH)
    heads = {"num_heads": HEADS, "unidirectional": unidirectional}
    check("Attention", [x, weights, bias, mask], **heads)
    check("Attention", [x, weights, bias, mask], 2, mask_filter_value=-5.0, scale=0.3, **heads)
    for shape in ((BATCH, HEADS), (1, 1)):
        check("Attention", [x, weights, bias, mask, None, draws.floats(*shape, LENGTH, LENGTH)], **heads)
    other = [draws.floats(WIDTH, 2 * WIDTH + 12), draws.floats(2 * WIDTH + 12)]
    check("Attention", [x, *other, mask], qkv_hidden_sizes=[WIDTH, WIDTH, 12], **heads)


@ONE_WAY
@MASKS
def test_attention_with_a_past(unidirectional: int, kind: str) -> None:
    draws, mask = Draws(2), mask_of(kind, LENGTH + 3)
    x, weights, bias = draws.floats(BATCH, LENGTH, WIDTH), draws.floats(WIDTH, 3 * WIDTH), draws.floats(3 * WIDTH)
    past = draws.floats(2, BATCH, HEADS, 3, WIDTH // HEADS)
    check("Attention", [x, weights, bias, mask, past], 2, num_heads=HEADS, unidirectional=unidirectional)


@ONE_WAY
@MASKS
def test_quantized_attention(unidirectional: int, kind: str) -> None:
    draws = Draws(3)
    x, bias = draws.integers(np.uint8, BATCH, LENGTH, WIDTH), draws.floats(3 * WIDTH)
    heads, zero = {"num_heads": HEADS, "unidirectional": unidirectional}, scalar(100, np.uint8)
    # onnxruntime adds two products in 16 bits on x86 processors without VNNI, which seven bits do not overflow.
    weight = draws.integers(np.int8, WIDTH, 3 * WIDTH) // 2
    scales = [scalar(0.01), scalar(0.02)]
    mask, past = mask_of(kind, LENGTH + 3), draws.floats(2, BATCH, HEADS, 3, WIDTH // HEADS)
    check("QAttention", [x, weight, bias, *scales, mask, zero, scalar(3, np.int8), past], 2, **heads)
    columns = [scalar(0.01), draws.scales(3 * WIDTH)]
    mask, weight = mask_of(kind, LENGTH), draws.integers(np.uint8, WIDTH, 3 * WIDTH)
    check("QAttention", [x, weight, bias, *columns, mask, zero, draws.integers(np.uint8, 3 * WIDTH)], 2, **heads)


@ONE_WAY
@MASKS
def test_attention_of_heads(unidirectional: int, kind: str) -> None:
    # Here no vector states where keys begin.
    kind = "ends" if kind == "ends and starts" else kind
    draws, heads = Draws(4), {"num_heads": HEADS, "unidirectional": unidirectional}
    q, k, v = (draws.floats(BATCH, LENGTH, n) for n in (WIDTH, WIDTH, 12))
    check("MultiHeadAttention", [q, k, v, draws.floats(2 * WIDTH + 12), mask_of(kind, LENGTH)], **heads)
    past = [draws.floats(BATCH, HEADS, 3, WIDTH // HEADS) for _ in range(2)]
    check("MultiHeadAttention", [q, k, k, None, mask_of(kind, LENGTH + 3), None, *past], 3, **heads)


@pytest.mark.parametrize("shape", [(BATCH, 7, WIDTH), (BATCH, HEADS, 7, WIDTH // HEADS)])
def test_attention_to_other_keys(shape: tuple[int, ...]) -> None:
    draws = Draws(5)
    check(
        "MultiHeadAttention", [draws.floats(BATCH, LENGTH, WIDTH), draws.floats(*shape), draws.floats(*shape)],
        num_heads=HEADS,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["none", "ends"])
def test_attention_gives_scores(kind: str) -> None:
    draws = Draws(6)
    q, k, v, bias = (*(draws.floats(BATCH, LENGTH, WIDTH) for _ in range(3)), draws.floats(1, HEADS, LENGTH, LENGTH))
    inputs = [q, k, v, draws.floats(3 * WIDTH), mask_of(kind, LENGTH), bias]
    check("MultiHeadAttention", inputs, 4, num_heads=HEADS, scale=0.2, stated={3: 1})


@pytest.mark.parametrize("interleaved", [0, 1])
def test_turned_pairs(interleaved: int) -> None:
    draws, places = Draws(7), np.array([[0, 1, 2, 5], [3, 4, 5, 6]])
    small, large = ([draws.floats(10, n) for _ in range(2)] for n in (2, 4))
    x = draws.floats(BATCH, LENGTH, WIDTH)
    check("RotaryEmbedding", [x, places, *small], interleaved=interleaved)
    check("RotaryEmbedding", [x, np.array([2]), *small], interleaved=interleaved)
    x = draws.floats(BATCH, HEADS, LENGTH, 8)
    check("RotaryEmbedding", [x, places, *large], interleaved=interleaved)
    part = {"num_heads": HEADS, "rotary_embedding_dim": 4}
    check("RotaryEmbedding", [draws.floats(BATCH, LENGTH, 16), places, *small], interleaved=interleaved, **part)


SIZE, KEY_HEADS, QUERY_HEADS = 16, 2, 4
FIRST = {"new": 4, "ends": [3, 3]}
FIRST_OF_ONE = {"new": 4, "ends": [3]}
NEXT = {"new": 1, "past": 5, "ends": [5, 5]}
RAGGED = {"new": 1, "past": 5, "ends": [5, 3]}
ROOMY = {"new": 1, "past": 9, "ends": [5, 3]}
CHUNK = {"new": 3, "past": 5, "ends": [7]}
TURNED = {"do_rotary": 1}


def grouped(
    new: int,
    ends: list[int],
    past: int | None = None,
    *,
    is_packed: bool = False,
    places: Array | None = None,
    bias: tuple[int, int] | None = None,
    has_sink: bool = False,
    size: int = SIZE,
    **attributes: Any,
) -> tuple[list[Array | None], dict[str, Any]]:
    """Operands and attributes of an attention of a decoder."""
    draws, batch, total = Draws(8), len(ends), max(ends) + 1
    state = None if past is None else draws.floats(batch, KEY_HEADS, past, size)
    parts: list[Array | None] = [draws.floats(batch, new, n * size) for n in (QUERY_HEADS, KEY_HEADS, KEY_HEADS)]
    if is_packed:
        parts = [draws.floats(batch, new, (QUERY_HEADS + 2 * KEY_HEADS) * size), None, None]
    caches = [draws.floats(32, SIZE // 2) if "do_rotary" in attributes else None for _ in range(2)]
    added = None if bias is None else draws.floats(*bias, new, total)
    sink = draws.floats(QUERY_HEADS) if has_sink else None
    counts = [np.array(ends, np.int32), scalar(total, np.int32)]
    inputs: list[Array | None] = [
        *parts,
        state,
        None if state is None else state * 2,
        *counts,
        *caches,
        places,
        added,
        sink,
    ]
    heads = {"num_heads": QUERY_HEADS, "kv_num_heads": KEY_HEADS}
    return inputs, {**heads, "constant": [6], **attributes}


@pytest.mark.parametrize(
    "arguments",
    [
        FIRST,
        {**FIRST, "past": 0},
        {**FIRST, "past": 9},
        FIRST_OF_ONE,
        NEXT,
        RAGGED,
        ROOMY,
        CHUNK,
        {**FIRST, **TURNED},
        {**RAGGED, **TURNED},
        {**RAGGED, **TURNED, "rotary_interleaved": 1},
        {**FIRST, **TURNED, "places": np.array([[1, 2, 3, 4], [2, 3, 4, 5]])},
        {**CHUNK, **TURNED, "places": np.array([[1, 9, 4]])},
        {**FIRST, "is_packed": True},
        {**NEXT, **TURNED, "is_packed": True},
        {**FIRST, "scale": 0.5},
        {**FIRST, "softcap": 2.0},
        {**FIRST, "softcap": 2.0, "bias": (2, 4)},
        {**FIRST, "bias": (2, 4)},
        {**FIRST, "bias": (1, 1)},
        {**ROOMY, "bias": (1, 4)},
        {**FIRST, "local_window_size": 1},
        {**FIRST, "local_window_size": 3},
        {**RAGGED, "local_window_size": 2},
        {**FIRST, "smooth_softmax": 1},
        {**FIRST, "has_sink": True},
        {**RAGGED, "has_sink": True, "softcap": 3.0},
        {**FIRST, "causal": 0},
        {**CHUNK, "causal": 0},
        {**RAGGED, **TURNED, "size": 2 * SIZE},
        {**FIRST, **TURNED, "size": 2 * SIZE, "rotary_interleaved": 1},
    ],
)
def test_attention_of_a_decoder(arguments: dict[str, Any]) -> None:
    inputs, options = grouped(**arguments)
    check("GroupQueryAttention", inputs, 3, **options)
