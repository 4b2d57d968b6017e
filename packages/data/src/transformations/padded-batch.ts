// `paddedBatch`: elements of different shapes are padded to one.
import { DataLossError, type DType, InvalidArgumentError, isBig } from '@eagre/backend';
import { type PartialShape, Tensor, type TensorLike } from '@eagre/core';
import {
  checkListSize,
  emptyTensor,
  sameShape,
  showShape,
  spaceOf,
  toTensor,
  tree,
  uploaded,
  viewOf,
} from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import { type ElementSpec, flattenSpec, mapSpec, mapTensorSpec } from '../elements/element-spec.ts';
import { type Element, mapLeaves } from '../elements/structure.ts';
import type { DatasetNode } from '../pipeline/iterator.ts';
import { type Count, checkCount } from '../pipeline/options.ts';
import { leavesOf, strings } from '../pipeline/stacker.ts';
import type { BatchOptions } from './batch.ts';
import { ListBatchNode } from './list-batch.ts';

/** Shapes in the structure of the elements; null, and -1 in a shape, for the largest size of each batch. */
export type PaddedShapes =
  | PartialShape
  | null
  | readonly PaddedShapes[]
  | { readonly [key: string]: PaddedShapes };
/** Values in the structure of the elements, or one for all of a kind; null for 0, false and the empty string. */
export type PaddingValues =
  | TensorLike
  | null
  | readonly PaddingValues[]
  | { readonly [key: string]: PaddingValues };

/** Options of `paddedBatch`. */
export interface PaddedBatchOptions extends BatchOptions {
  /** What elements are padded to; the largest sizes of each batch unless set. */
  readonly paddedShapes?: PaddedShapes;
  /** What they are padded with. */
  readonly paddingValues?: PaddingValues;
}

const what = 'Dataset.paddedBatch';

const isShape = (v: unknown): v is PartialShape =>
  Array.isArray(v) && v.every((d) => d === null || typeof d === 'number');

/** The item for each leaf: structures follow the spec, `isItem` says what is one. */
function perLeaf<T>(given: unknown, spec: ElementSpec, isItem: (v: unknown) => v is T, name: string): T[] {
  const fail = (): never => {
    throw new InvalidArgumentError(`${name} do not have the structure of the elements`, what);
  };
  const items: T[] = [];
  tree.forEachPair(spec, given, what, (_, item) => (isItem(item) ? items.push(item) : fail()), fail);
  return items;
}

/** The padded shape of each leaf. */
function shapesOf(given: PaddedShapes, spec: ElementSpec): (PartialShape | null)[] {
  const isOne = (v: unknown): v is PartialShape | null => v === null || isShape(v);
  return perLeaf(given, spec, isOne, 'paddedShapes').map((s) => s?.map((d) => (d === -1 ? null : d)) ?? null);
}

/** Padded shapes with a size in the place of all that are not known. */
export function paddedTo(size: number, spec: ElementSpec, given?: PaddedShapes): PaddedShapes {
  const shapes = given === undefined ? null : shapesOf(given, spec);
  return mapSpec(spec, (s, i) => {
    const shape = shapes?.[i] ?? (s as TensorSpec).shape;
    return shape?.map((d) => d ?? size) ?? null;
  }) as PaddedShapes;
}

export class PaddedBatchNode extends ListBatchNode {
  readonly kind = 'PaddedBatch';
  readonly #shapes: readonly (PartialShape | null)[] | null;
  readonly #values: readonly (TensorLike | null)[] | TensorLike | null;

