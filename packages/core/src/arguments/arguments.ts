// What functions take: each declares it once, and every argument may be given by name.
import { InternalError, InvalidArgumentError } from '@eagre/backend';
import { type Call, CompositeTensor, findComposite, inList } from '../composite/composite.ts';
import { checkList } from '../shapes/shape.ts';
import { isComplexNumber } from '../tensor/complex-numbers.ts';
import { isPixels } from '../tensor/pixels.ts';
import { Tensor } from '../tensor/tensor.ts';
import { asCode, shown } from './checks.ts';
import { mayHold, unknownName } from './option-names.ts';
import { isPlain, unseen } from './plain.ts';

// ---- types

type Names = readonly string[];

/** Positional arguments as properties of an object, under their names. */
type Properties<P extends readonly unknown[], N extends Names> = P extends readonly []
  ? unknown
  : N extends readonly [infer Name extends string, ...infer More extends Names]
    ? P extends readonly [infer First, ...infer Rest]
      ? { readonly [K in Name]: First } & Properties<Rest, More>
      : P extends readonly [(infer First)?, ...infer Rest]
        ? { readonly [K in Name]?: First | undefined } & Properties<Rest, More>
        : unknown
    : unknown;

/** A name that has others, `x|input`: the first of them, and what is left. */
type First<N extends Names> = { [I in keyof N]: N[I] extends `${infer A}|${string}` ? A : N[I] };
type Others<N extends Names> = { [I in keyof N]: N[I] extends `${string}|${infer B}` ? B : N[I] };
/** Names as calls may give them: all by their first names, all by their second ones, and so on. */
type Signatures<N extends Names> = HasMore<N> extends never ? N : First<N> | Second<Others<N>>;
// No name has more than four. TypeScript would follow a recursion without an end where it compares generic functions.
type Second<N extends Names> = HasMore<N> extends never ? N : First<N> | Third<Others<N>>;
type Third<N extends Names> = HasMore<N> extends never ? N : First<N> | Others<N>;
/** Those of the names that have others. */
type HasMore<N extends Names> = Extract<N[number], `${string}|${string}`>;
/** The calls by names of each of some lists of them. */
type ByNames<P extends readonly unknown[], N, O> = N extends Names
  ? ByName<Required<P>, N, Properties<P, N> & O, keyof O & string>
  : never;

/** The forms of a call in which the last arguments, some or all, are given by name. */
type ByName<H extends readonly unknown[], N extends Names, All, Given extends string> = H extends readonly [
  ...infer Before,
  unknown,
]
  ? N extends readonly [...infer More extends Names, infer Last extends string]
    ?
        | [...Before, options: { readonly [K in keyof All as K extends Given | Last ? K : never]: All[K] }]
        | ByName<Before, More, All, Given | Last>
    : never
  : never;

/**
 * The arguments of a function: `P` by position, then the options `O`; or all from one on by name, in the object of options.
 * `Arguments<[x: TensorLike, axis?: Axis], ['x', 'axis'], ReduceOptions>` stands for `(x, axis, { keepdims })`,
 * `(x, { axis, keepdims })` and `({ x, axis, keepdims })`. `x|inputTensor` is a name with another one, TensorFlow's or NumPy's, behind it.
 */
export type Arguments<P extends readonly unknown[], N extends Names, O = unknown> =
  | (unknown extends O ? P : [...P, options?: O | null | undefined])
  | ByNames<P, Signatures<N>, O>;

/** A function whose arguments may be given by position or by name, see `Arguments`. */
export interface NamedFunction<P extends readonly unknown[], N extends Names, O = unknown, R = Tensor> {
  (...args: Arguments<P, N, O>): R;
}

// ---- declarations

/** How an argument is read: checked, and brought into the one form that the function works with. */
export interface Kind {
  /** Whether the value may be a plain object, which is taken for options elsewhere. */
  readonly plain?: boolean;
  /** Of a list behind the others whose items may be plain objects: which of these are items, as the others are the options. */
  readonly isItem?: (value: object) => boolean;
  /** It leaves numbers as they are and may not be called for them, unless `numbers` is set. */
  readonly read?: (value: unknown, what: string, op: string) => unknown;
  /** Whether `read` looks at numbers too. */
  readonly numbers?: boolean;
  /** Whether it is a tensor. */
  readonly tensor?: boolean;
  /** Whether it is a list of tensors, some of which may be ragged or sparse. */
  readonly list?: boolean;
  /** Whether it need not be given. */
  readonly optional?: boolean;
}

