"""Operation definitions: fields, accessors of operations, and the methods that a definition may override.

A definition subclasses `Op` with its fields and, unless it is structural, a `reference`. The return annotation of
`reference` determines its form: `Value` is a composite, `Expr` or `Kernel` a kernel, `Array` an algorithm.
Source: MLIR operation definitions, operation definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.suggestions import did_you_mean
from commonir.ir.attributes import Attribute, DenseArrayAttr, attribute_of, is_sequence
from commonir.ir.data import Data, data_of, rounded
from commonir.ir.operation import Block, Region, Value
from commonir.ir.origins import Origin
from commonir.ir.types import ELEMENT_TYPES, ElementType, TensorType, Type, boolean, f32, i32, i64
from commonir.ods.attr_types import AttrType
from commonir.ods.fields import (
    BOUND,
    MISSING,
    Constraint,
    DerivedAttribute,
    Field,
    FieldKind,
    FieldPosition,
    attribute,
    operand,
    parameter,
    region,
    result,
    successor,
)
from commonir.ods.forms import Form, form_of
from commonir.ods.known import NOT_COMPUTED, DimsCache, known_data
from commonir.ods.patterns import Pattern, SameAs, TypeVariable, version_number
from commonir.ods.traits import ConstantLike, Declares, Terminator, Trait
from commonir.ods.type_rules import TypeRule
from commonir.symbolic.errors import NotKnownError

if TYPE_CHECKING:
    from inspect import Signature

GROUP_SIZES = "operandSegmentSizes"
"""MLIR's name of the attribute with the segment sizes of operands, where these are ambiguous."""

RESULT_SIZES = "resultSegmentSizes"
"""MLIR's name of the attribute with the segment sizes of results."""

ATTRIBUTE_REFERENCES = "onnx.attribute_references"
"""The attribute of an operation in a function template that maps its attributes to those of the function:
names of attributes of the function by names of attributes of the operation, which has no values for them."""

# Looking up an enumeration member is slow, and these are used by every construction.
_OPERAND, _PARAMETER, _ATTRIBUTE = FieldKind.OPERAND, FieldKind.PARAMETER, FieldKind.ATTRIBUTE
_REGION, _SUCCESSOR, _RESULT = FieldKind.REGION, FieldKind.SUCCESSOR, FieldKind.RESULT
_MEMBERS = (Field, TypeVariable, Constraint, DerivedAttribute)


