include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
def My_Dialect : Dialect { let name = "my"; let cppNamespace = "::my"; let useDefaultTypePrinterParser = 1; }
class My_Op<string m, list<Trait> t = []> : Op<My_Dialect, m, t>;
def My_Range : TypeDef<My_Dialect, "Range"> { let mnemonic = "range"; let parameters = (ins "int64_t":$low, OptionalParameter<"int64_t">:$high); let assemblyFormat = "`<` $low (`,` $high^)? `>`"; }
def My_Mode : I32EnumAttr<"Mode", "", [I32EnumAttrCase<"Fast", 0, "fast">, I32EnumAttrCase<"Slow", 1, "slow">]> { let cppNamespace = "::my"; }
def Add : My_Op<"add", [Pure, SameOperandsAndResultType, Commutative]> { let arguments = (ins AnyTensor:$lhs, AnyTensor:$rhs); let results = (outs AnyTensor:$sum); let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($sum)"; }
def Pick : My_Op<"pick", [AllElementTypesMatch<["input", "output"]>]> {
  let arguments = (ins RankedTensorOf<[F32, F16]>:$input, Variadic<Index>:$at, ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<9>]>:$k, DefaultValuedAttr<BoolAttr, "true">:$wide, OptionalAttr<StrAttr>:$note, My_Mode:$mode, DenseI64ArrayAttr:$sizes, OptionalAttr<FlatSymbolRefAttr>:$sym);
  let results = (outs AnyRankedTensor:$output);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
}
def Store : My_Op<"store", [MemoryEffects<[MemWrite]>]> { let arguments = (ins Arg<AnyMemRef, "to", [MemWrite]>:$m, AnyTypeOf<[SignlessIntegerLike, FloatLike, Complex<F32>]>:$v, UnitAttr:$now, My_Range:$r); }
def Yield : My_Op<"yield", [Pure, ReturnLike, Terminator, HasParent<"Pick">]> { let arguments = (ins Variadic<AnyType>:$v); let assemblyFormat = "attr-dict ($v^ `:` type($v))?"; }
