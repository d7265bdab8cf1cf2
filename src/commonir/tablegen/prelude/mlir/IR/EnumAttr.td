// Enumerations: stored as numbers, as attributes of a dialect, or as properties.

#ifndef PRELUDE_ENUMERATIONS
#define PRELUDE_ENUMERATIONS

include "mlir/prelude/Definitions.td"

// -- cases

class EnumCase<string sym, int intVal, string strVal, int widthVal> {
  int value = intVal; int width = widthVal;
  string str = strVal; string symbol = sym;
}
class IntEnumAttrCaseBase<I intType, string sym, string strVal, int intVal>
    : EnumCase<sym, intVal, strVal, intType.bitwidth>, SignlessIntegerAttrBase<intType, "case " # strVal> {
  let predicate = CPred<"cast<IntegerAttr>($_self).getInt() == " # intVal>;
}
class BitEnumCaseBase<string sym, int val, string str, int width> : EnumCase<sym, val, str, width>;
class BitEnumAttrCaseBase<I intType, string sym, int val, string str = sym>
    : BitEnumCaseBase<sym, val, str, intType.bitwidth>, SignlessIntegerAttrBase<intType, "case " # str>;
// The bits of several cases.
class Prelude_Union<list<BitEnumCaseBase> cases> { int number = !foldl(0, cases, all, each, !or(all, each.value)); }
class BitEnumCaseNone<string sym, string str, int width> : BitEnumCaseBase<sym, 0, str, width>;
class BitEnumCaseBit<string sym, int pos, string str, int width> : BitEnumCaseBase<sym, !shl(1, pos), str, width>;
class BitEnumAttrCaseBit<I intType, string sym, int pos, string str = sym>
    : BitEnumAttrCaseBase<intType, sym, !shl(1, pos), str>;
class BitEnumAttrCaseGroup<I intType, string sym, list<BitEnumCaseBase> cases, string str = sym>
    : BitEnumAttrCaseBase<intType, sym, Prelude_Union<cases>.number, str>;
class BitEnumCaseGroup<string sym, list<BitEnumCaseBase> cases, string str = sym>
    : BitEnumCaseBase<sym, Prelude_Union<cases>.number, str, !if(!empty(cases), 32, !head(cases).width)>;

class I32EnumCase<string sym, int val, string str = sym> : EnumCase<sym, val, str, 32>;
class I32EnumAttrCase<string sym, int val, string str = sym> : IntEnumAttrCaseBase<I32, sym, str, val>;
class I64EnumCase<string sym, int val, string str = sym> : EnumCase<sym, val, str, 64>;
class I64EnumAttrCase<string sym, int val, string str = sym> : IntEnumAttrCaseBase<I64, sym, str, val>;
class I8BitEnumCase<string sym, int val, string str = sym> : BitEnumCaseBase<sym, val, str, 8>;
class I8BitEnumCaseNone<string sym, string str = sym> : BitEnumCaseNone<sym, str, 8>;
class I8BitEnumCaseBit<string sym, int pos, string str = sym> : BitEnumCaseBit<sym, pos, str, 8>;
class I8BitEnumAttrCase<string sym, int val, string str = sym> : BitEnumAttrCaseBase<I8, sym, val, str>;
class I8BitEnumAttrCaseNone<string sym, string str = sym> : I8BitEnumAttrCase<sym, 0, str>;
class I8BitEnumAttrCaseBit<string sym, int pos, string str = sym> : BitEnumAttrCaseBit<I8, sym, pos, str>;
class I8BitEnumAttrCaseGroup<string sym, list<BitEnumAttrCaseBase> cases, string str = sym>
    : BitEnumAttrCaseGroup<I8, sym, cases, str>;
class I16BitEnumCase<string sym, int val, string str = sym> : BitEnumCaseBase<sym, val, str, 16>;
class I16BitEnumCaseNone<string sym, string str = sym> : BitEnumCaseNone<sym, str, 16>;
class I16BitEnumCaseBit<string sym, int pos, string str = sym> : BitEnumCaseBit<sym, pos, str, 16>;
class I16BitEnumAttrCase<string sym, int val, string str = sym> : BitEnumAttrCaseBase<I16, sym, val, str>;
class I16BitEnumAttrCaseNone<string sym, string str = sym> : I16BitEnumAttrCase<sym, 0, str>;
class I16BitEnumAttrCaseBit<string sym, int pos, string str = sym> : BitEnumAttrCaseBit<I16, sym, pos, str>;
class I16BitEnumAttrCaseGroup<string sym, list<BitEnumAttrCaseBase> cases, string str = sym>
    : BitEnumAttrCaseGroup<I16, sym, cases, str>;