class FieldLayout:
    """The fields of a definition by group, with facts about them for construction.

    `formals` are the operands that `reference` takes; older versions include those that they lack. `unset` are the
    attribute values of an operation without attributes. `spelled` are positions by the name in files: of attributes,
    then of regions. `declared` includes the fields of other versions. `read_operands` are positions among the inputs of
    operands whose elements the definition reads.
    """

    __slots__ = (
        "arguments",
        "attributes",
        "by_name",
        "constraints",
        "declared",
        "derived",
        "formals",
        "has_groups",
        "inputs",
        "is_plain",
        "parameters",
        "read_operands",
        "regions",
        "required",
        "results",
        "spelled",
        "successors",
        "unset",
        "variables",
    )

    def __init__(self, cls: type, version: str = "") -> None:
        declared: dict[str, Field] = {}
        self.variables: dict[str, TypeVariable] = {}
        self.constraints: dict[str, Constraint[Any]] = {}
        self.derived: dict[str, DerivedAttribute] = {}
        for base in reversed(cls.__bases__):
            inherited = getattr(base, "layout", None)
            if isinstance(inherited, FieldLayout):
                declared |= inherited.declared
                self.variables |= inherited.variables
                self.constraints |= inherited.constraints
                self.derived |= inherited.derived
        for name, member in cls.__dict__.items():
            if not isinstance(member, _MEMBERS):
                continue
            if isinstance(member, Field):
                declared[name] = member
            elif isinstance(member, TypeVariable):
                self.variables[name] = member
            elif isinstance(member, Constraint):
                self.constraints[name] = member
            else:
                self.derived[name] = member
        self.formals = tuple([f for f in declared.values() if f.kind is _OPERAND])
        if version:
            number = version_number(version)
            self.constraints = {n: c for n, c in self.constraints.items() if version_number(c.since) <= number}
            variables = {n: v.at(version) for n, v in self.variables.items()}
            self.variables = {n: v for n, v in variables.items() if not isinstance(v, SameAs)}
        self.declared = declared
        self.by_name = {n: f for n, f in declared.items() if f.is_in(version)}
        fields = tuple(self.by_name.values())
        self.inputs = tuple([f for f in fields if f.kind is _OPERAND or f.kind is _PARAMETER])
        self.attributes = tuple([f for f in fields if f.kind is _ATTRIBUTE or f.kind is _PARAMETER])
        self.parameters = tuple([f for f in fields if f.kind is _PARAMETER])
        self.regions = tuple([f for f in fields if f.kind is _REGION])
        self.successors = tuple([f for f in fields if f.kind is _SUCCESSOR])
        self.results = tuple([f for f in fields if f.kind is _RESULT])
        self.arguments = tuple([f for f in fields if f.kind is not _RESULT])
        self.has_groups = len([f for f in self.inputs if f.kind is _PARAMETER or not f.is_required]) > 1
        # Positions among the inputs of required operands.
        self.required = tuple([n for n, f in enumerate(self.inputs) if f.kind is _OPERAND and f.is_required])
        self.read_operands = tuple([n for n, f in enumerate(self.inputs) if f.by_value and f.kind is _OPERAND])
        self.is_plain = (
            not self.regions
            and not self.successors
            and len(self.required) == len(self.inputs)
            and self.arguments[: len(self.inputs)] == self.inputs
        )
        self.unset = tuple([f.default for f in self.attributes])
        self.spelled = {f.spelling: n for n, f in enumerate((*self.attributes, *self.regions))}


T = TypeVar("T")


class _Fact(Generic[T]):
    """A lazily computed class attribute, because most definitions are imported and never used."""

    def __init__(self, name: str, compute: Callable[[type[Definition]], T]) -> None:
        self.name = name
        self._compute = compute

    def __get__(self, op: object, definition: type[Definition]) -> T:
        result = self._compute(definition)
        setattr(definition, self.name, result)
        return result


def _layout(cls: type[Definition]) -> FieldLayout:
    return FieldLayout(cls, cls.at_version)


def _versions(cls: type[Definition]) -> tuple[str, ...]:
    """Returns the versions of a dialect in which a definition changed: the declared ones, else those of its types; and
    those of its fields and constraints.
    """
    bases = [base for base in cls.__mro__[1:] if issubclass(base, Definition)]
    inherited = bases[0].versions if bases else ()
    if cls.at_version:
        return inherited
    layout = cls.layout
    first = set(cls.changed_in) or {v for variable in layout.variables.values() for v in variable.versions}
    first = first or set(inherited[:1])
    later = {v for f in layout.declared.values() for v in (f.since, f.relaxed_in, f.until)}
    later |= {c.since for c in layout.constraints.values()}
    oldest = min(map(version_number, first), default=0)
    versions = first | {v for v in later if v and version_number(v) > oldest}
    return tuple(sorted(versions, key=version_number)) or inherited


def _since(cls: type[Definition]) -> str:
    return cls.at_version or (cls.versions[-1] if cls.versions else "")


def _follows_from_types(cls: type[Definition]) -> bool:
    layout = cls.layout
    needs_more = layout.attributes or layout.regions or layout.read_operands or cls.declares_results or cls.infers_types
    return not needs_more and cls.trace_key is Definition.trace_key


def _match_args(cls: type[Definition]) -> tuple[str, ...]:
    return tuple([f.name for f in cls.layout.arguments])


def _places(cls: type[Definition]) -> dict[Field, FieldPosition]:
    layout = cls.layout
    inputs = {f: n for n, f in enumerate(layout.inputs)}
    attributes = {f: n for n, f in enumerate(layout.attributes)}
    groups = {f: n for group in (layout.regions, layout.successors, layout.results) for n, f in enumerate(group)}
    fields = layout.by_name.values()
    return {f: FieldPosition(inputs.get(f, -1), attributes.get(f, -1), groups.get(f, -1)) for f in fields}


