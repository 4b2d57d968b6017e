// Levenshtein's distance of sequences in sparse tensors.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { editDistance as distanceOf } from '../arguments/option-names.ts';
import { atRunTime } from '../dispatch/host.ts';
import { onKnown } from '../ops/strings/known-strings.ts';
import { numbersOf } from '../ops/strings/rows.ts';
import { maxDims } from '../shapes/dim.ts';
import { toShape } from '../shapes/dims.ts';
import { checkFlag } from '../shapes/shape.ts';
import { toTensor } from '../tensor/convert.ts';
import { hostValues, type Tensor, textsOf } from '../tensor/tensor.ts';
import { SparseTensor } from './sparse-tensor.ts';

const OP = 'EditDistance';

/** The sequences of all places, one behind the other: their items as numbers, equal ones of equal items, and where each begins. */
interface Sequences {
  readonly items: Int32Array;
  readonly starts: Int32Array;
}

/** The sequences by their place: the coordinates but the last, as one number. */
function sequencesOf(
  [indices, values]: readonly Tensor[],
  outer: readonly number[],
  count: number,
  numbers: Map<unknown, number>,
): Sequences {
  const at = numbersOf(indices as Tensor);
  const own = values as Tensor;
  const all = own.dtype === 'string' ? textsOf(own) : (hostValues(own) as ArrayLike<unknown>);
  const rank = outer.length + 1;
  const places = new Int32Array(all.length);
  const starts = new Int32Array(count + 1);
  for (let i = 0; i < all.length; i++) {
    let place = 0;
    for (let axis = 0; axis < outer.length; axis++) place = place * outer[axis] + at[i * rank + axis];
    places[i] = place;
    starts[place + 1]++;
  }
  for (let place = 0; place < count; place++) starts[place + 1] += starts[place];
  const next = starts.slice();
  const items = new Int32Array(all.length);
  for (let i = 0; i < all.length; i++) {
    let number = numbers.get(all[i]);
    if (number === undefined) numbers.set(all[i], (number = numbers.size));
    items[next[places[i]]++] = number;
  }
  return { items, starts };
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
      const numbers = new Map<unknown, number>();
      const a = sequencesOf(parts.slice(0, 2), sizes, count, numbers);
      const b = sequencesOf(parts.slice(3, 5), sizes, count, numbers);
      const out = new Float32Array(count);
      for (let place = 0; place < count; place++) {
        const real = b.items.subarray(b.starts[place], b.starts[place + 1]);
        const n = distanceOf(a.items.subarray(a.starts[place], a.starts[place + 1]), real);
        out[place] = !isNormal || n === 0 ? n : n / real.length;
      }
      return toTensor({ data: out, shape: sizes });
    };
    const inputs = [hypothesis, truth].flatMap((x) => [x.indices, x.values, x.denseShape]);
    // Strings are on the host, where traces know them or cannot.
    if (hypothesis.dtype === 'string') return onKnown(OP, inputs, run);
    return atRunTime(OP, run, inputs, [{ dtype: 'float32', shape: toShape(outer) }])[0] as Tensor;
  },
);
