"""The kinds of files and folders that formats say they read."""

from __future__ import annotations

from enum import Enum


class FileKind(Enum):
    """A kind of file or folder that can be read."""

    COREML_PACKAGE = "Core ML package"
    COREML_BUNDLE = "compiled Core ML model"
    COREML_MODEL = "Core ML model file"
    MIL_TEXT = "MIL text"
    MLIR_TEXT = "MLIR text"
    ONNX = "ONNX model"
    ONNX_TEXT = "ONNX model in text form"
    COMMON_IR = "Common IR file"
    ARK = "ARK model file"
