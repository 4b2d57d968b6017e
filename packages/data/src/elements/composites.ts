// Ragged and sparse tensors in elements: they are batched and cut as wholes, not part by part.
import { UnimplementedError } from '@eagre/backend';
import { type CompositeTensor, RaggedTensor, ragged, SparseTensor, sparse, stack, Tensor } from '@eagre/core';
import { isComposite, tree } from '@eagre/core/internal';
import {
  BatchableExtensionType,
  batchEncoderOf,
  ExtensionTypeSpec,
  RaggedTensorSpec,
  SparseTensorSpec,
  TensorSpec,
} from '@eagre/graph';
import { type ElementSpec, RaggedRowSpec } from './element-spec.ts';
import type { Element } from './structure.ts';

const OP = 'Dataset';

/** Whether there are ragged or sparse tensors, or specs of them, in an element or a spec. */
export function holdsComposite(value: unknown): boolean {
  return tree.leavesOf(value, OP, tree.wholeComposites).some(isComposite);
}

/** The tensors and composite tensors of an element, in order. */
export function wholeLeaves(element: Element): readonly (Tensor | CompositeTensor)[] {
  return tree.leavesOf(element, OP, tree.wholeComposites) as (Tensor | CompositeTensor)[];
}

/** The structure of `model` over tensors and composite tensors. */
export function packWhole(model: Element, leaves: readonly unknown[]): Element {
  return tree.pack(model, leaves, OP, tree.wholeComposites) as Element;
}

/** Several of one kind along a new first axis. @throws UnimplementedError for others than ragged and sparse tensors. */
export function stackComposites(all: readonly CompositeTensor[], what: string): CompositeTensor {
  if (all.every((x) => x instanceof RaggedTensor)) return ragged.stack(all as readonly RaggedTensor[], 0);
  if (all.every((x) => x instanceof SparseTensor))
    return sparse.concat(
      0,
      (all as readonly SparseTensor[]).map((x) => sparse.expandDims(x, 0)),
    );
  const [first] = all;
  if (first instanceof BatchableExtensionType && all.every((x) => x.facts === first.facts)) {
    const encoder = batchEncoderOf(first);
    const encoded = all.map((x) => encoder.encode(x as BatchableExtensionType));
    const stacked = encoded[0]?.map((_, i) => stack(encoded.map((parts) => parts[i] as Tensor)));
    return encoder.decode(first, stacked ?? []);
  }
  throw new UnimplementedError(`${first} cannot be batched: ${NOT_BATCHED}`, what);
}

const NOT_BATCHED =
  'only ragged and sparse tensors and types that extend tf.experimental.BatchableExtensionType are';

/** How many rows there are, along the first axis. */
export function rowCountOf(x: Tensor | CompositeTensor): number {
  const whole = x instanceof BatchableExtensionType ? batchEncoderOf(x).encode(x)[0] : x;
  return (whole as { readonly shape?: readonly (number | null)[] } | undefined)?.shape?.[0] ?? 0;
}

/** One row of a tensor or composite tensor. */
export function rowOf(x: Tensor | CompositeTensor, i: number): Tensor | CompositeTensor {
  if (x instanceof Tensor || x instanceof RaggedTensor) return x.at(i) as Tensor;
  if (x instanceof BatchableExtensionType) {
    const encoder = batchEncoderOf(x);
    return encoder.decode(
      x,
      encoder.encode(x).map((part) => part.at(i) as Tensor),
    );
  }
  if (!(x instanceof SparseTensor)) throw new UnimplementedError('rows of this kind of tensor', OP);
  const sizes = x.shape as readonly number[];
  const rest = sizes.slice(1);
  const begin = sizes.map((_, axis) => (axis === 0 ? i : 0));
  return sparse.reshape(sparse.slice(x, begin, [1, ...rest]), rest);
}

/** The spec of one row of what a spec describes. */
export function rowSpec(spec: CompositeTensor): ElementSpec {
  if (spec instanceof RaggedTensorSpec) {
    const { shape, dtype, raggedRank, rowSplitsDtype } = spec;
    const inner = (shape ?? new Array<null>(raggedRank + 1).fill(null)).slice(1);
    return raggedRank === 1
      ? new RaggedRowSpec(inner, dtype, rowSplitsDtype)
      : new RaggedTensorSpec(inner, dtype, raggedRank - 1, rowSplitsDtype);
  }
  if (spec instanceof SparseTensorSpec)
    return new SparseTensorSpec(spec.shape === null ? null : spec.shape.slice(1), spec.dtype);
  return tree.mapLeaves(spec, OP, (leaf) =>
    leaf instanceof TensorSpec ? new TensorSpec(leaf.shape?.slice(1) ?? null, leaf.dtype) : leaf,
  ) as ElementSpec;
}

/** The spec of a batch of what a spec describes. */
export function batchedSpec(spec: CompositeTensor, size: number | null): CompositeTensor {
  if (spec instanceof RaggedTensorSpec) {
    const { shape, dtype, raggedRank, rowSplitsDtype } = spec;
    const inner = shape ?? new Array<null>(raggedRank + 1).fill(null);
    return new RaggedTensorSpec([size, null, ...inner.slice(1)], dtype, raggedRank + 1, rowSplitsDtype);
  }
  if (spec instanceof SparseTensorSpec)
    return new SparseTensorSpec(spec.shape === null ? null : [size, ...spec.shape], spec.dtype);
  if (spec instanceof ExtensionTypeSpec && spec.valueType.prototype instanceof BatchableExtensionType)
    return spec.withParts(
      spec.parts.map((part) =>
        tree.mapLeaves(part, OP, (leaf) => {
          if (!(leaf instanceof TensorSpec)) return leaf;
          return new TensorSpec(leaf.shape === null ? null : [size, ...leaf.shape], leaf.dtype);
        }),
      ),
    ) as CompositeTensor;
  throw new UnimplementedError(`${spec} cannot be batched: ${NOT_BATCHED}`, 'Dataset.batch');
}
