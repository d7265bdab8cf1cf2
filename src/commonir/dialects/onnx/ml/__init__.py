"""Operators of the domain ai.onnx.ml: features, classifiers, trees and maps."""
