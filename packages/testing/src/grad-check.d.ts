import { type Tensor } from '@eagre/core';
type Fn = (inputs: readonly Tensor[]) => readonly Tensor[];
export interface GradCheckOptions {
    /** 1 or 2: also the gradient of the gradient. */
    readonly order?: 1 | 2;
    /** Permitted difference relative to the larger of the two, and at least to 1. */
    readonly tolerance?: number;
    readonly seed?: number;
}
/**
 * Compares the tape's gradient of a function with central differences along a random direction, in float64 (as JAX's check_grads
 * does). Inputs and outputs that are not floating are left alone.
 * @throws Error with both numbers where they differ.
 */
export declare function checkGradients(given: Fn, inputs: readonly Tensor[], options?: GradCheckOptions): void;
export {};
