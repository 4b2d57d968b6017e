// What `adapt` of preprocessing layers goes through: examples, or batches of them.
import { InvalidArgumentError, Tensor, type TensorLike, Variable } from '@eagre/core';
import { isPlain } from '@eagre/core/internal';
import { isAnyTensor } from '../../layer/kinds.ts';
import type { Layer } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';

/** Examples, or a dataset or another iterable of batches; of batches `[x, y]` the first part counts. */
export type AdaptData = TensorLike | Iterable<TensorLike | readonly [x: TensorLike, ...rest: unknown[]]>;

const isTensor = (value: unknown): value is Tensor | Variable =>
  value instanceof Tensor || value instanceof Variable;
/** Whether it is a batch, which may be sparse or ragged. */
const isBatch = (value: unknown): boolean => isAnyTensor(value) || value instanceof Variable;

/** The batches of data. @throws InvalidArgumentError for what has none */
export function* adaptBatches(layer: Layer, data: AdaptData): Generator<TensorLike> {
  if (isTensor(data) || typeof data === 'string' || ArrayBuffer.isView(data) || isPlain(data)) {
    yield data as TensorLike;
    return;
  }
  if (Array.isArray(data)) {
    // Nested numbers or strings are one tensor.
    if (data.some((batch) => isBatch(batch) || (Array.isArray(batch) && isBatch(batch[0]))))
      for (const batch of data as unknown[]) yield first(batch);
    else yield data as TensorLike;
    return;
  }
  if (typeof data !== 'object' || data === null || !(Symbol.iterator in data))
    throw new InvalidArgumentError(`adapt needs a tensor or batches of them, got ${show(data)}`, layer.name);
  for (const batch of data as Iterable<unknown>) yield first(batch);
}

const first = (batch: unknown): TensorLike =>
  (Array.isArray(batch) && isBatch(batch[0]) ? batch[0] : batch) as TensorLike;
