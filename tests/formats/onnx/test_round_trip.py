"""What is read is written again as it was: messages are equal."""

from __future__ import annotations

from collections.abc import Callable

import onnx
import pytest

from commonir.formats.onnx.read import loads
from commonir.formats.onnx.write import dumps
from commonir.ods import Dialects

from tests.formats.onnx import odd_models
from tests.onnx_suite.cases import KINDS, load_cases, quiet

DIALECTS = Dialects()
ODD = [
    odd_models.texts_everywhere,
    odd_models.ways_of_attributes,
    odd_models.ways_of_tensors,
    odd_models.old_model,
    odd_models.defaults_of_inputs,
    odd_models.kinds_of_types,
    odd_models.nested_graphs,
    odd_models.local_functions,
    odd_models.several_devices,
    odd_models.sparse_constants,
    odd_models.unknown_fields,
]


def _again(content: bytes) -> onnx.ModelProto:
    module, _ = loads(content, DIALECTS)
    return onnx.ModelProto.FromString(dumps(module))


@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_everything_that_a_file_says_is_written_again(make: Callable[[], onnx.ModelProto]) -> None:
    model = make()
    assert _again(model.SerializeToString()) == model


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_the_backend_suite_are_written_again(kind: str) -> None:
    with quiet():
        cases = load_cases([kind])
    assert [c.name for c in cases if _again(c.model.read_bytes()) != onnx.load(c.model)] == []
