import { nn, type PartialShape, type Tensor, Variable, where } from '@eagre/core';
import { alikeInReplicas, argumentsOf, takesOptions, withoutTapes } from '@eagre/core/internal';
import { TruncatedNormal } from '../../initializers/initializers.ts';
import {
  type CallOptions,
  type FromConfig,
  type Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import type { NamedWeight } from '../../layer/layer-types.ts';
import { fail, floats } from '../common.ts';
import { Wrapper, type WrapperArguments, wrapperOptions } from '../core/wrapper.ts';
import { integer } from '../options.ts';

/** Options of `SpectralNormalization`. */
export interface SpectralNormalizationOptions extends LayerOptions {
  /** Steps of the power iteration in each call; 1 by default. */
  readonly powerIterations?: number;
}
/** All arguments of `SpectralNormalization`, by name. */
export type SpectralNormalizationArguments = SpectralNormalizationOptions & WrapperArguments;

/**
 * Divides the kernel of a layer by its largest singular value at each call in training, which keeps the layer from stretching what it gets;
 * the value is found by power iteration (Miyato, Kataoka, Koyama and Yoshida, 2018).
 */
export class SpectralNormalization extends Wrapper {
  declare static readonly fromConfig: FromConfig<SpectralNormalization>;
  /** Steps of the power iteration in each call. */
  declare readonly powerIterations: number;
  /** [1, outputs]: an estimate of the singular vector. */
  vectorU!: Variable;

  constructor(
    ...args: [layer: Layer | SpectralNormalizationArguments, options?: SpectralNormalizationOptions]
  ) {
    super(argumentsOf<SpectralNormalizationArguments>(SpectralNormalization, new.target, args));
  }

  override build(inputShape: PartialShape | readonly PartialShape[]): void {
    super.build(inputShape);
    const n = this.#kernel.shape.at(-1) as number;
    this.vectorU = this.addWeight({
      name: 'vector_u',
      shape: [1, n],
      initializer: new TruncatedNormal({ stddev: 0.02 }),
      trainable: false,
    });
  }

  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = floats(this, inputs);
    if (training === true) withoutTapes(() => this.#normalize());
    return this.layer.invoke(x, { training: training ?? false });
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return this.layer.computeOutputShape(inputShape);
  }

  #normalize(): void {
    const kernel = this.#kernel;
    const matrix = kernel.reshape([-1, kernel.shape.at(-1) as number]);
    let u = this.vectorU.read();
    let v = u;
    for (let i = 0; i < this.powerIterations; i++) {
      v = nn.l2Normalize(u.matmul(matrix, { transposeB: true }));
      u = nn.l2Normalize(v.matmul(matrix));
    }
    const largest = v.matmul(matrix).matmul(u, { transposeB: true }).reshape([]);
    // A kernel of zeros has nothing to divide by.
    const none = kernel.equal(0).all();
    const normalized = where(none, kernel.read(), kernel.div(largest));
    const nextU = where(none, this.vectorU.read(), u);
    alikeInReplicas(() => {
      this.vectorU.assign(nextU);
      kernel.assign(normalized);
    });
  }

  /** @internal In Keras the kernel is an attribute of the wrapper too. */
  override get fileVariables(): Variable[] {
    return this.built ? [this.#kernel, ...super.fileVariables] : super.fileVariables;
  }

  /** @internal The kernel comes first, then the estimate, then what else the layer has. */
  override arranged(all: NamedWeight[]): NamedWeight[] {
    const first = this.built ? this.#kernel : undefined;
    return [
      ...all.filter(({ variable }) => variable === first),
      ...all.filter(({ variable }) => variable !== first),
    ];
  }

  get #kernel(): Variable {
    const { kernel, embeddings } = this.layer as Layer & { kernel?: unknown; embeddings?: unknown };
    const found = kernel ?? embeddings;
    if (!(found instanceof Variable))
      fail(this, `needs a layer with a kernel or embeddings, got ${this.layer.constructor.name}`);
    return found;
  }
}
ownsTemporaries(SpectralNormalization);
takesOptions<SpectralNormalizationArguments, SpectralNormalization>(
  { positional: ['layer'], options: { ...wrapperOptions, powerIterations: integer(1) } },
  SpectralNormalization,
);
