"""The C header of a compiled program, which declares and documents its functions.

It is C99 and C++11, and needs nothing but the C library.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from commonir.ahead_of_time.entry_code import Interface, storage_dtype
from commonir.ahead_of_time.entry_points import EntryPoint
from commonir.base.tuples import NamedTuple
from commonir.ir.types import ElementType, TensorType
from commonir.llvm.target import Target


def _words(text: str) -> Iterable[str]:
    return text.split()


_KEYWORDS = frozenset(
    _words(
        "alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default "
        "delete do double else enum explicit export extern false float for friend goto if inline int long main "
        "mutable namespace new noexcept not nullptr operator or private protected public register restrict return "
        "short signed sizeof state static static_assert struct switch template this throw true try typedef typeid "
        "typename union unsigned using virtual void volatile weights while workspace xor "
    )
)
"""Words of C and C++, and the names of parameters that every function may have."""


def identifiers(names: Iterable[str], reserved: Iterable[str] = _KEYWORDS) -> list[str]:
    """Returns different identifiers of C for names, as near to them as possible."""
    used = set(reserved)
    out: list[str] = []
    for name in names:
        word = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "value"
        word = f"_{word}" if word[0].isdigit() else word
        if word.startswith("_"):
            word = f"n{word}"
        unique, n = word, 2
        while unique in used:
            unique, n = f"{word}_{n}", n + 1
        used.add(unique)
        out.append(unique)
    return out


class CFunction(NamedTuple):
    """A function as C declares it: its name, its entry point, and the identifiers of all parameters."""

    name: str
    entry: EntryPoint
    sizes: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class CProgram(NamedTuple):
    """A compiled program for C: functions, shared memory, the processor, and symbols that other libraries define."""

    interface: Interface
    functions: tuple[CFunction, ...]
    state_names: Mapping[str, str]
    workspace_bytes: int
    weights_bytes: int
    target: Target
    undefined: tuple[str, ...]
    is_checked: bool

    @property
    def prefix(self) -> str:
        """The beginning of all names."""
        return self.interface.prefix

    @property
    def takes_weights(self) -> bool:
        """Whether functions receive a pointer to the weights."""
        return self.interface.has_weights and not self.interface.weights


def c_function(name: str, entry: EntryPoint) -> CFunction:
    """Returns a function with identifiers for its parameters."""
    names = [*[s.name for s in entry.sizes], *[i.name for i in entry.inputs], *[o.name for o in entry.outputs]]
    words = identifiers(names)
    a, b = len(entry.sizes), len(entry.sizes) + len(entry.inputs)
    return CFunction(name, entry, tuple(words[:a]), tuple(words[a:b]), tuple(words[b:]))


def c_type(element: ElementType) -> str:
    """Returns the type of C with the elements of an array; floats of 16 bits are passed as their bits."""
    match element.kind, storage_dtype(element).itemsize:
        case "bool", _:
            return "uint8_t"
        case "float", 4:
            return "float"
        case "float", 8:
            return "double"
        case "int", size:
            return f"int{8 * size}_t"
        case _, size:
            return f"uint{8 * size}_t"


def _shape_text(type: TensorType, function: CFunction) -> str:
    names = dict(zip([s.name for s in function.entry.sizes], function.sizes, strict=True))
    dims = [re.sub(r"[A-Za-z_][A-Za-z_0-9]*", lambda m: names.get(m[0], m[0]), str(d)) for d in type.shape or ()]
    return f"{type.element}[{', '.join(dims)}]"


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def parameters(program: CProgram, function: CFunction) -> list[str]:
    """Returns the declarations of the parameters of a function."""
    out = ["const void *weights"] if program.takes_weights else []
    out += [] if program.interface.workspace else ["void *workspace"]
    out += [f"{program.prefix}_state *state"] if function.entry.states else []
    out += [f"int64_t {s}" for s in function.sizes]
    out += [f"const {c_type(i.type.element)} *{w}" for i, w in zip(function.entry.inputs, function.inputs, strict=True)]
    out += [f"{c_type(o.type.element)} *{w}" for o, w in zip(function.entry.outputs, function.outputs, strict=True)]
    return out


def header(program: CProgram) -> str:
    """Returns the header."""
    p, guard = program.prefix, f"{program.prefix.upper()}_H"
    lines = [
        f"/* {p}: a program compiled by `cir compile`. Link with {_link_line(program)}.",
        " *",
        f" * Compiled for {program.target.triple}, processor {program.target.cpu}. {_check_text(program)}",
        " * Tensors are contiguous and row-major, and must not overlap. Element types f16 and bf16 are passed as their",
        f" * bits in uint16_t, bool as 0 and 1 in uint8_t. A function returns 0, or an error for {p}_message;",
        " * after an error outputs are undefined and states unchanged.",
        f" * {_threads_text(program)}",
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
    ]
    if not program.interface.workspace:
        lines += ["/* Bytes of memory that a call needs while it runs, at any alignment, with any contents. */"]
        lines += [f"#define {p.upper()}_WORKSPACE_BYTES {program.workspace_bytes}u", ""]
    if program.takes_weights:
        lines += [f"/* Bytes of {p}.weights, which is read or mapped as a whole, at an address that 8 divides. */"]
        lines += [f"#define {p.upper()}_WEIGHTS_BYTES {program.weights_bytes}u", ""]
    lines += _state_lines(program)
    for function in program.functions:
        lines += _function_lines(program, function)
    lines += ["/* Returns the text of an error. */", f"const char *{p}_message(int error);", ""]
    lines += ["/* Returns 1 if this processor can run the functions, else 0: call it before any of them. */"]
    lines += [f"int {p}_check_cpu(void);", ""]
    if program.takes_weights:
        lines += ["/* Returns 0 if a block of some bytes has the weights of this program, else an error. */"]
        lines += [f"int {p}_check_weights(const void *weights, size_t size);", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def needs_math(program: CProgram) -> bool:
    """Returns whether an object calls functions of the mathematical part of the C library."""
    return any(n not in COMPILER_SYMBOLS for n in program.undefined)


def _link_line(program: CProgram) -> str:
    p, calls = program.prefix, ", ".join(program.undefined)
    if needs_math(program):
        return f"{p}.o and -lm: it calls {calls}"
    return f"{p}.o; no library is needed" + (f" (a C compiler has {calls})" if calls else "")


COMPILER_SYMBOLS = frozenset(
    _words(
        "memcpy memset memmove _memcpy _memset _memmove _bzero bzero getauxval __chkstk _fltused __truncsfhf2 "
        "__extendhfsf2 ___truncsfhf2 ___extendhfsf2 __truncdfhf2 ___truncdfhf2 "
    )
)
"""Symbols of the C library itself and of the compiler's own library."""


