"""Local functions of a model, and their instances.

A function has no types: the operand types and attributes of a call determine an instance of it. Source: ONNX IR
specification, functions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import dropwhile

from commonir.base.codes import UNKNOWN_SYMBOL, WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_PROGRAM, QUESTIONABLE_MODEL
from commonir.base.shared import Shared
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.base.tuples import NamedTuple
from commonir.dialects.onnx.data_types import DATA_TYPES
from commonir.dialects.onnx.program import Custom, GraphFunction, Return, check_graph, default_operation_set
from commonir.ir.attributes import Attribute, DictionaryAttr, IntegerAttr, StringAttr
from commonir.ir.call_graph import Cycles, cycle_text
from commonir.ir.module import Function, Instances, Invocation, Module
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type, unknown
from commonir.notation import NotationError
from commonir.ods import DeclaredResults, Op, any_type, attr_types, attribute, operand, region, result, traits
from commonir.ods.definition import ATTRIBUTE_REFERENCES
from commonir.ods.fields import Field, FieldKind
from commonir.ods.inference import infer
from commonir.ods.verify import check_results

_NOTHING = DictionaryAttr(())


def function_path(symbol: str) -> str:
    """Returns the path of a local function in a file."""
    return f"functions['{symbol}']"


def function_symbol(domain: str, name: str, overload: str) -> str:
    """The symbol of a local function."""
    return "::".join(filter(None, (domain, name, overload)))


def infer_results(op: Op) -> None:
    """Gives untyped results their inferred types; the verifier reports contradictions."""
    results = op.results
    if len(results) >= len(op.layout.results) and unknown not in [v.type for v in results]:
        return
    try:
        types = infer(op).types
    except (DiagnosticError, NotationError):
        return
    for v, t in zip(results, types, strict=False):
        if v.type is unknown:
            v.retype(t)
    if len(types) > len(results):
        count = len(results)
        op.results = (*results, *[Value(t, op, count + n) for n, t in enumerate(types[count:])])


class LocalFunction(
    GraphFunction, name="onnx.function", traits=(traits.IsolatedFromAbove, traits.SymbolTrait, traits.SingleBlock)
):
    """A function of the model, identified by its domain, name and overload.

    Its values have the types that the file declares, if any. Operators in it refer to its attributes by
    `onnx.attribute_references`.
    """

    sym_name: str = attribute(attr_types.symbol_name)
    function_name: str = attribute(attr_types.string, doc="its name within the domain")
    opset_import: DictionaryAttr = attribute(attr_types.dictionary, doc="operator set versions by domain")
    content: Region = region(doc="the body")
    domain: str = attribute(attr_types.string, default="")
    overload: str = attribute(attr_types.string, default="")
    required_attributes: tuple[str, ...] = attribute(attr_types.strings, default=(), doc="required attributes")
    default_attributes: DictionaryAttr = attribute(attr_types.dictionary, default=_NOTHING, doc="optional attributes")

    copies = "onnx.Identity"
    is_template = True

    @property
    def own_path(self) -> str:
        return function_path(self.sym_name)

    @property
    def operation_set(self) -> str:
        return default_operation_set(self.opset_import)

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The attributes that calls may give."""
        return (*self.required_attributes, *(name for name, _ in self.default_attributes.entries))

    def verify(self) -> Iterator[Diagnostic]:
        return self.verify_sharing(Shared())

    def verify_sharing(self, shared: Shared) -> Iterator[Diagnostic]:
        yield from check_graph(self.content)
        holder = self.parent_op
        cycle = shared.of(Cycles).through(
            self, lambda: holder.defined_functions.values() if isinstance(holder, Module) else (self,)
        )
        if cycle:
            yield _in_a_cycle(cycle)

    def instance(
        self,
        types: Sequence[Type],
        attributes: DictionaryAttr,
        absent: Sequence[int] = (),
        instances: Instances | None = None,
    ) -> FunctionInstance:
        """The function on operands of some types, with values for its attributes; `absent` inputs are not given.

        `instances` are shared by calls. Raises: DiagnosticError (E0209) when it calls itself, (E0502) for more operands
        than it has inputs, (E0303) for too many operations.
        """
        key = _InstanceKey(self, tuple(types), attributes, tuple(absent))
        return _instance(key, Instances() if instances is None else instances)


