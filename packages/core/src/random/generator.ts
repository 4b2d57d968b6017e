// `tf.random.Generator`: TensorFlow's, with its state in a variable.
import { type DType, FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import type { ShapeLike } from '../arguments/argument-kinds.ts';
import * as kind from '../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, defineMethods, type NamedFunction } from '../arguments/arguments.ts';
import { shown } from '../arguments/checks.ts';
import type { OptionNames } from '../arguments/option-names.ts';
import { inInitScope } from '../dispatch/context.ts';
import type { Trackable, TrackableView } from '../module/trackable.ts';
import { concat, stack } from '../ops/array/join.ts';
import { bitcast } from '../ops/elementwise/cast.ts';
import { productOf } from '../shapes/dim.ts';
import { dimsOf } from '../shapes/dims.ts';
import { checkShape, type Shape, sameShape, showShape } from '../shapes/shape.ts';
import { sizeValue } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { isInteger } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { Variable } from '../tensor/variable.ts';
import { binomialOf } from './parameters.ts';
import type { NormalOptions, UniformOptions } from './random.ts';
import { determinism } from './seeds.ts';
import { type AlgorithmLike, algorithmOf, normalOf, uniformOf } from './stateless.ts';
import { drawn, fullIntOp, type KeyAndCounter } from './stateless-ops.ts';

/** An integer, which may have up to 192 bits, or at most three of them, also as a tensor. */
export type GeneratorSeed = number | bigint | readonly (number | bigint)[] | Tensor;

const int64s = (list: readonly bigint[]): Tensor =>
  toTensor({ data: BigInt64Array.from(list, (v) => BigInt.asIntN(64, v)), shape: [list.length] });
const isInt = (v: unknown): v is number | bigint => typeof v === 'bigint' || Number.isSafeInteger(v);

/** The state of a generator from a seed: counter and key of Philox, int64 [3]. */
function stateOfSeed(seed: GeneratorSeed, op: string): Tensor {
  if (isInt(seed)) {
    // From the lowest bits on, so that a small seed is the counter.
    const bits = BigInt(seed);
    return int64s([bits, bits >> 64n, bits >> 128n]);
  }
  if (Array.isArray(seed) ? !seed.every(isInt) : typeof seed !== 'object' || seed === null)
    throw new InvalidArgumentError(`seed must be an integer, or at most three, got ${shown(seed)}`, op);
  const list = Array.isArray(seed) ? int64s(seed.map(BigInt)) : toTensor(seed as TensorLike);
  if (!isInteger(list.dtype) || list.rank > 1)
    throw new InvalidArgumentError(`seed must be integers, got ${list.dtype} ${showShape(list.shape)}`, op);
  const flat = list.cast('int64').reshape([-1]);
  const size = flat.size;
  if (size === 0 || size > 3) throw new InvalidArgumentError('seed must be an integer, or at most three', op);
  return size === 3 ? flat : concat([int64s(new Array<bigint>(3 - size).fill(0n)), flat], 0);
}

/** The state of a generator from a seed: counter and key of Philox, int64 [3]. @throws InvalidArgumentError for another seed */
export const createRngState: NamedFunction<[seed: GeneratorSeed, alg: AlgorithmLike], ['seed', 'alg']> =
  /* @__PURE__ */ defineFunction(
    'random.createRngState',
    { seed: kind.asIs, alg: kind.asIs },
    {},
    (seed, alg) => {
      algorithmOf(alg, 'random.createRngState');
      return stateOfSeed(seed, 'random.createRngState');
    },
  );

/** A state that is new in each run. @throws FailedPreconditionError where runs have to be alike */
function entropy(): bigint[] {
  if (determinism.enabled)
    throw new FailedPreconditionError(
      'a generator needs a seed while op determinism is enabled: write tf.random.Generator.fromSeed(seed)',
      'Generator.fromNonDeterministicState',
    );
  return [...globalThis.crypto.getRandomValues(new BigInt64Array(3))];
}

function checkState(state: TensorLike, op: string): Tensor {
  const t = toTensor(state, 'int64');
  if (!isInteger(t.dtype) || !sameShape(t.shape, [3]))
    throw new InvalidArgumentError(
      `state must be three integers, of counter and key, got ${t.dtype} ${showShape(t.shape)}`,
      op,
    );
  return t.cast('int64');
}
const stateOfKey = (key: TensorLike, counter: TensorLike, op: string): Tensor => {
  const [k, c] = [toTensor(key, 'int64'), toTensor(counter, 'int64')];
  if (!isInteger(k.dtype) || !isInteger(c.dtype) || k.rank !== 0 || !sameShape(c.shape, [2]))
    throw new InvalidArgumentError(
      `key must be an integer and counter two, got ${k.dtype} ${showShape(k.shape)} and ${c.dtype} ${showShape(c.shape)}`,
      op,
    );
  return concat([c.cast('int64'), k.cast('int64').reshape([1])], 0);
};

/** The counter that many numbers further on; TensorFlow sets 256 blocks aside for each. */
function advanced(state: Tensor, count: Tensor): Tensor {
  const [low, high, key] = [state.at(0), state.at(1), state.at(2)];
  const next = low.add(count.mul(256n));
  // As unsigned integers: both with the highest bit turned.
  const least = -(2n ** 63n);
  const carry = next.add(least).less(low.add(least)).cast('int64');
  return stack([next, high.add(carry), key]);
}

/** Options of `Generator`: a state with its algorithm, or a generator to begin like. */
export interface GeneratorOptions {
  /** A generator whose state and algorithm this one begins with. Not beside the other two. */
  readonly copyFrom?: Generator | null;
  /** Counter and key, int64 [3]; a variable is used as it is. */
  readonly state?: TensorLike | Variable | null;
  /** The algorithm that the state is for: `'philox'` or 1, `'auto_select'` or 3. ThreeFry is not here. */
  readonly alg?: AlgorithmLike | null;
}
const uniformOptions: OptionNames<UniformOptions> = { minval: true, maxval: true, dtype: true };
const normalOptions: OptionNames<NormalOptions> = { mean: true, stddev: true, dtype: true };

/**
 * A source of random numbers with a state of its own: TensorFlow's numbers for the same state.
 * `const g = tf.random.Generator.fromSeed(1); g.normal([2, 3])`
 */
export class Generator implements Trackable {
  readonly #state: Variable;
  readonly #algorithm: 1 | 3;

  constructor(options: GeneratorOptions) {
    const op = 'random.Generator';
    const given = options as GeneratorOptions | undefined;
    const from = given?.copyFrom;
    if (
      typeof given !== 'object' ||
      given === null ||
      (from == null && (given.state == null || given.alg == null))
    )
      throw new InvalidArgumentError(
        'write tf.random.Generator.fromSeed(seed), or fromNonDeterministicState(), or give state and alg',
        op,
      );
    for (const key of Object.keys(given))
      if (!['copyFrom', 'state', 'alg'].includes(key))
        throw new InvalidArgumentError(`'${key}' is not an option; the options are copyFrom, state, alg`, op);
    if (from != null && (!(from instanceof Generator) || given.state != null || given.alg != null))
      throw new InvalidArgumentError('copyFrom must be a Generator, without state and alg', op);
    const { state } = given;
    this.#algorithm = from == null ? algorithmOf(given.alg, op) : from.algorithm;
    if (from == null && state instanceof Variable) {
      checkState(state, op);
      if (state.dtype !== 'int64')
        throw new InvalidArgumentError(`state is ${state.dtype}, expected int64`, op);
      this.#state = state;
      return;
    }
    const first = from == null ? checkState(state as TensorLike, op) : from.state.read();
    this.#state = new Variable(first, { trainable: false, name: 'random_generator/StateVar' });
  }

  /** Checkpoints hold the state as TensorFlow's do. */
  trackableView(): TrackableView {
    return { children: [['_state_var', this.#state]] };
  }

  /** The same seed gives the same numbers. */
  static fromSeed(
    ...args: Arguments<[seed: GeneratorSeed, alg?: AlgorithmLike | null], ['seed', 'alg']>
  ): Generator;
  static fromSeed(seed: GeneratorSeed, alg: AlgorithmLike | null = null): Generator {
    return new Generator({ state: stateOfSeed(seed, 'Generator.fromSeed'), alg: alg ?? 1 });
  }
  /** A generator that differs from run to run. */
  static fromNonDeterministicState(...args: Arguments<[alg?: AlgorithmLike | null], ['alg']>): Generator;
  static fromNonDeterministicState(alg: AlgorithmLike | null = null): Generator {
    return new Generator({ state: int64s(entropy()), alg: alg ?? 1 });
  }
  /** A generator with a state: counter and key, int64 [3]. */
  static fromState(...args: Arguments<[state: TensorLike, alg: AlgorithmLike], ['state', 'alg']>): Generator;
  static fromState(state: TensorLike, alg: AlgorithmLike): Generator {
    return new Generator({ state, alg });
  }
  /** A generator with a key, and a counter of two integers. */
  static fromKeyCounter(
    ...args: Arguments<[key: TensorLike, counter: TensorLike, alg: AlgorithmLike], ['key', 'counter', 'alg']>
  ): Generator;
  static fromKeyCounter(key: TensorLike, counter: TensorLike, alg: AlgorithmLike): Generator {
    return new Generator({ state: stateOfKey(key, counter, 'Generator.fromKeyCounter'), alg });
  }

  /** Counter and key, int64 [3]. */
  get state(): Variable {
    return this.#state;
  }
  /** The number of its algorithm, see `Algorithm`. */
  get algorithm(): 1 | 3 {
    return this.#algorithm;
  }
  /** The key, an int64. */
  get key(): Tensor {
    return this.#state.read().at(2);
  }

  /** Moves the state on as if that many numbers had been drawn. @returns the state before, int64 [3] */
  skip(...args: Arguments<[delta: TensorLike], ['delta']>): Tensor;
  skip(delta: TensorLike): Tensor {
    const count = toTensor(delta, 'int64');
    if (!isInteger(count.dtype) || count.rank !== 0)
      throw new InvalidArgumentError(
        `delta must be an integer, got ${count.dtype} ${showShape(count.shape)}`,
        'Generator.skip',
      );
    const before = this.#state.read();
    this.#state.assign(advanced(before, count.cast('int64')));
    return before;
  }

  /** Key and counter for so many numbers. */
  #next(shape: Shape, op: string): KeyAndCounter {
    const count = sizeValue(productOf(dimsOf(checkShape(shape, op))), 'int64');
    const before = this.skip(toTensor(count, 'int64'));
    return [bitcast(before.at('2:'), 'uint64'), bitcast(before.at(':2'), 'uint64')];
  }

  /** See `tf.random.uniform`. Null for minval and maxval gives integers of all bits. */
  uniform(...args: Arguments<[shape: ShapeLike], ['shape'], UniformOptions>): Tensor;
  uniform(shape: Shape, options: UniformOptions = {}): Tensor {
    const op = 'Generator.uniform';
    const to = kind.shape.read?.(shape, 'shape', op) as Shape;
    return uniformOf(to, options, () => this.#next(to, op), op);
  }
  /** Integers of all bits: int32, int64, uint32, or uint64 by default. */
  uniformFullInt(
    ...args: Arguments<
      [shape: ShapeLike],
      ['shape'],
      {
        /** Of the integers, whose bits are all drawn; uint64 by default. */
        readonly dtype?: DType;
      }
    >
  ): Tensor;
  uniformFullInt(shape: Shape, { dtype = 'uint64' }: { readonly dtype?: DType } = {}): Tensor {
    const op = 'Generator.uniformFullInt';
    const to = kind.shape.read?.(shape, 'shape', op) as Shape;
    return uniformOf(
      to,
      { dtype, minval: null as never, maxval: null as never },
      () => this.#next(to, op),
      op,
    );
  }
  /** See `tf.random.normal`. */
  normal(...args: Arguments<[shape: ShapeLike], ['shape'], NormalOptions>): Tensor;
  normal(shape: Shape, options: NormalOptions = {}): Tensor {
    return this.#normals(false, shape, options, 'Generator.normal');
  }
  /** See `tf.random.truncatedNormal`. */
  truncatedNormal(...args: Arguments<[shape: ShapeLike], ['shape'], NormalOptions>): Tensor;
  truncatedNormal(shape: Shape, options: NormalOptions = {}): Tensor {
    return this.#normals(true, shape, options, 'Generator.truncatedNormal');
  }
  #normals(truncated: boolean, shape: Shape, options: NormalOptions, op: string): Tensor {
    const to = kind.shape.read?.(shape, 'shape', op) as Shape;
    return normalOf(truncated, to, options, () => this.#next(to, op), op);
  }
  /** Integers in [minval, maxval); int32 by default. */
  uniformInt(shape: ShapeLike, options: UniformOptions & { maxval: number | bigint }): Tensor;
  uniformInt(
    options: UniformOptions & {
      /** Of the result. */
      shape: ShapeLike;
      maxval: number | bigint;
    },
  ): Tensor;
  uniformInt(shape: unknown, options: UniformOptions = {}): Tensor {
    return this.uniform(shape as Shape, { dtype: 'int32', ...options });
  }

  /**
   * How many of `counts` attempts succeed, each with a probability: of a shape, which ends in that of both.
   * @throws InvalidArgumentError for parameters that are not the end of the shape, and a dtype that is not numeric
   */
  binomial(
    ...args: Arguments<
      [shape: ShapeLike, counts: TensorLike, probs: TensorLike],
      ['shape', 'counts', 'probs'],
      {
        /** Of the numbers; int32 by default. */
        readonly dtype?: DType;
      }
    >
  ): Tensor;
  binomial(
    shape: Shape,
    counts: TensorLike,
    probs: TensorLike,
    { dtype = 'int32' }: { readonly dtype?: DType } = {},
  ): Tensor {
    const op = 'Generator.binomial';
    const to = kind.shape.read?.(shape, 'shape', op) as Shape;
    return binomialOf(this, to, [counts, probs], dtype, op);
  }

  /** Seeds for stateless functions, int64 [2, count]: each column is one. */
  makeSeeds(...args: Arguments<[count?: number], ['count']>): Tensor;
  makeSeeds(count = 1): Tensor {
    const keys = this.#keys(count, 'Generator.makeSeeds');
    return stack([keys, keys.mul(0n)]);
  }
  /** New generators, independent of this one, whose state moves on, and of each other. */
  split(...args: Arguments<[count?: number], ['count']>): Generator[];
  split(count = 1): Generator[] {
    const keys = this.#keys(count, 'Generator.split');
    const zero = int64s([0n, 0n]);
    return Array.from(
      { length: count },
      (_, i) => new Generator({ state: concat([zero, keys.at(`${i}:${i + 1}`)], 0), alg: this.#algorithm }),
    );
  }
  #keys(count: number, op: string): Tensor {
    if (!Number.isInteger(count) || count < 1 || count > 2 ** 22)
      throw new InvalidArgumentError(`count is ${shown(count)}, expected an integer of at least 1`, op);
    return drawn(fullIntOp, [count], this.#next([count], op), 'int64');
  }

  /** Starts anew from a state: counter and key, int64 [3]. */
  reset(...args: Arguments<[state: TensorLike], ['state']>): void;
  reset(state: TensorLike): void {
    this.#state.assign(checkState(state, 'Generator.reset'));
  }
  /** Starts anew from a seed. */
  resetFromSeed(...args: Arguments<[seed: GeneratorSeed], ['seed']>): void;
  resetFromSeed(seed: GeneratorSeed): void {
    this.#state.assign(stateOfSeed(seed, 'Generator.resetFromSeed'));
  }
  /** Starts anew from a key, and a counter of two integers. */
  resetFromKeyCounter(...args: Arguments<[key: TensorLike, counter: TensorLike], ['key', 'counter']>): void;
  resetFromKeyCounter(key: TensorLike, counter: TensorLike): void {
    this.#state.assign(stateOfKey(key, counter, 'Generator.resetFromKeyCounter'));
  }
}

defineMethods(Generator, 'Generator', {
  fromSeed: { positional: ['seed', 'alg'], required: 1 },
  fromNonDeterministicState: { positional: ['alg'], required: 0 },
  fromState: { positional: ['state', 'alg'] },
  fromKeyCounter: { positional: ['key', 'counter', 'alg'] },
});
defineMethods(Generator.prototype, 'Generator', {
  skip: { positional: ['delta'] },
  uniform: { positional: ['shape'], options: uniformOptions },
  uniformFullInt: { positional: ['shape'], options: { dtype: true } },
  normal: { positional: ['shape'], options: normalOptions },
  truncatedNormal: { positional: ['shape'], options: normalOptions },
  uniformInt: { positional: ['shape'], options: uniformOptions },
  binomial: { positional: ['shape', 'counts', 'probs'], options: { dtype: true } },
  makeSeeds: { positional: ['count'], required: 0 },
  split: { positional: ['count'], required: 0 },
  reset: { positional: ['state'] },
  resetFromSeed: { positional: ['seed'] },
  resetFromKeyCounter: { positional: ['key', 'counter'] },
});

let globalGenerator: Generator | undefined;

/** The generator that all of the program may share; differs from run to run unless reset from a seed. */
export const getGlobalGenerator: NamedFunction<[], [], unknown, Generator> = /* @__PURE__ */ defineFunction(
  'random.getGlobalGenerator',
  {},
  {},
  () => {
    globalGenerator ??= inInitScope(() => Generator.fromNonDeterministicState());
    return globalGenerator;
  },
);

/** Makes a generator the one that all of the program may share. */
export const setGlobalGenerator: NamedFunction<[generator: Generator], ['generator'], unknown, void> =
  /* @__PURE__ */ defineFunction('random.setGlobalGenerator', { generator: kind.asIs }, {}, (generator) => {
    if (!(generator instanceof Generator))
      throw new InvalidArgumentError(
        `expected a Generator, got ${shown(generator)}`,
        'random.setGlobalGenerator',
      );
    globalGenerator = generator;
  });

export { Algorithm } from './stateless.ts';
