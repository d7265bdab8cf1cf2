"""The packages of `tests/models`: each conforms in every stage, and together they have every operation of MIL."""

from __future__ import annotations

from pathlib import Path

import pytest

import commonir
from commonir.dialects import mil

from tests.oracles import oracle

MODELS = Path(__file__).parents[1] / "models"
FOLDERS = sorted(path.parent for path in MODELS.glob("*/meta.json"))
BUDGET_BYTES = 150_000
# Those from before there was a budget.
OLDER = frozenset({"bert", "gpt2", "mobilenet_v2", "resnet", "unet", "vit", "minilm"})

# No converter writes these: an experiment, code of the user, and lists as results of constants of their own.
NEVER_WRITTEN = {"mil.conv_quantized", "mil.custom_layer", "mil.compound_const"}


@pytest.mark.slow_cases(
    "bert_*",
    "clip_*",
    "convnext_*",
    "gpt2_*",
    "llama_*",
    "lstm_*",
    "minilm_*",
    "mobilenet_*",
    "pixel_shuffle_*",
    "resizing_*",
    "resnet_classifier_*",
    "resnet_flexible_batch_*",
    "segformer_*",
    "style_transfer_*",
    "swin_*",
    "t5_*",
    "tcn_*",
    "unet_*",
    "vit_*",
    "whisper_*",
)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_package_conforms(folder: Path, tmp_path: Path) -> None:
    for name in ("coremltools", "onnx", "onnxruntime"):
        oracle(name)
    # Loads onnxruntime.
    from tests.conformance.checking import check_folder  # noqa: PLC0415

    outcome = check_folder(folder, tmp_path)
    assert outcome.is_conforming, str(outcome)


@pytest.mark.slow
def test_every_operation_occurs_in_a_package() -> None:
    results: set[str] = set()
    for package in sorted(MODELS.glob("*/*.mlpackage")):
        for module in (program := commonir.load(package), *program.modules):
            results |= {op.name for op in module.nested()}
    assert set(mil.DIALECT.operations) - results == NEVER_WRITTEN


def test_new_packages_keep_the_budget() -> None:
    sizes = {
        folder.name: sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        for folder in FOLDERS
        if not any(folder.name.startswith(name) for name in OLDER)
    }
    assert {name: size for name, size in sizes.items() if size > BUDGET_BYTES} == {}
