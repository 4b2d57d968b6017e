// Sizes that a trace does not know: expressions over symbols, which each run gives a number.
// Types in a circle: expressions know the environment whose sizes they are made of, which keeps them.
import { InternalError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { ShapeEnv } from './shape-env.ts';

/** The size of an axis: a number, or an expression over sizes that are not known while a function is traced. */
export type Dim = number | DimExpr;
/** The sizes of a tensor, some of which may not be known yet. */
export type Dims = readonly Dim[];

/** What the symbols of an expression are in a run. */
export type Sizes = (symbol: DimSymbol) => number;
/** What some symbols stand for; undefined for the others. */
export type Known = (symbol: DimSymbol) => Dim | undefined;

/**
 * What factors were found to be on a walk through an expression. They share parts, so that the ways through one can double with each step:
 * every factor is looked at once.
 */
type Found<T> = Map<Factor, T>;

/** What products are made of. Expressions in it are never numbers. Equal factors of an environment are one object. */
export abstract class Factor {
  /** Equal factors have equal keys, which are short whatever is in them. */
  abstract readonly key: string;
  /** How many factors may be inside of each other in it. */
  abstract readonly depth: number;
  /** As messages show it. */
  abstract readonly text: string;
  abstract evaluate(sizes: Sizes, found?: Found<number>): number;
  /** What it is once some symbols are known. */
  abstract substitute(known: Known, found?: Found<Dim>): Dim;
  /** Calls `visit` with every symbol in it, once or more. */
  abstract visit(visit: (symbol: DimSymbol) => void, seen?: Found<true>): void;
  /** The least and the greatest value that any sizes give. */
  abstract readonly least: number;
  abstract readonly most: number;
  abstract readonly env: ShapeEnv;
}

/** What a trace does not know: a size of an argument, or one that depends on values. */
export class DimSymbol extends Factor {
  readonly key: string;
  readonly depth: number = 0;
  readonly text: string;
  readonly least: number;
  readonly most: number = Number.POSITIVE_INFINITY;
  readonly env: ShapeEnv;
  /** Whether it depends on values, so that only a run tells it. */
  readonly late: boolean;
  /** Whether its hint is made up, as no call is traced that could tell it. */
  madeUp = false;
  readonly #hint: number | (() => number);

  /** @param hint for a size that depends on values it is asked for when it decides something. */
  constructor(env: ShapeEnv, id: number, text: string, hint: number | (() => number), least = 0) {
    super();
    this.env = env;
    this.key = `s${id}`;
    this.text = text;
    this.least = least;
    this.late = typeof hint === 'function';
    this.#hint = hint;
  }

  /** What it is in the call that is traced: decides where a trace goes one way or another. */
  get hint(): number {
    return typeof this.#hint === 'function' ? this.#hint() : this.#hint;
  }

  evaluate(sizes: Sizes): number {
    return sizes(this);
  }
  substitute(known: Known): Dim {
    return known(this) ?? dimOf(this);
  }
  visit(visit: (symbol: DimSymbol) => void): void {
    visit(this);
  }
}

export type Operation = 'floorDiv' | 'mod' | 'max' | 'min';

const operations: Readonly<Record<Operation, (a: number, b: number) => number>> = {
  floorDiv: (a, b) => Math.floor(a / b),
  mod: (a, b) => a - b * Math.floor(a / b),
  max: Math.max,
  min: Math.min,
};

/** What computes with other sizes. */
abstract class Nested extends Factor {
  readonly key: string;
  readonly args: Dims;
  readonly depth: number;
  readonly env: ShapeEnv;
  #text: string | undefined;

  constructor(key: string, args: Dims) {
    super();
    this.key = key;
    this.args = args;
    this.env = (args.find((d) => d instanceof DimExpr) as DimExpr).env;
    this.depth = 1 + Math.max(...args.map(depthOf));
  }

  get text(): string {
    if (this.#text === undefined) {
      const whole = this.write();
      this.#text = whole.length > LONGEST_TEXT ? this.writeShort() : whole;
    }
    return this.#text;
  }

  evaluate(sizes: Sizes, found?: Found<number>): number {
    return once(this, found, (all) => this.compute(this.args.map((d) => evaluated(d, sizes, all))));
  }
  substitute(known: Known, found?: Found<Dim>): Dim {
    return once(this, found, (all) => this.with(this.args.map((d) => substituted(d, known, all))));
  }
  visit(visit: (symbol: DimSymbol) => void, seen?: Found<true>): void {
    once(this, seen, (all) => {
      for (const d of this.args) visited(d, visit, all);
      return true as const;
    });
  }

  protected abstract compute(args: number[]): number;
  /** The same of other sizes. */
  protected abstract with(args: Dims): Dim;
  protected abstract write(): string;
  protected abstract writeShort(): string;
}

/** What is no polynomial. */
export class Operated extends Nested {
  readonly operation: Operation;
  readonly a: Dim;
  readonly b: Dim;
  readonly least: number;
  readonly most: number;

  constructor(key: string, operation: Operation, a: Dim, b: Dim) {
    super(key, [a, b]);
    this.operation = operation;
    this.a = a;
    this.b = b;
    const bound = operation === 'max' ? Math.max : Math.min;
    if (operation === 'max' || operation === 'min') {
      this.least = bound(leastOf(a), leastOf(b));
      this.most = bound(mostOf(a), mostOf(b));
    } else if (leastOf(b) < 1) {
      this.least = Number.NEGATIVE_INFINITY;
      this.most = Number.POSITIVE_INFINITY;
    } else {
      this.least = operation === 'mod' || leastOf(a) >= 0 ? 0 : leastOf(a);
      this.most = operation === 'mod' ? mostOf(b) - 1 : Math.max(0, mostOf(a));
    }
  }

  protected compute([a, b]: number[]): number {
    return operations[this.operation](a as number, b as number);
  }
  protected with([a, b]: Dims): Dim {
    return expressions[this.operation](a as Dim, b as Dim);
  }
  protected write(): string {
    const { operation, a, b } = this;
    if (operation === 'max' || operation === 'min') return `${operation}(${showDim(a)}, ${showDim(b)})`;
    const [x, y] = [a, b].map((d) =>
      d instanceof DimExpr && d.terms.length > 1 ? `(${showDim(d)})` : showDim(d),
    );
    return operation === 'mod' ? `${x} % ${y}` : `floor(${x} / ${y})`;
  }
  protected writeShort(): string {
    const { operation } = this;
    return operation === 'mod' ? '(… % …)' : operation === 'floorDiv' ? 'floor(… / …)' : `${operation}(…, …)`;
  }
}

/** A product. */
interface Term {
  /** An integer but 0. */
  readonly coefficient: number;
  /** In the order of their keys, a power as often as it says; none for the constant. */
  readonly factors: readonly Factor[];
}

/** What a plain function makes of sizes, where no integer arithmetic says it: a share of a size, rounded. */
export class Computed extends Nested {
  readonly name: string;
  readonly least: number;
  readonly most: number = Number.POSITIVE_INFINITY;
  readonly #fn: (...args: number[]) => number;

  constructor(key: string, name: string, args: Dims, fn: (...args: number[]) => number, least: number) {
    super(key, args);
    this.name = name;
    this.least = least;
    this.#fn = fn;
  }

  protected compute(args: number[]): number {
    return this.#fn(...args);
  }
  protected with(args: Dims): Dim {
    return computedDim(this.name, args, this.#fn, this.least);
  }
  protected write(): string {
    return `${this.name}(${this.args.map(showDim).join(', ')})`;
  }
  protected writeShort(): string {
    return `${this.name}(…)`;
  }
}

// What is longer in a message says nothing to a reader.
const LONGEST_TEXT = 160;

/** What a factor is on a walk: what was found before, else what `make` finds now. Shallow ones need no list. */
function once<T>(factor: Factor, found: Found<T> | undefined, make: (found?: Found<T>) => T): T {
  if (factor.depth < 2) return make(found);
  const all = found ?? new Map<Factor, T>();
  let value = all.get(factor);
  if (value === undefined) all.set(factor, (value = make(all)));
  return value;
}

function depthOf(d: Dim): number {
  if (typeof d === 'number') return 0;
  let depth = 0;
  for (const { factors } of d.terms) for (const factor of factors) depth = Math.max(depth, factor.depth);
  return depth;
}

/** A factor of sizes: the one that is there already if there is an equal one. */
function factorOf(name: string, args: Dims, make: (key: string, args: Dims) => Factor): DimExpr {
  const { env } = args.find((d) => d instanceof DimExpr) as DimExpr;
  const key = `${name}(${args.map((d) => (typeof d === 'number' ? d : env.shortKey(d.key))).join()})`;
  return dimOf(env.factor(key, () => make(key, args)));
}

const keyOfTerm = (factors: readonly Factor[]): string => factors.map((f) => f.key).join('*');
/** Equal sizes have equal keys. */
export const keyOfDim = (d: Dim): string => (typeof d === 'number' ? `${d}` : d.key);

/** A sum of products that is no number. Equal ones have equal keys. */
export class DimExpr {
  readonly terms: readonly Term[];
  readonly key: string;

  /** @internal Terms are in order, without zeros. */
  constructor(terms: readonly Term[]) {
    this.terms = terms;
    this.env.spend(terms.length);
    this.key = terms.map(({ coefficient, factors }) => `${coefficient}*${keyOfTerm(factors)}`).join('+');
  }

  /** Whose symbols it is made of. */
  get env(): ShapeEnv {
    for (const { factors } of this.terms) if (factors[0] !== undefined) return factors[0].env;
    throw new InternalError('an expression without symbols');
  }

  /** `2*n + 1` */
  toString(): string {
    return showDim(this);
  }

  /** Arithmetic with operators would lose what it is made of. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === 'string') return showDim(this);
    throw new InternalError(
      `${showDim(this)} is not known while the function is traced, so it cannot be used as a number`,
    );
  }
}

/** Whether a value is an expression; false for what cannot be looked at. */
export function isExpression(value: unknown): value is DimExpr {
  try {
    return value instanceof DimExpr;
  } catch {
    return false;
  }
}

// ---- making them

/** The expression of one factor. */
export function dimOf(factor: Factor): DimExpr {
  return new DimExpr([{ coefficient: 1, factors: [factor] }]);
}

const termsOf = (d: Dim): readonly Term[] =>
  typeof d === 'number' ? (d === 0 ? [] : [{ coefficient: d, factors: [] }]) : expressionOf(d).terms;

/** @throws InvalidArgumentError for what is no size, which the functions should have refused, and named. */
function expressionOf(d: unknown): DimExpr {
  if (d instanceof DimExpr) return d;
  throw new InvalidArgumentError(
    `a size must be an integer, got ${typeof d === 'string' ? `'${d}'` : String(d)}`,
  );
}

function ofTerms(terms: Iterable<Term>): Dim {
  const sums = new Map<string, Term>();
  for (const { coefficient, factors } of terms) {
    const key = keyOfTerm(factors);
    const sum = coefficient + (sums.get(key)?.coefficient ?? 0);
    if (!Number.isSafeInteger(sum) && Number.isFinite(sum)) throw tooComplicated();
    if (sum === 0) sums.delete(key);
    else sums.set(key, { coefficient: sum, factors });
  }
  if (sums.size === 0) return 0;
  const constant = sums.get('');
  if (sums.size === 1 && constant !== undefined) return constant.coefficient;
  return new DimExpr([...sums].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, term]) => term));
}

