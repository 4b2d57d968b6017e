// Random numbers as pure functions of a seed: TensorFlow's own on CPUs, to the last bit where it defines them.
import { type DType, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import { knownTensor } from '../dispatch/symbolic.ts';
import { ownShape } from '../ops/array/moving.ts';
import { dims } from '../shapes/dims.ts';
import { type Shape, show, showShape } from '../shapes/shape.ts';
import { differs } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType, isInteger } from '../tensor/dtypes.ts';
import { Tensor } from '../tensor/tensor.ts';
import type { NormalOptions, StatelessSeed, UniformOptions } from './random.ts';
import {
  drawn,
  fullIntOp,
  integerOp,
  type KeyAndCounter,
  keyAndCounter,
  knownKeyAndCounter,
  normalOp,
  shuffledRows,
  truncatedOp,
  uniformOp,
} from './stateless-ops.ts';

/** The algorithms of random numbers, by TensorFlow's numbers. Philox is the one that is here; AUTO_SELECT selects it. */
export const Algorithm: { readonly PHILOX: 1; readonly THREEFRY: 2; readonly AUTO_SELECT: 3 } = {
  PHILOX: 1,
  THREEFRY: 2,
  AUTO_SELECT: 3,
};

/** An algorithm, by number or by name. */
export type AlgorithmLike = 1 | 2 | 3 | 'philox' | 'threefry' | 'autoSelect' | 'auto_select';

const numbersByName: Readonly<Record<string, 1 | 2 | 3>> = { philox: 1, threefry: 2, autoselect: 3 };

/** The number of an algorithm. @throws UnimplementedError for ThreeFry; InvalidArgumentError for others */
export function algorithmOf(alg: unknown, op: string): 1 | 3 {
  const found =
    typeof alg === 'string' ? numbersByName[alg.trim().toLowerCase().replaceAll(/[-_]/g, '')] : alg;
  if (found === 2)
    throw new UnimplementedError("ThreeFry is not here; use 'philox', which TensorFlow takes on CPUs", op);
  if (found !== 1 && found !== 3)
    throw new InvalidArgumentError(
      `alg must be 'philox', 'threefry' or 'auto_select', got ${shown(alg)}`,
      op,
    );
  return found;
}

/** Options of functions of a seed. */
export interface AlgorithmOptions {
  /** Philox by default, which TensorFlow selects on CPUs. */
  readonly alg?: AlgorithmLike | null;
}

/** Two integers as a tensor, int32 or int64. */
export function seedTensor(seed: StatelessSeed, op: string): Tensor {
  if (!(seed instanceof Tensor)) {
    const list = seed as readonly unknown[];
    if (!Array.isArray(list) || list.length !== 2 || !list.every((s) => Number.isSafeInteger(s)))
      throw new InvalidArgumentError(`seed must be two integers, got ${show(seed)}`, op);
    const small = list.every((s) => s === (s | 0));
    return small
      ? toTensor({ data: Int32Array.from(list as number[]), shape: [2] })
      : toTensor({ data: BigInt64Array.from(list as number[], BigInt), shape: [2] });
  }
  checkDType(seed.dtype, 'integer', 'seed', op);
  if (seed.rank !== 1 || differs(dims(seed)[0], 2))
    throw new InvalidArgumentError(`seed must be two integers, got shape ${showShape(seed.shape)}`, op);
  return seed.dtype === 'int64' || seed.dtype === 'int32' ? seed : seed.cast('int64');
}

/** Key and counter of a seed: constants where it is known. */
function statelessFrom(seed: StatelessSeed, alg: unknown, op: string): KeyAndCounter {
  algorithmOf(alg ?? 3, op);
  const given = seedTensor(seed, op);
  const known = knownTensor(given);
  return known === null ? keyAndCounter(given) : knownKeyAndCounter(known);
}

const INTEGERS: readonly DType[] = ['int32', 'int64', 'uint32', 'uint64'];

