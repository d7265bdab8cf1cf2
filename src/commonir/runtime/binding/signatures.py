"""Shapes of inputs that the signature of a function correlates by wildcards, which tensor types cannot express.

The inputs share the names in a signature: in `[n, m*], [m*]` the shape of the second is that of the first without its
left-most axis. Source: Common IR specification, tensor shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from commonir.base.codes import FAILED_ASSERTION, WRONG_ATTRIBUTE, WRONG_INPUT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.interface import NO_PORT, Port
from commonir.ir.module import Function
from commonir.ir.types import ELEMENT_TYPES, ListType, OptionalType, TensorType, TupleType, Type
from commonir.notation import NotationError
from commonir.ods import Op, traits
from commonir.ods.declared_types import (
    DeclaredType,
    ListOf,
    Mismatch,
    OptionalOf,
    TensorOf,
    TupleOf,
    Unification,
    as_declared,
    declared_type,
)
from commonir.ods.patterns import Pattern
from commonir.runtime.binding.ports import Shapes, named_inputs, names_of
from commonir.runtime.values import is_array, is_list
from commonir.symbolic import evaluate, symbol

_ANY = "f32"
"""A placeholder for the element type where only shapes matter."""


class Signature:
    """The shapes that a function declares for its inputs, unified with actual shapes."""

    def __init__(self, function: Function) -> None:
        inputs = named_inputs(function)
        plain = [as_declared(type) for _, type, _ in inputs]
        self.patterns: dict[str, Pattern] = {}
        self.declared_texts: dict[str, str] = {}
        for (name, _, port), type_pattern in zip(inputs, plain, strict=True):
            declared = type_in(name, port) or type_pattern
            if isinstance(declared, TensorOf):
                self.patterns[name] = declared.pattern
            if port.declared:
                self.declared_texts[name] = port.declared
        self._unification = Unification({}, ())

    def unify(self, name: str, shape: Sequence[int]) -> None:
        """Unifies the shape of an input. Raises: Mismatch or NotationError when it contradicts others."""
        pattern = self.patterns.get(name)
        if pattern is not None:
            self._unification.match(TensorOf(pattern), TensorType(ELEMENT_TYPES[pattern.element], tuple(shape)))

    def shape(self, name: str, dims: Mapping[str, int], default: int) -> tuple[int, ...]:
        """Returns an allowed shape of an input. Unbound names are taken from `dims`, else `default`; a wildcard becomes
        one axis.
        """
        out: list[int] = []
        for dim, is_many in self.patterns[name].dims or ():
            text = f"{dim}*" if is_many else dim
            resolved = self._unification.resolved(Pattern(f"{_ANY}[{text}]")).shape
            free = default if is_many else dims.get(dim, default)
            out += (free,) if resolved is None else [free if d is None else evaluate(d, {}) for d in resolved]
        return tuple(out)


def type_in(name: str, port: Port) -> DeclaredType | None:
    """Returns the type with wildcards that a port declares, if any. Raises: DiagnosticError (E0505) if it is none."""
    try:
        return declared_type(port.declared) if port.declared else None
    except ValueError as error:
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, f"the declared type of '{name}': {error}")) from None


def with_ranks(type: Type, declared: DeclaredType | None) -> Type:
    """Returns a type in which tensors of unknown rank have the declared dims; a wildcard becomes one axis."""
    match type, declared:
        case TensorType(shape=None), TensorOf(pattern=pattern) if pattern.dims is not None:
            return type.with_shape(
                tuple([None if many else int(name) if name.isdigit() else symbol(name) for name, many in pattern.dims])
            )
        case (ListType(), ListOf()) | (OptionalType(), OptionalOf()):
            return type.with_parts((with_ranks(type.element, declared.element),))
        case TupleType(), TupleOf():
            return type.with_parts(tuple(map(with_ranks, type.elements, declared.elements)))
        case _:
            return type


def signature_faults(function: Function, shapes: Shapes) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each input whose shape contradicts the wildcards of the signature."""
    if not any(port.declared for port in function.input_ports.values()):
        return
    signature = Signature(function)
    for name, shape in shapes.items():
        try:
            signature.unify(name, shape)
        except (Mismatch, NotationError) as error:
            explicit = [f"'{n}' {text}" for n, text in signature.declared_texts.items()]
            text = f"input '{name}' of shape {list(shape)}: {error}"
            yield Diagnostic(WRONG_INPUT, text, notes=[f"declared types: {', '.join(explicit)}"])


