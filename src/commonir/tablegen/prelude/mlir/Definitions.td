// Interfaces, definitions of types and attributes, enumerations, and conditions across operands.

#ifndef COMMONIR_PRELUDE_DEFINITIONS
#define COMMONIR_PRELUDE_DEFINITIONS

include "mlir/Attributes.td"

// Interfaces: their names; methods are C++ that dialects call.
class InterfaceTrait<string name> : NativeTrait<"", ""> {
  let trait = name # "::Trait";
  let cppNamespace = "";
  code extraTraitClassDeclaration = "";
}
class OpInterfaceTrait<string name, code verifyBody = [{}], list<Trait> traits = []> : InterfaceTrait<name> {
  code verify = verifyBody;
  bit verifyWithRegions = 0;
  list<Trait> dependentTraits = traits;
}
class InterfaceMethod<string desc, string retTy, string methodName, dag args = (ins), code methodBody = [{}],
                      code defaultImplementation = [{}]> {
  string description = desc;
  string name = methodName;
  string returnType = retTy;
  dag arguments = args;
  code body = methodBody;
  code defaultBody = defaultImplementation;
}
class StaticInterfaceMethod<string desc, string retTy, string methodName, dag args = (ins), code methodBody = [{}],
                            code defaultImplementation = [{}]>
    : InterfaceMethod<desc, retTy, methodName, args, methodBody, defaultImplementation>;
class Interface<string name, list<Interface> baseInterfacesArg = []> {
  string description = "";
  string cppInterfaceName = name;
  string cppNamespace = "";
  list<InterfaceMethod> methods = [];
  code extraClassDeclaration = "";
  code extraSharedClassDeclaration = "";
  code extraClassOf = "";
  list<Interface> baseInterfaces = baseInterfacesArg;
}
class OpInterface<string name, list<Interface> baseInterfaces = []>
    : Interface<name, baseInterfaces>, OpInterfaceTrait<name>;
class AttrInterface<string name, list<Interface> baseInterfaces = []>
    : Interface<name, baseInterfaces>, InterfaceTrait<name>,
      Attr<CPred<"::llvm::isa<" # !if(!empty(cppNamespace), "", cppNamespace # "::") # name # ">($_self)">,
           name # " instance"> {
  let storageType = !if(!empty(cppNamespace), "", cppNamespace # "::") # name;
  let returnType = storageType;
  let convertFromStorage = "$_self";
}
class TypeInterface<string name, list<Interface> baseInterfaces = []>
    : Interface<name, baseInterfaces>, InterfaceTrait<name>,
      Type<CPred<"::llvm::isa<" # !if(!empty(cppNamespace), "", cppNamespace # "::") # name # ">($_self)">,
           name # " instance", !if(!empty(cppNamespace), "", cppNamespace # "::") # name>;
class DeclareInterfaceMethods<list<string> overridenMethods = []> {
  list<string> alwaysOverriddenMethods = overridenMethods;
}
class DeclareOpInterfaceMethods<OpInterface interface, list<string> overridenMethods = []>
    : DeclareInterfaceMethods<overridenMethods>,
      OpInterface<interface.cppInterfaceName, interface.baseInterfaces> {
  let description = interface.description;
  let cppNamespace = interface.cppNamespace;
  let methods = interface.methods;
}
class DeclareAttrInterfaceMethods<AttrInterface interface, list<string> overridenMethods = []>
    : DeclareInterfaceMethods<overridenMethods>,
      AttrInterface<interface.cppInterfaceName, interface.baseInterfaces> {
  let description = interface.description;
  let cppNamespace = interface.cppNamespace;
  let methods = interface.methods;
}
class DeclareTypeInterfaceMethods<TypeInterface interface, list<string> overridenMethods = []>
    : DeclareInterfaceMethods<overridenMethods>,
      TypeInterface<interface.cppInterfaceName, interface.baseInterfaces> {
  let description = interface.description;
  let cppNamespace = interface.cppNamespace;
  let methods = interface.methods;
}

