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
import { hostValues, type Tensor } from '../../tensor/tensor.ts';
import { complex, conj, real } from '../elementwise/complex.ts';
import { eigenOf, partsOf } from './eigen.ts';
import { diag, diagPart, matmul, matrixTranspose, setDiag } from './linalg.ts';
import { solved } from './solutions.ts';

const OP = 'Eig';
/** The eigenvalues of floats are complex. */
const resultDType = (x: Tensor): ComplexDType =>
  isComplex(x.dtype) ? x.dtype : x.dtype === 'float64' ? 'complex128' : 'complex64';

/** Eigenvalues [..., n] and eigenvectors [..., n, n] of matrices with values. */
function computed(x: Tensor): [Tensor, Tensor] {
  checkSquare(x);
  const data = hostValues(x) as ArrayLike<number>;
  const n = x.shape.at(-1) as number;
  const both = isComplex(x.dtype) ? 2 : 1;
  const count = n === 0 ? 0 : data.length / (both * n * n);
  const floats = resultDType(x) === 'complex128' ? Float64Array : Float32Array;
  const found = new floats(2 * count * n);
  const vectors = new floats(2 * count * n * n);
  for (let i = 0; i < count; i++) {
    const eigen = eigenOf(n, ...partsOf(data, both * i * n * n, n, both));
    if (both === 1) asOfReal(n, eigen.values, eigen.vectors);
    found.set(eigen.values, 2 * i * n);
    vectors.set(eigen.vectors, 2 * i * n * n);
  }
  const dtype = resultDType(x);
  const of = (parts: Float32Array | Float64Array, shape: readonly number[]): Tensor =>
    toTensor({ data: parts, shape, dtype });
  return [of(found, x.shape.slice(0, -1)), of(vectors, x.shape)];
}

/**
 * Those of a real matrix are real, or pairs of conjugates. They were found by complex numbers, whose rounding leaves a little of a real one's imaginary
 * part, and of a pair's difference.
 */
function asOfReal(n: number, values: Float64Array, vectors: Float64Array): void {
  const re = (j: number): number => values[2 * j] as number;
  const im = (j: number): number => values[2 * j + 1] as number;
  const column = (
    j: number,
    change: (re: number, im: number, row: number) => readonly [number, number],
  ): void => {
    for (let r = 0; r < n; r++) {
      const at = 2 * (r * n + j);
      [vectors[at], vectors[at + 1]] = change(vectors[at] as number, vectors[at + 1] as number, r);
    }
  };
  const open = new Set(Array.from({ length: n }, (_, j) => j));
  for (const j of open) {
    open.delete(j);
    if (!Number.isFinite(im(j)) || !Number.isFinite(re(j))) continue;
    const distance = (k: number): number => Math.hypot(re(k) - re(j), im(k) + im(j));
    let near: number | undefined;
    for (const k of open) if (near === undefined || distance(k) < distance(near)) near = k;
    if (im(j) !== 0 && near !== undefined && distance(near) <= Math.abs(im(j))) {
      open.delete(near);
      values[2 * near] = re(j);
      values[2 * near + 1] = -im(j);
      column(near, (_re, _im, row) => {
        const at = 2 * (row * n + j);
        return [vectors[at] as number, -(vectors[at + 1] as number)];
      });
      continue;
    }
    values[2 * j + 1] = 0;
    // The vector is real but for a factor, which its largest element tells.
    let [largest, x, y] = [0, 1, 0];
    column(j, (a, b) => {
      const size = Math.hypot(a, b);
      if (size > largest) [largest, x, y] = [size, a / size, b / size];
      return [a, b];
    });
    let [length, rest] = [0, 0];
    column(j, (a, b) => {
      length = Math.hypot(length, a * x + b * y);
      rest = Math.max(rest, Math.abs(b * x - a * y));
      return [a, b];
    });
    // Of several equal values vectors may be sums of real ones, which stay as they are. One that is real keeps its sign.
    if (y !== 0 && rest < 1e-8) column(j, (a, b) => [(a * x + b * y) / length, 0]);
  }
}

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
  host: ([x], { computeV }) => computed(x).slice(0, computeV === true ? 2 : 1),
  infer: ([x], { computeV }) => {
    const dtype = resultDType(x);
    const shape = dims(x);
    const found = { dtype, shape: shape.slice(0, -1) };
    return computeV === true ? [found, { dtype, shape }] : [found];
  },
  grad: (g, dValues, dVectors) => gradOfEigen(g, dValues, dVectors ?? null),
  // Vectors have no samples: what they are multiplied by is arbitrary, so differences tell nothing of their gradients.
  samples: () => [
    { inputs: [values([2, 1, 0.5, 0.3, -1, 0.2, 0.4, 0.1, 4], [3, 3])], attrs: { computeV: false } },
    { inputs: [values([1, -2, 3, 0.5, 2, 0.25, 1, -3], [2, 2, 2])], attrs: { computeV: false } },
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
 * complex64 of float32, complex128 of float64. Computed in float64, by numbers of the host. The eigenvalues are in no order, and vectors are unique but for
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
