"""The definitions of a TableGen file: dialects of operations, and the facts that rewrite rules need from its records.

Source: MLIR operation definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.ir.attributes import Attribute
from commonir.ir.types import Type
from commonir.ods.dialect import Dialect, Dialects
from commonir.ods.fields import Field
from commonir.ods.from_records.attributes import AttributeCheck, Attributes
from commonir.ods.from_records.cpp_classes import BUILTIN, Test
from commonir.ods.from_records.enumerations import faults_of_enumeration
from commonir.ods.from_records.expressions import compiled
from commonir.ods.from_records.legacy import DefiningOlder
from commonir.ods.from_records.operations import Defining, LoadContext, define, name_of, operation_classes
from commonir.ods.from_records.parameters import forms_of
from commonir.ods.from_records.predicates import Predicates
from commonir.ods.from_records.prelude import OLDER
from commonir.ods.from_records.references import Others
from commonir.ods.from_records.types import Types, defined_classes
from commonir.ods.from_records.values import finding, is_a, text_of, wrong
from commonir.ods.operation import Op
from commonir.ods.patterns import TypeConstraint
from commonir.tablegen import Record, Records

Check = Callable[[type[Op]], Iterable[Diagnostic]]
"""Returns the faults of a definition."""


class Loaded:
    """The definitions of the records of one file.

    `definitions` are those of operations by record name, `dialects` their dialects. `declared` are the records of
    operations that a file in the older form uses without defining them. `check` returns further faults of a definition.

    Raises: DiagnosticError with all faults of all records.
    """

    def __init__(
        self,
        records: Records,
        dialects: Dialects,
        directives: AbstractSet[str] | None = None,
        declared: Sequence[str] = (),
        check: Check | None = None,
    ) -> None:
        self.records = records
        self.declared = tuple(declared)
        classes = {**defined_classes(records), **BUILTIN}
        predicates = Predicates(classes)
        types = Types(records, predicates)
        self._types = types
        self._predicates = predicates
        self._attributes = Attributes(types, predicates)
        definitions = records.derived_from(OLDER if OLDER in records.classes else "Op")
        by_name = {record.name_text: record for record in definitions}

        def found(name: str) -> tuple[Record, Mapping[str, Field]] | None:
            record = by_name.get(name)
            return None if record is None else (record, _class_for(record)(record, context, None).fields)

        classes_of_operations = operation_classes(definitions, dialects)
        context = LoadContext(types, self._attributes, predicates, classes_of_operations, Others(found), directives)
        faults: list[Diagnostic] = []
        self.definitions: Mapping[str, type[Op]] = MappingProxyType(_defined(definitions, context, dialects, faults))
        self.forms = forms_of(records, faults)
        for record in records.derived_from("EnumInfo"):
            faults += [finding(record, f"'{record.name_text}': {each}") for each in faults_of_enumeration(record)]
        if check is not None:
            faults += [fault for definition in self.definitions.values() for fault in check(definition)]
        if faults:
            raise DiagnosticError(*sorted(faults, key=lambda d: (d.file or "", d.line or 0, d.column or 0)))
        self.dialects: tuple[Dialect, ...] = tuple(_dialects(records, self, dialects))

    # -- queries of rewrite rules

    def type_constraint(self, record: Record) -> TypeConstraint:
        """Returns the type constraint of a record."""
        return self._types.constraint(record)

    def attribute_check(self, record: Record) -> AttributeCheck:
        """Returns the check of an attribute's record."""
        return self._attributes.check(record)

    def attribute_value(self, record: Record) -> Attribute | None:
        """Returns the attribute of a record that is a case of an enumeration or a constant; None for other records."""
        return self._attributes.value(record)

    def not_understood(self, record: Record) -> tuple[str, ...]:
        """Returns the C++ conditions of a constraint that are not understood."""
        return self._predicates.of(record).unknown

    def test(self, text: str) -> Test | None:
        """Returns the test of a type or an attribute, `$_self`, for C++ code; None when it is not understood."""
        return compiled(text, self._predicates.classes)

    def type_built(self, call: str) -> Type | None:
        """Returns the type that a builder call in C++ returns; None when it is not understood."""
        return self._types.built(call)


def _class_for(record: Record) -> type[Defining]:
    """Returns the class that builds the definition of a record."""
    return DefiningOlder if is_a(record, OLDER) else Defining


def _defined(
    records: Iterable[Record], context: LoadContext, dialects: Dialects, faults: list[Diagnostic]
) -> dict[str, type[Op]]:
    """Returns definitions by record name, and adds the faults of invalid records."""
    out: dict[str, type[Op]] = {}
    names: dict[str, Record] = {}
    for record in records:
        name = name_of(record)
        try:
            if name in names:
                raise wrong(record, f"'{name}' is defined twice, also by '{names[name].name_text}'")
            names[name] = record
            own = _defined_in_mlir(name, dialects)
            if is_a(record, OLDER):
                out[record.name_text] = DefiningOlder(record, context, own).build()
            else:
                out[record.name_text] = define(record, context, own)
        except DiagnosticError as error:
            faults += error.diagnostics
    return out


def _defined_in_mlir(name: str, dialects: Dialects) -> type[Op] | None:
    """Returns the definition that an operation has already, unless it is of a format, such as those of `onnx`."""
    dialect = dialects.get(name.partition(".")[0])
    return None if dialect is None or dialect.keeps_names else dialects.find(name)


def _dialects(records: Records, loaded: Loaded, dialects: Dialects) -> Iterator[Dialect]:
    """Yields the dialects of the definitions; for an existing dialect, definitions without a record are kept."""
    by_prefix: dict[str, dict[str, type[Op]]] = {form.dialect: {} for form in loaded.forms.values()}
    for definition in loaded.definitions.values():
        by_prefix.setdefault(definition.name.partition(".")[0], {})[definition.name] = definition
    summaries = {text_of(r, "name"): text_of(r, "summary") for r in records.derived_from("Dialect")}
    for prefix, operations in by_prefix.items():
        forms = {name: form for name, form in loaded.forms.items() if form.dialect == prefix}
        own = dialects.get(prefix) or Dialect(prefix, ())
        yield own.replaced(operations.values(), forms, " ".join(summaries.get(prefix, "").split()))
