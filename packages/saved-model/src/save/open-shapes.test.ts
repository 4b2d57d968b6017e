// Variables whose shape may change: saved, loaded, and in checkpoints.
import { join } from 'node:path';
import { Checkpoint } from '@eagre/checkpoint';
import * as tf from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import { afterAll, expect, test } from 'vitest';
import { load } from '../load/load.ts';
import { temporaryFolder } from '../testing/golden.ts';
import { save } from './save.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

test('a variable is saved with the shapes that it takes', async () => {
  const rows = new tf.Variable([[1, 2, 3]], { shape: [null, 3], name: 'rows' });
  const any = new tf.Variable([1], { shape: null, name: 'any' });
  rows.assign(tf.ones([2, 3]));
  await save({ rows, any }, join(folder.path, 'own'));
  const loaded = await load(join(folder.path, 'own'));
  expect(loaded['rows'].array()).toEqual([
    [1, 1, 1],
    [1, 1, 1],
  ]);
  loaded['rows'].assign(tf.zeros([4, 3]));
  loaded['any'].assign(tf.zeros([2, 2]));
  expect([loaded['rows'].shape, loaded['any'].shape]).toEqual([
    [4, 3],
    [2, 2],
  ]);
  expect(() => loaded['rows'].assign(tf.zeros([4]))).toThrow(tf.InvalidArgumentError);
});

test('a function that reads and changes it is saved, and serves other sizes', async () => {
  class Log extends tf.Module {
    rows = new tf.Variable([[1, 2, 3]], { shape: [null, 3], name: 'rows' });
    append = tfFunction({ inputSignature: [new TensorSpec([null, 3], 'float32', 'x')] })((x: tf.Tensor) => {
      this.rows.assign(tf.concat([this.rows.read(), x], 0));
      return { total: this.rows.sum(), all: this.rows.read() };
    });
    total = tfFunction({ inputSignature: [] })(() => this.rows.sum(0));
  }
  const log = new Log();
  log.append(tf.ones([1, 3]));
  await save(log, join(folder.path, 'log'), { signatures: log.append });
  const loaded = await load(join(folder.path, 'log'));
  expect(loaded['append'](tf.ones([2, 3])).total.item()).toBe(15);
  expect(loaded['rows'].shape).toEqual([4, 3]);
  expect(loaded['total']().array()).toEqual([4, 5, 6]);
  loaded['rows'].assign(tf.zeros([0, 3]));
  expect(loaded['total']().array()).toEqual([0, 0, 0]);
  await save(loaded, join(folder.path, 'log again'));
  const again = await load(join(folder.path, 'log again'));
  expect(again['append'](tf.ones([2, 3])).all.shape).toEqual([2, 3]);
});

test('a checkpoint gives it a value of another shape', async () => {
  const rows = new tf.Variable(tf.ones([2, 3]), { shape: [null, 3] });
  const path = await new Checkpoint({ rows }).save(join(folder.path, 'ckpt'));
  const other = new tf.Variable(tf.zeros([5, 3]), { shape: [null, 3] });
  (await new Checkpoint({ rows: other }).restore(path)).assertConsumed();
  expect(other.array()).toEqual([
    [1, 1, 1],
    [1, 1, 1],
  ]);
  const narrow = new tf.Variable(tf.zeros([5, 2]), { shape: [null, 2] });
  await expect((async () => new Checkpoint({ rows: narrow }).restore(path))()).rejects.toThrow(
    'incompatible',
  );
  const fixed = new tf.Variable(tf.zeros([5, 3]));
  await expect((async () => new Checkpoint({ rows: fixed }).restore(path))()).rejects.toThrow('incompatible');
});
