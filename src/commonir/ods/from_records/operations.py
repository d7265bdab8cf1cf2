"""Builds definitions of operations from records.

A record becomes a subclass of `RecordOp` with fields like those of a definition in Python, so that the same code
constructs, verifies, prints, parses and documents its operations. If there is a Python definition with the same fields,
the new one derives from it: parts that a record leaves to C++ (a form, the types of results, a verifier) and the
meaning are those of the class.

Source: MLIR operation definitions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import chain
from keyword import kwlist
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from commonir.base.codes import (
    MALFORMED_REGION,
    VIOLATED_CONSTRAINT,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
    WRONG_RESULT_TYPE,
)
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError
from commonir.base.file_codes import NOT_EVALUABLE
from commonir.base.lazy import LazyModule
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DenseArrayAttr
from commonir.ir.operation import Region, Value
from commonir.ir.types import i32
from commonir.ods.attr_types import AttrType
from commonir.ods.definition import RESULT_SIZES
from commonir.ods.dialect import Dialects
from commonir.ods.fields import MISSING, Field, FieldKind, FieldPosition, SpelledField
from commonir.ods.from_records.attributes import Attributes
from commonir.ods.from_records.operation_checks import faults_of, is_attribute
from commonir.ods.from_records.predicates import Predicates
from commonir.ods.from_records.reference_text import Reference
from commonir.ods.from_records.references import Others, reference_of
from commonir.ods.from_records.traits import TraitContext, infers_all_in_cpp, infers_in_cpp, traits_of
from commonir.ods.from_records.types import Types, is_type
from commonir.ods.from_records.upstream_cpp import RESULT_NAMES, RESULT_TYPES, Names
from commonir.ods.from_records.upstream_forms import FORMS
from commonir.ods.from_records.values import (
    arguments_of,
    finding,
    flag_of,
    flat_traits,
    is_a,
    place_in_text,
    record_of,
    records_of,
    states,
    text_of,
    wrong,
)
from commonir.ods.from_records.verifiers import VERIFIERS
from commonir.ods.kernel_op import KernelOp
from commonir.ods.mlir_attr_types import array_of
from commonir.ods.mlir_op import MlirOp
from commonir.ods.operation import Op
from commonir.ods.patterns import TypeConstraint
from commonir.ods.traits import ReadsState, SameVariadicOperandSize, Trait, WritesState
from commonir.ods.type_rules import TypeRule, implied_types
from commonir.tablegen import Record
from commonir.tablegen.lexer import Location

if TYPE_CHECKING:
    from commonir.ods.from_records import reference_kernels
else:
    # Records without a reference need no index notation.
    reference_kernels = LazyModule("commonir.ods.from_records.reference_kernels")

_BLOCKS = re.compile(r"hasNItems(OrMore|OrLess)?\(\$_self, (\d+)\)")
_DIRECTIVE = re.compile(r"\bcustom\s*<\s*(\w+)\s*>")
_UNNAMED_RESULT = "result"
_SIZED_RESULTS = "AttrSizedResultSegments"


class BlockCount(NamedTuple):
    """The allowed number of blocks of a region."""

    field: str
    least: int
    most: int | None
    summary: str


class RecordOp(MlirOp):
    """The base of definitions from records.

    `record` is the name of the record and `place` its position, `declared_format` its assembly format, which it has
    only if all directives are known, `format_place` the position of an offset in it. With `cpp_form` its custom form is
    written in C++; `unknown` lists other C++ code that is not understood and therefore not checked, `unapplied` the
    flags of folders and canonicalizations in C++; `added` are attributes of the Python definition that the record
    lacks, `python_definition` is that definition; with `equal_results` several groups of results have equal sizes.
    """

    record: ClassVar[str] = ""
    place: ClassVar[Location | None] = None
    cpp_form: ClassVar[bool] = False
    declared_format: ClassVar[str | None] = None
    format_place: ClassVar[Callable[[int], Location] | None] = None
    unknown: ClassVar[tuple[str, ...]] = ()
    unapplied: ClassVar[tuple[str, ...]] = ()
    block_counts: ClassVar[tuple[BlockCount, ...]] = ()
    added: ClassVar[frozenset[str]] = frozenset()
    python_definition: ClassVar[type[Op] | None] = None
    equal_results: ClassVar[bool] = False
    sized_results: ClassVar[Mapping[str, TypeConstraint]] = MappingProxyType({})

    @property
    def properties(self) -> Mapping[str, Attribute]:
        result = super().properties
        if not self.added:
            return result
        unset = {f.spelling for f in self.layout.attributes if self.field_value(f) == f.default}
        return {k: v for k, v in result.items() if k not in self.added or k not in unset}

    def _result(self, field: Field, position: FieldPosition) -> object:
        fields = self.layout.results
        declared = self.layout.by_name.get(RESULT_SIZES)
        if declared is not None:
            counts = self.field_value(declared) or ()
            at, count = sum(counts[: position.group]), sum(counts[position.group : position.group + 1])
            result = self.results[at : at + count]
            return result if field.variadic else result[0] if result else None
        if not self.equal_results:
            return super()._result(field, position)
        fixed = sum(not f.variadic for f in fields)
        share = (len(self.results) - fixed) // (len(fields) - fixed)
        at = sum(share if f.variadic else 1 for f in fields[: position.group])
        return self.results[at : at + share] if field.variadic else self.results[at]

    @classmethod
    def finding(cls, code: Code, message: str, place: Location | None = None) -> Diagnostic:
        """Returns a diagnostic at a position, by default that of the record."""
        place = place or cls.place
        return Diagnostic(code, message) if place is None else place.diagnostic(code, message)

    @classmethod
    def not_folded(cls) -> Iterator[Diagnostic]:
        """Yields a note if the folders or canonicalizations of the record are C++, which is not applied."""
        if cls.unapplied:
            yield cls.finding(NOT_EVALUABLE, f"{cls.name}: not folded or canonicalized: {', '.join(cls.unapplied)}")

    def verify(self) -> Iterable[Diagnostic]:
        own = (self._wrong_groups(), self._wrong_regions(), self._wrong_results(), self._wrong_upstream())
        return chain(*own, super().verify())

    def _wrong_groups(self) -> Iterator[Diagnostic]:
        """Yields errors of operands that consist of groups, whose sizes are in an attribute."""
        for f in self.layout.inputs:
            sizes = self.attribute_dictionary.get(f.group_sizes) if f.group_sizes else None
            if not isinstance(sizes, DenseArrayAttr):
                continue
            count, total = len(self.field_value(f)), sum(map(int, sizes.values))
            if any(int(size) < 0 for size in sizes.values):
                message = f"{self.name}: '{f.group_sizes}' attribute cannot have negative elements"
                yield Diagnostic(WRONG_ATTRIBUTE, message)
            elif count != total:
                message = f"{self.name}: operand '{f.spelling}' has {count} values, '{f.group_sizes}' is for {total}"
                yield Diagnostic(WRONG_OPERAND_COUNT, message)

    def _wrong_upstream(self) -> Iterator[Diagnostic]:
        """Yields errors that upstream's C++ reports."""
        verifier = VERIFIERS.get(self.name)
        for message in () if verifier is None else verifier(self):
            yield Diagnostic(VIOLATED_CONSTRAINT, f"{self.name}: {message}")

    def _wrong_results(self) -> Iterator[Diagnostic]:
        """Yields errors of results whose segment sizes are in an attribute."""
        declared = self.layout.by_name.get(RESULT_SIZES)
        counts = () if declared is None else self.field_value(declared)
        if declared is not None and (len(counts) != len(self.layout.results) or sum(counts) != len(self.results)):
            message = f"{self.name}: '{RESULT_SIZES}' {list(counts)} does not divide {len(self.results)} results"
            yield Diagnostic(WRONG_RESULT_TYPE, message)
            return
        for f, count in zip(self.layout.results, counts, strict=False):
            if not f.variadic and count != 1 and not (f.optional and count == 0):
                expected = "at most one value" if f.optional else "one value"
                yield Diagnostic(WRONG_RESULT_TYPE, f"{self.name}: result '{f.spelling}' has {expected}, found {count}")
        groups, fixed = len(self.layout.results), sum(not f.variadic for f in self.layout.results)
        if self.equal_results and (len(self.results) < fixed or (len(self.results) - fixed) % (groups - fixed)):
            message = f"{self.name}: {len(self.results)} results do not divide into groups of equal sizes"
            yield Diagnostic(WRONG_RESULT_TYPE, message)
            return
        for name, constraint in self.sized_results.items():
            field = self.layout.by_name[name]
            values = self.field_value(field)
            for value in values if field.variadic else () if values is None else (values,):
                if not constraint.admits(value.type):
                    message = f"{self.name}: result '{field.spelling}' must be {constraint.summary}, found {value.type}"
                    yield Diagnostic(WRONG_RESULT_TYPE, message)

    def _wrong_regions(self) -> Iterator[Diagnostic]:
        fields = {f.name: f for f in self.layout.regions}
        for allowed in self.block_counts:
            for region in self._regions_of(fields[allowed.field]):
                count = len(region.blocks)
                if count < allowed.least or (allowed.most is not None and count > allowed.most):
                    message = f"{self.name}: region '{allowed.field}' failed to verify constraint: {allowed.summary}"
                    yield Diagnostic(MALFORMED_REGION, message)

    def _regions_of(self, field: Field) -> tuple[Region, ...]:
        return self.field_value(field) if field.variadic else (self.regions[self.places[field].group],)


