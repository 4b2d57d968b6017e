// Layers that give examples another shape, or their axes another order.

import { type PartialShape, type Shape, type SparseTensor, sparse, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  differs,
  floorDivDims,
  modDims,
  type Option,
  showShape,
  takesOptions,
} from '@eagre/core/internal';
import { isStored, type Stored, takesKinds } from '../../layer/kinds.ts';
import {
  builtAtOnce,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import { checkOne, checkRank, fail, type Size, shapeOf, sizesOf, times, values } from '../common.ts';
import { integer } from '../options.ts';
import { type DataFormat, dataFormat } from '../spatial.ts';
import { layerOptions } from '../weights.ts';

/** The number of elements of an example; null where a size is. */
function sizeOfExample(shape: PartialShape): Size {
  return sizesOf(shape).slice(1).reduce(times, 1);
}

/** A sparse tensor in another shape. */
function reshaped(layer: Layer, x: Stored, shape: readonly (number | null)[]): Tensor {
  if (shape.filter((d) => d === null || d === -1).length > 1)
    fail(layer, 'needs the size of the batch, or of the rest, to give a sparse tensor another shape');
  return sparse.reshape(
    x as SparseTensor,
    shape.map((d) => d ?? -1),
  ) as unknown as Tensor;
}

function checkBatch(layer: Layer, shape: PartialShape): void {
  if (checkOne(layer, shape).length === 0) fail(layer, 'expects input with a batch axis, got a scalar');
}

/** Options of `Flatten`. */
export interface FlattenOptions extends LayerOptions {
  /** Where the channels are: `channelsLast` by default; `channelsFirst` moves the channels behind the rest before. */
  readonly dataFormat?: DataFormat | null;
}

/** Each example as one vector: [batch, a, b, …] becomes [batch, a · b · …]. Shares the memory of its input where nothing moves. */
export class Flatten extends Layer {
  declare static readonly fromConfig: FromConfig<Flatten>;
  /** Where the channels are: `channelsLast`; `channelsFirst` moves the channels behind the rest before. */
  declare readonly dataFormat: DataFormat;

  constructor(...args: [dataFormat?: DataFormat | null | FlattenOptions, options?: FlattenOptions]) {
    super(argumentsOf<FlattenOptions>(Flatten, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    const shape = this.computeOutputShape(x.shape) as Shape;
    if (x.rank === 2) return x;
    if (isStored(x)) return reshaped(this, x, [...shape.slice(0, -1), -1]);
    const moves = this.dataFormat === 'channelsFirst' && x.rank > 2;
    const rest = Array.from({ length: x.rank - 2 }, (_, i) => i + 2);
    return (moves ? x.transpose([0, ...rest, 1]) : x).reshape(shape);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkBatch(this, inputShape);
    return shapeOf([sizesOf(inputShape)[0], sizeOfExample(inputShape)]);
  }
}

/** All arguments of `Reshape`, by name. */
export interface ReshapeArguments extends LayerOptions {
  /** Without the batch; one dimension may be -1. */
  readonly targetShape: Shape;
}

/** Each example in another shape of the same size; one dimension may be -1, which is found from the rest. */
export class Reshape extends Layer {
  declare static readonly fromConfig: FromConfig<Reshape>;
  /** Without the batch; one dimension may be -1. */
  declare readonly targetShape: Shape;

  /** @param targetShape without the batch: `new Reshape([7, 7, -1])`. */
  constructor(...args: [targetShape: Shape | ReshapeArguments, options?: LayerOptions]) {
    super(argumentsOf<ReshapeArguments>(Reshape, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    const shape = this.computeOutputShape(x.shape) as Shape;
    return isStored(x) ? reshaped(this, x, [x.shape[0] ?? -1, ...this.targetShape]) : x.reshape(shape);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkBatch(this, inputShape);
    const size = sizeOfExample(inputShape);
    const known = this.targetShape.reduce((n, d) => (d === -1 ? n : n * d), 1);
    const free = this.targetShape.includes(-1);
    if (size !== null && (free ? known === 0 || differs(modDims(size, known), 0) : differs(size, known))) {
      fail(
        this,
        `cannot give examples of shape ${showShape(sizesOf(inputShape).slice(1) as PartialShape)} (${size} elements) the shape ${showShape(this.targetShape)}`,
      );
    }
    const rest = size === null || !free ? null : floorDivDims(size, known);
    return shapeOf([sizesOf(inputShape)[0], ...this.targetShape.map((d) => (d === -1 ? rest : d))]);
  }
}

/** All arguments of `Permute`, by name. */
export interface PermuteArguments extends LayerOptions {
  /** For each axis of the result, which one of the example it is, counted from 1, as the batch is 0: [2, 1] swaps two. */
  readonly dims: readonly number[];
}

/** The axes of each example in another order, counted from 1: `new Permute([2, 1])` makes [batch, b, a] of [batch, a, b]. */
export class Permute extends Layer {
  declare static readonly fromConfig: FromConfig<Permute>;
  /** For each axis of the result, which one of the example it is, counted from 1, as the batch is 0: [2, 1] swaps two. */
  declare readonly dims: readonly number[];

  constructor(...args: [dims: readonly number[] | PermuteArguments, options?: LayerOptions]) {
    super(argumentsOf<PermuteArguments>(Permute, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    this.#check(x.shape);
    const perm = [0, ...this.dims];
    return isStored(x) ? (sparse.transpose(x as SparseTensor, perm) as unknown as Tensor) : x.transpose(perm);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    const sizes = sizesOf(inputShape);
    return shapeOf([0, ...this.dims].map((d) => sizes[d]));
  }
  #check(shape: PartialShape): void {
    checkRank(this, shape, this.dims.length + 1, `for the axes [batch, ${this.dims}]`);
  }
}

/** All arguments of `RepeatVector`, by name. */
export interface RepeatVectorArguments extends LayerOptions {
  /** How many times the vector is repeated. */
  readonly n: number;
}

/** Each example n times: [batch, features] becomes [batch, n, features]. */
export class RepeatVector extends Layer {
  declare static readonly fromConfig: FromConfig<RepeatVector>;
  /** How many times the vector is repeated. */
  declare readonly n: number;

  constructor(...args: [n: number | RepeatVectorArguments, options?: LayerOptions]) {
    super(argumentsOf<RepeatVectorArguments>(RepeatVector, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const x = values(this, inputs);
    checkRank(this, x.shape, 2, '[batch, features]');
    return x.expandDims(1).tile([1, this.n, 1]);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkRank(this, inputShape, 2, '[batch, features]');
    const [batch, features] = sizesOf(inputShape) as [Size, Size];
    return shapeOf([batch, this.n, features]);
  }
}

takesKinds(['sparse'], Flatten, Reshape, Permute);
ownsTemporaries(Flatten, Reshape, Permute, RepeatVector);
builtAtOnce(Reshape);
const targetShape: Option<Shape> = {
  read: (given, _, layer) => {
    const ok = Array.isArray(given) && given.every((d) => d === -1 || (Number.isSafeInteger(d) && d >= 0));
    if (!ok || given.filter((d) => d === -1).length > 1)
      fail(layer as Layer, `needs a shape of integers with -1 at most once, got ${show(given)}`);
    return [...given] as Shape;
  },
};
const order: Option<readonly number[]> = {
  read: (given, _, layer) => {
    const numbers = Array.isArray(given) && given.every((d) => typeof d === 'number');
    if (!numbers || ![...given].sort((a, b) => a - b).every((d, i) => d === i + 1))
      fail(layer as Layer, `needs the numbers 1 … n in some order, got ${show(given)}`);
    return [...given];
  },
};
takesOptions<ReshapeArguments, Reshape>(
  { positional: ['targetShape'], options: { targetShape, ...layerOptions } },
  Reshape,
);
takesOptions<PermuteArguments, Permute>(
  { positional: ['dims'], options: { dims: order, ...layerOptions } },
  Permute,
);
takesOptions<RepeatVectorArguments, RepeatVector>(
  { positional: ['n'], options: { n: integer(), ...layerOptions } },
  RepeatVector,
);
takesOptions<FlattenOptions, Flatten>(
  { positional: ['dataFormat'], required: 0, options: { dataFormat, ...layerOptions } },
  Flatten,
);