export function addDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  return ofTerms([...termsOf(a), ...termsOf(b)]);
}

/** What a trace gives up on, to be made for one size after another instead. */
export function tooComplicated(): UnimplementedError {
  return new UnimplementedError('sizes are too complicated to follow where they are not known');
}

// Products of sums have as many terms as the product of their lengths.
const MOST_TERMS = 1 << 14;

export function mulDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  if (termsOf(a).length * termsOf(b).length > MOST_TERMS) throw tooComplicated();
  return ofTerms(
    termsOf(a).flatMap((x) =>
      termsOf(b).map((y) => ({
        coefficient: x.coefficient * y.coefficient,
        factors: [...x.factors, ...y.factors].sort((f, g) => (f.key < g.key ? -1 : f.key > g.key ? 1 : 0)),
      })),
    ),
  );
}

export function subDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return addDims(a, mulDims(b, -1));
}

/** The number of elements. */
export function productOf(dims: Dims): Dim {
  let product: Dim = 1;
  for (let i = 0; i < dims.length; i++) product = mulDims(product, dims[i]);
  return product;
}

const LONGEST_DIVISION = 4;

/** `a / b` where that leaves no rest whatever the sizes are; else undefined. */
function quotientOf(a: Dim, b: Dim): Dim | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a % b === 0 ? a / b : undefined;
  const [divisor] = termsOf(b);
  if (divisor === undefined) return undefined;
  const terms: Term[] = [];
  let rest = a;
  // Long division by the leading term. Terms are in no order of degrees, so it need not end by itself.
  for (let steps = termsOf(a).length + LONGEST_DIVISION; rest !== 0; steps--) {
    const term = dividedTerm(termsOf(rest)[0], divisor);
    if (term === undefined || steps === 0) return undefined;
    terms.push(term);
    rest = subDims(rest, mulDims(ofTerms([term]), b));
  }
  return ofTerms(terms);
}

