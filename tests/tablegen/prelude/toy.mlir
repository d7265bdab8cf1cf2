"toy.func"() <{sym_name = "f", function_type = (tensor<2x3xf64>) -> tensor<3x2xf64>}> ({
^bb0(%a: tensor<2x3xf64>):
  %0 = toy.constant dense<1.0> : tensor<2x3xf64>
  %1 = "toy.add"(%a, %0) : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<*xf64>
  %2 = toy.cast %1 : tensor<*xf64> to tensor<2x3xf64>
  %3 = toy.reshape(%2 : tensor<2x3xf64>) to tensor<3x2xf64>
  %4 = toy.transpose(%3 : tensor<3x2xf64>) to tensor<2x3xf64>
  toy.print %4 in fast|safe : tensor<2x3xf64>
  %5 = toy.generic_call @f(%4) : (tensor<2x3xf64>) -> tensor<3x2xf64>
  toy.return %5 : tensor<3x2xf64>
}) : () -> ()
// -----
%0 = toy.constant dense<1.0> : tensor<2xf32>
// -----
%0 = "toy.constant"() <{value = dense<1.0> : tensor<2xf64>}> : () -> tensor<3xf64>
// -----
func.func @g(%a: tensor<?xf64>) {
  %0 = toy.reshape(%a : tensor<?xf64>) to tensor<?xf64>
  toy.return %a : tensor<?xf64>
}
// -----
func.func @g(%a: tensor<2x2xf64>) {
  %0 = toy.cast %a : tensor<2x2xf64> to tensor<3x2xf64>
  toy.print %a : tensor<2x2xf64>
  "toy.transpose"(%a) {k = 1} : (tensor<2x2xf64>) -> tensor<2xi8>
  return
}
