import { InternalError } from '@eagre/backend';
import type { Shape } from '@eagre/core';
import { SMALLEST_STAND_IN } from './stand-ins.ts';

/** Why a trace cannot serve certain sizes. Caught by who asked; the function is then traced for these sizes. */
export class CannotSpecialize extends Error {}

// A number next to a multiple of a size is taken for computed from it: begin and end of slices, sizes of transposed convolutions.
const MOST_TIMES = 1024;
const MOST_MORE = 256;
// What people write. Of the float32 next to random numbers, one in thousands looks so.
const MOST_DIGITS = 4;
const LARGEST = (2 - 2 ** -23) * 2 ** 127;
// Constants are more often numbers of their own.
const MOST_MORE_OF_VALUES = 4;

const round32 = new Float32Array(1);
const float32 = (x: number): number => {
  round32[0] = x;
  return round32[0] as number;
};

/**
 * What the numbers of a trace are for the sizes of a run. It learns from the shapes of values, first those of the arguments, whose
 * sizes are known for both. A number that can be explained in two ways with different results is refused.
 */
export class Substitution {
  /** Sizes, and products of the sizes of a value. */
  readonly #numbers = new Map<number, number>();
  /** Single sizes that are others now. */
  readonly #sizes = new Map<number, number>();

  /**
   * A value that has one shape in the trace and another now.
   * @param unknown for each size whether it is made of unknown ones.
   * @throws CannotSpecialize where they contradict what is known, or could not be told apart from others.
   */
  learn(traced: Shape, now: Shape, unknown: readonly boolean[]): void {
    traced.forEach((d, i) => {
      const size = now[i] as number;
      if (!Number.isSafeInteger(size) || size < 0) throw new CannotSpecialize(`a size is now ${size}`);
      if (d !== size && (unknown[i] !== true || d < SMALLEST_STAND_IN))
        throw new CannotSpecialize(
          `a size of ${d} depends on an unknown size, which cannot be told from the number`,
        );
    });
    if (!unknown.includes(true)) return;
    traced.forEach((d, i) => {
      if (unknown[i] !== true) return;
      const size = now[i] as number;
      const expected = this.#explained(d, MOST_MORE);
      if (expected.size > 0 && !expected.has(size))
        throw new CannotSpecialize(`a size is now ${size}, expected ${[...expected]}`);
      this.#put(d, size);
      if (d !== size) this.#sizes.set(d, size);
    });
    // Counts: products of some of the sizes.
    const places = traced.length <= 5 ? subsets(traced.length) : ranges(traced.length);
    for (const list of places) {
      let [before, after] = [1, 1];
      for (const i of list) {
        before *= traced[i] as number;
        after *= now[i] as number;
      }
      // Beyond 2^53 still the same double as in the trace, which multiplies in this order.
      if (before >= SMALLEST_STAND_IN) this.#put(before, after);
    }
  }

  #put(traced: number, now: number): void {
    const known = this.#numbers.get(traced);
    if (known !== undefined && known !== now)
      throw new CannotSpecialize(`${traced} stands for ${known} and for ${now}`);
    this.#numbers.set(traced, now);
  }

  /** What a number may be now; nothing for one that has nothing to do with unknown sizes. */
  #explained(n: number, more: number): Set<number> {
    const found = new Set<number>();
    const known = this.#numbers.get(n);
    if (known !== undefined) found.add(known);
    for (const [traced, now] of this.#sizes) {
      const times = Math.round(n / traced);
      const rest = n - times * traced;
      if (times >= 1 && times <= MOST_TIMES && Math.abs(rest) <= more) found.add(times * now + rest);
    }
    return found;
  }

  #one(found: ReadonlySet<number>, n: number): number {
    if (found.size > 1) throw new CannotSpecialize(`${n} may be any of ${[...found].join(', ')}`);
    const [first] = found;
    if (first === undefined) throw new InternalError('no explanation');
    return first;
  }

  /** A number in a place of shapes and positions. @throws CannotSpecialize for a large one that nothing explains. */
  size(n: number): number {
    if (Math.abs(n) < SMALLEST_STAND_IN) return n;
    if (!Number.isSafeInteger(n)) throw new CannotSpecialize(`${n} may depend on an unknown size`);
    const found = this.#explained(Math.abs(n), MOST_MORE);
    if (found.size === 0) throw new CannotSpecialize(`${n} may depend on an unknown size`);
    return Math.sign(n) * this.#one(found, n);
  }

  /**
   * A number that is computed with: a count, or one divided by a count, or a number of its own.
   * @param single whether it has been rounded to float32.
   * @param ofSizes whether it is known to be made of unknown sizes.
   * @throws CannotSpecialize for what looks computed but is not explained.
   */
  value(v: number, single: boolean, ofSizes: boolean): number {
    const n = Math.abs(v);
    const small = 1 / SMALLEST_STAND_IN;
    if (!ofSizes && (n === 0 || !Number.isFinite(v))) return v;
    const shown = single ? float32 : (x: number): number => x;
    if (!ofSizes && n > small && n < SMALLEST_STAND_IN) {
      if (!Number.isInteger(n) && this.#isFunctionOfSize(n, shown))
        throw new CannotSpecialize(`the number ${v} may be computed from an unknown size`);
      return v;
    }
    const inverse = n <= small;
    const found = new Set<number>();
    for (const [traced, now] of this.#numbers) {
      if (inverse) {
        if (shown(1 / traced) === n) found.add(1 / now);
      } else if (shown(traced) === n) found.add(now);
    }
    if (!inverse && Number.isSafeInteger(n) && !single)
      for (const now of this.#explained(n, MOST_MORE_OF_VALUES)) found.add(now);
    if (found.size > 0) return Math.sign(v) * this.#one(found, v);
    if (!ofSizes && isRound(v, single)) return v;
    throw new CannotSpecialize(`the number ${v} may depend on an unknown size`);
  }

  /** Whether it is what libraries compute from counts beside 1 / n: roots and logarithms. */
  #isFunctionOfSize(v: number, shown: (x: number) => number): boolean {
    for (const n of this.#numbers.keys()) {
      const root = Math.sqrt(n);
      if ([root, 1 / root, Math.log(n)].some((x) => shown(x) === v)) return true;
    }
    return false;
  }

  /** Whether a number could be explained by unknown sizes. */
  concerns(n: number): boolean {
    return Math.abs(n) >= SMALLEST_STAND_IN && this.#explained(Math.abs(n), MOST_MORE_OF_VALUES).size > 0;
  }
}

