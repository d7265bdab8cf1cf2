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
from commonir.base.limits import DEFAULT_LIMITS
from commonir.base.suggestions import did_you_mean
from commonir.base.text import escape, plural
from commonir.dialects import ark
from commonir.ir.data import ArrayData, Data
from commonir.ir.operation import Value
from commonir.ir.origins import Location
from commonir.ir.types import TensorType

if TYPE_CHECKING:
    from commonir.base.safetensors import Array

SUFFIX = ".safetensors"


def place_of(path: Path) -> Path:
    """The file of weights beside a model file."""
    return path.with_suffix(SUFFIX)


def read_weights(path: Path, rank: ark.Rank) -> list[Diagnostic]:
    """Gives the tensors of a rank what the file beside its model file holds, where there is one; what is wrong with it.

    Arrays are read from the file when they are first needed.
    """
    place = place_of(path)
    if not place.is_file():
        return []
    from commonir.base.safetensors import read_safetensors  # noqa: PLC0415  loads numpy

    file = os.fspath(place)
    try:
        arrays = read_safetensors(place)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        return [Diagnostic(FILE_NOT_ACCESSIBLE, f"the system refused: {reason}", file=file)]
    except ValueError as error:
        return [Diagnostic(ARK_WEIGHTS, f"the weights cannot be read: {error}", file=file)]
    return _given(rank, arrays, file)


def _given(rank: ark.Rank, arrays: Mapping[str, Array], file: str) -> list[Diagnostic]:
    ports = {name: value for value, name in rank.initial_names.items()}
    diagnostics: list[Diagnostic] = []
    for name, array in arrays.items():
        value = ports.get(name)
        if value is None:
            help = did_you_mean(name, tuple(ports)) or "arrays have the names of inputs"
            message = f"{rank.sym_name} has no input '{name}'"
            diagnostics.append(Diagnostic(ARK_WEIGHTS, message, file=file, where=name, help=help))
        else:
            diagnostics += _hold(value, array, name, file)
        if len(diagnostics) >= DEFAULT_LIMITS.max_diagnostics:
            break
    return diagnostics


def _hold(value: Value, array: Array, name: str, file: str) -> list[Diagnostic]:
    """Gives one tensor its contents."""
    from commonir.base.arrays import name_of  # noqa: PLC0415  loads numpy

    type, owner = value.type, value.owner
    if not isinstance(type, TensorType) or not isinstance(owner, ark.HoldsView):
        return []
    if name_of(array.dtype) != type.element.name or array.shape != type.shape:
        message = f"'{name}' must be {type}, found {name_of(array.dtype)} of the shape {list(array.shape)}"
        return [Diagnostic(ARK_WEIGHTS, message, file=file, where=name)]
    built = owner.with_attributes(content=ArrayData(type, array))
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
