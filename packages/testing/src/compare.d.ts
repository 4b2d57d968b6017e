import type { Tensor } from '@eagre/core';
/**
 * The largest distance between two tensors in units in the last place; sums may cancel, so small elements are measured
 * against a thousandth of the largest one.
 */
export declare function maxUlp(got: Tensor, expected: Tensor): number;
