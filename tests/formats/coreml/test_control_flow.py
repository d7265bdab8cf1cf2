"""Programs with nested blocks, lists and custom layers as coremltools makes them, read, run and converted to ONNX.

Expected values are those of torch and of coremltools' tests, or written out.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import commonir as cir
from commonir.ir.module import Module
from commonir.passes.lower import lower

from tests.conversions.running import converted, run_onnx
from tests.dialects.mil.single_operations import ENGINES
from tests.oracles import oracle

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    logging.getLogger("coremltools").setLevel(logging.CRITICAL)
    ct = oracle("coremltools")
    from coremltools.converters.mil.mil import Builder

mb: Any = Builder
Array = np.ndarray[Any, Any]


def f32(*values: object) -> Array:
    return np.array(values, np.float32)


def built(tmp_path: Path, build: Callable[..., Any], shapes: Sequence[tuple[int, ...]], target: str) -> Module:
    """A program of coremltools' builder, without passes."""
    opset = getattr(ct.target, target)
    specs = [mb.TensorSpec(shape) for shape in shapes]
    return _loaded(
        tmp_path,
        mb.program(input_specs=specs, opset_version=opset)(build),
        source="milinternal",
        pass_pipeline=ct.PassPipeline.EMPTY,
        minimum_deployment_target=opset,
    )


