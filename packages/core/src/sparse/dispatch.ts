// What functions of tensors make of sparse ones: one table.
// Types in a circle: the class of sparse tensors asks here.
import { type DType, UnimplementedError } from '@eagre/backend';
import type { Call } from '../composite/composite.ts';
import { conj } from '../ops/elementwise/complex.ts';
import { matmul as denseMatmul, type MatMulOptions, matrixTranspose } from '../ops/linalg/linalg.ts';
import { turnsOf } from '../ops/linalg/products.ts';
import { constant } from '../tensor/constant.ts';
import type { TensorLike } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { sparseDenseProduct } from './products.ts';
import type { SparseTensor } from './sparse-tensor.ts';

/** Functions for which 0 stays 0: they work on the values. */
const keepsZeros: ReadonlySet<string> = new Set([
  'abs',
  'neg',
  'sign',
  'square',
  'sqrt',
  'floor',
  'ceil',
  'round',
  'sin',
  'tan',
  'asin',
  'atan',
  'sinh',
  'tanh',
  'asinh',
  'atanh',
  'expm1',
  'log1p',
  'erf',
  'relu',
  'relu6',
  'cast',
  'stopGradient',
  'identity',
  'real',
  'imag',
  'conj',
]);

const isSparse = (value: unknown): value is SparseTensor =>
  typeof value === 'object' && value !== null && 'denseShape' in value && 'coordinates' in value;

/** What a function makes of its arguments, one of which is sparse; undefined where it is not for sparse tensors. */
export function dispatchSparse(call: Call): unknown {
  const { name, values, options } = call;
  const [a, b] = values;
  if (keepsZeros.has(name) && isSparse(a))
    return a.withValues(call.run([a.values, ...values.slice(1)]) as Tensor);
  if (name === 'matmul') return product(a, b, options);
  if ((name === 'mul' || name === 'div') && isSparse(a) && !isSparse(b)) return scaled(call, a, b);
  if (name === 'mul' && isSparse(b)) return scaled(call, b, a);
  if (name === 'rank' && isSparse(a)) return constant(a.rank, 'int32');
  const { outType = 'int32' } = options as { outType?: DType };
  if (name === 'size' && isSparse(a)) return a.denseShape.prod().cast(outType);
  if (name === 'shapeOf' && isSparse(a)) return a.denseShape.cast(outType);
  return undefined;
}

/** Times a dense tensor, or divided by one, that broadcasts to the shape: at the coordinates. */
function scaled(call: Call, x: SparseTensor, other: unknown): SparseTensor {
  if (typeof other === 'number') return x.withValues(call.run([x.values, other]) as Tensor);
  const dense = (
    typeof other === 'object' && other !== null && 'rank' in other ? other : constant(other as number[])
  ) as Tensor;
  const at = dense.rank === 0 ? dense : dense.broadcastTo(x.sizes as readonly number[]).gatherNd(x.indices);
  return x.withValues(call.run([x.values, at]) as Tensor);
}

/** Products of matrices, one of which at least is sparse. */
function product(a: unknown, b: unknown, options: MatMulOptions): Tensor {
  if (options.outputType !== undefined)
    throw new UnimplementedError('there is no outputType for sparse matrices; cast a and b before', 'matmul');
  const [x, ofA] = turned(a, 'A', options);
  const [y, ofB] = turned(b, 'B', options);
  if (isSparse(x))
    return sparseDenseProduct(x.coordinates, isSparse(y) ? y.toDense() : (y as Tensor), ofA, ofB);
  if (!isSparse(y)) return denseMatmul(x as Tensor, y as Tensor);
  // (a b)ᴴ = bᴴ aᴴ
  return matrixTranspose(sparseDenseProduct(y.coordinates, x as Tensor, !ofB, !ofA), { conjugate: true });
}

/** A factor, and whether its adjoint is taken: that of the conjugates where it is transposed alone. */
function turned(x: unknown, which: 'A' | 'B', options: MatMulOptions): [SparseTensor | TensorLike, boolean] {
  const [transpose, adjoint] = turnsOf(which, options, 'matmul');
  if (!transpose) return [x as TensorLike, adjoint];
  return [isSparse(x) ? x.withValues(conj(x.values)) : conj(x as TensorLike), true];
}
