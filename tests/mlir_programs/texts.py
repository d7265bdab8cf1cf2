"""Types, attributes and locations as texts, of all sorts, chosen by chance.

Written from the language reference, not with the printer under test.
"""

from __future__ import annotations

from random import Random

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "i3", "i48", "si8", "ui16", "si64")
FLOATS = ("f16", "bf16", "f32", "f64", "tf32", "f8E5M2", "f8E4M3FN", "f8E4M3B11FNUZ", "f4E2M1FN", "f128")
NUMBERS = (*INTEGERS, *FLOATS, "index", "complex<f32>", "complex<i8>")


def sizes(random: Random, *, dynamic: bool = True, most: int = 3) -> str:
    """The sizes of a shape, each followed by `x`."""
    result = [
        "?" if dynamic and random.random() < 0.3 else str(random.randint(0, 4)) for _ in range(random.randint(0, most))
    ]
    return "".join([f"{n}x" for n in result])


def element(random: Random) -> str:
    """A type that may be that of the elements of a tensor."""
    if random.random() < 0.1:
        return random.choice(["!other.thing", "!other.pair<i32, 4>", "vector<2xf32>", "!tosa.mxint8", "!shape.size"])
    return random.choice(NUMBERS)


def _layout(random: Random, rank: int) -> str:
    strides = ", ".join([random.choice(["?", "1", "4", "12"]) for _ in range(rank)])
    offset = random.choice(["", ", offset: ?", ", offset: 3"])
    names = ", ".join([f"i{n}" for n in range(rank)])
    backwards = ", ".join([f"i{n}" for n in reversed(range(rank))])
    return random.choice(["", f", strided<[{strides}]{offset}>", f", affine_map<({names}) -> ({backwards})>"])


def memref(random: Random) -> str:
    """The type of a buffer."""
    if random.random() < 0.15:
        return f"memref<*x{random.choice(NUMBERS)}{random.choice(['', ', 3'])}>"
    shape = sizes(random)
    space = random.choice(["", "", ", 1", ', "fast"', ", 2 : i32", ", 0"])
    return f"memref<{shape}{random.choice(NUMBERS)}{_layout(random, shape.count('x'))}{space}>"


def vector(random: Random) -> str:
    """The type of a vector."""
    result = [str(random.randint(1, 4)) for _ in range(random.randint(0, 2))]
    shown = [f"[{n}]" if random.random() < 0.2 else n for n in result]
    kind = random.choice(["i1", "i8", "i32", "index", "f16", "f32", "f64"])
    return f"vector<{''.join([f'{n}x' for n in shown])}{kind}>"


def tensor(random: Random) -> str:
    """The type of a tensor."""
    if random.random() < 0.1:
        return f"tensor<*x{element(random)}>"
    encoding = random.choice(["", "", "", ', "layout"', ", {a = 1 : i32}", ", #other.encoding<[4]>"])
    return f"tensor<{sizes(random)}{element(random)}{encoding}>"


def type_(random: Random, depth: int = 2) -> str:
    """Any type but that of a function."""
    choice = random.random()
    if choice < 0.35 or depth == 0:
        return random.choice(NUMBERS)
    if choice < 0.6:
        return tensor(random)
    if choice < 0.7:
        return vector(random)
    if choice < 0.78:
        return memref(random)
    if choice < 0.86:
        return f"tuple<{', '.join([type_(random, depth - 1) for _ in range(random.randint(0, 3))])}>"
    return random.choice(
        [
            "none",
            "!shape.shape",
            "!shape.witness",
            "!ml_program.token",
            "!tosa.shape<3>",
            "!other.opaque",
            "!other.body<[1, 2], {a}, (f32) -> i8>",
            '!other<"raw text 1"> ',
        ]
    ).strip()


def function_type(random: Random) -> str:
    """The type of a function."""
    inputs = ", ".join([type_(random, 1) for _ in range(random.randint(0, 2))])
    results = [type_(random, 1) for _ in range(random.randint(0, 2))]
    return f"({inputs}) -> ({', '.join(results)})"


# -- attributes


