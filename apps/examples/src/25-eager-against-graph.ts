// The same code eagerly and in tf.function, side by side. (`pnpm bench` measures with care; this is for a first impression.)
import * as tf from 'eagre';

export interface Comparison {
  readonly what: string;
  /** Microseconds. */
  readonly eager: number;
  readonly graph: number;
}

function microseconds(run: () => unknown): number {
  for (let i = 0; i < 20; i++) run();
  const samples = Array.from({ length: 15 }, () => {
    const start = performance.now();
    for (let i = 0; i < 10; i++) run();
    return ((performance.now() - start) * 1000) / 10;
  });
  return samples.sort((a, b) => a - b)[7] as number;
}

function compare(what: string, run: () => unknown): Comparison {
  const graph = tf.function(run);
  return { what, eager: microseconds(run), graph: microseconds(graph) };
}

const conv = new tf.layers.Conv2D(100, 3);
const image = tf.zeros([1, 200, 200, 10]);
conv(image);

const cell = new tf.layers.LSTMCell(10);
const input = tf.zeros([10, 10]);
const states = [tf.zeros([10, 10]), tf.zeros([10, 10])];
cell(input, { states });

const [a, b] = [tf.random.normal([10]), tf.random.normal([10])];
const wave = tf.random.normal([100_000]);

const numbers = tf.range(1000).cast('int32');
const sumEven = (): tf.Tensor => {
  const zero = tf.constant(0, 'int32');
  const [, sum] = tf.whileLoop(
    (i) => i.less(numbers.size),
    (i, sum) => {
      const n = numbers.gather(i);
      const even = n.mod(2).equal(0);
      return [
        i.add(1),
        tf.cond(
          even,
          () => sum.add(n),
          () => sum,
        ),
      ];
    },
    [zero, zero],
  );
  return sum;
};
/** 249,500: the same eagerly and as a graph. */
export const sums: readonly number[] = [sumEven().item(), tf.function(sumEven)().item()];

export const comparisons: readonly Comparison[] = [
  compare('convolution of [1, 200, 200, 10] by 100 filters', () => conv(image)),
  compare('LSTM cell of 10 units', () => cell(input, { states })),
  compare('one addition of ten numbers', () => a.add(b)),
  compare('the even ones of 1,000 numbers, in a loop', sumEven),
  compare('ten operations on 100,000 numbers', () => {
    let y = wave;
    for (let i = 0; i < 5; i++) y = y.mul(0.5).add(wave);
    return y;
  }),
];
console.table(
  comparisons.map(({ what, eager, graph }) => ({
    what,
    'eager, µs': eager.toFixed(1),
    'tf.function, µs': graph.toFixed(1),
    'times as fast': (eager / graph).toFixed(2),
  })),
);
