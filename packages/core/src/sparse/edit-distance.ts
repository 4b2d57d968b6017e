// Levenshtein's distance of sequences in sparse tensors.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { atRunTime } from '../dispatch/host.ts';
import { type NumberedRows, numbered, rowsOf } from '../lookup/numbered.ts';
import { onKnown } from '../ops/strings/known-strings.ts';
import { maxDims } from '../shapes/dim.ts';
import { toShape } from '../shapes/dims.ts';
import { checkFlag } from '../shapes/shape.ts';
import { toTensor } from '../tensor/convert.ts';
import { hostValues, type Tensor } from '../tensor/tensor.ts';
import { SparseTensor } from './sparse-tensor.ts';

const OP = 'EditDistance';

/** The longest of the sequences. */
function longestOf(starts: Int32Array): number {
  let longest = 0;
  for (let i = 1; i < starts.length; i++) longest = Math.max(longest, starts[i] - starts[i - 1]);
  return longest;
}

/** The distance of the sequences at one place, with a row of distances that has room for one more than those of b. */
function distanceAt(place: number, a: NumberedRows, b: NumberedRows, row: Int32Array): number {
  const [begin, end] = [a.starts[place], a.starts[place + 1]];
  const [from, until] = [b.starts[place], b.starts[place + 1]];
  return end - begin <= 32
    ? distanceOfBits(a.items, begin, end, b.items, from, until)
    : distanceOfRows(a.items, begin, end, b.items, from, until, row);
}

/**
 * Where the distances of one sequence rise and fall by 1, as bits, for one item of the other after another (G. Myers, "A fast bit-vector algorithm for
 * approximate string matching based on dynamic programming", 1999; H. Hyyrö, 2001).
 */
function distanceOfBits(
  a: Float64Array,
  begin: number,
  end: number,
  b: Float64Array,
  from: number,
  until: number,
): number {
  const length = end - begin;
  if (length === 0) return until - from;
  const last = length - 1;
  let [rising, falling, distance] = [-1, 0, length];
  for (let j = from; j < until; j++) {
    const item = b[j];
    let same = 0;
    for (let k = 0; k < length; k++) same |= (a[begin + k] === item ? 1 : 0) << k;
    const diagonal = ((((same & rising) + rising) | 0) ^ rising) | same | falling;
    const up = falling | ~(diagonal | rising);
    const down = rising & diagonal;
    distance += ((up >>> last) & 1) - ((down >>> last) & 1);
    const moved = (up << 1) | 1;
    falling = moved & diagonal;
    rising = (down << 1) | ~(diagonal | moved);
  }
  return distance;
}

/** The same of longer sequences, by a row of distances for each item of a. */
function distanceOfRows(
  a: Float64Array,
  begin: number,
  end: number,
  b: Float64Array,
  from: number,
  until: number,
  row: Int32Array,
): number {
  const n = until - from;
  for (let j = 0; j <= n; j++) row[j] = j;
  for (let i = begin; i < end; i++) {
    const item = a[i];
    let diagonal = row[0];
    let before = (row[0] = i - begin + 1);
    for (let j = 1; j <= n; j++) {
      const above = row[j];
      before = Math.min(item === b[from + j - 1] ? diagonal : diagonal + 1, Math.min(above, before) + 1);
      row[j] = before;
      diagonal = above;
    }
  }
  return row[n];
}

/**
 * The edit distances of sequences, the last axes of sparse tensors of one rank, float32: of a shape without that axis. Divided by the length of the true
 * sequence with `normalize`, which is the default; what is nothing but should be something is 1, and something where nothing should be infinite.
 * @throws InvalidArgumentError for sparse tensors that do not fit
 */
export const editDistance: NamedFunction<
  [hypothesis: SparseTensor, truth: SparseTensor, normalize?: boolean],
  ['hypothesis', 'truth', 'normalize']
> = /* @__PURE__ */ defineFunction(
  'editDistance',
  { hypothesis: kind.asIs, truth: kind.asIs, normalize: kind.asIs },
  {},
  (hypothesis, truth, normalize = true) => {
    for (const [name, x] of Object.entries({ hypothesis, truth }))
      if (!(x instanceof SparseTensor))
        throw new InvalidArgumentError(`${name} must be a tf.SparseTensor, got ${shown(x)}`, OP);
    if (hypothesis.rank !== truth.rank || hypothesis.rank < 2 || hypothesis.dtype !== truth.dtype)
      throw new InvalidArgumentError(
        `hypothesis, ${hypothesis.dtype} of rank ${hypothesis.rank}, and truth, ${truth.dtype} of rank ${truth.rank}, must have one dtype and one rank of at least 2`,
        OP,
      );
    const isNormal = checkFlag(normalize, 'normalize', OP);
    const outer = hypothesis.sizes.slice(0, -1).map((d, i) => maxDims(d, truth.sizes[i] ?? 0));
    const run = (...parts: Tensor[]): Tensor => {
      const [shapeA, shapeB] = [parts[2], parts[5]].map((t) =>
        Array.from(hostValues(t as Tensor) as ArrayLike<number>, Number),
      ) as [number[], number[]];
      const sizes = shapeA.slice(0, -1).map((d, i) => Math.max(d, shapeB[i] as number));
      const count = sizes.reduce((product, d) => product * d, 1);
      const { lists } = numbered([parts[1] as Tensor, parts[4] as Tensor]);
      const a = rowsOf(parts[0] as Tensor, lists[0], sizes, count);
      const b = rowsOf(parts[3] as Tensor, lists[1], sizes, count);
      const row = new Int32Array(longestOf(b.starts) + 1);
      const out = new Float32Array(count);
      for (let place = 0; place < count; place++) {
        const n = distanceAt(place, a, b, row);
        out[place] = !isNormal || n === 0 ? n : n / (b.starts[place + 1] - b.starts[place]);
      }
      return toTensor({ data: out, shape: sizes });
    };
    const inputs = [hypothesis, truth].flatMap((x) => [x.indices, x.values, x.denseShape]);
    // Strings are on the host, where traces know them or cannot.
    if (hypothesis.dtype === 'string') return onKnown(OP, inputs, run);
    return atRunTime(OP, run, inputs, [{ dtype: 'float32', shape: toShape(outer) }])[0] as Tensor;
  },
);
