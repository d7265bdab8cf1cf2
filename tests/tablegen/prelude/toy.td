// A dialect of a small language for tensors: functions, calls, structures, and rules.
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/PatternBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/CastInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
  let hasConstantMaterializer = 1;
}
class Toy_Op<string mnemonic, list<Trait> traits = []> : Op<Toy_Dialect, mnemonic, traits>;
def ShapeInference : OpInterface<"ShapeInference"> {
  let description = "Operations that compute their shape.";
  let methods = [InterfaceMethod<"Infers it.", "void", "inferShapes">];
}
def Toy_StructType : DialectType<Toy_Dialect, CPred<"::llvm::isa<StructType>($_self)">, "structure">;
def Toy_AnyType : AnyTypeOf<[F64Tensor, Toy_StructType]>;
def Toy_Mode : I8BitEnum<"Mode", "modes", [I8BitEnumCaseNone<"plain">, I8BitEnumCaseBit<"fast", 0>, I8BitEnumCaseBit<"safe", 1>]> {
  let cppNamespace = "::toy";
}

def ConstantOp : Toy_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "output"]>]> {
  let arguments = (ins F64ElementsAttr:$value);
  let results = (outs F64Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}
class Binary<string mnemonic, list<Trait> more = []>
    : Toy_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<ShapeInference>], more)> {
  let arguments = (ins F64Tensor:$lhs, F64Tensor:$rhs);
  let results = (outs F64Tensor);
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
}
def AddOp : Binary<"add", [Commutative]>;
def MulOp : Binary<"mul">;
def CastOp : Toy_Op<"cast", [DeclareOpInterfaceMethods<CastOpInterface>, DeclareOpInterfaceMethods<ShapeInference>, Pure,
                             SameOperandsAndResultShape]> {
  let arguments = (ins F64Tensor:$input);
  let results = (outs F64Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($output)";
}
def FuncOp : Toy_Op<"func", [FunctionOpInterface, IsolatedFromAbove]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
}
def GenericCallOp : Toy_Op<"generic_call", [DeclareOpInterfaceMethods<CallOpInterface>]> {
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Toy_AnyType>:$inputs, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Toy_AnyType);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, results)";
}
def PrintOp : Toy_Op<"print"> {
  let arguments = (ins AnyTypeOf<[F64Tensor, F64MemRef]>:$input, DefaultValuedProp<EnumProp<Toy_Mode>, "Mode::plain">:$mode);
  let assemblyFormat = "$input (`in` $mode^)? attr-dict `:` type($input)";
}
def ReshapeOp : Toy_Op<"reshape", [Pure]> {
  let arguments = (ins F64Tensor:$input);
  let results = (outs StaticShapeTensorOf<[F64]>);
  let assemblyFormat = "`(` $input `:` type($input) `)` attr-dict `to` type(results)";
  let hasCanonicalizer = 1;
}
def ReturnOp : Toy_Op<"return", [Pure, HasParent<"FuncOp">, Terminator]> {
  let arguments = (ins Variadic<Toy_AnyType>:$input);
  let assemblyFormat = "($input^ `:` type($input))? attr-dict";
}
def TransposeOp : Toy_Op<"transpose", [Pure, AllElementTypesMatch<["input", "output"]>]> {
  let arguments = (ins F64Tensor:$input);
  let results = (outs F64Tensor:$output);
  let assemblyFormat = "`(` $input `:` type($input) `)` attr-dict `to` type($output)";
}

def ReshapeTwice : Pat<(ReshapeOp (ReshapeOp $of)), (ReshapeOp $of)>;
def TransposeTwice : Pat<(TransposeOp (TransposeOp:$once $of)), (replaceWithValue $of), [], [], (addBenefit 3)>;
def TypesAreIdentical : Constraint<CPred<"$0.getType() == $1.getType()">>;
def NoReshape : Pat<(ReshapeOp:$made $of), (replaceWithValue $of), [(TypesAreIdentical $made, $of)]>;
def MulFirst : Pat<(AddOp $a, (MulOp:$m $b, $c)), (AddOp $m, $a), [(Constraint<CPred<"$0.hasOneUse()">> $m)]>;
