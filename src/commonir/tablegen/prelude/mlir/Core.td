// What dialects use of MLIR's TableGen files, where no LLVM is installed.
//
// Names, parameters and fields are those that mlir-tblgen reads; C++ that only a compiler of MLIR needs is left out.
// All files of this folder include this one.

#ifndef COMMONIR_PRELUDE_CORE
#define COMMONIR_PRELUDE_CORE

// Markers of dags, and values that carry a string.
def ins;
def outs;
def region;
def successor;
class StrFunc<string r> { string result = r; }
class CArg<string ty, string value = ""> { string type = ty; string defaultValue = value; }
class Deprecated<string reason> { string odsDeprecated = reason; }
class CppDeprecated<string reason> { string odsCppDeprecated = reason; }

// Conditions, as trees with C++ at the leaves.
class Pred;
class CPred<code pred> : Pred { code predExpr = "(" # pred # ")"; }
class PredCombinerKind;
foreach name = ["And", "Or", "Not", "SubstLeaves", "Concat"] in def PredCombiner # name : PredCombinerKind;
class CombinedPred<PredCombinerKind k, list<Pred> c> : Pred { PredCombinerKind kind = k; list<Pred> children = c; }
class And<list<Pred> children> : CombinedPred<PredCombinerAnd, children>;
class Or<list<Pred> children> : CombinedPred<PredCombinerOr, children>;
class Neg<Pred child> : CombinedPred<PredCombinerNot, [child]>;
class SubstLeaves<string pat, string repl, Pred child> : CombinedPred<PredCombinerSubstLeaves, [child]> {
  string pattern = pat;
  string replacement = repl;
}
class Concat<string pre, Pred child, string suf> : CombinedPred<PredCombinerConcat, [child]> {
  string prefix = pre;
  string suffix = suf;
}
defvar TruePred = And<[]>;
defvar False = Or<[]>;

// What a condition is about.
class Constraint<Pred pred, string desc = ""> { Pred predicate = pred; string summary = desc; }
class AttrTypeConstraint<Pred pred, string summary = "", string cppFunctionNameParam = ""> : Constraint<pred, summary> {
  string cppFunctionName = cppFunctionNameParam;
}
class TypeConstraint<Pred predicate, string summary = "", string cppTypeParam = "::mlir::Type",
                     string cppFunctionNameParam = "">
    : AttrTypeConstraint<predicate, summary, cppFunctionNameParam> { string cppType = cppTypeParam; }
class AttrConstraint<Pred predicate, string summary = "", string cppFunctionNameParam = "">
    : AttrTypeConstraint<predicate, summary, cppFunctionNameParam>;
class PropConstraint<Pred predicate, string summary = "", string interfaceTypeParam = "">
    : Constraint<predicate, summary> { code interfaceType = interfaceTypeParam; }
class RegionConstraint<Pred predicate, string summary = ""> : Constraint<predicate, summary>;
class SuccessorConstraint<Pred predicate, string summary = ""> : Constraint<predicate, summary>;

class Dialect {
  string name = ?;
  string summary = ?;
  string description = ?;
  list<string> dependentDialects = [];
  dag discardableAttrs = (ins);
  string cppNamespace = name;
  code extraClassDeclaration = "";
  bit hasConstantMaterializer = 0;
  bit hasNonDefaultDestructor = 0;
  bit hasOperationAttrVerify = 0;
  bit hasRegionArgAttrVerify = 0;
  bit hasRegionResultAttrVerify = 0;
  bit hasOperationInterfaceFallback = 0;
  bit useDefaultAttributePrinterParser = 0;
  bit useDefaultTypePrinterParser = 0;
  bit hasCanonicalizer = 0;
  bit isExtensible = 0;
  bit usePropertiesForAttributes = 1;
}

// Traits.
class Trait;
class TraitList<list<Trait> props> : Trait { list<Trait> traits = props; }
class NativeTrait<string name, string entityType, code extraClassDeclaration = [{}], code extraClassDefinition = [{}]>
    : Trait {
  string trait = name;
  string cppNamespace = "::mlir::" # entityType # "Trait";
  code extraConcreteClassDeclaration = extraClassDeclaration;
  code extraConcreteClassDefinition = extraClassDefinition;
}
class ParamNativeTrait<string prop, string params, string entityType>
    : NativeTrait<prop # "<" # params # ">::Impl", entityType>;
class GenInternalTrait<string prop, string entityType> : Trait {
  string trait = "::mlir::" # entityType # "Trait::" # prop;
}
class PredTrait<string descr, Pred pred> : Trait { string summary = descr; Pred predicate = pred; }

class StructuralOpTrait;
class NativeOpTrait<string name, list<Trait> traits = [], code extraOpDeclaration = [{}], code extraOpDefinition = [{}]>
    : NativeTrait<name, "Op", extraOpDeclaration, extraOpDefinition> { list<Trait> dependentTraits = traits; }
class ParamNativeOpTrait<string prop, string params, list<Trait> traits = []> : ParamNativeTrait<prop, params, "Op"> {
  list<Trait> dependentTraits = traits;
}
class GenInternalOpTrait<string prop, list<Trait> traits = []> : GenInternalTrait<prop, "Op"> {
  list<Trait> dependentTraits = traits;
}
class PredOpTrait<string descr, Pred pred, list<Trait> traits = []> : PredTrait<descr, pred> {
  list<Trait> dependentTraits = traits;
}
class NativeAttrTrait<string name, code declaration = [{}], code definition = [{}]>
    : NativeTrait<name, "Attribute", declaration, definition>;
class NativeTypeTrait<string name, code declaration = [{}], code definition = [{}]>
    : NativeTrait<name, "Type", declaration, definition>;
class ParamNativeAttrTrait<string prop, string params> : ParamNativeTrait<prop, params, "Attribute">;
class ParamNativeTypeTrait<string prop, string params> : ParamNativeTrait<prop, params, "Type">;
class PredAttrTrait<string descr, Pred pred> : PredTrait<descr, pred>;
class PredTypeTrait<string descr, Pred pred> : PredTrait<descr, pred>;
def MutableType : NativeTypeTrait<"IsMutable">;

foreach name = ["AffineScope", "AutomaticAllocationScope", "ResultsBroadcastableShape", "ConstantLike",
                "ResultsAreFloatLike", "SameTypeOperands", "SameOperandsShape", "SameOperandsAndResultShape",
                "SameOperandsElementType", "SameOperandsAndResultElementType", "SameOperandsAndResultType",
                "SameOperandsAndResultRank", "MemRefsNormalizable", "Elementwise"] in
  def name : NativeOpTrait<name>;
foreach name = ["Commutative", "Idempotent", "IsolatedFromAbove", "Terminator"] in def name : NativeOpTrait<"Is" # name>;
def Involution : NativeOpTrait<"IsInvolution">;
foreach name = ["Scalarizable", "Vectorizable", "Tensorizable"] in def name : NativeOpTrait<name, [Elementwise]>;
def ElementwiseMappable : TraitList<[Elementwise, Scalarizable, Vectorizable, Tensorizable]>;
foreach name = ["SingleBlock", "NoTerminator", "AttrSizedOperandSegments", "AttrSizedResultSegments",
                "NoRegionArguments"] in
  def name : NativeOpTrait<name>, StructuralOpTrait;
class SingleBlockImplicitTerminatorImpl<string op>
    : ParamNativeOpTrait<"SingleBlockImplicitTerminator", op, [SingleBlock]>, StructuralOpTrait;
class SingleBlockImplicitTerminator<string op> : TraitList<[SingleBlock, SingleBlockImplicitTerminatorImpl<op>]>;
class HasParent<string op> : ParamNativeOpTrait<"HasParent", op>, StructuralOpTrait;
class ParentOneOf<list<string> ops> : ParamNativeOpTrait<"HasParent", !interleave(ops, ", ")>, StructuralOpTrait;
foreach name = ["FirstAttrDerivedResultType", "SameVariadicOperandSize", "SameVariadicResultSize"] in
  def name : GenInternalOpTrait<name>;
def HasRecursiveMemoryEffects : NativeOpTrait<"HasRecursiveMemoryEffects">;

// Regions and successors.
class Successor<Pred condition, string descr = ""> : SuccessorConstraint<condition, descr>;
def AnySuccessor : Successor<?, "any successor">;
class VariadicSuccessor<Successor successor> : Successor<successor.predicate, successor.summary>;
class Region<Pred condition, string descr = ""> : RegionConstraint<condition, descr>;
def AnyRegion : Region<CPred<"true">, "any region">;
class SizedRegion<int numBlocks>
    : Region<CPred<"::llvm::hasNItems($_self, " # numBlocks # ")">, "region with " # numBlocks # " blocks"> {
  int blocks = numBlocks;
}
class MinSizedRegion<int numBlocks>
    : Region<CPred<"::llvm::hasNItemsOrMore($_self, " # numBlocks # ")">,
             "region with at least " # numBlocks # " blocks">;
