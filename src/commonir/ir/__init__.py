"""The in-memory representation of programs: operations, types and attributes."""

from commonir.base.lazy import import_members

import_members(
    globals(),
    {
        "cloning": "clone",
        "data": "ArrayData Data DeferredData FileData InlineData MappedFile TextData data_of data_of_array",
        "module": "Function Module Symbol",
        "operation": "Block Operation Region Value",
        "origins": "Location",
        "types": "ElementType TensorType Type tensor",
        "unregistered": "UnregisteredOperation",
    },
)
