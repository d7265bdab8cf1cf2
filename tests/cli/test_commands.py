"""The output of each verb, over the made-up program of `fake_api`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli import fake_api
from tests.command_lines import Cir


def lines(text: str) -> list[str]:
    return text.splitlines()


def test_info_in_full(cir: Cir) -> None:
    assert lines(cir("info", "ok.mil").out) == [
        "ok.mil",
        "format      Core ML package",
        "producer    a test",
        "parameters  25.6 M",
        "weights     51.0 MB (f16 51.0 MB, i8 512 B)",
        "",
        "metadata",
        r"  author  conv\x1b[31m\u202e[bold]",
        "",
        "function main (CoreML7, entry)",
        "  inputs:",
        "    x  tensor<1x?xf32>  d in 1..8",
        "  outputs:",
        "    y  tensor<1x?xf32>",
        "    z  tensor<2xi32>",
        "  operations: 4",
        r"    conv\x1b[31m\u202e[bold]  3",
        "    mil.add                   1",
        "",
        "files",
        "  51.0 MB  weights/weight.bin",
    ]


def test_flops_are_counted_on_request(cir: Cir) -> None:
    assert "FLOPs       2 * d per run" in lines(cir("info", "ok.mil", "--flops").out)


def test_show_passes_its_options_on(cir: Cir) -> None:
    done = cir("show", "ok.mil", "--generic", "--node", "conv_3", "--around", "2", "--no-elide")
    assert done.out.endswith("// generic=True node=conv_3 around=2 elide=False syntax=mlir\n")


def test_show_prints_everything_on_request(cir: Cir) -> None:
    assert " complete" not in cir("show", "ok.mil").out
    assert " complete" in cir("show", "ok.mil", "--all").out


def test_show_passes_on_what_is_written_beside_operations(cir: Cir) -> None:
    done = cir("show", "ok.mil", "--names", "mlir", "--locations")
    assert done.out.endswith("names=mlir locations\n")


def test_show_in_another_syntax_takes_no_options_of_mlir(cir: Cir) -> None:
    done = cir("show", "ok.mil", "--syntax", "mil")
    assert done.out.endswith("// generic=False node=None around=None elide=True syntax=mil\n")
    done = cir("show", "ok.mil", "--syntax", "mil", "--generic")
    assert (done.status, done.out) == (2, "")
    assert "'--generic', '--all' and '--node' are for MLIR text only" in done.err


# -- check


def test_check_reports_all_findings_of_all_files_and_a_summary(cir: Cir) -> None:
    done = cir("check", "ok.mil", "wrong.mil", "lossy.mil")
    assert done.status == 1
    assert done.out == "checked 3 files: 1 error, 1 warning\n"
    assert [line for line in lines(done.err) if "-->" in line] == [
        r"  --> wrong.mil: main.operations[3] 'conv\x1b[31m\u202e[bold]'",
        r"  --> lossy.mil: main.operations[3] 'conv\x1b[31m\u202e[bold]'",
    ]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["ok.mil"], 0),
        (["lossy.mil"], 0),
        (["lossy.mil", "--strict"], 1),
        (["wrong.mil"], 1),
        (["wrong.mil", "unreadable.mil"], 3),
        (["unreadable.mil", "ok.mil"], 3),
    ],
)
def test_check_answers_by_its_status(cir: Cir, arguments: list[str], status: int) -> None:
    assert cir("check", *arguments).status == status


def test_level_hides_findings_but_not_the_answer(cir: Cir) -> None:
    done = cir("check", "lossy.mil", "--level", "error", "--strict")
    assert (done.status, done.err, done.out) == (1, "", "checked 1 file: 0 errors, 1 warning\n")


def test_check_counts_per_file_in_json(cir: Cir) -> None:
    document = json.loads(cir("check", "ok.mil", "wrong.mil", "--json").out)
    assert document["ok"] is False
    assert document["result"] == {
        "files": [
            {"file": "ok.mil", "ok": True, "errors": 0, "warnings": 0},
            {"file": "wrong.mil", "ok": False, "errors": 1, "warnings": 0},
        ]
    }


# -- run


def test_run_summarizes_outputs(cir: Cir) -> None:
    done = cir("run", "ok.mil", "x=f32[1,4]:iota")
    assert lines(done.out) == [
        "output  type      min  max  mean  first values",
        "y       f32[1,4]    0    6     3  0, 2, 4, 6",
        "z       i32[2]     -1    3     1  3, -1",
    ]


def test_run_says_that_products_are_rounded(cir: Cir) -> None:
    done = cir("run", "ok.mil", "x=f32[1,4]:iota", "--threads", "2", "--fast-math", "bf16")
    assert lines(done.out)[0] == "products with constants are rounded to bfloat16, where the processor has them"
    assert cir("run", "ok.mil", "x=f32[1,4]:iota", "--fast-math", "f8").status == 2


def test_run_draws_what_is_not_given_and_says_so(cir: Cir) -> None:
    done = cir("run", "ok.mil", "--set", "d=3")
    assert lines(done.out)[0] == "random inputs (seed 0): x f32[1,3]"
    assert cir("run", "ok.mil", "--seed", "7").out == cir("run", "ok.mil", "--seed", "7").out
    assert cir("run", "ok.mil", "--seed", "7").out != cir("run", "ok.mil", "--seed", "8").out


def test_run_reads_and_saves_arrays(cir: Cir, folder: Path) -> None:
    np.save("x.npy", np.asarray([[1, 2, np.nan]], np.float32))
    done = cir("run", "ok.mil", "x=@x.npy", "--save", "out.npz")
    assert lines(done.out)[1:] == [
        "y       f32[1,3]    2    4     3  2, 4, nan; 1 nan",
        "z       i32[2]     -1    3     1  3, -1",
        "outputs saved to out.npz",
    ]
    with np.load("out.npz") as saved:
        np.testing.assert_array_equal(saved["y"], np.asarray([[2, 4, np.nan]], np.float32))
        assert saved["z"].dtype == np.int32


def test_run_saves_nothing_under_a_suffix_of_another_kind(cir: Cir, folder: Path) -> None:
    done = cir("run", "ok.mil", "--save", "out.jpg")
    assert done.status == 2
    assert "'out.jpg' must have the suffix .npz or .safetensors or .png" in done.err
    assert not Path("out.jpg").exists()


def test_what_json_has_no_number_for_is_a_text(cir: Cir, folder: Path) -> None:
    np.save("x.npy", np.asarray([[np.nan, np.inf]], np.float32))
    output = json.loads(cir("run", "ok.mil", "x=@x.npy", "--json").out)["result"]["outputs"][0]
    assert output["first"] == ["nan", "inf"]
    assert (output["min"], output["nan_count"], output["inf_count"]) == (None, 1, 1)


def test_run_reports_every_wrong_input_at_once(cir: Cir) -> None:
    done = cir("run", "ok.mil", "x=f3[2]:randn", "y=one", "z=f32[2]:rand", "z=f32[2]:rand", "--set", "d")
    assert done.status == 2
    neither = "'one' is neither `@FILE` nor `TYPE[SHAPE]:GENERATOR` nor a number"
    assert [line for line in lines(done.err) if line.startswith("error")] == [
        "error[E0902]: cannot read the input 'x=f3[2]:randn': unknown type 'f3'",
        f"error[E0902]: cannot read the input 'y=one': {neither}",
        "error[E0902]: input 'z' is given twice",
    ]


# -- convert


def test_convert_reports_interface_counts_size_and_errors(cir: Cir, folder: Path) -> None:
    done = cir("convert", "ok.mil", "-o", "o.onnx", "--check=2", "--seed", "5")
    assert (done.status, done.err) == (0, "")
    assert lines(done.out) == [
        "Core ML package -> ONNX model",
        "  inputs:",
        "    x  tensor<1x?xf32>  d in 1..8",
        "  outputs:",
        "    y  tensor<1x?xf32>",
        "    z  tensor<2xi32>",
        "  operations: 4 -> 4",
        "  wrote o.onnx (2 B)",
        "check against onnxruntime, 2 sets of inputs:",
        "  output  type  largest error  relative               allowed",
        "  y       f32               0         0  0.00026 + 0.0001 |y|  ok",
        "  z       i32               0         0                  none  ok",
    ]
    assert (folder / "o.onnx").read_text() == "ok"


def test_outputs_that_differ_are_the_answer_no(cir: Cir, folder: Path) -> None:
    done = cir("convert", "differs.mil", "-o", "o.onnx", "--check")
    assert done.status == 1
    assert lines(done.err)[0] == "error[E0710]: the converted program computes different outputs"
    assert "output 'y' differs by 1 at [0, 1], allowed: " in lines(done.err)[2]
    assert "differs at [0, 1]" in done.out
    assert (folder / "o.onnx").exists()


def test_tolerance_of_the_user_counts(cir: Cir) -> None:
    assert cir("convert", "differs.mil", "-o", "o.onnx", "--check", "--atol", "1.1").status == 0


def test_bare_check_never_takes_the_next_argument(cir: Cir, folder: Path) -> None:
    assert cir("convert", "--check", "ok.mil", "-o", "o.onnx").status == 0
    assert (folder / "o.onnx").exists()


def test_choices_of_a_conversion_are_passed_on(cir: Cir) -> None:
    options = ["--target", "iOS17", "--precision", "float16", "--set-dim", "n=2", "--range", "d=1..8"]
    options += ["--image", "x=bgr,scale=0.5,bias=1/2/3", "--image", "y=grayscale"]
    assert cir("convert", "ok.mil", "-o", "o.onnx", *options).status == 0
    assert fake_api.CHOSEN == {
        "target": "iOS17",
        "precision": "float16",
        "dims": {"n": 2},
        "ranges": {"d": (1, 8)},
        "images": {"x": ("bgr", 0.5, (1.0, 2.0, 3.0)), "y": ("grayscale", 1.0, ())},
    }


@pytest.mark.parametrize("text", ["d", "d=1", "d=4..2", "=1..2", "d=a..b"])
def test_range_that_is_none_is_refused(cir: Cir, text: str) -> None:
    done = cir("convert", "ok.mil", "-o", "o.onnx", "--range", text)
    assert done.status == 2
    assert f"'{text}' is not a range" in done.err


@pytest.mark.parametrize("text", ["x", "x=cmyk", "x=rgb,scale=a", "x=rgb,bias=1/2", "x=rgb,gain=2", "x=rgb,scale=inf"])
def test_image_that_is_none_is_refused(cir: Cir, text: str) -> None:
    done = cir("convert", "ok.mil", "-o", "o.onnx", "--image", text)
    assert done.status == 2
    assert f"'{text}' does not describe an image" in done.err


def test_strict_conversion_writes_nothing_when_something_is_lost(cir: Cir, folder: Path) -> None:
    assert cir("convert", "lossy.mil", "-o", "o.onnx").status == 0
    (folder / "o.onnx").write_text("old")
    done = cir("convert", "lossy.mil", "-o", "o.onnx", "--strict")
    assert done.status == 1
    assert lines(done.err)[-2:] == [
        "error[E0602]: nothing is written: 1 warning with --strict",
        "   = help: leave out `--strict` to accept the loss",
    ]
    assert (folder / "o.onnx").read_text() == "old"


def test_unknown_suffix_is_a_usage_error_before_anything_is_read(cir: Cir) -> None:
    assert cir("convert", "crash.mil", "-o", "o.txt").status == 2


def test_output_in_a_missing_folder_is_status_6(cir: Cir) -> None:
    assert cir("convert", "ok.mil", "-o", "no/o.onnx").status == 6


# -- reference


def test_ops_lists_or_shows_a_page(cir: Cir) -> None:
    assert lines(cir("ops").out) == ["operation  since", "mil.conv   ios15  Convolution.", "mil.add    ios15  Sum."]
    assert cir("ops", "mil.conv").out == "# mil.conv\n\nConvolution.\n"
    assert cir("ops", "mil.con").status == 2
    assert cir("ops", "mil.conv", "--dialect", "mil").status == 2


def test_explain_shows_what_a_code_means(cir: Cir) -> None:
    assert lines(cir("explain", "e0103").out) == [
        "error[E0103]: the file is empty",
        "",
        "The file has no content at all, so a download or a copy most likely failed.",
        "Fetch it again.",
        "",
        "exit status 3",
    ]
    assert "E0103" in cir("explain").out


def test_explain_refuses_an_unknown_code_with_near_ones(cir: Cir) -> None:
    done = cir("explain", "E0104x")
    assert done.status == 2
    assert lines(done.err)[0] == "error[E0903]: no diagnostic has the code 'E0104x'"
    assert "'E0104'" in lines(done.err)[1]


def test_doctor_shows_the_cache_and_clears_it(cir: Cir) -> None:
    assert "cache     2 entries, 5.00 MB of 2.00 GB, in /cache/compiled" in lines(cir("doctor").out)
    assert "cache     0 entries, 0 B of 2.00 GB, in /cache/compiled" in lines(cir("doctor", "--clear-cache").out)


def test_doctor_names_the_extra_that_installs_what_is_missing(cir: Cir) -> None:
    assert "  onnxruntime  not installed: python -m pip install 'commonir[ort]'" in lines(cir("doctor").out)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_prints_a_script(cir: Cir, shell: str) -> None:
    assert "_CIR_COMPLETE" in cir("completion", shell).out


def test_differences_are_listed_as_far_as_asked_for(cir: Cir) -> None:
    done = cir("diff", "ok.mil", "ok.mil")
    assert done.status == 1
    assert "  and 10 more (`--all`)" in lines(done.out)
    assert "and 10 more" not in cir("diff", "ok.mil", "ok.mil", "--all").out
    assert "axis" not in cir("diff", "ok.mil", "ok.mil", "--summary").out
    assert "1 of 3" in cir("diff", "ok.mil", "ok.mil", "--weights").out
    assert "\x1b[31m" not in done.out


def test_profile_lists_the_slowest_or_all(cir: Cir) -> None:
    done = cir("profile", "ok.mil", "--trace", "t.json", "--engine", "reference")
    assert (done.status, Path("t.json").read_text()) == (0, "reference")
    reported = lines(done.out)
    assert reported[0] == "main on reference: 2 s a run"
    assert "slowest operations:" in reported
    assert any(line.split()[0] == "v30" for line in reported)
    assert not any(line.split()[0] == "v1" for line in reported)
    assert "\x1b[31m" not in done.out
    reported = lines(cir("profile", "ok.mil", "--all").out)
    assert any(line.split()[0] == "v1" for line in reported)


def test_profile_shows_engines_side_by_side_and_draws(cir: Cir) -> None:
    done = cir("profile", "ok.mil", "--engines", "numpy,reference", "-o", "p.html")
    assert (done.status, Path("p.html").read_text()) == (0, "<!DOCTYPE html>2")
    reported = lines(done.out)
    assert {"main on numpy: 2 s a run", "main on reference: 2 s a run", "wrote p.html"} <= set(reported)
    assert ["mil.conv", "30", "2", "s", "2", "s", "1.00"] in [line.split() for line in reported]
    assert cir("profile", "ok.mil", "--engine", "numpy", "--engine", "reference").out.count("a run") == 2


def test_shapes_are_shown_for_sizes_that_are_set(cir: Cir) -> None:
    assert "tensor<Nx3xf32>" in cir("shapes", "ok.mil").out
    done = cir("shapes", "ok.mil", "--set", "N=4", "--constants")
    assert "tensor<4x3xf32>" in done.out
    assert "mil.const" in done.out
    refused = cir("shapes", "ok.mil", "--set", "N=four")
    assert refused.status == 2
    assert "the dim must be a number" in refused.err
