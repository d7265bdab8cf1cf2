"""The cache of compiled code, and code that is loaded without LLVM."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from commonir.llvm.code_image import LoadedImage, image_of, is_loadable
from commonir.llvm.compiled_cache import VARIABLE, cached_object_code, compiled_cache, most_bytes
from commonir.llvm.compiler import host_target, object_code

TEXT = """
@factors = private unnamed_addr constant [4 x i64] [i64 2, i64 3, i64 5, i64 7]
define void @run(ptr %out, i64 %n) {
  %p = getelementptr [4 x i64], ptr @factors, i64 0, i64 %n
  %x = load i64, ptr %p
  %y = call i64 @twice(i64 %x)
  store i64 %y, ptr %out
  ret void
}
@functions = private unnamed_addr constant [2 x ptr] [ptr @run, ptr @twice]
define void @call(ptr %out, i64 %n) {
  %p = getelementptr [2 x ptr], ptr @functions, i64 0, i64 %n
  %f = load ptr, ptr %p
  %y = call i64 %f(i64 21)
  store i64 %y, ptr %out
  ret void
}
define i64 @twice(i64 %x) noinline {
  %y = add i64 %x, %x
  ret i64 %y
}
"""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of an empty cache."""
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path))
    monkeypatch.delenv(VARIABLE)
    return tmp_path / "compiled"


def test_object_code_is_generated_once(folder: Path) -> None:
    target, calls = host_target(), []

    def generate() -> bytes:
        calls.append(1)
        return b"code"

    for _ in range(3):
        assert cached_object_code("text", target, "LLVM 1", generate) == b"code"
    assert len(calls) == 1
    assert len(list(folder.iterdir())) == 1


def test_other_text_processors_and_generators_have_entries_of_their_own(folder: Path) -> None:
    target = host_target()
    calls = [
        ("text", target, "LLVM 1"),
        ("other", target, "LLVM 1"),
        ("text", target, "LLVM 2"),
        ("text", target._replace(cpu="other"), "LLVM 1"),
        ("text", target._replace(features=f"{target.features},-other"), "LLVM 1"),
        ("text", target._replace(triple="other"), "LLVM 1"),
    ]
    for n, (text, processor, generator) in enumerate(calls):
        content = bytes([n])
        assert cached_object_code(text, processor, generator, lambda content=content: content) == content
    assert len(list(folder.iterdir())) == len(calls)


def test_a_damaged_object_is_generated_again(folder: Path) -> None:
    target = host_target()
    expected = object_code(TEXT, target)
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-8] + b"damaged!")
    assert object_code(TEXT, target) == expected
    assert object_code(TEXT, target) == expected


def test_zero_megabytes_switch_the_cache_off(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    assert compiled_cache() is None
    object_code(TEXT, host_target())
    assert not folder.exists()
    monkeypatch.setenv(VARIABLE, "7")
    assert most_bytes() == 7 << 20


@pytest.mark.skipif(not is_loadable(), reason="images are for Linux on x86-64")
def test_images_run_without_llvm() -> None:
    image = image_of(object_code(TEXT, host_target()))
    assert image is not None
    library, out = LoadedImage(image), np.zeros(1, np.int64)
    results: list[int] = []
    for n in range(4):
        library.function("run", 2)(out.ctypes.data, n)
        results.append(int(out[0]))
    assert results == [4, 6, 10, 14]
    library.function("call", 2)(out.ctypes.data, 1)
    assert out[0] == 42


@pytest.mark.skipif(not is_loadable(), reason="images are for Linux on x86-64")
def test_code_that_calls_other_libraries_is_not_an_image() -> None:
    text = "declare void @other()\ndefine void @run() {\n  call void @other()\n  ret void\n}\n"
    assert image_of(object_code(text, host_target())) is None


def test_what_is_not_an_object_is_not_an_image() -> None:
    assert image_of(b"") is None
    assert image_of(b"MZ" + bytes(200)) is None
