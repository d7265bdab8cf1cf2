"""Operations of the stablehlo dialect that combine many elements by nested programs, and sort by them.

Source: StableHLO specification, reduce, reduce_window, select_and_scatter, sort, map.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import ClassVar

from commonir.base.codes import MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic
from commonir.base.tuples import NamedTuple
from commonir.dialects.lazy_core import core
from commonir.dialects.mlir.stablehlo import bodies, forms
from commonir.dialects.mlir.stablehlo.base import (
    AnyHlo,
    HloOp,
    axes,
    axis,
    element,
    filled,
    is_quantized,
    kind_of,
    known_scalar,
    like,
    positive,
    rank_of,
    shape_of,
    shape_text,
    stated_shape,
    transposed,
)
from commonir.dialects.mlir.stablehlo.layout import padded
from commonir.dialects.mlir.stablehlo.quantization import quantization_of
from commonir.ir.data import Data
from commonir.ir.operation import Region, Value
from commonir.ir.types import ComplexType, ElementType, TensorType, Type, boolean, i64
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, operand, region, result, traits
from commonir.ods.operand_shapes import known_dims_of, static_dims
from commonir.ods.text_form import CustomForm
from commonir.ods.traits import ImplicitTerminator, SameVariadicOperandSize
from commonir.ods.type_constraints import is_float
from commonir.ods.type_rules import SameOperandsAndResultShape, are_compatible_shapes, are_compatible_types
from commonir.symbolic import Dim, element_count

RETURNS = ImplicitTerminator("stablehlo.return")
Pairs = tuple[tuple[int, int], ...]


def returned(body: Region) -> tuple[Value, ...]:
    """Returns the values that a region returns; none when its terminator is not the expected one."""
    last = body.blocks[0].last if body.blocks else None
    return last.operands if last is not None and last.name == "stablehlo.return" else ()


def numbers_returned(body: Region) -> tuple[Value, ...]:
    """Returns the tensors that a region returns; none where it returns something else too."""
    result = returned(body)
    return result if all(isinstance(v.type, TensorType) for v in result) else ()


def arguments_of(body: Region) -> tuple[Value, ...]:
    """Returns the arguments of a region."""
    return body.blocks[0].arguments if body.blocks else ()


def malformed(op: HloOp, message: str) -> Diagnostic:
    """A finding that a region is not as it should be."""
    return Diagnostic(MALFORMED_REGION, f"{op.name}: {message}")


def check_reducer(
    op: HloOp,
    body: Region,
    inits: Sequence[Value],
    label: str,
    inputs: Sequence[Value] = (),
    shape: Sequence[Dim | None] = (),
) -> Iterator[Diagnostic]:
    """Yields the faults of a program that combines numbers of the types of initial values and inputs, or tensors of
    them, which have some axes of `shape`.
    """
    given, found = arguments_of(body), returned(body)
    if len(given) != 2 * len(inits):
        message = (
            f"{label}: reduction-region must take {2 * len(inits)} parameters, but takes {len(given)} parameter(s)"
        )
        yield malformed(op, message)
        return
    if len(found) != len(inits):
        yield malformed(op, f"{label}: the reduction-region expected to return {len(inits)} value(s), got {len(found)}")
        return
    for n, (init, value) in enumerate(zip(inits, found, strict=True)):
        if not are_compatible_shapes(init.type, value.type):
            message = f"{label}: the type of reduction-region's result type at index {n} differs from the op's"
            yield malformed(op, f"{message} corresponding init-value type: {value.type} vs {init.type}")
        elif not promotes(element(init), element(value)):
            message = f"{label}: the element-type of reduction-region's result type at index {n} is expected to be"
            message = f"{message} promotable from the op's corresponding init-value element-type"
            yield malformed(op, f"{message}: {value.type} vs {init.type}")
        for place in (n, n + len(inits)):
            at = given[place]
            if not are_compatible_types(at.type, value.type) and not (place > n and _are_like_floats(at, value)):
                message = f"{label}: the type of reduction-region's parameter at index {place} is different than the"
                yield malformed(op, f"{message} corresponding result type: {at.type} vs {value.type}")
        if not _has_axes_of(given[n + len(inits)], shape):
            message = f"{label}: the shape of reduction-region's argument at index {n + len(inits)},"
            yield malformed(op, f"{message} {given[n + len(inits)].type}, has other axes than {shape_text(shape)}")

    for n, x in enumerate(inputs, len(inits)):
        if not promotes(element(x), element(given[n])):
            message = (
                f"{label}: the element-type of reduction-region's argument at index {n} is expected to be promotable"
            )
            yield malformed(op, f"{message} from {element(x)}, but got {element(given[n])}")


def _are_like_floats(a: Value, b: Value) -> bool:
    """Returns whether tensors of floats differ in precision only."""
    return is_float(element(a)) and is_float(element(b)) and are_compatible_shapes(a.type, b.type)


def _has_axes_of(value: Value, shape: Sequence[Dim | None]) -> bool:
    """Returns whether the dims of a tensor are some of a shape, in its order."""
    dims = iter(shape)
    return all(
        any(d == other or not isinstance(d, int) or not isinstance(other, int) for other in dims)
        for d in shape_of(value)
    )


def promotes(source: Type, expected: Type) -> bool:
    """Returns whether numbers of a type may become numbers of another one: of the same kind, and integers of no fewer
    bits.
    """
    if source is expected:
        return True
    if is_quantized(source) or is_quantized(expected):
        first, second = quantization_of(source), quantization_of(expected)
        if first is None or second is None:
            return False
        return first.expressed == second.expressed and first.bits <= second.bits
    match source, expected:
        case ComplexType(), ComplexType():
            return True
        case ElementType(), ElementType():
            return source.is_float is expected.is_float and (source.is_float or source.bits <= expected.bits)
        case _:
            return False


def check_inputs(op: HloOp, inputs: Sequence[Value], inits: Sequence[Value]) -> Iterator[Diagnostic]:
    """Yields the faults of the tensors of a reduction."""
    if not inputs:
        yield op.violated("expects the size of operands to be >= 1")
        return
    for n, v in enumerate(inputs[1:], 1):
        if not are_compatible_shapes(inputs[0].type, v.type):
            yield op.violated(f"expects all inputs to have compatible shapes. Shape at input-index {n} differs")
    for n, (x, init) in enumerate(zip(inputs, inits, strict=False)):
        if element(x) is not element(init):
            yield op.violated(f"the type of init value {n}, {init.type}, differs from that of the input, {x.type}")


_NEUTRAL = {"add": 0, "mul": 1, "max": -inf, "min": inf, "and": True, "or": False}


class Reduce(HloOp, name="stablehlo.reduce", traits=(traits.Pure, SameVariadicOperandSize, RETURNS)):
    """Reduces tensors along some axes with a region, starting from initial values. C1: the inputs have one shape. C2:
    the dimensions are different axes of the inputs. C3: the region combines values of the types of the initial values.
    """

    custom_form: ClassVar[CustomForm | None] = forms.ReduceForm()

    inputs: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    init_values: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    dimensions: tuple[int, ...] = attribute(axes)
    body: Region = region(doc="combines two elements")
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.inputs[0]) if self.inputs else None
        result = numbers_returned(self.body)
        if shape is None or len(result) != len(self.inputs) or any(is_quantized(element(v)) for v in result):
            return None
        kept = tuple([d for n, d in enumerate(shape) if n not in self.dimensions])
        return tuple([like(v.type, kept) for v in result])

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_inputs(self, self.inputs, self.init_values)
        rank = rank_of(self.inputs[0]) if self.inputs else 0
        if len(set(self.dimensions)) != len(self.dimensions):
            yield self.violated(f"C2: duplicate reduction dimension in {list(self.dimensions)}")
        for d in self.dimensions:
            if not 0 <= d < rank:
                yield self.violated(
                    f"C2: out-of-bounds dimension {d}, expected to be less than the input-tensor rank {rank}"
                )
        kept = [d for n, d in enumerate(shape_of(self.inputs[0]) if self.inputs else ()) if n not in self.dimensions]
        yield from check_reducer(self, self.body, self.init_values, "C3", self.inputs, kept)

    def reference(
        self, inputs: tuple[Value, ...], init_values: tuple[Value, ...], *, body: Region
    ) -> tuple[Value, ...]:
        _require_scalars(init_values)
        if not self.dimensions:
            shape = known_dims_of(inputs[0])
            return bodies.applied(body, [*[filled(v, shape) for v in init_values], *inputs], shape)
        known = bodies.combination_of(body) if len(inputs) == 1 else None
        if known is not None:
            reduced = known.reduce(inputs[0], tuple(sorted(self.dimensions)))
            if _is_neutral(known.name, init_values[0]):
                return (reduced,)
            return (known.combine(reduced, init_values[0]),)
        return _reduced(body, inputs, init_values, self.dimensions)


def _require_scalars(inits: Sequence[Value]) -> None:
    """Raises: NotationError where a region combines tensors, which the specification gives no meaning."""
    if any(rank_of(v) for v in inits):
        raise NotationError("a region that combines tensors has no meaning; the initial values must have rank 0")


def _is_neutral(name: str, value: Value) -> bool:
    number, element_type = known_scalar(value), kind_of(value)
    if number is None:
        return False
    if element_type.kind in ("int", "uint") and name in ("max", "min"):
        low, high = element_type.integer_limits
        return number == (low if name == "max" else high)
    return number == _NEUTRAL[name]


def _reduced(
    body: Region, inputs: Sequence[Value], inits: Sequence[Value], dimensions: Sequence[int]
) -> tuple[Value, ...]:
    sizes = known_dims_of(inputs[0])
    over = sorted(dimensions)
    kept = [n for n in range(len(sizes)) if n not in over]
    shape = tuple([sizes[n] for n in kept])
    count = element_count([sizes[n] for n in over])
    starts = tuple([filled(v, shape) for v in inits])
    if count == 0:
        return starts
    flat = tuple([core.reshape(transposed(x, [*over, *kept]), (count, *shape)) for x in inputs])
    return bodies.combined(body, starts, bodies.folded(body, flat))


def check_padding(op: HloOp, padding: Data | None) -> Iterator[Diagnostic]:
    """Yields the faults of the shape of a padding attribute."""
    if padding is not None and (len(padding.shape) != 2 or padding.shape[1] != 2):
        yield op.violated(f"C2: expects the shape of padding-attribute to be {{N, 2}}, but got {list(padding.shape)}")


def pairs_of(padding: Data | None, rank: int) -> Pairs:
    """Numbers before and after each axis; zeros where they are not given."""
    if padding is None or not padding.count:
        return ((0, 0),) * rank
    flat = [int(v) for v in padding.values() if isinstance(v, int)]
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def window_sizes(
    shape: Sequence[Dim | None],
    window: Sequence[Dim],
    strides: Sequence[int],
    dilations: tuple[Sequence[int], Sequence[int]],
    pads: Sequence[tuple[Dim, Dim]],
) -> tuple[Dim | None, ...]:
    """Returns the number of windows along each axis; None where a dim is dynamic."""
    out: list[Dim | None] = []
    for d, w, s, b, e, (lo, hi) in zip(shape, window, strides, dilations[0], dilations[1], pads, strict=True):
        if not (isinstance(d, int) and isinstance(w, int) and isinstance(lo, int) and isinstance(hi, int)):
            out.append(None)
            continue
        length = (0 if d == 0 else (d - 1) * b + 1) + lo + hi
        span = (w - 1) * e + 1
        out.append(0 if length <= 0 or span > length else (length - span) // s + 1)
    return tuple(out)


class ReduceWindow(HloOp, name="stablehlo.reduce_window", traits=(traits.Pure, SameVariadicOperandSize, RETURNS)):
    """Reduces each window of tensors with a region, starting from initial values, which also pad the inputs.

    C1: the inputs have one shape. C2: window dimensions, strides and dilations have one positive entry for each axis.
    C3: the region combines values of the types of the initial values.
    """

    assembly = ""

    inputs: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    init_values: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    window_dimensions: tuple[int, ...] = attribute(axes, check=positive)
    body: Region = region(doc="combines two elements")
    window_strides: tuple[int, ...] | None = attribute(axes, default=None)
    base_dilations: tuple[int, ...] | None = attribute(axes, default=None)
    window_dilations: tuple[int, ...] | None = attribute(axes, default=None)
    padding: Data | None = attribute(attr_types.data, default=None)
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def _numbers(self) -> tuple[Sequence[int], Sequence[int], Sequence[int], Pairs]:
        ones = (1,) * len(self.window_dimensions)
        strides = self.window_strides or ones
        return strides, self.base_dilations or ones, self.window_dilations or ones, pairs_of(self.padding, len(ones))

    def infer_results(self) -> tuple[Type, ...] | None:
        shape = stated_shape(self.inputs[0]) if self.inputs else None
        result = numbers_returned(self.body)
        if shape is None or len(result) != len(self.inputs) or self._wrong_counts(len(shape)):
            return None
        strides, base, dilations, pads = self._numbers()
        if any(n < 1 for n in (*strides, *base, *dilations, *self.window_dimensions)):
            return None
        sizes = window_sizes(shape, self.window_dimensions, strides, (base, dilations), pads)
        return tuple([like(v.type, sizes) for v in result])

    def _wrong_counts(self, rank: int) -> list[str]:
        strides, base, dilations, pads = self._numbers()
        lists = {
            "window_dimensions": self.window_dimensions,
            "window_strides": strides,
            "base_dilations": base,
            "window_dilations": dilations,
            "padding": pads,
        }
        return [name for name, values in lists.items() if len(values) != rank]

    def verify(self) -> Iterator[Diagnostic]:
        yield from check_inputs(self, self.inputs, self.init_values)
        yield from check_padding(self, self.padding)
        rank = rank_of(self.inputs[0]) if self.inputs else 0
        for name in self._wrong_counts(rank):
            yield self.violated(f"C2: expects {name} to have dimension-size equal to input rank ({rank})")
        strides, base, dilations, _ = self._numbers()
        for name, values in (("window stride", strides), ("base dilation", base), ("window dilation", dilations)):
            if any(n < 1 for n in values):
                yield self.violated(f"C2: expects {name} to be positive, got {list(values)}")
        yield from check_reducer(self, self.body, self.init_values, "C3", self.inputs, self.window_dimensions)

    def reference(
        self, inputs: tuple[Value, ...], init_values: tuple[Value, ...], *, body: Region
    ) -> tuple[Value, ...]:
        _require_scalars(init_values)
        return windows_reduced(inputs, init_values, body, Windows(self.window_dimensions, *self._numbers()))


class Windows(NamedTuple):
    """Windows over tensors: a number for each axis, and of the padding two. Dimensions and padding may be symbolic."""

    dimensions: Sequence[Dim]
    strides: Sequence[int]
    base_dilations: Sequence[int]
    dilations: Sequence[int]
    padding: Sequence[tuple[Dim, Dim]]


def windows_reduced(
    inputs: tuple[Value, ...], init_values: tuple[Value, ...], body: Region, windows: Windows
) -> tuple[Value, ...]:
    """Returns each window of tensors combined by a program, starting from initial values, which also pad the inputs."""
    dimensions, strides, base, dilations, pads = windows
    if len(inputs) == 1 and all(n == 1 for n in base):
        known = _cumulated(inputs[0], init_values[0], body, windows)
        numbers = [n for n in dimensions if isinstance(n, int)]
        fixed = [(p, q) for p, q in pads if isinstance(p, int) and isinstance(q, int)]
        if known is None and len(numbers) == len(dimensions) and len(fixed) == len(pads):
            known = _pooled(inputs[0], init_values[0], body, numbers, strides, dilations, tuple(fixed))
        if known is not None:
            return (known,)
    low, high = [p[0] for p in pads], [p[1] for p in pads]
    between = [n - 1 for n in base]
    xs = tuple([padded(x, v, low, high, between) for x, v in zip(inputs, init_values, strict=True)])
    sizes = window_sizes(known_dims_of(inputs[0]), dimensions, strides, (base, dilations), pads)
    if any(n == 0 for n in sizes):
        whole = tuple([0 if n is None else n for n in sizes])
        return tuple([filled(v, whole) for v in init_values])
    for n, window in enumerate(dimensions):
        if window != 1:
            xs = bodies.windows_folded(body, xs, n, window, dilations[n])
        if strides[n] > 1:
            xs = tuple([bodies.part(x, n, 0, known_dims_of(x)[n], strides[n]) for x in xs])
    shape = known_dims_of(xs[0])
    return bodies.combined(body, tuple([filled(v, shape) for v in init_values]), xs)


def _cumulated(x: Value, init: Value, body: Region, windows: Windows) -> Value | None:
    """Sums or products of all elements up to each position of one axis, or from there on."""
    known = bodies.combination_of(body)
    if known is None or known.name not in ("add", "mul") or not _is_neutral(known.name, init):
        return None
    axes = [n for n, d in enumerate(windows.dimensions) if d != 1]
    if len(axes) != 1 or any(n != 1 for n in (*windows.strides, *windows.dilations)):
        return None
    (axis,) = axes
    size = known_dims_of(x)[axis]
    around = {n: p for n, p in enumerate(windows.padding) if p != (0, 0)}
    is_reverse = around == {axis: (0, size - 1)}
    if windows.dimensions[axis] != size or not (is_reverse or around == {axis: (size - 1, 0)}):
        return None
    return (core.cumsum if known.name == "add" else core.cumprod)(x, axis, False, is_reverse)


def _pooled(
    x: Value,
    init: Value,
    body: Region,
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Pairs,
) -> Value | None:
    """Windows along at most three axes of floats, of which the sum or the largest is taken, as pooling."""
    known = bodies.combination_of(body)
    if (
        known is None
        or known.name not in ("add", "max")
        or not kind_of(x).is_float
        or not _is_neutral(known.name, init)
    ):
        return None
    spatial = [n for n in range(len(window)) if (window[n], strides[n], pads[n]) != (1, 1, (0, 0))]
    if not 1 <= len(spatial) <= 3 or any(min(p) < 0 for p in pads):
        return None
    others = [n for n in range(len(window)) if n not in spatial]
    if any(max(pads[n]) > (window[n] - 1) * dilations[n] for n in spatial):
        return None
    sizes = known_dims_of(x)
    # Images have two axes before the spatial ones; what else there is becomes one with the first.
    order = [*others, *spatial]
    moved = transposed(x, order)
    leading = [sizes[n] for n in others]
    if len(leading) != 2:
        before = (
            [1, *leading]
            if len(leading) == 1
            else [1, 1]
            if not leading
            else [element_count(leading[:-1]), leading[-1]]
        )
        moved = core.reshape(moved, (*before, *[sizes[n] for n in spatial]))
    pool = core.max_pool if known.name == "max" else core.sum_pool
    kernel, steps, spread = [tuple([held[n] for n in spatial]) for held in (window, strides, dilations)]
    around = tuple([pads[n] for n in spatial])
    result = pool(moved, kernel, steps, spread, around)
    if len(leading) != 2:
        result = core.reshape(result, (*leading, *known_dims_of(result)[2:]))
    return transposed(result, [order.index(n) for n in range(len(order))])


class SelectAndScatter(HloOp, name="stablehlo.select_and_scatter", traits=(traits.Pure,)):
    """Selects an element of each window by a region, and scatters the source to these by another.

    C1: window dimensions, strides and padding have one entry for each axis. C2: the regions compare and combine values
    of the element type. C3: the source has an element for each window.
    """

    assembly = ""

    operand_: Value = operand(AnyHlo)
    source: Value = operand(AnyHlo)
    init_value: Value = operand(AnyHlo)
    select: Region = region(doc="compares two elements: true if the first one is selected")
    scatter: Region = region(doc="combines two elements")
    window_dimensions: tuple[int, ...] | None = attribute(axes, default=None)
    window_strides: tuple[int, ...] | None = attribute(axes, default=None)
    padding: Data | None = attribute(attr_types.data, default=None)
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        result = numbers_returned(self.scatter)
        return (
            (like(self.operand_.type, stated_shape(self.operand_), element(result[0])),) if len(result) == 1 else None
        )

    def _numbers(self) -> tuple[Sequence[int], Sequence[int], Pairs]:
        rank = rank_of(self.operand_)
        ones = (1,) * rank
        return self.window_dimensions or (), self.window_strides or ones, pairs_of(self.padding, rank)

    def verify(self) -> Iterator[Diagnostic]:
        rank = rank_of(self.operand_)
        yield from check_padding(self, self.padding)
        window, strides, pads = self._numbers()
        if not len(window) == len(strides) == len(pads) == rank:
            yield self.violated(f"C1: expects numbers of windows for each of the {rank} axes")
            return
        if any(n < 1 for n in (*window, *strides)):
            yield self.violated("C1: expects sizes and strides of windows to be positive")
            return
        picked = returned(self.select)
        if len(arguments_of(self.select)) != 2:
            yield malformed(self, "C2: expects the select-region to take 2 parameters")
        elif len(picked) != 1 or picked[0].type is not TensorType(boolean, ()):
            yield malformed(self, "C2: expects the return-type of select-region to be tensor<i1>")
        else:
            expected = like(self.operand_.type, ())
            for n, at in enumerate(arguments_of(self.select)):
                if at.type is not expected:
                    message = f"C2: expects the type of select-region's parameter at index {n} to be {expected}"
                    yield malformed(self, f"{message}, but got {at.type}")
        yield from check_reducer(self, self.scatter, (self.init_value,), "C2", (self.operand_,))
        if element(self.source) is not element(self.operand_):
            yield self.violated(f"C3: expects source-type to be of {element(self.operand_)}, got {self.source.type}")
        sizes = window_sizes(shape_of(self.operand_), window, strides, ((1,) * rank, (1,) * rank), pads)
        if not are_compatible_shapes(self.source.type, like(self.source.type, sizes)):
            yield self.violated(
                f"C3: expects source-type to be {like(self.source.type, sizes)}, got {self.source.type}"
            )

    def reference(self, operand: Value, source: Value, init_value: Value, *, select: Region, scatter: Region) -> Value:
        window, strides, pads = self._numbers()
        sizes, count = static_dims(operand), static_dims(source)
        places = core.reshape(core.iota((element_count(sizes),)), sizes)
        low, high = [p[0] for p in pads], [p[1] for p in pads]
        none = (0,) * len(sizes)
        values = padded(
            operand, core.splat(0, operand) if kind_of(operand).kind != "bool" else init_value, low, high, none
        )
        numbers = padded(places, core.scalar(-1, i64), low, high, none)
        best: Value | None = None
        at: Value | None = None
        for offset in _offsets(window):
            stops = [o + (n - 1) * s + 1 for o, n, s in zip(offset, count, strides, strict=True)]
            value, place = [core.slice(v, offset, tuple(stops), tuple(strides)) for v in (values, numbers)]
            if best is None or at is None:
                best, at = value, place
                continue
            (keeps,) = bodies.applied(select, [best, value], count)
            nothing = core.scalar(0, i64)
            keeps = core.logical_and(core.logical_or(keeps, core.less(place, nothing)), core.greater_equal(at, nothing))
            best, at = core.select(keeps, best, value), core.select(keeps, at, place)
        assert at is not None
        total = element_count(sizes)
        flat = filled(init_value, (total,))
        rows = core.reshape(at, (element_count(count), 1))
        (found,) = bodies.scattered((flat,), rows, (core.reshape(source, (element_count(count),)),), scatter)
        return core.reshape(found, sizes)


def _offsets(window: Sequence[int]) -> Iterator[tuple[int, ...]]:
    total = element_count(list(window))
    assert isinstance(total, int)
    for n in range(total):
        out: list[int] = []
        for size in reversed(window):
            out.append(n % size)
            n //= size
        yield tuple(reversed(out))


class Sort(HloOp, name="stablehlo.sort", traits=(traits.Pure, SameOperandsAndResultShape)):
    """Sorts tensors along an axis by a comparison of elements; all get the same permutation. C1: there is at least
    one input. C2: the dimension is an axis of the inputs. C3: the comparator takes two elements of each input and
    returns a bool.
    """

    assembly = ""

    inputs: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    comparator: Region = region(doc="compares two elements: true if the first one comes first")
    dimension: int | None = attribute(axis, default=None)
    is_stable: bool | None = attribute(attr_types.flag, default=None)
    results_: tuple[Value, ...] = result(AnyHlo, variadic=True)

    def infer_results(self) -> tuple[Type, ...] | None:
        return tuple([v.type for v in self.inputs])

    def verify(self) -> Iterator[Diagnostic]:
        if not self.inputs:
            yield self.violated("C1: requires at least one input")
            return
        rank, at = rank_of(self.inputs[0]), self._axis()
        if not -rank <= at < max(rank, 1):
            yield self.violated(f"C2: dimension attribute value must be in range [-{rank}, {rank}), but found {at}")
        given, found = arguments_of(self.comparator), returned(self.comparator)
        if len(given) != 2 * len(self.inputs):
            yield malformed(self, f"C3: comparator block should have {2 * len(self.inputs)} arguments")
            return
        for n, a in enumerate(given):
            if a.type is not like(self.inputs[n // 2].type, ()):
                message = f"C3: comparator block argument #{n} should be of type"
                yield malformed(self, f"{message} {like(self.inputs[n // 2].type, ())} but got {a.type}")
        if len(found) != 1 or found[0].type is not TensorType(boolean, ()):
            yield malformed(self, "C3: comparator must return tensor<i1>")

    def _axis(self) -> int:
        return -1 if self.dimension is None else self.dimension

    def reference(self, inputs: tuple[Value, ...], *, comparator: Region) -> tuple[Value, ...]:
        sizes = known_dims_of(inputs[0])
        if not sizes:
            return inputs
        at = self._axis() % len(sizes)
        order = _order(inputs, at, comparator, sizes)
        return tuple([core.gather_elements(x, order, at) for x in inputs])


def _order(inputs: Sequence[Value], axis: int, comparator: Region, sizes: Sequence[Dim]) -> Value:
    """The positions of elements in the order of a comparison, along an axis."""
    result = bodies.key_of(comparator.block)
    if result is not None:
        value, pair, descending = result
        key = bodies.computed_key(comparator, value, inputs[pair], pair, sizes)
        if bodies.is_number(key):
            return core.argsort(key, axis, descending)
    return _ranked(inputs, axis, comparator, sizes)


def _ranked(inputs: Sequence[Value], axis: int, comparator: Region, sizes: Sequence[Dim]) -> Value:
    """Positions by how many elements come before each: every two are compared."""
    rank, size = len(sizes), sizes[axis]
    order = [*[n for n in range(rank) if n != axis], axis]
    shape = (*[sizes[n] for n in order[:-1]], size, size)
    pairs: list[Value] = []
    for x in inputs:
        last = transposed(x, order)
        # The first of each pair varies along the last axis, the second along the one before.
        pairs += [core.broadcast_to(core.unsqueeze(last, (rank - 1,)), shape)]
        pairs += [core.broadcast_to(core.unsqueeze(last, (rank,)), shape)]
    (before,) = bodies.applied(comparator, pairs, shape)
    swapped = [pairs[n ^ 1] for n in range(len(pairs))]
    (after,) = bodies.applied(comparator, swapped, shape)
    along, across = core.iota(shape, rank), core.iota(shape, rank - 1)
    earlier = core.logical_or(before, core.logical_and(core.logical_not(after), core.less(along, across)))
    places = core.reduce_sum(core.cast(earlier, i64), (rank,))
    result = core.argsort(places, rank - 1, False)
    return transposed(result, [order.index(n) for n in range(rank)])


class Map(HloOp, name="stablehlo.map", traits=(traits.Pure, SameOperandsAndResultShape, RETURNS)):
    """Applies a region elementwise to tensors. C1: there is at least one input. C2: the dimensions are all axes of the
    inputs, in order. C3: the region takes one element of each input.
    """

    assembly = ""

    inputs: tuple[Value, ...] = operand(AnyHlo, variadic=True)
    dimensions: tuple[int, ...] = attribute(axes)
    computation: Region = region(doc="from one element of each operand, one of the result")
    result_: Value = result(AnyHlo)

    def infer_results(self) -> tuple[Type, ...] | None:
        result = returned(self.computation)
        if len(result) != 1 or not self.inputs:
            return None
        return (like(result[0].type, stated_shape(self.inputs[0])),)

    def verify(self) -> Iterator[Diagnostic]:
        if not self.inputs:
            yield self.violated("C1: expects at least one operand")
            return
        if self.dimensions != tuple(range(rank_of(self.inputs[0]))):
            yield self.violated(
                f"C2: requires monotonically increasing dimension numbers, but got {list(self.dimensions)}"
            )
        given, found = arguments_of(self.computation), returned(self.computation)
        if len(given) != len(self.inputs):
            message = (
                f"C3: expects number of operands to match the arity of map computation, but got: {len(self.inputs)}"
            )
            yield malformed(self, f"{message} and {len(given)}")
        elif len(found) != 1 or rank_of(found[0]):
            yield malformed(self, "C3: computation must return a single 0-ranked output")
        for n, (at, v) in enumerate(zip(given, self.inputs, strict=False)):
            if rank_of(at):
                message = f"C3: computation arguments must be 0-rank tensor, but got: arg #{n} of type {at.type}"
                yield malformed(self, message)
            elif element(at) is not element(v):
                message = "C3: element type of operands and computation arguments must match, but got:"
                yield malformed(self, f"{message} {element(v)} and {element(at)}")

    def reference(self, inputs: tuple[Value, ...], *, computation: Region) -> Value:
        (result,) = bodies.applied(computation, inputs, known_dims_of(inputs[0]))
        return result
