"""The report on the installation."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonir import api
from commonir.base.file_cache import FileCache
from commonir.reports import CacheReport


def test_the_cache_of_compiled_programs_is_shown_and_cleared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "compiled"
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path))
    monkeypatch.setenv("COMMONIR_CACHE_MB", "2")
    assert api.doctor().cache == CacheReport(str(folder), 0, 0, 2 << 20)
    FileCache(folder, 1 << 20).write("key", {}, {"content": lambda file: file.write(bytes(3000))})
    (path,) = folder.iterdir()
    (folder / "of another program").touch()
    assert api.doctor().cache == CacheReport(str(folder), 1, path.stat().st_size, 2 << 20)
    assert api.doctor(clear_cache=True).cache == CacheReport(str(folder), 0, 0, 2 << 20)
    assert [p.name for p in folder.iterdir()] == ["of another program"]
