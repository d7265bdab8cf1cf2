"""Programs of one family of MIL operations each, made with coremltools' builder, with what each operation should give.

What is expected comes from numpy or torch, or is written out; no implementation of Core ML runs here.
`python -m tests.zoo make-families --out DIR`.
"""