def _check_text(program: CProgram) -> str:
    if program.is_checked:
        return f"{program.prefix}_check_cpu() says whether this processor will do."
    return "Nothing checks that the processor will do."


def _threads_text(program: CProgram) -> str:
    if program.interface.workspace:
        return "The workspace is static: only one thread at a time may call a function."
    return "Threads may call functions at the same time, each with its own workspace and state."


def _state_lines(program: CProgram) -> list[str]:
    if not program.state_names:
        return []
    p = program.prefix
    lines = ["/* What the program keeps from one call to the next. */", f"typedef struct {p}_state {{"]
    for name, word in program.state_names.items():
        type = program.interface.states[name].type
        count = 1
        for d in type.static_shape:
            count *= d
        what = f"{_comment(name)}: {type.element}{list(type.static_shape)}"
        lines.append(f"  {c_type(type.element)} {word}[{max(1, count)}]; /* {what} */")
    weights = "const void *weights, " if program.takes_weights else ""
    lines += [f"}} {p}_state;", "", "/* Gives states their initial values. */"]
    lines += [f"void {p}_initialize({weights}{p}_state *state);", ""]
    return lines


def _function_lines(program: CProgram, function: CFunction) -> list[str]:
    entry = function.entry
    lines = [f"/* {_comment(entry.name)}"]
    for s, word in zip(entry.sizes, function.sizes, strict=True):
        lines.append(f" *   {word}: a size from {s.lower} to {s.upper}")
    for arguments, words, what in ((entry.inputs, function.inputs, "in"), (entry.outputs, function.outputs, "out")):
        for a, word in zip(arguments, words, strict=True):
            name = "" if word == a.name else f" ('{_comment(a.name)}')"
            doc = f": {_comment(a.port.doc)}" if a.port.doc else ""
            lines.append(f" *   {what} {word}{name} {_shape_text(a.type, function)}{doc}")
    lines.append(" */")
    for s, word in zip(entry.sizes, function.sizes, strict=True):
        lines.append(f"#define {function.name.upper()}_MAX_{word.upper()} {s.upper}")
    taken = parameters(program, function) or ["void"]
    lines += [f"int {function.name}({', '.join(taken)});", ""]
    return lines
