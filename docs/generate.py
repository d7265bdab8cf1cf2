"""Writes the pages that follow from the code: `python -m docs.generate`.

`cli.md` is made of the click commands, `diagnostics.md` of the codes, `common_ir_rules.md` of the rules,
`mlir_operations.md` of the rules of conversions, `passes.md` of the passes and the rules of dialects. A test fails when
a page in the tree is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from inspect import cleandoc
from pathlib import Path

import click

from commonir.base.codes import all_codes
from commonir.base.diagnostics import Code, ExitStatus
from commonir.cli.table import VERBS, cir
from commonir.conversions import core_to_linalg, core_to_tosa
from commonir.conversions.core_to_core import whole_tensors
from commonir.dialects import core
from commonir.dialects.common_ir.rules import RULES, THIS_TOOL, SpecRule
from commonir.ods import Dialects, Form, Op
from commonir.passes.definition import Pass, Passes, PassOption
from commonir.rewrite.legalize import Rules

FOLDER = Path(__file__).parent
_NOTICE = "<!-- Written by `python -m docs.generate`: edit the sources it names, not this page. -->"

_STATUS_TEXTS = {
    ExitStatus.YES: "done, or the answer is yes",
    ExitStatus.NO: "the answer is no: errors found, outputs differ",
    ExitStatus.USAGE: "the command line is not understood",
    ExitStatus.UNREADABLE: "an input cannot be read",
    ExitStatus.UNSUPPORTED: "an operation, version or feature is not supported",
    ExitStatus.REFUSED: "refused for safety, or because of a limit",
    ExitStatus.UNWRITABLE: "an output cannot be written; the old one is unchanged",
    ExitStatus.OUR_BUG: "an internal error",
    ExitStatus.INTERRUPTED: "interrupted from the keyboard",
}

_ROOMS = {
    "01": "Files that cannot be read",
    "02": "Content that contradicts its format",
    "03": "Safety and limits",
    "04": "Structure of a program",
    "05": "Operations",
    "06": "Conversion",
    "07": "Running",
    "08": "Writing",
    "09": "Usage and faults of commonir",
}


def cli_page() -> str:
    """The reference of the command line."""
    context = click.Context(cir, info_name="cir")
    lines = [
        _NOTICE,
        "",
        "# Command line",
        "",
        "`commonir` and `cir` are the same program. `cir MODEL` is short for `cir info MODEL`. Results go to standard",
        "output, findings and progress to standard error; colour, fitted tables and progress appear on terminals only,",
        "and `NO_COLOR` is respected.",
        "",
        "With `--json` every verb writes one document:",
        "",
        "```json",
        '{"schema": "commonir.info/1", "ok": true, "result": {}, "diagnostics": []}',
        "```",
        "",
        "`result` is null when there is none. A diagnostic has `code`, `severity`, `message`, `file`, `where`, `line`,",
        "`notes` and `help`. Numbers that JSON cannot write are the texts `nan`, `inf` and `-inf`. The number in",
        "`schema` changes when a field changes its meaning or goes.",
        "",
        "| exit status | means |",
        "|-|-|",
        *(f"| {int(status)} | {text} |" for status, text in _STATUS_TEXTS.items()),
    ]
    for name in VERBS:
        command = cir.get_command(context, name)
        assert command is not None
        lines += ["", *_verb_section(name, command)]
    return "\n".join(lines) + "\n"


def _verb_section(name: str, command: click.Command) -> list[str]:
    arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
    written = [_argument_text(argument) for argument in arguments]
    usage = " ".join(["cir", name, command.options_metavar or "", *written])
    lines = [
        f"## {name}",
        "",
        "```",
        usage,
        "```",
        "",
        *_help_lines(cleandoc(command.help or "")),
        "",
        "| option | |",
        "|-|-|",
    ]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return lines + [f"| {_option_text(option)} | {option.help}{_default_text(option)} |" for option in options]


def _argument_text(argument: click.Argument) -> str:
    if isinstance(argument.type, click.Choice):
        return "|".join(str(choice) for choice in argument.type.choices)
    name = (argument.name or "").upper()
    return argument.metavar or (name if argument.required else f"[{name}]")


def _option_text(option: click.Option) -> str:
    names = ", ".join(option.opts)
    if option.is_flag:
        return " / ".join([f"`{names}`", *(f"`{opposite}`" for opposite in option.secondary_opts)])
    value = option.metavar or _type_text(option)
    return f"`{names}{value}`" if value.startswith("[=") else f"`{names} {value}`"


def _type_text(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return r"\|".join(str(choice) for choice in option.type.choices)
    return option.type.name.upper()


def _default_text(option: click.Option) -> str:
    return f" Default: {option.default}." if option.show_default else ""


def _help_lines(text: str) -> list[str]:
    """A docstring as Markdown; a paragraph after a backspace character keeps its lines."""
    out: list[str] = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.strip().split("\n")
        if lines[0].strip() == "\b":
            lines = ["```", *lines[1:], "```"]
        out += ["", *lines] if out else lines
    return out


def diagnostics_page() -> str:
    """The explanation of every code."""
    lines = [
        _NOTICE,
        "",
        "# Diagnostics",
        "",
        "Every finding has a code: the letter says whether it is an error (E) or a warning (W), the first two digits",
        "what it is about. `cir explain CODE` prints the same text.",
    ]
    codes = sorted(all_codes(), key=lambda code: (code.id[1:3], code.id))
    for room, title in _ROOMS.items():
        found = [code for code in codes if code.id[1:3] == room]
        if found:
            lines += ["", f"## {title}"]
        for code in found:
            lines += ["", *_code_section(code)]
    return "\n".join(lines) + "\n"


def _code_section(code: Code) -> list[str]:
    status = f"Exit status {int(code.status)}." if code.id.startswith("E") else "Does not change the exit status."
    return [f"### {code.id}: {code.title}", "", code.explanation, "", status]


def _found_in(rule: SpecRule) -> str:
    return rule.checked.value if rule.code is None else f"{rule.checked.value}, as {rule.code.id}"


def common_ir_rules_page() -> str:
    """The rules of the Common IR."""
    lines = [
        _NOTICE,
        "",
        "# Rules of the Common IR",
        "",
        "Every MUST and SHOULD of the specification, in its order, and what it cannot be followed without (source:",
        f"{THIS_TOOL}). A broken MUST is an error (E0255), a broken SHOULD a warning (W0255), and the message begins",
        "with the number of the rule. `cir check` finds all that a program breaks; rules that only files can break are",
        "found when it is read. Each rule of a program has a test that breaks it, in",
        "`tests/dialects/common_ir/test_rules.py`. How open questions of the specification are answered is told in",
        "[Common IR](common_ir.md).",
        "",
        "| rule | level | what holds | what to do | source | found in |",
        "|-|-|-|-|-|-|",
    ]
    lines += [f"| {r.label} | {r.level.value} | {r.text} | {r.remedy} | {r.source} | {_found_in(r)} |" for r in RULES]
    return "\n".join(lines) + "\n"


_TARGETS = ("linalg", "tosa")
_OF_MANY = (core.CoreOp, core.Unary, core.Binary, core.Comparison)
"""Rules of these are about some elements only, or about index notation."""


def mlir_operations_page() -> str:
    """What conversions to dialects of MLIR make of each operation of the core."""
    lines = [
        _NOTICE,
        "",
        "# Operations of the core in dialects of MLIR",
        "",
        "What `cir convert --to linalg` and `--to tosa` make of each operation of the core (source: the rules of",
        "`conversions/core_to_linalg` and `conversions/core_to_tosa`): `rule` where it has one of its own, which may",
        "leave out some uses, `kernel` where its index notation becomes `linalg.generic` or, in tosa, operations on",
        "whole tensors, `parts` where it is expanded into simpler ones, and nothing where there is no way.",
        "`--to tosa-linalg` has both columns, that of tosa first. [MLIR for compilers](to_mlir.md) tells more.",
        "",
        f"| operation | {' | '.join(_TARGETS)} |",
        "|-|" + "-|" * len(_TARGETS),
    ]
    rules = {"linalg": core_to_linalg.RULES, "tosa": core_to_tosa.RULES}
    for name, definitions in sorted(core.DIALECT.operations.items()):
        ways = [_way(rules[target], definitions[-1], target) for target in _TARGETS]
        lines.append(f"| `{name}` | {' | '.join(ways)} |")
    return "\n".join(lines) + "\n"


def _way(rules: Rules, definition: type[Op], target: str) -> str:
    if any(r.definition not in _OF_MANY for r in rules.for_definition(definition)):
        return "rule"
    if definition.form is Form.KERNEL:
        return "kernel" if target == "linalg" or not issubclass(definition, whole_tensors.ELEMENTARY) else ""
    return "parts" if definition.form is Form.COMPOSITE else ""


def passes_page() -> str:
    """What passes there are, and what is known of simpler forms of operations."""
    ours = list(Passes().own())
    lines = [
        _NOTICE,
        "",
        "# Passes",
        "",
        "`cir opt M --passes NAMES -o OUT` runs passes in the order given, as `cir.optimize(program, passes=..)` does.",
        "Those that MLIR has, too, leave what `mlir-opt` of LLVM 22 leaves on the programs of `tests/passes/mlir`;",
        "where not, `remaining.toml` there says why. Rules of `mlir-opt` that are not listed below are not there,",
        "among them those of linalg and stablehlo, of `scf.forall`, of `scf.if` after another one with the same",
        "condition, of `tensor.dim` of what `tensor.insert` gives, and what needs the affine dialect (`tensor.pad` of",
        "`linalg.fill`). Contents of `dense_resource` are computed with, where `mlir-opt` leaves them.",
        "",
        "| pass | what it does |",
        "|---|---|",
        *[f"| `{each.name}` | {each.summary} |" for each in ours],
        "",
        "## Pipelines",
        "",
        "`--passes` takes names separated by commas, each with options if it has some, and `--pass-pipeline` the same",
        "as mlir-opt writes it; `cir.optimize` takes both. All passes run on the whole program.",
        "",
        "```",
        "cir opt M --passes 'canonicalize{max-fold-bytes=0},cse' -o OUT",
        "cir opt M --pass-pipeline 'builtin.module(canonicalize{max-fold-bytes=0},cse)' -o OUT",
        "```",
        "",
        "| option | takes | of | what it sets |",
        "|---|---|---|---|",
        *[
            f"| `{option.name}` | {option.type.value} | {', '.join(names)} | {option.summary} |"
            for option, names in _options_of(ours).items()
        ],
        "",
        "## Passes of your own",
        "",
        "A package adds passes through the entry points `commonir.passes`; `cir opt --list-passes` lists them with",
        "ours. A pass reports whether it changed anything:",
        "",
        "```python",
        "from commonir.passes.definition import Pass, PassResult",
        "",
        "",
        "def _drop_names(module, context, options):",
        "    named = [value for op in module.nested() for value in op.results if value.name]",
        "    for value in named:",
        '        value.name = ""',
        "    return PassResult(module, changed=bool(named))",
        "",
        "",
        'DROP_NAMES = Pass("drop-names", "removes the names of values", _drop_names)',
        "```",
        "",
        "```toml",
        '[project.entry-points."commonir.passes"]',
        'drop-names = "my_package:DROP_NAMES"',
        "```",
        "",
        'From Python a pass need not be installed: `cir.optimize(program, passes=[DROP_NAMES, "cse"])`.',
        "",
        "## Simpler forms",
        "",
        "What `canonicalize` knows beyond constants that are computed and what definitions state: rules as they are",
        "written, `$x` standing for any value or attribute, and in words what rules cannot say.",
    ]
    for name in ("arith", "cf", "complex", "func", "index", "scf", "tensor", "tosa"):
        dialect = Dialects().get(name)
        if dialect is None:
            continue
        lines += ["", f"### {name}", ""]
        lines += [f"- `{rule!r}`" for rule in dialect.rules.rewrites]
        for definition, functions in dialect.rules.functions.items():
            summaries = [cleandoc(f.__doc__).splitlines()[0] for f in functions if f.__doc__]
            lines += [f"- `{definition.name}`: {summary[0].lower()}{summary[1:]}" for summary in summaries]
    return "\n".join(lines) + "\n"


def _options_of(passes: Sequence[Pass]) -> dict[PassOption, list[str]]:
    """Returns the options of passes, each with the passes that have it."""
    found: dict[PassOption, list[str]] = {}
    for each in passes:
        for option in each.options:
            found.setdefault(option, []).append(f"`{each.name}`")
    return found


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "common_ir_rules.md": common_ir_rules_page,
    "diagnostics.md": diagnostics_page,
    "passes.md": passes_page,
    "mlir_operations.md": mlir_operations_page,
}


def main() -> int:
    """Writes every page."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
