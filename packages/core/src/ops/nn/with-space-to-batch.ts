// Ops on the pixels that are some distance apart.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkFunction, checkOneOf, checkText, shown } from '../../arguments/checks.ts';
import { type Dim, floorDivDims, mulDims, subDims } from '../../shapes/dim.ts';
import { dims } from '../../shapes/dims.ts';
import { checkList, showShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { paddingsFor, toBatch, toSpace } from '../array/space.ts';

const OP = 'nn.withSpaceToBatch';

/** Options of `withSpaceToBatch`. */
export interface SpaceToBatchOptions {
  /** The sizes of the filter along the axes, for padding SAME. */
  readonly filterShape?: IntegersLike | null;
  /** The axes, rising; from 1 on by default, or from 2 on where the channels come first. */
  readonly spatialDims?: readonly number[] | null;
  /** Whether channels come first: 'NC…'; last by default. */
  readonly dataFormat?: string | null;
}

const numbersIn = (list: unknown, what: string): number[] => {
  const all = [...checkList(list as readonly number[], what, OP)];
  if (!all.every((n) => Number.isSafeInteger(n) && n >= 1))
    throw new InvalidArgumentError(`${what} must be integers of at least 1, got ${shown(list)}`, OP);
  return all;
};

/**
 * What `op` makes of the pixels that are `dilationRate` apart, each set by itself: an op without dilations becomes one with them.
 * @param op called with a tensor, the number of axes, and the padding
 * @param dilationRate for each axis
 */
export const withSpaceToBatch: NamedFunction<
  [
    input: TensorLike,
    dilationRate: readonly number[],
    padding: 'SAME' | 'VALID',
    op: (input: Tensor, numSpatialDims: number, padding: 'SAME' | 'VALID') => TensorLike,
  ],
  ['input', 'dilationRate', 'padding', 'op'],
  SpaceToBatchOptions
> = /* @__PURE__ */ defineFunction(
  OP,
  { input: kind.tensor, dilationRate: kind.asIs, padding: kind.asIs, op: kind.asIs },
  { filterShape: kind.shape, spatialDims: kind.asIs, dataFormat: kind.asIs },
  (input, dilationRate, padding, op, { filterShape = null, spatialDims = null, dataFormat = null }) => {
    checkFunction(op, 'op', OP);
    checkOneOf(padding, ['SAME', 'VALID'], 'padding', OP);
    const x = toTensor(input);
    const rates = numbersIn(dilationRate, 'dilationRate');
    if (dataFormat !== null) checkText(dataFormat, 'dataFormat', OP);
    const first = dataFormat?.startsWith('NC') ? 2 : 1;
    const axes =
      spatialDims === null ? rates.map((_, i) => first + i) : numbersIn(spatialDims, 'spatialDims');
    if (axes.length !== rates.length || axes.some((a, i) => i > 0 && a <= (axes[i - 1] as number)))
      throw new InvalidArgumentError(
        `spatialDims must rise, one for each rate, got ${shown(spatialDims)}`,
        OP,
      );
    const last = axes.at(-1);
    if (last === undefined || x.rank <= last)
      throw new InvalidArgumentError(`input ${showShape(x.shape)} has no axis ${String(last)}`, OP);
    if (rates.every((r) => r === 1)) return toTensor(op(x, rates.length, padding));
    if (padding === 'SAME' && filterShape === null)
      throw new InvalidArgumentError("padding 'SAME' needs filterShape", OP);
    const filter = filterShape === null ? [] : dims({ shape: filterShape as readonly number[] });
    const sizes = dims(x);
    // All axes up to the last of them, the others with blocks of 1.
    const between = Array.from({ length: last }, (_, i) => axes.indexOf(i + 1));
    const blocks = between.map((i) => rates[i] ?? 1);
    const base = between.map((i): [Dim, Dim] => {
      if (i < 0 || padding === 'VALID') return [0, 0];
      const reach = mulDims(subDims(filter[i] as Dim, 1), rates[i] as number);
      const before = floorDivDims(reach, 2);
      return [before, subDims(reach, before)];
    });
    const { paddings, crops } = paddingsFor(sizes.slice(1, last + 1), blocks, base);
    const split = toBatch(x, blocks, paddings, OP);
    return toSpace(toTensor(op(split, rates.length, 'VALID')), blocks, crops, OP);
  },
);
