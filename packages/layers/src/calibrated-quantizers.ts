// How `model.quantize` chooses integers of few bits by what layers see: GPTQ and AWQ.
import { InvalidArgumentError, type TensorLike } from '@eagre/core';
import { argumentsOf, flagOption, type Option, takesOptions } from '@eagre/core/internal';
import type { Layer } from './layer/layer.ts';
import { show } from './layer/show.ts';
import { markOurs } from './ours.ts';
import { QuantizationConfig } from './quantizers.ts';

/** What makes numbers of text. */
export interface TokenizerLike {
  /** The numbers of one text. */
  tokenize(text: string): TensorLike;
}

/** Which layers of a model are calibrated, in order. */
export interface QuantizationLayerStructure {
  /** What the samples go through first, in order: a table of embeddings and the like. */
  readonly preBlockLayers?: readonly Layer[];
  /** Each gets what the one before it gives. */
  readonly sequentialBlocks: readonly Layer[];
}

/** What `GPTQConfig` and `AWQConfig` take. */
export interface CalibratedConfigOptions {
  /** How many samples there are; 128 unless given. */
  readonly numSamples?: number;
  /** How many numbers a sample has; 512 unless given. */
  readonly sequenceLength?: number;
  /** How many weights along the inputs have a scale and a zero point together, 128 unless given; -1 for all. */
  readonly groupSize?: number;
  /** Which layers; what `model.getQuantizationLayerStructure` says unless given. Files do not hold it. */
  readonly quantizationLayerStructure?: QuantizationLayerStructure | null;
}
/** Samples: texts, or numbers of them in any shape. Files do not hold them. */
export type CalibrationData = Iterable<string> | Iterable<TensorLike>;

/** @internal What both have. */
export abstract class CalibratedConfig extends QuantizationConfig {
  /** Samples of what the model will see: texts, or numbers of tokens. */
  declare readonly dataset: CalibrationData | null;
  /** Of texts; samples of numbers do without its help, but Keras wants one. */
  declare readonly tokenizer: TokenizerLike | ((text: string) => TensorLike) | null;
  /** How many samples there are. */
  declare readonly numSamples: number;
  /** How many numbers a sample has. */
  declare readonly sequenceLength: number;
  /** How many weights along the inputs have a scale and a zero point together; -1 for all. */
  declare readonly groupSize: number;
  /** Which layers. Files do not hold it. */
  declare readonly quantizationLayerStructure: QuantizationLayerStructure | null;
  abstract readonly weightBits: 2 | 3 | 4 | 8;

  constructor(options: object) {
    super(options);
    for (const name of ['weightQuantizer', 'activationQuantizer'])
      Object.defineProperty(this, name, { value: null, enumerable: false });
  }
  abstract override get mode(): 'gptq' | 'awq';
  /** The mode with bits and groups: `gptq/4/128`. */
  dtypePolicyString(): string {
    return `${this.mode}/${this.weightBits}/${this.groupSize}`;
  }
}

/** Options of `GPTQConfig`. */
export interface GPTQConfigOptions extends CalibratedConfigOptions {
  /** 2, 3, 4 or 8, of each weight; 4 unless given. */
  readonly weightBits?: 2 | 3 | 4 | 8;
  /** Whether each output has scales of its own; true unless given. */
  readonly perChannel?: boolean;
  /** What is added to the diagonal of the Hessian, as a part of its mean, from 0 to 1; 0.01 unless given. */
  readonly hessianDamping?: number;
  /** Whether the middle of the range is 0; false unless given. */
  readonly symmetric?: boolean;
  /** Whether weights whose inputs are large come first; false unless given. */
  readonly activationOrder?: boolean;
}
/** All arguments of `GPTQConfig`, by name. */
export interface GPTQConfigArguments extends GPTQConfigOptions {
  /** Samples of what the model will see: texts, or numbers of tokens. */
  readonly dataset: CalibrationData | null;
  /** Of texts; samples of numbers do without its help, but Keras wants one. */
  readonly tokenizer: TokenizerLike | ((text: string) => TensorLike) | null;
}

/**
 * Of `model.quantize('gptq', { config })`: integers of few bits, of which each makes up for the errors of those before it, as the products of inputs tell
 * (Frantar and others, "GPTQ", 2022).
 * @throws InvalidArgumentError for sizes and parts out of range
 */
export class GPTQConfig extends CalibratedConfig {
  /** 2, 3, 4 or 8, of each weight. */
  declare readonly weightBits: 2 | 3 | 4 | 8;
  /** Whether each output has scales of its own. */
  declare readonly perChannel: boolean;
  /** What is added to the diagonal of the Hessian, as a part of its mean, from 0 to 1. */
  declare readonly hessianDamping: number;
  /** Whether the middle of the range is 0. */
  declare readonly symmetric: boolean;
  /** Whether weights whose inputs are large come first. */
  declare readonly activationOrder: boolean;

  constructor(
    ...args: [
      dataset: CalibrationData | null | GPTQConfigArguments,
      tokenizer?: TokenizerLike | ((text: string) => TensorLike) | null,
      options?: GPTQConfigOptions,
    ]
  ) {
    super(argumentsOf<GPTQConfigArguments>(GPTQConfig, new.target, args));
  }
  override get mode(): 'gptq' {
    return 'gptq';
  }
}