def scripted(tmp_path: Path, network: Any, inputs: list[Any]) -> Module:
    """A network with control flow of its own, by torch.jit.script."""
    torch = oracle("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = torch.jit.script(network.eval())
    return _loaded(tmp_path, script, inputs=inputs, minimum_deployment_target=ct.target.iOS17)


def _loaded(tmp_path: Path, program: object, **how: Any) -> Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ct.convert(
            program,
            convert_to="mlprogram",
            compute_precision=ct.precision.FLOAT32,
            skip_model_load=True,
            **how,
        )
        model.save(str(tmp_path / "model.mlpackage"))
    return cir.load(tmp_path / "model.mlpackage")


def agree(module: Module, inputs: Sequence[Array], expected: Sequence[Array]) -> None:
    """Both engines and the converted program give what is wanted."""
    feeds = {v.name: x for v, x in zip(module.main.inputs, inputs, strict=True)}
    lowered = lower(module)
    result = {name: list(engine.prepare(lowered).run(feeds).values()) for name, engine in ENGINES.items()}
    result["onnx"] = run_onnx(converted(lowered), feeds)
    for name, values in result.items():
        for value, theirs in zip(values, expected, strict=True):
            assert value.shape == theirs.shape, name
            np.testing.assert_allclose(value, theirs, rtol=1e-5, atol=1e-6, err_msg=name)


# -- lists


@pytest.mark.slow
def test_lists_grow_with_zeros(tmp_path: Path) -> None:
    def build(a: Any, b: Any) -> Any:
        ls = mb.make_list(init_length=2, elem_shape=(2,))
        first = mb.list_read(ls=ls, index=0)
        ls = mb.list_write(ls=ls, index=0, value=a)
        ls = mb.list_write(ls=ls, index=4, value=b)
        ls = mb.list_scatter(ls=ls, indices=[2, 1], value=f32([-1, -2], [-4, -5]))
        return (
            mb.identity(x=first), mb.list_read(ls=ls, index=0), mb.list_gather(ls=ls, indices=[4, 2, 3]),
            mb.list_length(ls=ls),
        )  # fmt: skip

    module = built(tmp_path, build, [(2,), (2,)], "iOS15")
    expected = [f32(0, 0), f32(1, 3), f32([2, 4], [-1, -2], [0, 0]), np.array(5)]
    agree(module, [f32(1, 3), f32(2, 4)], expected)


@pytest.mark.slow
@pytest.mark.parametrize("elements", [(2,), ("some_size",)], ids=["known", "unknown"])
@pytest.mark.parametrize("rounds", [3, 0])
def test_list_that_a_loop_appends_to(rounds: int, elements: tuple[int | str, ...], tmp_path: Path) -> None:
    def body(i: Any, count: Any, ls: Any, update: Any) -> Any:
        new = mb.mul(x=update, y=mb.cast(x=i, dtype="fp32"))
        return mb.add(x=i, y=1), count, mb.list_write(ls=ls, index=i, value=new), update

    def condition(i: Any, count: Any, ls: Any, update: Any) -> Any:
        return mb.squeeze(x=mb.less(x=mb.cast(x=i, dtype="fp32"), y=count))

    def build(count: Any, update: Any) -> Any:
        ls = mb.make_list(init_length=1, elem_shape=elements)
        ls = mb.while_loop(_cond=condition, _body=body, loop_vars=(0, count, ls, update))[2]
        return mb.list_gather(ls=ls, indices=mb.range_1d(start=0, end=mb.list_length(ls=ls), step=1))

    module = built(tmp_path, build, [(1,), (2,)], "iOS15")
    size = 0 if rounds == 0 and elements == ("some_size",) else 2
    expected = f32([0, 0], [1, 2], [2, 4])[: max(rounds, 1), :size]
    agree(module, [f32(rounds), f32(1, 2)], [expected])


@pytest.mark.slow
def test_list_of_fixed_length_does_not_grow(tmp_path: Path) -> None:
    def build(a: Any) -> Any:
        ls = mb.make_list(init_length=2, elem_shape=(2,), dynamic_length=False)
        return mb.list_read(
            ls=mb.list_write(ls=ls, index=mb.cast(x=mb.reduce_sum(x=a), dtype="int32"), value=a), index=1
        )

    lowered = lower(built(tmp_path, build, [(2,)], "iOS15"))
    for engine in ENGINES.values():
        executable = engine.prepare(lowered)
        (name,) = [v.name for v in lowered.main.inputs]
        assert next(iter(executable.run({name: f32(1, 0)}).values())).tolist() == [1, 0]
        with pytest.raises(cir.DiagnosticError, match=r"E0708.*position 5 on axis 0 of 'result', which has size 2"):
            executable.run({name: f32(1, 4)})


# -- loops and branches


@pytest.mark.slow
def test_nested_loops_see_values_from_outside(tmp_path: Path) -> None:
    def build(x: Any, y: Any) -> Any:
        two, one = mb.const(val=[2.0], name="const_two"), mb.const(val=[1.0], name="const_one")

        def inner(i: Any) -> Any:
            return mb.squeeze(x=mb.less(x=mb.mul(x=two, y=i), y=mb.add(x=i, y=two)))

        def outer(i: Any, j: Any) -> Any:
            return mb.squeeze(x=mb.less(x=i, y=j))

        def body(i: Any, j: Any) -> Any:
            new = mb.while_loop(_cond=inner, _body=lambda k: mb.add(x=k, y=one), loop_vars=(i,))
            return mb.add(x=new, y=two), j

        return mb.while_loop(_cond=outer, _body=body, loop_vars=(x, y))

    agree(built(tmp_path, build, [(1,), (1,)], "iOS15"), [f32(0), f32(10)], [f32(10), f32(10)])


@pytest.mark.slow
def test_branches_may_compute_nothing(tmp_path: Path) -> None:
    def build(a: Any, b: Any) -> Any:
        chosen = mb.squeeze(x=mb.cast(x=a, dtype="bool"))
        first = mb.cond(pred=chosen, _true_fn=lambda: mb.identity(x=b), _false_fn=lambda: mb.mul(x=b, y=-2.0))
        return mb.add(x=first, y=1.0)

    module = built(tmp_path, build, [(1,), (2,)], "iOS15")
    agree(module, [f32(1), f32(2, 3)], [f32(3, 4)])
    agree(module, [f32(0), f32(2, 3)], [f32(-3, -5)])


def test_sizes_may_change_from_round_to_round(tmp_path: Path) -> None:
    torch = oracle("torch")

    class Growing(torch.nn.Module):
        def forward(self, x):  # pyright: ignore[reportMissingParameterType]  scripts are not typed
            y = x
            while bool(y.sum() < 100):
                y = torch.cat([y, y[-1:] * 2 + x[:1]], 0)
            return y, torch.softmax(y, 1).mean(0)

    x = np.random.default_rng(5).random((2, 3)).astype(np.float32)
    expected = [v.numpy() for v in Growing()(torch.tensor(x))]
    assert expected[0].shape[0] > 4
    agree(scripted(tmp_path, Growing(), [ct.TensorType("x", (2, 3))]), [x], expected)


def test_loops_around_branches_are_those_of_torch(tmp_path: Path) -> None:
    torch = oracle("torch")

    class Nested(torch.nn.Module):
        def forward(self, x):  # pyright: ignore[reportMissingParameterType]  scripts are not typed
            y = x
            for _ in range(3):
                for _ in range(2):
                    y = y * 0.5 + 1.0 if bool(y.sum() > 10) else y + x
            return y

    x = np.random.default_rng(6).random((2, 3)).astype(np.float32)
    agree(scripted(tmp_path, Nested(), [ct.TensorType("x", (2, 3))]), [x], [Nested()(torch.tensor(x)).numpy()])


def test_loop_over_a_sequence_of_any_length_is_that_of_torch(tmp_path: Path) -> None:
    torch = oracle("torch")

    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x, h):  # pyright: ignore[reportMissingParameterType]  scripts are not typed
            for i in range(x.size(0)):
                h = torch.tanh(self.linear(x[i]) + h)
            return h

    torch.manual_seed(0)
    network = Recurrent()
    module = scripted(tmp_path, network, [ct.TensorType("x", (ct.RangeDim(1, 9, 3), 1, 4)), ct.TensorType("h", (1, 4))])
    for length in (1, 5):
        inputs = [np.random.default_rng(length).random(s).astype(np.float32) for s in ((length, 1, 4), (1, 4))]
        agree(module, inputs, [network(*map(torch.tensor, inputs)).detach().numpy()])


