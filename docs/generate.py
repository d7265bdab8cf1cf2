"""Generates pages from the code: `python -m docs.generate`.

The sources are the click commands (`cli.md`), the diagnostic codes (`diagnostics.md`), the rules of Common IR
(`common_ir_rules.md`), the statements of the specifications in `tests/specifications` (`*_rules.md`), the
legalization rules (`mlir_operations.md`), the differences from mlir-opt in `tests/mlir_programs/differences.toml`
(`mlir_verdicts.md`), and the passes and rules of dialects (`passes.md`). A test fails if a page in the tree is
outdated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from inspect import cleandoc
from pathlib import Path

import click
from docs.fused_forms import fused_forms

from commonir.base.codes import INTERNAL_ERROR, all_codes
from commonir.base.diagnostics import Code, Diagnostic, ExitStatus
from commonir.cli.answer import DOCUMENT_FIELDS
from commonir.cli.help import VerbCommand
from commonir.cli.table import VERBS, cir
from commonir.conversions import core_to_linalg, core_to_tosa
from commonir.conversions.core_to_core import whole_tensors
from commonir.dialects import core
from commonir.dialects.common_ir.rules import RULES, THIS_TOOL, SpecRule
from commonir.ods import Dialect, Dialects, Form, Op
from commonir.passes import combine_operations
from commonir.passes.definition import Pass, Passes, PassOption
from commonir.rewrite.legalize import Rules

from tests.mlir_programs.comparison import CONSTRUCTS, LAXER, STRICTER
from tests.specifications import statements

FOLDER = Path(__file__).parent
_NOTICE = "<!-- Written by `python -m docs.generate`: edit the sources it names, not this page. -->"

_STATUS_TEXTS = {
    ExitStatus.YES: "success, or the answer is yes",
    ExitStatus.NO: "the answer is no: errors found, outputs differ",
    ExitStatus.USAGE: "wrong usage of the command line",
    ExitStatus.UNREADABLE: "an input cannot be read",
    ExitStatus.UNSUPPORTED: "an operation, version or feature is not supported",
    ExitStatus.REFUSED: "refused for safety, or because of a limit",
    ExitStatus.UNWRITABLE: "an output cannot be written; the old one is unchanged",
    ExitStatus.OUR_BUG: "an internal error",
    ExitStatus.INTERRUPTED: "interrupted from the keyboard",
}

_SECTIONS = {
    "01": "Files that cannot be read",
    "02": "Content that contradicts its format",
    "03": "Safety and limits",
    "04": "Structure of a program",
    "05": "Operations",
    "06": "Conversion",
    "07": "Running",
    "08": "Writing",
    "09": "Usage and internal errors",
}


def cli_page() -> str:
    """Returns the reference page of the command line."""
    context = click.Context(cir, info_name="cir", **cir.context_settings)
    lines = [
        _NOTICE,
        "",
        "# Command line",
        "",
        "`commonir` and `cir` are the same program. `cir MODEL` is short for `cir info MODEL`. Results go to standard",
        "output, findings and progress to standard error. Color, fitted tables and progress appear only on terminals;",
        "`NO_COLOR` is respected.",
        "",
        "With `--json` every command writes one document:",
        "",
        "```json",
        '{"schema": "commonir.info/1", "ok": true, "result": {}, "diagnostics": []}',
        "```",
        "",
        "| field | meaning |",
        "|-|-|",
        *(f"| `{name}` | {meaning} |" for name, meaning in DOCUMENT_FIELDS.items()),
        "",
        f"A diagnostic has {_listed(Diagnostic(INTERNAL_ERROR, '').to_json())}; those",
        "that say nothing are null. Numbers that JSON cannot represent are the strings `nan`, `inf` and `-inf`.",
        "",
        "An output replaces an older file of its name. A file that the command reads is replaced only by a new version",
        "of itself: `edit`, `opt`, `extract` and `bundle` may write over their model. For `convert` and `check --fix`",
        "a terminal asks, and `--force` replaces; other commands refuse (E0808).",
        "",
        "| exit status | meaning |",
        "|-|-|",
        *(f"| {int(status)} | {text} |" for status, text in _STATUS_TEXTS.items()),
    ]
    for name in VERBS:
        command = cir.get_command(context, name)
        assert command is not None
        lines += ["", *_verb_section(name, command)]
    return "\n".join(lines) + "\n"


def _listed(names: Iterable[str]) -> str:
    *first, last = [f"`{name}`" for name in names]
    return f"{', '.join(first)} and {last}"


def _verb_section(name: str, command: click.Command) -> list[str]:
    assert isinstance(command, VerbCommand)
    context = click.Context(command, info_name=f"cir {name}", **command.context_settings)
    lines = [
        f"## {name}",
        "",
        "```",
        " ".join(["cir", name, *command.collect_usage_pieces(context)]),
        *(["", *command.examples] if command.examples else []),
        "```",
        "",
        *_help_lines(cleandoc(command.help or "")),
        "",
        "| option | |",
        "|-|-|",
    ]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    return lines + [f"| {_option_text(option)} | {option.help}{_default_text(option)} |" for option in options]


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
    """Returns a docstring as Markdown; a paragraph after a backspace character keeps its lines."""
    out: list[str] = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.strip().split("\n")
        if lines[0].strip() == "\b":
            lines = ["```", *lines[1:], "```"]
        out += ["", *lines] if out else lines
    return out


def diagnostics_page() -> str:
    """Returns the page that explains every code."""
    lines = [
        _NOTICE,
        "",
        "# Diagnostics",
        "",
        "Every finding has a code: a letter for error (E), warning (W) or note (N), and four digits; the first two",
        "are the topic. `cir explain CODE` prints the same text.",
    ]
    codes = sorted(all_codes(), key=lambda code: (code.id[1:3], code.id))
    for digits, title in _SECTIONS.items():
        section = [code for code in codes if code.id[1:3] == digits]
        if section:
            lines += ["", f"## {title}"]
        for code in section:
            lines += ["", *_code_section(code)]
    return "\n".join(lines) + "\n"


def _code_section(code: Code) -> list[str]:
    status = f"Exit status {int(code.status)}." if code.id.startswith("E") else "Does not change the exit status."
    return [f"### {code.id}: {code.title}", "", code.explanation, "", status]


def _found_in(rule: SpecRule) -> str:
    return rule.checked.value if rule.code is None else f"{rule.checked.value}, as {rule.code.id}"


def common_ir_rules_page() -> str:
    """Returns the page of the Common IR rules."""
    lines = [
        _NOTICE,
        "",
        "# Rules of the Common IR",
        "",
        "Every MUST and SHOULD of the specification, in order, and additional rules that it depends on (source:",
        f"{THIS_TOOL}). A violated MUST is an error (E0255), a violated SHOULD a warning (W0255). The message begins",
        "with the number of the rule. `cir check` reports all violations; rules on files are checked when a file is",
        "read. Each rule on programs has a test that violates it in `tests/dialects/common_ir/test_rules.py`.",
        "[Common IR](common_ir.md) answers open questions of the specification.",
        "",
        "| rule | level | requirement | remedy | source | found in |",
        "|-|-|-|-|-|-|",
    ]
    lines += [f"| {r.label} | {r.level.value} | {r.text} | {r.remedy} | {r.source} | {_found_in(r)} |" for r in RULES]
    document = statements.read("common_ir")
    lines += ["", "## Statements", "", document.summary, "", *statements.page_lines(document)]
    return "\n".join(lines) + "\n"


def statements_page(name: str) -> str:
    """Returns the page of the statements of a specification."""
    document = statements.read(name)
    lines = [_NOTICE, "", f"# Statements of {document.title}", "", document.summary, ""]
    return "\n".join([*lines, *statements.page_lines(document)]) + "\n"


_TARGETS = ("linalg", "tosa")
_OF_MANY = (core.CoreOp, core.Unary, core.Binary, core.Comparison)
"""Classes whose rules cover only some elements, or index notation."""


def mlir_verdicts_page() -> str:
    """Returns the page of the requirements that differ from those of mlir-opt."""
    lines = [
        _NOTICE,
        "",
        "# Verdicts and mlir-opt",
        "",
        "`cir check` accepts and refuses programs in MLIR's dialects as mlir-opt 22 does. The folder",
        "`tests/mlir_programs/verdicts` has several hundred programs with one fault each, and others like them without",
        "it; a test compares both verdicts. Operations of `memref`, `vector`, `bufferization` and `quant`, which",
        "`--dialect` loads from records, have the checks of upstream's C++ verifiers too.",
        "",
        "These differences are intended.",
        "",
        "## Required here, but not by mlir-opt",
        "",
        "| operation | requirement |",
        "|-|-|",
        *[f"| `{name}` | {text} |" for name, text in STRICTER.items()],
        "",
        "## Required by mlir-opt, but not here",
        "",
        "| operation | requirement |",
        "|-|-|",
        *[f"| `{name}` | {text} |" for name, text in LAXER.items()],
        "| a type or attribute of a dialect of MLIR that is not loaded | its syntax and constraints |",
        "",
        "## In the text",
        "",
        "| construct | here | mlir-opt |",
        "|-|-|-|",
        *[f"| {construct} | {ours} | {theirs} |" for construct, (ours, theirs) in CONSTRUCTS.items()],
    ]
    return "\n".join(lines) + "\n"


def mlir_operations_page() -> str:
    """Returns the page on how each core operation is converted to MLIR dialects."""
    lines = [
        _NOTICE,
        "",
        "# Operations in dialects of MLIR",
        "",
        "How `cir convert --to linalg` and `--to tosa` convert each core operation (source: the rules of",
        "`conversions/core_to_linalg` and `conversions/core_to_tosa`): `rule` is a legalization rule, which may not",
        "cover all cases; `kernel` means that the index notation becomes `linalg.generic` or, in tosa, operations on",
        "whole tensors; `parts` means expansion into simpler operations; an empty cell means unsupported.",
        "`--to tosa-linalg` tries tosa first, then linalg. See [MLIR for compilers](to_mlir.md).",
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
    """Returns the page of passes and canonicalizations."""
    ours = list(Passes().own())
    lines = [
        _PASSES,
        "| pass | effect |",
        "|---|---|",
        *[f"| `{each.name}` | {each.summary} |" for each in ours],
        _PIPELINES,
        "| option | type | passes | effect |",
        "|---|---|---|---|",
        *[
            f"| `{option.name}` | {option.type.value} | {', '.join(names)} | {option.summary} |"
            for option, names in _options_of(ours).items()
        ],
        _YOUR_OWN_PASSES,
        _COMBINED,
        *_combined_operations(),
        _FUSED,
        *fused_forms(),
        _CANONICALIZATIONS,
        *_canonicalizations(),
    ]
    return "\n".join(lines) + "\n"


_PASSES = f"""{_NOTICE}

