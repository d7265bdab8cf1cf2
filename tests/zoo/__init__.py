"""Real networks with random weights, converted to Core ML by coremltools: the models of the tests and benchmarks.

What there is: `python -m tests.zoo list`. Needs torch, transformers and coremltools; the tests do not: the small
packages are kept in `tests/models`. A rebuilt package holds the same program and weights, but not the same bytes:
identifiers, the date and the order of protobuf maps vary.
"""
