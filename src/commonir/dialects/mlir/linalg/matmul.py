"""Products of matrices and vectors, and contractions under stated maps.

Source: MLIR linalg dialect, matmul family, contract and elementwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import ClassVar

from commonir.base.diagnostics import Diagnostic
from commonir.dialects.mlir.linalg.base import IteratorType, TypeFn, affine_maps, maps_attribute, type_function
from commonir.dialects.mlir.linalg.bodies import Body, elementwise, multiply_add
from commonir.dialects.mlir.linalg.named import NamedOp, kinds_of
from commonir.ir.affine import AffineDim, AffineMap
from commonir.ir.attributes import Attribute
from commonir.ir.operation import Block, Operation, Value
from commonir.ir.types import Type
from commonir.ods import attribute
from commonir.ods.mlir_attr_types import dialect_enumeration
from commonir.ods.type_rules import shape_of

_PRODUCTS_AND_SUMS = (
    ("arith.mulf", "arith.addf"),
    ("arith.muli", "arith.addi"),
    ("complex.mul", "complex.add"),
    ("arith.andi", "arith.ori"),
)


class SumOfProducts(NamedOp):
    """Base of sums of products. C3: the body adds the product of its first two arguments to the third; operations of
    one operand, as conversions, may stand anywhere.
    """

    scalars = staticmethod(multiply_add)

    def _wrong_body(self) -> Iterator[Diagnostic]:
        wrong = list(super()._wrong_body())
        yield from wrong
        if not wrong and not _is_sum_of_products(self.body.block):
            yield self.malformed("expected add/mul op in the body, which are applied to its arguments")


def _is_sum_of_products(block: Block) -> bool:
    if len(block.arguments) != 3 or block.last is None or len(block.last.operands) != 1:
        return False
    lhs, rhs, before = block.arguments
    total = _source(block.last.operands[0]).owner
    if not isinstance(total, Operation) or len(total.operands) != 2 or len(total.results) != 1:
        return False
    terms = [_source(v) for v in total.operands]
    if before not in terms:
        return False
    product = terms[isinstance(terms[0].owner, Block)].owner
    if not isinstance(product, Operation) or (product.name, total.name) not in _PRODUCTS_AND_SUMS:
        return False
    factors = [_source(v) for v in product.operands]
    return factors in ([lhs, rhs], [rhs, lhs])


def _source(value: Value) -> Value:
    """Returns the value to which a chain of operations of one operand is applied."""
    while isinstance(value.owner, Operation) and len(value.owner.operands) == 1:
        value = value.owner.operands[0]
    return value


class Contraction(SumOfProducts):
    """Base of sums of products whose maps are always the same."""


class Dot(Contraction, name="linalg.dot", indices="A[m] B[m] -> C"):
    """Dot product of two vectors, added to the init operand."""


class Matvec(Contraction, name="linalg.matvec", indices="A[m, n] y[n] -> x[m]"):
    """Matrix-vector product."""


class Vecmat(Contraction, name="linalg.vecmat", indices="y[m] A[m, n] -> x[n]"):
    """Vector-matrix product."""


class BatchMatvec(Contraction, name="linalg.batch_matvec", indices="A[b, m, k] B[b, k] -> C[b, m]"):
    """Batched matrix-vector product."""


class BatchVecmat(Contraction, name="linalg.batch_vecmat", indices="A[b, k] B[b, k, n] -> C[b, n]"):
    """Batched vector-matrix product."""


class Mmt4D(
    Contraction,
    name="linalg.mmt4d",
    indices="lhs[m, k, m0, k0] rhs[n, k, n0, k0] -> accum[m, n, m0, n0]",
    order="m n k m0 n0 k0",
):
    """Product of a tiled matrix and a transposed tiled matrix."""


class BatchMmt4D(
    Contraction,
    name="linalg.batch_mmt4d",
    indices="lhs[b, m, k, m0, k0] rhs[b, n, k, n0, k0] -> accum[b, m, n, m0, n0]",
    order="b m n k m0 n0 k0",
):
    """Batched product of a tiled matrix and a transposed tiled matrix."""


class MappedOp(SumOfProducts):
    """Base of operations that state their maps. C1: iterators follow from the maps: what the result does not mention is
    reduced.
    """

    memoizes = False

    def indexing(self) -> tuple[AffineMap, ...]:
        return self.field_value(self.layout.by_name["indexing_maps"]) or ()

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        maps = self.indexing()
        if not maps:
            return ()
        return kinds_of([AffineDim(d) not in maps[-1].results for d in range(maps[-1].dims)])


class MatmulLike(MappedOp):
    """Base of products of matrices under maps that broadcast or transpose operands; without them, those of the name.
    C2: maps have the dimensions of those of the name, and differ from them by leaving out or exchanging dimensions.
    """

    indexing_maps: tuple[AffineMap, ...] | None = attribute(affine_maps, default=None)
    cast: TypeFn | None = attribute(type_function, default=None)

    def indexing(self) -> tuple[AffineMap, ...]:
        assert self.formula is not None
        return self.formula.maps() if self.indexing_maps is None else self.indexing_maps

    def has_default_maps(self) -> bool:
        formula = self.formula
        return formula is not None and self.indexing() == formula.maps()

    @classmethod
    def completed(
        cls,
        attributes: Mapping[str, Attribute],
        inputs: Sequence[Type],  # noqa: ARG003  the maps are always the same
        outputs: Sequence[Type],  # noqa: ARG003
    ) -> dict[str, Attribute]:
        assert cls.formula is not None
        return {"indexing_maps": maps_attribute(cls.formula.maps()), **attributes}

    def verify(self) -> Iterator[Diagnostic]:
        wrong = None if self.has_default_maps() else self._wrong_stated()
        if wrong is not None:
            yield self.violated(wrong)
        else:
            yield from super().verify()

    def _wrong_stated(self) -> str | None:
        """Returns how the explicit maps contradict the operation's name; None when they do not."""
        formula = self.formula
        assert formula is not None
        usual, declared = formula.maps(), self.indexing()
        if len(declared) != len(usual):
            return f"indexing_map attribute must have {len(usual)} affine maps"
        if any(m.dims != len(formula.dims) for m in declared):
            return "unexpected dim expression in map result"
        if declared[-1] is not usual[-1]:
            return "unexpected output map result"
        for m, u in zip(declared[:-1], usual[:-1], strict=True):
            if not {*m.results} <= {*u.results} or len({*m.results}) != len(m.results) or not m.results:
                return "unexpected dim expression in map result"
        return None


