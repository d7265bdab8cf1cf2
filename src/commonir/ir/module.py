"""Modules, functions and symbols: the structure of programs that all dialects share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Self, SupportsIndex, TypeVar, overload

from commonir.base.codes import IMPOSSIBLE_EDIT, UNKNOWN_FUNCTION
from commonir.base.diagnostics import Diagnostic, DiagnosticError, InternalError
from commonir.base.file_codes import LIMIT_EXCEEDED
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape, plural, shortened
from commonir.ir.attributes import Attribute, StringAttr
from commonir.ir.core_types import core_type
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.ports import Metadata, NewInterface, Port
from commonir.ir.printable import PrintableOperation
from commonir.ir.types import Type


class NamedValues(tuple[Value, ...]):  # noqa: SLOT001  a tuple cannot have slots for its names
    """Values of an interface by position or by name.

    `names` returns their names when one is looked up; without it, values have the names that they have in the file.
    Raises: KeyError for a name that none of them has, with the nearest ones.
    """

    _names: Callable[[], Sequence[str]] | None

    def __new__(cls, values: Iterable[Value], names: Callable[[], Sequence[str]] | None = None) -> Self:
        result = super().__new__(cls, values)
        result._names = names
        return result

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values, in order."""
        return tuple([v.name for v in self] if self._names is None else self._names())

    def _ipython_key_completions_(self) -> list[str]:
        """Returns the names that a prompt completes between brackets."""
        return list(self.names)

    @overload
    def __getitem__(self, index: SupportsIndex | str, /) -> Value: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[Value, ...]: ...
    def __getitem__(self, index: SupportsIndex | str | slice, /) -> Value | tuple[Value, ...]:
        if not isinstance(index, str):
            return super().__getitem__(index)
        names = self.names
        if index not in names:
            raise KeyError(unknown_name(index, names))
        return super().__getitem__(names.index(index))


def symbols_named(block: Block, name: str) -> Sequence[Operation]:
    """Returns the symbols and modules of a name in a block, in order. Only the first search after a change visits the
    block.
    """
    known = block.symbol_index
    found = () if known is None or known[0] != block.changes else known[1].get(name, ())
    if known is not None and known[0] == block.changes and all(is_named(op, name) for op in found):
        return found
    index: dict[str, list[Operation]] = {}
    for op in block.operations:
        if isinstance(op, Symbol | Module):
            index.setdefault(op.symbol_name, []).append(op)
    block.symbol_index = block.changes, index
    return index.get(name, ())


def is_named(op: Operation, name: str) -> bool:
    """Returns whether an operation is a symbol or a module of a name."""
    return isinstance(op, Symbol | Module) and op.symbol_name == name