class LoadContext(NamedTuple):
    """The shared context of the definitions of one load.

    `operations` returns names of operations by C++ class, `others` are those that references may call, `directives`
    are those allowed in formats; None for all.
    """

    types: Types
    attributes: Attributes
    predicates: Predicates
    operations: Callable[[str], str | None]
    others: Others
    directives: AbstractSet[str] | None = None


def name_of(record: Record) -> str:
    """Returns the full name of the operation of a record."""
    dialect = record_of(record, "opDialect")
    prefix = "" if dialect is None else text_of(dialect, "name")
    return f"{prefix}.{text_of(record, 'opName')}" if prefix else text_of(record, "opName")


def class_title(record: Record) -> str:
    """Returns the C++ class of an operation without namespace: `AddFOp` for the record `Arith_AddFOp`."""
    head, mark, rest = record.name_text.partition("_")
    return rest if mark and head and rest else record.name_text


def operation_classes(records: Iterable[Record], dialects: Dialects) -> Callable[[str], str | None]:
    """Returns a function from C++ classes, such as `linalg::YieldOp`, to names of operations of records or dialects."""
    out: dict[str, str] = {}
    for record in records:
        title, name = class_title(record), name_of(record)
        namespace = text_of(record, "cppNamespace").removeprefix("::").removeprefix("mlir::")
        out[f"{namespace}::{title}"] = name

    def named(cpp: str) -> str | None:
        namespace, _, title = cpp.rpartition("::")
        result = out.get(cpp)
        dialect = None if result is not None else dialects.get(namespace)
        for name, versions in dialect.operations.items() if dialect is not None else ():
            # Classes here have the name of those upstream, without `Op`.
            if f"{versions[-1].__name__}Op" == title:
                return name
        return result

    return named


