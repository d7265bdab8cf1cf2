"""Definitions built at run time, for operators that a file declares.

A declaration has a signature for each overload. Each becomes a subclass of `DeclaredOp` with fields like those of a
definition in Python, and is verified, inferred, printed, parsed and documented by the same code. The types in
the signature constrain every use; the meaning of an operator is defined by its dialect.

Source: Common IR specification, operators, nodes and tensor shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from types import MappingProxyType
from typing import ClassVar, Self, TypeVar

from commonir.base.codes import (
    AMBIGUOUS_SIGNATURE,
    NO_SIGNATURE,
    WRONG_ATTRIBUTE,
    WRONG_OPERAND_COUNT,
    WRONG_RESULT_TYPE,
    WRONG_TYPE,
)
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.ir.attributes import Attribute, DenseArrayAttr
from commonir.ir.operation import Region, Value
from commonir.ir.types import ListType, Type, i32, unknown
from commonir.notation import Constraint, NotationError
from commonir.ods.declared_attributes import GRAPHS, DeclaredAttrType
from commonir.ods.declared_types import DeclaredType, ListOf, Undetermined, Unification, conflicting_names
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.fields import BOUND, MISSING, Field, FieldKind, SpelledField, constraint
from commonir.ods.inference import infer
from commonir.ods.operation import Op
from commonir.ods.patterns import ElementClass, Mismatch, Pattern
from commonir.ods.verify import are_compatible

_SEVERAL = 2


class AmbiguousName(ValueError):
    """A name is used both for one dimension and for any number of them."""


class Multiplicity(Enum):
    """The number of values that a parameter takes."""

    ONE = "one"
    OPTIONAL = "optional"
    MANY = "many"


class Parameter(NamedTuple):
    """A declared operand or result."""

    name: str
    type: DeclaredType
    multiplicity: Multiplicity = Multiplicity.ONE
    doc: str = ""

    @property
    def is_repeated(self) -> bool:
        """Whether it takes any number of values: for a list, its elements separately."""
        return self.multiplicity is Multiplicity.MANY or isinstance(self.type, ListOf)

    def __str__(self) -> str:
        mark = {Multiplicity.ONE: "", Multiplicity.OPTIONAL: "?", Multiplicity.MANY: "..."}[self.multiplicity]
        return f"{self.name}{mark}: {self.type}"


class DeclaredAttribute(NamedTuple):
    """A declared attribute; without a default it is required, unless its type is optional."""

    name: str
    type: DeclaredAttrType
    default: Attribute | None = None
    doc: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.type.text}"


class _Signature(NamedTuple):
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: tuple[DeclaredAttribute, ...]
    variables: Mapping[str, ElementClass]
    doc: str


class Signature(_Signature):
    """One overload: parameters, attributes, and the element types that each type variable ranges over.

    Raises: ValueError when its names would be ambiguous.
    """

    __slots__ = ()

    def __new__(
        cls,
        inputs: tuple[Parameter, ...],
        outputs: tuple[Parameter, ...],
        attributes: tuple[DeclaredAttribute, ...] = (),
        variables: Mapping[str, ElementClass] = MappingProxyType({}),
        doc: str = "",
    ) -> Self:
        result = super().__new__(cls, inputs, outputs, attributes, variables, doc)
        result._check()
        return result

    def _check(self) -> None:
        types = [p.type for p in (*self.inputs, *self.outputs)]
        types += [a.type.declared for a in self.attributes if a.type.declared is not None]
        for name in conflicting_names(types):
            raise AmbiguousName(f"'{name}' stands for one dimension and, as '{name}*', for any number of them")
        if sum(p.multiplicity is Multiplicity.MANY for p in self.outputs) > 1:
            raise ValueError("at most one output may be repeated")
        bound = {leaf.pattern.element for t in types[: len(self.inputs)] for leaf in t.leaves()}
        for p in self.outputs:
            for leaf in p.type.leaves():
                variable = self.variables.get(leaf.pattern.element)
                if variable is not None and leaf.pattern.element not in bound and len(variable.members) > 1:
                    raise ValueError(f"no input determines the element type {leaf.pattern.element} of '{p.name}'")

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.inputs))
        attributes = f"; {', '.join(map(str, self.attributes))}" if self.attributes else ""
        return f"({shown}{attributes}) -> ({', '.join(map(str, self.outputs))})"


class Declaration(NamedTuple):
    """A declared operator: its name and at least one signature."""

    name: str
    signatures: tuple[Signature, ...]
    doc: str = ""


class DeclaredOp(Op):
    """Base of the definitions of declared operators.

    C1: operands, attributes and results fit the signature.
    """

    is_declared = True
    called: ClassVar[str] = ""
    signature: ClassVar[Signature] = Signature((), ())
    number: ClassVar[int] = 0
    is_data_dependent: ClassVar[bool] = False

    @constraint("C1")
    def fits_signature(self) -> tuple[Constraint, ...]:
        """operands, attributes and results fit the signature."""
        try:
            return self.unified().constraints
        except DiagnosticError:
            return ()  # `infer` reports it, with all occurrences

    @property
    def properties(self) -> Mapping[str, Attribute]:
        """Declared attributes, and the segment sizes of operands unless every parameter has one; a parser selects
        the signature by these.
        """
        segments = {} if self.operand_offsets is None else {GROUP_SIZES: DenseArrayAttr(i32, self.segment_sizes)}
        return {**super().properties, **segments}

    def trace_key(self) -> object:
        return tuple([r.type for r in self._declared_results]) if self.is_data_dependent else None

    @property
    def _declared_results(self) -> tuple[Value, ...]:
        """Returns the results; none during construction."""
        return self.built_results or ()

    def infer(self) -> tuple[Type, ...]:
        unified, together = self.unified(), self.unified()
        declared = self._declared_results
        out: list[Type] = []
        for p, count in zip(self.signature.outputs, self._result_counts(), strict=True):
            for _ in range(count):
                own = declared[len(out)].type if len(out) < len(declared) else unknown
                try:
                    type = p.type.resolve(unified)
                    # A dim that no operand determines is, for the next results too, what the first one declares.
                    joint = p.type.resolve(together)
                except Undetermined:
                    out.append(own)
                    continue
                # What cannot be is reported by `verify`.
                out.append(joint if own is unknown or are_compatible(own, joint) else type)
                if self.is_data_dependent and own is not unknown:
                    with suppress(Mismatch, NotationError):
                        together.match(p.type, own)
        return tuple(out)

    def verify(self) -> Iterator[Diagnostic]:
        """Yields errors of results that do not fit the signature together: a name of it is one dimension."""
        outputs = zip(self.signature.outputs, self._result_counts(), strict=True)
        declared = [p.type for p, count in outputs for _ in range(count)]
        if len(declared) < _SEVERAL:
            return
        together = self.unified()
        for t, v in zip(declared, self.results, strict=False):
            try:
                self.unified().match(t, v.type)
            except (Mismatch, NotationError):
                continue  # its type contradicts the inferred one, which is reported
            try:
                together.match(t, v.type)
            except (Mismatch, NotationError) as error:
                yield Diagnostic(WRONG_RESULT_TYPE, f"{self.name}: result '{v.name}': {error}")

    def _result_counts(self) -> list[int]:
        """Returns the number of results of each output; the last optional ones may be missing."""
        outputs, declared = self.signature.outputs, self._declared_results
        counts = [1] * len(outputs)
        spare = len(declared) - len(outputs) if declared else 0
        for n in reversed(range(len(outputs))):
            if spare < 0 and outputs[n].multiplicity is not Multiplicity.ONE:
                counts[n] = 0
                spare += 1
            elif spare > 0 and outputs[n].multiplicity is Multiplicity.MANY:
                counts[n] += spare
                spare = 0
        return counts

    def unified(self) -> Unification:
        """Binds the names of the signature. Raises: DiagnosticError (E0503, E0505) with all mismatches."""
        result = Unification(self.signature.variables, [v.type for v in self.operands])
        wrong: list[Diagnostic] = []

        def match(declared: DeclaredType, type: Type, where: str) -> None:
            try:
                result.match(declared, type)
            except (Mismatch, NotationError) as error:
                wrong.append(Diagnostic(WRONG_TYPE, f"{self.name}: {where}: {error}"))

        operands = [f for f in self.layout.inputs if f.kind is FieldKind.OPERAND]
        for f, p in zip(operands, self.signature.inputs, strict=True):
            value = self.field_value(f)
            for n, (declared, v) in enumerate(_pairs(p, value)):
                match(declared, v.type, f"operand '{p.name}'" + (f"[{n}]" if f.variadic else ""))
        for f, a in zip(self._attribute_fields, self._plain_attributes, strict=True):
            value = self.field_value(f)
            if value is None or value is BOUND or value is MISSING:
                continue
            try:
                for declared, type in a.type.parts(value, result.elements):
                    match(declared, type, f"attribute '{a.name}'")
            except ValueError as error:
                wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{self.name}: attribute '{a.name}': {error}"))
        if wrong:
            raise DiagnosticError(*wrong)
        return result

    @property
    def declared_attributes(self) -> Mapping[str, Attribute]:
        """The values of the declared attributes, literals with their declared element types."""
        out: dict[str, Attribute] = {}
        for f, a in zip(self._attribute_fields, self._plain_attributes, strict=True):
            value = self.field_value(f)
            if value is not None and value is not BOUND and value is not MISSING and f.type is not None:
                out[a.name] = a.type.exact(f.type.to_attribute(value))
        return out

    @property
    def _attribute_fields(self) -> tuple[Field, ...]:
        return self.layout.attributes

    @property
    def _plain_attributes(self) -> tuple[DeclaredAttribute, ...]:
        return tuple([a for a in self.signature.attributes if a.type.attr_type is not None])


def _pairs(p: Parameter, operand: Value | tuple[Value, ...] | None) -> Iterable[tuple[DeclaredType, Value]]:
    """Returns the values passed to a parameter, each with its declared type."""
    values = () if operand is None else operand if isinstance(operand, tuple) else (operand,)
    declared = p.type
    if isinstance(declared, ListOf) and p.multiplicity is not Multiplicity.MANY:
        is_list = len(values) == 1 and isinstance(values[0].type, ListType)
        declared = declared if is_list else declared.element
    return [(declared, v) for v in values]


# -- building definitions


class _DeclaredPattern(Pattern):
    """A declared type as the pattern of a field, printed as declared; `Unification` matches it."""

    __slots__ = ()

    def __init__(self, declared: DeclaredType) -> None:
        super().__init__("any")
        self.spec = str(declared)


_D = TypeVar("_D", bound=DeclaredOp)


def define(declaration: Declaration, called: str, name: str, base: type[_D]) -> tuple[type[_D], ...]:
    """Returns the definitions of a declared operator, one for each signature.

    `called` is its name in nodes, `name` that of operations, `base` the class of the dialect that defines the meaning.
    """
    out: list[type[_D]] = []
    for number, signature in enumerate(declaration.signatures):
        text = signature.doc or declaration.doc
        members: dict[str, object] = {
            "__slots__": (),
            "__doc__": text or f"The operator {called}, as declared.",
            "called": called,
            "signature": signature,
            "number": number,
            "is_data_dependent": _is_data_dependent(signature),
        }
        members |= _fields(signature, frozenset((*dir(base), *members)))
        title = declaration.name if len(declaration.signatures) == 1 else f"{declaration.name}_{number + 1}"
        out.append(type(base)(title, (base,), members, name=name))
    return tuple(out)


def _is_data_dependent(signature: Signature) -> bool:
    """Returns whether the types of results depend on the types that a node declares."""
    undetermined = set(signature.variables)
    given = [*(p.type for p in signature.inputs), *(a.type.declared for a in signature.attributes)]
    names = [{name for leaf in t.leaves() for name, _ in leaf.dimensions} for t in given if t is not None]
    results = [leaf for p in signature.outputs for leaf in p.type.leaves()]
    free = {name for leaf in results for name, _ in leaf.dimensions if name and not name.isdigit()}.difference(*names)
    return (len(signature.outputs) > 1 and bool(free)) or any(
        p.multiplicity is not Multiplicity.ONE
        or not all(True for _ in p.type.leaves())
        or str(p.type) == "any"
        or any(leaf.pattern.element in undetermined for leaf in p.type.leaves())
        for p in signature.outputs
    )


def _fields(signature: Signature, reserved: frozenset[str]) -> dict[str, Field]:
    out: dict[str, Field] = {}

    def add(name: str, field: Field) -> None:
        free = name
        while free in reserved or free in out:
            free += "_"
        out[free] = field

    for p in signature.inputs:
        is_optional = p.multiplicity is Multiplicity.OPTIONAL and not p.is_repeated
        add(
            p.name,
            SpelledField(
                p.name,
                FieldKind.OPERAND,
                pattern=_DeclaredPattern(p.type),
                variadic=p.is_repeated,
                optional=is_optional,
                default=None if is_optional else MISSING,
                doc=p.doc,
            ),
        )
    for a in signature.attributes:
        add(a.name, _attribute_field(a))
    for p in signature.outputs:
        add(
            p.name,
            SpelledField(
                p.name,
                FieldKind.RESULT,
                pattern=_DeclaredPattern(p.type),
                variadic=p.multiplicity is Multiplicity.MANY,
                optional=p.multiplicity is Multiplicity.OPTIONAL,
                doc=p.doc,
            ),
        )
    return out


def _attribute_field(a: DeclaredAttribute) -> Field:
    attr_type = a.type.attr_type
    if attr_type is None:
        return SpelledField(a.name, FieldKind.REGION, variadic=a.type.text == GRAPHS, doc=a.doc)
    default: object = MISSING
    if a.default is not None:
        default = attr_type.from_attribute(a.default)
    elif a.type.is_optional:
        default = None
    return SpelledField(
        a.name,
        FieldKind.ATTRIBUTE,
        type=attr_type,
        default=default,
        optional=default is None,
        check=a.type.check,
        doc=a.doc,
    )


# -- uses


class OperatorUse(NamedTuple):
    """A node that calls an operator.

    `operands` are flat, None for an absent one; `counts` are the numbers of operands of each parameter, None when the
    node does not have them. `results` is the number of its results. `references` are attributes whose values are those
    of attributes of the enclosing function.
    """

    operands: tuple[Value | None, ...]
    attributes: Mapping[str, Attribute] = MappingProxyType({})
    counts: tuple[int, ...] | None = None
    regions: Mapping[str, Region] = MappingProxyType({})
    results: int = 1
    references: frozenset[str] = frozenset()


def arguments_of(definition: type[DeclaredOp], use: OperatorUse) -> dict[str, object]:
    """Returns the arguments of `build` for a node: inputs are assigned to parameters from left to right.

    Raises: DiagnosticError (E0502, E0505) with every input or attribute that does not fit.
    """
    wrong: list[Diagnostic] = []
    out: dict[str, object] = {}
    try:
        out |= _split_operands(definition, use)
    except DiagnosticError as error:
        wrong += error.diagnostics
    layout = definition.layout
    fields = {f.spelling: f for f in layout.attributes}
    for name, value in use.attributes.items():
        f = fields.get(name)
        if f is None or f.type is None:
            help = did_you_mean(name, fields)
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{definition.name} has no attribute '{name}'", help=help))
            continue
        try:
            out[f.name] = f.type.from_attribute(value)
        except ValueError as error:
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{definition.name}: attribute '{name}': {error}"))
    for f in layout.attributes:
        if f.is_required and f.spelling not in use.attributes and f.spelling not in use.references:
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{definition.name}: attribute '{f.spelling}' is missing"))
    regions = {f.spelling: f for f in layout.regions}
    for name, graph in use.regions.items():
        if name in regions:
            out[regions[name].name] = graph
        else:
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{definition.name} has no attribute '{name}'"))
    for name in use.references:
        if name not in fields:
            help = did_you_mean(name, fields)
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{definition.name} has no attribute '{name}'", help=help))
    for name in regions:
        if name not in use.regions:
            wrong.append(Diagnostic(WRONG_ATTRIBUTE, f"{definition.name}: attribute '{name}' is missing"))
    if wrong:
        raise DiagnosticError(*wrong)
    return out


def _split_operands(definition: type[DeclaredOp], use: OperatorUse) -> dict[str, object]:
    """Returns the argument of each parameter."""
    inputs = [f for f in definition.layout.inputs if f.kind is FieldKind.OPERAND]
    counts = use.counts
    if counts is None:
        if len(use.operands) != len(inputs):
            message = (
                f"{definition.name}: {plural(len(use.operands), 'input')} for {plural(len(inputs), 'parameter')}, and"
                " no list of argument counts says how they go together"
            )
            raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, message, help="give the node an argument-count list"))
        counts = (1,) * len(inputs)
    shown = f"[{', '.join(map(str, counts))}]"
    if len(counts) != len(inputs):
        message = f"{definition.name}: the argument-count list {shown} is not of {plural(len(inputs), 'parameter')}"
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, message))
    if min(counts, default=0) < 0 or sum(counts) != len(use.operands):
        message = f"{definition.name}: the argument-count list {shown} does not divide {len(use.operands)} inputs"
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, message))
    out: dict[str, object] = {}
    wrong: list[Diagnostic] = []
    at = 0
    for f, count in zip(inputs, counts, strict=True):
        present = [v for v in use.operands[at : at + count] if v is not None]
        at += count
        if f.variadic:
            out[f.name] = tuple(present)
        elif len(present) == 1:
            out[f.name] = present[0]
        elif len(present) > 1 or not f.optional:
            expected = "at most one value" if f.optional else "one value"
            wrong.append(
                Diagnostic(
                    WRONG_OPERAND_COUNT,
                    f"{definition.name}: parameter '{f.spelling}' takes {expected}, found {len(present)}",
                    help="declare it as a list, or as repeated, to pass several" if len(present) > 1 else None,
                )
            )
    if wrong:
        raise DiagnosticError(*wrong)
    return out


class SelectedSignature(NamedTuple):
    """The signature that a node calls, and the arguments of `build` for it."""

    definition: type[DeclaredOp]
    arguments: Mapping[str, object]


def choose(candidates: Sequence[type[DeclaredOp]], use: OperatorUse) -> SelectedSignature:
    """Returns the signature that matches a node.

    If the operator has a single signature, its types are checked by the verifier instead.

    Raises: DiagnosticError (E0502, E0505) when inputs do not fit a single signature, E0510 when none of several
    matches, with the reason for each, and E0511 when more than one does.
    """
    if len(candidates) == 1:
        return SelectedSignature(candidates[0], arguments_of(candidates[0], use))
    fitting: list[type[DeclaredOp]] = []
    reasons: list[str] = []
    for definition in candidates:
        mismatch = _mismatch(definition, use)
        if mismatch is None:
            fitting.append(definition)
        else:
            reasons.append(f"signature {definition.number + 1} {definition.signature}: {mismatch}")
    called = candidates[0].called
    if len(fitting) == 1:
        return SelectedSignature(fitting[0], arguments_of(fitting[0], use))
    operand_types = ", ".join("nothing" if v is None else str(v.type) for v in use.operands)
    if not fitting:
        message = f"{called}: none of its {len(candidates)} signatures fits operands ({operand_types})"
        raise DiagnosticError(Diagnostic(NO_SIGNATURE, message, notes=reasons))
    notes = [f"signature {d.number + 1} {d.signature}" for d in fitting]
    message = f"{called}: operands ({operand_types}) fit {len(fitting)} of its signatures"
    help = "declare signatures that differ in the types of operands, or state the types of inputs"
    raise DiagnosticError(Diagnostic(AMBIGUOUS_SIGNATURE, message, notes=notes, help=help))


def _mismatch(definition: type[DeclaredOp], use: OperatorUse) -> str | None:
    """Returns the reason why a node does not match a signature; None when it does."""
    operands = tuple([None if v is None else Value(v.type) for v in use.operands])
    trial = use._replace(operands=operands, regions={name: Region() for name in use.regions})
    outputs = definition.signature.outputs
    least = sum(p.multiplicity is Multiplicity.ONE for p in outputs)
    most = None if any(p.multiplicity is Multiplicity.MANY for p in outputs) else len(outputs)
    if use.results < least or (most is not None and use.results > most):
        return f"it has {plural(len(outputs), 'result')}, the node has {use.results}"
    try:
        op = definition.build(arguments_of(definition, trial), [unknown] * use.results)
        infer(op)
    except DiagnosticError as error:
        first = error.diagnostics[0].message
        return first.removeprefix(definition.name).lstrip(": ")
    return None