// Types and attributes of dialects.
class AttrOrTypeBuilder<dag parameters, code bodyCode = "", string returnTypeStr = ""> {
  dag dagParams = parameters;
  code body = bodyCode;
  string returnType = returnTypeStr;
  bit hasInferredContextParam = 0;
}
class AttrBuilder<dag parameters, code body = "", string returnType = "">
    : AttrOrTypeBuilder<parameters, body, returnType>;
class TypeBuilder<dag parameters, code body = "", string returnType = "">
    : AttrOrTypeBuilder<parameters, body, returnType>;
let hasInferredContextParam = 1 in {
  class AttrBuilderWithInferredContext<dag parameters, code body = "", string returnType = "">
      : TypeBuilder<parameters, body, returnType>;
  class TypeBuilderWithInferredContext<dag parameters, code body = "", string returnType = "">
      : TypeBuilder<parameters, body, returnType>;
}
class AttrOrTypeDef<string valueType, string name, list<Trait> defTraits, string baseCppClass> {
  string cppBaseClassName = baseCppClass;
  string description = "";
  string storageClass = name # valueType # "Storage";
  string storageNamespace = "detail";
  bit genStorageClass = 1;
  bit hasStorageCustomConstructor = 0;
  dag parameters = (ins);
  list<AttrOrTypeBuilder> builders = ?;
  list<Trait> traits = defTraits;
  string mnemonic = ?;
  string assemblyFormat = ?;
  bit hasCustomAssemblyFormat = 0;
  bit genAccessors = 1;
  bit skipDefaultBuilders = 0;
  bit genVerifyDecl = 0;
  code extraClassDeclaration = [{}];
  code extraClassDefinition = [{}];
  bit genMnemonicAlias = 0;
}
class AttrDef<Dialect dialect, string name, list<Trait> traits = [], string baseCppClass = "::mlir::Attribute">
    : DialectAttr<dialect, CPred<"">, "">, AttrOrTypeDef<"Attr", name, traits, baseCppClass> {
  string cppClassName = name # "Attr";
  string cppType = dialect.cppNamespace # "::" # cppClassName;
  string attrName = dialect.name # "." # mnemonic;
  let storageType = dialect.cppNamespace # "::" # cppClassName;
  let returnType = dialect.cppNamespace # "::" # cppClassName;
  let convertFromStorage = "::llvm::cast<" # cppType # ">($_self)";
  let predicate = CPred<"::llvm::isa<" # cppType # ">($_self)">;
}
class TypeDef<Dialect dialect, string name, list<Trait> traits = [], string baseCppClass = "::mlir::Type">
    : DialectType<dialect, CPred<"">, "", name # "Type">, AttrOrTypeDef<"Type", name, traits, baseCppClass> {
  string cppClassName = name # "Type";
  string cppType = dialect.cppNamespace # "::" # cppClassName;
  string typeName = dialect.name # "." # mnemonic;
  let builderCall = !if(!empty(parameters), "$_builder.getType<" # cppType # ">()", "");
  let predicate = CPred<"::llvm::isa<" # cppType # ">($_self)">;
}
class AttrOrTypeParameter<string type, string desc, string accessorType = ""> {
  code allocator = ?;
  code comparator = ?;
  string cppType = type;
  string cppAccessorType = !if(!empty(accessorType), type, accessorType);
  string cppStorageType = cppType;
  string convertFromStorage = "$_self";
  string summary = desc;
  string syntax = ?;
  string parser = ?;
  string printer = ?;
  string defaultValue = "";
}
class AttrParameter<string type, string desc, string accessorType = "">
    : AttrOrTypeParameter<type, desc, accessorType>;
class TypeParameter<string type, string desc, string accessorType = "">
    : AttrOrTypeParameter<type, desc, accessorType>;
