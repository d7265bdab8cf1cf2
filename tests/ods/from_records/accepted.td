// Definitions that mlir-tblgen accepts: the nearest correct ones to those of `refused.td`.
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Properties.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def D : Dialect { let name = "d"; let cppNamespace = "::d"; let usePropertiesForAttributes = 1; }
class D_Op<string mnemonic, string format, list<Trait> traits = []> : Op<D, mnemonic, traits> {
  let assemblyFormat = format;
}
class D_Plain<string mnemonic, list<Trait> traits = []> : Op<D, mnemonic, traits>;
class D_Type<string name, string word> : TypeDef<D, name> { let mnemonic = word; }
class D_Attr<string name, string word> : AttrDef<D, name> { let mnemonic = word; }
def D_Handle : D_Type<"Handle", "handle">;

// property-without-prop-dict
def PropertyLost : D_Op<"property_lost", "attr-dict">, Arguments<(ins I32Prop:$p)>;
// literal-minus
def LiteralMinus : D_Op<"literal_minus", "`-` attr-dict">;
// literal-ellipsis
def LiteralEllipsis : D_Op<"literal_ellipsis", "`...` attr-dict">;
// oilist-same-word-twice
def OilistSameWord : D_Op<"oilist_same_word", "oilist(`a` $a | `a` $b) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, OptionalAttr<I32Attr>:$b)>;
// all-types-match-unknown
def AllTypesMatchUnknown : D_Op<"all_types_match_unknown", "$x attr-dict `:` type($x) type($y)", [AllTypesMatch<["q", "y"]>]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// format-and-custom
def FormatAndCustom : D_Op<"format_and_custom", "attr-dict"> { let hasCustomAssemblyFormat = 1; }
// attribute-name-regions
def AttributeNameRegions : D_Plain<"attribute_name_regions">, Arguments<(ins I32Attr:$regions)>;
// arguments-outs
def ArgumentsOuts : D_Plain<"arguments_outs"> { let arguments = (outs I32:$x); }
// segment-property-name
def SegmentName : D_Plain<"segment_name", [AttrSizedOperandSegments]>, Arguments<(ins Variadic<I32>:$x, Variadic<I32>:$y, I32Prop:$operandSegmentSizes)>;
// default-attribute-then-required
def DefaultFirst : D_Plain<"default_first">, Arguments<(ins DefaultValuedAttr<I32Attr, "1">:$a, I32Attr:$b)>;
// default-valued-of-optional
def DefaultOfOptional : D_Plain<"default_of_optional">, Arguments<(ins DefaultValuedAttr<OptionalAttr<I32Attr>, "1">:$a)>;
// optional-of-optional
def OptionalOfOptional : D_Plain<"optional_of_optional">, Arguments<(ins OptionalAttr<OptionalAttr<I32Attr>>:$a)>;
// optional-of-default
def OptionalOfDefault : D_Plain<"optional_of_default">, Arguments<(ins OptionalAttr<DefaultValuedAttr<I32Attr, "1">>:$a)>;
// confined-of-optional
def ConfinedOfOptional : D_Plain<"confined_of_optional">, Arguments<(ins ConfinedAttr<OptionalAttr<I32Attr>, [IntMinValue<1>]>:$a)>;
// confined-of-default
def ConfinedOfDefault : D_Plain<"confined_of_default">, Arguments<(ins ConfinedAttr<DefaultValuedAttr<I32Attr, "1">, [IntMinValue<1>]>:$a)>;
// no-results-infer
def InferNoResults : D_Plain<"infer_no_results", [InferTypeOpAdaptor]>;
// name-starts-with-digit
def DigitName : D_Plain<"1st">;
// pred-op-trait
def PredTraitOp : D_Plain<"pred_trait_op", [PredOpTrait<"x", CPred<"$bogus.x()">>]>, Arguments<(ins I32:$x)>;
// type-same-class
def T18 : D_Type<"T18", "t18">;
def T18b : D_Type<"T18", "t18b">;
// type-parameter-is-type
def T20 : D_Type<"T20", "t20"> { let parameters = (ins I32:$a); let assemblyFormat = "`<` $a `>`"; }
// type-skip-builders
def T23 : D_Type<"T23", "t23"> { let parameters = (ins "int":$a); let skipDefaultBuilders = 1; let assemblyFormat = "`<` $a `>`"; }
// attr-self-type-in-format
def A5 : D_Attr<"A5", "a5"> { let parameters = (ins AttributeSelfTypeParameter<"">:$t, "int":$a); let assemblyFormat = "`<` $t $a `>`"; }
// enum-bit-unknown-group
def E7 : I32BitEnumAttr<"E7", "", [I32BitEnumAttrCaseBit<"A", 0>, I32BitEnumAttrCaseGroup<"G", [I32BitEnumAttrCaseBit<"B", 1>]>]>;
// enum-no-cases
def E8 : I32EnumAttr<"E8", "", []>;
// enum-word-not-keyword
def E12 : I32EnumAttr<"E12", "", [I32EnumAttrCase<"A", 0, "a b">]>;
// enum-flags-duplicate
def E14 : I32BitEnumAttr<"E14", "", [I32BitEnumAttrCaseBit<"A", 1>, I32BitEnumAttrCaseBit<"B", 1>]>;
// enum-flags-separator-none
def E15 : I32BitEnumAttr<"E15", "", [I32BitEnumAttrCaseNone<"N">, I32BitEnumAttrCaseNone<"M">]>;
// attr-dict-alone
def N1 : D_Op<"n1", "attr-dict">;
// prop-dict-and-attr-dict
def N2 : D_Op<"n2", "prop-dict attr-dict">, Arguments<(ins I32Prop:$p)>;
// attr-dict-then-prop-dict
def N3 : D_Op<"n3", "attr-dict prop-dict">, Arguments<(ins I32Prop:$p)>;
// operand-buildable
def N4 : D_Op<"n4", "$x `,` $y attr-dict">, Arguments<(ins I32:$x, I32:$y)>;
// operand-type
def N5 : D_Op<"n5", "$x attr-dict `:` type($x)">, Arguments<(ins AnyType:$x)>;
// operand-types-together
def N6 : D_Op<"n6", "$x `,` $y attr-dict `:` type(operands)">, Arguments<(ins AnyType:$x, AnyType:$y)>;
// operands-together-types-apart
def N7 : D_Op<"n7", "operands attr-dict `:` type($x) `,` type($y)">, Arguments<(ins AnyType:$x, AnyType:$y)>;
// variadic-operand-buildable
def N8 : D_Op<"n8", "$x attr-dict">, Arguments<(ins Variadic<I32>:$x)>;
// optional-operand-buildable
def N9 : D_Op<"n9", "($x^)? attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// result-type
def N10 : D_Op<"n10", "attr-dict `:` type($y)">, Results<(outs AnyType:$y)>;
// result-types-together
def N11 : D_Op<"n11", "attr-dict `:` type(results)">, Results<(outs AnyType:$y, AnyType:$z)>;
// result-buildable
def N12 : D_Op<"n12", "attr-dict">, Results<(outs I32:$y)>;
// variadic-result-type
def N13 : D_Op<"n13", "attr-dict `:` type($y)">, Results<(outs Variadic<I32>:$y)>;
// functional-type
def N14 : D_Op<"n14", "operands attr-dict `:` functional-type(operands, results)">, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// functional-type-of-variables
def N15 : D_Op<"n15", "$x attr-dict `:` functional-type($x, $y)">, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// same-operands-and-result-type
def N16 : D_Op<"n16", "$x `,` $z attr-dict `:` type($y)", [SameOperandsAndResultType]>, Arguments<(ins AnyType:$x, AnyType:$z)>, Results<(outs AnyType:$y)>;
// same-operands-and-result-type-of-operand
def N17 : D_Op<"n17", "$x attr-dict `:` type($x)", [SameOperandsAndResultType]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// same-type-operands
def N18 : D_Op<"n18", "$x `,` $z attr-dict `:` type($x)", [SameTypeOperands]>, Arguments<(ins AnyType:$x, AnyType:$z)>;
// all-types-match
def N19 : D_Op<"n19", "$x attr-dict `:` type($x)", [AllTypesMatch<["x", "y"]>]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// types-match-with
def N20 : D_Op<"n20", "$x attr-dict `:` type($x)", [TypesMatchWith<"same", "x", "y", "$_self">]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// infer-type-interface
def N21 : D_Op<"n21", "$x attr-dict `:` type($x)", [DeclareOpInterfaceMethods<InferTypeOpInterface>]>, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// region
def N23 : D_Op<"n23", "$body attr-dict"> { let regions = (region AnyRegion:$body); }
// regions
def N24 : D_Op<"n24", "regions attr-dict"> { let regions = (region AnyRegion:$a, AnyRegion:$b); }
// region-after-keyword-dict
def N25 : D_Op<"n25", "attr-dict-with-keyword $body"> { let regions = (region AnyRegion:$body); }
// region-after-dict-and-literal
def N26 : D_Op<"n26", "attr-dict `do` $body"> { let regions = (region AnyRegion:$body); }
// successor
def N27 : D_Op<"n27", "$next attr-dict"> { let successors = (successor AnySuccessor:$next); }
// successors
def N28 : D_Op<"n28", "successors attr-dict"> { let successors = (successor AnySuccessor:$a, AnySuccessor:$b); }
// attribute-not-named
def N29 : D_Op<"n29", "attr-dict">, Arguments<(ins I32Attr:$a)>;
// attribute
def N30 : D_Op<"n30", "$a attr-dict">, Arguments<(ins I32Attr:$a)>;
// optional-attribute-group
def N31 : D_Op<"n31", "(`a` $a^)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// default-attribute-group
def N32 : D_Op<"n32", "($a^)? attr-dict">, Arguments<(ins DefaultValuedAttr<I32Attr, "1">:$a)>;
// default-optional-attribute-group
def N33 : D_Op<"n33", "($a^)? attr-dict">, Arguments<(ins DefaultValuedOptionalAttr<I32Attr, "1">:$a)>;
// unit-attribute-group
def N34 : D_Op<"n34", "(`fast` $a^)? attr-dict">, Arguments<(ins UnitAttr:$a)>;
// required-attribute-beside-anchor
def N35 : D_Op<"n35", "(`a` $a^ `=` $b)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, I32Attr:$b)>;
// optional-property-group
def N36 : D_Op<"n36", "($a^)? attr-dict">, Arguments<(ins DefaultValuedProp<I64Prop, "0">:$a)>;
// unit-property-group
def N37 : D_Op<"n37", "(`x` $a^)? attr-dict">, Arguments<(ins UnitProp:$a)>;
// type-anchor
def N38 : D_Op<"n38", "attr-dict (`->` type($y)^)?">, Results<(outs Variadic<AnyType>:$y)>;
// variadic-operand-group
def N39 : D_Op<"n39", "(`(` $x^ `:` type($x) `)`)? attr-dict">, Arguments<(ins Variadic<AnyType>:$x)>;
// group-with-else
def N40 : D_Op<"n40", "($x^ `:` type($x)) : (`none`)? attr-dict">, Arguments<(ins Optional<AnyType>:$x)>;
// group-with-anchor-in-else
def N41 : D_Op<"n41", "(`none`) : ($x^ `:` type($x))? attr-dict">, Arguments<(ins Optional<AnyType>:$x)>;
// region-anchor
def N42 : D_Op<"n42", "(`body` $body^)? attr-dict"> { let regions = (region AnyRegion:$body); }
// nested-group
def N43 : D_Op<"n43", "(`x` $x^ (`,` $y^)?)? attr-dict", [AttrSizedOperandSegments]>, Arguments<(ins Optional<I32>:$x, Optional<I32>:$y)>;
// group-of-functional-type
def N44 : D_Op<"n44", "($x^ `:` functional-type($x, $y))? attr-dict">, Arguments<(ins Variadic<AnyType>:$x)>, Results<(outs Variadic<AnyType>:$y)>;
// literals
def N45 : D_Op<"n45", "`a` `_b` `c.d` `e$f` `(` `)` `[` `]` `{` `}` `<` `>` `:` `,` `=` `?` `+` `-` `*` `->` `...` attr-dict">;
// layout
def N46 : D_Op<"n46", "`a` `` `b` ` ` `c` `\\n` attr-dict">;
// oilist
def N47 : D_Op<"n47", "oilist(`a` $a | `b` $b) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, UnitAttr:$b)>;
// oilist-operand
def N48 : D_Op<"n48", "oilist(`a` `(` $x `:` type($x) `)` | `b`) attr-dict">, Arguments<(ins Variadic<AnyType>:$x)>;
// oilist-adjacent-different
def N49 : D_Op<"n49", "oilist(`a` $a) oilist(`b` $b) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, OptionalAttr<I32Attr>:$b)>;
// qualified-attribute
def N50 : D_Op<"n50", "qualified($a) attr-dict">, Arguments<(ins I32Attr:$a)>;
// qualified-type
def N51 : D_Op<"n51", "$x attr-dict `:` qualified(type($x))">, Arguments<(ins D_Handle:$x)>;
// colon-after-typed-attribute
def N52 : D_Op<"n52", "$a `:` type($x) $x attr-dict">, Arguments<(ins I32Attr:$a, AnyType:$x)>;
// colon-after-literal
def N53 : D_Op<"n53", "$a `is` `:` type($x) $x attr-dict">, Arguments<(ins AnyAttr:$a, AnyType:$x)>;
// custom-with-ref
def N55 : D_Op<"n55", "$a custom<Foo>($x, type($x), \"text\", ref($a)) attr-dict">, Arguments<(ins AnyType:$x, I32Attr:$a)>;
// custom-binds-attr-dict
def N56 : D_Op<"n56", "custom<Foo>(attr-dict)">;
// custom-anchor
def N57 : D_Op<"n57", "(custom<Foo>($a)^)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// custom-in-group
def N58 : D_Op<"n58", "($x^ custom<Foo>($a))? attr-dict">, Arguments<(ins Optional<I32>:$x, OptionalAttr<I32Attr>:$a)>;
// custom-of-required-in-group
def N59 : D_Op<"n59", "($x^ custom<Foo>($a))? attr-dict">, Arguments<(ins Optional<I32>:$x, I32Attr:$a)>;
// two-variadics-with-segments
def N60 : D_Plain<"n60", [AttrSizedOperandSegments]>, Arguments<(ins Variadic<I32>:$x, Optional<I32>:$y)>;
// two-variadics-of-same-size
def N61 : D_Plain<"n61", [SameVariadicOperandSize]>, Arguments<(ins Variadic<I32>:$x, Variadic<I32>:$y)>;
// two-variadic-results-with-segments
def N62 : D_Plain<"n62", [AttrSizedResultSegments]>, Results<(outs Variadic<I32>:$x, Variadic<I32>:$y)>;
// two-variadic-results-of-same-size
def N63 : D_Plain<"n63", [SameVariadicResultSize]>, Results<(outs Variadic<I32>:$x, Variadic<I32>:$y)>;
// unnamed-operands
def N64 : D_Plain<"n64">, Arguments<(ins I32, I32)>;
// unnamed-results
def N65 : D_Plain<"n65">, Results<(outs I32, I32)>;
// variadic-operands-named-operands
def N66 : D_Plain<"n66">, Arguments<(ins Variadic<I32>:$operands)>;
// variadic-regions-named-regions
def N67 : D_Plain<"n67"> { let regions = (region VariadicRegion<AnyRegion>:$regions); }
// operand-named-type-one-result
def N68 : D_Plain<"n68">, Arguments<(ins I32:$type)>, Results<(outs I32:$y)>;
// attribute-named-regions
def N69 : D_Plain<"n69">, Arguments<(ins I32Attr:$regions)>;
// variadic-region-last
def N72 : D_Plain<"n72"> { let regions = (region AnyRegion:$a, VariadicRegion<AnyRegion>:$b); }
// variadic-successor-last
def N73 : D_Plain<"n73"> { let successors = (successor AnySuccessor:$a, VariadicSuccessor<AnySuccessor>:$b); }
// trait-in-order
def N74a : NativeOpTrait<"N74a">;
def N74b : NativeOpTrait<"N74b", [N74a]>;
def N74 : D_Plain<"n74", [N74a, N74b]>;
// skipped-builders-with-own
def N75 : D_Plain<"n75"> { let skipDefaultBuilders = 1; let builders = [OpBuilder<(ins "int":$a)>]; }
// builder-defaults-last
def N76 : D_Plain<"n76"> { let builders = [OpBuilder<(ins "int":$a, CArg<"int", "42">:$b)>]; }
// derived-attribute-field
def N77 : D_Plain<"n77"> { DerivedAttr n = DerivedAttr<"int", "return 1;">; }
// same-operands-result-type-variadic
def N79 : D_Plain<"n79", [SameOperandsAndResultType]>, Arguments<(ins Variadic<AnyType>:$x)>, Results<(outs AnyType:$y)>;
// default-then-required
def N80 : D_Plain<"n80">, Arguments<(ins DefaultValuedAttr<I32Attr, "1">:$a, I32Attr:$b)>;
// type-with-all-parameters
def NT1 : D_Type<"NT1", "nt1"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` $a `,` $b `>`"; }
// type-params
def NT2 : D_Type<"NT2", "nt2"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` params `>`"; }
// type-struct
def NT3 : D_Type<"NT3", "nt3"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` struct(params) `>`"; }
// type-struct-of-some
def NT4 : D_Type<"NT4", "nt4"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` struct($a) `,` $b `>`"; }
// type-optional-not-named
def NT5 : D_Type<"NT5", "nt5"> { let parameters = (ins "int":$a, OptionalParameter<"int">:$b); let assemblyFormat = "`<` $a `>`"; }
// type-optional-group
def NT6 : D_Type<"NT6", "nt6"> { let parameters = (ins OptionalParameter<"int">:$a); let assemblyFormat = "(`<` $a^ `>`)?"; }
// type-params-group
def NT7 : D_Type<"NT7", "nt7"> { let parameters = (ins OptionalParameter<"int">:$a, OptionalParameter<"int">:$b); let assemblyFormat = "(`<` params^ `>`)?"; }
// type-struct-group
def NT8 : D_Type<"NT8", "nt8"> { let parameters = (ins OptionalParameter<"int">:$a, OptionalParameter<"int">:$b); let assemblyFormat = "(`<` struct(params)^ `>`)?"; }
// type-default-parameter
def NT9 : D_Type<"NT9", "nt9"> { let parameters = (ins "int":$a, DefaultValuedParameter<"int", "5">:$b); let assemblyFormat = "`<` $a (`,` $b^)? `>`"; }
// type-without-format
def NT10 : D_Type<"NT10", "nt10">;
// type-without-mnemonic
def NT11 : TypeDef<D, "NT11"> { let typeName = "d.nt11"; let parameters = (ins "int":$a); }
// type-custom
def NT12 : D_Type<"NT12", "nt12"> { let parameters = (ins "int":$a); let hasCustomAssemblyFormat = 1; }
// type-qualified
def NT13 : D_Type<"NT13", "nt13"> { let parameters = (ins "::mlir::Type":$a); let assemblyFormat = "`<` qualified($a) `>`"; }
// type-custom-directive
def NT14 : D_Type<"NT14", "nt14"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` custom<Foo>($a, $b) `>`"; }
// attr-self-type
def NA1 : D_Attr<"NA1", "na1"> { let parameters = (ins AttributeSelfTypeParameter<"">:$t, "int":$a); let assemblyFormat = "`<` $a `>`"; }
// attr-params
def NA2 : D_Attr<"NA2", "na2"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` params `>`"; }
// enum
def NE1 : I32EnumAttr<"NE1", "", [I32EnumAttrCase<"A", 0>, I32EnumAttrCase<"B", 1>]>;
// enum-bits
def NE2 : I32BitEnumAttr<"NE2", "", [I32BitEnumAttrCaseBit<"A", 31>, I32BitEnumAttrCaseNone<"N">]>;
// enum-group
def NE3a : I32BitEnumAttrCaseBit<"A", 0>;
def NE3b : I32BitEnumAttrCaseBit<"B", 1>;
def NE3 : I32BitEnumAttr<"NE3", "", [NE3a, NE3b, I32BitEnumAttrCaseGroup<"G", [NE3a, NE3b]>]>;
// enum-64
def NE4 : I64EnumAttr<"NE4", "", [I64EnumAttrCase<"A", 4294967296>]>;
// enum-attr-format
def NE5 : I32EnumAttr<"NE5", "", [I32EnumAttrCase<"A", 0>]> { let genSpecializedAttr = 0; }
def NE5Attr : EnumAttr<D, NE5, "ne5"> { let assemblyFormat = "`<` $value `>`"; }
// else-required-attribute
def NX8 : D_Op<"nx8", "($a^) : ($b)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, I32Attr:$b)>;
// group-starts-with-custom
def NX9 : D_Op<"nx9", "(custom<Foo>($a) $x^)? attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a, Optional<I32>:$x)>;
// regions-after-dict
def NX12 : D_Op<"nx12", "attr-dict regions"> { let regions = (region VariadicRegion<AnyRegion>:$r); }
// colon-after-elements
def NX18 : D_Op<"nx18", "$a `:` type($x) $x attr-dict">, Arguments<(ins ElementsAttr:$a, AnyType:$x)>;
// colon-after-qualified-typed
def NX20 : D_Op<"nx20", "qualified($a) `:` type($x) $x attr-dict">, Arguments<(ins I32Attr:$a, AnyType:$x)>;
// ref-attr-dict
def NX21 : D_Op<"nx21", "attr-dict custom<Foo>(ref(attr-dict))">;
// custom-type-of-result
def NX22 : D_Op<"nx22", "custom<Foo>(type($y)) attr-dict">, Results<(outs AnyType:$y)>;
// custom-prop-dict
def NX23 : D_Op<"nx23", "custom<Foo>(prop-dict) attr-dict">;
// custom-successor-region
def NX24 : D_Op<"nx24", "custom<Foo>($s, $r) attr-dict"> { let successors = (successor AnySuccessor:$s); let regions = (region AnyRegion:$r); }
// qualified-in-custom
def NX28 : D_Op<"nx28", "custom<Foo>($x, qualified(type($x))) attr-dict">, Arguments<(ins AnyType:$x)>;
// ref-type-in-group
def NX29 : D_Op<"nx29", "$x `:` type($x) custom<Foo>(ref(type($x))) attr-dict">, Arguments<(ins AnyType:$x)>;
// variadic-of-variadic-operand
def NX30 : D_Plain<"nx30">, Arguments<(ins VariadicOfVariadic<I32, "s">:$x, DenseI32ArrayAttr:$s)>;
// same-variadic-one
def NX31 : D_Plain<"nx31", [SameVariadicOperandSize]>, Arguments<(ins Variadic<I32>:$x)>;
// same-variadic-result-one
def NX32 : D_Plain<"nx32", [SameVariadicResultSize]>, Results<(outs Variadic<I32>:$x)>;
// attribute-named-operands
def NX39 : D_Plain<"nx39">, Arguments<(ins I32Attr:$operands)>;
// attribute-named-type
def NX41 : D_Plain<"nx41">, Arguments<(ins I32Attr:$type)>;
// optional-parser-default-i32
def NX47 : D_Op<"nx47", "($a^)? attr-dict">, Arguments<(ins DefaultValuedProp<I32Prop, "0">:$a)>;
// string-prop-default-group
def NX48 : D_Op<"nx48", "($a^)? attr-dict">, Arguments<(ins DefaultValuedProp<StringProp, "\"\"">:$a)>;
// optional-prop-group
def NX49 : D_Op<"nx49", "($a^)? attr-dict">, Arguments<(ins OptionalProp<I64Prop>:$a)>;
// oilist-default-property
def NX52 : D_Op<"nx52", "oilist(`a` $a) attr-dict">, Arguments<(ins DefaultValuedProp<I64Prop, "0">:$a)>;
// oilist-region
def NX53 : D_Op<"nx53", "oilist(`a` $r) attr-dict"> { let regions = (region AnyRegion:$r); }
// oilist-group
def NX54 : D_Op<"nx54", "oilist(`a` ($a^)?) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// oilist-literal-mark
def NX55 : D_Op<"nx55", "oilist(`,` $a) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// oilist-custom
def NX56 : D_Op<"nx56", "oilist(`a` custom<Foo>($a)) attr-dict">, Arguments<(ins OptionalAttr<I32Attr>:$a)>;
// oilist-functional
def NX57 : D_Op<"nx57", "oilist(`a` $x `:` functional-type($x, $y)) attr-dict">, Arguments<(ins Variadic<AnyType>:$x)>, Results<(outs Variadic<AnyType>:$y)>;
// oilist-attr-dict
def NX58 : D_Op<"nx58", "oilist(`a` attr-dict)">;
// whitespace-only-group
def NX59 : D_Op<"nx59", "(`` $x^)? attr-dict">, Arguments<(ins Optional<I32>:$x)>;
// group-starts-with-region
def NX60 : D_Op<"nx60", "($r^)? attr-dict-with-keyword"> { let regions = (region AnyRegion:$r); }
// multiline-string-literal
def NX62 : D_Op<"nx62", "`a.b.c` attr-dict">;
// uppercase-literal
def NX63 : D_Op<"nx63", "`ABC1` attr-dict">;
// type-list-after
def NX66 : D_Op<"nx66", "$x attr-dict `:` functional-type(operands, $y)">, Arguments<(ins AnyType:$x)>, Results<(outs AnyType:$y)>;
// type-of-variadic-region-group
def NX68 : D_Op<"nx68", "type($x) $x attr-dict">, Arguments<(ins AnyType:$x)>;
// struct-with-custom
def NX73 : D_Type<"NX73", "nx73"> { let parameters = (ins "int":$a, "int":$b); let assemblyFormat = "`<` struct(custom<F>($a), $b) `>`"; }
// attribute-as-a-parameter
def NX72Inner : D_Attr<"NX72Inner", "nx72_inner"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $a `>`"; }
def NX72 : D_Type<"NX72", "nx72"> { let parameters = (ins NX72Inner:$a, "int":$b); let assemblyFormat = "`<` $a `,` $b `>`"; }
// operation-name
def NX74 : D_Plain<"nx-74_v1">;
