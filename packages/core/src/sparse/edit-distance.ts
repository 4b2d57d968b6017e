// Levenshtein's distance of sequences in sparse tensors.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { editDistance as distanceOf } from '../arguments/option-names.ts';
import { atRunTime } from '../dispatch/host.ts';
import { onKnown } from '../ops/strings/known-strings.ts';
import { maxDims } from '../shapes/dim.ts';
import { toShape } from '../shapes/dims.ts';
import { checkFlag } from '../shapes/shape.ts';
import { toTensor } from '../tensor/convert.ts';
import { hostValues, type Tensor } from '../tensor/tensor.ts';
import { SparseTensor } from './sparse-tensor.ts';

const OP = 'EditDistance';

type Item = string | number | bigint;

/** The sequences by their place: the coordinates but the last, as one number. */
function sequencesOf([indices, values]: readonly Tensor[], outer: readonly number[]): Map<number, Item[]> {
  const at = hostValues(indices as Tensor) as ArrayLike<number | bigint>;
  const items: Item[] =
    values?.dtype === 'string'
      ? values.strings()
      : Array.from(hostValues(values as Tensor) as ArrayLike<number>);
  const found = new Map<number, Item[]>();
  const rank = outer.length + 1;
  items.forEach((item, i) => {
    const place = outer.reduce((sum, size, axis) => sum * size + Number(at[i * rank + axis]), 0);
    const list = found.get(place);
    if (list === undefined) found.set(place, [item]);
    else list.push(item);
  });
  return found;
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
      const a = sequencesOf(parts.slice(0, 2), sizes);
      const b = sequencesOf(parts.slice(3, 5), sizes);
      const count = sizes.reduce((product, d) => product * d, 1);
      const out = Float32Array.from({ length: count }, (_, place) => {
        const [own, real] = [a.get(place) ?? [], b.get(place) ?? []];
        const n = distanceOf(own, real);
        if (!isNormal || n === 0) return n;
        return n / real.length;
      });
      return toTensor({ data: out, shape: sizes });
    };
    const inputs = [hypothesis, truth].flatMap((x) => [x.indices, x.values, x.denseShape]);
    // Strings are on the host, where traces know them or cannot.
    if (hypothesis.dtype === 'string') return onKnown(OP, inputs, run);
    return atRunTime(OP, run, inputs, [{ dtype: 'float32', shape: toShape(outer) }])[0] as Tensor;
  },
);
