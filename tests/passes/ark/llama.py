"""A block of a Llama network in operations of ARK, made as ARK's own example does, and the same in torch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.formats.ark.model_files import Document
from tests.passes.ark.building import Building, matmul_args

Array = NDArray[Any]

BATCH, TOKENS, HEADS, HEAD, HIDDEN = 1, 8, 4, 16, 96
WIDTH = HEADS * HEAD
EPSILON = 1e-5


class Weights(NamedTuple):
    """The inputs of the block, in single precision."""

    x: Array
    rotation: Array
    mask: Array
    attention_norm: Array
    wq: Array
    wk: Array
    wv: Array
    wo: Array
    ffn_norm: Array
    w1: Array
    w2: Array
    w3: Array


def weights(seed: int = 0) -> Weights:
    """Some weights and an input; the rotation has cosine and sine of each pair next to each other."""
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> Array:
        return (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)

    angles = np.outer(np.arange(TOKENS), 10_000.0 ** (-np.arange(0, HEAD, 2) / HEAD))
    rotation = np.stack([np.cos(angles), np.sin(angles)], -1).reshape(1, TOKENS, 1, HEAD)
    mask = np.triu(np.full((TOKENS, TOKENS), -10_000.0), 1).reshape(1, 1, TOKENS, TOKENS)
    return Weights(
        x=rng.normal(size=(BATCH, TOKENS, WIDTH)).astype(np.float32),
        rotation=rotation.astype(np.float32),
        mask=mask.astype(np.float32),
        attention_norm=1 + drawn(1, 1, WIDTH),
        wq=drawn(WIDTH, WIDTH),
        wk=drawn(WIDTH, WIDTH),
        wv=drawn(WIDTH, WIDTH),
        wo=drawn(WIDTH, WIDTH),
        ffn_norm=1 + drawn(1, 1, WIDTH),
        w1=drawn(HIDDEN, WIDTH),
        w2=drawn(WIDTH, HIDDEN),
        w3=drawn(HIDDEN, WIDTH),
    )


def block(generation: str, data_type: str, inputs: Weights) -> tuple[Building, dict[str, str], str]:
    """The block, the names of what it reads by those of `Weights`, and of what it gives. Norms are in FP32."""
    return _Block(generation, data_type, inputs).made()


class _Block:
    def __init__(self, generation: str, data_type: str, inputs: Weights) -> None:
        self._b = Building(generation)
        self._type = data_type
        single = {"attention_norm", "ffn_norm"}
        self._given = {
            name: self._b.tensor(array.shape, "FP32" if name in single else data_type)
            for name, array in inputs._asdict().items()
        }

    def made(self) -> tuple[Building, dict[str, str], str]:
        """See `block`."""
        b, inputs = self._b, self._given
        attended = self._attention(self._norm(inputs["x"], inputs["attention_norm"]))
        h = self._op("Add", [inputs["x"], attended])
        y = self._op("Add", [h, self._feed_forward(self._norm(h, inputs["ffn_norm"]))])
        return b, {name: f"t{t['Id']}" for name, t in inputs.items()}, f"t{y['Id']}"

    def _op(self, kind: str, reads: list[Document], shape: list[int] | None = None, **args: Any) -> Document:
        sizes = shape or reads[0]["Shape"]
        return self._b.op(kind, reads, [self._b.tensor(sizes, reads[0]["DataType"])], **args)

    def _matmul(self, x: Document, w: Document, turn: bool = True) -> Document:
        columns = w["Shape"][-2] if turn else w["Shape"][-1]
        y = self._b.tensor([*x["Shape"][:-1], columns], x["DataType"])
        args = matmul_args(self._b.generation, x, w, y, turn_a=False, turn_b=turn)
        return self._b.op("Matmul", [x, w], [y], **args)

    def _cast(self, x: Document, data_type: str) -> Document:
        return self._b.op("Cast", [x], [self._b.tensor(x["Shape"], data_type)])

    def _norm(self, x: Document, weight: Document) -> Document:
        wide = self._cast(x, "FP32")
        squares = self._op("Mul", [wide, wide])
        line = [*x["Shape"][:-1], 1]
        mean = self._op("ReduceMean", [squares], line, Axis=("INT", len(line) - 1), KeepDim=("BOOL", True))
        # In place, as ARK's own example.
        moved = self._b.op("ScalarAdd", [mean], [mean], Factor=("FLOAT", float(np.float32(EPSILON))))
        root = self._b.op("Rsqrt", [moved], [moved])
        return self._cast(self._op("Mul", [self._op("Mul", [wide, root]), weight]), self._type)

    def _heads(self, x: Document) -> Document:
        """The same memory with an axis of heads."""
        shape = [BATCH, TOKENS, HEADS, HEAD]
        return self._b.again(x, Shape=shape, Strides=shape, Offsets=[0] * 4)

    def _turned(self, x: Document, order: list[int]) -> Document:
        return self._op("Transpose", [x], [x["Shape"][a] for a in order], Permutation=("DIMS", order))

    def _attention(self, x: Document) -> Document:
        inputs = self._given
        q, k, v = [self._heads(self._matmul(x, inputs[name])) for name in ("wq", "wk", "wv")]
        q = self._turned(self._op("Rope", [q, inputs["rotation"]]), [0, 2, 1, 3])
        k = self._turned(self._op("Rope", [k, inputs["rotation"]]), [0, 2, 3, 1])
        v = self._turned(v, [0, 2, 1, 3])
        scores = self._matmul(q, k, turn=False)
        scores = self._b.op("ScalarMul", [scores], [scores], Factor=("FLOAT", HEAD**-0.5))
        scores = self._b.op("Add", [scores, inputs["mask"]], [scores])
        line = [*scores["Shape"][:-1], 1]
        along: Document = {"Axis": ("INT", 3), "KeepDim": ("BOOL", True)}
        powers = self._b.op("Sub", [scores, self._op("ReduceMax", [scores], line, **along)], [scores])
        powers = self._b.op("Exp", [powers], [powers])
        part = self._b.op("Div", [powers, self._op("ReduceSum", [powers], line, **along)], [powers])
        mixed = self._turned(self._matmul(part, v, turn=False), [0, 2, 1, 3])
        shape = [BATCH, TOKENS, WIDTH]
        return self._matmul(self._b.again(mixed, Shape=shape, Strides=shape, Offsets=[0] * 3), inputs["wo"])

    def _feed_forward(self, x: Document) -> Document:
        gate = self._matmul(x, self._given["w1"])
        gate = self._op("Mul", [gate, self._op("Sigmoid", [gate])])
        return self._matmul(self._op("Mul", [gate, self._matmul(x, self._given["w3"])]), self._given["w2"])


def in_torch(torch: Any, inputs: Weights) -> Array:
    """Returns what the block gives, in double precision."""
    w = {name: torch.from_numpy(a.astype(np.float64)) for name, a in inputs._asdict().items()}

    def norm(x: Any, weight: Any) -> Any:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPSILON) * weight

    def heads(x: Any) -> Any:
        return x.reshape(BATCH, TOKENS, HEADS, HEAD)

    def turned(x: Any) -> Any:
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
        by = torch.view_as_complex(w["rotation"].reshape(1, TOKENS, 1, -1, 2).contiguous())
        return torch.view_as_real(pairs * by).flatten(-2)

    x = norm(w["x"], w["attention_norm"])
    q, k = [turned(heads(torch.nn.functional.linear(x, m))).transpose(1, 2) for m in (w["wq"], w["wk"])]
    v = heads(torch.nn.functional.linear(x, w["wv"])).transpose(1, 2)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=w["mask"])
    h = w["x"] + torch.nn.functional.linear(mixed.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH), w["wo"])
    x = norm(h, w["ffn_norm"])
    gate = torch.nn.functional.silu(torch.nn.functional.linear(x, w["w1"]))
    y = h + torch.nn.functional.linear(gate * torch.nn.functional.linear(x, w["w3"]), w["w2"])
    return y.numpy()
