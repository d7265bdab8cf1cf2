"""The codes of all diagnostics, with the explanation that `cir explain` prints; those about files are in `file_codes`.

Numbers: E04xx the structure of a program (names, scopes, uses), E05xx an operation contradicts its definition, E06xx
conversion, E07xx running, E08xx writing, E09xx usage. Warnings have the same numbering with W, notes with N.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonir.base import file_codes
from commonir.base.diagnostics import Code, Diagnostic, DiagnosticError, ExitStatus, Severity
from commonir.base.suggestions import did_you_mean

_REFUSED = ExitStatus.REFUSED
_UNSUPPORTED = ExitStatus.UNSUPPORTED
_UNWRITABLE = ExitStatus.UNWRITABLE
_USAGE = ExitStatus.USAGE

# -- E04xx: structure of a program
UNDEFINED_VALUE = Code(
    "E0401",
    "use of an undefined value",
    "A name is used that no operation, input or enclosing scope defines before the place of use. Programs are read in "
    "order: a value must be defined before it is used. Check the spelling, and that the defining operation comes "
    "first.",
)
DUPLICATE_NAME = Code(
    "E0402",
    "a name is defined twice in one scope",
    "Each name may be defined once in a block. Nested blocks may reuse a name of the block around them.",
)
MALFORMED_REGION = Code(
    "E0403",
    "a region does not have the form its operation needs",
    "An operation with nested blocks states how many it has, what they receive and how they end.",
)
UNKNOWN_SYMBOL = Code(
    "E0404",
    "reference to an unknown symbol",
    "A function or global is referred to by a name that the module does not define.",
)
CYCLIC_ORDER = Code(
    "E0405",
    "operations depend on each other in a cycle",
    "The operations of a subgraph run in any order that data and tokens allow. These depend on each other in a cycle, "
    "so that none can be the first.",
    remedy="Follow the names in the message: one of the tokens or values must come from elsewhere.",
)
AMBIGUOUS_NAME = Code(
    "E0407",
    "a name stands for several values",
    "A name of a node selects the value that the node computes. Several nodes have this name, or the node has several "
    "results: use the name of a value instead, as `cir show --node` lists them.",
)
UNORDERED_ACCESSES = Code(
    "E0406",
    "unordered accesses to a global",
    "In a subgraph only data and tokens determine what runs first. One operation writes a global, another one reads or "
    "writes it, and no path of values or tokens leads from one to the other, so that the result is not determined.",
    remedy="Let the later one consume a token that the earlier one produces.",
)
NO_ORDER = Code(
    "W0405",
    "a subgraph cannot run: its operations depend on each other in a cycle",
    "Values and tokens of a subgraph may form cycles, as in every graph region of MLIR. No operation of such a cycle "
    "can run first. The program can be read, printed and transformed; running or lowering it is the error E0405.",
    severity=Severity.WARNING,
)
SEVERAL_ORDERS = Code(
    "W0406",
    "a subgraph cannot run: its accesses to a global have no order",
    "In a subgraph only data and tokens determine what runs first. One operation writes a global, another one reads or "
    "writes it, and nothing orders the two. The program can be read, printed and transformed; running or lowering it "
    "is the error E0406.",
    severity=Severity.WARNING,
)

# -- E05xx: an operation contradicts its definition
UNKNOWN_OPERATION = Code(
    "E0501",
    "unknown operation",
    "No dialect in use defines an operation of this name in this version. It may be misspelt, be newer than the "
    "version the program states, or belong to a plugin that is not installed.",
    remedy="`cir ops` lists what is known.",
)
WRONG_OPERAND_COUNT = Code(
    "E0502",
    "missing or superfluous operand",
    "The operation has an operand too few or too many, or one under an unknown name.",
)
WRONG_TYPE = Code(
    "E0503",
    "a value has a type the operation does not accept",
    "The element type, rank or a dimension differs from what the definition states for this operand.",
    remedy="`cir ops NAME` explains it.",
)
VIOLATED_CONSTRAINT = Code(
    "E0504",
    "a labelled constraint of the operation does not hold",
    "The reference page of the operation lists its constraints C1, C2, ...; the message names the one that is "
    "violated.",
    remedy="`cir ops NAME` explains it.",
)
WRONG_ATTRIBUTE = Code(
    "E0505",
    "an attribute is missing, unknown or has a wrong value",
    "",
    remedy="`cir ops NAME` lists the attributes and their values.",
)
WRONG_RESULT_TYPE = Code(
    "E0506",
    "the declared result type contradicts the inferred one",
    "The type that follows from the operands and attributes differs from the one the program states.",
)
NOT_CONSTANT = Code(
    "E0507", "an operand that must be constant is computed", "This operand must be known before the program runs."
)
VIOLATED_TRAIT = Code(
    "E0508",
    "a trait of the operation does not hold",
    "For example a terminator that is not last, or operands that must share a type.",
)
NOT_KNOWN_BEFORE_RUNNING = Code(
    "E0509",
    "what an operation means depends on data-dependent values",
    "A rank, a size or the elements of an operand, such as the axes of a reduction, are computed by the program or "
    "given as inputs, and the operation cannot be stated without them. Engines run such a program: they state the "
    "operation when they reach it.",
    remedy="A conversion needs them before: make them constants, or state ranks and sizes.",
    status=_UNSUPPORTED,
)

NO_SIGNATURE = Code(
    "E0510",
    "no signature of an operator fits",
    "The operator is declared with several signatures, and none of them takes these operands and attributes. The notes "
    "show each signature and what keeps it from fitting.",
    remedy="Convert an operand, or declare a further signature.",
)
AMBIGUOUS_SIGNATURE = Code(
    "E0511",
    "several signatures of an operator fit",
    "The operator is declared with several signatures, and more than one takes these operands, so that nothing says "
    "which is meant. It may be that types of operands are not known.",
    remedy=("Declare signatures that differ in the types or ranks of operands, and state the types of inputs."),
)
NO_MEANING = Code(
    "E0512",
    "a declared operator has no meaning",
    "A file may declare operators without saying what they compute: such a program can be checked, shown and saved, "
    "but not run or converted.",
    remedy=(
        "An operator gets its meaning from a function of the same name and signature in a library that the graph "
        "imports, or by naming an operation of a dialect instead, such as `org.commonir.core.add`."
    ),
    status=_UNSUPPORTED,
)
UNKNOWN_DIALECT = Code(
    "E0514",
    "type or attribute of an unknown dialect",
    "No dialect in use has the name before the point. Types and attributes of it can be read and printed, but nothing "
    "is known of them.",
    remedy="`--dialect FILE.td` and plugins define dialects; `--allow-unregistered` accepts all.",
)
ENDLESS_LOOP = Code(
    "W0501",
    "a loop that does not end",
    "The step of the loop is a constant that is not positive, and nothing says that the loop has no rounds. MLIR "
    "requires a positive step of `scf.for`. Running ends with E0716 when it reaches the loop with a round to do.",
    severity=Severity.WARNING,
)
UNTRUSTED_SHAPE = Code(
    "W0502",
    "the declared shape contradicts the inferred one, and does not count",
    "Shapes within an ONNX model and of its outputs are notes that no runtime relies on, and tools that change models "
    "leave them as they were. The shape that follows from the operators counts here; a contradicting element type is "
    "E0506. Errors that follow from a wrong declared shape are not reported.",
    severity=Severity.WARNING,
)

# -- E06xx: conversion
UNSUPPORTED_CONVERSION = Code(
    "E0601",
    "an operation cannot be expressed in the target",
    "No rule of the conversion applies to the operation and it cannot be expanded further, or no path of rules leads "
    "from the operation to the dialects of a legalization. The notes say why each rule failed, the help what would be "
    "needed.",
    status=_UNSUPPORTED,
)
LOSSY_CONVERSION = Code(
    "E0602",
    "a conversion that loses something was refused",
    "`--strict` asks for a conversion without loss, and the warnings above say what would be lost. Nothing was "
    "written.",
    remedy="Leave out `--strict` to accept the loss.",
)
LOST_IN_CONVERSION = Code(
    "W0601",
    "a conversion loses something",
    "The target cannot represent something in the program; the message names it. The converted program computes the "
    "same. `--strict` refuses such a conversion.",
    severity=Severity.WARNING,
)

CHANGED_IN_CONVERSION = Code(
    "N0601",
    "a conversion expresses something differently",
    "The new program computes the same, but is used in another way: the message says how. A state, which ONNX does not "
    "have, becomes one more input and one more output: give its initial value first, then the output of the run "
    "before.",
    severity=Severity.NOTE,
)
IMPOSSIBLE_EDIT = Code(
    "E0603",
    "a program cannot be changed in this way",
    "The change would leave a program that is not valid, or that its format cannot hold: a name that is taken or not "
    "allowed, a dim outside of the range of an input, no output. Nothing is written; the message has the reason.",
)
NOT_FUSED = Code(
    "N0605",
    "operations that look like one operation stay",
    "`--fuse` replaces operations by one that computes the same, where the format has it. These compute nearly the "
    "same, or something else uses a value between them, or the operation set of the program does not have the "
    "operation: the message says which.",
    remedy="For a newer operation set, `cir convert --opset N` or `--target SYSTEM` comes first.",
    severity=Severity.NOTE,
)
INPUTS_KEPT = Code(
    "N0602",
    "a part of a program needs more inputs than those named",
    "What is cut out begins at the values named and at these inputs of the whole program, which it needs besides. When "
    "they bring along more than expected, begin at further values: those through which the part depends on them.",
    severity=Severity.NOTE,
)

MALFORMED_RULE = Code(
    "E0604",
    "a rewrite rule cannot be used",
    "What takes the place of an operation may mention only what the source of the rule binds, and a field may be given "
    "only what it can hold: an operand a value, an attribute an attribute of its type. A rule whose constraints "
    "exclude each other, or what a definition admits, never applies. The message names the rule and the part at fault.",
)
INCOMPLETE_RULE = Code(
    "E0605",
    "the result of a rewrite rule is incomplete",
    "An operation that a rule builds must be complete: every operand and every attribute without a default needs a "
    "value. So do the types of its results, if they cannot be inferred from its operands or from what it replaces: "
    "`(returnType ..)` in a file, `.typed(..)` in Python. The source of a rule may leave out whatever does not matter.",
)
AMBIGUOUS_RULES = Code(
    "E0606",
    "two rewrite rules match the same operations equally well",
    "Of several rules that match, the most discriminating one is used: the one with more operations in its source, "
    "then with more constrained operands and attributes. These two are equal in that and can match the same operation, "
    "so that the order is ambiguous.",
    remedy="Constrain one of them further, or prefer one by a benefit.",
)
ENDLESS_REWRITING = Code(
    "E0607",
    "rewriting does not end",
    "Rules lead in a cycle or make the program grow without end: they were applied far more often than the program "
    "has operations. The message names the rules that were applied last. In a legalization, the rules for an operation "
    "give it again, and nothing else leads to the target.",
    status=_UNSUPPORTED,
)

UNKNOWN_RULE_FUNCTION = Code(
    "E0608",
    "a rewrite rule needs a function that is not registered",
    'A rule in TableGen may call functions that its file states in C++, such as `NativeCodeCall<"scaled($0)">`. Text '
    "is never run: such a call stands for a Python function that is registered under the name of the record, under "
    'its text, or under the name that the text calls (`commonir.load_rules(.., functions={"scaled": f})`). The same '
    "holds of conditions in C++ that are not understood.",
    status=_UNSUPPORTED,
)

RULE_FUNCTION_FAILED = Code(
    "E0609",
    "a function of a rewrite rule failed",
    "A Python function that a rule calls raised an error for what the rule matched; the message has it. A function "
    "returns None where the rule does not apply. The program given is unchanged.",
)

CANNOT_BE_DIVIDED = Code(
    "E0610",
    "a program cannot be sharded among ranks",
    "With `--parallel data` every operation must work on each element of the batch by itself, and the message names "
    "one that does not, or says what is wrong with the batch.",
    remedy="`--parallel tensor` shards weights instead.",
    status=_UNSUPPORTED,
)
NOTHING_DIVIDED = Code(
    "W0602",
    "ranks do the same work",
    "No weights could be sharded among the ranks, so that each of them holds and computes the whole program. Weights "
    "are sharded in pairs of matrix products, the first by columns and the second by rows, when nothing between them "
    "mixes the shards, and when dims, such as the number of heads, are multiples of the number of ranks. The notes "
    "have the reasons.",
    severity=Severity.WARNING,
)
LABELLED_SCORES = Code(
    "N0604",
    "labels are for scores that are not probabilities",
    "A classifier shows a confidence for each label, which apps take for a probability. An output that no softmax or "
    "sigmoid computes has other numbers, also negative ones; the best label is the same.",
    remedy="Export the model with a softmax at its end.",
    severity=Severity.NOTE,
)
DIVIDED = Code(
    "N0603",
    "how a program is sharded among ranks",
    "The notes list which weights are sharded, and which are replicated on each rank. The results are those of the "
    "unsharded program up to rounding: sums are formed in another order.",
    severity=Severity.NOTE,
)
NOT_INLINED = Code(
    "N0606",
    "calls that are not inlined",
    "Functions that call functions multiply: each call would be a copy of all that its function stands for. Once "
    "100,000 operations have been copied, further calls stay as they are. The result computes the same.",
    severity=Severity.NOTE,
)

# -- E07xx: running
MISSING_INPUT = Code(
    "E0701",
    "an input of the program has no value",
    "The function needs a value for each of its inputs that has no default.",
    remedy=(
        "`cir info MODEL` lists them with their types; `cir run` fills those that are not given with seeded random "
        "values."
    ),
    status=_USAGE,
)
UNKNOWN_INPUT = Code(
    "E0702",
    "a value is given for an input that does not exist",
    "The function has no input of this name.",
    remedy="`cir info MODEL` lists the inputs of each function.",
    status=_USAGE,
)
WRONG_INPUT = Code(
    "E0703",
    "a value does not fit its input",
    "The element type, rank or a dimension of the given array differs from the declared type of the input. Values are "
    "not converted silently; convert the array (`numpy.astype`, `numpy.reshape`) or give it as "
    "`name=f32[1,3,8,8]:randn`.",
    status=_USAGE,
)
UNKNOWN_ENGINE = Code(
    "E0704",
    "unknown engine",
    "No engine of this name is installed.",
    remedy="`cir doctor` lists the engines found.",
    status=_USAGE,
)
MISSING_PACKAGE = Code(
    "E0705",
    "an optional package is not installed",
    "This needs a package that is not part of the default installation. The message names the extra that brings it, "
    "for example `python -m pip install 'commonir[ort]'` for onnxruntime.",
    status=_UNSUPPORTED,
)
UNKNOWN_FUNCTION = Code(
    "E0706",
    "unknown function",
    "The program defines no function of this name.",
    remedy="`cir info MODEL` lists its functions; the entry function is used when none is named.",
    status=_USAGE,
)
WRONG_DIMENSIONS = Code(
    "E0707",
    "dimensions of the inputs contradict each other or the program",
    "A dimension has one name wherever it must be equal, and may have bounds or a list of allowed sizes. The given "
    "inputs bind it to different sizes, to a size outside of its bounds, or leave it without a size.",
    status=_USAGE,
)
EXECUTION_FAILED = Code(
    "E0708",
    "an operation failed on these values",
    "The program is well formed, but an operation was given values it has no result for, such as an index outside of "
    "its tensor. The message names the operation and the value.",
    remedy="Other inputs may work.",
)
UNSUPPORTED_EXECUTION = Code(
    "E0709",
    "an engine cannot run the program",
    "The engine has no implementation of an operation or a type.",
    remedy="Try another one with `--engine`; `reference` runs everything that can be read.",
    status=_UNSUPPORTED,
)
OTHER_ENGINE = Code(
    "W0701",
    "a check ran on another engine",
    "`cir convert --check` runs ONNX files with onnxruntime. Where that does not take a file, as one of a newer "
    "operator set than it knows, an engine of commonir reads the file and runs it: what is checked then is the file, "
    "but by the same implementation that wrote it.",
    remedy=("Write an older operator set with `--opset`, or run the file with the evaluator of the package onnx."),
    severity=Severity.WARNING,
)
OUTPUTS_DIFFER = Code(
    "E0710",
    "outputs differ beyond the tolerance",
    "The same inputs gave different outputs in the two programs or engines. An element may differ by `atol + rtol * "
    "|expected|`; without `--atol` and `--rtol` the tolerance follows from the narrowest floating-point type that the "
    "program computes in. A program that amplifies rounding, or whose random inputs are unlike its real ones, may need "
    "other inputs or a wider tolerance.",
)
INPUT_CONVERTED = Code(
    "N0703",
    "an input has another element type than the program",
    "Every value of the array is a value of the type that the program declares, floats up to rounding, so it is "
    "converted. numpy makes arrays of `float64` where nothing else is said: `array.astype('float32')` before saving "
    "avoids the note. A value that does not fit is an error (E0703).",
    severity=Severity.NOTE,
)
SIZES_CHOSEN = Code(
    "N0704",
    "sizes of random inputs were chosen",
    "A dynamic dim of an input without a value gets a small size that agrees with what is known of the program. What "
    "only running decides may need another one: `--set DIM=N` sets it, and an input with a value has its own sizes.",
    severity=Severity.NOTE,
)
NOT_COMPARED = Code(
    "N0710",
    "outputs are not compared",
    "The program has operations that nothing defines, so it cannot run, and `cir opt --allow-unregistered` writes it "
    "without comparing its outputs. `--dialect FILE.td` and plugins define operations.",
    severity=Severity.NOTE,
)
RUN_LIMIT_EXCEEDED = Code(
    "E0711",
    "a limit of the run is exceeded",
    "The run needs more memory or time than the limit it was given allows.",
    remedy="Raise the limit, give smaller inputs, or try another engine.",
    status=_REFUSED,
)
UNKNOWN_DIMENSION = Code(
    "E0712",
    "a size is given for a dimension that does not exist",
    "No input of the function has a dynamic dimension of this name; the message lists the existing ones. A "
    "dimension that the file gives no name is called after its input and axis, such as `image_0`.",
    status=_USAGE,
)
INTERFACES_DIFFER = Code(
    "E0713",
    "two programs have different inputs",
    "Values of two programs are compared on the same inputs, which are matched by name. An input of one program has no "
    "counterpart in the other.",
    remedy="Rename it with `cir edit --rename`, or give values for the inputs of both programs.",
)
NOTHING_TO_COMPARE = Code(
    "E0714",
    "two programs have no value of the same name",
    "Values of two programs are matched by name, and no operation of one has a result of the same name as one of the "
    "other. Names travel through the conversions of commonir; those of other tools may rename everything.",
    remedy="Compare the outputs, after giving them the same names with `cir edit --rename`.",
)
BROKEN_PLUGIN = Code(
    "E0715",
    "a plugin cannot be loaded",
    "An installed package offers something to commonir, but importing it fails, or it is not what its entry point "
    "promises. Everything else works.",
    remedy="Update or uninstall that package; `cir doctor` lists plugins.",
    status=_UNSUPPORTED,
)
FAILED_ASSERTION = Code(
    "E0716",
    "a condition that the program states does not hold",
    "The program asserts a condition on values that it computes, as `cf.assert` of MLIR does, and it does not hold "
    "on these inputs. The message is the one of the program. Nothing is returned, and what the program keeps between "
    "runs is as it was before.",
)
RANKS_BLOCKED = Code(
    "E0717",
    "the ranks of a program wait for each other",
    "Every rank that has not ended waits: for a message that was not sent, or at a barrier that not all ranks "
    "reach. The notes say for each what it waits for and where, the cycle if there is one, and what was sent but "
    "never received, which often is the message that is missing under another tag. `core.recv` waits for a `core.send` "
    "of the rank that it names, with the same tag; sends do not wait.",
    remedy="`cir check` finds this without running, and says where in the files of the ranks.",
)
RANK_ENDED = Code(
    "E0718",
    "a rank of a program ended before it was done",
    "The process of a rank under MPI ended, or one of another rank did while this one waited for it. The notes say "
    "who waited for whom. What the rank itself said stands above, if it could say anything.",
)
NOTHING_FAILS = Code(
    "E0719",
    "nothing fails that could be reduced",
    "`cir reduce` looks for the smallest part of a model on which something fails, and it does not fail on the whole "
    "model. The command gets a copy of the model as it is written here, and fails by its exit status, unless "
    "`--fail-code` or `--fail-text` say otherwise; a run that `--run-limit` stops does not count.",
)

NOT_COMPILED_WHOLE = Code(
    "E0720",
    "a function cannot be compiled ahead of time",
    "`cir compile` makes machine code of whole functions, which runs without Python. Operations that are not formulas "
    "over elements of arrays, such as sorting, top-k or strings, sizes that depend on data, calls, and loops and "
    "branches with any of these inside have no machine code. The message names each of them.",
    remedy="`cir extract` writes the part of the program that can be compiled, and `--function` chooses functions.",
    status=_UNSUPPORTED,
)
WRONG_LIBRARY = Code(
    "E0721",
    "a compiled library cannot be loaded",
    "`load_compiled` takes libraries that `cir compile -o NAME.so` wrote. This file is not one, is damaged, was "
    "compiled for another system or for a processor with more instructions than this one, or its weights are missing "
    "or of another version. Nothing of it has been executed.",
    remedy="Compile the program again, for this machine or with `--cpu` for an older processor.",
    status=_REFUSED,
)

# -- E08xx: writing
CANNOT_WRITE = Code(
    "E0801",
    "the output cannot be written",
    "The operating system refused to create or replace the output, or the format has no place for a part of the "
    "program; the message has the reason. An output that was there before is unchanged.",
    status=_UNWRITABLE,
)
DISK_FULL = Code(
    "E0802",
    "no space left for the output",
    "The disk or quota is full. The new output is written beside the old one and replaces it only when it is complete, "
    "so both need room for a moment. An output that was there before is unchanged, and nothing of the new one is left "
    "behind.",
    status=_UNWRITABLE,
)
OUTPUT_IN_THE_WAY = Code(
    "E0803",
    "the output would replace something that is not a model",
    "A file is never replaced by a folder, nor a folder by a file, and a folder is replaced only when it is empty or a "
    "package of the same kind. A data file for weights replaces only one of the same model that no other model in the "
    "folder refers to, and a model replaces no data file with its own weights.",
    remedy="Choose another name, or remove what is there.",
    status=_UNWRITABLE,
)
UNKNOWN_OUTPUT_FORMAT = Code(
    "E0804",
    "the format of the output is not known",
    "The suffix of the output names its format, such as `.onnx`; `--to` overrides it.",
    remedy="`cir doctor` lists the formats that are written.",
    status=_USAGE,
)
OUTPUT_TOO_LARGE = Code(
    "E0805",
    "the output is larger than its format allows",
    "A protobuf message holds less than 2 GiB. Weights of a larger ONNX model go to a file beside it: write it with "
    "external data, which is done without asking when a file is written.",
    status=_UNWRITABLE,
)
NOT_IN_FORMAT = Code(
    "E0806",
    "the program is not in the dialect of the output format",
    "Writers never convert: the program must be in the dialect of the format, with its types and its structure. "
    "`cir convert` and `commonir.convert` make it so.",
    status=_UNSUPPORTED,
)
NOT_DRAWN = Code(
    "E0807",
    "there is no drawing of programs of this kind",
    "`cir view` draws the functions of a program as graphs, and what ranks do and send each other as lanes. A program "
    "without a function that has a body, such as a library of declarations, is text only: `cir show`.",
    status=_UNSUPPORTED,
)
REPLACES_INPUT = Code(
    "E0808",
    "the output would replace the input",
    "An older output of the same name is replaced without asking, but a file that the command reads only by a new "
    "version of itself: `cir edit`, `opt`, `extract` and `bundle` may write over their model, `cir run --save-state` "
    "over the archive of `--state`. For `convert` and `check --fix` a terminal asks, and `--force` replaces.",
    status=_USAGE,
)
WRONG_OVERLAY = Code(
    "E0809",
    "an overlay does not fit the drawing",
    "`cir view --overlay FILE` colours the operations of a program by a report about it: the output of `cir compare "
    "MODEL ... --json`, `cir profile MODEL --json` or `cir check MODEL --json`. Operations are found by the names of "
    "their values and nodes, so the report must be about the program that is drawn, or about one with the same names.",
    status=_USAGE,
)
OUTPUT_IN_USE = Code(
    "E0810",
    "other processes are writing the output",
    "One process at a time replaces an output and the files of weights that belong to it. This one has waited for a "
    "minute, and the output is unchanged by it.",
    remedy="Try again when they have ended, or choose another name.",
    status=_UNWRITABLE,
)
WIDENED_OUTPUT = Code(
    "W0801",
    "an array is saved in a wider type",
    "numpy's file formats have no name for bfloat16, 8-bit floats and 4-bit integers. Such arrays are saved as f32, "
    "which holds each of their values exactly.",
    severity=Severity.WARNING,
)
EXTERNAL_WEIGHTS = Code(
    "N0801",
    "weights are in files beside the model",
    "Weights that were in files beside a model are there again, in as many files. Files of the model that is replaced "
    "stay where they are while all that is in them is used, and are removed when nothing refers to them any more. A "
    "file that another model in the folder refers to is never replaced: the weights get another name. Weights of more "
    "than 1.5 GiB go to a file beside the model. `--external-data` and `--external-threshold` choose.",
    severity=Severity.NOTE,
)

# -- E09xx: usage
WRONG_USAGE = Code(
    "E0901",
    "the command line is not understood",
    "An option, argument or verb is unknown, missing or has a wrong value.",
    remedy="`cir --help` and `cir VERB --help` describe them.",
    status=_USAGE,
)
WRONG_INPUT_ARGUMENT = Code(
    "E0902",
    "an input of `cir run` is not understood",
    "Inputs are given as `NAME=@file.npy`, `@file.npz` (every array in it, by name), `NAME=@file.npz:KEY`, the same "
    "with `.safetensors`, as an image `NAME=@photo.png` (PNG or JPEG of eight bits for each channel), or as a type "
    "and a generator, `NAME=f32[1,3,8,8]:randn`. Generators are randn, rand, zeros, ones, iota, randint(low,high) "
    "and a number. An input that is a scalar, or a tensor of rank 0, takes its value: `NAME=3`, `NAME=-1.5`, "
    "`NAME=true`.",
    status=_USAGE,
)
UNKNOWN_CODE = Code(
    "E0903",
    "unknown diagnostic code",
    "Codes are the letter and four digits in square brackets at the start of a message, such as E0503.",
    remedy="`cir explain` lists them all.",
    status=_USAGE,
)
UNKNOWN_REFERENCE = Code(
    "E0904",
    "no reference page of this name",
    "Pages exist for operations (`mil.conv`) and dialects (`mil`).",
    remedy="`cir ops` lists them.",
    status=_USAGE,
)
RAN_ON_NOTHING = Code(
    "W0901",
    "nested passes run on no operation",
    "Passes nested in the name of an operation, as in `func.func(canonicalize)`, run on each operation of that name "
    "directly in the operation around it, and there is none. For operations further inside, name those around them: "
    "`builtin.module(builtin.module(func.func(cse)))`.",
    severity=Severity.WARNING,
)
INTERNAL_ERROR = Code(
    "E0999",
    "an internal error",
    "Whatever the input is, this message should not appear. Run the command again with `--debug` and report its "
    "output, together with the file if you can share it. An output that was there before is unchanged.",
    status=ExitStatus.OUR_BUG,
)


def all_codes() -> Iterator[Code]:
    """Returns all codes, in order of definition."""
    return (value for value in (*vars(file_codes).values(), *globals().values()) if isinstance(value, Code))


def find_code(id: str) -> Code:
    """Returns the code with an id, in upper or lower case. Raises: UNKNOWN_CODE."""
    known = {code.id: code for code in all_codes()}
    result = known.get(id.upper())
    if result is None:
        raise DiagnosticError(
            Diagnostic(UNKNOWN_CODE, f"no diagnostic has the code '{id}'", help=did_you_mean(id.upper(), known))
        )
    return result
