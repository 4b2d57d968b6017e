// Ops become methods here, once all classes and functions exist.
import { installMethods } from './methods.ts';
import * as activations from './ops/activation.ts';
import * as array from './ops/array.ts';
import * as linalg from './ops/linalg.ts';
import * as math from './ops/math.ts';
import * as reduce from './ops/reduce.ts';
import { Tensor } from './tensor.ts';
import { Variable } from './variable.ts';

for (const functions of [activations, array, linalg, math, reduce]) {
  installMethods([Tensor.prototype, Variable.prototype], functions);
}
