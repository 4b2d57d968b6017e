// What float32 shows of special functions: polynomials that are computed in float32.
import type { Quotient } from './special-tables.ts';

// Coefficients from the constant one on, of a least relative error by Lawson's weights; below 2^-25.
/** I0(x) in x², for x up to 8. All terms are positive, so that none is lost. */
export const i0Near: readonly number[] = [
  1.0, 0.249999998, 0.0156250022, 0.000434026962, 6.78183063e-6, 6.78023547e-8, 4.71799766e-10,
  2.37214101e-12, 1.00695298e-14, 1.99136608e-17, 1.35662863e-19,
];
/** I1(x) / x in x², for x up to 8. */
export const i1Near: readonly number[] = [
  0.499999999, 0.0625000052, 0.00260416268, 5.42545763e-5, 6.78021626e-7, 5.66210479e-9, 3.31828652e-11,
  1.61781691e-13, 3.50460655e-16, 2.7504246e-18,
];
/** √x exp(−x) I0(x) in 8/x, for x from 8 on. */
export const i0Far: readonly number[] = [
  0.398942277, 0.00623369826, 0.000435918714, 6.59867647e-5, -3.38175346e-6, 1.18399114e-5,
];
/** √x exp(−x) I1(x) in 8/x, for x from 8 on. */
export const i1Far: readonly number[] = [
  0.398942284, -0.0187006809, -0.000727746455, -9.01488602e-5, 2.36765173e-6, -1.38053961e-5,
];

// The quantile of the normal distribution (M. Wichura, Algorithm AS 241, PPND7. Applied Statistics 37, 1988).
/** By q, in 0.180625 − q², for |q| ≤ 0.425. */
export const quantileMiddle: Quotient = [
  [3.3871327179, 50.434271938, 159.29113202, 59.10937472],
  [1, 17.895169469, 78.757757664, 67.1875636],
];
/** In √(−log p) − 1.6, up to 5. */
export const quantileTail: Quotient = [
  [1.4234372777, 2.75681539, 1.3067284816, 0.17023821103],
  [1, 0.7370016425, 0.12021132975],
];
/** In √(−log p) − 5, beyond. */
export const quantileFar: Quotient = [
  [6.657905115, 3.081226386, 0.42868294337, 0.017337203997],
  [1, 0.24197894225, 0.012258202635],
];