def define(record: Record, context: LoadContext, own: type[Op] | None = None) -> type[RecordOp]:
    """Returns the definition of a record; `own` is a definition of the same operation in Python or from another file.

    Raises: WRONG_DEFINITION_RECORD.
    """
    faults = [finding(record, f"'{name_of(record)}': {fault}") for fault in faults_of(record)]
    if faults:
        raise DiagnosticError(*faults)
    return Defining(record, context, own).build()


class Defining:
    """Builds one definition."""

    omits_operand_types: ClassVar[bool] = False

    def __init__(self, record: Record, context: LoadContext, own: type[Op] | None) -> None:
        self.record = record
        self.context = context
        self.unknown: list[str] = []
        self.fields: dict[str, Field] = {}
        self.vague: set[str] = set()
        self.untyped: set[str] = set()
        self.vague_reasons: list[str] = []
        self.constraints: dict[str, Record] = {}
        self.sized_results: dict[str, TypeConstraint] = {}
        self.block_counts: list[BlockCount] = []
        self._reserved = frozenset([*dir(RecordOp), *kwlist])
        self.collect()
        if own is not None and issubclass(own, RecordOp):
            own = own.python_definition  # a file loaded before has the same record
        self.own = own if own is not None and _agrees(own, self.fields, self.vague) else None
        if self.own is not None:
            self._take_names(self.own)

    # -- fields

    def collect(self) -> None:
        """Builds the fields."""
        self.collect_arguments()
        if self.has_sized_results:
            self.add(RESULT_SIZES, SpelledField(RESULT_SIZES, FieldKind.ATTRIBUTE, type=array_of(i32)))
        for n, (record, name) in enumerate(arguments_of(self.record, "regions")):
            self._region(record, name or f"region{n}")
        for n, (record, arguments) in enumerate(arguments_of(self.record, "successors")):
            many, name = is_a(record, "VariadicSuccessor"), arguments or f"successor{n}"
            self.add(name, SpelledField(name, FieldKind.SUCCESSOR, variadic=many, default=() if many else MISSING))
        results = list(arguments_of(self.record, "results"))
        for n, (record, name) in enumerate(results):
            unnamed = _UNNAMED_RESULT if len(results) == 1 else f"{_UNNAMED_RESULT}{n}"
            self.add_value(record, name or unnamed, FieldKind.RESULT)
        if self.has_sized_results or self._has_equal_results:
            self._loosen_results()

    @property
    def has_sized_results(self) -> bool:
        """Whether an attribute has the segment sizes of the results."""
        return any(each.name_text == _SIZED_RESULTS for each in records_of(self.record, "traits"))

    @property
    def _has_equal_results(self) -> bool:
        return sum(f.variadic for f in self.fields.values() if f.kind is FieldKind.RESULT) > 1

    def collect_arguments(self) -> None:
        """Builds the fields of operands and attributes."""
        for n, (record, name) in enumerate(arguments_of(self.record, "arguments")):
            if not name and is_attribute(record):
                raise wrong(self.record, f"'{name_of(self.record)}': attribute '{record.name_text}' needs a name")
            self._argument(record, name or f"operand{n}")

    def add(self, name: str, field: Field) -> None:
        """Adds a field under an unused name."""
        if not name.isidentifier():
            raise wrong(self.record, f"'{self.record.name_text}': '{name}' is not a name of a field")
        if any(f.spelling == name for f in self.fields.values()) and field.kind is not FieldKind.RESULT:
            raise wrong(self.record, f"'{self.record.name_text}' has two fields of the name '{name}'")
        free = name
        while free in self._reserved or free in self.fields:
            free += "_"
        self.fields[free] = field

    def _argument(self, record: Record, name: str) -> None:
        constraint = record_of(record, "constraint") if is_a(record, "OpVariable") else None
        doc = text_of(record, "summary") if constraint is not None else ""
        inner = constraint or record
        if is_type(inner):
            self.add_value(inner, name, FieldKind.OPERAND, doc)
        elif is_a(inner, "AttrConstraint", "Attr", "Property"):
            if not is_a(inner, "DerivedAttr"):
                self._attribute(inner, name, doc)
        else:
            message = f"'{inner.name_text}' is neither an operand nor an attribute"
            raise wrong(self.record, f"argument '{name}' of '{self.record.name_text}': {message}")

    def _loosen_results(self) -> None:
        """Leaves the check of result types to `RecordOp.verify`, which knows their segment sizes."""
        for name, f in self.fields.items():
            pattern = f.pattern
            if f.kind is FieldKind.RESULT and isinstance(pattern, TypeConstraint):
                self.sized_results[name] = pattern
                only = None if f.variadic else pattern.builds
                f.pattern = TypeConstraint(
                    pattern.name,
                    pattern.summary,
                    lambda _: True,
                    only,
                    is_buildable=pattern.is_buildable and not f.variadic,
                )

    def add_value(self, record: Record, name: str, kind: FieldKind, doc: str = "") -> None:
        """Builds the field of an operand or a result."""
        if is_a(record, "OpVariable") and (constraint := record_of(record, "constraint")) is not None:
            record, doc = constraint, text_of(record, "summary")
        if not is_type(record):
            raise wrong(self.record, f"'{record.name_text}' of '{self.record.name_text}' is not a type constraint")
        many, optional = is_a(record, "Variadic"), is_a(record, "Optional")
        base = record_of(record, "baseType") if many or optional else None
        constraint = self.context.types.constraint(base or record)
        self.unknown += self.context.types.unknown(base or record)
        default: object = None if optional and kind is FieldKind.OPERAND else MISSING
        built = SpelledField(name, kind, pattern=constraint, variadic=many, optional=optional, default=default, doc=doc)
        built.group_sizes = text_of(record, "segmentAttrName") if is_a(record, "VariadicOfVariadic") else ""
        self.add(name, built)

    def _attribute(self, record: Record, name: str, doc: str) -> None:
        attributes = self.context.attributes
        check = attributes.check(record)
        self.unknown += check.unknown
        is_vague, default, elided = False, None, MISSING
        try:
            default, elided = attributes.default(record), attributes.elided(record)
        except ValueError as reason:
            self.vague_reasons.append(str(reason))
            is_vague = True
        built = SpelledField(
            name,
            FieldKind.ATTRIBUTE,
            type=check.attr_type,
            default=default,
            optional=default is None,
            check=attributes.condition(record, check.attr_type),
            doc=doc,
        )
        # Custom forms in C++ decide themselves which attributes they omit.
        built.elided = MISSING if flag_of(self.record, "hasCustomAssemblyFormat") else elided
        self.add(name, built)
        own = next(reversed(self.fields))
        self.constraints[own] = record
        if text_of(record, "storageType") == "::mlir::Attribute":
            self.untyped.add(name)
        if is_vague:
            self.vague.add(own)

    def _region(self, record: Record, name: str) -> None:
        many = is_a(record, "VariadicRegion")
        self.add(name, SpelledField(name, FieldKind.REGION, variadic=many, default=() if many else MISSING))
        predicate = record_of(record, "predicate")
        match = None if predicate is None else _BLOCKS.search(text_of(predicate, "predExpr"))
        if match is not None:
            count = int(match[2])
            least, most = {"OrMore": (count, None), "OrLess": (0, count)}.get(match[1] or "", (count, count))
            self.block_counts.append(BlockCount(next(reversed(self.fields)), least, most, text_of(record, "summary")))

    # -- merging with a Python definition

    def _take_names(self, own: type[Op]) -> None:
        """Uses the names and attribute types of the Python definition, which refers to them."""
        renamed: dict[str, Field] = {}
        new_names: dict[str, str] = {}
        for name, other in _paired(own, self.fields).items():
            field = self.fields[name]
            if field.kind is FieldKind.ATTRIBUTE:
                if name in self.vague or (field.optional and not other.optional):
                    continue
                if other.type is not None and field.type is not None:
                    field.default = _converted(field.default, field.type, other.type)
                    field.elided = _converted(field.elided, field.type, other.type)
                    field.type = other.type
                    field.check = self.context.attributes.condition(self.constraints[name], other.type)
            elif isinstance(field, SpelledField) and flag_of(self.record, "hasCustomAssemblyFormat"):
                # The custom form of the Python definition refers to these.
                field.spell(other.spelling)
                field.optional, field.default = other.optional, other.default
            renamed[other.name] = field
            new_names[name] = other.name
        self.fields = renamed
        self.block_counts = [s._replace(field=new_names[s.field]) for s in self.block_counts]

    # -- the class

    def build(self) -> type[RecordOp]:
        """Returns the definition."""
        record, in_cpp = self.record, flag_of(self.record, "hasCustomAssemblyFormat")
        declared, text = self.traits(), "" if in_cpp else self.assembly()
        bases: tuple[type[Op], ...] = (RecordOp,)
        reference = self.reference() if self.own is None else None
        if self.own is not None:
            bases = (RecordOp, self.own)
            declared += _own_traits(self.own, declared, infers=infers_in_cpp(record))
            if in_cpp and self.own.custom_form is None:
                text = self.own.assembly
        if reference is not None:
            bases = (RecordOp, KernelOp)
        form = FORMS.get(name_of(record)) if in_cpp and self.own is None else None
        has_form = not in_cpp or bool(text) or form is not None
        self.unknown += self.unchecked(declared, has_form=has_form, has_reference=reference is not None)
        unknown, unapplied = tuple(dict.fromkeys(self.unknown)), self.unapplied()
        remark = f"\n\nNot checked, because it is stated in C++: {'; '.join(unknown)}." if unknown else ""
        if unapplied:
            remark += f"\n\nNot applied, because it is C++: {', '.join(unapplied)}."
        members: dict[str, object] = {
            "__slots__": (),
            "__doc__": f"{self.documentation().rstrip()}{remark}",
            "record": record.name_text,
            "place": record.locations[0],
            "cpp_form": in_cpp,
            "declared_format": self.declared_format(),
            "format_place": partial(place_in_text, record, "assemblyFormat"),
            "infers_in_cpp": infers_all_in_cpp(record),
            "untyped_attributes": frozenset(self.untyped),
            "omits_operand_types": self.omits_operand_types,
            "unknown": unknown,
            "unapplied": unapplied,
            "added": self._added(),
            "python_definition": self.own,
            "sized_results": MappingProxyType(self.sized_results),
            "equal_results": self._has_equal_results and not self.has_sized_results,
            "block_counts": tuple(self.block_counts),
            **self.fields,
        }
        if reference is not None:
            results = [f.spelling for f in self.fields.values() if f.kind is FieldKind.RESULT]
            members["reference"] = reference_kernels.reference_method(reference, results)
        if name_of(record) in RESULT_TYPES:
            members["infer_results"] = RESULT_TYPES[name_of(record)]
        results = [name for _, name in arguments_of(record, "results")]
        # Results have their declared names, unless one of several has none.
        named = RESULT_NAMES.get(name_of(record)) or (() if len(results) > 1 and not all(results) else None)
        if named is not None:
            members["suggested_names"] = _name_suggestions(named)
        if not in_cpp or self.own is None:
            members["custom_form"] = form
        if any(each.name_text == "NoTerminator" for each in flat_traits(record)):
            members["ends_blocks"] = False
        keywords: dict[str, Any] = {"name": name_of(record), "traits": declared, "assembly": " ".join(text.split())}
        title = class_title(record).removesuffix("Op") or record.name_text
        return _class(RecordOp, title, bases, members, keywords)

    def reference(self) -> Reference | None:
        """Returns the reference of the record in index notation; None if it has none.

        Raises: WRONG_DEFINITION_RECORD at its place in the file.
        """
        return reference_of(self.record, self.fields, self.context.others)

    def unchecked(self, traits: Sequence[Trait], *, has_form: bool, has_reference: bool) -> Iterator[str]:
        """Yields the parts of the record in C++ that neither a definition in Python nor a known check stands for."""
        if self.own is not None:
            return
        name = name_of(self.record)
        if not has_form:
            yield "its custom form (hasCustomAssemblyFormat), so that there is the generic form only"
        if name in VERIFIERS:
            return
        for flag, what in (("hasVerifier", "its verifier"), ("hasRegionVerifier", "its verifier of regions")):
            if flag_of(self.record, flag):
                yield f"{what} ({flag})"
        is_inferred = has_reference or name in RESULT_TYPES or self._implies_results(traits)
        if infers_all_in_cpp(self.record) and not is_inferred:
            yield "the types of its results (InferTypeOpInterface)"

    def _implies_results(self, traits: Sequence[Trait]) -> bool:
        """Returns whether the types of all results follow from those of operands and attributes."""
        results = {n: f for n, f in self.fields.items() if f.kind is FieldKind.RESULT}
        known = [n for n in self.fields if n not in results]
        operands = [n for n, f in self.fields.items() if f.kind is FieldKind.OPERAND]
        rules = [t for t in traits if isinstance(t, TypeRule) and t.deduce is not None]
        implied = implied_types(rules, known, operands, list(results))
        return all(
            n in implied or (isinstance(f.pattern, TypeConstraint) and f.pattern.builds) for n, f in results.items()
        )

    def unapplied(self) -> tuple[str, ...]:
        """Returns the flags of folders and canonicalizations in C++ that no definition in Python stands for."""
        flags = ("hasFolder", "hasCanonicalizer", "hasCanonicalizeMethod", "hasConstantFolder")
        return () if self.own is not None else tuple([flag for flag in flags if flag_of(self.record, flag)])

    def _added(self) -> frozenset[str]:
        """Returns attributes of the Python definition that the record lacks or declares as optional."""
        theirs = () if self.own is None else self.own.layout.attributes
        return frozenset([f.spelling for f in theirs if f.name not in self.fields and f.name not in self.vague])

    def traits(self) -> list[Trait]:
        """Returns the traits of the record."""
        context = self._trait_context()
        result = traits_of(self.record, context)
        if self.own is None and name_of(self.record) not in VERIFIERS:
            # The Python definition has the defaults, and checks constraints of several values that are in C++.
            self.unknown += [*self.vague_reasons, *context.unknown]
        return result

    def assembly(self) -> str:
        """Returns the assembly format of the record; "" if it has a directive in unknown C++."""
        text = text_of(self.record, "assemblyFormat")
        known = self.context.directives
        lacking = [] if known is None else [name for name in _DIRECTIVE.findall(text) if name not in known]
        self.unknown += [f"custom<{name}>, so that there is the generic form only" for name in lacking]
        return "" if lacking else text

    def declared_format(self) -> str | None:
        """Returns the assembly format as the record has it; None if it has none."""
        return text_of(self.record, "assemblyFormat") if states(self.record, "assemblyFormat") else None

    def documentation(self) -> str:
        """Returns the docstring."""
        return documentation(self.record)

    def _trait_context(self) -> TraitContext:
        first = next((n for n, f in self.fields.items() if f.kind is FieldKind.ATTRIBUTE), "")
        namespace = text_of(self.record, "cppNamespace").removeprefix("::").removeprefix("mlir::")
        names = {f.spelling: n for n, f in self.fields.items()}
        return TraitContext(names, self.context.operations, namespace, self.context.predicates, first)


