import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

const golden = JSON.parse(readFileSync(new URL('../golden/tracing.json', import.meta.url), 'utf8')) as {
  readonly counts: Readonly<Record<string, readonly number[]>>;
};

type Sizes = readonly number[];
type Traced = ((...args: never[]) => unknown) & { experimentalGetTracingCount(): number };
const spec = (...shape: (number | null)[]): tf.TensorSpec => new tf.TensorSpec(shape);

/** The number of traces after each call. */
function counts<F extends Traced>(f: F, calls: readonly ((f: F) => unknown)[]): number[] {
  return calls.map((call) => {
    call(f);
    return f.experimentalGetTracingCount();
  });
}
const sizes = (...shapes: readonly Sizes[]): ((f: (x: tf.Tensor) => unknown) => unknown)[] =>
  shapes.map((shape) => (f) => f(tf.ones(shape)));

const twice = (x: tf.Tensor): tf.Tensor => x.mul(2);
const next = (x: tf.Tensor): tf.Tensor => x.add(1);

const scenarios: Readonly<Record<string, () => number[]>> = {
  dtypes_and_shapes: () =>
    counts(
      tf.function((a: tf.Tensor) => a.add(a)),
      [tf.constant(1, 'int32'), tf.constant(1.1), tf.constant([1, 2], 'int32'), tf.constant(7, 'int32')].map(
        (x) => (f) => f(x),
      ),
    ),
  any_length: () =>
    counts(
      tf.function({ inputSignature: [new tf.TensorSpec([null], 'int32')] })((x: tf.Tensor) =>
        tf.where(x.mod(2).equal(0), x.floorDiv(2), x.mul(3).add(1)),
      ),
      [2, 5, 1, 7, 2].map((n) => (f) => f(tf.ones([n], 'int32'))),
    ),
  any_rows_and_columns: () =>
    counts(
      tf.function({ inputSignature: [spec(null, null)] })((x: tf.Tensor) => x.mean()),
      sizes([3, 3], [2, 3], [1, 1], [7, 2]),
    ),
  any_rank: () =>
    counts(
      tf.function({ inputSignature: [new tf.TensorSpec(null)] })((x: tf.Tensor) => x.sum()),
      sizes([2], [3], [2, 3], []),
    ),
  batches_of_two_tensors: () =>
    counts(
      tf.function({ inputSignature: [spec(null, 3), spec(null)] })((x: tf.Tensor, y: tf.Tensor) =>
        x.sum(1).sub(y).square().mean(),
      ),
      [4, 5, 1, 32].map((n) => (f) => f(tf.ones([n, 3]), tf.ones([n]))),
    ),
  numbers: () =>
    counts(
      tf.function((x: tf.Tensor, n: number) => x.mul(n)),
      [1, 2, 1, 3].map((n) => (f) => f(tf.ones([2]), n)),
    ),
  reduced_retracing: () =>
    counts(tf.function(twice, { reduceRetracing: true }), sizes([2], [3], [4], [5], [2])),
  reduced_retracing_of_matrices: () =>
    counts(
      tf.function(twice, { reduceRetracing: true }),
      sizes([2, 2], [2, 3], [2, 9], [3, 9], [7, 8], [2, 2]),
    ),
  reduced_retracing_of_ranks: () =>
    counts(tf.function(twice, { reduceRetracing: true }), sizes([2], [2, 3], [4], [5, 6])),
  concrete_serves_calls: () =>
    counts(tf.function(next), [(f) => f.getConcreteFunction(spec(null)), ...sizes([2], [3], [2, 2])]),
  concrete_of_known_shape: () =>
    counts(tf.function(next), [(f) => f.getConcreteFunction(spec(2)), ...sizes([2], [3], [2])]),
  concrete_of_signature: () =>
    counts(tf.function({ inputSignature: [spec(null)] })(next), [
      (f) => f.getConcreteFunction(),
      ...sizes([2], [3]),
    ]),
  variable_in_first_call: () => {
    let w: tf.Variable | undefined;
    const f = tf.function({ inputSignature: [spec(null, 3)] })((x: tf.Tensor) => {
      w ??= new tf.Variable(tf.ones([3, 2]));
      return x.matmul(w);
    });
    return counts(f, sizes([1, 3], [4, 3]));
  },
  shape_inside: () =>
    counts(
      tf.function({ inputSignature: [spec(null, 2)] })((x: tf.Tensor) =>
        x.sum().div((tf.shape(x).at(0) as tf.Tensor).cast('float32')),
      ),
      sizes([2, 2], [3, 2], [1, 2]),
    ),
};

// A trace is for one rank here.
const ownCounts: Readonly<Record<string, readonly number[]>> = {
  any_rank: [1, 1, 2, 3],
  reduced_retracing_of_ranks: [1, 2, 3, 4],
};

test.each(Object.entries(golden.counts))('as often as TensorFlow traces: %s', (name, expected) => {
  expect((scenarios[name] as () => number[])()).toEqual(ownCounts[name] ?? expected);
});

test('a trace that does not end is warned of', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  let turns = 0;
  const endless = tf.function((x: tf.Tensor) => {
    // Of an object, as in code that is not converted.
    const more: unknown = x;
    while (more) {
      x.add(1);
      if (++turns === 50_001) throw new Error('enough');
    }
    return x;
  });
  expect(() => endless(tf.constant(1))).toThrow('enough');
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0]?.[0]).toMatch(
    /^tf\.function: the traced function '.*' has 50000 operations by now and is still being traced \(.*function-tracing\.test\.ts:\d+.*--import eagre\/register/,
  );
  warn.mockRestore();
});