/** Bounds of an integer dtype. */
const rangeOf = (dtype: DType): readonly [low: bigint, high: bigint] => {
  const bits = dtype.endsWith('64') ? 64n : 32n;
  return dtype.startsWith('u') ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
};
function boundTensor(value: unknown, dtype: DType, what: string, op: string): Tensor {
  if (value instanceof Tensor) {
    if (value.rank !== 0 || !isInteger(value.dtype))
      throw new InvalidArgumentError(
        `${what} must be an integer, got ${value.dtype} ${showShape(value.shape)}`,
        op,
      );
    return value.cast(dtype);
  }
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value))
    throw new InvalidArgumentError(
      `${dtype} needs integers minval < maxval, as bigints from 2^53 on, got ${shown(value)} for ${what}`,
      op,
    );
  const exact = BigInt(value as number);
  const [least, most] = rangeOf(dtype);
  if (exact < least || exact > most)
    throw new InvalidArgumentError(`${what} ${exact} is outside the range of ${dtype}`, op);
  return toTensor(
    dtype.endsWith('64')
      ? { data: dtype === 'int64' ? BigInt64Array.of(exact) : BigUint64Array.of(exact), shape: [] }
      : { data: dtype === 'int32' ? Int32Array.of(Number(exact)) : Uint32Array.of(Number(exact)), shape: [] },
  );
}

/** What a call of uniform numbers asks for, checked. */
type UniformBounds =
  | { readonly kind: 'full' }
  | { readonly kind: 'integers'; readonly low: Tensor; readonly high: Tensor; readonly as: DType }
  | { readonly kind: 'floats'; readonly low: TensorLike; readonly high: TensorLike };

function uniformBounds(options: UniformOptions, dtype: DType, op: string): UniformBounds {
  const { minval, maxval } = options;
  if (dtype === 'uint8') {
    const { low, high } = uniformBounds(
      { minval: minval ?? 0, ...(maxval == null ? {} : { maxval }) },
      'int32',
      op,
    ) as {
      readonly low: Tensor;
      readonly high: Tensor;
    };
    return { kind: 'integers', low, high, as: 'int32' };
  }
  if (INTEGERS.includes(dtype)) {
    if (minval === null && maxval === null) return { kind: 'full' };
    if (maxval === null || maxval === undefined || minval === null)
      throw new InvalidArgumentError(
        `${dtype} needs minval < maxval; give null for both for integers of all bits`,
        op,
      );
    if (dtype === 'uint32' || dtype === 'uint64')
      throw new InvalidArgumentError(`${dtype} is drawn with all bits: give null for minval and maxval`, op);
    const [low, high] = [minval ?? 0, maxval].map((v, i) =>
      boundTensor(v, dtype, i === 0 ? 'minval' : 'maxval', op),
    ) as [Tensor, Tensor];
    if (
      !(minval instanceof Tensor) &&
      !(maxval instanceof Tensor) &&
      BigInt((minval ?? 0) as number) >= BigInt(maxval as number)
    )
      throw new InvalidArgumentError(
        `${dtype} needs integers minval < maxval, got ${shown(minval ?? 0)} and ${shown(maxval)}`,
        op,
      );
    return { kind: 'integers', low, high, as: dtype };
  }
  checkDType(dtype, 'floating', 'dtype', op);
  const [low, high] = [minval ?? 0, maxval ?? 1];
  if (typeof low === 'number' && typeof high === 'number' && !(low <= high))
    throw new InvalidArgumentError(`minval ${low} is not below maxval ${high}`, op);
  return { kind: 'floats', low, high };
}

/** Uniform numbers by key and counter. */
export function uniformOf(
  shape: Shape,
  options: UniformOptions,
  from: () => KeyAndCounter,
  op: string,
): Tensor {
  const to = ownShape(shape, op);
  const dtype = options.dtype ?? 'float32';
  const bounds = uniformBounds(options, dtype, op);
  if (bounds.kind === 'full') return drawn(fullIntOp, to, from(), dtype);
  if (bounds.kind === 'integers') {
    const y = drawn(integerOp, to, from(), bounds.as, bounds.low, bounds.high);
    return bounds.as === dtype ? y : y.cast(dtype);
  }
  const low = toTensor(bounds.low, dtype);
  return drawn(uniformOp, to, from(), dtype).mul(toTensor(bounds.high, dtype).sub(low)).add(low);
}