class OptionalParameter<string type, string desc = ""> : AttrOrTypeParameter<type, desc> {
  let defaultValue = cppStorageType # "()";
}
class DefaultValuedParameter<string type, string value, string desc = ""> : AttrOrTypeParameter<type, desc> {
  let defaultValue = value;
}
class StringRefParameter<string desc = "", string value = ""> : AttrOrTypeParameter<"::llvm::StringRef", desc> {
  let allocator = [{$_dst = $_allocator.copyInto($_self);}];
  let printer = [{$_printer.printString($_self);}];
  let cppStorageType = "std::string";
  let defaultValue = value;
}
class APIntParameter<string desc> : AttrOrTypeParameter<"::llvm::APInt", desc> {
  let comparator = "$_lhs.getBitWidth() == $_rhs.getBitWidth() && $_lhs == $_rhs";
}
class APFloatParameter<string desc> : AttrOrTypeParameter<"::llvm::APFloat", desc> {
  let comparator = "$_lhs.bitwiseIsEqual($_rhs)";
}
class ArrayRefParameter<string arrayOf, string desc = "">
    : AttrOrTypeParameter<"::llvm::ArrayRef<" # arrayOf # ">", desc> {
  let allocator = [{$_dst = $_allocator.copyInto($_self);}];
  let cppStorageType = "::llvm::SmallVector<" # arrayOf # ">";
}
class OptionalArrayRefParameter<string arrayOf, string desc = "">
    : OptionalParameter<"::llvm::ArrayRef<" # arrayOf # ">", desc> {
  let allocator = [{$_dst = $_allocator.copyInto($_self);}];
  let cppStorageType = "::llvm::SmallVector<" # arrayOf # ">";
  let comparator = cppType # "($_lhs) == " # cppType # "($_rhs)";
}
class AttributeSelfTypeParameter<string desc, string derivedType = "::mlir::Type", string typeBuilder = "">
    : AttrOrTypeParameter<derivedType, desc> {
  let defaultValue = !if(!and(!empty(typeBuilder), !eq(derivedType, "::mlir::Type")),
                         "::mlir::NoneType::get($_ctxt)", typeBuilder);
}
def TypedAttrInterface : AttrInterface<"TypedAttr"> { let cppNamespace = "::mlir"; }
def ElementsAttrInterface : AttrInterface<"ElementsAttr"> { let cppNamespace = "::mlir"; }
def ShapedTypeInterface : TypeInterface<"ShapedType"> { let cppNamespace = "::mlir"; }

// Conditions across operands and results.
class Rank<string name> : StrFunc<"::llvm::cast<::mlir::ShapedType>($" # name # ".getType()).getRank()">;
class Shape<string name> : StrFunc<"::llvm::cast<::mlir::ShapedType>($" # name # ".getType()).getShape()">;
class ElementCount<string name>
    : StrFunc<"llvm::cast<::mlir::ShapedType>($" # name # ".getType()).getNumElements()">;
