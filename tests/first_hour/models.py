"""The models of the pages, each made when a page names it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto, helper, load, numpy_helper, save
from PIL import Image

import commonir as cir

ROOT = Path(__file__).parents[2]
_FLOAT = 1


def write_models(page: str, folder: Path) -> None:
    """Writes the models that the text of a page names into a folder."""
    for name, write in MODELS.items():
        if name in page:
            write(folder / name)
    for example in (*(ROOT / "examples").iterdir(), *(ROOT / "tests" / "models" / "kinds").iterdir()):
        if example.name in page:
            (shutil.copytree if example.is_dir() else shutil.copy)(example, folder / example.name)


def _small_net(path: Path) -> None:
    """Two convolutions with a Relu between them, with names of nodes as torch writes them."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((48, 3, 3, 3)).astype(np.float32), "stem.weight"),
        numpy_helper.from_array(rng.standard_normal((8, 48, 1, 1)).astype(np.float32), "head.weight"),
    ]
    nodes = [
        helper.make_node("Conv", ["image", "stem.weight"], ["stem_out"], "/stem/Conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["stem_out"], ["stem_act"], "/stem/act/Relu"),
        helper.make_node("Conv", ["stem_act", "head.weight"], ["logits"], "/head/Conv"),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("image", _FLOAT, ["N", 3, 12, 12])],
        [helper.make_tensor_value_info("logits", _FLOAT, ["N", 8, 12, 12])],
        weights,
    )
    save(_model(graph), path)


def _attention(path: Path) -> None:
    """One head of attention with a causal mask of the lowest number of f32; in `attention_half.onnx` all is f16, where
    the mask is -inf.
    """
    is_half = "half" in path.name
    rng = np.random.default_rng(0)
    lowest = np.finfo(np.float32).min
    arrays = {name: rng.standard_normal((8, 8)).astype(np.float32) * 0.3 for name in ("wq", "wk", "wv")}
    arrays["mask"] = np.triu(np.full((6, 6), lowest), 1)
    with np.errstate(over="ignore"):
        weights = [numpy_helper.from_array(a.astype(np.float16) if is_half else a, n) for n, a in arrays.items()]
    nodes = [
        helper.make_node("MatMul", ["x", "wq"], ["q"], "/attn/q/MatMul"),
        helper.make_node("MatMul", ["x", "wk"], ["k"], "/attn/k/MatMul"),
        helper.make_node("MatMul", ["x", "wv"], ["v"], "/attn/v/MatMul"),
        helper.make_node("Transpose", ["k"], ["k_t"], "/attn/Transpose", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "k_t"], ["scores"], "/attn/MatMul"),
        helper.make_node("Add", ["scores", "mask"], ["masked"], "/attn/Add"),
        helper.make_node("Softmax", ["masked"], ["probs"], "/attn/Softmax", axis=-1),
        helper.make_node("MatMul", ["probs", "v"], ["y"], "/attn/out/MatMul"),
    ]
    ports = [helper.make_tensor_value_info(name, 10 if is_half else _FLOAT, ["N", 6, 8]) for name in ("x", "y")]
    save(_model(helper.make_graph(nodes, "attention", ports[:1], ports[1:], weights)), path)


