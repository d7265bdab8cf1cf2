"""Findings about files: that they cannot be read, that their content contradicts its format, safety and limits.

Numbers: E01xx a file cannot be read, E02xx its content contradicts its format, E03xx safety and limits. A warning has
the same numbering with W, a note with N.
"""

from __future__ import annotations

from commonir.base.diagnostics import Code, ExitStatus, Severity

_UNREADABLE = ExitStatus.UNREADABLE
_REFUSED = ExitStatus.REFUSED
_UNSUPPORTED = ExitStatus.UNSUPPORTED

# -- E01xx: a file cannot be read
FILE_NOT_FOUND = Code(
    "E0101",
    "no such file",
    "There is no file or folder at this path, seen from the current folder. When a similar name exists beside it, the "
    "message names it.",
    status=_UNREADABLE,
)
FILE_NOT_ACCESSIBLE = Code(
    "E0102",
    "a file cannot be opened or read",
    "The operating system refused to open or read the file, or the file was replaced or became shorter while it was "
    "used; the message gives the reason.",
    remedy=(
        "Check the permissions of the file and of the folders above it, and that the disk or network share is still "
        "there. Do not copy over a model that is in use: write a new file and rename it, as `cir.save` does. Files of "
        "more than 1 MiB are mapped, so in Python, unlike on the command line, shortening one that a program reads "
        "ends the process (SIGBUS); `cir.loads` takes a model from memory."
    ),
    status=_UNREADABLE,
)
EMPTY_FILE = Code(
    "E0103",
    "the file is empty",
    "The file has no content at all, so a download or a copy most likely failed.",
    remedy="Fetch it again.",
    status=_UNREADABLE,
)
LFS_POINTER = Code(
    "E0104",
    "the file is a Git LFS pointer",
    "Large files of a Git repository are often stored in Git LFS. Without LFS installed, a clone contains small text "
    "files that only point to the content.",
    remedy=("Run `git lfs install` and `git lfs pull` in that repository, or download the file from its web page."),
    status=_UNREADABLE,
)
WEB_PAGE = Code(
    "E0105",
    "the file is a web page",
    "A download saved a web page (often a login, licence or error page) under the name of the model.",
    remedy=(
        "Open the file in a browser to see what the server said, then download the file itself: on model hubs the link "
        "is called `raw`, `resolve` or `download`."
    ),
    status=_UNREADABLE,
)
ARCHIVE = Code(
    "E0106",
    "the file is an archive",
    "Models in archives are not read, because weights are memory-mapped.",
    remedy="Unpack the archive and pass its contents.",
    status=_UNREADABLE,
)
TRUNCATED_FILE = Code(
    "E0107",
    "the file ends too early",
    "The content announces more bytes than the file has: a download, a copy or a program that was writing it was "
    "interrupted.",
    remedy="Fetch or write it again, and compare its size with the original.",
    status=_UNREADABLE,
)
NOT_A_PACKAGE = Code(
    "E0108",
    "the folder is not a model package",
    "A Core ML package is a folder with a `Manifest.json` and a folder `Data`; a compiled Core ML model is a folder "
    "with a `model.mil`. This folder has neither.",
    remedy=(
        "It may be the folder around the model, or an incomplete copy of a package: copy packages as a whole, with `cp "
        "-r` or as an archive."
    ),
    status=_UNREADABLE,
)
UNKNOWN_FORMAT = Code(
    "E0109",
    "the format of the file is not recognized",
    "The content does not look like any format that is read here. The format is found from the content; the suffix of "
    "the name does not matter.",
    remedy="`cir doctor` lists the formats.",
    status=_UNREADABLE,
)
UNREAD_FORMAT = Code(
    "E0110",
    "a known format that is not read",
    "The file is in a format this version recognizes but does not read, such as a checkpoint of weights without a "
    "program.",
    remedy="Export the model to ONNX or Core ML with the framework it comes from.",
    status=_UNSUPPORTED,
)
MISSING_PART = Code(
    "E0111",
    "a file that the model refers to is missing",
    "Large models keep their weights in further files next to the model, and the package or model names them.",
    remedy=(
        "Copy those files along with the model, under their original names. If another process was saving the model, "
        "load it again."
    ),
    status=_UNREADABLE,
)
WRONG_FORMAT = Code(
    "E0112",
    "the file has another format than the one named",
    "The content is of another format than the one named on the command line or in the call.",
    remedy="Without a format it is detected.",
    status=_UNREADABLE,
)

