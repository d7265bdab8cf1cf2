"""The shape examples of the Common IR specification, each from the command line.

Each is the signature of an operator, of a graph and of a function: sizes that it allows pass, those that it does not
are found before running and while running, its facts about the result are inferred, and it is printed as written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from commonir.cli.main import main

Dims = list[int | str]


class Example(NamedTuple):
    """Shapes of operands, and of a result; sizes that fit with what the result is then, and sizes that do not fit."""

    operands: list[Dims]
    result: Dims
    fits: list[list[int]]
    inferred: str
    contradicts: list[list[int]]


# "tensor shapes" of the specification, from its first example to its last one. What each means is said there in words.
EXAMPLES = {
    "a 100x100 matrix": Example([[100, 100]], [100, 100], [[100, 100]], "tensor<100x100xf32>", [[100, 99]]),
    "a scalar": Example([[]], [], [[]], "tensor<f32>", [[1]]),
    "an NxM matrix": Example([["N", "M"]], ["N", "M"], [[2, 3]], "tensor<2x3xf32>", [[2, 3, 4]]),
    "a matrix product": Example(
        [["K", "M"], ["M", "N"]], ["K", "N"], [[2, 3], [3, 4]], "tensor<2x4xf32>", [[2, 3], [2, 3]]
    ),
    "integers and variables": Example([[3, "n"]], ["n", 3], [[3, 5]], "tensor<5x3xf32>", [[4, 5]]),
    "zero or more dimensions": Example([["*"], ["*"]], ["*"], [[2], [3, 4]], "tensor<*xf32>", []),
    "one or more dimensions": Example([["n", "*"]], ["n"], [[4, 5, 6]], "tensor<4xf32>", [[]]),
    "the same shape": Example([["m*"], ["m*"]], ["m*"], [[2, 3], [2, 3]], "tensor<2x3xf32>", [[2, 3], [2, 3, 1]]),
    "one fewer dimension": Example(
        [["n", "m*"], ["m*"]], ["n"], [[4, 2, 3], [2, 3]], "tensor<4xf32>", [[4, 2, 3], [4, 2]]
    ),
    "last and first dimension": Example(
        [["*", "n"], ["n", "*"]], ["n"], [[2, 3], [3, 4, 5]], "tensor<3xf32>", [[2, 3], [2, 3]]
    ),
}
WRONG = [name for name, example in EXAMPLES.items() if example.contradicts]
NAMES = ("a", "b")
HEAD = {"ir_version": 10, "domain": "com.example", "model_version": 1, "common_ir_version": 1}
OPSETS = [{"domain": "", "version": 22}]


def value(name: str, dims: Dims | list[int]) -> dict[str, Any]:
    sizes = [{"dim_value": d} if isinstance(d, int) else {"dim_param": d} for d in dims]
    return {"name": name, "type": {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": sizes} if sizes else {}}}}


def values(dims: list[Dims] | list[list[int]]) -> list[dict[str, Any]]:
    return [value(name, d) for name, d in zip(NAMES, dims, strict=False)]


def text(dims: Dims) -> str:
    return f"f32[{', '.join(map(str, dims))}]"


def model(inputs: list[Dims] | list[list[int]], output: Dims, node: dict[str, Any], **graph: Any) -> str:
    Path("m.cir.json").write_text(
        json.dumps(
            {
                "ModelProto": {
                    **HEAD,
                    "opset_import": OPSETS,
                    "graph": {
                        "node": [{"name": "node", "output": ["c"], **node}],
                        "name": "g",
                        "doc_string": "A graph.",
                        "input": values(inputs),
                        "output": [value("c", output)],
                        **graph,
                    },
                }
            }
        )
    )
    return "m.cir.json"


def with_operator(example: Example, sizes: list[list[int]]) -> str:
    """A graph with inputs of some sizes, and a node of an operator that declares the shapes of the example."""
    signature = {"input_params": values(example.operands), "output_params": [value("c", example.result)]}
    operator = {"name": "Op", "signature": [signature], "doc_string": "An operator."}
    names = list(NAMES[: len(sizes)])
    node = {"input": names, "op_type": "Op", "input_arg_count": [1] * len(sizes)}
    return model(sizes, ["*"], node, operator=[operator])


def with_function(example: Example, sizes: list[list[int]]) -> str:
    """The same with a function of that signature, which returns its first parameter."""
    function = {
        "name": "Op",
        "input_params": values(example.operands),
        "output_params": [value("c", example.operands[0])],
        "node": [{"input": ["a"], "output": ["c"], "name": "inner", "op_type": "Identity"}],
        "doc_string": "A function.",
        "opset_import": OPSETS,
    }
    names = list(NAMES[: len(sizes)])
    node = {"input": names, "op_type": "Op", "input_arg_count": [1] * len(sizes)}
    return model(sizes, ["*"], node, function=[function])


def with_signature(example: Example) -> str:
    """A graph with the signature of the example, which returns its first input."""
    return model(example.operands, example.operands[0], {"input": ["a"], "op_type": "Identity"})


class Done(NamedTuple):
    status: int
    result: Any
    codes: set[str]


@pytest.fixture
def cir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        status = main([*arguments, "--json"])
        document = json.loads(capsys.readouterr().out)
        return Done(status, document["result"], {d["code"] for d in document["diagnostics"]})

    return run


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_operator_of_the_example_verifies_and_its_result_is_inferred(cir: Any, name: str) -> None:
    example = EXAMPLES[name]
    path = with_operator(example, example.fits)
    assert cir("check", path) == Done(0, cir("check", path).result, set())
    shapes = {entry["name"]: entry["type"] for entry in cir("shapes", path).result}
    # An output that is declared as `[*]` is shown so where its rank stays unknown.
    assert shapes["c"] == ("f32[*]" if example.inferred == "tensor<*xf32>" else example.inferred)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("make", [with_operator, with_function])
def test_sizes_that_contradict_the_example_are_found(cir: Any, make: Any, name: str) -> None:
    example = EXAMPLES[name]
    done = cir("check", make(example, example.contradicts))
    assert done.status == 1
    assert done.codes <= {"E0503", "E0504"}
    assert done.codes


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_function_of_the_example_runs(cir: Any, name: str) -> None:
    example = EXAMPLES[name]
    done = cir("run", with_function(example, example.fits))
    assert (done.status, done.codes) == (0, set())
    assert done.result["outputs"][0]["shape"] == example.fits[0]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_is_printed_as_it_was_written(cir: Any, name: str) -> None:
    example = EXAMPLES[name]
    has_wildcard = any(isinstance(d, str) and d.endswith("*") for dims in example.operands for d in dims)
    entry = cir("info", with_signature(example)).result["functions"][0]
    if has_wildcard:
        assert [port["type"] for port in entry["inputs"]] == [text(dims) for dims in example.operands]
    cir("convert", "m.cir.json", "-o", "n.cir")
    cir("convert", "n.cir", "-o", "n.cir.json")
    again = json.loads(Path("n.cir.json").read_text())["ModelProto"]["graph"]
    assert again["input"] == values(example.operands)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_graph_with_the_signature_takes_sizes_that_fit(cir: Any, name: str) -> None:
    example = EXAMPLES[name]
    inputs = [f"{n}=f32{sizes}:ones" for n, sizes in zip(NAMES, example.fits, strict=False)]
    done = cir("run", with_signature(example), *inputs)
    assert (done.status, done.codes) == (0, set())


@pytest.mark.parametrize("name", WRONG)
def test_a_graph_with_the_signature_refuses_sizes_that_contradict_it(cir: Any, name: str) -> None:
    example = EXAMPLES[name]
    inputs = [f"{n}=f32{sizes}:ones" for n, sizes in zip(NAMES, example.contradicts, strict=False)]
    done = cir("run", with_signature(example), *inputs)
    # Sizes of a dimension that has one name in several types are E0707.
    assert (done.status, done.codes) == (2, {"E0707" if name == "a matrix product" else "E0703"})


@pytest.mark.parametrize("name", EXAMPLES)
def test_random_inputs_have_shapes_that_the_signature_allows(cir: Any, name: str) -> None:
    done = cir("run", with_signature(EXAMPLES[name]))
    assert (done.status, done.codes) == (0, set())


def test_the_shape_of_a_random_input_follows_from_one_that_is_given(cir: Any) -> None:
    path = with_signature(Example([["n", "m*"], ["m*"]], [], [], "", []))
    done = cir("run", path, "b=f32[5,6]:ones")
    assert done.result["outputs"][0]["shape"] == [4, 5, 6]


def test_sizes_in_types_with_wildcards_can_be_chosen(cir: Any) -> None:
    path = with_signature(Example([["*", "n"], ["n", "*"]], [], [], "", []))
    assert cir("run", path, "--set", "n=7").result["outputs"][0]["shape"] == [4, 7]
    assert cir("run", path, "--set", "k=7").codes == {"E0712"}


def test_a_conversion_says_that_a_declared_type_is_lost(cir: Any) -> None:
    done = cir("convert", with_signature(EXAMPLES["the same shape"]), "-o", "o.onnx")
    assert done.status == 0
    assert done.codes == {"W0601"}
