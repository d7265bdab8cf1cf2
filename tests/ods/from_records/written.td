// A dialect as a plugin of mlir-opt; `written_accepted.mlir` has programs with it, as mlir-opt 22 prints them.

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Properties.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
def Written_Dialect : Dialect {
  let name = "written"; let cppNamespace = "::written";
  let useDefaultTypePrinterParser = 1; let useDefaultAttributePrinterParser = 1;
}
class E<string m, list<Trait> t = []> : Op<Written_Dialect, m, t>;
// types
class T<string n, string m, list<Trait> t = []> : TypeDef<Written_Dialect, n, t> { let mnemonic = m; }
def Pair : T<"Pair", "pair"> { let parameters = (ins "::mlir::Type":$a, "::mlir::Type":$b); let assemblyFormat = "`<` $a `x` $b `>`"; }
def Sized : T<"Sized", "sized"> { let parameters = (ins "unsigned":$w, OptionalParameter<"::mlir::Attribute">:$space); let assemblyFormat = "`<` $w (`,` `in` $space^)? `>`"; }
def Shape : T<"Shape", "shape"> { let parameters = (ins ArrayRefParameter<"int64_t">:$dims, OptionalArrayRefParameter<"::mlir::Type">:$types); let assemblyFormat = "`<` `[` $dims `]` (`:` $types^)? `>`"; }
def Rec : T<"Rec", "rec"> { let parameters = (ins "int":$x, OptionalParameter<"bool">:$flag, StringRefParameter<>:$name, DefaultValuedParameter<"int64_t", "7">:$y); let assemblyFormat = "`<` struct(params) `>`"; }
def Bare : T<"Bare", "bare"> { let parameters = (ins OptionalParameter<"::mlir::Type">:$t); let assemblyFormat = "(`<` $t^ `>`) : (`` `?`)?"; }
def Flt : T<"Flt", "flt"> { let parameters = (ins "bool":$b, "::mlir::StringAttr":$s); let assemblyFormat = "`<` params `>`"; }
def Unit_ : T<"UnitT", "unit">;
// attributes
class A<string n, string m, list<Trait> t = []> : AttrDef<Written_Dialect, n, t> { let mnemonic = m; }
def Point : A<"Point", "point"> { let parameters = (ins "int64_t":$x, "int64_t":$y); let assemblyFormat = "`(` $x `,` $y `)`"; }
def Tagged : A<"Tagged", "tagged", [TypedAttrInterface]> { let parameters = (ins AttributeSelfTypeParameter<"">:$type, "int":$v); let assemblyFormat = "`<` $v `>`"; }
def Opts : A<"Opts", "opts"> { let parameters = (ins OptionalParameter<"::mlir::IntegerAttr">:$a, OptionalParameter<"::mlir::StringAttr">:$b, OptionalParameter<"::mlir::TypeAttr">:$c); let assemblyFormat = "(`<` struct(params)^ `>`)?"; }
def Nest : A<"Nest", "nest"> { let parameters = (ins "::written::PointAttr":$p, "::written::PointAttr":$q, "::mlir::ArrayAttr":$more); let assemblyFormat = "`<` $p `,` qualified($q) `:` $more `>`"; }
// enums
def Col : I32Enum<"Col", "", [I32EnumCase<"Red", 0, "red">, I32EnumCase<"Green", 5, "green">, I32EnumCase<"Minus", 7, "minus-one">]> { let cppNamespace = "::written"; }
def ColAttr : EnumAttr<Written_Dialect, Col, "col">;
def ColB : I32Enum<"ColB", "", [I32EnumCase<"Left", 0, "left">, I32EnumCase<"Right", 1, "right">]> { let cppNamespace = "::written"; }
def ColBrAttr : EnumAttr<Written_Dialect, ColB, "colb"> { let assemblyFormat = "`{` $value `}`"; }
def Bits : I32BitEnum<"Bits", "", [I32BitEnumCaseNone<"none">, I32BitEnumCaseBit<"r", 0>, I32BitEnumCaseBit<"w", 1>, I32BitEnumCaseBit<"x", 3>, BitEnumCaseGroup<"rw", [I32BitEnumCaseBit<"r", 0>, I32BitEnumCaseBit<"w", 1>]>]> { let cppNamespace = "::written"; let separator = ", "; }
def BitsAttr : EnumAttr<Written_Dialect, Bits, "bits"> { let assemblyFormat = "`<` $value `>`"; }
def Pipe : I8BitEnum<"Pipe", "", [I8BitEnumCaseBit<"p", 0>, I8BitEnumCaseBit<"q", 1>]> { let cppNamespace = "::written"; let separator = "|"; let printBitEnumPrimaryGroups = 1; }
def Old : I64EnumAttr<"Old", "", [I64EnumAttrCase<"aa", 1>, I64EnumAttrCase<"bb", 2>]> { let cppNamespace = "::written"; }
// ops
def O1 : E<"o1"> { let arguments = (ins OptionalAttr<I32Attr>:$a, UnitAttr:$u, DefaultValuedAttr<I64Attr, "4">:$d, OptionalAttr<StrAttr>:$s);
  let assemblyFormat = "(`a` $a^ `?`)? (`u` $u^)? (`d` `(` $d^ `)`)? ($s^) : (`nos`)? attr-dict"; }
