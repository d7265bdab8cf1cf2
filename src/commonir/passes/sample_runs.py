"""Runs operations of a program on sample values, to find out whether others compute the same.

Sample values include zeros, numbers of several magnitudes, infinities and NaN. Results agree if NaNs and infinities
are in the same places, and other elements differ by no more than a share of a reference magnitude (`TOLERANCES`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from commonir.base.diagnostics import DiagnosticError
from commonir.dialects import core
from commonir.ir.data import Data, computed_data
from commonir.ir.operation import Block, Value
from commonir.ir.types import TensorType, are_known
from commonir.notation import NotationError
from commonir.ods import Op, infer, operations_behind, traits
from commonir.passes.core_forms import core_form
from commonir.passes.subgraphs import is_fixed
from commonir.symbolic import evaluate, symbols

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.floating[Any]]

Evaluate = Callable[[Op, Sequence[Data]], Sequence[Data] | None]

TOLERANCES = {"f64": 1e-5, "f32": 1e-5, "f16": 4e-3, "bf16": 3e-2}
"""By how much results of an element type may differ, as a share of a reference magnitude."""

ROW_FACTORS = (1.0, 1e-3, 30.0, 0.0)
"""The magnitudes of rows."""


def _samples(type: TensorType, shape: Sequence[int], compute: Callable[[], Array]) -> Data:
    """Returns sample values of a shape as contents of an element type, which are computed when first needed."""
    from commonir.base.arrays import dtype_of  # noqa: PLC0415  loads numpy

    return computed_data(type.with_shape(tuple(shape)), lambda: compute().astype(dtype_of(type.element.name)))


def spread_numbers(type: TensorType) -> Data:
    """Returns a vector of numbers near 0 and of all magnitudes of an element type, with infinities and NaN."""
    import numpy as np  # noqa: PLC0415  only where something is compared

    largest = 4 if type.element.name == "f16" else 15
    powers = 10.0 ** np.arange(-largest, largest + 1)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan])
    values = np.concatenate([np.linspace(-12, 12, 1201), powers, -powers, special])
    return _samples(type, values.shape, lambda: values)


def random_rows(type: TensorType, shape: Sequence[int], axes: Sequence[int], seed: int) -> Data:
    """Returns random numbers, in rows of several magnitudes along some axes; some rows are zero."""
    rows = tuple([1 if a in axes else n for a, n in enumerate(shape)])

    def compute() -> Array:
        import numpy as np  # noqa: PLC0415  as above

        values = np.random.default_rng(seed).standard_normal(tuple(shape)) + 0.3
        return values * np.resize(np.roll(ROW_FACTORS, -seed), rows)

    return _samples(type, shape, compute)


def random_numbers(type: TensorType, shape: Sequence[int], seed: int) -> Data:
    """Returns random numbers around 0."""

    def compute() -> Array:
        import numpy as np  # noqa: PLC0415  as above

        return np.random.default_rng(seed).standard_normal(tuple(shape))

    return _samples(type, shape, compute)


def random_mask(type: TensorType, shape: Sequence[int], *, has_masked_row: bool) -> Data:
    """Returns a mask: bools, or finite numbers and minus infinities. Each row has an element that is not masked, or
    with `has_masked_row` all but the first row.
    """

    def compute() -> Array:
        import numpy as np  # noqa: PLC0415  as above

        rng = np.random.default_rng(5)
        chosen = rng.random(tuple(shape)) < 0.6
        chosen[..., 0] = True
        if has_masked_row:
            chosen[(0,) * (len(shape) - 1)] = False
        if not type.element.is_float:
            return chosen.astype(np.float64)
        return np.where(chosen, rng.standard_normal(tuple(shape)), -np.inf)

    return _samples(type, shape, compute)


class SampleSizes:
    """Sizes of samples of values with known dims: numbers as they are, and another small one for each symbol."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, value: Value) -> tuple[int, ...] | None:
        """Returns the sizes of a sample of a value; None if a dim is not known."""
        shape = value.type.shape if isinstance(value.type, TensorType) else None
        if shape is None or not are_known(shape):
            return None
        for name in [name for n in shape for name in symbols(n)]:
            self._numbers.setdefault(name, 2 + len(self._numbers))
        sizes = tuple([evaluate(n, self._numbers) for n in shape])
        return sizes if min(sizes, default=1) > 0 else None


