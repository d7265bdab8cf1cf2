"""Every rule of the format is broken by a package, and reported with its code and message.

The rules are in tables, a row for each sentence of a document:

- `rules_of_the_specification`: the MIL specification, message by message;
- `rules_of_packages`: what Core ML demands of packages and descriptions;
- `rules_of_programs`: what it demands of programs, blocks, values and compressed constants.

Ids of the tests are the sentences. What single operations demand of their operands is in `tests/dialects/mil`, where
`test_constraints` asserts that every constraint of every definition is broken by a case.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.coreml import building as b
from tests.formats.coreml import rules_of_packages, rules_of_programs, rules_of_the_specification
from tests.formats.coreml.rules import (
    HALF,
    Broken,
    Rule,
    X,
    asks,
    branch,
    classifier,
    conditional,
    findings,
    flexible,
    functions,
    image,
    loop,
    program,
    relu,
    repeats,
    stateful,
)

TABLES = {
    "specification": rules_of_the_specification.RULES,
    "packages": rules_of_packages.RULES,
    "programs": rules_of_programs.RULES,
}
ALL = [(table, rule) for table, rules in TABLES.items() for rule in rules]


@pytest.mark.parametrize("rule", [rule for _, rule in ALL], ids=[f"{table}: {rule.sentence}" for table, rule in ALL])
def test_package_that_breaks_the_rule_is_reported(rule: Rule, tmp_path: Path) -> None:
    diagnostics = [(code, message) for code, message, _ in findings(tmp_path, rule.broken())]
    assert (rule.code.id, rule.message) in diagnostics


@pytest.mark.parametrize("table", TABLES)
def test_each_sentence_stands_once_in_its_table(table: str) -> None:
    sentences = [rule.sentence for rule in TABLES[table]]
    assert len(set(sentences)) == len(sentences)


KEEPING = {
    "one function": program(relu()),
    "several functions": functions(["a", "b"]),
    "half precision": program(relu(kind=HALF), inputs=[("x", HALF)], opset="CoreML6"),
    "cond": conditional(branch("a"), branch("c")),
    "sibling blocks reuse names": conditional(branch("a"), branch("a")),
    "nested blocks shadow names": conditional(b.block([relu(name="x")], ["x"]), branch("c")),
    "while_loop": loop(asks(), repeats()),
    "state": stateful(b.op("write_state", {"input": "s", "data": "r"})),
    "classifier": classifier(),
    "ranges": flexible((1, 9), (3, 3)),
    "enumeration": flexible(shapes=[(2, 3), (4, 3)]),
    "image": image(),
    "flexible image": rules_of_packages.flexible_image((8, 4), (16, 8)),
    "literal": program(b.op("relu", {"x": b.immediate(X, "floats", [1.0] * 6)}, [("y", X)])),
    "weights": rules_of_programs.weights_with(),
}
"""The unbroken form of the broken packages: a rule that these break would prove nothing above."""


@pytest.mark.parametrize("name", KEEPING)
def test_package_that_keeps_all_rules_has_no_findings(name: str, tmp_path: Path) -> None:
    inputs = KEEPING[name]
    assert findings(tmp_path, inputs if isinstance(inputs, Broken) else Broken(inputs)) == []
