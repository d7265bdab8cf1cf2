// The dialect of `probe.td` as a plugin of mlir-opt, which printed what `probe_custom.mlir` and `probe_generic.mlir` hold.
//
// With the headers of libmlir-22-dev and llvm-22-dev: mlir-tblgen makes the files that are included (-gen-dialect-decls,
// -gen-dialect-defs, -gen-op-decls, -gen-op-defs, -gen-enum-decls, -gen-enum-defs, -gen-attrdef-decls and
// -gen-attrdef-defs), `g++ -std=c++17 -fno-rtti -fPIC -shared probe.cpp -o probe.so` the plugin, and
// `mlir-opt --load-dialect-plugin=./probe.so --split-input-file` prints.
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/ADT/StringExtras.h"
using llvm::StringRef; using llvm::SmallVector;
#include "dialect.h.inc"
#include "enums.h.inc"
#include "llvm/ADT/TypeSwitch.h"
#define GET_ATTRDEF_CLASSES
#include "attrs.h.inc"
#define GET_OP_CLASSES
#include "ops.h.inc"
#include "dialect.cpp.inc"
#include "enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attrs.cpp.inc"
#define GET_OP_CLASSES
#include "ops.cpp.inc"
void probe::ProbeDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ops.cpp.inc"
      >();
}
extern "C" LLVM_ATTRIBUTE_WEAK ::mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "probe", "1",
          [](mlir::DialectRegistry *registry) { registry->insert<probe::ProbeDialect>(); }};
}
