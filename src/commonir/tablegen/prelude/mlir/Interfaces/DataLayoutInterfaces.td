#ifndef PRELUDE_DATALAYOUTINTERFACES
#define PRELUDE_DATALAYOUTINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def DataLayoutOpInterface : OpInterface<"DataLayoutOpInterface">;
  def DataLayoutTypeInterface : TypeInterface<"DataLayoutTypeInterface">;
  foreach name = ["DLTIQueryInterface", "DataLayoutEntryInterface"] in def name : AttrInterface<name>;
  foreach name = ["DataLayoutSpecInterface", "TargetDeviceSpecInterface", "TargetSystemSpecInterface"] in
    def name : AttrInterface<name, [DLTIQueryInterface]>;
}

#endif
