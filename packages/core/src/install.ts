// Ops become methods here, and methods say what they take, once all classes and functions exist.
import { defineMethods, type MethodArguments } from './arguments.ts';
import { takesArguments } from './class-arguments.ts';
import { installMethods } from './methods.ts';
import * as activations from './ops/activation.ts';
import * as array from './ops/array.ts';
import * as linalg from './ops/linalg.ts';
import * as math from './ops/math.ts';
import * as reduce from './ops/reduce.ts';
import { Tensor } from './tensor.ts';
import { Variable, variableArguments } from './variable.ts';

const files = [activations, array, linalg, math, reduce];
for (const functions of files) installMethods([Tensor.prototype, Variable.prototype], functions);

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
  dispose: {},
  assign: { positional: ['value'] },
  assignAdd: { positional: ['delta'] },
  assignSub: { positional: ['delta'] },
});

/** @internal The names of the ops that are methods of tensors. */
export const methodNames: readonly string[] = files.flatMap((functions) =>
  Object.entries(functions).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
);
