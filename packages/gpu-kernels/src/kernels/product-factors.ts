// What a product is of: its factors, and where their elements lie.
import type { NumericDType } from '@eagre/backend';

/** A value that others are computed from: its name, its type, and an expression in the words that WGSL and C++ have in common. */
export type Value = readonly [name: string, type: 'u32' | 'i32', expression: string];

/** A digit of a number: its name, and how many values it takes, at least one, as an expression of `p` and of the batch. The highest takes all that are left. */
export type Digit = readonly [name: string, size?: string];

/**
 * What the place of an element has of its `row`, `column` or `deep`: expressions of `p`, the batch, that number and its digits. All are u32 and may wrap.
 * Plain kernels find digits by division; those for tensor cores divide once and then count.
 */
export interface Along {
  /** Digits of the number in a mixed radix, from the lowest on. */
  readonly digits?: readonly Digit[];
  /** Its part of the place in the buffer. */
  readonly at: string;
  /** Its parts of the coordinates. */
  readonly coordinates?: readonly string[];
}

/** Where the elements of a factor lie. */
export interface Factor {
  readonly buffer: string;
  /** Of `row`, of the left factor, or `column`, of the right one. */
  readonly side: Along;
  readonly deep: Along;
  /** Sizes of the coordinates, where elements may be outside: those are 0. Each coordinate is a sum of two parts; what is less than nothing is outside. */
  readonly within?: readonly string[];
  /** Along which of the two elements follow each other in memory. */
  readonly inner: 'side' | 'deep';
  /**
   * How many do. Of every piece of so many, from 0 on, either all are inside or none, and it begins at a multiple of their number. The tiles of tensor
   * cores are copied 16 bytes at once where these divide it.
   */
  readonly run: number;
  /** What it is of, where that are plain matrices, and so are the results: in rows, behind each other, with an element of the bias for each column. */
  readonly matrix?: PlainMatrix;
}

/** Matrices behind each other in a buffer, one of which is a factor. */
export interface PlainMatrix {
  /** Elements before the first one. */
  readonly from: number;
  /** Elements from a line to the next. */
  readonly pitch: number;
  /** How many there are. */
  readonly count: number;
  /** Which one it is, an expression of the values of the batch. */
  readonly number: string;
}

/** A product of `batches` matrices [rows, depth] and [depth, columns]. */
export interface Product {
  readonly dtype: NumericDType;
  /** By name, without the result `y`, which comes behind them. */
  readonly buffers: readonly string[];
  readonly params?: Readonly<Record<string, 'u32' | 'i32'>>;
  /** Values of `batch`, the number of the product. */
  readonly batch?: readonly Value[];
  /** The depth of a batch, where not all have that of the product, which none exceeds. */
  readonly depth?: string;
  readonly left: Factor;
  readonly right: Factor;
  /** Digits of `row` that the next two see. */
  readonly row?: readonly Digit[];
  /** Whether a row is stored, where not all are. */
  readonly stores?: string;
  /** The place in `y` of the first column of `row`, a multiple of the number of columns; the others follow. */
  readonly at: string;
  /** What is added: an element of the buffer `bias`. */
  readonly biasAt?: string;
  /** Of the contract: 1 is relu. */
  readonly activation?: number;
}

/** Fewer rows, columns or depth fill no tile of tensor cores: such products stay with the plain kernels. */
export const FEW = 16;

/** Sizes of a product. */
export type ProductSizes = readonly [batches: number, rows: number, columns: number, depth: number];

/** The digits of a number, by division. */
export function divided(number: string, digits: readonly Digit[] = []): readonly Value[] {
  let rest = number;
  return digits.map(([name, size]) => {
    const value: Value = [name, 'u32', size === undefined ? rest : `${rest} % (${size})`];
    rest = `${rest} / (${size})`;
    return value;
  });
}

/** The coordinates of a factor's elements, as sums of what `part` makes of both parts. */
export function coordinatesOf(
  { side, deep, within = [] }: Factor,
  part: (of: 'side' | 'deep', coordinate: number, expression: string) => string = (_, _i, expression) =>
    expression,
): readonly (readonly [sum: string, size: string])[] {
  return within.map((size, i) => {
    const parts = [['side', side] as const, ['deep', deep] as const].flatMap(([of, { coordinates = [] }]) =>
      coordinates[i] === undefined ? [] : [part(of, i, coordinates[i])],
    );
    return [parts.join(' + '), size] as const;
  });
}
