import { InvalidArgumentError, OutOfRangeError, UnimplementedError } from '@eagre/backend';
import {
  booleanMask,
  concat,
  fill,
  IndexedSlices,
  split,
  type Tensor,
  type TensorLike,
  zeros,
} from '@eagre/core';
import {
  checkValues,
  context,
  dims,
  type SparseDelta,
  sameShape,
  toTensor,
  type VariableHome,
  type VariableRequest,
} from '@eagre/core/internal';
import type { ChangeKind, ScatterKind, SliceKind } from './parameter-store.ts';
import { recording } from './recording.ts';
import { DistantVariable, type ServedVariable } from './served-variable.ts';

/**
 * A variable whose rows are on several parameter servers: a `variablePartitioner` divides it. It is used like any variable; who reads it gets
 * all rows. Optimizers update each part where it is, with slots next to it.
 */
export class ShardedVariable extends DistantVariable {
  readonly #shards: readonly ServedVariable[];
  readonly #home: VariableHome;

  /** @internal Strategies make them. */
  constructor(request: VariableRequest, shards: readonly ServedVariable[], home: VariableHome) {
    super(request);
    this.#shards = shards;
    this.#home = home;
  }

  /** The variables that hold the parts, in the order of the rows. */
  get variables(): readonly ServedVariable[] {
    return this.#shards;
  }
  override get shards(): readonly ServedVariable[] {
    return this.#shards;
  }
  override get home(): VariableHome | null {
    return recording.inUpdate ? null : this.#home;
  }
  override get device(): string {
    return (this.#shards[0] as ServedVariable).device;
  }

  protected override fetched(): Tensor {
    return concat(
      this.#shards.map((shard) => shard.read()),
      0,
    );
  }

  override taken(): Tensor {
    this.use();
    const value = this.fetched();
    for (const tape of context.tapes) tape.variableRead(this, value);
    return value;
  }

  override assign(value: unknown): this {
    return this.#write('assign', this.fitting(value as TensorLike, 'assign'));
  }
  override assignAdd(value: unknown): this {
    return this.#write('assignAdd', this.#delta(value as TensorLike, 'assignAdd'));
  }
  override assignSub(value: unknown): this {
    return this.#write('assignSub', this.#delta(value as TensorLike, 'assignSub'));
  }
  #delta(given: TensorLike, op: string): Tensor {
    const value = toTensor(given, this.dtype);
    return this.fitting(sameShape(dims(value), this.shape) ? value : value.broadcastTo([...this.shape]), op);
  }
  #write(kind: ChangeKind, value: Tensor): this {
    this.use();
    const sizes = this.#shards.map((shard) => shard.shape[0] as number);
    const parts = split(value, sizes);
    for (const [i, shard] of this.#shards.entries()) shard[kind](parts[i] as Tensor);
    return this;
  }

  override scatterAdd(delta: unknown): this {
    return this.#scatter('scatterAdd', delta);
  }
  override scatterSub(delta: unknown): this {
    return this.#scatter('scatterSub', delta);
  }
  override scatterUpdate(delta: unknown): this {
    return this.#scatter('scatterUpdate', delta);
  }
  override scatterMax(delta: unknown): this {
    return this.#scatter('scatterMax', delta);
  }
  override scatterMin(delta: unknown): this {
    return this.#scatter('scatterMin', delta);
  }
  override scatterMul(delta: unknown): this {
    return this.#scatter('scatterMul', delta);
  }
  override scatterDiv(delta: unknown): this {
    return this.#scatter('scatterDiv', delta);
  }
  override scatterNdAdd(indices: unknown, updates?: unknown): this {
    return this.#slices('scatterNdAdd', indices, updates);
  }
  override scatterNdSub(indices: unknown, updates?: unknown): this {
    return this.#slices('scatterNdSub', indices, updates);
  }
  override scatterNdUpdate(indices: unknown, updates?: unknown): this {
    return this.#slices('scatterNdUpdate', indices, updates);
  }
  #slices(kind: SliceKind, indices: unknown, updates: unknown): this {
    this.use();
    const [at, values] = this.checkSlices(indices, updates, kind);
    const depth = at.shape.at(-1) as number;
    if (depth === 0)
      throw new InvalidArgumentError('indices of a divided variable must name rows', `Variable.${kind}`);
    const tuples = at.reshape([-1, depth]);
    const slices = values.reshape([-1, ...this.shape.slice(depth)]);
    const first = tuples.gather([0], 1).reshape([-1]);
    this.#checkRows(first, kind);
    let begin = 0;
    for (const shard of this.#shards) {
      const count = shard.shape[0] as number;
      const isOwn = first.greaterEqual(begin).logicalAnd(first.less(begin + count));
      const offset = concat([fill([1], begin), zeros([depth - 1])]).cast(at.dtype as 'int32');
      shard[kind](booleanMask(tuples, isOwn).sub(offset), booleanMask(slices, isOwn));
      begin += count;
    }
    return this;
  }
  /** @internal */
  override rewrite(op: string): this {
    throw new UnimplementedError(
      `'${this.path}' is divided among parameter servers, which do not know ${op}: use scatterNdUpdate`,
      `Variable.${op}`,
    );
  }
  #scatter(kind: ScatterKind, delta: unknown): this {
    this.use();
    const { values, indices } = delta as SparseDelta;
    if (indices.rank !== 1)
      throw new InvalidArgumentError('indices of a divided variable must be a list', `Variable.${kind}`);
    this.#checkRows(indices, kind);
    let begin = 0;
    for (const shard of this.#shards) {
      const rows = indices.sub(begin);
      const count = shard.shape[0] as number;
      const isOwn = rows.greaterEqual(0).logicalAnd(rows.less(count));
      shard[kind](
        IndexedSlices.of(booleanMask(values, isOwn), booleanMask(rows, isOwn), shard.shape) as SparseDelta,
      );
      begin += count;
    }
    return this;
  }

  /** @throws OutOfRangeError for rows that no part has */
  #checkRows(rows: Tensor, op: string): void {
    const count = this.shape[0] as number;
    const isThere = (now: Tensor): Tensor => now.greaterEqual(0).logicalAnd(now.less(count)).all();
    checkValues(
      `Variable.${op}`,
      [rows],
      (now) => {
        if (!isThere(now).item())
          throw new OutOfRangeError(`a row is outside of the ${count} of '${this.path}'`, `Variable.${op}`);
      },
      isThere,
    );
  }

  override dispose(): void {
    // Also called while it is made.
    if (!(#shards in this)) super.dispose();
    else for (const shard of this.#shards) shard.dispose();
  }
}
