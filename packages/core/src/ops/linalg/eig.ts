// Eigenvalues and eigenvectors of square matrices that need not be symmetric.
import { type ComplexDType, InvalidArgumentError, isComplex } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute, execute1, type GradContext, type Op } from '../../dispatch/op.ts';
import { values } from '../../dispatch/samples.ts';
import { dims } from '../../shapes/dims.ts';
import { showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { complex, conj, real } from '../elementwise/complex.ts';
import { diag, diagPart, matmul, matrixTranspose, setDiag } from './linalg.ts';
import { solved } from './solutions.ts';

const OP = 'Eig';
/** The eigenvalues of floats are complex. */
const resultDType = (x: Tensor): ComplexDType =>
  isComplex(x.dtype) ? x.dtype : x.dtype === 'float64' ? 'complex128' : 'complex64';

/** x/(x² + ε), which is 1/x, and 0 where x is. */
const safeReciprocal = (x: Tensor): Tensor => x.div(x.mul(x).add(1e-20));

/**
 * As TensorFlow has it, for eigenvalues that differ: C. Boeddeker and others, "On the computation of complex-valued gradients" (2017),
 * equation 4.77. What comes is conjugated, and so is what goes.
 */
function gradOfEigen(g: GradContext, dValues: Tensor, dVectors: Tensor | null): Tensor {
  const [e, v] = (g.attrs['computeV'] === true ? g.outputs : execute(eigOp, [g.x], { computeV: true })) as [
    Tensor,
    Tensor,
  ];
  const vt = matrixTranspose(v);
  let middle = diag(dValues);
  if (dVectors !== null) {
    const f = setDiag(safeReciprocal(e.expandDims(-2).sub(e.expandDims(-1))), e.mul(0));
    const turned = matmul(vt, dVectors);
    const along = real(diagPart(turned));
    // Vectors stay of length 1.
    const length = matmul(matmul(vt, conj(v)), diag(complex(along, along.mul(0))));
    middle = middle.add(f.mul(turned.sub(length)));
  }
  const result = solved(vt, matmul(middle, vt));
  return isComplex(g.x.dtype) ? result : real(result);
}

/** The eigenvalues of square matrices and, with `computeV`, their eigenvectors. */
// Pure: a bundle of a program that has no use for it leaves it out.
const eigOp: Op = /* @__PURE__ */ defineOp({
  name: OP,
  kernel: 'Eig',
  kernelAttrs: () => ({}),
  ulp: 64,
  infer: ([x], { computeV }) => {
    const dtype = resultDType(x);
    const shape = dims(x);
    const found = { dtype, shape: shape.slice(0, -1) };
    return computeV === true ? [found, { dtype, shape }] : [found];
  },
  grad: (g, dValues, dVectors) => gradOfEigen(g, dValues, dVectors ?? null),
  // Vectors have no samples: what they are multiplied by is arbitrary, so differences tell nothing of their gradients.
  samples: () => [
    {
      inputs: [values([2, 1, 0.5, 0.3, -1, 0.2, 0.4, 0.1, 4], [3, 3], 'float32')],
      attrs: { computeV: false },
    },
    { inputs: [values([1, -2, 3, 0.5, 2, 0.25, 1, -3], [2, 2, 2], 'float32')], attrs: { computeV: false } },
  ],
});

function matricesOf(x: TensorLike): Tensor {
  const t = toTensor(x);
  if (!isComplex(t.dtype)) checkDType(t.dtype, 'floating', 'tensor', OP);
  checkSquare(t);
  return t.dtype === 'float16' || t.dtype === 'bfloat16' ? t.cast('float32') : t;
}
function checkSquare(t: Tensor): void {
  const [m, n] = dims(t).slice(-2);
  if (t.rank < 2 || differs(m, n))
    throw new InvalidArgumentError(`tensor has shape ${showShape(t.shape)}, expected square matrices`, OP);
}

/**
 * The eigenvalues of square matrices [..., n, n], and their eigenvectors as columns of length 1: tensor · v = v · diag(e). Both are complex:
 * complex64 of float32, complex128 of float64. Computed in float64. The eigenvalues are in no order, and vectors are unique but for
 * a factor of size 1. A matrix with an element that is not finite has NaN in both. Gradients are those of matrices whose eigenvalues differ.
 * @returns [e, v]
 * @throws InvalidArgumentError for matrices that are not square
 */
export const eig: NamedFunction<[tensor: TensorLike], ['tensor'], unknown, [e: Tensor, v: Tensor]> =
  /* @__PURE__ */ defineFunction('linalg.eig', { tensor: kind.tensor }, {}, (tensor) => {
    const [e, v] = execute(eigOp, [matricesOf(tensor)], { computeV: true });
    return [e, v];
  });

/** The eigenvalues of square matrices, complex: `tf.linalg.eig(tensor)[0]`. */
export const eigvals: NamedFunction<[tensor: TensorLike], ['tensor']> = /* @__PURE__ */ defineFunction(
  'linalg.eigvals',
  { tensor: kind.tensor },
  {},
  (tensor) => execute1(eigOp, [matricesOf(tensor)], { computeV: false }),
);
