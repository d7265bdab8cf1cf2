"""Decides which weights of a model to be written are external, in which files, at which offsets.

Where nothing else is asked for, weights that were external in the file that was read are external again: in one file,
or one in each. A file all of whose tensors are still used, and none but these, is copied whole; one of the model that
is being replaced stays where it is. No file is replaced but those of an old output that no other model refers to.

Nothing is written here. Source: ONNX external data; alignment as onnxruntime saves models.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from commonir.base.codes import EXTERNAL_WEIGHTS
from commonir.base.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from commonir.base.file_codes import PATH_OUTSIDE_MODEL
from commonir.base.files import in_the_way, leftovers_of
from commonir.base.linked_files import free_name, is_plain_file
from commonir.base.safe_paths import normal_path
from commonir.base.text import escape, format_bytes, plural
from commonir.formats.format import EACH, WriteOptions
from commonir.formats.onnx.external_data import (
    CHECKSUM,
    LOCATION,
    DataFile,
    Entries,
    ExternalData,
    digest,
    entries_of,
    refer_to_file,
    source_of,
)
from commonir.formats.onnx.folder_search import Neighbours, Reference, neighbours_of, references_in
from commonir.formats.onnx.graph_writing import Weight
from commonir.formats.source_files import copy_from_source
from commonir.ir.data import Data, FileData, MappedFile
from commonir.ir.types import TensorType, u8

# Above this, weights are external where nothing says where they are: far enough below the limit of messages, 2 GiB, for
# tools that add to the model.
AUTO_BYTES = 3 * 2**29
DEFAULT_THRESHOLD_BYTES = 1024
"""Smaller tensors stay in the message where no threshold is given, as with onnx: shapes and scalars."""

# Where tensors begin, by their size: large ones at the granularity of mappings on Windows, then at a page, so that they
# can be mapped one by one; small ones at a cache line.
_ALIGNMENTS = ((2**20, 2**16), (2**16, 4096), (0, 64))
# A gap between tensors that alignment explains.
_MAX_GAP_BYTES = 2**16
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME = 100


class PlannedData:
    """A data file to be written or kept: its location from the folder of the model, and the weights in it."""

    def __init__(
        self, location: str, weights: Sequence[Weight], base: DataFile | None, *, is_kept: bool = False
    ) -> None:
        self.location = location
        self.base = base
        """The file that it is a copy of; None for one that is put together."""
        self.is_kept = is_kept
        """Returns whether it is `base` itself. That one stays where it is."""
        self.is_new = False
        """Whether nothing was at the location when it was chosen."""
        self._weights = [(w.header, w.data) for w in weights if w.data is not None]
        self._places: dict[object, int] = {}
        self._checksum = ""
        self.size_bytes = 0 if base is None else base.size_bytes
        if base is None:
            for _, data in self._weights:
                if _place_key(data) not in self._places:
                    offset = aligned(self.size_bytes, data.size_bytes)
                    self._places[_place_key(data)] = offset
                    self.size_bytes = offset + data.size_bytes

    def write(self, stream: BinaryIO) -> None:
        """Writes the file."""
        if self.base is not None:
            base = self.base
            copy_from_source(FileData(TensorType(u8, (base.size_bytes,)), base, 0), stream)
            return
        written: set[object] = set()
        for _, data in self._weights:
            key = _place_key(data)
            if key not in written:
                written.add(key)
                stream.write(b"\0" * (self._places[key] - stream.tell()))
                copy_from_source(data, stream)
        if any(CHECKSUM in dict(data.entries) for _, data in self._weights if isinstance(data, ExternalData)):
            stream.flush()
            self._checksum = digest(MappedFile(stream.name, stream.tell()))

    def clone(self, path: Path) -> bool:
        """Creates the file without copying; returns whether that was possible."""
        return self.base is not None and self.base.clone_to(path)

    def refer(self, location: str) -> None:
        """Makes the tensors refer to the file at a location."""
        for header, data in self._weights:
            refer_to_file(header, self._entries(data, location))

    def _entries(self, data: Data, location: str) -> Entries:
        if self.base is None:
            return entries_of(location, self._places[_place_key(data)], data.size_bytes, self._checksum)
        if isinstance(data, ExternalData):
            if location == self.base.location:
                return data.entries
            changed = {**dict(data.entries), LOCATION: location}
            return tuple((k, v) for k, v in changed.items() if k in (LOCATION, "offset", "length", CHECKSUM))
        assert isinstance(data, FileData)
        return entries_of(location, data.offset, data.size_bytes)


def aligned(offset: int, size_bytes: int) -> int:
    """Returns the first offset from another one on where a tensor may begin."""
    unit = next(unit for least, unit in _ALIGNMENTS if size_bytes >= least)
    return -(-offset // unit) * unit


def _place_key(data: Data) -> object:
    """Returns a key that constants share that are in one place."""
    return (id(data.file), data.offset, data.size_bytes) if isinstance(data, FileData) else id(data)


class ExternalLayout:
    """The data files of a model that is written to a path, those to be removed, and notes for the user."""

    def __init__(
        self, weights: Sequence[Weight], nested: Sequence[Weight], path: str | os.PathLike[str], options: WriteOptions
    ) -> None:
        self.notes = Diagnostics()
        self.obsolete: list[Path] = []
        self._path = Path(path)
        self._options = options
        self._weights = [*[w for w in weights if w.data is not None], *nested]
        self._nested = frozenset(id(w) for w in nested)
        self._sources = list(dict.fromkeys([f for w in self._weights if (f := source_of(w.data)) is not None]))
        chosen = self._chosen()
        self.external = frozenset(id(w) for w in chosen)
        """Identities of the weights that are external."""
        self._old: dict[str, list[Reference]] = {}
        if self._path.is_file():
            # Those of outputs that a killed process did not complete are of this model, too.
            for reference in [r for p in (self._path, *leftovers_of(self._path)) for r in references_in(p)]:
                self._old.setdefault(reference.location, []).append(reference)
        self.files = [self._planned(group) for group in self._groups(chosen)] if chosen else []
        self._name_files()
        self._find_obsolete()

    @property
    def written(self) -> list[PlannedData]:
        """The files to be written."""
        return [f for f in self.files if not f.is_kept]

    # -- which weights

    def _chosen(self) -> list[Weight]:
        where, threshold = self._options.external_data, self._options.external_threshold
        if where is False:
            return []
        least = DEFAULT_THRESHOLD_BYTES if threshold is None else max(threshold, 1)
        if threshold is not None or (where is not None and not self._sources):
            chosen = [w for w in self._weights if size_of(w) >= least and self._may_choose(w)]
        elif self._sources:
            # What is inside was below the threshold of the model that was read.
            sizes = [size_of(w) for w in self._weights if source_of(w.data) is not None]
            least = max(least, min(sizes))
            chosen = [w for w in self._weights if source_of(w.data) is not None or self._is_large(w, least)]
        else:
            chosen = []
        inside = sum(map(size_of, self._weights)) - sum(map(size_of, chosen))
        if inside > AUTO_BYTES:
            known = set(map(id, chosen))
            chosen = [w for w in self._weights if size_of(w) >= least or id(w) in known]
            message = f"a message holds less than 2 GiB: {format_bytes(inside)} of weights are in files beside it"
            self.notes.add(EXTERNAL_WEIGHTS, message, file=os.fspath(self._path))
        return chosen

    def _is_large(self, weight: Weight, least: int) -> bool:
        return id(weight) not in self._nested and size_of(weight) >= least

    def _may_choose(self, weight: Weight) -> bool:
        return id(weight) not in self._nested or source_of(weight.data) is not None

    # -- which files

    def _groups(self, chosen: Sequence[Weight]) -> list[tuple[str, list[Weight]]]:
        """Returns the weights of each file, with the location that it should have."""
        where = self._options.external_data
        if where == EACH:
            return [(self._name_of_tensor(ws[0]), ws) for ws in _together(chosen)]
        if where is not None:
            location = default_location(self._path) if where is True else self._requested(str(where))
            return [(location, list(chosen))]
        groups: dict[DataFile, list[Weight]] = {}
        new: list[Weight] = []
        for weight in chosen:
            file = source_of(weight.data)
            (new if file is None else groups.setdefault(file, [])).append(weight)
        if new and len(groups) > 1 and all(len(file.referenced) == 1 for file in groups):
            singles = [(self._name_of_tensor(ws[0]), ws) for ws in _together(new)]
            return [*[(self._location_of(file), ws) for file, ws in groups.items()], *singles]
        if not groups:
            return [(default_location(self._path), new)]
        first = max(groups, key=lambda file: file.size_bytes)
        groups[first] += new
        return [(self._location_of(file), ws) for file, ws in groups.items()]

    def _planned(self, group: tuple[str, list[Weight]]) -> PlannedData:
        location, weights = group
        files = [source_of(w.data) for w in weights]
        base = files[0]
        if base is None or any(file is not base for file in files):
            return PlannedData(location, weights, None)
        used = {(w.data.offset, w.data.size_bytes) for w in weights if isinstance(w.data, FileData)}
        is_asked_for = isinstance(self._options.external_data, str) and self._options.external_data != EACH
        is_kept = base.location == location and (is_asked_for or self._is_of(base)) and self._is_in_place(base)
        is_whole = used >= base.referenced and (is_kept or _covers(used, base.size_bytes))
        return PlannedData(location, weights, base if is_whole else None, is_kept=is_kept and is_whole)

    # -- names

    def _is_of(self, file: DataFile) -> bool:
        """Returns whether a file is of the model that is being replaced."""
        try:
            return os.path.samefile(file.model, self._path)
        except OSError:
            return False

    def _is_in_place(self, file: DataFile) -> bool:
        """Returns whether a file is where its location leads from the folder of the output."""
        place = self._path.parent / file.location
        folder = os.path.realpath(self._path.parent)
        if not is_plain_file(place) or os.path.realpath(place) != os.path.join(folder, *file.location.split("/")):
            return False
        # A second name, which a killed process may have left, is one that readers refuse.
        return file.is_at(place) and os.lstat(place).st_nlink == 1

    def _location_of(self, file: DataFile) -> str:
        """Returns the location of what was in a file of another model, named after the output as it was after that."""
        if self._is_of(file):
            return file.location
        old, new = Path(file.model).name, self._path.name
        folder, slash, name = file.location.rpartition("/")
        for before, after in ((old, new), (Path(old).stem, Path(new).stem)):
            if name.startswith(before) and name[len(before) : len(before) + 1] in ("", ".", "_", "-"):
                return f"{folder}{slash}{after}{name[len(before) :]}"
        return file.location if not file.location.endswith(".safetensors") else default_location(self._path)

    def _name_of_tensor(self, weight: Weight) -> str:
        """Returns the location of a weight in a file of its own: its name, as far as file names have its characters."""
        name = _UNSAFE.sub("_", weight.header.name).strip("._-")[:_MAX_NAME]
        return name or "tensor"

    def _requested(self, name: str) -> str:
        """Returns the location that a user names. Raises: PATH_OUTSIDE_MODEL, OUTPUT_IN_THE_WAY."""
        location = stated_location(self._path, name)
        if location.casefold() == self._path.name.casefold():
            raise DiagnosticError(in_the_way(self._path, "the model and its weights have one name"))
        return location

    def _name_files(self) -> None:
        """Gives each file a location that replaces nothing but what only the old output refers to."""
        for planned in self.files:
            if not is_inside(self._path.parent, planned.location):
                planned.location = planned.location.rpartition("/")[2]
        taken = {self._path.name.casefold(), *[f.location.casefold() for f in self.files if f.is_kept]}
        present = dict.fromkeys([f.location for f in self.files if not f.is_kept and self._exists(f.location)])
        others = neighbours_of(self._path, present) if present else Neighbours({}, is_complete=True)
        taken_names = {location.rpartition("/")[2] for location in taken}
        renamed: list[tuple[str, str, str]] = []
        for planned in self.files:
            if planned.is_kept:
                continue
            place = self._path.parent / planned.location
            if planned.location.casefold() in taken or not self._may_replace(planned.location, others):
                if self.is_requested(planned.location):
                    raise DiagnosticError(in_the_way(place, self._reason(planned.location, others)))
                place = self._free_place(place, taken_names)
                if planned.location in others.users:
                    renamed.append((others.users[planned.location], planned.location, place.name))
                planned.location = place.relative_to(self._path.parent).as_posix()
            planned.is_new = planned.location not in present
            taken.add(planned.location.casefold())
            taken_names.add(planned.location.casefold().rpartition("/")[2])
        self._note_renamed(renamed)

    def _free_place(self, place: Path, taken: Container[str]) -> Path:
        """Returns a place for a file whose name is taken: named after the output if it is the only one."""
        default = self._path.parent / default_location(self._path)
        if len(self.files) == 1 and default != place and not os.path.lexists(default):
            return default
        return free_name(place, taken)

    def is_requested(self, location: str) -> bool:
        """Returns whether a user names a location."""
        where = self._options.external_data
        return isinstance(where, str) and where != EACH and normal_path(where) == location

    def _exists(self, location: str) -> bool:
        return os.path.lexists(self._path.parent / location)

    def _may_replace(self, location: str, others: Neighbours) -> bool:
        if not self._exists(location):
            return True
        is_own = location in self._old or location == default_location(self._path)
        is_free = others.is_complete and location not in others.users
        return is_own and is_free and is_plain_file(self._path.parent / location)

    def _reason(self, location: str, others: Neighbours) -> str:
        user = others.users.get(location)
        return f"'{escape(user)}' refers to it" if user else "there is a file that is not of the old output"

    def _note_renamed(self, renamed: Sequence[tuple[str, str, str]]) -> None:
        """Notes names that other models refer to: the model, that name, and the one that is used instead, of each."""
        if not renamed:
            return
        user, name, instead = renamed[0]
        if len(renamed) == 1:
            message = f"'{escape(user)}' refers to '{escape(name)}': the weights are in '{escape(instead)}'"
        else:
            message = (
                f"'{escape(user)}' refers to {len(renamed):,} files: the weights are in '{escape(instead)}' and others"
            )
        self.notes.add(EXTERNAL_WEIGHTS, message, file=os.fspath(self._path))

    # -- old files

    def _find_obsolete(self) -> None:
        """Finds data files that only the old output refers to, and that hold nothing else."""
        used = {f.location.casefold() for f in self.files}
        unused = [
            name
            for name, references in self._old.items()
            if name.casefold() not in used
            and is_inside(self._path.parent, name)
            and _is_all(self._path.parent / name, references)
        ]
        others = neighbours_of(self._path, unused) if unused else Neighbours({}, is_complete=False)
        if others.is_complete:
            self.obsolete = [self._path.parent / name for name in unused if name not in others.users]

    def note_files(self) -> None:
        """Notes what was kept and removed, for an output that is written."""
        kept = [f for f in self.files if f.is_kept]
        self.notes.extend(notes_of(self._path, {f.location: f.size_bytes for f in kept}, self.obsolete))


def notes_of(path: Path, unchanged: Mapping[str, int], removed: Iterable[Path]) -> Iterator[Diagnostic]:
    """Yields notes about data files of an output that were kept, with their sizes in bytes, and removed."""
    gone = [escape(p.name) for p in removed if not p.exists()]
    if unchanged:
        where = f"'{escape(next(iter(unchanged)))}'" if len(unchanged) == 1 else plural(len(unchanged), "file")
        message = f"unchanged weights stay in {where} ({format_bytes(sum(unchanged.values()))})"
        yield Diagnostic(EXTERNAL_WEIGHTS, message, file=os.fspath(path))
    if gone:
        where = f"'{gone[0]}'" if len(gone) == 1 else plural(len(gone), "data file")
        yield Diagnostic(EXTERNAL_WEIGHTS, f"removed {where} of the old model", file=os.fspath(path))


def size_of(weight: Weight) -> int:
    """Returns the size of a weight in bytes."""
    return 0 if weight.data is None else weight.data.size_bytes


def default_location(path: Path) -> str:
    """Returns the location of all weights of a model in one file."""
    return f"{path.name}.data"


def _together(weights: Iterable[Weight]) -> list[list[Weight]]:
    """Returns weights, those in one place together."""
    out: dict[object, list[Weight]] = {}
    for weight in weights:
        if weight.data is not None:
            out.setdefault(_place_key(weight.data), []).append(weight)
    return list(out.values())


def stated_location(path: Path, name: str) -> str:
    """Returns the location that a user states for the weights of an output. Raises: PATH_OUTSIDE_MODEL."""
    location = normal_path(name)
    if not is_inside(path.parent, location):
        message = f"the path '{escape(name)}' is refused: a part of it is a symbolic link"
        raise DiagnosticError(Diagnostic(PATH_OUTSIDE_MODEL, message, file=os.fspath(path)))
    return location


def is_inside(folder: Path, location: str) -> bool:
    """Returns whether a location leads below a folder, through no symbolic link to another folder."""
    parts = location.split("/")[:-1]
    return os.path.realpath(folder.joinpath(*parts)) == os.path.join(os.path.realpath(folder), *parts)


def _is_all(path: Path, references: Sequence[Reference]) -> bool:
    """Returns whether a file is a plain one that holds just what is referred to: nothing that is not a weight."""
    ranges = [(r.offset, r.length) for r in references if r.length is not None]
    is_known = all(r.length is not None for r in references)
    return is_known and is_plain_file(path) and _covers(ranges, path.stat().st_size)


def _covers(ranges: Iterable[tuple[int, int]], size_bytes: int) -> bool:
    """Returns whether offsets and lengths leave nothing of a file but gaps that alignment explains."""
    end = 0
    for offset, length in sorted(ranges):
        if offset > end + _MAX_GAP_BYTES:
            return False
        end = max(end, offset + length)
    return end == size_bytes
