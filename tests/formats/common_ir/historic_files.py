"""Files in the encodings of the first drafts of Common IR, of which none was found in public.

The messages are declared here again, from the published field numbers, so that the reader is compared with something
else than its own declarations: one line for each message, `name=number:type`, `*` before the type of a repeated field.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_SHARED = """
Tensor dims=1:*int64 data_type=2:int32 float_data=4:*float int32_data=5:*int32 string_data=6:*bytes int64_data=7:*int64
  name=8:string raw_data=9:bytes double_data=10:*double
Sparse dims=1:*int64 indices=2:Tensor values=3:Tensor
Dim dim_value=1:int64 dim_param=2:string
Shape dim=1:*Dim
TensorType elem_type=1:int32 shape=2:Shape
HandleType
TupleType elem_type=1:*Type
SeqType elem_type=1:Type
MapType key_type=1:int32 value_type=2:int32
Type tensor=1:TensorType sparse=2:TensorType handle=3:HandleType tuple=4:TupleType seq=5:SeqType map=6:MapType
Attribute name=1:string f=2:float i=3:int64 s=4:bytes t=5:Tensor g=6:Graph floats=7:*float ints=8:*int64
  strings=9:*bytes tensors=10:*Tensor graphs=11:*Graph type=12:Type types=13:*Type shape=14:Shape shapes=15:*Shape
Parameter name=1:string type=2:Type shape=3:Shape doc_string=4:string
"""
_STAGE_A = """
ArgInfo type=1:Type shape=2:Shape
Node input=1:*string output=2:*string name=3:string op_type=4:string attribute=5:*Attribute doc_string=6:string
  input_arg_info=7:*ArgInfo output_arg_info=8:*ArgInfo input_arg_count=9:*int32 control_input=10:*string
Function name=1:string input_arg=2:*Parameter output_arg=3:*Parameter node=4:*Node attr=5:*Attribute
Graph node=1:*Node name=2:string input=3:*string output=4:*string initializer=5:*Tensor ir_version=6:int64
  producer_version=7:int64 producer_tag=8:string domain=9:string doc_string=10:string function=11:*Function
  input_arg_info=12:*ArgInfo output_arg_info=13:*ArgInfo
"""
_STAGE_B = """
ValueInfo name=1:string type=2:Type
Node input=1:*string output=2:*string name=3:string op_type=4:string attribute=5:*Attribute doc_string=6:string
  input_arg_count=50:*int32 control_input=51:*string
Signature input_params=1:*Parameter output_params=2:*Parameter input_attributes=3:*Parameter doc_string=4:string
Operator name=1:string signature=2:*Signature doc_string=3:string
Function name=1:string input_params=2:*Parameter output_params=3:*Parameter node=4:*Node attr=5:*Attribute
Graph node=1:*Node name=2:string initializer=5:*Tensor doc_string=10:string input=11:*ValueInfo output=12:*ValueInfo
  value_info=13:*ValueInfo function=50:*Function operator=51:*Operator imported_libraries=52:*string
Model ir_version=1:int64 producer_name=2:string producer_version=3:string domain=4:string model_version=5:int64
  doc_string=6:string graph=7:Graph model_author=50:string model_license=51:string
Library ir_version=1:int64 producer_version=2:int64 producer_tag=3:string model_version=4:int64 model_author=5:string
  model_license=6:string name=7:string domain=8:string doc_string=9:string operator=10:*Operator function=11:*Function
  imported_libraries=12:*string
"""

FLOAT, INT32, INT64, STRING, UINT32 = 1, 6, 7, 8, 12


def _classes(package: str, text: str) -> dict[str, Any]:
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for line in filter(None, text.replace("\n  ", " ").splitlines()):
        name, *fields = line.split()
        result = file.message_type.add(name=name)
        for field in fields:
            key, _, rest = field.partition("=")
            number, _, kind = rest.partition(":")
            label = kinds.LABEL_REPEATED if kind.startswith("*") else kinds.LABEL_OPTIONAL
            added = result.field.add(name=key, number=int(number), label=label)
            bare = kind.removeprefix("*")
            if bare[0].islower():
                added.type = kinds.Type.Value(f"TYPE_{bare.upper()}")
            else:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".{package}.{bare}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    names = [m.name for m in file.message_type]
    return {n: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{n}")) for n in names}


STAGE_A = _classes("stage_a", _SHARED + _STAGE_A)
STAGE_B = _classes("stage_b", _SHARED + _STAGE_B)


def a(message: str, /, **fields: Any) -> Any:
    """A message of stage A."""
    return STAGE_A[message](**fields)


def b(message: str, /, **fields: Any) -> Any:
    """A message of stage B."""
    return STAGE_B[message](**fields)
