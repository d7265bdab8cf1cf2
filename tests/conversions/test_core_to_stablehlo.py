"""Every core operation through the rules to stablehlo: verified here and by IREE, which compiles and runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from commonir.base.diagnostics import DiagnosticError
from commonir.conversions.core_to_stablehlo import core_to_stablehlo
from commonir.dialects import core
from commonir.ir.module import Module
from commonir.ir.operation import Value
from commonir.ir.types import boolean, f8e4m3fn, f32, i32, tensor, u8
from commonir.ods import Dialects
from commonir.passes.lower import lower
from commonir.runtime.interpreter.engine import ENGINE as REFERENCE
from commonir.runtime.numpy_engine.engine import NumpyEngine
from commonir.symbolic import Dim, floor_div, modulo, symbol
from commonir.text.parser import parse_module

from tests.conversions.programs import core_module, running_total, yielding
from tests.conversions.running_mlir import assert_near, joined, text_of, types_of
from tests.dialects.core.test_results import BETWEEN_RANKS, ON_COLLECTIONS, ON_TEXTS
from tests.iree import Compiled
from tests.oracles import oracle
from tests.runtime.cases import CASES as FIRST_CASES
from tests.runtime.drawing import Case
from tests.runtime.sequence_cases import CASES as SEQUENCE_CASES

Array = np.ndarray[Any, Any]

_ALL = {**FIRST_CASES, **SEQUENCE_CASES}
_SEEDS = range(3)
_COMPILED_SEED = 0
_BATCHES_COUNT = 2

# Operations of the core that stablehlo does not say here, with the findings.
REFUSED = {
    "core.random_uniform": "numbers that follow from a seed",
    "core.random_normal": "numbers that follow from a seed",
    "core.decode_image": "not defined in index notation",
    "core.dynamic_resize": "not defined in index notation",
    "core.non_max_suppression": "not defined in index notation",
    "core.region_max_pool": "not defined in index notation",
}
# Operations that become ones whose sizes are operands, which IREE 3.13 has no code for: its verifier accepts them.
NOT_COMPILED = {"core.dynamic_pad": "stablehlo.dynamic_pad", "core.dynamic_reshape": "stablehlo.dynamic_reshape"}
_CONVERTED = sorted(set(_ALL) - set(REFUSED) - set(NOT_COMPILED))
_BATCHES = [_CONVERTED[n::_BATCHES_COUNT] for n in range(_BATCHES_COUNT)]


def check_with_iree(text: str) -> None:
    """Asserts that the stablehlo that IREE has reads and verifies a program."""
    ir = oracle("iree.compiler.ir")
    with ir.Context():
        assert ir.Module.parse(text).operation.verify()


def _wanted(case: Case, module: Module) -> Any:
    return case.expected() if case.expected else list(REFERENCE.prepare(module).run(case.arrays).values())


@pytest.mark.slow
@pytest.mark.parametrize("names", _BATCHES, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_converted_operations_give_the_expected_values_in_iree(names: Sequence[str]) -> None:
    result: dict[str, tuple[Case, Module]] = {}
    texts: list[str] = []
    for name in names:
        case = _ALL[name](np.random.default_rng(_COMPILED_SEED))
        key = name.removeprefix("core.")
        module = core_module(case.build, types_of(case.arrays), name=key)
        texts.append(text_of(core_to_stablehlo(module)))
        result[key] = case, module
    program = Compiled(joined(texts))
    for key, (case, module) in result.items():
        assert_near(program.run(key, list(case.arrays.values())), _wanted(case, module), key)


@pytest.mark.fast_every(3)
@pytest.mark.slow_cases("core.grid_sample", "core.gru", "core.lstm", "core.region_align")
@pytest.mark.parametrize("name", [*_CONVERTED, *NOT_COMPILED])
def test_converted_operation_gives_the_expected_values_by_the_meaning_of_stablehlo(name: str) -> None:
    for seed in _SEEDS:
        case = _ALL[name](np.random.default_rng(seed))
        module = core_module(case.build, types_of(case.arrays))
        try:
            text = text_of(core_to_stablehlo(module))
        except DiagnosticError as error:
            assert _is_refused_use(name, error)
            continue
        lowered = lower(parse_module(text, Dialects()))
        result = NumpyEngine().prepare(lowered).run(case.arrays)
        assert_near(list(result.values()), _wanted(case, module), f"seed {seed}")


def _is_refused_use(name: str, error: DiagnosticError) -> bool:
    """Uses of a converted operation that are refused: padding whose amounts are data and that repeats elements."""
    notes = {note for d in error.diagnostics for note in d.notes}
    return name == "core.dynamic_pad" and "padding whose amounts are data and that repeats elements" in notes


@pytest.mark.parametrize("name", NOT_COMPILED)
def test_operation_on_computed_sizes_is_accepted_by_the_verifier_of_iree(name: str) -> None:
    for seed in _SEEDS:
        case = _ALL[name](np.random.default_rng(seed))
        try:
            text = text_of(core_to_stablehlo(core_module(case.build, types_of(case.arrays))))
        except DiagnosticError as error:
            assert _is_refused_use(name, error)
            continue
        assert NOT_COMPILED[name] in text
        check_with_iree(text)


@pytest.mark.parametrize("name", REFUSED)
def test_operation_without_a_form_is_refused_by_name(name: str) -> None:
    case = _ALL[name](np.random.default_rng(0))
    with pytest.raises(DiagnosticError) as caught:
        core_to_stablehlo(core_module(case.build, types_of(case.arrays)))
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.message) == ("E0601", f"{name} cannot be expressed in stablehlo")
    assert any(REFUSED[name] in note for note in diagnostic.notes)


def test_dims_of_a_refused_operation_are_not_reported_again() -> None:
    build = lambda x: core.exp(core.abs(core.unique(x)[0]))  # noqa: E731
    with pytest.raises(DiagnosticError) as caught:
        core_to_stablehlo(core_module(build, {"x": tensor(f32, 4)}))
    assert [d.message for d in caught.value.diagnostics] == ["core.unique cannot be expressed in stablehlo"]


_STRUCTURAL = {"core.if", "core.while", "core.call", "core.yield", "core.require", *BETWEEN_RANKS}
_BELOW = {"core.bit_cast", "core.narrow_cast", "core.complex", "core.real", "core.imag"}
_NEVER = {
    *ON_TEXTS, *ON_COLLECTIONS,  # MLIR has no tensors of texts, no lists and no maps
    "core.unique", "core.det", "core.eigh", "core.svd", "core.pairwise_coupling",
}  # fmt: skip
_OF_KNOWN_TABLES = {"core.lookup", "core.tree_ensemble"}  # in test_learning_to_mlir


def test_every_core_operation_has_a_case_or_is_named() -> None:
    named = {*_CONVERTED, *REFUSED, *NOT_COMPILED, *_STRUCTURAL, *_BELOW, *_NEVER, *_OF_KNOWN_TABLES}
    assert set(core.DIALECT.operations) == named, "add a case to tests/runtime/cases.py"


# -- several programs are compiled as one

_N, _M = symbol("n"), symbol("m")
_ROWS: list[tuple[Dim, int]] = [
    (_N, 7),
    (_N + 3, 10),
    (_N * _M - 2, 19),
    (floor_div(_N + 1, 2), 4),
    (floor_div(_N - 10, 4), -1),
    (modulo(_N - 10, 4), 1),
    (5, 5),
    (3 - _N, -4),
]


def _choice(c: Value, x: Value) -> Sequence[Value]:
    then, orelse = yielding(lambda: [core.neg(x)]), yielding(lambda: [core.add(x, core.splat(1.0, x))])
    return core.if_(c, then, orelse)


def _loop(limit: Value, x: Value) -> Sequence[Value]:
    types = tensor(i32), tensor(f32)
    condition = yielding(lambda n, _: [core.less(n, limit)], *types)
    body = yielding(lambda n, v: [core.add(n, core.splat(1, n)), core.add(v, v)], *types)
    return core.while_((core.scalar(0, i32), x), condition, body)


def _bits(x: Value, z: Value, u: Value) -> Sequence[Value]:
    squared = core.mul(core.make_complex(z, z), core.make_complex(z, z))
    return core.bit_cast(x, i32), core.real(squared), core.imag(squared), core.div(u, core.splat(3, u))


def _products(x: Value, w: Value) -> Sequence[Value]:
    y = core.softmax(core.matmul(x, w), -1)
    return core.pad(y, (1, 0), (0, 2)), core.reduce_sum(y, (0,)), core.concat((y, y), 0)


_SLICES = (slice(None, None, 2), slice(-3, None, None), slice(1, -1, 3), slice(None, None, -1), slice(None, -4, 2))


def _slices(x: Value) -> Sequence[Value]:
    most = 2**63 - 1
    results: list[Value] = []
    for s in _SLICES:
        step = s.step or 1
        first, last = (0, most) if step > 0 else (-1, -most)
        starts, stops = (0, first if s.start is None else s.start), (most, last if s.stop is None else s.stop)
        results.append(core.slice(x, starts, stops, (1, step)))
    return results


@pytest.fixture(scope="module")
def program() -> Compiled:
    open_ = {"x": tensor(f32, _N, _M), "w": tensor(f32, _M, 3)}
    built = {
        "sizes": core_module(lambda x: core.dims(tuple([d for d, _ in _ROWS])), {"x": tensor(f32, _N, _M)}),
        "products": core_module(_products, open_),
        "slices": core_module(_slices, {"x": tensor(f32, _N, _M)}),
        "choice": core_module(_choice, {"c": tensor(boolean), "x": tensor(f32, 2)}),
        "loop": core_module(_loop, {"limit": tensor(i32), "x": tensor(f32)}),
        "places": core_module(lambda x: [core.arg_max(x, 1), core.arg_min(x, 1)], {"x": tensor(f32, 4, 4)}),
        "bits": core_module(_bits, {"x": tensor(f32, 3), "z": tensor(f32, 2), "u": tensor(u8, 2)}),
    }
    texts = [text_of(core_to_stablehlo(m)).replace("@main", f"@{name}") for name, m in built.items()]
    for text in texts:
        check_with_iree(text)
    return Compiled(joined(texts))


@pytest.mark.slow
def test_sizes_that_are_expressions_are_computed_from_those_of_inputs(program: Compiled) -> None:
    (result,) = program.run("sizes", [np.zeros((7, 3), np.float32)])
    assert result.tolist() == [expected for _, expected in _ROWS]


def test_program_of_symbolic_sizes_runs_for_several(program: Compiled) -> None:
    for n, m in ((2, 3), (1, 5), (4, 1)):
        r = np.random.default_rng(n)
        x, w = r.standard_normal((n, m)).astype(np.float32), r.standard_normal((m, 3)).astype(np.float32)
        powers = np.exp(x @ w)
        y = powers / powers.sum(-1, keepdims=True)
        result = program.run("products", [x, w])
        assert_near(result, [np.pad(y, ((1, 0), (0, 2))), y.sum(0), np.concatenate([y, y])])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_slices_of_an_axis_of_open_size_stay_inside_of_it(program: Compiled, size: int) -> None:
    x = np.arange(2 * size, dtype=np.float32).reshape(2, size)
    assert_near(program.run("slices", [x]), [x[:, s] for s in _SLICES])


def test_if_runs_the_branch_of_its_condition(program: Compiled) -> None:
    x = np.array([1, 2], np.float32)
    assert_near(program.run("choice", [np.array(True), x]), [-x])
    assert_near(program.run("choice", [np.array(False), x]), [x + 1])


@pytest.mark.parametrize(("limit", "expected"), [(3, (3, 8.0)), (0, (0, 1.0))])
def test_while_asks_its_condition_before_each_round(program: Compiled, limit: int, expected: tuple[int, float]) -> None:
    result = program.run("loop", [np.array(limit, np.int32), np.array(1, np.float32)])
    assert tuple(v.item() for v in result) == expected


def test_nan_is_extreme_only_if_it_is_first(program: Compiled) -> None:
    nan, inf = np.nan, np.inf
    x = np.array([[1, nan, 3, 2], [nan, 5, 1, 9], [-inf, nan, -inf, nan], [inf, nan, inf, 4]], np.float32)
    largest, smallest = program.run("places", [x])
    # As onnxruntime's ArgMax and ArgMin.
    assert (largest.tolist(), smallest.tolist()) == ([2, 0, 0, 0], [0, 0, 0, 3])


def test_bits_complex_and_unsigned_numbers_are_kept(program: Compiled) -> None:
    x, z = np.array([1.0, -2.5, np.inf], np.float32), np.array([1.0, 2.0], np.float32)
    result = program.run("bits", [x, z, np.array([250, 7], np.uint8)])
    assert result[0].tolist() == x.view(np.int32).tolist()
    assert_near(result[1:3], [np.zeros(2, np.float32), 2 * z * z])
    assert result[3].view(np.uint8).tolist() == [83, 2]


def test_unknown_size_is_refused() -> None:
    with pytest.raises(DiagnosticError) as caught:
        core_to_stablehlo(core_module(lambda x: core.dims((_M,)), {"x": tensor(f32, _N)}))
    (diagnostic,) = caught.value.diagnostics
    assert "no input has the dimension 'm' as the size of an axis" in diagnostic.notes


def test_states_are_globals() -> None:
    module = running_total()
    check_with_iree(text_of(core_to_stablehlo(module)))


# -- what is written


def _operations(build: Any, **types: Any) -> list[str]:
    function = core_to_stablehlo(core_module(build, types)).main
    skipped = {"stablehlo.constant", "func.return"}
    return [op.name for op in function.body.operations if op.name not in skipped]


def test_operations_have_counterparts() -> None:
    x, y = tensor(f32, 2, 3), tensor(f32, 3, 4)
    assert _operations(core.matmul, x=x, y=y) == ["stablehlo.dot_general"]
    assert _operations(lambda x: core.reduce_sum(x, (1,)), x=x) == ["stablehlo.reduce"]
    assert _operations(lambda x: core.add(x, core.splat(1.0, x)), x=x) == [
        "stablehlo.broadcast_in_dim",
        "stablehlo.add",
    ]
    assert _operations(lambda x: core.reshape(x, (6,)), x=x) == ["stablehlo.reshape"]
    assert _operations(core.erf, x=x) == ["chlo.erf"]
    assert _operations(core.sigmoid, x=x) == ["stablehlo.logistic"]


def test_sums_of_floats_of_8_bits_are_formed_in_single_precision() -> None:
    """As the core says it: of 16 and four ones, sums of 8 bits would be 16 and not 20."""

    def build(x: Value) -> tuple[Value, ...]:
        return core.reduce_sum(x, (0,)), core.reduce_mean(x, (0,)), core.cumsum(x, 0), core.matmul(x, x)

    function = core_to_stablehlo(core_module(build, {"x": tensor(f8e4m3fn, 5)})).main
    summing = {"stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.dot_general"}
    sums = [op for op in function.body.operations if op.name in summing]
    assert len(sums) == 4
    assert {str(op.results[0].type) for op in sums} == {"tensor<f32>", "tensor<5xf32>", "tensor<1x1xf32>"}
    assert {str(v.type) for v in function.outputs} == {"tensor<f8E4M3FN>", "tensor<5xf8E4M3FN>"}


def test_names_of_inputs_and_outputs_are_kept() -> None:
    converted = core_to_stablehlo(core_module(core.neg, {"image": tensor(f32, 2)}, ["logits"]))
    assert [v.name for v in converted.main.inputs] == ["image"]
    assert converted.main.output_names == ("logits",)
