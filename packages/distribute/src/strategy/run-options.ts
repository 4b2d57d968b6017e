import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { argumentsOf, shown, takesArguments } from '@eagre/core/internal';

/** Options of `RunOptions`. */
export interface RunArguments {
  /** Whether the sizes of batches may differ between calls; true by default. TensorFlow's TPUs alone need to know, so false is refused. */
  readonly experimentalEnableDynamicBatchSize?: boolean;
  /** For TPUs; false by default, and true is refused. */
  readonly experimentalBucketizingDynamicShape?: boolean;
  /** For XLA on TPUs; null by default, and anything else is refused. */
  readonly experimentalXlaOptions?: null;
}

/** How `strategy.run` calls its function. What TensorFlow has here is for TPUs, so there is nothing to choose. */
export class RunOptions {
  /** Whether the sizes of batches may differ between calls. TensorFlow's TPUs alone need to know, so false is refused. */
  readonly experimentalEnableDynamicBatchSize: boolean;
  /** For TPUs. */
  readonly experimentalBucketizingDynamicShape: boolean;
  /** For XLA on TPUs. */
  readonly experimentalXlaOptions: null;

  /** @throws UnimplementedError for other values than the defaults, which only TPUs know */
  constructor(...args: [options?: RunArguments | null]) {
    const op = 'RunOptions';
    const given = argumentsOf<RunArguments>(RunOptions, new.target, args);
    const defaults = {
      experimentalEnableDynamicBatchSize: true,
      experimentalBucketizingDynamicShape: false,
      experimentalXlaOptions: null,
    } as const;
    for (const [name, value] of Object.entries(defaults)) {
      const own = given[name as keyof RunArguments] ?? value;
      if (value !== null && typeof own !== 'boolean')
        throw new InvalidArgumentError(`${name} must be true or false, got ${shown(own)}`, op);
      if (own !== value)
        throw new UnimplementedError(`${name} can only be ${String(value)}: other values are for TPUs`, op);
    }
    this.experimentalEnableDynamicBatchSize = true;
    this.experimentalBucketizingDynamicShape = false;
    this.experimentalXlaOptions = null;
  }
}
takesArguments<RunArguments>(
  {
    names: {
      experimentalEnableDynamicBatchSize: true,
      experimentalBucketizingDynamicShape: true,
      experimentalXlaOptions: true,
    },
  },
  RunOptions,
);
