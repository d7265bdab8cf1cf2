// Constraints of attributes.

#ifndef COMMONIR_PRELUDE_ATTRIBUTES
#define COMMONIR_PRELUDE_ATTRIBUTES

include "mlir/Types.td"

class Attr<Pred condition, string summary = ""> : AttrConstraint<condition, summary> {
  code storageType = ?;
  code returnType = ?;
  code convertFromStorage = "$_self.getValue()";
  string constBuilderCall = ?;
  string defaultValue = ?;
  Type valueType = ?;
  bit isOptional = 0;
  Attr baseAttr = ?;
  string cppNamespace = "";
  string description = "";
}
class DialectAttr<Dialect d, Pred condition, string summary = ""> : Attr<condition, summary> {
  Dialect dialect = d;
  let cppNamespace = d.cppNamespace;
}

// Defaults, and attributes that may be absent.
class DefaultValuedAttr<Attr attr, string val> : Attr<attr.predicate, attr.summary> {
  let storageType = attr.storageType;
  let returnType = attr.returnType;
  let convertFromStorage = attr.convertFromStorage;
  let constBuilderCall = attr.constBuilderCall;
  let defaultValue = val;
  let valueType = attr.valueType;
  let baseAttr = attr;
}
class DefaultValuedOptionalAttr<Attr attr, string val> : Attr<attr.predicate, attr.summary> {
  let storageType = attr.storageType;
  let returnType = attr.returnType;
  let convertFromStorage = attr.convertFromStorage;
  let constBuilderCall = attr.constBuilderCall;
  let defaultValue = val;
  let valueType = attr.valueType;
  let isOptional = 1;
  let baseAttr = attr;
}
class OptionalAttr<Attr attr> : Attr<attr.predicate, attr.summary> {
  let storageType = attr.storageType;
  let returnType = "::std::optional<" # attr.returnType # ">";
  let convertFromStorage = "$_self ? " # returnType # "(" # attr.convertFromStorage # ") : (::std::nullopt)";
  let valueType = attr.valueType;
  let isOptional = 1;
  let baseAttr = attr;
}
class DefaultValuedStrAttr<Attr attr, string val> : DefaultValuedAttr<attr, "\"" # val # "\"">;
class DefaultValuedOptionalStrAttr<Attr attr, string val> : DefaultValuedOptionalAttr<attr, "\"" # val # "\"">;

// Attributes whose value is the attribute itself.
class PlainAttr<string cpp, string summary, Pred pred = IsaPred<cpp>> : Attr<pred, summary> {
  let storageType = "::mlir::" # cpp;
  let returnType = "::mlir::" # cpp;
  let convertFromStorage = "$_self";
}
def AnyAttr : PlainAttr<"Attribute", "any attribute", CPred<"true">> { let constBuilderCall = "$0"; }
class AnyAttrOf<list<Attr> allowedAttrs, string summary = "", string cppType = "::mlir::Attribute",
                string fromStorage = "$_self">
    : Attr<Or<!foreach(a, allowedAttrs, a.predicate)>,
           !if(!empty(summary), !interleave(!foreach(a, allowedAttrs, a.summary), " or "), summary)> {
  let returnType = cppType;
  let convertFromStorage = fromStorage;
  list<Attr> allowedAttributes = allowedAttrs;
}
def BoolAttr : Attr<IsaPred<"BoolAttr">, "bool attribute"> {
  let storageType = [{ ::mlir::BoolAttr }];
  let returnType = [{ bool }];
  let valueType = I1;
  let constBuilderCall = "$_builder.getBoolAttr($0)";
}

// Numbers.
class TypedAttrBase<Type attrValType, string attrKind, Pred condition, string descr> : Attr<condition, descr> {
  let constBuilderCall = "$_builder.get" # attrKind # "(" # attrValType.builderCall # ", $0)";
  let storageType = "::mlir::" # attrKind;
  let valueType = attrValType;
}
class IntegerAttrPred<string test>
    : And<[IsaPred<"IntegerAttr">, CPred<"::llvm::cast<::mlir::IntegerAttr>($_self).getType()." # test>]>;
def IndexAttr
    : TypedAttrBase<Index, "IntegerAttr",
                    And<[IsaPred<"IntegerAttr">,
                         CPred<"::llvm::isa<::mlir::IndexType>("
                               "::llvm::cast<::mlir::IntegerAttr>($_self).getType())">]>,
                    "index attribute"> { let returnType = [{ ::llvm::APInt }]; }
def APIntAttr : Attr<IsaPred<"IntegerAttr">, "arbitrary integer attribute"> {
  let storageType = [{ ::mlir::IntegerAttr }];
  let returnType = [{ ::mlir::APInt }];
}
class AnyIntegerAttrBase<AnyI attrValType, string descr>
    : TypedAttrBase<attrValType, "IntegerAttr", IntegerAttrPred<"isInteger(" # attrValType.bitwidth # ")">, descr> {
  let returnType = [{ ::llvm::APInt }];
  let constBuilderCall = ?;
}
class SignlessIntegerAttrBase<I attrValType, string descr>
    : TypedAttrBase<attrValType, "IntegerAttr", IntegerAttrPred<"isSignlessInteger(" # attrValType.bitwidth # ")">,
                    descr> { let returnType = [{ ::llvm::APInt }]; }