# -- E02xx: the content contradicts its format
DAMAGED_MESSAGE = Code(
    "E0201",
    "the content is not a valid protobuf message",
    "The file is read as a protobuf message, and at the place named its bytes have no meaning: they are damaged, cut "
    "off, or belong to another format.",
    remedy="Fetch the file again and compare its size with the original.",
    status=_UNREADABLE,
)
MALFORMED_MANIFEST = Code(
    "E0202",
    "the manifest of a package is malformed",
    "`Manifest.json` names the parts of a Core ML package. It is a JSON object with `fileFormatVersion`, "
    "`rootModelIdentifier` and `itemInfoEntries`; every entry has the strings `path`, `name`, `author` and "
    "`description`, and one of them is the model file.",
    status=_UNREADABLE,
)
NEWER_FORMAT = Code(
    "E0203",
    "a format newer than this version knows",
    "The file states a version of its format that did not exist when this version of commonir was made. Reading it as "
    "if it were older could misread it.",
    remedy="Look for a newer commonir.",
    status=_UNSUPPORTED,
)
NO_PROGRAM = Code(
    "E0204",
    "the model contains no ML Program",
    "A Core ML model is one of many types: ML Program, pipeline, neural network, tree ensemble and so on. Only ML "
    "Programs consist of operations that can be shown, run and converted. A pipeline holds models that may be ML "
    "Programs.",
    remedy="coremltools converts a network from its source to an ML Program with `convert_to='mlprogram'`.",
    status=_UNSUPPORTED,
)
MALFORMED_WEIGHTS = Code(
    "E0205",
    "a weight file or a reference to it is malformed",
    "Weights lie in a file of blob storage version 2: a header, then for each tensor 64 bytes that begin with the word "
    "0xDEADBEEF and state element type, size and place of the data. A reference names the file and the place of those "
    "64 bytes. Here they are not what the format demands, or not what the program declares.",
    remedy="The weight file may belong to another model, or be cut off.",
)
INVALID_NAME = Code(
    "E0206",
    "a name that the format does not allow",
    "Names of an ML Program are letters, digits, `_` and `@`, do not begin with a digit or `@`, and are not words of "
    "its text form such as `tensor` or `int32`.",
)
MALFORMED_VALUE = Code(
    "E0207",
    "a constant contradicts its type",
    "The number of elements or the field that holds them is not what the declared type of the constant demands.",
)
MALFORMED_TYPE = Code(
    "E0208",
    "a type is malformed",
    "The type of a value is missing, has an element type that the format does not define, or states a rank that "
    "differs from its number of dimensions.",
)
MALFORMED_PROGRAM = Code(
    "E0209",
    "the parts of a program do not fit together",
    "The program breaks a rule of the format on versions, functions or their specializations; the message begins with "
    "the label of the rule.",
)
INTERFACE_MISMATCH = Code(
    "E0210",
    "the description of a model contradicts its program",
    "A Core ML model describes its inputs, outputs and states beside the program that has them. Names, element types, "
    "ranks and fixed dimensions must agree; the message begins with the label of the rule.",
)
NOT_IN_VERSION = Code(
    "E0211",
    "a feature is newer than the version that the model states",
    "The specification version of a model says which systems can run it. The model uses something that those systems "
    "do not have.",
    remedy="Set a higher specification version, or leave the feature out.",
)
NO_WEIGHTS_FOLDER = Code(
    "W0201",
    "the folder of weights is missing",
    "The manifest names a folder for weights that does not exist. That happens when a package without separate weights "
    "goes through git or a zip tool, which drop empty folders. It is read as an empty folder; other tools may refuse "
    "the package.",
    severity=Severity.WARNING,
)
RISKY_PROGRAM = Code(
    "W0203",
    "a program that Core ML may refuse or run wrongly",
    "The format can say it, but converters avoid it: activations of rank above 5, which Core ML does not run, and "
    "functions that return an input or a constant as it is, where an `identity` belongs in between. The message begins "
    "with the label of the rule.",
    remedy="Rewrite the program, or try it on the systems it is meant for.",
    severity=Severity.WARNING,
)

