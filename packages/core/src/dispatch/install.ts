// Ops become methods here, and methods say what they take, once all classes and functions exist.
import { defineMethods, type MethodArguments } from '../arguments/arguments.ts';
import { takesArguments } from '../arguments/class-arguments.ts';
import * as array from '../ops/array/array.ts';
import { stack } from '../ops/array/join.ts';
import * as activations from '../ops/elementwise/activation.ts';
import * as math from '../ops/elementwise/math.ts';
import * as linalg from '../ops/linalg/linalg.ts';
import * as reduce from '../ops/reduce/reduce.ts';
import { joining } from '../tensor/convert.ts';
import { installMethods, type OpFunction } from '../tensor/methods.ts';
import { Tensor } from '../tensor/tensor.ts';
import { Variable, variableArguments } from '../tensor/variable.ts';

const files = [activations, array, linalg, math, reduce];
const installed = new Map<string, OpFunction>();
for (const functions of files)
  for (const [name, fn] of installMethods([Tensor.prototype, Variable.prototype], functions))
    installed.set(name, fn);
/** @internal The ops that are methods of tensors, by name. */
export const methods: ReadonlyMap<string, OpFunction> = installed;
/** @internal Their names. */
export const methodNames: readonly string[] = [...methods.keys()];

joining.stack = stack;

const values: Readonly<Record<string, MethodArguments>> = {
  data: {},
  ndarray: {},
  array: {},
  item: { positional: ['as'], required: 0 },
};
defineMethods(Tensor.prototype, 'Tensor', { ...values, strings: {}, read: {} });
takesArguments(variableArguments, Variable);
defineMethods(Variable.prototype, 'Variable', {
  ...values,
  read: {},
  value: {},
  readValue: {},
  dispose: {},
  assign: { positional: ['value'] },
  assignAdd: { positional: ['delta'] },
  assignSub: { positional: ['delta'] },
  scatterAdd: { positional: ['sparseDelta'] },
  scatterSub: { positional: ['sparseDelta'] },
  scatterUpdate: { positional: ['sparseDelta'] },
  scatterMax: { positional: ['sparseDelta'] },
  scatterMin: { positional: ['sparseDelta'] },
  scatterMul: { positional: ['sparseDelta'] },
  scatterDiv: { positional: ['sparseDelta'] },
  batchScatterUpdate: { positional: ['sparseDelta'] },
  scatterNdAdd: { positional: ['indices', 'updates'] },
  scatterNdSub: { positional: ['indices', 'updates'] },
  scatterNdUpdate: { positional: ['indices', 'updates'] },
  sparseRead: { positional: ['indices'] },
});
