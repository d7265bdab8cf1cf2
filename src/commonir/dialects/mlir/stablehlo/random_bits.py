"""Random bits from a state, by the counter-based generators ThreeFry2x32 of 20 rounds and Philox4x32 of 10 rounds.

How a state becomes a key and a counter, and how numbers of the generator become elements, is up to an implementation:
here it is as XLA does it on CPU, bit by bit. DEFAULT is Philox, as there.
Sources: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011); StableHLO specification,
rng_bit_generator; XLA, expansion of RngBitGenerator.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo.base import RngAlgorithm, kind_of
from commonir.dialects.mlir.stablehlo.bits import as_type
from commonir.ir.operation import Value
from commonir.ir.types import ElementType, i64, u32, u64, unsigned_type
from commonir.notation import NotationError
from commonir.ods.operand_shapes import static_dims
from commonir.symbolic import Dim, ceil_div, element_count

Words = tuple[Value, ...]
"""Numbers of 32 bits, the lowest first."""

_THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_THREEFRY_PARITY = 0x1BD11BDA
_PHILOX_FACTORS = 0xD2511F53, 0xCD9E8D57
_PHILOX_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_PHILOX_ROUNDS = 10
_WORD = 32


def generated(state: Value, algorithm: RngAlgorithm, shape: Sequence[Dim], element: ElementType) -> tuple[Value, Value]:
    """Returns the next state, and a tensor of random bits.

    Raises: NotationError for a state that is not two or three numbers of 64 bits, and for elements that are not
    integers; NotKnownError for ThreeFry and a symbolic shape.
    """
    kind = kind_of(state)
    size = static_dims(state)
    is_threefry = algorithm is RngAlgorithm.THREE_FRY
    if not kind.is_integer or kind.bits != 64 or size not in ((2,), (3,)) or (is_threefry and size != (2,)):
        expected = "two" if is_threefry else "two or three"
        raise NotationError(f"the state of {algorithm.value} is {expected} integers of 64 bits, found {state.type}")
    if not element.is_integer:
        raise NotationError(f"random bits are integers, found {element}")
    parts = [_at(as_type(state, u64), n) for n in range(size[0])]
    make = _of_threefry if is_threefry else _of_philox
    counters, bits = make(parts, tuple(shape), element.bits)
    built = core.concat(tuple([core.reshape(v, (1,)) for v in (parts[0], *counters)]), 0)
    unsigned = bits if element.bits >= _WORD else core.cast(bits, unsigned_type(element.bits))
    return as_type(built, kind), as_type(unsigned, element)


# -- ThreeFry


def _of_threefry(state: Sequence[Value], shape: tuple[Dim, ...], bits: int) -> tuple[list[Value], Value]:
    key, counter = state
    dims = [d for d in shape if isinstance(d, int)]
    if len(dims) != len(shape):
        # Which axis is divided depends on its size.
        raise NotationError("the shape of random bits of THREE_FRY is static")
    if bits > _WORD:
        words = threefry(_words(core.add(counter, _positions(dims))), _words(key))
        return [_advanced(counter, dims)], _number(words)
    # Each call gives two words, which stand next to each other along an even axis, or else the longest one.
    axis = next((n for n, d in enumerate(dims) if d % 2 == 0), dims.index(max(dims)) if dims else 0)
    longer = dims or [1]
    halves = [*longer[:axis], (longer[axis] + 1) // 2, 1, *longer[axis + 1 :]]
    words = threefry(_words(core.add(counter, _positions(halves))), _words(key))
    both = core.reshape(core.concat(words, axis + 1), (*longer[:axis], 2 * halves[axis], *longer[axis + 1 :]))
    zeros = (0,) * len(longer)
    kept = core.slice(both, zeros, tuple(longer), (1,) * len(longer))
    return [_advanced(counter, halves)], core.reshape(kept, tuple(dims))


def threefry(counter: Words, key: Words) -> Words:
    """Returns two random words for a counter of two words."""
    keys = (*key, core.bitwise_xor(core.bitwise_xor(key[0], key[1]), _word(_THREEFRY_PARITY)))
    x, y = core.add(counter[0], keys[0]), core.add(counter[1], keys[1])
    for n in range(5):
        for distance in _THREEFRY_ROTATIONS[n % 2]:
            x = core.add(x, y)
            y = core.bitwise_xor(x, _rotated(y, distance))
        x = core.add(x, keys[(n + 1) % 3])
        y = core.add(core.add(y, keys[(n + 2) % 3]), _word(n + 1))
    return x, y


def _rotated(x: Value, distance: int) -> Value:
    return core.bitwise_or(core.shift_left(x, _word(distance)), core.shift_right(x, _word(_WORD - distance)))


# -- Philox


def _of_philox(state: Sequence[Value], shape: tuple[Dim, ...], bits: int) -> tuple[list[Value], Value]:
    # A state of two numbers has the key as the upper half of its counter, too.
    key, low = state[:2]
    high = state[2] if len(state) > 2 else key
    count = element_count(shape)
    calls = ceil_div(count * (2 if bits > _WORD else 1), 4)
    lows, highs = _sum(low, high, _positions((calls,)))
    words = philox((*_words(lows), *_words(highs)), _words(key))
    numbers = (_number(words[:2]), _number(words[2:])) if bits > _WORD else words
    rows = core.concat(tuple([core.unsqueeze(v, (1,)) for v in numbers]), 1)
    flat = core.reshape(rows, (calls * len(numbers),))
    counters = _sum(low, high, _count((calls,)))
    return list(counters[: len(state) - 1]), core.reshape(core.slice(flat, (0,), (count,), (1,)), shape)


def philox(counter: Words, key: Words) -> Words:
    """Returns four random words for a counter of four words."""
    a, b, c, d = counter
    first, second = key
    for _ in range(_PHILOX_ROUNDS):
        (low, high), (low_of_c, high_of_c) = [_product(x, f) for x, f in zip((a, c), _PHILOX_FACTORS, strict=True)]
        a, c = (core.bitwise_xor(core.bitwise_xor(x, y), k) for x, y, k in ((high_of_c, b, first), (high, d, second)))
        b, d = low_of_c, low
        first, second = (core.add(k, _word(s)) for k, s in zip((first, second), _PHILOX_KEY_STEPS, strict=True))
    return a, b, c, d


def _product(x: Value, factor: int) -> Words:
    return _words(core.mul(core.cast(x, u64), core.scalar(factor, u64)))


def _sum(low: Value, high: Value, added: Value) -> tuple[Value, Value]:
    """Adds a number of 64 bits to one of 128 bits."""
    built = core.add(low, added)
    return built, core.add(high, core.cast(core.less(built, low), u64))


# -- numbers


def _at(x: Value, n: int) -> Value:
    return core.reshape(core.slice(x, (n,), (n + 1,), (1,)), ())


def _word(value: int) -> Value:
    return core.scalar(value, u32)


def _words(x: Value) -> Words:
    return core.cast(core.bitwise_and(x, core.scalar(2**_WORD - 1, u64)), u32), core.cast(
        core.shift_right(x, core.scalar(_WORD, u64)), u32
    )


def _number(words: Words) -> Value:
    low, high = [core.cast(w, u64) for w in words]
    return core.bitwise_or(low, core.shift_left(high, core.scalar(_WORD, u64)))


def _positions(shape: Sequence[Dim]) -> Value:
    """Returns the positions of elements, in order."""
    flat = core.cast(core.iota((element_count(shape),)), u64)
    return core.reshape(flat, tuple(shape))


def _count(shape: Sequence[Dim]) -> Value:
    return core.cast(core.dims((element_count(shape),), i64, True), u64)


def _advanced(counter: Value, shape: Sequence[int]) -> Value:
    return core.add(counter, _count(shape))