UNCHECKED_OPERATOR = Code(
    "W0204",
    "an operator without a known definition",
    "The operator belongs to a domain outside of the format, such as that of a runtime's own operators. It is kept as "
    "it is; nothing about its inputs and attributes can be checked, and it cannot be run or converted.",
    remedy="A plugin may define it, or a local function of the model.",
    severity=Severity.WARNING,
)
QUESTIONABLE_MODEL = Code(
    "W0205",
    "a model that other tools may refuse or misread",
    "The model breaks an advice of its format, or a rule that not all tools check: names of nodes that are not unique, "
    "functions that nothing calls, sizes under different names that the program needs to be equal. What it means here "
    "is clear; the message begins with the label of the rule.",
    severity=Severity.WARNING,
)

UNUSED_CONTENT = Code(
    "N0206",
    "something in the file that nothing uses",
    "Tools that change models leave initializers that no node takes and types of values that are not there any more. "
    "They change no result; `cir check --fix` removes them. The message begins with the label of the rule.",
    severity=Severity.NOTE,
)

MALFORMED_TEXT = Code(
    "E0240",
    "the text is not MLIR",
    "The text does not follow the grammar at the place shown. The message says what may stand there. `docs/text.md` "
    "describes the grammar.",
    status=_UNREADABLE,
)
UNSUPPORTED_TEXT = Code(
    "E0241",
    "a construct of MLIR that is not read",
    "The text is well formed, but programs here cannot hold what it says. The message names the construct.",
    status=_UNSUPPORTED,
)
ELIDED_CONSTANT = Code(
    "E0242",
    "the contents of a constant are not in the text",
    "The text was printed without its large constants, and shows `dense_resource<__elided__>` in their place; or it "
    "refers to a constant by a key, `dense_resource<KEY>`, under which its section of resources has nothing, and the "
    "contents are asked for.",
    remedy="Print it again with all contents (`cir show --no-elide`), or use the file it was printed from.",
    status=_UNREADABLE,
)
EXPECTATION_NOT_MET = Code(
    "E0247",
    "an expected finding is missing",
    "A comment `// expected-error {{..}}` expects a finding on a line, and there was none. "
    "Correct the comment or the program; `docs/text.md` describes the comments.",
)
MALFORMED_EXPECTATION = Code(
    "E0248",
    "a comment about expected findings cannot be read",
    "What stands in `{{..}}` after `-re` is not a regular expression.",
    status=_UNREADABLE,
)
MALFORMED_ONNX_TEXT = Code(
    "E0246",
    "the text is not an ONNX model in text form",
    "The text does not follow the grammar of the textual syntax of ONNX at the line shown; the message says what may "
    "stand there. Elements of types narrower than 32 bits are written as the numbers that a file holds for them.",
    status=_UNREADABLE,
)
MALFORMED_MIL_TEXT = Code(
    "E0243",
    "the text is not MIL",
    "The text does not follow the grammar of MIL text at the place shown. The message says what may stand there. "
    "`docs/mil_text.md` describes the grammar.",
    status=_UNREADABLE,
)
MALFORMED_BUNDLE = Code(
    "E0244",
    "a compiled Core ML model is malformed",
    "A compiled model is a folder with the program as text, `model.mil`, and files that describe it: `coremldata.bin` "
    "and `metadata.json`. One of them is not what the compiler writes.",
    remedy="Compile the model again with `coremlcompiler`.",
    status=_UNREADABLE,
)
NO_DESCRIPTION = Code(
    "W0202",
    "the description of a model is missing",
    "The folder of a compiled model has no `coremldata.bin` from which the description of inputs and outputs could be "
    "read. It is derived from the types of the program and from `metadata.json` where possible.",
    remedy="Copy the folder as a whole.",
    severity=Severity.WARNING,
)

MALFORMED_JSON = Code(
    "E0250",
    "a Common IR document in JSON is malformed",
    "A `.cir.json` file is an object with one key, `ModelProto` or `LibraryProto`, and below it the fields of the "
    "messages under their own names; the message names the place, what is expected there and what was found. Numbers "
    'of element types may be written as names, contents that are not text as `{"base64": ...}`.',
    status=_UNREADABLE,
)
MALFORMED_HISTORIC = Code(
    "E0251",
    "a historic Common IR file cannot be read",
    "The file has the encoding of an early draft of Common IR and something in it has no meaning there or here: an "
    "attribute without a value, an invalid type, arguments that do not match. The message names the place.",
    status=_UNREADABLE,
)
UNRESOLVED_IMPORT = Code(
    "E0252",
    "an imported library cannot be found",
    "A file imports libraries by paths relative to itself, or by absolute URIs. No file is at this path in the folder "
    "of the model, nor in a folder of `--library-path`.",
    remedy="Put the library there, or name its folder with `--library-path`.",
    status=_UNREADABLE,
)
CYCLIC_IMPORT = Code(
    "E0253",
    "libraries import each other in a cycle",
    "A library imports, directly or through others, itself. The message shows the whole cycle.",
    remedy="Move what both sides need into a library of its own.",
)
NOT_A_LIBRARY = Code(
    "E0254",
    "a file is imported, or opened, that has the wrong role",
    "Only libraries can be imported: files of operators and functions without a graph. A file with a graph is opened "
    "by itself. A library has no graph, so it can be shown, checked and imported, but not run or converted.",
    status=_UNREADABLE,
)

