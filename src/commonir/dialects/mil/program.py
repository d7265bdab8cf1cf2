"""The structure of an ML Program: functions, ends of blocks, constants.

The module itself stands for the Program message. Parts of a message without a field here (documentation, attributes of
tensor types, fields of later versions) are preserved under `mil.residue`; see `formats/coreml/residue.py`. Source: MIL
specification, Program, Function, Block and Values.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping

from commonir.base.codes import IMPOSSIBLE_EDIT, MALFORMED_REGION
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import MALFORMED_PROGRAM
from commonir.base.text import plural
from commonir.dialects import core
from commonir.dialects.core.constants import constant
from commonir.dialects.core.control import Yield
from commonir.dialects.mil.base import MilOp, Structural, systems_text
from commonir.dialects.mil.description import Interface, description_of, port_of_feature
from commonir.dialects.mil.description_edits import describe_function
from commonir.ir.attributes import ArrayAttr, Attribute, DataAttr, DictionaryAttr, StringAttr, TypeAttr
from commonir.ir.data import Data, InlineData, TextData
from commonir.ir.interface import NO_PORT, Port
from commonir.ir.module import Function, Module, NamedValues, replace_function
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.ports import NewInterface
from commonir.ir.types import ListType, MapType, TensorType, TupleType, Type, are_numbers, boolean, string, tensor
from commonir.notation import NotationError
from commonir.ods import attr_types, attribute, constraint, operand, region, result
from commonir.ods.attr_types import AttrType
from commonir.ods.traits import ConstantLike, Inline, IsolatedFromAbove, Pure, SymbolTrait, Terminator
from commonir.symbolic import Dim

RESIDUE = "mil.residue"
"""Undeclared attribute: parts of a message without a form here, as bytes by the path in the message."""
DOCUMENTATION = "mil.doc"
"""Undeclared attribute of the module: the documentation of the program."""
PROGRAM_VERSION = "mil.version"
"""Undeclared attribute of the module: the version of the program format, 1."""
PROGRAM_ATTRIBUTES = "mil.attributes"
"""Undeclared attribute of the module, and of the end of a block: attributes of the program, or of the block."""
FLEXIBLE_SHAPES = "FlexibleShapeInformation"
"""An attribute of functions in the text form: dictionaries of shapes and ranges by the names of inputs."""
UNNAMED = "mil.unnamed"
"""Undeclared attribute: the operation has no name."""
MAP_ORDER = "mil.order"
"""Undeclared attribute: inputs and attributes in the order of the file, where that is not alphabetical."""
UNUSUAL = "mil.unusual"
"""Undeclared attribute: constants of declared attributes whose types are not those that their values alone suggest."""
PARAMETERS = "mil.parameters"
"""Undeclared attribute of an operation without definition: for each parameter the number of its operands."""

# The maximum number of elements of a vector in shape inference.
_SHORT = 4096


class Compound:
    """A list, tuple or dictionary known before the program runs. A dictionary alternates keys and values."""

    __slots__ = ("type", "values")

    def __init__(self, type: ListType | TupleType | MapType, values: Iterable[Data | Compound]) -> None:
        self.type = type
        self.values = tuple(values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compound) and (self.type, self.values) == (other.type, other.values)

    def __hash__(self) -> int:
        return hash((self.type, self.values))

    def __repr__(self) -> str:
        return f"Compound({self.type}, {plural(len(self.values), 'value')})"


def value_attribute(value: Data | Compound) -> Attribute:
    """A constant as an attribute; a scalar string as plain text."""
    if isinstance(value, Compound):
        values = ArrayAttr(tuple([value_attribute(v) for v in value.values]))
        return DictionaryAttr((("type", TypeAttr(value.type)), ("values", values)))
    if isinstance(value, TextData) and value.shape == ():
        return StringAttr(str(value.values()[0]))
    return DataAttr(value)


def attribute_value(attr: Attribute) -> Data | Compound:
    """The constant that an attribute holds; the inverse of `value_attribute`.

    Raises: ValueError when it holds none.
    """
    match attr:
        case DataAttr(data=data):
            return data
        case StringAttr(value=text):
            return TextData(tensor(string), (text,))
        case DictionaryAttr(
            entries=(
                ("type", TypeAttr(type=ListType() | TupleType() | MapType() as kind)),
                ("values", ArrayAttr(values=values)),
            )
        ):
            return Compound(kind, map(attribute_value, values))
        case _:
            raise ValueError(f"expected a constant, found {attr!r}")


def _to_compound(value: object) -> Compound:
    if not isinstance(value, Compound):
        raise ValueError(f"expected a list, tuple or dictionary, found {value!r}")
    return value


def _compound_of(attr: Attribute) -> Compound:
    return _to_compound(attribute_value(attr))


COMPOUND: AttrType[Compound] = AttrType("list, tuple or dictionary", _to_compound, value_attribute, _compound_of)


class DescribedFunction(Function):
    """A function that ends with a `Return`, and whose interface the description of the model around it describes."""

    __slots__ = ()

    @property
    def inputs(self) -> NamedValues:
        return NamedValues(self.body.arguments)

    @property
    def outputs(self) -> NamedValues:
        last = self.body.last
        return NamedValues(last.values if isinstance(last, Return) else (), lambda: self.output_names)

    @property
    def output_names(self) -> tuple[str, ...]:
        last = self.body.last
        return last.names if isinstance(last, Return) else ()

    @property
    def input_ports(self) -> Mapping[str, Port]:
        interface = self._interface
        features = () if interface is None else (*interface.inputs, *interface.states)
        return {f.name: port_of_feature(f) for f in features}

    @property
    def output_ports(self) -> Mapping[str, Port]:
        interface = self._interface
        return {} if interface is None else {f.name: port_of_feature(f) for f in interface.outputs}

    def core_type(self, type: Type) -> Type:
        """A list of tensors of known rank is one tensor with a leading axis, as long as it may become."""
        if not isinstance(type, ListType) or not isinstance(type.element, TensorType) or type.element.shape is None:
            return type
        return type.element.with_shape((None, *type.element.shape))

    @property
    def _interface(self) -> Interface | None:
        """Returns the description of the function in that of the enclosing model."""
        holder = self.parent_op
        description = description_of(holder) if isinstance(holder, Module) else None
        return None if description is None else description.interface(self.symbol_name)


class Labelling(Operation):
    """An operation that returns a vector of probabilities as a dictionary with labels as keys."""

    __slots__ = ()

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...] | tuple[int, ...]:
        """The names, in order; nothing when they are not known."""


class Func(MilOp, DescribedFunction, name="mil.func", traits=(IsolatedFromAbove, SymbolTrait, Structural)):
    """A function of an ML Program.

    It has a body for each operation set it was specialized for: a region of one block whose label is the name of that
    operation set. The one named by `opset` is the one that runs. Each receives all inputs, and all return the same
    outputs.

    Source: MIL specification, Function.
    """

    sym_name: str = attribute(attr_types.symbol_name)
    opset: str = attribute(attr_types.string)
    specializations: tuple[Region, ...] = region(variadic=True, doc="the function in each operation set")

    copies = "mil.identity"

    @property
    def symbol_name(self) -> str:
        return self.sym_name

    @property
    def output_ports(self) -> Mapping[str, Port]:
        ports = dict(super().output_ports)
        for name, v in zip(self.output_names, self.outputs, strict=False):
            if isinstance(v.type, MapType) and isinstance(v.owner, Labelling):
                ports[name] = ports.get(name, NO_PORT)._replace(labels=v.owner.labels)
        return ports

    @property
    def operation_set(self) -> str:
        return self.body.label

    @property
    def systems(self) -> str:
        """The first systems that have the operation set of the function."""
        return systems_text(self.opset)

    def replace_interface(self, new: NewInterface) -> Function:
        places = [new.renamed.get(v.name) for v in new.body.arguments]
        if RESIDUE in self.extra and places != [v.name for v in self.inputs]:
            message = f"the file says something of the inputs of '{self.sym_name}' that is not understood"
            raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message))
        for name, value in new.outputs:
            value.name = name
        end = Return(tuple([v for _, v in new.outputs]), tuple([name for name, _ in new.outputs]))
        end.update_extra((self.body.last or end).extra)
        new.body.append(end)
        self._rename_shapes(new)
        result = replace_function(self, Func(self.sym_name, self.opset, (Region([new.body]),)))
        if isinstance(result.parent_op, Module):
            describe_function(result.parent_op, result, new)
        return result

    def _rename_shapes(self, new: NewInterface) -> None:
        """Makes what the text form says of flexible shapes speak of inputs by their new names.

        Raises: DiagnosticError (E0603) when inputs are others or have other sizes than it says.
        """
        kept = self.extra.get(PROGRAM_ATTRIBUTES)
        entries = dict(kept.entries) if isinstance(kept, DictionaryAttr) else {}
        if FLEXIBLE_SHAPES not in entries:
            return
        names = {old: name for name, old in new.renamed.items()}
        types = {new.renamed.get(v.name): v.type for v in new.body.arguments}
        if types != {v.name: v.type for v in self.inputs}:
            message = f"what '{self.sym_name}' says as {FLEXIBLE_SHAPES} would no longer hold"
            help = "write it as a package first, whose description follows: `cir convert M --to coreml -o OUT`"
            raise DiagnosticError(Diagnostic(IMPOSSIBLE_EDIT, message, help=help))
        entries[FLEXIBLE_SHAPES] = value_attribute(_with_keys(attribute_value(entries[FLEXIBLE_SHAPES]), names))
        self.set_extra(PROGRAM_ATTRIBUTES, DictionaryAttr(tuple(entries.items())))

    @property
    def body(self) -> Block:
        """The block that runs; of a function without that specialization, its first block."""
        blocks = [r.block for r in self.specializations]
        return next((b for b in blocks if b.label == self.opset), blocks[0])

    def verify(self) -> Iterator[Diagnostic]:
        blocks = [block for r in self.specializations for block in r.blocks]
        if len(blocks) != len(self.specializations) or not blocks:
            message = f"{self.name}: each specialization must have one block, found {len(blocks)}"
            yield Diagnostic(MALFORMED_REGION, message)
            return
        if all(b.label != self.opset for b in blocks):
            known = ", ".join(b.label for b in blocks if b.label) or "none"
            message = f"F1: no specialization for the operation set '{self.opset}' that the function names"
            yield Diagnostic(MALFORMED_PROGRAM, message, notes=(f"found: {known}",))
        expected = _signature(blocks[0])
        for block in blocks[1:]:
            if _signature(block) != expected:
                message = f"F2: the outputs of specialization '{block.label}' differ from those of '{blocks[0].label}'"
                notes = (f"expected: {_signature_text(blocks[0])}", f"found: {_signature_text(block)}")
                yield Diagnostic(MALFORMED_PROGRAM, message, notes=notes)


class Return(MilOp, name="mil.return", traits=(Terminator, Structural)):
    """Ends a block with its results and their names.

    Source: MIL specification, Block, outputs.
    """

    values: tuple[Value, ...] = operand("any", variadic=True)
    names: tuple[str, ...] = attribute(attr_types.strings)

    @constraint("C1")
    def one_name_each(self) -> bool:
        """there is one name for each value."""
        return len(self.names) == len(self.values)

    def reference(self, values: tuple[Value, ...]) -> Operation:
        return Yield(values)


class Constant(MilOp, traits=(Pure, ConstantLike)):
    """A tensor that is known before the program runs."""

    val: Data = attribute(attr_types.data)
    output: Value = result("any")

    def reference(self) -> Value:
        return constant(self.val)

    def constant_data(self) -> Data | None:
        # A constant that a reader could not decode has no value.
        value = self.attribute_values[0]
        return value if isinstance(value, Data) else None

    def constant_dims(self) -> tuple[Dim, ...] | None:
        data = self.constant_data()
        if data is None or not data.element.is_integer or len(data.shape) > 1 or data.count > _SHORT:
            return None
        return tuple([int(v) for v in data.values()])


class Const(Constant, name="mil.const"):
    """A constant tensor, held in the program or in a weight file.

    Source: MIL specification, Value; coremltools operation `const`.
    """


class Literal(Constant, name="mil.literal", traits=(Inline, Structural)):
    """A constant tensor that an operation of the file contains instead of the name of a value.

    Source: MIL specification, Argument, Binding.
    """


class CompoundConstant(MilOp, name="mil.compound_const", traits=(Pure, ConstantLike, Structural)):
    """A list, tuple or dictionary that is known before the program runs: a `const` of such a type.

    In the core, a list of tensors of one shape is one tensor, whose first axis numbers them.

    Source: MIL specification, Value.
    """

    val: Compound = attribute(COMPOUND)
    output: Value = result("any")

    def infer(self) -> tuple[Type, ...]:
        return (self.val.type,)

    def reference(self) -> Value:
        return _lowered(self.val)

    def constant_data(self) -> Data | None:
        # A constant that a reader could not decode has no value.
        value = self.attribute_values[0]
        return tensor_of_list(value) if isinstance(value, Compound) else None


class CompoundLiteral(CompoundConstant, name="mil.compound_literal", traits=(Inline,)):
    """A list, tuple or dictionary that an operation of the file contains instead of the name of a value.

    Source: MIL specification, Argument, Binding.
    """


def _with_keys(value: Data | Compound, names: Mapping[str, str]) -> Data | Compound:
    """A constant with other keys in its dictionaries, and in those inside of them."""
    if not isinstance(value, Compound):
        return value
    values = [_with_keys(v, names) for v in value.values]
    if isinstance(value.type, MapType):
        values[::2] = [_renamed(key, names) for key in values[::2]]
    return Compound(value.type, values)


def _renamed(key: Data | Compound, names: Mapping[str, str]) -> Data | Compound:
    name = names.get(str(key.values()[0])) if isinstance(key, Data) and key.shape == () else None
    return key if name is None else TextData(tensor(string), (name,))


def tensor_of_list(value: Compound) -> Data | None:
    """A list of tensors of one shape as one tensor, whose first axis numbers them; None when it is something else."""
    type = value.type.element if isinstance(value.type, ListType) else None
    if not isinstance(type, TensorType) or type.shape is None or not are_numbers(type.shape):
        return None
    tensors = [v for v in value.values if isinstance(v, Data)]
    element, stacked = type.element, type.with_shape((len(tensors), *type.shape))
    if element is string:
        return TextData(stacked, [str(text) for t in tensors for text in t.values()])
    if element.bits % 8 and element is not boolean:
        return None
    return InlineData(stacked, b"".join([t.buffer() for t in tensors]))


def _lowered(value: Data | Compound) -> Value:
    """The constant in the core, where a list is a tensor. Raises: NotationError for what has no form there."""
    if isinstance(value, Data):
        return constant(value)
    data = tensor_of_list(value)
    if data is not None:
        return constant(data)
    match value.type:
        case TupleType():
            return core.tuple_of(tuple([_lowered(v) for v in value.values]))
        case MapType(key=key, value=kind):
            columns = (
                Compound(ListType(key, None), value.values[::2]),
                Compound(ListType(kind, None), value.values[1::2]),
            )
            keys, values = map(tensor_of_list, columns)
            if keys is not None and values is not None:
                return core.map_of(constant(keys), constant(values))
        case ListType():
            pass
    raise NotationError(f"a constant of type {value.type} has no form in the core")


def _signature(block: Block) -> tuple[tuple[str, Type], ...] | None:
    last = block.last
    return tuple(zip(last.names, [v.type for v in last.values], strict=False)) if isinstance(last, Return) else None


def _signature_text(block: Block) -> str:
    return ", ".join(f"{name}: {type}" for name, type in _signature(block) or ())
