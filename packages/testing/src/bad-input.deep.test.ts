import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { customGradient, GradientTape, grad } from '@eagre/autodiff';
import { EagreError, listBackends } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, Tensor, Variable, withBackend } from '@eagre/core';
import { getRow, setRow, threads } from '@eagre/core/internal';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type AnyFunction, Arguments, broken, bytesOf, LARGE, parameters, show } from './bad-arguments.ts';
import { fuzz, LONGEST_WORK_MS, workOf } from './fuzz.ts';

// Whatever a public function is given, it returns a value or throws one of Eagre's own errors: no other exception, no crash, no
// hang. Arguments are made by the names of the parameters, so that most calls get past the first check, and some are garbage.

const ROUNDS = 80;

/** Not ops: they take functions, switch something for the whole process, or are classes. */
const skipped = new Set([
  'device',
  'scope',
  'withBackend',
  'nameScope',
  'threads',
  'memory',
  'keep',
  'promote',
  'setLogDevicePlacement',
]);

function callables(): [name: string, fn: AnyFunction][] {
  const { nn, random, debugging } = core;
  const found: [string, AnyFunction][] = [];
  for (const [space, functions] of Object.entries({ tf: core, nn, random, debugging })) {
    for (const [name, fn] of Object.entries(functions)) {
      if (typeof fn !== 'function' || skipped.has(name) || /^class\b/.test(String(fn))) continue;
      if (/(en|dis)ableCheckNumerics/.test(name)) continue;
      found.push([`${space}.${name}`, fn as AnyFunction]);
    }
  }
  return found;
}

