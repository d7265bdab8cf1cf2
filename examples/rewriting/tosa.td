// Rules on operations of TOSA, with as much of their definitions as the rules need. The file needs no other file.

def Tosa_AbsOp : Op<"tosa.abs", [NoSideEffect]>, Arguments<(ins AnyTensor:$input1)>, Results<[AnyTensor]>;
def Tosa_AddOp : Op<"tosa.add", [NoSideEffect, Commutative]>,
                 Arguments<(ins AnyTensor:$input1, AnyTensor:$input2)>, Results<[AnyTensor]>;
def Tosa_SubOp : Op<"tosa.sub", [NoSideEffect]>,
                 Arguments<(ins AnyTensor:$input1, AnyTensor:$input2)>, Results<[AnyTensor]>;

// A source may leave out the last arguments of an operation; a result says all of them.
def AbsOfAbs : Pat<(Tosa_AbsOp (Tosa_AbsOp $x)), (Tosa_AbsOp $x)>;

// The same name twice is the same value. This one has two operations, and is tried before rules of one.
def DifferenceAdded : Pat<(Tosa_AddOp (Tosa_SubOp $x, $y), $y), (replaceWithValue $x)>;

// A constraint restricts a rule further than the definition does.
def Doubled : Pat<(Tosa_SubOp (Tosa_AddOp F32Tensor:$x, $x), $x), (replaceWithValue $x)>;