class Call(DeclaredResults, Invocation, name="onnx.call"):
    """Calls a local function with attributes. `absent` has the positions of omitted inputs."""

    function: str = attribute(attr_types.symbol, doc="the function")
    attributes: DictionaryAttr = attribute(attr_types.dictionary, default=_NOTHING)
    inputs: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    absent: tuple[int, ...] = attribute(attr_types.integers, default=())
    graphs: tuple[Region, ...] = region(variadic=True, default=(), doc="graphs of the attributes of the call")
    graph_names: tuple[str, ...] = attribute(
        attr_types.strings, default=(), doc="names of the attributes that hold the graphs, in order"
    )
    outputs: tuple[Value, ...] = result(any_type, variadic=True)

    @property
    def callee(self) -> LocalFunction | None:
        for holder in self.ancestors():
            if isinstance(holder, Module):
                result = holder.symbol(self.function)
                return result if isinstance(result, LocalFunction) else None
        return None

    def called_with(self, types: Sequence[Type], instances: Instances | None = None) -> Function | None:
        result = self.callee
        return None if result is None else result.instance(types, self.attributes, self.absent, instances)

    def key(self, types: Sequence[Type]) -> _InstanceKey | None:
        """Returns the key of the instance that it runs; None if there is no such function."""
        result = self.callee
        return None if result is None else _InstanceKey(result, tuple(types), self.attributes, self.absent)

    def verify(self) -> Iterator[Diagnostic]:
        return self.verify_sharing(Shared())

    def verify_sharing(self, shared: Shared) -> Iterator[Diagnostic]:
        called = self.callee
        if called is None:
            if any(isinstance(holder, Module) for holder in self.ancestors()):
                yield Diagnostic(UNKNOWN_SYMBOL, f"the model has no function '{self.function}'")
            return
        for what, count, most in (
            ("inputs", len(self.inputs) + len(self.absent), len(called.inputs)),
            ("outputs", len(self.results), len(called.outputs)),
        ):
            if count > most:
                yield Diagnostic(WRONG_OPERAND_COUNT, f"'{self.function}' has {most} {what}, found {count}")
        references = self.extra.get(ATTRIBUTE_REFERENCES)
        referred = [name for name, _ in references.entries] if isinstance(references, DictionaryAttr) else []
        arguments = {*[name for name, _ in self.attributes.entries], *self.graph_names, *referred}
        for name in called.required_attributes:
            if name not in arguments:
                # What refers to it stays away then, as in onnx's inliner and in onnxruntime.
                yield Diagnostic(QUESTIONABLE_MODEL, f"'{self.function}' is given no attribute '{name}'")
        for name in sorted(arguments.difference(called.attribute_names)):
            help = did_you_mean(name, called.attribute_names)
            yield Diagnostic(WRONG_ATTRIBUTE, f"'{self.function}' has no attribute '{name}'", help=help)
        yield from self._wrong_results(called, shared.of(Instances))

    @property
    def keeps_declared_shapes(self) -> bool:
        return False

    def _wrong_results(self, called: LocalFunction, instances: Instances) -> Iterator[Diagnostic]:
        """Yields results that the file declares otherwise than the function gives them for these operands."""
        types = [v.type for v in self.inputs]
        if unknown in types or all(r.type is unknown for r in self.results):
            return
        try:
            instance = called.instance(types, self.attributes, self.absent, instances)
        except (DiagnosticError, NotationError):
            return  # reported where the function is wrong, or when it runs
        if len(instance.outputs) >= len(self.results):
            yield from check_results(self, tuple([v.type for v in instance.outputs[: len(self.results)]]))


class FunctionInstance(
    GraphFunction, name="onnx.function_instance", traits=(traits.IsolatedFromAbove, traits.SingleBlock)
):
    """A function with the operand types and attribute values of one call; it does not occur in programs."""

    sym_name: str = attribute(attr_types.symbol_name)
    content: Region = region(doc="the function")

    @property
    def symbol_name(self) -> str:
        return self.sym_name


