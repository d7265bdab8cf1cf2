"""The safetensors format: files of the package of that name, and files that are not of the format."""

from __future__ import annotations

import io
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from commonir.base.limits import Limits
from commonir.base.safetensors import read_safetensors, write_safetensors

from tests.oracles import oracle


def file_of(header: object, content: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content


def test_arrays_of_every_type_come_back(tmp_path: Path) -> None:
    dtypes = [np.bool_, np.int8, np.int64, np.uint16, np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
    arrays = {np.dtype(d).name: np.array([[0, 1], [1, 0], [1, 1]]).astype(d) for d in dtypes}
    arrays["empty"] = np.zeros((0, 4), np.float32)
    arrays["scalar"] = np.array(2.5)
    stream = io.BytesIO()
    write_safetensors(stream, arrays)
    path = tmp_path / "a.safetensors"
    path.write_bytes(stream.getvalue())
    result = read_safetensors(path)
    assert {n: (x.dtype, x.shape) for n, x in result.items()} == {n: (x.dtype, x.shape) for n, x in arrays.items()}
    assert all(np.array_equal(result[n], x) for n, x in arrays.items())


def test_an_array_of_many_dims_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(file_of({"a": {"dtype": "U8", "shape": [2**62] * 20_000, "data_offsets": [0, 0]}}))
    with pytest.raises(ValueError, match="'a' has 20,000 dimensions, and at most 64 are read"):
        read_safetensors(path)


def test_files_are_those_of_the_package_of_that_name(tmp_path: Path) -> None:
    library = oracle("safetensors.numpy")
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([1, 2], np.int16)}
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    with ours.open("wb") as stream:
        write_safetensors(stream, arrays)
    library.save_file(arrays, theirs, metadata={"format": "np"})
    for actual in (library.load_file(ours), read_safetensors(theirs)):
        assert {name: x.tolist() for name, x in actual.items()} == {name: x.tolist() for name, x in arrays.items()}


ENTRY = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its header is longer than the file"),
        (b"\xff" * 8, "its header is longer than the file"),
        (file_of(b"{"), "its header is not JSON"),
        (file_of(b"\xff{}"), "its header is not JSON"),
        (file_of([]), "its header is not a JSON object"),
        (file_of({"a": 1}), "'a' has the unknown type 'None'"),
        (file_of({"a": {**ENTRY, "dtype": "F31"}}, bytes(8)), "'a' has the unknown type 'F31'"),
        (file_of({"a": {**ENTRY, "shape": [-2]}}, bytes(8)), "'a' has no shape"),
        (file_of({"a": {**ENTRY, "shape": [True]}}, bytes(8)), "'a' has no shape"),
        (file_of({"a": {**ENTRY, "data_offsets": [0]}}, bytes(8)), "or no place in the file"),
        (file_of({"a": ENTRY}, bytes(7)), "'a' lies outside of the file"),
        (file_of({"a": {**ENTRY, "data_offsets": [8, 0]}}, bytes(8)), "'a' lies outside of the file"),
        (file_of({"a": {**ENTRY, "shape": [2**62, 8]}}, bytes(8)), "which is not the size of its shape"),
        (file_of({"a": ENTRY, "b": {**ENTRY, "data_offsets": [4, 12]}}, bytes(12)), "'a' and 'b' overlap"),
        (file_of(b'{"a":' * 100_000), "its header is not JSON"),
    ],
)
def test_file_that_is_not_of_the_format_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_safetensors(path)


def test_header_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(file_of({"a": ENTRY}, bytes(8)))
    with pytest.raises(ValueError, match="longer than the file, or than is allowed"):
        read_safetensors(path, Limits(max_text_bytes=10))


def test_texts_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="'a' has the type !builtin"):
        write_safetensors(io.BytesIO(), {"a": np.array(["x"])})
