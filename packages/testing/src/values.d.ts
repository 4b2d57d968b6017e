import { type Tensor } from '@eagre/core';
import type { Sample } from '@eagre/core/internal';
/** A small random generator (mulberry32), so that samples are the same everywhere. Values in [0, 1). */
export declare function generator(seed: number): () => number;
/** Whether a sample has inputs whose precision can be chosen. */
export declare function hasFloats(sample: Sample): boolean;
type FloatDType = 'float32' | 'float64' | 'float16' | 'bfloat16';
/** The tensors of a sample on the current backend, its floats as `float`. */
export declare function materialize(sample: Sample, float: FloatDType, seed?: number): Tensor[];
export {};