class _InstanceKey(NamedTuple):
    """The key of an instance."""

    function: LocalFunction
    types: tuple[Type, ...]
    attributes: DictionaryAttr
    absent: tuple[int, ...]


_Steps = Generator[_InstanceKey, FunctionInstance, None]
"""Steps that yield what determines the instance that a call needs, and receive the instance."""

_Building = Generator[_InstanceKey, FunctionInstance, FunctionInstance]


def _instance(key: _InstanceKey, instances: Instances) -> FunctionInstance:
    """Returns an instance, after those of the calls in it.

    Those that are being built are in a dictionary, because functions may call each other deeper than Python does.
    Raises: DiagnosticError.
    """
    building: dict[LocalFunction, tuple[_InstanceKey, _Building]] = {}
    needed: _InstanceKey | None = key
    result: FunctionInstance | None = None
    while True:
        if needed is not None:
            known = instances.get(needed)
            result = known if isinstance(known, FunctionInstance) else None
            if result is None:
                if needed.function in building:
                    raise DiagnosticError(_in_a_cycle(_from(needed.function, building)))
                building[needed.function] = needed, _built(needed)
        if result is not None and not building:
            return result
        current, steps = next(reversed(building.values()))
        try:
            needed = next(steps) if result is None else steps.send(result)
        except StopIteration as end:
            built: FunctionInstance = end.value
            needed, result = None, built
            instances.add(current, built)
            del building[current.function]


def _from(function: LocalFunction, building: Iterable[LocalFunction]) -> list[LocalFunction]:
    return list(dropwhile(lambda f: f is not function, building))


def _built(key: _InstanceKey) -> _Building:
    function, types = key.function, key.types
    formal = function.inputs
    places = [n for n in range(len(formal)) if n not in key.absent]
    if len(types) > len(places):
        text = f"'{function.sym_name}' has {plural(len(formal), 'input')}, found {len(types) + len(key.absent)}"
        raise DiagnosticError(Diagnostic(WRONG_OPERAND_COUNT, text))
    actual = [formal[n] for n in places[: len(types)]]
    block = Block(types, [v.name for v in actual])
    values: dict[Value, Value | None] = dict.fromkeys(formal)
    values.update(zip(actual, block.arguments, strict=True))
    known = {**dict(function.default_attributes.entries), **dict(key.attributes.entries)}
    result = FunctionInstance(function.sym_name, Region([block]))
    # Its parent is that of the function, without being part of the program, so that calls in it are resolved.
    result.parent = function.parent
    for op in function.body.operations:
        yield from _copy(op, values, known, block)
    return result


def _in_a_cycle(functions: Sequence[Operation]) -> Diagnostic:
    return Diagnostic(MALFORMED_PROGRAM, f"functions call each other in a cycle: {cycle_text(functions)}")


def _copy(source: Operation, values: dict[Value, Value | None], known: Mapping[str, Attribute], block: Block) -> _Steps:
    """Puts a copy of an operation of a function at the end of a block, values and attributes being actual ones."""
    if isinstance(source, Return):
        block.append(Return(tuple([v for u in source.outputs if (v := values.get(u, u)) is not None])))
        return
    regions: list[Region] = []
    for nested in source.regions:
        inner = nested.block
        copy = Block([a.type for a in inner.arguments], [a.name for a in inner.arguments], inner.label)
        values.update(zip(inner.arguments, copy.arguments, strict=True))
        for op in inner.operations:
            yield from _copy(op, values, known, copy)
        regions.append(Region([copy]))
    if not isinstance(source, Op):
        return
    built = with_actual_attributes(_with_operands(source, values, tuple(regions)), known)
    block.append(built)
    values.update(zip(source.results, built.results, strict=False))
    if isinstance(built, Call):
        key = built.key([v.type for v in built.inputs])
        if key is not None:
            called = yield key
            for v, inside in zip(built.results, called.outputs, strict=False):
                v.retype(inside.type if v.type is unknown else v.type)
    elif not isinstance(built, Custom):
        _infer_again(built)


