// The shape of a ragged tensor, as a value of its own.

import { InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import type { ShapeLike } from '../arguments/argument-kinds.ts';
import { type Arguments, defineMethods } from '../arguments/arguments.ts';
import { checkCount, checkOneOf, shown } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { type Call, CompositeTensor } from '../composite/composite.ts';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { zeros } from '../ops/array/creation.ts';
import { stack } from '../ops/array/join.ts';
import { broadcastTo, shapeOf } from '../ops/array/shaping.ts';
import { type Dim, isExpression } from '../shapes/dim.ts';
import { dims, sameShape, toShape } from '../shapes/dims.ts';
import { checkFlag } from '../shapes/shape.ts';
import { differs, hostDims } from '../shapes/sizes.ts';
import { broadcastDynamicShape } from '../shapes/tensor-shape.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDType } from '../tensor/dtypes.ts';
import { showInConsole } from '../tensor/format.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { elementwise } from './broadcasting.ts';
import { RowPartition } from './partition-class.ts';
import { isRagged, makeRagged, type RaggedOrDense, toRaggedOrDense } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import { knownIntegers, rowCount, type SplitsDType } from './row-partition.ts';

const CLASS = 'DynamicRaggedShape';

/** The length of an axis, or those of its rows. */
export type AxisLength = number | readonly number[];

export interface DynamicRaggedShapeOptions {
  /** Of the lengths; that of what it is made of, or int64. */
  readonly dtype?: SplitsDType;
}
export interface FromLengthsOptions extends DynamicRaggedShapeOptions {
  /** How many axes behind the first one are in row partitions; those up to the last ragged one by default. */
  readonly numRowPartitions?: number;
}

interface ShapeArguments extends DynamicRaggedShapeOptions {
  readonly rowPartitions: readonly RowPartition[];
  readonly innerShape: TensorLike;
}

/**
 * The shape of a ragged tensor: a row partition for each axis that may be ragged, the outermost first, and the shape of its flat values.
 * `tf.experimental.DynamicRaggedShape.fromLengths([3, [2, 1, 0], 2])` is that of three rows with two, one and no pairs. `broadcastTo`,
 * `reshape`, `zeros`, `ones`, `fill` and `broadcastDynamicShape` take one for a shape.
 */
export class DynamicRaggedShape extends CompositeTensor {
  #partitions: readonly RowPartition[];
  #inner: Tensor;

  /**
   * @param innerShape [inner rank]; its first length is the number of values of the last partition
   * @throws InvalidArgumentError for partitions that do not fit each other, or the inner shape
   */
  constructor(
    rowPartitions: readonly RowPartition[],
    innerShape: TensorLike,
    options?: DynamicRaggedShapeOptions,
  );
  constructor(
    options: {
      /** How rows are divided, from the outermost axis on. */
      readonly rowPartitions: readonly RowPartition[];
      /** The shape of the values inside. */
      readonly innerShape: TensorLike;
    } & DynamicRaggedShapeOptions,
  );
  constructor(...args: readonly unknown[]) {
    super();
    const { rowPartitions, innerShape, ...options } = argumentsOf<ShapeArguments>(
      DynamicRaggedShape,
      new.target,
      args,
    );
    if (!Array.isArray(rowPartitions) || !rowPartitions.every((p) => p instanceof RowPartition))
      throw new InvalidArgumentError(
        `rowPartitions must be a list of RowPartitions, got ${shown(rowPartitions)}`,
        CLASS,
      );
    const inner = toTensor(innerShape, 'int64');
    const own = inner.dtype === 'int32' ? 'int32' : 'int64';
    const dtype = options.dtype ?? (rowPartitions[0] as RowPartition | undefined)?.dtype ?? own;
    checkOneOf(dtype, ['int32', 'int64'], 'dtype', CLASS);
    checkDType(inner.dtype, 'index', 'innerShape', CLASS);
    if (inner.rank !== 1)
      throw new InvalidArgumentError(`innerShape must have rank 1, got shape [${inner.shape}]`, CLASS);
    this.#partitions = rowPartitions.map((p) => p.withDtype(dtype));
    this.#inner = inner.cast(dtype);
    this.#check();
  }

  #check(): void {
    const inner = this.#partitions.length === 0 ? [] : hostDims(this.#inner, 'innerShape', CLASS);
    this.#partitions.forEach((p, i) => {
      const next = this.#partitions[i + 1];
      const values = knownIntegers(p.nvals())?.[0];
      const wanted = next === undefined ? inner[0] : rowCount(next.rowSplits());
      if (wanted === undefined)
        throw new InvalidArgumentError('innerShape has no length for the values of the partitions', CLASS);
      if (values !== undefined && differs(values, wanted))
        throw new InvalidArgumentError(
          `partition ${i} has ${values} values, but what it holds has ${String(wanted)} rows`,
          CLASS,
        );
    });
  }

  /**
   * Lengths of axes: a number, or a list with the length of each row.
   * @throws InvalidArgumentError for lengths that do not fit
   */
  static fromLengths(lengths: readonly AxisLength[], options: FromLengthsOptions = {}): DynamicRaggedShape {
    const op = `${CLASS}.fromLengths`;
    if (!Array.isArray(lengths))
      throw new InvalidArgumentError(`lengths must be a list, got ${shown(lengths)}`, op);
    lengths.forEach((length: AxisLength, axis) => {
      for (const n of Array.isArray(length) ? length : [length])
        checkCount(n, `the length of axis ${axis}`, op);
    });
    if (Array.isArray(lengths[0])) throw new InvalidArgumentError('the first axis is never ragged', op);
    const ragged = lengths.findLastIndex((length) => Array.isArray(length));
    const count = options.numRowPartitions ?? Math.max(ragged, 0);
    checkCount(count, 'numRowPartitions', op);
    if (count < ragged || (count > 0 && count >= lengths.length))
      throw new InvalidArgumentError(
        `numRowPartitions is ${count} for ${lengths.length} axes, of which ${ragged} is the last ragged one`,
        op,
      );
    const partitions: RowPartition[] = [];
    let rows = (lengths[0] ?? 0) as number;
    for (const length of lengths.slice(1, count + 1)) {
      if (Array.isArray(length) && length.length !== rows)
        throw new InvalidArgumentError(
          `axis ${partitions.length + 1} has lengths of ${length.length} rows, but there are ${rows}`,
          op,
        );
      const values: number = Array.isArray(length)
        ? length.reduce((sum, n) => sum + n, 0)
        : rows * (length as number);
      partitions.push(
        Array.isArray(length)
          ? RowPartition.fromRowLengths(constant(length.map(BigInt), 'int64', { shape: [rows] }))
          : RowPartition.ofRows(rows, length as number),
      );
      rows = values;
    }
    const inner =
      count === 0 ? (lengths as readonly number[]) : [rows, ...(lengths.slice(count + 1) as number[])];
    const shape = constant(inner.map(BigInt), 'int64', { shape: [inner.length] });
    return new DynamicRaggedShape(partitions, shape, { dtype: options.dtype ?? 'int64' });
  }

  /** The shape of values that fall into rows, and these into rows, without inner axes. @throws InvalidArgumentError without partitions */
  static fromRowPartitions(
    rowPartitions: readonly RowPartition[],
    options: DynamicRaggedShapeOptions = {},
  ): DynamicRaggedShape {
    const last = Array.isArray(rowPartitions) ? rowPartitions.at(-1) : undefined;
    if (!(last instanceof RowPartition))
      throw new InvalidArgumentError('rowPartitions must not be empty', `${CLASS}.fromRowPartitions`);
    return new DynamicRaggedShape(rowPartitions, last.nvals().reshape([1]), options);
  }

  /** The shape of a tensor or a ragged one. */
  static fromTensor(
    t: TensorLike | RaggedTensor,
    options: DynamicRaggedShapeOptions = {},
  ): DynamicRaggedShape {
    let x = toRaggedOrDense(t);
    const dtype = options.dtype ?? (isRagged(x) ? (x.rowSplits.dtype as SplitsDType) : 'int64');
    const partitions: RowPartition[] = [];
    while (isRagged(x)) {
      partitions.push(new RowPartition(x.rowSplits, x.uniformRowLength));
      x = x.values;
    }
    return new DynamicRaggedShape(partitions, shapeOf(x, { outType: dtype }), { dtype });
  }

  /** The rows of the axes behind the first one, as many as are in partitions. */
  get rowPartitions(): readonly RowPartition[] {
    return this.#partitions;
  }
  get numRowPartitions(): number {
    return this.#partitions.length;
  }
  /** The shape of the flat values: a vector. */
  get innerShape(): Tensor {
    return this.#inner;
  }
  get innerRank(): number {
    return this.#inner.shape[0];
  }
  get rank(): number {
    return this.innerRank + this.numRowPartitions;
  }
  get dtype(): SplitsDType {
    return this.#inner.dtype as SplitsDType;
  }
  withDtype(dtype: SplitsDType): DynamicRaggedShape {
    return new DynamicRaggedShape(this.#partitions, this.#inner, { dtype });
  }

  /** Whether all rows of an axis have one length for sure. @throws OutOfRangeError for an axis that is not there */
  isUniform(axis: number): boolean {
    const at = this.#axis(axis, 'isUniform');
    return at === 0 || at > this.numRowPartitions || this.#partitions[at - 1]?.uniformRowLength() !== null;
  }

  /**
   * The length of each axis: a number, those of its rows, or null where that is not known.
   * @param options.raggedLengths whether ragged axes have lists; null otherwise. True by default
   */
  staticLengths(
    options: {
      /** Whether ragged axes have the lengths of their rows; true by default. False: null in their place. */
      readonly raggedLengths?: boolean;
    } = {},
  ): (number | readonly number[] | null)[] {
    const lists = checkFlag(options.raggedLengths ?? true, 'raggedLengths', `${CLASS}.staticLengths`);
    const known = (d: Dim): number | null => (isExpression(d) ? null : d);
    const inner = hostDims(this.#inner, 'innerShape', CLASS).map(known);
    const [first] = this.#partitions;
    if (first === undefined) return inner;
    const rows = this.#partitions.map(
      (p) => p.uniformRowLength() ?? (lists ? knownIntegers(p.rowLengths()) : null),
    );
    return [known(rowCount(first.rowSplits())), ...rows, ...inner.slice(1)];
  }

  /** The length of a uniform axis (scalar). @throws InvalidArgumentError for a ragged one */
  at(axis: number): Tensor {
    const at = this.#axis(axis, 'at');
    if (at > this.numRowPartitions || this.numRowPartitions === 0)
      return this.#inner.at(at - this.numRowPartitions) as Tensor;
    if (at === 0) return (this.#partitions[0] as RowPartition).nrows();
    const length = (this.#partitions[at - 1] as RowPartition).uniformRowLength();
    if (length === null) throw new InvalidArgumentError(`axis ${axis} is not uniform`, `${CLASS}.at`);
    return constant(length, this.dtype);
  }

  /**
   * The axes from `start` on, before `stop`; both may count from the end, and are cut to the axes that there are. Behind the first axis,
   * only uniform ones have a shape of their own.
   * @throws InvalidArgumentError for a ragged axis, unless all axes before it are taken too
   */
  slice(...args: Arguments<[start?: number, stop?: number | null], ['start', 'stop']>): DynamicRaggedShape;
  slice(start = 0, stop: number | null = null): DynamicRaggedShape {
    const [from, to] = [this.#place(start, 'start'), this.#place(stop ?? this.rank, 'stop')];
    const dtype = this.dtype;
    // Of nothing and of the first axis alone the lengths are int64, as in TensorFlow.
    if (to <= from) return new DynamicRaggedShape([], constant([], 'int64', { shape: [0] }));
    const count = this.numRowPartitions;
    if (from === 0) {
      if (to === this.rank) return this;
      if (to > count) return new DynamicRaggedShape(this.#partitions, this.#lengths(to - count), { dtype });
      if (to === 1) return new DynamicRaggedShape([], this.at(0).reshape([1]).cast('int64'));
      return DynamicRaggedShape.fromRowPartitions(this.#partitions.slice(0, to - 1));
    }
    const uniform = this.#partitions.slice(0, to - 1).map((p) => p.uniformRowLength());
    if (uniform.includes(null))
      throw new InvalidArgumentError(
        `the axes from ${from} on, before ${to}, have no shape of their own, as one before ${to} is ragged`,
        `${CLASS}.slice`,
      );
    const lengths = Array.from({ length: to - from }, (_, i) => this.at(from + i));
    return new DynamicRaggedShape([], stack(lengths, 0), { dtype });
  }

  /** The first lengths of the inner shape. */
  #lengths(count: number): Tensor {
    return this.#inner.slice([0], [count]);
  }

  /** Where a slice begins or ends. */
  #place(axis: number, what: string): number {
    if (!Number.isInteger(axis))
      throw new InvalidArgumentError(`${what} must be an integer, got ${shown(axis)}`, `${CLASS}.slice`);
    return Math.min(Math.max(axis < 0 ? axis + this.rank : axis, 0), this.rank);
  }

  /** Whether another shape is the same (scalar, bool): with as many partitions, of the same dtype, and the same lengths. */
  equals(other: unknown): Tensor {
    const none = (): Tensor => constant(false);
    if (!(other instanceof DynamicRaggedShape) || other.facts !== this.facts || other.dtype !== this.dtype)
      return none();
    const mine = [...this.#partitions.map((p) => p.rowSplits()), this.#inner];
    const theirs = [...other.#partitions.map((p) => p.rowSplits()), other.#inner];
    if (this.#partitions.some((p, i) => p.uniformRowLength() !== other.#partitions[i]?.uniformRowLength()))
      return none();
    if (mine.some((t, i) => differs(dims(t)[0] as Dim, dims(theirs[i] as Tensor)[0] as Dim))) return none();
    const same = mine.map((t, i) => t.equal(theirs[i] as Tensor).all());
    return stack(same, 0).all();
  }

  #axis(axis: number, method: string): number {
    const at = Number.isInteger(axis) && axis < 0 ? axis + this.rank : axis;
    if (!Number.isInteger(at) || at < 0 || at >= this.rank)
      throw new OutOfRangeError(`axis ${shown(axis)} is not one of ${this.rank}`, `${CLASS}.${method}`);
    return at;
  }

  /** @internal Flat values of the inner shape, in the rows of the partitions. */
  rowsOf(flat: Tensor): RaggedOrDense {
    return this.#partitions.reduceRight<RaggedOrDense>(
      (values, p) => makeRagged(values, p.rowSplits(), p.uniformRowLength()),
      flat,
    );
  }

  get parts(): readonly unknown[] {
    return [...this.#partitions, this.#inner];
  }
  get partNames(): readonly string[] {
    return [...this.#partitions.map((_, i) => `rowPartitions/${i}`), 'innerShape'];
  }
  get facts(): string {
    return `${CLASS} ${this.numRowPartitions}`;
  }
  withParts(parts: readonly unknown[]): unknown {
    // Structures may have specs in the places of tensors, which are not looked at.
    const shape = new DynamicRaggedShape([], constant([], 'int64', { shape: [0] }));
    shape.#partitions = parts.slice(0, -1) as RowPartition[];
    shape.#inner = parts.at(-1) as Tensor;
    return shape;
  }
  get advice(): string {
    return 'use staticLengths() or innerShape';
  }
  dispatch({ name, values, run }: Call): unknown {
    switch (name) {
      case 'zeros':
      case 'ones':
      case 'fill':
        return this.rowsOf(run([this.#inner, ...values.slice(1)]) as Tensor);
      case 'reshape':
        return this.rowsOf(run([values[0], this.#inner]) as Tensor);
      case 'broadcastTo':
        return broadcastInto(toRaggedOrDense(values[0] as TensorLike), this);
      case 'broadcastDynamicShape':
        return broadcastShape(
          ...(values as [ShapeLike | DynamicRaggedShape, ShapeLike | DynamicRaggedShape]),
        );
      default:
        return undefined;
    }
  }
  override toString(): string {
    const shownLength = (n: number | readonly number[] | null): string =>
      Array.isArray(n) ? `[${n.join(', ')}]` : `${n}`;
    return `DynamicRaggedShape(lengths=[${this.staticLengths().map(shownLength).join(', ')}], numRowPartitions=${this.numRowPartitions})`;
  }
}

/** Numbers that are not looked at, of a shape. */
const filler = (shape: DynamicRaggedShape): RaggedOrDense =>
  shape.rowsOf(zeros(toShape(hostDims(shape.innerShape, 'the shape', 'BroadcastTo')), 'int32'));

/** A value as large as a shape says. @throws InvalidArgumentError where it does not broadcast to that */
function broadcastInto(x: RaggedOrDense, shape: DynamicRaggedShape): RaggedOrDense {
  const op = 'BroadcastTo';
  const fail = (): never => {
    throw new InvalidArgumentError(
      `a value of shape ${DynamicRaggedShape.fromTensor(x)} does not broadcast to ${shape}`,
      op,
    );
  };
  const into = filler(shape);
  if (!isRagged(into)) return isRagged(x) ? fail() : broadcastTo(x, toShape(dims(into)));
  if (x.rank > shape.rank) fail();
  const y = elementwise(
    [x, into],
    (values, room) => broadcastTo(values as Tensor, toShape(dims(room as Tensor))),
    op,
  );
  y.nestedRowSplits.forEach((splits, i) => {
    checkValues(op, [splits, into.nestedRowSplits[i] as Tensor], (got, wanted) => {
      if (!sameShape(integersOf(got), integersOf(wanted))) fail();
    });
  });
  return shape.rowsOf(y.flatValues);
}

/** The shape of what two values broadcast to. */
function broadcastShape(
  x: ShapeLike | DynamicRaggedShape,
  y: ShapeLike | DynamicRaggedShape,
): DynamicRaggedShape {
  const [a, b] = [x, y].map((s) =>
    s instanceof DynamicRaggedShape ? s : new DynamicRaggedShape([], s as TensorLike),
  ) as [DynamicRaggedShape, DynamicRaggedShape];
  const dtype = a.dtype === 'int64' || b.dtype === 'int64' ? 'int64' : 'int32';
  const fillers = [filler(a), filler(b)] as const;
  if (!fillers.some(isRagged))
    return new DynamicRaggedShape([], broadcastDynamicShape(a.innerShape, b.innerShape).cast(dtype));
  const sum = elementwise(fillers, (p, q) => (p as Tensor).add(q as Tensor), 'BroadcastDynamicShape');
  return DynamicRaggedShape.fromTensor(sum, { dtype });
}

takesArguments<ShapeArguments>(
  {
    positional: ['rowPartitions', 'innerShape'],
    names: { rowPartitions: true, innerShape: true, dtype: true },
  },
  DynamicRaggedShape,
);
defineMethods(DynamicRaggedShape, CLASS, {
  fromLengths: { positional: ['lengths'], options: { dtype: true, numRowPartitions: true } },
  fromRowPartitions: { positional: ['rowPartitions'], options: { dtype: true } },
  fromTensor: { positional: ['t'], options: { dtype: true } },
});
defineMethods(DynamicRaggedShape.prototype, CLASS, {
  withDtype: { positional: ['dtype'] },
  isUniform: { positional: ['axis'] },
  staticLengths: { options: { raggedLengths: true } },
  at: { positional: ['axis'] },
  slice: { positional: ['start', 'stop'], required: 0 },
  equals: { positional: ['other'] },
});
showInConsole(DynamicRaggedShape.prototype, String);