/** A value that the function reads itself. */
export const asIs: Kind = {};
/** A tensor, or values for one: numbers, lists, { data, shape }. */
export const tensor: Kind = { tensor: true };
/** A value that may be a plain object: a structure of tensors, for example. */
export const structure: Kind = { plain: true };

/**
 * What need not be given, where the function's own default is `undefined`: some minifiers (SWC's, of Next.js) leave such a default out,
 * and a function without it counts one parameter more.
 */
/* @__NO_SIDE_EFFECTS__ */
export function optional(kind: Kind | true): Kind {
  return { ...kindOf(kind), optional: true };
}

/** Kinds by name, `x` or with TensorFlow's behind it, `x|input`; `true` is `asIs`. */
export type Kinds = Readonly<Record<string, Kind | true>>;

interface KindsOf<F> {
  readonly positional: F extends NamedFunction<infer _P, infer N, infer _O, infer _R>
    ? { readonly [K in N[number]]: Kind | true }
    : never;
  readonly options: F extends NamedFunction<infer _P, infer _N, infer O, infer _R>
    ? { readonly [K in keyof O]-?: Kind | true }
    : never;
}
// A method, whose parameters may be narrower than what is declared: kinds have read them.
type Run<F> =
  F extends NamedFunction<infer P, infer _N, infer O, infer R>
    ? { call(...args: [...P, options: O]): R }['call']
    : never;

/** What is known of a function. */
export interface Declared {
  /** As messages call it: `sum`, `nn.conv2d`. */
  name: string;
  readonly positional: readonly string[];
  /** These, and other names of the same arguments, in the same order. */
  readonly signatures: readonly (readonly string[])[];
  /** How many of these must be given. */
  readonly required: number;
  readonly options: Readonly<Record<string, Kind>>;
  /** The name of a list of any length that stands behind the positional ones. */
  readonly rest: string | undefined;
  /** Those whose value may be a plain object. */
  readonly objects: readonly string[];
  /** Whether each element of the result depends on those in the same place of its tensors alone. */
  readonly elementwise: boolean;
}

type Implementation = (this: unknown, ...args: readonly unknown[]) => unknown;

/** A function as it was declared. What only some calls need is made when one does: there are a thousand functions, and few are called. */
class Declaration implements Declared {
  name: string;
  readonly kinds: readonly Kind[];
  readonly required: number;
  readonly rest: string | undefined;
  readonly isItem: Kind['isItem'];
  readonly run: Implementation;
  elementwise = false;
  readonly ofTensors: boolean;
  readonly #names: readonly string[];
  readonly #options: Kinds;
  #signatures: readonly (readonly string[])[] | undefined;
  #objects: readonly string[] | undefined;
  #named: Readonly<Record<string, Kind>> | undefined;
  #seen: ReadonlyMap<string, Seen> | undefined;
  #reads: boolean | undefined;
  #later: boolean | undefined;

  constructor(
    name: string,
    positional: readonly string[],
    kinds: readonly Kind[],
    options: Kinds,
    run: Implementation,
    more: {
      readonly required: number;
      readonly rest?: string | undefined;
      readonly isItem?: Kind['isItem'];
      readonly objects?: readonly string[];
    },
  ) {
    this.name = name;
    this.#names = positional;
    this.kinds = kinds;
    this.required = Math.min(more.required, positional.length);
    this.rest = more.rest;
    this.isItem = more.isItem;
    this.run = run;
    this.#options = options;
    this.#objects = more.objects;
    this.ofTensors = kinds.some((kind) => kind.tensor === true || kind.list === true);
  }

