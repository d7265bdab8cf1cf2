"""ARK model files into modules of the ark dialect: one `ark.rank` for each file.

It never changes what a file says. What a file must be as JSON and by its fields is found here; what operations mean
together is found by verification.
Limits: `Limits.max_text_bytes` for each file, and those of the JSON reader.
Source: ARK model files, generations v1 to v4.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import ARK_RANKS, ARK_TENSOR, FILE_NOT_ACCESSIBLE
from commonir.base.files import is_replaced_in_part
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.safe_paths import open_regular
from commonir.base.text import escape
from commonir.dialects import ark
from commonir.formats.ark.files import by_name, files_of_folder, missing_ranks, siblings
from commonir.formats.ark.json_text import parse
from commonir.formats.ark.plan import Plan, is_plan
from commonir.formats.ark.schema import OpData, RankData, Schema, TensorData
from commonir.formats.ark.weights import missing_weights, read_weights
from commonir.ir.module import Module
from commonir.ir.operation import Block, Region, Value
from commonir.ir.origins import Location
from commonir.ir.types import TensorType, tensor
from commonir.ods import Dialects

Opened = tuple[Module | None, list[Diagnostic]]


def read(path: str | os.PathLike[str], dialects: Dialects) -> Opened:
    """The program of a file and of those of the other ranks beside it, or of all files of a folder."""
    place = Path(path)
    if place.is_dir():
        return read_folder(place, dialects)
    reading = _Reading()
    rank, diagnostics = reading.read(place)
    if rank is None or rank.world_size == 1:
        return reading.checked(_program([(rank, diagnostics)]))
    files, missing = siblings(place, rank.rank, rank.world_size)
    ranks = [(rank, diagnostics) if file == place else reading.read(file) for file in files]
    module, diagnostics = reading.checked(_program(ranks))
    return module, [*diagnostics, *missing]


class _Reading:
    """Reads the files of a program, and requires that they belong together."""

    def __init__(self) -> None:
        self._statuses: dict[Path, os.stat_result | None] = {}

    def read(self, path: Path) -> tuple[ark.Rank | None, list[Diagnostic]]:
        """Reads one file, and that of its weights."""
        self._statuses[path] = _status(path)
        return _read_file(path)

    def checked(self, program: Opened) -> Opened:
        """Returns the program, or an error when another process replaces, or has replaced, its files."""
        files = list(self._statuses)
        for path, before in self._statuses.items():
            now = _status(path)
            if before is not None and (now is None or not os.path.samestat(before, now)):
                message = "the file was replaced while the program was read"
                return None, [Diagnostic(ARK_RANKS, message, file=os.fspath(path), help="load the program again")]
        return (None, [*program[1], _unfinished(files)]) if is_replaced_in_part(files) else program


def _status(path: Path) -> os.stat_result | None:
    with suppress(OSError):
        return path.stat()
    return None


def _unfinished(files: Sequence[Path]) -> Diagnostic:
    message = "a save of this program did not end: the files of some ranks are old, those of others new"
    return Diagnostic(ARK_RANKS, message, file=os.fspath(files[0]), help="save the program again")


def read_folder(folder: Path, dialects: Dialects) -> Opened:
    """The program of all files of a folder, one for each rank."""
    files = files_of_folder(folder)
    groups = by_name(files)
    if len(groups) > 1 and len(groups) < len(files):
        return None, [_several(folder, groups)]
    module, diagnostics = read_files(files, dialects)
    if len(groups) > 1 and any(d.code is ARK_RANKS for d in diagnostics):
        return None, [_several(folder, groups)]
    return module, diagnostics


def _several(folder: Path, groups: Mapping[str, Sequence[Path]]) -> Diagnostic:
    names = [f"'{escape(name)}'" for name in groups]
    more = ", ..." if len(names) > _SHOWN else ""
    message = f"the folder has several programs: {', '.join(names[:_SHOWN])}{more}"
    help = "name a file of one of them: those of its other ranks are found beside it"
    return Diagnostic(ARK_RANKS, message, file=os.fspath(folder), help=help)


def read_files(paths: Sequence[str | os.PathLike[str]], _dialects: Dialects) -> Opened:
    """The program of some files, one for each rank, and nothing beside them."""
    reading = _Reading()
    read = [reading.read(Path(path)) for path in paths]
    module, diagnostics = reading.checked(_program(read))
    ranks = [rank for rank, _ in read if rank is not None]
    arguments = {rank.rank for rank in ranks}
    if len(ranks) == len(read) and ranks:
        diagnostics += missing_ranks(Path(paths[0]), arguments, ranks[0].world_size)
    return module, diagnostics


def _program(ranks: Sequence[tuple[ark.Rank | None, list[Diagnostic]]]) -> Opened:
    """The module of some ranks, None when one of them could not be read, and what was found in all of them."""
    module = Module()
    diagnostics: list[Diagnostic] = []
    files: dict[int, str] = {}
    for rank, wrong in ranks:
        diagnostics += wrong
        if rank is None:
            continue
        module.body.append(rank)
        origin = rank.location
        file = origin.file if isinstance(origin, Location) else ""
        if rank.rank in files:
            message = f"rank {rank.rank} is that of another file of the program too, '{escape(files[rank.rank])}'"
            diagnostics.append(Diagnostic(ARK_RANKS, message, where="Rank", file=file))
        files.setdefault(rank.rank, file)
    diagnostics += missing_weights([rank for rank, _ in ranks if rank is not None])
    return (None if any(d.is_error for d in diagnostics) else module), diagnostics


def _read_file(path: Path) -> tuple[ark.Rank | None, list[Diagnostic]]:
    try:
        rank, diagnostics = read_rank(_content_of(path), os.fspath(path))
    except DiagnosticError as error:
        return None, list(error.diagnostics)
    return rank, diagnostics if rank is None else [*diagnostics, *read_weights(path, rank)]


def _content_of(path: Path) -> bytes:
    """The bytes of a file, as far as they are within limits. Raises: FILE_NOT_ACCESSIBLE."""
    try:
        with open_regular(path) as stream:
            return stream.read(DEFAULT_LIMITS.max_text_bytes + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        message = f"the system refused: {reason}"
        raise DiagnosticError(Diagnostic(FILE_NOT_ACCESSIBLE, message, file=os.fspath(path))) from None


def loads(content: bytes, _dialects: Dialects) -> Opened:
    """The program of the bytes of a file of one rank."""
    try:
        return _program([read_rank(content, "")])
    except DiagnosticError as error:
        return None, list(error.diagnostics)


def read_rank(content: bytes, file: str) -> tuple[ark.Rank | None, list[Diagnostic]]:
    """The rank of a file, None when it cannot be read, and what is wrong with the file.

    Raises: DiagnosticError as `parse`.
    """
    document = parse(content, file or None)
    schema = Plan(file) if is_plan(document) else Schema(file)
    data = schema.read(document)
    if data is None:
        return None, schema.diagnostics
    builder = _Builder(data, file)
    rank = builder.build()
    result = [*schema.diagnostics, *builder.diagnostics]
    return (None if builder.diagnostics else rank), result


_SHOWN = 5


class _Builder:
    """Makes a rank of what a file states. Tensors become values: each number is one, until an operation gives it."""

    def __init__(self, data: RankData, file: str) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._data = data
        self._file = file
        self._block = Block()
        self._values: dict[int, Value] = {}
        self._producers: dict[int, str] = {}

    def build(self) -> ark.Rank:
        """The rank; `found` is what is wrong with its tensors."""
        for n, node in enumerate(self._data.nodes):
            for op in node.ops:
                self._add(n, op)
        data = self._data
        producers = tuple([node.producers for node in data.nodes])
        consumers = tuple([node.consumers for node in data.nodes])
        ids = tuple([node.id for node in data.nodes])
        new_op = ark.Rank(
            f"rank{data.rank}",
            data.rank,
            data.world_size,
            data.generation,
            producers,
            consumers,
            Region([self._block]),
            () if ids == tuple(range(len(ids))) else ids,
        )
        new_op.location = Location(self._file)
        return new_op

    def _add(self, node: int, op: OpData) -> None:
        reads = [self._value(t, f"{op.place}.ReadTensors[{n}]") for n, t in enumerate(op.reads)]
        writes = [self._value(t, f"{op.place}.WriteTensors[{n}]") for n, t in enumerate(op.writes)]
        arguments: dict[str, object] = {
            **op.definition.shared(reads, writes),
            **op.arguments,
            "node": node,
            "op_name": op.name,
            "result_id": op.results[0].id if op.results else ark.NO_ID,
        }
        if op.definition.is_virtual:
            arguments |= self._view_of(op.results[0])
        built = op.definition.build(arguments, [_type_of(t) for t in op.results], Location(self._file, name=op.place))
        self._block.append(built)
        for data in op.results:
            self._produce(built, data, op)

    def _produce(self, new_op: ark.ArkOp, data: TensorData, op: OpData) -> None:
        place = f"{op.place}.ResultTensors[0]"
        aliased = new_op.aliased
        if aliased is not None:
            expected = (op.writes or op.reads)[0]
            if data[1:] != expected[1:] or data.id == expected.id:
                verb = "writes" if op.writes else "reads"
                message = (
                    f"the result must be the tensor that '{_type_name(op)}' {verb}, {expected.id}, under a new number"
                )
                self._wrong(place, f"{message}: same buffer, data type and view")
        if data.id in self._producers:
            message = f"tensor {data.id} is given by two operations, the other is {self._producers[data.id]}"
            self._wrong(f"{place}.Id", message)
        self._producers[data.id] = op.place
        new_op.results[0].name = op.name if op.definition.is_virtual and op.name else _name_of(data)
        self._values[data.id] = new_op.results[0]

    def _wrong(self, place: str, message: str) -> None:
        if len(self.diagnostics) < DEFAULT_LIMITS.max_diagnostics:
            self.diagnostics.append(Diagnostic(ARK_TENSOR, message, where=place, file=self._file or None))

    def _value(self, data: TensorData, place: str) -> Value:
        value = self._values.get(data.id)
        if value is None:
            arguments = {"tensor_id": data.id, **self._view_of(data)}
            new_op = ark.Tensor.build(arguments, [_type_of(data)], Location(self._file, name=place))
            self._block.append(new_op)
            value = self._values[data.id] = new_op.results[0]
            value.name = _name_of(data)
        return value

    def _view_of(self, data: TensorData) -> dict[str, object]:
        buffer = data.buffer
        return {
            "data_type": data.data_type,
            "buffer": buffer.id,
            "buffer_rank": buffer.rank,
            "send_tags": buffer.send_tags,
            "recv_tags": buffer.recv_tags,
            "is_external": buffer.is_external,
            "strides": data.strides,
            "offsets": data.offsets,
            "pads" if self._data.generation == ark.V1 else "padded_shape": data.padding,
        }


def _type_of(data: TensorData) -> TensorType:
    return tensor(ark.DATA_TYPES[data.data_type], *data.shape)


def _name_of(data: TensorData) -> str:
    return f"t{data.id}"


def _type_name(op: OpData) -> str:
    return op.definition.name.partition(".")[2]