class Functions(dict[str, "Function"]):
    """Functions by name. Raises: KeyError for another name, with the nearest ones."""

    def __missing__(self, name: str) -> Function:
        raise KeyError(unknown_name(name, self))


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Returns the message that nothing has a name, with the nearest names or all of them."""
    names = list(known)
    all_names = f"the names are {', '.join(names) or 'none'}"
    return f"{name!r}: {did_you_mean(name, names) or all_names}"


class Symbol(Operation):
    """An operation that can be referred to by name within its module."""

    __slots__ = ()

    _completions: ClassVar[str] = "symbol_name"
    namespace: ClassVar[str] = ""
    """Symbols of one block and namespace have different names."""

    @property
    @abstractmethod
    def symbol_name(self) -> str:
        """The name it is referred to by."""


def weight_name(op: Operation) -> str:
    """Returns the name of a constant, else of the first named operation that uses it, else ""."""
    if isinstance(op, Symbol):
        return op.symbol_name
    users = [user.first_name for v in op.results for user in v.users]
    return op.first_name or next(filter(None, users), "")


class Function(Symbol):
    """A callable with named inputs and outputs. Dialects mix it into the operation that defines a function.

    `copies` is the identity operation of the dialect, for functions that may only return results of operations;
    `constants` is the operation that defines a constant tensor.
    `is_template`: it has no types of its own; each call instantiates it with the types of its arguments.
    `ordered_by_data`: its operations are ordered by their data dependences only.
    `on_memory`: its operations read and write buffers, in program order.
    """

    __slots__ = ()

    _completions: ClassVar[str] = (
        "body input_ports inputs is_declaration operation_set output_names output_ports outputs"
    )
    copies: ClassVar[str] = ""
    constants: ClassVar[str] = ""
    is_template: ClassVar[bool] = False
    ordered_by_data: ClassVar[bool] = False
    on_memory: ClassVar[bool] = False

    @property
    def is_declaration(self) -> bool:
        """Whether it has a signature but no body."""
        return False

    @property
    @abstractmethod
    def inputs(self) -> NamedValues:
        """The values it receives, by position or name."""

    @property
    @abstractmethod
    def outputs(self) -> NamedValues:
        """The values it returns, in order, by position or name."""

    @property
    @abstractmethod
    def output_names(self) -> tuple[str, ...]:
        """The names of its outputs, in order."""

    def described(self, about: Metadata) -> Metadata:
        """Returns the metadata of its module with what its dialect says of it elsewhere, where they lack that."""
        return about

    def __repr__(self) -> str:
        count = sum(not op.runs_nothing() for op in self.walk_list() if op is not self)
        return shortened(f"<{self.name} {self._signature()}, {plural(count, 'operation')}", ">")

    def _signature(self) -> str:
        """Returns its name with the names and types of what it receives and returns."""
        inputs = ", ".join([f"{v.name}: {v.type}" for v in self.inputs])
        outputs = ", ".join([f"{name}: {type}" for name, type in self.named_output_types])
        return escape(f"{self.symbol_name}({inputs}) -> ({outputs})")

    @property
    def referred_names(self) -> frozenset[str]:
        """Names of values that annotations refer to, in addition to operations and outputs."""
        return frozenset()

    @property
    def named_output_types(self) -> Sequence[tuple[str, Type]]:
        """The names and types of what it returns."""
        return [(name, v.type) for name, v in zip(self.output_names, self.outputs, strict=False)]

    @property
    @abstractmethod
    def body(self) -> Block:
        """Its only block, with the operations it executes."""

    @property
    def input_ports(self) -> Mapping[str, Port]:
        """The ports of inputs by name; inputs without an entry have an empty port."""
        return {}

    @property
    def output_ports(self) -> Mapping[str, Port]:
        """The ports of outputs by name; outputs without an entry have an empty port."""
        return {}

    @property
    def operation_set(self) -> str:
        """The version of its dialect that its operations belong to; "" where the dialect has none."""
        return ""

    def result_check(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> Operation | None:
        """Returns an operation that checks values returned for some inputs against the declared types; None if nothing
        has to be checked when it runs.

        Raises: DiagnosticError when they cannot fit.
        """
        del inputs, outputs
        return None

    def core_type(self, type: Type) -> Type:
        """Returns the type in the core of values of a type."""
        return core_type(type)

    def replace_interface(self, new: NewInterface) -> Function:
        """Replaces it in its module by a function of the same name with a new interface and body; returns the new one.

        References to its inputs and outputs in the module are updated. Where `copies` names an operation, each output
        is a result of an operation in the body, returned once.
        Raises: DiagnosticError (E0603) when functions of its dialect cannot be changed.
        """
        del new
        raise unchangeable(self)


def unchangeable(function: Function) -> DiagnosticError:
    """Returns the error that the inputs and outputs of a function cannot be changed (E0603)."""
    message = f"the inputs and outputs of '{function.symbol_name}' ({function.name}) cannot be changed"
    help = "convert the program first, for example to ONNX"
    return DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, help=help))


def distinct_names(names: Iterable[str], stem: str) -> tuple[str, ...]:
    """Returns unique names of inputs or outputs; those without one are named `stem` and a number."""
    out: dict[str, None] = {}
    for n, name in enumerate(names):
        expected = free = name or f"{stem}{n}"
        number = 1
        while free in out:
            number += 1
            free = f"{expected}_{number}"
        out[free] = None
    return tuple(out)


_F = TypeVar("_F", bound=Function)


def replace_function(old: Operation, new: _F) -> _F:
    """Replaces an operation of a module by a function, erases it, and returns the function."""
    if old.parent is None:
        raise InternalError(f"{old.name} is not in a module")
    old.parent.insert_before(old, new)
    new.location = old.location
    new.update_extra(old.extra)
    old.erase()
    return new


class Invocation(Operation):
    """Runs a function of a nested module: each operand is the corresponding input."""

    __slots__ = ()

    @property
    @abstractmethod
    def callee(self) -> Function | None:
        """The function that it runs; None when it cannot be resolved."""

    @property
    def definition(self) -> Operation | None:
        """The function as the program has it: for a template, not the instance that it runs."""
        return self.callee

    def called_with(self, types: Sequence[Type], instances: Instances | None = None) -> Function | None:
        """Returns the function that it runs for operands of these types; a template is instantiated for them.

        `instances` are shared by calls. Raises: DiagnosticError when the function cannot be run on them.
        """
        del types, instances
        return self.callee


class Instances:
    """Instances of templates by function, operand types and attributes, and what limits their number."""

    __slots__ = ("_by_key", "_operations")

    def __init__(self) -> None:
        self._by_key: dict[object, Function] = {}
        self._operations = 0

    def get(self, key: object) -> Function | None:
        """Returns the instance of a key; None if there is none yet."""
        return self._by_key.get(key)

    def add(self, key: object, instance: Function) -> None:
        """Adds an instance. Raises: DiagnosticError (E0303) when all have too many operations."""
        self._by_key[key] = instance
        self._operations += sum(1 for _ in instance.walk())
        if self._operations > DEFAULT_LIMITS.max_inlined_operations:
            raise DiagnosticError(too_many_inlined(instance.symbol_name))


def too_many_inlined(name: str) -> Diagnostic:
    """Returns the error that the calls in a function stand for too many operations."""
    message = f"the calls in '{name}' stand for more than {DEFAULT_LIMITS.max_inlined_operations:,} operations"
    help = "give functions fewer calls of each other: each call of a function is a copy of its operations"
    return Diagnostic(LIMIT_EXCEEDED, message, help=help)


ENTRY = "commonir.entry"
"""The name of the attribute that stores `Module.entry` in texts."""


_PROPERTIES = ("sym_name", "sym_visibility")


class Module(PrintableOperation):
    """A program: functions and globals, with attributes that describe its origin."""

    __slots__ = ("entry", "format", "tool_resources")

    _completions: ClassVar[str] = (
        "body entry format function functions inputs main module modules nested outputs symbol_name symbols"
    )
    name = "builtin.module"

    def __init__(self, attributes: Mapping[str, Attribute] | None = None, entry: str = "") -> None:
        super().__init__(regions=[Region([Block()])])
        self.entry = entry
        self.format = ""
        """The name of its format, if the dialect of its symbols does not determine it."""
        self.tool_resources: Mapping[str, Mapping[str, str]] = {}
        """Resources of the text for other tools: for each tool the values by key, as written in the text."""
        for key, value in (attributes or {}).items():
            if key == ENTRY and isinstance(value, StringAttr):
                self.entry = value.value
            else:
                self.set_extra(key, value)

    @classmethod
    def of_regions(cls, attributes: Mapping[str, Attribute], regions: Sequence[Region]) -> Self:
        """Returns a module with these regions; a region without a block gets an empty one."""
        result = cls(attributes)
        if regions:
            result.regions = tuple(regions)
            for region in regions:
                region.parent = result
                if not region.blocks:
                    region.add(Block())
        return result

    @property
    def discardable(self) -> Mapping[str, Attribute]:
        rest = {k: v for k, v in self.extra.items() if k not in _PROPERTIES}
        return {ENTRY: StringAttr(self.entry), **rest} if self.entry else rest

    @property
    def properties(self) -> Mapping[str, Attribute]:
        return {k: v for k, v in self.extra.items() if k in _PROPERTIES}

    @property
    def body(self) -> Block:
        """The block that holds functions and globals."""
        return self.regions[0].block

    @property
    def symbol_name(self) -> str:
        """The name by which enclosing modules refer to it; "" when it has none."""
        declared = self.extra.get("sym_name")
        return declared.value if isinstance(declared, StringAttr) else ""

    @property
    def modules(self) -> tuple[Module, ...]:
        """The modules directly inside it, in order."""
        return tuple([op for op in self.body.operations if isinstance(op, Module)])

    @property
    def symbols(self) -> Mapping[str, Symbol]:
        """The symbols by name; of several with one name, the first."""
        out: dict[str, Symbol] = {}
        for op in self.body.operations:
            if isinstance(op, Symbol):
                out.setdefault(op.symbol_name, op)
        return out

    def symbol(self, name: str) -> Symbol | None:
        """Returns its first symbol of a name; None if it has none."""
        return next((op for op in symbols_named(self.body, name) if isinstance(op, Symbol)), None)

    def module(self, name: str) -> Module | None:
        """Returns the first module of a name directly inside it; None if there is none."""
        return next((op for op in symbols_named(self.body, name) if isinstance(op, Module)), None)

    @property
    def functions(self) -> Mapping[str, Function]:
        """Functions by name, in order."""
        out = Functions()
        for op in self.body.operations:
            if isinstance(op, Function):
                out.setdefault(op.symbol_name, op)
        return out

    @property
    def defined_functions(self) -> Mapping[str, Function]:
        """Functions that have a body, by name, in order."""
        return Functions({name: f for name, f in self.functions.items() if not f.is_declaration})

    @property
    def main(self) -> Function:
        """The function that runs when none is named: `entry`, else `main`, else the only one.

        Raises: DiagnosticError (E0706) when there is no such function.
        """
        functions = self.defined_functions
        for name in (self.entry, "main"):
            if name in functions:
                return functions[name]
        if len(functions) == 1:
            return next(iter(functions.values()))
        message = f"the module has {len(functions)} functions and none is named 'main'"
        notes = (f"functions: {', '.join(functions) or 'none'}",)
        if not functions:
            message = "there is no function to run"
        raise DiagnosticError(Diagnostic(UNKNOWN_FUNCTION, message, notes=notes))

    def function(self, name: str | None) -> Function:
        """Returns the function of a name; the main one when none is named.

        Raises: DiagnosticError (E0706).
        """
        if name is None:
            return self.main
        functions = self.functions
        if name not in functions:
            help = did_you_mean(name, functions) or f"functions: {', '.join(functions) or 'none'}"
            raise DiagnosticError(Diagnostic(UNKNOWN_FUNCTION, f"the program has no function '{name}'", help=help))
        return functions[name]

    @property
    def inputs(self) -> NamedValues:
        """Inputs of the main function, by position or name."""
        return self.main.inputs

    @property
    def outputs(self) -> NamedValues:
        """Outputs of the main function, by position or name."""
        return self.main.outputs

    def __repr__(self) -> str:
        functions = self.functions
        if len(functions) == 1:
            (function,) = functions.values()
            return shortened(f"<Module {function!r}"[:-1].replace(f"<{function.name} ", ""), ">")
        names = f": {escape(', '.join(functions))}" if functions else ""
        return shortened(f"<Module of {plural(len(functions), 'function')}{names}", ">")

    def nested(self) -> Iterator[Operation]:
        """Yields all operations nested in it, without itself."""
        return (op for op in self.walk() if op is not self)

    def clone_shallow(self, operands: tuple[Value, ...], regions: tuple[Region, ...]) -> Self:
        del operands  # a module has none
        result = type(self)(self.extra, self.entry)
        result.format = self.format
        result.tool_resources = self.tool_resources
        result.regions = regions
        for region in regions:
            region.parent = result
        return result
