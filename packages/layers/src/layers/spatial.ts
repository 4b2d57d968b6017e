// What layers of sequences, images and volumes share: where the channels are, and how many directions lie beside them.
import { type PartialShape, type Shape, type Tensor, transpose } from '@eagre/core';
import { kerasDefaults, type Option, partialShape, showShape, snakeCase } from '@eagre/core/internal';
import { Layer, type LayerOptions } from '../layer/layer.ts';
import { show } from '../layer/show.ts';
import { checkRank, fail, type Padding, type Size, shapeOf, sizesOf, windowed } from './common.ts';

/** How many directions there are: sequences have 1, images 2, volumes 3. */
export type Rank = 1 | 2 | 3;
/** One integer, also as a list. */
export type Size1D = number | readonly [steps: number];
/** One integer for both directions, or [height, width]. */
export type Size2D = number | readonly [height: number, width: number];
/** One integer for all directions, or [depth, height, width]. */
export type Size3D = number | readonly [depth: number, height: number, width: number];
/** One integer for all directions, or one for each. */
export type Sizes = number | readonly number[];
/** Whether the channels are the last axis, as images [batch, height, width, channels], or the first of each example. */
export type DataFormat = 'channelsLast' | 'channelsFirst';

export interface SpatialOptions extends LayerOptions {
  /** That of `tf.keras.config.imageDataFormat()` by default, which is `channelsLast`. */
  readonly dataFormat?: DataFormat | null;
}

export const dataFormat: Option<DataFormat> = {
  read: (given, _, layer) => {
    const value = given ?? kerasDefaults.imageDataFormat;
    if (value === 'channelsLast' || value === 'channels_last') return 'channelsLast';
    if (value === 'channelsFirst' || value === 'channels_first') return 'channelsFirst';
    return fail(layer as Layer, `needs dataFormat 'channelsLast' or 'channelsFirst', got ${show(value)}`);
  },
  write: (value) => snakeCase(value),
};

const directions = { 1: 'steps', 2: 'height, width', 3: 'depth, height, width' } as const;
const places = { 1: 'steps', 2: 'pixels', 3: 'voxels' } as const;

/** The first axis that is a direction. */
export const firstAxisOf = (format: DataFormat): number => (format === 'channelsFirst' ? 2 : 1);

/** The axes of inputs, for messages: [batch, height, width, channels]. */
export function axesText(rank: Rank, format: DataFormat): string {
  const name = rank === 1 ? 'features' : 'channels';
  const own = directions[rank];
  return format === 'channelsLast' ? `[batch, ${own}, ${name}]` : `[batch, ${name}, ${own}]`;
}

/** A layer of sequences, images or volumes. It counts sizes with the channels last, wherever they are. */
export abstract class SpatialLayer extends Layer {
  /** Where the channels are: `channelsLast` or `channelsFirst`. */
  declare readonly dataFormat: DataFormat;
  /** How many directions there are. */
  readonly rank: Rank;

  constructor(rank: Rank, options: LayerOptions) {
    super(options);
    this.rank = rank;
    const { strides, dilationRate } = this as { strides?: Shape; dilationRate?: Shape };
    if (Math.max(...(strides ?? [])) > 1 && Math.max(...(dilationRate ?? [])) > 1)
      fail(this, `cannot have strides [${strides}] and dilationRate [${dilationRate}] together`);
  }

  /** The first axis that is a direction. */
  protected get firstAxis(): number {
    return firstAxisOf(this.dataFormat);
  }
  /** The axes that are directions. */
  protected get directions(): readonly number[] {
    return Array.from({ length: this.rank }, (_, i) => this.firstAxis + i);
  }

  /** @throws InvalidArgumentError for a shape of another rank, or of other channels where they are given. */
  protected check(shape: PartialShape, channels?: number): void {
    checkRank(this, shape, this.rank + 2, axesText(this.rank, this.dataFormat));
    const got = partialShape(shape)[this.#channelAxis] ?? channels;
    if (channels !== undefined && got !== channels)
      fail(this, `was built for ${channels} channels, got ${got} (input ${showShape(shape)})`);
  }

  /** The channels, on which weights depend. @throws InvalidArgumentError while they are not known. */
  protected knownChannels(shape: PartialShape): number {
    const size = partialShape(shape)[this.#channelAxis];
    if (size === null || size === undefined)
      return fail(this, `needs to know the size of axis ${this.#channelAxis}, got input ${showShape(shape)}`);
    return size;
  }

  /** [batch, directions…, channels] of a shape. */
  protected sizes(shape: PartialShape): readonly Size[] {
    const sizes = sizesOf(shape);
    return this.firstAxis === 1 ? sizes : [sizes[0], ...sizes.slice(2), sizes[1]];
  }
  /** The shape of [batch, directions…, channels]. */
  protected ofSizes(sizes: readonly Size[]): PartialShape {
    if (this.firstAxis === 1) return shapeOf(sizes);
    return shapeOf([sizes[0], sizes.at(-1) as Size, ...sizes.slice(1, -1)]);
  }
  /** The shape where each direction has another size. */
  protected resized(shape: PartialShape, size: (n: Size, direction: number) => Size): PartialShape {
    return shapeOf(
      sizesOf(shape).map((n, axis) => (this.directions.includes(axis) ? size(n, axis - this.firstAxis) : n)),
    );
  }
  /** The size of what a window makes of a direction. */
  protected windowed(size: Size, window: number, stride: number, padding: Padding, dilation = 1): Size {
    return windowed(this, size, { window, stride, padding, dilation, unit: places[this.rank] });
  }

  protected channelsLast(x: Tensor): Tensor {
    if (this.firstAxis === 1) return x;
    return transpose(x, [0, ...this.directions, 1]);
  }
  /** A tensor whose channels are last, as the layer's format says. */
  protected inFormat(x: Tensor): Tensor {
    if (this.firstAxis === 1) return x;
    return transpose(x, [0, this.rank + 1, ...this.directions.map((axis) => axis - 1)]);
  }

  get #channelAxis(): number {
    return this.firstAxis === 1 ? this.rank + 1 : 1;
  }
}
