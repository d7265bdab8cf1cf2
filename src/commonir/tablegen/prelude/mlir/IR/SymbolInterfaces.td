#ifndef PRELUDE_SYMBOLINTERFACES
#define PRELUDE_SYMBOLINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def Symbol : OpInterface<"SymbolOpInterface">;
  def SymbolUserOpInterface : OpInterface<"SymbolUserOpInterface">;
  def SymbolUserAttrInterface : AttrInterface<"SymbolUserAttrInterface">;
}
def SymbolTable : NativeOpTrait<"SymbolTable">;

#endif
