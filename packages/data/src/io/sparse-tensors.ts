// Sparse tensors as byte strings, and back: three TensorProto messages each.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import {
  concat,
  constant,
  type NamedFunction,
  SparseTensor,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  checkDTypeName,
  checkOneOf,
  defineFunction,
  kind,
  onKnown,
  shown,
  stringTensor,
  toStrings,
} from '@eagre/core/internal';
import { parseTensor, serializedContent } from './tensors.ts';

interface OutType {
  /** The only one: byte strings. */
  readonly outType?: 'string';
}

function checkSparse(value: unknown, least: number, op: string): SparseTensor {
  if (!(value instanceof SparseTensor))
    throw new InvalidArgumentError(`spInput must be a tf.SparseTensor, got ${shown(value)}`, op);
  if (value.rank < least)
    throw new InvalidArgumentError(`spInput has ${value.rank} axes, expected at least ${least}`, op);
  return value;
}
const textsOf = (parts: readonly Tensor[]): string[] => parts.map(serializedContent);
const int64s = (data: readonly bigint[], shape: readonly number[]): Tensor =>
  constant({ data: BigInt64Array.from(data), shape: [...shape], dtype: 'int64' });
const bigints = (t: Tensor): bigint[] => Array.from(t.data() as ArrayLike<bigint | number>, BigInt);

/** A sparse tensor as three byte strings [3]: its indices, values and shape, each as `serializeTensor` writes it. */
export const serializeSparse: NamedFunction<[spInput: SparseTensor], ['spInput'], OutType> =
  /* @__PURE__ */ defineFunction(
    'io.serializeSparse',
    { spInput: kind.asIs },
    { outType: kind.asIs },
    (spInput, { outType = 'string' }) => {
      const op = 'SerializeSparse';
      checkOneOf(outType, ['string'], 'outType', op);
      const x = checkSparse(spInput, 0, op);
      return onKnown(op, [x.indices, x.values, x.denseShape], (...parts) =>
        stringTensor(textsOf(parts), [3]),
      );
    },
  );

/** The rows of a sparse tensor, of one axis less, as byte strings [rows, 3]. */
export const serializeManySparse: NamedFunction<[spInput: SparseTensor], ['spInput'], OutType> =
  /* @__PURE__ */ defineFunction(
    'io.serializeManySparse',
    { spInput: kind.asIs },
    { outType: kind.asIs },
    (spInput, { outType = 'string' }) => {
      const op = 'SerializeManySparse';
      checkOneOf(outType, ['string'], 'outType', op);
      const x = checkSparse(spInput, 2, op);
      return onKnown(op, [x.indices, x.values, x.denseShape], (indices, values, denseShape) => {
        const [rows, ...inner] = bigints(denseShape) as [bigint, ...bigint[]];
        const rank = inner.length;
        const places = bigints(indices);
        const members: number[][] = Array.from({ length: Number(rows) }, () => []);
        for (let i = 0; i < values.size; i++) members[Number(places[i * (rank + 1)])]?.push(i);
        const shape = int64s(inner, [rank]);
        const texts = members.flatMap((own) => {
          const at = own.flatMap((i) => places.slice(i * (rank + 1) + 1, (i + 1) * (rank + 1)));
          return textsOf([
            int64s(at, [own.length, rank]),
            values.gather(constant(own, 'int32', { shape: [own.length] }), 0),
            shape,
          ]);
        });
        return stringTensor(texts, [members.length, 3]);
      });
    },
  );

/**
 * The sparse tensors in byte strings [n, 3], joined with an axis more in front; each other axis is as long as the longest of them.
 * @param dtype of the values
 * @param rank of the sparse tensors, if that is to be checked
 * @throws InvalidArgumentError for other dtypes or ranks; DataLossError for other bytes
 */
export const deserializeManySparse: NamedFunction<
  [serializedSparse: TensorLike, dtype: DType, rank?: number | null],
  ['serializedSparse', 'dtype', 'rank'],
  unknown,
  SparseTensor
> = /* @__PURE__ */ defineFunction(
  'io.deserializeManySparse',
  { serializedSparse: kind.tensor, dtype: kind.asIs, rank: kind.asIs },
  {},
  (serializedSparse, dtype, rank: number | null = null) => {
    const op = 'DeserializeManySparse';
    checkDTypeName(dtype);
    const given = toStrings(serializedSparse, 'serializedSparse', op);
    if (given.rank !== 2 || given.shape[1] !== 3)
      throw new InvalidArgumentError('serializedSparse must have the shape [n, 3]', op);
    return onKnown(op, [given], (known) => joined(known.strings(), dtype, rank, op));
  },
);

function joined(texts: readonly string[], dtype: DType, rank: number | null, op: string): SparseTensor {
  const n = texts.length / 3;
  if (n === 0) throw new InvalidArgumentError('serializedSparse has no rows', op);
  const parts = Array.from({ length: n }, (_, i) => {
    const text = (k: number): Tensor => stringTensor([texts[3 * i + k] as string], []);
    const indices = parseTensor(text(0), 'int64');
    const shape = bigints(parseTensor(text(2), 'int64'));
    const values = parseTensor(text(1), dtype);
    if (
      indices.rank !== 2 ||
      values.rank !== 1 ||
      indices.shape[0] !== values.size ||
      indices.shape[1] !== shape.length
    )
      throw new InvalidArgumentError(`the sparse tensor in row ${i} has parts that do not fit`, op);
    return { indices: bigints(indices), shape, values };
  });
  const size = (parts[0] as (typeof parts)[number]).shape.length;
  for (const { shape } of parts)
    if (shape.length !== size) throw new InvalidArgumentError('the sparse tensors have different ranks', op);
  if (rank !== null && rank !== undefined && rank !== size && rank !== size + 1)
    throw new InvalidArgumentError(`the sparse tensors have rank ${size}, not ${rank}`, op);
  const sizes = Array.from({ length: size }, (_, axis) =>
    parts.reduce((most, { shape }) => ((shape[axis] as bigint) > most ? (shape[axis] as bigint) : most), 0n),
  );
  const places = parts.flatMap(({ indices, values }, row) =>
    Array.from({ length: values.size }, (_, i) => [
      BigInt(row),
      ...indices.slice(i * size, (i + 1) * size),
    ]).flat(),
  );
  const values = concat(
    parts.map((p) => p.values),
    0,
  );
  return new SparseTensor(
    int64s(places, [values.size, size + 1]),
    values,
    int64s([BigInt(n), ...sizes], [size + 1]),
  );
}
