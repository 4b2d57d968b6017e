// What a product is of: its factors, and where their elements lie.
import type { NumericDType } from '@eagre/backend';

/** A value that others are computed from: its name, its type, and an expression in the words that WGSL and C++ have in common. */
export type Value = readonly [name: string, type: 'u32' | 'i32', expression: string];

/** Where the elements of a factor lie. All expressions see the fields of `p` and the values of the batch. */
export interface Factor {
  readonly buffer: string;
  /** Values of `row`, of the left factor, or `column`, of the right one. */
  readonly side?: readonly Value[];
  /** Values of `deep`. */
  readonly deep?: readonly Value[];
  /** Whether there is an element, where not always; it is 0 elsewhere. */
  readonly inside?: string;
  /** Its place in the buffer. */
  readonly at: string;
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
  readonly left: Factor;
  readonly right: Factor;
  /** The place in `y` of the element at `row` and `column`. */
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