class I32BitEnumCase<string sym, int val, string str = sym> : BitEnumCaseBase<sym, val, str, 32>;
class I32BitEnumCaseNone<string sym, string str = sym> : BitEnumCaseNone<sym, str, 32>;
class I32BitEnumCaseBit<string sym, int pos, string str = sym> : BitEnumCaseBit<sym, pos, str, 32>;
class I32BitEnumAttrCase<string sym, int val, string str = sym> : BitEnumAttrCaseBase<I32, sym, val, str>;
class I32BitEnumAttrCaseNone<string sym, string str = sym> : I32BitEnumAttrCase<sym, 0, str>;
class I32BitEnumAttrCaseBit<string sym, int pos, string str = sym> : BitEnumAttrCaseBit<I32, sym, pos, str>;
class I32BitEnumAttrCaseGroup<string sym, list<BitEnumAttrCaseBase> cases, string str = sym>
    : BitEnumAttrCaseGroup<I32, sym, cases, str>;
class I64BitEnumCase<string sym, int val, string str = sym> : BitEnumCaseBase<sym, val, str, 64>;
class I64BitEnumCaseNone<string sym, string str = sym> : BitEnumCaseNone<sym, str, 64>;
class I64BitEnumCaseBit<string sym, int pos, string str = sym> : BitEnumCaseBit<sym, pos, str, 64>;
class I64BitEnumAttrCase<string sym, int val, string str = sym> : BitEnumAttrCaseBase<I64, sym, val, str>;
class I64BitEnumAttrCaseNone<string sym, string str = sym> : I64BitEnumAttrCase<sym, 0, str>;
class I64BitEnumAttrCaseBit<string sym, int pos, string str = sym> : BitEnumAttrCaseBit<I64, sym, pos, str>;
class I64BitEnumAttrCaseGroup<string sym, list<BitEnumAttrCaseBase> cases, string str = sym>
    : BitEnumAttrCaseGroup<I64, sym, cases, str>;

// -- enumerations

