// A kernel that gets tensors of other dtypes than it was asked for, or than fit each other, computes or throws an error of ours: it never
// reads or writes outside of them. Run with AddressSanitizer, where each tensor has a buffer of its own.
import '@eagre/backend-native';
import {
  type Backend,
  buildScalarProgram,
  dtypeTraits,
  EagreError,
  encodeScalarProgram,
  hostView,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  kernelAttrs,
  listBackends,
  type NumericDType,
  numericDTypes,
  registerBackend,
  type TensorRef,
  unregisterBackend,
} from '@eagre/backend';
import { withBackend } from '@eagre/core';
import { execute, listOps } from '@eagre/core/internal';
import { expect, it } from 'vitest';
import { materialize } from './values.ts';

const backend = listBackends().find((b) => b.name === 'native') as Backend;

interface Call {
  readonly what: string;
  readonly find: (dtypes: readonly NumericDType[]) => Kernel | undefined;
  readonly inputs: readonly TensorRef[];
  readonly outputs: readonly TensorRef[];
  readonly attrs: KernelAttrs;
}

/** A tensor of a dtype over memory of its own; ones are indices, sizes and labels too. */
function like({ shape, size }: Pick<TensorRef, 'shape' | 'size'>, dtype: NumericDType): TensorRef {
  const storage = backend.allocator.allocate(size * dtypeTraits[dtype].bytes);
  const view = hostView(storage, dtype, size);
  const one = dtype === 'int64' || dtype === 'uint64' ? 1n : 1;
  view.fill(one as never);
  return { dtype, shape: [...shape], size, storage };
}

/** Calls of every kernel, as the samples of all ops make them: the first ones of each. */
function callsOf(): Call[] {
  const calls: Call[] = [];
  const count = new Map<string, number>();
  const noted = (what: string, find: Call['find'], kernel: Kernel): Kernel => {
    return (inputs, outputs, attrs) => {
      const n = count.get(what) ?? 0;
      count.set(what, n + 1);
      if (n < 2) calls.push({ what, find, inputs: [...inputs], outputs: [...outputs], attrs });
      kernel(inputs, outputs, attrs);
    };
  };
  // A backend of its own: what asks for kernels remembers those that it has found.
  const recorder: Backend = {
    name: 'recorder',
    deviceType: 'RECORDER',
    deviceIndex: 0,
    description: 'notes the calls of the kernels of another',
    allocator: backend.allocator,
    kernel(name, dtypes) {
      const found = backend.kernel(name, dtypes);
      return found && noted(name, (of) => backend.kernel(name, of), found);
    },
    elementwise(program) {
      const found = backend.elementwise(program);
      return noted(program.instrs.map(({ op }) => op).join(' '), () => found, found);
    },
    prepare: (plan) => backend.prepare(plan),
    threads: () => backend.threads(),
  };
  registerBackend(recorder, -1);
  try {
    withBackend(recorder.name, () => {
      for (const op of listOps().values())
        for (const sample of op.samples()) execute(op, materialize(sample, 'float32', 1), sample.attrs ?? {});
    });
  } finally {
    unregisterBackend(recorder);
  }
  return calls;
}

/** Calls of the kernels that no op is made of: optimizers, fused reductions, copies and draws of graphs. */
function more(): Call[] {
  const of = (dtype: NumericDType, ...shape: number[]): TensorRef => {
    const size = shape.reduce((a, b) => a * b, 1);
    return like({ shape, size }, dtype);
  };
  const call = (
    name: KernelName,
    inputs: TensorRef[],
    outputs: TensorRef[],
    attrs: KernelAttrs = {},
  ): Call => ({
    what: name,
    find: (dtypes) => backend.kernel(name, dtypes),
    inputs,
    outputs,
    attrs,
  });
  const [x, m, v, grad] = [0, 1, 2, 3].map(() => of('float32', 5)) as [
    TensorRef,
    TensorRef,
    TensorRef,
    TensorRef,
  ];
  const rate = of('float64');
  const square = buildScalarProgram(['float32'], (s, a) => s.mul(a, a));
  const state = of('uint64', 2);
  const means = { program: encodeScalarProgram(square), shape: [4, 8], width: 8, reductions: [1] };
  const rms = { count: 1, rho: 0.9, momentum: 0, epsilon: 1e-7, centered: false };
  const adam = { count: 1, beta1: 0.9, beta2: 0.99, epsilon: 1e-7, weightDecay: 0, amsgrad: false };
  return [
    call('Copy', [x], [m]),
    call('NextDraw', [state], [of('uint64', 2), state]),
    call('MapReduce', [of('float32', 4, 8)], [of('float32', 4)], means),
    call('ApplyGradientDescent', [x, grad, rate], [x], { count: 1 }),
    call('ApplyMomentum', [x, m, grad, rate], [x, m], { count: 1, momentum: 0.9, nesterov: true }),
    call('ApplyRMSProp', [x, v, grad, rate], [x, v], rms),
    call('ApplyAdam', [x, m, v, grad, rate, rate], [x, m, v], adam),
  ];
}

it('every native kernel computes or refuses', () => {
  const calls = [...callsOf(), ...more()];
  const named = new Set(calls.map(({ what }) => what));
  expect(Object.keys(kernelAttrs).filter((name) => !named.has(name))).toEqual([]);
  let computed = 0;
  const refused = new Map<string, number>();
  const attempt = (
    what: string,
    kernel: Kernel,
    given: readonly TensorRef[],
    made: readonly TensorRef[],
    attrs: KernelAttrs,
  ): void => {
    try {
      kernel(given, made, attrs);
      computed++;
    } catch (error) {
      if (!(error instanceof EagreError))
        throw new Error(`${what} of ${given.map((t) => t.dtype)}`, { cause: error });
      refused.set(what, (refused.get(what) ?? 0) + 1);
    }
  };
  for (const { what, find, inputs, outputs, attrs } of calls) {
    const dtypes = inputs.map((t) => t.dtype as NumericDType);
    const own = find(dtypes) as Kernel;
    const fresh = (refs: readonly TensorRef[]): TensorRef[] =>
      refs.map((t) => like(t, t.dtype as NumericDType));
    for (const dtype of numericDTypes) {
      const places = [...inputs.keys(), ...outputs.keys()];
      places.forEach((place, n) => {
        const [given, made] = [fresh(inputs), fresh(outputs)];
        const list = n < inputs.length ? given : made;
        list[place] = like(list[place] as TensorRef, dtype);
        attempt(what, own, given, made, attrs);
        const asked = find(given.map((t) => t.dtype as NumericDType));
        if (asked !== undefined) attempt(what, asked, given, made, attrs);
      });
      // All at once, as a caller does that mistakes the dtype.
      const all = inputs.map((t) => like(t, dtype));
      const asked = find(all.map((t) => t.dtype as NumericDType));
      if (asked !== undefined)
        attempt(
          what,
          asked,
          all,
          outputs.map((t) => like(t, dtype)),
          attrs,
        );
    }
  }
  expect(computed).toBeGreaterThan(1000);
  expect(refused.size).toBeGreaterThan(50);
});
