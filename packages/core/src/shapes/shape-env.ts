// What a trace knows of sizes: its symbols, and what it has found true of them.
import { FailedPreconditionError } from '@eagre/backend';
import {
  type Dim,
  DimExpr,
  DimSymbol,
  dimOf,
  evaluateDim,
  type Factor,
  hintOf,
  isExpression,
  isMadeUp,
  keyOfDim,
  leastOf,
  mostOf,
  type Sizes,
  subDims,
  tooComplicated,
} from './dim.ts';

/** What has to hold for the sizes of a run, since the trace went one way where it does. */
export interface Guard {
  readonly kind: 'equal' | 'differ' | 'atMost';
  readonly a: Dim;
  readonly b: Dim;
  /** Where a number was asked for, which makes the trace serve that one only. */
  readonly asked?: Error;
}

// Terms of the expressions of one trace: what seconds are enough for, and far more than models need.
const MOST_WORK = 20_000_000;

/** The unknown sizes of one trace. */
export class ShapeEnv {
  /** Whether there is a call that is traced, so that its sizes can be asked for; without, those of symbols are made up. */
  readonly hasCall: boolean;
  readonly #symbols: DimSymbol[] = [];
  readonly #guards = new Map<string, Guard>();
  readonly #factors = new Map<string, Factor>();
  readonly #shortKeys = new Map<string, string>();
  #spent = 0;

  constructor(hasCall = true) {
    this.hasCall = hasCall;
  }

  /** @param hint its size in the call that is traced. */
  symbol(text: string, hint: number): DimExpr {
    const symbol = new DimSymbol(this, this.#symbols.length, text, hint);
    this.#symbols.push(symbol);
    return dimOf(symbol);
  }

  /**
   * A size that depends on values.
   * @param hint what it is in the call that is traced; asked for when something depends on it.
   */
  late(text: string, least: number, hint: () => number): DimSymbol {
    const symbol = new DimSymbol(this, this.#symbols.length, text, hint, least);
    this.#symbols.push(symbol);
    return symbol;
  }

  /** The factor of a key. */
  factor(key: string, make: () => Factor): Factor {
    let factor = this.#factors.get(key);
    if (factor === undefined) this.#factors.set(key, (factor = make()));
    return factor;
  }

  /** What stands for the key of an expression in those that hold it, which otherwise double it again and again. */
  shortKey(key: string): string {
    let short = this.#shortKeys.get(key);
    if (short === undefined) this.#shortKeys.set(key, (short = `#${this.#shortKeys.size}`));
    return short;
  }

  /** Counts the terms that are made. @throws UnimplementedError where they are too many to go on. */
  spend(terms: number): void {
    this.#spent += terms;
    if (this.#spent > MOST_WORK) throw tooComplicated();
  }

  get symbols(): readonly DimSymbol[] {
    return this.#symbols;
  }

  /** What the trace has found true of its sizes. */
  get guards(): readonly Guard[] {
    return [...this.#guards.values()];
  }

  guard(guard: Guard): void {
    const key = `${guard.kind} ${keyOfDim(guard.a)}, ${keyOfDim(guard.b)}`;
    if (!this.#guards.has(key)) this.#guards.set(key, guard);
  }
}

/** Whether what a trace has found true holds for other sizes. */
export function holdsFor({ kind, a, b }: Guard, sizes: Sizes): boolean {
  const [x, y] = [evaluateDim(a, sizes), evaluateDim(b, sizes)];
  return kind === 'equal' ? x === y : kind === 'differ' ? x !== y : x <= y;
}

// ---- questions, where a trace goes one way or another

/** Whether two sizes are equal. */
export function equalDims(a: Dim, b: Dim): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  const difference = subDims(a, b);
  if (typeof difference === 'number') return difference === 0;
  if (leastOf(difference) > 0 || mostOf(difference) < 0) return false;
  const equal = hintOf(difference) === 0;
  difference.env.guard({ kind: equal ? 'equal' : 'differ', a, b });
  return equal;
}

/** Whether a ≤ b. */
export function atMost(a: Dim, b: Dim): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a <= b;
  const difference = subDims(b, a);
  if (typeof difference === 'number') return difference >= 0;
  if (leastOf(difference) >= 0) return true;
  if (mostOf(difference) < 0) return false;
  const holds = hintOf(difference) >= 0;
  difference.env.guard(holds ? { kind: 'atMost', a, b } : { kind: 'atMost', a: subDims(b, -1), b: a });
  return holds;
}

/** Whether a < b. */
export function lessThan(a: Dim, b: Dim): boolean {
  return !atMost(b, a);
}

// ---- conditions that have to hold: what only a run tells is taken for true here, and looked at when it runs. Kernels see sizes that reach
// too far, but none that leave something over.

/** Whether two sizes that have to be equal may be so. */
export function mayBeEqual(a: Dim, b: Dim): boolean {
  const difference = subDims(a, b);
  if (leastOf(difference) > 0 || mostOf(difference) < 0 || !isOpen(difference)) return equalDims(a, b);
  difference.env.guard({ kind: 'equal', a, b });
  return true;
}

/** Whether a size that has to be at most b may be so. */
export function mayBeAtMost(a: Dim, b: Dim): boolean {
  const room = subDims(b, a);
  return (mostOf(room) >= 0 && isOpen(room)) || atMost(a, b);
}

/** Whether a size that has to be at least as large may be so. A file says nothing of it: what reads it looks for itself. */
function mayReach(least: number, size: DimExpr): boolean {
  if (leastOf(size) >= least) return true;
  if (mostOf(size) < least || !isOpen(size)) return atMost(least, size);
  if (size.env.hasCall) size.env.guard({ kind: 'atMost', a: least, b: size });
  return true;
}

/** Whether it is a size: an integer of at least `least`, or one that a trace does not know, which each run then looks at. */
export function isSize(value: unknown, least = 0): value is Dim {
  return typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= least
    : isExpression(value) && mayReach(least, value);
}

/** Whether two sizes are equal in all that can be traced for no call, whose made-up sizes differ: a run looks at the guard. */
export function areTakenForEqual(a: Dim, b: Dim): boolean {
  const difference = subDims(a, b);
  return typeof difference === 'object' && !difference.env.hasCall && mayBeEqual(a, b);
}

/** Whether nothing but a run tells what a size is. */
function isOpen(size: Dim): size is DimExpr {
  if (typeof size === 'number') return false;
  if (!size.env.hasCall) return true;
  // Asked for a hint, symbols know whether it is made up.
  hintOf(size);
  return isMadeUp(size);
}

/**
 * The number that a size is in the call that is traced: the trace serves calls with this one only.
 * @throws FailedPreconditionError where no call is traced.
 */
export function knownDim(d: Dim): number {
  if (!(d instanceof DimExpr)) return d;
  if (!d.env.hasCall) throw new FailedPreconditionError(UNKNOWN_SIZE);
  const hint = hintOf(d);
  d.env.guard({ kind: 'equal', a: d, b: hint, asked: new Error() });
  return hint;
}

const UNKNOWN_SIZE =
  'this size is not known while the graph is written, for it serves all sizes; tf.shape(x) gives it as a tensor, and -1 in reshape stands for it';