LIBRARY_LEFT_BEHIND = Code(
    "W0254",
    "a library that the output imports is not there beside it",
    "A Common IR file imports libraries by paths from its own folder. The output was written to another folder than "
    "the model was read from, and does not open until its libraries are there, too, or their folder is named with "
    "`--library-path`. `cir bundle` writes a graph and all that it imports as one file.",
    severity=Severity.WARNING,
)

COMMON_IR_RULE = Code(
    "E0255",
    "a rule of the Common IR is broken",
    "The specification of the Common IR says what a graph, a library, a declaration or a node MUST be. The message "
    "begins with the number of the rule, such as `CIR7`; `docs/common_ir_rules.md` lists them all with what to do.",
)
COMMON_IR_ADVICE = Code(
    "W0255",
    "a recommendation of the Common IR is not followed",
    "The specification of the Common IR says what a graph, a library, a declaration or a node SHOULD be. The program "
    "is read, checked and run all the same. The message begins with the number of the rule; "
    "`docs/common_ir_rules.md` lists them all.",
    severity=Severity.WARNING,
)

MALFORMED_TABLEGEN = Code(
    "E0260",
    "the text is not TableGen",
    "The text does not follow the grammar of TableGen at the place shown. The message says what may stand there; "
    "`docs/tablegen.md` describes what is read.",
    status=_UNREADABLE,
)
TABLEGEN_RULE = Code(
    "E0261",
    "a rule of TableGen is broken",
    "The text is well formed, but what it says cannot be: a name that is not defined, a value of another type than its "
    "field, an argument without a value, an operator on operands that it is not for, a field that depends on itself.",
)
TABLEGEN_INCLUDE = Code(
    "E0262",
    "an included TableGen file is not found",
    "Included files are looked for in the folders given with -I, in the order given, and in the folder of the file.",
    remedy=("Give the folder that the name begins in: for `mlir/IR/OpBase.td` that is the folder which holds `mlir`."),
    status=_UNREADABLE,
)
TABLEGEN_ASSERTION = Code(
    "E0263",
    "an assertion of a TableGen file fails",
    "A class or file states with `assert` what must hold for its records; the message is the one that it gives.",
)
WRONG_DEFINITION_RECORD = Code(
    "E0264",
    "a TableGen record defines no operation",
    "The records of the file are well formed TableGen, but this one does not define what it should: an argument that "
    "is neither an operand nor an attribute, an assembly format that names no field of the operation, a type or "
    "attribute without a name, two definitions of one name. `docs/tablegen.md` says what definitions may state.",
)
NOT_EVALUABLE = Code(
    "N0265",
    "C++ in a TableGen file that cannot be evaluated",
    "Definitions in TableGen contain conditions, defaults and functions in C++. The common ones are understood; this "
    "one is not. It is kept as text, and what it would demand is not checked: `mlir-opt` built with that dialect may "
    "refuse what is accepted here.",
    severity=Severity.NOTE,
)

