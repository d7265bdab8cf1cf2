"""Code of contractions with constants that takes seven products of halves in place of eight (Strassen, Winograd).

Rows, terms and columns are halved, so each factor has four quarters. Sums of those of the left one are made for a block
of rows, and lie in scratch memory; those of the right one are made for a panel of columns of each half, by the tile
that first multiplies with them. Products lie in scratch memory, where what follows reads sums of them.

Errors are twice those of plain sums, some 1e-6 of the largest element, so `EngineOptions.fast_math` can turn it off.
Each row has a part in another one, half of all rows away, and so has each column. A block is multiplied plainly where
one is much longer than the other, whose errors it would raise, or has numbers that are infinite or NaN.
Source: N. Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 23.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from commonir.base.tuples import NamedTuple
from commonir.llvm.llvm_ir import BOOL, F32, I64, POINTER, Function, LlvmType, LlvmValue, Module, Variable
from commonir.llvm.target import Target
from commonir.native.kernels.expression_code import Buffer
from commonir.native.kernels.kernel_code import KernelCode
from commonir.native.products.contraction_code import ContractionCode, Packed, TermRun, term_runs
from commonir.native.products.contraction_plan import Plan, factor_matrix
from commonir.native.products.product_tiles import (
    Columns,
    LeftRow,
    PlainColumns,
    ProductTile,
    TermRange,
    Tile,
    in_panels,
    tile_of,
)
from commonir.native.products.winograd_code import Matrix, transformed_values
from commonir.runtime.kernel_graph.graph import known_count
from commonir.runtime.kernel_graph.strips import even_part

Array = NDArray[np.generic]

LEAST_ROWS, LEAST_TERMS, LEAST_COLUMNS = 96, 256, 192
"""Sizes from which on sums of quarters cost less than they save."""

SHARED_COLUMNS = 768
"""Columns of all blocks of rows from which on there are units of work for several threads."""

BLOCK_ROWS = 256
"""The most rows of a block in each half: for every block the sums of all panels are made again."""

MOST_RATIO = 16
"""How many times as long as the row or column half of all away another one may be, as the root of the squares' sum."""

MOST_UNITS = 32
"""The most units of a block of rows. Their sums are made again for each range of units."""

# Quarters are numbered by rows.
_LEFT_SUMS = (
    (1, 0, 0, 0),
    (0, 1, 0, 0),
    (0, 0, 1, 0),
    (0, 0, 0, 1),
    (0, 0, 1, 1),
    (-1, 0, 1, 1),
    (1, 0, -1, 0),
    (1, 1, -1, -1),
)
"""Sums of quarters of the left factor; the quarters themselves are the first ones."""


class _Product(NamedTuple):
    """A product of one of the left sums with a sum of quarters of the right factor, given by their signs.

    It is added to what is stored as a `result` if it is not the first one there.
    """

    left: int
    right: tuple[int, int, int, int]
    result: int
    is_first: bool = True


_PRODUCTS = (
    _Product(0, (1, 0, 0, 0), 0),
    _Product(1, (0, 0, 1, 0), 1),
    _Product(5, (1, -1, 0, 1), 2),
    _Product(6, (0, -1, 0, 1), 3),
    _Product(3, (-1, 1, 1, -1), 4),
    _Product(4, (-1, 1, 0, 0), 5),
    _Product(7, (0, 0, 0, 1), 6),
)
_QUARTERS = (
    (1, 1, 0, 0, 0, 0, 0),
    (1, 0, 1, 0, 0, 1, 1),
    (1, 0, 1, 1, 1, 0, 0),
    (1, 0, 1, 1, 0, 1, 0),
)
"""The quarters of the whole product as sums of the products."""

_PLAIN_PRODUCTS = (
    _Product(0, (1, 0, 0, 0), 0),
    _Product(1, (0, 0, 1, 0), 0, is_first=False),
    _Product(0, (0, 1, 0, 0), 1),
    _Product(1, (0, 0, 0, 1), 1, is_first=False),
    _Product(2, (1, 0, 0, 0), 2),
    _Product(3, (0, 0, 1, 0), 2, is_first=False),
    _Product(2, (0, 1, 0, 0), 3),
    _Product(3, (0, 0, 0, 1), 3, is_first=False),
)
_PLAIN_QUARTERS = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))
"""The same without fewer products."""


