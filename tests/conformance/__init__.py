"""Conformance: commonir against torch, onnx and onnxruntime on the networks of `tests.zoo`.

`python -m tests.conformance [--size small|real] [NAMES]` makes each package anew with torch and coremltools, in each
precision it has, and checks that

1. `commonir.verify` finds no error,
2. `commonir.run` gives what the float32 torch network gives, or what is written out for the package; for compressed
   weights it is the network with the weights that coremltools decompresses,
3. the model that `commonir.convert` and `commonir.save` make passes `onnx.checker` with its full check,
4. onnxruntime gives for that model what is expected of the package,
5. the package written again has equal messages, field by field, and equal weights, byte by byte,
6. the program read back from its MIL text is the same,
7. a package made from the core form of the program opens in coremltools and gives what is expected.

Errors are the largest difference relative to the largest magnitude of the output: at most 1e-4 for fp32 packages and
1e-2 for fp16 packages. `--kept FOLDER` checks packages that exist, such as `tests/models`, and needs no torch.
Everything else comes with `pip install -e .[conformance]`.
"""
