/** `tf.linalg`: products, norms, diagonals, bands and decompositions of matrices. */

export { eye } from './ops/array/creation.ts';
export { globalNorm } from './ops/elementwise/clip.ts';
export { eig, eigvals } from './ops/linalg/eig.ts';
export { einsum } from './ops/linalg/einsum.ts';
export * from './ops/linalg/linalg.ts';
export { type SvdFunction, type SvdOptions, type SvdResult, svd } from './ops/linalg/svd.ts';
export { l2Normalize, norm } from './ops/reduce/reduce.ts';