def _infer_again(op: Op) -> None:
    """Gives results the types inferred from actual operands, else those declared in the function."""
    declared = [v.type for v in op.results]
    for v in op.results:
        v.retype(unknown)
    infer_results(op)
    for v, kind in zip(op.results, declared, strict=False):
        v.retype(kind if v.type is unknown else v.type)


def _with_operands(source: Op, values: Mapping[Value, Value | None], regions: tuple[Region, ...]) -> Op:
    """A copy of an operation on actual values, some of which may be absent."""
    operands = [values.get(v, v) for v in source.operands]
    given = tuple([v for v in operands if v is not None])
    if len(given) == len(operands):
        return source.clone_shallow(given, regions)
    arguments: dict[str, object] = {}
    remaining = list(regions)
    for f in source.layout.arguments:
        if f.kind is FieldKind.REGION:
            count = len(source.regions) - len(source.layout.regions) + 1 if f.variadic else 1
            taken, remaining = remaining[:count], remaining[count:]
            arguments[f.name] = tuple(taken) if f.variadic else taken[0]
        else:
            arguments[f.name] = _actual(source.field_value(f), values)
    if isinstance(source, Custom | Call):
        arguments["absent"] = _absent(source, values)
    result = type(source).build(arguments, [v.type for v in source.results], source.location)
    result.update_extra(source.extra)
    for mine, its in zip(source.results, result.results, strict=True):
        its.name = mine.name
    return result


def _absent(source: Custom | Call, values: Mapping[Value, Value | None]) -> tuple[int, ...]:
    """The positions of inputs that are not given once some values are absent."""
    places = [n for n in range(len(source.inputs) + len(source.absent)) if n not in source.absent]
    gone = [n for n, v in zip(places, source.inputs, strict=True) if values.get(v, v) is None]
    return tuple(sorted([*source.absent, *gone]))


def _actual(content: object, values: Mapping[Value, Value | None]) -> object:
    if isinstance(content, Value):
        return values.get(content, content)
    if isinstance(content, tuple):
        items: list[object] = [_actual(v, values) for v in content]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]  of anything
        return tuple([v for v in items if v is not None])
    return content


def with_actual_attributes(op: Op, known: Mapping[str, Attribute]) -> Op:
    """An operation that is in no block, with the values that its references to attributes of a function stand for.

    An attribute that is not given stays away, or has its default. Raises: DiagnosticError (E0505).
    """
    declared = op.extra.get(ATTRIBUTE_REFERENCES)
    if not isinstance(declared, DictionaryAttr):
        return op
    names = {name: to.value for name, to in declared.entries if isinstance(to, StringAttr)}
    values = {name: known[to] for name, to in names.items() if to in known}
    op.set_extra(ATTRIBUTE_REFERENCES, None)
    fields = {f.spelling: f for f in op.layout.attributes}
    open_ones = {name: value for name, value in values.items() if name not in fields}
    changed: dict[str, object] = {}
    if open_ones and "attributes" in fields and fields["attributes"].type is attr_types.dictionary:
        before: DictionaryAttr = op.field_value(fields["attributes"])
        changed["attributes"] = DictionaryAttr(tuple({**dict(before.entries), **open_ones}.items()))
    for name, value in values.items():
        f = fields.get(name)
        if f is not None and f.type is not None:
            changed[f.name] = _decoded(op, f, value)
    return op.with_attributes(**changed)


def _decoded(op: Op, f: Field, value: Attribute) -> object:
    if f.type is None or (f.type is attr_types.flag and isinstance(value, IntegerAttr)):
        return isinstance(value, IntegerAttr) and value.value != 0
    try:
        if f.type is attr_types.element and isinstance(value, IntegerAttr) and 0 < value.value <= len(DATA_TYPES):
            return DATA_TYPES[value.value - 1].element
        return f.type.from_attribute(value)
    except ValueError as error:
        text = f"{op.name}: attribute '{f.spelling}': {error}"
        raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text)) from None
