"""The bounded cache of files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from commonir.base.cache_folder import cache_folder
from commonir.base.file_cache import ALIGNMENT, FileCache

MEGABYTE = 1 << 20
LARGE = os.urandom(MEGABYTE) * 3 + b"end"


def stored(cache: FileCache, key: str, content: bytes) -> None:
    """Stores an entry with one section."""
    cache.write(key, {"name": key}, {"content": lambda file: file.write(content)})


def content_of(cache: FileCache, key: str) -> bytes | None:
    """Returns the section of an entry; None if there is none."""
    entry = cache.read(key)
    return None if entry is None else bytes(entry.sections["content"])


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    """An empty cache, whose folder does not exist yet."""
    return FileCache(tmp_path / "a" / "cache", 16 * MEGABYTE)


@pytest.mark.parametrize("content", [b"", b"short", LARGE], ids=["empty", "short", "large"])
def test_an_entry_is_read_as_it_was_written(cache: FileCache, content: bytes) -> None:
    cache.write("key", {"a": [1, "b"]}, {"first": lambda f: f.write(b"12345"), "second": lambda f: f.write(content)})
    entry = cache.read("key")
    assert entry is not None
    assert entry.description == {"a": [1, "b"]}
    assert bytes(entry.sections["first"]) == b"12345"
    assert bytes(entry.sections["second"]) == content
    ((path, _),) = cache.files()
    assert path.read_bytes().index(b"12345") % ALIGNMENT == 0
    assert cache.read("another") is None


def flip(position: int) -> Callable[[bytes], bytes]:
    """Returns a function that changes one bit of a file."""
    return lambda b: b[:position] + bytes([b[position] ^ 4]) + b[position:][1:]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda b: b"",
    "head only": lambda b: b[:30],
    "short by one": lambda b: b[:-1],
    "short by half": lambda b: b[: len(b) // 2],
    "other version": lambda b: b.replace(b"commonir cache 1", b"commonir cache 2", 1),
    "length of the description": flip(20),
    "digest of the description": flip(30),
    "description": flip(80),
    "content": flip(-2),
    "middle of the content": flip(-MEGABYTE),
    "lost block": lambda b: b[: -2 * MEGABYTE] + bytes(4096) + b[-2 * MEGABYTE + 4096 :],
    "other file": lambda b: b"#!/bin/sh\n" + b,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_not_read_and_can_be_written_again(cache: FileCache, damage: str) -> None:
    stored(cache, "key", LARGE)
    ((path, _),) = cache.files()
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert cache.read("key") is None
    stored(cache, "key", LARGE)
    assert content_of(cache, "key") == LARGE


def test_an_entry_under_the_name_of_another_is_not_read(cache: FileCache) -> None:
    stored(cache, "key", b"content")
    ((path, _),) = cache.files()
    path.rename(path.with_name("other.entry"))
    assert cache.read("other") is None


def test_entries_that_were_not_used_for_longest_go_first(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, 10 * MEGABYTE)
    for n, key in enumerate("abc"):
        stored(cache, key, LARGE)
        ((path, _),) = [item for item in cache.files() if item[0].stem == key]
        os.utime(path, (n, n))
    assert content_of(cache, "a") == LARGE
    stored(cache, "d", LARGE)
    assert [path.stem for path, _ in cache.files()] == ["c", "a", "d"]
    assert sum(status.st_size for _, status in cache.files()) <= 10 * MEGABYTE


def test_what_is_larger_than_the_cache_is_not_kept(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, MEGABYTE)
    stored(cache, "key", LARGE)
    assert cache.files() == []


def test_concurrent_writers_leave_one_whole_entry(cache: FileCache) -> None:
    contents = [bytes([n]) * MEGABYTE for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda content: stored(cache, "key", content), contents * 3))
    assert content_of(cache, "key") in contents
    ((path, _),) = cache.files()
    assert [p for p in path.parent.iterdir() if p != path] == []


def test_a_mapped_entry_outlives_its_file(cache: FileCache) -> None:
    stored(cache, "key", LARGE)
    entry = cache.read("key")
    assert entry is not None
    cache.clear()
    assert cache.files() == []
    assert bytes(entry.sections["content"]) == LARGE


def test_what_an_ended_process_left_behind_is_removed(cache: FileCache) -> None:
    stored(cache, "key", b"content")
    ((path, _),) = cache.files()
    old, new = path.with_name("key-1-0.tmp"), path.with_name("key-2-0.tmp")
    for temporary in (old, new):
        temporary.touch()
    os.utime(old, (0, 0))
    stored(cache, "other", b"content")
    assert not old.exists()
    assert new.exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_an_entry_that_others_can_write_is_not_read(cache: FileCache) -> None:
    stored(cache, "key", b"content")
    ((path, status),) = cache.files()
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o666)
    assert cache.read("key") is None


def test_a_folder_that_cannot_be_written_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = FileCache(tmp_path / "file" / "cache", MEGABYTE)
    stored(cache, "key", b"content")
    assert cache.read("key") is None
    assert cache.files() == []
    cache.clear()


def test_the_folder_is_that_of_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("COMMONIR_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "commonir"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "commonir"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "commonir"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "commonir"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "commonir" / "Cache"
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named"


def test_a_user_without_a_home_has_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COMMONIR_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_folder() is None
