// A dialect as a plugin of mlir-opt; `values_accepted.mlir` has programs with it, as mlir-opt 22 prints them.

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Properties.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
def Values_Dialect : Dialect {
  let name = "values"; let cppNamespace = "::values";
  let useDefaultTypePrinterParser = 1; let useDefaultAttributePrinterParser = 1;
}
class E<string m, list<Trait> t = []> : Op<Values_Dialect, m, t>;
// types
class T<string n, string m, list<Trait> t = []> : TypeDef<Values_Dialect, n, t> { let mnemonic = m; }
def Unit_ : T<"UnitT", "unit">;
def Opt1 : T<"Opt1", "opt1"> { let parameters = (ins OptionalParameter<"int">:$a, OptionalParameter<"::mlir::Type">:$b); let assemblyFormat = "(`<` $a^ (`,` $b^)? `>`)?"; }
def Str1 : T<"Str1", "str1"> { let parameters = (ins StringRefParameter<"", "\"dflt\"">:$s, "::mlir::FloatType":$f); let assemblyFormat = "`<` $f (`,` $s^)? `>`"; }
class A<string n, string m, list<Trait> t = []> : AttrDef<Values_Dialect, n, t> { let mnemonic = m; }
def Tagged : A<"Tagged", "tagged", [TypedAttrInterface]> { let parameters = (ins AttributeSelfTypeParameter<"">:$type, "int":$v); let assemblyFormat = "`<` $v `>`"; }
def Opts : A<"Opts", "opts"> { let parameters = (ins OptionalParameter<"::mlir::IntegerAttr">:$a, OptionalParameter<"::mlir::StringAttr">:$b); let assemblyFormat = "(`<` struct(params)^ `>`)?"; }
def Plain : A<"Plain", "plain">;
def Kw : A<"Kw", "kw"> { let parameters = (ins "bool":$x, ArrayRefParameter<"unsigned">:$l); let assemblyFormat = "`<` `flag` `=` $x `:` `[` $l `]` `>`"; }
def Col : I32Enum<"Col", "", [I32EnumCase<"Red", 0, "red">, I32EnumCase<"Green", 5, "green">]> { let cppNamespace = "::values"; }
def ColAttr : EnumAttr<Values_Dialect, Col, "col"> { let assemblyFormat = "`<` $value `>`"; }
def Bits : I8BitEnum<"Bits", "", [I8BitEnumCaseNone<"none">, I8BitEnumCaseBit<"r", 0>, I8BitEnumCaseBit<"w", 1>, BitEnumCaseGroup<"rw", [I8BitEnumCaseBit<"r", 0>, I8BitEnumCaseBit<"w", 1>]>]> { let cppNamespace = "::values"; let separator = "|"; let printBitEnumPrimaryGroups = 1; }
def BitsAttr : EnumAttr<Values_Dialect, Bits, "bits">;
def Mode : I64EnumAttr<"Mode", "", [I64EnumAttrCase<"Fast", -1, "fast-est">, I64EnumAttrCase<"Slow", 9, "slow">]> { let cppNamespace = "::values"; }
def Q1 : E<"q1"> { let arguments = (ins Tagged:$t, OptionalAttr<Tagged>:$u); let assemblyFormat = "$t (`or` $u^)? attr-dict"; }
def Q2 : E<"q2"> { let arguments = (ins Opts:$t, OptionalAttr<Plain>:$u, OptionalAttr<Opts>:$v); let assemblyFormat = "`a` $t `b` (`or` $u^)? (`v` $v^)? attr-dict"; }
def Q3 : E<"q3"> { let arguments = (ins ColAttr:$c, BitsAttr:$b, Mode:$m, OptionalAttr<Mode>:$m2, DefaultValuedAttr<BitsAttr, "::values::Bits::rw">:$d); let assemblyFormat = "$c $b $m (`m2` `=` $m2^)? (`d` $d^)? attr-dict"; }
def Q4 : E<"q4"> { let arguments = (ins TypedArrayAttrBase<ColAttr, "cols">:$cs, TypedArrayAttrBase<I32Attr, "i32s">:$is, TypedArrayAttrBase<UnitAttr, "us">:$us, F32ArrayAttr:$fs, BoolArrayAttr:$bs, FlatSymbolRefArrayAttr:$ss, AffineMapArrayAttr:$ms, TypeArrayAttr:$ts, I32ArrayAttr:$i32); let assemblyFormat = "$cs $is $us $fs $bs $ss $ms $ts $i32 attr-dict"; }
def Q5 : E<"q5", [AttrSizedOperandSegments]> { let arguments = (ins Variadic<I32>:$a, Optional<I64>:$b, I8:$c, Variadic<AnyType>:$d); let results = (outs I32:$r); let assemblyFormat = "$a (`b` $b^)? `c` $c (`[` $d^ `:` qualified(type($d)) `]`)? attr-dict"; }
def Q6 : E<"q6", [SameOperandsAndResultElementType, SameOperandsAndResultShape]> { let arguments = (ins AnyTensor:$a); let results = (outs AnyTensor:$r); let assemblyFormat = "$a attr-dict `:` type($a) `to` type($r)"; }
def Q7 : E<"q7", [AllTypesMatch<["a", "b", "r"]>]> { let arguments = (ins AnyType:$a, AnyType:$b); let results = (outs AnyType:$r); let assemblyFormat = "$a `,` $b attr-dict `:` type($r)"; }
def Q8 : E<"q8", [TypesMatchWith<"same", "a", "r", "$_self">, AllShapesMatch<["a", "b"]>]> { let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b); let results = (outs AnyType:$r); let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)"; }
def Q9 : E<"q9", [SingleBlock, NoTerminator]> { let arguments = (ins OptionalAttr<SymbolRefAttr>:$s); let regions = (region AnyRegion:$a, VariadicRegion<SizedRegion<1>>:$b); let assemblyFormat = "($s^ `:`)? $a `(` $b `)` attr-dict"; }
def Q10 : E<"q10"> { let arguments = (ins DefaultValuedOptionalAttr<I64Attr, "3">:$a, DefaultValuedStrAttr<StrAttr, "hi">:$s, DefaultValuedAttr<F32Attr, "1.5f">:$f, DefaultValuedAttr<BoolAttr, "true">:$b, DefaultValuedAttr<DenseI64ArrayAttr, "{1, 2}">:$d, DefaultValuedAttr<I64ArrayAttr, "{}">:$e); let assemblyFormat = "(`a` $a^)? (`s` $s^)? (`f` $f^)? (`b` $b^)? (`d` $d^)? attr-dict"; }
def Q11 : E<"q11"> { let arguments = (ins UnitAttr:$x, UnitAttr:$y, UnitProp:$z); let assemblyFormat = "(`x` $x^) : (`nox`)? (`y` `(` $y^ `)`)? (`z` $z^)? attr-dict"; }
def Q12 : E<"q12"> { let arguments = (ins I64Attr:$a, I8Attr:$b, SI32Attr:$c, UI16Attr:$d, IndexAttr:$e, F64Attr:$f); let assemblyFormat = "$a `,` $b `,` $c `,` $d `,` $e `,` $f attr-dict"; }
def Q13 : E<"q13"> { let arguments = (ins AnyTypeOf<[I32, AnyTensor]>:$a, Opt1:$b, Str1:$c); let results = (outs Variadic<Opt1>:$r); let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) (`->` type($r)^)?"; }
def Q14 : E<"q14"> { let arguments = (ins TypeAttrOf<AnyTensor>:$t, TypeAttrOf<I32>:$u, OptionalAttr<TypeAttrOf<AnyFloat>>:$v); let assemblyFormat = "$t `,` $u (`,` $v^)? attr-dict"; }
def Q15 : E<"q15", [Terminator, ParentOneOf<["Q9", "Q16"]>]> { let builders = [OpBuilder<(ins), [{ }]>]; let arguments = (ins Variadic<AnyType>:$v); let assemblyFormat = "($v^ `:` type($v))? attr-dict"; }
def Q16 : E<"q16", [SingleBlockImplicitTerminator<"Q15">, NoRegionArguments]> { let regions = (region SizedRegion<1>:$a); let results = (outs Variadic<AnyType>:$r); let assemblyFormat = "(`->` type($r)^)? $a attr-dict-with-keyword"; }
def Q17 : E<"q17"> { let arguments = (ins OptionalProp<I64Prop>:$a, DefaultValuedProp<StringProp, "\"x\"">:$s, ArrayProp<I32Prop>:$r, ConfinedProp<I64Prop, CPred<"$_self > 3">>:$c); let assemblyFormat = "(`a` $a^)? (`s` $s^)? $r `:` $c attr-dict"; }
def Q18 : E<"q18"> { let arguments = (ins ArrayProp<EnumProp<Col>>:$a, OptionalProp<ArrayProp<I64Prop>>:$b); let assemblyFormat = "$a (`b` $b^)? attr-dict"; }
def Q19 : E<"q19", [SameVariadicResultSize]> { let results = (outs Variadic<I32>:$a, Variadic<F32>:$b); let assemblyFormat = "type($a) `and` type($b) attr-dict"; }
