"""Random programs of one rank whose tensors are overlapping views of few buffers.

Buffers of floats are seen as floats of their type and as bytes that are only read, buffers of integers as integers of
all widths. Numbers stay small, so that none becomes infinite.
"""

from __future__ import annotations

from math import prod
from random import Random

from tests.formats.ark.model_files import Document
from tests.passes.ark.building import Building
from tests.passes.ark.machine import DTYPES

FLOATS = ("FP32", "FP16", "BF16")
INTEGERS = ("INT32", "UINT32", "INT8", "UINT8", "BYTE")
_MOST_SUMS = 8


class _Buffer:
    def __init__(self, tensor: Document, data_type: str, size_bytes: int) -> None:
        self.held = tensor
        self.data_type = data_type
        self.size_bytes = size_bytes


class RandomProgram:
    """A program by its seed: `document` of it."""

    def __init__(self, seed: int, operations: int = 14) -> None:
        self._random = Random(seed)
        self._made = Building(self._random.choice(["v1", "v2", "v3", "v4"]))
        self._sums = 0
        self._buffers = [self._buffer() for _ in range(self._random.randint(2, 4))]
        self._shared: list[Document] = []
        for buffer in self._buffers:
            # Some start as inputs, others as zeros.
            first = self._whole(buffer)
            if self._random.random() < 0.5:
                self._made.op("Copy", [first], [self._made.tensor(first["Shape"], first["DataType"])])
            else:
                self._made.op("ScalarAssign", [], [self._view(buffer, buffer.data_type)], Value=("FLOAT", 1.0))
        for _ in range(operations):
            self._add()
        for buffer in self._buffers:
            last = self._whole(buffer)
            self._made.op("Copy", [last], [self._made.tensor(last["Shape"], last["DataType"])])

    @property
    def generation(self) -> str:
        """The generation of the document."""
        return self._made.generation

    @property
    def document(self) -> Document:
        """The document."""
        return self._made.document()

    def _buffer(self) -> _Buffer:
        data_type = self._random.choice([*FLOATS, "INT32", "INT32", "UINT8"])
        return _Buffer(self._made.buffer(), data_type, self._random.choice([24, 48, 64, 96]))

    def _whole(self, buffer: _Buffer) -> Document:
        count = buffer.size_bytes // DTYPES[buffer.data_type].itemsize
        shape = self._random.choice([(count,), (2, count // 2), (count // 4, 4)])
        return self._made.tensor(shape, buffer.data_type, buffer.held)

    def _view(self, buffer: _Buffer, data_type: str, shape: tuple[int, ...] | None = None) -> Document:
        """A view, of a shape where one is given; one that was used before now and then."""
        known = [t for t in self._shared if t["Buffer"]["Id"] == buffer.held["Id"] and t["DataType"] == data_type]
        known = [t for t in known if shape is None or tuple(t["Shape"]) == shape]
        if known and self._random.random() < 0.4:
            return self._random.choice(known)
        strides = self._extents(buffer, data_type, shape)
        if strides is None:
            return self._made.tensor(shape or (1,), data_type)
        sizes = shape or tuple([self._random.choice([n, self._random.randint(1, n)]) for n in strides])
        offsets = [self._random.randint(0, n - m) for n, m in zip(strides, sizes, strict=True)]
        result = self._made.tensor(sizes, data_type, buffer.held, strides, offsets)
        self._shared.append(result)
        return result

    def _extents(self, buffer: _Buffer, data_type: str, shape: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """Extents of an array in a buffer that a shape fits into; mostly one of few."""
        count = buffer.size_bytes // DTYPES[data_type].itemsize
        for _ in range(20):
            rank = len(shape) if shape is not None else self._random.randint(1, 3)
            strides = [count] if rank == 1 else [count // 4, 4] if rank == 2 else [count // 6, 3, 2]
            if self._random.random() < 0.3:
                strides = [max(1, n - self._random.randint(0, 1)) for n in strides]
            fits = shape is None or all(m <= n for m, n in zip(shape, strides, strict=True))
            if fits and 0 < prod(strides) <= count:
                return tuple(strides)
        return None

    def _add(self) -> None:
        target = self._random.choice(self._buffers)
        y = self._view(target, self._type_of(target))
        shape, data_type = tuple(y["Shape"]), y["DataType"]
        sources = [b for b in self._buffers if self._is_seen_as(b, data_type)]
        match self._random.choice(["Copy", "Copy", "ScalarAssign", "ScalarMul", "Relu", "Sum", "Transpose", "Cast"]):
            case "ScalarAssign":
                self._made.op("ScalarAssign", [], [y], Value=("FLOAT", float(self._random.randint(0, 9))))
            case "ScalarMul":
                self._made.op("ScalarMul", [self._read(sources, data_type, shape)], [y], Factor=("FLOAT", 0.5))
            case "Sum" if self._sums < _MOST_SUMS:
                self._sums += 1
                kind = self._random.choice(["Add", "Sub"])
                self._made.op(kind, [self._read(sources, data_type, shape) for _ in range(2)], [y])
            case "Transpose" if len(shape) == 2:
                x = self._read(sources, data_type, shape[::-1])
                self._made.op("Transpose", [x], [y], Permutation=("DIMS", [1, 0]))
            case "Cast" if data_type in FLOATS:
                source = self._random.choice(self._buffers)
                kind = self._type_of(source) if source.data_type in FLOATS else "INT8"
                self._made.op("Cast", [self._read([source], kind, shape)], [y])
            case "Relu":
                self._made.op("Relu", [self._read(sources, data_type, shape)], [y])
            case _:
                self._made.op("Copy", [self._read(sources, data_type, shape)], [y])

    def _read(self, sources: list[_Buffer], data_type: str, shape: tuple[int, ...]) -> Document:
        source = self._random.choice(sources)
        return self._view(source, data_type, shape)

    def _type_of(self, buffer: _Buffer) -> str:
        """A type by which a buffer may be written."""
        return buffer.data_type if buffer.data_type in FLOATS else self._random.choice(INTEGERS)

    @staticmethod
    def _is_seen_as(buffer: _Buffer, data_type: str) -> bool:
        return buffer.data_type == data_type or data_type in INTEGERS
