// Types in a circle: lookups by sparse and ragged ids, for programs that may have neither of their classes.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../arguments/arguments.ts';
import { checkOneOf, shown } from '../arguments/checks.ts';
import { CompositeTensor } from '../composite/composite.ts';
import { booleanMask, gather, unsortedSegmentSum } from '../ops/array/gather.ts';
import { concat } from '../ops/array/join.ts';
import { shortenedRows } from '../ops/nn/embedding.ts';
import type { RaggedTensor } from '../ragged/ragged-tensor.ts';
import { countTo, knownIntegers } from '../ragged/row-partition.ts';
import { addDims, type Dim, mulDims } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { hostDims } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import type { TensorLike } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { type Combiner, columnsOf, combined, placesOf } from './sparse-base.ts';
import type { SparseTensor } from './sparse-tensor.ts';

type Ids = SparseTensor | RaggedTensor;

interface Lookup {
  /** How the rows of one example become one: `mean` by default, `sum` or `sqrtn`. */
  readonly combiner?: Combiner | null;
  /** Rows longer than that are shortened before they are combined. */
  readonly maxNorm?: number | null;
}

/** Ids with the row of each, and the shape of the rows. */
interface Rows {
  readonly ids: Tensor;
  readonly rows: Tensor;
  readonly outer: readonly Dim[];
}

function rowsOf(given: unknown, what: string, op: string): Rows {
  if (given instanceof CompositeTensor) {
    if ('valueRowids' in given) {
      const x = given as RaggedTensor;
      return {
        ids: x.flatValues,
        rows: x.valueRowids().cast('int64'),
        outer: [addDims(dims(x.rowSplits)[0] as Dim, -1)],
      };
    }
    if ('coordinates' in given) {
      const { indices, values, sizes } = (given as SparseTensor).coordinates;
      const outer = sizes.slice(0, -1);
      const columns = outer.map((_, i) => i);
      return { ids: values, rows: placesOf(columnsOf(indices, columns), outer), outer };
    }
  }
  throw new InvalidArgumentError(
    `${what} must be a tf.SparseTensor or a tf.RaggedTensor, got ${shown(given)}`,
    op,
  );
}

/** The weights of ids, of which there must be as many. */
function weightsOf(given: unknown, ids: Tensor, dtype: Tensor['dtype'], op: string): Tensor | undefined {
  if (given === null || given === undefined) return undefined;
  const { ids: weights } = rowsOf(given, 'spWeights', op);
  const [a, b] = [dims(ids)[0], dims(weights)[0]];
  if (typeof a === 'number' && typeof b === 'number' && a !== b)
    throw new InvalidArgumentError(`there are ${a} ids and ${b} weights`, op);
  return weights.cast(dtype);
}

function lookedUp(params: TensorLike, ids: Tensor, maxNorm: number | null): Tensor {
  return shortenedRows(gather(params, ids, 0), maxNorm, 1);
}

const combinerOf = (given: Combiner | null | undefined, op: string): Combiner => {
  const combiner = given ?? 'mean';
  checkOneOf(combiner, ['sum', 'mean', 'sqrtn'], 'combiner', op);
  return combiner;
};

/**
 * The rows of `params` at the ids of each row of a sparse or ragged tensor, together: their mean, `sum`, or sum over √n (`sqrtn`). Every
 * row must have an id.
 * @param spWeights a weight for each id.
 */
export const embeddingLookupSparse: NamedFunction<
  [params: TensorLike, spIds: Ids, spWeights?: Ids | null],
  ['params', 'spIds', 'spWeights'],
  Lookup
> = /* @__PURE__ */ defineFunction(
  'nn.embeddingLookupSparse',
  { params: kind.asIs, spIds: kind.asIs, spWeights: kind.asIs },
  { combiner: kind.asIs, maxNorm: kind.asIs },
  (params, spIds, spWeights = null, { combiner, maxNorm = null }) => {
    const op = 'nn.embeddingLookupSparse';
    const how = combinerOf(combiner, op);
    const { ids, rows } = rowsOf(spIds, 'spIds', op);
    const found = lookedUp(params, ids, maxNorm);
    const last = concat([constant([-1n], 'int64'), rows], 0).max();
    const count = addDims(hostDims(last, 'spIds', op)[0] as Dim, 1);
    return combined(found, rows, count, how, weightsOf(spWeights, ids, found.dtype, op));
  },
);

/**
 * As `embeddingLookupSparse`, where rows may have no id, and ids may be negative: these are left out. A row without an id is 0, or row
 * `defaultId` of the table.
 */
export const safeEmbeddingLookupSparse: NamedFunction<
  [embeddingWeights: TensorLike, sparseIds: Ids, sparseWeights?: Ids | null],
  ['embeddingWeights', 'sparseIds', 'sparseWeights'],
  Lookup & {
    /** The id of examples that have none; zeros by default. */
    readonly defaultId?: number | null;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.safeEmbeddingLookupSparse',
  { embeddingWeights: kind.asIs, sparseIds: kind.asIs, sparseWeights: kind.asIs },
  { combiner: kind.asIs, maxNorm: kind.asIs, defaultId: kind.asIs },
  (table, sparseIds, sparseWeights = null, { combiner, maxNorm = null, defaultId = null }) => {
    const op = 'nn.safeEmbeddingLookupSparse';
    const how = combinerOf(combiner, op);
    let { ids, rows, outer } = rowsOf(sparseIds, 'sparseIds', op);
    let weights = weightsOf(sparseWeights, ids, 'float32', op);
    const zero = constant(0, ids.dtype);
    let valid = ids.greaterEqual(zero);
    if (weights !== undefined && how !== 'sum') valid = valid.logicalAnd(weights.greater(0));
    if (knownIntegers(valid.cast('int32'))?.every((v) => v === 1) !== true) {
      [ids, rows] = [booleanMask(ids, valid), booleanMask(rows, valid)];
      if (weights !== undefined) weights = booleanMask(weights, valid);
    }
    const count = outer.reduce(mulDims, 1);
    if (defaultId !== null) {
      const counts = unsortedSegmentSum(ids.mul(zero).add(constant(1, ids.dtype)), rows, count as number);
      const empty = booleanMask(countTo(count, 'int64'), counts.equal(zero));
      rows = concat([rows, empty], 0);
      const one = empty.mul(constant(0n, 'int64')).cast(ids.dtype);
      ids = concat([ids, one.add(constant(defaultId, ids.dtype))], 0);
      if (weights !== undefined) weights = concat([weights, one.cast('float32').add(1)], 0);
    }
    const found = lookedUp(table, ids, maxNorm);
    const sums = combined(found, rows, count, how, weights?.cast(found.dtype));
    return sums.reshape(toShape([...outer, ...dims(found).slice(1)]));
  },
);
