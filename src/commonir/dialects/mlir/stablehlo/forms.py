"""The text of operations whose form upstream is code: operands, words with values, types said as shortly as can be.

Source: StableHLO dialect, custom directives and printers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from commonir.base.tuples import NamedTuple
from commonir.dialects.mlir.stablehlo.base import is_complex
from commonir.dialects.mlir.stablehlo.dimension_numbers import DotDims, conv_of, conv_text
from commonir.ir.attributes import (
    ArrayAttr,
    Attribute,
    BoolAttr,
    DataAttr,
    DenseArrayAttr,
    DialectAttr,
    IntegerAttr,
    StringAttr,
)
from commonir.ir.data import data_of
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.types import ComplexType, ElementType, FunctionType, TensorType, TupleType, Type, boolean, i32, i64
from commonir.ods import Op, traits
from commonir.ods.text_form import (
    Argument,
    FormReader,
    FormTask,
    FormWriter,
    Use,
    read_assignments,
    written_assignments,
)
from commonir.ods.type_rules import element_of

# -- types after the colon


class Signature(NamedTuple):
    """The types of operands and results."""

    operands: Sequence[Type]
    results: Sequence[Type]


class Types:
    """The text of operand and result types: a function type, or a shorter form that implies it."""

    def read(self, reader: FormReader, count: int) -> Signature:
        """Reads them; `count` is the number of operands."""
        if reader.at("("):
            type = reader.function_type()
            return Signature(type.inputs, type.results)
        return self.short(reader, count)

    def short(self, reader: FormReader, count: int) -> Signature:
        """Reads the shorter form."""
        del count
        reader.expect("(")
        raise AssertionError

    def write(self, writer: FormWriter, operands: Sequence[Value], results: Sequence[Value]) -> str:
        """The text."""
        given = [v.type for v in operands], [v.type for v in results]
        shortly = self.shortly(writer, *given)
        if shortly is not None:
            return shortly
        return f"({writer.types(given[0])}) -> {writer.result_types(given[1])}"

    def shortly(self, writer: FormWriter, operands: Sequence[Type], results: Sequence[Type]) -> str | None:
        """The shorter form; None when it does not say the types."""
        del writer, operands, results
        return None


class SameTypes(Types):
    """One type, when all operands and the result have it."""

    def short(self, reader: FormReader, count: int) -> Signature:
        type = reader.type()
        return Signature([type] * count, [type])

    def shortly(self, writer: FormWriter, operands: Sequence[Type], results: Sequence[Type]) -> str | None:
        (result,) = results
        return writer.type(result) if all(t is result for t in operands) else None


class ComplexTypes(Types):
    """The type of the complex numbers, when that of their parts follows."""

    def short(self, reader: FormReader, count: int) -> Signature:
        at = reader.position
        type = reader.type()
        if not isinstance(type, TensorType) or not isinstance(type.element, ComplexType):
            reader.fail("expected tensor with complex element type", at=at)
        return Signature([TensorType(type.element.part, type.shape, type.encoding)] * count, [type])

    def shortly(self, writer: FormWriter, operands: Sequence[Type], results: Sequence[Type]) -> str | None:
        (result,) = results
        if not isinstance(result, TensorType) or not isinstance(result.element, ComplexType):
            return None
        part = TensorType(result.element.part, result.shape, result.encoding)
        return writer.type(result) if is_complex(result.element) and all(t is part for t in operands) else None


class SelectTypes(Types):
    """The type of the condition and that of the values, when these have the type of the result."""

    def short(self, reader: FormReader, count: int) -> Signature:
        del count
        condition = reader.type()
        if not reader.take(","):
            reader.fail("expected functional type or list of two types")
        type = reader.type()
        return Signature([condition, type, type], [type])

    def shortly(self, writer: FormWriter, operands: Sequence[Type], results: Sequence[Type]) -> str | None:
        (result,) = results
        return writer.types([operands[0], result]) if operands[1] is result and operands[2] is result else None


class TupleTypes(Types):
    """The type of a tuple, which says those of its elements."""

    def read(self, reader: FormReader, count: int) -> Signature:
        at = reader.position
        type = reader.type()
        if not isinstance(type, TupleType):
            reader.fail("expected tuple type", at=at)
        del count
        return Signature(type.elements, [type])

    def shortly(self, writer: FormWriter, operands: Sequence[Type], results: Sequence[Type]) -> str | None:
        (result,) = results
        if not isinstance(result, TupleType) or tuple(operands) != result.elements:
            writer.refuse()
        return writer.type(result)


FUNCTION = Types()
SAME = SameTypes()

# -- words with values


class Word(NamedTuple):
    """An attribute that stands as `word = value`, in the text of which a field of the operation is named."""

    word: str
    field: str
    read: Callable[[FormReader], Attribute]
    write: Callable[[FormWriter, Attribute], str]
    optional: bool = False
    default: Attribute | None = None


def _read_numbers(reader: FormReader) -> Attribute:
    reader.expect("[")
    return DenseArrayAttr(i64, tuple(reader.separated(reader.integer, "]")))


def _write_numbers(writer: FormWriter, attr: Attribute) -> str:
    if not isinstance(attr, DenseArrayAttr):
        writer.refuse()
    return f"[{', '.join([str(int(v)) for v in attr.values])}]"


def numbers(word: str, field: str) -> Word:
    """`word = [1, 2]`."""
    return Word(word, field, _read_numbers, _write_numbers)


def _read_number(reader: FormReader) -> Attribute:
    return IntegerAttr(reader.integer(), i64)


def _write_number(writer: FormWriter, attr: Attribute) -> str:
    if not isinstance(attr, IntegerAttr):
        writer.refuse()
    return str(attr.value)


def number(word: str, field: str) -> Word:
    """`word = 1`."""
    return Word(word, field, _read_number, _write_number)


def flag(word: str, field: str) -> Word:
    """`word = true`, nothing when it is false."""
    return Word(word, field, _read_flag, _write_flag, optional=True, default=BoolAttr(False))


def _read_flag(reader: FormReader) -> Attribute:
    return BoolAttr(reader.keyword() == "true")


def _write_flag(writer: FormWriter, attr: Attribute) -> str:
    return writer.attribute(attr)


_PRECISION = "precision "


def _read_precisions(reader: FormReader) -> Attribute:
    reader.expect("[")
    words = reader.separated(reader.keyword, "]")
    return ArrayAttr(tuple([DialectAttr("stablehlo", "", f"{_PRECISION}{w}") for w in words]))


def _write_precisions(writer: FormWriter, attr: Attribute) -> str:
    if not isinstance(attr, ArrayAttr):
        writer.refuse()
    words = [v.body.removeprefix(_PRECISION) for v in attr.values if isinstance(v, DialectAttr) and v.body is not None]
    return f"[{', '.join(words)}]"


PRECISION = Word("precision", "precision_config", _read_precisions, _write_precisions, optional=True)


def _read_algorithm(reader: FormReader) -> Attribute:
    def entry() -> str:
        name = reader.keyword()
        reader.expect("=")
        if reader.at_integer():
            return f"{name} = {reader.integer()}"
        if reader.at("true") or reader.at("false"):
            return f"{name} = {reader.keyword()}"
        return f"{name} = {reader.type()}"

    if not reader.take("<"):
        return reader.attribute()
    return DialectAttr("stablehlo", "dot_algorithm", ", ".join(reader.separated(entry, ">")))


def _write_algorithm(writer: FormWriter, attr: Attribute) -> str:
    return f"<{attr.body}>" if isinstance(attr, DialectAttr) else writer.attribute(attr)


_FORMAT = re.compile(r"e(\d+)m(\d+)")


class WordsForm:
    """Operands, words with values, a dictionary, a colon and types; `separator` stands before the words."""

    def __init__(self, *words: Word, types: Types = FUNCTION) -> None:
        self.words = words
        self.types = types

    def read(self, reader: FormReader) -> FormTask:
        uses: list[Use] = []
        attributes: dict[str, Attribute] = {}
        self.operands(reader, uses)
        self.attributes(reader, attributes)
        attributes |= reader.dictionary()
        reader.expect(":")
        signature = self.types.read(reader, len(uses))
        values = reader.resolve_all(uses, signature.operands)
        return reader.make(self.grouped(reader, values), signature.results, attributes)
        yield

    def operands(self, reader: FormReader, uses: list[Use]) -> None:
        """Reads values up to the comma before the first word."""
        while reader.at_value():
            uses.append(reader.use())
            if not reader.at(",") and (not self.words or self.words[0].optional):
                return
            reader.expect(",")

    def attributes(self, reader: FormReader, values: dict[str, Attribute]) -> None:
        """Reads words with values."""
        for n, w in enumerate(self.words):
            if not reader.take(w.word):
                if w.optional:
                    continue
                reader.expect(w.word)
            reader.expect("=")
            values[w.field] = w.read(reader)
            if n + 1 < len(self.words):
                reader.take(",")

    def grouped(self, reader: FormReader, values: Sequence[Value]) -> dict[str, object]:
        """Values by the fields that they are for: at most one of these takes any number."""
        fields = reader.definition.layout.inputs
        spare = len(values) - sum(not f.variadic for f in fields)
        if spare < 0 or (spare and not any(f.variadic for f in fields)):
            reader.fail(f"expected {len(fields)} operands, found {len(values)}")
        out: dict[str, object] = {}
        at = 0
        for f in fields:
            count = spare if f.variadic else 1
            out[f.name] = tuple(values[at : at + count]) if f.variadic else values[at]
            at += count
        return out

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        shown = [writer.value(v) for v in op.operands]
        attributes = op.attribute_dictionary
        for w in self.words:
            attribute = attributes.get(w.field)
            if attribute is None or attribute is w.default:
                if not w.optional:
                    writer.refuse()
                continue
            shown.append(f"{w.word} = {w.write(writer, attribute)}")
        writer.write(f" {', '.join(shown)}{dictionary(writer, [w.field for w in self.words])} : ")
        writer.write(self.types.write(writer, op.operands, op.results))


def dictionary(writer: FormWriter, hidden: Sequence[str] = ()) -> str:
    """All attributes that are not written otherwise, those that say what holds anyway left out."""
    op = writer.op
    implied: Mapping[str, Attribute] = getattr(type(op), "implied", {})
    attributes = op.attribute_dictionary
    same = [name for name, value in implied.items() if attributes.get(name) is value]
    return writer.dictionary([*hidden, *same, "operandSegmentSizes"])


SAME_FORM = WordsForm(types=SAME)


class FormatForm(WordsForm):
    """`%x, format = e5m10 : type`."""

    def attributes(self, reader: FormReader, values: dict[str, Attribute]) -> None:
        reader.expect("format")
        reader.expect("=")
        at = reader.position
        match = _FORMAT.fullmatch(reader.keyword())
        if match is None:
            reader.fail("expected exponent mantissa in format e#m#", at=at)
        values["exponent_bits"], values["mantissa_bits"] = (
            IntegerAttr(int(match[1]), i32),
            IntegerAttr(int(match[2]), i32),
        )

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        own = op.attribute_dictionary
        sizes = [own.get(name) for name in ("exponent_bits", "mantissa_bits")]
        numbers = [a.value for a in sizes if isinstance(a, IntegerAttr)]
        if len(numbers) != len(sizes):
            writer.refuse()
        rest = dictionary(writer, ["exponent_bits", "mantissa_bits"])
        shown = self.types.write(writer, op.operands, op.results)
        writer.write(f" {writer.values(op.operands)}, format = e{numbers[0]}m{numbers[1]}{rest} : {shown}")


class SliceForm(WordsForm):
    """`%x [0:4:2, 1:3] : types`."""

    names = ("start_indices", "limit_indices", "strides")

    def attributes(self, reader: FormReader, values: dict[str, Attribute]) -> None:
        def one() -> tuple[int, int, int]:
            start = reader.integer()
            reader.expect(":")
            limit = reader.integer()
            return start, limit, reader.integer() if reader.take(":") else 1

        reader.expect("[")
        ranges = reader.separated(one, "]")
        for n, name in enumerate(self.names):
            values[name] = DenseArrayAttr(i64, tuple([r[n] for r in ranges]))

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        values = [op.attribute_dictionary.get(name) for name in self.names]
        lists = [[int(v) for v in a.values] for a in values if isinstance(a, DenseArrayAttr)]
        if len(lists) != len(values) or len({len(v) for v in lists}) != 1:
            writer.refuse()
        shown = [f"{a}:{b}" + (f":{s}" if s != 1 else "") for a, b, s in zip(*lists, strict=True)]
        rest = dictionary(writer, self.names)
        types = self.types.write(writer, op.operands, op.results)
        writer.write(f" {writer.values(op.operands)} [{', '.join(shown)}]{rest} : {types}")


class DotForm(WordsForm):
    """`%a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [..] : types`."""

    def __init__(self) -> None:
        super().__init__(PRECISION, Word("algorithm", "algorithm", _read_algorithm, _write_algorithm, optional=True))

    def attributes(self, reader: FormReader, values: dict[str, Attribute]) -> None:
        lists: list[tuple[int, ...]] = []
        for word, needed in (("batching_dims", False), ("contracting_dims", True)):
            if not needed and not reader.at(word):
                lists += [(), ()]
                continue
            reader.expect(word)
            reader.expect("=")
            lists.append(_axes(reader))
            reader.expect("x")
            lists.append(_axes(reader))
            if not needed:
                reader.expect(",")
        dims = DotDims(*lists)
        shown = ", ".join([f"{k} = {list(v)}" for k, v in dims._asdict().items() if v])
        values["dot_dimension_numbers"] = DialectAttr("stablehlo", "dot", shown)
        if reader.take(","):
            super().attributes(reader, values)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        dims: object = getattr(op, "dot_dimension_numbers", None)
        if not isinstance(dims, DotDims):
            writer.refuse()
        shown = [writer.value(v) for v in op.operands]
        if dims.lhs_batching_dimensions or dims.rhs_batching_dimensions:
            batch = f"{list(dims.lhs_batching_dimensions)} x {list(dims.rhs_batching_dimensions)}"
            shown.append(f"batching_dims = {batch}")
        contracted = f"{list(dims.lhs_contracting_dimensions)} x {list(dims.rhs_contracting_dimensions)}"
        shown.append(f"contracting_dims = {contracted}")
        attributes = op.attribute_dictionary
        shown += [f"{w.word} = {w.write(writer, attributes[w.field])}" for w in self.words if w.field in attributes]
        rest = dictionary(writer, ["dot_dimension_numbers", *[w.field for w in self.words]])
        writer.write(f" {', '.join(shown)}{rest} : {self.types.write(writer, op.operands, op.results)}")


def _axes(reader: FormReader) -> tuple[int, ...]:
    reader.expect("[")
    return tuple(reader.separated(reader.integer, "]"))


class ConvolutionForm(WordsForm):
    """`(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]]} {..} : types`."""

    lists: Mapping[str, str] = {
        "stride": "window_strides",
        "pad": "padding",
        "lhs_dilate": "lhs_dilation",
        "rhs_dilate": "rhs_dilation",
        "reverse": "window_reversal",
    }

    def operands(self, reader: FormReader, uses: list[Use]) -> None:
        reader.expect("(")
        uses += reader.separated(reader.use, ")")

    def attributes(self, reader: FormReader, values: dict[str, Attribute]) -> None:
        reader.expect("dim_numbers")
        reader.expect("=")
        at = reader.position
        text = self._group(reader)
        reader.expect("x")
        text += "x" + self._group(reader)
        reader.expect("->")
        text += "->" + self._group(reader)
        try:
            conv_of(text)
        except ValueError as error:
            reader.fail(str(error), at=at)
        values["dimension_numbers"] = DialectAttr("stablehlo", "conv", text)
        reader.expect(",")
        reader.expect("window")
        reader.expect("=")
        reader.expect("{")
        reader.separated(lambda: self._window(reader, values), "}")

    def _group(self, reader: FormReader) -> str:
        reader.expect("[")
        words = reader.separated(lambda: str(reader.integer()) if reader.at_integer() else reader.keyword(), "]")
        return f"[{', '.join(words)}]"

    def _window(self, reader: FormReader, values: dict[str, Attribute]) -> None:
        at = reader.position
        word = reader.keyword()
        field = self.lists.get(word)
        if field is None or field in values:
            reader.fail(f"unexpected keyword '{word}'", at=at)
        reader.expect("=")
        if word == "pad":
            reader.expect("[")
            pairs = reader.separated(lambda: _axes(reader), "]")
            if any(len(p) != 2 for p in pairs):
                reader.fail("expected pairs of numbers", at=at)
            data = data_of(i64, (len(pairs), 2), [n for p in pairs for n in p])
            values[field] = DataAttr(data)
        elif word == "reverse":
            reader.expect("[")
            words = reader.separated(
                lambda: bool(reader.integer()) if reader.at_integer() else reader.keyword() == "true", "]"
            )
            values[field] = DenseArrayAttr(boolean, tuple(words))
        else:
            values[field] = _read_numbers(reader)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        own = op.attribute_dictionary
        window: list[str] = []
        for word, field in self.lists.items():
            attr = own.get(field)
            if isinstance(attr, DenseArrayAttr):
                values = [str(v).lower() if word == "reverse" else str(int(v)) for v in attr.values]
                window.append(f"{word} = [{', '.join(values)}]")
            elif isinstance(attr, DataAttr):
                flat = [int(v) for v in attr.data.values() if isinstance(v, int)]
                pairs = [f"[{a}, {b}]" for a, b in zip(flat[::2], flat[1::2], strict=True)]
                window.append(f"{word} = [{', '.join(pairs)}]")
        numbers: object = getattr(op, "dimension_numbers", None)
        try:
            shown = conv_text(numbers)  # pyright: ignore[reportArgumentType]
        except (ValueError, TypeError):
            writer.refuse()
        rest = dictionary(writer, ["dimension_numbers", *self.lists.values()])
        types = self.types.write(writer, op.operands, op.results)
        text = f"({writer.values(op.operands)}) dim_numbers = {shown}, window = {{{', '.join(window)}}}{rest} : {types}"
        writer.write(text)


class CustomCallForm:
    """`@target(%a, %b) {..} : types`."""

    types = FUNCTION

    def read(self, reader: FormReader) -> FormTask:
        target = StringAttr(reader.symbol())
        reader.expect("(")
        uses = reader.separated(reader.use, ")")
        attributes: dict[str, Attribute] = {"call_target_name": target, **reader.dictionary()}
        reader.expect(":")
        signature = self.types.read(reader, len(uses))
        values = reader.resolve_all(uses, signature.operands)
        return reader.make({"inputs": values}, signature.results, attributes)
        yield

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        name: object = getattr(op, "call_target_name", None)
        if not isinstance(name, str):
            writer.refuse()
        types = self.types.write(writer, op.operands, op.results)
        rest = dictionary(writer, ["call_target_name"])
        writer.write(f" {writer.symbol(name)}({writer.values(op.operands)}){rest} : {types}")


class BarrierForm:
    """`%a, %b : types`, or `()` for no values."""

    def read(self, reader: FormReader) -> FormTask:
        attributes = reader.dictionary()
        if reader.take("("):
            reader.expect(")")
            return reader.make({"operand": ()}, (), attributes)
        uses = reader.uses()
        reader.expect(":")
        types = reader.types()
        return reader.make({"operand": reader.resolve_all(uses, types)}, types, attributes)
        yield

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        types = [v.type for v in op.operands]
        if types != [r.type for r in op.results]:
            writer.refuse()
        shown = f" {writer.values(op.operands)} : {writer.types(types)}" if types else "()"
        writer.write(f"{dictionary(writer)}{shown}")


class ConstantForm:
    """`{..} dense<..> : type`."""

    def read(self, reader: FormReader) -> FormTask:
        if reader.take("("):
            reader.expect(")")
            attributes: dict[str, Attribute] = {}
            if reader.take("<"):
                attributes |= reader.dictionary()
                reader.expect(">")
            attributes |= reader.dictionary()
            reader.expect(":")
            return reader.make({}, reader.function_type().results, attributes)
        attributes = reader.dictionary()
        at = reader.position
        value = reader.attribute()
        if not isinstance(value, DataAttr):
            reader.fail("expected the elements of a tensor", at=at)
        return reader.make({"value": value}, (value.type,), attributes)
        yield

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        value = op.attribute_dictionary.get("value")
        if not isinstance(value, DataAttr):
            writer.refuse()
        if value.type is not op.results[0].type:
            # Integers that stand for reals: the text of the constant does not say their type.
            shown = f"() <{{value = {writer.attribute(value)}}}>{dictionary(writer, ['value'])} : () -> "
            writer.write(f"{shown}{writer.type(op.results[0].type)}")
            return
        writer.write(f"{dictionary(writer, ['value'])} {writer.attribute(value)}")


# -- nested programs


class ReduceForm:
    """`(%x init: %i), (%y init: %j) applies op across dimensions = [1] : types`, or with a region at the end."""

    def read(self, reader: FormReader) -> FormTask:
        inputs, inits = _pairs(reader)
        applied = ""
        if reader.take("applies"):
            applied = reader.string() if reader.at('"') else reader.keyword()
        for word in ("across", "dimensions", "="):
            reader.expect(word)
        attributes: dict[str, Attribute] = {"dimensions": _read_numbers(reader)}
        attributes |= reader.dictionary()
        reader.expect(":")
        type: FunctionType = reader.function_type()
        values = reader.resolve_all([*inputs, *inits], type.inputs)
        if applied:
            if not values:
                reader.fail("input types missing in reduce-op function type")
            body = _applied(reader, applied, TensorType(_element(reader, values[0].type), ()))
        else:
            reader.expect("reducer")
            first: list[Argument] = []
            second: list[Argument] = []
            while reader.take("("):
                first.append(reader.argument())
                reader.expect(",")
                second.append(reader.argument())
                reader.expect(")")
            body = yield reader.region([*first, *second])
        count = len(inputs)
        arguments = {"inputs": values[:count], "init_values": values[count:], "body": body}
        return reader.make(arguments, type.results, attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        count = len(op.operands) // 2
        body = op.regions[0] if op.regions else Region()
        block = body.blocks[0] if len(body.blocks) == 1 else None
        dimensions = op.attribute_dictionary.get("dimensions")
        if block is None or dimensions is None or len(block.arguments) != 2 * count or 2 * count != len(op.operands):
            writer.refuse()
        pairs = zip(op.operands[:count], op.operands[count:], strict=True)
        writer.write(", ".join([f"({writer.value(a)} init: {writer.value(b)})" for a, b in pairs]))
        inner = applied_operation(op, block)
        if inner is not None:
            writer.write(f" applies {inner.name}")
        types = FUNCTION.write(writer, op.operands, op.results)
        shown = _write_numbers(writer, dimensions)
        writer.write(f" across dimensions = {shown}{dictionary(writer, ['dimensions'])} : {types}")
        if inner is None:
            writer.line()
            writer.write(" reducer")
            for a, b in zip(block.arguments[:count], block.arguments[count:], strict=True):
                writer.write(f"({writer.argument(a)}, {writer.argument(b)}) ")
            writer.write(" ")
            writer.region(body, arguments=False)


def _pairs(reader: FormReader) -> tuple[list[Use], list[Use]]:
    inputs: list[Use] = []
    inits: list[Use] = []
    while reader.take("("):
        inputs.append(reader.use())
        reader.expect("init")
        reader.expect(":")
        inits.append(reader.use())
        reader.expect(")")
        if not reader.take(","):
            break
    return inputs, inits


def _element(reader: FormReader, type: Type) -> ElementType:
    if not isinstance(type, TensorType):
        reader.fail("expected a tensor")
    return type.element


def _applied(reader: FormReader, name: str, type: TensorType) -> Region:
    """The region that applies one operation to what it receives."""
    block = Block([type, type])
    built = reader.create(name, block.arguments, {}, [type])
    if not (isinstance(built, Op) and is_simple(built)):
        reader.fail(
            "expected the inner-op to be a commutative binary-op from the stablehlo dialect, with zero region, "
            "producing single result"
        )
    block.append(built)
    block.append(reader.create("stablehlo.return", built.results, {}, ()))
    return Region([block])


def is_simple(op: Operation) -> bool:
    """Returns whether an operation is a commutative function of two values in this dialect."""
    return (
        isinstance(op, Op)
        and op.name.startswith("stablehlo.")
        and op.has_trait(traits.Commutative)
        and len(op.operands) == 2
        and len(op.results) == 1
        and not op.regions
    )


def applied_operation(op: Operation, block: Block) -> Operation | None:
    """The only operation of a body, when it is applied to the arguments as they stand; None otherwise."""
    first, last = block.first, block.last
    if first is None or last is None or first.next is not last or not is_simple(first):
        return None
    types = {v.type for v in (*first.operands, *first.results)}
    element_type = element_of(op.operands[0].type)
    expected = TensorType(element_type, ()) if isinstance(element_type, ElementType) else None
    is_forwarded = first.operands == block.arguments and last.operands == first.results
    return first if types == {expected} and is_forwarded and last.name == "stablehlo.return" else None


class WhileForm:
    """`(%a = %x) : types`, then `cond { } do { }` on a line of its own."""

    def read(self, reader: FormReader) -> FormTask:
        reader.expect("(")
        names, initial = read_assignments(reader)
        types: tuple[Type, ...] = ()
        if names:
            reader.expect(":")
            types = reader.types()
        values = reader.resolve_all(initial, types)
        attributes = reader.dictionary("attributes")
        entry = [Argument(u.name, u.at, t, {}) for u, t in zip(names, types, strict=True)]
        reader.expect("cond")
        condition = yield reader.region(entry)
        reader.expect("do")
        body = yield reader.region(entry)
        return reader.make({"operand": values, "cond": condition, "body": body}, types, attributes)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        if len(op.regions) != 2 or any(len(r.blocks) != 1 for r in op.regions):
            writer.refuse()
        condition, body = op.regions
        arguments = body.blocks[0].arguments
        types = [v.type for v in op.operands]
        # The form says one type for an operand, what the regions take in its place, and the result.
        if any([v.type for v in held] != types for held in (arguments, condition.blocks[0].arguments, op.results)):
            writer.refuse()
        # The names that stand in parentheses are those of both regions.
        writer.share_names(condition.blocks[0].arguments, arguments)
        writer.write(written_assignments(writer, arguments, op.operands))
        if op.operands:
            writer.write(f" : {writer.types(types)}")
        writer.write(writer.dictionary(keyword="attributes"))
        writer.line()
        writer.write("cond ")
        writer.region(condition, arguments=False)
        writer.write(" do ")
        writer.region(body, arguments=False)
