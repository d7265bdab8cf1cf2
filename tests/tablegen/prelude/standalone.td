// A small dialect outside of LLVM: one type, operations on it, and an interface of its own.
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Standalone_Dialect : Dialect {
  let name = "standalone";
  let summary = "A dialect outside of the tree.";
  let description = [{ It shows how a dialect is built alone. }];
  let cppNamespace = "::mlir::standalone";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{ void registerTypes(); }];
}
class Standalone_Type<string name, string word, list<Trait> traits = []> : TypeDef<Standalone_Dialect, name, traits> {
  let mnemonic = word;
}
class Standalone_Op<string mnemonic, list<Trait> traits = []> : Op<Standalone_Dialect, mnemonic, traits>;

def Standalone_Custom : Standalone_Type<"Custom", "custom", [DeclareTypeInterfaceMethods<OpAsmTypeInterface, ["getAsmName"]>]> {
  let summary = "A type with a name.";
  let parameters = (ins StringRefParameter<"its name">:$value, OptionalArrayRefParameter<"int64_t">:$sizes);
  let assemblyFormat = "`<` $value (`,` `[` $sizes^ `]`)? `>`";
  let builders = [TypeBuilder<(ins "int":$n), [{ return $_get($_ctxt, "x"); }]>,
                  TypeBuilderWithInferredContext<(ins "::mlir::Type":$of), "return {};">];
  let extraClassDeclaration = "int width();";
  let genVerifyDecl = 1;
}
def Standalone_Tag : AttrDef<Standalone_Dialect, "Tag"> {
  let mnemonic = "tag";
  let parameters = (ins "int":$id, DefaultValuedParameter<"bool", "true">:$open);
  let assemblyFormat = "`<` $id (`,` $open^)? `>`";
}
def Standalone_Labelled : OpInterface<"Labelled"> {
  let cppNamespace = "::mlir::standalone";
  let methods = [InterfaceMethod<"The label.", "::llvm::StringRef", "getLabel">,
                 StaticInterfaceMethod<"A number.", "int", "number", (ins "int":$n), [{}], "return n;">];
  let verify = "return ::mlir::success();";
}

def Standalone_FooOp : Standalone_Op<"foo", [Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<Standalone_Labelled>]> {
  let summary = "Returns its input.";
  let description = "An example of an operation.";
  let arguments = (ins I32:$input);
  let results = (outs I32:$res);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let extraClassDeclaration = "::llvm::StringRef getLabel() { return \"foo\"; }";
}
def Standalone_BarOp : Standalone_Op<"bar", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins Arg<Standalone_Custom, "what is read", [MemRead]>:$from, OptionalAttr<Standalone_Tag>:$tag,
                       ConfinedAttr<DenseI64ArrayAttr, [DenseArrayNonNegative<DenseI64ArrayAttr>]>:$at);
  let results = (outs Res<AnyTypeOf<[AnyInteger, AnyFloat, VectorOfRankAndType<[1], [F32]>]>, "the number">:$out);
  let assemblyFormat = "$from $at (`tag` $tag^)? attr-dict `:` type($from) `->` type($out)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$from, CArg<"int", "0">:$n), "build($_builder, $_state, from);">];
}
