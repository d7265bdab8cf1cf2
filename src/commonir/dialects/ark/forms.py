"""The text of operations of ark: what follows from the rest of an operation is left out.

`%t2 = ark.Add %t0, %t1 into %y gives 2 node 0 "add" : tensor<4xf32>`: tensors that are read, those that are written,
the number of the result, the node and the name. One type stands for all operands when they have the same. A tensor says
its buffer, and of the rank, the part of the buffer and the tags what is not plain:
`%t5 = ark.tensor 5 buffer 3 rank 1 at [0, 16] in [64, 64] received [[-1, 7]] : tensor<64x16xf16>`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonir.ir.literals import quoted
from commonir.ir.operation import Value
from commonir.ir.types import Type
from commonir.ods.text_form import FormReader, FormWriter

Lists = Sequence[Sequence[int]]


def write_operands(writer: FormWriter, reads: Sequence[Value], writes: Sequence[Value]) -> None:
    """Writes the tensors read, then the tensors written."""
    writer.write(f" {writer.values(reads)}" if reads else "")
    writer.write(f" into {writer.values(writes)}" if writes else "")


def written_types(writer: FormWriter, values: Sequence[Value]) -> str:
    """The types of operands, one when all have the same."""
    types = [value.type for value in values]
    if not types:
        return ""
    return f" : {writer.types(types[:1] if all(t is types[0] for t in types) else types)}"


def read_types(reader: FormReader, count: int) -> tuple[Type, ...]:
    """The types of so many operands."""
    if not count:
        return ()
    reader.expect(":")
    types = reader.types()
    return types * count if len(types) == 1 else types


def numbers_text(numbers: Sequence[int]) -> str:
    """A list of numbers."""
    return f"[{', '.join(map(str, numbers))}]"


def lists_text(lists: Lists) -> str:
    """A list of lists of numbers."""
    return f"[{', '.join(map(numbers_text, lists))}]"


def read_numbers(reader: FormReader) -> tuple[int, ...]:
    """A list of numbers."""
    reader.expect("[")
    return tuple(reader.separated(reader.integer, "]"))


def read_lists(reader: FormReader) -> tuple[tuple[int, ...], ...]:
    """A list of lists of numbers."""
    reader.expect("[")
    return tuple(reader.separated(lambda: read_numbers(reader), "]"))


def labels_text(node: int, name: str, result_id: int | None) -> str:
    """The number of the result, the node and the name of an operation."""
    gives = "" if result_id is None else f" gives {result_id}"
    return f"{gives} node {node} {quoted(name)}"


def read_labels(reader: FormReader, no_id: int) -> Mapping[str, object]:
    """Reads the text that `labels_text` writes."""
    result_id = reader.integer() if reader.take("gives") else no_id
    reader.expect("node")
    return {"result_id": result_id, "node": reader.integer(), "op_name": reader.string()}
