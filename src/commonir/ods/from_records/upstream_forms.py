"""Custom forms in MLIR's C++ of operations that are only defined by records here.

Source: MLIR memref and bufferization dialects, as mlir-opt 22 reads and prints them. Those of the vector dialect are in
`vector_forms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.ir.affine import AffineMapAttr
from commonir.ir.attributes import BoolAttr, IntegerAttr
from commonir.ir.operation import Block, Value
from commonir.ir.types import MemRefType, i32, index
from commonir.ods.definition import Definition
from commonir.ods.from_records.vector_forms import VECTOR_FORMS
from commonir.ods.operation import Op
from commonir.ods.text_form import CustomForm, FormReader, FormTask, FormWriter, Use
from commonir.ods.traits import Terminator


def _buffer_and_indices(reader: FormReader) -> tuple[Use, list[Use]]:
    """Reads `%buffer[%i, %j]`."""
    buffer = reader.use()
    reader.expect("[")
    return buffer, reader.separated(reader.use, "]")


def _accessed(writer: FormWriter, buffer: Value, indices: tuple[Value, ...]) -> str:
    return f"{writer.value(buffer)}[{writer.values(indices)}]"


def _indices(reader: FormReader, uses: list[Use]) -> tuple[Value, ...]:
    return reader.resolve_all(uses, [index] * len(uses))


def _name(reader: FormReader, spelling: str) -> str:
    """Returns the name of a field in the class, which differs from its spelling if Python or `Op` reserves that."""
    return next(f.name for f in reader.definition.layout.by_name.values() if f.spelling == spelling)


def _field(op: Definition, spelling: str) -> Value | None:
    """Returns the value of an operand with at most one value."""
    field = next(f for f in op.layout.by_name.values() if f.spelling == spelling)
    result: object = op.field_value(field)
    return result if isinstance(result, Value) else None


class _AtomicForm:
    """`%buffer[%i] : type {region} {attributes}`."""

    def read(self, reader: FormReader) -> FormTask:
        buffer, indices = _buffer_and_indices(reader)
        reader.expect(":")
        at, type = reader.position, reader.type()
        if not isinstance(type, MemRefType):
            reader.fail(f"expected a memref, found {type}", at=at)
        body = yield reader.region()
        fields = {"memref": reader.resolve(buffer, type), "indices": _indices(reader, indices), "atomic_body": body}
        return reader.make(fields, (type.element,), reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        buffer, *indices = writer.op.operands
        writer.write(f" {_accessed(writer, buffer, tuple(indices))} : {writer.type(buffer.type)} ")
        writer.region(writer.op.regions[0])
        writer.write(writer.dictionary())


_END = "memref.alloca_scope.return"


class _ScopeForm:
    """`-> (types) {region} {attributes}`; the terminator of the region is printed if there are results."""

    def read(self, reader: FormReader) -> FormTask:
        types = reader.results() if reader.take("->") else ()
        body = yield reader.region()
        if not body.blocks:
            body.add(Block())
        last = body.blocks[-1].last
        if last is None or not (isinstance(last, Op) and last.has_trait(Terminator)):
            body.blocks[-1].append(reader.create(_END, (), {}, ()))
        return reader.make({"bodyRegion": body}, types, reader.dictionary())

    def write(self, writer: FormWriter) -> None:
        op, body = writer.op, writer.op.regions[0]
        last = body.blocks[-1].last if body.blocks else None
        if last is None or (not op.results and (last.name != _END or last.operands or last.attribute_dictionary)):
            writer.refuse()
        writer.write("  ")
        if op.results:
            writer.write(f"-> ({writer.types([r.type for r in op.results])}) ")
        writer.region(body, terminator=bool(op.results))
        writer.write(writer.dictionary())


class _PrefetchForm:
    """`%buffer[%i], read, locality<3>, data : type`."""

    def read(self, reader: FormReader) -> FormTask:
        buffer, indices = _buffer_and_indices(reader)
        reader.expect(",")
        writes = self._one_of(reader, "read", "write")
        reader.expect(",")
        reader.expect("locality")
        reader.expect("<")
        locality = reader.integer()
        reader.expect(">")
        reader.expect(",")
        is_data = not self._one_of(reader, "data", "instr")
        extra = reader.dictionary()
        reader.expect(":")
        fields: dict[str, object] = {
            "memref": reader.resolve(buffer, reader.type()),
            "indices": _indices(reader, indices),
            "isWrite": BoolAttr(writes),
            "localityHint": IntegerAttr(locality, i32),
            "isDataCache": BoolAttr(is_data),
        }
        return reader.make(fields, (), extra)
        yield  # makes it a generator, as forms with regions are

    @staticmethod
    def _one_of(reader: FormReader, first: str, second: str) -> bool:
        """Reads one of two words; returns whether it is the second."""
        if reader.take(first):
            return False
        reader.expect(second)
        return True

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        buffer, *indices = op.operands
        writes, locality, is_data = (
            op.field_value(op.layout.by_name[n]) for n in ("isWrite", "localityHint", "isDataCache")
        )
        words = f"{'write' if writes else 'read'}, locality<{locality}>, {'data' if is_data else 'instr'}"
        extra = writer.dictionary(("isWrite", "localityHint", "isDataCache"))
        writer.write(f" {_accessed(writer, buffer, tuple(indices))}, {words}{extra} : {writer.type(buffer.type)}")


class _TransferForm:
    """`%source[%i], %target[%j], %count, %tag[%k], %stride, %elements : types`: the last two are optional."""

    def read(self, reader: FormReader) -> FormTask:
        source, source_at = _buffer_and_indices(reader)
        reader.expect(",")
        target, target_at = _buffer_and_indices(reader)
        reader.expect(",")
        count = reader.use()
        reader.expect(",")
        tag, tag_at = _buffer_and_indices(reader)
        stride: list[Use] = []
        while reader.take(","):
            stride.append(reader.use())
        extra = reader.dictionary()
        reader.expect(":")
        at, types = reader.position, reader.types()
        if len(types) != 3 or len(stride) not in (0, 2):
            reader.fail(f"expected 3 types and a stride of 2 values, found {len(types)} and {len(stride)}", at=at)
        groups = [
            (reader.resolve(source, types[0]), *_indices(reader, source_at)),
            (reader.resolve(target, types[1]), *_indices(reader, [*target_at, count])),
            (reader.resolve(tag, types[2]), *_indices(reader, [*tag_at, *stride])),
        ]
        flat = tuple([value for group in groups for value in group])
        return reader.make({_name(reader, "operands"): flat}, (), extra)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        at: list[int] = [n for n, v in enumerate(op.operands) if isinstance(v.type, MemRefType)]
        ranks = [v.type.rank for v in op.operands if isinstance(v.type, MemRefType)]
        if len(at) != 3 or None in ranks:
            writer.refuse()
        parts: list[str] = []
        rest: tuple[Value, ...] = op.operands
        for rank in ranks:
            buffer, indices, rest = rest[0], rest[1 : 1 + (rank or 0)], rest[1 + (rank or 0) :]
            parts.append(_accessed(writer, buffer, indices))
            if len(parts) == 2:
                parts.append(writer.value(rest[0]))
                rest = rest[1:]
        types = writer.types([op.operands[n].type for n in at])
        writer.write(f" {', '.join([*parts, *map(writer.value, rest)])}{writer.dictionary()} : {types}")


class _TransposeForm:
    """`%buffer (d0, d1) -> (d1, d0) : type to type`."""

    def read(self, reader: FormReader) -> FormTask:
        buffer = reader.use()
        permutation = reader.affine_map()
        extra = reader.dictionary()
        reader.expect(":")
        type = reader.type()
        reader.expect("to")
        fields = {_name(reader, "in"): reader.resolve(buffer, type), "permutation": permutation}
        return reader.make(fields, (reader.type(),), extra)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        permutation = op.properties.get("permutation")
        if not isinstance(permutation, AffineMapAttr):
            writer.refuse()
        (buffer,), (result,) = op.operands, op.results
        extra = writer.dictionary(("permutation",))
        writer.write(f" {writer.value(buffer)} {permutation.map}{extra} : {writer.type(buffer.type)} to ")
        writer.write(writer.type(result.type))


class _AllocationForm:
    """`(%sizes) copy(%tensor) size_hint=%hint {attributes} : type`."""

    def read(self, reader: FormReader) -> FormTask:
        reader.expect("(")
        sizes = reader.separated(reader.use, ")")
        copied = hint = None
        if reader.take("copy"):
            reader.expect("(")
            copied = reader.use()
            reader.expect(")")
        if reader.take("size_hint"):
            reader.expect("=")
            hint = reader.use()
        extra = reader.dictionary()
        reader.expect(":")
        type = reader.type()
        fields: dict[str, object] = {"dynamic_sizes": _indices(reader, sizes)}
        if copied is not None:
            fields[_name(reader, "copy")] = reader.resolve(copied, type)
        if hint is not None:
            fields["size_hint"] = reader.resolve(hint, index)
        return reader.make(fields, (type,), extra)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        copied, hint = _field(op, "copy"), _field(op, "size_hint")
        sizes = op.operands[: len(op.operands) - (copied is not None) - (hint is not None)]
        (result,) = op.results
        if copied is not None and copied.type is not result.type:
            writer.refuse()
        writer.write(f"({writer.values(sizes)})")
        writer.write("" if copied is None else f" copy({writer.value(copied)})")
        writer.write("" if hint is None else f" size_hint={writer.value(hint)}")
        writer.write(f"{writer.dictionary(('operandSegmentSizes',))} : {writer.type(result.type)}")


FORMS: Mapping[str, CustomForm] = MappingProxyType(
    {
        "memref.generic_atomic_rmw": _AtomicForm(),
        "memref.alloca_scope": _ScopeForm(),
        "memref.prefetch": _PrefetchForm(),
        "memref.dma_start": _TransferForm(),
        "memref.transpose": _TransposeForm(),
        "bufferization.alloc_tensor": _AllocationForm(),
        **VECTOR_FORMS,
    }
)
"""Forms by the names of operations."""
