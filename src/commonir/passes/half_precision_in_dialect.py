"""Half precision for a program that stays in the dialect of its format: every operation stays what it is.

An operation is rebuilt on operands in half precision where its definition takes them; operations that cannot, or must
not, stay in single precision between casts. Inputs, outputs, and the borders of nested blocks keep their types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from commonir.base.diagnostics import DiagnosticError, InternalError
from commonir.ir.data import Data
from commonir.ir.module import Function
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, f16, f32
from commonir.notation import NotationError
from commonir.ods import Op, attr_types, check_operation, infer
from commonir.ods.fields import FieldKind
from commonir.passes.half_precision import Constants, PrecisionLog, Reason, computes_in, halved, plain_constant


class FloatForms(ABC):
    """How a dialect writes what a change of precision adds."""

    @abstractmethod
    def cast(self, value: Value, element: ElementType) -> Op:
        """Returns a detached operation that converts a value."""

    @abstractmethod
    def is_cast(self, op: Operation) -> bool:
        """Returns whether an operation only converts elements."""

    @abstractmethod
    def constant(self, like: Op, data: Data) -> Op:
        """Returns a detached constant in the form of another."""

    @abstractmethod
    def is_compressed(self, op: Operation) -> bool:
        """Returns whether an operation is a constant that is stored in a compressed form."""


def in_half_precision_of_dialect(
    function: Function, forms: FloatForms, preserved: AbstractSet[Operation], log: PrecisionLog
) -> None:
    """Takes a function to half precision, in place, but for the operations `preserved`."""
    _Halving(function, forms, preserved, log).apply()


class _Halving:
    """The change of one function."""

    def __init__(
        self, function: Function, forms: FloatForms, preserved: AbstractSet[Operation], log: PrecisionLog
    ) -> None:
        self.function = function
        self.forms = forms
        self.preserved = preserved
        self.log = log
        self.constants = Constants(log)
        self.halves: dict[Value, Value] = {}
        self.created: dict[Operation, None] = {}
        self.names = {v.name for op in function.walk() for v in op.results} | {v.name for v in function.inputs}

    def apply(self) -> None:
        operations = [op for op in self.function.walk() if op is not self.function]
        for op in operations:
            self._operation(op)
        self._remove_unused()
        self._name_outputs()

    def _operation(self, op: Operation) -> None:
        is_stored = self.forms.is_compressed(op)
        if not isinstance(op, Op) or op.regions or not (is_stored or computes_in(op, f32)) or self.forms.is_cast(op):
            return
        if not any(map(_is_single, op.results if is_stored else op.operands)):
            return
        if op in self.preserved:
            self.log.keep(op, Reason.CHOSEN)
            return
        detail = self.constants.beyond_range(op)
        if detail:
            self.log.keep(op, Reason.RANGE, detail)
            return
        built = self._built(op)
        if isinstance(built, str):
            if not is_stored:
                self.log.keep(op, Reason.FORM, built)
            return
        if not is_stored:
            self.log.change(op)
        self._replace(op, built)

    # -- building

    def _built(self, op: Op) -> Op | str:
        """Returns an operation on operands in half precision, or why its definition does not take them."""
        if op.declares_results:
            return "its definition is not known"
        if any(not isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
            return "it takes or gives values that are not tensors"
        fixed = _fixed_operands(op)
        if op.operands and all(v in fixed for v in op.operands if _is_single(v)):
            return "its definition takes f32 only"
        new = [v for v in dict.fromkeys(op.operands) if v not in fixed and _is_single(v) and v not in self.halves]
        operands = tuple([v if v in fixed or not _is_single(v) else self._half(v) for v in op.operands])
        copy: Op = op.clone_shallow(operands, ())
        if self.forms.is_compressed(op):
            stored = {f.name: op.field_value(f) for f in op.layout.attributes if f.type is attr_types.data}
            single = {n: halved(d) for n, d in stored.items() if isinstance(d, Data) and d.element is f32}
            copy = copy.with_attributes(**single) if single else copy
        fault = _fault(copy, op)
        if fault:
            copy.operands = ()
            self._discard(new)
            return fault
        copy.location = op.location
        return copy

    def _half(self, value: Value) -> Value:
        """Returns a value in half precision; each is made once, where the value is defined."""
        result = self.halves.get(value)
        if result is not None:
            return result
        owner = value.owner
        data = plain_constant(value)
        if data is not None and isinstance(owner, Op):
            built = self.forms.constant(owner, halved(data))
        elif isinstance(owner, Op) and self.forms.is_cast(owner):
            built = self.forms.cast(owner.operands[0], f16)
        else:
            built = self.forms.cast(value, f16)
        self._insert_at(value, built)
        result = self.halves[value] = built.results[0]
        result.name = self._fresh(f"{value.name}_fp16") if value.name else ""
        return result

    def _insert_at(self, value: Value, op: Op) -> None:
        """Inserts an operation directly after the definition of a value."""
        owner = value.owner
        block = owner.parent if isinstance(owner, Operation) else owner
        if block is None:
            raise InternalError("the value is in no block")
        if isinstance(owner, Operation):
            op.location = owner.location
            block.insert_after(owner, op)
        elif block.first is not None:
            block.insert_before(block.first, op)
        else:
            block.append(op)
        self.created[op] = None

    def _replace(self, op: Op, built: Op) -> None:
        """Puts a built operation in the place of one; users that stay in single precision receive casts."""
        block = op.parent
        if block is None:
            raise InternalError("the operation is in no block")
        block.insert_before(op, built)
        for old, new in zip(op.results, built.results, strict=True):
            name, new.name = old.name, old.name
            if new.type is old.type:
                old.replace_all_uses_with(new)
                continue
            cast = self.forms.cast(new, f32)
            self._insert_at(new, cast)
            wide = cast.results[0]
            wide.name = self._fresh(f"{name}_fp32") if name else ""
            old.replace_all_uses_with(wide)
            self.halves[wide] = new
        built.update_extra(op.extra)
        op.erase()

    def _fresh(self, name: str) -> str:
        stem, number = name, 0
        while name in self.names:
            number += 1
            name = f"{stem}_{number}"
        self.names.add(name)
        return name

    # -- clearing up

    def _discard(self, values: Sequence[Value]) -> None:
        """Removes the halves of values, which were created for an operation that stays."""
        for value in values:
            cast = self.halves.pop(value).owner
            if isinstance(cast, Operation):
                cast.erase()
                del self.created[cast]

    def _remove_unused(self) -> None:
        """Removes casts and constants that nothing uses; a constant in half precision takes the name of the other."""
        for op in reversed(self.created):
            if not any(r.is_used for r in op.results):
                op.erase()
        for value, half in self.halves.items():
            owner = value.owner
            if not isinstance(owner, Operation) or owner.parent is None or value.is_used:
                continue
            if plain_constant(value) is not None or self.forms.is_cast(owner):
                half.name = value.name
                for unused in owner.erase():
                    if any(plain_constant(r) is not None for r in unused.results):
                        unused.erase()

    def _name_outputs(self) -> None:
        """Gives the outputs of the function, which are casts now, the names that they had."""
        for output in self.function.outputs:
            half = self.halves.get(output)
            if half is not None and half.owner is not None and output.owner in self.created:
                half.name, output.name = self._fresh(f"{half.name}_fp16"), half.name


def _is_single(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.element is f32


def _fixed_operands(op: Op) -> set[Value]:
    """Returns the operands that a definition takes in single precision only."""
    out: set[Value] = set()
    for f in op.layout.inputs:
        if f.pattern is None or _takes_halves(op, f.pattern.element):
            continue
        is_bound = f.kind is FieldKind.PARAMETER
        found: Value | tuple[Value, ...] | None = op.bound_value(f) if is_bound else op.as_operand(f.name)
        out.update(found if isinstance(found, tuple) else () if found is None else (found,))
    return out


def _takes_halves(op: Op, element: str) -> bool:
    """Returns whether the element type of an operand may be half precision: the name of one, or of a variable."""
    variable = op.layout.variables.get(element)
    return element != f32.name if variable is None else f16 in variable.elements


def _fault(copy: Op, op: Op) -> str:
    """Infers the types of a copy in half precision; returns why its definition does not take them, "" if it does."""
    try:
        types = infer(copy).types
    except (DiagnosticError, NotationError) as error:
        return error.diagnostics[0].message if isinstance(error, DiagnosticError) else str(error)
    for old, new, type in zip(op.results, copy.results, types, strict=True):
        if not isinstance(type, TensorType) or not isinstance(old.type, TensorType):
            return "its result is not a tensor"
        new.retype(old.type.with_element(type.element))
    return next((d.message for d in check_operation(copy) if d.is_error), "")
