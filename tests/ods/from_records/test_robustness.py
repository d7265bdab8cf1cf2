"""Loading any TableGen file gives definitions or findings with codes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.tablegen import Sources
from commonir.text.loaded_definitions import load_dialects

from tests.tablegen.oracle import mlir_include

_WORDS = (
    "I32", "AnyType", "Variadic<AnyType>", "?", "[]", "1", '"x"', "(ins)", "(outs)", "Sample_Color", "Sample_Handle",
    "UnitAttr", "NoSideEffect", "$lhs", "`<`", "`x`", "custom<X>", "attr-dict", "^)?", "struct(params)", "Pure", "0",
    "-1", "99999999999", "true",
)  # fmt: skip


def _broken(text: str, random: Random) -> str:
    """A text with some words exchanged or left out, behind the head that includes other files."""
    head, mark, body = text.partition("// -- enumerations")
    words = body.split(" ")
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(words))
        words[at] = random.choice((*_WORDS, "", random.choice(words)))
    return head + mark + " ".join(words)


@pytest.mark.parametrize("seed", range(30))
def test_changed_files_give_definitions_or_findings(seed: int, tmp_path: Path, shared: Sources) -> None:
    random = Random(seed)
    text = (Path(__file__).parent / "sample.td").read_text()
    path = tmp_path / "changed.td"
    path.write_text(_broken(text, random))
    try:
        load_dialects([path], [str(mlir_include())], sources=shared)
    except DiagnosticError as error:
        assert all(d.code.id.startswith(("E02", "E03")) for d in error.diagnostics)


@pytest.fixture(scope="module")
def shared() -> Sources:
    """Included files, read once."""
    return Sources()