function dividedTerm(a: Term, b: Term): Term | undefined {
  if (a.coefficient % b.coefficient !== 0) return undefined;
  const factors = [...a.factors];
  for (const { key } of b.factors) {
    const at = factors.findIndex((f) => f.key === key);
    if (at < 0) return undefined;
    factors.splice(at, 1);
  }
  return { coefficient: a.coefficient / b.coefficient, factors };
}

/** `Math.floor(a / b)` for b > 0. */
export function floorDivDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return Math.floor(a / b);
  const exact = quotientOf(a, b);
  if (exact !== undefined) return exact;
  const [whole, rest] = split(a, b);
  return addDims(
    whole,
    typeof rest === 'number' && typeof b === 'number' ? Math.floor(rest / b) : floored(rest, b),
  );
}

function floored(a: Dim, b: Dim): Dim {
  // floor(floor(x / m) / n) is floor(x / (m n)).
  const [term, ...more] = termsOf(a);
  const [factor, ...others] = term?.factors ?? [];
  if (
    typeof b === 'number' &&
    b > 0 &&
    more.length === 0 &&
    term?.coefficient === 1 &&
    others.length === 0 &&
    factor instanceof Operated &&
    factor.operation === 'floorDiv' &&
    typeof factor.b === 'number' &&
    factor.b > 0
  )
    return floorDivDims(factor.a, factor.b * b);
  return operated('floorDiv', a, b);
}

