"""The files that are changed: models of the tests and examples, and their conversions to every format."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

import commonir
from commonir.api.opening import is_model
from commonir.base.safetensors import write_safetensors
from commonir.cli import stored_arrays
from commonir.cli.arrays import save_arrays
from commonir.cli.main import main

from tests.hostile.cases import ARRAYS, IMAGES, RESULTS, ROOT, Seed

MOST_BYTES = 200_000
SUFFIXES = (".onnx", ".onnxtxt", ".mlmodel", ".mil", ".mlir", ".mlirbc", ".td", ".cir", ".json", *ARRAYS, *IMAGES)
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
        if path.suffix == ".json" and not path.name.endswith(RESULTS) and not is_model(path):
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
        out += _written(_converted(source, "ark", ranks=2), folder / f"{name}_ranks" / "model.ark.json")
    (folder / "pieces").mkdir()
    out += piece_seeds(folder / "pieces")
    for name, write in (("arrays", _write_arrays), ("images", _write_images)):
        (folder / name).mkdir()
        write(folder / name)
        out += seeds_in(folder / name, name)
    return [*out, *result_seeds(folder / "results")]


def _write_arrays(folder: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.save(folder / "array.npy", array)
    np.savez(folder / "arrays.npz", x=array, y=np.arange(3))
    np.savez_compressed(folder / "packed.npz", x=array, y=np.array(["a", "bc"]))
    names = [f"set{n}/{name}" for n in range(2) for name in ("inputs/x", "outputs/y")]
    save_arrays(str(folder / "sets.npz"), dict.fromkeys(names, array))
    content = commonir.dumps(_loaded(ROOT / "examples" / "transformer.onnx"), format="onnx")
    (folder / "whole.onnx").write_bytes(content)
    with (folder / "arrays.safetensors").open("wb") as stream:
        write_safetensors(stream, {"x": array, "y": np.arange(3)})


_MODEL = """func.func @f(%x: tensor<3x4xf32>, %y: tensor<3xi64>) -> (tensor<3x4xf32>, tensor<3xi64>) {
  %a = arith.negf %x : tensor<3x4xf32>
  %b = arith.addi %y, %y : tensor<3xi64>
  return %a, %b : tensor<3x4xf32>, tensor<3xi64>
}
"""
_REPORTS = {
    "profile": ("profile", "model.mlir", "--repeat", "1"),
    "profiles": ("profile", "model.mlir", "model.mlir", "--repeat", "1"),
    "compare": ("compare", "model.mlir", "model.mlir"),
    "check": ("check", "faulty.mlir"),
}


def result_seeds(folder: Path) -> Iterator[Seed]:
    """Writes what runs and commands store as JSON in a new folder, with the model that all of it belongs to."""
    folder.mkdir()
    model = folder / "model.mlir"
    model.write_text(_MODEL, "utf-8")
    (folder / "faulty.mlir").write_text(_MODEL.replace("%x : tensor<3x4xf32>", "%x : tensor<4xf32>"), "utf-8")
    _write_results(folder)
    for seed in seeds_in(folder, folder.name):
        if seed.name.endswith(RESULTS):
            yield seed._replace(model=model)


def _write_results(folder: Path) -> None:
    arrays = {"x": np.arange(12, dtype=np.float32).reshape(3, 4), "y": np.arange(3)}
    stored_arrays.save_inputs_json(str(folder / f"inputs{RESULTS}"), [arrays, arrays])
    stored_arrays.save_outputs_json(str(folder / f"outputs{RESULTS}"), [arrays, arrays], "numpy")
    nested = {name: array.tolist() for name, array in arrays.items()}
    (folder / f"nested{RESULTS}").write_text(json.dumps(nested), "utf-8")
    for name, (verb, *words) in _REPORTS.items():
        models = [str(folder / word) if word.endswith(".mlir") else word for word in words]
        with (folder / f"{name}{RESULTS}").open("w", encoding="utf-8") as stream, redirect_stdout(stream):
            main((verb, *models, "--json"))


def _write_images(folder: Path) -> None:
    """Writes images of several forms; none where Pillow is not installed."""
    try:
        from PIL import Image  # noqa: PLC0415  a package that may be missing
    except ImportError:
        return
    pixels = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
    Image.fromarray(pixels).save(folder / "rgb.png")
    Image.fromarray(pixels[..., 0]).save(folder / "gray.png")
    Image.fromarray(pixels).convert("P").save(folder / "palette.png")
    Image.fromarray(pixels).save(folder / "rgb.jpg")


def _loaded(path: Path) -> commonir.Module:
    return commonir.load(path)


def _converted(path: Path, target: str, ranks: int | None = None) -> commonir.Module | None:
    try:
        return commonir.convert(_loaded(path), target, ranks=ranks)
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
    path = path if path.exists() else next(f for f in files if f.suffix == path.suffix)
    yield Seed(f"{path.parent.name}/{path.name}", path.parent, path, files)


def all_seeds(folder: Path, further: Iterable[Path] = ()) -> Sequence[Seed]:
    """Returns all seeds; those that are built are written below a folder."""
    own = [*repository_seeds(), *built_seeds(folder), *operator_seeds()]
    return [*own, *[seed for place in further for seed in seeds_in(place, place.name)]]
