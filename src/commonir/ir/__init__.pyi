# Written by `python -m tests.member_stubs` from the table in __init__.py.

from commonir.ir.cloning import clone as clone
from commonir.ir.data import ArrayData as ArrayData
from commonir.ir.data import Data as Data
from commonir.ir.data import DeferredData as DeferredData
from commonir.ir.data import FileData as FileData
from commonir.ir.data import InlineData as InlineData
from commonir.ir.data import MappedFile as MappedFile
from commonir.ir.data import TextData as TextData
from commonir.ir.data import data_of as data_of
from commonir.ir.data import data_of_array as data_of_array
from commonir.ir.module import Function as Function
from commonir.ir.module import Module as Module
from commonir.ir.module import Symbol as Symbol
from commonir.ir.operation import Block as Block
from commonir.ir.operation import Operation as Operation
from commonir.ir.operation import Region as Region
from commonir.ir.operation import Value as Value
from commonir.ir.origins import Location as Location
from commonir.ir.types import ElementType as ElementType
from commonir.ir.types import TensorType as TensorType
from commonir.ir.types import Type as Type
from commonir.ir.types import tensor as tensor
from commonir.ir.unregistered import UnregisteredOperation as UnregisteredOperation

