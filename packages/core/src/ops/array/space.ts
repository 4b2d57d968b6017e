// Blocks of space as batches and back, and patches.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegersLike, PairsLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf } from '../../arguments/checks.ts';
import {
  addDims,
  type Dim,
  type Dims,
  floorDivDims,
  maxDims,
  modDims,
  mulDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { checkList, showShape } from '../../shapes/shape.ts';
import { isSize } from '../../shapes/shape-env.ts';
import { differs, sizeValue } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { gather } from './gather.ts';
import { iota } from './iota.ts';
import { stack } from './join.ts';
import { expandDims, pad, reshape, transpose } from './shaping.ts';
import { slice } from './slicing.ts';

type Pair = readonly [Dim, Dim];

/** Block sizes: integers of at least 1. */
function blocksOf(given: unknown, op: string): readonly number[] {
  const list = given as readonly number[];
  if (!Array.isArray(list) || list.length === 0 || !list.every((b) => Number.isSafeInteger(b) && b >= 1))
    throw new InvalidArgumentError('blockShape must be a list of integers of at least 1', op);
  return list;
}
/** Pairs of sizes of at least 0, one for each block size. */
function pairsOf(given: unknown, count: number, what: string, op: string): readonly Pair[] {
  const pairs = Array.isArray(given) && given.every((p) => Array.isArray(p)) ? (given as number[][]) : [];
  const list = pairs.map((p) => dimsOf(p) as unknown as Pair);
  if (list.length !== count || !list.every((p) => p.length === 2 && p.every((d) => isSize(d))))
    throw new InvalidArgumentError(`${what} must be ${count} pairs of integers of at least 0`, op);
  return list;
}

function checkSpace(x: Tensor, count: number, op: string): void {
  if (x.rank < count + 1)
    throw new InvalidArgumentError(
      `input has shape ${showShape(x.shape)}, expected a batch and ${count} axes of space at least`,
      op,
    );
}

/** Moves blocks of space into the batch. */
export function toBatch(
  given: Tensor,
  blocks: readonly number[],
  paddings: readonly Pair[],
  op: string,
): Tensor {
  const count = blocks.length;
  checkSpace(given, count, op);
  const rest = given.rank - count - 1;
  const none: Pair = [0, 0];
  const x = pad(given, [none, ...paddings, ...new Array<Pair>(rest).fill(none)] as [number, number][]);
  const all = dims(x);
  blocks.forEach((b, i) => {
    if (differs(modDims(all[i + 1], b), 0))
      throw new InvalidArgumentError(
        `axis ${i + 1} has ${all[i + 1]} elements with paddings, which blocks of ${b} do not divide`,
        op,
      );
  });
  const split = blocks.flatMap((b, i): Dim[] => [floorDivDims(all[i + 1], b), b]);
  const tail = all.slice(count + 1);
  const apart = reshape(x, toShape([all[0], ...split, ...tail]));
  const perm = [
    ...blocks.map((_, i) => 2 * i + 2),
    0,
    ...blocks.map((_, i) => 2 * i + 1),
    ...tail.map((_, i) => 2 * count + 1 + i),
  ];
  const batch = blocks.reduce<Dim>((n, b) => mulDims(n, b), all[0]);
  return reshape(
    transpose(apart, perm),
    toShape([batch, ...blocks.map((b, i) => floorDivDims(all[i + 1], b)), ...tail]),
  );
}

/** Moves blocks of space out of the batch. */
export function toSpace(x: Tensor, blocks: readonly number[], crops: readonly Pair[], op: string): Tensor {
  const count = blocks.length;
  checkSpace(x, count, op);
  const all = dims(x);
  const product = blocks.reduce((n, b) => n * b, 1);
  if (differs(modDims(all[0], product), 0))
    throw new InvalidArgumentError(`the batch of ${all[0]} is no multiple of ${product} blocks`, op);
  const batch = floorDivDims(all[0], product);
  const tail = all.slice(count + 1);
  const apart = reshape(x, toShape([...blocks, batch, ...all.slice(1)]));
  const perm = [
    count,
    ...blocks.flatMap((_, i) => [count + 1 + i, i]),
    ...tail.map((_, i) => 2 * count + 1 + i),
  ];
  const sizes = blocks.map((b, i) => mulDims(all[i + 1], b));
  const joined = reshape(transpose(apart, perm), toShape([batch, ...sizes, ...tail]));
  const begin = [0, ...crops.map(([before]) => before), ...tail.map(() => 0)];
  const left = sizes.map((n, i) => subDims(n, addDims(crops[i][0], crops[i][1])));
  return slice(joined, toShape(begin), toShape([batch, ...left, ...tail]));
}

type ToBatch = NamedFunction<
  [input: TensorLike, blockShape: IntegersLike, paddings: PairsLike],
  ['input', 'blockShape', 'paddings']
>;
const defineToBatch = (name: string): ToBatch =>
  defineFunction(
    name,
    { input: kind.tensor, blockShape: kind.integers, paddings: kind.pairs },
    {},
    (input, blockShape, paddings) => {
      const op = 'SpaceToBatchND';
      const blocks = blocksOf(blockShape, op);
      return toBatch(toTensor(input), blocks, pairsOf(paddings, blocks.length, 'paddings', op), op);
    },
  );

/**
 * Blocks of the axes of space, which stand behind the batch, as examples of the batch: from each block every example takes one place.
 * @param paddings zeros before and after each of these axes
 */
export const spaceToBatch: ToBatch = /* @__PURE__ */ defineToBatch('spaceToBatch');
/** See `spaceToBatch`. */
export const spaceToBatchNd: ToBatch = /* @__PURE__ */ defineToBatch('spaceToBatchNd');

/** Undoes `spaceToBatch`. @param crops what is cut off before and after each axis of space */
export const batchToSpace: NamedFunction<
  [input: TensorLike, blockShape: IntegersLike, crops: PairsLike],
  ['input', 'blockShape', 'crops']
> = /* @__PURE__ */ defineFunction(
  'batchToSpace',
  { input: kind.tensor, blockShape: kind.integers, crops: kind.pairs },
  {},
  (input, blockShape, crops) => {
    const op = 'BatchToSpaceND';
    const blocks = blocksOf(blockShape, op);
    return toSpace(toTensor(input), blocks, pairsOf(crops, blocks.length, 'crops', op), op);
  },
);

/** Paddings of `spaceToBatch` with which blocks divide the sizes, and the crops that take them away again. */
export function paddingsFor(
  sizes: readonly Dim[],
  blocks: readonly number[],
  base: readonly Pair[],
): { readonly paddings: Pair[]; readonly crops: Pair[] } {
  const more = sizes.map((n, i) => {
    const full = addDims(addDims(n, base[i][0]), base[i][1]);
    const left = modDims(full, blocks[i]);
    return modDims(subDims(blocks[i], left), blocks[i]);
  });
  return {
    paddings: base.map(([before, after], i) => [before, addDims(after, more[i])]),
    crops: more.map((n) => [0, n]),
  };
}

/** The paddings for `spaceToBatch` with which blocks divide the sizes, and the crops for `batchToSpace`: [paddings, crops], int32 [n, 2]. */
export const requiredSpaceToBatchPaddings: NamedFunction<
  [inputShape: IntegersLike, blockShape: IntegersLike, basePaddings?: PairsLike | null],
  ['inputShape', 'blockShape', 'basePaddings'],
  unknown,
  [paddings: Tensor, crops: Tensor]
> = /* @__PURE__ */ defineFunction(
  'requiredSpaceToBatchPaddings',
  { inputShape: kind.shape, blockShape: kind.integers, basePaddings: kind.pairs },
  {},
  (inputShape, blockShape, basePaddings: PairsLike | null = null) => {
    const op = 'requiredSpaceToBatchPaddings';
    const blocks = blocksOf(blockShape, op);
    const sizes = dimsOf(checkList(inputShape as number[], 'inputShape', op));
    if (sizes.length !== blocks.length)
      throw new InvalidArgumentError(`inputShape and blockShape must have the same length`, op);
    const base =
      basePaddings === null
        ? blocks.map((): Pair => [0, 0])
        : pairsOf(basePaddings, blocks.length, 'basePaddings', op);
    const { paddings, crops } = paddingsFor(sizes, blocks, base);
    const matrix = (pairs: readonly Pair[]): Tensor =>
      stack(pairs.map((p) => stack(p.map((d) => toTensor(sizeValue(d, 'int32'), 'int32')))));
    return [matrix(paddings), matrix(crops)];
  },
);

// ---- patches

/** Windows over the axes behind the batch: [batch, counts…, window…, channels]. */
export function windowsOf(
  given: Tensor,
  window: Dims,
  strides: readonly number[],
  rates: readonly number[],
  padding: 'SAME' | 'VALID',
): Tensor {
  const count = window.length;
  const reach = window.map((k, i) => addDims(mulDims(subDims(k, 1), rates[i]), 1));
  const sizes = dims(given).slice(1, -1);
  const none: Pair = [0, 0];
  const counts = sizes.map((n, i) =>
    padding === 'SAME'
      ? floorDivDims(addDims(n, strides[i] - 1), strides[i])
      : maxDims(0, floorDivDims(subDims(addDims(n, strides[i]), reach[i]), strides[i])),
  );
  const around = sizes.map((n, i): Pair => {
    if (padding === 'VALID') return none;
    const total = maxDims(0, subDims(addDims(mulDims(subDims(counts[i], 1), strides[i]), reach[i]), n));
    const before = floorDivDims(total, 2);
    return [before, subDims(total, before)];
  });
  let x = padding === 'VALID' ? given : pad(given, [none, ...around, none] as [number, number][]);
  // Axis by axis, from the last one, so that those before keep their places.
  for (let i = count - 1; i >= 0; i--) {
    const first = expandDims(iota(counts[i], strides[i]), 1);
    x = gather(x, first.add(iota(window[i], rates[i])), i + 1);
  }
  return transpose(x, [
    0,
    ...window.map((_, i) => 2 * i + 1),
    ...window.map((_, i) => 2 * i + 2),
    2 * count + 1,
  ]);
}

/** The windows as channels: [batch, counts…, product of window · channels]. */
export function patchesOf(
  x: Tensor,
  ...rest: Parameters<typeof windowsOf> extends [Tensor, ...infer R] ? R : never
): Tensor {
  const windows = windowsOf(x, ...rest);
  const own = dims(windows);
  const count = rest[0].length;
  return reshape(windows, toShape([...own.slice(0, count + 1), own.slice(count + 1).reduce(mulDims, 1)]));
}

/** One size for each axis, of which the first and the last are 1. */
export function sizesBetween(given: unknown, rank: number, what: string, op: string): readonly number[] {
  const list = given as readonly number[];
  const fits =
    Array.isArray(list) &&
    list.length === rank &&
    list.every((k) => Number.isSafeInteger(k) && k >= 1) &&
    list[0] === 1 &&
    list[rank - 1] === 1;
  if (!fits)
    throw new InvalidArgumentError(
      `${what} must be ${rank} integers of at least 1, of which the first and the last are 1`,
      op,
    );
  return list.slice(1, -1);
}

/** Windows of volumes [batch, depth, height, width, channels] as channels. @param ksizes [1, depth, height, width, 1], as strides */
export const extractVolumePatches: NamedFunction<
  [input: TensorLike, ksizes: IntegersLike, strides: IntegersLike, padding: 'SAME' | 'VALID'],
  ['input', 'ksizes', 'strides', 'padding']
> = /* @__PURE__ */ defineFunction(
  'extractVolumePatches',
  { input: kind.tensor, ksizes: kind.integers, strides: kind.integers, padding: kind.asIs },
  {},
  (input, ksizes, strides, padding) => {
    const op = 'ExtractVolumePatches';
    const x = toTensor(input);
    checkDType(x.dtype, 'numeric', 'input', op);
    if (x.rank !== 5)
      throw new InvalidArgumentError(
        `input has shape ${showShape(x.shape)}, expected [batch, depth, height, width, channels]`,
        op,
      );
    checkOneOf(padding, ['SAME', 'VALID'], 'padding', op);
    const window = sizesBetween(ksizes, 5, 'ksizes', op);
    return patchesOf(x, window, sizesBetween(strides, 5, 'strides', op), [1, 1, 1], padding);
  },
);
