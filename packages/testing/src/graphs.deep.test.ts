import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { GradientTape } from '@eagre/autodiff';
import { constant, type Tensor, withBackend } from '@eagre/core';
import { sizeOf } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkGradients } from './grad-check.ts';
import { generator } from './values.ts';

// Random graphs of ops on broadcasting shapes: native kernels agree with the reference, and the tape with differences.

interface Step {
  readonly op: number;
  readonly a: number;
  readonly b: number;
  readonly n: number;
}
interface Graph {
  readonly shapes: readonly (readonly number[])[];
  readonly steps: readonly Step[];
  readonly seed: number;
}

type Build = (a: Tensor, b: Tensor, n: number) => Tensor;

const axisOf = (x: Tensor, n: number): number => (x.rank === 0 ? 0 : n % x.rank);

// Smooth, and bounded so that ten in a row neither overflow nor lose all digits. What does not fit (shapes, ranks) falls back.
const ops: readonly (readonly [name: string, build: Build])[] = [
  ['add', (a, b) => a.add(b)],
  ['sub', (a, b) => a.sub(b)],
  ['mul', (a, b) => a.mul(b)],
  ['div', (a, b) => a.div(b.square().add(1))],
  ['tanh', (a) => a.tanh()],
  ['sigmoid', (a) => a.sigmoid()],
  ['sin', (a) => a.sin()],
  ['softplus', (a) => a.softplus()],
  ['erf', (a) => a.erf()],
  ['exp', (a) => a.tanh().exp()],
  ['log', (a) => a.square().add(1).log()],
  ['sqrt', (a) => a.square().add(0.5).sqrt()],
  ['softmax', (a, _, n) => (a.rank === 0 ? a : a.softmax(axisOf(a, n)))],
  ['sum', (a, _, n) => (a.rank === 0 ? a : a.sum(axisOf(a, n), { keepdims: n % 2 === 0 }).tanh())],
  ['mean', (a, _, n) => (a.rank === 0 || a.size === 0 ? a : a.mean(axisOf(a, n), { keepdims: n % 2 === 1 }))],
  ['logSumExp', (a, _, n) => (a.rank === 0 || a.size === 0 ? a : a.logSumExp(axisOf(a, n)))],
  ['cumsum', (a, _, n) => (a.rank === 0 ? a : a.cumsum(axisOf(a, n), { reverse: n % 2 === 0 }).tanh())],
  ['transpose', (a) => a.transpose()],
  ['reverse', (a, _, n) => (a.rank === 0 ? a : a.reverse(axisOf(a, n)))],
  ['reshape', (a) => a.flatten()],
  ['expandDims', (a, _, n) => (a.rank > 4 ? a : a.expandDims(n % (a.rank + 1)))],
  ['tile', (a, _, n) => (a.size > 200 ? a : a.tile(a.shape.map((_d, i) => (i === axisOf(a, n) ? 2 : 1))))],
  [
    'pad',
    (a, _, n) =>
      a.size > 200
        ? a
        : a.pad(a.shape.map((_d, i): [number, number] => (i === axisOf(a, n) ? [1, 2] : [0, 0]))),
  ],
  [
    'slice',
    (a, _, n) =>
      a.rank === 0 || (a.shape[axisOf(a, n)] as number) < 2
        ? a
        : a.slice(a.shape.map((_d, i) => (i === axisOf(a, n) ? 1 : 0))),
  ],
  ['at', (a) => (a.rank === 0 ? a : a.at('::-2'))],
  [
    'gather',
    (a, _, n) =>
      a.rank === 0 || a.shape[axisOf(a, n)] === 0 ? a : a.gather(Int32Array.of(0, 0), axisOf(a, n)),
  ],
  [
    'matmul',
    (a, b) =>
      a.rank === 2 && b.rank === 2 ? a.matmul(b, { transposeB: a.shape[1] === b.shape[1] }).tanh() : a,
  ],
  ['where', (a, b) => a.greater(100).where(a, b)],
  ['concat', (a, _, n) => (a.rank === 0 || a.size > 200 ? a : a.roll(1, axisOf(a, n)))],
  [
    'variance',
    (a, _, n) => (a.rank === 0 || a.size === 0 ? a : a.variance(axisOf(a, n), { keepdims: true })),
  ],
];

