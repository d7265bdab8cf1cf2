"""The context of rules of the conversion to ARK: tensors of core as places in buffers, and the operations on them.

Bools are 1 and 0 in single precision, integers of 64 bits those of 32 bits. What a weight becomes by being
transposed or repeated is computed when it is written, not by operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, prod

from commonir.conversions.core_to_ark.building import DATA_TYPES, Buffer, BufferPlace, Builder
from commonir.conversions.core_to_ark.places import MOST_AXES, BufferLayout, Together, View, dense, together, view_of
from commonir.conversions.operands import dims_of, refused
from commonir.dialects import ark, core
from commonir.dialects.mlir import ml_program
from commonir.ir.data import ArrayData, Data, DeferredData, Scalar, data_of
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, boolean, f32, f64, i8, i32, i64, u8, u32
from commonir.ods import Op, known_data
from commonir.passes.convert_elements import OF_OWN_TYPES, ElementPolicy
from commonir.rewrite.legalize import Context, LegalizationRule, Mismatch

_MOST_PIECES = 16
"""Pieces up to which a tensor is copied one by one."""
_MOST_GROWTH = 1 << 22
"""Elements up to which a weight is repeated when it is written."""


Built = BufferPlace | Value | tuple[BufferPlace | Value, ...] | Mismatch


def rule(definition: type[Op]) -> Callable[[Callable[..., Built]], LegalizationRule]:
    """Makes a function `(op, context, *operands) -> places | values of the core | Mismatch` the rule for a definition.

    A rule decides whether it applies before it writes anything down.
    """

    def make(build: Callable[..., Built]) -> LegalizationRule:
        def build_values(op: Op, context: ArkContext, *operands: object) -> tuple[Value, ...] | Mismatch:
            context.builder.name = "" if context.origin is None else context.origin.first_name
            return context.values(op, build(op, context, *operands))

        return LegalizationRule(definition, build_values)

    return make


def storage_type(element: ElementType) -> ElementType:
    """The type in which elements are stored: single precision for double, 8 bits for fewer, and 32 bits for others.

    Raises: DiagnosticError (E0601) for those that no type of ARK stands for.
    """
    result = element
    if element in (boolean, f64):
        result = f32
    elif element.is_integer and element not in DATA_TYPES:
        narrow = u8 if element.kind == "uint" else i8
        result = narrow if element.bits < narrow.bits else i32
    if result not in DATA_TYPES:
        names = ", ".join(str(e) for e in DATA_TYPES)
        raise refused(f"ARK has no {element}; it has {names}")
    return result


class ComputedTypes(ElementPolicy):
    """The types of values that ARK stores in another one. Bools and i64 stay, as rules are about them."""

    def changes(self, type: object) -> bool:
        """Returns whether values of a type are computed in another one."""
        return isinstance(type, TensorType) and self.inside(type.element) is not type.element

    def inside(self, element: ElementType) -> ElementType:
        is_replaced = element is f64 or (element.is_integer and element not in (*DATA_TYPES, boolean, i64))
        return storage_type(element) if is_replaced else element

    def at_border(self, element: ElementType) -> ElementType:
        # Rules of inputs and outputs report what they change.
        return element

    def keeps(self, op: Operation) -> bool:
        return isinstance(op, OF_OWN_TYPES)


def numbers_of(dims: Sequence[object]) -> tuple[int, ...]:
    """Sizes that are numbers. Raises: DiagnosticError (E0601) where one is not, or where there are no elements."""
    result = tuple([n for n in dims if isinstance(n, int)])
    if len(result) != len(dims):
        raise refused(f"the sizes [{', '.join(map(str, dims))}] are not fixed, and ARK knows fixed ones only")
    if 0 in result:
        raise refused("ARK has no tensors without elements")
    return result


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape of a value of the core. Raises: as `numbers_of`."""
    return numbers_of(dims_of(value))