def integer(random: Random, kind: str = "") -> str:
    """An integer that fits a type."""
    kind = kind or random.choice((*INTEGERS, "index"))
    if kind == "i1":
        return random.choice(["true", "false"])
    width = 64 if kind == "index" else int(kind.lstrip("siu"))
    low, high = (0, 2**width - 1) if kind[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
    result = random.choice([random.randint(low, high), max(low, -1), min(high, 7), 0])
    return f"{result} : {kind}"


_VALUES = ("0.0", "-0.0", "1.0", "0.1", "-2.5", "3.14159274", "1.0e-7", "-960.5", "65504.0")
_WIDE = {"f32": ("1.0e10", "123456.789", "16777216.0"), "bf16": ("1.0e10",), "f64": ("1.0e10", "123456.789", "1.5e300")}
"""Numbers that only some types have: what is too large for a type is refused here, and infinite for mlir-opt."""


def floating(random: Random, kind: str = "") -> str:
    """A float of a type."""
    kind = kind or random.choice(FLOATS[:4])
    number = random.choice(
        [*_VALUES, *_WIDE.get(kind, ()), repr(random.uniform(-1000, 1000)), repr(random.gauss(0, 1))]
    )
    if kind == "f32" and random.random() < 0.1:
        number = random.choice(["0x7F800000", "0x7FC00000", "0xFF800000", "0x00000001"])
    return f"{number} : {kind}"


def string(random: Random) -> str:
    """A string."""
    return random.choice(
        ['"a"', '""', '"two words"', r'"\"quoted\" \\ back"', r'"line\0Abreak\09"', '"größe"', '"%0 #x"']
    )


def _literal(random: Random, shape: list[int], item: str) -> str:
    if not shape:
        return _item(random, item)
    return f"[{', '.join([_literal(random, shape[1:], item) for _ in range(shape[0])])}]"


def _item(random: Random, item: str) -> str:
    if item.startswith("complex<"):
        inner = item[8:-1]
        return f"({_item(random, inner)}, {_item(random, inner)})"
    if item == "i1":
        return random.choice(["true", "false"])
    if item[0] in "isu":
        return integer(random, item).partition(" ")[0]
    return floating(random, item).partition(" ")[0]


def dense(random: Random) -> str:
    """The contents of a tensor or a vector."""
    item = random.choice(
        [
            "i1",
            "i8",
            "i32",
            "i64",
            "si8",
            "ui16",
            "i3",
            "f16",
            "bf16",
            "f32",
            "f64",
            "index",
            "complex<f32>",
            "complex<i8>",
        ]
    )
    shape = [random.choice([1, 2, 3, 3, 0, 13]) for _ in range(random.choice([0, 1, 1, 2, 2, 3]))]
    kind = f"tensor<{''.join([f'{n}x' for n in shape])}{item}>"
    if shape and 0 not in shape and not item.startswith("complex") and random.random() < 0.2:
        kind = f"vector<{''.join([f'{n}x' for n in shape])}{item}>"
    if 0 in shape:
        return f"dense<> : {kind}"
    choice = random.random()
    if choice < 0.25:
        return f"dense<{_item(random, item)}> : {kind}"
    return f"dense<{_literal(random, shape, item)}> : {kind}"


def _hexadecimal(random: Random) -> str:
    count = random.choice([2, 101, 120])
    digits = "".join([f"{random.randrange(256):02X}" for _ in range(4 * count)])
    return f'dense<"0x{digits}"> : tensor<{count}x{random.choice(["i32", "ui32"])}>'


def affine_map(random: Random) -> str:
    """A map between positions."""
    return f"affine_map<{random.choice(_MAPS)}>"


_MAPS = (
    "() -> ()",
    "(d0) -> (d0)",
    "(d0, d1) -> (d1, d0)",
    "(d0, d1)[s0] -> (d0 + s0, d1 * 2 - 1)",
    "(x, y, z) -> (x floordiv 2, y mod 3, z ceildiv 4)",
    "(i)[n, m] -> (i * n - m, -i, 5 - i)",
    "(i) -> (2 * i + 4 + 3, (i + 1) * 3, (i * 4) mod 2)",
    "(a, b) -> (0, a - b, -a + b * -3)",
    "(a, b)[s] -> ((a + b) floordiv (s + 1), a mod s)",
)
_SETS = (
    "(d0) : (d0 >= 0)",
    "(d0, d1)[s0] : (d0 - 1 >= 0, s0 - d1 >= 0, d0 - d1 == 0)",
    "(i) : (i <= 4)",
    "() : ()",
    "(i, j) : (i + j == 3, 2 * i >= j)",
)


_ARRAYS = (
    "array<i32: 1, -2, 3>",
    "array<i64>",
    "array<i1: true, false>",
    "array<f32: 1.0, 2.5>",
    "array<i8: -128>",
    "array<f64: 0.1>",
)
_OF_DIALECTS = (
    "#other.value",
    "#other.value<1, [2]>",
    '#other<"raw">',
    "#arith.fastmath<nnan,ninf>",
    "#arith.fastmath<fast>",
    "#arith.overflow<nsw>",
    "#linalg.iterator_type<parallel>",
    "#other.kind<IGNORE>",
    "#other.typed<3> : tensor<2xf32>",
    "strided<[4, ?], offset: 2>",
)
_SPARSE = (
    "sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>",
    "sparse<[[1]], 2.5> : tensor<4xf32>",
    "sparse<> : tensor<2xf16>",
)


def attribute(random: Random, depth: int = 2) -> str:
    """Any attribute."""
    if depth and random.random() < 0.3:
        return _nested(random, depth)
    match random.randrange(18):
        case 0 | 1:
            return integer(random)
        case 2 | 3:
            return floating(random)
        case 4:
            return string(random)
        case 5:
            return "unit"
        case 6:
            return random.choice(["5", "-3", "2.5", "true", "false", "0x10"])
        case 7:
            return random.choice(["@name", "@outer::@inner", '@"odd name"::@b', '@"a.b"'])
        case 8:
            return type_(random)
        case 9:
            return function_type(random)
        case 10 | 11:
            return dense(random)
        case 12:
            return affine_map(random) if random.random() < 0.6 else f"affine_set<{random.choice(_SETS)}>"
        case 13:
            return random.choice(_ARRAYS)
        case 14:
            random.random()  # as when the programs of seeds were first made
            return random.choice(_OF_DIALECTS)
        case 15:
            return random.choice(_SPARSE)
        case 16:
            return f"loc({location(random, 2)})"
        case _:
            return _hexadecimal(random)


def _nested(random: Random, depth: int) -> str:
    if random.random() < 0.5:
        return f"[{', '.join([attribute(random, depth - 1) for _ in range(random.randint(0, 3))])}]"
    return f"{{{entries(random, depth - 1)}}}"


_KEYS = ("a", "b.c", "_x1", "with$sign", '"two words"', "i32", '"1st"', "loc", "zeta", "Upper")


def entries(random: Random, depth: int = 1, prefix: str = "") -> str:
    """Returns what stands in a dictionary."""
    keys = random.sample(_KEYS, random.randint(0, 3))
    shown: list[str] = []
    for key in keys:
        value = attribute(random, depth)
        name = f"{prefix}{key}" if '"' not in key else key
        shown.append(name if value == "unit" and random.random() < 0.7 else f"{name} = {value}")
    return ", ".join(shown)


# -- locations


def location(random: Random, depth: int = 2) -> str:
    """Where something comes from."""
    choice = random.randrange(8 if depth else 4)
    line, column = random.randint(0, 400), random.randint(0, 90)
    match choice:
        case 0:
            return "unknown"
        case 1 | 2:
            return f'"{random.choice(["model.py", "a/b.mlir", "-"])}":{line}:{column}'
        case 3:
            return random.choice(['"conv1"', '"layer 2"', '""']) if random.random() < 0.9 else '"f.py":1:2 to 3:4'
        case 4:
            return f'"name"({location(random, depth - 1)})'
        case 5:
            return f"callsite({location(random, depth - 1)} at {location(random, depth - 1)})"
        case 6:
            return f'"f.py":{line}:{column} to :{column + 4}'
        case _:
            attributes = random.choice(["", "", '<"pass">', "<{a = 1 : i32}>"])
            inner = ", ".join([location(random, depth - 1) for _ in range(random.randint(1, 3))])
            return f"fused{attributes}[{inner}]"


__all__ = [
    "affine_map",
    "attribute",
    "dense",
    "element",
    "entries",
    "floating",
    "function_type",
    "integer",
    "location",
    "memref",
    "sizes",
    "string",
    "tensor",
    "type_",
    "vector",
]
