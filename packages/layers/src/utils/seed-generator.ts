// Seeds of functions that draw at random, as a variable.
import { InvalidArgumentError, Module, type Tensor, Variable } from '@eagre/core';
import {
  alikeInReplicas,
  argumentsOf,
  defineMethods,
  inInitScope,
  shown,
  takesArguments,
  variableIn,
} from '@eagre/core/internal';
import { uniqueName } from '../layer/naming.ts';

/** Options of `SeedGenerator`. */
export interface SeedGeneratorOptions {
  /** An integer; a random one unless given. */
  readonly seed?: number | null;
  /** Of its state in files; unique in the program unless given. */
  readonly name?: string | null;
}

/**
 * Gives functions of `tf.keras.random` another seed at each call, and so other numbers: `tf.keras.random.normal([2], { seed: generator })`.
 * With an integer they draw the same numbers at each call. A generator that is an attribute of a layer is among the layer's `variables`, not
 * among its `weights`.
 *
 *     class Noise extends tf.keras.layers.Layer {
 *       seedGenerator = new tf.keras.random.SeedGenerator(1337);
 *       call(x) {
 *         return x.add(tf.keras.random.normal(x.shape, { seed: this.seedGenerator }));
 *       }
 *     }
 */
export class SeedGenerator extends Module {
  /** The seed, and how many seeds were given: int64 [2]. */
  readonly state: Variable;
  readonly #seed: number | null;

  constructor(...args: [seed?: number | null | SeedGeneratorOptions, options?: SeedGeneratorOptions]) {
    const options = argumentsOf<SeedGeneratorOptions>(SeedGenerator, new.target, args);
    super({ name: options.name ?? uniqueName('SeedGenerator') });
    const seed = options.seed ?? null;
    if (seed !== null && !Number.isSafeInteger(seed))
      throw new InvalidArgumentError(`the seed must be an integer, got ${shown(seed)}`, 'SeedGenerator');
    this.#seed = seed;
    const first = BigInt(seed ?? 1 + Math.floor(Math.random() * 1e9));
    const name = 'seed_generator_state';
    this.state = inInitScope(() =>
      variableIn(
        this.name,
        name,
        () => new Variable(BigInt64Array.of(first, 0n), { trainable: false, dtype: 'int64', name }),
      ),
    );
  }

  /**
   * The next seed, int64 [2].
   * @param ordered Whether they count up; without, they are mixed, and repeat after about a million. True by default.
   */
  next(ordered?: boolean): Tensor;
  next(options: {
    /** Whether seeds count up; false mixes them, and they repeat after about a million. True by default. */
    readonly ordered?: boolean;
  }): Tensor;
  next(ordered: unknown = true): Tensor {
    if (typeof ordered !== 'boolean')
      throw new InvalidArgumentError(
        `ordered must be true or false, got ${shown(ordered)}`,
        'SeedGenerator.next',
      );
    const seed = this.state.read().mul(1);
    alikeInReplicas(() => {
      if (ordered) this.state.assignAdd(BigInt64Array.of(0n, 1n));
      else this.state.assign(seed.add(1n).mul(5387n).mod(933199n));
    });
    return seed;
  }

  getConfig(): Record<string, unknown> {
    return { seed: this.#seed, name: this.name };
  }
  /** A generator of the options that `getConfig` gave. */
  static fromConfig(config: SeedGeneratorOptions): SeedGenerator {
    return new SeedGenerator(config);
  }
}
takesArguments<SeedGeneratorOptions>(
  { positional: ['seed'], required: 0, names: { seed: true, name: true } },
  SeedGenerator,
);
defineMethods(SeedGenerator.prototype, 'SeedGenerator', { next: { positional: ['ordered'], required: 0 } });
