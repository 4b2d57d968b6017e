/** `tf.keras.samplers`: how the next token is chosen, as in KerasHub. */
import { InvalidArgumentError, type Tensor, topK, zerosLike } from '@eagre/core';
import {
  argumentsOf,
  defineFunction,
  kind,
  type NamedFunction,
  type Option,
  orNull,
  setOptions,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { RandomSource } from '../layers/random-source.ts';

/** What all samplers take. */
export interface SamplerOptions {
  /** Divides the logits: below 1 likely tokens become likelier, above 1 less so. 1 by default. */
  readonly temperature?: number;
}
/** Options of `RandomSampler`. */
export interface RandomSamplerOptions extends SamplerOptions {
  /** The sampler then draws numbers of its own; the global seed decides by default. */
  readonly seed?: number | null;
}
/** Options of `TopKSampler`. */
export interface TopKSamplerOptions extends RandomSamplerOptions {
  /** How many tokens, the likeliest, can be drawn; 5 by default. */
  readonly k?: number;
}
/** Options of `TopPSampler`. */
export interface TopPSamplerOptions extends RandomSamplerOptions {
  /** As many of the likeliest tokens can be drawn as have this probability together; 0.1 by default. */
  readonly p?: number;
  /** At most so many, which takes less time than to sort all; all by default. */
  readonly k?: number | null;
}

/**
 * Chooses tokens by their probabilities. To make your own, extend it and write `getNextToken`; it runs in a traced function.
 */
export abstract class Sampler {
  /** Divides the logits: below 1 likely tokens become likelier, above 1 less so. */
  declare readonly temperature: number;

  constructor(options?: SamplerOptions) {
    setOptions(this, options ?? {});
  }

  /** Of logits [batch, vocabulary], float32. */
  computeProbabilities(logits: Tensor): Tensor {
    return logits.cast('float32').div(this.temperature).softmax();
  }

  /** One token for each row of probabilities [batch, vocabulary], int32 [batch]. */
  abstract getNextToken(probabilities: Tensor): Tensor;
}

/** The likeliest token. */
export class GreedySampler extends Sampler {
  constructor(...args: [options?: SamplerOptions]) {
    super(argumentsOf<SamplerOptions>(GreedySampler, new.target, args));
  }
  override getNextToken(probabilities: Tensor): Tensor {
    return probabilities.argMax(-1).cast('int32');
  }
}

/** Tokens that are drawn. */
abstract class Drawn extends Sampler {
  /** The sampler then draws numbers of its own. */
  declare readonly seed: number | null;
  readonly #source: RandomSource;

  constructor(options: RandomSamplerOptions) {
    super(options);
    this.#source = new RandomSource(this.seed);
  }

  /** A place for each row of probabilities, which need not add up to 1, int32 [batch]. */
  protected draw(probabilities: Tensor): Tensor {
    // The largest of logarithms + Gumbel noise is distributed as the probabilities say; what has none stays at -∞.
    const noise = this.#source.uniform(probabilities.shape, 'float32').log().neg().log().neg();
    return probabilities.log().add(noise).argMax(-1).cast('int32');
  }
}

/** Any token, as likely as the model says. */
export class RandomSampler extends Drawn {
  constructor(...args: [options?: RandomSamplerOptions]) {
    super(argumentsOf<RandomSamplerOptions>(RandomSampler, new.target, args));
  }
  override getNextToken(probabilities: Tensor): Tensor {
    return this.draw(probabilities);
  }
}

/** One of the `k` likeliest tokens (Fan et al., 2018). */
export class TopKSampler extends Drawn {
  /** At most so many, which takes less time than to sort all. */
  declare readonly k: number;

  constructor(
    ...args: [k?: number, options?: Omit<TopKSamplerOptions, 'k'>] | [options: TopKSamplerOptions]
  ) {
    super(argumentsOf<TopKSamplerOptions>(TopKSampler, new.target, args));
  }
  override getNextToken(probabilities: Tensor): Tensor {
    const { values, indices } = likeliest(probabilities, this.k);
    return chosen(indices, this.draw(values));
  }
}

/** One of the likeliest tokens that have the probability `p` together (Holtzman et al., 2019). */
export class TopPSampler extends Drawn {
  /** As many of the likeliest tokens can be drawn as have this probability together. */
  declare readonly p: number;
  /** At most so many, which takes less time than to sort all. */
  declare readonly k: number | null;

  constructor(
    ...args: [p?: number, options?: Omit<TopPSamplerOptions, 'p'>] | [options: TopPSamplerOptions]
  ) {
    super(argumentsOf<TopPSamplerOptions>(TopPSampler, new.target, args));
  }
  override getNextToken(probabilities: Tensor): Tensor {
    const { values, indices } = likeliest(probabilities, this.k ?? Number.POSITIVE_INFINITY);
    // What those before it have together: the token that reaches p is still among them.
    const before = values.cumsum(-1).sub(values);
    const kept = before.lessEqual(this.p).where(values, zerosLike(values));
    return chosen(indices, this.draw(kept));
  }
}

function likeliest(probabilities: Tensor, most: number): { values: Tensor; indices: Tensor } {
  const vocabulary = probabilities.shape.at(-1) as number;
  return topK(probabilities, { k: Math.min(most, vocabulary) });
}

/** The item of each row [batch, k] at a place [batch]. */
function chosen(tokens: Tensor, places: Tensor): Tensor {
  return tokens.gather(places.expandDims(-1), { axis: 1, batchDims: 1 }).squeeze([1]).cast('int32');
}

const CLASSES = {
  greedy: GreedySampler,
  random: RandomSampler,
  topK: TopKSampler,
  topP: TopPSampler,
} as const;

/** A sampler, or the name of one with its default options. */
export type SamplerLike = Sampler | 'greedy' | 'random' | 'topK' | 'topP' | 'top_k' | 'top_p';

/** The sampler of a name: 'greedy', 'random', 'topK' or 'topP'; a sampler itself. */
export const get: NamedFunction<[identifier: SamplerLike], ['identifier'], unknown, Sampler> = defineFunction(
  'keras.samplers.get',
  { identifier: kind.asIs },
  {},
  (identifier: SamplerLike) => {
    if (identifier instanceof Sampler) return identifier;
    const name = String(identifier).replace(/_([kp])$/, (_, letter: string) => letter.toUpperCase());
    if (Object.hasOwn(CLASSES, name)) return new CLASSES[name as keyof typeof CLASSES]();
    throw new InvalidArgumentError(
      `expected a sampler or one of ${Object.keys(CLASSES).join(', ')}, got ${shown(identifier)}`,
      'keras.samplers.get',
    );
  },
);

const refuse = (message: string): never => {
  throw new InvalidArgumentError(message, 'keras.samplers');
};
const temperature: Option<number> = {
  read: (given, name) => {
    const value = given ?? 1;
    return typeof value === 'number' && value > 0 && Number.isFinite(value)
      ? value
      : refuse(`${name} must be a number above 0, got ${shown(given)}`);
  },
};
const count = (otherwise: number): Option<number> => ({
  read: (given, name) => {
    const value = given ?? otherwise;
    return Number.isSafeInteger(value) && (value as number) > 0
      ? (value as number)
      : refuse(`${name} must be an integer of at least 1, got ${shown(given)}`);
  },
});
const probability: Option<number> = {
  read: (given, name) => {
    const value = given ?? 0.1;
    return typeof value === 'number' && value > 0 && value <= 1
      ? value
      : refuse(`${name} must be above 0 and at most 1, got ${shown(given)}`);
  },
};
const seed: Option<number | null> = {
  read: (given, name) =>
    given === undefined || given === null || Number.isSafeInteger(given)
      ? ((given ?? null) as number | null)
      : refuse(`${name} must be an integer, got ${shown(given)}`),
};
takesOptions<SamplerOptions, Sampler>({ options: { temperature } }, Sampler, GreedySampler);
takesOptions<RandomSamplerOptions, RandomSampler>({ options: { temperature, seed } }, RandomSampler);
takesOptions<TopKSamplerOptions, TopKSampler>(
  { positional: ['k'], required: 0, options: { k: count(5), temperature, seed } },
  TopKSampler,
);
takesOptions<TopPSamplerOptions, TopPSampler>(
  { positional: ['p'], required: 0, options: { p: probability, k: orNull(count(1)), temperature, seed } },
  TopPSampler,
);
