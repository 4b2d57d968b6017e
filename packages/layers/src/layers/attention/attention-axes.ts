// Attention over other axes than time, or over several: those become one axis, and so do the ones of the batch.
import type { PartialShape, Tensor } from '@eagre/core';
import { type Dim, dims, showShape, sizeOfDims, toShape } from '@eagre/core/internal';
import type { Layer } from '../../layer/layer.ts';
import { fail } from '../common.ts';

/** Inputs [...axes, n], in which `attended` are the axes that a query sees along. */
export class AttentionAxes {
  readonly #attended: readonly number[];
  readonly #batch: readonly number[];

  /** @param given all axes between batch and features where null; negative ones count from the end. */
  constructor(layer: Layer, rank: number, given: readonly number[] | null) {
    const inner = Array.from({ length: rank - 1 }, (_, axis) => axis);
    const axes = given?.map((axis) => (axis < 0 ? axis + rank : axis)) ?? inner.slice(1);
    if (new Set(axes).size < axes.length || axes.some((axis) => axis < 1 || axis > rank - 2))
      fail(
        layer,
        `needs attentionAxes to be different axes between batch and features of inputs of rank ${rank}, got ${showShape(given ?? [])}`,
      );
    this.#attended = axes;
    this.#batch = inner.filter((axis) => !axes.includes(axis));
  }

  /** How many axes are attended over. */
  get count(): number {
    return this.#attended.length;
  }

  /** [batch, time, n] for what `fold` makes of such inputs. */
  shape(of: PartialShape): PartialShape {
    const size = (axes: readonly number[]): number | null =>
      axes.reduce<number | null>((n, axis) => {
        const d = of[axis] ?? null;
        return n === null || d === null ? null : n * d;
      }, 1);
    return [size(this.#batch), size(this.#attended), of.at(-1) as number | null];
  }

  /** [batch, time, n] of an input, or [batch, time] of a mask that has no features. */
  fold(x: Tensor): Tensor {
    const order = this.#order;
    const moved = x.transpose([...order, ...rest(order.length, x.rank)]);
    return moved.reshape(toShape([...this.#sizes(x), ...dims(moved).slice(order.length)]));
  }

  /** What has become of an input, [batch, time, ...n], with the axes of that input. */
  unfold(y: Tensor, like: Tensor): Tensor {
    const order = this.#order;
    const of = dims(like);
    const apart = y.reshape(toShape([...order.map((axis) => of[axis] as Dim), ...dims(y).slice(2)]));
    const back = order.map((_, axis) => order.indexOf(axis));
    return apart.transpose([...back, ...rest(order.length, apart.rank)]);
  }

  /** Weights [batch, heads, queries, keys] with all axes of queries and keys: [...batch, heads, ...queries, ...keys]. */
  unfoldWeights(weights: Tensor, query: Tensor, key: Tensor): Tensor {
    const sizes = (axes: readonly number[], x: Tensor): Dim[] => axes.map((axis) => dims(x)[axis] as Dim);
    return weights.reshape(
      toShape([
        ...sizes(this.#batch, query),
        dims(weights)[1] as Dim,
        ...sizes(this.#attended, query),
        ...sizes(this.#attended, key),
      ]),
    );
  }

  /** A mask [...queries, ...keys], before which axes of the batch and then of the heads may be, as one of rank 4. */
  foldMask(layer: Layer, mask: Tensor, query: Tensor): Tensor {
    const [attended, batch] = [this.#attended.length * 2, this.#batch.length];
    const full = attended + batch + 1;
    if (mask.rank < attended || mask.rank > full)
      fail(
        layer,
        `needs an attentionMask of rank ${attended} to ${full}: [...batch, heads, ...queries, ...keys], got ${showShape(mask.shape)}`,
      );
    const own = dims(mask);
    const before = own.slice(0, mask.rank - attended);
    const spread = [...before, ...Array<Dim>(full - mask.rank).fill(1), ...own.slice(mask.rank - attended)];
    // One axis of the batch that differs makes all of them count.
    const isShared = spread.slice(0, batch).every((d) => d === 1);
    const sizes = isShared ? spread.slice(0, batch) : this.#batch.map((axis) => dims(query)[axis] as Dim);
    const whole = [...sizes, ...spread.slice(batch)];
    const n = this.#attended.length;
    return mask
      .reshape(toShape(spread))
      .broadcastTo(toShape(whole))
      .reshape(
        toShape([
          sizeOfDims(sizes),
          spread[batch] as Dim,
          sizeOfDims(whole.slice(batch + 1, batch + 1 + n)),
          sizeOfDims(whole.slice(batch + 1 + n)),
        ]),
      );
  }

  get #order(): readonly number[] {
    return [...this.#batch, ...this.#attended];
  }

  #sizes(x: Tensor): [batch: Dim, time: Dim] {
    const size = (axes: readonly number[]): Dim => sizeOfDims(axes.map((axis) => dims(x)[axis] as Dim));
    return [size(this.#batch), size(this.#attended)];
  }
}

function rest(from: number, rank: number): number[] {
  return Array.from({ length: rank - from }, (_, i) => from + i);
}
