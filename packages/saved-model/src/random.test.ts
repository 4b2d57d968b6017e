// Functions that draw random numbers, saved and loaded again.
import { join } from 'node:path';
import * as tf from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { afterAll, expect, test } from 'vitest';
import { load, save } from './index.ts';
import { temporaryFolder } from './testing/golden.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

type Draws = (...args: tf.Tensor[]) => tf.Tensor[];
interface Model {
  readonly stateless: Draws;
  readonly next: Draws;
}

const { random } = tf;
const generator = random.Generator.fromSeed([5n, 2n ** 40n, 9n]);
const model = {
  generator,
  // Seeds are known, so that keys and counters are constants, or come with the call.
  stateless: tfFunction(
    (seed: tf.Tensor) => [
      random.statelessPoisson([3, 2], [1, 2], [0.5, 30]),
      random.statelessPoisson([3, 2], seed, [0.5, 30]),
      random.statelessBinomial([3, 2], seed, [10, 100], [0.5, 0.2]),
      random.statelessCategorical([[0.1, 2, -1]], 7, seed),
      random.statelessGamma([3, 2], [1, 2], [0.5, 3]),
      random.statelessGamma([3, 2], seed, [0.5, 3]),
      random.statelessUniform([5], seed),
      random.statelessUniform([5], seed, { dtype: 'float64' }),
      random.statelessUniform([5], seed, { dtype: 'int32', minval: -3, maxval: 40 }),
      random.statelessUniform([5], seed, { dtype: 'uint64', minval: null, maxval: null }),
      random.statelessNormal([5], seed, { dtype: 'float64' }),
      random.statelessNormal([5], seed, { dtype: 'float16' }),
      random.statelessTruncatedNormal([5], [1, 2]),
      random.statelessTruncatedNormal([5], seed),
      random.statelessTruncatedNormal([5], seed, { dtype: 'float64' }),
    ],
    { inputSignature: [new TensorSpec([2], 'int32')] } as never,
  ),
  next: tfFunction(
    () => [
      generator.uniform([3]),
      generator.normal([5]),
      generator.truncatedNormal([5]),
      generator.uniformFullInt([3]),
    ],
    { inputSignature: [] } as never,
  ),
} as unknown as Model;

const plain = (list: readonly tf.Tensor[]): unknown => list.map((x) => Array.from(x.data() as never, String));

test('stateless draws and generators give the same numbers', async () => {
  const path = join(folder.path, 'model');
  await save(model, path);
  const loaded = (await load(path)) as unknown as Model;
  const again = join(folder.path, 'again');
  await save(loaded as never, again);
  const models = [model, loaded, (await load(again)) as unknown as Model] as const;
  const seed = tf.constant([-7, 11], 'int32');
  const [own, ...others] = models.map((m) => plain(m.stateless(seed)));
  for (const other of others) expect(other).toEqual(own);
  // The counter has moved on by the second call.
  for (let call = 0; call < 2; call++) {
    const [first, ...rest] = models.map((m) => plain(m.next()));
    for (const other of rest) expect(other).toEqual(first);
  }
  expect(plain(model.next())).not.toEqual(plain(model.next()));
});
