"""Shapes of inputs that the signature of a function correlates by wildcards, which tensor types cannot express.

The inputs share the names in a signature: in `[n, m*], [m*]` the shape of the second is that of the first without its
left-most axis. Source: Common IR specification, tensor shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from commonir.base.codes import WRONG_INPUT
from commonir.base.diagnostics import Diagnostic
from commonir.ir.module import Function
from commonir.ir.types import ELEMENT_TYPES, TensorType
from commonir.notation import NotationError
from commonir.ods.declared_types import Mismatch, TensorOf, Unification, as_declared, declared_type
from commonir.ods.patterns import Pattern
from commonir.runtime.ports import Shapes, named_inputs
from commonir.symbolic import evaluate

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
            declared = declared_type(port.declared) if port.declared else type_pattern
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


def free_dims(function: Function) -> Iterator[str]:
    """Yields the names of dimensions in types with wildcards, which users may choose."""
    for port in function.input_ports.values():
        declared = declared_type(port.declared) if port.declared else None
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