def O2 : E<"o2", [AttrSizedOperandSegments]> { let arguments = (ins Optional<AnyInteger>:$a, Variadic<AnyType>:$b, UnitAttr:$fast, OptionalAttr<I32Attr>:$n);
  let assemblyFormat = "oilist(`with` `(` $a `:` type($a) `)` | `all` $b `:` type($b) | `fast` $fast | `n` `=` $n) attr-dict-with-keyword"; }
def O3 : E<"o3", [Terminator]> { let arguments = (ins I1:$c, Variadic<AnyType>:$args); let successors = (successor AnySuccessor:$t, VariadicSuccessor<AnySuccessor>:$rest);
  let assemblyFormat = "$c (`,` $args^ `:` type($args))? `->` $t `[` $rest `]` attr-dict"; }
def O4 : E<"o4"> { let regions = (region AnyRegion:$a, VariadicRegion<AnyRegion>:$b); let assemblyFormat = "$a (`more` $b^)? attr-dict"; }
def O5 : E<"o5", [SingleBlockImplicitTerminator<"O5End">]> { let regions = (region SizedRegion<1>:$a, MaxSizedRegion<1>:$b); let assemblyFormat = "$a (`else` $b^)? attr-dict"; }
def O5End : E<"o5_end", [Terminator]> { let assemblyFormat = "attr-dict"; }
def O6 : E<"o6", [SameOperandsAndResultType]> { let arguments = (ins AnyTensor:$a, AnyTensor:$b); let results = (outs AnyTensor:$r); let assemblyFormat = "`(` $a `,` $b `)` `` `[` attr-dict `]` `:` type($a)"; }
def O7 : E<"o7", [AllTypesMatch<["v", "r"]>]> { let arguments = (ins TypedAttrInterface:$v, TypeAttr:$t, OptionalAttr<TypeAttr>:$t2); let results = (outs AnyType:$r); let assemblyFormat = "$v `as` $t (`or` $t2^)? attr-dict"; }
def O8 : E<"o8"> { let arguments = (ins DenseI64ArrayAttr:$a, DenseF32ArrayAttr:$f, DenseBoolArrayAttr:$b, I64ArrayAttr:$i, StrArrayAttr:$s, OptionalAttr<DenseI8ArrayAttr>:$o); let assemblyFormat = "$a $f $b $i $s (`o` $o^)? attr-dict"; }
def O9 : E<"o9"> { let arguments = (ins ColAttr:$a, ColBrAttr:$b, BitsAttr:$c, OptionalAttr<ColAttr>:$d, Old:$o, DefaultValuedAttr<ColAttr, "::written::Col::Green">:$e); let assemblyFormat = "$a $b $c (`d` $d^)? $o (`e` $e^)? attr-dict"; }
def O10 : E<"o10", [Symbol]> { let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<StrAttr>:$sym_visibility, FlatSymbolRefAttr:$f, SymbolRefAttr:$s); let assemblyFormat = "($sym_visibility^)? $sym_name `=` $f `,` $s attr-dict"; }
def O11 : E<"o11"> { let arguments = (ins Point:$p, Tagged:$t, Opts:$o, Nest:$n, OptionalAttr<Point>:$p2, TypedArrayAttrBase<Point, "points">:$ps); let assemblyFormat = "$p $t $o $n (`p2` $p2^)? qualified($ps) attr-dict"; }
def O12 : E<"o12"> { let arguments = (ins Variadic<AnyType>:$a); let results = (outs Variadic<AnyType>:$r); let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)"; }
def O13 : E<"o13"> { let arguments = (ins Pair:$a, Sized:$b); let results = (outs Shape:$c, Optional<Bare>:$d); let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` qualified(type($b)) `->` type($c) (`and` type($d)^)?"; }
def O14 : E<"o14"> { let arguments = (ins I64Prop:$a, DefaultValuedProp<I32Prop, "-3">:$b, UnitProp:$u, StringProp:$s, OptionalProp<I64Prop>:$o, ArrayProp<I64Prop>:$ar, BoolProp:$bo); let assemblyFormat = "$a (`b` $b^)? (`u` $u^) : (`nou`)? $s (`o` `(` $o^ `)`)? $ar $bo attr-dict"; }
def O15 : E<"o15"> { let arguments = (ins I64Prop:$a, DefaultValuedProp<I32Prop, "3">:$b, OptionalProp<StringProp>:$s, I32Attr:$x, UnitProp:$u); let assemblyFormat = "prop-dict attr-dict"; }
def O16 : E<"o16"> { let arguments = (ins EnumProp<Col>:$c, NamedEnumProp<Bits, "bits">:$b, DefaultValuedProp<EnumProp<Col>, "::written::Col::Red">:$d, OptionalProp<EnumProp<Col>>:$o); let assemblyFormat = "$c $b (`d` $d^)? (`o` $o^)? attr-dict"; }
def O17 : E<"o17"> { let arguments = (ins AffineMapAttr:$m, DictionaryAttr:$d, ArrayAttr:$a, AnyAttr:$x, ElementsAttr:$e); let assemblyFormat = "$m $d $a `x` `=` $x `,` $e attr-dict"; }
def O18 : E<"o18", [TypesMatchWith<"elt", "a", "r", "::llvm::cast<::mlir::ShapedType>($_self).getElementType()">, TypesMatchWith<"vec", "a", "c", "::mlir::RankedTensorType::get({2}, ::llvm::cast<::mlir::ShapedType>($_self).getElementType())">]> { let arguments = (ins AnyRankedTensor:$a, AnyType:$c); let results = (outs AnyType:$r); let assemblyFormat = "$a `,` $c attr-dict `:` type($a)"; }
def O19 : E<"o19"> { let arguments = (ins Optional<AnyType>:$a, OptionalAttr<I64Attr>:$n); let results = (outs Optional<AnyType>:$r); let assemblyFormat = "($a^ `:` type($a)) : (`none` $n)? (`->` type($r)^)? attr-dict"; }
def O20 : E<"o20"> { let arguments = (ins I32:$a, Index:$b, F64Attr:$f, SI8Attr:$h, BoolAttr:$bb); let results = (outs I1:$r, F32:$s); let assemblyFormat = "$a `,` `\\n` $b ` ` `{` $f `}` `[` $h `<` $bb `>` `]` `...` `->` attr-dict"; }
def O21 : E<"o21", [IsolatedFromAbove, HasOnlyGraphRegion, SingleBlock, NoTerminator, SymbolTable]> { let arguments = (ins OptionalAttr<SymbolNameAttr>:$name); let regions = (region SizedRegion<1>:$body); let assemblyFormat = "($name^)? attr-dict-with-keyword $body"; }
def O22 : E<"o22", [AttrSizedResultSegments]> { let results = (outs Variadic<I32>:$a, Optional<F32>:$b, Variadic<AnyType>:$c); let assemblyFormat = "type($a) `b` type($b) `c` type($c) attr-dict"; }
def O23 : E<"o23", [SameVariadicOperandSize]> { let arguments = (ins Variadic<Index>:$lb, Variadic<Index>:$ub, I1:$flag); let assemblyFormat = "`(` $lb `)` `to` `(` $ub `)` `if` $flag attr-dict"; }
def O24 : E<"o24"> { let arguments = (ins ConfinedAttr<I32Attr, [IntMinValue<2>, IntMaxValue<7>]>:$a, ConfinedAttr<ArrayAttr, [ArrayMinCount<1>]>:$b, ConfinedAttr<StrAttr, [AttrConstraint<CPred<"!::llvm::cast<::mlir::StringAttr>($_self).getValue().empty()">, "nonempty">]>:$c, ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<2>, DenseArraySorted<DenseI64ArrayAttr>]>:$d); let assemblyFormat = "$a $b $c $d attr-dict"; }
def O25 : E<"o25"> { let arguments = (ins RankedTensorOf<[F32, I8], [HasStaticShapePred]>:$a, 1DTensorOf<[AnyFloat]>:$b, VectorOfRankAndType<[1, 2], [I32]>:$c, MemRefRankOf<[F32], [0, 2]>:$d, AnyComplex:$e, TupleOf<[I32, F32]>:$f, TupleOf<[AnyType]>:$g, AnyTypeOf<[Index, I64]>:$h, NoneType:$i, FunctionType:$j); let assemblyFormat = "operands attr-dict `:` type(operands)"; }
def O26 : E<"o26", [SameOperandsElementType, SameOperandsAndResultShape]> { let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b); let results = (outs AnyRankedTensor:$r); let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b) `->` type($r)"; }
def O27 : E<"o27", [HasParent<"O4">, NoRegionArguments, Commutative, ResultsAreFloatLike]> { let results = (outs AnyType:$r); let regions = (region AnyRegion:$x); let assemblyFormat = "$x attr-dict `:` type($r)"; }
def O28 : E<"o28", [PredOpTrait<"two or more operands", CPred<"$_op.getNumOperands() >= 2">>, AllElementTypesMatch<["a", "r"]>, AllRanksMatch<["a", "r"]>]> { let arguments = (ins AnyRankedTensor:$a, Variadic<AnyType>:$b); let results = (outs AnyRankedTensor:$r); }