/** Options of `AWQConfig`. */
export interface AWQConfigOptions extends CalibratedConfigOptions {
  /** How many bits each weight has: 4, and no other number. */
  readonly weightBits?: 4;
  /** How many powers of the inputs' magnitudes are tried beside none; 20 unless given. */
  readonly numGridPoints?: number;
}
/** All arguments of `AWQConfig`, by name. */
export interface AWQConfigArguments extends AWQConfigOptions {
  /** Samples of what the model will see: texts, or numbers of tokens. */
  readonly dataset: CalibrationData | null;
  /** Of texts; samples of numbers do without its help, but Keras wants one. */
  readonly tokenizer: TokenizerLike | ((text: string) => TensorLike) | null;
}

/**
 * Of `model.quantize('awq', { config })`: integers of 4 bits of weights that were made larger where their inputs are large (Lin and others, "AWQ", 2023).
 * @throws InvalidArgumentError for sizes out of range, and for other bits than 4
 */
export class AWQConfig extends CalibratedConfig {
  /** How many bits each weight has: 4, and no other number. */
  declare readonly weightBits: 4;
  /** How many powers of the inputs' magnitudes are tried beside none. */
  declare readonly numGridPoints: number;

  constructor(
    ...args: [
      dataset: CalibrationData | null | AWQConfigArguments,
      tokenizer?: TokenizerLike | ((text: string) => TensorLike) | null,
      options?: AWQConfigOptions,
    ]
  ) {
    super(argumentsOf<AWQConfigArguments>(AWQConfig, new.target, args));
  }
  override get mode(): 'awq' {
    return 'awq';
  }
}
markOurs(CalibratedConfig, GPTQConfig, AWQConfig);

const fail = (of: object, message: string): never => {
  throw new InvalidArgumentError(message, of.constructor.name);
};
const whole = (otherwise: number, isGroup = false): Option<number> => ({
  read: (given: unknown = otherwise, name, of) =>
    (Number.isSafeInteger(given) && (given as number) > 0) || (isGroup && given === -1)
      ? (given as number)
      : fail(of, `${name} must be a positive integer${isGroup ? ' or -1' : ''}, got ${show(given)}`),
});
const bits = <B extends number>(allowed: readonly B[]): Option<B> => ({
  read: (given: unknown = 4, name, of) =>
    allowed.includes(given as B)
      ? (given as B)
      : fail(of, `${name} must be ${allowed.join(', ')}, got ${show(given)}`),
});
/** What is needed once, and no file holds. */
const once = { write: () => null };
const dataset: Option<CalibrationData | null> = {
  read: (given: unknown, name, of) => {
    if (given === null || (typeof given === 'object' && given !== null && Symbol.iterator in given))
      return given as CalibrationData | null;
    return fail(
      of,
      `${name} must be texts or numbers that can be iterated over, such as an array or a tensor, got ${show(given)}`,
    );
  },
  ...once,
};
const tokenizer: Option<CalibratedConfig['tokenizer']> = {
  read: (given: unknown, name, of) => {
    if (given === null || typeof given === 'function') return given as never;
    const { tokenize } = (given ?? {}) as { readonly tokenize?: unknown };
    if (typeof tokenize === 'function') return given as TokenizerLike;
    return fail(of, `${name} must be a function of a text, or have a method tokenize, got ${show(given)}`);
  },
  ...once,
};
const structure: Option<QuantizationLayerStructure | null> = {
  read: (given: unknown = null, name, of) => {
    if (given === null) return null;
    const { preBlockLayers = [], sequentialBlocks } = given as QuantizationLayerStructure;
    const areLayers = (list: unknown): boolean =>
      Array.isArray(list) && list.every((l) => typeof l === 'function' && '_layer' in l);
    if (typeof given !== 'object' || !areLayers(preBlockLayers) || !areLayers(sequentialBlocks))
      fail(of, `${name} must be { preBlockLayers, sequentialBlocks } of layers, got ${show(given)}`);
    return given as QuantizationLayerStructure;
  },
  ...once,
};
const shared = {
  numSamples: whole(128),
  sequenceLength: whole(512),
  groupSize: whole(128, true),
};
takesOptions<GPTQConfigArguments, GPTQConfig>(
  {
    positional: ['dataset', 'tokenizer'],
    objects: ['dataset', 'tokenizer'],
    options: {
      dataset,
      tokenizer,
      weightBits: bits([2, 3, 4, 8]),
      ...shared,
      perChannel: flagOption(true),
      hessianDamping: {
        read: (given: unknown = 0.01, name, of) =>
          typeof given === 'number' && given >= 0 && given <= 1
            ? given
            : fail(of, `${name} must be a number from 0 to 1, got ${show(given)}`),
      },
      symmetric: flagOption(false),
      activationOrder: flagOption(false),
      quantizationLayerStructure: structure,
    },
  },
  GPTQConfig,
);
takesOptions<AWQConfigArguments, AWQConfig>(
  {
    positional: ['dataset', 'tokenizer'],
    objects: ['dataset', 'tokenizer'],
    options: {
      dataset,
      tokenizer,
      weightBits: bits([4]),
      ...shared,
      numGridPoints: whole(20),
      quantizationLayerStructure: structure,
    },
  },
  AWQConfig,
);
