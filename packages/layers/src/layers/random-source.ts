// Where layers that draw get their numbers: from a generator of their own when they have a seed, else from the global one.
import { constant, type DType, random, type Shape, type Tensor } from '@eagre/core';
import { type Dim, iota, logGamma, StreamGenerator, toShape } from '@eagre/core/internal';

export class RandomSource {
  readonly #generator: StreamGenerator | null;

  constructor(seed: number | null) {
    this.#generator = seed === null ? null : new StreamGenerator(seed);
  }

  /** Whether the numbers are the layer's own. */
  get isOwn(): boolean {
    return this.#generator !== null;
  }

  /** From `low` up to `high`. */
  uniform(shape: Shape, dtype: DType, low = 0, high = 1): Tensor {
    const options = { dtype, minval: low, maxval: high };
    return this.#generator === null
      ? random.uniform(shape, options)
      : this.#generator.uniform(shape, options);
  }

  normal(shape: Shape, dtype: DType, mean = 0, stddev = 1): Tensor {
    const options = { mean, stddev, dtype };
    return this.#generator === null ? random.normal(shape, options) : this.#generator.normal(shape, options);
  }

  /** From the gamma distribution of a form. */
  gamma(shape: Shape, dtype: DType, alpha: number): Tensor {
    return this.#logGamma(shape, constant(alpha, dtype)).exp();
  }

  /** From the beta distribution of two equal numbers. */
  beta(shape: Shape, dtype: DType, alpha: number | Tensor): Tensor {
    const form = typeof alpha === 'number' ? constant(alpha, dtype) : alpha;
    return this.#logGamma(shape, form).sub(this.#logGamma(shape, form)).sigmoid();
  }

  /** The integers below a size in random order, int32. */
  permutation(size: Dim): Tensor {
    const keys = this.uniform(toShape([size]), 'float64');
    return iota(size).gather(keys.argSort());
  }

  #logGamma(shape: Shape, alpha: Tensor): Tensor {
    return logGamma(shape, alpha, {
      normal: (all) => this.normal(all, alpha.dtype),
      uniform: (all) => this.uniform(all, alpha.dtype),
    });
  }
}
