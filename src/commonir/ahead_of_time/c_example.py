"""The example of a compiled program in C, which calls every function once. Its fixed text is in files of C."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from string import Template

from commonir.ahead_of_time.c_header import CFunction, CProgram, c_type, needs_math
from commonir.ir.types import TensorType


def example(program: CProgram) -> str:
    """Returns a program that calls every function once, with the largest sizes."""
    p = program.prefix
    memory, preparation, end = list[str](), list[str](), list[str]()
    if program.takes_weights:
        memory.append("  const void *weights;")
        preparation.append(f'  weights = read_weights("{p}.weights");')
    if not program.interface.workspace:
        memory.append("  void *workspace;")
        preparation.append(f"  workspace = allocate({p.upper()}_WORKSPACE_BYTES);")
        end.append("  free(workspace);")
    if program.state_names:
        memory.append(f"  {p}_state *state;")
        preparation.append(f"  state = (struct {p}_state *)allocate(sizeof *state);")
        preparation.append(f"  {p}_initialize({'weights, ' if program.takes_weights else ''}state);")
        end.append("  free(state);")
    names = {"prefix": p, "upper": p.upper()}
    return _template("example.c.txt").substitute(
        names,
        libraries=" -lm" if needs_math(program) else "",
        read_weights=_template("read_weights.c.txt").substitute(names) if program.takes_weights else "",
        memory=_block(memory),
        preparation=_block(preparation),
        calls=_block([line for f in program.functions for line in _call_lines(program, f)]),
        end=_block(end),
    )


def _block(lines: Sequence[str]) -> str:
    return "".join([f"{line}\n" for line in lines])


def _template(name: str) -> Template:
    return Template(files("commonir.ahead_of_time").joinpath(name).read_text(encoding="utf-8"))


def _call_lines(program: CProgram, function: CFunction) -> list[str]:
    entry, lines = function.entry, ["  {"]
    for s, word in zip(entry.sizes, function.sizes, strict=True):
        lines.append(f"    int64_t {word} = {s.upper};")
    passed = ["weights"] if program.takes_weights else []
    passed += [] if program.interface.workspace else ["workspace"]
    passed += ["state"] if entry.states else []
    passed += function.sizes
    label = function.name.removeprefix(f"{program.prefix}_")
    for a, word in zip(entry.inputs, function.inputs, strict=True):
        type = c_type(a.type.element)
        size = _count_text(a.type, function)
        lines.append(f'    {type} *{word} = ({type} *)input(folder, "{label}.{word}", {size} * sizeof({type}));')
    for a, word in zip(entry.outputs, function.outputs, strict=True):
        type = c_type(a.type.element)
        lines.append(f"    {type} *{word} = ({type} *)allocate({_count_text(a.type, function)} * sizeof({type}));")
    passed += [*function.inputs, *function.outputs]
    lines += [f"    int failed = {function.name}({', '.join(passed)});"]
    lines += ["    if (failed) {", f'      fprintf(stderr, "%s\\n", {program.prefix}_message(failed));']
    lines += ["      error = failed;", "    } else {"]
    for a, word in zip(entry.outputs, function.outputs, strict=True):
        size = f"{_count_text(a.type, function)} * sizeof *{word}"
        lines.append(f'      output(folder, "{label}.{word}", {word}, {size});')
    lines.append("    }")
    lines += [f"    free({word});" for word in (*function.inputs, *function.outputs)]
    return [*lines, "  }"]


def _count_text(type: TensorType, function: CFunction) -> str:
    """Returns the number of elements of a tensor as an expression of C, for the largest sizes."""
    count = 1
    for d in type.shape or ():
        assert d is not None
        count *= function.entry.largest(d)
    return f"(size_t){count}"