def has_declared_lists(function: Function) -> bool:
    """Returns whether a function promises the shapes of what is in lists that it takes or returns."""
    promises = isinstance(function, Op) and function.has_trait(traits.PromisesShapes)
    return promises and any(v.type.parts for v in (*function.inputs, *function.outputs))


def result_faults(
    function: Function, inputs: Mapping[str, object], outputs: Mapping[str, object]
) -> Iterator[Diagnostic]:
    """Yields a diagnostic for each output with a tensor of another shape than the signature declares."""
    unification = Unification({}, ())
    groups = (
        (names_of(function), function.inputs, function.input_ports, inputs),
        (function.output_names, function.outputs, function.output_ports, outputs),
    )
    for names, values, ports, given in groups:
        for name, v in zip(names, values, strict=True):
            port = ports.get(name, NO_PORT)
            declared = type_in(name, port) or as_declared(v.type)
            for pattern, shape in _shapes_in(declared, given.get(name)):
                try:
                    unification.match(TensorOf(pattern), TensorType(ELEMENT_TYPES[pattern.element], shape))
                except (Mismatch, NotationError) as error:
                    text = f"the declared types do not hold: '{name}' has a tensor of shape {list(shape)}: {error}"
                    yield Diagnostic(FAILED_ASSERTION, text, notes=[f"declared type: {declared}"])


def _shapes_in(declared: DeclaredType, value: object) -> Iterator[tuple[Pattern, tuple[int, ...]]]:
    """Yields the shapes of the tensors in a value, each with what is declared of it."""
    match declared:
        case TensorOf(pattern=pattern) if is_array(value) and pattern.element in ELEMENT_TYPES:
            yield pattern, value.shape
        case ListOf(element=element) if is_list(value):
            for v in value:
                yield from _shapes_in(element, v)
        case OptionalOf(element=element) if value is not None:
            yield from _shapes_in(element, value)
        case TupleOf(elements=elements) if is_list(value):
            for part, v in zip(elements, value, strict=False):
                yield from _shapes_in(part, v)
        case _:
            return


def free_dims(function: Function) -> Iterator[str]:
    """Yields the names of dimensions in types with wildcards, which users may choose."""
    for name, port in function.input_ports.items():
        declared = type_in(name, port)
        for leaf in () if declared is None else declared.leaves():
            yield from (name for name, is_many in leaf.dimensions if not is_many and not name.isdigit())


def drawn_shapes(
    function: Function, shapes: Shapes, dims: Mapping[str, int], default: int
) -> dict[str, tuple[int, ...]]:
    """Returns shapes for the missing inputs whose types have wildcards, consistent with all other shapes."""
    if not any(port.declared for port in function.input_ports.values()):
        return {}
    signature = Signature(function)
    all_shapes = dict(shapes)
    for name, type, _ in named_inputs(function):
        if name not in all_shapes and type.shape is not None:
            all_shapes[name] = tuple([default if d is None else evaluate(d, dims) for d in type.shape])
    out: dict[str, tuple[int, ...]] = {}
    try:
        for name, shape in all_shapes.items():
            signature.unify(name, shape)
        for name in signature.declared_texts:
            if name not in all_shapes and name in signature.patterns:
                out[name] = signature.shape(name, dims, default)
                signature.unify(name, out[name])
    except (Mismatch, NotationError):
        pass  # reported when the inputs are bound
    return out
