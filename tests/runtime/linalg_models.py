"""Programs in the form in which exporters write models as linalg: softmax by its parts, and a block of a transformer.

Weights are constants of the program, drawn by a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from struct import pack

SEED_GLOBAL = "ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>"
"""The lines that exporters put before every program."""


class Emitter:
    """Writes operations of linalg, each on values by name and type; sizes may be `?` along the first axis."""

    def __init__(self, element: str = "f32") -> None:
        self.element = element
        self.lines: list[str] = []
        self.types: dict[str, str] = {}
        self._shapes: dict[str, tuple[str, ...]] = {}
        self._count = 0

    def declare(self, name: str, shape: Sequence[str | int]) -> str:
        """Makes the type of a value known."""
        sizes = tuple(map(str, shape))
        self._shapes[name] = sizes
        self.types[name] = f"tensor<{''.join(f'{n}x' for n in sizes)}{self.element}>"
        return name

    def _new(self, shape: Sequence[str | int]) -> str:
        self._count += 1
        return self.declare(f"%v{self._count - 1}", shape)

    def weight(self, random: Random, shape: Sequence[int], scale: float) -> str:
        """A constant."""
        name = self._new(shape)
        count = 1
        for n in shape:
            count *= n
        data = b"".join(pack("<f", random.uniform(-scale, scale)) for _ in range(count))
        self.lines.append(f'{name} = arith.constant dense<"0x{data.hex().upper()}"> : {self.types[name]}')
        return name

    def empty(self, shape: Sequence[str], like: str) -> str:
        """A tensor of nothing, of the size of another one along the first axis where that is open."""
        empty, size = self._new(shape), ""
        if "?" in shape:
            self.lines.append(f"{empty}_0 = arith.constant 0 : index")
            self.lines.append(f"{empty}_n = tensor.dim {like}, {empty}_0 : {self.types[like]}")
            size = f"{empty}_n"
        self.lines.append(f"{empty} = tensor.empty({size}) : {self.types[empty]}")
        return empty

    def filled(self, shape: Sequence[str], value: str, like: str) -> str:
        """A tensor of one number."""
        empty, out = self.empty(shape, like), self._new(shape)
        kind = self.types[empty]
        self.lines.append(f"{out}_v = arith.constant {value} : {self.element}")
        self.lines.append(f"{out} = linalg.fill ins({out}_v : {self.element}) outs({empty} : {kind}) -> {kind}")
        return out

    def generic(
        self,
        inputs: Sequence[str],
        maps: Sequence[Sequence[int]],
        output: str,
        axes: Sequence[int],
        kinds: Sequence[str],
        body: Sequence[str],
    ) -> str:
        """`linalg.generic`: maps are the axes that operands have, of which those of size 1 are read at 0."""
        out = self._new(self._shapes[output])
        shown = [self._map(len(kinds), m, self._shapes[v]) for v, m in zip(inputs, maps, strict=True)]
        shown.append(self._map(len(kinds), axes, self._shapes[output], exact=True))
        arguments = ", ".join([*[f"%in{n}: {self.element}" for n in range(len(inputs))], f"%out: {self.element}"])
        types = ", ".join(self.types[v] for v in inputs)
        iterators = ", ".join(f'"{k}"' for k in kinds)
        self.lines += [
            f"{out} = linalg.generic {{indexing_maps = [{', '.join(shown)}], iterator_types = [{iterators}]}}"
            + (f" ins({', '.join(inputs)} : {types})" if inputs else "")
            + f" outs({output} : {self.types[output]}) {{",
            f"^bb0({arguments}):",
            *[f"  {line}" for line in body],
            f"}} -> {self.types[output]}",
        ]
        return out

    @staticmethod
    def _map(rank: int, axes: Sequence[int], shape: Sequence[str], *, exact: bool = False) -> str:
        # Exporters broadcast an axis of size 1 by reading it at 0.
        dims = ", ".join(f"d{n}" for n in range(rank))
        results = ", ".join("0" if size == "1" and not exact else f"d{a}" for a, size in zip(axes, shape, strict=True))
        return f"affine_map<({dims}) -> ({results})>"

    def pointwise(self, inputs: Sequence[str], shape: Sequence[str], body: Sequence[str]) -> str:
        """A function of elements; operands of fewer axes are broadcast along the first ones."""
        rank = len(shape)
        like = next(v for v in inputs if len(self._shapes[v]) == rank)
        maps = [tuple(range(rank - len(self._shapes[v]), rank)) for v in inputs]
        return self.generic(inputs, maps, self.empty(shape, like), range(rank), ["parallel"] * rank, body)

    def reduced(self, x: str, start: str, operation: str) -> str:
        """The last axis as one element."""
        *lead, _ = shape = self._shapes[x]
        rank = len(shape)
        out = self.filled([*lead, "1"], start, x)
        result = self._new([*lead, "1"])
        dims = ", ".join(f"d{n}" for n in range(rank))
        preserved = ", ".join([*[f"d{n}" for n in range(rank - 1)], "0"])
        iterators = ", ".join(['"parallel"'] * (rank - 1) + ['"reduction"'])
        maps = f"affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ({preserved})>"
        operands = f"ins({x} : {self.types[x]}) outs({out} : {self.types[out]})"
        self.lines += [
            f"{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} {operands} {{",
            f"^bb0(%in0: {self.element}, %out: {self.element}):",
            f"  %s = {operation} %in0, %out : {self.element}",
            f"  linalg.yield %s : {self.element}",
            f"}} -> {self.types[out]}",
        ]
        return result

    def softmax(self, x: str) -> str:
        """Along the last axis, by its parts."""
        e, shape = self.element, self._shapes[x]
        largest = self.reduced(x, "0xFF800000", "arith.maximumf")
        centred = self.pointwise([x, largest], shape, [f"%s = arith.subf %in0, %in1 : {e}", f"linalg.yield %s : {e}"])
        powers = self.pointwise([centred], shape, [f"%s = math.exp %in0 : {e}", f"linalg.yield %s : {e}"])
        total = self.reduced(powers, "0.0", "arith.addf")
        return self.pointwise([powers, total], shape, [f"%s = arith.divf %in0, %in1 : {e}", f"linalg.yield %s : {e}"])

    def product(self, a: str, b: str) -> str:
        """Products of batches of matrices."""
        shape = [*self._shapes[a][:2], self._shapes[b][2]]
        out, result = self.filled(shape, "0.0", a), self._new(shape)
        ins = f"ins({a}, {b} : {self.types[a]}, {self.types[b]})"
        kind = self.types[out]
        self.lines.append(f"{result} = linalg.batch_matmul {ins} outs({out} : {kind}) -> {kind}")
        return result

    def transposed(self, x: str) -> str:
        """The last two axes exchanged."""
        batch, rows, columns = self._shapes[x]
        out = self.empty([batch, columns, rows], x)
        result = self._new([batch, columns, rows])
        outs = f"outs({out} : {self.types[out]})"
        self.lines.append(f"{result} = linalg.transpose ins({x} : {self.types[x]}) {outs} permutation = [0, 2, 1]")
        return result

    def dense(self, x: str, weight: str, bias: str) -> str:
        """A linear layer; the weight is broadcast to the batch, as exporters do."""
        e, (batch, _, _) = self.element, self._shapes[x]
        rows, columns = self._shapes[weight]
        whole = self.empty([batch, rows, columns], x)
        wide = self.generic([weight], [(1, 2)], whole, range(3), ["parallel"] * 3, [f"linalg.yield %in0 : {e}"])
        result = self.product(x, wide)
        return self.pointwise(
            [result, bias], self._shapes[result], [f"%s = arith.addf %in0, %in1 : {e}", f"linalg.yield %s : {e}"]
        )

    def normalized(self, x: str, scale: str, bias: str) -> str:
        """Mean 0 and variance 1 along the last axis, then a scale and a bias."""
        e, shape = self.element, self._shapes[x]
        count = f"%n = arith.constant {float(shape[-1])} : {e}"
        divide = [count, f"%s = arith.divf %in0, %n : {e}", f"linalg.yield %s : {e}"]
        total = self.reduced(x, "0.0", "arith.addf")
        mean = self.pointwise([total], self._shapes[total], divide)
        centred = self.pointwise([x, mean], shape, [f"%s = arith.subf %in0, %in1 : {e}", f"linalg.yield %s : {e}"])
        squares = self.pointwise([centred], shape, [f"%s = arith.mulf %in0, %in0 : {e}", f"linalg.yield %s : {e}"])
        sums = self.reduced(squares, "0.0", "arith.addf")
        root = [
            count,
            f"%m = arith.divf %in0, %n : {e}",
            f"%e = arith.constant 1.000000e-05 : {e}",
            f"%a = arith.addf %m, %e : {e}",
            f"%s = math.rsqrt %a : {e}",
            f"linalg.yield %s : {e}",
        ]
        factor = self.pointwise([sums], self._shapes[sums], root)
        scaled = [f"%p = arith.mulf %in0, %in1 : {e}", f"%q = arith.mulf %p, %in2 : {e}"]
        scaled += [f"%s = arith.addf %q, %in3 : {e}", f"linalg.yield %s : {e}"]
        return self.pointwise([centred, factor, scale, bias], shape, scaled)

    def function(self, name: str, inputs: Sequence[str], result: str) -> str:
        """The function that computes a value."""
        arguments = ", ".join(f"{v}: {self.types[v]}" for v in inputs)
        body = "\n".join(f"  {line}" for line in [*self.lines, f"return {result} : {self.types[result]}"])
        return f"{SEED_GLOBAL}\nfunc.func @{name}({arguments}) -> {self.types[result]} {{\n{body}\n}}\n"


def softmax_program(shape: Sequence[str]) -> str:
    """Softmax along the last axis."""
    emitter = Emitter()
    x = emitter.declare("%x", shape)
    return emitter.function("softmax", [x], emitter.softmax(x))


def transformer_program(batch: str, length: int = 6, width: int = 8, hidden: int = 16) -> str:
    """Attention of one head and a network of two layers, both on what is normalized before and added after."""
    emitter, random = Emitter(), Random(7)
    x = emitter.declare("%x", (batch, length, width))
    shape = [batch, str(length), str(width)]
    add = ["%s = arith.addf %in0, %in1 : f32", "linalg.yield %s : f32"]

    def layer(value: str, rows: int, columns: int) -> str:
        weight = emitter.weight(random, (rows, columns), 0.5)
        return emitter.dense(value, weight, emitter.weight(random, (columns,), 0.1))

    def norm(value: str) -> str:
        return emitter.normalized(value, emitter.weight(random, (width,), 1.5), emitter.weight(random, (width,), 0.2))

    inner = norm(x)
    queries, keys, values = (layer(inner, width, width) for _ in range(3))
    scores = emitter.product(queries, emitter.transposed(keys))
    scale = ["%c = arith.constant 0.35355339 : f32", "%s = arith.mulf %in0, %c : f32", "linalg.yield %s : f32"]
    scores = emitter.pointwise([scores], [batch, str(length), str(length)], scale)
    mixed = layer(emitter.product(emitter.softmax(scores), values), width, width)
    after = emitter.pointwise([x, mixed], shape, add)
    wide = layer(norm(after), width, hidden)
    gelu = [
        "%r = arith.constant 1.41421354 : f32",
        "%one = arith.constant 1.0 : f32",
        "%half = arith.constant 0.5 : f32",
        "%d = arith.divf %in0, %r : f32",
        "%e = math.erf %d : f32",
        "%a = arith.addf %e, %one : f32",
        "%h = arith.mulf %a, %half : f32",
        "%s = arith.mulf %in0, %h : f32",
        "linalg.yield %s : f32",
    ]
    active = emitter.pointwise([wide], [batch, str(length), str(hidden)], gelu)
    result = emitter.pointwise([after, layer(active, hidden, width)], shape, add)
    return emitter.function("block", [x], result)
