"""Functions of a Common IR program and the nodes that call them.

A function is a template: its body refers to formal attributes, and its operations stand in any order without cycles.
What runs is an instance of it: a copy in which references are the values that a call gives, in an order that data and
control edges allow. Calls are inlined when a program is lowered, so a function may not, even through others, call
itself. Source: Common IR specification, function definitions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence

from commonir.base.codes import WRONG_ATTRIBUTE, WRONG_OPERAND_COUNT, WRONG_TYPE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.shared import Shared
from commonir.base.suggestions import did_you_mean
from commonir.base.text import plural
from commonir.dialects import onnx
from commonir.dialects.common_ir import checks, rules
from commonir.dialects.common_ir.arguments import Group, grouped
from commonir.dialects.common_ir.declared_results import DeclaredTypes
from commonir.dialects.common_ir.instances import FunctionInstance, fill_beside
from commonir.dialects.common_ir.ordering import CyclicOrder
from commonir.dialects.common_ir.signatures import attributes_from
from commonir.dialects.onnx.program import check_graph
from commonir.ir.attributes import Attribute, DenseArrayAttr, DictionaryAttr, StringAttr
from commonir.ir.call_graph import Cycles, cycle_text
from commonir.ir.module import Function, Instances, Invocation, Module, NamedValues, Symbol, symbols_named
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import Type, symbols_of, unknown
from commonir.notation import NotationError
from commonir.ods import Op, any_type, attr_types, attribute, constraint, operand, region, result, traits
from commonir.ods.declared import DeclaredAttribute
from commonir.ods.declared_attributes import GRAPH, GRAPHS
from commonir.ods.declared_types import (
    DeclaredType,
    Mismatch,
    Undetermined,
    Unification,
    as_declared,
    declared_type,
)
from commonir.ods.definition import ATTRIBUTE_REFERENCES
from commonir.ods.specialize import specialize
from commonir.symbolic import Dim, symbol
from commonir.symbolic.constraints import Constraint

INPUT_ARG_COUNT = "common_ir.input_arg_count"
"""The attribute of a node with the number of inputs of each parameter, if its definition does not determine them."""

PARAMETER_FORMS = "common_ir.parameter_forms"
"""The attribute of a function with what its file says of parameters and outputs beyond types, by part and name."""

NOTHING = DictionaryAttr(())


def argument_counts(op: Operation) -> tuple[int, ...] | None:
    """Returns the number of inputs of each parameter that a node states; None where it states none."""
    declared = op.extra.get(INPUT_ARG_COUNT)
    return tuple(map(int, declared.values)) if isinstance(declared, DenseArrayAttr) else None


DECLARATIONS = "declarations"
"""The namespace of functions and operators."""


class Namespace(Symbol):
    """A library: what it declares is found by its name within it, and by its symbol, a dot and the name elsewhere."""

    __slots__ = ()

    @property
    @abstractmethod
    def body(self) -> Block:
        """The block with what it declares."""


class FunctionDefinition(
    Op,
    Symbol,
    name="common_ir.function",
    traits=(
        traits.IsolatedFromAbove,
        traits.SymbolTrait,
        traits.SingleBlock,
        traits.Declares,
        traits.GraphRegion,
        traits.PromisesShapes,
    ),
):
    """A function with typed parameters, called by nodes of the file that it stands in, and of those that import it.

    Its parameters are the arguments of its block, its outputs the operands of `onnx.return`. `attributes` are formal:
    dictionaries with `name`, `type` and, unless it is required, `default`; operations inside refer to them by
    `onnx.attribute_references`. It is not a program of its own: what runs is an instance of it that has a value for
    each attribute.
    """

    sym_name: str = attribute(attr_types.symbol_name, doc="the name of the function")
    content: Region = region(doc="what runs; the order of its operations is free, but without cycles")
    attributes: tuple[DictionaryAttr, ...] = attribute(attr_types.dictionaries, default=(), doc="formal attributes")
    declared: DictionaryAttr = attribute(
        attr_types.dictionary, default=NOTHING, doc="declared types with wildcards, by the name of the parameter"
    )
    opset_import: DictionaryAttr = attribute(
        attr_types.dictionary, default=NOTHING, doc="versions of operator sets where they differ from those around it"
    )

    namespace = DECLARATIONS

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    def path_to(self, op: Operation) -> str | None:
        around = self.parent_op.symbol_name if isinstance(self.parent_op, Namespace) else onnx.GRAPH
        return onnx.path_in(self, f"{around}.function '{self.sym_name}'", op)

    @property
    def body(self) -> Block:
        """The block that runs."""
        return self.content.block

    @property
    def inputs(self) -> NamedValues:
        """Its parameters."""
        return NamedValues(self.body.arguments)

    @property
    def outputs(self) -> NamedValues:
        """Returns the values that the function returns."""
        return NamedValues(onnx.returned(self.content))

    @property
    def _interface(self) -> tuple[Value, ...]:
        return (*self.inputs, *self.outputs)

    def infer(self) -> tuple[Type, ...]:
        return ()

    def verify(self) -> Iterator[Diagnostic]:
        return self.verify_sharing(Shared())

    def verify_sharing(self, shared: Shared) -> Iterator[Diagnostic]:
        yield from check_graph(self.content)
        yield from checks.limited(self._broken_rules(shared))

    def _broken_rules(self, shared: Shared) -> Iterator[Diagnostic]:
        try:
            attributes = attributes_from(self.attributes)
            declared = self.declared_types()
        except ValueError as error:
            known = list(checks.declared_texts(self.declared))
            yield from known or [Diagnostic(WRONG_ATTRIBUTE, f"function '{self.sym_name}': {error}")]
            return
        if not self.inputs:
            yield rules.FUNCTION_HAS_INPUT.broken(f"function '{self.sym_name}' has no input")
        if not self.outputs:
            yield rules.FUNCTION_HAS_OUTPUT.broken(f"function '{self.sym_name}' has no output")
        for what, values in (("parameter", self.inputs), ("output", self.outputs)):
            for n, v in enumerate(values):
                if not v.name:
                    yield rules.TYPED_PARAMETERS.broken(f"{what} {n} has no name")
                if (problem := checks.untyped(v)) and v.name not in declared:
                    yield rules.TYPED_PARAMETERS.broken(f"{what} '{v.name}' {problem}")
        formals = [a.name for a in attributes]
        names = list(checks.names_in(self.body, formals))
        yield from checks.unique(names)
        yield from checks.nested_graphs(self.body)
        yield from checks.unique((v.name, "output") for v in self.outputs)
        for name in dict.fromkeys(v.name for v in self.outputs if isinstance(v.owner, Block)):
            yield rules.UNIQUE_NAMES.broken(f"'{name}' is the name of a parameter and an output")
        yield from checks.identifiers(name for name, _ in names)
        yield from checks.defined(self.body, [name for name, _ in names])
        yield from checks.order(self.body, is_free=True)
        yield from checks.outputs_named(self.body)
        yield from checks.map_types((*self.inputs, *(v for op in self.body.operations for v in op.results)))
        yield from checks.documentation(self.extra.get(onnx.DOC_STRING))
        yield from checks.documentation_within(self)
        for a in attributes:
            yield from checks.documentation(a.doc, f"attribute '{a.name}'")
            if a.type.text in (GRAPH, GRAPHS):
                text = f"attribute '{a.name}' of function '{self.sym_name}' is a graph, which functions do not take"
                yield Diagnostic(WRONG_ATTRIBUTE, text)
        texts = {v: declared[v.name] for v in self._interface if v.name in declared}
        yield from DeclaredTypes(self, self.body, texts).findings()
        yield from self.undeclared_references(formals)
        cycle = shared.of(Cycles).through(self, lambda: _definitions_around(self))
        if cycle:
            yield rules.NO_RECURSION.broken(f"function '{self.sym_name}' calls itself: {cycle_text(cycle)}")

    def undeclared_references(self, formals: Collection[str]) -> Iterator[Diagnostic]:
        """Attributes of the function that nodes refer to and that it does not have."""
        for n, node in enumerate(checks.nodes_of(self.body)):
            for name, formal in ((k, v) for op in node.walk() for k, v in references_of(op).items()):
                if formal not in formals:
                    text = (
                        f"attribute '{name}' refers to '{formal}', and function '{self.sym_name}' has no such attribute"
                    )
                    where, help = checks.place_of(node, n), did_you_mean(formal, formals)
                    yield Diagnostic(WRONG_ATTRIBUTE, text, where=where, help=help)

    def parameter_docs(self) -> Mapping[tuple[str, str], str]:
        """Returns the documentation strings of parameters, by `input` or `output` and the name."""
        forms = self.extra.get(PARAMETER_FORMS)
        out: dict[tuple[str, str], str] = {}
        for key, form in forms.entries if isinstance(forms, DictionaryAttr) else ():
            doc = dict(form.entries).get("doc_string") if isinstance(form, DictionaryAttr) else None
            part, _, name = key.partition(" ")
            if isinstance(doc, StringAttr):
                out[part, name] = doc.value
        return out

    def declared_types(self) -> Mapping[str, DeclaredType]:
        """Declared types of parameters and outputs that tensor types cannot say. Raises: ValueError."""
        out: dict[str, DeclaredType] = {}
        for name, explicit in self.declared.entries:
            if not isinstance(explicit, StringAttr):
                raise ValueError(f"the declared type of '{name}' must be a string")
            out[name] = declared_type(explicit.value)
        return out

    def actual_attributes(self, given: DictionaryAttr, referred: Collection[str] = ()) -> dict[str, Attribute]:
        """A value for each formal attribute that has one; those of `referred` have it from the function around.

        Raises: DiagnosticError (E0505) with all that do not fit.
        """
        wrong: list[Diagnostic] = []
        out: dict[str, Attribute] = {}
        values = dict(given.entries)
        try:
            formals = {a.name: a for a in attributes_from(self.attributes)}
        except ValueError as error:
            raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, f"function '{self.sym_name}': {error}")) from None
        for name in (*values, *referred):
            if name not in formals:
                help = did_you_mean(name, formals)
                text = f"function '{self.sym_name}' has no attribute '{name}'"
                wrong.append(Diagnostic(WRONG_ATTRIBUTE, text, help=help))
        for name, formal in formals.items():
            value = values.get(name, formal.default)
            if name in referred:
                continue
            if value is None:
                if not formal.type.is_optional:
                    text = f"function '{self.sym_name}' needs the attribute '{name}'"
                    wrong.append(Diagnostic(WRONG_ATTRIBUTE, text))
                continue
            try:
                content = None if formal.type.attr_type is None else formal.type.attr_type.from_attribute(value)
            except ValueError as error:
                text = f"attribute '{name}' of function '{self.sym_name}': {error}"
                wrong.append(Diagnostic(WRONG_ATTRIBUTE, text))
                continue
            check = formal.type.check
            if check is not None and not check.holds(content):
                text = f"attribute '{name}' of function '{self.sym_name}' must be {check.text}"
                wrong.append(Diagnostic(WRONG_ATTRIBUTE, text))
            out[name] = formal.type.literal(value)
        if wrong:
            raise DiagnosticError(*wrong)
        return out

    def formal_attributes(self) -> tuple[DeclaredAttribute, ...]:
        """Returns its attributes. Raises: ValueError where a declaration is malformed."""
        return attributes_from(self.attributes)

    def literals(self, given: DictionaryAttr) -> DictionaryAttr:
        """Values of attributes as operators take them: scalars and vectors as literals, whatever their form."""
        formals = {a.name: a.type for a in attributes_from(self.attributes)}
        return DictionaryAttr(tuple([(k, formals[k].literal(v) if k in formals else v) for k, v in given.entries]))

    def groups(self, types: Sequence[Type], counts: Sequence[int] | None = None) -> list[Group]:
        """Returns operands by parameter; without argument counts each parameter takes one.

        Raises: DiagnosticError (E0502, E0505) where they do not go together.
        """
        return grouped(self.sym_name, self.inputs, self._types_of(self.inputs), types, counts)

    def unified(self, types: Sequence[Type], counts: Sequence[int] | None = None) -> Unification:
        """Returns the values of the signature's dimension variables for operands of some types.

        Raises: DiagnosticError (E0502, E0503, E0505) with all that do not fit.
        """
        result = Unification({}, types)
        wrong: list[Diagnostic] = []
        for group in self.groups(types, counts):
            for expected, t in zip(group.declared_operands(), group.types, strict=True):
                try:
                    result.match(expected, t)
                except (Mismatch, NotationError) as error:
                    text = f"parameter '{group.parameter.name}' of function '{self.sym_name}': {error}"
                    wrong.append(Diagnostic(WRONG_TYPE, text))
        if wrong:
            raise DiagnosticError(*wrong)
        return result

    def result_types(self, types: Sequence[Type], counts: Sequence[int] | None = None) -> tuple[Type, ...]:
        """Returns the result types for operand types, according to the signature.

        Raises: DiagnosticError (E0502, E0503) when operands do not fit.
        """
        result = self.unified(types, counts)
        out: list[Type] = []
        for expected in self._types_of(self.outputs):
            try:
                out.append(expected.resolve(result))
            except Undetermined:
                out.append(unknown)
        return tuple(out)

    def signature_types(self) -> tuple[DeclaredType, ...]:
        """The declared types of its parameters and outputs. Raises: DiagnosticError (E0505) for a malformed one."""
        return self._types_of(self._interface)

    def _types_of(self, values: Sequence[Value]) -> tuple[DeclaredType, ...]:
        """The declared types of some parameters or outputs. Raises: DiagnosticError (E0505) where one is none."""
        try:
            declared = self.declared_types()
        except ValueError as error:
            text = f"function '{self.sym_name}': {error}"
            raise DiagnosticError(Diagnostic(WRONG_ATTRIBUTE, text)) from None
        return tuple([declared.get(v.name) or as_declared(v.type) for v in values])


def _definitions_around(function: FunctionDefinition) -> list[FunctionDefinition]:
    """Returns the functions of a program, or the function alone if it is in none."""
    module = module_around(function)
    return [function] if module is None else [op for op in module.nested() if isinstance(op, FunctionDefinition)]


# -- instances


def instance_of(
    function: FunctionDefinition,
    given: DictionaryAttr,
    types: Sequence[Type],
    counts: Sequence[int] | None = None,
) -> onnx.FunctionInstance:
    """A function with values for its attributes, on operands of some types; its inputs are these operands.

    The dimension variables of its signature are the sizes of the operands there: they are names of the function only,
    whatever the same names mean where it is called.
    Raises: DiagnosticError (E0502, E0503, E0505) when operands or values do not fit, (E0255) when its operations need
    each other in a cycle.
    """
    groups = function.groups(types, counts)
    bindings = function.unified(types, counts)
    actual = function.actual_attributes(given)
    wrong = tuple(function.undeclared_references([a.name for a in attributes_from(function.attributes)]))
    if wrong:
        raise DiagnosticError(*wrong)
    block, values = _received(groups, bindings)
    types_of_operands = [d for group in groups for d in group.declared_operands()]
    declared = tuple(map(str, (*types_of_operands, *function.signature_types()[len(groups) :])))
    try:
        result = FunctionInstance(function.sym_name, Region([block]), declared)
        fill_beside(function, result, function.body, block, values, actual)
    except CyclicOrder as error:
        text = f"nodes of function '{function.sym_name}' need each other in a cycle: {error}"
        raise DiagnosticError(rules.ACYCLIC.broken(text)) from None
    own = symbols_of([v.type for v in values])
    renamed: dict[str, Dim] = {n: symbol(f"{function.sym_name}.{n}", 0) for n in own}
    specialize(block, renamed | bindings.dims)
    return result


def shared_instance(
    instances: Instances | None,
    function: FunctionDefinition,
    given: DictionaryAttr,
    types: Sequence[Type],
    counts: Sequence[int] | None,
) -> onnx.FunctionInstance:
    """Returns the instance of a function that calls share; see `instance_of`."""
    key = function, given, tuple(types), None if counts is None else tuple(counts)
    known = None if instances is None else instances.get(key)
    if isinstance(known, FunctionInstance):
        return known
    result = instance_of(function, given, types, counts)
    if instances is not None:
        instances.add(key, result)
    return result


def _received(groups: Sequence[Group], bindings: Unification) -> tuple[Block, dict[Value, Value]]:
    """Returns a block that begins with the operands of a call, and its values that stand for the parameters."""
    arguments: list[tuple[Type, str]] = []
    for g in groups:
        type = g.element(bindings) if g.makes_list else g.parameter.type
        arguments += [
            (type, f"{g.parameter.name}_{n}" if g.makes_list else g.parameter.name) for n in range(len(g.types))
        ]
    block = Block([type for type, _ in arguments], [name for _, name in arguments])
    return block, {g.parameter: g.received(block, bindings) for g in groups}


def references_of(op: Operation) -> Mapping[str, str]:
    """Returns the attributes of an operation in a function that refer to attributes of the function: their names there
    by names here.
    """
    declared = op.extra.get(ATTRIBUTE_REFERENCES)
    entries = declared.entries if isinstance(declared, DictionaryAttr) else ()
    return {name: to.value for name, to in entries if isinstance(to, StringAttr)}


# -- calls


def scope_around(op: Operation) -> Block | None:
    """The block of declarations that bare names refer to at an operation: of its library, else of the module."""
    for holder in op.ancestors():
        if isinstance(holder, Namespace):
            return holder.body
        if isinstance(holder, Module):
            return holder.body
    return None


def module_around(op: Operation) -> Module | None:
    """The outermost module around an operation."""
    result = [holder for holder in op.ancestors() if isinstance(holder, Module)]
    return result[-1] if result else None


def declared_as(user: Operation, name: str) -> Symbol | None:
    """The function or operator that a name means at an operation."""
    library, dot, bare = name.rpartition(".")
    if not dot:
        return symbol_in(scope_around(user), name)
    module = module_around(user)
    holder = None if module is None else symbol_in(module.body, library)
    return symbol_in(holder.body, bare) if isinstance(holder, Namespace) else None


def symbol_in(block: Block | None, name: str) -> Symbol | None:
    """The first declaration or library of a name in a block; nodes cannot refer to a graph."""
    for op in () if block is None else symbols_named(block, name):
        if isinstance(op, Symbol) and not isinstance(op, Function):
            return op
    return None


class Call(Op, Invocation, name="common_ir.call"):
    """Runs a function of the file or of a library, with values for its attributes.

    `function` is its name as nodes say it: bare within its own file, after the name of its library elsewhere.

    C1: arguments fit the parameters of the function.
    """

    function: str = attribute(attr_types.string, doc="the function, as the node names it")
    arguments: tuple[Value, ...] = operand(any_type, variadic=True, default=())
    attributes: DictionaryAttr = attribute(attr_types.dictionary, default=NOTHING, doc="values of its attributes")
    outputs: tuple[Value, ...] = result(any_type, variadic=True)

    @constraint("C1")
    def fits_parameters(self) -> tuple[Constraint, ...]:
        """arguments fit the parameters of the function."""
        definition = self.definition
        try:
            types = [v.type for v in self.arguments]
            return definition.unified(types, self.counts).constraints if definition is not None else ()
        except DiagnosticError:
            return ()  # reported by `infer`

    @property
    def definition(self) -> FunctionDefinition | None:
        """The function that it names; None when there is none."""
        result = declared_as(self, self.function)
        return result if isinstance(result, FunctionDefinition) else None

    @property
    def counts(self) -> tuple[int, ...] | None:
        """The number of arguments of each parameter; None when each has one."""
        return argument_counts(self)

    @property
    def callee(self) -> onnx.FunctionInstance:
        """The function with the values that this call gives. Raises: DiagnosticError."""
        return self.called_with([v.type for v in self.arguments])

    def infer(self) -> tuple[Type, ...]:
        declared = tuple([r.type for r in self.built_results or ()])
        result = self.definition
        counts = self.counts
        is_misused = result is not None and counts is not None and len(counts) != len(result.inputs)
        if result is None or is_misused or len(result.outputs) != len(declared):
            return declared  # reported by `verify`, and by the enclosing graph, library or function
        return result.result_types([v.type for v in self.arguments], counts)

    def trace_key(self) -> object:
        definition = self.definition
        declared = tuple([r.type for r in self.built_results or ()])
        if definition is None or len(definition.outputs) != len(declared):
            return declared
        return self.counts, len(definition.inputs), *map(str, definition.signature_types())

    def called_with(self, types: Sequence[Type], instances: Instances | None = None) -> onnx.FunctionInstance:
        result = self.definition
        if result is None:
            raise DiagnosticError(rules.DECLARED.broken(f"the function '{self.function}' is not declared"))
        return shared_instance(instances, result, self.attributes, types, self.counts)

    def verify(self) -> Iterator[Diagnostic]:
        if module_around(self) is None:
            return
        result = self.definition
        if result is None:
            return  # reported by the enclosing graph, library or function
        try:
            result.actual_attributes(self.attributes, references_of(self))
        except DiagnosticError as error:
            yield from error.diagnostics
        if len(self.results) != len(result.outputs):
            expected = plural(len(result.outputs), "output")
            text = f"function '{result.sym_name}' has {expected}, the node names {len(self.results)}"
            yield Diagnostic(WRONG_OPERAND_COUNT, text)
