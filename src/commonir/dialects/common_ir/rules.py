"""The rules of the Common IR: every MUST and SHOULD of its specification, numbered in its order.

A rule says what must hold, where the specification says so, and what to do where it does not. Operations of this
dialect check what a program shows; the reader of files checks what only a file shows. Either way a finding begins with
the number of its rule, and `docs/common_ir_rules.md` is made of this list. Rules whose source is `THIS_TOOL` are not in
the specification, but it cannot be followed without them.
"""

from __future__ import annotations

from enum import Enum

from commonir.base.codes import UNKNOWN_FUNCTION
from commonir.base.diagnostics import Code, Diagnostic
from commonir.base.file_codes import COMMON_IR_ADVICE, COMMON_IR_RULE, MALFORMED_JSON, UNRESOLVED_IMPORT
from commonir.base.records import Record


class Level(Enum):
    """The severity of a rule."""

    MUST = "MUST"
    SHOULD = "SHOULD"


class Checked(Enum):
    """The stage that checks a rule."""

    PROGRAM = "the program"
    FILE = "the file"


_GRAPHS = "Graphs and Libraries"
_METADATA = "Metadata"
_NAMES = "Names Within a Graph"
_FUNCTIONS = "Function Definitions"
_NODES = "Nodes"
_IMPORTS = "Importing Libraries"
_OPERATORS = "Operators"
_TYPES = "Standard data types"
_SHAPES = "Tensor shapes"
THIS_TOOL = "commonir"


class SpecRule(Record):
    """One rule. `source` is the section of the specification; `remedy` completes `help:` of its findings.

    `code` is the code of the finding if a reader reports the violation in terms of the file.
    """

    number: int
    level: Level
    text: str
    source: str
    remedy: str
    checked: Checked = Checked.PROGRAM
    code: Code | None = None

    @property
    def label(self) -> str:
        """Returns the label that findings begin with."""
        return f"CIR{self.number}"

    def broken(
        self,
        message: str,
        *,
        where: str = "",
        notes: tuple[str, ...] = (),
        help: str = "",
        is_tolerated: bool = False,
    ) -> Diagnostic:
        """The finding that it is broken; a warning where what is meant is evident all the same."""
        code = COMMON_IR_RULE if self.level is Level.MUST and not is_tolerated else COMMON_IR_ADVICE
        return Diagnostic(code, f"{self.label}: {message}", where=where, notes=notes, help=help or self.remedy)

    def is_reported_by(self, finding: Diagnostic) -> bool:
        """Returns whether a finding is that this rule is broken."""
        return finding.message.startswith(f"{self.label}: ")