MALFORMED_ARK_JSON = Code(
    "E0270",
    "an ARK file is not JSON",
    "A model file of ARK is one JSON object in UTF-8. The text does not follow the grammar of JSON at the line "
    "shown, has one name twice in an object, or a number that is not finite: JSON has neither NaN nor infinities.",
    status=_UNREADABLE,
)
MALFORMED_ARK_SCHEMA = Code(
    "E0271",
    "an ARK file does not have the fields of its format",
    "Every field of a model file is always written, under its own name and with a value of its own type; the message "
    "names the place and what is missing, misspelt, not known, or of another type. `docs/ark.md` lists the fields by "
    "generation of files.",
    status=_UNREADABLE,
)
ARK_RANGE = Code(
    "E0272",
    "a number in an ARK file is out of range",
    "Ranks, numbers of nodes, tensors and buffers, and offsets are not negative, a tensor has one to four sizes that "
    "are positive, and what it spans fits into 63 bits. Ranges of a plan lie inside those around them, and its tasks "
    "need no more than there is. The message names the place.",
)
ARK_TENSOR = Code(
    "E0273",
    "a tensor of an ARK file contradicts itself or another one",
    "A tensor is a view of a buffer: shape, strides, offsets and padding have one number for each dimension, and "
    "offset and size of each do not exceed the extent that `Strides` states. A tensor or buffer is repeated in full "
    "wherever it is mentioned, always with the same content; one operation produces it, and what an operation gives is "
    "the tensor that it writes under another number.",
)
ARK_RANK = Code(
    "E0274",
    "an ARK program names a rank that does not exist or is its own",
    "What is sent goes to another rank of the program, and what is received comes from one: ranks are numbered from 0 "
    "to `WorldSize` - 1. The rank that is meant is that of the buffer that the proxy stands for, `Buffer.Rank`.",
)
ARK_TAG = Code(
    "E0275",
    "the tag of a message of ARK is missing or ambiguous",
    "A message is known by its source, its destination and a tag. The tag stands in `SendTags` of the buffer that is "
    "sent and in `RecvTags` of the buffer that receives it, on both sides next to the number of the other rank; -1 in "
    "the pairs of a proxy is the rank of the file. Exactly one tag must be in both.",
)
ARK_WEIGHTS = Code(
    "E0279",
    "the weights beside an ARK file do not fit it",
    "ARK files hold no weights. Those of `NAME.json` may lie beside it in `NAME.safetensors`, as arrays under the "
    "names of inputs: the name of the virtual operation that gives the tensor, or `t` and the number of the tensor. "
    "Each array has the data type and the shape of its tensor.",
)
ARK_EDGES = Code(
    "E0276",
    "the nodes of an ARK file do not fit together",
    "Nodes state those that they come after and those that come after them, each pair on both sides. They stand in an "
    "order in which they can run, none before one that it comes after. Who mentions a tensor that another node gives "
    "comes after that node, and says so.",
)
ARK_RANKS = Code(
    "E0277",
    "the files of an ARK program do not belong together",
    "A program has a file for each of its ranks, and is checked with all of them. All state the same `WorldSize`, and "
    "each another `Rank`.",
)
ARK_REMOTE = Code(
    "E0278",
    "an ARK operation uses memory of another rank",
    "A tensor whose `Buffer.Rank` is another rank stands for memory there. Only the operations that send and receive "
    "may name it, in the place that their description calls a proxy; what is computed lies on the own rank.",
)
ARK_MESSAGE = Code(
    "E0281",
    "the two ends of an ARK message do not fit",
    "What is sent and what receives it have one data type and as many elements, packets are received as packets with "
    "the flag of their sender, and what is placed by the sender lies inside the buffer of the receiver.",
)
ARK_DEADLOCK = Code(
    "E0280",
    "ranks of an ARK program wait forever",
    "Sending does not wait, a receiving operation waits for its message, and `DeviceSync` waits until all ranks have "
    "come to it. The notes say which rank waits where for which: in a cycle, or for one that has ended.",
    remedy="Change the order of operations of one of them, or add the operation that another one waits for.",
)
ARK_CLOBBERED = Code(
    "W0276",
    "an ARK tensor is read after its memory was overwritten",
    "The operation reads a tensor by a number that is older than what was written to its memory in the meantime, so "
    "that it gets the newer content. That happens where ARK's compression of a model moved an operation; some models "
    "do it on purpose.",
    remedy="Read the newer tensor, or write to another buffer.",
    severity=Severity.WARNING,
)
ARK_HAZARD = Code(
    "W0277",
    "nodes of an ARK file share memory without an edge",
    "Two nodes use the same bytes, one of them writes, and no chain of edges leads from one to the other. In the order "
    "of the file they are right; who runs them in another order that the edges allow may get something else.",
    severity=Severity.WARNING,
)
ARK_VIEWS = Code(
    "W0278",
    "sender and receiver of an ARK message see different places",
    "ARK's sender puts a message where its own view of the other rank's buffer says. The receiver has another view of "
    "its buffer. Here the message goes where `docs/ark.md` says; on devices it may arrive elsewhere.",
    severity=Severity.WARNING,
)
ARK_TAG_ORDER = Code(
    "W0279",
    "ARK messages are received in another order than they are sent",
    "ARK counts messages by pairs of ranks and not by tags: who receives those of one sender in another order may read "
    "before they arrive. By tags, as here, nothing is wrong.",
    remedy="Receive in the order of sending.",
    severity=Severity.WARNING,
)
ARK_UNRECEIVED = Code(
    "E0282",
    "an ARK message is never received",
    "A tensor is sent to a rank that never receives it, so the contents of that rank's memory are undefined.",
    remedy="Add an operation that receives it, or remove the one that sends.",
)
MISSING_RANK = Code(
    "W0274",
    "the file of another rank of an ARK program is missing",
    "A program of several ranks is one file for each, in one folder, under names that differ in the number of the "
    "rank: `NAME.rank0.json`, `NAME.rank1.json`. Some of them are not there. What is there is read and checked; the "
    "program cannot run, and what ranks do together cannot be checked.",
    severity=Severity.WARNING,
)
MISSING_WEIGHTS = Code(
    "W0280",
    "the weights of a rank of an ARK program are missing",
    "Weights lie beside the model file of a rank: in `NAME.rank0.safetensors` for `NAME.rank0.json`. Other ranks of "
    "the program have such a file with tensors of the same names, and this one has none. Its tensors are inputs, which "
    "runs fill with random values when they are not given.",
    remedy="Put the file of weights beside the model file.",
    severity=Severity.WARNING,
)
ARK_PLAN = Code(
    "W0275",
    "an ARK plan is read as the model that it runs",
    "A plan of ARK's executor holds the operations of a model in the order in which they run, and says besides which "
    "processors run them in which pieces. The operations are read as a model of one rank, with the edges that their "
    "tensors imply. The division into tasks and the configuration of operations are checked and not kept.",
    severity=Severity.WARNING,
)
ARK_PADS = Code(
    "W0273",
    "pads of an ARK tensor are not one",
    "Files of the first generation state pads for every dimension, which nothing uses and which are one in all files "
    "that ARK writes. Others are kept, and mean nothing.",
    severity=Severity.WARNING,
)

