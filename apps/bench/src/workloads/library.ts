// Functions of a library of tensors: what looks things up, orders them, and puts them together.
import type * as Eagre from 'eagre';
import { meanSquare, noise, randomIntegers, textLines } from '../inputs.ts';
import { ratio, type TimedWorkload } from '../workload.ts';
import { type KernelOptions, kernel, meanSquareOfFirst, tensorOf } from './kernel.ts';

const ofFirst: KernelOptions = { check: (results, tf) => meanSquareOfFirst(tf, results) };

export const sortRows: TimedWorkload = kernel(
  'sort_rows',
  'sort of [1000, 1000] along the last axis',
  (tf) => {
    const x = tensorOf(tf, noise, [1000, 1000]);
    return () => tf.sort(x);
  },
  ofFirst,
);

export const topK100: TimedWorkload = kernel(
  'topk100',
  'the 100 largest of each row of [1000, 1000]',
  (tf) => {
    const x = tensorOf(tf, noise, [1000, 1000]);
    return () => {
      const { values, indices } = tf.math.topK(x, { k: 100 });
      return [values, indices];
    };
  },
  { check: ([values, places], tf) => meanSquareOfFirst(tf, [values!.mul(places!.cast('float32'))]) },
);

const ROWS = 100_000;
const rowIds = (tf: typeof Eagre): Eagre.Tensor => tf.constant(randomIntegers(ROWS, ROWS, 3));

export const gatherRows: TimedWorkload = kernel(
  'gather_rows',
  `gather of 100,000 rows of [${ROWS}, 64]`,
  (tf) => {
    const [x, ids] = [tensorOf(tf, noise, [ROWS, 64]), rowIds(tf)];
    return () => tf.gather(x, ids);
  },
  { ...ofFirst, bytes: 2 * 4 * 64 * ROWS, limit: 'copy' },
);

export const segmentSum: TimedWorkload = kernel(
  'segment_sum',
  `unsorted segment sum of [${ROWS}, 64] into 100,000 rows`,
  (tf) => {
    const [x, ids] = [tensorOf(tf, noise, [ROWS, 64]), rowIds(tf)];
    return () => tf.math.unsortedSegmentSum(x, ids, ROWS);
  },
  ofFirst,
);

function unique(name: string, below: number): TimedWorkload {
  return kernel(
    name,
    `the different ones of a million integers below ${below.toLocaleString('en')}, and where each is among them`,
    (tf) => {
      // A traced function would find what is in a constant once, when it is traced.
      const x = new tf.Variable(randomIntegers(1_000_000, below, 3));
      return () => {
        const { values, indices } = tf.unique(x);
        return [values, indices];
      };
    },
    {
      // Some libraries sort them.
      check: ([values, places], tf) => {
        const scale = values!.size / values!.max().item();
        return meanSquareOfFirst(tf, [values!.gather(places!).cast('float64').mul(scale)]);
      },
    },
  );
}
export const unique100k: TimedWorkload = unique('unique_100k', 100_000);
export const unique2g: TimedWorkload = unique('unique_2g', 2_000_000_000);

export const splitLines: TimedWorkload = {
  kind: 'timed',
  name: 'split_lines',
  title: 'the words of 100,000 lines of six',
  targets: [ratio('tensorflow', 1), ratio('tensorflow-function', 1)],
  eagre(tf) {
    const lines = tf.constant(textLines(100_000));
    const run = () => tf.strings.split(lines) as Eagre.RaggedTensor;
    return { run, check: () => meanSquare(tf.strings.length(run().flatValues).data() as Int32Array) };
  },
};

export const resizeBilinear: TimedWorkload = kernel(
  'resize_bilinear',
  'bilinear resize of [32, 224, 224, 3] to 112 × 112',
  (tf) => {
    const x = tensorOf(tf, noise, [32, 224, 224, 3]);
    return () => tf.image.resize(x, [112, 112]);
  },
  ofFirst,
);

export const einsumAttention: TimedWorkload = kernel(
  'einsum_attention',
  "einsum 'bhqd,bhkd->bhqk' of [8, 8, 128, 64]",
  (tf) => {
    const [q, k] = [tensorOf(tf, noise, [8, 8, 128, 64]), tensorOf(tf, noise, [8, 8, 128, 64], 1)];
    return () => tf.einsum('bhqd,bhkd->bhqk', q, k);
  },
  { ...ofFirst, flops: 2 * 64 * 128 * 64 * 128, limit: 'fma' },
);