class ArkContext(Context):
    """The context of rules: a rank while it is made of a function."""

    can_undo = False

    tag: int
    """The first of the tags that automatic messages may use next."""

    def begin(self, builder: Builder) -> None:
        """Begins a rank."""
        self.builder = builder
        self._places: dict[Value, BufferPlace] = {}
        self._sources: dict[Value, Operation] = {}
        self._constants: dict[object, BufferPlace] = {}
        self._dense: dict[tuple[Buffer, BufferLayout], BufferPlace] = {}

    def passes_over(self, op: Operation, operands: Sequence[Value]) -> bool:
        return not isinstance(op, ml_program.Return) and not all(map(self.is_known, operands))

    def finished(self, op: Operation, values: Sequence[Value]) -> None:
        self._sources.update(dict.fromkeys(values, op))

    # -- values of the core

    def is_known(self, value: Value) -> bool:
        """Returns whether a value is a constant or in a buffer: what it comes from could be expressed."""
        return value in self._places or isinstance(value.owner, core.Constant)

    def put(self, value: Value, place: BufferPlace) -> None:
        """Records the location of a value."""
        self._places[value] = place

    def values(self, op: Op, built: Built) -> tuple[Value, ...] | Mismatch:
        """Returns what a rule built for the results of an operation, as values."""
        if isinstance(built, Mismatch):
            return built
        out: list[Value] = []
        for result, each in zip(op.results, _each(built), strict=True):
            if isinstance(each, BufferPlace):
                value = Value(result.type, name=result.name)
                self.put(value, each)
                out.append(value)
            else:
                out.append(each)
        return tuple(out)

    def owner_of(self, value: Value) -> object:
        """Returns the operation or port of the program that a value comes from."""
        return self._sources.get(value, value.owner)

    def place(self, value: Value) -> BufferPlace:
        """Where a value is; a constant becomes a weight."""
        result = self._places.get(value)
        if result is None:
            data = known_data(value)
            if data is None:
                raise refused(f"'{value.name}' is not known")
            result = self._places[value] = self.constant(data, value.name)
        return result

    def scalar(self, value: Value) -> Scalar | None:
        """The number that all elements of a constant are; None for what is none, or is not finite."""
        data = known_data(value)
        number = None if data is None else data.splat()
        return number if isinstance(number, bool | int) or (isinstance(number, float) and isfinite(number)) else None

    def constant(self, data: Data, name: str = "") -> BufferPlace:
        """A weight."""
        shape = numbers_of(data.shape)
        element = storage_type(data.element)
        splat = data.splat() if data.count > 1 else None
        if splat is not None:
            one = self.constant(data_of(data.element, (1,) * len(shape), [splat]), name)
            return BufferPlace(one.buffer, BufferLayout(one.layout.start, shape, (0,) * len(shape)))
        key = (element, shape, data.identity)
        if key not in self._constants:
            content = _in_element(data, element, shape or (1,))
            named = self.builder.reserve(name or "constant")
            self._constants[key] = self.builder.stored_tensor(named, element, shape, content)
        return self._constants[key]

    # -- tensors in memory

    def fresh(self, element: ElementType, dims: Sequence[int]) -> BufferPlace:
        """A new buffer for a tensor."""
        return BufferPlace(_buffer(element, dims), dense(dims))

    def dense(self, place: BufferPlace) -> BufferPlace:
        """The tensor with its elements one after another, what is repeated written out."""
        is_stated = len(place.dims) > MOST_AXES or view_of(place.layout, place.buffer.count) is not None
        if place.layout.is_dense and is_stated:
            return place
        key = (place.buffer, place.layout)
        if key not in self._dense:
            self._dense[key] = self._written_out(place)
        return self._dense[key]

    def compact(self, place: BufferPlace) -> BufferPlace:
        """The tensor with its elements one after another, what is repeated written once."""
        result = self.dense(BufferPlace(place.buffer, place.layout.compact()))
        steps = tuple([s if n > 1 else 0 for n, s in zip(result.dims, result.layout.steps, strict=True)])
        repeated = BufferLayout(result.layout.start, result.dims, steps).spread(place.dims)
        return BufferPlace(result.buffer, repeated)

    def _written_out(self, place: BufferPlace) -> BufferPlace:
        layout = place.layout
        if place.buffer.content is not None and layout.elements <= max(place.buffer.count, _MOST_GROWTH):
            return self._computed(place.buffer, place.buffer.content, layout)
        once = layout.compact()
        if once.dims != layout.dims:
            whole = self._copied(BufferPlace(place.buffer, once), layout.dims)
            if whole is not None:
                return whole
            return self._spread(self.dense(BufferPlace(place.buffer, once)), layout.dims)
        copied = self._copied(place, layout.dims)
        if copied is not None:
            return copied
        return self._in_pieces(place) if _is_in_order(layout) else self._transposed(place)

    def _in_pieces(self, place: BufferPlace) -> BufferPlace:
        """Slice by slice along the first axis, where distances are not multiples of each other; many are looked up."""
        axis = next(a for a, n in enumerate(place.dims) if n > 1)
        if place.dims[axis] > _MOST_PIECES:
            return self._picked(place)
        result = self.fresh(place.element, place.dims)
        for n in range(place.dims[axis]):
            parts = [BufferPlace(p.buffer, p.layout.part(axis, n, 1)) for p in (place, result)]
            self.copy_into(parts[0], parts[1])
        return result

    def _picked(self, place: BufferPlace) -> BufferPlace:
        """Each element by its number in the buffer."""
        layout, count = place.layout, place.buffer.count
        type = TensorType(i32, (layout.elements,))

        def numbers() -> Data:
            import numpy as np  # noqa: PLC0415  only where contents are asked for

            result = np.full(layout.dims, layout.start, np.int64)
            for axis, (n, step) in enumerate(zip(layout.dims, layout.steps, strict=True)):
                along = np.arange(n) * step
                result += along.reshape([n if a == axis else 1 for a in range(len(layout.dims))])
            return ArrayData(type, result.reshape(-1).astype(np.int32))

        positions = self.builder.stored_tensor(
            self.builder.reserve("positions"), i32, type.static_shape, DeferredData(type, numbers)
        )
        table = self.builder.read(place.buffer, View((count, 1), (count, 1), (0, 0)))
        result = self.fresh(place.element, place.dims)
        shape = (1, 1, layout.elements, 1)
        reads = {
            "input": self.builder.read(positions.buffer, View(type.static_shape, type.static_shape, (0,))),
            "weight": table,
        }
        self.builder.op(ark.Embedding, reads, self.builder.write(result.buffer, View(shape, shape, (0,) * MOST_AXES)))
        return result

    def _copied(self, place: BufferPlace, dims: Sequence[int]) -> BufferPlace | None:
        """A tensor repeated into a buffer of its own, where ARK can say that in one step."""
        layout = place.layout
        if not _is_in_order(layout):
            return None
        result = together(dims, [layout], [place.buffer.count], is_whole=True)
        if result is None or not result.result.is_dense:
            return None
        return self._apply(ark.Copy, [place], place.element, result)

    def _spread(self, place: BufferPlace, dims: Sequence[int]) -> BufferPlace:
        result = self._copied(place, dims)
        if result is None:
            raise refused(f"ARK cannot repeat {list(place.dims)} to {list(dims)} along at most {MOST_AXES} axes")
        return result

    def _computed(self, buffer: Buffer, content: Data, layout: BufferLayout) -> BufferPlace:
        """Another arrangement of a weight, as a weight of its own."""
        type = TensorType(buffer.element, layout.dims or (1,))

        def arranged() -> Data:
            import numpy as np  # noqa: PLC0415  only where contents are asked for

            flat = content.array().reshape(-1)
            steps = [s * flat.itemsize for s in layout.steps] or [flat.itemsize]
            view = np.lib.stride_tricks.as_strided(flat[layout.start :], type.static_shape, steps)
            return ArrayData(type, np.ascontiguousarray(view))

        name = self.builder.reserve("arranged")
        return self.builder.stored_tensor(name, buffer.element, layout.dims, DeferredData(type, arranged))

    def _transposed(self, place: BufferPlace) -> BufferPlace:
        """Axes in the order in which they are asked for."""
        layout = place.layout
        groups: list[tuple[int, int]] = []
        for n, step in zip(layout.dims, layout.steps, strict=True):
            if n > 1 and groups and groups[-1][1] == n * step:
                groups[-1] = (groups[-1][0] * n, step)
            elif n > 1:
                groups.append((n, step))
        order = sorted(range(len(groups)), key=lambda k: -groups[k][1])
        inner = BufferLayout(layout.start, tuple([groups[k][0] for k in order]), tuple([groups[k][1] for k in order]))
        perm = [order.index(k) for k in range(len(groups))]
        plain = len(layout.dims) <= MOST_AXES and self._transposed_as_is(place)
        if plain:
            return plain
        for operands in (inner, BufferLayout(inner.start, (*inner.dims, 1), (*inner.steps, 0))):
            view = view_of(operands, place.buffer.count)
            if view is not None:
                axes = (*perm, *range(len(perm), len(operands.dims)))
                return self._permuted(place.buffer, view, axes, layout.dims)
        result = self.dense(BufferPlace(place.buffer, inner))
        return self._by_swaps(result, perm, layout.dims)

    def _transposed_as_is(self, place: BufferPlace) -> BufferPlace | None:
        """Without joining axes, where ARK can say that."""
        layout = place.layout
        order = sorted(range(len(layout.dims)), key=lambda a: -layout.steps[a])
        view = view_of(layout.permuted(order), place.buffer.count)
        if view is None:
            return None
        return self._permuted(place.buffer, view, [order.index(a) for a in range(len(order))], layout.dims)

    def _permuted(self, buffer: Buffer, view: View, axes: Sequence[int], dims: Sequence[int]) -> BufferPlace:
        result = self.fresh(buffer.element, dims)
        shape = tuple([view.shape[a] for a in axes])
        output = self.builder.write(result.buffer, View(shape, shape, (0,) * len(shape)))
        self.builder.op(ark.Transpose, {"input": self.builder.read(buffer, view)}, output, Permutation=tuple(axes))
        return result

    def _by_swaps(self, place: BufferPlace, perm: Sequence[int], dims: Sequence[int]) -> BufferPlace:
        """More axes than ARK permutes at once: runs of neighbours change places, one pair at a time."""
        now = list(range(len(perm)))
        values = list(place.dims)
        for at in range(len(perm)):
            start = now.index(perm[at])
            if start == at:
                continue
            stop = start + 1
            while stop < len(now) and now[stop] == perm[at + stop - start]:
                stop += 1
            parts = [values[:at], values[at:start], values[start:stop], values[stop:]]
            shape = tuple([prod(p) for p in parts])
            place = self._permuted(place.buffer, View(shape, shape, (0,) * 4), (0, 2, 1, 3), [place.layout.elements])
            now = [*now[:at], *now[start:stop], *now[at:start], *now[stop:]]
            values = [*parts[0], *parts[2], *parts[1], *parts[3]]
        return BufferPlace(place.buffer, dense(dims))

    def reshaped(self, place: BufferPlace, dims: Sequence[int]) -> BufferPlace:
        """The elements in row-major order under another shape."""
        result = place.layout.reshaped(dims)
        if result is not None:
            return BufferPlace(place.buffer, result)
        whole = self.dense(place)
        again = whole.layout.reshaped(dims)
        if again is None:
            raise refused(f"a tensor of {list(place.dims)} cannot be seen as {list(dims)}")
        return BufferPlace(whole.buffer, again)

    # -- operations

    def elementwise(
        self,
        definition: type[ark.ArkOp],
        operands: Sequence[BufferPlace],
        dims: Sequence[int],
        element: ElementType | None = None,
        **arguments: object,
    ) -> BufferPlace:
        """An operation that computes each element from those at the same position."""
        parts = list(operands)
        for n in range(len(parts) + 1):
            result = together(dims, [p.layout for p in parts], [p.buffer.count for p in parts])
            if result is not None:
                return self._apply(definition, parts, element or parts[0].element, result, **arguments)
            if n < len(parts):
                parts[n] = self.compact(parts[n])
        whole = [*map(self.dense, parts)]
        result = together(dims, [p.layout for p in whole], [p.buffer.count for p in whole])
        if result is None:
            shapes = " and ".join([str(list(p.dims)) for p in operands])
            raise refused(f"ARK has at most {MOST_AXES} axes, and {shapes} cannot be said with them")
        return self._apply(definition, whole, element or whole[0].element, result, **arguments)

    def _apply(
        self,
        definition: type[ark.ArkOp],
        operands: Sequence[BufferPlace],
        element: ElementType,
        result: Together,
        **arguments: object,
    ) -> BufferPlace:
        names = [f.name for f in definition.layout.inputs if f.name not in definition.writes]
        reads = {
            name: self.builder.read(p.buffer, view) for name, p, view in zip(names, operands, result.views, strict=True)
        }
        buffer = _buffer(element, result.dims)
        output = self.builder.write(buffer, View(result.dims, result.dims, (0,) * len(result.dims)))
        self.builder.op(definition, reads, output, **arguments)
        return BufferPlace(buffer, result.result)

    def copy_into(self, place: BufferPlace, target: BufferPlace, *, over: bool = False) -> None:
        """Writes a tensor into a part of another one of its shape."""
        for arranged in (lambda: place, lambda: self.compact(place), lambda: self.dense(place)):
            source_view = arranged()
            layouts = [source_view.layout, target.layout]
            result = together(target.dims, layouts, [source_view.buffer.count, target.buffer.count], is_whole=True)
            if result is None:
                continue
            output = self.builder.write(target.buffer, result.views[1], over=over)
            self.builder.op(ark.Copy, {"input": self.builder.read(source_view.buffer, result.views[0])}, output)
            return
        raise refused(f"ARK has at most {MOST_AXES} axes, and a part of {list(target.dims)} cannot be said with them")

    def fill(self, element: ElementType, dims: Sequence[int], number: float) -> BufferPlace:
        """A new tensor, the same number everywhere."""
        result = self.fresh(element, dims)
        count = prod(dims)
        output = self.builder.write(result.buffer, View((count,), (count,), (0,)))
        self.builder.op(ark.ScalarAssign, {}, output, Value_=float(number))
        return result

    def cast(self, place: BufferPlace, element: ElementType) -> BufferPlace:
        """The tensor in another data type."""
        if place.element is element:
            return place
        if place.element not in (f32, i32) and place.element.is_float and element.is_integer:
            place = self.cast(place, f32)
        return self.elementwise(ark.Cast, [place], place.dims, element)

    def negative(self, place: BufferPlace) -> BufferPlace:
        """The negative of each element; unsigned numbers wrap around."""
        return self.times(place, -1.0 if place.element.kind != "uint" else float((1 << place.element.bits) - 1))

    def turned(self, place: BufferPlace) -> BufferPlace:
        """Numbers in the opposite order: the negatives, of integers one less. Raises: E0601 for u32."""
        element = place.element
        if element is u32:
            raise refused("ARK has the largest of unsigned numbers, but not the smallest")
        if element.is_float:
            return self.negative(place)
        return self.add_number(self.negative(place), -1.0 if element.kind == "int" else float((1 << element.bits) - 1))

    def add_number(self, place: BufferPlace, number: float) -> BufferPlace:
        """A number added to each element."""
        return self.elementwise(ark.ScalarAdd, [place], place.dims, Factor=float(number))

    def times(self, place: BufferPlace, number: float) -> BufferPlace:
        """Each element times a number."""
        return self.elementwise(ark.ScalarMul, [place], place.dims, Factor=float(number))


