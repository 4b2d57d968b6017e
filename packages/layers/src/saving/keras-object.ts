// What initializers, regularizers and constraints have in common: functions that a file can hold.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  Callable,
  checkFunction,
  configOf,
  customClass,
  customObject,
  type Deserialize,
  defineDeserialize,
  defineFunction,
  enterCustomObjects,
  isPlain,
  kind,
  type NamedFunction,
  optionsFrom,
  parametersOf,
  registeredName,
  type SerializedObject,
  serializedObject,
  setOptions,
  snakeCase,
  takesArguments,
  unknownName,
} from '@eagre/core/internal';
import { show } from '../layer/show.ts';
import { isSafe } from './serialization-scope.ts';

export type { SerializedObject } from '@eagre/core/internal';

// Within a process a configuration finds its function, also one that has no name in files. Nobody sees it in the configuration.
const itself: unique symbol = Symbol('function');

/** A function of the user's as Keras writes it in a file: by its name, and by that of its package where it is registered. */
export interface SerializedFunction {
  readonly module: 'builtins';
  readonly class_name: 'function';
  readonly config: string;
  readonly registered_name: 'function';
}

/** What `getConfig` says of a function: a regularizer and the like, or a bare one, of which JSON would hold nothing, by its name. */
export function functionConfig<T>(like: T): T | SerializedObject | SerializedFunction {
  if (typeof like !== 'function') return like;
  const written: object =
    like instanceof KerasObject
      ? like.toJSON()
      : {
          module: 'builtins',
          class_name: 'function',
          config: registeredName(like) ?? like.name,
          registered_name: 'function',
        };
  return Object.defineProperty(written, itself, { value: like }) as SerializedObject | SerializedFunction;
}

/**
 * The function of what `functionConfig` gave, also of a bare one that was read from a file; undefined for anything else.
 * @param owner the name of what has the function, by which one without a name is known.
 * @throws InvalidArgumentError for the name of one that is not registered
 */
export function functionOf(like: unknown, owner = ''): unknown {
  if (!isPlain(like)) return undefined;
  const { class_name, config, [itself]: own } = like as { readonly [key: string | symbol]: unknown };
  if (own !== undefined || class_name !== 'function') return own;
  const name = config === '' ? owner : config;
  const found = typeof name === 'string' ? customObject(name) : undefined;
  if (typeof found === 'function') return found;
  throw new InvalidArgumentError(
    `the function ${show(name)} of the configuration is not known: register it with registerKerasSerializable(fn, { name }) first, or give it in customObjects`,
  );
}

/**
 * The function of a layer of which a file holds Python code: a function of one's own that is registered under the name of the layer. The
 * code is never run. Undefined for anything else.
 * @throws InvalidArgumentError while a file is read in safe mode, and where nothing has that name
 */
export function pythonFunctionOf(like: unknown, layer: string): unknown {
  if (!isPlain(like) || like['class_name'] !== '__lambda__') return undefined;
  const what = `the function of the layer '${layer}' is a lambda of Python, whose code is not run here`;
  const advice = `write it as a function of your own, register it with registerKerasSerializable(fn, { name: ${show(layer)} }) or give it as customObjects: { ${show(layer)}: fn }, and load with safeMode: false`;
  const own = isSafe() ? undefined : customObject(layer);
  if (typeof own === 'function') return own;
  throw new InvalidArgumentError(`${what}; ${advice}`);
}

/** A function with options, which `getConfig` gives by Keras's names. */
export abstract class KerasObject extends Callable {
  /** @internal Keras's module of such objects. */
  protected abstract get module(): string;

  constructor(...args: readonly unknown[]) {
    super();
    setOptions(this, argumentsOf(new.target, new.target, args));
  }

  /** What a class of one's own writes. @throws FailedPreconditionError where it has not. */
  call(..._: never[]): unknown {
    throw new FailedPreconditionError('its class has no call method', this.constructor.name);
  }
  /** What makes it again, by Keras's names. */
  getConfig(): Record<string, unknown> {
    return configOf(this);
  }
  /** A new one of the options that `getConfig` gave, here or in Keras. */
  static fromConfig<T extends KerasObject>(
    this: new (
      options?: never,
    ) => T,
    config: Readonly<Record<string, unknown>>,
  ): T {
    // biome-ignore lint/complexity/noThisInStatic: of the class that it is called on
    return new this(optionsFrom(config, this) as never);
  }
  /** What `JSON.stringify` writes: the class and its options, as in files of Keras. `get` reads it. */
  toJSON(): SerializedObject {
    return serializedObject(this, this.module);
  }
}

takesArguments<object>({ names: {} }, KerasObject);

type Makes<T> = new (options?: never) => T;

/** Classes by name, as Keras finds them: `HeNormal`, `he_normal`, `heNormal`, or another name that it has. */
export class ClassNames<T extends object> {
  readonly #kind: string;
  readonly #classes: Readonly<Record<string, Makes<T>>>;
  readonly #others: Readonly<Record<string, Makes<T>>>;