# Passes

`cir opt M --passes NAMES -o OUT` runs passes in the order given, as `cir.optimize(program, passes=..)` does.
Passes that MLIR has too give the same result as `mlir-opt` of LLVM 22 on the programs of
`tests/passes/mlir`; `remaining.toml` there lists the exceptions with reasons. Only the canonicalizations of
`mlir-opt` that are listed below are implemented. Missing are those of linalg and stablehlo, of
`scf.forall`, of `scf.if` after another one with the same condition, of `tensor.dim` of a `tensor.insert`,
and those that need the affine dialect (`tensor.pad` of `linalg.fill`). Unlike `mlir-opt`, passes fold the
contents of `dense_resource` and of constant globals, inline calls into `ml_program.func` and `subgraph`, and keep
an `ml_program.global_store_graph` whose token is not used, which its record declares to read only, and unused
cycles of graph regions.
"""

_PIPELINES = """
## Pipelines

`--passes` takes names separated by commas, each with options; `--pass-pipeline` takes the syntax of
mlir-opt. `cir.optimize` takes both.

```
cir opt M --passes 'canonicalize{max-fold-bytes=0},cse' -o OUT
cir opt M --pass-pipeline 'builtin.module(func.func(canonicalize{max-fold-bytes=0}),symbol-dce)' -o OUT
```

