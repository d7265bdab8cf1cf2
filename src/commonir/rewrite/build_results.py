"""Builds the results of a rule for a match: detached operations, and the values that replace results.

If something cannot be built, the operations built before are erased.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonir.base.codes import RULE_FUNCTION_FAILED
from commonir.base.diagnostics import DiagnosticError
from commonir.ir.attributes import Attribute, StringAttr, attribute_of, is_sequence
from commonir.ir.locations import FileLineColLoc, LocationAttr, NameLoc, UnknownLoc, fused
from commonir.ir.operation import Operation, Value
from commonir.ir.origins import Origin
from commonir.ir.types import Type
from commonir.notation import NotationError
from commonir.ods import MlirOp, Op, are_compatible, check_operation, operations_behind
from commonir.ods.fields import Field, FieldKind
from commonir.ods.terms import Computed, LocationTerm, OperationTerm, Variable
from commonir.rewrite.sample_types import infers_its_types
from commonir.rewrite.steps import BoundAttribute, called, plain, value_of

VALUES = (FieldKind.OPERAND, FieldKind.PARAMETER)
"""The categories of fields whose values are operands."""


class Refused(Exception):
    """A result cannot be built for a match, with the reason."""


class ResultBuilder:
    """Builds the results of one match. `built` are the operations that it has built, in order.

    With `may_change_types`, replacements may have other types than the results of the matched operation.
    """

    def __init__(self, root: Op, bound: dict[str, object], *, may_change_types: bool = False) -> None:
        self.root = root
        self.may_change_types = may_change_types
        self.bound = bound
        self.built: list[Operation] = []

    def build(self, results: Sequence[object], supplements: Sequence[object]) -> tuple[Value, ...]:
        """Returns values for the results of the matched operation. Raises: Refused."""
        try:
            result = self._build(results, supplements)
        except NotationError as error:
            reason = str(error)
        except DiagnosticError as error:
            if error.diagnostics[0].code is RULE_FUNCTION_FAILED:
                self.erase_built()
                raise
            reason = error.diagnostics[0].message
        except (Refused, LookupError) as error:
            reason = str(error)
        else:
            return result
        self.erase_built()
        raise Refused(reason)

    def _build(self, results: Sequence[object], supplements: Sequence[object]) -> tuple[Value, ...]:
        types = [r.type for r in self.root.results]
        values: list[Value] = []
        for term, result_types in zip(results, types_by_term(results, types), strict=True):
            values += self.results_of(term, result_types)
        for term in supplements:
            self._supplement(term)
        if len(values) < len(types):
            raise Refused(f"{len(values)} values cannot replace the {len(types)} results of {self.root.name}")
        replacements = tuple(values[len(values) - len(types) :])
        root = self.root
        if any(v.owner is root for v in (*replacements, *(v for op in self.built for v in op.operands))):
            raise Refused(f"the replacement of {root.name} would use its results")
        for old, new in zip(root.results, replacements, strict=True):
            if old.is_used and not self._fits(old.type, new.type):
                raise Refused(f"a value of type {new.type} cannot replace a result of type {old.type}")
        return replacements

    def _fits(self, old: Type, new: Type) -> bool:
        """Returns whether a value may replace a result. A more specific type may if users infer their types again."""
        is_loose = not isinstance(self.root, MlirOp) and are_compatible(old, new)
        return old is new or self.may_change_types or is_loose

    def erase_built(self) -> None:
        """Erases the operations built so far."""
        for op in reversed(self.built):
            if op.parent is None:
                op.erase()

    # -- values

    def results_of(self, term: object, types: Sequence[Type] | None = None) -> tuple[Value, ...]:
        """Returns the values of a result term; `types` are the required types of the results of an operation."""
        if isinstance(term, OperationTerm):
            results = self._operation(term, types).results
            if term.label:
                self.bound[term.label] = results
            return results if term.pick is None else (results[term.pick],)
        if isinstance(term, Computed):
            return self._computed_values(term)
        if isinstance(term, Variable):
            return _values(value_of(term.name, self.bound))
        raise Refused(f"{term!r} has no value")

    def _computed_values(self, term: Computed) -> tuple[Value, ...]:
        values = _values(self._computed(term))
        if term.count is not None and len(values) != term.count:
            raise Refused(f"{term.name} returned {len(values)} values, not {term.count}")
        new = [op for op in operations_behind(values) if op not in self.built]
        if term.location is not None:
            for op in new:
                op.location = self._location(term.location)
        self.built += new
        if term.label:
            self.bound[term.label] = values
        return values if term.pick is None else (values[term.pick],)

    def _computed(self, term: Computed) -> object:
        arguments = [plain(self._argument(a), self.bound) for a in term.arguments]
        result = called(term.name, term.function, arguments)
        if result is None:
            raise Refused(f"{term.name} gives nothing for it")
        return result

    def _argument(self, argument: object) -> object:
        if isinstance(argument, OperationTerm):
            return self.results_of(argument)
        return self._computed(argument) if isinstance(argument, Computed) else argument

    def _supplement(self, term: object) -> None:
        if isinstance(term, Computed):
            result = called(term.name, term.function, [plain(self._argument(a), self.bound) for a in term.arguments])
            if isinstance(result, Operation | Value) or is_sequence(result):
                self.built += [op for op in operations_behind(_values(result)) if op not in self.built]
        else:
            self.results_of(term)

    # -- operations

    def _operation(self, term: OperationTerm, types: Sequence[Type] | None) -> Op:
        definition = op_class(term)
        arguments = {n: self._field(definition.layout.by_name[n], t) for n, t in term.fields.items()}
        declared = [self._type(t) for t in term.types] if term.types else types
        location = self.root.location if term.location is None else self._location(term.location)
        result = None
        if declared is not None:
            # The types declared in the program, because inferred types may have fewer known dims.
            result = definition.build(arguments, declared, location)
            wrong = [d.message for d in check_operation(result) if d.is_error]
            if wrong and self.may_change_types and not term.types and infers_its_types(definition):
                result.operands = ()
                result = None
            else:
                self.built.append(result)
                if wrong:
                    raise Refused("; ".join(wrong))
        if result is None:
            try:
                result = definition(**arguments)
            except TypeError as error:
                raise Refused(str(error)) from None
            result.location = location
            self.built.append(result)
        for name, term_value in term.extra.items():
            value = value_of(term_value.name, self.bound) if isinstance(term_value, Variable) else term_value
            value = self._computed(value) if isinstance(value, Computed) else value
            result.set_extra(name, value.attribute if isinstance(value, BoundAttribute) else attribute_of(value))
        return result

    def _field(self, field: Field, term: object) -> object:
        is_value = field.kind in VALUES
        if is_value and field.variadic and is_sequence(term):
            return tuple([v for t in term for v in self.results_of(t)])
        if is_value:
            if field.kind is FieldKind.PARAMETER and not isinstance(term, OperationTerm | Variable):
                return self._attribute(field, term)
            result = self.results_of(term)
            if field.variadic:
                return result
            if len(result) > 1 and not isinstance(term, OperationTerm):
                raise Refused(f"'{field.spelling}' is one operand, and {term!r} has {len(result)} values")
            return result[0] if result else field.absent
        return self._attribute(field, term)

    def _attribute(self, field: Field, term: object) -> object:
        result = value_of(term.name, self.bound) if isinstance(term, Variable) else term
        if isinstance(result, Computed):
            result = self._computed(result)
        try:
            if result is None:
                if not field.optional:
                    raise Refused(f"'{field.spelling}' is required")
                return None
            if isinstance(result, BoundAttribute):
                return result.to(field.type)
            if field.type is None:
                return result
            return field.type.from_attribute(result) if isinstance(result, Attribute) else field.type.coerce(result)
        except ValueError as error:
            raise Refused(f"'{field.spelling}': {error}") from None

    def _type(self, term: object) -> Type:
        result = value_of(term.name, self.bound) if isinstance(term, Variable) else term
        if isinstance(result, Computed):
            result = self._computed(result)
        if is_sequence(result) and len(result) == 1:
            result = result[0]
        if isinstance(result, Value):
            return result.type
        if isinstance(result, Type):
            return result
        raise Refused(f"{term!r} does not determine a type")

    def _location(self, term: LocationTerm) -> Origin | None:
        origins = [_origin(value_of(v.name, self.bound)) for v in term.sources]
        if not term.text and len(origins) == 1:
            return origins[0]
        if not origins:
            return NameLoc(term.text)
        return fused([_as_attribute(f) for f in origins], StringAttr(term.text) if term.text else None)


def types_by_term(results: Sequence[object], types: Sequence[Type]) -> list[Sequence[Type] | None]:
    """Returns, for each result term, the types of the results that it replaces; None if it replaces none or has its own
    types.
    """
    out: list[Sequence[Type] | None] = [None] * len(results)
    remaining = len(types)
    for n in range(len(results) - 1, -1, -1):
        count = value_count(results[n])
        if count is None:
            # Its number of values is unknown: if it is the first term, it provides all remaining values.
            count = remaining if n == 0 else 0
        term = results[n]
        if count == 0 or remaining < count:
            break
        if isinstance(term, OperationTerm) and term.pick is None and not term.types:
            out[n] = types[remaining - count : remaining]
        remaining -= count
    return out


def value_count(term: object) -> int | None:
    """Returns the number of values of a result term; None when it depends on the match."""
    if isinstance(term, OperationTerm):
        fields = op_class(term).layout.results
        is_known = term.pick is None and not any(f.variadic or f.optional for f in fields)
        return len(fields) if is_known else None if term.pick is None else 1
    if isinstance(term, Computed):
        return term.count if term.pick is None else 1
    return 1 if isinstance(term, Variable) and "__" in term.name else None


def op_class(term: OperationTerm) -> type[Op]:
    """Returns the definition of a term."""
    if not issubclass(term.definition, Op):
        raise TypeError(f"{term.definition.name} is not an operation")
    return term.definition


def _values(value: object) -> tuple[Value, ...]:
    if value is None:
        return ()
    if isinstance(value, Value):
        return (value,)
    if isinstance(value, Operation):
        return value.results
    if is_sequence(value):
        values = [v for v in value if isinstance(v, Value)]
        if len(values) == len(value):
            return tuple(values)
    raise Refused(f"{value!r} is not a value")


def _origin(location: object) -> Origin | None:
    value = location[0] if is_sequence(location) and location else location
    return value.owner.location if isinstance(value, Value) and isinstance(value.owner, Operation) else None


def _as_attribute(origin: Origin | None) -> LocationAttr:
    if isinstance(origin, LocationAttr):
        return origin
    if origin is None:
        return UnknownLoc()
    location = FileLineColLoc(origin.file, origin.line, origin.column) if origin.line else UnknownLoc()
    return NameLoc(origin.name, location) if origin.name else location
