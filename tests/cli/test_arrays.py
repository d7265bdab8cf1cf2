"""Inputs of `cir run`: what is understood, what is refused, and that nothing in a file runs code or exhausts memory."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonir.base import codes, file_codes
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.base.limits import Limits
from commonir.cli.arrays import InputReaders, parse_inputs, save_arrays, summarize_array
from commonir.cli.choices import parse_dims


def refusal(*texts: str, limits: Limits | None = None) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        parse_inputs(texts, seed=0, limits=limits or Limits())
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


# -- generated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=f32[2,3]:iota", np.arange(6, dtype=np.float32).reshape(2, 3)),
        ("x=f32[2]:ones", np.asarray([1, 1], np.float32)),
        ("x=float16[ 2 , 1 ]:0.5", np.asarray([[0.5], [0.5]], np.float16)),
        ("x=i64[2]:-3", np.asarray([-3, -3], np.int64)),
        ("x=int32:7", np.asarray(7, np.int32)),
        ("x=i32[]:7", np.asarray(7, np.int32)),
        ("x=bool[2]:true", np.asarray([True, True])),
        ("x=f32[0,4]:randn", np.zeros((0, 4), np.float32)),
        ("x=bf16[1]:1e1", np.asarray([10], ml_dtypes.bfloat16)),
        ("x=f32[1]:nan", np.asarray([np.nan], np.float32)),
        ("x=f16[1]:inf", np.asarray([np.inf], np.float16)),
        ("x=i8[2]:-1.5", np.asarray([-1, -1], np.int8)),
        ("x=i64[1]:9223372036854775807", np.asarray([2**63 - 1], np.int64)),
        ("scope/x:0=ui8[1]:zeros", np.asarray([0], np.uint8)),
    ],
)
def test_generated_input(text: str, expected: np.ndarray) -> None:
    ((_, array),) = parse_inputs([text], seed=0).items()
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)


def test_random_values_depend_on_seed_and_name_only() -> None:
    a = parse_inputs(["x=f32[9]:randn", "y=f32[9]:randn"], seed=1)
    b = parse_inputs(["y=f32[9]:randn", "x=f32[9]:randn"], seed=1)
    np.testing.assert_array_equal(a["x"], b["x"])
    assert not np.array_equal(a["x"], a["y"])
    assert not np.array_equal(a["x"], parse_inputs(["x=f32[9]:randn"], seed=2)["x"])


def test_random_integers_stay_below_the_upper_bound() -> None:
    x = parse_inputs(["x=i32[1000]:randint(2,5)"], seed=0)["x"]
    assert set(x.tolist()) == {2, 3, 4}


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("x", "cannot read the input 'x': NAME= is missing", None),
        ("x=f23[2]:ones", "cannot read the input 'x=f23[2]:ones': unknown type 'f23'", "did you mean 'f32'?"),
        (
            "x=f32[2]:rann",
            (
                "cannot read the input 'x=f32[2]:rann': unknown generator 'rann'; "
                "did you mean 'randn', 'rand' or 'randint'?"
            ),
            None,
        ),
        (
            "x=i32[2]:randint(5)",
            "cannot read the input 'x=i32[2]:randint(5)': give both bounds: `randint(0,100)`",
            None,
        ),
        ("x=i32[2]:randint(5,2)", "cannot read the input 'x=i32[2]:randint(5,2)': low >= high", None),
        ("x=f32[2]:ones(3)", "cannot read the input 'x=f32[2]:ones(3)': 'ones' takes no arguments", None),
        (
            "x=i8[1]:\x1b[31m",
            r"cannot read the input 'x=i8[1]:\x1b[31m': unknown generator '\x1b[31m'; the generators are",
            None,
        ),
        (
            "@x.npy",
            "cannot read the input '@x.npy': a file without NAME= must be an .npz or .safetensors archive",
            None,
        ),
        ("x=f32[1 2]:ones", "cannot read the input 'x=f32[1 2]:ones': 'f32[1 2]:ones' is neither", None),
        (f"x=f32[{'9' * 5000}]:ones", "cannot read the input 'x=f32[999", None),
        ("x=i8[2]:300", "cannot read the input 'x=i8[2]:300': 300 is not a value of type i8", None),
        ("x=ui8[2]:-1", "cannot read the input 'x=ui8[2]:-1': -1 is not a value of type ui8", None),
        ("x=i32[2]:nan", "cannot read the input 'x=i32[2]:nan': nan is not a value of type i32", None),
        ("x=i64[1]:9223372036854775808", "cannot read the input 'x=i64[1]:9223372036854775808': 9.22337e+18", None),
        ("x=f16[2]:1e9", "cannot read the input 'x=f16[2]:1e9': 1e+09 is not a value of type f16", None),
        ("x=i8[200]:iota", "cannot read the input 'x=i8[200]:iota': 128 is not a value of type i8", None),
    ],
)
def test_input_that_is_not_understood(text: str, message: str, help: str | None) -> None:
    diagnostic = refusal(text)
    assert diagnostic.code is codes.WRONG_INPUT_ARGUMENT
    assert diagnostic.message.startswith(message)
    assert diagnostic.help == help or help is None


def test_floats_without_a_generator_are_drawn() -> None:
    drawn, named = (parse_inputs([text], seed=3)["x"] for text in ("x=f32[2,3]", "x=f32[2,3]:randn"))
    assert drawn.tolist() == named.tolist()
    with pytest.raises(DiagnosticError, match="E0902"):
        parse_inputs(["x=i64[2,3]"], seed=3)


def test_file_names_need_no_at_sign(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.arange(3))
    assert parse_inputs([f"x={path}"], seed=0)["x"].tolist() == [0, 1, 2]
    np.savez(tmp_path / "all.npz", a=np.arange(2))
    assert parse_inputs([str(tmp_path / "all.npz")], seed=0)["a"].tolist() == [0, 1]
    with pytest.raises(DiagnosticError, match=r"E0101.*\n.*\n.*did you mean 'x.npy'"):
        parse_inputs([f"x={tmp_path / 'y.npy'}"], seed=0)


@pytest.mark.parametrize("text", ["x=f32[99999,99999]:zeros", f"x=f32[{'1,' * 65}]:zeros"])
def test_generated_input_beyond_the_limits_is_not_allocated(text: str) -> None:
    assert refusal(text).code is file_codes.LIMIT_EXCEEDED


def test_dimensions() -> None:
    assert parse_dims(["batch=8", "s=0"]) == {"batch": 8, "s": 0}
    with pytest.raises(DiagnosticError, match="'--set batch' is not of the form DIM=N"):
        parse_dims(["batch"], "--set")
    with pytest.raises(DiagnosticError, match="the dim must be a number"):
        parse_dims(["batch=" + "9" * 5000])


# -- files


@pytest.mark.parametrize(
    "array", [np.zeros((0, 3)), np.asarray(5), np.asfortranarray(np.arange(6).reshape(2, 3)), np.asarray([True])]
)
def test_npy_file_gives_its_array(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "x.npy", array)
    result = parse_inputs([f"x=@{tmp_path}/x.npy"], seed=0)["x"]
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_npz_archive_gives_arrays_by_name_or_key(tmp_path: Path) -> None:
    a, b = np.arange(3), np.ones(2, np.float32)
    np.savez(tmp_path / "all.npz", a=a, b=b)
    np.savez_compressed(tmp_path / "one.npz", a=a)
    every = parse_inputs([f"@{tmp_path}/all.npz"], seed=0)
    assert list(every) == ["a", "b"]
    np.testing.assert_array_equal(every["b"], b)
    np.testing.assert_array_equal(parse_inputs([f"x=@{tmp_path}/all.npz:b"], seed=0)["x"], b)
    np.testing.assert_array_equal(parse_inputs([f"x=@{tmp_path}/one.npz"], seed=0)["x"], a)
    assert "the archive has 2 arrays ('a', 'b'): add `:KEY`" in refusal(f"x=@{tmp_path}/all.npz").message


def test_missing_key_names_the_nearest_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", image=np.ones(1))
    diagnostic = refusal(f"x=@{tmp_path}/x.npz:imag")
    assert diagnostic.message == "cannot read arrays from the file: it has no array 'imag'"
    assert diagnostic.help == "did you mean 'image'?"


def test_missing_file(tmp_path: Path) -> None:
    assert refusal(f"x=@{tmp_path}/no.npy").code is file_codes.FILE_NOT_FOUND
    assert refusal(f"@{tmp_path}/no.npz").code is file_codes.FILE_NOT_FOUND


class Bomb:
    """Pickled, it runs a function when it is read."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, ("exploded",))