_D = TypeVar("_D", bound=RecordOp)


def _class(
    base: type[_D], title: str, bases: tuple[type[Op], ...], members: dict[str, object], keywords: dict[str, Any]
) -> type[_D]:
    return type(base)(title, bases, members, **keywords)


_RUNNING = (ReadsState, WritesState, SameVariadicOperandSize)


def _own_traits(own: type[Op], traits: Sequence[Trait], *, infers: bool) -> list[Trait]:
    """Returns the traits of the Python definition that a record cannot express: those of its meaning, and type rules
    that replace C++.
    """
    names = {trait.name for trait in traits}
    return [
        trait
        for trait in own.traits
        if trait.name not in names and ((infers and isinstance(trait, TypeRule)) or trait in _RUNNING)
    ]


def _name_suggestions(names: Names | Callable[[RecordOp], Names]) -> Callable[[RecordOp], Iterator[tuple[Value, str]]]:
    """Returns a function that suggests a name for the first result of each declared one."""

    def suggested_names(op: RecordOp) -> Iterator[tuple[Value, str]]:
        for f, name in zip(op.layout.results, names(op) if callable(names) else names, strict=False):
            value = op.field_value(f)
            if not f.variadic or value:
                yield value[0] if f.variadic else value, name

    return suggested_names


