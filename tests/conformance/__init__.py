"""Conformance: commonir against torch, onnx and onnxruntime on the networks of `tests.zoo`.

`python -m tests.conformance [--size small|real] [NAMES]` makes each package anew with torch and coremltools, in both
precisions, and checks that

1. `commonir.run` gives what the float32 torch network gives,
2. the model that `commonir.convert` and `commonir.save` make passes `onnx.checker` with its full check,
3. onnxruntime gives for that model what `commonir.run` gives for the package.

Errors are the largest difference relative to the largest magnitude of the output: at most 1e-4 for fp32 packages and
1e-2 for fp16 packages. `--kept FOLDER` checks packages that exist, such as `tests/models`, and needs neither torch nor
coremltools. Everything else comes with `pip install -e .[conformance]`.
"""
