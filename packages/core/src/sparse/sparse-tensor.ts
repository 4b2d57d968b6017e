// The class of sparse tensors.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { type Arguments, defineMethods } from '../arguments/arguments.ts';
import { naming } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { type Call, CompositeTensor, type Printed } from '../composite/composite.ts';
import { checkValues, integersOf } from '../dispatch/checked-values.ts';
import { tensorScatterNdUpdate } from '../ops/array/gather.ts';
import { concat } from '../ops/array/join.ts';
import { zeroOf } from '../ragged/ragged-base.ts';
import { countTo, knownIntegers } from '../ragged/row-partition.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { type PartialShape, sameShape, showShape } from '../shapes/shape.ts';
import { hostDims } from '../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { showInConsole } from '../tensor/format.ts';
import { summarizeTensor } from '../tensor/summarize.ts';
import type { NestedArray, Scalar, Tensor } from '../tensor/tensor.ts';
import { dispatchSparse } from './dispatch.ts';
import { type Coordinates, placesOf, shapeTensor } from './sparse-base.ts';

const OP = 'SparseTensor';

interface Parts {
  readonly indices: TensorLike;
  readonly values: TensorLike;
  readonly denseShape: TensorLike;
}

/** Parts that fit. */
class Unchecked {
  readonly parts: readonly unknown[];
  constructor(parts: readonly unknown[]) {
    this.parts = parts;
  }
}

/**
 * A tensor most of which is 0: the coordinates of the other elements, and their values. `tf.sparse` works with them. They should be in
 * row-major order, as `tf.sparse.reorder` brings them.
 *
 *     const st = new tf.SparseTensor([[0, 1], [2, 0]], [5, 7], [3, 2]);
 *     tf.sparse.toDense(st).array(); // [[0, 5], [0, 0], [7, 0]]
 */
export class SparseTensor extends CompositeTensor {
  /** int64 [n, rank]: the coordinates of the values. */
  readonly indices: Tensor;
  /** [n]: the values at these coordinates. */
  readonly values: Tensor;
  /** int64 [rank]: the shape of the whole tensor. */
  readonly denseShape: Tensor;
  #sizes: readonly Dim[] | null = null;

  /** @throws InvalidArgumentError for indices, values and a shape that do not fit. */
  constructor(
    ...args: Arguments<
      [indices: TensorLike, values: TensorLike, denseShape: TensorLike],
      ['indices', 'values', 'denseShape']
    >
  ) {
    super();
    const [first] = args as readonly unknown[];
    if (first instanceof Unchecked) {
      [this.indices, this.values, this.denseShape] = first.parts as [Tensor, Tensor, Tensor];
      return;
    }
    const given = argumentsOf<Parts>(SparseTensor, new.target, args);
    const shape = naming('denseShape', () => toTensor(given.denseShape, 'int64').cast('int64'));
    if (shape.rank !== 1)
      throw new InvalidArgumentError(`denseShape must have rank 1, got ${showShape(shape.shape)}`, OP);
    const [rank] = dims(shape);
    const indices = naming('indices', () => toTensor(given.indices, 'int64').cast('int64'));
    // An empty list has no coordinates of any rank.
    this.indices =
      indices.rank === 1 && indices.shape[0] === 0 ? indices.reshape(toShape([0, rank as Dim])) : indices;
    this.values = naming('values', () => toTensor(given.values));
    this.denseShape = shape;
    const [n] = dims(this.values);
    if (
      this.values.rank !== 1 ||
      this.indices.rank !== 2 ||
      !sameShape(dims(this.indices), [n as Dim, rank as Dim])
    )
      throw new InvalidArgumentError(
        `indices ${showShape(this.indices.shape)} must be [n, rank], values ${showShape(this.values.shape)} [n], for a shape of rank ${String(rank)}`,
        OP,
      );
    checkIndices(this.indices, shape);
  }

  /** @internal Coordinates that fit. */
  static of({ indices, values, sizes }: Coordinates): SparseTensor {
    const made = new SparseTensor(new Unchecked([indices, values, shapeTensor(sizes)]) as never);
    made.#sizes = sizes;
    return made;
  }
  /** @internal Parts that are not looked at. */
  static unchecked(indices: unknown, values: unknown, denseShape: unknown): SparseTensor {
    return new SparseTensor(new Unchecked([indices, values, denseShape]) as never);
  }

  get dtype(): DType {
    return this.values.dtype;
  }
  /** The shape of the whole tensor; null for sizes that are not known while a function is traced. */
  get shape(): PartialShape {
    const known = knownIntegers(this.denseShape);
    if (known !== null) return known;
    return new Array<null>(this.rank).fill(null);
  }
  get rank(): number {
    return this.denseShape.shape[0] as number;
  }
  /** @internal The sizes to compute with. */
  get sizes(): readonly Dim[] {
    this.#sizes ??= hostDims(this.denseShape, 'denseShape', OP);
    return this.#sizes;
  }
  /** @internal */
  get coordinates(): Coordinates {
    return { indices: this.indices, values: this.values, sizes: this.sizes };
  }

