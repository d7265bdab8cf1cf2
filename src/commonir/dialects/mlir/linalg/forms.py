"""The text of structured operations: operands in `ins(...)` and `outs(...)`, bodies that the name says not repeated.

Source: MLIR linalg dialect, custom parsers and printers of its operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from commonir.base.diagnostics import DiagnosticError
from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir.linalg.base import MEMOIZED, StructuredOp, operand_element
from commonir.dialects.mlir.linalg.bodies import CONSTANT
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DialectAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from commonir.ir.locations import UnknownLoc
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ElementType, MemRefType, Type, i64
from commonir.ir.unregistered import UnregisteredOperation
from commonir.ods import Op
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.text_form import Argument, FormReader, FormTask, FormWriter
from commonir.ods.traits import Commutative


class Operands(NamedTuple):
    """The operands in `ins(...)` or `outs(...)`."""

    values: tuple[Value, ...]

    @property
    def types(self) -> list[Type]:
        """The types of the values."""
        return [v.type for v in self.values]

    @property
    def elements(self) -> list[Type]:
        """Returns the types of the arguments of the scalar program."""
        return [operand_element(v.type) for v in self.values]


def read_operands(reader: FormReader, keyword: str) -> Operands:
    """Reads `ins(%a, %b : type, type)`; nothing when it is not there."""
    if not reader.take(keyword):
        return Operands(())
    reader.expect("(")
    uses = reader.uses()
    if not uses and reader.take(")"):
        return Operands(())
    reader.expect(":")
    types = reader.types()
    reader.expect(")")
    return Operands(reader.resolve_all(uses, types))


def write_operands(writer: FormWriter, keyword: str, values: Sequence[Value]) -> None:
    """Writes `ins(%a, %b : type, type)`; nothing for no values."""
    if values:
        writer.write(f" {keyword}({writer.values(values)} : {writer.types([v.type for v in values])})")


def read_results(reader: FormReader) -> tuple[Type, ...]:
    """Reads the types of results after an arrow; none when it is not there."""
    return reader.results() if reader.take("->") else ()


def write_results(writer: FormWriter, op: Operation) -> None:
    """Writes the types of results after an arrow; nothing without results."""
    if op.results:
        writer.write(f" -> {writer.result_types([r.type for r in op.results])}")


def integers(reader: FormReader, keyword: str) -> DenseArrayAttr:
    """Reads `keyword = [1, 2]`."""
    reader.expect(keyword)
    reader.expect("=")
    reader.expect("[")
    return DenseArrayAttr(i64, tuple(reader.separated(reader.integer, "]")))


def write_integers(writer: FormWriter, keyword: str, values: Iterable[int]) -> None:
    """Writes ` keyword = [1, 2] `, with the blank at its end that there is upstream."""
    writer.write(f" {keyword} = [{', '.join(map(str, values))}] ")


def _read_more(reader: FormReader, attributes: dict[str, Attribute]) -> None:
    """Adds what a dictionary says, where one stands, to attributes that are known."""
    start = reader.position
    more = reader.dictionary()
    for name in more:
        if name in attributes:
            reader.fail(f"attribute '{name}' is given twice", at=start)
    attributes |= more


class NamedForm:
    """`linalg.name indexing_maps = [..] {..} ins(..) outs(..) -> types`; the body follows from the name."""

    def read(self, reader: FormReader) -> FormTask:
        yield from ()
        definition = reader.definition
        assert issubclass(definition, StructuredOp)
        attributes: dict[str, Attribute] = {}
        if definition.has_kind:
            reader.expect("kind")
            reader.expect("=")
            attributes["kind"] = reader.attribute()
        if reader.take("indexing_maps"):
            reader.expect("=")
            attributes["indexing_maps"] = reader.attribute()
        _read_more(reader, attributes)
        inputs, outputs = read_operands(reader, "ins"), read_operands(reader, "outs")
        _read_more(reader, attributes)
        types = read_results(reader)
        try:
            body = definition.body_for(inputs.elements, outputs.elements, attributes, reader.create)
            complete = definition.completed(attributes, inputs.types, outputs.types)
        except (DiagnosticError, ValueError) as error:
            reader.fail(_reason(error))
        for op in body.block.operations:
            op.location = UnknownLoc()
        arguments = {"inputs": inputs.values, "outputs": outputs.values, "region": body}
        return reader.make(arguments, types, complete)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        assert isinstance(op, StructuredOp)
        if not _has_own_body(op):
            writer.refuse()
        hidden = [MEMOIZED, GROUP_SIZES]
        attributes = op.attribute_dictionary
        if op.has_kind:
            hidden.append("kind")
            writer.write(f" kind={writer.attribute(attributes['kind'])}")
        if "indexing_maps" in attributes:
            hidden.append("indexing_maps")
            if not op.has_default_maps():
                writer.write(f" indexing_maps = {writer.attribute(attributes['indexing_maps'])}")
        writer.write(writer.dictionary(hidden))
        write_operands(writer, "ins", op.read)
        write_operands(writer, "outs", op.written)
        write_results(writer, op)


def _has_own_body(op: StructuredOp) -> bool:
    """Returns whether the body is the one that follows from the name: mlir-opt leaves out any other, and so loses it.

    Passes may have put its constants outside, and the operands of a sum into another order.
    """
    inputs, outputs = ([operand_element(v.type) for v in values] for values in (op.read, op.written))
    try:
        expected = type(op).body_for(inputs, outputs, op.attribute_dictionary, _untyped)
    except (DiagnosticError, ValueError):
        return True
    wanted, found = expected.blocks, op.regions[0].blocks if op.regions else ()
    if len(wanted) != len(found) or any(
        len(a.arguments) != len(b.arguments) for a, b in zip(wanted, found, strict=True)
    ):
        return False
    values = {a: b for x, y in zip(wanted, found, strict=True) for a, b in zip(x.arguments, y.arguments, strict=True)}

    def stands_for(u: Value, v: Value) -> bool:
        return values.get(u) is v or _is_same_constant(u, v)

    pairs = [pair for x, y in zip(wanted, found, strict=True) for pair in zip_longest(_computing(x), _computing(y))]
    for a, b in pairs:
        if a is None or b is None or a.name != b.name or len(a.operands) != len(b.operands):
            return False
        is_commutative = isinstance(b, Op) and b.has_trait(Commutative)
        orders = [b.operands, b.operands[::-1]] if is_commutative else [b.operands]
        if not any(all(map(stands_for, a.operands, given)) for given in orders):
            return False
        attributes = b.attribute_dictionary
        if any(str(attributes.get(key)) != str(value) for key, value in a.attribute_dictionary.items()):
            return False
        values |= dict(zip(a.results, b.results, strict=False))
    return True


def _computing(block: Block) -> Iterator[Operation]:
    """The operations of a block but for constants."""
    return (op for op in block.operations if len(op.results) != 1 or _constant(op.results[0]) is None)


def _is_same_constant(a: Value, b: Value) -> bool:
    constant = _constant(a)
    return constant is not None and constant == _constant(b)


_CONVERSIONS = ("arith.sitofp", "arith.trunci")


def _constant(value: Value) -> str | None:
    """The text of a constant; passes put one in the place of an integer that is converted to a float, or made shorter
    without loss.
    """
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in (CONSTANT, *_CONVERSIONS):
        return None
    if owner.name == CONSTANT:
        return str(owner.attribute_dictionary.get("value"))
    source, type = owner.operands[0].owner, value.type
    constant = source.attribute_dictionary.get("value") if isinstance(source, Operation) else None
    if not isinstance(constant, IntegerAttr) or not isinstance(type, ElementType):
        return None
    if type.is_float:
        return str(FloatAttr(float(constant.value), type))
    return str(IntegerAttr(constant.value, type)) if abs(constant.value) < 1 << (type.bits - 1) else None


def _untyped(
    name: str, operands: Sequence[Value], attributes: Mapping[str, Attribute], result_types: Sequence[Type]
) -> Operation:
    """An operation to compare with, whatever its name stands for."""
    return UnregisteredOperation(name, operands, attributes, result_types)


def _reason(error: Exception) -> str:
    """Returns the message of an error without the name of the operation, which the reader prepends."""
    text = "; ".join([d.message for d in error.diagnostics]) if isinstance(error, DiagnosticError) else str(error)
    return text.partition(": ")[2] if text.startswith("linalg.") else text


class GenericForm:
    """`linalg.generic {maps and iterators} ins(..) outs(..) attrs = {..} {body} -> types`.

    Where the maps and iterators are those of several operations, an alias of their dictionary stands for it.
    """

    def read(self, reader: FormReader) -> FormTask:
        start = reader.position
        trait = reader.attribute()
        if not isinstance(trait, DictionaryAttr):
            reader.fail(f"expected a dictionary of maps and iterators, found {trait!r}", at=start)
        attributes = dict(trait.entries)
        _read_more(reader, attributes)
        inputs, outputs = read_operands(reader, "ins"), read_operands(reader, "outs")
        if reader.take("attrs"):
            reader.expect("=")
            _read_more(reader, attributes)
        body = yield reader.region()
        types = read_results(reader)
        arguments = {"inputs": inputs.values, "outputs": outputs.values, "region": body}
        return reader.make(arguments, types, attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        assert isinstance(op, StructuredOp)
        own = dict(op.attribute_dictionary)
        words = [StringAttr(k.value) for k in op.iterator_kinds()]
        fields = {f.spelling for f in op.layout.attributes}
        shown = {k: v for k, v in sorted(own.items()) if k in fields}
        shown["iterator_types"] = ArrayAttr(tuple(words))
        writer.write(f" {writer.entries(shown)}")
        write_operands(writer, "ins", op.read)
        write_operands(writer, "outs", op.written)
        extra = {k: v for k, v in sorted(own.items()) if k not in fields and k != GROUP_SIZES}
        if extra:
            writer.write(f" attrs =  {writer.entries(extra)}")
        writer.write(" ")
        writer.region(op.body)
        write_results(writer, op)


class Payload(NamedTuple):
    """The only operation of a body, when it is applied to the arguments as they stand."""

    op: Operation
    attributes: Mapping[str, Attribute]


def payload_of(op: StructuredOp, *, before_first: bool) -> Payload | None:
    """The operation that says all of a body; None when there is more to it.

    `before_first`: what is there before comes before the inputs; otherwise it is not used.
    """
    blocks = op.body.blocks
    block = blocks[0] if len(blocks) == 1 else None
    first, last = (block.first, block.last) if block is not None else (None, None)
    if block is None or first is None or last is None or first.next is not last or last.name != "linalg.yield":
        return None
    arguments = block.arguments
    inputs, before = arguments[: len(op.read)], arguments[len(op.read) :]
    expected = (*before, *inputs) if before_first else inputs
    if len(first.results) != 1 or first.regions or last.operands != first.results or first.operands != expected:
        return None
    shown: dict[str, Attribute] = {}
    elided = False
    for key, value in sorted({**first.properties, **first.extra}.items()):
        none = isinstance(value, DialectAttr) and (value.mnemonic, value.body) == ("fastmath", "none")
        if none and not elided:
            elided = True
        else:
            shown[key] = value
    return Payload(first, shown)


def _read_payload(reader: FormReader) -> tuple[str, dict[str, Attribute]] | None:
    """Reads `{ arith.addf {..} }`; None when no brace stands here."""
    if not reader.take("{"):
        return None
    name = reader.keyword()
    attributes = reader.dictionary()
    reader.expect("}")
    return name, attributes


def _write_payload(writer: FormWriter, payload: Payload) -> None:
    writer.write(f" {{ {payload.op.name}")
    if payload.attributes:
        writer.write(f" {writer.entries(payload.attributes)}")
    writer.write(" }")


def _payload_body(
    reader: FormReader,
    payload: tuple[str, dict[str, Attribute]],
    inputs: Sequence[Type],
    before: Sequence[Type],
    *,
    before_first: bool,
) -> Region:
    """The body that an operation alone says."""
    name, attributes = payload
    block = Block([*inputs, *before])
    given, there = block.arguments[: len(inputs)], block.arguments[len(inputs) :]
    operands = (*there, *given) if before_first else given
    types = before if before_first else [block.arguments[-1].type] if before else inputs[-1:]
    built = block.append(reader.create(name, operands, attributes, types[:1]))
    block.append(reader.create("linalg.yield", built.results, {}, ()))
    return Region([block])


def _entry(reader: FormReader) -> list[Argument]:
    """Reads `(%in: f32, %init: f32)`."""
    reader.expect("(")
    return reader.separated(reader.argument, ")")


def _write_entry(writer: FormWriter, block: Block) -> None:
    """Writes the arguments of a body on a line of their own."""
    writer.line(1)
    writer.write(f"({', '.join([writer.argument(a) for a in block.arguments])}) ")


class MapForm:
    """`linalg.map { arith.addf } ins(..) outs(..)`, or with arguments and a region at the end."""

    def read(self, reader: FormReader) -> FormTask:
        payload = _read_payload(reader)
        inputs, outputs = read_operands(reader, "ins"), read_operands(reader, "outs")
        attributes = reader.dictionary()
        if payload is None:
            body = yield reader.region(_entry(reader))
        else:
            body = _payload_body(reader, payload, inputs.elements, outputs.elements, before_first=False)
        arguments = {"inputs": inputs.values, "init": outputs.values[0] if outputs.values else None, "region": body}
        return reader.make(arguments, tensor_types(outputs.values), attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        assert isinstance(op, StructuredOp)
        payload = payload_of(op, before_first=False)
        if payload is not None:
            _write_payload(writer, payload)
        write_operands(writer, "ins", op.read)
        write_operands(writer, "outs", op.written)
        writer.write(writer.dictionary((GROUP_SIZES,)))
        if payload is None:
            _write_entry(writer, op.body.block)
            writer.region(op.body, arguments=False, deeper=1)


def tensor_types(values: Sequence[Value]) -> list[Type]:
    """The types of results: those of what is there before, when it is tensors."""
    return [v.type for v in values if not isinstance(v.type, MemRefType)]


class ReduceForm:
    """`linalg.reduce { arith.addf } ins(..) outs(..) dimensions = [1]`, or with arguments and a region at the end."""

    def read(self, reader: FormReader) -> FormTask:
        payload = _read_payload(reader)
        inputs, outputs = read_operands(reader, "ins"), read_operands(reader, "outs")
        attributes: dict[str, Attribute] = {"dimensions": integers(reader, "dimensions")}
        attributes |= reader.dictionary()
        if payload is None:
            body = yield reader.region(_entry(reader))
        else:
            body = _payload_body(reader, payload, inputs.elements, outputs.elements, before_first=True)
        arguments = {"inputs": inputs.values, "inits": outputs.values, "region": body}
        return reader.make(arguments, tensor_types(outputs.values), attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        assert isinstance(op, StructuredOp)
        payload = payload_of(op, before_first=True)
        if payload is not None:
            _write_payload(writer, payload)
        write_operands(writer, "ins", op.read)
        write_operands(writer, "outs", op.written)
        dimensions = op.attribute_dictionary["dimensions"]
        write_integers(writer, "dimensions", _numbers(dimensions))
        writer.write(writer.dictionary((GROUP_SIZES, "dimensions")))
        if payload is None:
            _write_entry(writer, op.body.block)
            writer.region(op.body, arguments=False, deeper=1)


def _numbers(attribute: Attribute) -> list[int]:
    return [int(v) for v in attribute.values] if isinstance(attribute, DenseArrayAttr) else []


class RearrangingForm:
    """`linalg.transpose ins(%x : type) outs(%y : type) permutation = [1, 0]`; the body is always the same."""

    def __init__(self, keyword: str) -> None:
        self.keyword = keyword

    def read(self, reader: FormReader) -> FormTask:
        yield from ()
        inputs, outputs = read_operands(reader, "ins"), read_operands(reader, "outs")
        if len(inputs.values) != 1 or len(outputs.values) != 1:
            reader.fail("expected one input and one output")
        attributes: dict[str, Attribute] = {self.keyword: integers(reader, self.keyword)}
        attributes |= reader.dictionary()
        block = Block((*inputs.elements, *outputs.elements))
        block.append(reader.create("linalg.yield", block.arguments[:1], {}, ()))
        arguments = {"input": inputs.values[0], "init": outputs.values[0], "region": Region([block])}
        op = reader.make(arguments, tensor_types(outputs.values), attributes)
        reader.place_body(op)
        return op

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        assert isinstance(op, StructuredOp)
        write_operands(writer, "ins", op.read)
        write_operands(writer, "outs", op.written)
        write_integers(writer, self.keyword, _numbers(op.attribute_dictionary[self.keyword]))
        writer.write(writer.dictionary((GROUP_SIZES, self.keyword)))
