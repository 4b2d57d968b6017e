// Cross products, tensors with diagonals of any rank, tensors of length 1.
import { InvalidArgumentError } from '@eagre/backend';
import type { AxisLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type Op, pair } from '../../dispatch/op.ts';
import { uniform } from '../../dispatch/samples.ts';
import { mulDims } from '../../shapes/dim.ts';
import { dims, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { sameShape, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { reshape } from '../array/shaping.ts';
import { roll } from '../array/slicing.ts';
import { type NormOrder, norm } from '../reduce/statistics.ts';
import { diag, diagPart } from './linalg.ts';

/** Cross products of vectors of three numbers. */
const crossOp: Op = /* @__PURE__ */ defineOp({
  name: 'Cross',
  ulp: 16,
  compose: ([a, b]) =>
    roll(a, -1, -1)
      .mul(roll(b, -2, -1))
      .sub(roll(a, -2, -1).mul(roll(b, -1, -1))),
  grad: (g, dy) => [execute1(crossOp, [g.b, dy]), execute1(crossOp, [dy, g.a])],
  samples: () => [
    { inputs: [uniform([3]), uniform([3])] },
    { inputs: [uniform([2, 2, 3]), uniform([2, 2, 3])] },
  ],
});

/**
 * The cross products of vectors [..., 3], of one shape.
 *
 *     tf.linalg.cross([1, 0, 0], [0, 1, 0]); // [0, 0, 1]
 *
 * @throws InvalidArgumentError for other shapes.
 */
export const cross: NamedFunction<[a: TensorLike, b: TensorLike], ['a', 'b']> =
  /* @__PURE__ */ defineFunction('linalg.cross', { a: kind.tensor, b: kind.tensor }, {}, (a, b) => {
    const [x, y] = pair(a, b, 'Cross');
    checkDType(x.dtype, 'numeric', 'a', 'Cross');
    if (x.rank === 0 || differs(dims(x)[x.rank - 1], 3) || !sameShape(dims(x) as never, dims(y) as never))
      throw new InvalidArgumentError(
        `shapes ${showShape(x.shape)} and ${showShape(y.shape)} are not both [..., 3]`,
        'Cross',
      );
    return execute1(crossOp, [x, y]);
  });

/**
 * A tensor of shape [...s, ...s] with the elements of one of shape s where both halves of a place agree, and zeros elsewhere.
 * @throws InvalidArgumentError for scalars.
 */
export const tensorDiag: NamedFunction<[diagonal: TensorLike], ['diagonal']> = /* @__PURE__ */ defineFunction(
  'linalg.tensorDiag',
  { diagonal: kind.tensor },
  {},
  (diagonal) => {
    const t = toTensor(diagonal);
    checkDType(t.dtype, 'any', 'diagonal', 'Diag');
    if (t.rank === 0) throw new InvalidArgumentError('diagonal is a scalar, expected rank 1 or more', 'Diag');
    const square = diag(reshape(t, toShape([sizeOfDims(dims(t))])));
    return reshape(square, toShape([...dims(t), ...dims(t)]));
  },
);

/**
 * What `tensorDiag` was given: of shape [...s, ...s] the elements whose places have two equal halves.
 * @throws InvalidArgumentError for other shapes.
 */
export const tensorDiagPart: NamedFunction<[input: TensorLike], ['input']> = /* @__PURE__ */ defineFunction(
  'linalg.tensorDiagPart',
  { input: kind.tensor },
  {},
  (input) => {
    const t = toTensor(input);
    checkDType(t.dtype, 'any', 'input', 'DiagPart');
    const half = t.rank / 2;
    const own = dims(t).slice(0, half);
    if (t.rank === 0 || t.rank % 2 !== 0 || own.some((d, i) => differs(d, dims(t)[half + i])))
      throw new InvalidArgumentError(
        `input has shape ${showShape(t.shape)}, expected one whose first half is its second`,
        'DiagPart',
      );
    const n = own.reduce(mulDims, 1);
    return reshape(diagPart(reshape(t, toShape([n, n]))), toShape(own));
  },
);

/**
 * A tensor divided by its norm over axes, and the norm, whose axes stay of size 1: see `tf.norm`.
 * @returns [normalized, norm]
 */
export const normalize: NamedFunction<
  [tensor: TensorLike, ord?: NormOrder, axis?: AxisLike],
  ['tensor', 'ord', 'axis'],
  unknown,
  [normalized: Tensor, norm: Tensor]
> = /* @__PURE__ */ defineFunction(
  'linalg.normalize',
  { tensor: kind.tensor, ord: kind.asIs, axis: kind.axes },
  {},
  (tensor, ord: NormOrder = 'euclidean', axis: AxisLike = null) => {
    const t = toTensor(tensor);
    const size = norm(t, ord, axis, { keepdims: true });
    return [t.div(size.cast(t.dtype)), size];
  },
);
