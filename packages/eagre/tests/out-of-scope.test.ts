// Symbolic tensors that are used where they do not belong.
import * as tf from 'eagre';
import { describe, expect, test } from 'vitest';

const v1 = tf.compat.v1;

/** What a user may do with a tensor that needs its value. */
const uses: Readonly<Record<string, (x: tf.Tensor) => unknown>> = {
  add: (x) => x.add(1),
  'add to another': (x) => tf.constant([1, 2]).add(x),
  reshape: (x) => x.reshape([1, 2]),
  cast: (x) => x.cast('int32'),
  stack: (x) => tf.stack([x]),
  matmul: (x) => tf.ones([1, 2]).matmul(x.reshape([2, 1])),
  data: (x) => x.data(),
  array: (x) => x.array(),
  string: (x) => `${x}`,
  compare: (x) => Number(x) > 0,
  json: (x) => JSON.stringify(x),
  rows: (x) => [...x],
  print: (x) => tf.print('x', [x]),
  assign: (x) => new tf.Variable([0, 0]).assign(x),
  'assign on': (x) => new tf.Variable([0, 0]).assignAdd(x),
  'data set': (x) => tf.data.Dataset.fromTensorSlices(x),
  tape: (x) => new tf.GradientTape().gradient(x.square(), x),
  assertion: (x) => tf.debugging.assertPositive(x),
  layer: (x) => new tf.layers.Dense(1)(x.reshape([1, 2])),
  loop: (x) =>
    tf.whileLoop(
      (i) => i.less(3),
      (i) => [i.add(x.sum())],
      [tf.constant(0)],
    ),
  argument: (x) => tf.function((y: tf.Tensor) => y.add(1))(x),
  random: (x) => tf.random.uniform([2]).mul(x),
};

function thrown(fn: () => unknown): Error {
  try {
    fn();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

let outer!: tf.Tensor;
const step = tf.function({ name: 'step' })((x: tf.Tensor) => {
  outer = x.add(1);
  return outer.mul(2);
});
step(tf.constant([1, 2]));

const list: tf.Tensor[] = [];
const holder: { last?: tf.Tensor } = {};
tf.function({ name: 'turns' })((n: tf.Tensor) => {
  return tf.whileLoop(
    (i) => i.less(n),
    (i) => {
      holder.last = i.mul(2);
      list.push(i.add([1, 2]));
      return [i.add(1)];
    },
    [tf.constant(0)],
  );
})(tf.constant(3));

const graph = new v1.Graph();
const fed = graph.asDefault(() => v1.placeholder('float32', [2], { name: 'fed' }));

describe.each([
  [
    'a traced function',
    outer,
    "'AddV2:0' (float32) is out of scope: it belongs to the traced function 'step'",
    'Return it',
  ],
  [
    'a loop',
    list[0] as tf.Tensor,
    "belongs to a branch or loop of the traced function 'turns'",
    'tf.TensorArray',
  ],
  ['a graph', fed, "'fed:0' (float32) is out of scope: it belongs to a tf.Graph", 'session.run'],
] as const)('a tensor of %s', (_, tensor, where, remedy) => {
  test.each(Object.entries(uses))('outside of it: %s', (_name, use) => {
    const error = thrown(() => use(tensor));
    expect(error).toBeInstanceOf(tf.errors.FailedPreconditionError);
    expect(error.message).toContain(where);
    expect(error.message).toContain('has no value here');
    expect(error.message).toContain(remedy);
  });

  test('in another function, loop or graph', () => {
    const other = tf.function({ name: 'other' })((x: tf.Tensor) => {
      return x.add(tensor);
    });
    expect(thrown(() => other(tf.constant([1, 2]))).message).toContain(where);
    expect(thrown(() => other(tf.constant([1, 2]))).message).toContain(
      "cannot be used in the traced function 'other'",
    );
    const looped = tf.function((x: tf.Tensor) =>
      tf.whileLoop(
        (y) => y.sum().less(9),
        (y) => [y.add(tensor)],
        [x],
      ),
    );
    expect(() => looped(tf.constant([1, 2]))).toThrow('cannot be used in a branch or loop of');
    const second = new v1.Graph();
    expect(() => second.asDefault(() => tensor.mul(2))).toThrow(/cannot be used in (a tf.Graph|another one)/);
    expect(() => new v1.Session({ graph: second }).run(tensor)).toThrow('not an element of this graph');
  });
});

test('members of objects, and other places of the same function', () => {
  expect(() => holder.last?.item()).toThrow("a branch or loop of the traced function 'turns'");
  let found!: tf.Tensor;
  const behind = tf.function({ name: 'behind' })((n: tf.Tensor) => {
    const r = tf.cond(
      n.greater(0),
      () => (found = n.mul(2)),
      () => n,
    );
    return r.add(found);
  });
  expect(() => behind(tf.constant(1))).toThrow(
    "belongs to a branch or loop of the traced function 'behind' and cannot",
  );
  const branches = tf.function((n: tf.Tensor) =>
    tf.cond(
      n.greater(0),
      () => (found = n.mul(2)),
      () => found.add(1),
    ),
  );
  expect(() => branches(tf.constant(1))).toThrow('cannot be used in another one');
});

test('for a function inside of another one, tensors of that one are in scope', () => {
  const inner = (y: tf.Tensor) =>
    tf.function({ name: 'inner' })((x: tf.Tensor) => {
      return x.add(y);
    });
  const around = tf.function({ name: 'around' })((x: tf.Tensor) => {
    return inner(x.mul(2))(x);
  });
  expect(around(tf.constant(1)).item()).toBe(3);
});

test('while its own function is traced, a tensor is not out of scope', () => {
  const reading = tf.function((x: tf.Tensor) => x.add(1).item());
  expect(() => reading(tf.constant(1))).toThrow('a tensor has no value while tf.function traces');
});