// `print` is among the functions.
beforeAll(() => {
  for (const method of ['log', 'error'] as const)
    vi.spyOn(console, method).mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

describe.each(listBackends().map((b) => [b.name] as const))('bad input on %s', (backend) => {
  it('gives a value or one of our errors', () => {
    const functions = callables().map(([name, fn]) => [name, fn, parameters(fn)] as const);
    const findings = withBackend(backend, () =>
      fuzz(functions, ROUNDS, ([name, fn, names], random, found) => {
        const args = new Arguments(random, { textless: true }).call(names, fn.length);
        const where = (): string => `${name}(${args.map(show).join(', ')})`;
        const before = process.cpuUsage();
        let bytes = 0;
        try {
          const result = fn(...args);
          // Devices that compute later tell of errors now.
          core.syncDevices();
          found.values++;
          if (result instanceof Tensor) bytes = bytesOf(result);
          const wrong = broken(result);
          if (wrong !== undefined) found.add(`${name} ${wrong}`, where());
        } catch (error) {
          if (found.isOwn(error, name, where) && error.message.length < 12)
            found.add(`${name} says little`, `${error.message} ${where()}`);
        }
        // What it had computed before it failed may tell of an error too.
        try {
          core.syncDevices();
        } catch (error) {
          found.isOwn(error, name, where);
        }
        const took = workOf(before);
        // Gigabytes of fresh memory take their time.
        if (took > LONGEST_WORK_MS && bytes < LARGE) found.add(`${name} is slow`, `${where()}: ${took} ms`);
      }),
    );
    expect(findings.list(backend).slice(0, 30)).toEqual([]);
    expect(findings.calls).toBeGreaterThan(functions.length);
  });
});

describe.each(listBackends().map((b) => [b.name] as const))('what only the values tell, on %s', (backend) => {
  const on =
    (fn: () => unknown): (() => unknown) =>
    () => {
      withBackend(backend, fn);
      // Devices that compute later tell then.
      core.syncDevices();
    };
  const { nn } = core;

  it('refuses indices and labels outside of their range', () => {
    const rows = (): Tensor => core.ones([2, 3]);
    for (const bad of [3, -1, 2 ** 31 - 1, -(2 ** 31)]) {
      const i = Int32Array.of(0, bad);
      expect(on(() => core.gather(rows(), i, 1))).toThrow(core.OutOfRangeError);
      expect(on(() => core.gatherNd(rows(), constant([[0, bad]], 'int32')))).toThrow(core.OutOfRangeError);
      if (bad > 0) expect(on(() => core.unsortedSegmentSum(rows(), i, 2))).toThrow(core.OutOfRangeError);
      expect(on(() => core.tensorScatterNdAdd([0, 0], constant([[bad]], 'int32'), [1]))).toThrow(
        core.OutOfRangeError,
      );
      expect(on(() => nn.sparseSoftmaxCrossEntropyWithLogits({ labels: i, logits: rows() }))).toThrow(
        core.OutOfRangeError,
      );
      expect(on(() => nn.embeddingLookup(rows(), i))).toThrow(core.OutOfRangeError);
    }
    expect(on(() => core.gather(rows(), BigInt64Array.of(2n ** 62n), 0))).toThrow(core.OutOfRangeError);
    expect(on(() => core.gather(core.ones([0, 3]), [0], 0))).toThrow(EagreError);
  });

  it.each(['int32', 'int64', 'uint8'] as const)(
    'refuses to divide %s by zero, and survives the lowest by -1',
    (dtype) => {
      const some = (...v: number[]): Tensor => constant(v, dtype);
      expect(on(() => core.floorDiv(some(1, 2, 3), some(1, 0, 2)))).toThrow(core.InvalidArgumentError);
      expect(on(() => core.mod(some(1, 2, 3), some(0)))).toThrow(core.InvalidArgumentError);
      expect(on(() => core.floorDiv(core.ones([100_000], dtype), core.zeros([100_000], dtype)))).toThrow(
        EagreError,
      );
      if (dtype === 'uint8') return;
      const low = dtype === 'int32' ? -(2n ** 31n) : -(2n ** 63n);
      withBackend(backend, () => {
        const t = core.fill([9], low, dtype);
        expect(core.floorDiv(t, -1).array()).toEqual(core.neg(t).array());
        expect(Number((core.mod(t, -1).array() as (number | bigint)[])[8])).toBe(0);
        expect(core.pow(some(2, 3), some(3, 2)).array()).toEqual(some(8, 9).array());
        expect(() => core.pow(some(2), some(-1)).data()).toThrow(EagreError);
      });
    },
  );

  it('gives strings to no kernel', () => {
    const words = constant(['a', 'b']);
    expect(on(() => getRow(words, constant(0, 'int32')))).toThrow(core.UnimplementedError);
    expect(on(() => setRow(words, constant(0, 'int32'), constant('c')))).toThrow(core.UnimplementedError);
  });

  it('refuses what no memory holds, and goes on', () => {
    for (const size of [2 ** 40, 2 ** 52, Number.MAX_SAFE_INTEGER]) {
      expect(on(() => core.zeros([size]))).toThrow(EagreError);
      expect(on(() => core.zeros([size, size], 'string'))).toThrow(EagreError);
      expect(on(() => core.broadcastTo(1, [size, 7]))).toThrow(EagreError);
      expect(on(() => core.tile([1], [size]))).toThrow(EagreError);
      expect(on(() => core.pad([1], [[size, 0]]))).toThrow(EagreError);
      expect(on(() => core.range(size))).toThrow(EagreError);
      expect(on(() => core.eye(size))).toThrow(EagreError);
      expect(on(() => core.oneHot([1], size))).toThrow(EagreError);
      expect(on(() => core.random.normal([size]))).toThrow(EagreError);
      expect(on(() => core.linspace(0, 1, size))).toThrow(EagreError);
      expect(on(() => core.sequenceMask([1], size))).toThrow(EagreError);
      expect(on(() => core.repeat([1], size))).toThrow(EagreError);
      expect(on(() => core.repeat([1, 2], [size, 1]))).toThrow(EagreError);
      expect(on(() => core.split([1, 2], size))).toThrow(EagreError);
      expect(
        on(() =>
          nn.conv2dTranspose(core.ones([1, 2, 1, 1]), core.ones([1, 1, 1, 1]), null, { strides: size }),
        ),
      ).toThrow(EagreError);
    }
    expect(withBackend(backend, () => core.ones([3]).sum().item())).toBe(3);
  });

  it('refuses a rank above 8', () => {
    const shape = new Array<number>(9).fill(1);
    for (const fn of [
      () => constant(1, 'float32', { shape }),
      () => core.zeros(shape),
      () => constant({ data: Float32Array.of(1), shape }),
      () => constant([[[[[[[[[1]]]]]]]]]),
      () => core.ones(shape.slice(1)).expandDims(0),
      () => core.ones([1]).reshape(shape),
      () => core.ones([1]).broadcastTo(shape),
      () => core.outer(core.ones([2]), core.ones([2])).reshape(shape),
      () => core.tensordot(core.ones(shape.slice(3)), core.ones(shape.slice(3)), 0),
      () => core.stack([core.ones(shape.slice(1))]),
      () => core.random.uniform(shape),
      () => core.einsum('abcde,fghij->abcdefghij', core.ones([1, 1, 1, 1, 1]), core.ones([1, 1, 1, 1, 1])),
      () => core.ones(shape.slice(1)).diag(),
      () => core.meshgrid(new Array<number[]>(9).fill([1])),
      () => core.gather(core.ones(shape.slice(4)), constant([[[[[0]]]]], 'int32')),
      () => core.oneHot(core.zeros(shape.slice(1), 'int32'), 2),
    ]) {
      expect(on(fn), String(fn)).toThrow(EagreError);
    }
    const self: unknown[] = [];
    self.push(self);
    expect(on(() => constant(self as never))).toThrow(EagreError);
  });
});

it('tapes, variables and scopes refuse bad input', () => {
  const never = (value: unknown): never => value as never;
  const tape = (fn: (t: GradientTape) => unknown) => (): unknown => {
    const t = new GradientTape();
    try {
      return fn(t);
    } finally {
      t.dispose();
    }
  };
  const x = constant([1, 2]);
  const custom = (result: unknown) => (): unknown =>
    grad(customGradient((t: Tensor) => [t.mul(1), () => never(result)]))(x);
  for (const fn of [
    tape((t) => t.watch(never(5))),
    tape((t) => t.watch(constant(1, 'int32'))),
    tape((t) => t.gradient(never(null), never(null))),
    tape((t) => t.gradient(constant(1, 'int32'), x)),
    tape((t) => t.gradient(x, x, { outputGradients: never(5) })),
    tape((t) => t.gradient(x, x, { outputGradients: constant([1]) })),
    tape((t) => t.jacobian(never([]), [])),
    tape((t) => t.batchJacobian(never(undefined), never(undefined))),
    tape((t) => t.batchJacobian(x, constant([1]))),
    () => customGradient((_: core.Tensor) => never(5))(1),
    () => customGradient((_: core.Tensor) => never([5, () => 5]))(1),
    custom(5),
    custom(core.ones([7])),
    custom(constant([1, 2], 'float64')),
    custom([x, x]),
    () => grad(() => never(5))(1),
    () => new Variable(never(null)),
    () => new Variable(1, { dtype: never('x') }),
    () => new Variable(1).assign(never(null)),
    () => new Variable(1).assign('x'),
    () => new Variable([1]).assign([1, 2]),
    () => new Variable([1]).assignAdd([1, 2]),
    () => new Variable([1], { dtype: 'int32' }).assignSub(0.5),
    () => core.device('x'),
    () => core.device(never(null), () => 1),
    () => core.withBackend('x', () => 1),
    () => threads(-5),
    () => threads(NaN),
    () => core.scope(async () => 1),
    () => core.scope(never(5)),
    () => core.keep(never(5)),
    () => core.random.setSeed(1.5),
    () => core.random.Generator.fromSeed(never('x')),
    () => core.random.Generator.fromSeed(1).split(2 ** 33),
  ]) {
    expect(fn, String(fn)).toThrow(EagreError);
  }
  expect(x.array()).toEqual([1, 2]);
});
