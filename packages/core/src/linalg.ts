/** `tf.linalg`: products, norms, diagonals, bands and decompositions of matrices. */

export { globalNorm } from './ops/clip.ts';
export { eye } from './ops/creation.ts';
export { einsum } from './ops/einsum.ts';
export * from './ops/linalg.ts';
export { l2Normalize, norm } from './ops/reduce.ts';
export { type SvdFunction, type SvdOptions, type SvdResult, svd } from './ops/svd.ts';