/** The remainder of the floored quotient, 0 ≤ r < b, for b > 0. */
export function modDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a - b * Math.floor(a / b);
  if (quotientOf(a, b) !== undefined) return 0;
  const [, rest] = split(a, b);
  return typeof rest === 'number' && typeof b === 'number' ? modDims(rest, b) : operated('mod', rest, b);
}

/** `a` as `whole * b + rest`, as far as terms can be divided. */
function split(a: Dim, b: Dim): readonly [whole: Dim, rest: Dim] {
  const whole: Term[] = [];
  const rest: Term[] = [];
  for (const term of termsOf(a)) {
    const quotient = quotientOf(ofTerms([term]), b);
    if (quotient !== undefined) whole.push(...termsOf(quotient));
    else if (typeof b === 'number' && term.factors.length > 0) {
      // 7 n / 2 = 3 n + n / 2
      const times = Math.floor(term.coefficient / b);
      if (times !== 0) whole.push({ coefficient: times, factors: term.factors });
      rest.push({ coefficient: term.coefficient - times * b, factors: term.factors });
    } else rest.push(term);
  }
  return [ofTerms(whole), ofTerms(rest)];
}

export function maxDims(a: Dim, b: Dim): Dim {
  return chosen('max', a, b);
}
export function minDims(a: Dim, b: Dim): Dim {
  return chosen('min', a, b);
}

const expressions: Readonly<Record<Operation, (a: Dim, b: Dim) => Dim>> = {
  floorDiv: floorDivDims,
  mod: modDims,
  max: maxDims,
  min: minDims,
};

function operated(operation: Operation, ...args: readonly [Dim, Dim]): DimExpr {
  return factorOf(operation, args, (key) => new Operated(key, operation, ...args));
}

function chosen(operation: 'max' | 'min', a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return operations[operation](a, b);
  const difference = subDims(a, b);
  if (leastOf(difference) >= 0) return operation === 'max' ? a : b;
  if (mostOf(difference) <= 0) return operation === 'max' ? b : a;
  // In one order, so that both are equal.
  const [first, second] = keyOfDim(a) < keyOfDim(b) ? [a, b] : [b, a];
  return operated(operation, first, second);
}

/**
 * What a function of numbers, without effects, makes of sizes.
 * @param name tells it from others, with whatever it depends on beside the sizes: equal names of equal sizes are equal.
 * @param least the least value that it gives.
 */
export function computedDim(
  name: string,
  args: Dims,
  fn: (...args: number[]) => number,
  least: number = Number.NEGATIVE_INFINITY,
): Dim {
  return args.some((d) => typeof d !== 'number')
    ? factorOf(name, args, (key) => new Computed(key, name, args, fn, least))
    : fn(...(args as number[]));
}

// ---- looking at them

/** Whether they are the same whatever the sizes are. */
export function identicalDims(a: Dim, b: Dim): boolean {
  return a === b || (typeof a !== 'number' && typeof b !== 'number' && a.key === b.key);
}

/** What it is for the sizes of a run. */
export function evaluateDim(d: Dim, sizes: Sizes): number {
  return evaluated(d, sizes);
}

