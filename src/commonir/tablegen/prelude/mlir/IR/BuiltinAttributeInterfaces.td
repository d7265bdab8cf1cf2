#ifndef PRELUDE_BUILTINATTRIBUTEINTERFACES
#define PRELUDE_BUILTINATTRIBUTEINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def TypedAttrInterface : AttrInterface<"TypedAttr">;
  def ElementsAttrInterface : AttrInterface<"ElementsAttr", [TypedAttrInterface]>;
  def BlobAttrInterface : AttrInterface<"BlobAttr">;
  def MemRefLayoutAttrInterface : AttrInterface<"MemRefLayoutAttrInterface">;
}

#endif
