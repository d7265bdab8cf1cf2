"""Modules of the ark dialect as ARK model files, as ARK's serializer writes them: what was read comes back as it was.

Source: ARK model files, generations v1 to v4.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path

from commonir.base.codes import CANNOT_WRITE, EXTERNAL_WEIGHTS
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.files import atomic_file, atomic_files
from commonir.base.strict_json import Json
from commonir.base.text import escape, format_bytes, plural
from commonir.dialects import ark
from commonir.formats.ark.files import numbered
from commonir.formats.ark.json_text import text_of
from commonir.formats.ark.schema import OP, TOP, arguments_of, buffer_fields, node_fields, tensor_fields
from commonir.formats.ark.weights import file_of, place_of, refuse_leftover, weights_of, write_weights
from commonir.formats.format import DEFAULT_WRITE_OPTIONS, WriteOptions
from commonir.formats.source_files import hold_replaced
from commonir.ir.attributes import is_sequence
from commonir.ir.data import Data
from commonir.ir.interface import Metadata, metadata_of
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ods.fields import Field

_DEPTHS = {"": 4, ark.V1: 6, ark.V2: 5, ark.V3: 4, ark.V4: 4}
"""How many levels of a document have one item per line."""


def write(
    module: Module, path: str | os.PathLike[str], options: WriteOptions = DEFAULT_WRITE_OPTIONS
) -> tuple[Path, ...]:
    """Writes a program: one rank to the path, several ranks as `numbered` calls their files; weights to a file beside
    each, unless they are there already. All of them, or none. Returns the files that are written.

    Raises: CANNOT_WRITE, DISK_FULL, OUTPUT_IN_THE_WAY.
    """
    ranks = ranks_of(module)
    place = Path(path)
    places = [place] if len(ranks) == 1 else numbered(place, [rank.rank for rank in ranks])
    texts = [text_of(document_of(rank), _DEPTHS[rank.generation]) for rank in ranks]
    weights = {
        place_of(where): rank_weights
        for where, rank in zip(places, ranks, strict=True)
        if (rank_weights := weights_of(rank))
    }
    for where in places:
        if place_of(where) not in weights:
            refuse_leftover(where)
    if len(places) == 1 and not weights:
        with atomic_file(place) as stream:
            stream.write(texts[0].encode())
        return (place,)
    changed = {place: arrays for place, arrays in weights.items() if not _is_there(arrays, place)}
    if options.findings is not None:
        options.findings.extend(_unchanged(weights.keys() - changed.keys(), path))
    hold_replaced([data for arrays in weights.values() for data in arrays.values()], changed)
    with atomic_files(*places, beside=changed) as streams:
        for stream, text in zip(streams, texts, strict=False):
            stream.write(text.encode())
        for stream, arrays in zip(streams[len(places) :], changed.values(), strict=True):
            write_weights(stream, arrays)
    return (*places, *changed)


def _unchanged(places: Collection[Path], path: str | os.PathLike[str]) -> Iterator[Diagnostic]:
    """Yields a note about files of weights that are not written."""
    if places:
        size_bytes = sum(place.stat().st_size for place in places)
        where = f"'{escape(min(places).name)}'" if len(places) == 1 else plural(len(places), "file")
        message = f"unchanged weights stay in {where} ({format_bytes(size_bytes)})"
        yield Diagnostic(EXTERNAL_WEIGHTS, message, file=os.fspath(path))


def _is_there(weights: Mapping[str, Data], place: Path) -> bool:
    """Returns whether the file at a place has these weights already."""
    file = file_of(weights)
    return file is not None and file.is_at(place)


def dumps(module: Module) -> bytes:
    """The bytes of the file of a program of one rank. Raises: CANNOT_WRITE."""
    ranks = ranks_of(module)
    if len(ranks) != 1:
        raise _refused(f"a program of {len(ranks)} ranks is several files", help="write it to a path")
    if weights_of(ranks[0]):
        raise _refused("the weights of the program are in a file of their own", help="write it to a path")
    return text_of(document_of(ranks[0]), _DEPTHS[ranks[0].generation]).encode()


def ranks_of(module: Module) -> list[ark.Rank]:
    """The ranks of a program, in order. Raises: CANNOT_WRITE where there is anything else, or nothing."""
    ranks: list[ark.Rank] = []
    for op in module.body.operations:
        if not isinstance(op, ark.Rank):
            raise _refused(f"a model file of ARK has no place for {op.name}")
        ranks.append(op)
    if not ranks:
        raise _refused("the program has no ranks")
    if metadata_of(module) != Metadata():
        message = "a model file of ARK has no place for metadata, such as a description, an author or a license"
        help = "write the program to another format, such as MLIR text or ONNX, or remove its metadata: `--meta KEY=`"
        raise _refused(message, help)
    if len({rank.rank for rank in ranks}) != len(ranks):
        raise _refused("two ranks of the program have one number")
    return ranks


def _refused(message: str, help: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic(CANNOT_WRITE, message, help=help))


def document_of(rank: ark.Rank) -> Json:
    """The document of a rank. Raises: CANNOT_WRITE where a file cannot say what the rank holds."""
    if rank.generation not in _DEPTHS:
        raise _refused(f"there is no generation '{rank.generation}' of files")
    return dict(zip(TOP, (rank.rank, rank.world_size, _Writer(rank).nodes()), strict=True))


class _Writer:
    def __init__(self, rank: ark.Rank) -> None:
        self._rank = rank
        self._generation = rank.generation
        # Where the tensor of a value lies: a result lies where what it is a later state of does.
        self._views: dict[Value, ark.HoldsView] = {}
        self._arguments: dict[type[ark.ArkOp], dict[str, Field]] = {}

    def nodes(self) -> list[Json]:
        """The nodes, in order."""
        rank = self._rank
        if len(rank.consumers) != len(rank.producers):
            message = f"{len(rank.producers)} nodes have producers, but {len(rank.consumers)} have consumers"
            raise _refused(f"{rank.sym_name}: {message}")
        fields = node_fields(self._generation)
        values: list[list[Json]] = [[] for _ in rank.producers]
        last = 0
        for op in self._operations():
            if not last <= op.node < len(values):
                raise _refused(f"{rank.sym_name}: {op.name} is of node {op.node}, after one of node {last}")
            last = op.node
            values[last].append(self._op(op))
        for n, ops in enumerate(values):
            if not ops or (fields[-1] == "Op" and len(ops) > 1):
                expected = "one operation" if fields[-1] == "Op" else "an operation at least"
                result = f"node {n} has {len(ops)}, files of generation {self._generation} have {expected}"
                raise _refused(f"{rank.sym_name}: {result}", help="convert the program to another generation")
        out: list[Json] = []
        for n, (before, after, ops) in enumerate(zip(rank.producers, rank.consumers, values, strict=True)):
            edges: list[Json] = [[rank.node_id(other) for other in ids] for ids in (before, after)]
            parts: Sequence[Json] = (rank.node_id(n), *edges, ops[0] if fields[-1] == "Op" else ops)
            out.append(dict(zip(fields, parts, strict=True)))
        return out

    def _operations(self) -> Iterator[ark.ArkOp]:
        for op in self._rank.body.operations:
            if isinstance(op, ark.HoldsView):
                self._views[op.results[0]] = op
            if isinstance(op, ark.ArkOp):
                yield op
            elif not isinstance(op, ark.Tensor):
                raise _refused(f"{self._rank.sym_name}: a model file of ARK has no place for {op.name}")

    def _op(self, op: ark.ArkOp) -> Json:
        aliased = op.aliased
        if aliased is not None:
            self._views[op.results[0]] = self._view(aliased)
        definition = type(op)
        fields = self._arguments.get(definition)
        if fields is None:
            fields = self._arguments[definition] = arguments_of(definition, self._generation)
        arguments: dict[str, Json] = {name: self._argument(op, name, field) for name, field in fields.items()}
        parts: Sequence[Json] = (
            op.name.partition(".")[2],
            op.op_name,
            op.is_virtual,
            [self._tensor(v) for v in op.read_tensors],
            [self._tensor(v) for v in op.written_tensors],
            [self._tensor(v) for v in op.results],
            arguments,
        )
        return dict(zip(OP, parts, strict=True))

    def _argument(self, op: ark.ArkOp, name: str, field: Field) -> Json:
        type = "" if field.type is None else field.type.name
        value: object = op.field_value(field)
        if type == "DIMS" and is_sequence(value):
            return {type: [n for n in value if isinstance(n, int)]}
        match value:
            case float() if not isfinite(value):
                result = f"{self._rank.sym_name}: {op.name} '{op.op_name}' has the argument '{name}' of {value}"
                raise _refused(f"{result}, which files cannot say", help="give the operation a tensor that holds it")
            case bool() | int() | float():
                return {type: float(value) if type == "FLOAT" else value}
            case _:
                raise _refused(f"{self._rank.sym_name}: {op.name} '{op.op_name}' has no argument '{name}'")

    def _view(self, value: Value) -> ark.HoldsView:
        result = self._views.get(value)
        if result is None:
            raise _refused(f"{self._rank.sym_name}: the location of a tensor of {value.type} is unknown")
        return result

    def _tensor(self, value: Value) -> Json:
        view, owner = self._view(value), value.owner
        match owner:
            case ark.Tensor():
                number = owner.tensor_id
            case ark.ArkOp():
                number = owner.result_id
            case _:
                raise _refused(f"{self._rank.sym_name}: a tensor of {value.type} has no number")
        buffer: dict[str, Json] = {
            "Id": view.buffer,
            "Rank": view.buffer_rank,
            "SendTags": [[*pair] for pair in view.send_tags],
            "RecvTags": [[*pair] for pair in view.recv_tags],
            "IsExternal": bool(view.is_external),
        }
        shape = ark.dims_of(value)
        parts: dict[str, Json] = {
            "Id": number,
            "DataType": view.data_type,
            "Buffer": {name: buffer[name] for name in buffer_fields(self._generation)},
            "Shape": [*shape],
            "Strides": [*view.strides],
            "Offsets": [*view.offsets],
            "Pads": [*(view.pads or (1,) * len(shape))],
            "PaddedShape": [*(view.padded_shape or shape)],
        }
        return {name: parts[name] for name in tensor_fields(self._generation)}