class MaxSizedRegion<int numBlocks>
    : Region<CPred<"::llvm::hasNItemsOrLess($_self, " # numBlocks # ")">,
             "region with at most " # numBlocks # " blocks">;
class VariadicRegion<Region region> : Region<region.predicate, region.summary>;

// Operations.
class OpBuilder<dag p, code b = ""> { dag dagParams = p; code body = b; }
class DeprecatedOpBuilder<string reason, dag p, code b = ""> : OpBuilder<p, b>, CppDeprecated<reason>;
class OpVariableDecorator;
class OpVariable<Constraint varConstraint, string desc = "", list<OpVariableDecorator> varDecorators = []> {
  Constraint constraint = varConstraint;
  string summary = desc;
  list<OpVariableDecorator> decorators = varDecorators;
}
class Arg<Constraint constraint, string desc = "", list<OpVariableDecorator> decorators = []>
    : OpVariable<constraint, desc, decorators>;
class Res<Constraint constraint, string desc = "", list<OpVariableDecorator> decorators = []>
    : OpVariable<constraint, desc, decorators>;
class OpDocGroup { string summary; string description; }
class Op<Dialect dialect, string mnemonic, list<Trait> props = []> {
  Dialect opDialect = dialect;
  string opName = mnemonic;
  string cppNamespace = dialect.cppNamespace;
  string summary = "";
  string description = "";
  OpDocGroup opDocGroup = ?;
  dag arguments = (ins);
  dag results = (outs);
  dag regions = (region);
  dag successors = (successor);
  list<OpBuilder> builders = ?;
  bit skipDefaultBuilders = 0;
  string assemblyFormat = ?;
  bit hasCustomAssemblyFormat = 0;
  bit hasVerifier = 0;
  bit hasRegionVerifier = 0;
  bit hasCanonicalizer = 0;
  bit hasCanonicalizeMethod = 0;
  bit hasFolder = 0;
  bit useCustomPropertiesEncoding = 0;
  list<Trait> traits = props;
  code extraClassDeclaration = ?;
  code extraClassDefinition = ?;
}
class Arguments<dag args> { dag arguments = args; }
class Results<dag rets> { dag results = rets; }

#endif
