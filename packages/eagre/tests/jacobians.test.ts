// Jacobians in traced functions whose arguments have any size: a loop of backward passes in the graph, also through loops, branches and maps,
// and of every op that has a gradient.
import { execute, listOps, type Op, type Sample } from '@eagre/core/internal';
import { materialize } from '@eagre/testing';
import { describe, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';

type Fn = (x: tf.Tensor) => tf.Tensor;
const any = (rank: number): { inputSignature: tf.TensorSpec[] } => ({
  inputSignature: [new tf.TensorSpec(new Array<null>(rank).fill(null), 'float32')],
});

function far(a: tf.Tensor, b: tf.Tensor): number {
  expect(a.shape).toEqual(b.shape);
  if (a.size === 0) return 0;
  const scale = b.abs().max().add(1);
  return a.sub(b).abs().max().div(scale).item() as number;
}

/** Compares one trace with eager code, for several inputs. */
function compare(fn: Fn, xs: readonly tf.Tensor[]): void {
  const traced = tf.function(any((xs[0] as tf.Tensor).rank))(fn);
  for (const x of xs) expect(far(traced(x), fn(x))).toBeLessThan(1e-5);
  expect(traced.experimentalGetTracingCount()).toBe(1);
}

const jacobian =
  (fn: Fn): Fn =>
  (x) => {
    const tape = new tf.GradientTape();
    tape.watch(x);
    return tape.jacobian(fn(x), x) as tf.Tensor;
  };
const batchJacobian =
  (fn: Fn): Fn =>
  (x) => {
    const tape = new tf.GradientTape();
    tape.watch(x);
    return tape.batchJacobian(fn(x), x);
  };

// ---- control flow

const turns: Fn = (x) =>
  tf.whileLoop(
    (i: tf.Tensor) => i.less(3),
    (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.mul(x).sin()],
    [tf.constant(0, 'int32'), x],
  )[1] as tf.Tensor;
const untilLarge: Fn = (x) =>
  tf.whileLoop(
    (y: tf.Tensor) => y.sum().less(20),
    (y: tf.Tensor) => [y.mul(y).add(x)],
    [x],
  )[0] as tf.Tensor;
const branch: Fn = (x) =>
  tf.cond(
    x.sum().greater(1),
    () => turns(x),
    () => x.square(),
  );
const map: Fn = (x) => tf.mapFn((v: tf.Tensor) => turns(v.mul(x)).sum(-1), x);
const scan: Fn = (x) => tf.scan((s: tf.Tensor, e: tf.Tensor) => s.mul(e).cos(), x);

const vectors = [
  [0.3, 0.7, 1.1],
  [0.5, 0.9],
  [1.5, 0.2, 0.4, 0.6],
].map((v) => tf.constant(v));
const rows = [
  [
    [0.3, 0.7, 1.1],
    [0.5, 0.1, 0.9],
  ],
  [[0.5, 0.9]],
  [[1.5], [0.2], [0.4], [0.6]],
].map((v) => tf.constant(v));

describe.each(Object.entries({ turns, untilLarge, branch, map, scan }))('%s', (name, fn) => {
  test('jacobian', () => compare(jacobian(fn), vectors));
  test('the gradient of a jacobian', () => {
    compare((x) => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      return tape.gradient(jacobian(fn)(x).sin().sum(), x) as tf.Tensor;
    }, vectors);
  });
  test('batchJacobian', () => {
    const along: Fn = name === 'scan' ? (x) => scan(x.transpose()).transpose() : fn;
    compare(batchJacobian(name === 'map' ? (x) => tf.mapFn(turns, x) : along), rows);
  });
});

test('of a loop that draws random numbers: an error that says what to do, and numbers for each size', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const noisy: Fn = (x) =>
    tf.whileLoop(
      (i: tf.Tensor) => i.less(2),
      (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.mul(tf.random.uniform([]))],
      [tf.constant(0, 'int32'), x],
    )[1] as tf.Tensor;
  const traced = tf.function(any(1))(jacobian(noisy));
  // Sizes that are known need no loop.
  expect(traced(tf.constant([1, 2])).shape).toEqual([2, 2]);
  expect(String(warn.mock.calls[0])).toContain('draws random numbers');
  warn.mockRestore();
});

// TensorFlow: each first dimension is that of the batch, or 1.
test('vectorizedMap takes one row for all', () => {
  const sums = (x: tf.Tensor, y: tf.Tensor): tf.Tensor =>
    tf.vectorizedMap(([a, b]: tf.Tensor[]) => (a as tf.Tensor).mul(b as tf.Tensor).sum(), [x, y]);
  const [x, y] = [
    tf.constant([
      [1, 2],
      [3, 4],
      [5, 6],
    ]),
    tf.constant([[10, 1]]),
  ];
  const traced = tf.function({
    inputSignature: [new tf.TensorSpec([null, 2], 'float32'), new tf.TensorSpec([1, 2], 'float32')],
  })(sums);
  for (const fn of [sums, traced]) expect(fn(x, y).array()).toEqual([12, 34, 56]);
  expect(() => sums(x, tf.ones([2, 2]))).toThrow(tf.errors.InvalidArgumentError);
});

// ---- every op

/** What no function traces by itself, and why. */
const untraced: Readonly<Record<string, string>> = {
  CheckNumericsV2: 'tf.debugging.checkNumerics reads values, in a graph by a call of the host',
};

const isFloat = (x: tf.Tensor): boolean => x.dtype === 'float32';
const subjects = [...listOps().values()].flatMap((op): (readonly [string, Op, Sample])[] => {
  if (op.name in untraced || (op.grad === undefined && op.notDifferentiable !== undefined)) return [];
  const sample = op.samples().find((s) => isFloat(materialize(s, 'float32')[0] ?? tf.zeros([], 'int32')));
  return sample === undefined ? [] : [[op.name, op, sample]];
});

test.each(subjects)('jacobian of %s, and vectorizedMap', (_, op, sample) => {
  const [first, ...others] = materialize(sample, 'float32') as [tf.Tensor, ...tf.Tensor[]];
  const fn: Fn = (x) => {
    const y = execute(op, [x, ...others], sample.attrs ?? {}).find(isFloat);
    return y ?? x.mul(0);
  };
  tf.random.setSeed(3);
  const warnings: string[] = [];
  const warn = vi.spyOn(console, 'warn').mockImplementation((text) => void warnings.push(String(text)));
  // Of the first axis alone, as other sizes belong to attributes and to the other inputs.
  const spec = new tf.TensorSpec(
    first.shape.map((_, i) => (i === 0 && others.length === 0 ? null : (first.shape[i] as number))),
    'float32',
  );
  const found = tf.function({ inputSignature: [spec] })(jacobian(fn))(first);
  const expected = jacobian(fn)(first);
  if (expected !== null) expect(far(found, expected)).toBeLessThan(1e-4);
  const pair = tf.stack([first, first.mul(0.9)]);
  const mapped = (x: tf.Tensor): tf.Tensor => tf.vectorizedMap(fn, x);
  expect(far(tf.function(mapped)(pair), mapped(pair))).toBeLessThan(1e-4);
  warn.mockRestore();
  expect(warnings).toEqual([]);
});
