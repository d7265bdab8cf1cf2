"""Custom forms in MLIR's C++ of operations of the vector dialect.

Source: MLIR vector dialect, as mlir-opt 22 reads and prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from commonir.ir.affine import AffineDim, AffineMap, AffineMapAttr
from commonir.ir.attributes import ArrayAttr, Attribute, BoolAttr, DialectAttr, DictionaryAttr, StringAttr
from commonir.ir.operation import Block
from commonir.ir.types import MemRefType, TensorType, Type, VectorType, boolean, index
from commonir.ods.definition import GROUP_SIZES
from commonir.ods.from_records.verifiers.values import values_of
from commonir.ods.from_records.verifiers.vector_memory import mask_extents
from commonir.ods.from_records.verifiers.vectors import extents_of, vector_of
from commonir.ods.text_form import CustomForm, FormReader, FormTask, FormWriter, Use

_ITERATORS = "iterator_types"
_YIELD = "vector.yield"


class _ContractForm:
    """`{maps, iterators, kind} %lhs, %rhs, %acc {attributes} : types into type`; iterators are strings there."""

    def read(self, reader: FormReader) -> FormTask:
        at, trait = reader.position, reader.attribute()
        if not isinstance(trait, DictionaryAttr):
            reader.fail(f"expected a dictionary of maps and iterators, found {trait!r}", at=at)
        attributes = dict(trait.entries)
        attributes[_ITERATORS] = self._iterators(reader, attributes.get(_ITERATORS), at)
        lhs = reader.use()
        reader.expect(",")
        rhs = reader.use()
        reader.expect(",")
        acc = reader.use()
        for name, value in reader.dictionary().items():
            if name in attributes:
                reader.fail(f"attribute '{name}' is given twice")
            attributes[name] = value
        reader.expect(":")
        of_lhs = reader.type()
        reader.expect(",")
        of_rhs = reader.type()
        reader.expect("into")
        type = reader.type()
        operands = zip(("lhs", "rhs", "acc"), (lhs, rhs, acc), (of_lhs, of_rhs, type), strict=True)
        return reader.make({name: reader.resolve(use, t) for name, use, t in operands}, (type,), attributes)
        yield  # makes it a generator, as forms with regions are

    @staticmethod
    def _iterators(reader: FormReader, value: Attribute | None, at: int) -> Attribute:
        """Returns the cases of an enumeration for strings."""
        words = value.values if isinstance(value, ArrayAttr) else ()
        if not isinstance(value, ArrayAttr) or not all(isinstance(word, StringAttr) for word in words):
            reader.fail(f"expected the strings of '{_ITERATORS}'", at=at)
        return ArrayAttr(
            tuple([DialectAttr("vector", "iterator_type", w.value) for w in words if isinstance(w, StringAttr)])
        )

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        own = op.attribute_dictionary
        iterators = own.get(_ITERATORS)
        trait = {name: own[name] for name in ("indexing_maps", _ITERATORS, "kind") if name in own}
        if (
            not isinstance(iterators, ArrayAttr)
            or len(op.operands) != 3
            or op.operands[2].type is not _only_type(writer)
        ):
            writer.refuse()
        words = [StringAttr(a.body or "") for a in iterators.values if isinstance(a, DialectAttr)]
        trait[_ITERATORS] = ArrayAttr(tuple(words))
        lhs, rhs, acc = op.operands
        writer.write(f" {writer.entries(trait)} {writer.values(op.operands)}{writer.dictionary(trait)} : ")
        writer.write(f"{writer.types((lhs.type, rhs.type))} into {writer.type(acc.type)}")


def _only_type(writer: FormWriter) -> Type | None:
    """Returns the type of the only result; None if there is another number of results."""
    results = writer.op.results
    return results[0].type if len(results) == 1 else None


class _OuterProductForm:
    """`%lhs, %rhs, %acc {attributes} : types` of the first two; without `%acc`, no attributes are printed."""

    def read(self, reader: FormReader) -> FormTask:
        at, uses = reader.position, reader.uses()
        if len(uses) not in (2, 3):
            reader.fail(f"expected 2 or 3 operands, found {len(uses)}", at=at)
        extra = reader.dictionary()
        reader.expect(":")
        at, lhs = reader.position, reader.type()
        if not isinstance(lhs, VectorType):
            reader.fail(f"expected a vector for operand #1, found {lhs}", at=at)
        reader.expect(",")
        rhs = reader.type()
        result = self._product(lhs, rhs)
        types = (lhs, rhs, result)[: len(uses)]
        values = zip(("lhs", "rhs", "acc"), reader.resolve_all(uses, types), strict=False)
        return reader.make(dict(values), (result,), extra)
        yield  # makes it a generator, as forms with regions are

    @staticmethod
    def _product(lhs: VectorType, rhs: Type) -> Type:
        return vector_of(lhs.element, [*extents_of(lhs)[:1], *extents_of(rhs)[:1]])

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        lhs, rhs = op.operands[0].type, op.operands[1].type
        has_acc = len(op.operands) > 2
        shown = {k: v for k, v in op.attribute_dictionary.items() if k != GROUP_SIZES}
        # mlir-opt prints no attributes without `%acc`, and loses them.
        is_lost = not has_acc and writer.dictionary()
        if is_lost or not isinstance(lhs, VectorType) or self._product(lhs, rhs) is not _only_type(writer):
            writer.refuse()
        extra = f" {writer.entries(dict(sorted(shown.items())))}" if has_acc else ""
        writer.write(f" {writer.values(op.operands)}{extra} : {writer.types((lhs, rhs))}")


class _TransferForm:
    """The parts that `vector.transfer_read` and `vector.transfer_write` share."""

    def rest(
        self, reader: FormReader, *, reads: bool
    ) -> tuple[MemRefType | TensorType, VectorType, dict[str, Attribute], dict[str, object]]:
        """Reads what follows the other operands; returns the two types, the attributes, and the mask by its name."""
        mask = reader.use() if reader.take(",") else None
        extra = reader.dictionary()
        reader.expect(":")
        base, vector, at = self.types(reader, reads=reads)
        attributes, order = self.attributes(reader, extra, base, vector, at)
        return base, vector, attributes, self.mask(reader, mask, order, base, vector)

    def attributes(
        self,
        reader: FormReader,
        extra: dict[str, Attribute],
        base: MemRefType | TensorType,
        vector: VectorType,
        at: int,
    ) -> tuple[dict[str, Attribute], AffineMap]:
        """Returns the attributes with those that the text leaves out, and the map of dimensions."""
        given = extra.get("permutation_map")
        order = given.map if isinstance(given, AffineMapAttr) else _minor_identity(base, vector)
        if order is None:
            reader.fail(f"expected a permutation_map for a vector of more dimensions than {base}", at=at)
        missing = ArrayAttr((BoolAttr(False),) * len(order.results))
        return {"permutation_map": AffineMapAttr(order), "in_bounds": missing, **extra}, order

    def types(self, reader: FormReader, *, reads: bool) -> tuple[MemRefType | TensorType, VectorType, int]:
        """Reads the types of the memory or tensor and of the vector, in the order of the text."""
        at, types = reader.position, reader.types()
        if len(types) != 2:
            reader.fail(f"requires two types, found {len(types)}", at=at)
        base, vector = types if reads else types[::-1]
        if not isinstance(base, MemRefType | TensorType) or base.shape is None:
            reader.fail(f"requires memref or ranked tensor type, found {base}", at=at)
        if not isinstance(vector, VectorType):
            reader.fail(f"requires vector type, found {vector}", at=at)
        return base, vector, at

    def mask(
        self, reader: FormReader, mask: Use | None, order: AffineMap, base: MemRefType | TensorType, vector: VectorType
    ) -> dict[str, object]:
        """Returns the mask by its name, if there is one; its type is that of the part of the memory."""
        if mask is None:
            return {}
        if isinstance(base.element, VectorType):
            reader.fail("does not support masks with vector element type", at=mask.at)
        if len(vector.shape) != len(order.results):
            reader.fail("expected the same rank for the vector and the results of the permutation map", at=mask.at)
        return {"mask": reader.resolve(mask, vector_of(boolean, mask_extents(order, vector)))}

    def write_attributes(self, writer: FormWriter) -> str:
        """Returns the attributes without those that the text leaves out."""
        op = writer.op
        order, in_bounds = op.properties.get("permutation_map"), op.properties.get("in_bounds")
        if not isinstance(order, AffineMapAttr) or not isinstance(in_bounds, ArrayAttr):
            writer.refuse()
        hidden = {GROUP_SIZES}
        if order.map is _last_dims(order.map.dims, len(order.map.results)):
            hidden.add("permutation_map")
        if not any(isinstance(b, BoolAttr) and b.value for b in in_bounds.values):
            hidden.add("in_bounds")
        return writer.dictionary(hidden)


def _minor_identity(base: MemRefType | TensorType, vector: VectorType) -> AffineMap | None:
    """Returns the map of the last dimensions to those of a vector; None if there are too few."""
    return _last_dims(len(base.shape or ()), len(vector.shape) - len(extents_of(base.element)))


def _last_dims(dims: int, count: int) -> AffineMap | None:
    return None if count > dims else AffineMap(dims, 0, [AffineDim(n) for n in range(dims - count, dims)])


class _ReadForm(_TransferForm):
    """`%base[%i], %padding, %mask {attributes} : type, vector`; the mask is optional."""

    def read(self, reader: FormReader) -> FormTask:
        source = reader.use()
        reader.expect("[")
        indices = reader.separated(reader.use, "]")
        reader.expect(",")
        padding = reader.use()
        base, vector, attributes, mask = self.rest(reader, reads=True)
        fields: dict[str, object] = {
            "base": reader.resolve(source, base),
            "indices": reader.resolve_all(indices, [index] * len(indices)),
            "padding": reader.resolve(padding, base.element),
            **mask,
        }
        return reader.make(fields, (vector,), attributes)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        (base,), indices, mask = values_of(op, "base"), values_of(op, "indices"), values_of(op, "mask")
        after = writer.values((*values_of(op, "padding"), *mask))
        writer.write(f" {writer.value(base)}[{writer.values(indices)}], {after}{self.write_attributes(writer)}")
        writer.write(f" : {writer.types((base.type, op.results[0].type))}")


class _WriteForm(_TransferForm):
    """`%vector, %base[%i], %mask {attributes} : vector, type`; the mask is optional."""

    def read(self, reader: FormReader) -> FormTask:
        value = reader.use()
        reader.expect(",")
        target = reader.use()
        reader.expect("[")
        indices = reader.separated(reader.use, "]")
        base, vector, attributes, mask = self.rest(reader, reads=False)
        fields: dict[str, object] = {
            "valueToStore": reader.resolve(value, vector),
            "base": reader.resolve(target, base),
            "indices": reader.resolve_all(indices, [index] * len(indices)),
            **mask,
        }
        return reader.make(fields, (base,) if isinstance(base, TensorType) else (), attributes)
        yield  # makes it a generator, as forms with regions are

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        (value,), (base,), mask = values_of(op, "valueToStore"), values_of(op, "base"), values_of(op, "mask")
        indices = writer.values(values_of(op, "indices"))
        after = f", {writer.values(mask)}" if mask else ""
        writer.write(f" {writer.value(value)}, {writer.value(base)}[{indices}]{after}{self.write_attributes(writer)}")
        writer.write(f" : {writer.types((value.type, base.type))}")


class _MaskForm:
    """`%mask, %passthru { operation } {attributes} : type -> types`: the results of the operation are yielded."""

    def read(self, reader: FormReader) -> FormTask:
        mask = reader.use()
        passed = reader.use() if reader.take(",") else None
        body = yield reader.region()
        if not body.blocks:
            body.add(Block())
        block = body.blocks[0]
        if block.last is None or block.last.name != _YIELD:
            yielded = block.last.results if block.last is not None and block.last is block.first else ()
            block.append(reader.create(_YIELD, yielded, {}, ()))
        extra = reader.dictionary()
        reader.expect(":")
        fields: dict[str, object] = {"mask": reader.resolve(mask, reader.type()), "maskRegion": body}
        results = reader.results() if reader.take("->") else ()
        if passed is not None:
            if not results:
                reader.fail("expects a result if passthru operand is provided", at=passed.at)
            fields["passthru"] = reader.resolve(passed, results[0])
        return reader.make(fields, results, extra)

    def write(self, writer: FormWriter) -> None:
        op = writer.op
        (body,) = op.regions
        (mask,), passed = values_of(op, "mask"), values_of(op, "passthru")
        inner = body.blocks[0].first if len(body.blocks) == 1 and not body.blocks[0].arguments else None
        last = body.blocks[0].last if body.blocks else None
        if inner is None or last is None or last.name != _YIELD:
            writer.refuse()
        has_all = inner is last or (inner.next is last and last.operands == inner.results)
        if not has_all or (passed and [r.type for r in op.results[:1]] != [passed[0].type]):
            writer.refuse()
        writer.write(f" {writer.values((mask, *passed))} {{ ")
        writer.operation(inner)
        writer.write(f" }}{writer.dictionary((GROUP_SIZES,))} : {writer.type(mask.type)}")
        if op.results:
            writer.write(f" -> {writer.result_types([r.type for r in op.results])}")


VECTOR_FORMS: Mapping[str, CustomForm] = MappingProxyType(
    {
        "vector.contract": _ContractForm(),
        "vector.mask": _MaskForm(),
        "vector.outerproduct": _OuterProductForm(),
        "vector.transfer_read": _ReadForm(),
        "vector.transfer_write": _WriteForm(),
    }
)
"""Forms by the names of operations."""
