"""Statements whose parts depend on each other in ways that definitions do not state: regions, slices, windows.

Each recipe makes one statement by chance. `{` and `}` stand for themselves: placeholders are those of `Atom`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from tests.mlir_programs import texts
from tests.mlir_programs.atoms import Atom

Recipe = Callable[[Random], Atom]
DYNAMIC = -(2**63)
FLOATS = ("f32", "f64", "f16", "bf16")
NUMBERS = ("f32", "f64", "i32", "i64", "i8", "index")


def _tensor(sizes: list[int | None], element: str) -> str:
    return f"tensor<{''.join(['?x' if n is None else f'{n}x' for n in sizes])}{element}>"


def _longs(values: list[int]) -> str:
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def _segments(*sizes: int) -> str:
    return f"operandSegmentSizes = array<i32: {', '.join(map(str, sizes))}>"


# -- scf and shape: regions around other statements


def _value(random: Random) -> str:
    return random.choice(("f32", "i32", "index", "i1", "tensor<4xf32>", "tensor<?x3xi8>", "vector<4xf32>"))


def scf_if(random: Random) -> Atom:
    """A condition, with or without values and an else."""
    if random.random() < 0.4:
        other = random.choice(['\n  "scf.yield"() : () -> ()\n', ""])
        return Atom(
            "scf.if",
            ("i1",),
            (),
            f'"scf.if"($0) ({{\n$body\n"scf.yield"() : () -> ()\n}}, {{{other}}})$a : (i1) -> ()$l',
        )
    t = _value(random)
    text = f'$r = "scf.if"($0) ({{\n$body\n"scf.yield"($1) : ({t}) -> ()\n}}, {{\n"scf.yield"($2) : ({t}) -> ()\n}})$a : (i1) -> ({t})$l'
    return Atom("scf.if", ("i1", t, t), (t,), text)


def scf_for(random: Random) -> Atom:
    """A loop that counts, with values or without."""
    i = random.choice(("index", "index", "i32", "i64"))
    unsigned = random.choice(("", " <{unsignedCmp}>"))
    carried = [_value(random) for _ in range(random.randint(0, 2))]
    operands = "".join([f", ${n + 3}" for n in range(len(carried))])
    arguments = ", ".join([f"%$ui: {i}", *[f"%$uc{n}: {t}" for n, t in enumerate(carried)]])
    yielded = ", ".join([f"%$uc{n}" for n in range(len(carried))])
    types = ", ".join(carried)
    text = f'"scf.for"($0, $1, $2{operands}){unsigned} ({{\n^bb0({arguments}):\n$body\n"scf.yield"({yielded}) : ({types}) -> ()\n}})$a : ({", ".join([i, i, i, *carried])}) -> ({types})$l'
    return Atom("scf.for", (i, i, i, *carried), tuple(carried), f"$r = {text}" if carried else text)


def scf_while(random: Random) -> Atom:
    """A loop with a condition."""
    t, u = _value(random), _value(random)
    text = f'$r = "scf.while"($0) ({{\n^bb0(%$ua: {t}):\n$body\n"scf.condition"($1, $2) : (i1, {u}) -> ()\n}}, {{\n^bb0(%$ub: {u}):\n"scf.yield"($0) : ({t}) -> ()\n}})$a : ({t}) -> ({u})$l'
    return Atom("scf.while", (t, "i1", u), (u,), text)


def scf_execute_region(random: Random) -> Atom:
    """A region of one or several blocks."""
    t = _value(random)
    flag = random.choice(("", " <{no_inline}>"))
    if random.random() < 0.5:
        text = f'$r = "scf.execute_region"(){flag} ({{\n$body\n"scf.yield"($0) : ({t}) -> ()\n}})$a : () -> ({t})$l'
    else:
        text = f'$r = "scf.execute_region"(){flag} ({{\n$body\n"cf.cond_br"($1)[^a$u, ^b$u] <{{{_segments(1, 0, 0)}}}> : (i1) -> ()\n^a$u:\n"cf.br"($0)[^c$u] : ({t}) -> ()\n^b$u:\n"scf.yield"($0) : ({t}) -> ()\n^c$u(%$ux: {t}):\n"scf.yield"(%$ux) : ({t}) -> ()\n}})$a : () -> ({t})$l'
    return Atom("scf.execute_region", (t, "i1"), (t,), text)


def scf_index_switch(random: Random) -> Atom:
    """A choice among regions."""
    cases = random.sample(range(-2, 9), random.randint(0, 3))
    t = _value(random) if random.random() < 0.6 else ""
    end = f'"scf.yield"($1) : ({t}) -> ()' if t else '"scf.yield"() : () -> ()'
    regions = ", ".join([f"{{\n$body\n{end}\n}}", *[f"{{\n{end}\n}}" for _ in cases]])
    text = f'"scf.index_switch"($0) <{{cases = {_longs(cases)}}}> ({regions})$a : (index) -> ({t})$l'
    if t:
        return Atom("scf.index_switch", ("index", t), (t,), f"$r = {text}")
    return Atom("scf.index_switch", ("index",), (), text)


def scf_parallel(random: Random) -> Atom:
    """A loop over a grid, with reductions or without."""
    rank, count = random.randint(1, 2), random.randint(0, 2)
    kinds = [random.choice(("f32", "i32", "index")) for _ in range(count)]
    operands = ["index"] * (3 * rank) + kinds
    positions = ", ".join([f"%$ui{n}: index" for n in range(rank)])
    combined = ", ".join(
        [
            f'{{\n^bb0(%$ul{n}: {t}, %$ur{n}: {t}):\n"scf.reduce.return"(%$ul{n}) : ({t}) -> ()\n}}'
            for n, t in enumerate(kinds)
        ]
    )
    arguments = ", ".join([f"${3 * rank + n}" for n in range(count)])
    regions = f" ({combined})" if count else ""
    reduce = f'"scf.reduce"({arguments}){regions} : ({", ".join(kinds)}) -> ()'
    text = f'"scf.parallel"({", ".join([f"${n}" for n in range(len(operands))])}) <{{{_segments(rank, rank, rank, count)}}}> ({{\n^bb0({positions}):\n$body\n{reduce}\n}})$a : ({", ".join(operands)}) -> ({", ".join(kinds)})$l'
    return Atom("scf.parallel", tuple(operands), tuple(kinds), f"$r = {text}" if count else text)


def scf_forall(random: Random) -> Atom:
    """A loop over a grid whose rounds insert slices into a shared tensor."""
    normalized = random.random() < 0.5
    lower, step = ("0", "1") if normalized else ("2", "3")
    dynamic = random.random() < 0.5
    upper = str(DYNAMIC) if dynamic else "16"
    head = f"staticLowerBound = array<i64: {lower}>, staticStep = array<i64: {step}>, staticUpperBound = array<i64: {upper}>"
    shared = random.random() < 0.7
    mapping = random.choice(("", ", mapping = [#gpu.thread<x>]"))
    sizes = _segments(0, int(dynamic), 0, int(shared))
    bound, kinds = ("$0, ", "index, ") if dynamic else ("", "")
    n = int(dynamic)
    if not shared:
        text = f'"scf.forall"({bound.rstrip(", ")}) <{{{sizes}, {head}{mapping}}}> ({{\n^bb0(%$ui: index):\n$body\n"scf.forall.in_parallel"() ({{\n^bb0:\n}}) : () -> ()\n}})$a : ({kinds.rstrip(", ")}) -> ()$l'
        return Atom("scf.forall", ("index",) if dynamic else (), (), text)
    insert = f'"tensor.parallel_insert_slice"(${n + 1}, %$uo, %$ui) <{{{_segments(1, 1, 1, 0, 0)}, static_offsets = array<i64: {DYNAMIC}>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}}> : (tensor<4xf32>, tensor<64xf32>, index) -> ()'
    text = f'$r = "scf.forall"({bound}${n}) <{{{sizes}, {head}{mapping}}}> ({{\n^bb0(%$ui: index, %$uo: tensor<64xf32>):\n$body\n"scf.forall.in_parallel"() ({{\n{insert}\n}}) : () -> ()\n}})$a : ({kinds}tensor<64xf32>) -> (tensor<64xf32>)$l'
    operands = (("index",) if dynamic else ()) + ("tensor<64xf32>", "tensor<4xf32>")
    return Atom("scf.forall", operands, ("tensor<64xf32>",), text)


def shape_assuming(random: Random) -> Atom:
    """A region that relies on a witness."""
    if random.random() < 0.4:
        return Atom(
            "shape.assuming",
            ("!shape.witness",),
            (),
            '"shape.assuming"($0) ({\n$body\n"shape.assuming_yield"() : () -> ()\n})$a : (!shape.witness) -> ()$l',
        )
    t = _value(random)
    text = f'$r = "shape.assuming"($0) ({{\n$body\n"shape.assuming_yield"($1) : ({t}) -> ()\n}})$a : (!shape.witness) -> ({t})$l'
    return Atom("shape.assuming", ("!shape.witness", t), (t,), text)


def shape_reduce(random: Random) -> Atom:
    """A reduction over the sizes of a shape."""
    kind, size = random.choice(
        (("!shape.shape", "!shape.size"), ("tensor<?xindex>", "index"), ("tensor<3xindex>", "index"))
    )
    t = _value(random)
    text = f'$r = "shape.reduce"($0, $1) ({{\n^bb0(%$ui: index, %$un: {size}, %$uc: {t}):\n$body\n"shape.yield"(%$uc) : ({t}) -> ()\n}})$a : ({kind}, {t}) -> ({t})$l'
    return Atom("shape.reduce", (kind, t), (t,), text)


# -- tensor


def tensor_generate(random: Random) -> Atom:
    """A tensor made by a region."""
    sizes = [random.choice((None, 3)) for _ in range(random.randint(0, 3))]
    element = random.choice(NUMBERS)
    kind, dynamic = _tensor(sizes, element), sizes.count(None)
    arguments = ", ".join([f"${n}" for n in range(dynamic)])
    label = f"^bb0({', '.join([f'%$ui{n}: index' for n in range(len(sizes))])}):\n" if sizes else ""
    text = f'$r = "tensor.generate"({arguments}) ({{\n{label}$body\n"tensor.yield"(${dynamic}) : ({element}) -> ()\n}})$a : ({", ".join(["index"] * dynamic)}) -> {kind}$l'
    return Atom("tensor.generate", ("index",) * dynamic + (element,), (kind,), text)


def tensor_pad(random: Random) -> Atom:
    """A tensor with borders of known and computed widths."""
    rank = random.randint(1, 3)
    low = [random.choice((0, 1, 2, DYNAMIC)) for _ in range(rank)]
    high = [random.choice((0, 1, 3, DYNAMIC)) for _ in range(rank)]
    element = random.choice(NUMBERS)
    expected = [None if DYNAMIC in (a, b) else 4 + a + b for a, b in zip(low, high, strict=True)]
    source, target = _tensor([4] * rank, element), _tensor(expected, element)
    count = [low.count(DYNAMIC), high.count(DYNAMIC)]
    arguments = ", ".join([f"${n}" for n in range(1 + sum(count))])
    flag = random.choice(("", "nofold, "))
    label = ", ".join([f"%$ui{n}: index" for n in range(rank)])
    text = f'$r = "tensor.pad"({arguments}) <{{{flag}{_segments(1, *count)}, static_high = {_longs(high)}, static_low = {_longs(low)}}}> ({{\n^bb0({label}):\n$body\n"tensor.yield"(${1 + sum(count)}) : ({element}) -> ()\n}})$a : ({", ".join([source, *["index"] * sum(count)])}) -> {target}$l'
    return Atom("tensor.pad", (source, *["index"] * sum(count), element), (target,), text)


def tensor_from_elements(random: Random) -> Atom:
    """A tensor of single elements."""
    shape = random.choice(([], [1], [3], [2, 2]))
    count = 1
    for n in shape:
        count *= n
    element = random.choice(NUMBERS)
    kind = _tensor([*shape], element)
    arguments = ", ".join([f"${n}" for n in range(count)])
    return Atom(
        "tensor.from_elements",
        (element,) * count,
        (kind,),
        f'$r = "tensor.from_elements"({arguments})$a : ({", ".join([element] * count)}) -> {kind}$l',
    )


def tensor_splat(random: Random) -> Atom:
    """A tensor of one number."""
    sizes = [random.choice((2, None)) for _ in range(random.randint(0, 3))]
    element = random.choice(NUMBERS)
    kind, dynamic = _tensor(sizes, element), sizes.count(None)
    arguments = ", ".join([f"${n}" for n in range(1 + dynamic)])
    types = ", ".join([element, *["index"] * dynamic])
    return Atom(
        "tensor.splat",
        (element, *["index"] * dynamic),
        (kind,),
        f'$r = "tensor.splat"({arguments})$a : ({types}) -> {kind}$l',
    )


def _slice(random: Random, rank: int) -> tuple[list[int], list[int], list[int]]:
    offsets = [random.choice((0, 1, DYNAMIC)) for _ in range(rank)]
    sizes = [random.choice((1, 2, 3, DYNAMIC)) for _ in range(rank)]
    strides = [random.choice((1, 1, 2, DYNAMIC)) for _ in range(rank)]
    return offsets, sizes, strides


def tensor_extract_slice(random: Random) -> Atom:
    """A part of a tensor, of the same or a lower rank."""
    rank = random.randint(1, 3)
    offsets, sizes, strides = _slice(random, rank)
    shape = [None if n == DYNAMIC else n for n in sizes]
    if random.random() < 0.4 and 1 in shape:
        shape.remove(1)
    element = random.choice(NUMBERS)
    source, target = _tensor([random.choice((16, None)) for _ in range(rank)], element), _tensor(shape, element)
    counts = [g.count(DYNAMIC) for g in (offsets, sizes, strides)]
    arguments = ", ".join([f"${n}" for n in range(1 + sum(counts))])
    numbers = f"static_offsets = {_longs(offsets)}, static_sizes = {_longs(sizes)}, static_strides = {_longs(strides)}"
    types = [source, *["index"] * sum(counts)]
    return Atom(
        "tensor.extract_slice",
        tuple(types),
        (target,),
        f'$r = "tensor.extract_slice"({arguments}) <{{{_segments(1, *counts)}, {numbers}}}>$a : ({", ".join(types)}) -> {target}$l',
    )


def tensor_insert_slice(random: Random) -> Atom:
    """A tensor with a part replaced."""
    rank = random.randint(1, 3)
    offsets, sizes, strides = _slice(random, rank)
    shape = [None if n == DYNAMIC else n for n in sizes]
    if random.random() < 0.4 and 1 in shape:
        shape.remove(1)
    element = random.choice(NUMBERS)
    target, source = _tensor([random.choice((16, None)) for _ in range(rank)], element), _tensor(shape, element)
    counts = [g.count(DYNAMIC) for g in (offsets, sizes, strides)]
    arguments = ", ".join([f"${n}" for n in range(2 + sum(counts))])
    numbers = f"static_offsets = {_longs(offsets)}, static_sizes = {_longs(sizes)}, static_strides = {_longs(strides)}"
    types = [source, target, *["index"] * sum(counts)]
    return Atom(
        "tensor.insert_slice",
        tuple(types),
        (target,),
        f'$r = "tensor.insert_slice"({arguments}) <{{{_segments(1, 1, *counts)}, {numbers}}}>$a : ({", ".join(types)}) -> {target}$l',
    )


def tensor_scatter(random: Random) -> Atom:
    """Slices put at positions of a tensor."""
    element = random.choice(NUMBERS)
    source, target = f"tensor<5x1x4x{element}>", f"tensor<8x4x{element}>"
    positions = f"tensor<5x1x{random.choice(('index', 'i32'))}>"
    return Atom(
        "tensor.scatter",
        (source, target, positions),
        (target,),
        f'$r = "tensor.scatter"($0, $1, $2) <{{scatter_dims = array<i64: 0>, unique}}>$a : ({source}, {target}, {positions}) -> {target}$l',
    )


def tensor_gather(random: Random) -> Atom:
    """Slices at positions of a tensor."""
    element = random.choice(NUMBERS)
    source, target = f"tensor<8x4x{element}>", random.choice(("tensor<5x1x4x{}>", "tensor<5x4x{}>")).format(element)
    positions = "tensor<5x1xindex>"
    flag = random.choice(("", ", unique"))
    return Atom(
        "tensor.gather",
        (source, positions),
        (target,),
        f'$r = "tensor.gather"($0, $1) <{{gather_dims = array<i64: 0>{flag}}}>$a : ({source}, {positions}) -> {target}$l',
    )


# -- linalg


def linalg_generic(random: Random) -> Atom:
    """Elements computed by a region."""
    element = random.choice(FLOATS)
    shape = [random.choice((2, 3, None)) for _ in range(2)]
    kind = _tensor(shape, element)
    turned = _tensor(shape[::-1], element)
    maps = random.choice(("(d0, d1)", "(d1, d0)"))
    first = kind if maps == "(d0, d1)" else turned
    doc = random.choice(("", ', doc = "what it does"', ', library_call = "other"'))
    index = '%$ui = "linalg.index"() <{dim = 1 : i64}> : () -> index\n' if random.random() < 0.5 else ""
    text = f'$r = "linalg.generic"($0, $1) <{{indexing_maps = [affine_map<(d0, d1) -> {maps}>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<{random.choice(("parallel", "parallel", "reduction"))}>], {_segments(1, 1)}{doc}}}> ({{\n^bb0(%$ux: {element}, %$uy: {element}):\n{index}%$uz = "arith.addf"(%$ux, %$uy) <{{fastmath = #arith.fastmath<none>}}> : ({element}, {element}) -> {element}\n"linalg.yield"(%$uz) : ({element}) -> ()\n}})$a : ({first}, {kind}) -> {kind}$l'
    return Atom("linalg.generic", (first, kind), (kind,), text)


def linalg_map(random: Random) -> Atom:
    """One operation, or several, on elements."""
    element = random.choice(FLOATS)
    kind = f"tensor<{random.choice(('', '4x', '?x3x'))}{element}>"
    more = (
        f'%$uw = "arith.negf"(%$uz) <{{fastmath = #arith.fastmath<none>}}> : ({element}) -> {element}\n'
        if random.random() < 0.5
        else ""
    )
    out = "%$uw" if more else "%$uz"
    text = f'$r = "linalg.map"($0, $1, $2) ({{\n^bb0(%$ux: {element}, %$uy: {element}, %$ui: {element}):\n%$uz = "arith.mulf"(%$ux, %$uy) <{{fastmath = #arith.fastmath<{random.choice(("none", "fast"))}>}}> : ({element}, {element}) -> {element}\n{more}"linalg.yield"({out}) : ({element}) -> ()\n}})$a : ({kind}, {kind}, {kind}) -> {kind}$l'
    return Atom("linalg.map", (kind, kind, kind), (kind,), text)


def linalg_reduce(random: Random) -> Atom:
    """Axes summed up."""
    element = random.choice(FLOATS)
    more = (
        f'%$uw = "arith.negf"(%$uz) <{{fastmath = #arith.fastmath<none>}}> : ({element}) -> {element}\n'
        if random.random() < 0.5
        else ""
    )
    out = "%$uw" if more else "%$uz"
    source, target = f"tensor<2x?x4x{element}>", f"tensor<2x4x{element}>"
    text = f'$r = "linalg.reduce"($0, $1) <{{dimensions = array<i64: 1>}}> ({{\n^bb0(%$ux: {element}, %$uy: {element}):\n%$uz = "arith.addf"(%$ux, %$uy) <{{fastmath = #arith.fastmath<none>}}> : ({element}, {element}) -> {element}\n{more}"linalg.yield"({out}) : ({element}) -> ()\n}})$a : ({source}, {target}) -> {target}$l'
    return Atom("linalg.reduce", (source, target), (target,), text)


def linalg_transpose(random: Random) -> Atom:
    """Axes in another order, or new ones."""
    element = random.choice(NUMBERS)
    if random.random() < 0.5:
        source, target = f"tensor<2x?x4x{element}>", f"tensor<4x2x?x{element}>"
        name, attributes = "transpose", "permutation = array<i64: 2, 0, 1>"
    else:
        source, target = f"tensor<2x4x{element}>", f"tensor<2x3x4x{element}>"
        name, attributes = "broadcast", "dimensions = array<i64: 1>"
    inner = f'({{\n^bb0(%$ux: {element}, %$uy: {element}):\n"linalg.yield"(%$ux) : ({element}) -> ()\n}})'
    text = f'$r = "linalg.{name}"($0, $1) <{{{attributes}}}> {inner}$a : ({source}, {target}) -> {target}$l'
    return Atom(f"linalg.{name}", (source, target), (target,), text)


def _multiplied(element: str) -> str:
    none = "<{fastmath = #arith.fastmath<none>}>"
    return (
        f"({{\n^bb0(%$ux: {element}, %$uy: {element}, %$uz: {element}):\n"
        f'%$up = "arith.mulf"(%$ux, %$uy) {none} : ({element}, {element}) -> {element}\n'
        f'%$us = "arith.addf"(%$uz, %$up) {none} : ({element}, {element}) -> {element}\n'
        f'"linalg.yield"(%$us) : ({element}) -> ()\n}})'
    )


def linalg_contract(random: Random) -> Atom:
    """A product of matrices under maps of its own."""
    element = random.choice(FLOATS)
    turned = random.random() < 0.5
    a, b, c = f"tensor<2x3x{element}>", f"tensor<{'4x3' if turned else '3x4'}x{element}>", f"tensor<2x4x{element}>"
    second = "d1, d2" if turned else "d2, d1"
    maps = ", ".join([f"affine_map<(d0, d1, d2) -> ({r})>" for r in ("d0, d2", second, "d0, d1")])
    name = random.choice(("contract", "matmul"))
    attributes = f"indexing_maps = [{maps}], {_segments(2, 1)}"
    text = f'$r = "linalg.{name}"($0, $1, $2) <{{{attributes}}}> {_multiplied(element)}$a : ({a}, {b}, {c}) -> {c}$l'
    return Atom(f"linalg.{name}", (a, b, c), (c,), text)


def linalg_elementwise(random: Random) -> Atom:
    """A function of elements, of which an attribute names the kind."""
    element = random.choice(FLOATS)
    kind = f"tensor<2x3x{element}>"
    name, op = random.choice((("exp", "math.exp"), ("abs", "math.absf"), ("negf", "arith.negf"), ("sqrt", "math.sqrt")))
    turned = random.random() < 0.5
    source, first = (f"tensor<3x2x{element}>", "d1, d0") if turned else (kind, "d0, d1")
    maps = f"affine_map<(d0, d1) -> ({first})>, affine_map<(d0, d1) -> (d0, d1)>"
    inner = (
        f"({{\n^bb0(%$ux: {element}, %$uy: {element}):\n"
        f'%$uz = "{op}"(%$ux) <{{fastmath = #arith.fastmath<none>}}> : ({element}) -> {element}\n'
        f'"linalg.yield"(%$uz) : ({element}) -> ()\n}})'
    )
    attributes = f"indexing_maps = [{maps}], kind = #linalg.elementwise_kind<{name}>, {_segments(1, 1)}"
    text = f'$r = "linalg.elementwise"($0, $1) <{{{attributes}}}> {inner}$a : ({source}, {kind}) -> {kind}$l'
    return Atom("linalg.elementwise", (source, kind), (kind,), text)


def linalg_winograd(random: Random) -> Atom:
    """One of the transforms of a fast convolution."""
    name, source, target = random.choice(
        (
            ("filter", "tensor<2x3x3x5xf32>", "tensor<6x6x5x2xf32>"),
            ("input", "tensor<2x10x10x5xf32>", "tensor<6x6x2x2x2x5xf32>"),
            ("output", "tensor<6x6x2x2x2x2xf32>", "tensor<2x8x8x2xf32>"),
        )
    )
    text = f'$r = "linalg.winograd_{name}_transform"($0, $1) <{{fmr = 1 : i32}}>$a : ({source}, {target}) -> {target}$l'
    return Atom(f"linalg.winograd_{name}_transform", (source, target), (target,), text)


# -- tosa


def tosa_const(random: Random) -> Atom:
    """A constant."""
    element = random.choice(("i8", "i16", "i32", "i1", "f16", "bf16", "f32"))
    item = texts.integer(random, element) if element[0] == "i" else texts.floating(random, element)
    value = item.partition(" ")[0]
    kind = f"tensor<{random.choice(('', '1x', '2x3x'))}{element}>"
    return Atom(
        "tosa.const", (), (kind,), f'$r = "tosa.const"() <{{values = dense<{value}> : {kind}}}>$a : () -> {kind}$l'
    )


def tosa_pool(random: Random) -> Atom:
    """The largest or the mean element of windows."""
    element = random.choice(("f32", "i8", "f16"))
    source, target = f"tensor<1x8x8x3x{element}>", f"tensor<1x4x4x3x{element}>"
    windows = "kernel = array<i64: 2, 2>, {}pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>"
    if random.random() < 0.5:
        nan = random.choice(("IGNORE", "PROPAGATE"))
        stored = windows.format(f"nan_mode = #tosa.nan_mode<{nan}>, ")
        return Atom(
            "tosa.max_pool2d",
            (source,),
            (target,),
            f'$r = "tosa.max_pool2d"($0) <{{{stored}}}>$a : ({source}) -> {target}$l',
        )
    wide = {"i8": "i32", "f16": "f16", "f32": "f32"}[element]
    zero = f"tensor<1x{element}>"
    number = "0" if element == "i8" else "0.0"
    before = f'%$uz = "tosa.const"() <{{values = dense<{number}> : {zero}}}> : () -> {zero}\n'
    stored = f"acc_type = {wide}, {windows.format('')}"
    text = f'{before}$r = "tosa.avg_pool2d"($0, %$uz, %$uz) <{{{stored}}}>$a : ({source}, {zero}, {zero}) -> {target}$l'
    return Atom("tosa.avg_pool2d", (source,), (target,), text)


_CONVOLUTIONS: Mapping[str, tuple[str, str, str, str, str]] = {
    "conv2d": (
        "1x8x8x3x",
        "5x3x3x3x",
        "5x",
        "1x6x6x5x",
        "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>",
    ),
    "conv3d": (
        "1x4x8x8x3x",
        "5x1x3x3x3x",
        "5x",
        "1x4x6x6x5x",
        "dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>",
    ),
    "depthwise_conv2d": (
        "1x8x8x3x",
        "3x3x3x2x",
        "6x",
        "1x6x6x6x",
        "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>",
    ),
    "transpose_conv2d": (
        "1x8x8x3x",
        "5x3x3x3x",
        "5x",
        "1x10x10x5x",
        "out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>",
    ),
}


def tosa_convolution(random: Random) -> Atom:
    """A convolution."""
    name = random.choice(list(_CONVOLUTIONS))
    source, window, bias, target, numbers = _CONVOLUTIONS[name]
    e, w = random.choice((("f32", "f32"), ("i8", "i32"), ("f16", "f16")))
    number = "0" if e == "i8" else "0.0"
    types = [f"tensor<{source}{e}>", f"tensor<{window}{e}>", f"tensor<{bias}{w}>", f"tensor<1x{e}>", f"tensor<1x{e}>"]
    before = f'%$uz = "tosa.const"() <{{values = dense<{number}> : tensor<1x{e}>}}> : () -> tensor<1x{e}>\n'
    wide = f"tensor<{target}{w}>"
    local = random.choice(("", "local_bound = true, ", "local_bound = false, "))
    text = f'{before}$r = "tosa.{name}"($0, $1, $2, %$uz, %$uz) <{{acc_type = {w}, {local}{numbers}}}>$a : ({", ".join(types)}) -> {wide}$l'
    return Atom(f"tosa.{name}", tuple(types[:3]), (wide,), text)


def tosa_cond_if(random: Random) -> Atom:
    """A condition on a tensor."""
    t = random.choice(("tensor<4xf32>", "tensor<?x3xi8>", "tensor<f16>"))
    text = f'$r = "tosa.cond_if"($0, $1) ({{\n^bb0(%$ux: {t}):\n$body\n"tosa.yield"(%$ux) : ({t}) -> ()\n}}, {{\n^bb0(%$uy: {t}):\n"tosa.yield"(%$uy) : ({t}) -> ()\n}})$a : (tensor<i1>, {t}) -> {t}$l'
    return Atom("tosa.cond_if", ("tensor<i1>", t), (t,), text)


def tosa_while_loop(random: Random) -> Atom:
    """A loop with a condition on tensors."""
    t = random.choice(("tensor<4xf32>", "tensor<?x3xi8>", "tensor<f16>"))
    text = f'$r = "tosa.while_loop"($0) ({{\n^bb0(%$ux: {t}):\n"tosa.yield"($1) : (tensor<i1>) -> ()\n}}, {{\n^bb0(%$uy: {t}):\n$body\n"tosa.yield"(%$uy) : ({t}) -> ()\n}})$a : ({t}) -> {t}$l'
    return Atom("tosa.while_loop", (t, "tensor<i1>"), (t,), text)


def tosa_variable(random: Random) -> Atom:
    """A variable that is read or written."""
    kind = random.choice(("tensor<2x3xf32>", "tensor<4xi32>"))
    shape = kind.removeprefix("tensor<").rpartition("x")
    sizes = ", ".join(shape[0].split("x"))
    element = shape[2].rstrip(">")
    count = sizes.count(",") + 1
    number = "1" if element == "i32" else "1.5"
    value = f", initial_value = dense<{number}> : {kind}" if random.random() < 0.5 else ""
    top = f'"tosa.variable"() <{{sym_name = "var$u"{value}, type = {element}, var_shape = dense<[{sizes}]> : tensor<{count}xindex>}}> : () -> ()'
    if random.random() < 0.5:
        return Atom(
            "tosa.variable_read",
            (),
            (kind,),
            f'$r = "tosa.variable_read"() <{{name = "var$u"}}>$a : () -> {kind}$l',
            top,
        )
    return Atom(
        "tosa.variable_write", (kind,), (), f'"tosa.variable_write"($0) <{{name = "var$u"}}>$a : ({kind}) -> ()$l', top
    )


# -- others


def complex_constant(random: Random) -> Atom:
    """A complex number."""
    part = random.choice(("f32", "f64"))
    a, b = [texts.floating(random, part) for _ in range(2)]
    return Atom(
        "complex.constant",
        (),
        (f"complex<{part}>",),
        f'$r = "complex.constant"() <{{value = [{a}, {b}]}}>$a : () -> complex<{part}>$l',
    )


def complex_bitcast(random: Random) -> Atom:
    """The bits of a complex number."""
    a, b = random.sample(["complex<f32>", "i64"], 2)
    return Atom("complex.bitcast", (a,), (b,), f'$r = "complex.bitcast"($0)$a : ({a}) -> {b}$l')


def ml_program_global(random: Random) -> Atom:
    """A global that is loaded or stored."""
    kind = random.choice(("tensor<4xi32>", "tensor<?xi32>", "i32"))
    value = "7 : i32" if kind == "i32" else "dense<[1, 2, 3, 4]> : tensor<4xi32>"
    mutable = random.random() < 0.6
    attributes = (
        f", value = {random.choice([value, f'#ml_program.extern : {kind}'])}"
        if not mutable or random.random() < 0.5
        else ""
    )
    seen = random.choice((', sym_visibility = "private"', ', sym_visibility = "nested"', ""))
    flag = "is_mutable, " if mutable else ""
    top = f'"ml_program.global"() <{{{flag}sym_name = "glob$u"{seen}, type = {kind}{attributes}}}>$a : () -> ()'
    if mutable and random.random() < 0.5:
        return Atom(
            "ml_program.global_store",
            (kind,),
            (),
            f'"ml_program.global_store"($0) <{{global = @glob$u}}>$a : ({kind}) -> ()$l',
            top,
        )
    name = "ml_program.global_load" if mutable or random.random() < 0.5 else "ml_program.global_load_const"
    return Atom(name, (), (kind,), f'$r = "{name}"() <{{global = @glob$u}}>$a : () -> {kind}$l', top)


def ml_program_graph(random: Random) -> Atom:
    """A global that is loaded or stored between tokens."""
    kind, token = "tensor<4xi32>", "!ml_program.token"
    top = f'"ml_program.global"() <{{is_mutable, sym_name = "state$u", sym_visibility = "private", type = {kind}}}> : () -> ()'
    count = random.randint(0, 2)
    tokens = [f"${n}" for n in range(count)]
    if random.random() < 0.5:
        text = f'$r = "ml_program.global_load_graph"({", ".join(tokens)}) <{{global = @state$u}}>$a : ({", ".join([token] * count)}) -> ({kind}, {token})$l'
        return Atom("ml_program.global_load_graph", (token,) * count, (kind, token), text, top)
    text = f'$r = "ml_program.global_store_graph"({", ".join([f"${count}", *tokens])}) <{{global = @state$u}}>$a : ({", ".join([kind, *[token] * count])}) -> {token}$l'
    return Atom("ml_program.global_store_graph", (*[token] * count, kind), (token,), text, top)


def func_call(random: Random) -> Atom:
    """A call of a function that has no body, by its name or as a value."""
    inputs, outputs = (
        [_value(random) for _ in range(random.randint(0, 2))],
        [_value(random) for _ in range(random.randint(0, 2))],
    )
    kind = f"({', '.join(inputs)}) -> ({', '.join(outputs)})"
    top = f'"func.func"() <{{function_type = {kind}, sym_name = "decl$u", sym_visibility = "private"}}> ({{\n}})$a : () -> ()'
    arguments = [f"${n}" for n in range(len(inputs))]
    bound = "$r = " if outputs else ""
    if random.random() < 0.5:
        return Atom(
            "func.call",
            tuple(inputs),
            tuple(outputs),
            f'{bound}"func.call"({", ".join(arguments)}) <{{callee = @decl$u}}>$a : {kind}$l',
            top,
        )
    before = f'%$uf = "func.constant"() <{{value = @decl$u}}> : () -> ({kind})\n'
    types = ", ".join([f"({kind})" if not kind.startswith("(") else kind, *inputs])
    text = f'{before}{bound}"func.call_indirect"({", ".join(["%$uf", *arguments])})$a : ({types}) -> ({", ".join(outputs)})$l'
    return Atom("func.call_indirect", tuple(inputs), tuple(outputs), text, top)


def unregistered(random: Random) -> Atom:
    """An operation of no known dialect."""
    inputs, outputs = (
        [_value(random) for _ in range(random.randint(0, 2))],
        [texts.type_(random) for _ in range(random.randint(0, 2))],
    )
    arguments = ", ".join([f"${n}" for n in range(len(inputs))])
    bound = "$r = " if outputs else ""
    attributes = f"held = {texts.attribute(random, 1)}" if random.random() < 0.8 else ""
    properties = f" <{{{attributes}}}>" if random.random() < 0.35 else ""
    region = f" ({{\n^bb0(%$ux: {_value(random)}):\n$body\n}})" if random.random() < 0.3 else ""
    text = f'{bound}"other.op"({arguments}){properties}{region}$a : ({", ".join(inputs)}) -> ({", ".join(outputs)})$l'
    return Atom("other.op", tuple(inputs), tuple(outputs), text)


RECIPES: tuple[Recipe, ...] = (
    scf_if,
    scf_for,
    scf_while,
    scf_execute_region,
    scf_index_switch,
    scf_parallel,
    scf_forall,
    shape_assuming,
    shape_reduce,
    tensor_generate,
    tensor_pad,
    tensor_from_elements,
    tensor_splat,
    tensor_extract_slice,
    tensor_insert_slice,
    tensor_scatter,
    tensor_gather,
    linalg_generic,
    linalg_map,
    linalg_reduce,
    linalg_transpose,
    linalg_contract,
    linalg_elementwise,
    linalg_winograd,
    tosa_const,
    tosa_pool,
    tosa_convolution,
    tosa_cond_if,
    tosa_while_loop,
    tosa_variable,
    complex_constant,
    complex_bitcast,
    ml_program_global,
    ml_program_graph,
    func_call,
    unregistered,
)
"""All recipes."""
