"""The backend suite of the onnx package, run by this tool.

    python -m tests.onnx_suite [--kind KIND] [--engine ENGINE] [--to onnx|coreml] [--reference-evaluator] [NAMES]

Each case is a model with inputs and outputs as files, in the layout that onnx itself writes. Those of kind `node` exist
in memory only: they are generated once into the folder that the variable `COMMONIR_ONNX_SUITE` names, without it into
the user's cache. A case passes when every output of every set of data has the element type, the shape and, within the
tolerances of the case, the values expected. Outputs of operators that draw random numbers have no values to expect.

`remaining.toml` names each case that is known not to pass, with the reason.
"""
