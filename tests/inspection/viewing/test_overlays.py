"""Overlays: what reports say of operations, in colours that need no colour vision. Numbers are worked out by hand."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import pytest

import commonir as cir
from commonir import api
from commonir.base.codes import AMBIGUOUS_NAME, WRONG_ATTRIBUTE
from commonir.base.diagnostics import Diagnostic, DiagnosticError
from commonir.inspection.viewing import draw, draw_beside
from commonir.inspection.viewing.overlays import Overlaid, Overlay, overlays_of
from commonir.inspection.viewing.report_files import read_overlay
from commonir.inspection.viewing.styles import NO_FIGURE, SCALE, STYLES
from commonir.inspection.viewing.svg import svg
from commonir.reports import Comparison, Divergence, Profile, ProfileComparison, ProfileEntry, ValueDifference
from commonir.reports.reading import ReportError, read_report

from tests.passes.ark import ark_programs as programs

PROGRAM = """
ml_program.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>) {
  %a = core.exp %x : tensor<2x3xf32>
  %b = core.neg %a : tensor<2x3xf32>
  %y = core.add %b, %x : tensor<2x3xf32>
  ml_program.return %y : tensor<2x3xf32>
}
"""
LOOP = """
func.func @f(%n: index, %x: f32) -> f32 {
  %a = arith.constant 0 : index
  %b = arith.constant 1 : index
  %r = scf.for %i = %a to %n step %b iter_args(%v = %x) -> (f32) {
    %w = arith.addf %v, %x : f32
    scf.yield %w : f32
  }
  return %r : f32
}
"""


@pytest.fixture(scope="module")
def program() -> cir.Module:
    return cir.loads(PROGRAM, format="mlir")


def _profile(*entries: tuple[str, str, float, int], engine: str = "numpy", function: str = "main") -> Profile:
    costs = [ProfileEntry(name, op, "", (), s, s, 24, None, live_bytes=live) for name, op, s, live in entries]
    return Profile(engine, function, 5, 0.1, 0.01, 0.01, 1e-6, 48, tuple(costs))


def _value(name: str, op: str, snr: float | None, *, is_within: bool = True, other: str = "") -> ValueDifference:
    return ValueDifference(
        name, op, other or op, "f32", "f16", is_within, 0.5, 0.5, 0.1, 1.0, 0.0, 1e-2, (0, 1), 2, 6, snr=snr
    )


def _comparison(*values: ValueDifference, divergences: tuple[Divergence, ...] = ()) -> Comparison:
    return Comparison(("numpy", "iree"), "main", values, ("y",), (), (), divergences, (1, 1), (8, 8))


def _only(report: Overlaid, *modules: cir.Module) -> Overlay:
    (overlay,) = overlays_of([report], modules)
    return overlay


def _by_name(overlay: Overlay) -> dict[str, tuple[str, str, str]]:
    """The style, the text and the frame of each operation by its name."""
    return {op.first_name: (h.style, h.text, h.frame) for op, h in overlay.highlights.items()}


# -- profiles


def test_each_step_of_time_is_twice_the_one_below(program: cir.Module) -> None:
    profile = _profile(("a", "core.exp", 64e-6, 0), ("b", "core.neg", 32e-6, 0), ("y", "core.add", 1e-9, 0))
    overlay = _only(profile, program)
    assert overlay.title == "time on numpy"
    assert overlay.summary == "slowest a with 64 us"
    # 32 us is the upper bound of the second step; what is below the lowest one is in it.
    assert {name: style for name, (style, _, _) in _by_name(overlay).items()} == {
        "a": "scale-6",
        "b": "scale-5",
        "y": "scale-0",
    }
    assert list(overlay.legend.values()) == [
        "up to 1 us",
        *("2 us", "4 us", "8 us", "16 us", "32 us", "64 us"),
        "no figure",
    ]
    first = next(iter(overlay.highlights.values()))
    assert first.lines == ("64 us, 66.7% of all operations",)
    assert overlay.combined([*overlay.highlights.values()]).text == "96 us"


def test_memory_of_a_folded_group_is_the_most_of_it(program: cir.Module) -> None:
    profile = _profile(("a", "core.exp", 1e-6, 100), ("b", "core.neg", 1e-6, 4000), ("y", "core.add", 1e-6, 0))
    _, memory = overlays_of([profile], [program])
    assert (memory.title, memory.summary) == ("memory at once", "4.00 kB at most")
    assert memory.combined([*memory.highlights.values()]).text == "4.00 kB"


def test_engines_have_an_overlay_each_and_fused_operations_are_counted(program: cir.Module) -> None:
    first = _profile(("a", "core.exp", 1e-6, 8), ("y", "core.add", 1e-6, 8))
    second = _profile(("a", "core.exp", 3e-6, 0), ("y", "core.add", 1e-6, 0), ("Fused_7", "", 4e-6, 0), engine="iree")
    overlays = overlays_of([ProfileComparison((first, _profile(engine="other"), second), (), ())], [program])
    assert [overlay.title for overlay in overlays] == ["time on numpy", "time on iree", "memory at once"]
    assert overlays[1].summary == "slowest a with 3 us; 1 value not drawn, 50% of the time"


# -- comparisons


def test_error_is_relative_to_the_value_in_decades(program: cir.Module) -> None:
    # 20 dB are a tenth.
    values = (
        _value("a", "core.exp", math.inf),
        _value("b", "core.neg", 100.0),
        _value("y", "core.add", 40.0, is_within=False),
    )
    overlay = _only(_comparison(*values), program)
    assert overlay.title == "relative error, iree against numpy"
    assert _by_name(overlay) == {
        "a": (SCALE[0], "equal", ""),
        "b": (SCALE[3], "error 1e-05", ""),
        "y": (SCALE[6], "error 0.01, differs", ""),
    }
    assert list(overlay.legend.values())[:2] == ["up to 1e-8", "1e-7"]
    lines = overlay.highlights[program.main.body.last.operands[0].defining_op].lines  # type: ignore[union-attr]
    assert "beyond the tolerance: 2 of 6 elements" in lines
    assert "f32 against f16" in lines


def test_first_divergence_and_its_path_are_framed(program: cir.Module) -> None:
    values = (_value("a", "core.exp", 90.0), _value("b", "core.neg", 0.0, is_within=False), _value("y", "core.add", 20))
    divergence = Divergence(values[1], ("a",), ("core.neg 'b'",), ("core.neg 'b'",), path=("b", "y"))
    overlay = _only(_comparison(*values, divergences=(divergence,)), program)
    assert {name: frame for name, (_, _, frame) in _by_name(overlay).items()} == {
        "a": "",
        "b": "differs",
        "y": "onpath",
    }
    assert overlay.summary == "largest 1, first divergence b"
    assert (overlay.legend["differs"], overlay.legend["onpath"]) == ("first divergence", "on the path to the output")
    by_name = {op.first_name: highlight for op, highlight in overlay.highlights.items()}
    assert by_name["b"].lines[0] == "first divergence"
    assert "step 2 of 2 from the first divergence to the output" in by_name["y"].lines
    text = svg(draw(program, "net", [_comparison(*values, divergences=(divergence,))]))
    assert text.count('class="differs"') == 2
    assert text.count('class="onpath"') == 2


def test_what_was_not_compared_has_no_colour(program: cir.Module) -> None:
    values = (_value("a", "core.exp", None), _value("b", "core.neg", -math.inf, is_within=False))
    found = _by_name(_only(_comparison(*values), program))
    assert found == {"a": (NO_FIGURE, "not compared", ""), "b": (SCALE[6], "error inf, differs", "")}


def test_stored_values_are_called_by_their_file(program: cir.Module) -> None:
    stored = _comparison(_value("a", "core.exp", 20.0)).replaced(engines=("folder/golden.npz", "numpy"))
    assert _only(stored, program).title == "relative error, numpy against golden.npz"


def test_two_programs_are_both_coloured(program: cir.Module) -> None:
    other = cir.loads(PROGRAM.replace("core.exp", "core.tanh"), format="mlir")
    report = _comparison(_value("a", "core.exp", 20.0, other="core.tanh"), _value("y", "core.add", 30.0))
    overlay = _only(report, program, other)
    assert sorted(op.name for op in overlay.highlights) == ["core.add", "core.add", "core.exp", "core.tanh"]
    drawing = draw_beside(program, other, {}, ("one", "two"), [report])
    assert svg(drawing).count(">error 0.1<") == 2


# -- findings


def test_findings_are_at_their_operations_and_others_above() -> None:
    loop = cir.loads(LOOP, format="mlir")
    inner = "f.operations[2] 'r'.operations[0] 'w'"
    findings = [
        Diagnostic(WRONG_ATTRIBUTE, "one", where=f"{inner}.attributes['fast']", help="mend it"),
        Diagnostic(WRONG_ATTRIBUTE, "two", where=inner),
        Diagnostic(AMBIGUOUS_NAME, "three", where="f"),
        Diagnostic(AMBIGUOUS_NAME, "four", where="f.operations[0]"),
    ]
    overlay = _only(findings, loop)
    ((op, highlight),) = overlay.highlights.items()
    assert (op.name, highlight.text) == ("arith.addf", "2 errors")
    assert highlight.lines == ("error[E0505]: one", "mend it", "error[E0505]: two")
    assert overlay.notes == ("error[E0407]: three", "error[E0407]: four")
    # The box around it says so, too.
    boxes = re.findall(r'<g class="box".*?</g>', svg(draw(loop, "loop", [findings])), re.DOTALL)
    assert [">2 errors<" in box for box in boxes if ">for<" in box or ">addf<" in box] == [True, True]


def test_no_findings_are_an_overlay_of_none(program: cir.Module) -> None:
    saved = draw(program, "net", [[]])
    assert saved.overlays == ("findings: none",)


# -- reports that do not fit


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (_profile(("h", "core.exp", 1e-6, 0)), "the profile of 'main' on numpy names operations"),
        # The name is there, for an operation of another type.
        (_profile(("a", "core.tanh", 1e-6, 0)), "such as a"),
        (_profile(), "the profile of 'main' on numpy has no operations"),
        (ProfileComparison((_profile(engine="iree"),), (), ()), "the profile of 'main' on iree has no operations"),
        (_comparison(_value("h", "core.exp", 1.0)), "the comparison of numpy and iree names operations"),
        ([Diagnostic(WRONG_ATTRIBUTE, "m", where="g.operations[0] 'q'")], r"such as g\.operations\[0\] 'q'"),
    ],
)
def test_a_report_of_another_program_is_refused(program: cir.Module, report: Overlaid, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        overlays_of([report], [program])


def test_lanes_have_no_overlay() -> None:
    with pytest.raises(DiagnosticError, match="the ranks of a program are drawn as lanes"):
        draw(programs.program(programs.exchange(0), programs.exchange(1)), "ranks", [_profile()])


# -- files


def _written(folder: Path, verb: str, result: object, findings: object = ()) -> Path:
    path = folder / "report.json"
    document = {"schema": f"commonir.{verb}/1", "ok": True, "result": result, "diagnostics": findings}
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_reports_are_read_as_they_were_written(program: cir.Module, tmp_path: Path) -> None:
    profile = api.profile(program)
    assert read_report(Profile, json.loads(json.dumps(profile.to_json()))) == profile
    compared = api.compare(program, cir.loads(PROGRAM.replace("core.neg", "core.exp"), format="mlir"))
    assert compared.divergences
    text = json.dumps(compared.to_json()).replace("-Infinity", '"-inf"').replace("Infinity", '"inf"')
    assert read_report(Comparison, json.loads(text)) == compared
    assert read_overlay(_written(tmp_path, "profile", {**profile.to_json(), "by_layer": []})) == profile


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine": 3}, "result.engine: expected a text, found an integer"),
        ({"repeat": 2.5}, "result.repeat: expected an integer, found a number"),
        ({"seconds": True}, "result.seconds: expected a number, found true or false"),
        ({"entries": {}}, "result.entries: expected a list, found an object"),
        ({"entries": [7]}, r"result.entries\[0\]: expected an object, found an integer"),
        ({"entries": [{"name": "a"}]}, r"result.entries\[0\]: 'operation' is missing"),
        ({"peak_values": {"a": None}}, r"result.peak_values\['a'\]: expected an integer, found null"),
    ],
)
def test_a_faulty_report_says_where(change: dict[str, object], message: str) -> None:
    document = json.loads(json.dumps({**_profile().to_json(), **change}))
    with pytest.raises(ReportError, match=message):
        read_report(Profile, document)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("{", "it is not JSON: "),
        ("[1, 2]", "it has no 'schema', with which every report begins"),
        ('{"schema": "commonir.info/1"}', "it is a report of 'commonir.info/1'"),
        ('{"schema": "commonir.profile/1", "result": null}', "result: there is none, because the command failed"),
        ('{"schema": "commonir.profile/1", "result": []}', "result: expected an object, found a list"),
        ('{"schema": "commonir.check/1"}', "diagnostics: expected a list"),
        ('{"schema": "commonir.check/1", "diagnostics": [{}]}', "diagnostics[0]: expected the texts 'code' and"),
        ("\x00\x01", "it is not text"),
        ("", "it is not JSON: "),
    ],
)
def test_another_file_is_refused_with_the_reason(tmp_path: Path, content: str, note: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    with pytest.raises(DiagnosticError) as error:
        read_overlay(path)
    (found,) = error.value.diagnostics
    assert found.code.id == "E0809"
    assert found.notes[0].startswith(note)


def test_of_several_checked_files_the_drawn_one_counts(tmp_path: Path) -> None:
    findings = [
        {"code": code, "message": "m", "severity": "warning", "file": f"models/{file}.onnx", "where": ""}
        for code, file in (("E0505", "a"), ("X0001", "b"))
    ]
    path = _written(tmp_path, "check", {"files": [{"file": "a.onnx"}, {"file": "b.onnx"}]}, findings)
    found = read_overlay(path, "other/b.onnx")
    assert isinstance(found, list)
    # The code of a plugin has the severity that the report states.
    assert [(d.code.id, d.severity.value) for d in found] == [("X0001", "warning")]
    assert len(list(read_overlay(path))) == 2  # type: ignore[arg-type]  findings are a list


# -- colours


def _luminance(color: str) -> float:
    """The relative luminance of WCAG 2.2."""
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a: str, b: str) -> float:
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_steps_differ_in_luminance_and_letters_are_legible(theme: int) -> None:
    fills = [(STYLES[style].fill or ("", ""))[theme] for style in SCALE]
    inks = [(STYLES[f"on-{style}"].fill or ("", ""))[theme] for style in SCALE]
    assert all(_contrast(fill, ink) >= 4.5 for fill, ink in zip(fills, inks, strict=True))
    lights = [_luminance(fill) for fill in fills]
    assert lights == sorted(lights, reverse=theme == 0)
    assert all(_contrast(a, b) > 1.25 for a, b in pairwise(fills))