class TypedSignlessIntegerAttrBase<I attrValType, string retType, string descr>
    : SignlessIntegerAttrBase<attrValType, descr> {
  let returnType = retType;
  let convertFromStorage = "$_self.getValue().getZExtValue()";
}
class SignedIntegerAttrBase<SI attrValType, string descr>
    : TypedAttrBase<attrValType, "IntegerAttr", IntegerAttrPred<"isSignedInteger(" # attrValType.bitwidth # ")">,
                    descr> { let returnType = [{ ::llvm::APInt }]; }
class TypedSignedIntegerAttrBase<SI attrValType, string retType, string descr>
    : SignedIntegerAttrBase<attrValType, descr> {
  let returnType = retType;
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}
class UnsignedIntegerAttrBase<UI attrValType, string descr>
    : TypedAttrBase<attrValType, "IntegerAttr", IntegerAttrPred<"isUnsignedInteger(" # attrValType.bitwidth # ")">,
                    descr> { let returnType = [{ ::llvm::APInt }]; }
class TypedUnsignedIntegerAttrBase<UI attrValType, string retType, string descr>
    : UnsignedIntegerAttrBase<attrValType, descr> {
  let returnType = retType;
  let convertFromStorage = "$_self.getValue().getZExtValue()";
}
foreach w = [1, 8, 16, 32, 64] in {
  defvar cpp = !if(!eq(w, 1), "bool", "int" # w # "_t");
  defvar unsigned = !if(!eq(w, 1), "bool", "uint" # w # "_t");
  def AnyI # w # Attr : AnyIntegerAttrBase<!cast<AnyI>("AnyI" # w), w # "-bit integer attribute">;
  def I # w # Attr
      : TypedSignlessIntegerAttrBase<!cast<I>("I" # w), unsigned, w # "-bit signless integer attribute">;
  def SI # w # Attr : TypedSignedIntegerAttrBase<!cast<SI>("SI" # w), cpp, w # "-bit signed integer attribute">;
  def UI # w # Attr
      : TypedUnsignedIntegerAttrBase<!cast<UI>("UI" # w), unsigned, w # "-bit unsigned integer attribute">;
}
class FloatAttrBase<F attrValType, string descr>
    : TypedAttrBase<attrValType, "FloatAttr",
                    And<[IsaPred<"FloatAttr">,
                         CPred<"::llvm::cast<::mlir::FloatAttr>($_self).getType().isF" # attrValType.bitwidth
                               # "()">]>,
                    descr> { let returnType = [{ ::llvm::APFloat }]; }
def F32Attr : FloatAttrBase<F32, "32-bit float attribute">;
def F64Attr : FloatAttrBase<F64, "64-bit float attribute">;

// Strings, types, units, dictionaries, symbols.
class StringBasedAttr<Pred condition, string descr> : Attr<condition, descr> {
  let constBuilderCall = "$_builder.getStringAttr($0)";
  let storageType = [{ ::mlir::StringAttr }];
  let returnType = [{ ::llvm::StringRef }];
  let valueType = NoneType;
}
def StrAttrPred : IsaPred<"StringAttr">;
def StrAttr : StringBasedAttr<StrAttrPred, "string attribute">;
def SymbolNameAttr : StringBasedAttr<StrAttrPred, "string attribute">;
class TypeAttrBase<string retType, string summary, Pred typePred = CPred<"true">>
    : Attr<And<[IsaPred<"TypeAttr">,
                CPred<"::llvm::isa<" # retType # ">(::llvm::cast<::mlir::TypeAttr>($_self).getValue())">,
                SubstLeaves<"$_self", "::llvm::cast<::mlir::TypeAttr>($_self).getValue()", typePred>]>,
           summary> {
  let storageType = [{ ::mlir::TypeAttr }];
  let returnType = retType;
  let valueType = NoneType;
  let convertFromStorage = "::llvm::cast<" # retType # ">($_self.getValue())";
}
def TypeAttr : TypeAttrBase<"::mlir::Type", "any type attribute"> {
  let constBuilderCall = "::mlir::TypeAttr::get($0)";
}
class TypeAttrOf<Type ty> : TypeAttrBase<ty.cppType, "type attribute of " # ty.summary, ty.predicate> {
  let constBuilderCall = "::mlir::TypeAttr::get($0)";
}
def UnitAttr : Attr<IsaPred<"UnitAttr">, "unit attribute"> {
  let storageType = [{ ::mlir::UnitAttr }];
  let constBuilderCall = "(($0) ? $_builder.getUnitAttr() : nullptr)";
  let convertFromStorage = "$_self != nullptr";
  let returnType = "bool";
  let defaultValue = "false";
  let valueType = NoneType;
  let isOptional = 1;
}
class DictionaryAttrBase<Pred condition, string summary> : PlainAttr<"DictionaryAttr", summary, condition> {
  let storageType = [{ ::mlir::DictionaryAttr }];
  let returnType = [{ ::mlir::DictionaryAttr }];
  let constBuilderCall = "$_builder.getDictionaryAttr($0)";
  let valueType = NoneType;
}
def DictionaryAttr : DictionaryAttrBase<IsaPred<"DictionaryAttr">, "dictionary of named attribute values">;
class SymbolRefAttrBase<string cpp, string summary> : Attr<IsaPred<cpp>, summary> {
  let storageType = " ::mlir::" # cpp # " ";
  let valueType = NoneType;
  let constBuilderCall = "::mlir::SymbolRefAttr::get($_builder.getContext(), $0)";
}
def SymbolRefAttr : SymbolRefAttrBase<"SymbolRefAttr", "symbol reference attribute"> {
  let returnType = [{ ::mlir::SymbolRefAttr }];
  let convertFromStorage = "$_self";
}
def FlatSymbolRefAttr : SymbolRefAttrBase<"FlatSymbolRefAttr", "flat symbol reference attribute"> {
  let returnType = [{ ::llvm::StringRef }];
}
def AffineMapAttr : Attr<IsaPred<"AffineMapAttr">, "AffineMap attribute"> {
  let storageType = [{::mlir::AffineMapAttr }];
  let returnType = [{ ::mlir::AffineMap }];
  let valueType = Index;
  let constBuilderCall = "::mlir::AffineMapAttr::get($0)";
}

// Elements, dense arrays, arrays.
class ElementsAttrBase<Pred condition, string summary> : Attr<condition, summary> {
  let storageType = [{ ::mlir::ElementsAttr }];
  let returnType = [{ ::mlir::ElementsAttr }];
  let convertFromStorage = "$_self";
}
def ElementsAttr : ElementsAttrBase<IsaPred<"ElementsAttr">, "constant vector/tensor attribute">;
class IntElementsAttrBase<Pred condition, string summary>
    : ElementsAttrBase<And<[IsaPred<"DenseIntElementsAttr">, condition]>, summary> {
  let storageType = [{ ::mlir::DenseIntElementsAttr }];
  let returnType = [{ ::mlir::DenseIntElementsAttr }];
}
def AnyIntElementsAttr : IntElementsAttrBase<CPred<"true">, "integer elements attribute">;
class IntElementsAttrOf<int width>
    : IntElementsAttrBase<CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType()."
                                "getElementType().isInteger(" # width # ")">,
                          width # "-bit integer elements attribute">;
class SignlessIntElementsAttr<int width>
    : IntElementsAttrBase<CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType()."
                                "getElementType().isSignlessInteger(" # width # ")">,
                          width # "-bit signless integer elements attribute"> {
  let constBuilderCall = "::llvm::cast<::mlir::DenseIntElementsAttr>(::mlir::DenseElementsAttr::get("
                         "::mlir::RankedTensorType::get({}, $_builder.getIntegerType(" # width # ")), "
                         "::llvm::ArrayRef($0)))";
}
foreach w = [32, 64] in {
  def AnyI # w # ElementsAttr : IntElementsAttrOf<w>;
  def I # w # ElementsAttr : SignlessIntElementsAttr<w>;
}
class FloatElementsAttr<int width>
    : ElementsAttrBase<CPred<"::llvm::isa<::mlir::DenseFPElementsAttr>($_self) &&"
                             "::llvm::cast<::mlir::DenseElementsAttr>($_self).getType()."
                             "getElementType().isF" # width # "()">,
                       width # "-bit float elements attribute"> {
  let storageType = [{ ::mlir::DenseElementsAttr }];
  let returnType = [{ ::mlir::DenseElementsAttr }];
  let constBuilderCall = "::mlir::DenseElementsAttr::get(::mlir::RankedTensorType::get({}, $_builder.getF" # width
                         # "Type()),::llvm::ArrayRef($0))";
}
def F64ElementsAttr : FloatElementsAttr<64>;
class DenseArrayAttrBase<string denseAttrName, string cppType, string summaryName>
    : ElementsAttrBase<IsaPred<denseAttrName>, summaryName # " dense array attribute"> {
  let storageType = "::mlir::" # denseAttrName;
  let returnType = "::llvm::ArrayRef<" # cppType # ">";
  let constBuilderCall = "$_builder.get" # denseAttrName # "($0)";
}
def DenseBoolArrayAttr : DenseArrayAttrBase<"DenseBoolArrayAttr", "bool", "i1">;
foreach w = [8, 16, 32, 64] in
  def DenseI # w # ArrayAttr : DenseArrayAttrBase<"DenseI" # w # "ArrayAttr", "int" # w # "_t", "i" # w>;
def DenseF32ArrayAttr : DenseArrayAttrBase<"DenseF32ArrayAttr", "float", "f32">;
def DenseF64ArrayAttr : DenseArrayAttrBase<"DenseF64ArrayAttr", "double", "f64">;

class ArrayAttrBase<Pred condition, string summary> : Attr<condition, summary> {
  let storageType = [{ ::mlir::ArrayAttr }];
  let returnType = [{ ::mlir::ArrayAttr }];
  let valueType = NoneType;
  let convertFromStorage = "$_self";
  let constBuilderCall = "$_builder.getArrayAttr($0)";
}
def ArrayAttr : ArrayAttrBase<IsaPred<"ArrayAttr">, "array attribute">;
class TypedArrayAttrBase<Attr element, string summary>
    : ArrayAttrBase<And<[IsaPred<"ArrayAttr">,
                         Concat<"::llvm::all_of(::llvm::cast<::mlir::ArrayAttr>($_self), "
                                "[&](::mlir::Attribute attr) { return attr && (",
                                SubstLeaves<"$_self", "attr", element.predicate>, "); })">]>,
                    summary> { Attr elementAttr = element; }
class BuiltArrayAttr<Attr element, string summary, string builder> : TypedArrayAttrBase<element, summary> {
  let constBuilderCall = "$_builder.get" # builder # "($0)";
}
def BoolArrayAttr : BuiltArrayAttr<BoolAttr, "1-bit boolean array attribute", "BoolArrayAttr">;
def I32ArrayAttr : BuiltArrayAttr<I32Attr, "32-bit integer array attribute", "I32ArrayAttr">;
def I64ArrayAttr : BuiltArrayAttr<I64Attr, "64-bit integer array attribute", "I64ArrayAttr">;
def F32ArrayAttr : BuiltArrayAttr<F32Attr, "32-bit float array attribute", "F32ArrayAttr">;
def F64ArrayAttr : BuiltArrayAttr<F64Attr, "64-bit float array attribute", "F64ArrayAttr">;
def StrArrayAttr : BuiltArrayAttr<StrAttr, "string array attribute", "StrArrayAttr">;
def TypeArrayAttr : BuiltArrayAttr<TypeAttr, "type array attribute", "TypeArrayAttr">;
def AffineMapArrayAttr : BuiltArrayAttr<AffineMapAttr, "AffineMap array attribute", "AffineMapArrayAttr">;
def DictArrayAttr : TypedArrayAttrBase<DictionaryAttr, "Array of dictionary attributes">;
def IndexListArrayAttr : TypedArrayAttrBase<I64ArrayAttr, "Array of 64-bit integer array attributes">;
let constBuilderCall = ? in {
  def SymbolRefArrayAttr : TypedArrayAttrBase<SymbolRefAttr, "symbol ref array attribute">;
  def FlatSymbolRefArrayAttr : TypedArrayAttrBase<FlatSymbolRefAttr, "flat symbol ref array attribute">;
}

// Derived, constant and confined attributes.
class DerivedAttr<code ret, code b, code convert = ""> : Attr<CPred<"true">, "derived attribute"> {
  let returnType = ret;
  code body = b;
  let convertFromStorage = convert;
}
class DerivedTypeAttr<code body> : DerivedAttr<"::mlir::Type", body> {
  let convertFromStorage = "::mlir::TypeAttr::get($_self)";
}
class ConfinedAttr<Attr attr, list<AttrConstraint> constraints>
    : Attr<And<!listconcat([attr.predicate], !foreach(c, constraints, c.predicate))>,
           !foldl(attr.summary, constraints, before, c, before # " " # c.summary)> {
  let storageType = attr.storageType;
  let returnType = attr.returnType;
  let convertFromStorage = attr.convertFromStorage;
  let constBuilderCall = attr.constBuilderCall;
  let defaultValue = attr.defaultValue;
  let valueType = attr.valueType;
  let isOptional = attr.isOptional;
  let baseAttr = attr;
  list<AttrConstraint> attrConstraints = constraints;
}
class AllAttrOf<list<AttrConstraint> constraints>
    : AttrConstraint<And<!foreach(c, constraints, c.predicate)>,
                     !interleave(!foreach(c, constraints, c.summary), " and ")>;
class IntConstraint<string test, string summary>
    : AttrConstraint<CPred<"::llvm::cast<::mlir::IntegerAttr>($_self)." # test>, summary>;
class IntNEQValue<int n> : IntConstraint<"getInt() != " # n, "whose value is not " # n>;
class IntMinValue<int n> : IntConstraint<"getInt() >= " # n, "whose minimum value is " # n>;
class IntMaxValue<int n> : IntConstraint<"getInt() <= " # n, "whose maximum value is " # n>;
def IntNonNegative : AttrConstraint<CPred<"!::llvm::cast<::mlir::IntegerAttr>($_self).getValue().isNegative()">,
                                    "whose value is non-negative">;
def IntPositive : IntConstraint<"getValue().isStrictlyPositive()", "whose value is positive">;
def IntPowerOf2 : IntConstraint<"getValue().isPowerOf2()", "whose value is a power of two > 0">;
def IntPositivePowerOf2 : AllAttrOf<[IntPositive, IntPowerOf2]>;
class IntIsOneOf<list<int> values>
    : AttrConstraint<CPred<"::llvm::is_contained({" # !interleave(values, ", ")
                           # "}, ::llvm::cast<::mlir::IntegerAttr>($_self).getInt())">,
                     "whose value is one of {" # !interleave(values, ", ") # "}">;
class CountConstraint<string cpp, string test, int n, string words>
    : AttrConstraint<CPred<"::llvm::cast<::mlir::" # cpp # ">($_self).size() " # test # " " # n>,
                     "with " # words # " " # n # " elements">;
class ArrayMaxCount<int n> : CountConstraint<"ArrayAttr", "<=", n, "at most">;
class ArrayMinCount<int n> : CountConstraint<"ArrayAttr", ">=", n, "at least">;
class ArrayCount<int n> : CountConstraint<"ArrayAttr", "==", n, "exactly">;
class DenseArrayMaxCt<int n> : CountConstraint<"DenseArrayAttr", "<=", n, "at most">;
class DenseArrayMinCt<int n> : CountConstraint<"DenseArrayAttr", ">=", n, "at least">;
class DenseArrayCount<int n> : CountConstraint<"DenseArrayAttr", "==", n, "exactly">;

// Properties: numbers, bools, strings and flags. How C++ stores them is left out.
class Property<string storageTypeParam = "", string desc = "", string interfaceTypeParam = storageTypeParam>
    : PropConstraint<TruePred, desc, interfaceTypeParam> {
  string description = "";
  code storageType = storageTypeParam;
  code convertFromStorage = "$_storage";
  code assignToStorage = "$_storage = $_value";
  Property baseProperty = ?;
  string defaultValue = "";
  string storageTypeValueOverride = "";
}
class IntProp<string storageTypeParam, string desc = ""> : Property<storageTypeParam, desc> {
  let summary = !if(!empty(desc), storageTypeParam, desc);
}
def I32Prop : IntProp<"int32_t">;
def I64Prop : IntProp<"int64_t">;
def BoolProp : IntProp<"bool", "boolean">;
def StringProp : Property<"std::string", "string", "::llvm::StringRef">;
def UnitProp : Property<"bool", "unit property"> { let defaultValue = "false"; }
class DefaultValuedProp<Property p, string default = "", string storageDefault = "">
    : Property<p.storageType, p.summary, p.interfaceType> {
  let defaultValue = default;
  let storageTypeValueOverride = storageDefault;
  let baseProperty = p;
  let predicate = p.predicate;
}
class ConfinedProp<Property p, Pred pred, string newSummary = "">
    : Property<p.storageType, !if(!empty(newSummary), p.summary, newSummary), p.interfaceType> {
  let predicate = !if(!ne(p.predicate, TruePred), And<[p.predicate, pred]>, pred);
  let baseProperty = p;
  let defaultValue = p.defaultValue;
}

#endif
