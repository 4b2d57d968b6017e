// Names that stand for Keras's objects: how types know them, and those of the user's own.

import { InvalidArgumentError } from '@eagre/backend';
import { ambient } from '../dispatch/ambient.ts';
import { override } from '../dispatch/context.ts';
import { shown } from './checks.ts';
import { argumentsOf, takesArguments } from './class-arguments.ts';

/** What can have a name. */
export type Named =
  | 'activation'
  | 'initializer'
  | 'regularizer'
  | 'constraint'
  | 'loss'
  | 'metric'
  | 'optimizer';

/**
 * The names of the user's own objects, for the types of options such as `activation`, which are checked. What
 * `tf.keras.utils.registerKerasSerializable` registers is added to it:
 *
 *     declare module 'eagre' {
 *       interface CustomNames { squash: 'activation'; offBy: 'loss' | 'metric' }
 *     }
 */
// biome-ignore lint/suspicious/noEmptyInterface: the user's code adds to it
export interface CustomNames {}

/** The names among `CustomNames` of one kind. */
export type CustomName<K extends Named> = {
  [N in keyof CustomNames]: K extends CustomNames[N] ? N : never;
}[keyof CustomNames];

type SnakeCase<S extends string> = S extends `${infer C}${infer R}`
  ? C extends Lowercase<C>
    ? `${C}${SnakeCase<R>}`
    : `_${Lowercase<C>}${SnakeCase<R>}`
  : '';

/** A name, or Keras's spelling of it: `heNormal`, `he_normal`. */
export type NameOf<N extends string> = N | SnakeCase<N>;
/** The name of a class, too: `heNormal`, `he_normal`, `HeNormal`. */
export type ClassNameOf<N extends string> = NameOf<N> | Capitalize<N>;

const registered = new Map<string, object>();
// What `customObjectScope` makes known beside them.
const inScope = ambient<{ objects: Readonly<Record<string, unknown>> }>({ objects: {} });
const namesInFiles = new WeakMap<object, string>();

/** Options of `registerKerasSerializable`. */
export interface RegisterOptions {
  /** What the names of a package's objects begin with in files: `Custom` unless given. */
  readonly package?: string | null;
  /** That of the class or the function unless given. */
  readonly name?: string | null;
}

/**
 * Makes a class or a function of the user's known by its name: `activation: 'squash'`, and in files of Keras by `Custom>squash`.
 * @returns the same class or function
 */
export function registerKerasSerializable<T extends object>(object: T, options?: RegisterOptions): T {
  const given = argumentsOf<RegisterOptions & { readonly object: T }>(
    registerKerasSerializable,
    registerKerasSerializable,
    [object, ...(options === undefined ? [] : [options])],
  );
  if (typeof object !== 'function')
    throw new InvalidArgumentError(
      `expected a class or a function, got ${shown(object)}`,
      'registerKerasSerializable',
    );
  const name = given.name ?? (object as { readonly name: string }).name;
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgumentError('a function without a name needs { name }', 'registerKerasSerializable');
  registered.set(name, object);
  const inFiles = `${given.package ?? 'Custom'}>${name}`;
  registered.set(inFiles, object);
  namesInFiles.set(object, inFiles);
  return object;
}
takesArguments<RegisterOptions & { readonly object: object }>(
  {
    positional: ['object'],
    names: { object: true, package: true, name: true },
    isFunction: true,
  },
  registerKerasSerializable,
);

/** @internal Makes objects known by name, beside those that are registered, until what it returns is called. */
export function enterCustomObjects(objects: Readonly<Record<string, unknown>>): () => boolean {
  return override(inScope, { objects: { ...inScope.objects, ...objects } });
}

/** What is known by name: all that is registered, by its name in files, and the objects of scopes. */
export function customObjects(): Readonly<Record<string, unknown>> {
  const inFiles = [...registered].filter(([name, object]) => namesInFiles.get(object) === name);
  return Object.freeze({ ...Object.fromEntries(inFiles), ...inScope.objects });
}

/** The class that was registered under a name, where it extends another one. */
export function customClass<C>(name: string, Base: abstract new (...args: never) => object): C | undefined {
  const found = customObject(name);
  return typeof found === 'function' && found.prototype instanceof Base ? (found as C) : undefined;
}

/** What was registered under a name, or is known by it in a scope. */
export function customObject(name: string): object | undefined {
  return Object.hasOwn(inScope.objects, name) ? (inScope.objects[name] as object) : registered.get(name);
}

/** What a registered class or function is called in files, `Custom>squash`; undefined for others. */
export function registeredName(object: object): string | undefined {
  return namesInFiles.get(object);
}