class Matmul(MatmulLike, name="linalg.matmul", indices="A[m, k] B[k, n] -> C[m, n]"):
    """Matrix product, added to the init operand."""


class BatchMatmul(MatmulLike, name="linalg.batch_matmul", indices="A[b, m, k] B[b, k, n] -> C[b, m, n]"):
    """Batched matrix product."""


class BatchReduceMatmul(
    MatmulLike, name="linalg.batch_reduce_matmul", indices="A[b, m, k] B[b, k, n] -> C[m, n]", order="b m n k"
):
    """Batched matrix product, reduced over the batch."""


class Contract(MappedOp, name="linalg.contract"):
    """Contraction of two tensors under indexing maps: dimensions that the result lacks are summed. C2: each map uses a
    dimension at most once. C3: there are two inputs and one output.
    """

    indexing_maps: tuple[AffineMap, ...] = attribute(affine_maps)
    cast: TypeFn | None = attribute(type_function, default=None)

    def has_default_maps(self) -> bool:
        return False

    @classmethod
    def input_count(cls) -> int:
        return 2

    def verify(self) -> Iterator[Diagnostic]:
        maps = self.indexing_maps
        if len(self.inputs) != self.input_count() or len(self.outputs) != 1:
            yield self.violated("expected two inputs and one output")
        elif len(maps) != 3:
            message = f"expected the number of indexing_map ({len(maps)}) to be equal to the number of input/output"
            yield self.violated(f"{message} operands (3)")
        elif any(not is_projected_permutation(m) for m in maps):
            yield self.violated("provided affine_map is not a projected permutation")
        else:
            yield from self._wrong_dims(maps)
            yield from super().verify()

    def _wrong_dims(self, maps: Sequence[AffineMap]) -> Iterator[Diagnostic]:
        lhs, rhs, out = [{*m.results} for m in maps]
        if any((e in lhs) + (e in rhs) + (e in out) == 1 for e in lhs | rhs | out):
            yield self.violated(
                "iteration space dim at index is either a contracting dim of only one operand or unused"
            )
        if not (lhs & rhs) - out:
            yield self.violated("expected at least one contracting dimension")


class ElementwiseKind(Enum):
    """The function of `linalg.elementwise`."""

    EXP = "exp"
    LOG = "log"
    ABS = "abs"
    CEIL = "ceil"
    FLOOR = "floor"
    NEGF = "negf"
    RECIPROCAL = "reciprocal"
    ROUND = "round"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    SQUARE = "square"
    TANH = "tanh"
    ERF = "erf"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    DIV_UNSIGNED = "div_unsigned"
    MAX_SIGNED = "max_signed"
    MIN_SIGNED = "min_signed"
    MAX_UNSIGNED = "max_unsigned"
    MIN_UNSIGNED = "min_unsigned"
    POWF = "powf"
    SELECT = "select"


elementwise_kind = dialect_enumeration(ElementwiseKind, "linalg.elementwise_kind")


class Elementwise(NamedOp, name="linalg.elementwise"):
    """Applies an elementwise function; indexing maps may broadcast or transpose the inputs. C1: the number of inputs is
    that of the function.
    """

    memoizes = False
    has_kind: ClassVar[bool] = True

    kind: ElementwiseKind = attribute(elementwise_kind)
    indexing_maps: tuple[AffineMap, ...] = attribute(affine_maps)

    def indexing(self) -> tuple[AffineMap, ...]:
        return self.indexing_maps

    def iterator_kinds(self) -> tuple[IteratorType, ...]:
        return (IteratorType.PARALLEL,) * (self.indexing_maps[-1].dims if self.indexing_maps else 0)

    def has_default_maps(self) -> bool:
        return self.indexing_maps == _identities([v.type for v in (*self.inputs, *self.outputs)])

    @classmethod
    def completed(
        cls, attributes: Mapping[str, Attribute], inputs: Sequence[Type], outputs: Sequence[Type]
    ) -> dict[str, Attribute]:
        return {"indexing_maps": maps_attribute(_identities([*inputs, *outputs])), **attributes}

    @classmethod
    def scalars_of(cls, attributes: Mapping[str, Attribute]) -> Body:
        declared = attributes.get("kind")
        if declared is None:
            raise ValueError("requires attribute 'kind'")
        return elementwise(elementwise_kind.from_attribute(declared).value)


def is_projected_permutation(map: AffineMap) -> bool:
    """Returns whether each result is a dimension, and none is so twice."""
    return all(isinstance(e, AffineDim) for e in map.results) and len({*map.results}) == len(map.results)


def _identities(types: Sequence[Type]) -> tuple[AffineMap, ...]:
    shape = shape_of(types[-1]) if types else ()
    return (AffineMap.identity(len(shape) if isinstance(shape, tuple) else 0),) * len(types)
