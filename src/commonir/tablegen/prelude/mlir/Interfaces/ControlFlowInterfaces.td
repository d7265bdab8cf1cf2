#ifndef PRELUDE_CONTROLFLOWINTERFACES
#define PRELUDE_CONTROLFLOWINTERFACES

include "mlir/prelude/Definitions.td"

let cppNamespace = "::mlir" in {
  foreach name = ["BranchOpInterface", "RegionBranchOpInterface", "RegionBranchTerminatorOpInterface",
                  "SelectLikeOpInterface", "WeightedBranchOpInterface", "WeightedRegionBranchOpInterface"] in
    def name : OpInterface<name>;
}
def ReturnLike
    : TraitList<[DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>, NativeOpTrait<"ReturnLike">]>;

#endif
