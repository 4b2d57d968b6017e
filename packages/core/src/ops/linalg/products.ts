// The ops behind matmul and what builds on them. Nothing here becomes a method.
import { InvalidArgumentError, isComplex } from '@eagre/backend';
import { defineOp, execute1, type GradContext, type Op, pair, sumTo } from '../../dispatch/op.ts';
import { integers, uniform } from '../../dispatch/samples.ts';
import type { Dims } from '../../shapes/dim.ts';
import { dims, dimsOf, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { broadcastShapes, checkFlag, showShape } from '../../shapes/shape.ts';
import { mayBeEqual } from '../../shapes/shape-env.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { dtypeGroups } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { disposeAll } from '../array/moving.ts';
import { reshape, transpose } from '../array/shaping.ts';
import { conj } from '../elementwise/complex.ts';
import { reluGrad } from '../gradients.ts';

/** Products of matrices; leading axes broadcast. */
export const matMulOp: Op = defineOp({
  name: 'MatMul',
  ulp: 16,
  kernel: 'MatMul',
  kernelAttrs: ({ transposeA, transposeB }) => ({
    transposeA: transposeA as boolean,
    transposeB: transposeB as boolean,
    activation: 0,
  }),
  infer: ([a, b], attrs) => ({
    dtype: a.dtype,
    shape: productShape(a, b, attrs.transposeA as boolean, attrs.transposeB as boolean),
  }),
  grad: (g, dy) => {
    const [da, db] = matMulGrads(g, dy, g.a, g.b);
    return [da === null ? null : sumTo(da, g.a.shape), db === null ? null : sumTo(db, g.b.shape)];
  },
  samples: () => [
    { inputs: [uniform([3, 4]), uniform([4, 2])], attrs: { transposeA: false, transposeB: false } },
    { inputs: [uniform([4, 3]), uniform([4, 2])], attrs: { transposeA: true, transposeB: false } },
    { inputs: [uniform([3, 4]), uniform([2, 4])], attrs: { transposeA: false, transposeB: true } },
    { inputs: [uniform([2, 4, 3]), uniform([2, 2, 4])], attrs: { transposeA: true, transposeB: true } },
    { inputs: [uniform([2, 1, 2, 3]), uniform([3, 3, 2])], attrs: { transposeA: false, transposeB: false } },
    {
      inputs: [integers([3, 5], -9, 9), integers([5, 2], -9, 9)],
      attrs: { transposeA: false, transposeB: false },
    },
  ],
});

function productShape(a: Tensor, b: Tensor, transposeA: boolean, transposeB: boolean): Dims {
  const rows = dims(a)[a.rank - (transposeA ? 1 : 2)];
  const columns = dims(b)[b.rank - (transposeB ? 2 : 1)];
  if (a.rank === 2 && b.rank === 2) return [rows, columns];
  const leading = broadcastShapes(dims(a).slice(0, -2), dims(b).slice(0, -2), 'MatMul');
  return [...dimsOf(leading), rows, columns];
}

/** The gradients of a product before broadcasting is undone; `g` says which are needed and how it was transposed. */
function matMulGrads(g: GradContext, dy: Tensor, a: Tensor, b: Tensor): [Tensor | null, Tensor | null] {
  const tA = g.attrs.transposeA as boolean;
  const tB = g.attrs.transposeB as boolean;
  const product = (x: Tensor, y: Tensor, transposeA: boolean, transposeB: boolean): Tensor =>
    execute1(matMulOp, [x, y], { transposeA, transposeB });
  return [
    g.needs(0) ? (tA ? product(b, dy, tB, true) : product(dy, b, false, !tB)) : null,
    g.needs(1) ? (tB ? product(dy, a, true, tA) : product(a, dy, !tA, false)) : null,
  ];
}

/** How the factors of a product are turned first. */
export interface Turns {
  /** Whether the last two axes of the first factor are swapped first; false by default. */
  readonly transposeA?: boolean;
  /** Whether the last two axes of the second factor are swapped first; false by default. */
  readonly transposeB?: boolean;
  /** As `transposeA`, with the conjugates of complex numbers. */
  readonly adjointA?: boolean;
  /** As `transposeB`, with the conjugates of complex numbers. */
  readonly adjointB?: boolean;
}

/** Whether a factor is transposed, and whether its adjoint is taken. @throws InvalidArgumentError for both */
export function turnsOf(
  which: 'A' | 'B',
  options: Turns,
  op: string,
): [transpose: boolean, adjoint: boolean] {
  const [t, a] = [`transpose${which}`, `adjoint${which}`] as const;
  const turns: [boolean, boolean] = [checkFlag(options[t], t, op), checkFlag(options[a], a, op)];
  if (turns[0] && turns[1])
    throw new InvalidArgumentError(`${t} and ${a} are both true; give one of them`, op);
  return turns;
}

/** A factor, and whether the product transposes it. */
export function factor(x: Tensor, which: 'A' | 'B', options: Turns, op: string): [Tensor, boolean] {
  const [transpose, adjoint] = turnsOf(which, options, op);
  return [adjoint && isComplex(x.dtype) ? conj(x) : x, transpose || adjoint];
}

const products: readonly string[] = dtypeGroups.numeric.filter((d) => d !== 'uint8');

/** @throws InvalidArgumentError unless the matrices fit. */
export function checkProduct(
  a: Tensor,
  b: Tensor,
  transposeA: boolean,
  transposeB: boolean,
  op: string,
): void {
  if (!products.includes(a.dtype)) {
    throw new InvalidArgumentError(`a and b are ${a.dtype}, expected ${products.join(', ')}`, op);
  }
  if (a.rank < 2 || b.rank < 2) {
    const hint =
      a.rank === 1 && b.rank === 1
        ? 'dot'
        : a.rank >= 2 && b.rank === 1
          ? 'matvec'
          : 'expandDims, mul or dot';
    throw new InvalidArgumentError(
      `shapes ${showShape(a.shape)} and ${showShape(b.shape)} are not both matrices (rank 2 or more); use ${hint}`,
      op,
    );
  }
  const inner = dims(a)[a.rank - (transposeA ? 2 : 1)];
  const other = dims(b)[b.rank - (transposeB ? 1 : 2)];
  if (!mayBeEqual(inner, other)) {
    const note = (t: boolean): string => (t ? ' (transposed)' : '');
    throw new InvalidArgumentError(
      `shapes ${showShape(a.shape)}${note(transposeA)} and ${showShape(b.shape)}${note(transposeB)} do not match: ` +
        `the inner dimensions ${inner} and ${other} differ`,
      op,
    );
  }
}

/** A product of matrices with a bias and an activation. */
export const fusedMatMulOp: Op = defineOp({
  name: '_FusedMatMul',
  ulp: 16,
  kernel: 'MatMul',
  infer: ([a, b], attrs) => ({
    dtype: a.dtype,
    shape: productShape(a, b, attrs.transposeA as boolean, attrs.transposeB as boolean),
  }),
  grad: (g, dy) => {
    const d = g.attrs.activation === 1 ? reluGrad(dy, g.y) : dy;
    const grads = matMulGrads(g, d, g.a, g.b);
    return g.inputs.length === 2 ? grads : [...grads, g.needs(2) ? d.sum(0) : null];
  },
  samples: () => {
    const attrs = { transposeA: false, transposeB: false };
    return [
      { inputs: [uniform([3, 4]), uniform([4, 2]), uniform([2])], attrs: { ...attrs, activation: 0 } },
      {
        inputs: [uniform([3, 4], 0.1, 1), uniform([4, 2], 0.1, 1), uniform([2], 0, 1)],
        attrs: { ...attrs, activation: 1 },
      },
      { inputs: [uniform([3, 4], 0.1, 1), uniform([4, 2], -1, -0.1)], attrs: { ...attrs, activation: 1 } },
      { inputs: [uniform([3, 4]), uniform([4, 2])], attrs: { ...attrs, activation: 0 } },
    ];
  },
});

/** A bias for the given axis of a filter or matrix. */
export function checkBias(bias: TensorLike, weights: Tensor, axis: number, op: string): Tensor {
  const b = toTensor(bias, weights.dtype);
  if (b.dtype !== weights.dtype || b.rank !== 1 || differs(dims(b)[0], dims(weights)[axis])) {
    throw new InvalidArgumentError(
      `the bias is ${b.dtype} ${showShape(b.shape)}, expected ${weights.dtype} [${dims(weights)[axis]}]`,
      op,
    );
  }
  return b;
}

/** x [..., k] · w [k, n] + bias [n] (or null) with an activation (0 none, 1 relu), in one kernel. */
export function fusedMatMul(
  x: TensorLike,
  w: TensorLike,
  bias: TensorLike | null,
  options: { activation?: 0 | 1 } = {},
): Tensor {
  const [a, b] = pair(x, w, '_FusedMatMul');
  checkProduct(a, b, false, false, '_FusedMatMul');
  if (b.rank !== 2)
    throw new InvalidArgumentError(`w has shape ${showShape(b.shape)}, expected a matrix`, '_FusedMatMul');
  const inputs = [
    a.rank === 2 ? a : reshape(a, toShape([sizeOfDims(dims(a).slice(0, -1)), dims(a)[a.rank - 1]])),
    b,
  ];
  if (bias !== null) inputs.push(checkBias(bias, b, 1, '_FusedMatMul'));
  const y = execute1(fusedMatMulOp, inputs, {
    transposeA: false,
    transposeB: false,
    activation: options.activation ?? 0,
  });
  return a.rank === 2
    ? y
    : disposeAll(reshape(y, toShape([...dims(a).slice(0, -1), dims(b)[1]])), inputs[0], y);
}

/** `transpose` that leaves out the identity. */
export function permuted(x: Tensor, perm: readonly number[]): Tensor {
  return perm.every((p, i) => p === i) ? x : transpose(x, perm);
}