  /** The same coordinates with other values. */
  withValues(newValues: TensorLike): SparseTensor;
  withValues(newValues: TensorLike): SparseTensor {
    const values = toTensor(newValues);
    if (!sameShape(dims(values), dims(this.values)))
      throw new InvalidArgumentError(
        `the values have shape ${showShape(values.shape)}, expected ${showShape(this.values.shape)}`,
        'SparseTensor.withValues',
      );
    return SparseTensor.of({ ...this.coordinates, values });
  }
  /** @internal The same with other coordinates. */
  with(of: Partial<Coordinates>): SparseTensor {
    return SparseTensor.of({ ...this.coordinates, ...of });
  }

  /** The whole tensor, with `defaultValue` (0, false or an empty string) where nothing is. */
  toDense(defaultValue?: TensorLike | null): Tensor;
  toDense(defaultValue: TensorLike | null = null): Tensor {
    const { indices, values } = this;
    const filler = defaultValue === null ? zeroOf(values.dtype) : toTensor(defaultValue, values.dtype);
    if (filler.rank !== 0 || filler.dtype !== values.dtype)
      throw new InvalidArgumentError(
        `defaultValue must be one ${values.dtype}, got ${filler}`,
        'sparse.toDense',
      );
    const shape = toShape(this.sizes);
    if (values.dtype !== 'string') return tensorScatterNdUpdate(filler.broadcastTo(shape), indices, values);
    // Strings have no kernels: they are looked up by their places.
    const [n] = dims(values);
    const none = countTo(1, 'int32')
      .add(dims(values)[0] as number)
      .reshape([])
      .broadcastTo(shape);
    return concat([values, filler.reshape([1])], 0).gather(
      tensorScatterNdUpdate(none, indices, countTo(n as Dim, 'int32')),
    );
  }
  /** The values as nested arrays. */
  array<T extends NestedArray<Scalar> = NestedArray<Scalar>>(): T;
  array(): NestedArray<Scalar> {
    return this.toDense().array();
  }
  toJSON(): unknown {
    return this.toDense().toJSON();
  }
  /** @internal In quotes, as TensorFlow has it. */
  override get printed(): Printed {
    return {
      tensors: [this.indices, this.values, this.denseShape],
      text: (parts, atEnds) => {
        const [indices, values, shape] = parts.map((x) => summarizeTensor(x, atEnds));
        return `'SparseTensor(indices=${indices}, values=${values}, shape=${shape})'`;
      },
    };
  }
  override toString(): string {
    return `SparseTensor(indices=${this.indices}, values=${this.values}, denseShape=${this.denseShape})`;
  }

  get parts(): readonly unknown[] {
    return [this.indices, this.values, this.denseShape];
  }
  get partNames(): readonly string[] {
    return ['indices', 'values', 'denseShape'];
  }
  get facts(): string {
    return 'SparseTensor';
  }
  withParts([indices, values, denseShape]: readonly unknown[]): unknown {
    return SparseTensor.unchecked(indices, values, denseShape);
  }
  override get differentiable(): unknown {
    return this.values;
  }
  override withDifferentiable(values: unknown): unknown {
    return values === null ? null : this.withValues(values as Tensor);
  }
  get advice(): string {
    return 'this function does not take sparse tensors; use tf.sparse, or tf.sparse.toDense(x)';
  }
  dispatch(call: Call): unknown {
    return dispatchSparse(call);
  }
}

/** @throws InvalidArgumentError for coordinates outside of a shape, now or in a run. */
function checkIndices(indices: Tensor, shape: Tensor): void {
  checkValues(
    OP,
    [indices, shape],
    (now, most) => {
      const sizes = integersOf(most);
      integersOf(now).forEach((index, i) => {
        const size = sizes[i % sizes.length] as number;
        if (index < 0 || index >= size)
          throw new InvalidArgumentError(`the index ${index} is not in an axis of size ${size}`, OP);
      });
    },
    (now, most) => now.greaterEqual(0).all().logicalAnd(now.less(most).all()),
  );
}

/** @internal Whether places are sorted, each there once. @throws InvalidArgumentError where not, now or in a run. */
export function checkOrder(x: SparseTensor, op: string): void {
  checkValues(op, [placesOf(x.indices, x.sizes)], (places) => {
    const known = integersOf(places);
    known.forEach((place, i) => {
      if (i === 0 || place > (known[i - 1] as number)) return;
      throw new InvalidArgumentError(
        place === known[i - 1]
          ? `indices[${i}] is repeated`
          : `indices[${i}] is out of order; use tf.sparse.reorder`,
        op,
      );
    });
  });
}

takesArguments<Parts>(
  {
    positional: ['indices', 'values', 'denseShape'],
    names: { indices: true, values: true, denseShape: true },
  },
  SparseTensor,
);
defineMethods(SparseTensor.prototype, 'SparseTensor', {
  withValues: { positional: ['newValues'] },
  toDense: { positional: ['defaultValue'], required: 0 },
  array: {},
});
showInConsole(SparseTensor.prototype, String);