  constructor(input: DatasetNode, batchSize: Count, options: PaddedBatchOptions) {
    const { dropRemainder = false, paddedShapes, paddingValues = null } = options;
    const size = checkCount(batchSize, 'batchSize', what);
    const { spec } = input;
    if (
      spec === null &&
      (paddedShapes !== undefined || (paddingValues !== null && typeof paddingValues === 'object'))
    )
      throw new InvalidArgumentError(
        'paddedShapes and paddingValues need elements with a known structure: give the generator, or the preceding function, an outputSignature',
        what,
      );
    const shapes = spec === null || paddedShapes === undefined ? null : shapesOf(paddedShapes, spec);
    const isOne = (v: unknown): v is TensorLike | null =>
      v === null || typeof v !== 'object' || v instanceof Tensor || ArrayBuffer.isView(v);
    const leaves = spec === null ? null : flattenSpec(spec);
    shapes?.forEach((s, i) => {
      const own = (leaves as readonly TensorSpec[])[i]?.shape ?? null;
      if (s !== null && own !== null && s.length !== own.length)
        throw new InvalidArgumentError(
          `The padded shape ${showShape(s)} is not compatible with the shape ${showShape(own)} of the corresponding input component.`,
          what,
        );
    });
    const values =
      spec === null || isOne(paddingValues)
        ? (paddingValues as TensorLike | null)
        : perLeaf(paddingValues, spec, isOne, 'paddingValues');
    super(
      input,
      mapTensorSpec(spec, what, (s, i) => {
        const to = shapes?.[i] ?? s.shape;
        return new TensorSpec(to === null ? null : [dropRemainder ? size : null, ...to], s.dtype);
      }),
      size,
      dropRemainder,
    );
    this.#shapes = shapes;
    this.#values = values;
    leaves?.forEach((s, i) => padding(this.#valueOf(i), (s as TensorSpec).dtype));
  }

  #valueOf(leaf: number): TensorLike | null {
    const values = this.#values;
    return Array.isArray(values)
      ? ((values as readonly (TensorLike | null)[])[leaf] ?? null)
      : (values as TensorLike | null);
  }

  make(elements: readonly Element[]): Element {
    const leaves = leavesOf(elements, what);
    return mapLeaves(elements[0], (_, k) =>
      pad(
        leaves.map((l) => l[k]),
        this.#shapes?.[k] ?? null,
        this.#valueOf(k),
        k,
      ),
    ) as Element;
  }
}

/** The padding value as it is stored in a dtype: one number, or two of a complex one. @throws InvalidArgumentError for a value of another kind. */
function padding(value: TensorLike | null, dtype: DType): readonly (number | bigint | string)[] {
  if (value === null) return [dtype === 'string' ? '' : isBig(dtype) ? 0n : 0];
  const t = toTensor(value, dtype);
  if (t.rank !== 0 || t.dtype !== dtype)
    throw new InvalidArgumentError(
      `the padding value must be a scalar of ${dtype}, got ${t.dtype} of shape ${showShape(t.shape)}`,
      what,
    );
  return dtype === 'string' ? t.strings() : [...viewOf(t)];
}

/** Stacks tensors that are padded at the end of each axis. */
function pad(
  tensors: readonly Tensor[],
  to: PartialShape | null,
  value: TensorLike | null,
  component: number,
): Tensor {
  const { dtype, rank } = tensors[0];
  for (const t of tensors) {
    if (t.rank !== rank || t.dtype !== dtype)
      throw new InvalidArgumentError(
        `All elements in a batch must have the same rank when padding for component ${component}: expected ${dtype} of rank ${rank} got ${t.dtype} of rank ${t.rank}`,
        what,
      );
  }
  const shape = Array.from({ length: rank }, (_, axis) => {
    const most = tensors.reduce((n, t) => Math.max(n, t.shape[axis]), 0);
    const size = to?.[axis] ?? most;
    if (most > size)
      throw new DataLossError(
        `Attempted to pad to a smaller size than the input element: component ${component} has size ${most} along axis ${axis}, paddedShapes say ${size}`,
        what,
      );
    return size;
  });
  const fill = padding(value, dtype);
  const size = shape.reduce((a, b) => a * b, 1);
  if (dtype === 'string') {
    checkListSize(size * tensors.length, 'strings', 'pad to less, or make smaller batches', what);
    const all = new Array<string>(size * tensors.length).fill(fill[0] as string);
    tensors.forEach((t, i) => {
      const source = t.strings();
      eachRow(t.shape, shape, (from, at, n) => {
        for (let j = 0; j < n; j++) all[i * size + at + j] = source[from + j];
      });
    });
    return strings(all, [tensors.length, ...shape]);
  }
  const out = emptyTensor(dtype, [tensors.length, ...shape], size * tensors.length);
  const values = spaceOf(out);
  const parts = fill.length;
  if (tensors.some((t) => !sameShape(t.shape, shape)))
    if (parts === 1) values.fill(fill[0] as never);
    else for (let i = 0; i < values.length; i++) values[i] = fill[i % parts] as never;
  tensors.forEach((t, i) => {
    const source = viewOf(t);
    eachRow(t.shape, shape, (from, at, n) => {
      values.set(source.subarray(parts * from, parts * (from + n)) as never, parts * (i * size + at));
    });
  });
  return uploaded(out, values);
}

/** Where the innermost rows of a tensor lie in a larger one. */
function eachRow(
  shape: readonly number[],
  to: readonly number[],
  row: (from: number, at: number, count: number) => void,
): void {
  const length = shape.at(-1) ?? 1;
  const outer = shape.slice(0, -1);
  const rows = outer.reduce((a, b) => a * b, 1);
  if (length === 0) return;
  const index = outer.map(() => 0);
  for (let r = 0; r < rows; r++) {
    const at = index.reduce((n, i, axis) => n * to[axis] + i, 0);
    row(r * length, at * (to.at(-1) ?? 1), length);
    for (let axis = outer.length - 1; axis >= 0; axis--) {
      index[axis] = index[axis] + 1;
      if (index[axis] < outer[axis]) break;
      index[axis] = 0;
    }
  }
}
