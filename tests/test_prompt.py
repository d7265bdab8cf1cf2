"""Objects at a prompt and in notebooks: `repr`, tables in HTML, names, completion, arguments of another type."""

from __future__ import annotations

import copy
import inspect
import traceback
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.api import default_engine, engine_for_one_run
from commonir.dialects.onnx import Concat
from commonir.ods.terms import term

_TEXT = """
func.func @main(%image: tensor<2xf32>, %scale: tensor<2xf32>) -> (tensor<2xf32> {commonir.name = "y"}) {
  %0 = arith.addf %image, %scale : tensor<2xf32>
  %1 = arith.mulf %0, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @other(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
"""


@pytest.fixture(scope="module")
def program() -> cir.Module:
    return cir.loads(_TEXT, format="mlir")


@pytest.fixture(scope="module")
def shown(program: cir.Module) -> list[Any]:
    """The objects that users see."""
    function = program.functions["main"]
    inputs = {"image": np.ones(2, np.float32), "scale": np.ones(2, np.float32)}
    operation = next(function.body.operations)
    reports = [cir.summarize(program), cir.compare(program, program, inputs), cir.diff(program, program)]
    return [program, function, operation, operation.result, cir.profile(program, inputs, repeat=1), *reports]


class _Elements(HTMLParser):
    """Checks that elements are closed in order, and collects their texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_prompt_completes_names_between_brackets(program: cir.Module) -> None:
    assert program.inputs._ipython_key_completions_() == ["image", "scale"]
    assert program.functions["main"].outputs._ipython_key_completions_() == ["result0"]


def test_empty_bytes_are_refused_as_a_program() -> None:
    with pytest.raises(cir.DiagnosticError, match="the file is empty"):
        cir.loads(b"", format="onnx")
    with pytest.raises(cir.DiagnosticError, match="Git LFS pointer"):
        cir.loads(b"version https://git-lfs.github.com/spec/v1\nsize 3\n", format="onnx")
    assert cir.loads("", format="mlir").functions == {}


def test_lists_of_entries_are_tables(program: cir.Module) -> None:
    entries = cir.shapes(program)
    assert repr(entries) == "<5 ShapeEntries: image, scale, a>"
    assert str(entries[:2]) == (
        "function  name   operation  type\n"
        "main      image  input      tensor<2xf32>\n"
        "main      scale  input      tensor<2xf32>"
    )
    assert _Elements(entries._repr_html_()).texts[:4] == ["function", "name", "operation", "type"]
    summary = cir.summarize(program)
    assert repr(summary.functions) == "<2 FunctionSummaries: main, other>"
    assert summary.files == ()
    assert [entry.name for entry in entries[3:]] == ["", "a"]


def test_repr_is_one_short_line_that_names_the_kind_of_object(shown: list[Any]) -> None:
    for value in shown:
        assert "\n" not in repr(value)
        assert len(repr(value)) <= 100
        assert " object at 0x" not in repr(value)


def test_repr_has_the_key_facts(program: cir.Module, shown: list[Any]) -> None:
    assert repr(program) == "<Module of 2 functions: main, other>"
    assert repr(program.functions["other"]).startswith("<func.func other(a: tensor<2xf32>) -> (")
    assert repr(next(program.functions["main"].body.operations)) == "<%_ = arith.addf(%image, %scale): tensor<2xf32>>"
    assert repr(program.inputs["image"]) == "<value %image: tensor<2xf32>>"
    assert "agree" in repr(next(v for v in shown if isinstance(v, cir.Comparison)))


def test_html_of_every_object_is_well_formed_escaped_and_without_colors(shown: list[Any]) -> None:
    for value in shown:
        text = value._repr_html_()
        elements = _Elements(text)
        assert elements.tags <= {"b", "code", "div", "pre", "table", "td", "th", "tr"}
        assert "color" not in text
        assert len(text) < 20_000


def test_ipython_formats_every_object_as_html_and_text(shown: list[Any]) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    for value in shown:
        data, _ = formatters.DisplayFormatter().format(value, include=["text/plain", "text/html"])
        assert data["text/plain"] == repr(value)
        assert data["text/html"] == value._repr_html_()


def test_names_of_a_file_are_escaped_in_html() -> None:
    text = cir.loads(_TEXT.replace("@other", '@"<script>"'), format="mlir")._repr_html_()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text


def test_str_of_a_report_is_what_the_command_prints(shown: list[Any]) -> None:
    comparison = next(v for v in shown if isinstance(v, cir.Comparison))
    assert str(comparison).splitlines()[0].startswith(f"{ENGINE} against {ENGINE}: ")
    summary = next(v for v in shown if isinstance(v, cir.Summary))
    assert "function main" in str(summary)


def test_inputs_outputs_and_functions_are_found_by_position_and_name(program: cir.Module) -> None:
    assert program.inputs["scale"] is program.inputs[1]
    assert program.outputs[program.main.output_names[0]] is program.outputs[0]
    assert program.functions["main"].inputs["image"] is program.inputs[0]
    assert program.inputs[:1] == (program.inputs[0],)


def test_a_wrong_name_suggests_the_nearest(program: cir.Module) -> None:
    with pytest.raises(KeyError, match="did you mean 'image'"):
        program.inputs["imgae"]
    with pytest.raises(KeyError, match="the names are image, scale"):
        program.inputs["qqqq"]
    with pytest.raises(KeyError, match="did you mean 'main'"):
        program.functions["mian"]


def test_completion_offers_what_users_need(program: cir.Module) -> None:
    operation = next(program.main.body.operations)
    assert {"lhs", "rhs", "operands", "results", "name"} <= set(dir(operation))
    assert {"functions", "inputs", "outputs", "main", "walk"} <= set(dir(program))
    assert {"type", "users", "name"} <= set(dir(program.inputs[0]))
    for value in (program, operation, program.inputs[0]):
        assert len(dir(value)) < 40
        assert all(hasattr(type(value), name) or hasattr(value, name) for name in dir(value) if name != "result")


def test_types_of_findings_and_results_are_public() -> None:
    names = {"Code", "Comparison", "Diagnostic", "Differences", "Function", "Operation", "Profile", "Severity"}
    assert {*names, "State", "Summary", "TensorType", "Type", "Value", "View"} <= set(dir(cir))
    assert cir.Severity.ERROR.value == "error"


ENGINE = engine_for_one_run()

PROGRAM_FUNCTIONS = sorted(
    name
    for name in dir(cir)
    if inspect.isfunction(function := getattr(cir, name))
    and next(iter(inspect.signature(function).parameters), "") in ("module", "a")
    # It takes a path too, whose compiled code may be in the cache.
    and name != "prepare"
)


@pytest.mark.parametrize("name", PROGRAM_FUNCTIONS)
def test_functions_of_programs_refuse_paths_and_say_how_to_load(name: str) -> None:
    function = getattr(cir, name)
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    arguments = ["m.onnx"] * sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in required)
    keywords = {p.name: 0 for p in required if p.kind is p.KEYWORD_ONLY}
    with pytest.raises(
        TypeError, match=rf"commonir.{name}: .* found a path: load it first, with commonir.load\('m.onnx'\)"
    ):
        function(*arguments, **keywords)


def test_all_functions_that_take_a_program_are_tested() -> None:
    assert {"run", "verify", "convert", "save", "dumps", "compare", "diff", "show", "view"} <= set(PROGRAM_FUNCTIONS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2],), "'inputs' takes a dictionary or None, found [1, 2]"),
        (({}, 3), "takes from 1 to 2 positional arguments but 3 were given"),
    ],
)
def test_wrong_arguments_of_run(program: cir.Module, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        cir.run(program, *arguments)
    assert message in str(caught.value)


def test_wrong_named_argument_says_what_it_takes(program: cir.Module) -> None:
    with pytest.raises(TypeError, match=r"commonir.run: 'engine' takes a string or None, found 3"):
        cir.run(program, engine=3)  # pyright: ignore[reportArgumentType]  the case
    with pytest.raises(TypeError, match=r"commonir.load: 'path' takes a path or a list, found None"):
        cir.load(None)  # pyright: ignore[reportArgumentType]  the case


def test_wrong_value_of_a_name_says_what_it_takes(program: cir.Module) -> None:
    with pytest.raises(TypeError) as caught:
        cir.edit(program, metadata={"author": 3})  # pyright: ignore[reportArgumentType]  the case
    expected = "'metadata' takes a dictionary with a string for each name or None, found {'author': 3}"
    assert str(caught.value) == f"commonir.edit: {expected}"
    with pytest.raises(TypeError, match="'rtol' takes a number, a dictionary with a number for each name or None"):
        cir.compare(program, program, rtol={"y": "1"})  # pyright: ignore[reportArgumentType]  the case
    assert repr(cir.prepare(program)) == f"<executable main on {default_engine()}>"


class _Tensor:
    """A tensor that numpy reads as it reads those of torch."""

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        del dtype, copy
        return np.array([1.0, 2.0], np.float32)


@pytest.mark.parametrize(
    "value",
    [[1, 2], (1.0, 2.0), np.array([1.0, 2.0]), np.array([1, 2]), _Tensor()],
    ids=["list", "tuple", "f64", "i64", "tensor"],
)
def test_lists_arrays_of_other_dtypes_and_tensors_are_inputs(program: cir.Module, value: Any) -> None:
    (y,) = cir.run(program, {"image": value, "scale": [0, 0]}).values()
    np.testing.assert_array_equal(y, [1.0, 4.0])


def test_what_is_not_an_array_is_reported(program: cir.Module) -> None:
    with pytest.raises(cir.DiagnosticError, match="input 'image': numpy cannot convert it to an array"):
        cir.run(program, {"image": [[1], [2, 3]]})
    with pytest.raises(cir.DiagnosticError, match="expected element type f32, found a Python NoneType"):
        cir.run(program, {"image": [None, None]})


def test_function_is_shown_by_its_interface_and_an_operation_by_its_fields(program: cir.Module) -> None:
    function: Any = program.functions["main"]
    texts = _Elements(function._repr_html_()).texts
    assert texts[0] == "func.func main"
    assert "2 operations" in texts, "the terminator computes nothing"
    first = next(function.body.operations)
    texts = _Elements(first._repr_html_()).texts
    assert texts[:8] == ["arith.addf", "name", "value", "type", "operand", "lhs", "%image", "tensor<2xf32>"]
    assert texts[-4:] == ["result", "result", "%_", "tensor<2xf32>"]


def test_repr_keeps_the_type_of_an_operation_with_many_operands(program: cir.Module) -> None:
    x = program.functions["main"].inputs[0]
    assert repr(Concat((x,) * 40, axis=0)) == ("<%_ = onnx.Concat(" + "%image, " * 7 + "...): tensor<80xf32>>")


def test_copies_are_deep_and_independent(program: cir.Module) -> None:
    for copied in (copy.copy(program), copy.deepcopy(program)):
        assert str(copied) == str(program)
        assert copied.main is not program.main
        assert copied.main.body.parent is not None
        assert copied.main.body.parent.parent is copied.main
        assert program.main.body.parent is not None
        assert program.main.body.parent.parent is program.main
    type = program.main.inputs[0].type
    assert copy.copy(type) is copy.deepcopy(type) is type
    with pytest.raises(TypeError, match=r"cannot be pickled: `commonir\.dumps` and `commonir\.save` write it"):
        program.__reduce__()


def _frames(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_error_of_the_input_shows_the_call_and_no_frames_of_the_package(program: cir.Module) -> None:
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.load("missing.onnx")
    assert _frames(caught.value) == [inspect.stack()[0].function, "call"]
    assert caught.value.__cause__ is None
    with pytest.raises(cir.DiagnosticError) as caught:
        cir.run(program, {"imgae": [1, 2]})
    assert len(_frames(caught.value)) == 2


def test_other_objects_than_rules_and_passes_are_type_errors(program: cir.Module) -> None:
    with pytest.raises(TypeError, match=r"a rule is `term\(\.\.\.\) >> term\(\.\.\.\)`, found 1"):
        cir.optimize(program, rules=[1])  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="a pass is a name or a `Pass`, found 1"):
        cir.optimize(program, passes=[1])  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        TypeError, match=r"term takes the class of an operation, such as `onnx\.Relu`, found 'onnx\.Relu'"
    ):
        term("onnx.Relu")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("value", "name", "message"),
    [
        (
            "cat.png",
            "scale",
            r"found !builtin\.string\n.*pass an array of numbers; `commonir\.read_image` reads an image",
        ),
        (None, "scale", "found a Python NoneType\n.*pass an array of numbers"),
        (1, "zebra", "no input 'zebra'\n.*the inputs are 'image' and 'scale'"),
    ],
)
def test_inputs_other_than_arrays_say_what_to_pass(program: cir.Module, value: object, name: str, message: str) -> None:
    with pytest.raises(cir.DiagnosticError, match=message):
        cir.run(program, {name: value})  # pyright: ignore[reportArgumentType]


def test_misspelt_format_of_a_conversion_gets_a_suggestion(program: cir.Module) -> None:
    with pytest.raises(cir.DiagnosticError, match=r"no conversion leads to 'onxn'\n.*did you mean 'onnx'\?"):
        cir.convert(program, "onxn")
