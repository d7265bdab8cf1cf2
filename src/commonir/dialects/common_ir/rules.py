"""The rules of the Common IR: every MUST and SHOULD of its specification, numbered in its order.

A rule says what must hold, where the specification says so, and what to do where it does not. Operations of this
dialect check what a program shows; the reader of files checks what only a file shows. Either way a finding begins with
the number of its rule, and `docs/common_ir_rules.md` is made of this list. Rules whose source is `THIS_TOOL` are not in
the specification, but it cannot be followed without them.
"""

from __future__ import annotations

from enum import Enum

from commonir.base.codes import UNKNOWN_FUNCTION
from commonir.base.diagnostics import Code, Diagnostic, Fix
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
    source: str
    text: str
    remedy: str
    level: Level = Level.MUST
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
        fix: Fix | None = None,
    ) -> Diagnostic:
        """The finding that it is broken; a warning where what is meant is evident all the same."""
        code = COMMON_IR_RULE if self.level is Level.MUST and not is_tolerated else COMMON_IR_ADVICE
        help = help or self.remedy
        return Diagnostic(code, f"{self.label}: {message}", where=where, notes=notes, help=help, fix=fix)

    def is_reported_by(self, finding: Diagnostic) -> bool:
        """Returns whether a finding is that this rule is broken."""
        return finding.message.startswith(f"{self.label}: ")


ACYCLIC = SpecRule(1, _GRAPHS, "a graph is free of cycles", "break the cycle that the message shows")
HAS_OUTPUT = SpecRule(
    2, _GRAPHS, "a node has one or more outputs", "name an output of the node, or remove the node", Level.SHOULD
)
NO_GRAPH_IN_LIBRARY = SpecRule(
    3,
    _GRAPHS,
    "a library has no graph outside of its functions",
    "move the graph to a file of its own",
    checked=Checked.FILE,
    code=MALFORMED_JSON,
)
NAMED = SpecRule(4, _GRAPHS, "a graph or library has a name", "give it a name")
HAS_DOMAIN = SpecRule(5, _GRAPHS, "a graph or library has a domain", "give it a domain, such as com.example")
REVERSED_DOMAIN = SpecRule(
    6,
    _GRAPHS,
    "a domain is a reversed domain name",
    "begin with the last part: com.example, not example.com",
    Level.SHOULD,
)
TYPED_INPUTS = SpecRule(
    7, _GRAPHS, "a graph defines the names and types of its inputs", "name every input and state its type"
)
TYPED_OUTPUTS = SpecRule(
    8, _GRAPHS, "a graph defines the names and types of its outputs", "name every output and state its type"
)
DOCUMENTED = SpecRule(
    9, _GRAPHS, "a graph or library has a documentation string", "say in `doc_string` what it is for", Level.SHOULD
)
NO_MARKUP = SpecRule(
    10, _GRAPHS, "documentation strings have no HTML or other markup than Markdown", "write it in Markdown"
)
DNS_DOMAIN = SpecRule(11, _METADATA, "the domain is a valid DNS name", "use letters, digits and hyphens between dots")
STATES_IR_VERSION = SpecRule(12, _METADATA, "the version of the specification is stated", "state `ir_version`")
STATES_MODEL_VERSION = SpecRule(13, _METADATA, "the version of the model is stated", "state `model_version`")
UNIQUE_NAMES = SpecRule(14, _NAMES, "names within a graph or function are unique", "rename one of them")
ONE_NAMESPACE = SpecRule(15, _NAMES, "functions and operators of a file have different names", "rename one of them")
IDENTIFIERS = SpecRule(16, _NAMES, "names are C identifiers", "use letters, digits and `_`, and no digit first")
FUNCTION_HAS_INPUT = SpecRule(17, _FUNCTIONS, "a function has one or more inputs", "give it an input")
FUNCTION_HAS_OUTPUT = SpecRule(18, _FUNCTIONS, "a function has one or more outputs", "give it an output")
TYPED_PARAMETERS = SpecRule(
    19, _FUNCTIONS, "the parameters of a function are named and typed", "name every parameter and state its type"
)
DEFINED_INPUTS = SpecRule(
    20, _NODES, "an input of a node is an output of a node, an input or an initializer", "define the value"
)
OUTPUTS_OF_NODES = SpecRule(
    21, _NODES, "the outputs of a graph are outputs of nodes", "let a node make the value, such as an identity"
)
STATES_COUNTS = SpecRule(
    22,
    _NODES,
    "the argument counts of a node are stated",
    "list how many inputs each parameter takes",
    checked=Checked.FILE,
)
ONE_COUNT_EACH = SpecRule(
    23, _NODES, "there is one argument count for each parameter", "list one count per parameter, in their order"
)
CONTROL_NAMES_NODES = SpecRule(
    24, _NODES, "control inputs name nodes of the same graph", "name a node, or remove the control input"
)
DATA_ORDER = SpecRule(25, _NODES, "nodes follow those whose outputs they read", "sort the nodes")
CONTROL_ORDER = SpecRule(26, _NODES, "nodes follow those that their control inputs name", "sort the nodes")
ROOT_IS_GRAPH = SpecRule(
    27,
    _IMPORTS,
    "the root document is a graph, never a library",
    "open a graph that imports the library",
    checked=Checked.FILE,
    code=UNKNOWN_FUNCTION,
)
IMPORT_FORM = SpecRule(
    28, _IMPORTS, "an import is an absolute URI or a relative path", "write a path relative to the file"
)
IMPORTS_FETCHED = SpecRule(
    29,
    _IMPORTS,
    "all referenced documents are fetched",
    "put the library where it is looked for",
    checked=Checked.FILE,
    code=UNRESOLVED_IMPORT,
)
DECLARED = SpecRule(
    30, _OPERATORS, "operators of nodes are declared in the file or in what it imports", "import or declare it"
)
TYPED_OPERANDS = SpecRule(
    31, _OPERATORS, "all operands of a declaration are fully typed", "state a type other than `any`"
)
SHAPED_OPERANDS = SpecRule(
    32, _OPERATORS, "operands of a declaration have shapes", "state a shape; `[*]` is any", Level.SHOULD
)
TYPED_ATTRIBUTES = SpecRule(
    33, _OPERATORS, "all attributes of a declaration are typed", "state a type other than `any`"
)
SCALAR_MAPS = SpecRule(34, _TYPES, "keys and values of a map are not collections", "use scalars, or a list of tuples")
UTF8 = SpecRule(
    35, _TYPES, "texts are encoded in UTF-8", "encode the file again", checked=Checked.FILE, code=MALFORMED_JSON
)
ONE_OR_MANY = SpecRule(36, _SHAPES, "a name is one dimension or any number of them", "give one of the two another name")
ONE_WILDCARD = SpecRule(
    37, THIS_TOOL, "a shape has at most one wildcard", "split the parameter, or name the dimensions"
)
HAS_SIGNATURE = SpecRule(38, THIS_TOOL, "an operator has a signature", "declare at least one signature")
NO_RECURSION = SpecRule(
    39, THIS_TOOL, "a function does not call itself", "write a loop: functions are inlined, so they must end"
)
CONTROL_ACYCLIC = SpecRule(
    40, THIS_TOOL, "control inputs are in no cycle", "remove one of the control inputs that the message shows"
)
DECLARED_RESULTS = SpecRule(
    41, THIS_TOOL, "declared types of results follow from the nodes", "declare what the nodes give, or change the nodes"
)

RULES = tuple([member for member in tuple(globals().values()) if isinstance(member, SpecRule)])
"""All rules, in the order of the specification."""
