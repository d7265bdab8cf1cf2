"""ARK programs run on bytes, as the description of the format says, from the documents alone.

The memory of a rank is byte arrays; a tensor is `reshape(Strides)[slices]` of one. Half precision is computed in single
precision and rounded where it is written. Nothing of the code under test is used.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Mapping
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tests.formats.ark.model_files import Document

Array = NDArray[Any]

DTYPES: dict[str, np.dtype[Any]] = {
    "FP32": np.dtype(np.float32),
    "FP16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "INT32": np.dtype(np.int32),
    "UINT32": np.dtype(np.uint32),
    "INT8": np.dtype(np.int8),
    "UINT8": np.dtype(np.uint8),
    "BYTE": np.dtype(np.uint8),
}
HALVES = (DTYPES["FP16"], DTYPES["BF16"])


def wide(x: Array) -> Array:
    """Half precision as single precision."""
    return x.astype(np.float32) if x.dtype in HALVES else x


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x**3)))


def _relu(x: Array) -> Array:
    return np.where(x > 0, x, np.zeros((), x.dtype))


def _div(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    return np.trunc(a.astype(np.float64) / b.astype(np.float64)).astype(np.int64)


def _rope(a: Array, b: Array) -> Array:
    a, b = np.broadcast_arrays(a, b)
    out = np.empty(a.shape, a.dtype)
    out[..., 0::2] = a[..., 0::2] * b[..., 0::2] - a[..., 1::2] * b[..., 1::2]
    out[..., 1::2] = a[..., 0::2] * b[..., 1::2] + a[..., 1::2] * b[..., 0::2]
    return out


UNARY: dict[str, Callable[[Array], Array]] = {
    "Exp": np.exp,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1 / np.sqrt(x),
    "Relu": _relu,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Gelu": _gelu,
    "Copy": lambda x: x,
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _div,
    "Rope": _rope,
}
REDUCE: dict[str, Callable[[Array, int], Array]] = {
    "ReduceSum": lambda x, axis: x.sum(axis, dtype=x.dtype),
    "ReduceMax": lambda x, axis: x.max(axis),
    "ReduceMean": lambda x, axis: _div(x.sum(axis, dtype=x.dtype), np.asarray(x.shape[axis], x.dtype)),
}


def _cast(x: Array, to: np.dtype[Any]) -> Array:
    is_float = x.dtype.kind == "f" or x.dtype in HALVES
    if not is_float or to.kind not in "iu":
        return x.astype(np.int64).astype(to) if not is_float and to.kind in "iu" else wide(x).astype(to)
    exact = x.astype(np.float64)
    near = np.rint(exact) if x.dtype in HALVES and to.itemsize == 4 else np.trunc(exact)
    limits = np.iinfo(to)
    return np.nan_to_num(np.clip(near, limits.min, limits.max)).astype(np.int64).astype(to)


def _number(value: float, dtype: np.dtype[Any]) -> Array:
    return np.asarray(int(value) if dtype.kind in "iu" else value, dtype)


def _matmul(a: Array, b: Array, turn_a: bool, turn_b: bool) -> Array:
    a = a[None] if a.ndim == 1 else a
    b = b[:, None] if b.ndim == 1 else b
    return (a.swapaxes(-1, -2) if turn_a else a) @ (b.swapaxes(-1, -2) if turn_b else b)


class Rank:
    """The memory of one rank and its operations."""

    def __init__(self, document: Document) -> None:
        self.number: int = document["Rank"]
        self.world: int = document["WorldSize"]
        self.ops: list[Document] = [op for node in document["Nodes"] for op in node.get("Ops") or [node["Op"]]]
        self.tensors: dict[int, Document] = {}
        sizes: dict[int, int] = {}
        for op in self.ops:
            for t in (*op["ReadTensors"], *op["WriteTensors"], *op["ResultTensors"]):
                self.tensors[t["Id"]] = t
                size = prod(t["Strides"]) * DTYPES[t["DataType"]].itemsize
                sizes[t["Buffer"]["Id"]] = max(sizes.get(t["Buffer"]["Id"], 0), size)
        self.buffers = {number: np.zeros(size, np.uint8) for number, size in sizes.items()}

    def view(self, tensor: Document, buffer: int | None = None) -> Array:
        """The elements of a tensor where they lie."""
        raw = self.buffers[tensor["Buffer"]["Id"] if buffer is None else buffer]
        dtype = DTYPES[tensor["DataType"]]
        count = prod(tensor["Strides"])
        whole = raw[: count * dtype.itemsize].view(dtype).reshape(tensor["Strides"])
        return whole[tuple([slice(o, o + n) for o, n in zip(tensor["Offsets"], tensor["Shape"], strict=True)])]

    def compute(self, op: Document) -> Array | None:
        """Returns what an operation computes; None for one that does not compute."""
        kind, reads = op["Type"], [self.view(t).copy() for t in op["ReadTensors"]]
        args = {name: next(iter(stored.values())) for name, stored in op["Args"].items()}
        values = [wide(x) for x in reads]
        target = DTYPES[op["WriteTensors"][0]["DataType"]] if op["WriteTensors"] else None
        if kind in UNARY:
            return UNARY[kind](values[0])
        if kind in BINARY:
            return BINARY[kind](values[0], values[1])
        if kind in REDUCE:
            return REDUCE[kind](values[0], args["Axis"])
        match kind:
            case "Cast":
                assert target is not None
                return _cast(reads[0], target)
            case "ScalarAdd":
                return values[0] + wide(_number(args["Factor"], reads[0].dtype))
            case "ScalarMul":
                return values[0] * wide(_number(args["Factor"], reads[0].dtype))
            case "ScalarAssign":
                assert target is not None
                return _number(args["Value"], target)
            case "Matmul":
                return _matmul(values[0], values[1], args["TransposeInput"], args["TransposeOther"])
            case "Transpose":
                return reads[0].transpose(args["Permutation"])
            case "Embedding":
                return reads[1][reads[0]]
            case _:
                return None

    def store(self, tensor: Document, value: Array, buffer: int | None = None) -> None:
        """Writes a value; what is smaller is repeated, and what has other axes of size 1 is put into shape."""
        place = self.view(tensor, buffer)
        fitting = value.reshape(place.shape) if value.size == place.size else np.broadcast_to(value, place.shape)
        with np.errstate(all="ignore"):
            place[...] = fitting.astype(place.dtype)


Key = tuple[int, int, int]


class World:
    """Ranks that run by turns."""

    def __init__(self, *documents: Document) -> None:
        self.ranks = [Rank(document) for document in documents]
        self._sent: defaultdict[Key, deque[tuple[Document, Array, Document | None]]] = defaultdict(deque)
        self._met = 0

    def give(self, inputs: Mapping[str, Array], rank: int = 0) -> None:
        """Fills memory with inputs by the numbers of their tensors."""
        for name, array in inputs.items():
            self.ranks[rank].store(self.ranks[rank].tensors[int(name.removeprefix("t"))], array)

    def output(self, name: str, rank: int = 0) -> Array:
        """Returns what a tensor holds, by its number."""
        return self.ranks[rank].view(self.ranks[rank].tensors[int(name.removeprefix("t"))]).copy()

    def run(self) -> None:
        """Runs all ranks to the end."""
        running = [self._steps(rank) for rank in self.ranks]
        for _ in range(10_000):
            running = [steps for steps in running if next(steps, "done") != "done"]
            if not running:
                return
        raise AssertionError("ranks wait forever")

    def _steps(self, rank: Rank) -> Generator[str]:
        for op in rank.ops:
            match op["Type"]:
                case _ if op["IsVirtual"]:
                    pass
                case "Send" | "SendPacket":
                    self._send(rank, op["ReadTensors"][0], op["WriteTensors"][0], op["Type"])
                case "Recv" | "RecvPacket":
                    proxy, inbox = op["ReadTensors"][0], [*op["ReadTensors"][1:], op["WriteTensors"][0]][0]
                    source = proxy["Buffer"]["Rank"]
                    tag = next(tag for other_rank, tag in inbox["Buffer"]["RecvTags"] if other_rank == source)
                    key = (source, rank.number, tag)
                    while not self._sent[key]:
                        yield "waits"
                    self._land(rank, op["WriteTensors"][0], *self._sent[key].popleft())
                case "RecvReduceSend" | "RecvReduceSendPacket":
                    x, scratch = op["ReadTensors"]
                    total = wide(rank.view(x).copy())
                    for other_rank in [n for n in range(rank.world) if n != rank.number]:
                        tag = next(tag for other, tag in scratch["Buffer"]["RecvTags"] if other == other_rank)
                        while not self._sent[other_rank, rank.number, tag]:
                            yield "waits"
                        _, payload, _ = self._sent[other_rank, rank.number, tag].popleft()
                        total = total + wide(payload.reshape(total.shape))
                    rank.store(op["WriteTensors"][0], total)
                    for proxy in op["WriteTensors"][1:]:
                        self._send(rank, op["WriteTensors"][0], proxy, op["Type"])
                case "DeviceSync":
                    self._met += 1
                    all_met = -(-self._met // rank.world) * rank.world
                    while self._met < all_met:
                        yield "waits"
                case _:
                    value = rank.compute(op)
                    if value is not None:
                        rank.store(op["WriteTensors"][0], value)

    def _send(self, rank: Rank, x: Document, proxy: Document, kind: str) -> None:
        other_rank = proxy["Buffer"]["Rank"]
        tags = [tag for other, tag in proxy["Buffer"]["RecvTags"] if other in (-1, rank.number)]
        if kind == "Send" and len(tags) > 1:
            tags = [tag for tag in tags if [other_rank, tag] in x["Buffer"]["SendTags"]]
        is_message = "Packet" in kind or (
            kind == "Send" and all(x[field] == proxy[field] for field in ("Strides", "Offsets"))
        )
        inputs = (x, rank.view(x).copy(), None if is_message else proxy)
        self._sent[rank.number, other_rank, tags[0]].append(inputs)

    def _land(self, rank: Rank, own: Document, _: Document, payload: Array, declared: Document | None) -> None:
        if declared is None:
            rank.store(own, payload)
        else:
            rank.store(declared, payload, own["Buffer"]["Id"])