def has_halves(plan: Plan, target: Target) -> bool:
    """Returns whether a contraction with a packed constant is computed by halves."""
    lanes = target.lanes()
    extents = [plan.extent(i) for i in (*plan.rows, *plan.sums, plan.column)]
    is_plain = plan.stored is None and not plan.others and plan.first_column == 0 and not plan.batch
    if target.fast_math == "none" or not is_plain or not all(isinstance(n, int) for n in extents):
        return False
    outermost, *_, innermost = _halved_runs(plan)
    rows, terms, columns = _row_count(plan), known_count(map(plan.extent, plan.sums)), _column_count(plan)
    return (
        rows >= LEAST_ROWS
        and terms >= LEAST_TERMS
        and columns >= LEAST_COLUMNS
        and columns * -(-rows // (2 * BLOCK_ROWS)) >= SHARED_COLUMNS
        and columns % (2 * lanes) == 0
        and outermost.extent == 2
        and innermost.left_step == 1
        and known_count([innermost.extent]) % lanes == 0
    )


def packed_halves(plan: Plan, array: Array, tile: Tile, lanes: int) -> Array:
    """Returns a constant right factor in panels, and behind them 1 if its columns may be added to others, else 0."""
    matrix = factor_matrix(plan, array, lanes)
    panels = in_panels(matrix, tile.vectors, lanes)
    squares = np.square(matrix, dtype=np.float64).sum(axis=0)
    low, high = squares.reshape(2, -1)
    are_near = np.all((low <= high * MOST_RATIO**2) & (high <= low * MOST_RATIO**2))
    return np.append(panels, np.float32(are_near))


def _row_count(plan: Plan) -> int:
    return known_count(map(plan.extent, plan.rows))


def _column_count(plan: Plan) -> int:
    return known_count([plan.extent(plan.column)])


def _halved_runs(plan: Plan) -> list[TermRun]:
    """Returns the runs of terms, the first of which has the two halves if their number is even."""
    first, *others = term_runs(plan, is_packed=True, has_codes=False)
    count = known_count([first.extent])
    parts = 2 if count % 2 == 0 else 1
    halves = first._replace(extent=parts, left_step=first.left_step * (count // parts))
    return [halves, first._replace(extent=count // parts), *others]


class _SummedColumns(NamedTuple):
    """Sums of columns by signs, which are `stored` where further tiles read them."""

    parts: tuple[PlainColumns, ...]
    signs: tuple[int, ...]
    stored: PlainColumns | None

    @property
    def vectors(self) -> int:
        """The number of vectors; see `Columns`."""
        return self.parts[0].vectors

    def type_of(self, n: int) -> LlvmType:
        """Returns the type of a vector; see `Columns`."""
        return self.parts[0].type_of(n)

    def rounds(self, terms: int | None) -> tuple[int, ...]:
        """Returns how many terms are added in a round; see `Columns`."""
        return self.parts[0].rounds(terms)

    def moved(self, depth: int, k: LlvmValue) -> _SummedColumns:
        """Returns the columns at a value of an index; see `Columns`."""
        stored = None if self.stored is None else self.stored.moved(depth, k)
        return _SummedColumns(tuple([p.moved(depth, k) for p in self.parts]), self.signs, stored)

    def factors_between(self, depth: int) -> list[LlvmValue] | None:
        """Returns no factors; see `Columns`."""
        return self.parts[0].factors_between(depth)

    def neighbours(self, depth: int, k: LlvmValue, count: int) -> Sequence[Columns]:
        """Returns the columns at some values of an index; see `Columns`."""
        return [self.moved(depth, k + n) for n in range(count)]

    def vector(self, n: int) -> LlvmValue:
        """Returns a vector of columns, and stores it; see `Columns`."""
        f = self.parts[0].function
        (x,) = transformed_values(f, (self.signs,), [p.vector(n) for p in self.parts])
        if self.stored is not None:
            at = f.integer(n * x.type.lanes)
            f.store(x, f.element(self.stored.pointer, at, x.type.scalar))
        return x


def _tiles_function(module: Module, tile: Tile, lanes: int, signs: tuple[int, ...]) -> str:
    """Returns the name of a function that adds the products of tiles of rows and a panel; it is added if it is new.

    The panel is a sum of panels by signs, which is also stored. Parameters are the left factor, the panels, where their
    sum is stored, and the results; the number of vectors of terms; the first tile and the one after the last; and
    whether sums are added to the results.
    """
    name = f"tiles_{tile.rows}_{tile.vectors}_{'_'.join(['minus' if n < 0 else 'plus' for n in signs])}"
    if any(f.name == name for f in module.functions):
        return name
    is_sum = len(signs) > 1
    f = Function(module, name, [*[POINTER] * (2 + len(signs) + is_sum), *[I64] * 4], is_internal=True)
    left, *panels, results = f.arguments[:-4]
    chunks, start, stop, is_added = f.arguments[-4:]
    type, width = LlvmType(F32.scalar, lanes), tile.vectors * lanes
    steps = f.integer(lanes * width), f.integer(width)
    terms = [TermRange(chunks, f.integer(tile.rows * lanes)), TermRange(f.integer(lanes), f.integer(1))]
    parts = [PlainColumns(f, type, panel, tile.vectors, steps) for panel in panels]
    columns = _SummedColumns(tuple(parts[: len(signs)]), signs, parts[-1] if is_sum else None)
    with f.loop(start, stop) as n:
        first = f.element(left, n * chunks * (tile.rows * lanes), F32.scalar)
        left_rows = [LeftRow(first, r * lanes) for r in range(tile.rows)]
        vectors = [x for of_row in ProductTile(f).sums(left_rows, columns, terms) for x in of_row]
        places = _vectors_at(f.element(results, n * (tile.rows * width), F32.scalar), len(vectors), lanes)
        with f.when(is_added.compare("eq", 0)):
            for x, place in zip(vectors, places, strict=True):
                f.store(x, place)
        with f.when(is_added.compare("ne", 0)):
            for x, place in zip(vectors, places, strict=True):
                f.store(x + f.load(place, type), place)
    f.add_line("ret void")
    return name


def _vectors_at(pointer: LlvmValue, count: int, lanes: int) -> list[LlvmValue]:
    """Returns the places of vectors one after another."""
    f = pointer.function
    return [f.element(pointer, f.integer(n * lanes), F32.scalar) for n in range(count)]


class HalvedContractionCode(ContractionCode):
    """Adds the code of a contraction. A unit of work is some panels of columns in each half, for a block of rows."""

    def __init__(self, code: KernelCode, function: Function, target: Target, plan: Plan, out: Buffer) -> None:
        super().__init__(code, function, target, plan, out)
        self._half_rows = -(-_row_count(plan) // 2)
        self._half_terms = known_count(map(plan.extent, plan.sums)) // 2
        self._half_columns = _column_count(plan) // 2
        self._width = self.tile.vectors * self._lanes
        self._most_tiles = -(-even_part(self._half_rows, BLOCK_ROWS) // self.tile.rows)
        self._block = self._most_tiles * self.tile.rows
        self._sizes = self._block * self._half_terms, self._half_terms * self._width, self._block * self._width

    def chosen_tile(self, target: Target, fixed: int, each: int) -> Tile:
        """Returns a tile for halves of rows and columns. What follows has no place in registers beside sums."""
        del fixed
        rows, columns = -(-_row_count(self._plan) // 2), _column_count(self._plan) // 2
        return tile_of(rows, columns, target, 2, each, has_whole_panels=True)

    def emit(self, packed_pointer: Packed) -> None:
        """Adds the loops; `packed_pointer` is the right factor in panels."""
        f, code = self._f, self._code
        assert isinstance(packed_pointer, LlvmValue)
        left, right, result = self._sizes
        code.scratch.require((left * len(_LEFT_SUMS) + right + result * len(_PRODUCTS)) * F32.bits // 8)
        self._left = code.scratch.pointer
        self._right = f.element(self._left, f.integer(left * len(_LEFT_SUMS)), F32.scalar)
        self._results = f.element(self._right, f.integer(right), F32.scalar)
        blocks, panels = -(-self._half_rows // self._block), self._half_columns // self._width
        size = _column_count(self._plan) * 2 * self._half_terms
        columns_are_near = f.load(f.element(packed_pointer, f.integer(size), F32.scalar), F32).compare("one", 0)
        group = -(-panels // MOST_UNITS)
        groups = -(-panels // group)
        units = code.units((), blocks * groups)
        code.prepares_units()
        with units.loop(f.integer(blocks), f.integer(groups)) as (n, inside):
            start = n * self._block
            tiles = f.intrinsic("smin", f.integer(self._most_tiles), self._tiles_from(start))
            are_near = f.binary("and", "and", self._add_left_sums(start, tiles), columns_are_near)
            with inside.loop(f.integer(groups), f.integer(1)) as (g, _):
                stop = f.intrinsic("smin", (g + 1) * group, f.integer(panels))
                with f.loop(g * group, stop) as panel:
                    self._add_panels(start, panel * self._width, packed_pointer, tiles, are_near)

    def _add_panels(
        self, start: LlvmValue, j: LlvmValue, panels: LlvmValue, tiles: LlvmValue, are_near: LlvmValue
    ) -> None:
        """Adds the rows of a block for a panel of columns from `j` on, and for the panel as far in the other half."""
        for condition, products, quarters in (
            (are_near, _PRODUCTS, _QUARTERS),
            (are_near.compare("eq", 0), _PLAIN_PRODUCTS, _PLAIN_QUARTERS),
        ):
            with self._f.when(condition):
                self._add_products(products, j, panels, tiles)
                self._finish_panels(quarters, start, j)

    def _tiles_from(self, row: LlvmValue) -> LlvmValue:
        """Returns the number of tiles of the rows of a half from one on."""
        rows = self.tile.rows
        return self._f.binary("sdiv", "sdiv", self._f.integer(self._half_rows + rows - 1) - row, rows)

    # -- the left factor

    def _add_left_sums(self, start: LlvmValue, tiles: LlvmValue) -> LlvmValue:
        """Adds the sums of rows of a block; returns whether these may be added to one another."""
        f, plan = self._f, self._plan
        base = f.element(self._code.buffer(plan.left.name).pointer, self._start(plan.left), F32.scalar)
        halves, *runs = _halved_runs(plan)
        of_half = self._code.size(halves.left_step)
        are_near = f.variable(BOOL, 1)
        rows = f.integer(self.tile.rows)
        with f.loop(f.integer(0), tiles) as tile, f.loop(f.integer(0), rows) as r:
            row = start + tile * rows + r
            sources: list[LlvmValue] = []
            for at in (self._at_most(row, self._half_rows), self._at_most(row + self._half_rows, _row_count(plan))):
                first = f.element(base, self._row_address(self._position(at)), F32.scalar)
                sources += [first, f.element(first, of_half, F32.scalar)]
            place = tile * (self.tile.rows * self._half_terms) + r * self._lanes
            squares = f.variable(self._whole.type, 0), f.variable(self._whole.type, 0)
            self._add_sums_of_row(runs, sources, f.element(self._left, place, F32.scalar), squares)
            are_near.set(f.binary("and", "and", are_near.get(), self._are_near(*[s.get() for s in squares])))
        return are_near.get()

    def _are_near(self, low: LlvmValue, high: LlvmValue) -> LlvmValue:
        """Returns whether the lengths of two rows, given by squares of their numbers, are finite and not far apart."""
        f, zero = self._f, self._f.constant(F32, 0)
        add = f"llvm.vector.reduce.fadd.{low.type.mangled}"
        a, b = [f.called(add, F32, zero, x, flags="reassoc") for x in (low, high)]
        near = f.binary("and", "and", a.compare("ole", b * MOST_RATIO**2), b.compare("ole", a * MOST_RATIO**2))
        return f.binary("and", "and", near, (a + b).compare("olt", float("inf")))

    def _at_most(self, row: LlvmValue, count: int) -> LlvmValue:
        """Returns a row, or the last one: the last tile may have more than there are."""
        return self._f.intrinsic("umin", row, self._f.integer(count - 1))

    def _add_sums_of_row(
        self, runs: Sequence[TermRun], sources: Sequence[LlvmValue], out: LlvmValue, squares: tuple[Variable, Variable]
    ) -> None:
        f = self._f
        run, *inner = runs
        if inner:
            below = known_count([r.extent for r in inner])
            with f.loop(f.integer(0), self._code.size(run.extent)) as k:
                moved = [f.element(s, k * self._code.size(run.left_step), F32.scalar) for s in sources]
                self._add_sums_of_row(inner, moved, f.element(out, k * (below * self.tile.rows), F32.scalar), squares)
            return
        with f.loop(f.integer(0), self._code.size(run.extent), self._lanes) as k:
            quarters = [f.load(f.element(s, k, F32.scalar), self._whole.type) for s in sources]
            sums = transformed_values(f, _LEFT_SUMS, quarters)
            for n, x in enumerate(sums):
                f.store(x, f.element(out, k * self.tile.rows + n * self._sizes[0], F32.scalar))
            for n, x in enumerate(quarters):
                of_row = squares[n // 2]
                of_row.set(f.fused_multiply_add(x, x, of_row.get()))

    # -- products

    def _add_products(self, products: Sequence[_Product], j: LlvmValue, panels: LlvmValue, tiles: LlvmValue) -> None:
        """Adds products for a panel of columns from `j` on, and the panel as far in the other half."""
        f, half = self._f, self._half_terms
        sides = [f.element(panels, (j + side) * (2 * half), F32.scalar) for side in (0, self._half_columns)]
        quarters = [f.element(side, f.integer(k * self._width), F32.scalar) for k in (0, half) for side in sides]
        for product in products:
            self._add_product(product, quarters, tiles)

    def _add_product(self, product: _Product, quarters: Sequence[LlvmValue], tiles: LlvmValue) -> None:
        f, (left, _, result) = self._f, self._sizes
        signs = tuple([sign for sign in product.right if sign])
        panels = [quarter for quarter, sign in zip(quarters, product.right, strict=True) if sign]
        first = f.element(self._left, f.integer(product.left * left), F32.scalar)
        place = f.element(self._results, f.integer(product.result * result), F32.scalar)
        chunks, is_added = f.integer(self._half_terms // self._lanes), f.integer(0 if product.is_first else 1)

        def call(signs: tuple[int, ...], panels: Sequence[LlvmValue], start: LlvmValue, stop: LlvmValue) -> None:
            name = _tiles_function(f.module, self.tile, self._lanes, signs)
            arguments = [first, *panels, place, chunks, start, stop, is_added]
            f.add_line(f"call void @{name}({', '.join(f'{a.type} {a.text}' for a in arguments)})")

        if len(signs) == 1:
            call(signs, panels, f.integer(0), tiles)
        else:
            call(signs, [*panels, self._right], f.integer(0), f.integer(1))
            call((1,), [self._right], f.integer(1), tiles)

    # -- results

    def _finish_panels(self, quarters: Matrix, start: LlvmValue, j: LlvmValue) -> None:
        """Adds what follows the sums of the rows of a block in two panels."""
        f, type = self._f, self._whole.type
        rows = f.intrinsic("smin", f.integer(self._block), f.integer(self._half_rows) - start)
        with f.loop(f.integer(0), rows) as r:
            of_row = f.element(self._results, r * self._width, F32.scalar)
            results = [
                _vectors_at(
                    f.element(of_row, f.integer(n * self._sizes[2]), F32.scalar), self.tile.vectors, self._lanes
                )
                for n in range(len(quarters[0]))
            ]
            sums = [
                transformed_values(f, quarters, [f.load(place, type) for place in places])
                for places in zip(*results, strict=True)
            ]
            upper, lower = start + r, start + r + self._half_rows
            self._finish_halves(upper, j, [x[:2] for x in sums])
            with f.when(lower.compare("slt", _row_count(self._plan))):
                self._finish_halves(lower, j, [x[2:] for x in sums])

    def _finish_halves(self, row: LlvmValue, j: LlvmValue, sums: Sequence[Sequence[LlvmValue]]) -> None:
        """Adds what follows the sums of a row, of which each vector is followed by that of the other half."""
        position = self._position(row)
        for side, of_side in enumerate(zip(*sums, strict=True)):
            self._finish(position, j + side * self._half_columns, of_side, self._whole)
