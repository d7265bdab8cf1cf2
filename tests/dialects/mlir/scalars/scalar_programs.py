"""A program for each operation of arith, math and index, on many numbers at once, extreme ones among them.

What MLIR leaves undefined is not asked for: divisors are not zero, shifts not as wide as the type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import numpy as np

from tests.dialects.programs import DTYPES, Array, Case

COUNT = 48
WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
TOLERANCES = {"f16": 4e-3, "f32": 2e-5, "f64": 1e-12}
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


def numbers(element: str, random: Random, *, extreme: bool = True) -> Array:
    """Numbers of a type: some small, some anywhere, and the ends of what it has."""
    if element == "i1":
        return np.array([random.random() < 0.5 for _ in range(COUNT)])
    if element in WIDTHS:
        low, high = -(2 ** (WIDTHS[element] - 1)), 2 ** (WIDTHS[element] - 1) - 1
        ends = [low, high, 0, 1, -1]
        drawn = [random.choice([*ends, random.randint(low, high), random.randint(-9, 9)]) for _ in range(COUNT)]
        return np.array(drawn).astype(DTYPES[element])
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5] if extreme else [1.0, 0.5]
    result = [random.choice([*special, *[random.uniform(-9, 9) for _ in special]]) for _ in range(COUNT)]
    return np.array(result).astype(DTYPES[element])


def _case(
    name: str, operation: str, kinds: Sequence[str], results: Sequence[str], form: str, arrays: Sequence[Array]
) -> Case:
    inputs = ", ".join(f"%x{n}: tensor<{COUNT}x{k}>" for n, k in enumerate(kinds))
    outputs = [f"tensor<{COUNT}x{r}>" for r in results]
    shown = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    bound = ", ".join(f"%r{n}" for n in range(len(outputs)))
    body = f"  {bound} = {form}\n  return {bound} : {', '.join(outputs)}"
    text = f"func.func @{name}({inputs}) -> {shown} {{\n{body}\n}}"
    return Case(name, operation, text, tuple(arrays), max(TOLERANCES.get(r, 0.0) for r in results))


def _integers() -> Iterator[Case]:
    for element in ("i8", "i32", "i64", "i1"):
        t = f"tensor<{COUNT}x{element}>"
        for op in ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "maxui", "minsi", "minui"):
            random = Random(f"{op}{element}")
            arrays = [numbers(element, random), numbers(element, random)]
            form = f"arith.{op} %x0, %x1 : {t}"
            yield _case(f"{op}_{element}", f"arith.{op}", [element] * 2, [element], form, arrays)
        if element == "i1":
            continue
        for op in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"):
            random = Random(f"{op}{element}")
            a, b = numbers(element, random), numbers(element, random)
            b[b == 0] = 3
            if op in ("divsi", "remsi", "ceildivsi", "floordivsi"):
                b[(a == a.min()) & (b == -1)] = 2
            form = f"arith.{op} %x0, %x1 : {t}"
            yield _case(f"{op}_{element}", f"arith.{op}", [element] * 2, [element], form, [a, b])
        for op in ("shli", "shrsi", "shrui"):
            random = Random(f"{op}{element}")
            by = np.array([random.randrange(WIDTHS[element]) for _ in range(COUNT)]).astype(DTYPES[element])
            arrays = [numbers(element, random), by]
            form = f"arith.{op} %x0, %x1 : {t}"
            yield _case(f"{op}_{element}", f"arith.{op}", [element] * 2, [element], form, arrays)
        random = Random(element)
        arrays = [numbers(element, random), numbers(element, random)]
        for op, second in (("addui_extended", "i1"), ("mulsi_extended", element), ("mului_extended", element)):
            kinds = f"{t}, tensor<{COUNT}xi1>" if second == "i1" else t
            form = f"arith.{op} %x0, %x1 : {kinds}"
            yield _case(f"{op}_{element}", f"arith.{op}", [element] * 2, [element, second], form, arrays)
        for predicate in PREDICATES:
            form = f"arith.cmpi {predicate}, %x0, %x1 : {t}"
            yield _case(f"cmpi_{predicate}_{element}", "arith.cmpi", [element] * 2, ["i1"], form, arrays)
        arrays = [numbers("i1", random), *arrays]
        form = f"arith.select %x0, %x1, %x2 : tensor<{COUNT}xi1>, {t}"
        yield _case(f"select_{element}", "arith.select", ["i1", element, element], [element], form, arrays)
        for op in ("ctlz", "cttz", "ctpop", "absi"):
            form = f"math.{op} %x0 : {t}"
            yield _case(f"{op}_{element}", f"math.{op}", [element], [element], form, arrays[1:2])


def _conversions() -> Iterator[Case]:
    for op, a, b in (
        ("extsi", "i8", "i32"), ("extui", "i8", "i32"), ("extui", "i1", "i64"), ("extsi", "i1", "i8"),
        ("trunci", "i32", "i8"), ("trunci", "i64", "i1"), ("sitofp", "i32", "f32"), ("uitofp", "i32", "f32"),
        ("sitofp", "i8", "f64"), ("uitofp", "i1", "f32"), ("extf", "f16", "f32"), ("extf", "f32", "f64"),
        ("truncf", "f64", "f32"), ("truncf", "f32", "f16"), ("bitcast", "f32", "i32"), ("bitcast", "i64", "f64"),
        ("index_cast", "index", "i32"), ("index_cast", "i32", "index"), ("index_castui", "i32", "index"),
        ("index_castui", "index", "i8"),
    ):  # fmt: skip
        form = f"arith.{op} %x0 : tensor<{COUNT}x{a}> to tensor<{COUNT}x{b}>"
        yield _case(f"{op}_{a}_{b}", f"arith.{op}", [a], [b], form, [numbers(a, Random(f"{op}{a}{b}"))])
    for op, a, b, low, high in (
        ("fptosi", "f32", "i32", -1e9, 1e9), ("fptosi", "f64", "i8", -127, 127), ("fptoui", "f32", "i8", 0, 255),
        ("fptoui", "f32", "i32", 0, 4e9),
    ):  # fmt: skip
        random = Random(f"{op}{b}")
        array = np.array([random.uniform(low, high) for _ in range(COUNT)]).astype(DTYPES[a])
        form = f"arith.{op} %x0 : tensor<{COUNT}x{a}> to tensor<{COUNT}x{b}>"
        yield _case(f"{op}_{a}_{b}", f"arith.{op}", [a], [b], form, [array])


def _floats() -> Iterator[Case]:
    for element in ("f32", "f64", "f16"):
        t = f"tensor<{COUNT}x{element}>"
        for op in ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf", "remf"):
            random = Random(f"{op}{element}")
            arrays = [numbers(element, random), numbers(element, random)]
            form = f"arith.{op} %x0, %x1 : {t}"
            yield _case(f"{op}_{element}", f"arith.{op}", [element] * 2, [element], form, arrays)
        random = Random(element)
        arrays = [numbers(element, random), numbers(element, random), numbers(element, random)]
        yield _case(f"negf_{element}", "arith.negf", [element], [element], f"arith.negf %x0 : {t}", arrays[:1])
        for predicate in FLOAT_PREDICATES:
            form = f"arith.cmpf {predicate}, %x0, %x1 : {t}"
            yield _case(f"cmpf_{predicate}_{element}", "arith.cmpf", [element] * 2, ["i1"], form, arrays[:2])
        if element == "f16":
            continue
        # The functions of the C library take these; those of half precision are single precision, rounded.
        for op in (
            "absf", "acos", "acosh", "asin", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc",
            "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "round", "roundeven", "rsqrt", "sin",
            "sinh", "sqrt", "tan", "tanh", "trunc",
        ):  # fmt: skip
            yield _case(f"{op}_{element}", f"math.{op}", [element], [element], f"math.{op} %x0 : {t}", arrays[:1])
        for op in ("atan2", "copysign"):
            form = f"math.{op} %x0, %x1 : {t}"
            yield _case(f"{op}_{element}", f"math.{op}", [element] * 2, [element], form, arrays[:2])
        form = f"math.fma %x0, %x1, %x2 : {t}"
        yield _case(f"fma_{element}", "math.fma", [element] * 3, [element], form, arrays)
        # What LLVM makes of these is not good at infinity.
        finite = [np.abs(numbers(element, random, extreme=False)), numbers(element, random, extreme=False)]
        form = f"math.powf %x0, %x1 : {t}"
        yield _case(f"powf_{element}", "math.powf", [element] * 2, [element], form, finite)
        yield _case(f"asinh_{element}", "math.asinh", [element], [element], f"math.asinh %x0 : {t}", finite[1:])
        for op in ("isfinite", "isnan"):
            yield _case(f"{op}_{element}", f"math.{op}", [element], ["i1"], f"math.{op} %x0 : {t}", arrays[:1])


def looped(name: str, operation: str, result: str) -> str:
    """A function that runs an operation on two positions `%a` and `%b` for all of two tensors."""
    kinds, out = f"tensor<{COUNT}xindex>", f"tensor<{COUNT}x{result}>"
    return f"""func.func @{name}(%x0: {kinds}, %x1: {kinds}) -> {out} {{
  %e = tensor.empty() : {out}
  %r = linalg.map ins(%x0, %x1 : {kinds}, {kinds}) outs(%e : {out})
    (%a: index, %b: index, %o: {result}) {{
      %s = {operation}
      linalg.yield %s : {result}
    }}
  return %r : {out}
}}"""


def _positions() -> Iterator[Case]:
    """Operations of index, which take no tensors, in the body of a loop."""
    names = ("add", "sub", "mul", "and", "or", "xor", "maxs", "maxu", "mins", "minu")
    divisions = ("divs", "divu", "ceildivu", "floordivs", "rems", "remu")
    for op in (*names, *divisions, "shl", "shrs", "shru", *[f"cmp {p}" for p in PREDICATES]):
        random = Random(op)
        a, b = numbers("index", random), numbers("index", random)
        if op in divisions:
            b[b == 0] = 3
            b[(a == a.min()) & (b == -1)] = 2
        if op.startswith("sh"):
            b = np.array([random.randrange(64) for _ in range(COUNT)])
        result = "i1" if op.startswith("cmp") else "index"
        name = op.replace(" ", "_")
        spelled = f"index.cmp {op[4:]}(%a, %b)" if result == "i1" else f"index.{op} %a, %b"
        text = looped(f"index_{name}", spelled, result)
        yield Case(f"index_{name}", f"index.{op.split()[0]}", text, (a, b))


def cases() -> list[Case]:
    """All cases."""
    return [*_integers(), *_conversions(), *_floats(), *_positions()]