# -- E03xx: safety and limits
PATH_OUTSIDE_MODEL = Code(
    "E0301",
    "a path leads out of the model's folder",
    "A model names a file for its weights by an absolute path, by a path with `..`, or through a symbolic link to "
    "elsewhere. Reading it could disclose other files of this machine, so it is refused.",
    remedy=(
        "Move the data file next to the model and save the model again with a relative name. If another process was "
        "saving the model, its data file had two names for a moment: load it again."
    ),
    status=_REFUSED,
)
NESTING_TOO_DEEP = Code(
    "E0302",
    "the content is nested too deeply",
    "Types, values, messages and blocks may contain each other only to the documented depth; deeper nesting does not "
    "occur in real models and is used to exhaust the memory of readers.",
    status=_REFUSED,
)
LIMIT_EXCEEDED = Code(
    "E0303",
    "a limit of the reader is exceeded",
    "The file asks for more than the documented limit (`commonir.base.limits`): the size of a message, a tensor, a "
    "name or an expansion. The limit protects against files made to exhaust memory.",
    remedy="In Python, pass other `Limits` when the file is known to be good.",
    status=_REFUSED,
)
CODE_REFUSED = Code(
    "E0304",
    "the data could run code",
    "Python pickles, also inside .npy and .pt files, run code while they are read. They are never read here.",
    remedy=(
        "Save arrays without objects (`numpy.save(..., allow_pickle=False)`), and export models to ONNX or Core ML."
    ),
    status=_REFUSED,
)

NETWORK_REFUSED = Code(
    "E0305",
    "a library lies on the network",
    "Nothing is fetched unless that is asked for: give `--allow-fetch`, and let the import name the digest of the "
    "library, as in `https://host/lib.cir#sha256=...`, so that what is fetched is what was meant. `cir bundle` with "
    "`--allow-fetch` makes one file that needs no network.",
    status=_REFUSED,
)
WRONG_DIGEST = Code(
    "E0306",
    "a library is not the one that was meant",
    "The import names the SHA-256 digest of the library, and the file that was found has another one: it was changed, "
    "or replaced.",
    remedy="If the change is meant, put the digest that was found into the import.",
    status=_REFUSED,
)
INCLUDE_OUTSIDE = Code(
    "E0307",
    "an included file lies outside of the folders that may be read",
    "A TableGen file may include files of its own folder, of those given with -I, and of folders inside of these, so "
    "that a file from elsewhere cannot show what else is on this machine.",
    remedy="Give the folder with -I if it is meant.",
    status=_REFUSED,
)
