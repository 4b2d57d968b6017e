import { InvalidArgumentError } from '@eagre/backend';
import { shown } from './checks.ts';
import { isPlain } from './plain.ts';
import { Tensor } from './tensor.ts';

/** Every name of an options type. */
export type OptionNames<O> = Readonly<Record<keyof Required<O>, true>>;

/** Whether a value may be options: an object of a class without fields, such as a map, holds none. */
function mayHold(options: unknown): boolean {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return false;
  if (options instanceof Tensor || ArrayBuffer.isView(options)) return false;
  return isPlain(options) || Object.keys(options).length > 0;
}

/** @throws InvalidArgumentError for what is no plain object, and for names that nobody would read. */
export function checkOptionNames<O extends object>(options: O, known: OptionNames<O>, what: string): void {
  if (!mayHold(options)) {
    throw new InvalidArgumentError(
      `expected options, such as { ${Object.keys(known).slice(0, 2).join(', ')} }, got ${shown(options)}`,
      what,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name)) {
      throw new InvalidArgumentError(
        `'${name}' is no option; known are ${Object.keys(known).join(', ')}`,
        what,
      );
    }
  }
}

const taken = new WeakMap<object, Readonly<Record<string, true>>>();

/** Says which options the constructors of classes take. Classes that extend them may take others. */
export function takesOptions<O extends object>(
  names: OptionNames<O>,
  ...classes: readonly (abstract new (
    ...args: never
  ) => object)[]
): void {
  for (const c of classes) taken.set(c, names);
}

/**
 * For the constructor of a base class, of which `cls` is being made.
 * @throws InvalidArgumentError for what is no option of the class, where `takesOptions` says what is.
 */
export function checkOptionsOf(cls: { readonly name: string }, options: object | undefined): void {
  const names = taken.get(cls);
  if (names !== undefined) checkOptionNames(options as object, names, cls.name);
}

/**
 * What a file of Keras says, without options that the class has not, where they are off: null, false or 0. Others stay, and are
 * refused by the constructor.
 */
export function withoutUnused<O extends object>(cls: object, options: O): O {
  const names = taken.get(cls);
  if (names === undefined) return options;
  const used = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(names, name) || (value !== null && value !== false && value !== 0);
  return Object.fromEntries(Object.entries(options).filter(used)) as O;
}
