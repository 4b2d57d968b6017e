// Pooling to a given size: windows are as large as that needs.
import type { PartialShape, Tensor } from '@eagre/core';
import { argumentsOf, takesOptions } from '@eagre/core/internal';
import { type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import { adaptivelyPooled } from '../../ops/nn/windows.ts';
import { floats, values } from '../common.ts';
import { sizes } from '../options.ts';
import {
  type DataFormat,
  dataFormat,
  type Rank,
  type Size1D,
  type Size2D,
  type Size3D,
  type Sizes,
  SpatialLayer,
  type SpatialOptions,
} from '../spatial.ts';
import { layerOptions } from '../weights.ts';

type AdaptiveArguments<S extends Sizes> = SpatialOptions & {
  /** The size of the result, in all directions or in each. */
  readonly outputSize: S;
};
/** All arguments of `AdaptiveAveragePooling1D` and `AdaptiveMaxPooling1D`, by name. */
export type AdaptivePooling1DArguments = AdaptiveArguments<Size1D>;
/** All arguments of `AdaptiveAveragePooling2D` and `AdaptiveMaxPooling2D`, by name. */
export type AdaptivePooling2DArguments = AdaptiveArguments<Size2D>;
/** All arguments of `AdaptiveAveragePooling3D` and `AdaptiveMaxPooling3D`, by name. */
export type AdaptivePooling3DArguments = AdaptiveArguments<Size3D>;

abstract class AdaptivePooling extends SpatialLayer {
  /** The size of the result, in all directions or in each. */
  declare readonly outputSize: readonly number[];
  readonly #reduction: 'mean' | 'max';

  constructor(rank: Rank, reduction: 'mean' | 'max', options: SpatialOptions) {
    super(rank, options);
    this.#reduction = reduction;
  }

  override call(inputs: Tensor): Tensor {
    let y = this.#reduction === 'max' ? values(this, inputs) : floats(this, inputs);
    this.check(y.shape);
    // A window of several directions is one of each.
    this.directions.forEach((axis, i) => {
      y = adaptivelyPooled(y, axis, this.outputSize[i], this.#reduction);
    });
    return y;
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.check(inputShape);
    return this.resized(inputShape, (_, i) => this.outputSize[i]);
  }
}

/** The mean of each of as many windows as asked for, of sequences: [batch, steps, features] becomes [batch, outputSize, features]. */
export class AdaptiveAveragePooling1D extends AdaptivePooling {
  declare static readonly fromConfig: FromConfig<AdaptiveAveragePooling1D>;
  constructor(
    ...args: [
      outputSize: Size1D | AdaptivePooling1DArguments,
      dataFormat?: DataFormat | null | SpatialOptions,
      options?: SpatialOptions,
    ]
  ) {
    super(1, 'mean', argumentsOf<AdaptivePooling1DArguments>(AdaptiveAveragePooling1D, new.target, args));
  }
}

/** The mean of each of as many windows as asked for, of images: [batch, h, w, c] becomes [batch, …outputSize, c]. */
export class AdaptiveAveragePooling2D extends AdaptivePooling {
  declare static readonly fromConfig: FromConfig<AdaptiveAveragePooling2D>;
  constructor(
    ...args: [
      outputSize: Size2D | AdaptivePooling2DArguments,
      dataFormat?: DataFormat | null | SpatialOptions,
      options?: SpatialOptions,
    ]
  ) {
    super(2, 'mean', argumentsOf<AdaptivePooling2DArguments>(AdaptiveAveragePooling2D, new.target, args));
  }
}

/** The mean of each of as many windows as asked for, of volumes: [batch, d, h, w, c] becomes [batch, …outputSize, c]. */
export class AdaptiveAveragePooling3D extends AdaptivePooling {
  declare static readonly fromConfig: FromConfig<AdaptiveAveragePooling3D>;
  constructor(
    ...args: [
      outputSize: Size3D | AdaptivePooling3DArguments,
      dataFormat?: DataFormat | null | SpatialOptions,
      options?: SpatialOptions,
    ]
  ) {
    super(3, 'mean', argumentsOf<AdaptivePooling3DArguments>(AdaptiveAveragePooling3D, new.target, args));
  }
}

/** The largest value of each of as many windows as asked for, of sequences: [batch, steps, features] becomes [batch, outputSize, features]. */
export class AdaptiveMaxPooling1D extends AdaptivePooling {
  declare static readonly fromConfig: FromConfig<AdaptiveMaxPooling1D>;
  constructor(
    ...args: [
      outputSize: Size1D | AdaptivePooling1DArguments,
      dataFormat?: DataFormat | null | SpatialOptions,
      options?: SpatialOptions,
    ]
  ) {
    super(1, 'max', argumentsOf<AdaptivePooling1DArguments>(AdaptiveMaxPooling1D, new.target, args));
  }
}

/** The largest value of each of as many windows as asked for, of images: [batch, h, w, c] becomes [batch, …outputSize, c]. */
export class AdaptiveMaxPooling2D extends AdaptivePooling {
  declare static readonly fromConfig: FromConfig<AdaptiveMaxPooling2D>;
  constructor(
    ...args: [
      outputSize: Size2D | AdaptivePooling2DArguments,
      dataFormat?: DataFormat | null | SpatialOptions,
      options?: SpatialOptions,
    ]
  ) {
    super(2, 'max', argumentsOf<AdaptivePooling2DArguments>(AdaptiveMaxPooling2D, new.target, args));
  }
}

/** The largest value of each of as many windows as asked for, of volumes: [batch, d, h, w, c] becomes [batch, …outputSize, c]. */
export class AdaptiveMaxPooling3D extends AdaptivePooling {
  declare static readonly fromConfig: FromConfig<AdaptiveMaxPooling3D>;
  constructor(
    ...args: [
      outputSize: Size3D | AdaptivePooling3DArguments,
      dataFormat?: DataFormat | null | SpatialOptions,
      options?: SpatialOptions,
    ]
  ) {
    super(3, 'max', argumentsOf<AdaptivePooling3DArguments>(AdaptiveMaxPooling3D, new.target, args));
  }
}
ownsTemporaries(AdaptivePooling);

const schema = (rank: Rank) =>
  ({
    positional: ['outputSize', 'dataFormat'],
    required: 1,
    options: { outputSize: sizes(rank), dataFormat, ...layerOptions },
  }) as const;
takesOptions<AdaptivePooling1DArguments, AdaptivePooling>(
  schema(1),
  AdaptiveAveragePooling1D,
  AdaptiveMaxPooling1D,
);
takesOptions<AdaptivePooling2DArguments, AdaptivePooling>(
  schema(2),
  AdaptiveAveragePooling2D,
  AdaptiveMaxPooling2D,
);
takesOptions<AdaptivePooling3DArguments, AdaptivePooling>(
  schema(3),
  AdaptiveAveragePooling3D,
  AdaptiveMaxPooling3D,
);
