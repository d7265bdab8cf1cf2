"""Constant factors of products that are read as they are stored, and decoded in registers.

A factor is an expression of constants. Its parts that are read are held in panels of their own: numbers of 16 and 32
bits, bytes, and codes of fewer bits, several in a word. What follows from one code of few bits is a table of numbers.
A part that depends on fewer of the summed indices, such as the scale of a block, is held and read once for those; one
that multiplies and depends on none is applied to the sums.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType, i32
from commonir.llvm.scalar_functions import NotCompiled
from commonir.llvm.target import Target
from commonir.native.products.product_tiles import in_panels
from commonir.native.products.sparse_panels import LEAST_ZEROS, expands, is_sparse, sparse_panels
from commonir.notation import Access, Apply, Cast, Const, Expr, Kernel, Tensor, free, index, lift, replace, walk
from commonir.runtime.interpreter.evaluation import evaluate_kernel, rounds_to_half
from commonir.runtime.kernel_graph.factors import elements_of, factor_of
from commonir.runtime.kernel_graph.layouts import layout_of
from commonir.runtime.values import compute_dtype, declared_dtype
from commonir.symbolic import Dim, floor_div, modulo, names, substitute_indices

Array = NDArray[Any]
Arrays = Mapping[str, Array]

WORD_BITS = 32
"""The bits of a word that holds codes of several neighbouring terms."""

PERMUTED = 16
"""The numbers of a table that instructions look up in a register, with the lowest bits of a code."""

BYTE_PLANES = 256
"""The numbers of a table whose bytes instructions look up: those of a first one, those of a second one, and so on."""

_BYTES = {"half": 2, "bfloat": 2, "float": 4, "i8": 1, "i32": 4}

_PACKED_BITS = (1, 2, 3, 4, 6)

LEAST_GAIN = 0.8
"""A factor is read as it is stored if that takes at most so much of the memory of single precision."""

_CODES = "codes"

_CODE = "code"
"""The index of all codes."""

_VECTOR = "vector"
"""The index of all vectors of columns."""


class Part(NamedTuple):
    """A part of a factor that is read: an expression that is evaluated when panels are made.

    Of codes, `codes` is the number of different ones, else it is 0. `storage` is the LLVM type in memory. `depth` is
    the number of the innermost summed index that it depends on, -1 if there is none. `in_planes` says that the codes
    are those of a table that is looked up by bytes, in the order in which those are joined. `is_sparse` says that only
    numbers that are not zero are held (`sparse_panels.py`).
    """

    expr: Expr
    codes: int
    storage: str
    depth: int
    has_columns: bool
    in_planes: bool = False
    is_sparse: bool = False

    @property
    def sources(self) -> tuple[str, ...]:
        """The constants that it is computed from."""
        return _sources(self.expr)

    @property
    def bits(self) -> int:
        """The bits of a code."""
        return 8 if self.in_planes else _bits_of(self.codes)

    @property
    def is_signed(self) -> bool:
        """Whether codes are numbers of both signs."""
        return self.expr.dtype.kind == "int" and self.codes == 1 << self.expr.dtype.bits

    @property
    def codes_in_word(self) -> int:
        """The number of neighbouring terms that share what is read."""
        return WORD_BITS // self.bits if self.storage == "i32" else 1


def _bits_of(codes: int) -> int:
    """Returns the bits of a code of which there are so many: those of one that is stored in words, if one is."""
    least = max(1, (codes - 1).bit_length())
    return next((bits for bits in _PACKED_BITS if bits >= least), least)


class Table(NamedTuple):
    """An expression of one code, as a table of its values. It is in `registers`, or in memory if that is 0.

    `lookup` is the expression as a function of the index `code`, or of the code. If each vector of columns has a table
    of its own, `vectors` is the number of those, else 0.
    """

    expr: Expr
    code: Part
    registers: int
    lookup: Expr
    vectors: int = 0

    @property
    def sources(self) -> tuple[str, ...]:
        """The constants that its numbers are computed from."""
        return tuple([name for name in _sources(_of_all_codes(self.lookup, self.code)) if name != _CODES])

    def numbers(self, arrays: Arrays) -> Array:
        """Returns the numbers for all codes: the same ones again up to a full register, or by their bytes."""
        part = self.code
        codes = np.arange(1 << part.bits)
        if part.is_signed:
            codes = np.where(codes >= part.codes // 2, codes - part.codes, codes)
        else:
            codes = np.minimum(codes, part.codes - 1)
        codes = codes.astype(compute_dtype(part.expr.dtype))
        kernel = Kernel((index(_VECTOR), index(_CODE)), _of_all_codes(self.lookup, part))
        extents = {_VECTOR: max(self.vectors, 1), _CODE: len(codes)}
        values = evaluate_kernel(kernel, extents, {**decoded_arrays(arrays), _CODES: codes}, compute_dtype)
        if part.in_planes:
            return np.ascontiguousarray(values.astype(np.float32).view(np.uint8).reshape(len(codes), -1).T)
        return np.tile(values.astype(np.float32), (1, max(1, PERMUTED // len(codes)))).reshape(-1)


def _of_all_codes(expr: Expr, part: Part) -> Expr:
    """Returns an expression that reads its codes from a vector of all of them."""
    return replace(expr, {part.expr: Access(Tensor(_CODES, (1 << part.bits,), part.expr.dtype), [index("code")])})


def _sources(e: Expr) -> tuple[str, ...]:
    return tuple(dict.fromkeys([x.tensor.name for x in walk(e) if isinstance(x, Access)]))


class StoredFactor(NamedTuple):
    """A factor by its parts: `inside` is its value for a term, `behind` what the sums are multiplied with.

    `sums` are the summed indices, outermost first. `between` is what sums over the innermost one are multiplied with.
    """

    inside: Expr
    between: Expr | None
    behind: Expr | None
    parts: tuple[Part, ...]
    tables: tuple[Table, ...]
    sums: tuple[str, ...]
    column: str
    extents: Mapping[str, int]

    @property
    def key(self) -> Hashable:
        """A key of what its parts hold."""
        sparse = tuple([p.is_sparse for p in self.parts])
        return self.inside, self.between, self.behind, self.sums, self.column, tuple(self.extents.items()), sparse

    @property
    def innermost(self) -> int:
        """The number of the innermost summed index."""
        return len(self.sums) - 1

    @property
    def group(self) -> int:
        """The number of neighbouring terms whose codes share words."""
        return max([p.codes_in_word for p in self.parts], default=1)

    @property
    def registers(self) -> tuple[int, int]:
        """The registers that a tile needs besides the sums: in all, and for each vector of columns."""
        words = sum([p.codes_in_word if p.in_planes else 1 for p in self.parts if p.codes_in_word > 1])
        of_vectors = sum([t.registers for t in self.tables if t.vectors])
        fixed = sum([t.registers for t in self.tables]) - of_vectors
        return 1 + fixed, 1 + of_vectors + words + len(self.constant_parts())

    @property
    def is_costly(self) -> bool:
        """Whether decoding an element takes as long as several products."""
        return any(p.in_planes or p.is_sparse for p in self.parts)

    def part(self, e: Expr) -> Part | None:
        """Returns the part that an expression is."""
        return next((p for p in self.parts if p.expr is e), None)

    def table(self, e: Expr) -> Table | None:
        """Returns the table that an expression is."""
        return next((t for t in self.tables if t.expr is e), None)

    def depth(self, e: Expr) -> int:
        """Returns the number of the innermost summed index that an expression depends on."""
        return _depth(e, self.sums)

    def steps(self, part: Part) -> list[int]:
        """Returns how many elements of a part each summed index moves it by, for columns of width 1."""
        counts = [self.extents[i] for i in self.sums[: part.depth + 1]]
        if counts:
            counts[-1] = -(-counts[-1] // part.codes_in_word)
        return [prod(counts[n + 1 :]) for n in range(len(counts))] + [0] * (len(self.sums) - len(counts))

    def elements(self, part: Part) -> int:
        """Returns the elements of a part for each column."""
        counts = [self.extents[i] for i in self.sums[: part.depth + 1]]
        return prod([*counts[:-1], -(-counts[-1] // part.codes_in_word)]) if counts else 1

    def constant_parts(self) -> list[Expr]:
        """Returns the largest expressions in `inside` that do not depend on the innermost index."""
        out: list[Expr] = []

        def visit(e: Expr) -> None:
            if self.depth(e) < self.innermost:
                if not isinstance(e, Const):
                    out.append(e)
            elif self.part(e) is None and self.table(e) is None:
                for c in _operands(e):
                    visit(c)

        visit(self.inside)
        if self.between is not None:
            visit(self.between)
        return list(dict.fromkeys(out))

    def panels(self, part: Part, arrays: Arrays, vectors: int, lanes: int) -> Array:
        """Returns a part as it is read: in panels of columns, or one number for each term."""
        matrix = self._matrix(part, arrays)
        if part.storage == "i32":
            matrix = _in_words(matrix, part.bits)
        if part.in_planes:
            matrix = _in_planes(matrix)
        columns = matrix.shape[-1] if part.has_columns else 1
        matrix = matrix.reshape(-1, columns)
        if part.is_sparse:
            return sparse_panels(matrix, vectors)
        return in_panels(matrix, vectors, lanes) if part.has_columns else matrix.reshape(-1)

    def _matrix(self, part: Part, arrays: Arrays) -> Array:
        """Returns the values of a part, with an axis for each index."""
        order = [*self.sums[: part.depth + 1], *([self.column] if part.has_columns else [])]
        e, plain = part.expr, {name: _bytes_of(a) for name, a in arrays.items()}
        read = None
        if isinstance(e, Access):
            read = factor_of(e, {name: layout_of(a.shape) for name, a in arrays.items()}, self.extents)
        if read is not None:
            matrix = elements_of(read, plain[read.name], order, self.extents)
        else:
            kernel = Kernel(tuple([index(i) for i in order]), e)
            extents = {i: self.extents[i] for i in order}
            matrix = evaluate_kernel(kernel, extents, plain, _stored_dtype)
        if part.codes and not part.is_signed and not (0 <= matrix.min(initial=0) <= matrix.max(initial=0) < part.codes):
            raise NotCompiled("positions outside of a table")
        if part.codes:
            return matrix.astype(np.uint8 if matrix.min(initial=0) >= 0 else np.int8)
        # A constant that was folded lies as it was computed.
        return matrix.astype(_stored_dtype(e.dtype), copy=False)


def _stored_dtype(element: ElementType) -> np.dtype[Any]:
    return compute_dtype(element) if element.is_integer else declared_dtype(element)


def _bytes_of(array: Array) -> Array:
    """Returns integers of less than a byte as bytes."""
    narrow = {"int2": np.int8, "int4": np.int8, "uint2": np.uint8, "uint4": np.uint8}.get(array.dtype.name)
    return array if narrow is None else array.view(narrow)


def decoded_arrays(arrays: Arrays) -> dict[str, Array]:
    """Returns arrays in the dtypes in which they are computed."""
    out = {name: _bytes_of(a) for name, a in arrays.items()}
    return {n: a.astype(np.float32) if a.dtype.kind in "fV" and a.dtype.itemsize < 4 else a for n, a in out.items()}


def _in_words(codes: Array, bits: int) -> Array:
    """Returns codes of neighbouring terms, on the last axis but one, in words, the first one in the lowest bits."""
    count = WORD_BITS // bits
    *outer, terms, columns = codes.shape
    words = np.zeros((*outer, -(-terms // count), columns), np.uint32)
    for n in range(count):
        here = codes[..., n::count, :].astype(np.uint8) & ((1 << bits) - 1)
        words[..., : here.shape[-2], :] |= here.astype(np.uint32) << np.uint32(n * bits)
    return words


def _in_planes(words: Array) -> Array:
    """Returns words with the bytes of each vector in the order in which they are joined to numbers.

    Instructions interleave the bytes of 16 at a time, which are those of four terms for four columns.
    """
    columns = -(-words.shape[-1] // PERMUTED) * PERMUTED
    padded = np.zeros((*words.shape[:-1], columns), words.dtype)
    padded[..., : words.shape[-1]] = words
    squares = padded.view(np.uint8).reshape(-1, 4, 4).swapaxes(1, 2)
    return np.ascontiguousarray(squares).reshape(*words.shape[:-1], -1).view(words.dtype)


def _depth(e: Expr, sums: Sequence[str]) -> int:
    used = free(e)
    return max([n for n, i in enumerate(sums) if i in used], default=-1)


def _operands(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Cast(body=body):
            return (body,)
        case Apply(args=args):
            return args
        case _:
            return ()


def stored_factor(
    expr: Expr,
    sums: Sequence[str],
    column: str,
    extents: Mapping[str, Dim],
    target: Target,
    arrays: Arrays,
    *,
    has_one_row: bool,
) -> StoredFactor | None:
    """Returns how an expression of constants is read as it is stored; None where that does not pay.

    With one row there are registers for the sums of a block besides those of all terms. The number of zeros in `arrays`
    decides whether others alone are held.
    """
    sizes = {i: n for i in (*sums, column) if isinstance(n := extents[i], int)}
    if len(sizes) < len(sums) + 1 or not sums or any(i not in sizes for i in free(expr)):
        return None
    inside, behind = _split(expr, sums, 0)
    between = None
    if has_one_row and len(sums) > 1:
        inside, between = _split(inside, sums, len(sums) - 1)
    finder = _Finder(tuple(sums), column, sizes[column], target, _sparse_read(inside, sums, arrays))
    if not all(finder.found(e) for e in (inside, between, behind) if e is not None):
        return None
    parts = tuple(dict.fromkeys(finder.parts))
    if len({p.codes_in_word for p in parts} - {1}) > 1:
        return None
    factor = StoredFactor(
        inside, between, behind, parts, tuple(dict.fromkeys(finder.tables)), tuple(sums), column, sizes
    )
    needed = sum([factor.elements(p) * (sizes[column] if p.has_columns else 1) * _bytes_for(p) for p in parts])
    return factor if needed <= LEAST_GAIN * 4 * prod(sizes.values()) else None


def _bytes_for(part: Part) -> float:
    """Returns the most bytes that an element takes."""
    size_bytes = _BYTES[part.storage]
    return size_bytes * (1 - LEAST_ZEROS) + 1 / 8 if part.is_sparse else size_bytes


def _sparse_read(inside: Expr, sums: Sequence[str], arrays: Arrays) -> Access | None:
    """Returns the read of a sparse constant that a factor is, perhaps after a conversion; each is read once, in order.

    Sums over several indices are those of windows, for which transformed tiles gain more.
    """
    e = inside.body if isinstance(inside, Cast) else inside
    if len(sums) > 1 or not isinstance(e, Access) or _has_code(e):
        return None
    return e if is_sparse(arrays[e.tensor.name]) else None


def _split(e: Expr, sums: Sequence[str], depth: int) -> tuple[Expr, Expr | None]:
    """Returns the part that depends on the index of a depth or on an inner one, and a factor that does not."""
    if isinstance(e, Cast) and e.dtype.kind == "float" and isinstance(e.body, Apply) and e.body.dtype.kind == "float":
        return _split(e.body, sums, depth)
    if isinstance(e, Apply) and e.fn == "multiply":
        for factor, other in (e.args, e.args[::-1]):
            if _depth(factor, sums) < depth <= _depth(other, sums):
                inside, outside = _split(other, sums, depth)
                return inside, factor if outside is None else Apply("multiply", (factor, outside))
    return e, None


class _Finder:
    """Finds the parts and tables of expressions."""

    def __init__(self, sums: tuple[str, ...], column: str, columns: int, target: Target, sparse: Access | None) -> None:
        self._sparse = sparse
        self._sums = sums
        self._column = column
        self._columns = columns
        self._target = target
        self.parts: list[Part] = []
        self.tables: list[Table] = []

    def found(self, e: Expr) -> bool:
        """Adds the parts of an expression; returns whether code can compute it from them."""
        if isinstance(e, Const):
            return True
        table = self._table(e)
        if table is not None:
            self.tables.append(table)
            self.parts.append(table.code)
            return True
        if isinstance(e, Access):
            part = self._part(e)
            if part is not None:
                self.parts.append(part)
            return part is not None
        if e.dtype.kind != "float" or not isinstance(e, Cast | Apply):
            return False
        if isinstance(e, Cast) and (rounds_to_half(e.body, e.dtype) or e.dtype.bits > 32):
            return False
        return all(self.found(c) for c in _operands(e))

    def _part(self, e: Access, codes: int = 0) -> Part | None:
        depth, has_columns = _depth(e, self._sums), self._column in free(e)
        if e.dtype.kind == "float":
            storage = {"float16": "half", "bfloat16": "bfloat", "float32": "float"}.get(declared_dtype(e.dtype).name)
            return None if storage is None else self._as_sparse(Part(e, 0, storage, depth, has_columns))
        if e.dtype.is_integer and e.dtype.bits <= 8:
            return self._code(e, codes or 1 << e.dtype.bits)
        return None

    def _code(self, e: Expr, codes: int) -> Part:
        depth, has_columns = _depth(e, self._sums), self._column in free(e)
        is_packed = _bits_of(codes) in _PACKED_BITS and depth == len(self._sums) - 1 and has_columns
        return Part(e, codes, "i32" if is_packed else "i8", depth, has_columns)

    def _as_sparse(self, part: Part) -> Part:
        """Returns a part, as a sparse one if it is that and the processor can read it."""
        is_each = part.depth == len(self._sums) - 1 and part.has_columns
        if part.expr is not self._sparse or not is_each or not expands(self._target, part.storage):
            return part
        return part._replace(is_sparse=True)

    def _table(self, e: Expr) -> Table | None:
        """Returns an expression as a table; None if it does not follow from one code of a few bits."""
        if e.dtype.kind != "float" or e.dtype.bits > 32:
            return None
        found = list(dict.fromkeys(self._codes(e)))
        if len(found) != 1 or found[0] is None:
            return None
        code, count, by_code = found[0]
        reads = [] if by_code is None else [x for x in walk(e) if isinstance(x, Access) and _has_code(x)]
        lookup = e if by_code is None else replace(e, dict.fromkeys(reads, by_code))
        part = self._code(code, count)
        vectors = -(-self._columns // self._target.lanes()) if _VECTOR in free(lookup) else 0
        if by_code is not None and part.bits > _PACKED_BITS[-1]:
            return None if vectors else self._table_by_bytes(e, part, lookup)
        registers = self._registers(1 << part.bits)
        if part.depth < 0 or part.bits > 8 or not (registers or (by_code is not None and not vectors)):
            return None
        return Table(e, part, registers, lookup, vectors)

    def _table_by_bytes(self, e: Expr, code: Part, lookup: Expr) -> Table | None:
        """Returns a table of more numbers than registers hold, if an instruction looks up bytes.

        Elsewhere gathers take longer than reading decoded numbers.
        """
        has_instruction = self._target.has("avx512vbmi") and self._target.lanes() == PERMUTED
        is_each = code.depth == len(self._sums) - 1 and code.has_columns
        if not has_instruction or not is_each or code.codes > BYTE_PLANES:
            return None
        return Table(e, code._replace(storage="i32", in_planes=True), 4 * BYTE_PLANES // (4 * PERMUTED), lookup)

    def _registers(self, numbers: int) -> int:
        """Returns how many registers hold a table from which an instruction takes all lanes; 0 if there is none."""
        lanes = self._target.lanes()
        if self._target.has("avx512f") and lanes == PERMUTED and numbers <= 4 * PERMUTED:
            return max(1, numbers // lanes)
        return 2 if self._target.has("avx2") and lanes == PERMUTED // 2 and numbers <= PERMUTED else 0

    def _codes(self, e: Expr) -> Iterator[tuple[Expr, int, Expr | None] | None]:
        """Yields the codes in an expression, how many there are, and what one looks up; None for what has none."""
        match e:
            case Const():
                return
            case Access() if _has_code(e):
                yield self._position_in_columns(e) or _position(e)
            case Access():
                yield (e, 1 << e.dtype.bits, None) if e.dtype.is_integer and e.dtype.bits <= 4 else None
            case Cast() | Apply():
                for c in _operands(e):
                    yield from self._codes(c)
            case _:
                yield None

    def _position_in_columns(self, a: Access) -> tuple[Expr, int, Expr] | None:
        """Returns the position in the tables that a vector of columns reads, each column one of them; see `_position`.

        The number is a code, with the number of the table among those of the vector.
        """
        axes = [n for n, p in enumerate(a.at) if not isinstance(p, Expr) and p != 0]
        of_code = [n for n, p in enumerate(a.at) if isinstance(p, Expr)]
        sizes = [size for size in a.tensor.shape if isinstance(size, int)]
        if a.tensor.steps or len(sizes) < len(a.at) or len(axes) != 1 or len(of_code) != 1:
            return None
        table, code = a.at[axes[0]], a.at[of_code[0]]
        size = sizes[of_code[0]]
        assert not isinstance(table, Expr)
        assert isinstance(code, Expr)
        if names(table) != (self._column,) or not _is_inside(code, size):
            return None
        lanes, column = self._target.lanes(), index(self._column)
        local = table - substitute_indices(table, {self._column: floor_div(column, lanes) * lanes})
        kernel = Kernel((column,), lift(local, i32))
        numbers = evaluate_kernel(kernel, {self._column: self._columns}, {}, compute_dtype)
        count = (int(numbers.max()) + 1) * size
        if numbers.min() < 0 or not self._registers(1 << _bits_of(count)):
            return None
        at: list[Dim] = [0] * len(sizes)
        first = substitute_indices(table, {self._column: index(_VECTOR) * lanes})
        at[axes[0]] = modulo(first + floor_div(index(_CODE), size), sizes[axes[0]])
        at[of_code[0]] = modulo(index(_CODE), size)
        number = Apply("add", (Apply("multiply", (lift(local, i32), lift(size, i32))), Cast(code, i32)))
        return number, count, Access(a.tensor, at)


def _has_code(a: Access) -> bool:
    """Returns whether a table is read at a position that is read from data."""
    return any(isinstance(p, Expr) for p in a.at)


def _is_inside(code: Expr, size: int) -> bool:
    """Returns whether a position is inside of an axis by its type."""
    while isinstance(code, Cast):
        code = code.body
    return code.dtype.kind == "uint" and 1 << code.dtype.bits <= size


def _position(a: Access) -> tuple[Expr, int, Expr] | None:
    """Returns the position in a small table as one number, how many there are, and what is read by that number.

    The number is a code, or a code with the number of a table or the number of an element of an entry.
    """
    axes = [n for n, p in enumerate(a.at) if isinstance(p, Expr) or p != 0]
    sizes = [size for size in a.tensor.shape if isinstance(size, int)]
    codes = [(p, n) for p, n in zip(a.at, sizes, strict=False) if isinstance(p, Expr)]
    if a.tensor.steps or len(sizes) < len(a.at) or len(codes) != 1:
        return None
    count = prod([sizes[n] for n in axes])
    if count > BYTE_PLANES or count < prod(sizes) or (len(axes) > 1 and not _is_inside(*codes[0])):
        return None
    number: Expr | None = None
    at: list[Dim] = [0] * len(sizes)
    below = count
    for n in axes:
        p = a.at[n]
        here = p if len(axes) == 1 and isinstance(p, Expr) else Cast(p, i32) if isinstance(p, Expr) else lift(p, i32)
        number = here if number is None else Apply("add", (Apply("multiply", (number, lift(sizes[n], i32))), here))
        below //= sizes[n]
        at[n] = modulo(floor_div(index(_CODE), below), sizes[n])
    assert number is not None
    return number, count, Access(a.tensor, at)
