// Weights of 4 bits, two in a byte: as matrices, with one scale for each column or row, or scales and zero points of groups in it.
import { customGradient } from '@eagre/autodiff';
import { type Axis, floor, nn, range, type Shape, type Tensor, type Variable } from '@eagre/core';
import { inScope } from '@eagre/core/internal';
import {
  AbsMaxQuantizer,
  absMaxQuantizeGroupedWithZeroPoint,
  packInt4,
  type Quantizer,
  unpackInt4,
} from '../../quantizers.ts';

/** How the matrix of a weight lies. */
export interface MatrixForm {
  readonly rows: number;
  readonly columns: number;
  /** The axis along which elements have one scale, or whose groups do. */
  readonly axis: 0 | 1;
  /** The axis along which two share a byte; the last by default. */
  readonly packed?: 0 | 1;
}

/** What is kept of a weight; `zero` and `group` where there are groups. */
export interface FourBits<T = Variable> {
  /** [rows, ⌈columns / 2⌉], int8, or half the rows. */
  readonly packed: T;
  /** Of the other axis; with groups a matrix, in which they lie along `axis`. */
  readonly scale: T;
  readonly zero: T | null;
  /** The group of each place along `axis`, float32. */
  readonly group: T | null;
}

const LARGEST = [-8, 7] as const;
let last: AbsMaxQuantizer | undefined;
const standard = (): AbsMaxQuantizer => (last ??= new AbsMaxQuantizer({ valueRange: LARGEST }));

/** The shapes of what is kept. */
export function shapesOf(
  { rows, columns, axis, packed: by }: MatrixForm,
  block: number | null,
): FourBits<Shape> {
  const [length, others] = axis === 0 ? [rows, columns] : [columns, rows];
  const packed = by === 0 ? [Math.ceil(rows / 2), columns] : [rows, Math.ceil(columns / 2)];
  if (block === null) return { packed, scale: [others], zero: null, group: null };
  const groups = Math.ceil(length / block);
  const scale = axis === 0 ? [groups, others] : [others, groups];
  return { packed, scale, zero: scale, group: [length] };
}

/** The group of each place. */
export function groupsOf(length: number, block: number): Tensor {
  return floor(range(0, length).cast('float32').div(block));
}

/** A matrix of floats in 4 bits. */
export function fourBitsOf(
  matrix: Tensor,
  { axis, packed: by = 1 }: MatrixForm,
  block: number | null,
  quantizer: Quantizer | null,
): Omit<FourBits<Tensor>, 'group'> {
  const pack = (ints: Tensor): Tensor => packInt4(ints, by)[0];
  if (block === null) {
    const own = quantizer ?? standard();
    const along = own instanceof AbsMaxQuantizer && own.axis !== null ? {} : { axis };
    const [ints, scale] = own(matrix, along) as [Tensor, Tensor];
    return { packed: pack(ints), scale: scale.squeeze([axis]), zero: null };
  }
  // Groups lie along the first axis.
  const there = (x: Tensor): Tensor => (axis === 0 ? x : x.transpose());
  const [ints, scale, zero] = absMaxQuantizeGroupedWithZeroPoint(there(matrix), block);
  return { packed: pack(there(ints)), scale: there(scale), zero: there(zero) };
}

/** The floats of the matrix; of some rows where those are given, of which each has scales of its own. */
export function floatsOf(
  kept: FourBits,
  { rows: most, columns, axis, packed: by }: MatrixForm,
  dtype: 'float32',
  rows: Tensor | null = null,
): Tensor {
  const own = (v: Variable): Tensor => (rows === null ? v.read() : nn.embeddingLookup(v, rows));
  const ints = (
    by === 0 ? unpackInt4(own(kept.packed), most, 0) : unpackInt4(own(kept.packed), columns, -1)
  ).cast(dtype);
  const scale = own(kept.scale).cast(dtype);
  if (kept.zero === null || kept.group === null) return ints.div(axis === 0 ? scale : scale.expandDims(-1));
  const group = kept.group.read().cast('int32');
  const each = (x: Tensor): Tensor => x.gather(group, { axis: axis === 0 ? 0 : x.rank - 1 });
  return ints.sub(each(own(kept.zero).cast(dtype))).mul(each(scale));
}

/**
 * A product with floats of 4 bits. Where inputs are quantized, too, the gradient is as if they were not.
 * @param ofInputs brings their scale to the axes of the result
 * @param back the gradient of the inputs
 */
export function productOfFourBits(
  x: Tensor,
  weight: () => Tensor,
  quantizer: Quantizer | null,
  parts: {
    readonly axis: Axis;
    readonly product: (x: Tensor, weight: Tensor) => Tensor;
    readonly ofInputs: (scale: Tensor) => Tensor;
    readonly back: (dy: Tensor, weight: Tensor) => Tensor;
  },
): Tensor {
  if (quantizer === null) return parts.product(x, weight());
  const run = customGradient((inputs: Tensor) => {
    const value = inScope(() => {
      const [ints, scale] = quantizer(inputs, { axis: parts.axis }) as [Tensor, Tensor];
      return parts.product(ints.cast(x.dtype), weight()).div(parts.ofInputs(scale));
    });
    return [value, (dy: Tensor): Tensor => parts.back(dy, weight())];
  });
  return run(x);
}
