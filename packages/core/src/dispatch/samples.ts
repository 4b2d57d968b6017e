import type { DType } from '@eagre/backend';
import type { Shape } from '../shapes/shape.ts';
import type { Attrs } from './op.ts';

/** An input of a sample call; the testing package turns it into values, the same ones every time. */
export type SampleInput =
  | {
      readonly kind: 'uniform';
      readonly shape: Shape;
      readonly low: number;
      readonly high: number;
      /** Whether it has 32 bits at least: float32 where the others have 16. */
      readonly wide?: boolean;
    }
  /** Values at least 0.1 apart in random order: for ops whose gradient jumps where two are equal. */
  | { readonly kind: 'distinct'; readonly shape: Shape }
  | {
      readonly kind: 'integer';
      readonly shape: Shape;
      readonly low: number;
      readonly high: number;
      readonly dtype: DType;
    }
  | { readonly kind: 'bool'; readonly shape: Shape }
  | {
      readonly kind: 'values';
      readonly shape: Shape;
      readonly values: readonly number[];
      readonly dtype?: DType;
    };

/** One call of an op for the conformance and gradient tests. Float inputs are tried in float32 and float64. */
export interface Sample {
  readonly inputs: readonly SampleInput[];
  readonly attrs?: Attrs;
}

/** Uniform floats, from -2 to 2 by default. */
export const uniform = (shape: Shape, low = -2, high = 2): SampleInput => ({
  kind: 'uniform',
  shape,
  low,
  high,
});
/** Of 32 bits at least, beside others of 16. */
export const wideUniform = (shape: Shape, low: number, high: number): SampleInput => ({
  kind: 'uniform',
  shape,
  low,
  high,
  wide: true,
});
export const distinct = (shape: Shape): SampleInput => ({ kind: 'distinct', shape });
/** Integers in [low, high). */
export const integers = (shape: Shape, low: number, high: number, dtype: DType = 'int32'): SampleInput => ({
  kind: 'integer',
  shape,
  low,
  high,
  dtype,
});
export const bools = (shape: Shape): SampleInput => ({ kind: 'bool', shape });
export const values = (list: readonly number[], shape: Shape = [list.length], dtype?: DType): SampleInput =>
  dtype === undefined
    ? { kind: 'values', shape, values: list }
    : { kind: 'values', shape, values: list, dtype };
