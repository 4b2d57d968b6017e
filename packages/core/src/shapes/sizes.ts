// Sizes of tensors, some of which are not known while a function is traced for arguments of any size.
import { type DType, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { checkCount } from '../arguments/checks.ts';
import { context } from '../dispatch/context.ts';
import { knownTensor, symbolicTensor } from '../dispatch/symbolic.ts';
import { isInteger } from '../tensor/dtypes.ts';
import { type Tensor, viewOf } from '../tensor/tensor.ts';
import { type Dim, type Dims, hintOf, identicalDims, isExpression, mayBeOpen } from './dim.ts';
import { dims, dimsOf, everyDim } from './dims.ts';
import { equalDims, isSize, mayBeEqual } from './shape-env.ts';

/**
 * The integers of a tensor, flat and row-major: how every op reads a tensor that stands in the place of a shape, axes, multiples, a depth,
 * paddings and the like. `hostDims(toTensor(shape), 'shape', 'Reshape')` gives the list of a shape; `hostDims(t, 'depth', 'OneHot')[0]` a
 * single number, and `t.rank` tells which was given. Ranks and values are for the caller to check.
 *
 * Eagerly it reads the values. While a function is traced it knows constants, and what is computed from sizes: `tf.shape(x)`, its
 * elements, and arithmetic with them. Where such a size is unknown, or a value of the run, the number is an expression.
 * @param what the argument, for errors: `shape`.
 * @throws InvalidArgumentError for a tensor that holds no integers; UnimplementedError in graphs of sessions, and for more than 32 values of a
 * traced function.
 */
export function hostDims(x: Tensor, what: string, op: string): Dim[] {
  if (!isInteger(x.dtype))
    throw new InvalidArgumentError(
      `${what} is ${x.dtype} [${x.shape}], expected integers: cast it to 'int32'`,
      op,
    );
  const known = knownTensor(x);
  if (known !== null) return Array.from(viewOf(known) as ArrayLike<number | bigint>, Number);
  const sizes = context.tracer?.integers(x) ?? context.tracer?.measured(x) ?? null;
  if (sizes !== null) return [...sizes];
  throw new UnimplementedError(
    `${what} depends on values that are not known while the graph is built. Numbers, constants, tf.shape(x) and values computed from ` +
      'sizes are known. Of a tensor, tf.function can use at most 32 integers as sizes, and a session graph none',
    op,
  );
}

/** A size, which need not be known. @throws InvalidArgumentError unless it is an integer of at least `least` */
export function checkSize(value: unknown, what: string, op: string, least = 0): Dim {
  if (!isSize(value, least)) checkCount(isExpression(value) ? hintOf(value) : value, what, op, least);
  return value as Dim;
}

/** A size to compute with: a number, or a tensor whose value is known when the function runs. */
export function sizeValue(size: Dim, dtype: DType): number | Tensor {
  if (typeof size === 'number') return size;
  // Without a trace, code of the library runs for its shapes alone.
  return context.tracer?.size(size, dtype) ?? symbolicTensor(dtype, []);
}

/**
 * The sizes in a tensor of which only a run knows some values, where -1 stands for what `open` says: it is put in at each run, so that sizes
 * that follow from these are those of the result. A -1 that is known stays.
 * @param open an integer for each, or one for all; both are integers of one dtype
 */
export function openDims(x: Tensor, open: Tensor, what: string, op: string): Dim[] {
  const sizes = hostDims(x, what, op);
  if (!sizes.some(mayBeOpen)) return sizes;
  const filled = hostDims(x.add(x.equal(-1).cast(x.dtype).mul(open.add(1))), what, op);
  return sizes.map((d, i) => (mayBeOpen(d) ? filled[i] : d));
}

/** Whether two sizes differ, where code that is traced goes one way or another. */
export function differs(a: Dim, b: Dim): boolean {
  return !equalDims(a, b);
}

/** Whether two shapes that have to be the same may be so: what only a run tells is looked at then. */
export function mayBeSame(a: Dims, b: Dims): boolean {
  return everyDim(dimsOf(a), dimsOf(b), mayBeEqual);
}

/** Whether the last axis is there and 1 long. */
export function endsInOne(x: Tensor): boolean {
  const last = dims(x).at(-1);
  return last !== undefined && equalDims(last, 1);
}

/** Whether two shapes are the same whatever the sizes are: for short cuts, where what follows comes to the same if not. */
export function shapesAgree(a: Dims, b: Dims): boolean {
  return a === b || everyDim(dimsOf(a), dimsOf(b), identicalDims);
}