_LAYOUT = _Fact("layout", _layout)
_PLACES = _Fact("places", _places)
_VERSIONS = _Fact("versions", _versions)
_SINCE = _Fact("since", _since)
_FOLLOWS_FROM_TYPES = _Fact("follows_from_types", _follows_from_types)
_FACTS = (_LAYOUT, _PLACES, _VERSIONS, _SINCE, _FOLLOWS_FROM_TYPES, _Fact("__match_args__", _match_args))


class DefinitionMeta(type):
    """The metaclass of definitions, which declares empty `__slots__` in classes without slots of their own."""

    def __new__(
        mcls, title: str, bases: tuple[type, ...], namespace: dict[str, Any], /, **options: Any
    ) -> DefinitionMeta:
        namespace.setdefault("__slots__", ())
        return super().__new__(mcls, title, bases, namespace, **options)

    @property
    def __signature__(cls) -> Signature | None:
        """The fields as arguments of the constructor, for `help` and completion; None for a class without a name."""
        return signature_of(cls) if issubclass(cls, Definition) and cls.name else None


@dataclass_transform(field_specifiers=(operand, parameter, attribute, region, successor, result), eq_default=False)
class Definition(DimsCache, metaclass=DefinitionMeta):
    """An operation with a definition: its contents, and the declarations of its class.

    Type checkers read annotated fields of subclasses as constructor arguments.
    """

    __slots__ = ("_attributes", "_offsets")

    _attributes: tuple[object, ...]
    _offsets: tuple[int, ...] | None

    traits: ClassVar[tuple[Trait, ...]] = ()
    type_rules: ClassVar[tuple[TypeRule, ...]] = ()
    same_rank: ClassVar[tuple[str, ...]] = ()
    assembly: ClassVar[str] = ""
    index_formula: ClassVar[str] = ""
    """The indexing of operands and results for the reference page, if types of fields do not determine it."""
    form: ClassVar[Form] = Form.STRUCTURAL
    infers_types: ClassVar[bool] = False
    declares_results: ClassVar[bool] = False
    is_declared: ClassVar[bool] = False
    """Whether a file declares it: the types of operands select one of the definitions that share its name."""
    attr_types_suffice: ClassVar[bool] = False
    """Whether the types of its attributes, not their contents, determine what is inferred, as for a constant."""
    index_names: ClassVar[tuple[str, ...]] = ()
    changed_in: ClassVar[tuple[str, ...]] = ()
    """The versions of the dialect that are declared to have changed it."""
    at_version: ClassVar[str] = ""
    """The version of the dialect whose definition it is; "" for the newest."""
    layout: ClassVar[_Fact[FieldLayout]] = _LAYOUT
    places: ClassVar[_Fact[dict[Field, FieldPosition]]] = _PLACES
    versions: ClassVar[_Fact[tuple[str, ...]]] = _VERSIONS
    since: ClassVar[_Fact[str]] = _SINCE
    follows_from_types: ClassVar[_Fact[bool]] = _FOLLOWS_FROM_TYPES
    """Whether the types of operands determine all that is inferred, if no operand is absent."""
    memo: ClassVar[dict[object, Any]]
    older: ClassVar[dict[str, type[Self]]]

    def __init_subclass__(
        cls,
        *,
        name: str = "",
        traits: Sequence[Trait] = (),
        since: str = "",
        same_rank: str = "",
        assembly: str = "",
        version: str = "",
    ) -> None:
        super().__init_subclass__()
        cls.name = name
        if traits:
            cls.traits = (*cls.traits, *(t for t in traits if t not in cls.traits))
            cls.type_rules = tuple([t for t in cls.traits if isinstance(t, TypeRule)])
        if same_rank:
            cls.same_rank = tuple(same_rank.split())
        if assembly:
            cls.assembly = assembly
        cls.changed_in, cls.at_version = tuple(since.split()), version
        for fact in _FACTS:  # it does not inherit those of a base class
            setattr(cls, fact.name, fact)
        cls.memo, cls.older = {}, {}
        if "infer" in cls.__dict__:
            cls.infers_types = True
        method = cls.__dict__.get("reference")
        if method is not None:
            cls.form = form_of(method)
            code = method.__code__
            cls.index_names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]

    @classmethod
    def at(cls, version: str) -> type[Self]:
        """Returns the definition in one of its `versions`; for older versions a subclass of this, the newest."""
        if version == cls.since:
            return cls
        if version not in cls.older:
            variables = {n: v.at(version) for n, v in cls.layout.variables.items()}
            same = {n: v.name for n, v in variables.items() if isinstance(v, SameAs)}
            members: dict[str, object] = {"__doc__": cls.__doc__, "__module__": cls.__module__}
            for f in cls.layout.declared.values():
                older = f.at(version, same)
                if older is not f:
                    members[f.name] = older
            keywords = {"name": cls.name, "version": version}
            result = type(cls)(f"{cls.__name__}{version_number(version)}", (cls,), members, **keywords)
            own = result.layout.by_name
            if any(f.name in own and own[f.name].kind is _ATTRIBUTE for f in cls.layout.formals):
                for name in ("reference", "dynamic_reference"):
                    setattr(result, name, _of_operands(getattr(cls, name)))
            cls.older[version] = result
        return cls.older[version]

    @classmethod
    def has_form_of(cls, other: type[Definition]) -> bool:
        """Returns whether its fields have the same categories in another version, or in a base class."""
        theirs = other.layout.by_name
        return cls is other or all(theirs.get(f.name, f).kind is f.kind for f in cls.layout.by_name.values())

    @classmethod
    def newest(cls) -> type[Definition]:
        """Returns the class from which this version is derived; itself if it is not a version."""
        return cls if cls.since == (cls.versions or ("",))[-1] else cls.__bases__[0]

    # -- construction without checks

    @classmethod
    def build(cls, arguments: Mapping[str, Any], result_types: Iterable[Type], location: Origin | None = None) -> Self:
        """Builds without checking types or constraints, for readers: the verifier reports what is wrong.

        An argument of a parameter is a `Value` or a literal. Absent arguments take their defaults; a required operand
        may stay absent.
        """
        result = object.__new__(cls)
        values = [arguments.get(f.name, () if f.variadic else f.default) for f in cls.layout.arguments]
        operands, result._attributes, result._offsets, regions = split_arguments(result, values, lenient=True)
        result._start(operands, tuple(result_types))
        result.cached_dims = NOT_COMPUTED
        result._own(regions)
        if cls.layout.successors:
            result.successors = successors_of(result, values)
        result.location = location
        return result

    @classmethod
    def assembled(
        cls,
        operands: tuple[Value, ...],
        offsets: tuple[int, ...] | None,
        attributes: tuple[object, ...],
        regions: tuple[Region, ...],
        result_types: Sequence[Type],
    ) -> Self:
        """Builds, like `build`, from parts in the form in which operations store them."""
        result = object.__new__(cls)
        result._attributes = attributes
        result._offsets = offsets
        result.cached_dims = NOT_COMPUTED
        result._start(operands, result_types)
        if regions:
            result._own(regions)
        return result

    def clone_shallow(self, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Self:
        result = object.__new__(type(self))
        result._attributes = self._attributes
        result._offsets = self._offsets
        result.cached_dims = NOT_COMPUTED
        results = self.results
        result._start(operands, [r.type for r in results])
        if regions:
            result._own(regions)
        if self._successors:
            result.successors = self._successors
        result.location = self.location
        if self._extra:
            result._extra = self._extra.copy()
        if len(results) == 1:
            # The most frequent case; a loop takes three times as long.
            result.results[0].name = results[0].name
        else:
            for mine, copied in zip(results, result.results, strict=True):
                copied.name = mine.name
        return result

    def _own(self, regions: tuple[Region, ...]) -> None:
        self.regions = regions
        for nested in regions:
            nested.parent = self

    # -- accessors

    def field_value(self, field: Field) -> Any:
        """Returns the contents of a field: values of operands and results, else a Python value."""
        position = self.places.get(field)
        if position is None:
            return field.absent
        kind = field.kind
        if kind is _OPERAND:
            return self._operand(field, position)
        if kind is _ATTRIBUTE:
            return self._attributes[position.attribute]
        if kind is _PARAMETER:
            stored = self._attributes[position.attribute]
            return decode_parameter(self, field) if stored is BOUND else stored
        if kind is _RESULT:
            return self._result(field, position)
        if kind is _SUCCESSOR:
            return self._successor(field, position)
        if field.variadic:
            return self.regions[position.group : len(self.regions) - (len(self.layout.regions) - 1 - position.group)]
        region = self.regions[position.group] if position.group < len(self.regions) else None
        return None if field.optional and region is not None and not region.blocks else region

    def _operand(self, field: Field, position: FieldPosition) -> Any:
        if self._offsets is None:
            return self._operands[position.input]
        first, end = self._offsets[position.input], self._offsets[position.input + 1]
        if field.variadic:
            return self._operands[first:end]
        return self._operands[first] if end > first else None

    @classmethod
    def formal_operands(cls) -> list[str]:
        """Returns the names of the fields of this version that are operands in the newest one."""
        return [f.name for f in cls.newest().layout.formals if f.name in cls.layout.by_name]

    def as_operand(self, name: str) -> Any:
        """Returns the value of an operand; a constant where it is an attribute in this version of the operation.

        Raises: NotKnownError for an attribute that refers to one of the enclosing function.
        """
        value, own = getattr(self, name), self.layout.by_name.get(name)
        if own is None or own.kind is not _ATTRIBUTE or value is None:
            return value
        if value is MISSING:
            raise NotKnownError(f"'{own.spelling}' is not known before running")
        newest = type(self).newest().layout.by_name[name].pattern
        values: Sequence[Any] = value if is_sequence(value) else (value,)
        is_vector = is_sequence(value) or (newest is not None and newest.dims is not None and len(newest.dims) == 1)
        shape = (len(values),) if is_vector else ()
        element = self._element_of(newest, values)
        return self.materialize_constant(data_of(element, shape, [rounded(v, element) for v in values]))

    def _element_of(self, pattern: Pattern | None, values: Sequence[Any]) -> ElementType:
        """Returns the element type of an operand that is an attribute: that of other operands of its pattern."""
        element = "" if pattern is None else pattern.element
        if element in ELEMENT_TYPES:
            return ELEMENT_TYPES[element]
        for f in self.layout.inputs:
            v = self.field_value(f)
            type = v.type if isinstance(v, Value) else None
            if f.pattern is not None and f.pattern.element == element and isinstance(type, TensorType):
                return type.element
        first = values[0] if values else 0
        return boolean if isinstance(first, bool) else f32 if isinstance(first, float) else i64

    def materialize_constant(self, data: Data) -> Value:
        """Returns the result of a constant operation, for references of older versions."""
        raise NotImplementedError

    def _successor(self, field: Field, position: FieldPosition) -> Any:
        if field.variadic:
            return self.successors[
                position.group : len(self.successors) - (len(self.layout.successors) - 1 - position.group)
            ]
        return self.successors[position.group]

    def _result(self, field: Field, position: FieldPosition) -> Any:
        later = len(self.layout.results) - 1 - position.group
        if field.variadic:
            return self.results[position.group : len(self.results) - later]
        if len(self.results) < len(self.layout.results) and (field.optional or self._after_absent(position.group)):
            return None if field.optional else self.results[position.group - 1]
        return self.results[position.group]

    def _after_absent(self, group: int) -> bool:
        return any(f.optional for f in self.layout.results[:group])

    def bound_value(self, field: Field) -> Value | None:
        """Returns the operand that a parameter is bound to; None when it is a literal."""
        position = self.places[field]
        if self._attributes[position.attribute] is not BOUND or self._offsets is None:
            return None
        return self._operands[self._offsets[position.input]]

    def grouped_operands(self) -> tuple[Value | tuple[Value, ...] | None, ...]:
        """Returns one entry for each declared operand, without parameters: the arguments of `reference`."""
        return tuple([self.field_value(f) for f in self.layout.formals])

    @property
    def attribute_values(self) -> tuple[object, ...]:
        """Stored values of attributes and parameters in order; `BOUND` for a parameter bound to an operand."""
        return self._attributes

    @property
    def operand_offsets(self) -> tuple[int, ...] | None:
        """The offset of the first operand of each input, and the total; None when each input has one operand."""
        return self._offsets

    @property
    def stored_attributes(self) -> Mapping[str, object]:
        """Values of attributes and literal parameters by name."""
        return {f.name: v for f, v in zip(self.layout.attributes, self._attributes, strict=True) if v is not BOUND}

    def decoded_attributes(self) -> tuple[object, ...]:
        """Returns values of attributes and parameters in order; bound parameters are decoded."""
        if not self.layout.parameters:
            return self._attributes
        return tuple(
            [
                decode_parameter(self, f) if v is BOUND else v
                for f, v in zip(self.layout.attributes, self._attributes, strict=True)
            ]
        )

    def with_attributes(self, **changes: object) -> Self:
        """Returns a detached copy on the same operands, with changed attributes, which takes the regions.

        A parameter that was bound to an operand becomes a literal. Results keep their types.

        Raises: TypeError for an attribute that the operation does not have, DiagnosticError (E0505) for a value of
        another type.
        """
        declared = self.layout.attributes
        if unknown := next((name for name in changes if all(f.name != name for f in declared)), None):
            known = [f.name for f in declared]
            help = did_you_mean(unknown, known) or f"the attributes are {', '.join(known) or 'none'}"
            raise TypeError(f"{self.name} has no attribute '{unknown}': {help}")
        values = [
            coerced(self, f, changes[f.name]) if f.name in changes else v
            for f, v in zip(declared, self._attributes, strict=True)
        ]
        operands, offsets = list(self.operands), list(self._offsets or range(len(self.operands) + 1))
        for f, v in zip(declared, self._attributes, strict=True):
            if f.name in changes and v is BOUND:
                n = self.places[f].input
                del operands[offsets[n]]
                offsets[n + 1 :] = [offset - 1 for offset in offsets[n + 1 :]]
        result = self.clone_shallow(tuple(operands), tuple(r.take() for r in self.regions))
        result._attributes = tuple(values)
        if len(operands) < len(self.operands):
            result._offsets = tuple(offsets)
        return result

    @property
    def attribute_dictionary(self) -> Mapping[str, Attribute]:
        """Declared attributes that have a value, in storage form, then undeclared ones."""
        out: dict[str, Attribute] = {}
        for f, v in zip(self.layout.attributes, self._attributes, strict=True):
            if v is not None and v is not BOUND and v is not MISSING and f.type is not None:
                out[f.spelling] = f.type.to_attribute(v)
        return {**out, **self.extra}

    @property
    def properties(self) -> Mapping[str, Attribute]:
        out: dict[str, Attribute] = {}
        for f, v in zip(self.layout.attributes, self._attributes, strict=True):
            if v is not None and v is not f.default and v is not BOUND and v is not MISSING and f.type is not None:
                stored = _stored(f.type, v)
                if f.default is MISSING or f.default is None or stored is not f.type.to_attribute(f.default):
                    out[f.spelling] = stored
        sizes = self.segment_sizes
        if self.layout.has_groups or any(
            f.is_required and n != 1 for f, n in zip(self.layout.inputs, sizes, strict=True)
        ):
            out[GROUP_SIZES] = DenseArrayAttr(i32, sizes)
        return out

    @property
    def segment_sizes(self) -> tuple[int, ...]:
        """The number of values of each declared operand and parameter, in order; 0 if it is absent or a literal."""
        offsets = self._offsets
        return (1,) * len(self._operands) if offsets is None else tuple([b - a for a, b in pairwise(offsets)])

    def operand_fields(self) -> Iterator[Field]:
        """Yields the field of each operand, in order."""
        for f, count in zip(self.layout.inputs, self.segment_sizes, strict=True):
            yield from repeat(f, count)

    @property
    def field_names(self) -> tuple[Sequence[str], Sequence[str]]:
        results = [f.spelling for f in self.layout.results]
        return [f.spelling for f in self.operand_fields()], results if len(results) == len(self.results) else ()

    @classmethod
    def runs_nothing(cls) -> bool:
        return ConstantLike in cls.traits or Declares in cls.traits or Terminator in cls.traits

    @classmethod
    def has_trait(cls, trait: Trait) -> bool:
        """Returns whether the definition claims a trait."""
        return trait in cls.traits

    # -- methods that a definition may override; everything else is derived

    def reference(self, *operands: Any, **indices: Any) -> Any:
        """Returns the meaning of the operation; its forms are described in the docstring of the module."""
        raise NotImplementedError

    def infer(self) -> tuple[Type, ...]:
        """Returns the result types, for an algorithm or a structural operation whose result patterns do not determine
        them.
        """
        raise NotImplementedError

    def infer_partially(self) -> tuple[Type, ...] | None:
        """Returns the result types if they are known although the meaning is data-dependent, else None."""
        return None

    def dynamic_reference(self, *operands: Any, **indices: Any) -> Any:  # noqa: ARG002  as `reference`
        """Returns the meaning for data-dependent inputs by operations that take dims at run time, None if unsupported.

        For conversions: an engine calls the reference when execution reaches the operation.

        Raises: NotationError, NotKnownError.
        """
        return None

    def entry_types(self) -> tuple[tuple[Type, ...], ...]:
        """Returns for each region the types of its block arguments, as far as operands and terminators determine them.

        Returns () if the program declares them.
        """
        return ()

    def untrusted_arguments(self) -> Iterable[Value]:
        """Returns region arguments whose declared shapes contradict the initial values and are ignored."""
        return ()

    def __dir__(self) -> list[str]:
        fields = [f.name for f in (*self.layout.arguments, *self.layout.results)]
        return sorted({*super().__dir__(), *fields, "verify", "with_attributes"})

    @property
    def built_results(self) -> tuple[Value, ...] | None:
        """Its results; None during construction, when their types are not known yet."""
        return getattr(self, "results", None)

    def trace_key(self) -> object:
        """Returns the hashable inputs of constraints and reference beyond operand types, attributes and known dims."""
        return None

    def verify(self) -> Iterable[Diagnostic]:
        """Yields errors beyond fields, constraints and traits, such as those of regions and symbols."""
        return ()

    def verify_extra(self) -> Iterable[Diagnostic]:
        """Yields errors of attributes beyond the definition, those of `extra`; called only if there are some."""
        return ()

    @property
    def undefined_operator(self) -> str:
        """The name of an operator without a definition, which a function of the program may define; else ""."""
        return ""

    def may_declare(self, number: int, declared: Type) -> bool:  # noqa: ARG002  none by default
        """Returns whether a result, by its index, may be declared with a type that contradicts the inferred one.

        It may if producers of files are known to declare wrong types, which are then ignored.
        """
        return False

    @property
    def keeps_declared_shapes(self) -> bool:
        """Whether declared shapes of results are part of a program; otherwise only the inferred ones are valid."""
        return True

    def fold(self) -> Value | None:
        """Returns an existing value that equals the single result; None when there is none."""
        return None

    def canonicalize(self) -> tuple[Value, ...] | None:
        """Returns values of a simpler equivalent program for the results, or None."""
        return None


def _of_operands(method: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a reference that is called without the operands that are attributes in an older version."""

    def reference(self: Definition, *operands: Any, **indices: Any) -> Any:
        passed, own = iter(operands), self.layout.by_name
        every = self.newest().layout.formals
        is_constant = [f.name in own and own[f.name].kind is _ATTRIBUTE for f in every]
        values = [self.as_operand(f.name) if c else next(passed) for f, c in zip(every, is_constant, strict=True)]
        return method(self, *values, **indices)

    return reference


def _stored(attr_type: AttrType[Any], value: object) -> Attribute:
    """Returns the storage form of a value; one of a wrong type is stored too, and the verifier reports it."""
    try:
        return attr_type.to_attribute(value)
    except (ValueError, TypeError, AttributeError):
        return attribute_of(value)


def decode_parameter(op: Definition, field: Field) -> Any:
    """Returns the Python value of a parameter bound to a constant.

    Raises: DiagnosticError (E0505) when it is not constant or has another type.
    """
    value = op.bound_value(field)
    data = None if value is None else known_data(value)
    if data is None or field.type is None or field.type.from_elements is None:
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, f"'{field.spelling}' of {op.name} must be constant"))
    try:
        return field.type.from_elements(data.shape, data.values())
    except ValueError as error:
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, f"'{field.spelling}' of {op.name}: {error}")) from None


def coerced(op: Definition, field: Field, value: Any) -> Any:
    """Returns the stored value of an attribute. Raises: DiagnosticError (E0505) when it has another type."""
    if value is field.default or field.type is None:
        return value
    try:
        return field.type.coerce(value)
    except ValueError as error:
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, f"'{field.spelling}' of {op.name}: {error}")) from None


def signature_of(definition: type[Definition]) -> Signature:
    """Returns the fields of a definition as arguments of its constructor; required ones after optional ones by name."""
    from inspect import Parameter, Signature  # noqa: PLC0415  only prompts and help ask for it

    annotations = {
        name: text for c in reversed(definition.__mro__) for name, text in vars(c).get("__annotations__", {}).items()
    }
    parameters: list[Parameter] = []
    kind = Parameter.POSITIONAL_OR_KEYWORD
    for f in definition.layout.arguments:
        default = Parameter.empty if f.is_required else f.absent
        if default is Parameter.empty and parameters and parameters[-1].default is not Parameter.empty:
            kind = Parameter.KEYWORD_ONLY
        annotation = annotations.get(f.name, Parameter.empty)
        parameters.append(Parameter(f.name, kind, default=default, annotation=annotation))
    return Signature(parameters)


def not_a_value(op: Definition, field: Field, operand: object) -> TypeError:
    """Returns the error that an operand is not a value of a program."""
    return TypeError(f"{op.name}: operand '{field.spelling}' takes a value, found {type(operand).__name__}")


def split_arguments(
    op: Definition, args: Sequence[Any], *, lenient: bool = False
) -> tuple[tuple[Value, ...], tuple[object, ...], tuple[int, ...] | None, tuple[Region, ...]]:
    """Splits constructor arguments into flat operands, stored attributes, offsets of operands and regions."""
    operands: list[Value] = []
    offsets = [0]
    attributes: list[object] = []
    regions: list[Region] = []
    for f, v in zip(op.layout.arguments, args, strict=True):
        kind = f.kind
        if kind is _ATTRIBUTE:
            attributes.append(v if v is f.default or lenient else coerced(op, f, v))
        elif kind is _OPERAND:
            if f.variadic:
                if not isinstance(v, Iterable):
                    raise TypeError(f"{op.name}: operand '{f.spelling}' takes values in a sequence, found {v!r}")
                operands += v
            elif isinstance(v, Value):
                operands.append(v)
            elif not lenient and v is not None:
                raise not_a_value(op, f, v)
            elif not f.optional and not lenient:
                raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, f"{op.name}: operand '{f.spelling}' is missing"))
            offsets.append(len(operands))
        elif kind is _PARAMETER:
            if isinstance(v, Value):
                operands.append(v)
                attributes.append(BOUND)
            else:
                attributes.append(v if lenient else coerced(op, f, v))
            offsets.append(len(operands))
        elif kind is _REGION:
            regions += v if f.variadic else (v,) if isinstance(v, Region) else (Region(),) if f.optional else ()
    is_complete = op.layout.is_plain and len(operands) == len(op.layout.inputs)
    return tuple(operands), tuple(attributes), None if is_complete else tuple(offsets), tuple(regions)


def successors_of(op: Definition, args: Sequence[Any]) -> tuple[Block, ...]:
    """Returns the blocks among constructor arguments, in order."""
    out: list[Block] = []
    for f, v in zip(op.layout.arguments, args, strict=True):
        if f.kind is FieldKind.SUCCESSOR:
            out += v if f.variadic else (v,) if isinstance(v, Block) else ()
    return tuple(out)