class SampleRuns:
    """Runs operations on sample values."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate

    def result(
        self, operations: Sequence[Op], inputs: Mapping[Value, Data], output: Value, sizes: SampleSizes | None = None
    ) -> Data | None:
        """Returns the value of an output of operations in order, for contents of what they use; None if it is not
        computed. Contents may have other dims than the values: those that operations reshape are of `sizes`.
        """
        contents: dict[Value, Data] = dict(inputs)
        for op in operations:
            reshaped = None if sizes is None else _reshaped(op, contents, sizes)
            if reshaped is not None:
                contents[op.results[0]] = reshaped
                continue
            used = [contents.get(v) for v in op.operands]
            data = [d for d in used if d is not None]
            if len(data) < len(used):
                return None
            copy = _copy(op, data)
            results = None if copy is None else self._evaluate(copy, data)
            if results is None:
                return None
            contents.update(zip(op.results, results, strict=True))
        return contents.get(output)

    def built(self, build: Callable[..., Value], inputs: Sequence[Data]) -> Data | None:
        """Returns the value of core operations that a function builds on operands; None if it is not computed."""
        block = Block([d.type for d in inputs])
        try:
            value = build(*block.arguments)
        except (DiagnosticError, NotationError):
            return None
        operations = [op for op in operations_behind([value]) if isinstance(op, Op)]
        contents = dict(zip(block.arguments, inputs, strict=True))
        constants = {op.results[0]: d for op in operations if (d := _constant_data(op)) is not None}
        body = [op for op in operations if op.results[0] not in constants]
        result = self.result(body, contents | constants, value)
        for op in reversed(operations):
            op.erase()
        return result


def _reshaped(op: Op, contents: Mapping[Value, Data], sizes: SampleSizes) -> Data | None:
    """Returns the result of an operation that changes only the shape; None for another one."""
    form = core_form(op)
    if form is None or not isinstance(form.op, core.Reshape | core.DynamicReshape) or form.x not in contents:
        return None
    shape, data = sizes.of(op.results[0]), contents[form.x]
    if shape is None or math.prod(shape) != data.count:
        return None
    return computed_data(data.type.with_shape(shape), lambda: data.array().reshape(shape))


def _constant_data(op: Op) -> Data | None:
    return op.constant_data() if op.has_trait(traits.ConstantLike) else None


def _copy(op: Op, data: Sequence[Data]) -> Op | None:
    """Returns a copy of an operation on operands of the types of their contents; None if it does not take these."""
    types = [None if is_fixed(v) else d.type for v, d in zip(op.operands, data, strict=True)]
    block = Block([t for t in types if t is not None])
    arguments = iter(block.arguments)
    operands = [
        next(arguments) if t is not None else _constant(v, d) for t, v, d in zip(types, op.operands, data, strict=True)
    ]
    copy = op.clone_shallow(tuple(operands), ())
    try:
        inferred = infer(copy).types
    except (DiagnosticError, NotationError):
        return None
    for r, type in zip(copy.results, inferred, strict=False):
        r.retype(type)
    return copy


def _constant(value: Value, data: Data) -> Value:
    """Returns a copy of the constant that defines a value, or another one with its contents."""
    owner = value.owner
    if isinstance(owner, Op) and owner.has_trait(traits.ConstantLike) and len(owner.results) == 1:
        return owner.clone_shallow((), ()).results[0]
    return core.constant(data)


def largest_difference(result: Data, expected: Data, like: Data | None = None) -> float:
    """Returns the largest difference of elements as a share of the largest one, or of the element of `like`.

    It is infinite where only one is NaN, infinities differ, or there are not as many elements.
    """
    import numpy as np  # noqa: PLC0415  as above

    a, b = [d.array().astype(np.float64).reshape(-1) for d in (result, expected)]
    if a.size != b.size or not a.size:
        return np.inf
    is_same = (a == b) | (np.isnan(a) & np.isnan(b))
    magnitudes = np.abs(b[np.isfinite(b)])
    scale = magnitudes.max(initial=0.0) if like is None else np.abs(like.array().astype(np.float64).reshape(-1))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        shares = np.where(is_same, 0.0, np.abs(a - b) / np.maximum(scale, np.abs(b)))
    return float(np.max(np.where(np.isfinite(shares), shares, np.inf)))