def _masked_scores(path: Path) -> None:
    """Scores with a mask as exporters write it, and a number that half precision does not hold."""
    mask = np.triu(np.full((4, 4), np.finfo(np.float32).min), 1).astype(np.float32)
    constants = {"weight": np.eye(8, dtype=np.float32), "mask": mask, "million": np.array(1e6, np.float32)}
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["q"], "/q/MatMul"),
        helper.make_node("Gemm", ["q", "x"], ["scores"], "/scores/Gemm", transB=1),
        helper.make_node("Add", ["scores", "mask"], ["masked"], "/mask/Add"),
        helper.make_node("Softmax", ["masked"], ["weights"], "/Softmax"),
        helper.make_node("Mul", ["weights", "million"], ["scaled"], "/scale/Mul"),
        helper.make_node("Log", ["scaled"], ["y"], "/Log"),
    ]
    graph = helper.make_graph(
        nodes,
        "scores",
        [helper.make_tensor_value_info("x", _FLOAT, [4, 8])],
        [helper.make_tensor_value_info("y", _FLOAT, [4, 4])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    save(_model(graph), path)


def _tagger(path: Path) -> None:
    """Probabilities of red, green and blue, by the mean of each channel of an image."""
    nodes = [
        helper.make_node("GlobalAveragePool", ["image"], ["means"], "/Pool"),
        helper.make_node("Flatten", ["means"], ["channels"], "/Flatten"),
        helper.make_node("Gemm", ["channels", "weight"], ["logits"], "/Gemm"),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "/Softmax"),
    ]
    graph = helper.make_graph(
        nodes,
        "tagger",
        [helper.make_tensor_value_info("image", _FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("probabilities", _FLOAT, [1, 3])],
        [numpy_helper.from_array(4 * np.eye(3, dtype=np.float32), "weight")],
    )
    save(_model(graph), path)


def _photo(path: Path) -> None:
    """An orange square."""
    Image.new("RGB", (8, 8), (255, 128, 0)).save(path)


def _broken(path: Path) -> None:
    """Two nodes in the wrong order, with an attribute of the wrong kind, and things that nothing uses."""
    weights = [
        numpy_helper.from_array(np.ones((4, 4), np.float32), "W"),
        numpy_helper.from_array(np.ones((4,), np.float32), "unused"),
    ]
    nodes = [
        helper.make_node("LeakyRelu", ["m"], ["y"], "act", alpha=2),
        helper.make_node("MatMul", ["x", "W"], ["m"], "product"),
    ]
    value = helper.make_tensor_value_info
    inputs, outputs = [value("x", _FLOAT, [1, 4])], [value("y", _FLOAT, [1, 4])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights, value_info=[value("gone", _FLOAT, [3])])
    save(_model(graph), path)


def _model(graph: GraphProto, opset: int = 17) -> ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _long_names(path: Path) -> None:
    """A product and an activation whose names are as long as exporters make them."""
    scope = "/model/backbone/stages.3/blocks.11/attention/self"
    weight = numpy_helper.from_array(np.ones((48, 48), np.float32), "weight")
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], [f"{scope}/query/MatMul_output_0"]),
        helper.make_node("Relu", [f"{scope}/query/MatMul_output_0"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, _FLOAT, [1, 16, 12, 48]) for name in "xy"]
    save(_model(helper.make_graph(nodes, "long", ends[:1], ends[1:], [weight])), path)


def _adapters(path: Path) -> None:
    """Three functions of one kind, as coremltools' `save_multifunction` writes them."""
    text = """func.func @adapter{}(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {{
        %y = "core.exp"(%x) : (tensor<1x4xf32>) -> tensor<1x4xf32>
        return %y : tensor<1x4xf32>
    }}"""
    module = cir.loads("\n".join(text.format(n) for n in range(3)), format="mlir")
    module.entry = "adapter0"
    cir.save(cir.convert(module, "coreml"), path)


def _many_functions(path: Path) -> None:
    """Seven functions of different interfaces; `main` runs."""
    names = ["prefill", "decode", "embed", "head", "norm", "sample", "main"]
    text = "func.func @{0}(%x: tensor<{1}xf32>) -> tensor<{1}xf32> {{\n  return %x : tensor<{1}xf32>\n}}\n"
    path.write_text("".join(text.format(name, n) for n, name in enumerate(names, 2)))


def _array(value: float) -> Callable[[Path], None]:
    return lambda path: np.save(path, np.full((1, 3, 12, 12), value))


def _torch_checkpoint(path: Path) -> None:
    """The beginning of what `torch.save` writes."""
    with ZipFile(path, "w") as archive:
        archive.writestr("net/data.pkl", b"\x80\x02}q\x00.")


def _external_net(path: Path) -> None:
    """The small network with its weights in a file beside it, as the onnx package saves it."""
    _small_net(path)
    save(load(path), path, save_as_external_data=True, location=f"{path.name}.data")


