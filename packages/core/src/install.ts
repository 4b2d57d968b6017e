// Ops become methods here, once all classes and functions exist.
import { installMethods } from './methods.ts';
import * as activations from './ops/activation.ts';
import * as array from './ops/array.ts';
import * as linalg from './ops/linalg.ts';
import * as math from './ops/math.ts';
import * as reduce from './ops/reduce.ts';
import { Tensor } from './tensor.ts';
import { Variable } from './variable.ts';

const files = [activations, array, linalg, math, reduce];
for (const functions of files) installMethods([Tensor.prototype, Variable.prototype], functions);

/** @internal The names of the ops that are methods of tensors. */
export const methodNames: readonly string[] = files.flatMap((functions) =>
  Object.entries(functions).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
);
