// A dataset in two.
import { InvalidArgumentError } from '@eagre/backend';
import { stack, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  checkFlag,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  shown,
  tree,
} from '@eagre/core/internal';
import type { Element, ElementOf } from '../elements/structure.ts';
import { Dataset } from '../pipeline/dataset.ts';
import { AUTOTUNE } from '../pipeline/options.ts';
import { Rng, seedWords } from '../pipeline/random.ts';
import { BatchNode } from '../transformations/batch.ts';

/** Options of `splitDataset`. */
export interface SplitOptions {
  /** How many elements the left part gets, or its share between 0 and 1; what is left over unless given. */
  readonly leftSize?: number | null;
  /** The same of the right part, which is the end. One of the two must be given. */
  readonly rightSize?: number | null;
  /** Whether the elements are brought into another order before; false unless given. */
  readonly shuffle?: boolean;
  /** Makes the order of `shuffle` the same in each run of the program; drawn anew unless given. */
  readonly seed?: number | null;
}

/** The parts of a dataset. */
export type Split<T> = [left: Dataset<T>, right: Dataset<T>];

/** What can be split: a dataset, a tensor, or a list of tensors with one first dimension. */
type Splits = {
  <T>(dataset: Dataset<T>, options: SplitOptions): Split<T>;
  <const S extends readonly (Tensor | Variable)[]>(
    dataset: S,
    options: SplitOptions,
  ): Split<ElementOf<{ -readonly [K in keyof S]: Tensor }>>;
  (dataset: TensorLike, options: SplitOptions): Split<Tensor>;
  (
    options: SplitOptions & {
      /** What is split: a dataset, a tensor, or a list of tensors with one first dimension. */
      readonly dataset: Dataset<unknown> | TensorLike | readonly Tensor[];
    },
  ): Split<Element>;
};

const WHAT = 'splitDataset';

/**
 * Splits a dataset that fits into memory: [left, right]. The rows of a tensor, or of a list of tensors, are elements; batches are taken
 * apart, and both parts have batches of that size again.
 *
 *     const [train, test] = tf.keras.utils.splitDataset([images, labels], { leftSize: 0.8, shuffle: true, seed: 1 });
 *
 * @throws InvalidArgumentError for sizes that leave nothing for a part, or that are too much together
 */
export const splitDataset: Splits = /* @__PURE__ */ defineFunction<
  NamedFunction<[dataset: unknown], ['dataset'], SplitOptions, unknown>
>(
  'tf.keras.utils.splitDataset',
  { dataset: kind.structure },
  { leftSize: true, rightSize: true, shuffle: true, seed: true },
  (given: unknown, options) => {
    const { shuffle = false, seed = null } = options;
    checkFlag(shuffle, 'shuffle', WHAT);
    const whole = datasetOf(given);
    const batch = whole.node instanceof BatchNode ? whole.node.size : null;
    const inOrder = [...(batch === null ? whole : whole.unbatch())] as Element[];
    const order = inOrder.map((_, i) => i);
    if (shuffle) new Rng(seedWords(seed ?? undefined, WHAT)).shuffle(order);
    const elements = order.map((i) => inOrder[i]);
    const [left, right] = sizes(options, elements.length);
    const parts = [elements.slice(0, left), elements.slice(elements.length - right)];
    return parts.map((part) => {
      const rows = Dataset.fromTensorSlices(stacked(part)) as Dataset<unknown>;
      return (batch === null ? rows : rows.batch(batch)).prefetch(AUTOTUNE);
    });
  },
) as never;

const isTensor = (x: unknown): boolean => !isPlain(x) && (x instanceof Tensor || x instanceof Variable);

function datasetOf(given: unknown): Dataset<unknown> {
  if (!isPlain(given) && given instanceof Dataset) return given as Dataset<unknown>;
  if (Array.isArray(given) && given.length === 0)
    throw new InvalidArgumentError('there is nothing to split', WHAT);
  if (isTensor(given) || Array.isArray(given) || ArrayBuffer.isView(given))
    return Dataset.fromTensorSlices(given) as Dataset<unknown>;
  throw new InvalidArgumentError(
    `expected a dataset, a tensor or a list of tensors, got ${shown(given)}`,
    WHAT,
  );
}

/** The elements as tensors with one more dimension. */
function stacked(elements: readonly Element[]): unknown {
  const leaves = elements.map((element) => tree.leavesOf(element, WHAT) as readonly Tensor[]);
  return tree.pack(
    elements[0],
    leaves[0].map((_, i) => stack(leaves.map((of) => of[i]))),
    WHAT,
  );
}

/** How many elements each part gets, as Keras counts. */
function sizes({ leftSize = null, rightSize = null }: SplitOptions, count: number): [number, number] {
  const fail = (message: string): never => {
    throw new InvalidArgumentError(message, WHAT);
  };
  if (leftSize === null && rightSize === null) fail('leftSize or rightSize must be given');
  const counted = (size: number | null, name: string): number | null => {
    if (size === null) return null;
    const isCount = Number.isInteger(size) && size >= 1 && size < count;
    if (isCount) return size;
    if (typeof size === 'number' && size > 0 && size < 1) return roundedEven(size * count);
    return fail(
      `${name} must be an integer from 1 to ${count - 1}, or a share between 0 and 1, got ${shown(size)}`,
    );
  };
  const left = counted(leftSize, 'leftSize');
  const right = counted(rightSize, 'rightSize');
  const both = [left ?? count - (right as number), right ?? count - (left as number)] as const;
  if (both[0] + both[1] > count) fail(`the parts have ${both[0]} and ${both[1]} elements, out of ${count}`);
  if (both[0] === 0 || both[1] === 0)
    fail(`a part of ${count} elements would be empty: ${both.join(' and ')}`);
  return [...both];
}

/** Halves go to the even number, as in Python. */
function roundedEven(x: number): number {
  const floor = Math.floor(x);
  if (x - floor !== 0.5) return Math.round(x);
  return floor % 2 === 0 ? floor : floor + 1;
}