ACYCLIC = SpecRule(1, Level.MUST, "a graph is free of cycles", _GRAPHS, "break the cycle that the message shows")
HAS_OUTPUT = SpecRule(
    2, Level.SHOULD, "a node has one or more outputs", _GRAPHS, "name an output of the node, or remove the node"
)
NO_GRAPH_IN_LIBRARY = SpecRule(
    3,
    Level.MUST,
    "a library has no graph outside of its functions",
    _GRAPHS,
    "move the graph to a file of its own",
    Checked.FILE,
    MALFORMED_JSON,
)
NAMED = SpecRule(4, Level.MUST, "a graph or library has a name", _GRAPHS, "give it a name")
HAS_DOMAIN = SpecRule(
    5, Level.MUST, "a graph or library has a domain", _GRAPHS, "give it a domain, such as com.example"
)
REVERSED_DOMAIN = SpecRule(
    6,
    Level.SHOULD,
    "a domain is a reversed domain name",
    _GRAPHS,
    "begin with the last part: com.example, not example.com",
)
TYPED_INPUTS = SpecRule(
    7, Level.MUST, "a graph defines the names and types of its inputs", _GRAPHS, "name every input and state its type"
)
TYPED_OUTPUTS = SpecRule(
    8, Level.MUST, "a graph defines the names and types of its outputs", _GRAPHS, "name every output and state its type"
)
DOCUMENTED = SpecRule(
    9, Level.SHOULD, "a graph or library has a documentation string", _GRAPHS, "say in `doc_string` what it is for"
)
NO_MARKUP = SpecRule(
    10, Level.MUST, "documentation strings have no HTML or other markup than Markdown", _GRAPHS, "write it in Markdown"
)
DNS_DOMAIN = SpecRule(
    11, Level.MUST, "the domain is a valid DNS name", _METADATA, "use letters, digits and hyphens between dots"
)
STATES_IR_VERSION = SpecRule(
    12, Level.MUST, "the version of the specification is stated", _METADATA, "state `ir_version`"
)
STATES_MODEL_VERSION = SpecRule(
    13, Level.MUST, "the version of the model is stated", _METADATA, "state `model_version`"
)
UNIQUE_NAMES = SpecRule(14, Level.MUST, "names within a graph or function are unique", _NAMES, "rename one of them")
ONE_NAMESPACE = SpecRule(
    15, Level.MUST, "functions and operators of a file have different names", _NAMES, "rename one of them"
)
IDENTIFIERS = SpecRule(
    16, Level.MUST, "names are C identifiers", _NAMES, "use letters, digits and `_`, and no digit first"
)
FUNCTION_HAS_INPUT = SpecRule(17, Level.MUST, "a function has one or more inputs", _FUNCTIONS, "give it an input")
FUNCTION_HAS_OUTPUT = SpecRule(18, Level.MUST, "a function has one or more outputs", _FUNCTIONS, "give it an output")
TYPED_PARAMETERS = SpecRule(
    19,
    Level.MUST,
    "the parameters of a function are named and typed",
    _FUNCTIONS,
    "name every parameter and state its type",
)
DEFINED_INPUTS = SpecRule(
    20,
    Level.MUST,
    "an input of a node is an output of a node, an input or an initializer",
    _NODES,
    "define the value",
)
OUTPUTS_OF_NODES = SpecRule(
    21,
    Level.MUST,
    "the outputs of a graph are outputs of nodes",
    _NODES,
    "let a node make the value, such as an identity",
)
STATES_COUNTS = SpecRule(
    22,
    Level.MUST,
    "the argument counts of a node are stated",
    _NODES,
    "list how many inputs each parameter takes",
    Checked.FILE,
)
ONE_COUNT_EACH = SpecRule(
    23,
    Level.MUST,
    "there is one argument count for each parameter",
    _NODES,
    "list one count per parameter, in their order",
)
CONTROL_NAMES_NODES = SpecRule(
    24, Level.MUST, "control inputs name nodes of the same graph", _NODES, "name a node, or remove the control input"
)
DATA_ORDER = SpecRule(25, Level.MUST, "nodes follow those whose outputs they read", _NODES, "sort the nodes")
CONTROL_ORDER = SpecRule(26, Level.MUST, "nodes follow those that their control inputs name", _NODES, "sort the nodes")
ROOT_IS_GRAPH = SpecRule(
    27,
    Level.MUST,
    "the root document is a graph, never a library",
    _IMPORTS,
    "open a graph that imports the library",
    Checked.FILE,
    UNKNOWN_FUNCTION,
)
IMPORT_FORM = SpecRule(
    28, Level.MUST, "an import is an absolute URI or a relative path", _IMPORTS, "write a path relative to the file"
)
IMPORTS_FETCHED = SpecRule(
    29,
    Level.MUST,
    "all referenced documents are fetched",
    _IMPORTS,
    "put the library where it is looked for",
    Checked.FILE,
    UNRESOLVED_IMPORT,
)
DECLARED = SpecRule(
    30,
    Level.MUST,
    "operators of nodes are declared in the file or in what it imports",
    _OPERATORS,
    "import or declare it",
)
TYPED_OPERANDS = SpecRule(
    31, Level.MUST, "all operands of a declaration are fully typed", _OPERATORS, "state a type other than `any`"
)
SHAPED_OPERANDS = SpecRule(
    32, Level.SHOULD, "operands of a declaration have shapes", _OPERATORS, "state a shape; `[*]` is any"
)
TYPED_ATTRIBUTES = SpecRule(
    33, Level.MUST, "all attributes of a declaration are typed", _OPERATORS, "state a type other than `any`"
)
SCALAR_MAPS = SpecRule(
    34, Level.MUST, "keys and values of a map are not collections", _TYPES, "use scalars, or a list of tuples"
)
UTF8 = SpecRule(
    35, Level.MUST, "texts are encoded in UTF-8", _TYPES, "encode the file again", Checked.FILE, MALFORMED_JSON
)
ONE_OR_MANY = SpecRule(
    36, Level.MUST, "a name is one dimension or any number of them", _SHAPES, "give one of the two another name"
)
ONE_WILDCARD = SpecRule(
    37, Level.MUST, "a shape has at most one wildcard", THIS_TOOL, "split the parameter, or name the dimensions"
)
HAS_SIGNATURE = SpecRule(38, Level.MUST, "an operator has a signature", THIS_TOOL, "declare at least one signature")
NO_RECURSION = SpecRule(
    39,
    Level.MUST,
    "a function does not call itself",
    THIS_TOOL,
    "write a loop: functions are inlined, so they must end",
)
CONTROL_ACYCLIC = SpecRule(
    40,
    Level.MUST,
    "control inputs are in no cycle",
    THIS_TOOL,
    "remove one of the control inputs that the message shows",
)

RULES = tuple([member for member in tuple(globals().values()) if isinstance(member, SpecRule)])
"""All rules, in the order of the specification."""
