import { GradientTape } from '@eagre/autodiff';
import * as tf from '@eagre/core';
import { TensorSpec, tfFunction, whileLoop } from '@eagre/graph';
import { afterAll, describe, expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { temporaryFolder } from '../testing/golden.ts';
import { save } from './save.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Saves a function of one argument and loads it again. */
async function again(name: string, fn: (x: tf.Tensor) => unknown, spec: TensorSpec, more: object = {}) {
  const path = `${folder.path}/${name}`;
  const traced = tfFunction(fn as never, { inputSignature: [spec] });
  await save({ fn: traced, ...more }, path);
  const loaded = await load(path);
  return {
    traced: traced as unknown as (x: tf.Tensor) => tf.Tensor,
    loaded: loaded['fn'] as (x: tf.Tensor) => tf.Tensor,
  };
}

/** x ↦ tanh(x w) as often as rows of x add up to, with the gradient by x. */
function gradientOf(body: (x: tf.Tensor) => tf.Tensor): (x: tf.Tensor) => tf.Tensor {
  return (x) => {
    const tape = new GradientTape();
    const loss = tape.record(() => {
      tape.watch(x);
      return body(x).square().sum();
    });
    return tape.gradient(loss, x) as tf.Tensor;
  };
}

const looped =
  (w: tf.Variable, limit: (x: tf.Tensor) => tf.Tensor) =>
  (x: tf.Tensor): tf.Tensor =>
    whileLoop(
      (i: tf.Tensor) => i.less(limit(x)),
      (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.matmul(w).tanh().add(x)],
      [tf.constant(0, 'int32'), x],
    )[1] as tf.Tensor;

describe('the gradient of a loop', () => {
  const w = new tf.Variable(
    [
      [0.5, -0.25],
      [0.75, 0.125],
    ],
    { name: 'w' },
  );
  const rows = (x: tf.Tensor): tf.Tensor => tf.shapeOf(x).gather(0);

  for (const [name, shape] of [
    ['known', [3, 2]],
    ['unknown', [null, 2]],
  ] as const)
    test(`of ${name} sizes is loaded again and gives equal values`, async () => {
      const { traced, loaded } = await again(
        `loop-${name}`,
        gradientOf(looped(w, rows)),
        new TensorSpec(shape),
        { w },
      );
      const x = tf.constant([
        [1, 2],
        [3, 4],
        [-1, 0.5],
      ]);
      expect(loaded(x).array()).toEqual(traced(x).array());
      expect(tfFunction(loaded)(x).array()).toEqual(traced(x).array());
    });

  test('whose rows are chosen by their values', async () => {
    const positive = (x: tf.Tensor): tf.Tensor => tf.booleanMask(x, x.sum(1).greater(0));
    const body = (x: tf.Tensor): tf.Tensor => looped(w, () => tf.constant(3, 'int32'))(positive(x));
    const { traced, loaded } = await again('loop-chosen', gradientOf(body), new TensorSpec([null, 2]), { w });
    const x = tf.constant([
      [1, 2],
      [-3, -4],
      [-1, 1.5],
    ]);
    expect(loaded(x).array()).toEqual(traced(x).array());
  });

  test('whose values grow', async () => {
    const body = (x: tf.Tensor): tf.Tensor =>
      whileLoop(
        (i: tf.Tensor) => i.less(tf.shapeOf(x).gather(0)),
        (i: tf.Tensor, y: tf.Tensor) => [i.add(1), tf.concat([y.square(), x.gather(i).reshape([1, 2])], 0)],
        [tf.constant(0, 'int32'), x],
        { shapeInvariants: [new TensorSpec([], 'int32'), new TensorSpec([null, 2])] },
      )[1] as tf.Tensor;
    const { traced, loaded } = await again('loop-grows', gradientOf(body), new TensorSpec([null, 2]));
    const x = tf.constant([
      [1, 0.5],
      [-0.5, 0.25],
    ]);
    expect(loaded(x).array()).toEqual(traced(x).array());
  });

  test('of the second order', async () => {
    const first = gradientOf(looped(w, rows));
    const { traced, loaded } = await again('loop-second', gradientOf(first), new TensorSpec([null, 2]), {
      w,
    });
    const x = tf.constant([
      [1, 2],
      [3, 4],
    ]);
    expect(loaded(x).array()).toEqual(traced(x).array());
  });
});