/** Runs a graph; a step whose arguments do not fit takes its first argument. */
function evaluate(graph: Graph, inputs: readonly Tensor[]): Tensor {
  const values = [...inputs];
  for (const { op, a, b, n } of graph.steps) {
    const x = values[a % values.length] as Tensor;
    const y = values[b % values.length] as Tensor;
    const [, build] = ops[op % ops.length] as (typeof ops)[number];
    let z: Tensor;
    try {
      z = build(x, y, n);
    } catch (error) {
      if ((error as { code?: string }).code !== 'INVALID_ARGUMENT') throw error;
      z = x.tanh();
    }
    values.push(z.size > 500 || z.rank > 6 ? x.sin() : z);
  }
  // All of the last few count, so that no branch is left out.
  return values
    .slice(-4)
    .map((v) => v.sum())
    .reduce((p, q) => p.add(q));
}

function inputsOf(graph: Graph, dtype: 'float32' | 'float64'): Tensor[] {
  const random = generator(graph.seed);
  return graph.shapes.map((shape) =>
    constant(
      Array.from({ length: sizeOf(shape) }, () => Math.fround(random() * 3 - 1.5)),
      dtype,
      { shape },
    ),
  );
}

const dimension = fc.constantFrom(0, 1, 1, 2, 3, 3, 4, 17);
const graphs: fc.Arbitrary<Graph> = fc.record({
  shapes: fc.array(fc.array(dimension, { maxLength: 4 }), { minLength: 2, maxLength: 4 }),
  steps: fc.array(fc.record({ op: fc.nat(999), a: fc.nat(99), b: fc.nat(99), n: fc.nat(9) }), {
    minLength: 4,
    maxLength: 12,
  }),
  seed: fc.nat(99999),
});

const settings = {
  numRuns: Number(process.env.EAGRE_GRAPHS ?? 150),
  ...(process.env.EAGRE_SEED === undefined ? {} : { seed: Number(process.env.EAGRE_SEED) }),
} as const;

/** The value and the gradients of a graph, as numbers. */
function outcome(graph: Graph, dtype: 'float32' | 'float64'): number[][] {
  const inputs = inputsOf(graph, dtype);
  using tape = new GradientTape();
  tape.watch(inputs);
  const y = evaluate(graph, inputs);
  const grads = tape.gradient(y, inputs, { unconnectedGradients: 'zero' });
  return [y, ...grads].map((t) => Array.from(t.data() as Float64Array));
}

function expectClose(got: readonly number[][], expected: readonly number[][], tolerance: number): void {
  expect(got.map((g) => g.length)).toEqual(expected.map((e) => e.length));
  got.forEach((list, i) => {
    const reference = expected[i] as number[];
    const scale = Math.max(1, ...reference.map(Math.abs));
    list.forEach((v, k) => expect(Math.abs(v - (reference[k] as number)) / scale).toBeLessThan(tolerance));
  });
}

it.each([
  ['float64', 1e-9],
  ['float32', 2e-3],
] as const)('native kernels agree with the reference in %s', (dtype, tolerance) => {
  fc.assert(
    fc.property(graphs, (graph) => {
      const expected = withBackend('js', () => outcome(graph, 'float64'));
      const got = withBackend('native', () => outcome(graph, dtype));
      expectClose(got, expected, tolerance);
    }),
    settings,
  );
});

it.each(['js', 'native', 'remote'])(
  'a traced graph, fused and planned, equals the eager one on %s',
  (backend) => {
    fc.assert(
      fc.property(graphs, fc.constantFrom('float32' as const, 'float64' as const), (graph, dtype) => {
        withBackend(backend, () => {
          const gradients = (...inputs: Tensor[]): Tensor[] => {
            const tape = new GradientTape();
            tape.watch(inputs);
            const y = evaluate(graph, inputs);
            return [y, ...tape.gradient(y, inputs, { unconnectedGradients: 'zero' })];
          };
          const inputs = inputsOf(graph, dtype);
          const traced = tfFunction(gradients);
          const values = (list: readonly Tensor[]): number[][] =>
            list.map((t) => Array.from(t.data(), Number));
          const expected = values(gradients(...inputs));
          for (const got of [values(traced(...inputs)), values(traced(...inputs))]) {
            if (backend === 'js') expect(got).toEqual(expected);
            // A transposition that became part of a product lets the native kernel add in another order.
            else expectClose(got, expected, dtype === 'float32' ? 1e-4 : 1e-12);
          }
        });
      }),
      settings,
    );
  },
);

it('the tape agrees with differences, to second order', () => {
  fc.assert(
    fc.property(graphs, (graph) => {
      withBackend('native', () =>
        checkGradients((inputs) => [evaluate(graph, inputs)], inputsOf(graph, 'float64'), {
          order: 2,
          tolerance: 1e-4,
        }),
      );
    }),
    settings,
  );
});