def test_python_objects_are_refused_and_never_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bomb = np.asarray([Bomb()], object)
    np.save("x.npy", bomb, allow_pickle=True)
    np.savez("x.npz", x=bomb)
    for text in ("x=@x.npy", "@x.npz"):
        assert refusal(text).code is file_codes.CODE_REFUSED
    assert not Path("exploded").exists()


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x80\x04.", b"\x93NUMPY", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4'"]
)
def test_file_that_is_not_an_array_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    (tmp_path / "x.npz").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "y.npz", "w") as archive:
        archive.writestr("x.npy", content)
    for text in (f"x=@{tmp_path}/x.npy", f"@{tmp_path}/x.npz", f"@{tmp_path}/y.npz"):
        assert refusal(text).code is codes.WRONG_INPUT_ARGUMENT


def header(shape: str) -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize("shape", ["(1000000000000,)", "(3000000000,)", "(-1,)", "(9223372036854775807, 4)"])
def test_header_that_promises_too_much_is_refused(tmp_path: Path, shape: str) -> None:
    (tmp_path / "x.npy").write_bytes(header(shape) + bytes(16))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", header(shape) + bytes(16))
    for text in (f"x=@{tmp_path}/x.npy", f"@{tmp_path}/x.npz"):
        assert refusal(text).code is codes.WRONG_INPUT_ARGUMENT


