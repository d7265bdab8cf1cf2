#ifndef PRELUDE_MEMORYSLOTINTERFACES
#define PRELUDE_MEMORYSLOTINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["DestructurableAccessorOpInterface", "DestructurableAllocationOpInterface",
                  "PromotableAllocationOpInterface", "PromotableMemOpInterface", "PromotableOpInterface",
                  "SafeMemorySlotAccessOpInterface"] in
    def name : OpInterface<name>;
  def DestructurableTypeInterface : TypeInterface<"DestructurableTypeInterface">;
}

#endif
