import { InvalidArgumentError } from '@eagre/backend';
import { defineFunction, type NamedFunction, structure } from './arguments.ts';
import { shown } from './checks.ts';
import { customObject } from './custom-names.ts';
import { serializedObject } from './schema.ts';

/** An object as Keras writes it in a file. */
export interface Serialized {
  readonly class_name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Classes of the user's by their names in files. */
export type CustomObjects = Readonly<Record<string, unknown>>;

/** Makes objects of what Keras, or `serialize`, wrote. */
export type Deserialize<S, T> = NamedFunction<
  [config: S, customObjects?: CustomObjects | null],
  ['config', 'customObjects'],
  unknown,
  T
>;

/**
 * Declares the `serialize` of a kind of objects.
 * @param argument what its argument is called.
 * @param cls the class that objects must have.
 */
export function defineSerialize<F extends (...args: never) => unknown>(
  name: string,
  argument: string,
  cls: abstract new (...args: never) => { getConfig(): object },
  module: string,
): F {
  const run = (object: unknown): object => {
    if (!(object instanceof cls))
      throw new InvalidArgumentError(`expected an object of class ${cls.name}, got ${shown(object)}`, name);
    return serializedObject(object as { getConfig(): Readonly<Record<string, unknown>> }, module);
  };
  return defineFunction(name, { [argument]: true } as never, {} as never, run as never) as unknown as F;
}

/** Declares the `deserialize` of a kind of objects. */
export function defineDeserialize<S, T>(
  name: string,
  make: (config: S, customObjects: CustomObjects) => T,
): Deserialize<S, T> {
  return defineFunction<Deserialize<unknown, unknown>>(
    name,
    { config: structure, customObjects: structure },
    {},
    (config, customObjects = {}) => make(config as S, customObjects ?? {}),
  ) as Deserialize<S, T>;
}

/** The class that a file names: the user's, or what `find` knows. @throws InvalidArgumentError for what no file has. */
export function classOf<C>(
  serialized: Serialized,
  customObjects: CustomObjects,
  find: (name: string) => C | undefined,
  what: string,
): C | undefined {
  const {
    class_name: name,
    config,
    registered_name: registered,
  } = (serialized ?? {}) as Serialized & {
    readonly registered_name?: unknown;
  };
  if (typeof name !== 'string' || typeof config !== 'object' || config === null)
    throw new InvalidArgumentError('expected { class_name, config }, as serialize returns it', what);
  if (typeof customObjects !== 'object')
    throw new InvalidArgumentError(
      `customObjects must be classes by name, got ${shown(customObjects)}`,
      what,
    );
  if (Object.hasOwn(customObjects, name)) return customObjects[name] as C;
  // That of a registered class may be another one than the class's own.
  const own = typeof registered === 'string' ? customObject(registered) : undefined;
  return typeof own === 'function' ? (own as C) : find(name);
}
