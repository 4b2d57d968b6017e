// Functions that take and give ragged tensors, sparse tensors and slices, saved and loaded again.
import { join } from 'node:path';
import * as tf from '@eagre/core';
import { IndexedSlicesSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec, tfFunction } from '@eagre/graph';
import { afterAll, expect, test } from 'vitest';
import { load, save } from './index.ts';
import { temporaryFolder } from './testing/golden.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

// biome-ignore lint/suspicious/noExplicitAny: functions of tensors take composite ones, which their types do not say of all.
const f = tf as any;
const plain = (x: { array(): unknown }): unknown =>
  JSON.parse(JSON.stringify(x.array(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));

const w = new tf.Variable([2], { name: 'w' });
const model = {
  w,
  ragged: tfFunction((x: tf.RaggedTensor) => ({ n: f.sum(x, 1), y: f.mul(x, w.read().at(0)) }), {
    inputSignature: [new RaggedTensorSpec([null, null], 'float32')],
  } as never),
  deep: tfFunction((x: tf.RaggedTensor) => f.add(x, 1), {
    inputSignature: [new RaggedTensorSpec([null, null, null, 2], 'int32', 2, 'int32')],
  } as never),
  sparse: tfFunction((x: tf.SparseTensor, y: tf.Tensor) => [f.mul(x, 2), tf.sparse.toDense(x).mul(y.sum())], {
    inputSignature: [new SparseTensorSpec([null, 3], 'float32'), new TensorSpec([null, 3], 'float32')],
  } as never),
  slices: tfFunction(
    (x: tf.IndexedSlices) => new tf.IndexedSlices(x.values.mul(3), x.indices, x.denseShape),
    {
      inputSignature: [new IndexedSlicesSpec([4, 2], 'float32', 'int32')],
    } as never,
  ),
};

// biome-ignore lint/suspicious/noExplicitAny: what comes back is what each function returns.
type Callable = Record<'ragged' | 'deep' | 'sparse' | 'slices', (...args: unknown[]) => any>;

test('composite arguments and results', async () => {
  const path = join(folder.path, 'model');
  await save(model, path);
  const loaded = await load(path);
  const again = join(folder.path, 'again');
  await save(loaded, again);
  for (const own of [model, loaded, await load(again)] as Callable[]) {
    const rows = tf.ragged.constant([[1, 2], [], [3]], 'float32');
    const { n, y } = own['ragged'](rows) as unknown as { n: tf.Tensor; y: tf.RaggedTensor };
    expect([plain(n), y instanceof tf.RaggedTensor, plain(y)]).toEqual([[3, 0, 3], true, [[2, 4], [], [6]]]);
    const nested = tf.ragged.constant(
      [
        [[[1, 2]], []],
        [
          [
            [3, 4],
            [5, 6],
          ],
        ],
      ],
      'int32',
      {
        raggedRank: 2,
        rowSplitsDtype: 'int32',
      } as never,
    );
    const more = own['deep'](nested);
    expect(plain(more)).toEqual([
      [[[2, 3]], []],
      [
        [
          [4, 5],
          [6, 7],
        ],
      ],
    ]);
    const sparse = new tf.SparseTensor(
      [
        [0, 1],
        [1, 2],
      ],
      [5, 7],
      [2, 3],
    );
    const [twice, product] = own['sparse'](sparse, tf.constant([[1, 1, 1]])) as unknown as [
      tf.SparseTensor,
      tf.Tensor,
    ];
    expect([plain(tf.sparse.toDense(twice)), plain(product)]).toEqual([
      [
        [0, 10, 0],
        [0, 0, 14],
      ],
      [
        [0, 15, 0],
        [0, 0, 21],
      ],
    ]);
    const slices = new tf.IndexedSlices(
      tf.ones([2, 2]),
      tf.constant([3, 1], 'int32'),
      tf.constant([4, 2], 'int32'),
    );
    const result = own['slices'](slices) as unknown as tf.IndexedSlices;
    expect([plain(result.values), plain(result.indices)]).toEqual([
      [
        [3, 3],
        [3, 3],
      ],
      [3, 1],
    ]);
  }
});

test('what does not fit is refused', async () => {
  const loaded = await load(join(folder.path, 'model'));
  expect(() => loaded['ragged'](tf.ones([2, 2]))).toThrow(/RaggedTensorSpec/);
  expect(() => loaded['ragged'](tf.ragged.constant([[1]], 'int32'))).toThrow(tf.InvalidArgumentError);
  expect(() => loaded['sparse'](tf.ragged.constant([[1]], 'float32'), tf.eye(3))).toThrow(/SparseTensorSpec/);
});
