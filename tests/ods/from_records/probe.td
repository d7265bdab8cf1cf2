// A dialect with everything that properties and groups of results can say.
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/Properties.td"

def Probe_Dialect : Dialect {
  let name = "probe";
  let cppNamespace = "::probe"; let useDefaultAttributePrinterParser = 1;
}
class Probe_Op<string mnemonic, list<Trait> traits = []> : Op<Probe_Dialect, mnemonic, traits>;

def Probe_Color : I32Enum<"Color", "a colour", [I32EnumCase<"Red", 0, "red">, I32EnumCase<"Green", 5, "green">]> {
  let cppNamespace = "::probe";
}
def Probe_Mode : I32BitEnum<"Mode", "modes", [
    I32BitEnumCaseNone<"None", "none">, I32BitEnumCaseBit<"A", 0, "a">, I32BitEnumCaseBit<"B", 1, "b">]> {
  let cppNamespace = "::probe";
  let separator = ", ";
}
// -- properties
def Positive : ConfinedProp<I64Prop, CPred<"$_self >= 0">, "non-negative int64_t">;

def IntsOp : Probe_Op<"ints"> {
  let arguments = (ins I64Prop:$a, I32Prop:$b, OptionalProp<I64Prop>:$c, DefaultValuedProp<I64Prop, "7">:$d);
  let assemblyFormat = "$a `,` $b (`c` $c^)? (`d` $d^)? prop-dict attr-dict";
}
def BareOp : Probe_Op<"bare"> {
  let arguments = (ins OptionalProp<I64Prop>:$a, OptionalProp<StringProp>:$b, OptionalProp<BoolProp>:$c,
    OptionalProp<UnitProp>:$d);
  let assemblyFormat = "$a `,` $b `,` $c `,` $d prop-dict attr-dict";
}
def DictOp : Probe_Op<"dict"> {
  let arguments = (ins I64Prop:$a, OptionalProp<I64Prop>:$b, StringProp:$c, BoolProp:$d, UnitProp:$e,
    DefaultValuedProp<StringProp, "\"x\"">:$f, OptionalProp<StringProp>:$g);
  let assemblyFormat = "prop-dict attr-dict";
}
def MoreOp : Probe_Op<"more"> {
  let arguments = (ins I64Prop:$a, OptionalProp<I64Prop>:$b, StringProp:$c, BoolProp:$d, UnitProp:$e,
    DefaultValuedProp<StringProp, "\"x\"">:$f, OptionalProp<StringProp>:$g);
  let assemblyFormat = "attr-dict";
}
def ListsOp : Probe_Op<"lists"> {
  let arguments = (ins ArrayProp<I64Prop>:$a, IntArrayProp<I32Prop>:$b, ArrayProp<StringProp>:$c,
    OptionalProp<ArrayProp<I64Prop>>:$d, ArrayProp<OptionalProp<I64Prop>>:$e);
  let assemblyFormat = "$a `,` $b `,` $c `,` $d `,` $e attr-dict";
}
def NestedOp : Probe_Op<"nested"> {
  let arguments = (ins OptionalProp<OptionalProp<I64Prop>>:$a, OptionalProp<I64Prop, 0>:$b,
    ArrayProp<ArrayProp<I64Prop>>:$c);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict";
}
def EnumsOp : Probe_Op<"enums"> {
  let arguments = (ins EnumProp<Probe_Color>:$a, OptionalProp<EnumProp<Probe_Color>>:$b,
    DefaultValuedProp<EnumProp<Probe_Mode>, "::probe::Mode::None">:$c, NamedEnumProp<Probe_Color, "paint">:$d);
  let assemblyFormat = "$a `,` (`b` $b^ `,`)? (`c` $c^ `,`)? $d attr-dict";
}
def GroupOp : Probe_Op<"group"> {
  let arguments = (ins OptionalProp<I64Prop>:$a, UnitProp:$b, DefaultValuedProp<BoolProp, "false">:$c,
    DefaultValuedProp<IntArrayProp<I64Prop>, "::llvm::ArrayRef<int64_t>{}", "::llvm::SmallVector<int64_t>{}">:$d);
  let assemblyFormat = "($a^ `x`)? (`flag` $b^)? (`c` $c^)? (`d` $d^)? attr-dict";
}
def ConfinedOp : Probe_Op<"confined"> {
  let arguments = (ins Positive:$a, OptionalProp<Positive>:$b);
  let assemblyFormat = "$a (`b` $b^)? attr-dict";
}

