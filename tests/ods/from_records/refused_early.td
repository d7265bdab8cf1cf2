// Definitions that are refused when the file is evaluated, by llvm-tblgen too, each with its name and the code here.
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

// variadic-of-variadic
def VariadicVariadic : D_Plain<"variadic_variadic">, Arguments<(ins Variadic<Variadic<I32>>:$a)>;

// variadic-of-optional
def VariadicOptional : D_Plain<"variadic_optional">, Arguments<(ins Variadic<Optional<I32>>:$a)>;

// type-format-without-mnemonic
def T13 : TypeDef<D, "T13"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $a `>`"; }

// type-custom-without-mnemonic
def T15 : TypeDef<D, "T15"> { let hasCustomAssemblyFormat = 1; }

// attr-format-without-mnemonic
def A3 : AttrDef<D, "A3"> { let parameters = (ins "int":$a); let assemblyFormat = "`<` $a `>`"; }

// enum-bit-out-of-range
def E4 : I32BitEnumAttr<"E4", "", [I32BitEnumAttrCaseBit<"A", 32>]>;

// enum-bit-negative
def E5 : I32BitEnumAttr<"E5", "", [I32BitEnumAttrCaseBit<"A", -1>]>;

// enum-bit-not-power
def E6 : I32BitEnumAttr<"E6", "", [I32EnumAttrCase<"A", 3>]>;

// enum-32-case-of-64
def E9 : I32EnumAttr<"E9", "", [I64EnumAttrCase<"A", 0>]>;

// enum-flag-in-plain
def E16 : I32EnumAttr<"E16", "", [I32BitEnumAttrCaseBit<"A", 1>]>;