/** Whether people write a number like that: few digits, or next to a power of two. */
export function isRound(v: number, single: boolean): boolean {
  for (let digits = 1; digits <= MOST_DIGITS; digits++) {
    const short = Number(v.toPrecision(digits));
    if (short === v || (single && float32(short) === v)) return true;
  }
  const n = Math.abs(v);
  const power = 2 ** Math.round(Math.log2(n));
  return [-1, 0, 1].some((d) => n + d === power) || n === LARGEST || n === Number.MAX_VALUE;
}

/**
 * What the numbers of two traces are for the sizes of a run, where others stand for the sizes in each: a number that is the same in both has
 * nothing to do with sizes, and one that differs comes to the same now, or is refused.
 */
export class Numbers {
  readonly #one = new Substitution();
  readonly #other = new Substitution();
  readonly #twins: boolean;

  /** @param twins whether there are two traces; without, what a number is for is guessed from its value. */
  constructor(twins: boolean) {
    this.#twins = twins;
  }

  /** A value that has these shapes in the traces and another now. @throws CannotSpecialize as `Substitution.learn`. */
  learn(one: Shape, other: Shape, now: Shape): void {
    if (one.length !== now.length)
      throw new CannotSpecialize(`a shape of rank ${one.length} has now rank ${now.length}`);
    const unknown = one.map((d, i) => (this.#twins ? d !== other[i] : d >= SMALLEST_STAND_IN));
    this.#one.learn(one, now, unknown);
    if (this.#twins) this.#other.learn(other, now, unknown);
  }

  /** A number in a place of shapes and positions. @throws CannotSpecialize for one that nothing explains. */
  size(one: number, other: number): number {
    if (!this.#twins) return this.#one.size(one);
    return one === other ? one : agreed(one, this.#one.size(one), this.#other.size(other));
  }

  /** A number that is computed with. @param single whether it has been rounded to float32. @throws CannotSpecialize as `size`. */
  value(one: number, other: number, single: boolean): number {
    if (!this.#twins) return this.#one.value(one, single, false);
    return Object.is(one, other)
      ? one
      : agreed(one, this.#one.value(one, single, true), this.#other.value(other, single, true));
  }

  /** Whether a number in a long list could be explained by unknown sizes. */
  concerns(one: number, other: number): boolean {
    return this.#twins ? !Object.is(one, other) : this.#one.concerns(one);
  }
}

function agreed(number: number, one: number, other: number): number {
  if (!Object.is(one, other))
    throw new CannotSpecialize(`${number} depends on an unknown size in a way that cannot be told`);
  return one;
}

function subsets(rank: number): number[][] {
  const all: number[][] = [];
  for (let bits = 1; bits < 1 << rank; bits++)
    all.push(Array.from({ length: rank }, (_, i) => i).filter((i) => ((bits >> i) & 1) === 1));
  return all;
}

function ranges(rank: number): number[][] {
  const all: number[][] = [];
  for (let from = 0; from < rank; from++)
    for (let to = from + 1; to <= rank; to++) all.push(Array.from({ length: to - from }, (_, i) => from + i));
  return all;
}