`func.func(canonicalize,cse)` runs passes on each `func.func` directly in the module, and `any(...)` on each operation
that is isolated from above; these can be nested further. `canonicalize`, `cse` and `sccp` can be nested, the other
passes run on the whole program.
"""

_YOUR_OWN_PASSES = """
## Your own passes

A package registers passes by entry points of the group `commonir.passes`; `cir opt --list-passes` lists
them. A pass reports whether it changed anything:

```python
from commonir.passes.definition import Pass, PassResult


def _drop_names(module, context, options):
    named = [value for op in module.nested() for value in op.results if value.name]
    for value in named:
        value.name = ""
    return PassResult(module, changed=bool(named))


DROP_NAMES = Pass("drop-names", "removes the names of values", _drop_names)
```

```toml
[project.entry-points."commonir.passes"]
drop-names = "my_package:DROP_NAMES"
```

A pass with a `run_nested`, which takes operations in place of the module, can be nested.

In Python a pass need not be installed: `cir.optimize(program, passes=[DROP_NAMES, "cse"])`."""

_COMBINED = """
## Combined operations

`simplify` infers shapes for its own use: inputs and outputs, also those of branches and loops, keep their declared
types. `cir edit --set-dim` and conversions write what they infer.

`simplify` also combines operations, of all formats and of dialects of MLIR to which a conversion leads, such as
StableHLO and TOSA. A rule is about core operations. It applies to each operation whose reference consists of one core
operation, and what it gives is written by the conversion to the format or dialect. In MLIR, operations whose dims are
not known (`?`) stay, as do those with attributes that their definition does not declare, such as `mhlo.sharding`, and
those that return their operands with a hint for compilers, such as barriers.
A rule applies where it leaves fewer operations, and nothing else uses the results between them. Rules of the level
`fast` (`cir opt --level fast`, `simplify{level=fast}`) may change how results are rounded; all others keep every bit.
A folded constant has the bits that `cir run` computes. onnxruntime rounds functions such as sine, exponential and
logarithm differently in the last bits, so that its results on an optimized model may differ by as much.

