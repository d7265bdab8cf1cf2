"""The program in memory."""

from commonir.ir.cloning import clone
from commonir.ir.data import ArrayData, Data, DeferredData, FileData, InlineData, MappedFile, TextData, data_of
from commonir.ir.module import Function, Module, Symbol
from commonir.ir.operation import Block, Operation, Region, Value
from commonir.ir.origins import Location
from commonir.ir.types import ElementType, TensorType, Type, tensor
from commonir.ir.unregistered import UnregisteredOperation

__all__ = [
    "ArrayData",
    "Block",
    "Data",
    "DeferredData",
    "ElementType",
    "FileData",
    "Function",
    "InlineData",
    "Location",
    "MappedFile",
    "Module",
    "Operation",
    "Region",
    "Symbol",
    "TensorType",
    "TextData",
    "Type",
    "UnregisteredOperation",
    "Value",
    "clone",
    "data_of",
    "tensor",
]
