// What constructors take: each class declares it once, and every argument may be given by name.
import { InvalidArgumentError } from '@eagre/backend';
import { isArray } from './arguments.ts';
import { asCode, shown } from './checks.ts';
import { checkOptionNames, mayHold, type OptionNames } from './option-names.ts';
import { isPlain } from './plain.ts';

type Class = (abstract new (...args: never) => object) | ((...args: never) => object);

/** The arguments of a class. */
export interface Parameters<O> {
  /** Those that may also be given by position, in order: the required ones, or Keras's first. */
  readonly positional?: readonly (keyof O & string)[];
  /** How many of these are required; all unless given. */
  readonly required?: number;
  /** Positional ones whose value may be a plain object, which otherwise is the options. */
  readonly objects?: readonly (keyof O & string)[];
  /** Whether other names than these are options too. */
  readonly anyName?: boolean;
  /** Whether it is called without `new`. */
  readonly isFunction?: boolean;
  /** All of them in Keras's order, which tells what a value too many by position was meant for. */
  readonly names: OptionNames<O>;
}

const declarations = new WeakMap<object, Parameters<Record<string, unknown>>>();
const classes: Class[] = [];
/** The classes of ours that say what they take; in a bundle those that it has. */
export function declaredClasses(): readonly Class[] {
  return classes;
}

/** Declares what the constructors of classes take, by name and by position. Classes that extend them take the same. */
export function takesArguments<O extends object>(
  parameters: Parameters<O>,
  ...declared: readonly Class[]
): void {
  for (const c of declared) {
    declarations.set(c, parameters as unknown as Parameters<Record<string, unknown>>);
    classes.push(c);
  }
}

/** The declaration of a class, or of the nearest one that it extends. */
export function parametersOf(cls: object): Parameters<Record<string, unknown>> | undefined {
  for (let c: object | null = cls; c !== null; c = Object.getPrototypeOf(c) as object | null) {
    const found = declarations.get(c);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The arguments of a constructor as one object of options, in a constructor of the form `constructor(...args)`. The options come
 * last; what may be given by position may stand there as well.
 *
 * @param cls the class whose constructor asks, `made` the one of which an object is made (`new.target`)
 * @throws InvalidArgumentError for more by position than the class takes, what is given twice or is missing, and unknown options
 */
export function argumentsOf<O extends object>(
  cls: Class,
  made: { readonly name: string },
  args: readonly unknown[],
): O {
  const own = parametersOf(cls) as Parameters<O>;
  const { positional = [], required = positional.length, objects = [] } = own;
  if (args.length === 0 && required === 0) return {} as O;
  const { isFunction = false } = own;
  const { names, anyName = false } = (parametersOf(made) ?? own) as Parameters<O>;
  const fail = (message: string): never => {
    throw new InvalidArgumentError(message, made.name);
  };
  let count = args.length;
  while (count > 0 && args[count - 1] === undefined) count--;
  let options: object = {};
  const last: unknown = args[count - 1];
  if (count > 0 && isOptions(last, positional[count - 1], names, objects)) {
    options = last;
    count--;
  } else if (last === null && count > positional.length) count--;
  if (!anyName) checkOptionNames(options as O, names, made.name);
  const known = Object.keys(names);
  for (let i = 0; i < count; i++) {
    const value = args[i];
    if (isPlain(value) && !isArray(value) && !objects.includes(positional[i]))
      fail(
        `the options object must come once, at the end: write ${call(isFunction ? made.name : `new ${made.name}`, positional.slice(0, required), known)}`,
      );
  }
  if (count > positional.length) {
    // `Sequential(a, b)`
    const [first, second] = args;
    if (!isPlain(second) && typeof first === 'function' && typeof second === 'function')
      fail(`several values come in a list: write ${isFunction ? '' : 'new '}${made.name}([a, b])`);
    const extra = args.slice(positional.length, count);
    const order = [...positional, ...known.filter((name) => !positional.includes(name as never))];
    const named = extra.map((value, i) => [order[positional.length + i], value] as const);
    if (named.some(([name]) => name === undefined))
      fail(`takes at most ${order.length} arguments, got ${count}`);
    const by = positional.length === 0 ? 'nothing is' : `only ${positional.join(' and ')} can be`;
    if (extra.length === 1 && !simple(extra[0])) {
      fail(`expected options, such as { ${known.slice(0, 2).join(', ')} }, got ${shown(extra[0])}`);
    }
    const written = named.map(([name, value]) => `${String(name)}: ${asCode(value)}`).join(', ');
    fail(`${by} given by position; write { ${written} }`);
  }
  const all: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) if (value !== undefined) all[name] = value;
  for (let i = 0; i < count; i++) {
    const name = positional[i];
    if (args[i] === undefined) continue;
    if (all[name] !== undefined) fail(`${name} is given twice, by position and by name`);
    all[name] = args[i];
  }
  const missing = positional.slice(0, required).filter((name) => all[name] === undefined);
  if (missing.length > 0)
    fail(
      `${missing.join(' and ')} must be given: write ${call(isFunction ? made.name : `new ${made.name}`, positional.slice(0, required), known)}`,
    );
  // None of which may be such that it cannot even be looked at.
  for (const value of Object.values(all)) isPlain(value);
  return all as O;
}

/** Values that an option may well have had, in contrast to objects that were meant as options. */
function simple(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Array.isArray(value) || 'dtype' in value;
}

/** Whether the last argument is the options. An object of a class is so where nothing else is expected, or where its fields are known. */
function isOptions(
  value: unknown,
  place: string | undefined,
  names: object,
  objects: readonly string[],
): value is object {
  const known = (options: object): boolean =>
    Object.keys(options).every((name) => Object.hasOwn(names, name));
  // Where a plain object may stand, one that names the argument itself, and nothing unknown, is the options.
  if (place !== undefined && objects.includes(place))
    return isPlain(value) && Object.hasOwn(value, place) && known(value);
  if (isPlain(value)) return !isArray(value);
  return mayHold(value) && known(value);
}

/** How a call is written: `new Dense(units, { name })`. */
function call(start: string, required: readonly string[], known: readonly string[]): string {
  const other = known.find((name) => !required.includes(name));
  const options = other === undefined ? [] : [`{ ${other} }`];
  const byPosition = `${start}(${[...required, ...options].join(', ')})`;
  return required.length === 0
    ? byPosition
    : `${byPosition} or ${start}({ ${[...required, ...(other === undefined ? [] : [other])].join(', ')} })`;
}

/**
 * What a file of Keras says, without options that the class has not, where they are off: null, false or 0. Others stay, and are
 * refused by the constructor.
 */
export function withoutUnused<O extends object>(cls: object, options: O): O {
  const names = declarations.get(cls)?.names;
  if (names === undefined) return options;
  const used = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(names, name) || (value !== null && value !== false && value !== 0);
  return Object.fromEntries(Object.entries(options).filter(used)) as O;
}
