import { InvalidArgumentError, Variable } from '@eagre/core';
import {
  argumentsOf,
  Callable,
  checkConfig,
  checkText,
  defineMethods,
  isPlain,
  type SerializedObject,
  serializedObject,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { reading } from './reading.ts';

type Optimizers = Readonly<Record<string, Optimizer>>;

/** Options of `OptimizerMap`. */
export interface OptimizerMapOptions {
  /** That of variables for which there is no other. */
  readonly defaultOptimizer: Optimizer;
  /** Optimizers by names of variables, or by regular expressions for them. */
  readonly optimizerMap?: Optimizers | null;
}

/**
 * Optimizers by the names of variables, for `MultiOptimizer`. A key is the name of a variable, or a regular expression for all of one:
 * `'encoder/.*'`. The map is a function of a variable.
 *
 *     const map = new tf.optimizers.OptimizerMap(new tf.optimizers.SGD(0.1));
 *     map.set('encoder/.*', new tf.optimizers.Adam());
 */
export class OptimizerMap extends Callable {
  /** That of variables for which there is no other. */
  readonly defaultOptimizer: Optimizer;
  readonly #optimizers = new Map<string, Optimizer>();

  constructor(
    ...args: [
      defaultOptimizer: Optimizer | OptimizerMapOptions,
      optimizerMap?: Optimizers | null | Omit<OptimizerMapOptions, 'defaultOptimizer'>,
    ]
  ) {
    super();
    const { defaultOptimizer, optimizerMap } = argumentsOf<OptimizerMapOptions>(
      OptimizerMap,
      new.target,
      args,
    );
    checkOptimizer(defaultOptimizer, 'defaultOptimizer');
    this.defaultOptimizer = defaultOptimizer;
    const given: unknown = optimizerMap ?? {};
    if (!isPlain(given))
      throw new InvalidArgumentError(
        `optimizerMap must be optimizers by names of variables, got ${shown(given)}`,
        'OptimizerMap',
      );
    for (const [key, optimizer] of Object.entries(given)) this.set(key, optimizer as Optimizer);
  }

  protected override invoke(variable: Variable): Optimizer {
    if (!(variable instanceof Variable))
      throw new InvalidArgumentError(`expected a variable, got ${shown(variable)}`, 'OptimizerMap');
    return this.get(variable.path);
  }

  /** How many keys there are. */
  get size(): number {
    return this.#optimizers.size;
  }
  /** The keys with their optimizers, in the order in which they were set. */
  [Symbol.iterator](): IterableIterator<[key: string, optimizer: Optimizer]> {
    return this.#optimizers[Symbol.iterator]();
  }

  /**
   * The optimizer of a key, else of the only key that is a regular expression for all of it, else the default one.
   * @throws InvalidArgumentError where several regular expressions match
   */
  get(key: string): Optimizer {
    checkText(key, 'key', 'OptimizerMap.get');
    const own = this.#optimizers.get(key);
    if (own !== undefined) return own;
    const found = [...this.#optimizers].filter(([expression]) => wholly(expression).test(key));
    if (found.length > 1)
      throw new InvalidArgumentError(
        `'${key}' is matched by several keys: ${found.map(([expression]) => `'${expression}'`).join(', ')}`,
        'OptimizerMap.get',
      );
    return found[0]?.[1] ?? this.defaultOptimizer;
  }
  /** @throws InvalidArgumentError for a key that is there, that is no regular expression, and for optimizers made of others */
  /** Gives a key an optimizer. */
  set(key: string, optimizer: Optimizer): this {
    checkText(key, 'key', 'OptimizerMap.set');
    checkOptimizer(optimizer, 'optimizer');
    if (this.#optimizers.has(key))
      throw new InvalidArgumentError(`the key '${key}' is there already`, 'OptimizerMap.set');
    wholly(key);
    this.#optimizers.set(key, optimizer);
    return this;
  }
  /** @returns whether the key was there */
  /** Forgets a key. Says whether it was there. */
  delete(key: string): boolean {
    return this.#optimizers.delete(key);
  }

  /** What makes it again, in Keras's form. */
  getConfig(): Record<string, unknown> {
    const entries = [...this].map(([key, optimizer]) => [key, serializedObject(optimizer, MODULE)] as const);
    return {
      default_optimizer: serializedObject(this.defaultOptimizer, MODULE),
      optimizer_map: Object.fromEntries(entries),
    };
  }
  /** What `JSON.stringify` writes: the class and its options, as in files of Keras. */
  toJSON(): SerializedObject {
    return serializedObject(this, MODULE);
  }
  /** The map of a config, from `getConfig` or Keras. `customObjects` are classes of your own by name. */
  static fromConfig(
    config: Readonly<Record<string, unknown>>,
    customObjects?: Readonly<Record<string, unknown>> | null,
  ): OptimizerMap {
    checkConfig(config, OptimizerMap);
    const read = (written: unknown): Optimizer =>
      (reading.optimizer as NonNullable<typeof reading.optimizer>)(written, customObjects ?? {});
    const { default_optimizer: byDefault, optimizer_map: others } = config;
    const map = new OptimizerMap(read(byDefault));
    for (const [key, written] of Object.entries(others ?? {})) map.set(key, read(written));
    return map;
  }
}
export interface OptimizerMap {
  (variable: Variable): Optimizer;
}

const MODULE = 'keras.optimizers';

function wholly(expression: string): RegExp {
  try {
    return new RegExp(`^(?:${expression})$`);
  } catch {
    throw new InvalidArgumentError(`the key '${expression}' is no regular expression`, 'OptimizerMap');
  }
}

/** @throws InvalidArgumentError for what is no optimizer, and for one that is made of others */
export function checkOptimizer(given: unknown, name: string): asserts given is Optimizer {
  if (!(given instanceof Optimizer) || 'optimizers' in given)
    throw new InvalidArgumentError(
      `${name} must be an optimizer that is not made of others, got ${shown(given)}`,
      'OptimizerMap',
    );
}

takesOptions<OptimizerMapOptions, OptimizerMap>(
  {
    positional: ['defaultOptimizer', 'optimizerMap'],
    required: 1,
    objects: ['optimizerMap'],
    options: { defaultOptimizer: true, optimizerMap: true },
  },
  OptimizerMap,
);
defineMethods(OptimizerMap.prototype, 'OptimizerMap', {
  get: { positional: ['key'] },
  set: { positional: ['key', 'optimizer'] },
  delete: { positional: ['key'] },
});
defineMethods(OptimizerMap, 'OptimizerMap', {
  fromConfig: {
    positional: ['config', 'customObjects'],
    required: 1,
    objects: ['config', 'customObjects'],
  },
});