def _converted(value: object, attr_type: AttrType[Any], other: AttrType[Any]) -> object:
    """Returns a value of one attribute type in another one."""
    is_same = value is None or value is MISSING or attr_type is other
    return value if is_same else other.from_attribute(attr_type.to_attribute(value))


_GROUPS = (FieldKind.OPERAND, FieldKind.REGION, FieldKind.SUCCESSOR, FieldKind.RESULT)


def _paired(own: type[Op], fields: Mapping[str, Field]) -> dict[str, Field]:
    """Returns the fields of the Python definition by those of a record: attributes by name, others by position."""
    theirs = list(own.layout.by_name.values())
    out: dict[str, Field] = {}
    for field_kind in _GROUPS:
        names = [n for n, f in fields.items() if f.kind is field_kind]
        out |= dict(zip(names, [f for f in theirs if f.kind is field_kind], strict=False))
    by_spelling = {f.spelling: f for f in theirs if f.kind is FieldKind.ATTRIBUTE}
    out |= {
        n: by_spelling[f.spelling]
        for n, f in fields.items()
        if f.kind is FieldKind.ATTRIBUTE and f.spelling in by_spelling
    }
    return out


def _agrees(own: type[Op], fields: Mapping[str, Field], vague: AbstractSet[str]) -> bool:
    """Returns whether the Python definition declares the same fields; it may have more attributes, with defaults.

    The defaults of attributes in `vague` are not compared, because their C++ code in the record is not understood.
    """
    theirs = list(own.layout.by_name.values())
    pairs = _paired(own, fields)
    counts = [
        sum(f.kind is field_kind for f in theirs) == sum(f.kind is field_kind for f in fields.values())
        for field_kind in _GROUPS
    ]
    if not all(counts) or len(pairs) != len(fields):
        return False
    if any(f.kind is FieldKind.ATTRIBUTE and f.is_required and f not in pairs.values() for f in theirs):
        return False
    return all(_is_same(fields[n], other, is_vague=n in vague) for n, other in pairs.items())


def _is_same(field: Field, other: Field, *, is_vague: bool) -> bool:
    if field.variadic != other.variadic:
        return False
    if field.kind is FieldKind.ATTRIBUTE:
        cases = {tuple(sorted(f.type.cases)) for f in (field, other) if f.type is not None and f.type.cases}
        return len(cases) < 2 and (is_vague or field.optional or not other.optional)
    return field.kind is FieldKind.REGION or field.optional == other.optional


def documentation(record: Record) -> str:
    """Returns the docstring of a definition: a sentence, then the description."""
    summary = " ".join(text_of(record, "summary").split()).removesuffix(".")
    first = f"{summary[:1].upper()}{summary[1:]}." if summary else f"The operation {name_of(record)}."
    lines = text_of(record, "description").strip("\n").split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    body = "\n".join([line[margin:].rstrip() for line in lines]).strip()
    return f"{first}\n\n{body}\n" if body else first
