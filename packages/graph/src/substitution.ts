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
   * @throws CannotSpecialize where they contradict what is known, or could not be told apart from others.
   */
  learn(traced: Shape, now: Shape): void {
    if (traced.length !== now.length)
      throw new CannotSpecialize(`a shape of rank ${traced.length} has now rank ${now.length}`);
    let unknown = false;
    traced.forEach((d, i) => {
      const size = now[i] as number;
      if (!Number.isSafeInteger(size) || size < 0) throw new CannotSpecialize(`a size is now ${size}`);
      if (d >= SMALLEST_STAND_IN) unknown = true;
      else if (d !== size)
        throw new CannotSpecialize(
          `a size of ${d} depends on an unknown size, which cannot be told from the number`,
        );
    });
    if (!unknown) return;
    traced.forEach((d, i) => {
      if (d < SMALLEST_STAND_IN) return;
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
   * @throws CannotSpecialize for what looks computed but is not explained.
   */
  value(v: number, single: boolean): number {
    const n = Math.abs(v);
    const small = 1 / SMALLEST_STAND_IN;
    if (n === 0 || !Number.isFinite(v)) return v;
    const shown = single ? float32 : (x: number): number => x;
    if (n > small && n < SMALLEST_STAND_IN) {
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
    if (isRound(v, single)) return v;
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
function isRound(v: number, single: boolean): boolean {
  for (let digits = 1; digits <= MOST_DIGITS; digits++) {
    const short = Number(v.toPrecision(digits));
    if (short === v || (single && float32(short) === v)) return true;
  }
  const n = Math.abs(v);
  const power = 2 ** Math.round(Math.log2(n));
  return [-1, 0, 1].some((d) => n + d === power) || n === LARGEST || n === Number.MAX_VALUE;
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