@pytest.mark.parametrize("shape", ["(1,", "('x", "(1e99,)", "('a',)", f"({2**128},)", "(1, 2))", "[[["])
def test_header_that_is_not_a_shape_is_refused(tmp_path: Path, shape: str) -> None:
    (tmp_path / "x.npy").write_bytes(header(shape) + bytes(16))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", header(shape) + bytes(16))
    for text in (f"x=@{tmp_path}/x.npy", f"@{tmp_path}/x.npz"):
        assert refusal(text).code is codes.WRONG_INPUT_ARGUMENT


def test_archive_that_unpacks_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(100_000))
    diagnostic = refusal(f"@{tmp_path}/x.npz", limits=Limits(max_tensor_bytes=1000))
    assert diagnostic.code is file_codes.LIMIT_EXCEEDED
    assert diagnostic.message == "the arrays unpack to 800,128 bytes; the limit is 1,000"


@given(st.integers(0, 200), st.binary(min_size=1, max_size=8))
def test_damaged_archives_give_findings(place: int, damage: bytes) -> None:
    stream = io.BytesIO()
    np.savez(stream, x=np.arange(4))
    content = bytearray(stream.getvalue())
    content[place : place + len(damage)] = damage
    path = Path("damaged.npz")
    try:
        path.write_bytes(content)
        parse_inputs([f"@{path}"], seed=0)
    except DiagnosticError:
        pass
    finally:
        path.unlink()


# -- outputs


def test_saved_arrays_come_back(tmp_path: Path) -> None:
    arrays = {
        "file": np.arange(3),
        "/model/out:0": np.ones((2, 2), np.float16),
        "half": np.asarray([1.5, -2], ml_dtypes.bfloat16),
        "text": np.asarray(["a", "bc"], object),
    }
    assert save_arrays(str(tmp_path / "o.npz"), arrays) == ("half",)
    with np.load(tmp_path / "o.npz") as stored:
        assert sorted(stored) == sorted(arrays)
        np.testing.assert_array_equal(stored["file"], [0, 1, 2])
        assert stored["/model/out:0"].dtype == np.float16
        np.testing.assert_array_equal(stored["half"], np.asarray([1.5, -2], np.float32))
        assert stored["text"].tolist() == ["a", "bc"]


def test_summary_counts_what_is_not_finite_apart() -> None:
    result = summarize_array("y", np.asarray([[1, np.nan, np.inf, 3]], np.float16))
    assert (result.type, result.min, result.max, result.mean) == ("f16[1,4]", 1.0, 3.0, 2.0)
    assert (result.nan_count, result.inf_count) == (1, 1)


@pytest.mark.parametrize(
    ("array", "first"),
    [
        (np.asarray(["a"], object), ("a",)),
        (np.asarray([True, False]), (True, False)),
        (np.zeros((0,)), ()),
        (np.arange(9, dtype=np.int8), (0, 1, 2, 3, 4, 5)),
        (np.asarray([1 + 2j]), ("(1+2j)",)),
        (np.asarray(3.0), (3.0,)),
    ],
)
def test_summary_shows_the_first_values_as_python_values(array: np.ndarray, first: tuple[object, ...]) -> None:
    result = summarize_array("y", array)
    assert result.first == first
    assert [type(value) for value in result.first] == [type(value) for value in first]


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archive_with_a_compression_that_numpy_does_not_write_is_refused(tmp_path: Path, compression: int) -> None:
    path, content = tmp_path / "a.npz", io.BytesIO()
    np.save(content, np.zeros(3))
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("x.npy", content.getvalue())
    diagnostic = refusal(f"@{path}")
    assert diagnostic.code is codes.WRONG_INPUT_ARGUMENT
    assert diagnostic.message.endswith("'x.npy' is compressed in a way that numpy does not write")


# -- JSON


def _echo(name: str | None, text: str | bytes) -> dict[str, np.ndarray]:
    return {f"{name}": np.asarray(text)}


def test_json_is_read_from_the_argument_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[1]")
    texts = ["a=[1, 2]", 'b={"k": 1}', 'c="t"', f"d=@{tmp_path}/x.json", f"@{tmp_path}/x.json"]
    result = parse_inputs(texts, seed=0, readers=InputReaders(json=_echo))
    assert {n: v.item() for n, v in result.items()} == {
        "a": "[1, 2]", "b": '{"k": 1}', "c": '"t"', "d": b"[1]", "None": b"[1]",
    }  # fmt: skip


def test_json_has_limits_and_places(tmp_path: Path) -> None:
    path = f"{tmp_path}/x.json"
    assert refusal(f"x=@{path}").message.endswith("this command does not take JSON")
    readers = InputReaders(json=_echo)
    with pytest.raises(DiagnosticError, match=r"E0101.*no such file"):
        parse_inputs([f"x=@{path}"], seed=0, readers=readers)
    Path(path).write_text("[1, 2]")
    with pytest.raises(DiagnosticError, match="has more than 3 bytes"):
        parse_inputs([f"x=@{path}"], seed=0, limits=Limits(max_text_bytes=3), readers=readers)
