import { FailedPreconditionError, InternalError } from '@eagre/backend';
import type { PartialShape, Shape, Tensor } from '@eagre/core';
import { UNKNOWN_SIZE, type UnknownSizes } from '@eagre/core/internal';
import { calledByLibrary, userLine } from './source-lines.ts';

/**
 * Sizes from here on stand for unknown ones while a function is traced for any size. Most that are computed from one, such as the
 * sizes after several poolings, are still above.
 */
export const SMALLEST_STAND_IN: number = 2 ** 18;

// Primes, so that nothing divides them, of which round numbers are no multiples, nor near one.
const primes = [9000193, 9450013, 9902017, 10350029, 10800269, 11250049, 11700023, 12150029] as const;
// Those of a second trace. Each leaves another rest than its prime when divided by 2 to 9: what depends on a rest shows.
const others = [14000066, 14450066, 14900078, 15350026, 15800002, 16250018, 16700062, 17150026] as const;

/** As many unknown sizes as one trace can tell apart. */
export const MOST_UNKNOWN: number = primes.length;

/** What has to hold for the sizes of a run, because the trace took it for true. */
export interface Assumption {
  readonly kind: 'differ' | 'within';
  readonly a: Shape;
  readonly b: Shape;
}

const shapes = new WeakSet<Shape>();
const hidden = new WeakSet<readonly unknown[]>();

/** Whether numbers in a shape stand for unknown sizes. */
export function hasStandIns(shape: Shape): boolean {
  return shapes.has(shape);
}

/** A shape with null for the sizes that numbers stand for. */
export function withoutStandIns(shape: Shape): PartialShape {
  const unknown = hasStandIns(shape);
  return shape.map((d) => (unknown && d >= SMALLEST_STAND_IN ? null : d));
}

/** Whether a number looks like one that was computed from an unknown size. */
export function looksUnknown(n: number): boolean {
  return primes.some((prime) => {
    const times = Math.round(n / prime);
    return times >= 1 && times <= 4096 && Math.abs(n - times * prime) <= 256;
  });
}

/** The number that stands for the sizes of a class. @param again in the second trace, which shows what the first one's numbers mean. */
export function standIn(index: number, again: boolean = false): number {
  const number = (again ? others : primes)[index];
  if (number === undefined) throw new InternalError(`${index} unknown sizes are too many`);
  return number;
}

/** The numbers that stand for unknown sizes in one trace, and what the trace takes for true of them. */
export class StandIns implements UnknownSizes {
  readonly assumptions: Assumption[] = [];
  /** Why the trace does not hold for other sizes: code has asked for one. */
  failure: { readonly error: FailedPreconditionError; readonly line: string | undefined } | null = null;
  #over = false;

  has(size: number): boolean {
    return size >= SMALLEST_STAND_IN;
  }

  differ(a: Shape, b: Shape): void {
    // Shapes that differ where no size is unknown differ always.
    if (a.every((d, i) => d === b[i] || this.has(d) || this.has(b[i] as number)))
      this.assumptions.push({ kind: 'differ', a: [...a], b: [...b] });
  }

  within(a: Shape, b: Shape): void {
    if (a.some((d) => this.has(d)) || b.some((d) => this.has(d)))
      this.assumptions.push({ kind: 'within', a: [...a], b: [...b] });
  }

  guard(tensor: Tensor): void {
    const { shape, size } = tensor;
    if (!this.has(size) && !shape.some((d) => this.has(d))) return;
    shapes.add(shape);
    Object.defineProperty(tensor, 'shape', { value: this.guarded(shape) });
    this.#hide(tensor, 'size', size);
  }

  guarded<S extends PartialShape>(shape: S): S {
    if (hidden.has(shape) || !shape.some((d) => d !== null && this.has(d))) return shape;
    const guarded = [...shape];
    shape.forEach((d, i) => {
      if (d !== null && this.has(d)) this.#hide(guarded, i, d);
    });
    const shown = shape.map((d) => (d !== null && this.has(d) ? '?' : d));
    // Text is for people; what the library makes of a shape must tell sizes apart.
    const join = (separator = ','): string =>
      (this.#over || calledByLibrary(join) ? [...shape] : shown).join(separator);
    const toString = (): string => (this.#over || calledByLibrary(toString) ? [...shape] : shown).join(',');
    const value = (): string => `[${shown.join(', ')}]`;
    Object.defineProperties(guarded, {
      join: { value: join },
      toString: { value: toString },
      [Symbol.for('nodejs.util.inspect.custom')]: { value },
    });
    hidden.add(guarded);
    return guarded as readonly (number | null)[] as S;
  }

  hides(list: readonly unknown[]): boolean {
    return hidden.has(list);
  }

  #hide(target: object, key: number | 'size', value: number): void {
    const get = (): number => {
      if (!this.#over && !calledByLibrary(get)) this.#fail();
      return value;
    };
    Object.defineProperty(target, key, { get, enumerable: true, configurable: true });
  }

  /** From here on the numbers are no secret: nothing can be written down any more. */
  end(): void {
    this.#over = true;
  }

  #fail(): never {
    const error = new FailedPreconditionError(UNKNOWN_SIZE, 'tf.function');
    this.failure ??= { error, line: userLine(error.stack) };
    throw error;
  }
}