def Probe_Flags : I32BitEnum<"Flags", "flags", [
    I32BitEnumCaseBit<"X", 0, "x">, I32BitEnumCaseBit<"Y", 1, "y">]> {
  let cppNamespace = "::probe";
}
def Probe_ColorAttr : EnumAttr<Probe_Dialect, Probe_Color, "color"> { let assemblyFormat = "`<` $value `>`"; }
def Probe_Attributed : EnumPropWithAttrForm<Probe_Color, Probe_ColorAttr>;
def Probe_Stored : EnumPropWithAttrForm<Probe_Color, Probe_ColorAttr> { let storeInCustomAttribute = 1; }
def UnitsOp : Probe_Op<"units"> {
  let arguments = (ins UnitProp:$a, UnitProp:$b, UnitProp:$c);
  let assemblyFormat = "$a ($b^ `x`)? (`y` $c^)? attr-dict";
}
def FlagsOp : Probe_Op<"flags"> {
  let arguments = (ins EnumProp<Probe_Flags>:$a, NamedEnumProp<Probe_Flags, "paint">:$b,
    ArrayProp<EnumProp<Probe_Flags>>:$c, OptionalProp<NamedEnumProp<Probe_Color, "tint">>:$d);
  let assemblyFormat = "$a $b $c (`d` $d^)? attr-dict";
}
def FormedOp : Probe_Op<"formed"> {
  let arguments = (ins Probe_Attributed:$a, Probe_Stored:$b, OptionalProp<Probe_Stored>:$c);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict";
}
def AnchorOp : Probe_Op<"anchor"> {
  let arguments = (ins DefaultValuedProp<StringProp, "\"x\"">:$a, OptionalProp<StringProp>:$b,
    OptionalProp<IntArrayProp<I64Prop>>:$c, DefaultValuedProp<OptionalProp<I64Prop, 0>, "3">:$d);
  let assemblyFormat = "($a^)? (`,` $b^)? ($c^ `c`)? (`d` $d^)? attr-dict";
}
// -- groups of results
def SplitOp : Probe_Op<"split", [AttrSizedResultSegments]> {
  let results = (outs Variadic<I32>:$first, Optional<I1>:$second, Variadic<AnyType>:$third);
  let assemblyFormat = "attr-dict `:` (`one` type($first)^)? (`two` type($second)^)? (`three` `(` type($third)^ `)`)?";
}
def BothOp : Probe_Op<"both", [AttrSizedResultSegments, AttrSizedOperandSegments]> {
  let arguments = (ins Variadic<AnyType>:$x, Optional<I32>:$y, Variadic<AnyType>:$z);
  let results = (outs Variadic<AnyType>:$first, Optional<I1>:$second);
  let assemblyFormat = [{
    ($x^ `:` type($x))? (`y` $y^)? (`z` `(` $z^ `:` type($z) `)`)? attr-dict `->` `(` type($first) `)` (`and` type($second)^)?
  }];
}
def FunctionalOp : Probe_Op<"functional", [AttrSizedResultSegments]> {
  let arguments = (ins Variadic<AnyType>:$x);
  let results = (outs Variadic<AnyType>:$first, Variadic<I1>:$second);
  let assemblyFormat = "$x attr-dict `:` functional-type($x, $first) `and` `(` type($second) `)`";
}
def FixedOp : Probe_Op<"fixed", [AttrSizedResultSegments]> {
  let results = (outs Variadic<I32>:$first, Index:$second, Variadic<I1>:$third);
  let assemblyFormat = "attr-dict `:` `[` type($first) `]` `[` type($third) `]`";
}
