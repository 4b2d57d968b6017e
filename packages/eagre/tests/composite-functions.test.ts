import { describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: functions of tensors take ragged ones, which their types do not say of all.
const f = tf as any;
const plain = (x: { array(): unknown }): unknown =>
  JSON.parse(JSON.stringify(x.array(), (_, v) => (typeof v === 'bigint' ? Number(v) : v)));

describe('ragged tensors in traced functions', () => {
  const inputs = [
    tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2]]),
    tf.ragged.constant([[1], [2, 3], [4, 5, 6, 7]]),
    tf.ragged.constant([[], [], []], 'float32'),
    tf.ragged.constant([[1, 2]]),
    tf.ragged.constant([[], [1, 2, 3], [4], [5, 6]]),
  ];
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const fns: Record<string, (x: any) => { array(): unknown }> = {
    values: (x) => f.multiply(x, 2),
    sum: (x) => f.reduceSum(x, 1),
    'sum of columns': (x) => f.reduceSum(x, 0),
    mean: (x) => f.reduceMean(x, 1),
    toTensor: (x) => x.toTensor({ defaultValue: -1 }),
    concat: (x) => f.concat([x, f.add(x, 1)], 1),
    slice: (x) => x.at(':', '1:'),
    rows: (x) => x.at('::-1'),
    tile: (x) => f.tile(x, [1, 2]),
    gather: (x) => f.gather(x, [0, 0]),
    broadcast: (x) => f.add(x, f.reduceSum(x, 1, { keepdims: true })),
    softmax: (x) => f.nn.softmax(x),
    mask: (x) => tf.ragged.booleanMask(x, f.greater(x, 2)),
    toSparse: (x) => tf.sparse.toDense(x.toSparse()),
  };
  test.each(Object.keys(fns))('%s', (name) => {
    const fn = fns[name] as (x: unknown) => { array(): unknown };
    const traced = tf.function(fn);
    const signed = tf.function(fn, { inputSignature: [new tf.RaggedTensorSpec([null, null], 'float32')] });
    for (const x of inputs) {
      const wanted = plain(fn(x));
      expect(plain(traced(x)), `traced, ${x}`).toEqual(wanted);
      expect(plain(signed(x)), `with a signature, ${x}`).toEqual(wanted);
    }
  });

  test('a structure with ragged tensors goes in and comes out', () => {
    const [a, b] = inputs as [tf.RaggedTensor, tf.RaggedTensor];
    const traced = tf.function(({ x, ys }: { x: tf.RaggedTensor; ys: tf.RaggedTensor[] }) => ({
      sums: ys.map((y) => f.reduceSum(y, 1)),
      x: f.add(x, 1),
    }));
    const { sums, x } = traced({ x: a, ys: [a, b] });
    expect(x).toBeInstanceOf(tf.RaggedTensor);
    expect(plain(x)).toEqual([[4, 2, 5, 2], [], [6, 10, 3]]);
    expect(sums.map(plain)).toEqual([
      [9, 0, 16],
      [1, 5, 22],
    ]);
  });

  test('a signature refuses others', () => {
    const fn = tf.function((x: tf.RaggedTensor) => x, {
      inputSignature: [new tf.RaggedTensorSpec([null, null], 'float32')],
    });
    expect(() => fn(tf.constant([[1]]) as never)).toThrow(tf.errors.InvalidArgumentError);
    expect(() => fn(tf.ragged.constant([[1]], 'int32'))).toThrow(/int32/);
    expect(() => fn(tf.ragged.constant([[[1]]]))).toThrow(tf.errors.InvalidArgumentError);
  });

  test('loops and conditions carry them', () => {
    const [a] = inputs as [tf.RaggedTensor];
    const fn = tf.function((x: tf.RaggedTensor, n: tf.Tensor) => {
      const y = tf.cond(
        n.greater(2),
        () => f.multiply(x, 10),
        () => f.multiply(x, 100),
      );
      return tf.whileLoop(
        (i: tf.Tensor) => i.less(n),
        (i: tf.Tensor, v: tf.RaggedTensor) => [i.add(1), f.add(v, 1)],
        [tf.constant(0, 'int32'), y],
      )[1];
    });
    expect(plain(fn(a, tf.constant(3, 'int32')) as never)).toEqual([[33, 13, 43, 13], [], [53, 93, 23]]);
    expect(plain(fn(a, tf.constant(1, 'int32')) as never)).toEqual([
      [301, 101, 401, 101],
      [],
      [501, 901, 201],
    ]);
  });

  test('tapes inside and outside', () => {
    const [a] = inputs as [tf.RaggedTensor];
    const inside = tf.function((x: tf.RaggedTensor) => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      const loss = tape.record(() => f.reduceSum(f.square(x)));
      return tape.gradient(loss, x) as unknown as tf.RaggedTensor;
    });
    expect(plain(inside(a))).toEqual([[6, 2, 8, 2], [], [10, 18, 4]]);
    const squares = tf.function((x: tf.RaggedTensor) => f.square(x));
    const tape = new tf.GradientTape();
    tape.watch(a);
    const loss = tape.record(() => f.reduceSum(squares(a)));
    expect(plain(tape.gradient(loss, a) as never)).toEqual([[6, 2, 8, 2], [], [10, 18, 4]]);
  });
});

describe('sparse tensors in traced functions', () => {
  const inputs = [
    new tf.SparseTensor(
      [
        [0, 1],
        [2, 0],
      ],
      [5, 7],
      [3, 2],
    ),
    new tf.SparseTensor(
      [
        [0, 1],
        [1, 1],
        [3, 0],
      ],
      [1, 2, 3],
      [4, 2],
    ),
    new tf.SparseTensor([], [], [2, 2]),
  ];
  const S = tf.sparse;
  const fns: Record<string, (x: tf.SparseTensor) => { array(): unknown }> = {
    toDense: (x) => S.toDense(x),
    matmul: (x) =>
      S.sparseDenseMatmul(
        x,
        tf.constant([
          [1, 2],
          [3, 4],
        ]),
      ),
    transpose: (x) => S.toDense(S.transpose(x)),
    reduceSum: (x) => S.reduceSum(x, 1),
    add: (x) => S.toDense(S.add(x, x) as tf.SparseTensor),
    reshape: (x) => S.toDense(S.reshape(x, [-1])),
    values: (x) => S.toDense(f.multiply(x, 2)),
  };
  test.each(Object.keys(fns))('%s', (name) => {
    const fn = fns[name] as (x: tf.SparseTensor) => { array(): unknown };
    const traced = tf.function(fn);
    const signed = tf.function(fn, { inputSignature: [new tf.SparseTensorSpec([null, 2], 'float32')] });
    for (const x of inputs) {
      const wanted = plain(fn(x));
      expect(plain(traced(x)), 'traced').toEqual(wanted);
      expect(plain(signed(x)), 'with a signature').toEqual(wanted);
    }
  });
});