  constructor(
    kind: string,
    classes: Readonly<Record<string, Makes<T>>>,
    others: Readonly<Record<string, Makes<T>>>,
  ) {
    this.#kind = kind;
    this.#classes = classes;
    this.#others = others;
  }

  /** @throws InvalidArgumentError for an unknown name */
  make(name: string, config: Readonly<Record<string, unknown>> = {}): T {
    const found = Object.entries(this.#classes).find(
      ([key]) =>
        key === name || snakeCase(key) === name || key.charAt(0).toLowerCase() + key.slice(1) === name,
    )?.[1];
    const Class = found ?? (Object.hasOwn(this.#others, name) ? this.#others[name] : undefined);
    if (Class === undefined) {
      const first = (key: string): string => key.charAt(0).toLowerCase() + key.slice(1);
      const known = [...Object.keys(this.#classes).map(first), ...Object.keys(this.#others)];
      throw new InvalidArgumentError(unknownName(name, known, this.#kind));
    }
    return new Class(optionsFrom(config, Class) as never);
  }

  /** What stands for an object: its name, what a file holds, or itself. @throws InvalidArgumentError for anything else */
  get<F extends (...args: never) => unknown>(like: unknown, Base: abstract new (...args: never) => T): T | F {
    const own = typeof like === 'string' ? customObject(like) : undefined;
    if (own !== undefined)
      return own instanceof Function && own.prototype instanceof Base ? new (own as Makes<T>)() : (own as F);
    if (typeof like === 'string') return this.make(like);
    if (typeof like === 'function') {
      if (like.prototype instanceof Base)
        throw new InvalidArgumentError(`got the class ${like.name}: write new ${like.name}(…)`);
      checkFunction(like, `the ${this.#kind}`);
      return like as unknown as T | F;
    }
    const bare = functionOf(like);
    if (bare !== undefined) return bare as F;
    if (isPlain(like) && typeof like['class_name'] === 'string') {
      const { class_name: name, config, registered_name: registered } = like as unknown as SerializedObject;
      const Class = customClass<Makes<T>>(registered ?? name, Base);
      return Class === undefined ? this.make(name, config) : new Class(optionsFrom(config, Class) as never);
    }
    throw new InvalidArgumentError(
      `expected ${article(this.#kind)}, its name, or a function, got ${show(like)}`,
    );
  }
}

const article = (kind: string): string => (/^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`);

/** Gives the function that something stands for; null of null. */
export type GetOf<Like, F> = NamedFunction<[identifier: Like | (string & {})], ['identifier'], unknown, F> &
  NamedFunction<[identifier?: Like | (string & {}) | null | undefined], ['identifier'], unknown, F | null>;

/** Declares the `get` of a kind of objects that may be left out. */
export function defineGet<Like, F extends (...args: never) => unknown, T extends object>(
  name: string,
  known: ClassNames<T>,
  Base: abstract new (...args: never) => T,
): GetOf<Like, F> {
  return defineFunction<NamedFunction<[identifier?: unknown], ['identifier'], unknown, unknown>>(
    name,
    { identifier: kind.structure },
    {},
    (identifier = null) => (identifier === null ? null : known.get(identifier, Base)),
  ) as GetOf<Like, F>;
}

/** Declares the `serialize` of such a kind. @param argument what its argument is called */
export function defineObjectSerialize<F extends (...args: never) => unknown>(
  name: string,
  argument: string,
): F {
  const run = (object: unknown): unknown => {
    if (typeof object === 'function') return functionConfig(object);
    throw new InvalidArgumentError(`expected ${article(argument)} or a function, got ${show(object)}`, name);
  };
  return defineFunction(name, { [argument]: true } as never, {} as never, run as never) as unknown as F;
}

/** Declares the `deserialize` of such a kind. */
export function defineObjectDeserialize<F extends (...args: never) => unknown, T extends object>(
  name: string,
  known: ClassNames<T>,
  Base: abstract new (...args: never) => T,
): Deserialize<SerializedObject | SerializedFunction, F> {
  return defineDeserialize(name, (serialized, customObjects) => {
    if (!isPlain(serialized) || typeof serialized['class_name'] !== 'string')
      throw new InvalidArgumentError('expected { class_name, config }, as serialize returns it', name);
    if (!isPlain(customObjects))
      throw new InvalidArgumentError(
        `customObjects must be classes by name, got ${show(customObjects)}`,
        name,
      );
    const leave = enterCustomObjects(customObjects);
    try {
      return known.get<F>(serialized, Base) as F;
    } finally {
      leave();
    }
  });
}

/** A function that takes what the constructor of a class takes, and makes an object of it. */
export type MakerOf<C extends abstract new (...args: never) => unknown> = (
  ...args: ConstructorParameters<C>
) => InstanceType<C>;

/** A function that makes objects of a class: Keras's other name for it, `heNormal()` beside `new HeNormal()`. */
export function maker<A extends readonly unknown[], T>(Class: new (...args: A) => T): (...args: A) => T {
  const make = (...args: A): T => new Class(...args);
  const parameters = parametersOf(Class);
  if (parameters !== undefined) takesArguments(parameters, make as (...args: never) => object);
  return make;
}
