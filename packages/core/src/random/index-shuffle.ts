// The place of a number in a permutation that is never made as a whole.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkOneOf } from '../arguments/checks.ts';
import { defineOp, execute1, type Op } from '../dispatch/op.ts';
import { values } from '../dispatch/samples.ts';
import { pad } from '../ops/array/array.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
import { showShape } from '../shapes/shape.ts';
import { differs } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { emptyTensor, setValues, type Tensor } from '../tensor/tensor.ts';
import type { StatelessSeed } from './random.ts';
import { bigints } from './stateless-ops.ts';

const OP = 'RandomIndexShuffle';
const DTYPES = ['int32', 'uint32', 'int64', 'uint64'];

const lowerOf = (x: bigint): number => Number(BigInt.asIntN(32, x));

/**
 * A block cipher on blocks of 2 · width bits: SIMON (Beaulieu and others, 2013) with few rounds. The halves of a block have up to 32 bits, so that
 * no bigints are needed: one index may take thousands of rounds.
 */
class Cipher {
  readonly #width: number;
  readonly #mask: number;
  readonly #keys: Int32Array;
  readonly #mostHigh: number;
  readonly #mostLow: number;

  /** @param most the largest index */
  constructor(key: readonly bigint[], most: bigint, rounds: number) {
    const digits = Math.ceil(Math.log2(Number(most)));
    const width = Math.max(Number.isFinite(digits) ? digits + (digits % 2) : 0, 16) / 2;
    this.#width = width;
    this.#mask = width === 32 ? -1 : 2 ** width - 1;
    const halves = BigInt(width);
    this.#mostHigh = Number(most >> halves);
    this.#mostLow = Number(BigInt.asUintN(width, most));
    const keys = new Int32Array(rounds);
    keys.set(key.slice(0, rounds).map((k) => lowerOf(k) & this.#mask));
    const c = 0xfffffffc & this.#mask;
    let z = BigInt.asUintN(width, 0x7369f885192c0ef5n);
    for (let i = 3; i < rounds; i++) {
      const last = keys[i - 1];
      keys[i] = c ^ Number(z & 1n) ^ keys[i - 3] ^ this.#left(last, width - 3) ^ this.#left(last, width - 4);
      z >>= 1n;
    }
    this.#keys = keys;
  }
  /** A half turned to the left. */
  #left(x: number, by: number): number {
    return ((x << by) | (x >>> (this.#width - by))) & this.#mask;
  }
  #mix(x: number): number {
    // Halves of 8 bits are turned as a whole.
    const far = this.#width === 8 ? x : this.#left(x, 8);
    return (this.#left(x, 1) & far) ^ this.#left(x, 2);
  }
  /** Where an index goes: encrypted again and again until it is one of the indices. */
  placeOf(index: bigint): bigint {
    const keys = this.#keys;
    const high = this.#mostHigh;
    let left = Number(index >> BigInt(this.#width)) & this.#mask;
    let right = lowerOf(index) & this.#mask;
    do {
      for (let i = 0; i + 1 < keys.length; i += 2) {
        left ^= this.#mix(right) ^ keys[i];
        right ^= this.#mix(left) ^ keys[i + 1];
      }
    } while (left >>> 0 > high || (left >>> 0 === high && right >>> 0 > this.#mostLow));
    return (BigInt(left >>> 0) << BigInt(this.#width)) | BigInt(right >>> 0);
  }
}

/** The places of indices in a permutation of 0 … maxIndex, which a seed of three integers decides. */
const indexShuffleOp: Op = /* @__PURE__ */ defineOp({
  name: OP,
  infer: ([index, seed, most]) => {
    const outer = [index, most].find((t) => t.rank === 1) ?? (seed.rank === 2 ? seed : index);
    return { dtype: index.dtype, shape: outer === seed ? seed.shape.slice(0, 1) : outer.shape };
  },
  host: ([index, seed, most], { rounds }) => {
    const [all, keys, bounds] = [bigints(index), bigints(seed), bigints(most)] as const;
    const sizes = [index, most, seed]
      .filter((t) => t.rank === (t === seed ? 2 : 1))
      .map((t) => t.shape[0] as number);
    if (sizes.some((n) => n !== sizes[0]))
      throw new InvalidArgumentError(`index, seed and maxIndex have ${sizes.join(', ')} rows`, OP);
    const n = sizes[0] ?? 1;
    let cipher: Cipher | undefined;
    const places = new Map<bigint, bigint>();
    const found = Array.from({ length: n }, (_, i) => {
      const at = all[all.length === 1 ? 0 : i] as bigint;
      const bound = bounds[bounds.length === 1 ? 0 : i] as bigint;
      if (at < 0n || at > bound)
        throw new InvalidArgumentError(`index ${at} is not one of 0 … maxIndex, which is ${bound}`, OP);
      // One for all indices where seed and bound are.
      if (cipher === undefined || keys.length > 3 || bounds.length > 1) {
        const row = seed.rank === 2 ? 3 * i : 0;
        cipher = new Cipher(keys.slice(row, row + 3), bound, rounds as number);
        places.clear();
      }
      // Few indices come again and again.
      const isFew = bound < 1024n;
      const place = (isFew ? places.get(at) : undefined) ?? cipher.placeOf(at);
      if (isFew) places.set(at, place);
      return place;
    });
    const shape = sizes.length === 0 ? [] : [n];
    const long = index.dtype.endsWith('64');
    return [setValues(emptyTensor(index.dtype, shape, n), long ? found : found.map(Number))];
  },
  notDifferentiable: 'places are integers',
  samples: () => [
    {
      inputs: [
        values([0, 1, 2, 3], [4], 'int32'),
        values([498247692, 5, 9], [3], 'int32'),
        values([3], [], 'int32'),
      ],
      attrs: { rounds: 4 },
    },
  ],
});

/**
 * The place of an index in a permutation of 0 … maxIndex that the seed decides: TensorFlow's. No list of them is made, so they may be many.
 * @param index an integer, or several [n]
 * @param seed two integers, or [n, 2]
 * @param maxIndex the largest index, of the same dtype, or several [n]
 * @throws InvalidArgumentError for an index that is none of them
 */
export const indexShuffle: NamedFunction<
  [index: TensorLike, seed: StatelessSeed | TensorLike, maxIndex: TensorLike],
  ['index', 'seed', 'maxIndex']
> = /* @__PURE__ */ defineFunction(
  'random.experimental.indexShuffle',
  { index: kind.tensor, seed: kind.tensor, maxIndex: kind.tensor },
  {},
  (index, seed, maxIndex) => {
    const key = toTensor(seed as TensorLike, 'int32');
    const rows =
      key.rank === 2
        ? ([
            [0, 0],
            [1, 0],
          ] as const)
        : ([[1, 0]] as const);
    if (key.rank < 1 || key.rank > 2 || differs(dims(key).at(-1) as Dim, 2))
      throw new InvalidArgumentError(`seed must be two integers, or [n, 2], got ${showShape(key.shape)}`, OP);
    checkOneOf(key.dtype, DTYPES, 'the dtype of seed', OP);
    return shuffled(index, pad(key, rows as never, { constantValues: 498247692 }), maxIndex, 4);
  },
);

function shuffled(index: TensorLike, seed: Tensor, maxIndex: TensorLike, rounds: number): Tensor {
  const most = toTensor(maxIndex, 'int32');
  const at = toTensor(index, most.dtype);
  checkOneOf(at.dtype, DTYPES, 'the dtype of index', OP);
  if (at.rank > 1 || most.rank > 1 || at.dtype !== most.dtype)
    throw new InvalidArgumentError(
      `index ${at.dtype} ${showShape(at.shape)} and maxIndex ${most.dtype} ${showShape(most.shape)} must be scalars or lists of one dtype`,
      OP,
    );
  return execute1(indexShuffleOp, [at, seed, most], { rounds });
}

/** `random.experimental.indexShuffle` with a seed of three integers, or [n, 3], and a number of rounds, an even one of at least 4. */
export const randomIndexShuffle: NamedFunction<
  [index: TensorLike, seed: TensorLike, maxIndex: TensorLike],
  ['index', 'seed', 'maxIndex'],
  {
    /** How often indices are mixed: an even number; 4 by default. */
    readonly rounds?: number;
  }
> = /* @__PURE__ */ defineFunction(
  'randomIndexShuffle',
  { index: kind.tensor, seed: kind.tensor, maxIndex: kind.tensor },
  { rounds: kind.asIs },
  (index, seed, maxIndex, { rounds = 4 }) => {
    const key = toTensor(seed, 'int32');
    if (key.rank < 1 || key.rank > 2 || differs(dims(key).at(-1) as Dim, 3))
      throw new InvalidArgumentError(
        `seed must be three integers, or [n, 3], got ${showShape(key.shape)}`,
        OP,
      );
    checkOneOf(key.dtype, DTYPES, 'the dtype of seed', OP);
    if (!Number.isInteger(rounds) || rounds < 4 || rounds % 2 !== 0 || rounds > 64)
      throw new InvalidArgumentError(`rounds is ${rounds}, expected an even number of at least 4`, OP);
    return shuffled(index, key, maxIndex, rounds);
  },
);