function evaluated(d: Dim, sizes: Sizes, found?: Found<number>): number {
  if (typeof d === 'number') return d;
  const all = found ?? foundIn<number>(d);
  let sum = 0;
  for (const { coefficient, factors } of d.terms)
    sum += factors.reduce((product, f) => product * f.evaluate(sizes, all), coefficient);
  return sum;
}

/** A list for a walk through all terms of an expression, where one is needed. */
function foundIn<T>(d: DimExpr): Found<T> | undefined {
  return depthOf(d) < 2 ? undefined : new Map<Factor, T>();
}

/** What it is once some symbols are known. */
export function substituteDim(d: Dim, known: Known): Dim {
  return substituted(d, known);
}

function substituted(d: Dim, known: Known, found?: Found<Dim>): Dim {
  if (typeof d === 'number') return d;
  const all = found ?? foundIn<Dim>(d);
  return ofTerms(
    d.terms.flatMap(({ coefficient, factors }) =>
      termsOf(factors.reduce<Dim>((product, f) => mulDims(product, f.substitute(known, all)), coefficient)),
    ),
  );
}

/** Calls `visit` with every symbol of an expression. */
export function visitSymbols(d: Dim, visit: (symbol: DimSymbol) => void): void {
  visited(d, visit);
}

function visited(d: Dim, visit: (symbol: DimSymbol) => void, seen?: Found<true>): void {
  if (typeof d === 'number') return;
  const all = seen ?? foundIn<true>(d);
  for (const { factors } of d.terms) for (const f of factors) f.visit(visit, all);
}

/** Whether some symbol of an expression is such a one. */
export function someSymbol(d: Dim, test: (symbol: DimSymbol) => boolean): boolean {
  let found = false;
  visitSymbols(d, (symbol) => {
    found ||= test(symbol);
  });
  return found;
}

/** The symbol that a size is, if it is one. */
export function symbolOf(d: Dim): DimSymbol | null {
  if (typeof d === 'number') return null;
  const [term, more] = d.terms;
  const [factor, others] = term?.factors ?? [];
  const alone = more === undefined && others === undefined && term?.coefficient === 1;
  return alone && factor instanceof DimSymbol ? factor : null;
}

/** Whether a size depends on values, so that only a run tells it. */
export function isLate(d: Dim): boolean {
  return someSymbol(d, ({ late }) => late);
}

/** Whether a size is a value of the run as it stands, which may be -1. */
export function mayBeOpen(d: Dim): boolean {
  const symbol = symbolOf(d);
  return symbol?.late === true && symbol.least < 0;
}

/** What it is in the call that is traced. */
export function hintOf(d: Dim): number {
  return evaluateDim(d, ({ hint }) => hint);
}

/** Whether a hint says nothing of runs, as a part of it is made up. */
export function isMadeUp(d: DimExpr): boolean {
  return someSymbol(d, ({ madeUp }) => madeUp);
}

/** The least value that any sizes give, as far as that is seen. */
export function leastOf(d: Dim): number {
  return boundOf(d, true);
}
/** The greatest value that any sizes give, as far as that is seen. */
export function mostOf(d: Dim): number {
  return boundOf(d, false);
}

function boundOf(d: Dim, least: boolean): number {
  if (typeof d === 'number') return d;
  let sum = 0;
  for (const { coefficient, factors } of d.terms) {
    const low = least === coefficient > 0;
    let product = Math.abs(coefficient);
    for (const f of factors) {
      // Products of what may be negative are not followed.
      if (f.least < 0 && factors.length > 1)
        return least ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      const bound = low ? f.least : f.most;
      product = bound === 0 ? 0 : product * bound;
    }
    sum += coefficient < 0 ? -product : product;
  }
  return sum;
}

/** As messages show it: `2*n + 1`. */
export function showDim(d: Dim): string {
  if (typeof d === 'number') return `${d}`;
  const text = d.terms
    .slice(0, LONGEST_TEXT)
    .map(({ coefficient, factors }, i) => {
      const size = Math.abs(coefficient);
      const names = factors.map((f) => f.text);
      const product = (size === 1 && names.length > 0 ? names : [`${size}`, ...names]).join('*');
      if (i === 0) return coefficient < 0 ? `-${product}` : product;
      return coefficient < 0 ? ` - ${product}` : ` + ${product}`;
    })
    .join('');
  return text.length > 2 * LONGEST_TEXT ? `${text.slice(0, 2 * LONGEST_TEXT)}…` : text;
}
