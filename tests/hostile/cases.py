"""Seeds, cases, and how the files of a case are written."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.hostile.mutations import mutated

ROOT = Path(__file__).parents[2]
ARRAYS = (".npz", ".npy", ".safetensors")
IMAGES = (".png", ".jpg")
RESULTS = ".results.json"
"""Results of commands and of runs."""
IMAGE_MODEL = ROOT / "tests" / "models" / "kinds" / "image_rgb.mlpackage"
"""A small model with an input that is an image."""
_COMPOUND = (RESULTS, ".ark.json", ".cir.json")
_SHARES = {".onnx": 4, ".mlpackage": 2, ".mlir": 3}
"""How often the formats come in turn, those with most syntax more often than once."""
_ENTRY_SHARE = 0.7
"""How often the file that is opened is changed, and not one beside it."""


class Seed(NamedTuple):
    """A model: what is opened, a file or a package, and all files of it, in or below a folder."""

    name: str
    folder: Path
    entry: Path
    files: tuple[Path, ...]
    model: Path = IMAGE_MODEL
    """The model that an image, a report or inputs are given to."""

    def main_file(self) -> Path:
        """Returns the file with the program."""
        return max(self.files, key=lambda f: (f == self.entry, f.suffix == ".mlmodel"))


class Mutant(NamedTuple):
    """A changed model: which, and with which random numbers."""

    seed: Seed
    number: int
    other: Path
    """A file of another model, of which parts are taken."""


def suffix_of(path: Path) -> str:
    """Returns the suffix that says which format a file has."""
    return next((suffix for suffix in _COMPOUND if path.name.endswith(suffix)), path.suffix)


def mutants(seeds: Sequence[Seed], chosen: Sequence[Seed], count: int, first: int = 0) -> list[Mutant]:
    """Returns the cases of a long run: the formats of the chosen seeds in turn, and the seeds of each."""
    by_suffix = _by_suffix(chosen)
    groups = [by_suffix[s] for n in range(max(_SHARES.values())) for s in by_suffix if n < _SHARES.get(s, 1)]
    everything = _by_suffix(seeds)
    out: list[Mutant] = []
    for number in range(first, first + count):
        group = groups[number % len(groups)]
        seed = group[number // len(groups) % len(group)]
        out.append(mutant(seed, number, everything[suffix_of(seed.entry)]))
    return out


def _by_suffix(seeds: Sequence[Seed]) -> dict[str, list[Seed]]:
    out: dict[str, list[Seed]] = {}
    for seed in seeds:
        out.setdefault(suffix_of(seed.entry), []).append(seed)
    return out


def mutant(seed: Seed, number: int, group: Sequence[Seed]) -> Mutant:
    """Returns the case of a seed and a number."""
    other = random.Random(f"{seed.name}:{number}").choice(group)
    return Mutant(seed, number, other.main_file())


def write_mutant(case: Mutant, folder: Path) -> Path:
    """Writes the files of a case below a folder, one of them changed, and returns what is to be opened."""
    rng = random.Random(f"{case.seed.name}:{case.number}:changes")
    seed = case.seed
    chosen = seed.main_file() if rng.random() < _ENTRY_SHARE else rng.choice(seed.files)
    for file in seed.files:
        place = folder / file.relative_to(seed.folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        content = file.read_bytes()
        if file == chosen:
            if len(seed.files) > 1 and rng.random() < 0.05:
                continue
            content = mutated(content, case.other.read_bytes(), rng)
        place.write_bytes(content)
    return folder / seed.entry.relative_to(seed.folder)
