// What layers take beside dense tensors: sparse and ragged ones.
import {
  booleanMask,
  concat,
  type DType,
  fill,
  gather,
  InvalidArgumentError,
  type PartialShape,
  type RaggedTensor,
  range,
  SparseTensor,
  sparse,
  Tensor,
  zeros,
} from '@eagre/core';
import { checkFlag, columnOf, isRagged, raggedFromTensor } from '@eagre/core/internal';
import type { Layer } from './layer.ts';

/** What a tensor is that is not dense. */
export type TensorKind = 'sparse' | 'ragged';

/** A tensor that holds some values of one: a sparse or a ragged one. */
export type Stored = SparseTensor | RaggedTensor;

export function isStored(value: unknown): value is Stored {
  return isRagged(value) || value instanceof SparseTensor;
}
/** Whether it is a tensor of any kind. */
export function isAnyTensor(value: unknown): value is Tensor | Stored {
  return value instanceof Tensor || isStored(value);
}
export function kindOf(value: unknown): TensorKind | undefined {
  if (isRagged(value)) return 'ragged';
  return value instanceof SparseTensor ? 'sparse' : undefined;
}

/** The kind of an input. @throws InvalidArgumentError for one that is both */
export function inputKind(
  { sparse, ragged }: { readonly sparse?: boolean | null; readonly ragged?: boolean | null },
  op: string,
): TensorKind | undefined {
  const isSparse = checkFlag(sparse, 'sparse', op);
  const isRagged = checkFlag(ragged, 'ragged', op);
  if (isSparse && isRagged) throw new InvalidArgumentError('an input is sparse or ragged, not both', op);
  return isSparse ? 'sparse' : isRagged ? 'ragged' : undefined;
}

/** What `fn` makes of the values of a tensor, in their places; of a dense one, of itself. */
export function onValues<T>(x: T, fn: (values: Tensor) => Tensor): T {
  if (isRagged(x)) return x.withFlatValues(fn(x.flatValues)) as T;
  if (x instanceof SparseTensor) return x.withValues(fn(x.values)) as T;
  return fn(x as Tensor) as T;
}

/** As a dense tensor, with 0, false or '' where no value is. */
export function densified(x: Tensor | Stored): Tensor {
  if (isRagged(x)) return x.toTensor();
  return x instanceof SparseTensor ? x.toDense() : x;
}

/** How many rows a tensor has, as a scalar. */
export function rowCount(x: Stored): Tensor {
  return isRagged(x) ? x.nrows() : x.denseShape.gather(0);
}

/** Some rows of a tensor, in an order: each is asked for once. */
export function rowsOf(x: Stored, rows: Tensor): Stored {
  if (isRagged(x)) return gather(x as unknown as Tensor, rows) as unknown as RaggedTensor;
  const [count = 0, ...sizes] = x.shape as readonly number[];
  const places = range(0, rows.size, 1, { dtype: 'int32' });
  const placeOf = fill([count], -1, { dtype: 'int32' }).tensorScatterNdUpdate(rows.reshape([-1, 1]), places);
  const at = placeOf.gather(columnOf(x.indices, 0));
  const isThere = at.greaterEqual(0);
  const others = x.indices.slice([0, 1], [x.values.size, sizes.length]);
  const indices = concat([at.cast('int64').expandDims(1), others], 1);
  const found = new SparseTensor(booleanMask(indices, isThere), booleanMask(x.values, isThere), [
    rows.size,
    ...sizes,
  ]);
  return sparse.reorder(found);
}

/**
 * Zeros of a shape.
 * @param described the same shape with null where any size fits: there a ragged tensor is ragged
 */
export function zerosOf(
  shape: readonly number[],
  described: PartialShape,
  dtype: DType,
  kind: TensorKind | undefined,
): Tensor {
  const dense = zeros(shape, { dtype });
  if (kind === undefined || shape.length < 2) return dense;
  if (kind === 'sparse') return sparse.fromDense(dense) as unknown as Tensor;
  const raggedRank = Math.min(Math.max(1, described.lastIndexOf(null)), shape.length - 1);
  return raggedFromTensor(dense, raggedRank) as unknown as Tensor;
}

// By the `call` of a class: the kinds that it takes, and whether it computes each value by itself, so that it is called with the values.
const takers = new WeakMap<object, { readonly kinds: readonly TensorKind[]; readonly byValues: boolean }>();
type Class = { readonly prototype: { readonly call: object } };

/** Marks classes of this package that take tensors of such kinds. */
export function takesKinds(kinds: readonly TensorKind[], ...classes: readonly Class[]): void {
  for (const { prototype } of classes) takers.set(prototype.call, { kinds, byValues: false });
}
/** Marks classes that work on each value, or on the last axis, so that they are called with the values of such tensors. */
export function takesValuesOf(kinds: readonly TensorKind[], ...classes: readonly Class[]): void {
  for (const { prototype } of classes) takers.set(prototype.call, { kinds, byValues: true });
}
/** Whether a layer is called with the values of a tensor. */
export function isByValues(layer: Layer, inputs: unknown): boolean {
  return isStored(inputs) && takers.get(layer.call)?.byValues === true;
}

/** @throws InvalidArgumentError for what one of the library's layers does not take */
export function checkKind(layer: Layer, value: Stored): void {
  const kind = kindOf(value) as TensorKind;
  if (layer.passesOn || takers.get(layer.call)?.kinds.includes(kind) === true) return;
  throw new InvalidArgumentError(
    `${layer.constructor.name} takes no ${kind} tensors; make it dense: tf.keras.ops.convertToTensor(x, { ${kind}: false })`,
    layer.name,
  );
}