def _buffer(element: ElementType, dims: Sequence[int]) -> Buffer:
    """Returns a new buffer for a tensor. Raises: DiagnosticError (E0601) for one that is larger than memory can be."""
    if prod(dims) * element.bits // 8 >= 1 << 63:
        raise refused(f"{' x '.join(map(str, dims))} elements do not fit into memory")
    return Buffer(element, prod(dims))


def _each(built: BufferPlace | Value | tuple[BufferPlace | Value, ...]) -> tuple[BufferPlace | Value, ...]:
    """Returns what was built for each result; a place is a tuple too."""
    return (built,) if isinstance(built, BufferPlace | Value) else built


def _is_in_order(layout: BufferLayout) -> bool:
    """Whether axes come in the order in which they lie in memory."""
    steps = [step for n, step in zip(layout.dims, layout.steps, strict=True) if n > 1 and step]
    return steps == sorted(steps, reverse=True)


def _in_element(data: Data, element: ElementType, shape: tuple[int, ...]) -> Data:
    """The elements of a constant in the type in which they are stored."""
    type = TensorType(element, shape)
    if data.element is element and data.shape == shape:
        return data

    def converted() -> Data:
        from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

        return ArrayData(type, data.array().astype(dtype_of(element.name)).reshape(shape))

    if data.element is i64:
        values = data.array()
        if values.size and (int(values.min()) < -(1 << 31) or int(values.max()) >= 1 << 31):
            raise refused("a constant does not fit into integers of 32 bits")
    return DeferredData(type, converted)