/** Normally distributed numbers by key and counter. */
export function normalOf(
  truncated: boolean,
  shape: Shape,
  options: NormalOptions,
  from: () => KeyAndCounter,
  op: string,
): Tensor {
  const to = ownShape(shape, op);
  const { mean, stddev } = options;
  const dtype = options.dtype ?? 'float32';
  checkDType(dtype, 'floating', 'dtype', op);
  if (typeof stddev === 'number' && !(stddev >= 0))
    throw new InvalidArgumentError(`stddev is ${stddev}, expected at least 0`, op);
  return drawn(truncated ? truncatedOp : normalOp, to, from(), dtype)
    .mul(toTensor(stddev ?? 1, dtype))
    .add(toTensor(mean ?? 0, dtype));
}

/**
 * `uniform` as a pure function of the seed: TensorFlow's numbers. With null for minval and maxval, integers of all bits (int32, int64,
 * uint32, uint64).
 */
export const statelessUniform: NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed],
  ['shape', 'seed'],
  Omit<UniformOptions, 'minval' | 'maxval'> & {
    /** The least number; 0 by default. Null, with null for `maxval`: integers of all bits. */
    readonly minval?: TensorLike | null;
    /** All numbers are below; 1 by default, and needed for integers. */
    readonly maxval?: TensorLike | null;
  } & AlgorithmOptions
> = /* @__PURE__ */ defineFunction(
  'random.statelessUniform',
  { shape: kind.shape, seed: kind.asIs },
  { minval: kind.asIs, maxval: kind.asIs, dtype: kind.asIs, alg: kind.asIs },
  (shape: Shape, seed, { alg, ...options }) => {
    const op = 'StatelessRandomUniform';
    return uniformOf(shape, options as UniformOptions, () => statelessFrom(seed, alg, op), op);
  },
);

type StatelessNormals = NamedFunction<
  [shape: ShapeLike, seed: StatelessSeed],
  ['shape', 'seed'],
  NormalOptions & AlgorithmOptions
>;
const normals = /* @__NO_SIDE_EFFECTS__ */ (name: string, truncated: boolean, op: string): StatelessNormals =>
  defineFunction(
    `random.${name}`,
    { shape: kind.shape, seed: kind.asIs },
    { mean: kind.asIs, stddev: kind.asIs, dtype: kind.asIs, alg: kind.asIs },
    (shape: Shape, seed, { alg, ...options }) =>
      normalOf(truncated, shape, options, () => statelessFrom(seed, alg, op), op),
  );

/** `normal` as a pure function of the seed: TensorFlow's numbers. */
export const statelessNormal: StatelessNormals = /* @__PURE__ */ normals(
  'statelessNormal',
  false,
  'StatelessRandomNormal',
);
/** `truncatedNormal` as a pure function of the seed: TensorFlow's numbers. */
export const statelessTruncatedNormal: StatelessNormals = /* @__PURE__ */ normals(
  'statelessTruncatedNormal',
  true,
  'StatelessTruncatedNormal',
);

/** The rows of x (along its first axis) in an order that the seed decides: TensorFlow's. */
export const statelessShuffle: NamedFunction<
  [value: TensorLike, seed: StatelessSeed],
  ['value', 'seed'],
  AlgorithmOptions
> = /* @__PURE__ */ defineFunction(
  'random.experimental.statelessShuffle',
  { value: kind.tensor, seed: kind.asIs },
  { alg: kind.asIs },
  (value, seed, { alg }) => {
    const op = 'StatelessShuffle';
    const t = toTensor(value);
    const from = statelessFrom(seed, alg, op);
    if (t.rank === 0) return t;
    return shuffledRows(t, from);
  },
);
