// How configurations say how a layer quantizes.
import { InvalidArgumentError } from '@eagre/core';
import { isPlain, type Option, optionsFrom } from '@eagre/core/internal';
import { AWQConfig, GPTQConfig } from '../calibrated-quantizers.ts';
import { show } from '../layer/show.ts';
import {
  Float8QuantizationConfig,
  Int4QuantizationConfig,
  Int8QuantizationConfig,
  QuantizationConfig,
} from '../quantizers.ts';

/** A `QuantizationConfig`, or what a file holds of it; null unless given. */
export const serializedConfig: Option<QuantizationConfig | null> = {
  read: (given, name, of) => {
    if (given === undefined || given === null) return null;
    if (given instanceof QuantizationConfig) return given;
    const { class_name: className, config } = given as {
      readonly class_name?: unknown;
      readonly config?: unknown;
    };
    if (isPlain(given) && className === 'Int8QuantizationConfig' && isPlain(config))
      return new Int8QuantizationConfig(optionsFrom(config as never, Int8QuantizationConfig));
    if (isPlain(given) && className === 'Int4QuantizationConfig' && isPlain(config)) {
      // Before there were groups, files did not say that there are none.
      const options = optionsFrom(config as never, Int4QuantizationConfig);
      return new Int4QuantizationConfig({ ...options, blockSize: (options['blockSize'] ?? null) as null });
    }
    if (isPlain(given) && className === 'Float8QuantizationConfig') return new Float8QuantizationConfig();
    if (isPlain(given) && className === 'GPTQConfig' && isPlain(config))
      return new GPTQConfig(optionsFrom(config as never, GPTQConfig) as never);
    if (isPlain(given) && className === 'AWQConfig' && isPlain(config))
      return new AWQConfig(optionsFrom(config as never, AWQConfig) as never);
    throw new InvalidArgumentError(
      `${name} must be a QuantizationConfig of a mode, got ${show(given)}`,
      of.constructor.name,
    );
  },
  write: (value) => (value === null ? null : value.toJSON()),
};
