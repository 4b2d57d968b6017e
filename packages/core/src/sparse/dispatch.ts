// What functions of tensors make of sparse ones: one table.
// Types in a circle: the class of sparse tensors asks here.
import type { Call } from '../composite/composite.ts';
import { matmul as denseMatmul } from '../ops/linalg/linalg.ts';
import { constant } from '../tensor/constant.ts';
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
  if (name === 'size' && isSparse(a)) return a.denseShape.prod().cast('int32');
  if (name === 'shapeOf' && isSparse(a)) return a.denseShape.cast('int32');
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
function product(a: unknown, b: unknown, options: Readonly<Record<string, unknown>>): Tensor {
  const [transposeA, transposeB] = [options.transposeA === true, options.transposeB === true];
  if (isSparse(a) && isSparse(b))
    return sparseDenseProduct(a.coordinates, b.toDense(), transposeA, transposeB);
  if (isSparse(a)) return sparseDenseProduct(a.coordinates, b as Tensor, transposeA, transposeB);
  if (!isSparse(b)) return denseMatmul(a as Tensor, b as Tensor);
  // (a b)ᵀ = bᵀ aᵀ
  return sparseDenseProduct(b.coordinates, a as Tensor, !transposeB, !transposeA).transpose();
}
