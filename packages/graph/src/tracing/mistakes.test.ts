// Arguments that control flow and traced functions refuse, and what they say then.
import '@eagre/backend-js';
import { GradientTape, grad } from '@eagre/autodiff';
import { constant, EagreError, ones, Tensor, Variable } from '@eagre/core';
import { expect, test } from 'vitest';
import { graphCallable } from '../compat/graph-callable.ts';
import { caseOf, cond, switchCase } from '../control/cond.ts';
import { foldl, mapFn, scan } from '../control/elements.ts';
import { TensorArray } from '../control/tensor-array.ts';
import { whileLoop } from '../control/while-loop.ts';
import { tfFunction } from '../function/function.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';

const bad = (value: unknown): never => value as never;
const x = ones([3]);
const same = (t: Tensor): Tensor => t;
const array = (): TensorArray => new TensorArray('float32', { size: 3, dynamicSize: true }).unstack(x);
const taped = (fn: (tape: GradientTape, y: Tensor) => unknown) => (): unknown => {
  using tape = new GradientTape();
  tape.watch(x);
  return fn(tape, x.mul(2));
};

const endless: unknown[] = [x];
endless.push(endless);
const round = 'a structure contains itself, or is nested more than 256 levels deep';

const mistakes: Readonly<Record<string, readonly [() => unknown, string]>> = {
  'cond: a value for a branch': [
    () => cond(true, bad(x), () => x),
    'trueFn must be a function, got a tensor of float32 [3]',
  ],
  'cond: a class for a branch': [
    () => cond(true, bad(Tensor), () => x),
    'trueFn must be a function, got the class Tensor',
  ],
  'switchCase: an unknown option': [
    () => switchCase(0, [() => x], bad({ defualt: () => x })),
    "'defualt' is not an option; the options are index, branches, default; did you mean 'default'?",
  ],
  'case: no pair': [() => caseOf([bad(undefined)]), 'pair 0 is undefined, expected [predicate, function]'],
  'case: exclusive as text': [
    () => caseOf([[true, () => x]], { exclusive: bad('no') }),
    "exclusive is 'no', expected true or false",
  ],
  'whileLoop: an unknown option': [
    () => whileLoop(() => false, same, x, bad({ maxIterations: 3 })),
    "'maxIterations' is not an option; the options are cond, body, loopVars, maximumIterations, shapeInvariants; did you mean 'maximumIterations'?",
  ],
  'mapFn: options that are text': [
    () => mapFn(same, x, bad('int32')),
    "only fn and elems can be given by position; write { fnOutputSignature: 'int32' }",
  ],
  'mapFn: a signature of a number': [
    () => mapFn(same, x, { fnOutputSignature: bad([3]) }),
    'fnOutputSignature[0] is 3, expected tf.TensorSpec in arrays and plain objects',
  ],
  'mapFn: a signature of no dtype': [
    () => mapFn(same, x, { fnOutputSignature: bad('float') }),
    "'float' is not a dtype",
  ],
  'foldl: reverse': [() => foldl(same, x, bad({ reverse: true })), "'reverse' is not an option"],
  'scan: reverse as text': [
    () => scan(same, x, { reverse: bad('no') }),
    "reverse is 'no', expected true or false",
  ],
  'TensorArray: more than fit': [
    () => array().write(2 ** 40, 1),
    'elements are too many for JavaScript arrays',
  ],
  'TensorArray: a size that nothing holds': [
    () => new TensorArray('float32', { size: 2 ** 40 }),
    'elements are too many for JavaScript arrays',
  ],
  'TensorArray: a shape of an element that is none': [
    () => new TensorArray('float32', { size: 1, elementShape: bad(2) }),
    'a shape must be an array, got 2',
  ],
  'TensorArray: several indices': [() => array().read([0, 1]), 'expected one index, got 2'],
  'TensorArray: indices of two axes': [
    () => array().gather([[0, 1]]),
    'indices must have one axis, got rank 2',
  ],
  'TensorArray: an unknown option': [
    () => new TensorArray('float32', bad({ length: 3 })),
    "'length' is not an option",
  ],
  'TensorSpec: no shape': [() => new TensorSpec(bad(3)), 'a shape must be an array, got 3'],
  'TensorSpec: a hole in the shape': [
    () => new TensorSpec(bad([2, undefined])),
    'dimensions must be integers of at least 0',
  ],
  'TensorSpec: no dtype': [() => new TensorSpec([2], bad('float')), "'float' is not a dtype"],
  'TensorSpec: of no tensor': [() => TensorSpec.fromTensor(bad(3)), 'expected a tensor, got 3'],
  'tf.function: a signature that is no list': [
    () => tfFunction(same, { inputSignature: bad(new TensorSpec([2])) }),
    'inputSignature must be an array',
  ],
  'tf.function: tensors in the signature': [
    () => tfFunction(same, { inputSignature: [bad(x)] }),
    'inputSignature[0] is a tensor of float32 [3], expected tf.TensorSpec',
  ],
  'tf.function: an unknown option': [
    () => tfFunction(same, bad({ inputsignature: [] })),
    "'inputsignature' is not an option",
  ],
  'tf.function: a name that is none': [
    () => tfFunction(same, { name: bad({}) }),
    'name must be a string, got an object',
  ],
  'tf.function: a class': [
    () => tfFunction(bad(Variable)),
    'what is traced must be a function, got the class Variable',
  ],
  'graphCallable: one spec': [
    () => graphCallable(bad(new TensorSpec([2]))),
    'the list of specs must be an array',
  ],
  'graphCallable: no function': [
    () => graphCallable([])(bad(3)),
    'what writes the graph must be a function, got 3',
  ],
  'grad: no function': [() => grad(bad(undefined))(x), 'grad: fn must be given: write grad(fn)'],
  'tape: an unknown option': [() => new GradientTape(bad({ persist: true })), "'persist' is not an option"],
  'tape: unconnected gradients as Python has them': [
    taped((tape, y) => tape.gradient(y, x, { unconnectedGradients: bad('ZERO') })),
    "unconnectedGradients must be one of 'none', 'zero', got 'ZERO'",
  ],
  'tape: output gradients of a jacobian': [
    taped((tape, y) => tape.jacobian(y, x, bad({ outputGradients: y }))),
    "'outputGradients' is not an option",
  ],
  'cond: a structure that holds itself': [
    () =>
      cond(
        true,
        () => bad(endless),
        () => x,
      ),
    round,
  ],
  'tf.function: an argument that holds itself': [() => tfFunction(same)(bad(endless)), round],
  'tf.function: a result that holds itself': [() => tfFunction(() => endless)(), round],
  'tape: sources that hold themselves': [taped((tape, y) => tape.gradient(y, bad(endless))), round],
  'tape: sources in a set': [
    taped((tape, y) => tape.gradient(y, bad(new Set([x])))),
    'sources must be tensors and variables in arrays, maps and plain objects, got an object of class Set',
  ],
};

test.each(Object.entries(mistakes))('%s', (_, [run, message]) => {
  let caught: unknown;
  try {
    run();
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(EagreError);
  expect((caught as Error).message).toContain(message);
});

test('specs know their shape, dtype and name', () => {
  expect(String(TensorSpec.fromTensor(new Variable([1, 2]), 'v'))).toBe(
    "TensorSpec(shape=[2], dtype=float32, name='v')",
  );
  expect(mapFn((t) => t.mul(2), constant([1, 2]), { fnOutputSignature: 'float32' }).array()).toEqual([2, 4]);
});