def _blocks(path: Path) -> None:
    """A product with a matrix [64, 32] of int4 in blocks of 32 rows, one with int8 per column, one as MatMulNBits."""
    bytes_of = lambda count: bytes(range(256)) * (count // 256) + bytes(count % 256)  # noqa: E731
    tensors = [
        helper.make_tensor("codes4", TensorProto.INT4, [64, 32], bytes_of(1024), raw=True),
        helper.make_tensor("scales4", _FLOAT, [2, 32], np.ones(64, np.float32).tobytes(), raw=True),
        helper.make_tensor("codes8", TensorProto.INT8, [32, 16], bytes_of(512), raw=True),
        helper.make_tensor("scales8", _FLOAT, [16], np.ones(16, np.float32).tobytes(), raw=True),
        helper.make_tensor("packed", TensorProto.UINT8, [8, 1, 8], bytes_of(64), raw=True),
        helper.make_tensor("scales", _FLOAT, [8], np.ones(8, np.float32).tobytes(), raw=True),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["codes4", "scales4"], ["w4"], axis=0, block_size=32),
        helper.make_node("MatMul", ["x", "w4"], ["a"]),
        helper.make_node("DequantizeLinear", ["codes8", "scales8"], ["w8"], axis=1),
        helper.make_node("MatMul", ["a", "w8"], ["b"]),
        helper.make_node(
            "MatMulNBits", ["b", "packed", "scales"], ["y"], domain="com.microsoft", K=16, N=8, bits=4, block_size=16
        ),
    ]
    ends = [helper.make_tensor_value_info(*of) for of in (("x", _FLOAT, [1, 64]), ("y", _FLOAT, [1, 8]))]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph(nodes, "blocks", ends[:1], ends[1:], tensors)
    save(helper.make_model(graph, opset_imports=opsets, ir_version=10), path)


def _window(path: Path) -> None:
    """A 5x5 window with dims of several kinds: a name with dots, none, and the long expression of an exporter."""
    weight = numpy_helper.from_array(np.ones((2, 1, 5, 5), np.float32), "w")
    long = "floor((width - 1) / 2) + floor(width / 2) - 4 + 1"
    x = helper.make_tensor_value_info("x", _FLOAT, ["p2o.N", 1, None, "width"])
    y = helper.make_tensor_value_info("y", _FLOAT, ["p2o.N", 2, None, long])
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv")
    save(_model(helper.make_graph([node], "window", [x], [y], [weight])), path)


def _flatten(path: Path) -> None:
    """A reshape to a constant shape, which fixes the batch."""
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], "flatten")
    x, y = [helper.make_tensor_value_info(n, _FLOAT, s) for n, s in (("x", [1, 2, 4]), ("y", [1, 8]))]
    save(_model(helper.make_graph([node], "g", [x], [y], [numpy_helper.from_array(np.array([1, 8]), "shape")])), path)


def _kept(name: str) -> Callable[[Path], None]:
    """A package that coremltools wrote, from the test models."""
    return lambda path: shutil.copytree(ROOT / "tests/models" / name / "model.mlpackage", path) and None


MODELS: dict[str, Callable[[Path], object]] = {
    "window.onnx": _window,
    "flatten.onnx": _flatten,
    "blocks.onnx": _blocks,
    "plain.mlpackage": _kept("pixel_shuffle_fp16"),
    "palettized.mlpackage": _kept("pixel_shuffle_palettized4_fp16"),
    "six_bits.mlpackage": _kept("t5_encoder_palettized6_fp16"),
    "int4.mlpackage": _kept("llama_stateful_int4_fp16"),
    "sparse.mlpackage": _kept("pixel_shuffle_sparse_fp16"),
    "broken.onnx": _broken,
    "x64.npy": _array(0.1),
    "huge.npy": _array(1e300),
    "net.pt": _torch_checkpoint,
    "net.gguf": lambda path: path.write_bytes(b"GGUF\x03" + bytes(20)),
    "net.tflite": lambda path: path.write_bytes(b"\x1c\0\0\0TFL3" + bytes(20)),
    "net.onnx": _small_net,
    "large.onnx": _external_net,
    "scores.onnx": _masked_scores,
    "tagger.onnx": _tagger,
    "cat.png": _photo,
    "attention.onnx": _attention,
    "attention_half.onnx": _attention,
    "long.onnx": _long_names,
    "adapters.mlpackage": _adapters,
    "many.mlir": _many_functions,
}
"""By name of file."""