# -- custom layers


@pytest.mark.slow
def test_custom_layer_is_kept_and_not_run(tmp_path: Path) -> None:
    from coremltools.converters.mil.mil import Operation, types  # noqa: PLC0415
    from coremltools.converters.mil.mil.input_type import InputSpec, TensorInputType  # noqa: PLC0415
    from coremltools.converters.mil.mil.ops.registry import SSAOpRegistry  # noqa: PLC0415

    class custom_twice(Operation):  # noqa: N801  the name of the operation
        input_spec = InputSpec(
            x=TensorInputType(type_domain=types.fp32), factor=TensorInputType(const=True, type_domain=types.fp32)
        )
        bindings = {"class_name": "Twice", "input_order": ["x"], "parameters": ["factor"], "description": "doubles"}  # noqa: RUF012

        def type_inference(self) -> Any:
            return self.x.sym_type  # pyright: ignore[reportAttributeAccessIssue]  made from the specification

    if "custom_twice" not in SSAOpRegistry.custom_ops:
        SSAOpRegistry.register_op(is_custom_op=True)(custom_twice)

    def build(x: Any) -> Any:
        return mb.add(x=mb.custom_twice(x=x, factor=np.float32(2)), y=np.float32(1))

    module = built(tmp_path, build, [(2,)], "iOS16")
    assert cir.check(tmp_path / "model.mlpackage")[1] == []
    (line,) = [text for text in str(module).splitlines() if "mil.custom_layer" in text]
    assert "%x" in line
    assert 'class_name = "Twice"' in line
    with pytest.raises(cir.DiagnosticError) as caught:
        lower(module)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code.id, diagnostic.help) == ("E0601", "put operations that compute the same in its place")
    assert "code of an app" in diagnostic.message
    cir.save(module, tmp_path / "again.mlpackage")
    load = ct.utils.load_spec
    assert load(str(tmp_path / "again.mlpackage")) == load(str(tmp_path / "model.mlpackage"))


# -- what coremltools declares wrongly


@pytest.mark.slow
def test_select_declared_without_its_condition_has_the_broadcast_shape(tmp_path: Path) -> None:
    def build(c: Any) -> Any:
        return mb.select(cond=mb.greater(x=c, y=0.0), a=f32(1, 2), b=np.float32(5))

    module = built(tmp_path, build, [(2, 1)], "iOS15")
    assert str(module.main.outputs[0].type) == "tensor<2xf32>"
    agree(module, [f32([1], [-1])], [f32([1, 2], [5, 5])])


@pytest.mark.slow
def test_crops_of_numbered_images_are_one_each_despite_the_declared_shape(tmp_path: Path) -> None:
    def build(x: Any) -> Any:
        boxes = f32([1, 0, 0, 1, 1], [0, 0, 0, 1, 1]).reshape(2, 1, 5, 1, 1)
        return mb.crop_resize(x=x, roi=boxes, target_height=1, target_width=2)

    module = built(tmp_path, build, [(2, 1, 2, 2)], "iOS16")
    assert str(module.main.outputs[0].type) == "tensor<2x2x1x1x2xf32>"
    agree(module, [np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2)], [f32([[[[4, 5]]]], [[[[0, 1]]]])])
