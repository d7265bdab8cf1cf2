"""Finds the weights of a program, and how they are stored, without reading them.

A constant tensor is a weight; a number that is not a tensor is none. A compressed weight is stored as several
constants, such as a table and indices, and counts as the one that it stands for: definitions that decode constants say
so (`traits.Decodes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from commonir.base.tuples import NamedTuple
from commonir.ir.data import Data, DeferredData, FileData
from commonir.ir.interface import default_data
from commonir.ir.module import Module, weight_name
from commonir.ir.operation import Operation, Value
from commonir.ir.types import ElementType, TensorType, tensor, u8
from commonir.ods import traits
from commonir.ods.operation import Op


class Weight(NamedTuple):
    """A weight: the type of what it stands for, what it is stored as, and the constants it takes, the codes first."""

    name: str
    type: str
    parameter_count: int
    parts: tuple[Data, ...]
    storage: str = ""

    @property
    def size_bytes(self) -> int:
        """Returns the bytes that it takes as stored."""
        return sum(part.size_bytes for part in self.parts)


def bits_each(size_bytes: int, count: int) -> float:
    """Returns the bits that each of some elements takes."""
    return round(size_bytes * 8 / count, 3) if count else 0.0


def weights_of(module: Module) -> Iterator[Weight]:
    """Yields each weight once: functions of a model may share weights, which are then at the same offset of a file."""
    decoded = list(_decoded(module))
    seen: set[object] = set()
    for weight, holders in decoded:
        keys = [_key(part) for part in weight.parts]
        is_new = keys[0] not in seen
        seen.update(keys)
        seen.update(holders)
        if is_new:
            yield weight
    for holder, data in _constants(module):
        if holder in seen or _key(data) in seen:
            continue
        seen.add(_key(data))
        name = holder.name if isinstance(holder, Value) else weight_name(holder)
        yield Weight(name, str(tensor(data.element, *data.shape)), data.count, (data,))


def _key(data: Data) -> object:
    return (data.file.path, data.offset) if isinstance(data, FileData) else data


def _constants(module: Module) -> Iterator[tuple[Operation | Value, Data]]:
    """Yields the constants of a program with the operations or values that hold them."""
    for function in module.functions.values():
        # Exporters may list weights among the inputs, with their contents as defaults.
        ports = function.input_ports
        defaults = ((v, default_data(v.type, ports[v.name])) for v in function.inputs if v.name in ports)
        yield from ((v, data) for v, data in defaults if data is not None)
    # What is decoded from other constants is not a weight of its own.
    for op in (op for op in module.nested() if not op.operands):
        data = op.constant_data()
        if op.results and all(isinstance(r.type, ElementType) for r in op.results):
            continue
        if isinstance(op, Op) and op.has_trait(traits.Declares):
            # What memory holds when a program begins.
            yield from ((op, part) for part in op.stored_attributes.values() if isinstance(part, Data))
        elif isinstance(data, DeferredData) and isinstance(op, Op):
            yield from ((op, part) for part in op.stored_attributes.values() if isinstance(part, Data))
        elif data is not None:
            yield op, data


# -- compressed weights


def _decoded(module: Module) -> Iterator[tuple[Weight, set[object]]]:
    """Yields the compressed weights of a program, with the operations that hold what they are decoded from."""
    for op in module.nested():
        decoded = None if _feeds_decoder(op) else _decoded_by(op)
        if decoded is not None:
            yield decoded


def compressed_weight(op: Operation) -> Weight | None:
    """Returns the weight that an operation decodes from constants; None for other operations."""
    decoded = _decoded_by(op)
    return None if decoded is None else decoded[0]


def _decoded_by(op: Operation) -> tuple[Weight, set[object]] | None:
    decoder = _decoder(op)
    if decoder is None or not isinstance(op, Op):
        return None
    codes, parts, holders = _stored(op, decoder)
    if codes is None:
        # It decodes what is computed.
        return None
    count, type = _represented(op, decoder, codes)
    storage = ", ".join(filter(None, _storage(op, decoder, count)))
    return Weight(weight_name(op), type, count, tuple(parts), storage), holders


def _decoder(op: Operation) -> traits.Decodes | None:
    if not isinstance(op, Op):
        return None
    return next((trait for trait in op.traits if isinstance(trait, traits.Decodes)), None)


def _feeds_decoder(op: Operation) -> bool:
    """Returns whether what an operation decodes is again the codes, or another part, of what others decode."""
    users = [user for v in op.results for user in v.users]
    return bool(users) and all((decoder := _decoder(user)) is not None and not decoder.is_used for user in users)


def _field(op: Op, name: str) -> Value | Data | None:
    value = getattr(op, name) if name else None
    return value if isinstance(value, Value | Data) else None


def _maker(field: Value | Data | None) -> Operation | None:
    return field.owner if isinstance(field, Value) and isinstance(field.owner, Operation) else None


def _stored(op: Op, decoder: traits.Decodes) -> tuple[Data | None, list[Data], set[object]]:
    """Returns the innermost codes, all constants that a result is decoded from, and the operations that hold them.

    There are no codes where something that is decoded is not constant.
    """
    if not op.operands:
        parts = [part for part in op.stored_attributes.values() if isinstance(part, Data)]
        codes = _field(op, decoder.codes)
        first = codes if isinstance(codes, Data) else None
        return first, sorted(parts, key=lambda part: part is not codes), {op}
    first: Data | None = None
    parts: list[Data] = []
    holders: set[object] = {op}
    codes_value = _field(op, decoder.codes)
    for value in op.operands:
        maker = _maker(value)
        inner = None if maker is None else _decoder(maker)
        if maker is not None and inner is not None and isinstance(maker, Op):
            codes, more, held = _stored(maker, inner)
        else:
            codes = None if maker is None or maker.operands else maker.constant_data()
            more, held = ([codes], {maker}) if codes is not None else ([], set[object]())
        if value is codes_value:
            first = codes
        if codes is not None:
            # The mask of a sparse constant may come from the operation that has its elements.
            parts += [part for part in more if all(part is not known for known in parts)]
            holders |= held
    if first is not None:
        parts.sort(key=lambda part: part is not first)
    return first, parts, holders


def _represented(op: Op, decoder: traits.Decodes, codes: Data) -> tuple[int, str]:
    """Returns the number of elements of what is decoded, and its type."""
    element = codes.element
    if decoder.shape:
        dims = tuple([int(getattr(op, name)) for name in decoder.shape])
        return prod(dims), str(tensor(_of_scales(op) or element, *dims))
    if decoder.is_used:
        count = codes.count * (_packed(op, decoder, codes) or 1)
        dims = (*codes.shape[:-1], codes.shape[-1] * (count // max(codes.count, 1)))
        return count, str(tensor(element, *dims))
    type = op.results[-1].type
    if isinstance(type, TensorType) and type.is_static:
        return type.count, str(type)
    return codes.count, str(tensor(element, *codes.shape))


def _of_scales(op: Op) -> ElementType | None:
    type = op.results[-1].type
    return type.element if isinstance(type, TensorType) else None


def _packed(op: Op, decoder: traits.Decodes, codes: Data) -> int:
    """Returns how many codes lie in each stored element, 0 if they are not packed."""
    bits = getattr(op, decoder.bits) if decoder.bits else 0
    return codes.element.bits // bits if isinstance(bits, int) and bits and codes.element is u8 else 0


def _storage(op: Op, decoder: traits.Decodes, count: int) -> Iterator[str]:
    """Yields how a weight is stored, outermost first."""
    field = _field(op, decoder.codes)
    codes = field if isinstance(field, Data) else None
    shape, element = _shape_and_element(field)
    match decoder.method:
        case "palettized":
            bits = getattr(op, decoder.bits) if decoder.bits else element.bits if element else 0
            yield f"palettized {bits} bits" if bits else "palettized"
        case "sparse":
            stored = prod(shape)
            yield f"sparse {round(100 * (1 - stored / count))} %" if count else "sparse"
        case "quantized":
            bits = getattr(op, decoder.bits) if decoder.bits else 0
            name = f"int{bits}" if bits and element is u8 else _integer_text(element)
            yield f"{name}{_blocks(op, decoder, shape)}"
        case "cast":
            yield element.name if element else ""
    maker = None if codes is not None else _maker(field)
    inner = None if maker is None else _decoder(maker)
    if isinstance(maker, Op) and inner is not None:
        yield from _storage(maker, inner, prod(shape))


def _shape_and_element(field: Value | Data | None) -> tuple[tuple[int, ...], ElementType | None]:
    if isinstance(field, Data):
        return field.shape, field.element
    if field is not None and isinstance(field.type, TensorType) and field.type.is_static:
        return field.type.static_shape, field.type.element
    return (), None


def _integer_text(element: ElementType | None) -> str:
    if element is None:
        return "quantized"
    if not element.is_integer:
        return element.name
    return f"{'uint' if element.kind == 'uint' else 'int'}{element.bits}"


def _blocks(op: Op, decoder: traits.Decodes, shape: tuple[int, ...]) -> str:
    """Returns the size of the blocks that share a scale, in words."""
    size = getattr(op, decoder.block) if decoder.block else 0
    if isinstance(size, int) and size:
        return f" blocks of {size}"
    scales, _ = _shape_and_element(_field(op, decoder.scales))
    if prod(scales) <= 1:
        return ""
    if len(scales) != len(shape):
        return " per channel"
    blocks = [n // m for n, m in zip(shape, scales, strict=True) if m > 1 and m < n]
    return f" blocks of {blocks[-1]}" if blocks else " per channel"