class EnumInfo<string name, string summaryValue, list<EnumCase> cases, int width> {
  string className = name; string cppNamespace = ""; string cppType = cppNamespace # "::" # className;
  string summary = summaryValue; string description = "";
  list<EnumCase> enumerants = cases; int bitwidth = width;
  string underlyingType = "uint" # width # "_t";
  string symbolToStringFnName = "stringify" # name; string symbolToStringFnRetType = "";
  string stringToSymbolFnName = "symbolize" # name; string underlyingToSymbolFnName = stringToSymbolFnName;
  string maxEnumValFnName = "";
}
class EnumAttrInfo<string name, list<EnumCase> cases, SignlessIntegerAttrBase baseClass>
    : EnumInfo<name, baseClass.summary, cases, !cast<I>(baseClass.valueType).bitwidth>,
      Attr<baseClass.predicate, baseClass.summary> {
  bit genSpecializedAttr = 1; string specializedAttrClassName = name # "Attr"; Attr baseAttrClass = baseClass;
  string parameterParser = ?; string parameterPrinter = ?;
  let valueType = baseClass.valueType;
  let storageType = !if(genSpecializedAttr, cppNamespace # "::" # specializedAttrClassName, baseAttrClass.storageType);
  let predicate = !if(genSpecializedAttr, Prelude_Isa<storageType>, baseAttrClass.predicate);
}
class Prelude_Allowed<string given, string type, list<EnumCase> cases> {
  string words = !if(!empty(given), "allowed " # type # " cases: " # !interleave(!foreach(c, cases, c.value), ", "),
                     given);
}
class IntEnum<string name, string summary, list<EnumCase> cases, int width>
    : EnumInfo<name, Prelude_Allowed<summary, "i" # width, cases>.words, cases, width>;
class IntEnumAttrBase<I intType, list<IntEnumAttrCaseBase> cases, string summary>
    : SignlessIntegerAttrBase<intType, summary> {
  let predicate = And<[SignlessIntegerAttrBase<intType, summary>.predicate, Or<!foreach(c, cases, c.predicate)>]>;
}
class IntEnumAttr<I intType, string name, string summary, list<IntEnumAttrCaseBase> cases>
    : EnumAttrInfo<name, cases,
                   IntEnumAttrBase<intType, cases, Prelude_Allowed<summary, intType.summary, cases>.words>>;
class BitEnumBase<list<BitEnumCaseBase> cases> {
  int validBits = Prelude_Union<cases>.number;
  string separator = "|"; bit printBitEnumQuoted = 0; bit printBitEnumPrimaryGroups = 0;
}
class BitEnum<string name, string summary, list<BitEnumCaseBase> cases, int width>
    : EnumInfo<name, summary, cases, width>, BitEnumBase<cases>;
class BitEnumAttrBase<I intType, list<BitEnumCaseBase> cases, string summary>
    : SignlessIntegerAttrBase<intType, summary> {
  let predicate = And<[SignlessIntegerAttrBase<intType, summary>.predicate,
                       CPred<"!(cast<IntegerAttr>($_self).getInt() & ~" # Prelude_Union<cases>.number # ")">]>;
}
class BitEnumAttr<I intType, string name, string summary, list<BitEnumCaseBase> cases>
    : EnumAttrInfo<name, cases, BitEnumAttrBase<intType, cases, summary>>, BitEnumBase<cases> {
  let printBitEnumQuoted = 1; code parseSeparatorFn = "";
}
class I32Enum<string name, string summary, list<EnumCase> cases> : IntEnum<name, summary, cases, 32>;
class I32EnumAttr<string name, string summary, list<I32EnumAttrCase> cases> : IntEnumAttr<I32, name, summary, cases>;
class I64Enum<string name, string summary, list<EnumCase> cases> : IntEnum<name, summary, cases, 64>;
class I64EnumAttr<string name, string summary, list<I64EnumAttrCase> cases> : IntEnumAttr<I64, name, summary, cases>;
class I8BitEnum<string name, string summary, list<BitEnumCaseBase> cases> : BitEnum<name, summary, cases, 8>;
class I8BitEnumAttr<string name, string summary, list<BitEnumCaseBase> cases> : BitEnumAttr<I8, name, summary, cases>;
class I16BitEnum<string name, string summary, list<BitEnumCaseBase> cases> : BitEnum<name, summary, cases, 16>;
class I16BitEnumAttr<string name, string summary, list<BitEnumCaseBase> cases> : BitEnumAttr<I16, name, summary, cases>;
class I32BitEnum<string name, string summary, list<BitEnumCaseBase> cases> : BitEnum<name, summary, cases, 32>;
class I32BitEnumAttr<string name, string summary, list<BitEnumCaseBase> cases> : BitEnumAttr<I32, name, summary, cases>;
class I64BitEnum<string name, string summary, list<BitEnumCaseBase> cases> : BitEnum<name, summary, cases, 64>;
class I64BitEnumAttr<string name, string summary, list<BitEnumCaseBase> cases> : BitEnumAttr<I64, name, summary, cases>;
class EnumParameter<EnumInfo enumInfo> : AttrParameter<enumInfo.cppType, "an enum of type " # enumInfo.className>;
class EnumAttr<Dialect dialect, EnumInfo enumInfo, string name = "", list<Trait> traits = []>
    : AttrDef<dialect, enumInfo.className, traits> {
  EnumInfo enum = enumInfo;
  let mnemonic = name; let parameters = (ins EnumParameter<enumInfo>:$value); let assemblyFormat = "$value";
  let summary = enumInfo.summary; let description = enumInfo.description; let cppNamespace = enumInfo.cppNamespace;
}

// -- values and properties

class DefaultValuedEnumAttr<EnumAttrInfo attr, EnumCase case>
    : DefaultValuedAttr<attr, attr.cppType # "::" # case.symbol>;
class ConstantEnumCaseBase<Attr attribute, EnumInfo enumInfo, string case>
    : ConstantAttr<attribute, enumInfo.cppType # "::" # case>;
class ConstantEnumCase<Attr attribute, string case>
    : ConstantEnumCaseBase<attribute, !if(!isa<EnumAttr>(attribute), !cast<EnumAttr>(attribute).enum,
                                          !cast<EnumInfo>(attribute)), case>;
class EnumProp<EnumInfo enumInfo>
    : Property<enumInfo.cppType, enumInfo.summary>, Prelude_Optional { EnumInfo enum = enumInfo; }
class EnumPropWithAttrForm<EnumInfo enumInfo, Attr attributeForm> : EnumProp<enumInfo> {
  bit storeInCustomAttribute = 0; Attr attrForm = attributeForm;
}
class Prelude_Named<string name> { string mnemonic = name; }
class NamedEnumProp<EnumInfo enumInfo, string name> : EnumProp<enumInfo>, Prelude_Named<name>;
class NamedEnumPropWithAttrForm<EnumInfo enumInfo, string name, Attr attributeForm>
    : EnumPropWithAttrForm<enumInfo, attributeForm>, Prelude_Named<name>;

#endif
