"""Columns of products that are decoded in registers from what is stored; see `stored_factors.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from commonir.llvm.element_code import loaded_value
from commonir.llvm.llvm_ir import F32, I32, Function, LlvmType, LlvmValue
from commonir.llvm.scalar_functions import applied, converted, register_type
from commonir.native.products.product_tiles import UNROLLED_TERMS, Columns
from commonir.native.products.sparse_panels import MASK, Cursor, panel_at
from commonir.native.products.stored_factors import PERMUTED, Part, StoredFactor, Table
from commonir.notation import Apply, Cast, Const, Expr

Values = Mapping[tuple[Expr, int], LlvmValue]
Pointers = Mapping[Part | Table, LlvmValue]

_REGISTER = -1
"""The number of the first register of a table among the vectors of its expression, from which others go down."""


class StoredColumns:
    """The columns of a panel at a term; see `Columns`.

    `pointers` are those to the parts there, and to tables. `values` are what was computed for outer indices, by
    expression and number of the vector, `words` hold the codes of the term and its neighbours, and `numbers` what was
    looked up for all of them. `cursors` are in the numbers of sparse parts, which are read once for each term in order.
    """

    def __init__(
        self,
        function: Function,
        lanes: int,
        factor: StoredFactor,
        vectors: int,
        pointers: Pointers,
        values: Values,
        words: Values,
        numbers: dict[tuple[Expr, int], list[LlvmValue]],
        term: int = 0,
        cursors: Mapping[Part, Cursor] = MappingProxyType({}),
    ) -> None:
        self._f = function
        self._lanes = lanes
        self._factor = factor
        self._count = vectors
        self._pointers = pointers
        self._values = dict(values)
        self._words = words
        self._numbers = numbers
        self._term = term
        self._cursors = cursors

    def begin(self) -> None:
        """Adds what precedes the first term of sums."""
        for cursor in self._cursors.values():
            cursor.begin()

    @property
    def vectors(self) -> int:
        """The number of vectors."""
        return self._count

    def type_of(self, n: int) -> LlvmType:
        """Returns the type of a vector; see `Columns`."""
        del n
        return self._type

    def rounds(self, terms: int | None) -> tuple[int, ...]:
        """Returns how many terms are added in a round: those that share words, then the others."""
        group = self._factor.group
        if group == 1 or terms is None:
            return UNROLLED_TERMS, 1
        return (group, terms % group) if terms % group else (group,)

    def prepared(self) -> StoredColumns:
        """Returns the columns after reading what no term changes."""
        values = dict(self._values)
        for table in self._factor.tables:
            type = self._bytes if table.code.in_planes else self._type
            for n in range(table.registers * (self._count if table.vectors else 1)):
                pointer = self._f.element(self._pointers[table], self._f.integer(n * self._lanes), F32.scalar)
                values[table.expr, _REGISTER - n] = self._f.load(pointer, type)
        return self._with_constants(self._pointers, values, -1)

    def factors_behind(self) -> list[LlvmValue] | None:
        """Returns the factors of the sums of each vector; None for 1."""
        behind = self._factor.behind
        if behind is None:
            return None
        return [self._f.splat(self._value(behind, n), self._lanes) for n in range(self._count)]

    def factors_between(self, depth: int) -> list[LlvmValue] | None:
        """Returns the factors of sums over inner indices; see `Columns`."""
        between = self._factor.between
        if between is None or depth != self._factor.innermost - 1:
            return None
        return [self._f.splat(self._value(between, n), self._lanes) for n in range(self._count)]

    def moved(self, depth: int, k: LlvmValue) -> StoredColumns:
        """Returns the columns at a value of an index; see `Columns`."""
        return self._with_constants(self._moved(depth, k), self._values, depth)

    def neighbours(self, depth: int, k: LlvmValue, count: int) -> Sequence[Columns]:
        """Returns the columns at some values of an index; see `Columns`."""
        f, group = self._f, self._factor.group
        words: dict[tuple[Expr, int], LlvmValue] = {}
        numbers: dict[tuple[Expr, int], list[LlvmValue]] = {}
        for p in self._factor.parts:
            if p.codes_in_word > 1:
                at = f.binary("udiv", "udiv", k, group) * (self._factor.steps(p)[depth] * self._width(p))
                start = f.element(self._pointers[p], at, p.storage)
                for n in range(self._count):
                    pointer = f.element(start, f.integer(n * self._lanes), p.storage)
                    words[p.expr, n] = f.load(pointer, LlvmType(p.storage, self._lanes))
        return [
            StoredColumns(
                f,
                self._lanes,
                self._factor,
                self._count,
                self._moved(depth, k + u),
                self._values,
                words,
                numbers,
                u,
                self._cursors,
            )
            for u in range(count)
        ]

    def vector(self, n: int) -> LlvmValue:
        """Returns a vector of columns; see `Columns`."""
        return self._f.splat(self._value(self._factor.inside, n), self._lanes)

    @property
    def _type(self) -> LlvmType:
        return LlvmType(F32.scalar, self._lanes)

    @property
    def _bytes(self) -> LlvmType:
        return LlvmType("i8", 4 * self._lanes)

    def _width(self, part: Part) -> int:
        if part.is_sparse:
            return self._count
        return self._count * self._lanes if part.has_columns else 1

    def _moved(self, depth: int, k: LlvmValue) -> Pointers:
        """Returns the pointers at a value of an index; words are found from the first term that they hold."""
        out = dict(self._pointers)
        for p in self._factor.parts:
            step = self._factor.steps(p)[depth] * self._width(p)
            if step and not (p.codes_in_word > 1 and depth == p.depth):
                out[p] = self._f.element(out[p], k * step, MASK if p.is_sparse else p.storage)
        return out

    def _with_constants(self, pointers: Pointers, values: Values, depth: int) -> StoredColumns:
        """Returns columns that have computed what depends on the index of a depth, and on no inner one."""
        factor = self._factor
        out = StoredColumns(self._f, self._lanes, factor, self._count, pointers, values, {}, {}, cursors=self._cursors)
        if depth < factor.innermost:
            for e in factor.constant_parts():
                if factor.depth(e) == depth:
                    for n in range(self._count):
                        out._values[e, n] = out._value(e, n)
        return out

    def _value(self, e: Expr, n: int) -> LlvmValue:
        """Returns the value of an expression for a vector of columns; a scalar if it is the same for all."""
        result = self._values.get((e, n))
        if result is not None:
            return result
        table, part = self._factor.table(e), self._factor.part(e)
        if table is not None:
            return self._looked_up(table, n)
        if part is not None:
            return self._loaded(part, n)
        match e:
            case Const(value=value):
                assert not isinstance(value, complex)
                return self._f.constant(LlvmType(register_type(e.dtype)), value)
            case Cast(body=body):
                return converted(self._f, self._value(body, n), body.dtype, e.dtype)
            case Apply(fn=fn, args=args):
                return applied(self._f, fn, args[0].dtype, tuple([self._value(a, n) for a in args]))
            case _:
                raise AssertionError(e)

    def _loaded(self, part: Part, n: int) -> LlvmValue:
        f = self._f
        if part.codes_in_word > 1:
            code = self._code(part, n, is_masked=True)
            return f.cast("trunc", code, register_type(part.expr.dtype))
        if part.is_sparse:
            mask = f.load(f.element(self._pointers[part], f.integer(n), MASK), LlvmType(MASK))
            return loaded_value(f, self._cursors[part].next_vector(f, mask), part.expr.dtype)
        lanes = self._lanes if part.has_columns else 1
        at = f.integer(n * lanes if part.has_columns else 0)
        x = f.load(f.element(self._pointers[part], at, part.storage), LlvmType(part.storage, lanes))
        return loaded_value(f, x, part.expr.dtype)

    def _code(self, part: Part, n: int, *, is_masked: bool) -> LlvmValue:
        """Returns codes in 32 bits; the bits above them are those of other terms unless they are masked."""
        f, bits = self._f, part.bits
        if part.codes_in_word == 1:
            lanes = self._lanes if part.has_columns else 1
            at = f.integer(n * lanes if part.has_columns else 0)
            x = f.load(f.element(self._pointers[part], at, part.storage), LlvmType(part.storage, lanes))
            return f.cast("sext" if part.is_signed and not is_masked else "zext", x, I32.scalar)
        word, low = self._words[part.expr, n], self._term * bits
        if not is_masked:
            return word.shift_right(low, is_signed=False) if low else word
        if part.is_signed:
            return word.shift_left(32 - bits - low).shift_right(32 - bits, is_signed=True)
        return word.shift_right(low, is_signed=False) & ((1 << bits) - 1)

    def _registers(self, table: Table, n: int) -> list[LlvmValue]:
        """Returns the registers that hold a table for a vector of columns."""
        first = n * table.registers if table.vectors else 0
        return [self._values[table.expr, _REGISTER - first - m] for m in range(table.registers)]

    def _looked_up(self, table: Table, n: int) -> LlvmValue:
        f = self._f
        if table.code.in_planes:
            return self._looked_up_by_bytes(table, n)
        codes = self._code(table.code, n, is_masked=not table.registers)
        if not table.registers:
            every = f.constant(self._type.of("i1"), 1)
            wide = f.splat(codes, self._lanes)
            return f.gather(self._pointers[table], wide, every, f.constant(self._type, 0.0))
        numbers = self._registers(table, n)
        codes = f.splat(codes, self._lanes)
        return _permuted(f, numbers, codes)

    def _looked_up_by_bytes(self, table: Table, n: int) -> LlvmValue:
        f = self._f
        numbers = self._numbers.get((table.expr, n))
        if numbers is None:
            codes = f.reinterpreted(self._words[table.code.expr, n], self._bytes)
            registers = self._registers(table, n)
            planes = [_byte_plane(f, registers[p : p + 4], codes) for p in range(0, table.registers, 4)]
            numbers = self._numbers[table.expr, n] = _joined(f, planes)
        return numbers[self._term]


def _byte_plane(f: Function, registers: Sequence[LlvmValue], codes: LlvmValue) -> LlvmValue:
    """Returns the bytes at codes in four registers."""
    pairs = [
        f.called("llvm.x86.avx512.vpermi2var.qi.512", codes.type, a, codes, b)
        for a, b in zip(registers[::2], registers[1::2], strict=True)
    ]
    return f.select(codes.compare("slt", 0), pairs[1], pairs[0])


def _joined(f: Function, planes: Sequence[LlvmValue]) -> list[LlvmValue]:
    """Returns the numbers of four terms whose first, second, ... bytes are in planes; see `Part.in_planes`."""
    words = LlvmType("i16", 2 * PERMUTED)
    pairs = [_interleaved(f, low, high) for low, high in zip(planes[::2], planes[1::2], strict=True)]
    out: list[LlvmValue] = []
    for low, high in zip(*pairs, strict=True):
        out += _interleaved(f, f.reinterpreted(low, words), f.reinterpreted(high, words))
    return [f.reinterpreted(x, LlvmType(F32.scalar, PERMUTED)) for x in out]


def _interleaved(f: Function, first: LlvmValue, second: LlvmValue) -> tuple[LlvmValue, LlvmValue]:
    """Returns the elements of two vectors in turn: of each 16 bytes the lower half, and the upper one."""
    lanes, count = first.type.lanes, 128 // first.type.bits
    low, high = [
        [n + of for at in range(start, lanes, count) for n in range(at, at + count // 2) for of in (0, lanes)]
        for start in (0, count // 2)
    ]
    return f.interleaved(first, second, low), f.interleaved(first, second, high)


def _permuted(f: Function, numbers: Sequence[LlvmValue], codes: LlvmValue) -> LlvmValue:
    """Returns the numbers at codes, of which only as many bits count as there are numbers."""
    type = numbers[0].type
    if type.lanes < PERMUTED:
        low, high = [f.called("llvm.x86.avx2.permps", type, x, codes) for x in numbers]
        return f.select(codes.shift_left(28).compare("slt", 0), high, low)
    if len(numbers) == 1:
        return f.called("llvm.x86.avx512.permvar.sf.512", type, numbers[0], codes)
    pairs = [
        f.called("llvm.x86.avx512.vpermi2var.ps.512", type, a, codes, b)
        for a, b in zip(numbers[::2], numbers[1::2], strict=True)
    ]
    return pairs[0] if len(pairs) == 1 else f.select(codes.shift_left(26).compare("slt", 0), pairs[1], pairs[0])


def columns_of(
    f: Function, lanes: int, factor: StoredFactor, vectors: int, pointers: Pointers, j: LlvmValue
) -> StoredColumns:
    """Returns the columns of a panel, from a column on; `pointers` are those to all panels, and to tables."""
    here, cursors = dict(pointers), dict[Part, Cursor]()
    for p in factor.parts:
        if p.is_sparse:
            columns = factor.extents[factor.column]
            here[p], cursors[p] = panel_at(f, here[p], p.storage, j, factor.elements(p), columns)
        elif p.has_columns:
            here[p] = f.element(here[p], j * factor.elements(p), p.storage)
    for t in factor.tables:
        if t.vectors:
            here[t] = f.element(here[t], j * t.registers, F32.scalar)
    return StoredColumns(f, lanes, factor, vectors, here, {}, {}, {}, cursors=cursors).prepared()
