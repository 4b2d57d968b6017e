/** `tf.linalg`: products, norms, diagonals, bands, factors, solutions and functions of matrices. */

export * as experimental from './linalg-experimental.ts';
export { eye } from './ops/array/creation.ts';
export { globalNorm } from './ops/elementwise/clip.ts';
export { adjoint } from './ops/linalg/adjoint.ts';
export {
  type BandedTriangularSolveOptions,
  bandedTriangularSolve,
  type EighTridiagonal,
  type EighTridiagonalOptions,
  eighTridiagonal,
  type TridiagonalSolveOptions,
  tridiagonalMatmul,
  tridiagonalSolve,
} from './ops/linalg/bands.ts';
export { eig, eigvals } from './ops/linalg/eig.ts';
export { einsum } from './ops/linalg/einsum.ts';
export {
  cholesky,
  choleskySolve,
  eigh,
  eigvalsh,
  lu,
  qr,
  type TriangularSolveOptions,
  triangularSolve,
} from './ops/linalg/factors.ts';
export * from './ops/linalg/linalg.ts';
export { expm, logm, sqrtm } from './ops/linalg/matrix-functions.ts';
export {
  LinearOperatorBlockDiag,
  LinearOperatorBlockLowerTriangular,
  LinearOperatorKronecker,
  LinearOperatorLowRankUpdate,
  type LowRankUpdateOptions,
} from './ops/linalg/operators/blocks.ts';
export {
  type ApplyOptions,
  LinearOperator,
  LinearOperatorAdjoint,
  LinearOperatorComposition,
  LinearOperatorFullMatrix,
  type LinearOperatorHints,
  LinearOperatorInversion,
  LinearOperatorLowerTriangular,
} from './ops/linalg/operators/linear-operator.ts';
export {
  LinearOperatorDiag,
  LinearOperatorHouseholder,
  LinearOperatorIdentity,
  LinearOperatorPermutation,
  LinearOperatorScaledIdentity,
  LinearOperatorZeros,
  type SizedOptions,
} from './ops/linalg/operators/simple.ts';
export {
  type CirculantOptions,
  LinearOperatorCirculant,
  LinearOperatorCirculant2D,
  LinearOperatorCirculant3D,
  LinearOperatorToeplitz,
  LinearOperatorTridiag,
} from './ops/linalg/operators/structured.ts';
export {
  type AdjointOption,
  det,
  inv,
  type LstsqOptions,
  logdet,
  lstsq,
  luMatrixInverse,
  luReconstruct,
  luSolve,
  matrixRank,
  pinv,
  slogdet,
  solve,
} from './ops/linalg/solutions.ts';
export { type SvdFunction, type SvdOptions, type SvdResult, svd } from './ops/linalg/svd.ts';
export { cross, normalize, tensorDiag, tensorDiagPart } from './ops/linalg/vectors.ts';
export { l2Normalize, norm } from './ops/reduce/reduce.ts';