class ElementType<string name> : StrFunc<"getElementTypeOrSelf($" # name # ")">;
class AllMatchPred<list<string> values>
    : CPred<!if(!lt(!size(values), 2), "true",
                !foldl("(" # !head(values) # ")", !tail(values), acc, v, acc # " == (" # v # ") && (" # v # ")")
                # " == (" # !head(values) # ")")>;
class AllMatch<list<string> values, string summary> : PredOpTrait<summary, AllMatchPred<values>>;
class AllMatchSameOperatorPred<list<string> names, string operator>
    : AllMatchPred<!foreach(n, names, !subst("$_self", "$" # n, operator))>;
class AllMatchSameOperatorTrait<list<string> names, string operator, string summary>
    : PredOpTrait<"all of {" # !interleave(names, ", ") # "} have same " # summary,
                  AllMatchSameOperatorPred<names, operator>> { list<string> values = names; }
class AllElementCountsMatch<list<string> names>
    : AllMatchSameOperatorTrait<names, ElementCount<"_self">.result, "element count">;
class AllElementTypesMatch<list<string> names>
    : AllMatchSameOperatorTrait<names, ElementType<"_self">.result, "element type">;
class AllRanksMatch<list<string> names> : AllMatchSameOperatorTrait<names, Rank<"_self">.result, "rank">;
class AllShapesMatch<list<string> names> : AllMatchSameOperatorTrait<names, Shape<"_self">.result, "shape">;
class AllTypesMatch<list<string> names> : AllMatchSameOperatorTrait<names, "$_self.getType()", "type">;
class TypesMatchWith<string summary, string lhsArg, string rhsArg, string transform,
                     string comparator = "std::equal_to<>()">
    : PredOpTrait<summary, CPred<comparator # "(" # !subst("$_self", "$" # lhsArg # ".getType()", transform)
                                 # ", $" # rhsArg # ".getType())">> {
  string lhs = lhsArg;
  string rhs = rhsArg;
  string transformer = transform;
}
class TypeIsPred<string name, Type type> : SubstLeaves<"$_self", "$" # name # ".getType()", type.predicate>;
class TypeIs<string name, Type type> : PredOpTrait<"'" # name # "' is " # type.summary, TypeIsPred<name, type>>;

class RangedTypesMatchWith<string summary, string lhsArg, string rhsArg, string transform>
    : TypesMatchWith<summary, lhsArg, rhsArg, transform, "llvm::equal">;
class ElementTypeIsPred<string name, Type type>
    : And<[SubstLeaves<"$_self", "$" # name # ".getType()", IsShapedTypePred>,
           SubstLeaves<"$_self", "getElementTypeOrSelf($" # name # ")", type.predicate>]>;
class ElementTypeIs<string name, Type type>
    : PredOpTrait<"'" # name # "' is " # type.summary, ElementTypeIsPred<name, type>>;
class TCresIsSameAsOpBase<int i, int j>
    : CPred<"$_op.getResult(" # i # ").getType() == $_op.getOperand(" # j # ").getType()">;
class TCresVTEtIsSameAsOpBase<int i, int j>
    : CPred<"getElementTypeOrSelf($_op.getResult(" # i # ")) == getElementTypeOrSelf($_op.getOperand(" # j # "))">;
class TCopVTEtIs<int idx, Type type>
    : And<[CPred<"$_op.getNumOperands() > " # idx>,
           SubstLeaves<"$_self", "$_op.getOperand(" # idx # ").getType()", IsShapedTypePred>,
           SubstLeaves<"$_self", "getElementTypeOrSelf($_op.getOperand(" # idx # "))", type.predicate>]>;

// Enumerations.
class EnumCase<string sym, int intVal, string strVal, int widthVal> {
  string symbol = sym;
  int value = intVal;
  string str = strVal;
  int width = widthVal;
}
class IntEnumAttrCaseBase<I intType, string sym, string strVal, int intVal>
    : EnumCase<sym, intVal, strVal, intType.bitwidth>, SignlessIntegerAttrBase<intType, "case " # strVal> {
  let predicate = CPred<[{
    ::llvm::cast<::mlir::IntegerAttr>($_self).getValue().eq(::llvm::APInt(}] # intType.bitwidth # ", " # intVal
                        # "))">;
}
class I32EnumCase<string sym, int val, string str = sym> : EnumCase<sym, val, str, 32>;
class I64EnumCase<string sym, int val, string str = sym> : EnumCase<sym, val, str, 64>;
class I32EnumAttrCase<string sym, int val, string str = sym> : IntEnumAttrCaseBase<I32, sym, str, val>;
class I64EnumAttrCase<string sym, int val, string str = sym> : IntEnumAttrCaseBase<I64, sym, str, val>;
class EnumInfo<string name, string summaryValue, list<EnumCase> cases, int width> {
  string summary = summaryValue;
  string description = "Enum cases:\n"
                       # !interleave(!foreach(c, cases, "* " # c.str # " (`" # c.symbol # "`)"), "\n");
  string cppNamespace = "";
  string className = name;
  string cppType = cppNamespace # "::" # className;
  list<EnumCase> enumerants = cases;
  int bitwidth = width;
  string underlyingType = "uint" # width # "_t";
  string underlyingToSymbolFnName = "symbolize" # name;
  string stringToSymbolFnName = "symbolize" # name;
  string symbolToStringFnName = "stringify" # name;
  string symbolToStringFnRetType = "::llvm::StringRef";
  string maxEnumValFnName = "getMaxEnumValFor" # name;
}
class EnumAttrInfo<string name, list<EnumCase> cases, SignlessIntegerAttrBase baseClass>
    : EnumInfo<name, baseClass.summary, cases, !cast<I>(baseClass.valueType).bitwidth>,
      Attr<baseClass.predicate, baseClass.summary> {
  bit genSpecializedAttr = 1;
  Attr baseAttrClass = baseClass;
  string specializedAttrClassName = name # "Attr";
  let predicate = !if(genSpecializedAttr,
                      CPred<"::llvm::isa<" # cppNamespace # "::" # specializedAttrClassName # ">($_self)">,
                      baseAttrClass.predicate);
  let storageType = !if(genSpecializedAttr, cppNamespace # "::" # specializedAttrClassName,
                        baseAttrClass.storageType);
  let returnType = !if(genSpecializedAttr, cppNamespace # "::" # className, baseAttrClass.returnType);
  let constBuilderCall = !if(genSpecializedAttr,
                             cppNamespace # "::" # specializedAttrClassName # "::get($_builder.getContext(), $0)",
                             baseAttrClass.constBuilderCall);
  let valueType = baseAttrClass.valueType;
  string parameterParser = ?;
  string parameterPrinter = ?;
}
class DefaultValuedEnumAttr<EnumAttrInfo attr, EnumCase case>
    : DefaultValuedAttr<attr, attr.cppType # "::" # case.symbol>;
class IntEnum<string name, string summary, list<EnumCase> cases, int width>
    : EnumInfo<name,
               !if(!empty(summary),
                   "allowed i" # width # " cases: " # !interleave(!foreach(c, cases, c.value), ", "), summary),
               cases, width>;
class I32Enum<string name, string summary, list<EnumCase> cases> : IntEnum<name, summary, cases, 32>;
class I64Enum<string name, string summary, list<EnumCase> cases> : IntEnum<name, summary, cases, 64>;
class IntEnumAttrBase<I intType, list<IntEnumAttrCaseBase> cases, string summary>
    : SignlessIntegerAttrBase<intType, summary> {
  let predicate = And<[SignlessIntegerAttrBase<intType, summary>.predicate,
                       Or<!foreach(c, cases, c.predicate)>]>;
}
class IntEnumAttr<I intType, string name, string summary, list<IntEnumAttrCaseBase> cases>
    : EnumAttrInfo<name, cases,
                   IntEnumAttrBase<intType, cases,
                                   !if(!empty(summary),
                                       "allowed " # intType.summary # " cases: "
                                       # !interleave(!foreach(c, cases, c.value), ", "),
                                       summary)>>;
class I32EnumAttr<string name, string summary, list<I32EnumAttrCase> cases>
    : IntEnumAttr<I32, name, summary, cases> { let underlyingType = "uint32_t"; }
class I64EnumAttr<string name, string summary, list<I64EnumAttrCase> cases>
    : IntEnumAttr<I64, name, summary, cases> { let underlyingType = "uint64_t"; }
class BitEnumCaseBase<string sym, int val, string str, int width> : EnumCase<sym, val, str, width>;
class BitEnumAttrCaseBase<I intType, string sym, int val, string str = sym>
    : BitEnumCaseBase<sym, val, str, intType.bitwidth>, SignlessIntegerAttrBase<intType, "case " # str>;
class BitEnumCaseBit<string sym, int pos, string str, int width> : BitEnumCaseBase<sym, !shl(1, pos), str, width>;
class BitEnumAttrCaseBit<I intType, string sym, int pos, string str = sym>
    : BitEnumAttrCaseBase<intType, sym, !shl(1, pos), str>;
class I32BitEnumCase<string sym, int val, string str = sym> : BitEnumCaseBase<sym, val, str, 32>;
class I64BitEnumCase<string sym, int val, string str = sym> : BitEnumCaseBase<sym, val, str, 64>;
class I32BitEnumCaseBit<string sym, int pos, string str = sym> : BitEnumCaseBit<sym, pos, str, 32>;
class I64BitEnumCaseBit<string sym, int pos, string str = sym> : BitEnumCaseBit<sym, pos, str, 64>;
class I32BitEnumAttrCase<string sym, int val, string str = sym> : BitEnumAttrCaseBase<I32, sym, val, str>;
class I64BitEnumAttrCase<string sym, int val, string str = sym> : BitEnumAttrCaseBase<I64, sym, val, str>;
class I32BitEnumCaseNone<string sym, string str = sym> : I32BitEnumCase<sym, 0, str>;
class I64BitEnumCaseNone<string sym, string str = sym> : I64BitEnumCase<sym, 0, str>;
class I32BitEnumAttrCaseNone<string sym, string str = sym> : I32BitEnumAttrCase<sym, 0, str>;
class I64BitEnumAttrCaseNone<string sym, string str = sym> : I64BitEnumAttrCase<sym, 0, str>;
class I32BitEnumAttrCaseBit<string sym, int pos, string str = sym> : BitEnumAttrCaseBit<I32, sym, pos, str>;
class I64BitEnumAttrCaseBit<string sym, int pos, string str = sym> : BitEnumAttrCaseBit<I64, sym, pos, str>;
class BitEnumAttrCaseGroup<I intType, string sym, list<BitEnumCaseBase> cases, string str = sym>
    : BitEnumAttrCaseBase<intType, sym, !foldl(0, cases, value, c, !or(value, c.value)), str>;
class I32BitEnumAttrCaseGroup<string sym, list<BitEnumCaseBase> cases, string str = sym>
    : BitEnumAttrCaseGroup<I32, sym, cases, str>;
class I64BitEnumAttrCaseGroup<string sym, list<BitEnumCaseBase> cases, string str = sym>
    : BitEnumAttrCaseGroup<I64, sym, cases, str>;
class BitEnumBase<list<BitEnumCaseBase> cases> {
  int validBits = !foldl(0, cases, value, c, !or(value, c.value));
  string separator = "|";
  bit printBitEnumPrimaryGroups = 0;
  bit printBitEnumQuoted = 0;
}
class BitEnum<string name, string summary, list<BitEnumCaseBase> cases, int width>
    : EnumInfo<name, summary, cases, width>, BitEnumBase<cases> { let symbolToStringFnRetType = "std::string"; }
class I32BitEnum<string name, string summary, list<BitEnumCaseBase> cases> : BitEnum<name, summary, cases, 32>;
class I64BitEnum<string name, string summary, list<BitEnumCaseBase> cases> : BitEnum<name, summary, cases, 64>;
class BitEnumAttrBase<I intType, list<BitEnumCaseBase> cases, string summary>
    : SignlessIntegerAttrBase<intType, summary> {
  let predicate = And<[SignlessIntegerAttrBase<intType, summary>.predicate,
                       CPred<"!(::llvm::cast<::mlir::IntegerAttr>($_self).getValue().getZExtValue() & (~("
                             # !interleave(!foreach(c, cases, c.value # "u"), "|") # ")))">]>;
}
class BitEnumAttr<I intType, string name, string summary, list<BitEnumCaseBase> cases>
    : EnumAttrInfo<name, cases, BitEnumAttrBase<intType, cases, summary>>, BitEnumBase<cases> {
  let symbolToStringFnRetType = "std::string";
  let printBitEnumQuoted = 1;
}
class I32BitEnumAttr<string name, string summary, list<BitEnumCaseBase> cases>
    : BitEnumAttr<I32, name, summary, cases> { let underlyingType = "uint32_t"; }
class I64BitEnumAttr<string name, string summary, list<BitEnumCaseBase> cases>
    : BitEnumAttr<I64, name, summary, cases> { let underlyingType = "uint64_t"; }
class EnumParameter<EnumInfo enumInfo>
    : AttrParameter<enumInfo.cppNamespace # "::" # enumInfo.className, "an enum of type " # enumInfo.className>;
class EnumAttr<Dialect dialect, EnumInfo enumInfo, string name = "", list<Trait> traits = []>
    : AttrDef<dialect, enumInfo.className, traits> {
  let summary = enumInfo.summary;
  let description = enumInfo.description;
  EnumInfo enum = enumInfo;
  let cppNamespace = enumInfo.cppNamespace;
  let constBuilderCall = cppNamespace # "::" # cppClassName # "::get($_builder.getContext(), $0)";
  let returnType = enumInfo.cppNamespace # "::" # enumInfo.className;
  let convertFromStorage = "$_self.getValue()";
  let parameters = (ins EnumParameter<enumInfo>:$value);
  let mnemonic = name;
  let assemblyFormat = "$value";
}

// Effects.
class Resource<string resourceName> { string name = resourceName; }
def DefaultResource : Resource<"::mlir::SideEffects::DefaultResource">;
def AutomaticAllocationScopeResource : Resource<"::mlir::SideEffects::AutomaticAllocationScopeResource">;
class EffectOpInterfaceBase<string name, string baseEffect> : OpInterface<name> {
  string baseEffectName = baseEffect;
  let methods = [InterfaceMethod<
    "", "void", "getEffects",
    (ins "::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<" # baseEffect # ">> &":$effects)>];
}
class EffectRange<bits<1> val> { bits<1> Value = val; }
def FullEffect : EffectRange<1>;
def PartialEffect : EffectRange<0>;
class SideEffect<EffectOpInterfaceBase interface, string effectName, Resource resourceReference, int effectStage,
                 EffectRange range> : OpVariableDecorator {
  string baseEffectName = interface.baseEffectName;
  string interfaceTrait = interface.trait;
  string cppNamespace = interface.cppNamespace;
  string effect = effectName;
  string resource = resourceReference.name;
  int stage = effectStage;
  bit effectOnFullRegion = range.Value;
}
class SideEffectsTraitBase<EffectOpInterfaceBase parentInterface, list<SideEffect> staticEffects>
    : OpInterfaceTrait<""> {
  let trait = parentInterface.trait;
  string cppNamespace = parentInterface.cppNamespace;
  string baseEffectName = parentInterface.baseEffectName;
  list<SideEffect> effects = staticEffects;
}
def MemoryEffectsOpInterface : EffectOpInterfaceBase<"MemoryEffectOpInterface", "::mlir::MemoryEffects::Effect"> {
  let cppNamespace = "::mlir";
}
class MemoryEffect<string effectName, Resource resource, int stage, EffectRange range>
    : SideEffect<MemoryEffectsOpInterface, effectName, resource, stage, range>;
class MemoryEffects<list<MemoryEffect> effects = []> : SideEffectsTraitBase<MemoryEffectsOpInterface, effects>;
class MemAlloc<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Allocate", resource, stage, range>;
class MemFree<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Free", resource, stage, range>;
class MemRead<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Read", resource, stage, range>;
class MemWrite<Resource resource, int stage = 0, EffectRange range = PartialEffect>
    : MemoryEffect<"::mlir::MemoryEffects::Write", resource, stage, range>;
def MemAlloc : MemAlloc<DefaultResource>;
def MemFree : MemFree<DefaultResource>;
def MemRead : MemRead<DefaultResource>;
def MemWrite : MemWrite<DefaultResource>;
def NoMemoryEffect : MemoryEffects<[]>;
def RecursiveMemoryEffects : NativeOpTrait<"HasRecursiveMemoryEffects">;
def AlwaysSpeculatableImplTrait : NativeOpTrait<"AlwaysSpeculatableImplTrait">;
def RecursivelySpeculatableImplTrait : NativeOpTrait<"RecursivelySpeculatableImplTrait">;

// Interfaces of operations that dialects name.
class MlirOpInterface<string name> : OpInterface<name> { let cppNamespace = "::mlir"; }
foreach name = ["BranchOpInterface", "RegionBranchOpInterface", "SelectLikeOpInterface", "CallOpInterface", "CallableOpInterface", "CastOpInterface",
                "LoopLikeOpInterface", "ViewLikeOpInterface", "FunctionOpInterface",
                "DestinationStyleOpInterface", "RegionKindInterface", "InferShapedTypeOpInterface",
                "ReifyRankedShapedTypeOpInterface", "SymbolUserOpInterface", "OpAsmOpInterface"] in
  def name : MlirOpInterface<name>;
def ConditionallySpeculatable : MlirOpInterface<"ConditionallySpeculatable"> {
  let methods = [InterfaceMethod<"", "::mlir::Speculation::Speculatability", "getSpeculatability", (ins)>];
}
def AlwaysSpeculatable : TraitList<[ConditionallySpeculatable, AlwaysSpeculatableImplTrait]>;
def RecursivelySpeculatable : TraitList<[ConditionallySpeculatable, RecursivelySpeculatableImplTrait]>;
def Pure : TraitList<[AlwaysSpeculatable, NoMemoryEffect]>;
class TypeInferenceMethod<string name, string types, code default = [{}]>
    : StaticInterfaceMethod<"", "::llvm::LogicalResult", name,
                            !con((ins "::mlir::MLIRContext *":$context,
                                      "::std::optional<::mlir::Location>":$location,
                                      "::mlir::ValueRange":$operands, "::mlir::DictionaryAttr":$attributes,
                                      "::mlir::OpaqueProperties":$properties, "::mlir::RegionRange":$regions),
                                 !dag(ins, ["::llvm::SmallVectorImpl<::mlir::Type>&"], [types])),
                            [{}], default>;
def InferTypeOpInterface : MlirOpInterface<"InferTypeOpInterface"> {
  let methods = [TypeInferenceMethod<"inferReturnTypes", "inferredReturnTypes">,
                 TypeInferenceMethod<"refineReturnTypes", "returnTypes", "in MLIR">,
                 StaticInterfaceMethod<"", "bool", "isCompatibleReturnTypes",
                                       (ins "::mlir::TypeRange":$lhs, "::mlir::TypeRange":$rhs), [{}], "in MLIR">];
}
def InferTypeOpAdaptor : TraitList<[DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                    NativeOpTrait<"InferTypeOpAdaptor">]>;
def Symbol : MlirOpInterface<"SymbolOpInterface">;
def SymbolTable : NativeOpTrait<"SymbolTable">;
def RegionBranchTerminatorOpInterface : MlirOpInterface<"RegionBranchTerminatorOpInterface"> {
  let methods = [InterfaceMethod<"", "::mlir::MutableOperandRange", "getMutableSuccessorOperands",
                                 (ins "::mlir::RegionSuccessor":$point)>,
                 InterfaceMethod<"", "void", "getSuccessorRegions",
                                 (ins "::llvm::ArrayRef<::mlir::Attribute>":$operands,
                                      "::llvm::SmallVectorImpl<::mlir::RegionSuccessor> &":$regions),
                                 [{}], "in MLIR">];
}
def ReturnLike : TraitList<[
  DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>,
  NativeOpTrait<"ReturnLike", [], "",
                "::mlir::MutableOperandRange $cppClass::getMutableSuccessorOperands( ::mlir::RegionSuccessor successor) "
                "{ return ::mlir::MutableOperandRange(*this); }">
]>;
def HasOnlyGraphRegion : NativeOpTrait<"HasOnlyGraphRegion">;

#endif
