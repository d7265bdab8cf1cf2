"""Networks exported by torch with dynamic sizes, by both of its exporters, through everything that is done with ONNX.

    python -m tests.onnx_zoo [--exporter script|dynamo|both] [--keep FOLDER] [NAMES]

Each network is exported, loaded, verified and run at two sizes, where it must give what torch gives; written again,
where the messages must be equal; and converted to Core ML and back to ONNX, where the results, run by this tool and by
onnxruntime, must be the same. Weights are drawn from seeds; nothing is downloaded.

Needs the extra `conformance`.
"""
