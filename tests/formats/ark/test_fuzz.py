"""Reading any document ends with a program or with findings, and a program is written again."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.formats.ark.format import FORMAT
from commonir.formats.ark.read import loads
from commonir.formats.ark.write import dumps
from commonir.formats.format import Formats
from commonir.ods import Dialects, verify
from commonir.passes.ark.generations import in_generation

from tests.formats.ark.model_files import LEVELS, Document, exchange, places, product, text

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 1 << 31, 1 << 62, 1 << 63, -(1 << 70), 0.5, 1e300, "", "Add", "FP16",
    "rank\u0000", [], [1], [[1, 2]], [[]], {}, {"INT": 1}, {"FLOAT": 2.5}, {"DIMS": [1, 0]},
)  # fmt: skip


def _changed(document: Document, random: Random) -> Document:
    out = copy.deepcopy(document)
    for _ in range(random.randint(1, 3)):
        holder, key = random.choice(places(out))
        what = random.randrange(4)
        if what == 0:
            del holder[key]
        elif what == 1:
            other, name = random.choice(places(out))
            holder[key] = copy.deepcopy(other[name])
        elif what == 2 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = random.choice(VALUES)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("generation", LEVELS)
def test_changed_documents_are_read_or_refused(generation: str) -> None:
    random = Random(generation)
    read = 0
    for n in range(600):
        result = product(generation) if n % 2 else exchange(generation, n // 2 % 2)
        module, diagnostics = loads(json.dumps(_changed(result, random)).encode(), Dialects())
        assert module is not None or any(d.is_error for d in diagnostics)
        if module is None:
            assert all(d.code.id in ("E0271", "E0272", "E0273", "W0273", "E0276") for d in diagnostics)
            continue
        read += 1
        verify(module, Dialects())
        FORMAT.outline(module)
        content = dumps(module)
        again, _ = loads(content, Dialects())
        assert again is not None
        assert dumps(again) == content
        for other in LEVELS:
            try:
                in_generation(module, other)
            except DiagnosticError as error:
                assert {d.code.id for d in error.diagnostics} == {"E0601"}
    assert read > 10


def test_cut_texts_are_refused() -> None:
    content = text(product("v3"), "v3")
    for end in range(1, len(content) - 1, 7):
        module, diagnostics = loads(content[:end], Dialects())
        assert module is None
        assert [d.code.id for d in diagnostics] == ["E0270"]


@pytest.mark.parametrize("name", ["net.json", "net", "net.onnx"])
def test_files_are_known_by_their_content(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(text(product("v2"), "v2"))
    assert Formats().recognize(tmp_path / name).description == "ARK model file"
    (tmp_path / name).write_bytes(b' {"Rank": 0, "WorldSiz": 1, "Nodes": []}')
    assert Formats().recognize(tmp_path / name).description == "ARK model file"
    (tmp_path / name).write_bytes(b'{"inner": {"Rank": 0, "WorldSize": 1}}')
    with pytest.raises(DiagnosticError):
        Formats().recognize(tmp_path / name)
