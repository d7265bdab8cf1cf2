"""The file beside a model file of ARK that holds what tensors hold at first: weights, as arrays by name.

ARK files have no place for them. Beside `NAME.json` stands `NAME.safetensors`; its names are those of inputs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commonir.base.codes import OUTPUT_IN_THE_WAY
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.file_codes import ARK_WEIGHTS, FILE_NOT_ACCESSIBLE, MISSING_WEIGHTS
from commonir.base.files import is_unfinished
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.safe_paths import open_beside
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape, plural
from commonir.dialects import ark
from commonir.formats.source_files import copy_from_source
from commonir.ir.data import Data, FileData, MappedFile
from commonir.ir.operation import Value
from commonir.ir.origins import Location
from commonir.ir.types import TensorType

if TYPE_CHECKING:
    from typing import BinaryIO

    from commonir.base.safetensors import Entry

SUFFIX = ".safetensors"


def place_of(path: Path) -> Path:
    """The file of weights beside a model file."""
    return path.with_suffix(SUFFIX)


def read_weights(path: Path, rank: ark.Rank) -> list[Diagnostic]:
    """Gives the tensors of a rank what the file beside its model file holds, where there is one; what is wrong with it.

    The file is mapped now, so that it stays what it is, and read where arrays are needed.
    """
    place = place_of(path)
    if not os.path.lexists(place):
        return [_unfinished(place)] if is_unfinished(place) else []
    from commonir.base.safetensors import read_layout  # noqa: PLC0415  loads numpy

    file = os.fspath(place)
    try:
        place, stream = open_beside(path.parent, place.name)
        stream.close()
        file = os.fspath(place)
        entries, status = read_layout(place)
        mapped = MappedFile(file, status.st_size, status)
        mapped.ensure_mapped()
    except DiagnosticError as error:
        return [d.located(file=file) for d in error.diagnostics]
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return [Diagnostic(FILE_NOT_ACCESSIBLE, f"the system refused: {reason}", file=file)]
    except ValueError as error:
        return [Diagnostic(ARK_WEIGHTS, f"the weights cannot be read: {error}", file=file)]
    return _given(rank, entries, mapped)


def _unfinished(place: Path) -> Diagnostic:
    message = f"a save of this program did not end: '{escape(place.name)}' has not got its name"
    help = "save the program again; to load it without weights, remove the hidden file"
    return Diagnostic(ARK_WEIGHTS, message, file=os.fspath(place), help=help)


def _given(rank: ark.Rank, entries: Mapping[str, Entry], file: MappedFile) -> list[Diagnostic]:
    ports = {name: value for value, name in rank.initial_names.items()}
    diagnostics: list[Diagnostic] = []
    for name, entry in entries.items():
        value = ports.get(name)
        if value is None:
            help = did_you_mean(name, tuple(ports)) or "arrays have the names of inputs"
            message = f"{rank.sym_name} has no input '{name}'"
            diagnostics.append(Diagnostic(ARK_WEIGHTS, message, file=file.path, where=name, help=help))
        else:
            diagnostics += _hold(value, entry, name, file)
        if len(diagnostics) >= DEFAULT_LIMITS.max_diagnostics:
            break
    return diagnostics


def _hold(value: Value, entry: Entry, name: str, file: MappedFile) -> list[Diagnostic]:
    """Gives one tensor its contents."""
    type, owner = value.type, value.owner
    if not isinstance(type, TensorType) or not isinstance(owner, ark.HoldsView):
        return []
    if entry.element != type.element.name or entry.shape != type.shape:
        message = f"'{name}' must be {type}, found {entry.element} of the shape {list(entry.shape)}"
        return [Diagnostic(ARK_WEIGHTS, message, file=file.path, where=name)]
    built = owner.with_attributes(content=FileData(type, file, entry.begin))
    if owner.parent is not None:
        owner.parent.insert_before(owner, built)
        built.location = owner.location
        built.results[0].name = value.name
        value.replace_all_uses_with(built.results[0])
        owner.erase()
    return []


def weights_of(rank: ark.Rank) -> dict[str, Data]:
    """Returns the initial contents of a rank's tensors, by the names of inputs."""
    views = {name: value.owner for value, name in rank.initial_names.items()}
    return {
        name: view.content
        for name, view in views.items()
        if isinstance(view, ark.HoldsView) and view.content is not None
    }


def write_weights(stream: BinaryIO, weights: Mapping[str, Data]) -> None:
    """Writes contents by name. Those that are a whole file are copied as that file, so that a file system can share it.

    Raises: ValueError for a type that the file cannot have.
    """
    from commonir.base.safetensors import write_header  # noqa: PLC0415  loads numpy

    file = file_of(weights)
    if file is not None:
        file.copy_to(stream, 0, file.size_bytes)
        return
    write_header(stream, {name: (d.element.name, d.shape, d.size_bytes) for name, d in weights.items()})
    for data in weights.values():
        copy_from_source(data, stream)


def file_of(weights: Mapping[str, Data]) -> MappedFile | None:
    """Returns the file that has these contents under these names and nothing else, if there is one."""
    from commonir.base.safetensors import read_layout  # noqa: PLC0415  loads numpy

    stored = {name: data for name, data in weights.items() if isinstance(data, FileData)}
    file = next((data.file for data in stored.values()), None)
    if file is None or len(stored) != len(weights) or not file.is_at(file.path):
        return None
    try:
        entries, _ = read_layout(file.path)
    except (OSError, ValueError):
        return None
    own = {name: (d.element.name, d.shape, d.offset) for name, d in stored.items() if d.file is file}
    return file if own == {name: (e.element, e.shape, e.begin) for name, e in entries.items()} else None


def missing_weights(ranks: Sequence[ark.Rank]) -> list[Diagnostic]:
    """Returns a finding for each rank that has no file of weights, though others have one with tensors of its names."""
    files = {rank: rank.location.file for rank in ranks if isinstance(rank.location, Location) and rank.location.file}
    places = {rank: place_of(Path(file)) for rank, file in files.items()}
    without = [rank for rank, place in places.items() if not place.is_file()]
    if not 0 < len(without) < len(places):
        return []
    held = {name for rank in places if rank not in without for name in weights_of(rank)}
    out: list[Diagnostic] = []
    for rank in without:
        names = [name for name in rank.initial_names.values() if name in held]
        if names:
            message = f"{rank.sym_name} lacks the weights of {plural(len(names), 'tensor')} that other ranks have"
            place = escape(places[rank].name)
            notes = [f"the first is '{escape(names[0])}'"]
            help = f"put '{place}' beside it; without it they are inputs"
            out.append(Diagnostic(MISSING_WEIGHTS, message, file=files[rank], notes=notes, help=help))
    return out


def refuse_leftover(path: Path) -> None:
    """Raises: OUTPUT_IN_THE_WAY where a file of weights stands beside a model file that has none."""
    place = place_of(path)
    if place.exists():
        message = "the output is not written: the file would be taken for the weights of the program, which has none"
        help = "choose another name, or remove what is there"
        raise DiagnosticError(Diagnostic(OUTPUT_IN_THE_WAY, message, file=os.fspath(place), help=help))
