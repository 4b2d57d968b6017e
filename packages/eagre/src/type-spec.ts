// `tf.typeSpecFromValue`: what a value is like.
import { InvalidArgumentError, Tensor, type TensorLike, Variable } from '@eagre/core';
import { defineFunction, isComposite, kind, type NamedFunction, shown, toTensor } from '@eagre/core/internal';
import { DatasetSpec, IteratorSpec, isDataset, isDatasetIterator } from '@eagre/data/specs';
import { specOfComposite, TensorSpec } from '@eagre/graph';

/**
 * The spec of a value: of a tensor, a variable, values for a tensor, a value made of several tensors (a ragged or sparse tensor, an extension type, an
 * optional), a dataset or its iterator. @throws InvalidArgumentError for anything else
 */
export const typeSpecFromValue: NamedFunction<
  [value: unknown],
  ['value'],
  unknown,
  TensorSpec | DatasetSpec | IteratorSpec | ReturnType<typeof specOfComposite>
> = /* @__PURE__ */ defineFunction('typeSpecFromValue', { value: kind.structure }, {}, (value) => {
  if (value instanceof Tensor || value instanceof Variable) return new TensorSpec(value.shape, value.dtype);
  if (isComposite(value)) return specOfComposite(value);
  if (isDataset(value)) return new DatasetSpec(value.elementSpec);
  if (isDatasetIterator(value)) return new IteratorSpec(value.elementSpec);
  try {
    const { shape, dtype } = toTensor(value as TensorLike);
    return new TensorSpec(shape, dtype);
  } catch (cause) {
    throw new InvalidArgumentError(`there is no spec of ${shown(value)}`, 'typeSpecFromValue', { cause });
  }
});