Other optimizers round by default: onnxslim folds normalizations into convolutions and makes `Gemm` of `MatMul` and
`Add`. Where a model has such operations, `cir opt` leaves as few only at the level `fast`
([measurements](performance.md#graph-optimization)). A constant is not computed where the model would become more than
1 % larger, so that weights that a model computes by `ConstantOfShape` stay computed, at both levels.

| rule | core operations | level | effect |
|---|---|---|---|"""

_FUSED = """
## Fused operations

`cir opt --fuse` and `cir convert --fuse` replace operations by one that computes the same, where the format of the
result has it; `fuse` is the pass, and `simplify` runs before it. The pass simplifies what it changed. A recognition
looks for operations that consist of the same core operations as the reference of what it makes, and says nothing of
their order: both are run on sample values, of several magnitudes and with zeros, infinities and NaN, and must agree
(1e-5 of the result in single precision, 4e-3 in half). Scales and shifts are part of a normalization; scales, all
masks, transposed keys, repeated heads, and heads and batches in one axis are part of attention. Nothing else may use
the values between. Names choose recognitions: `--fuse=gelu,silu`, or `--fuse=-layer_norm` for all others. What looks
like a form and stays is reported with the reason (N0605). Where the opset or system is too old, convert first: `cir
convert M --opset 20 --fuse -o OUT`. In onnxruntime a query whose keys are all masked gives 0; the parts give the mean
where the least float masks them, and NaN where minus infinity does. `x / max(norm, epsilon)` becomes `l2_norm`, which
adds below the root: norms near a small epsilon differ.

| name | core operation | computes | ONNX | Core ML |
|---|---|---|---|---|"""

_CANONICALIZATIONS = """
## Canonicalizations

The canonicalizations of `canonicalize`, in addition to constant folding and to the traits of definitions.
Rewrite rules are shown as they are written, with `$x` for any value or attribute; functions are described."""


def _combined_operations() -> Iterator[str]:
    """Yields the rows on the rules that combine operations."""
    for rule in combine_operations.RULES:
        names = ", ".join([f"`{c.name.removeprefix('core.')}`" for c in rule.classes])
        effect = " ".join(cleandoc(rule.combine.__doc__ or "").split())
        yield f"| {rule.name} | {names} | {'fast' if rule.rounds else 'exact'} | {effect} |"
    for functions in _dialect("onnx").rules.rounding.values():
        texts = [" ".join(cleandoc(f.__doc__ or "").split()) for f in functions]
        yield from [f"| operators | ONNX only | fast | {text} |" for text in texts]


def _dialect(name: str) -> Dialect:
    result = Dialects().get(name)
    assert result is not None
    return result


def _canonicalizations() -> Iterator[str]:
    """Yields the lines on the canonicalizations of each dialect."""
    for name in ("arith", "cf", "complex", "func", "index", "scf", "tensor", "tosa"):
        dialect = Dialects().get(name)
        if dialect is None:
            continue
        yield from ("", f"### {name}", "")
        yield from [f"- `{rule!r}`" for rule in dialect.rules.rewrites]
        for definition, functions in dialect.rules.functions.items():
            summaries = [cleandoc(f.__doc__).splitlines()[0] for f in functions if f.__doc__]
            yield from [f"- `{definition.name}`: {summary[0].lower()}{summary[1:]}" for summary in summaries]


def _options_of(passes: Sequence[Pass]) -> dict[PassOption, list[str]]:
    """Returns the options of passes, each with the passes that have it."""
    result: dict[PassOption, list[str]] = {}
    for each in passes:
        for option in each.options:
            result.setdefault(option, []).append(f"`{each.name}`")
    return result


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "common_ir_rules.md": common_ir_rules_page,
    "diagnostics.md": diagnostics_page,
    "passes.md": passes_page,
    "mlir_operations.md": mlir_operations_page,
    "mlir_verdicts.md": mlir_verdicts_page,
    **{f"{name}_rules.md": partial(statements_page, name) for name in statements.documents() if name != "common_ir"},
}


def main() -> int:
    """Writes every page."""
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