  get positional(): readonly string[] {
    return this.signatures[0];
  }
  get signatures(): readonly [readonly string[], ...(readonly string[])[]] {
    this.#signatures ??= signaturesOf(this.#names);
    return this.#signatures as [readonly string[]];
  }
  get options(): Readonly<Record<string, Kind>> {
    this.#named ??= Object.fromEntries(
      Object.entries(this.#options).map(([key, kind]) => [key, kindOf(kind)]),
    );
    return this.#named;
  }
  /** The options by name, and what `read` has to see of them. */
  get seen(): ReadonlyMap<string, Seen> {
    this.#seen ??= new Map(Object.entries(this.options).map(([key, kind]) => [key, seenBy(kind)]));
    return this.#seen;
  }
  /** Whether any option has to be read. */
  get reads(): boolean {
    this.#reads ??= Object.values(this.options).some((kind) => kind.read !== undefined);
    return this.#reads;
  }
  get takesOptions(): boolean {
    for (const _ in this.#options) return true;
    return false;
  }
  get objects(): readonly string[] {
    this.#objects ??= this.positional.filter((_, i) => this.kinds[i]?.plain === true);
    return this.#objects;
  }
  /** Whether it is async, so that a wrong call gives a promise that fails. */
  get later(): boolean {
    this.#later ??= Object.prototype.toString.call(this.run) === '[object AsyncFunction]';
    return this.#later;
  }
}

/** Names with others behind them, `x|input`, as lists: all the first ones, all the second ones, and so on. */
function signaturesOf(names: readonly string[]): (readonly string[])[] {
  const spelled = names.map((name) => name.split('|'));
  const most = Math.max(1, ...spelled.map((all) => all.length));
  return Array.from({ length: most }, (_, i) => spelled.map((all) => all[Math.min(i, all.length - 1)]));
}

function kindOf(kind: Kind | true): Kind {
  return kind === true ? asIs : kind;
}

/** How many arguments must be given: those before the first with a default. */
function requiredOf(kinds: readonly Kind[], run: { readonly length: number }): number {
  const first = kinds.findIndex((kind) => kind.optional === true);
  return first < 0 ? run.length : Math.min(first, run.length);
}

const declarations = new WeakMap<object, Declaration>();

/** What a function takes; undefined for one that was not declared. */
export function declared(fn: object): Declared | undefined {
  return declarations.get(fn);
}

/**
 * Says of a function that it works element by element, so that it takes ragged and sparse tensors too: its positional arguments that are
 * tensors broadcast, and the others are for all elements. @returns the function.
 */
export function worksByElement<F extends object>(fn: F): F {
  const declaration = declarations.get(fn);
  if (declaration === undefined) throw new InternalError('the function was not declared');
  declaration.elementwise = true;
  return fn;
}

/** Gives a function that was declared without a name the one under which it is exported. */
export function nameFunction(fn: object, name: string): void {
  const declaration = declarations.get(fn);
  if (declaration === undefined || declaration.name !== '') return;
  declaration.name = name;
  Object.defineProperty(fn, 'name', { value: name });
}

const NONE: Readonly<Record<string, never>> = Object.freeze({});

/**
 * Declares a function. Its arguments are those listed in `positional`, by position or by name, then those of `options`, by name.
 * @param run gets the positional ones, undefined where they were not given, and an object of options. Those before its first
 * parameter with a default must be given; one whose default is `undefined` is `optional`.
 */
/* @__NO_SIDE_EFFECTS__ */
export function defineFunction<F extends (...args: never) => unknown>(
  name: string,
  positional: KindsOf<F>['positional'],
  options: KindsOf<F>['options'],
  run: Run<F>,
): F {
  const kinds = Object.values<Kind | true>(positional).map(kindOf);
  const implementation = run as unknown as Implementation;
  const declaration = new Declaration(name, Object.keys(positional), kinds, options, implementation, {
    required: requiredOf(kinds, run),
  });
  return (kinds[0]?.list === true ? listEntry(declaration) : entry(declaration)) as never;
}

/**
 * Declares a function with a list of any length behind its positional arguments: `einsum(equation, ...operands)`. The list may be
 * given by its name, `rest`; where its items may be plain objects, that is `{ operands: structure }`. What it returns has to be given its type.
 * @param run gets the positional arguments, the list, and the options.
 */
/* @__NO_SIDE_EFFECTS__ */
export function defineVariadic<F extends (...args: never) => unknown>(
  name: string,
  positional: Kinds,
  rest: string | Readonly<Record<string, Kind>>,
  options: Kinds,
  run: (...args: never) => unknown,
): F {
  const list = typeof rest === 'string' ? rest : Object.keys(rest)[0];
  const place = Object.keys(positional).length;
  // By name it may be anything.
  const listed = (...values: readonly unknown[]): unknown => {
    checkList(values[place] as readonly unknown[], list, declaration.name);
    return (run as (...all: readonly unknown[]) => unknown)(...values);
  };
  const names = Object.keys(positional);
  const plain = names.filter((key) => kindOf(positional[key] as Kind).plain === true);
  const kinds = Object.values(positional).map(kindOf);
  const declaration = new Declaration(name, names, kinds, options, listed, {
    required: requiredOf(kinds, run),
    rest: list,
    objects: typeof rest === 'string' ? plain : [...plain, list],
    isItem: typeof rest === 'string' ? undefined : rest[list].isItem,
  });
  const fn = (...args: readonly unknown[]): unknown => call(declaration, args);
  return register(fn, declaration) as unknown as F;
}

/** Declares a function that looks at its arguments itself, and calls `otherwise` with all that it does not expect. */
/* @__NO_SIDE_EFFECTS__ */
export function defineHot<F extends (...args: never) => unknown>(
  positional: Names,
  run: (...args: never) => unknown,
  hot: (otherwise: (args: ArrayLike<unknown>) => unknown) => F,
): F {
  const kinds = positional.map(() => tensor);
  const implementation = run as unknown as Implementation;
  const declaration = new Declaration('', positional, kinds, {}, implementation, { required: run.length });
  return register(
    hot((args) => call(declaration, args)),
    declaration,
  );
}

/** Says of a function, which hands its arguments on, that it takes what another one was declared to take. */
export function declareAs<F extends object>(fn: F, like: object): F {
  return register(fn, declarations.get(like) as Declaration);
}

/** What a method takes. */
export interface MethodArguments {
  /** Those that may also be given by position, in order. */
  readonly positional?: Names;
  /** How many of these are required; all unless given. */
  readonly required?: number;
  /** Positional ones whose value may be a plain object, which otherwise is the options. */
  readonly objects?: Names;
  /** The names of the options, in the object behind these. */
  readonly options?: Readonly<Record<string, true>>;
  /** The name of a list of any length that stands behind the positional ones. */
  readonly rest?: string;
  /** What messages call it, where that is not its name in its class. */
  readonly called?: string;
}

/**
 * Declares methods of a class, which then may be given their arguments by name, and refuse what they do not take. The methods themselves
 * stay as they are: they get the positional ones, undefined where they were not given, those of the list, and the options.
 * @param of the prototype, or the class for static ones
 * @param what the class as messages call it
 */
export function defineMethods(
  of: object,
  what: string,
  methods: Readonly<Record<string, MethodArguments>>,
): void {
  for (const [name, takes] of Object.entries(methods)) {
    const { positional = [], objects = [], options = {}, required, rest, called = `${what}.${name}` } = takes;
    const found = Object.getOwnPropertyDescriptor(of, name);
    const method = found?.value as Implementation | undefined;
    if (method === undefined) throw new InternalError(`${what} has no method ${name}`);
    const kinds = positional.map((key) => (objects.includes(key) ? structure : asIs));
    const run = rest === undefined ? method : withRest(method, positional.length);
    const declaration = new Declaration(called, positional, kinds, options, run, {
      required: required ?? positional.length,
      rest,
      objects,
    });
    Object.defineProperty(of, name, {
      ...found,
      value: register(methodOf(declaration, method), declaration),
    });
  }
}

/** The method that users call: what nearly every call has is told by the number of arguments alone. */
function methodOf(declaration: Declaration, run: Implementation): (...args: never) => unknown {
  const { kinds, required, rest } = declaration;
  const most = rest === undefined ? kinds.length : 0;
  // Who takes options gets some in any case, behind all positional ones.
  const bare = rest !== undefined || !declaration.takesOptions;
  const behind = bare ? NOTHING : [0, 1, 2].map((n) => noneGiven(most - n));
  return function (this: unknown, a: unknown, b: unknown): unknown {
    // biome-ignore lint/complexity/noArguments: their number tells what was given, and costs nothing.
    const n = arguments.length;
    if (n === 0 && required === 0) return bare ? run.call(this) : run.call(this, ...behind[0]);
    if (n >= required && n <= most && a !== undefined && !mayBeNamed(a)) {
      if (n === 1) return bare ? run.call(this, a) : run.call(this, a, ...behind[1]);
      if (n === 2 && b !== undefined && !mayBeNamed(b))
        return bare ? run.call(this, a, b) : run.call(this, a, b, ...behind[2]);
    }
    // biome-ignore lint/complexity/noArguments: as above.
    return call(declaration, arguments, this);
  };
}

const NOTHING: readonly (readonly unknown[])[] = [];
/** What stands behind the arguments by position: that `count` more were not given, and no options. */
const noneGiven = (count: number): readonly unknown[] =>
  count < 0 ? [] : [...new Array<undefined>(count).fill(undefined), NONE];

/** A method that gets a list of any length as arguments of their own, behind `count` others. */
function withRest(run: Implementation, count: number): Implementation {
  return function (this: unknown, ...values: readonly unknown[]): unknown {
    const list = values[count];
    return run.apply(this, [...values.slice(0, count), ...(Array.isArray(list) ? list : [list])]);
  };
}

function register<F extends object>(fn: F, declaration: Declaration): F {
  declarations.set(fn, declaration);
  if (declaration.name !== '')
    Object.defineProperty(fn, 'name', {
      value: declaration.name.slice(declaration.name.lastIndexOf('.') + 1),
    });
  return fn;
}

/** Whether a value is such that it has to be looked at first: a plain object, which may be options, or a composite tensor. */
export function mayBeNamed(value: unknown): boolean {
  if (typeof value !== 'object') return false;
  try {
    return (
      !(value instanceof Tensor) &&
      !Array.isArray(value) &&
      (isPlain(value) || value instanceof CompositeTensor)
    );
  } catch (cause) {
    throw unseen(cause);
  }
}

/** Whether a value is a tensor; false for what cannot be looked at. */
export function isTensor(value: unknown): value is Tensor {
  try {
    return value instanceof Tensor;
  } catch {
    return false;
  }
}

/** Whether a value stands for itself. */
function isValue(value: unknown): boolean {
  return value !== undefined && !mayBeNamed(value);
}

type Seen = 'nothing' | 'all but numbers' | 'all';
const seenBy = ({ read, numbers }: Kind): Seen =>
  read === undefined ? 'nothing' : numbers === true ? 'all' : 'all but numbers';

/** Whether a value is an object of options alone, none of which has to be read: the usual one, which is handed on as it is. */
function areOptions({ seen }: Declaration, value: unknown): boolean {
  if (value === NONE) return true;
  if (!isPlain(value)) return false;
  for (const key in value) {
    const read = seen.get(key);
    if (read === undefined) return false;
    if (read !== 'nothing') {
      const option = (value as Record<string, unknown>)[key];
      if (option !== undefined && (read === 'all' || typeof option !== 'number')) return false;
    }
  }
  return true;
}

/**
 * The function that users call. What nearly every call has, some values by position and perhaps options behind all of them, is told here,
 * in few steps: V8 learns of all functions together that are made here, so each call of a function costs as if nothing were known of it.
 * Nothing is read that needs no reading, as numbers do not.
 */
function entry(declaration: Declaration): (...args: never) => unknown {
  const { kinds, required, run } = declaration;
  if (kinds.some((kind) => kind.numbers === true))
    return register((...args: readonly unknown[]) => call(declaration, args), declaration);
  if (kinds.length === 1) {
    const read = readerOf(declaration, 0);
    return register(function (this: unknown, a: unknown, o?: unknown): unknown {
      // biome-ignore lint/complexity/noArguments: their number tells what was given, and costs nothing.
      const n = arguments.length;
      if (n === 1 && read === undefined && isTensor(a)) return run(a, NONE);
      if (n === 1 && isValue(a)) return run(readBy(read, a), NONE);
      if (n === 2 && isValue(a) && areOptions(declaration, o)) return run(readBy(read, a), o);
      // biome-ignore lint/complexity/noArguments: as above.
      return call(declaration, arguments);
    }, declaration);
  }
  if (kinds.length === 2) {
    const [read1, read2] = [readerOf(declaration, 0), readerOf(declaration, 1)];
    return register(function (this: unknown, a: unknown, b: unknown, o?: unknown): unknown {
      // biome-ignore lint/complexity/noArguments: as above.
      const n = arguments.length;
      // A tensor that needs no reading comes first nearly always.
      if (n === 2 && read1 === undefined && isTensor(a) && isRead(read2, b)) return run(a, b, NONE);
      if (n > 0 && n < 4 && isValue(a) && (isValue(b) || (b === undefined && required < 2))) {
        if (n < 3) return run(readBy(read1, a), readBy(read2, b), NONE);
        if (areOptions(declaration, o)) return run(readBy(read1, a), readBy(read2, b), o);
      }
      // biome-ignore lint/complexity/noArguments: as above.
      return call(declaration, arguments);
    }, declaration);
  }
  if (kinds.length === 3) {
    const [read1, read2, read3] = [
      readerOf(declaration, 0),
      readerOf(declaration, 1),
      readerOf(declaration, 2),
    ];
    return register(function (this: unknown, a: unknown, b: unknown, c: unknown, o?: unknown): unknown {
      // biome-ignore lint/complexity/noArguments: as above.
      const n = arguments.length;
      if (n === 2 && required < 3 && read1 === undefined && isTensor(a) && isRead(read2, b))
        return run(a, b, undefined, NONE);
      if (
        n > 0 &&
        n < 5 &&
        isValue(a) &&
        (isValue(b) || (b === undefined && required < 2)) &&
        (isValue(c) || (c === undefined && required < 3))
      ) {
        if (n < 4) return run(readBy(read1, a), readBy(read2, b), readBy(read3, c), NONE);
        if (areOptions(declaration, o)) return run(readBy(read1, a), readBy(read2, b), readBy(read3, c), o);
      }
      // biome-ignore lint/complexity/noArguments: as above.
      return call(declaration, arguments);
    }, declaration);
  }
  const readers = kinds.map((_, i) => readerOf(declaration, i));
  const asTheyAre = readers.every((read) => read === undefined);
  return register((...args: readonly unknown[]) => {
    const n = args.length;
    if (n > kinds.length + 1) return call(declaration, args);
    for (let i = 0; i < kinds.length; i++) {
      const value = args[i];
      if (!isValue(value) && (value !== undefined || i < required)) return call(declaration, args);
    }
    const options = n > kinds.length ? args[kinds.length] : NONE;
    if (!areOptions(declaration, options)) return call(declaration, args);
    if (asTheyAre && n > kinds.length) return run(...args);
    return run(...readers.map((read, i) => readBy(read, args[i])), options);
  }, declaration);
}

/** The function that users call, whose first argument is a list of tensors. */
function listEntry(declaration: Declaration): (...args: never) => unknown {
  const usual = entry(declaration) as (...args: readonly unknown[]) => unknown;
  return register((...args: readonly unknown[]) => {
    const first = args[0];
    const special = Array.isArray(first) && inList(first) !== null;
    if (isTensor(first) && isTensor(args[1]) && (args[1].rank > 0 || first.rank === 0))
      throw inAList(declaration.name);
    return special ? call(declaration, args) : usual(...args);
  }, declaration);
}

/** @internal What to say of several values that are no list. */
export const inAList = (name: string): InvalidArgumentError =>
  new InvalidArgumentError(`several values come in a list: write ${name}([x, y])`, name);

type Reader = (value: unknown) => unknown;

/** What reads a value by position; undefined where it is taken as it is. */
function readerOf(declaration: Declaration, place: number): Reader | undefined {
  const read = declaration.kinds[place]?.read;
  return read && ((value) => read(value, declaration.positional[place], declaration.name));
}
/** A value as the function gets it. Numbers need no reading. */
function readBy(read: Reader | undefined, value: unknown): unknown {
  return read === undefined || typeof value === 'number' || value === undefined ? value : read(value);
}
/** Whether a value is as the function gets it, at a glance. */
function isRead(read: Reader | undefined, value: unknown): boolean {
  return typeof value === 'number' || (read === undefined && isTensor(value));
}

/** @internal A value that an op takes for a tensor, though it is a plain object: { data, shape }, { re, im }, or pixels. */
export const isArray = (value: Readonly<Record<string, unknown>>): boolean =>
  ('data' in value && 'shape' in value && (ArrayBuffer.isView(value.data) || Array.isArray(value.data))) ||
  isComplexNumber(value) ||
  isPixels(value);

/** Whether what stands at a place is the options. */
function isOptions(declaration: Declaration, value: unknown, place: number): value is object {
  const { kinds, positional, signatures, options, rest } = declaration;
  if (place >= kinds.length && rest === undefined) return !(value instanceof Tensor) && mayHold(value);
  if (!isPlain(value) || isArray(value)) return false;
  const own = positional[place] ?? (rest as string);
  if (!declaration.objects.includes(own)) return true;
  if (own === rest && declaration.isItem !== undefined) return !declaration.isItem(value);
  // Where a plain object may stand, one that names the argument itself, and nothing unknown, is the options.
  const known = (key: string): boolean =>
    key === rest || signatures.some((names) => names.includes(key)) || Object.hasOwn(options, key);
  const named = own === rest ? [own] : signatures.map((names) => names[place]);
  return named.some((name) => Object.hasOwn(value, name)) && Object.keys(value).every(known);
}

function call(declaration: Declaration, args: ArrayLike<unknown>, self?: unknown): unknown {
  if (!declaration.later) return checked(declaration, args, self);
  try {
    return checked(declaration, args, self);
  } catch (error) {
    return Promise.reject(error);
  }
}

function checked(declaration: Declaration, args: ArrayLike<unknown>, self: unknown): unknown {
  const { kinds, positional, rest, name, run } = declaration;
  const count = kinds.length;
  let n = args.length;
  // What cannot be looked at is refused first.
  for (let i = 0; i < n; i++) mayBeNamed(args[i]);
  while (n > 0 && args[n - 1] === undefined) n--;
  if (n === count + 1 && args[count] === null && rest === undefined) n--;
  let named: object | null = null;
  if (n > 0 && isOptions(declaration, args[n - 1], n - 1)) named = args[--n] as object;
  if (n > count && rest === undefined) throw surplus(declaration, args, n);
  const values = new Array<unknown>(count + (rest === undefined ? 1 : 2)).fill(undefined);
  for (let i = 0; i < n && i < count; i++) {
    const value = args[i];
    if (kinds[i]?.plain !== true && isPlain(value) && !isArray(value))
      throw new InvalidArgumentError(
        `the options object must come once, at the end: write ${written(declaration)}`,
        name,
      );
    values[i] = value;
  }
  if (rest !== undefined && n > count) values[count] = Array.prototype.slice.call(args, count, n);
  values[values.length - 1] = named === null ? NONE : takeNamed(declaration, named, values);
  if (rest !== undefined) values[count] ??= [];
  for (let i = 0; i < declaration.required; i++) {
    if (values[i] === undefined) throw missing(declaration, values);
  }
  // Lists that may be shapes are not looked at: a trace would be bound to their sizes.
  const composite = findComposite(
    values,
    (i) => kinds[i]?.list === true || (rest !== undefined && i === count),
  );
  if (composite !== null) {
    const told = callOf(declaration, values);
    const answer = userDispatch.find?.(told);
    if (answer !== undefined) return answer.value;
    const result = composite.dispatch(told);
    if (result !== undefined) return result;
  }
  for (let i = 0; i < count; i++) {
    const read = kinds[i]?.read;
    if (read !== undefined && values[i] !== undefined) values[i] = read(values[i], positional[i], name);
  }
  return run.apply(self, values);
}

/** What programs have said of functions, see `dispatchForApi`; null until one does. */
export const userDispatch: {
  /** What comes of a call; undefined where nobody has said anything of it. */
  find: ((call: Call) => { readonly value: unknown } | undefined) | null;
} = { find: null };

/** A call as composite tensors are told of it. */
function callOf(declaration: Declaration, values: readonly unknown[]): Call {
  const { name, positional, elementwise, ofTensors } = declaration;
  const given = values.slice(0, -1);
  const own = values.at(-1) as Readonly<Record<string, unknown>>;
  return {
    name,
    positional,
    elementwise,
    ofTensors,
    values: given,
    options: own,
    run: (others, options = own) => checked(declaration, spread(declaration, others, options), undefined),
  };
}

/** Arguments as they stand in a call: without what was not given at the end, with the options last. */
function spread(declaration: Declaration, values: readonly unknown[], options: object): readonly unknown[] {
  const count = declaration.kinds.length;
  const all = [...values.slice(0, count), ...((values[count] ?? []) as readonly unknown[])];
  return Object.keys(options).length === 0 ? all : [...all, options];
}

/** The names of the positional arguments that a call uses: ours unless all that it gives are among others. */
function namesIn({ signatures, options, rest }: Declaration, named: object): readonly string[] {
  if (signatures.length === 1) return signatures[0];
  const given = Object.keys(named).filter((key) => key !== rest && !Object.hasOwn(options, key));
  return signatures.find((names) => given.every((key) => names.includes(key))) ?? signatures[0];
}

/** Puts arguments given by name into their places. @returns the options. */
function takeNamed(declaration: Declaration, named: object, values: unknown[]): object {
  const { options, rest, name, reads } = declaration;
  const positional = namesIn(declaration, named);
  let all = !reads;
  for (const [key, value] of Object.entries(named)) {
    mayBeNamed(value);
    if (Object.hasOwn(options, key)) continue;
    const place = key === rest ? positional.length : positional.indexOf(key);
    if (place < 0)
      throw new InvalidArgumentError(
        unknownName(key, [
          ...declaration.positional,
          ...(rest === undefined ? [] : [rest]),
          ...Object.keys(options),
        ]),
        name,
      );
    if (values[place] !== undefined)
      throw new InvalidArgumentError(`${key} is given twice, by position and by name`, name);
    values[place] = value;
    all = false;
  }
  if (all) return named;
  const read: Record<string, unknown> = {};
  for (const key of Object.keys(named)) {
    const kind = Object.hasOwn(options, key) ? options[key] : undefined;
    const value = (named as Record<string, unknown>)[key];
    if (kind === undefined || value === undefined) continue;
    read[key] = kind.read === undefined ? value : kind.read(value, key, name);
  }
  return read;
}

function surplus(declaration: Declaration, args: ArrayLike<unknown>, n: number): InvalidArgumentError {
  const { positional, options, name } = declaration;
  const taken = positional.length;
  if (n === 3 && typeof args[1] === 'number' && Array.isArray(args[2]) && args[2][args[1]] === args[0]) {
    return new InvalidArgumentError(
      `takes ${positional.join(', ')} but map also passes an index and an array; write map((x) => ${name}(x))`,
      name,
    );
  }
  const by =
    taken === 0
      ? 'nothing is given by position'
      : `only ${positional.join(' and ')} can be given by position`;
  const free = Object.keys(options);
  const extra = Array.prototype.slice.call(args, taken, n);
  if (free.length < extra.length)
    return new InvalidArgumentError(`takes at most ${taken + free.length} arguments, got ${n}`, name);
  if (
    extra.length === 1 &&
    typeof extra[0] === 'object' &&
    extra[0] !== null &&
    !Array.isArray(extra[0]) &&
    !('dtype' in extra[0])
  ) {
    return new InvalidArgumentError(
      `expected options, such as { ${free.slice(0, 2).join(', ')} }, got ${shown(extra[0])}`,
      name,
    );
  }
  const fields = extra.map((value: unknown, i: number) => `${free[i]}: ${asCode(value)}`).join(', ');
  return new InvalidArgumentError(`${by}; write { ${fields} }`, name);
}

function missing(declaration: Declaration, values: readonly unknown[]): InvalidArgumentError {
  const { positional, required, name } = declaration;
  const names = positional.slice(0, required).filter((_, i) => values[i] === undefined);
  return new InvalidArgumentError(
    `${names.join(' and ')} must be given: write ${written(declaration)}`,
    name,
  );
}

/** How a call is written: `sum(x, { axis }) or sum({ x, axis })`. */
function written({ name, positional, required, options }: Declaration): string {
  const needed = positional.slice(0, Math.max(1, required));
  const other = positional[needed.length] ?? Object.keys(options)[0];
  const more = other === undefined ? [] : [other];
  const behind = other === undefined ? [] : [`{ ${other} }`];
  return `${name}(${[...needed, ...behind].join(', ')}) or ${name}({ ${[...needed, ...more].join(', ')} })`;
}
