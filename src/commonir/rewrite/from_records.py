"""Reads rewrite rules of TableGen files; the result is the same as for rules written in Python.

`Pattern` and `Pat` are read in both their forms. In today's form, all arguments of operations are specified, and of two
rules that match the same operation the one with the higher benefit is tried first, then the one whose record name comes
first. In the form of the specification, whose records have no `resultPatterns`, a source may omit the last arguments of
an operation, and the most discriminating rule is tried first. Results are complete in both forms.

Source: MLIR operation definitions, rewrite pattern description; MLIR, declarative rewrite rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from commonir.base.codes import INCOMPLETE_RULE, MALFORMED_RULE, UNKNOWN_RULE_FUNCTION
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, BoolAttr, IntegerAttr, is_sequence
from commonir.ir.operation import Value as IRValue
from commonir.ir.types import boolean
from commonir.ods import Dialects, Op, TypeConstraint
from commonir.ods.fields import Check, Field, FieldKind
from commonir.ods.from_records import Loaded
from commonir.ods.from_records.operations import name_of
from commonir.ods.from_records.prelude import OLDER
from commonir.ods.from_records.values import arguments_of, is_a, number_of, record_of, states, text_of, value_of
from commonir.ods.terms import (
    Anything,
    Computed,
    Group,
    LocationTerm,
    OperationTerm,
    Precedence,
    Restriction,
    Rewrite,
    SourceCall,
    StorageCheck,
    Variable,
)
from commonir.rewrite.matching import Compiled
from commonir.rewrite.native_calls import Call, Function, NativeCalls
from commonir.rewrite.rule_checks import check_types
from commonir.rewrite.sample_types import accepted_attributes, sampled_attributes
from commonir.tablegen import Record
from commonir.tablegen.values import Dag, DefRef, Int, List, String, Unset, Value

_NUMBERS = re.compile(r"(\d+)")
_OPERATIONS = ("Op", OLDER)
_ARGUMENT_FIELDS = (FieldKind.OPERAND, FieldKind.PARAMETER, FieldKind.ATTRIBUTE)
_NO_FUNCTIONS: Mapping[str, Function] = MappingProxyType({})
Argument = tuple[Value, str | None]


def rules_of(
    loaded: Loaded,
    dialects: Dialects,
    functions: Mapping[str, Function] = _NO_FUNCTIONS,
    *,
    is_unambiguous: bool = False,
) -> list[Rewrite]:
    """Returns the rules of records, for the definitions of their operations in `dialects`.

    `functions` are those that rules may call, by name. With `is_unambiguous`, rules of today's form are ordered as
    those of the specification: the most discriminating one is tried first, and two equally discriminating ones are an
    error.

    Raises: DiagnosticError with all errors (E0604, E0605, E0608).
    """
    calls = NativeCalls(loaded, functions)
    out: list[Rewrite] = []
    faults: list[Diagnostic] = []
    for record in patterns_in(loaded):
        try:
            rule = _RecordRule(record, loaded, dialects, calls).build()
        except DiagnosticError as error:
            faults += error.diagnostics
            continue
        out.append(rule.preceding(Precedence.DISCRIMINATION) if is_unambiguous else rule)
        try:
            Compiled(rule)
        except DiagnosticError as error:
            faults += [record.locations[0].diagnostic(d.code, d.message) for d in error.diagnostics]
            continue
        # A rule that changes types is one for a legalization.
        wrong = check_types([rule], may_change_types=True)
        faults += [record.locations[0].diagnostic(d.code, d.message) for d in wrong]
    if faults:
        raise DiagnosticError(*faults)
    return out


def patterns_in(loaded: Loaded) -> list[Record]:
    """Returns the records of rules, sorted by name as in MLIR: numbers in names compare as numbers."""
    records = {
        id(r): r
        for name in ("Pattern", "Pat")
        if name in loaded.records.classes
        for r in loaded.records.derived_from(name)
    }
    return sorted(records.values(), key=lambda r: _in_order(r.name_text))


def _in_order(name: str) -> list[tuple[int, str, int]]:
    return [(1, "", int(part)) if part.isdigit() else (0, part, 0) for part in _NUMBERS.split(name) if part]


class _Names(NamedTuple):
    """The arguments of an operation: its definition, and its fields in the order of the record."""

    definition: type[Op]
    fields: Sequence[Field]


class _RecordRule:
    """A rule defined by a record."""

    def __init__(self, record: Record, loaded: Loaded, dialects: Dialects, calls: NativeCalls) -> None:
        self.record = record
        self.loaded = loaded
        self.dialects = dialects
        self.calls = calls
        self.is_todays = "resultPatterns" in record.fields
        self._count = 0
        self._attributes: set[str] = set()

    def build(self) -> Rewrite:
        """Returns the rule. Raises: DiagnosticError."""
        source, results = self._patterns()
        location = self.record.locations[0]
        return Rewrite(
            self._operation(source, in_result=False),
            [self._result(dag) for dag in results],
            [self._restriction(dag) for dag in self._dags("constraints")],
            supplements=[self._result(dag) for dag in self._dags("supplementalPatterns")],
            benefit=self._benefit(),
            precedence=Precedence.ORDER if self.is_todays else Precedence.DISCRIMINATION,
            name="" if self.record.is_anonymous else self.record.name_text,
            position=f"{location.file.name}:{location.line}",
        )

    def _patterns(self) -> tuple[Dag, list[Dag]]:
        if self.is_todays:
            source = value_of(self.record, "sourcePattern")
            if isinstance(source, Dag):
                return source, self._dags("resultPatterns")
        results = [f.value for f in self.record.fields.values() if isinstance(f.value, Dag)]
        if len(results) != 2:
            raise self._wrong(f"a rule needs a source and a result, found {len(results)} patterns")
        return results[0], [results[1]]

    def _dags(self, name: str) -> list[Dag]:
        value = value_of(self.record, name)
        return [item for item in value.items if isinstance(item, Dag)] if isinstance(value, List) else []

    def _benefit(self) -> int:
        added = value_of(self.record, "benefitDelta")
        if not isinstance(added, Dag):
            return 0
        benefits = [value.value for value, _ in added.args if isinstance(value, Int)]
        if _operator(added) != "addBenefit" or len(benefits) != 1 or len(added.args) != 1:
            raise self._wrong("'addBenefit' takes one number")
        return benefits[0]

    def _wrong(self, message: str, code: Code = MALFORMED_RULE, help: str | None = None) -> DiagnosticError:
        name = "" if self.record.is_anonymous else f" {self.record.name_text}"
        return DiagnosticError(self.record.locations[0].diagnostic(code, f"rule{name}: {message}", help=help))

    # -- operations

    def _operation(self, dag: Dag, *, in_result: bool) -> OperationTerm:
        record = dag.op.record if isinstance(dag.op, DefRef) else None
        if record is None or not is_a(record, *_OPERATIONS):
            raise self._wrong(f"'{_operator(dag)}' is not an operation")
        label, pick = _label(dag.op_name)
        arguments, types, location = self._directives(dag, in_result=in_result)
        loaded = self.loaded.definitions.get(record.name_text)
        definition = self.dialects.find(name_of(record)) or loaded
        if definition is None:
            raise self._wrong(f"no dialect defines {name_of(record)}")
        if definition is loaded and not states(record, "arguments"):
            operands, extra = self._undeclared(definition, arguments, in_result=in_result)
            return OperationTerm(
                definition, operands, label=label, extra=extra, types=types, location=location, pick=pick
            )
        names = self._names(record, definition)
        terms: dict[str, object] = {}
        swaps: list[tuple[str, str]] = []
        fields = self._count_arguments(names, arguments, in_result=in_result)
        for argument, fields_of in zip(arguments, fields, strict=True):
            if len(fields_of) > 1:
                swaps.append((fields_of[0].name, fields_of[1].name))
                items = argument[0].args if isinstance(argument[0], Dag) else ()
                pairs = list(zip(items, fields_of, strict=True))
            else:
                pairs = [(argument, fields_of[0])]
            for item, field in pairs:
                terms[field.name] = self._argument(item, field, definition, in_result=in_result)
        return OperationTerm(definition, terms, label=label, swaps=swaps, types=types, location=location, pick=pick)

    def _names(self, record: Record, definition: type[Op]) -> _Names:
        fields = {f.spelling: f for f in definition.layout.arguments}
        if not states(record, "arguments"):
            # The record only identifies the operation: a dialect defines it.
            return _Names(definition, [f for f in fields.values() if f.kind in _ARGUMENT_FIELDS])
        listed = [names for _, names in arguments_of(record, "arguments")]
        missing = [names for names in listed if names not in fields]
        if missing:
            raise self._wrong(f"{definition.name} has no '{missing[0]}' here; it is defined with {', '.join(fields)}")
        return _Names(definition, [fields[names] for names in listed])

    def _undeclared(
        self, definition: type[Op], arguments: Sequence[Argument], *, in_result: bool
    ) -> tuple[dict[str, object], dict[str, object]]:
        """Returns the arguments of an operation whose record declares none; attributes have the names used in the
        rule.
        """
        if len(definition.layout.inputs) != 1:
            message = f"the record of {definition.name} declares no arguments, found {len(arguments)}"
            raise self._wrong(message, help=f"define {definition.name} with its arguments")
        (field,) = definition.layout.inputs
        operands: list[object] = []
        attributes: dict[str, object] = {}
        for value, name in arguments:
            if self._is_attribute(value, name):
                if not name:
                    message = f"the name of the attribute {value} of {definition.name} is not known"
                    raise self._wrong(message, help=f"define {definition.name} with its arguments")
                attributes[name] = self._argument((value, name), field, definition, in_result=in_result)
            else:
                operands.append(self._argument((value, name), field, definition, in_result=in_result))
        return {field.name: tuple(operands)}, attributes

    def _is_attribute(self, value: Value, name: str | None) -> bool:
        """Returns whether an argument of an operation whose record declares none is an attribute."""
        if isinstance(value, DefRef):
            is_one = is_a(value.record, "Attr", "AttrConstraint", "EnumCase")
            self._attributes |= {name} if is_one and name else set()
            return is_one
        return isinstance(value, Unset) and name in self._attributes

    def _directives(self, dag: Dag, *, in_result: bool) -> tuple[list[Argument], list[object], LocationTerm | None]:
        """Returns the arguments of an operation without the trailing directives for types and locations."""
        arguments = list(dag.args)
        types: list[object] = []
        location: LocationTerm | None = None
        while arguments and isinstance(last := arguments[-1][0], Dag) and _operator(last) in ("returnType", "location"):
            if not in_result:
                raise self._wrong(f"'{_operator(last)}' applies to results, not to sources")
            arguments.pop()
            if _operator(last) == "location":
                location = self._location(last)
            else:
                types = [self._type(value, name) for value, name in last.args]
        return arguments, types, location

    def _count_arguments(
        self, names: _Names, arguments: Sequence[Argument], *, in_result: bool
    ) -> list[Sequence[Field]]:
        """Returns the fields for each argument."""
        out: list[Sequence[Field]] = []
        position = 0
        for value, _ in arguments:
            count = 1
            if isinstance(value, Dag) and _operator(value) == "either":
                count = len(value.args)
                if in_result or count != 2:
                    raise self._wrong("'either' is of two operands of a source")
            fields = names.fields[position : position + count]
            if count > 1 and any(f.kind is FieldKind.ATTRIBUTE for f in fields):
                spelled = next(f.spelling for f in fields if f.kind is FieldKind.ATTRIBUTE)
                raise self._wrong(f"'either' is of two operands, and '{spelled}' is an attribute")
            out.append(fields)
            position += count
        name, count_declared = names.definition.name, len(names.fields)
        if position > count_declared or (self.is_todays and position != count_declared):
            raise self._wrong(f"{name} has {count_declared} arguments, {position} are given")
        if in_result and position < count_declared:
            missing = ", ".join([f"'{f.spelling}'" for f in names.fields[position:] if f.is_required])
            if missing:
                raise self._wrong(f"{name} is made without {missing}", INCOMPLETE_RULE)
        return out

    # -- arguments

    def _argument(self, argument: Argument, field: Field, definition: type[Op], *, in_result: bool) -> object:
        value, name = argument
        if isinstance(value, Unset):
            return self._variable(name, in_result=in_result)
        if isinstance(value, Dag):
            return self._nested(value, name, field, definition, in_result=in_result)
        if isinstance(value, DefRef):
            self._check_constant(value.record, field, definition)
            if in_result:
                return self._result_term(value.record, name)
            return self._source_constraint(value.record, name)
        raise self._wrong(f"'{field.spelling}' of {definition.name} cannot be {value}")

    def _variable(self, name: str | None, *, in_result: bool) -> Variable | Anything:
        if name is None or name == "_":
            if in_result:
                raise self._wrong("a result says what it is made of: `$_` stands for nothing", INCOMPLETE_RULE)
            return Anything()
        return Variable(name)

    def _nested(self, dag: Dag, name: str | None, field: Field, definition: type[Op], *, in_result: bool) -> object:
        operator = _operator(dag)
        if operator == "variadic":
            if not field.variadic:
                raise self._wrong(f"'{field.spelling}' of {definition.name} is not variadic")
            items = [self._argument(a, field, definition, in_result=in_result) for a in dag.args]
            label = dag.op_name or name
            return Group(items, label) if label and not in_result else tuple(items)
        record = dag.op.record if isinstance(dag.op, DefRef) else None
        if record is not None and is_a(record, "NativeCodeCall"):
            return self._computed(dag, record) if in_result else self._source_call(dag, record)
        return self._operation(dag, in_result=in_result)

    def _fresh(self, name: str | None) -> str:
        """Returns a name if there is one, else a unique one that no rule can use."""
        if name and name != "_":
            return name
        self._count += 1
        return f"#{self._count}"

    def _source_constraint(self, record: Record, name: str | None) -> object:
        """Returns the constraint of a source on an operand or attribute."""
        if is_a(record, "NativeCodeCall"):
            raise self._wrong(f"'{record.name_text}' without arguments is only allowed in a result, not in a source")
        literal = self._literal(record)
        if literal is not None:
            if name in (None, "_"):
                return literal
            return Variable(self._fresh(name), StorageCheck(str(literal), lambda a: a is literal))
        return Variable(self._fresh(name), self._constraint(record))

    def _check_constant(self, record: Record, field: Field, definition: type[Op]) -> None:
        """Refuses a constant whose value is not understood, but whose type is never that of an attribute."""
        constraint = record_of(record, "attr") if is_a(record, "ConstantAttr") else None
        if constraint is None or field.kind is not FieldKind.ATTRIBUTE or field.type is None:
            return
        if self.loaded.attribute_value(record) is not None:
            return
        check = self.loaded.attribute_check(constraint)
        accepted, own = accepted_attributes(field), sampled_attributes(StorageCheck(check.summary, check.admits))
        if accepted and own and accepted.isdisjoint(own):
            text = text_of(record, "value") or record.name_text
            expected = f"'{field.spelling}' of {definition.name} must be {field.type.name}"
            raise self._wrong(f"{expected}, and the constant '{text}' is {check.summary}")

    def _literal(self, record: Record) -> Attribute | None:
        result = self.loaded.attribute_value(record)
        if result is None and is_a(record, "ConstantAttr", "ConstantProp", "EnumCase"):
            text = text_of(record, "value") or record.name_text
            message = f"the constant '{text}' is C++ that is not understood"
            raise self._wrong(message, UNKNOWN_RULE_FUNCTION, "write the number or the name of the case")
        # In MLIR, all integers of type i1 are bools.
        if isinstance(result, IntegerAttr) and result.type is boolean:
            return BoolAttr(result.value != 0)
        return result

    def _constraint(self, record: Record) -> TypeConstraint | Check:
        """Returns a constraint on a type or an attribute."""
        not_understood = self.loaded.not_understood(record)
        function = self.calls.offered(record.name_text) if not_understood else self.calls.registered(record.name_text)
        is_type = is_a(record, "TypeConstraint") and not is_a(record, "Attr", "AttrConstraint")
        summary = text_of(record, "summary") or record.name_text
        if function is not None:
            holds = function
            if is_type:
                return TypeConstraint(record.name_text, summary, lambda t: bool(holds(t)))
            return Check(summary, lambda v: bool(holds(v)))
        if not_understood:
            message = f"the condition \"{not_understood[0]}\" of '{record.name_text}' is C++ that is not understood"
            raise self._wrong(message, UNKNOWN_RULE_FUNCTION, f"register a Python function as '{record.name_text}'")
        if is_type:
            return self.loaded.type_constraint(record)
        if is_a(record, "Attr", "AttrConstraint", "Property", "PropConstraint"):
            check = self.loaded.attribute_check(record)
            return StorageCheck(check.summary, check.admits)
        raise self._wrong(f"'{record.name_text}' constrains neither an operand nor an attribute")

    # -- calls

    def _source_call(self, dag: Dag, record: Record) -> SourceCall:
        call = self.calls.call(record)
        if "$_self" not in text_of(record, "expression"):
            raise self._wrong(f"{call.name} in a source takes the operand or attribute as '$_self'")
        outputs: list[Variable | Anything] = []
        for value, name in dag.args:
            term = self._variable(name, in_result=False) if isinstance(value, Unset) else None
            if isinstance(value, DefRef):
                term = self._source_constraint(value.record, name)
                if isinstance(term, Attribute):
                    literal = term
                    term = Variable(self._fresh(None), StorageCheck(str(literal), lambda a, own=literal: a is own))
            if not isinstance(term, Variable | Anything):
                raise self._wrong(f"{call.name} returns a value or an attribute, which cannot be {value}")
            outputs.append(term)
        return SourceCall(call.name, call.function, outputs)

    def _computed(self, dag: Dag, record: Record) -> Computed:
        call = self.calls.call(record)
        label, pick = _label(dag.op_name)
        arguments, types, location = self._directives(dag, in_result=True)
        if types:
            raise self._wrong(f"{call.name} determines the types of its values itself")
        arguments = self._passed(call, [self._passed_argument(value, name) for value, name in arguments])
        count = number_of(record, "numReturns", 1)
        return Computed(call.name, call.function, arguments, label=label, pick=pick, count=count, location=location)

    def _passed(self, call: Call, arguments: Sequence[object]) -> list[object]:
        try:
            return call.arguments(arguments)
        except ValueError as error:
            raise self._wrong(str(error)) from None

    def _passed_argument(self, value: Value, name: str | None) -> object:
        if isinstance(value, Unset):
            return self._variable(name, in_result=True)
        if isinstance(value, Dag):
            record = value.op.record if isinstance(value.op, DefRef) else None
            if record is not None and is_a(record, "NativeCodeCall"):
                return self._computed(value, record)
            return self._operation(value, in_result=True)
        if isinstance(value, DefRef):
            return self._result_term(value.record, name)
        raise self._wrong(f"{value} cannot be an argument of a function")

    def _result_term(self, record: Record, name: str | None) -> object:
        """Returns the result term of a record."""
        if is_a(record, "NativeCodeCall"):
            call = self.calls.call(record)
            variables = [] if name is None else [Variable(name)]
            return Computed(call.name, call.function, variables, count=number_of(record, "numReturns", 1))
        literal = self._literal(record)
        if literal is not None:
            return literal
        if name is None or name == "_":
            raise self._wrong(f"a result says what it is made of, and '{record.name_text}' does not", INCOMPLETE_RULE)
        return Variable(name)

    # -- results and conditions

    def _result(self, dag: Dag) -> object:
        operator = _operator(dag)
        if operator == "replaceWithValue":
            if len(dag.args) != 1 or not isinstance(dag.args[0][0], Unset):
                raise self._wrong("'replaceWithValue' takes one name")
            return self._variable(dag.args[0][1], in_result=True)
        record = dag.op.record if isinstance(dag.op, DefRef) else None
        if record is not None and is_a(record, "NativeCodeCall"):
            return self._computed(dag, record)
        return self._operation(dag, in_result=True)

    def _restriction(self, dag: Dag) -> Restriction:
        record = dag.op.record if isinstance(dag.op, DefRef) else None
        if record is None or not is_a(record, "Constraint", "TypeConstraint"):
            raise self._wrong(f"'{_operator(dag)}' is not a constraint")
        arguments = [self._variable(name, in_result=True) for _, name in dag.args]
        names = ", ".join(map(str, arguments))
        text = f"{text_of(record, 'summary') or record.name_text} holds of {names}"
        function = self.calls.registered(record.name_text)
        if is_a(record, "AttrConstraint", "Attr"):
            message = f"'{record.name_text}' constrains one attribute: write `{record.name_text}:$name` in the source"
            raise self._wrong(message)
        if function is None and is_a(record, "TypeConstraint"):
            constraint = self._constraint(record)
            return Restriction(
                text,
                lambda *given: all(_holds(constraint, g) for g in given),
                arguments,
                is_stored=True,
                constraint=constraint if isinstance(constraint, TypeConstraint) else None,
            )
        if function is None:
            try:
                return Restriction(text, self.calls.condition(record), arguments, is_stored=True)
            except DiagnosticError:
                function = self.calls.offered(record.name_text)
                if function is None:
                    raise
        requested = function
        return Restriction(text, lambda *given: bool(requested(*given)), arguments)

    def _type(self, value: Value, name: str | None) -> object:
        if isinstance(value, Unset) and name:
            return Variable(name)
        if isinstance(value, String):
            result = self.loaded.type_built(value.value)
            if result is None:
                message = f'the type "{value.value}" is C++ that is not understood'
                raise self._wrong(message, UNKNOWN_RULE_FUNCTION, "compute it by a NativeCodeCall")
            return result
        if isinstance(value, Dag) and isinstance(value.op, DefRef) and is_a(value.op.record, "NativeCodeCall"):
            return self._computed(value, value.op.record)
        raise self._wrong(f"'returnType' cannot be {value}")

    def _location(self, dag: Dag) -> LocationTerm:
        text = ""
        sources: list[Variable] = []
        for n, (value, name) in enumerate(dag.args):
            if isinstance(value, String) and n == 0:
                text = value.value
            elif isinstance(value, Unset) and name:
                sources.append(Variable(name))
            else:
                raise self._wrong(f"'location' cannot be {value}")
        return LocationTerm(text, sources)


def _holds(constraint: TypeConstraint | Check, value: object) -> bool:
    """Returns whether a value, several values or an attribute satisfy a constraint."""
    if isinstance(constraint, TypeConstraint):
        values = value if is_sequence(value) else (value,)
        return all(isinstance(v, IRValue) and constraint.admits(v.type) for v in values)
    return isinstance(value, Attribute) and constraint.holds(value)


def _operator(dag: Dag) -> str:
    """Returns the name of the operator of a dag."""
    return dag.op.record.name_text if isinstance(dag.op, DefRef) else str(dag.op)


def _label(name: str | None) -> tuple[str, int | None]:
    """Returns the name of an operation, and the index of its result: `r__1` is result 1 of `r`."""
    label, mark, number = (name or "").partition("__")
    return (label, int(number)) if mark and number.isdigit() else (name or "", None)
