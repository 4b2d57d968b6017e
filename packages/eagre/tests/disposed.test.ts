import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

// Memory of a tensor that was given back may be another's by now: nobody reads it.

const folder = mkdtempSync(join(tmpdir(), 'eagre-disposed-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const gone = (value: tf.TensorLike = [[1, 2]], dtype: tf.DType = 'float32'): tf.Tensor => {
  const t = tf.constant(value, dtype);
  t.dispose();
  return t;
};
const summed = (write: () => void): void => {
  const writer = tf.summary.createFileWriter(join(folder, 'logs'));
  try {
    writer.asDefault(0, write);
  } finally {
    writer.close();
  }
};

const reads: Readonly<Record<string, () => unknown>> = {
  'data()': () => gone().data(),
  'an op': () => gone().add(1),
  'a variable': () => new tf.Variable(gone()),
  'an assignment': () => new tf.Variable([[3, 4]]).assign(gone()),
  'an assignment of integers': () => new tf.Variable([3], { dtype: 'int32' }).assign(gone([1], 'int32')),
  'a predicate': () =>
    tf.cond(
      gone(true, 'bool'),
      () => 1,
      () => 2,
    ),
  'the number of a branch': () => tf.switchCase(gone(0, 'int32'), [() => 1]),
  'elements of a data set': () => [...tf.data.Dataset.fromTensorSlices(gone())],
  'one element of a data set': () => [...tf.data.Dataset.fromTensors(gone())],
  'a summary': () => summed(() => tf.summary.scalar('a', gone(1))),
  'a histogram': () => summed(() => tf.summary.histogram('a', gone())),
  'a captured tensor': () => tf.function((x: tf.Tensor) => x.add(gone()))(tf.ones([1, 2])),
  'an argument of a traced function': () => tf.function((x: tf.Tensor) => x.add(1))(gone()),
};

test.each(Object.entries(reads))('%s', (_, read) => {
  expect(read).toThrow(tf.errors.FailedPreconditionError);
  expect(read).toThrow('was disposed, so its values are gone');
});

test('what a data set holds stays whole when the tensor goes', () => {
  const t = tf.constant([1, 2]);
  const data = tf.data.Dataset.fromTensorSlices(t);
  t.dispose();
  expect([...data].map((x) => x.item())).toEqual([1, 2]);
});
