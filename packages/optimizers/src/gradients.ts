// The arguments of applyGradients.
import {
  argSort,
  concat,
  FailedPreconditionError,
  IndexedSlices,
  InvalidArgumentError,
  onesLike,
  type PartialShape,
  split,
  type Tensor,
  type TensorLike,
  type Variable,
  where,
  zeros,
  zerosLike,
} from '@eagre/core';
import {
  context,
  differs,
  dims,
  isPlain,
  sameShape,
  scatterRows,
  shown,
  showShape,
  subDims,
  toShape,
  toTensor,
} from '@eagre/core/internal';

/** A gradient with its variable. */
export type GradientAndVariable = readonly [gradient: TensorLike | null | undefined, variable: Variable];

/** @internal A checked gradient with its variable. */
export interface Update {
  /** Of the whole variable, or of its rows `rows`. */
  readonly gradient: Tensor;
  /** The rows that have a gradient, each once; absent where all have. */
  readonly rows?: Tensor;
  readonly variable: Variable;
}

/**
 * Gradients with their variables, of both forms of arguments: two lists, or one of pairs.
 * @throws InvalidArgumentError for something else, and for lists of different lengths
 */
export function pairsOf(
  first: Iterable<unknown>,
  second: Iterable<Variable> | undefined,
  optimizer: string,
): GradientAndVariable[] {
  const list = (given: Iterable<unknown>): unknown[] => {
    // A tensor is iterable, too.
    if (typeof given === 'object' && given !== null && Symbol.iterator in given && !('dtype' in given))
      return [...given];
    throw new InvalidArgumentError(
      'applyGradients takes a list of gradients and one of variables, or a list of pairs [gradient, variable]',
      optimizer,
    );
  };
  if (second === undefined) {
    const pairs = list(first);
    const wrong = pairs.findIndex((pair) => !Array.isArray(pair) || pair.length !== 2);
    if (wrong >= 0)
      throw new InvalidArgumentError(
        `expected pairs [gradient, variable], or applyGradients(gradients, variables), got ${shown(pairs[wrong])} in the list`,
        optimizer,
      );
    return pairs as GradientAndVariable[];
  }
  const [gradients, variables] = [list(first), list(second) as Variable[]];
  if (gradients.length !== variables.length) {
    throw new InvalidArgumentError(
      `${gradients.length} gradients were given for ${variables.length} variables`,
      optimizer,
    );
  }
  return variables.map((variable, i) => [gradients[i] as TensorLike | null, variable]);
}

/** The gradients of the variables that hold the parts of one: itself, where it is not divided. */
export function shardsOf(
  given: TensorLike | null | undefined,
  variable: Variable,
  optimizer: string,
): readonly GradientAndVariable[] {
  const { shards } = variable;
  if (shards.length === 1 || given === null || given === undefined)
    return shards.map((shard) => [given, shard]);
  const sizes = shards.map((shard) => shard.shape[0] as number);
  if (!areSlices(given)) {
    const parts = split(gradientOf(given, variable, optimizer), sizes);
    return shards.map((shard, i) => [parts[i], shard]);
  }
  let begin = 0;
  return shards.map((shard, i) => {
    const rows = given.indices.sub(begin);
    // Rows of other shards are zeros for row 0: so sizes do not depend on values.
    const isOwn = rows.greaterEqual(0).logicalAnd(rows.less(sizes[i] as number));
    begin += sizes[i] as number;
    const wide = isOwn.reshape([...rows.shape, ...shard.shape.slice(1).map(() => 1)] as number[]);
    const values = where(wide, given.values, zerosLike(given.values));
    return [IndexedSlices.of(values, where(isOwn, rows, zerosLike(rows)), shard.shape) as never, shard];
  });
}

/** The updates of whole variables among some. */
export function whole(updates: readonly Update[]): readonly Update[] {
  return updates.some((u) => u.rows !== undefined) ? updates.filter((u) => u.rows === undefined) : updates;
}

/** The update of rows of a variable. @throws as `gradientOf` does. */
export function rowsOf(slices: IndexedSlices, variable: Variable, optimizer: string): Update {
  const { dtype, shape } = slices;
  if (dtype !== variable.dtype || !sameShape(shape, variable.shape))
    throw unfit(dtype, shape, variable, optimizer);
  if (slices.values.storage.refs <= 0) throw disposed(variable, optimizer);
  return { ...rowsOnce(slices), variable };
}

/** @internal Whether the rows of an update are in memory that can be looked at now, so that none are left over. */
export const areKnownRows = (rows: Tensor): boolean =>
  context.tracer === null && rows.storage.allocator.isHost;

interface Rows {
  readonly gradient: Tensor;
  readonly rows: Tensor;
}

/**
 * Each row once, with the sum of its gradients. Where the rows are not known they ascend, and are as many as were given, so that sizes do not
 * depend on values. Those that are left over are zeros for row 0.
 */
function rowsOnce(slices: IndexedSlices): Rows {
  const { values, indices } = slices;
  if (areKnownRows(indices)) {
    const once = slices.deduplicated();
    return { gradient: once.values, rows: once.indices };
  }
  const [count] = dims(indices);
  const order = argSort(indices);
  const sorted = indices.gather(order);
  const [first, last] = [toShape([1]), toShape([subDims(count, 1)])];
  if (!differs(count, 0) || !differs(count, 1)) return { gradient: values, rows: indices };
  const isNew = sorted
    .slice([1], last)
    .notEqual(sorted.slice([0], last))
    .cast('int32');
  const place = concat([zeros(first, 'int32'), isNew], 0).cumsum();
  return {
    gradient: scatterRows(values.gather(order), place, values.shape),
    rows: zerosLike(indices).tensorScatterNdUpdate(place.reshape([-1, 1]), sorted),
  };
}

/** Which rows of an update have a gradient: those that are left over stand behind, as row 0, and the others ascend. */
export function isGivenRow(rows: Tensor): Tensor {
  const place = onesLike(rows).cumsum();
  return rows.notEqual(0).logicalOr(place.equal(1));
}

function unfit(
  dtype: string,
  shape: PartialShape,
  variable: Variable,
  optimizer: string,
): InvalidArgumentError {
  return new InvalidArgumentError(
    `the gradient of '${variable.path}' is ${dtype} ${showShape(shape)}, the variable ${variable.dtype} ${showShape(variable.shape)}`,
    optimizer,
  );
}

const disposed = (variable: Variable, optimizer: string): FailedPreconditionError =>
  new FailedPreconditionError(`the gradient of '${variable.path}' was disposed`, optimizer);

/** Whether a gradient is rows of a variable. @throws InvalidArgumentError for what cannot be looked at */
export function areSlices(gradient: unknown): gradient is IndexedSlices {
  isPlain(gradient);
  return gradient instanceof IndexedSlices;
}

/** @throws InvalidArgumentError unless it has the shape and dtype of the variable, FailedPreconditionError when it was disposed */
export function gradientOf(given: TensorLike, variable: Variable, optimizer: string): Tensor {
  // Refuses what cannot be looked at.
  isPlain(given);
  const gradient = toTensor(given, variable.dtype);
  if (gradient.dtype !== variable.dtype || !sameShape(gradient.shape, variable.shape)) {
    throw unfit(gradient.dtype, gradient.shape, variable, optimizer);
  }
  if (gradient.storage.refs <= 0) throw disposed(variable, optimizer);
  return gradient;
}
