// Definitions that mlir-tblgen accepts, because only C++ compilers notice what is wrong; they are refused here.
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

// type-as-region: 'I32' in 'regions' is not a region
def TypeAsRegion : D_Plain<"type_as_region"> { let regions = (region I32:$x); }
// type-as-successor: 'I32' in 'successors' is not a successor
def TypeAsSuccessor : D_Plain<"type_as_successor"> { let successors = (successor I32:$x); }
// upper-case-name: 'Upper Name' is not a name of an operation
def UpperName : D_Plain<"Upper Name">;
// name-with-blank: 'blank name' is not a name of an operation
def BlankName : D_Plain<"blank name">;
// empty-op-name: '' is not a name of an operation
def EmptyName : D_Plain<"">;
// type-same-mnemonic: '!d.t17' is defined twice, also by 'T17'
def T17 : D_Type<"T17", "t17">;
def T17b : D_Type<"T17b", "t17">;
// attr-same-mnemonic: '#d.a4' is defined twice, also by 'A4'
def A4 : D_Attr<"A4", "a4">;
def A4b : D_Attr<"A4b", "a4">;
// enum-duplicate-value: two cases have the number '0'
def E1 : I32EnumAttr<"E1", "", [I32EnumAttrCase<"A", 0>, I32EnumAttrCase<"B", 0>]>;
// enum-duplicate-symbol: two cases have the symbol 'A'
def E2 : I32EnumAttr<"E2", "", [I32EnumAttrCase<"A", 0>, I32EnumAttrCase<"A", 1>]>;
// enum-duplicate-word: two cases have the keyword 'a'
def E3 : I32EnumAttr<"E3", "", [I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "a">]>;
// enum-value-too-big: number 4294967296 of 'A' does not fit in 32 bits
def E10 : I32EnumAttr<"E10", "", [I32EnumAttrCase<"A", 4294967296>]>;
// enum-symbol-not-identifier: 'a b' is not a name in C++
def E13 : I32EnumAttr<"E13", "", [I32EnumAttrCase<"a b", 0>]>;
