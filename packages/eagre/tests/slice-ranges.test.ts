// Ranges of `x.at` whose ends are tensors: eager, traced, and where only a run knows them.
import { expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const x = tf.range(5).cast('float32');
const ends = [null, -7, -5, -3, -1, 0, 1, 3, 5, 8];
const ranges = ends.flatMap((start) =>
  ends.flatMap((end) => [1, 2, -1, -2].map((step) => ({ start, end, step }))),
);
type Range = (typeof ranges)[number];
const text = ({ start, end, step }: Range): string => `${start ?? ''}:${end ?? ''}:${step}`;
const scalar = (n: number): tf.Tensor => tf.constant(n, 'int32');

test('they are those of texts', () => {
  for (const range of ranges) {
    const { start, end, step } = range;
    const expected = x.at(text(range)).array();
    expect(x.at(range).array(), text(range)).toEqual(expected);
    const tensors = {
      start: start === null ? null : scalar(start),
      end: end === null ? null : new tf.Variable(scalar(end)),
      step,
    };
    expect(x.at(tensors).array(), text(range)).toEqual(expected);
  }
});

test('ends that only a run knows: one trace, an unknown size, gradients', () => {
  for (const step of [1, 2, -1, -2]) {
    const part = tf.function({
      inputSignature: [
        new tf.TensorSpec([null], 'float32'),
        new tf.TensorSpec([], 'int32'),
        new tf.TensorSpec([], 'int32'),
      ],
    })((x, start, end) => {
      const tape = new tf.GradientTape();
      tape.watch(x);
      const y = x.at({ start, end, step });
      return [y, tape.gradient(y.square().sum(), x) as tf.Tensor] as const;
    });
    for (const range of ranges) {
      if (range.step !== step || range.start === null || range.end === null) continue;
      const [y, dx] = part(x, scalar(range.start), scalar(range.end));
      expect(y.array(), text(range)).toEqual(x.at(text(range)).array());
      const tape = new tf.GradientTape();
      tape.watch(x);
      const dy = tape.gradient(x.at(text(range)).square().sum(), x) as tf.Tensor;
      expect(dx.array(), text(range)).toEqual(dy.array());
    }
    expect(part.experimentalGetTracingCount()).toBe(1);
  }
});

test('ends that are sizes: the size is an expression', () => {
  const half = tf.function({ inputSignature: [new tf.TensorSpec([null, 2], 'float32')] })((x) => {
    const n = tf.shape(x).at(0);
    return tf.concat([
      x.at({ start: n.floorDiv(2) }),
      x
        .at({ end: n.sub(1).floorDiv(2) }, 0)
        .expandDims(1)
        .tile([1, 2]),
    ]);
  });
  for (const n of [1, 2, 5, 8]) {
    const x = tf
      .range(2 * n)
      .cast('float32')
      .reshape([n, 2]);
    const list = x.array() as number[][];
    const end = Math.floor((n - 1) / 2);
    expect(half(x).array()).toEqual([
      ...list.slice(Math.floor(n / 2)),
      ...list.slice(0, end).map(([a]) => [a, a]),
    ]);
  }
  expect(half.experimentalGetTracingCount()).toBe(1);
  expect(half.getConcreteFunction().planText).toBeTypeOf('function');
});

test('among other items, of several axes, of strings and of ragged tensors', () => {
  const cube = tf.range(24).reshape([2, 3, 4]);
  const [one, three] = [scalar(1), scalar(3)];
  expect(cube.at('...', { start: one, end: three }).array()).toEqual(cube.at('...', '1:3').array());
  expect(cube.at(0, null, { end: one }, { start: one, step: 2 }).array()).toEqual(
    cube.at(0, null, ':1', '1::2').array(),
  );
  expect(cube.at({ specs: [{ start: one }, one] }).array()).toEqual(cube.at('1:', 1).array());
  expect(tf.constant(['a', 'b', 'c']).at({ start: one }).array()).toEqual(['b', 'c']);
  const ragged = tf.ragged.constant([[1, 2, 3], [], [4, 5]]);
  expect((ragged.at({ start: one }) as tf.RaggedTensor).toList()).toEqual([[], [4, 5]]);
  expect((ragged.at(':', { end: three.sub(1) }) as tf.RaggedTensor).toList()).toEqual([[1, 2], [], [4, 5]]);
});

test('in a loop of a graph', () => {
  const sums = tf.function((x: tf.Tensor) =>
    tf.mapFn((i: tf.Tensor) => x.at({ end: i }).sum(), tf.range(4, { dtype: 'int32' })),
  );
  expect(sums(tf.constant([1, 2, 3])).array()).toEqual([0, 1, 3, 6]);
});

test('what is none is refused', () => {
  const bad: unknown[] = [
    { stop: 1 },
    { start: 1.5 },
    { start: 'a' },
    { start: tf.constant(1.5) },
    { end: tf.constant([1, 2], 'int32') },
    { step: 0 },
    { step: tf.constant(0, 'int32') },
    { start: {} },
  ];
  for (const range of bad)
    expect(() => x.at(range as never), JSON.stringify(range)).toThrow(tf.errors.InvalidArgumentError);
  const open = tf.function((step: tf.Tensor) => x.at({ step: step as never }));
  expect(() => open(scalar(2))).toThrow('the step of a range has to be known');
});
