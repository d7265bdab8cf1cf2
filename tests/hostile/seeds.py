"""The files that are changed: models of the tests and examples, and their conversions to every format."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

import commonir
from commonir.api.opening import is_model

from tests.hostile.cases import Seed

ROOT = Path(__file__).parents[2]
MOST_BYTES = 200_000
SUFFIXES = (".onnx", ".onnxtxt", ".mlmodel", ".mil", ".mlir", ".td", ".cir", ".json", ".npz", ".npy", ".safetensors")
_FOLDERS = ("examples", "tests")
_PACKAGE = ".mlpackage"
_CONVERTED = ("activation_iOS15", "control_iOS18", "constexpr_bytes_iOS17", "lstm_fp32", "mobilenet_v2_fp32")
_TARGETS = {
    "onnx": "model.onnx",
    "onnxtxt": "model.onnxtxt",
    "common_ir": "model.cir",
    "ark": "model.ark.json",
    "stablehlo": "model.mlir",
    "linalg": "model.mlir",
    "tosa": "model.mlir",
}


def seeds_in(folder: Path, name: str) -> Iterator[Seed]:
    """Yields the files and packages below a folder that are small enough, each under its path from there."""
    for path in sorted(folder.rglob("*")):
        if any(parent.suffix == _PACKAGE for parent in path.parents) or "__pycache__" in path.parts:
            continue
        is_package = path.suffix == _PACKAGE and path.is_dir()
        if not is_package and (path.suffix not in SUFFIXES or not path.is_file()):
            continue
        if path.suffix == ".json" and not is_model(path):
            continue
        seed = seed_of(path, f"{name}/{path.relative_to(folder).as_posix()}")
        if 0 < sum([os.path.getsize(file) for file in seed.files]) <= MOST_BYTES:
            yield seed


def seed_of(path: Path, name: str) -> Seed:
    """Returns the seed of a file, or of a package."""
    files = tuple(sorted([p for p in path.rglob("*") if p.is_file()])) if path.is_dir() else (path,)
    return Seed(name, path.parent, path, files)


def repository_seeds() -> list[Seed]:
    """Returns the models in this repository."""
    return [seed for name in _FOLDERS for seed in seeds_in(ROOT / name, name)]


def piece_seeds(folder: Path, every: int = 4) -> Iterator[Seed]:
    """Writes every Nth valid program of the MLIR texts of the tests below a folder, each in a file of its own."""
    texts = [(path, path.read_text("utf-8")) for path in sorted((ROOT / "tests").rglob("*.mlir"))]
    pieces = [(path.stem, piece) for path, text in texts for piece in text.split("// -----\n") if piece.strip()]
    for number, (name, piece) in enumerate(pieces[::every]):
        try:
            commonir.loads(piece, format="mlir")
        except commonir.DiagnosticError:
            continue
        place = folder / f"{name}_{number}.mlir"
        place.write_text(piece, "utf-8")
        yield Seed(f"pieces/{place.name}", folder, place, (place,))


def operator_seeds(every: int = 1) -> list[Seed]:
    """Returns every Nth model of a single operator in onnx's backend suite; none where onnx is not installed."""
    try:
        from tests.onnx_suite.cases import load_cases  # noqa: PLC0415  an oracle that may be missing
    except ImportError:
        return []
    cases = [case for case in load_cases(("node",)) if case.model.stat().st_size <= MOST_BYTES]
    return [Seed(f"onnx/{c.name}.onnx", c.model.parent, c.model, (c.model,)) for c in cases[::every]]


def built_seeds(folder: Path) -> list[Seed]:
    """Writes conversions of some models to every format, and files of arrays, below a folder."""
    out: list[Seed] = []
    for name in _CONVERTED:
        source = ROOT / "tests" / "models" / name / f"model{_PACKAGE}"
        for target, file in _TARGETS.items():
            out += _written(_converted(source, target), folder / f"{name}_{target}" / file)
        out += _written(_loaded(source), folder / f"{name}_mil" / "model.mil")
        out += _written(_converted(source, "onnx"), folder / f"{name}_external" / "model.onnx", external_data=True)
    (folder / "pieces").mkdir()
    out += piece_seeds(folder / "pieces")
    arrays = folder / "arrays"
    arrays.mkdir(parents=True)
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.save(arrays / "array.npy", array)
    np.savez(arrays / "arrays.npz", x=array, y=np.arange(3))
    np.savez_compressed(arrays / "packed.npz", x=array, y=np.array(["a", "bc"]))
    content = commonir.dumps(_loaded(ROOT / "examples" / "transformer.onnx"), format="onnx")
    (arrays / "whole.onnx").write_bytes(content)
    with (arrays / "arrays.safetensors").open("wb") as stream:
        from commonir.base.safetensors import write_safetensors  # noqa: PLC0415

        write_safetensors(stream, {"x": array, "y": np.arange(3)})
    return [*out, *seeds_in(arrays, "arrays")]


def _loaded(path: Path) -> commonir.Module:
    return commonir.load(path)


def _converted(path: Path, target: str) -> commonir.Module | None:
    try:
        return commonir.convert(_loaded(path), target)
    except commonir.DiagnosticError:
        return None


def _written(module: commonir.Module | None, path: Path, *, external_data: bool | None = None) -> Iterator[Seed]:
    """Writes a program in a folder of its own; nothing when the format cannot have it."""
    if module is None:
        return
    path.parent.mkdir(parents=True)
    try:
        if path.suffix == ".onnxtxt":
            commonir.save(module, path, format="onnxtxt")
        elif external_data:
            commonir.save(module, path, external_data=True, external_threshold=1)
        else:
            commonir.save(module, path)
    except commonir.DiagnosticError:
        shutil.rmtree(path.parent)
        return
    files = tuple(sorted([p for p in path.parent.rglob("*") if p.is_file()]))
    yield Seed(f"{path.parent.name}/{path.name}", path.parent, path, files)


def all_seeds(folder: Path, further: Iterable[Path] = ()) -> Sequence[Seed]:
    """Returns all seeds; those that are built are written below a folder."""
    own = [*repository_seeds(), *built_seeds(folder), *operator_seeds()]
    return [*own, *[seed for place in further for seed in seeds_in(place, place.name)]]
