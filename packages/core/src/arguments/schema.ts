// The options of classes, each declared once: how it is read and checked, what it is unless given, and what configurations say of it.
import { InvalidArgumentError } from '@eagre/backend';
import { camelCaseKeys, snakeCase } from '../module/module.ts';
import { checkFlag } from '../shapes/shape.ts';
import { checkCount, checkNumber, checkOneOf, naming, shown } from './checks.ts';
import { type Parameters, takesArguments, withoutUnused } from './class-arguments.ts';
import { registeredName } from './custom-names.ts';
import { isPlain } from './plain.ts';

/** What an option is. */
export interface Option<T = unknown> {
  /**
   * The value of what was given, undefined for nothing. `of` has the option.
   * @throws InvalidArgumentError for what is no such value
   */
  read(given: unknown, name: string, of: object): T;
  /** What configurations say of a value: itself by default, and nothing at all for undefined. */
  write?(value: T): unknown;
  /** What Keras calls it: the name in snake_case by default. */
  readonly key?: string;
  /** Whether it is not among what the object shows, and what is saved of it. */
  readonly hidden?: boolean;
}

/** The options of a class. `C` has a property for each. */
export interface Schema<O extends object, C> extends Omit<Parameters<O>, 'names'> {
  /** All of them in Keras's order. `true` for one that the class reads and writes itself. */
  readonly options: { readonly [K in keyof Required<O>]: true | Option<K extends keyof C ? C[K] : unknown> };
  /** What Keras writes besides, of which there is only this. */
  readonly fixed?: Readonly<Record<string, unknown>>;
}

type AnySchema = Pick<Schema<Record<string, unknown>, unknown>, 'options' | 'fixed'>;
type Class<C> = (abstract new (...args: never) => C) & { readonly prototype: object };

const schemas = new WeakMap<object, AnySchema>();

/** Declares the options of classes. Classes that extend them have the same. */
export function takesOptions<O extends object, C extends object>(
  { options, fixed = {}, ...parameters }: Schema<O, C>,
  ...classes: readonly Class<C>[]
): void {
  takesArguments<O>({ ...parameters, names: options as never }, ...(classes as readonly Class<object>[]));
  for (const c of classes) schemas.set(c, { options: options as AnySchema['options'], fixed });
}

function schemaOf(cls: object): AnySchema {
  for (let c: object | null = cls; c !== null; c = Object.getPrototypeOf(c) as object | null) {
    const found = schemas.get(c);
    if (found !== undefined) return found;
  }
  return { options: {} };
}

function* declaredOptions(cls: object): Iterable<readonly [name: string, option: Option]> {
  for (const [name, option] of Object.entries(schemaOf(cls).options))
    if (option !== true) yield [name, option];
}

/** Gives an object its options: a property for each. @throws InvalidArgumentError for a value that an option cannot have */
export function setOptions(object: object, given: object): void {
  for (const [name, option] of declaredOptions(object.constructor)) {
    const own = (given as Readonly<Record<string, unknown>>)[name];
    const value = naming(name, () => option.read(own, name, object));
    Object.defineProperty(object, name, {
      value,
      enumerable: option.hidden !== true,
      writable: true,
      configurable: true,
    });
  }
}

/** The options of an object by our names. */
export function valuesOf(object: object): Record<string, unknown> {
  const values = [...declaredOptions(object.constructor)].map(
    ([name]) => [name, (object as Record<string, unknown>)[name]] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** The options of an object as Keras writes them. */
export function configOf(object: object): Record<string, unknown> {
  const config: Record<string, unknown> = {};
  for (const [name, option] of declaredOptions(object.constructor)) {
    const value = (object as Record<string, unknown>)[name];
    const written = option.write === undefined ? value : option.write(value);
    if (written !== undefined) config[option.key ?? snakeCase(name)] = written;
  }
  return Object.assign(config, structuredClone(schemaOf(object.constructor).fixed));
}

/** @throws InvalidArgumentError for what is no configuration of a class */
export function checkConfig(config: unknown, cls: object): void {
  if (!isPlain(config))
    throw new InvalidArgumentError(
      `a configuration must be an object of options, got ${shown(config)}`,
      (cls as { readonly name: string }).name,
    );
}

/** The options in a configuration of Keras for a class: by our names, without those that are off and unknown to it. */
export function optionsFrom(config: Readonly<Record<string, unknown>>, cls: object): Record<string, unknown> {
  checkConfig(config, cls);
  const fixed = Object.entries(schemaOf(cls).fixed ?? {});
  const isFixed = ([key, value]: [string, unknown]): boolean =>
    fixed.some(([name, only]) => name === key && JSON.stringify(only) === JSON.stringify(value));
  const own = Object.fromEntries(Object.entries(config).filter((entry) => !isFixed(entry)));
  return withoutUnused(cls, camelCaseKeys(own));
}

/** An object as Keras writes it in a file. */
export interface SerializedObject {
  /** Where the class is found: `keras.layers`, or null for those of a program. */
  readonly module: string | null;
  /** The name of the class. */
  readonly class_name: string;
  /** Its options, with the names that Keras has for them. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Of a class of the user's: `Custom>Mine`, or its name alone where it is not registered. */
  readonly registered_name: string | null;
}

/** An object in Keras's form. @param module the one of Keras where classes of the library are found */
export function serializedObject(
  object: { getConfig(): Readonly<Record<string, unknown>> },
  module: string,
): SerializedObject {
  const cls = object.constructor as Class<object>;
  const ours = schemas.has(cls);
  return {
    module: ours ? module : null,
    class_name: cls.name,
    config: object.getConfig(),
    registered_name: ours ? null : (registeredName(cls) ?? cls.name),
  };
}

// ---- kinds that many classes have

const nameOf = (object: object): string =>
  (object as { readonly name?: string }).name ?? object.constructor.name;

/** A number, of at least `least`. */
export function numberOption(otherwise: number, least?: number, key?: string): Option<number> {
  const read = (given: unknown, name: string, of: object): number => {
    const value = given ?? otherwise;
    checkNumber(value, name, nameOf(of), least);
    return value as number;
  };
  return key === undefined ? { read } : { read, key };
}

/** An integer, of at least `least`. */
export function integerOption(otherwise: number, least: number = Number.MIN_SAFE_INTEGER): Option<number> {
  return {
    read: (given, name, of) => {
      const value = given ?? otherwise;
      checkCount(value, name, nameOf(of), least);
      return value as number;
    },
  };
}

/** True or false. */
export function flagOption(otherwise: boolean): Option<boolean> {
  return { read: (given, name, of) => checkFlag((given ?? otherwise) as boolean, name, nameOf(of)) };
}

/** One of some names, in Keras's spelling too. */
export function nameOption<N extends string>(names: readonly N[], otherwise: N): Option<N> {
  return {
    read: (given, name, of) => {
      const value = given ?? otherwise;
      const found = names.find((known) => known === value || snakeCase(known) === value);
      if (found === undefined) checkOneOf(value, names, name, nameOf(of));
      return found as N;
    },
    write: snakeCase,
  };
}

/** What may be null, and is unless given. */
export function orNull<T>(option: Option<T>): Option<T | null> {
  return {
    ...option,
    read: (given, name, of) => (given === undefined || given === null ? null : option.read(given, name, of)),
    write: (value) => (value === null || option.write === undefined ? value : option.write(value)),
  };
}

/** Whatever is given, unchecked; `otherwise` unless given. */
export function anyOption<T>(otherwise: T): Option<T> {
  return { read: (given) => (given === undefined ? otherwise : (given as T)) };
}
