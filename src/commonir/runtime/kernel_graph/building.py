"""Builds graphs of kernels from operations.

A composite is one kernel, by substitution: sums over short rows and what uses them then stay in the nearest cache.
Where rows are long, each operation of its body is a node. Constants of one value become numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

import numpy as np

from commonir.base.diagnostics import DiagnosticError
from commonir.ir.operation import Operation, Value
from commonir.ir.types import TensorType, bf16, f16, f32
from commonir.notation import (
    Access,
    Cast,
    Const,
    Constraint,
    Expr,
    Flat,
    Fold,
    Kernel,
    NotationError,
    Tensor,
    fuse,
    indices,
    join,
    lift,
    ranges,
    reading,
    replace_accesses,
    walk,
    with_extents,
)
from commonir.ods import Form, Op, infer, known_data, known_dims
from commonir.ods.data_dependent_dims import defined_dims
from commonir.runtime.instances import is_concrete
from commonir.runtime.interpreter.operations import constant_array, flat_values, named_operands
from commonir.runtime.kernel_graph.graph import (
    Array,
    KernelGraph,
    KernelNode,
    Origin,
    TensorSpec,
    axis_extents,
    copy_of,
    evaluated,
    known_count,
)
from commonir.runtime.kernel_graph.lane_positions import LARGEST, position_magnitudes
from commonir.runtime.kernel_graph.views import has_long_address
from commonir.runtime.values import compute_dtype
from commonir.symbolic import Dim, plain, plain_symbol, symbols

LONG_ROW = 4096
"""Elements of a row from which on it does not stay in the nearest cache between two passes over it."""

FOLDED_ELEMENTS = 1 << 22
"""Nodes of constants are computed while building if they have at most this many elements."""

COPIED_ELEMENTS = 1 << 14
"""Constants of more elements are read where they lie, whatever their order there."""


MAX_CONSTANT_DEPTH = 4
"""Operations between constants outside of a block and a value in it that is computed while building."""

STORED_ELEMENTS = 1 << 8
"""Constants of at least so many elements stay as they are stored, if that takes less memory than their elements."""


class NotAKernel(Exception):
    """The operation is computed in another way than by kernels."""


Missing = Callable[[Expr], str]
"""Returns the part of an expression that a back end cannot compute, "" if it can compute all."""


class GraphBuilder:
    """Adds operations to a graph. Names of tensors are unique numbers; `inputs` are the values from outside.

    The graph computes the operations for sizes that meet the `constraints`. Of those of kernels, it has none of which a
    back end says that something is `missing`.
    """

    def __init__(self, missing: Missing = lambda _: "") -> None:
        self._missing = missing
        self.graph = KernelGraph()
        self.inputs: list[Value] = []
        self.constraints: dict[Constraint, None] = {}
        # Sizes that constraints fix.
        self._fixed: dict[str, int] = {}
        self._names: dict[Value, str] = {}
        # Those of all graphs, if operations are added to one after another.
        self._specs: dict[str, TensorSpec] = {}
        self._constants: dict[str, Array] = {}
        self._count = 0

    def input(self, value: Value) -> str:
        """Returns the name of a value from outside, which becomes an input."""
        name = self._names.get(value)
        if name is None:
            name = self._new_tensor("in", spec_of(value))
            self._names[value] = name
            self.inputs.append(value)
        return self._read(name)

    @property
    def value_names(self) -> Mapping[str, str]:
        """The names of values in the program by tensor, of those that have one."""
        return {tensor: v.name for v, tensor in self._names.items() if v.name}

    def load(self, value: Value, stored: Value) -> None:
        """Makes a value what another one is when it has been stored in its element type, and loaded again."""
        name, spec = self._operand(stored), spec_of(stored)
        if spec.element in (f16, bf16):
            # What is computed has more bits, as if it were read from a tensor of single precision.
            axes = indices("i", len(spec.shape))
            kernel = Kernel(axes, Cast(Tensor(name, spec.shape, f32)[axes], spec.element))
            extents = axis_extents(spec)
            name = self._new_tensor("v", spec)
            self.graph.add(KernelNode(name, kernel, extents, spec))
        self._names[value] = name

    def add(self, op: Operation) -> None:
        """Adds the nodes of an operation. Raises: NotAKernel; then no node added before reads what was added."""
        if not isinstance(op, Op) or op.regions:
            raise NotAKernel(op.name)
        if any(d.name not in _symbols_known(op) for d in defined_dims(op)):
            # A graph knows all sizes before its kernels run.
            raise NotAKernel(f"{op.name}: a size that depends on data")
        for v in (*op.operands, *op.results):
            spec_of(v)
        try:
            given = {v: self._operand(v) for v in op.operands}
            nodes = self._nodes_of(op, given)
        except (DiagnosticError, NotationError) as error:
            # It is reported when execution reaches the operation.
            raise NotAKernel(f"{op.name}: {error}") from None
        self._names.update(zip(op.results, nodes, strict=True))
        for v, name in zip(op.results, nodes, strict=True):
            node = self.graph.nodes.get(name)
            if node is not None:
                node.origins = (Origin(op.name, v.name), *node.origins[1:])

    def _operand(self, value: Value) -> str:
        """Returns the name of an operand; of a constant outside of the block, which is the same in every run, too."""
        if value in self._names:
            return self._read(self._names[value])
        data = known_data(value)
        if data is not None:
            name = self._names[value] = self._constant(data.array(), spec_of(value))
            return name
        if _is_of_constants(value, MAX_CONSTANT_DEPTH):
            assert isinstance(value.owner, Op)
            self.add(value.owner)
            return self._names[value]
        return self.input(value)

    def _read(self, name: str) -> str:
        """Returns the name of a tensor, after making it known to the graph."""
        graph = self.graph
        if name in self._constants:
            graph.constants[name] = self._constants[name]
        elif name not in graph.nodes and name not in graph.inputs:
            graph.inputs[name] = self._specs[name]
        return name

    def _nodes_of(self, op: Op, given: Mapping[Value, str]) -> list[str]:
        """Returns the names of the results of an operation."""
        constant = _constant_of(op)
        if constant is not None:
            return [self._constant(constant, spec_of(op.results[0]))]
        kernels = self._kernels(op, given)
        if not is_concrete(op):
            self._require(infer(op).constraints)
        if op.form is Form.COMPOSITE and _has_long_rows(kernels):
            return self._nodes_of_body(op, given)
        return [self._node(op.name, kernel, spec_of(v)) for kernel, v in zip(kernels, op.results, strict=True)]

    def _nodes_of_body(self, op: Op, given: Mapping[Value, str]) -> list[str]:
        derived = infer(op)
        names = dict(
            zip(flat_values(derived.inputs), [given[v] for v in flat_values(op.grouped_operands())], strict=True)
        )
        for inner in derived.body:
            names.update(zip(inner.results, self._nodes_of(_defined(inner), names), strict=True))
        return [names[v] for v in derived.outputs]

    def _kernels(self, op: Op, given: Mapping[Value, str]) -> list[Kernel]:
        """Returns the kernels of the results of an operation, which read its operands by their names here."""
        constant = _constant_of(op)
        if constant is not None:
            return [self._constant_kernel(op, constant)]
        dims = _symbolic_dims_of(op)
        if dims is not None:
            return [_kernel_of_dims(dims, spec_of(op.results[0]))]
        kernel = op.kernel_of_sizes()
        if kernel is not None:
            return [kernel]
        if op.form not in (Form.KERNEL, Form.COMPOSITE) or (op.form is Form.COMPOSITE and op.infers_types):
            raise NotAKernel(op.name)
        derived = infer(op)
        if derived.is_data_dependent:
            raise NotAKernel(op.name)
        if op.form is Form.KERNEL:
            operands = named_operands(op, [given[v] for v in op.operands])
            return [
                Kernel(k.axes, reading(k.body, operands), tuple(extents.items()))
                for k, extents in zip(derived.kernels, derived.extents, strict=True)
            ]
        names = dict(
            zip(flat_values(derived.inputs), [given[v] for v in flat_values(op.grouped_operands())], strict=True)
        )
        made: dict[str, Kernel] = {}
        for inner in derived.body:
            for v, kernel in zip(inner.results, self._kernels(_defined(inner), names), strict=True):
                names[v] = self._new_name("t")
                made[names[v]] = kernel
        outputs = [(v, names[v]) for v in derived.outputs]
        return [fuse(made[n], made) if n in made else copy_of(spec_of(v), n) for v, n in outputs]

    def _require(self, constraints: Iterable[Constraint]) -> None:
        for c in constraints:
            self.constraints[c] = None
            for dim, size in ((c.lhs, c.rhs), (c.rhs, c.lhs)):
                name = plain_symbol(dim)
                if c.relation == "==" and name is not None and isinstance(size, int) and not c.unless_empty:
                    self._fixed[name] = size

    def _node(self, operation: str, kernel: Kernel, spec: TensorSpec) -> str:
        extents, _ = ranges(kernel)
        extents = {i: self._fixed.get(plain_symbol(n) or "", n) for i, n in extents.items()}
        shape = [extents.get(plain(a) or "", 1) for a in kernel.axes]
        different = [(n, d) for n, d in zip(shape, spec.shape, strict=True) if n != d]
        if any(isinstance(n, int) and isinstance(d, int) for n, d in different):
            raise NotAKernel(f"{operation}: a result of shape {shape}, declared as {list(spec.shape)}")
        self._require([Constraint(n, "==", d, "the declared size of a result") for n, d in different])
        name = self._new_tensor("v", spec)
        # Numbers bound no index of a join.
        kernel = self._with_numbers(Kernel(kernel.axes, with_extents(kernel.body, extents)))
        node = KernelNode(name, Kernel(kernel.axes, kernel.body), extents, spec, (Origin(operation),))
        folded = self._folded(node)
        if folded is not None:
            self._constants[name] = folded
            self._read(name)
        else:
            self._require_positions(operation, node)
            if missing := self._missing(node.kernel.body):
                raise NotAKernel(f"{operation}: {missing}")
            self.graph.add(node)
        return name

    def _require_positions(self, operation: str, node: KernelNode) -> None:
        """Requires that positions have 32 bits. Raises: NotAKernel if some do not, or if addresses are long."""
        own = Tensor(node.name, node.spec.shape, node.spec.element)[node.kernel.axes]
        if any(has_long_address(a) for a in (own, *node.accesses)):
            raise NotAKernel(f"{operation}: addresses are long expressions of symbols")
        for d in dict.fromkeys(position_magnitudes(node.kernel, node.extents)):
            if not isinstance(d, int):
                self._require([Constraint(d, "<=", LARGEST, "the largest position")])
            elif d > LARGEST:
                raise NotAKernel(f"{operation}: positions up to {d}")

    def _with_numbers(self, kernel: Kernel) -> Kernel:
        """Returns the kernel with constants of one element as numbers."""

        def number(a: Access) -> Expr:
            array = self.graph.constants.get(a.tensor.name)
            if array is None or array.size != 1 or a.tensor.steps or array.dtype.kind == "c":
                return a
            return Const(array.reshape(-1)[0].item(), a.dtype)

        return Kernel(kernel.axes, replace_accesses(kernel.body, number), kernel.extents)

    def _folded(self, node: KernelNode) -> Array | None:
        """Returns the elements of a node that only reads constants; None for others."""
        reads = node.reads
        dims = [*node.extents.values(), *node.spec.shape]
        if not all(isinstance(d, int) for d in dims) or any(r not in self.graph.constants for r in reads):
            return None
        shape = [d for d in node.spec.shape if isinstance(d, int)]
        if not reads or node.symbols() or prod(shape) > FOLDED_ELEMENTS:
            return None
        if node.is_view and prod(shape) > COPIED_ELEMENTS and not any(_pads(a) for a in node.accesses):
            return None
        if prod(shape) >= STORED_ELEMENTS and self.graph.decodes(node):
            stored = sum([self.graph.constants[r].nbytes for r in reads])
            if stored < prod(shape) * compute_dtype(node.spec.element).itemsize:
                return None
        return evaluated(node, self.graph.constants)

    def _constant(self, array: Array, spec: TensorSpec) -> str:
        name = self._new_tensor("c", spec)
        self._constants[name] = array
        return self._read(name)

    def _constant_kernel(self, op: Op, array: Array) -> Kernel:
        """Returns a kernel for a constant inside of a composite: a number, or a read of a constant of the graph."""
        spec = spec_of(op.results[0])
        axes = indices("i", array.ndim)
        if array.size > 0 and array.dtype.kind != "c" and bool(np.all(array == array.reshape(-1)[0])):
            body: Expr = Const(array.reshape(-1)[0].item(), spec.element)
        else:
            body = Tensor(self._constant(array, spec), spec.shape, spec.element)[axes]
        return Kernel(axes, body, tuple([(f"i{n}", size) for n, size in enumerate(array.shape)]))

    def _new_tensor(self, prefix: str, spec: TensorSpec) -> str:
        name = self._new_name(prefix)
        self._specs[name] = spec
        return name

    def _new_name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"


def _is_of_constants(value: Value, depth: int) -> bool:
    """Returns whether a value is computed from constants by few operations, and is small."""
    op = value.owner
    if not isinstance(op, Op) or op.form is not Form.KERNEL or not op.operands or depth == 0:
        return False
    type = value.type
    if not isinstance(type, TensorType) or not type.is_static or known_count(type.static_shape) > FOLDED_ELEMENTS:
        return False
    return all(known_data(v) is not None or _is_of_constants(v, depth - 1) for v in op.operands)


def _symbols_known(op: Op) -> set[str]:
    """Returns the symbols in operands whose elements are sizes."""
    return {s for v in op.operands for d in known_dims(v) or () for s in symbols(d)}


def _defined(op: Operation) -> Op:
    if not isinstance(op, Op):
        raise NotAKernel(op.name)
    return op


def _pads(a: Access) -> bool:
    return any(not isinstance(view, Flat) for view, _ in a.tensor.steps)


def _constant_of(op: Op) -> Array | None:
    """Returns the elements of a constant; None for other operations."""
    if op.form is Form.KERNEL and _is_large(op):
        return None
    if op.form is not Form.STRUCTURAL:
        data = known_data(op.results[0]) if len(op.results) == 1 else None
        return None if data is None else data.array()
    if len(op.results) == 1 and _symbolic_dims_of(op) is not None:
        return None
    array = constant_array(op, {}) if len(op.results) == 1 else None
    if array is None:
        raise NotAKernel(op.name)
    return array


def _is_large(op: Op) -> bool:
    """Returns whether a result is stored in a form of its own, rather than as its elements."""
    return all(known_count(spec_of(v).shape) >= STORED_ELEMENTS for v in op.results)


def _symbolic_dims_of(op: Op) -> tuple[Dim, ...] | None:
    """Returns the elements of a constant of dims that are not all known before running; None for other operations."""
    is_computed = op.form in (Form.STRUCTURAL, Form.ALGORITHM)
    dims = known_dims(op.results[0]) if is_computed and len(op.results) == 1 else None
    return None if dims is None or all(isinstance(d, int) for d in dims) else dims


def _kernel_of_dims(dims: Sequence[Dim], spec: TensorSpec) -> Kernel:
    """Returns the kernel of a constant of dims."""
    numbers = [lift(d, spec.element) for d in dims]
    if not spec.shape:
        return Kernel((), numbers[0])
    (i,) = indices("i", 1)
    return Kernel((i,), join(i, numbers, [1] * len(numbers)), (("i0", len(numbers)),))


def _has_long_rows(kernels: Sequence[Kernel]) -> bool:
    """Returns whether a kernel folds more elements than the nearest cache holds."""
    for kernel in kernels:
        extents = dict(kernel.extents)
        for e in walk(kernel.body):
            if isinstance(e, Fold) and known_count([extents.get(i, 1) for i in e.over]) > LONG_ROW:
                return True
    return False


def spec_of(value: Value) -> TensorSpec:
    """Returns the shape and element type of a value. Raises: NotAKernel for what is not a tensor of known rank."""
    type = value.type
    if not isinstance(type, TensorType) or type.shape is None:
        raise NotAKernel(str(type))
    dims = [d for d in type.shape if d is not None]
    kind, bits = type.element.kind, type.element.bits
    if len(dims) < len(type.shape) or kind not in ("bool", "int", "uint", "float") or (kind == "float" and bits < 16):
        raise NotAKernel(str(type))
    return TensorSpec(tuple(dims), type.element)
