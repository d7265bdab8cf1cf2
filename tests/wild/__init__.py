"""Runs every stage of the tool on model files that others wrote, and counts what fails.

python -m tests.wild FOLDER... [--stages run,opt] [--only PATTERN] [--results FILE]

Each file and stage is judged in a process with a limit on time and memory. What onnxruntime computes is what every
stage of an ONNX model is compared with; a stage of a file that onnxruntime refuses itself is counted as such, and not
as a fault. Files with the same content are judged once.
"""
