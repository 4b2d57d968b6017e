// Products of matrices as libraries take them, which the makers of GPUs have.
import type { NumericDType } from '@eagre/backend';
import { FEW } from './product-factors.ts';

/** y = activation(a · b + bias), of matrices in rows. */
export interface LibraryProduct {
  /** The numbers of a, b, the bias if there is one, and y among the tensors of the dispatch's call. */
  readonly operands: readonly number[];
  readonly dtype: NumericDType;
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  /** One element for each column. */
  readonly hasBias: boolean;
  readonly hasRelu: boolean;
  /** How many products a call makes, and how many elements of a and of b are from one to the next. Those of y follow each other. */
  readonly batches: number;
  readonly strides: readonly [a: number, b: number];
  /** Where the calls begin: elements of a, b and y. */
  readonly calls: readonly (readonly [a: number, b: number, y: number])[];
}

/** More calls take longer than one of a kernel that knows all batches. */
const MOST_CALLS = 8;

/**
 * A product of batches for libraries. A batch that a has and b has not becomes more rows. The innermost axis that is left is the batch of a call; each place
 * along the others is a call.
 * @param sizes of the axes of the batches, outermost first. @param steps of a and b along them, in matrices.
 * @returns undefined where a kernel does better: rows, columns or depth are few, or the calls are many.
 */
export function libraryProduct(
  product: Omit<LibraryProduct, 'batches' | 'strides' | 'calls'>,
  sizes: readonly number[],
  [ofA, ofB]: readonly (readonly number[])[],
): LibraryProduct | undefined {
  const { columns, depth, transposeA } = product;
  let { rows } = product;
  const axes = sizes.map((size, i) => ({ size, a: ofA[i] * rows * depth, b: ofB[i] * depth * columns }));
  const inner = axes.at(-1);
  if (inner !== undefined && !transposeA && inner.a === rows * depth && inner.b === 0) {
    rows *= inner.size;
    axes.pop();
  }
  if (Math.min(rows, columns, depth) < FEW) return undefined;
  const { size: batches, a, b } = axes.pop() ?? { size: 1, a: 0, b: 0 };
  if (axes.reduce((count, { size }) => count * size, 1) > MOST_CALLS) return undefined;
  let calls: LibraryProduct['calls'] = [[0, 0, 0]];
  let y = batches * rows * columns;
  for (const axis of axes.reverse()) {
    const before = calls;
    const step = y;
    calls = Array.from({ length: axis.size }, (_, i) =>
      before.map(([x, w, z]) => [x + i * axis.a, w + i * axis.b, z + i * step] as const),
    ).flat();
    y *= axis.size;
  }
  return { ...product, rows, batches, strides: [a, b], calls };
}

/** A product of two matrices for libraries, as `libraryProduct` has it. */
export function libraryMatrices(
  product: Pick<LibraryProduct, 'operands' | 'dtype' | 'rows' | 'columns' | 'depth'> &
    Partial<Pick<LibraryProduct, 'transposeA' | 'transposeB' | 'hasBias' | 'hasRelu'>>,
): LibraryProduct | undefined {
  const plain = { transposeA: false, transposeB: false, hasBias: false, hasRelu: false };
  return libraryProduct({ ...plain, ...product }, [], [[], []]);
}
