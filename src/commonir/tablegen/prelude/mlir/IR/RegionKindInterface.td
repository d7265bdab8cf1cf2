#ifndef PRELUDE_REGIONKINDINTERFACE
#define PRELUDE_REGIONKINDINTERFACE

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  def RegionKindInterface : OpInterface<"RegionKindInterface">;
}
def HasOnlyGraphRegion : NativeOpTrait<"HasOnlyGraphRegion">;
def GraphRegionNoTerminator : TraitList<[NoTerminator, SingleBlock, RegionKindInterface, HasOnlyGraphRegion]>;

#endif
