"""Turns the loops of a kernel into numpy calls on fixed arrays, block by block.

An expression is an array over its free indices. Reads at linear positions are strided views; everything else writes to
scratch memory, which all blocks share and which stays in the cache. Blocks are ranges of the first axes of the result.
A fold is, in this order: a running value, a product of matrices, shifted views combined element by element, a
reduction along axes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from commonir.base.arrays import dtype_of
from commonir.ir.types import ElementType, bf16, f16
from commonir.notation import (
    Access,
    Apply,
    Cast,
    Const,
    Dilated,
    Expr,
    Flat,
    Fold,
    Padded,
    Position,
    Tensor,
    Visit,
    free,
    identity,
    index,
    mapped,
    put,
    resolve,
    walk,
    with_children,
)
from commonir.runtime.interpreter.array_functions import convert, round_to_half
from commonir.runtime.interpreter.evaluation import KernelGrid, rounds_to_half
from commonir.runtime.kernel_graph.buffers import first_gap
from commonir.runtime.kernel_graph.loop_kernel import LoopKernel
from commonir.runtime.limits import check_array
from commonir.runtime.numpy_engine.array_steps import (
    ERF_COEFFICIENTS,
    Step,
    check_positions,
    map_steps,
    reduction_steps,
    running_steps,
    selection_steps,
)
from commonir.runtime.numpy_engine.contraction_steps import Factor, contraction_steps
from commonir.runtime.numpy_engine.operands import (
    Block,
    Fixed,
    Instruction,
    Memory,
    NotPlanned,
    Operand,
    Read,
    Temporary,
)
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, coefficient, names, plain, substitute

Array = NDArray[Any]

BLOCK_ELEMENTS = 1 << 16
"""Elements of an array in a block; a few such arrays stay in the second-level cache."""

UNROLLED_POINTS = 256
"""A fold over a window of at most this many elements is computed from as many shifted views."""

FEW_POINTS = 16
"""Up to this many elements, numpy combines shifted views faster than it reduces along an axis."""

FEW_PRODUCTS = 1 << 12
"""Up to this many products of integers, converting them to floats takes as long as it saves."""


def kernel_steps(kernel: LoopKernel, out: Array, memory: Memory) -> list[Step]:
    """Returns the steps that compute the loops of a kernel into a contiguous array.

    Raises: NotPlanned.
    """
    if any(n == 0 for n in kernel.extents.values()):
        raise NotPlanned("an empty range")
    kernel = kernel._replace(body=_sharing_axes(kernel))
    before: list[Step] = []
    tensors: dict[Tensor, Array] = {}
    steps: list[Step] = []
    recorded: dict[tuple[int, ...], _Recorder] = {}
    folded = {i for e in kernel.folds() for i in e.over}
    for ranges in _blocks(kernel, folded):
        shape = tuple([hi - lo for lo, hi in ranges.values()])
        recorder = recorded.get(shape)
        if recorder is None:
            extents = {**_numbers(kernel.extents), **dict(zip(ranges, shape, strict=True))}
            recorder = recorded[shape] = _Recorder(kernel, extents, out, memory, tensors, before)
        starts = {i: lo for i, (lo, _) in ranges.items() if lo}
        steps += recorder.steps(starts)
    return [*before, *steps]


def _sharing_axes(kernel: LoopKernel) -> Expr:
    """Returns the body with folds over axes of the result where these have the same range.

    What a fold computes and the result needs again is then one array: the exponentials of a softmax.
    """

    def shared(e: Expr, visit: Visit) -> Expr:
        if isinstance(e, Fold):
            for k in e.over:
                used = {*free(e), *e.over}
                same = [a for a in kernel.axes if a not in used and kernel.extents[a] == kernel.extents[k]]
                if same and not any(same[-1] in x.over for x in walk(e.body) if isinstance(x, Fold)):
                    over = tuple([same[-1] if i == k else i for i in e.over])
                    e = Fold(e.fn, over, put(e.body, {k: index(same[-1])}))
        return with_children(e, visit)

    return mapped(kernel.body, shared)


def _blocks(kernel: LoopKernel, folded: set[str]) -> Iterator[dict[str, tuple[int, int]]]:
    """Yields the ranges of the axes in each block."""
    extents = _numbers(kernel.extents)
    full = {a: (0, extents[a]) for a in kernel.axes}
    maps = sum([isinstance(e, Apply | Cast | Fold) for e in walk(kernel.body)])
    largest = max([prod([extents[i] for i in free(e)]) for e in walk(kernel.body)], default=1)
    count = -(-largest // BLOCK_ELEMENTS)
    if maps < 2 or count <= 1 or any(_is_product(e) for e in kernel.folds()):
        yield full
        return
    cut: dict[str, int] = {}
    for a in kernel.axes:
        if a in folded or count <= 1:
            break
        parts = min(count, extents[a])
        cut[a] = -(-extents[a] // parts)
        count = -(-count // parts)
    choices = [[(lo, min(lo + n, extents[a])) for lo in range(0, extents[a], n)] for a, n in cut.items()]
    for ranges in itertools.product(*choices):
        yield {**full, **dict(zip(cut, ranges, strict=True))}


def _is_product(e: Fold) -> bool:
    """Returns whether a fold sums products of factors with different indices."""
    factors = _factors(e.body) if e.fn == "add" else []
    dependent = [set(free(f)) for f in factors if set(free(f)) & set(e.over)]
    return len(dependent) > 2 or (len(dependent) == 2 and dependent[0] != dependent[1])


class _Recorder:
    """The instructions for blocks of one shape."""

    def __init__(
        self,
        kernel: LoopKernel,
        extents: Mapping[str, int],
        out: Array,
        memory: Memory,
        tensors: dict[Tensor, Array],
        before: list[Step],
    ) -> None:
        self.extents = extents
        self.full_extents = _numbers(kernel.extents)
        self.memory = memory
        self.instructions: list[Instruction] = []
        self._tensors = tensors
        self._before = before
        self._operands: dict[Expr, Operand] = {}
        every = [i for e in walk(kernel.body) for i in (e.over if isinstance(e, Fold) else free(e))]
        self._order = {i: n for n, i in enumerate(dict.fromkeys([*kernel.axes, *every]))}
        self._finish(kernel, out)
        self._size_bytes = self._assign_scratch()

    def _finish(self, kernel: LoopKernel, out: Array) -> None:
        """Records the whole kernel, so that the last step writes where the result belongs."""
        steps = dict(zip(kernel.axes, _all_numbers(kernel.steps), strict=True))
        (offset,) = _all_numbers([kernel.offset])
        shape = self.shape_of(kernel.axes)
        target = Read(out.reshape(-1), offset, steps, kernel.axes, shape)
        result = self.operand(kernel.body)
        if self.instructions and self.instructions[-1].result is result and result.axes == kernel.axes:
            self.instructions[-1].result.target = target
            return
        last = Temporary(kernel.axes, shape, out.dtype)
        last.target = target

        def bind(block: Block) -> list[Step]:
            source = self.aligned(result, kernel.axes, block)
            if source.dtype == np.float16 and source.shape == shape:
                return [partial(convert, source, target.array(block))]
            return [partial(np.copyto, target.array(block), source, "unsafe")]

        self.instructions.append(Instruction((result,), last, bind))

    def steps(self, starts: Mapping[str, int]) -> list[Step]:
        """Returns the steps of a block."""
        block = Block(starts, self.memory.scratch(self._size_bytes))
        return [step for i in self.instructions for step in i.bind(block)]

    def _assign_scratch(self) -> int:
        """Assigns memory to what steps compute; returns the bytes of all of it."""
        last: dict[Operand, int] = {}
        for n, i in enumerate(self.instructions):
            last.update(dict.fromkeys(i.operands, n))
        taken: list[tuple[int, int, Temporary]] = []
        size = 0
        for n, instruction in enumerate(self.instructions):
            result = instruction.result
            kept = [t for t in taken if last.get(t[2], -1) > n]
            if result.size_bytes:
                dying = [t for t in taken if last.get(t[2], -1) == n and instruction.is_elementwise]
                fit = [t for t in dying if t[2].shape == result.shape and t[2].dtype == result.dtype]
                at = fit[0][0] if fit else first_gap(sorted(taken, key=lambda t: t[0]), result.size_bytes)
                result.offset = at
                kept.append((at, at + result.size_bytes, result))
                size = max(size, at + result.size_bytes)
            taken = kept
        return size

    # -- indices and axes

    def shape_of(self, axes: Sequence[str]) -> tuple[int, ...]:
        """Returns the extents of indices in a block."""
        return tuple([self.extents[i] for i in axes])

    def sorted(self, axes: Iterable[str]) -> tuple[str, ...]:
        """Returns indices without duplicates, in the order of the kernel."""
        return tuple(sorted(dict.fromkeys(axes), key=self._order.__getitem__))

    def aligned(self, x: Operand, axes: Sequence[str], block: Block) -> Array:
        """Returns elements with an axis for each of some indices, of size 1 where they do not depend on it."""
        array = x.array(block)
        if x.axes == tuple(axes) or not x.axes:
            return array
        return array[tuple([slice(None) if i in x.axes else None for i in axes])]

    def record(
        self,
        axes: tuple[str, ...],
        dtype: np.dtype[Any],
        operands: Sequence[Operand],
        bind: Callable[[Block, Array], Iterable[Step]],
        *,
        is_elementwise: bool = False,
    ) -> Temporary:
        """Adds an instruction; returns what it computes."""
        check_array(self.shape_of(axes), dtype.itemsize)
        result = Temporary(axes, self.shape_of(axes), dtype)

        def steps(block: Block) -> Iterable[Step]:
            return bind(block, result.array(block))

        self.instructions.append(Instruction(tuple(operands), result, steps, is_elementwise))
        return result

    # -- expressions

    def operand(self, e: Expr) -> Operand:
        """Returns the elements of an expression, which is computed once."""
        result = self._operands.get(e)
        if result is None:
            result = self._operands[e] = self._recorded(e)
        return result

    def _recorded(self, e: Expr) -> Operand:
        match e:
            case Const(value=v):
                return self.number(v, compute_dtype(e.dtype))
            case Position(at=at):
                return self.positions(at, compute_dtype(e.dtype))
            case Access():
                return self.access(e)
            case Cast(body=body):
                return self.cast(body, e.dtype)
            case Apply(fn="power", args=(x, Const(value=2 | 3 as n))):
                # numpy takes twenty times as long for a power.
                base = self.operand(x)
                square = self.apply("multiply", [base, base], base.dtype)
                return square if n == 2 else self.apply("multiply", [square, base], base.dtype)
            case Apply(fn=fn, args=args):
                return self.apply(fn, [self.operand(a) for a in args], compute_dtype(e.dtype))
            case Fold():
                return self.fold(e)
            case _:
                raise NotPlanned(type(e).__name__)

    def positions(self, at: Dim, dtype: np.dtype[Any]) -> Fixed:
        """Returns the values of an index expression."""
        axes = self.sorted(names(at))
        shape = self.shape_of(axes)

        def compute(starts: Mapping[str, int]) -> Array:
            check_array(shape, np.dtype(np.int64).itemsize)
            ranges = {i: (starts.get(i, 0), starts.get(i, 0) + self.extents[i]) for i in axes}
            grid = KernelGrid(axes, ranges, self.extents, {}, compute_dtype)
            return np.broadcast_to(grid.positions(at), shape).astype(dtype)

        return Fixed(axes, shape, dtype, compute)

    def apply(self, fn: str, args: Sequence[Operand], dtype: np.dtype[Any]) -> Operand:
        """Returns a scalar function of operands, over the axes of all of them."""
        axes = self.sorted([i for a in args for i in a.axes])
        if all(isinstance(a, Fixed) for a in args):
            shape = self.shape_of(axes)

            def compute(starts: Mapping[str, int]) -> Array:
                out = np.empty(shape, dtype)
                with np.errstate(all="ignore"):
                    arrays = [self.aligned(a, axes, Block(starts, out)) for a in args]
                    for step in map_steps(fn, arrays, out):
                        step()
                return out

            return Fixed(axes, shape, dtype, compute)

        if fn == "erf" and dtype == np.float32:
            return self.erf(args[0])
        if fn == "select" and dtype.itemsize in (4, 8):
            return self.selection(args, axes, dtype)

        def bind(block: Block, out: Array) -> list[Step]:
            return map_steps(fn, [self.aligned(a, axes, block) for a in args], out)

        return self.record(axes, dtype, args, bind, is_elementwise=fn != "select")

    def erf(self, x: Operand) -> Operand:
        """Returns the error function by its approximation in single precision."""
        first, *inner, last = [self.number(c, x.dtype) for c in ERF_COEFFICIENTS]
        square = self.apply("multiply", [x, x], x.dtype)
        p = self.apply("multiply", [square, first], x.dtype)
        for c in inner:
            p = self.apply("multiply", [self.apply("add", [p, c], x.dtype), square], x.dtype)
        p = self.apply("multiply", [self.apply("add", [p, last], x.dtype), x], x.dtype)
        return self.apply("tanh", [p], x.dtype)

    def selection(self, args: Sequence[Operand], axes: tuple[str, ...], dtype: np.dtype[Any]) -> Operand:
        """Returns a choice between two operands, which needs scratch memory."""
        flags, codes = [self.record(axes, np.dtype(f"i{dtype.itemsize}"), [], _nothing) for _ in range(2)]

        def bind(block: Block, out: Array) -> list[Step]:
            arrays = [self.aligned(a, axes, block) for a in args]
            return selection_steps(arrays, out, flags.array(block), codes.array(block))

        return self.record(axes, dtype, [*args, flags, codes], bind)

    def number(self, value: Any, dtype: np.dtype[Any]) -> Fixed:
        """Returns a number."""
        array = np.asarray(value, dtype)
        return Fixed((), (), array.dtype, lambda _: array)

    def cast(self, body: Expr, to: ElementType) -> Operand:
        """Returns a conversion. Between half and single precision there is none, as both are computed in single."""
        x = self.operand(body)
        expected = compute_dtype(to)
        if rounds_to_half(body, to):
            if to is f16 and x.dtype == expected:
                return self.record(x.axes, expected, [x], lambda b, out: [partial(round_to_half, x.array(b), out)])
            x = self.converted(x, dtype_of(to.name))
        elif to.is_integer and body.dtype in (f16, bf16):
            # It is rounded before it is converted to an integer.
            x = self.converted(x, dtype_of(body.dtype.name))
        return self.converted(x, expected)

    def converted(self, x: Operand, dtype: np.dtype[Any]) -> Operand:
        """Returns elements as another dtype, bools by comparison with zero."""
        if x.dtype == dtype:
            return x
        if dtype.kind == "b":
            zero = np.zeros((), x.dtype)
            return self.record(x.axes, dtype, [x], lambda b, out: [partial(np.not_equal, x.array(b), zero, out=out)])
        return self.record(x.axes, dtype, [x], lambda b, out: [partial(convert, x.array(b), out)])

    # -- reads

    def access(self, e: Access) -> Operand:
        """Returns a read: a view where positions are linear, else elements taken by their positions."""
        source = self.tensor(e.tensor)
        strides = _steps_of(source)
        is_constant = e.tensor.name in self.memory.constants
        flat = source.reshape(-1)
        data = {d: p for d, p in enumerate(e.at) if isinstance(p, Expr)}
        linear = _linear({d: p for d, p in enumerate(e.at) if not isinstance(p, Expr)}, strides)
        if linear is not None:
            start, steps = linear
            axes = self.sorted(steps)
            if not data:
                self._check_inside(start, steps, flat.size)
                return Read(flat, start, steps, axes, self.shape_of(axes), is_constant=is_constant)
            taken = self._taken(e, Read(flat, start, steps, axes, self.shape_of(axes)), data, strides)
            if taken is not None:
                return taken
        return self._gathered(e, flat, strides, source.shape)

    def _check_inside(self, start: int, steps: Mapping[str, int], size: int) -> None:
        """Checks that all blocks read inside of an array. Raises: NotPlanned."""
        ends = [s * (self.full_extents[i] - 1) for i, s in steps.items()]
        if start + sum([e for e in ends if e < 0]) < 0 or start + sum([e for e in ends if e > 0]) >= size:
            raise NotPlanned("positions outside of a tensor")

    def checked(self, e: Access, axis: int, p: Expr, size: int) -> Operand:
        """Returns positions read from data, which are checked."""
        x = self.converted(self.operand(p), np.dtype(np.int64))
        what = f"axis {axis} of '{e.tensor.name}'"

        def bind(block: Block, out: Array) -> list[Step]:
            array = x.array(block)
            return [partial(check_positions, array, size, what), partial(np.copyto, out, array)]

        return self.record(x.axes, x.dtype, [x], bind)

    def _taken(self, e: Access, rest: Read, data: Mapping[int, Expr], strides: Sequence[int]) -> Operand | None:
        """Returns slices taken along one axis; None where positions do not separate."""
        if len(data) != 1:
            return None
        ((axis, p),) = data.items()
        (size,) = _all_numbers([e.tensor.shape[axis]])
        if set(free(p)) & set(rest.axes):
            return None
        outer = [i for i in rest.axes if rest.steps[i] > strides[axis]]
        inner = [i for i in rest.axes if rest.steps[i] <= strides[axis]]
        read = self.with_axis(rest, (*outer, "data", *inner), strides[axis], size)
        probe = read.array(Block({}, rest.base))
        if not probe.flags.c_contiguous or [*outer, *inner] != list(rest.axes):
            return None
        positions = self.checked(e, axis, p, size)
        order = (*outer, *positions.axes, *inner)
        if order != self.sorted(order):
            return None

        def bind(block: Block, out: Array) -> list[Step]:
            return [partial(np.take, read.array(block), positions.array(block), len(outer), out, "clip")]

        return self.record(order, rest.dtype, [positions], bind)

    def with_axis(self, x: Read, axes: tuple[str, ...], step: int, size: int) -> Read:
        """Returns a read with an axis named `data`."""
        shape = tuple([size if i == "data" else self.extents[i] for i in axes])
        return Read(x.base, x.start, {**x.steps, "data": step}, axes, shape)

    def _gathered(self, e: Access, flat: Array, strides: Sequence[int], shape: Sequence[int]) -> Operand:
        """Returns elements at addresses that are computed for each of them."""
        parts: list[Operand] = []
        address: Dim = 0
        for axis, p in enumerate(e.at):
            if isinstance(p, Expr):
                x = self.checked(e, axis, p, shape[axis])
                parts.append(self.apply("multiply", [x, self.number(strides[axis], x.dtype)], x.dtype))
            else:
                address = address + p * strides[axis]
        place = self.positions(address, np.dtype(np.int64))
        total: Operand = place
        for x in parts:
            total = self.apply("add", [total, x], x.dtype)

        def bind(block: Block, out: Array) -> list[Step]:
            return [partial(np.take, flat, total.array(block), None, out, "clip")]

        return self.record(total.axes, flat.dtype, [total], bind)

    def tensor(self, tensor: Tensor) -> Array:
        """Returns a contiguous array of a tensor with its views applied, which steps before all blocks compute."""
        if not tensor.steps:
            arrays = self.memory.arrays if tensor.name in self.memory.arrays else self.memory.constants
            return arrays[tensor.name]
        result = self._tensors.get(tensor)
        if result is None:
            result = self._tensors[tensor] = self._viewed(tensor)
        return result

    def _viewed(self, tensor: Tensor) -> Array:
        view, before = tensor.steps[-1]
        source = self.tensor(Tensor(tensor.name, before, tensor.dtype, tensor.steps[:-1]))
        shape = _all_numbers(tensor.shape)
        match view:
            case Flat():
                return source.reshape(-1)
            case Dilated(factors=factors):
                cut = tuple([slice(None, None, f) for f in factors])
                return self._placed(source, shape, cut, (), 0)
            case Padded(before=b, after=a, mode="constant", fill=fill) if not isinstance(fill, complex):
                sides = list(zip(source.shape, _all_numbers(b), _all_numbers(a), strict=True))
                target = tuple([slice(max(p, 0), max(n + p + min(q, 0), 0)) for n, p, q in sides])
                inside = tuple([slice(max(-p, 0), max(n + min(q, 0), 0)) for n, p, q in sides])
                return self._placed(source, shape, target, inside, fill)
            case _:
                return self._repeated(source, view, before)

    def _placed(
        self, source: Array, shape: Sequence[int], target: tuple[slice, ...], inside: tuple[slice, ...], fill: Any
    ) -> Array:
        """Returns an array of a value with a part of another array in it. Its other elements are written only once."""
        if 0 in source.shape or 0 in shape:
            raise NotPlanned("an empty operand")
        numbers = [(s.start, s.stop, s.step) for s in target]
        key = (tuple(shape), tuple(numbers), repr(fill), source.dtype, len(self._tensors))
        out = self.memory.placed(key, shape, fill, source.dtype)
        self._before.append(partial(np.copyto, out[target], source[inside]))
        return out

    def _repeated(self, source: Array, view: Padded | Dilated, shape: Sequence[Dim]) -> Array:
        """Returns a tensor padded with its own elements, which are taken axis by axis."""
        if not isinstance(view, Padded) or 0 in source.shape:
            raise NotPlanned("padding of this kind")
        for axis, (b, a) in enumerate(zip(view.before, view.after, strict=True)):
            if b == 0 and a == 0:
                continue
            (length,) = _all_numbers([shape[axis] + b + a])
            (position,), _ = resolve(Tensor("line", (shape[axis],), f16).padded([b], [a], view.mode), [index("i")])
            grid = KernelGrid(("i",), {"i": (0, length)}, {"i": length}, {}, compute_dtype)
            positions = np.broadcast_to(grid.positions(position), (length,))
            size = (*source.shape[:axis], length, *source.shape[axis + 1 :])
            out = self.memory.placed((size, axis, source.dtype, len(self._tensors), "repeated"), size, 0, source.dtype)
            self._before.append(partial(np.take, source, positions, axis, out, "clip"))
            source = out
        return source

    # -- folds

    def fold(self, e: Fold) -> Operand:
        """Returns a fold in one of its forms."""
        running = self.running(e)
        if running is not None:
            return running
        factors = _factors(e.body) if e.fn == "add" else [e.body]
        if _is_product(e) and e.body.dtype.kind != "bool":
            return self.contraction(factors, e.over)
        if self.is_windowed(e):
            return self.unrolled(e)
        return self.reduction(e.fn, e.body, e.over)

    def reduction(self, fn: str, body: Expr, over: Sequence[str]) -> Operand:
        """Returns a fold along axes."""
        return self.reduced(fn, self.operand(body), over)

    def reduced(self, fn: str, x: Operand, over: Sequence[str]) -> Operand:
        """Returns elements combined along axes."""
        inside = tuple([n for n, i in enumerate(x.axes) if i in over])
        axes = tuple([i for i in x.axes if i not in over])
        times = prod(self.shape_of([i for i in over if i not in x.axes]))
        if inside:
            x = self._reduced(fn, x, inside, axes)
        if times != 1 and fn in ("add", "multiply"):
            x = self.apply("multiply" if fn == "add" else "power", [x, self.number(times, x.dtype)], x.dtype)
        return x

    def _reduced(self, fn: str, x: Operand, inside: tuple[int, ...], axes: tuple[str, ...]) -> Temporary:
        squared = self._squares(x) if fn == "add" and inside == (len(x.axes) - 1,) else None
        if squared is not None:
            a, b = squared

            def bind(block: Block, out: Array) -> list[Step]:
                return [partial(np.vecdot, a.array(block), b.array(block), out=out)]

            return self.record(axes, x.dtype, [a, b], bind)
        return self.record(axes, x.dtype, [x], lambda b, out: reduction_steps(fn, x.array(b), inside, out))

    def _squares(self, x: Operand) -> tuple[Operand, Operand] | None:
        """Returns the factors of a product that was recorded last, which is then not needed; None for others."""
        last = self.instructions[-1] if self.instructions else None
        if last is None or last.result is not x or x.dtype.kind != "f":
            return None
        e = next((e for e, o in self._operands.items() if o is x), None)
        if not isinstance(e, Apply) or e.fn != "multiply":
            return None
        a, b = last.operands
        if a.axes != x.axes or b.axes != x.axes:
            return None
        self.instructions.pop()
        del self._operands[e]
        return a, b

    def running(self, e: Fold) -> Operand | None:
        """Returns a fold of the elements on one side of an index as a running value along it; None for others."""
        match e:
            case Fold(
                over=(j,),
                body=Apply(
                    fn="select", args=(Apply(fn=relation, args=(Position(at=p), Position(at=q))), x, Const(value=v))
                ),
            ):
                pass
            case _:
                return None
        first, second = plain(p), plain(q)
        bound = second if first == j else first
        if relation not in ("less", "less_equal") or bound is None or j not in (first, second) or first == second:
            return None
        if bound in free(x) or self.extents.get(bound) != self.extents[j] or v != identity(e.fn, e.dtype):
            return None
        source = self.operand(put(x, {j: index(bound)}))
        if bound not in source.axes:
            return None
        axis = source.axes.index(bound)

        def bind(block: Block, out: Array) -> list[Step]:
            return running_steps(e.fn, source.array(block), axis, first == bound, relation == "less", out)

        return self.record(source.axes, source.dtype, [source], bind)

    def is_windowed(self, e: Fold) -> bool:
        """Returns whether a fold has few elements, which shifted views give faster than a reduction along axes."""
        points = prod(self.shape_of(e.over))
        if points > UNROLLED_POINTS or any(isinstance(x, Fold) for x in walk(e.body)):
            return False
        for a in walk(e.body):
            if isinstance(a, Access):
                for p in a.at:
                    if not isinstance(p, Expr) and self._overlaps(p, e.over, points):
                        return True
        return False

    def _overlaps(self, p: Dim, over: Sequence[str], points: int) -> bool:
        """Returns whether a position moves by less than a window from one element of the result to the next."""
        outer = [abs(c) for i in names(p) if i not in over and isinstance(c := coefficient(p, i), int)]
        spans = [abs(c) * self.extents[i] for i in names(p) if i in over and isinstance(c := coefficient(p, i), int)]
        return bool(outer and spans) and (points <= FEW_POINTS or min(outer) < max(spans))

    def unrolled(self, e: Fold) -> Operand:
        """Returns the body at each point of the window, combined one after another."""
        out: Expr | None = None
        for point in itertools.product(*(range(self.extents[i]) for i in e.over)):
            piece = put(e.body, dict(zip(e.over, point, strict=True)))
            out = piece if out is None else Apply(e.fn, (out, piece))
        assert out is not None
        return self.operand(out)

    # -- contractions

    def contraction(self, factors: Sequence[Expr], over: Sequence[str]) -> Operand:
        """Returns a sum of a product of several factors, contracted from the left."""
        exact = self.exact(factors, over)
        if exact is not None:
            return exact
        left = self.operand(factors[0])
        for n, f in enumerate(factors[1:], 1):
            right = self.operand(f)
            later = {i for g in factors[n + 1 :] for i in free(g)}
            remaining = self.sorted([i for i in (*left.axes, *right.axes) if i not in over or i in later])
            left = self.product(left, right, remaining)
        missing = prod(self.shape_of([i for i in over if not any(i in free(f) for f in factors)]))
        if missing != 1:
            left = self.apply("multiply", [left, self.number(missing, left.dtype)], left.dtype)
        return left

    def exact(self, factors: Sequence[Expr], over: Sequence[str]) -> Operand | None:
        """Returns a sum of products of integers, which are floats until all are added; None if that is not exact."""
        dtype = compute_dtype(factors[0].dtype)
        terms = prod(self.shape_of(over))
        if dtype.kind not in "iu" or len(factors) != 2 or any(i not in free(f) for f in factors for i in over):
            return None
        remaining = self.sorted([i for f in factors for i in free(f) if i not in over])
        if prod(self.shape_of(remaining)) * terms <= FEW_PRODUCTS:
            return None
        floats = self.memory.ranges.exact_dtype((factors[0], factors[1]), terms, dtype)
        if floats is None:
            return None
        a, b = [self.as_floats(f, floats) for f in factors]
        return self.converted(self.product(a, b, remaining), dtype)

    def as_floats(self, e: Expr, dtype: np.dtype[Any]) -> Operand:
        """Returns integers as floats, converted before windows of them are read."""
        if not isinstance(e, Access) or any(isinstance(p, Expr) for p in e.at):
            return self.converted(self.operand(e), dtype)
        source = self.tensor(e.tensor)
        linear = _linear(dict(enumerate([p for p in e.at if not isinstance(p, Expr)])), _steps_of(source))
        if linear is None:
            return self.converted(self.operand(e), dtype)
        is_constant = e.tensor.name in self.memory.constants and not e.tensor.steps
        key = (e.tensor, dtype) if is_constant else (source.shape, dtype, len(self._before), "floats")
        out = self.memory.placed(key, source.shape, 0, dtype)
        if is_constant:
            np.copyto(out, source)
        else:
            self._before.append(partial(np.copyto, out, source))
        start, steps = linear
        self._check_inside(start, steps, out.size)
        axes = self.sorted(steps)
        return Read(out.reshape(-1), start, steps, axes, self.shape_of(axes), is_constant=is_constant)

    def product(self, a: Operand, b: Operand, remaining: tuple[str, ...]) -> Operand:
        """Returns the products of two factors, summed over all but the remaining indices."""
        alone = [[i for i in x.axes if i not in remaining and i not in y.axes] for x, y in ((a, b), (b, a))]
        a, b = [self.reduced("add", x, over) if over else x for x, over in zip((a, b), alone, strict=True)]
        if not {i for i in a.axes if i not in remaining}:
            return self.apply("multiply", [a, b], a.dtype)
        x, y = a, b

        def factor(f: Operand, block: Block) -> Factor:
            return Factor(f.array(block), f.axes, isinstance(f, Read) and f.is_constant)

        def bind(block: Block, out: Array) -> list[Step]:
            return contraction_steps(factor(x, block), factor(y, block), out, remaining, self.extents)

        return self.record(remaining, a.dtype, [a, b], bind)


def _nothing(_: Block, __: Array) -> list[Step]:
    return []


def _factors(e: Expr) -> list[Expr]:
    """Returns the factors of a product."""
    if isinstance(e, Apply) and e.fn == "multiply":
        return [f for a in e.args for f in _factors(a)]
    return [e]


def _steps_of(x: Array) -> list[int]:
    """Returns the distance of elements along each axis, in elements."""
    return [s // x.itemsize for s in x.strides]


def _linear(at: Mapping[int, Dim], strides: Sequence[int]) -> tuple[int, dict[str, int]] | None:
    """Returns the address of positions along some axes and the step of each index; None if it is not linear."""
    start, steps = 0, dict[str, int]()
    for axis, p in at.items():
        constant = p
        for i in names(p):
            c = coefficient(p, i)
            if not isinstance(c, int):
                return None
            steps[i] = steps.get(i, 0) + c * strides[axis]
            constant = substitute(constant, {i: 0})
        if not isinstance(constant, int):
            return None
        start += constant * strides[axis]
    return start, steps


def _numbers(extents: Mapping[str, Dim]) -> dict[str, int]:
    return dict(zip(extents, _all_numbers(list(extents.values())), strict=True))


def _all_numbers(dims: Iterable[Dim]) -> list[int]:
    """Returns sizes, which are known. Raises: NotPlanned for others."""
    out: list[int] = []
    for d in dims:
        if not isinstance(d, int):
            raise NotPlanned(f"the size {d} is not known")
        out.append(d)
    return out
