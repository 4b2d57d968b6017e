import { maximum, type Tensor, type Variable } from '@eagre/core';
import { argumentsOf, flagOption, takesOptions } from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';
import { div, min, pow, sqrt, sub } from './scalars.ts';

/** Options of `Adafactor`. */
export interface AdafactorOptions extends OptimizerOptions {
  /** The averages keep `1 − stepᵇᵉᵗᵃ²ᴰᵉᶜᵃʸ` of themselves at each step; -0.8 unless given. */
  readonly beta2Decay?: number;
  /** Added to squared gradients; 1e-30 unless given. */
  readonly epsilon1?: number;
  /** Steps do not get smaller than for weights of this root mean square; 0.001 unless given. */
  readonly epsilon2?: number;
  /** The largest root mean square of a step before it is scaled; 1 unless given. */
  readonly clipThreshold?: number;
  /** Whether a fixed learning rate is at most 1 / √step; true unless given. Keras bounds others in the same way. */
  readonly relativeStep?: boolean;
}

/**
 * Adafactor: like Adam without momentum, but of the averages of squared gradients a matrix keeps only those of its rows (`r`) and
 * columns (`c`): `v = r / mean(r) ⊗ c`. Then `u = g / √v; w -= α · u / max(1, rms(u) / clipThreshold)` with
 * `α = max(epsilon2, rms(w)) · min(learningRate, 1 / √step)`. Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear
 * Memory Cost", 2018. The learning rate is 0.001 unless given.
 */
export class Adafactor extends Optimizer {
  /** The averages keep `1 − stepᵇᵉᵗᵃ²ᴰᵉᶜᵃʸ` of themselves at each step. */
  declare readonly beta2Decay: number;
  /** Added to squared gradients. */
  declare readonly epsilon1: number;
  /** Steps do not get smaller than for weights of this root mean square. */
  declare readonly epsilon2: number;
  /** The largest root mean square of a step before it is scaled. */
  declare readonly clipThreshold: number;
  /** Whether a fixed learning rate is at most 1 / √step. Keras bounds others in the same way. */
  declare readonly relativeStep: boolean;

  constructor(...args: [learningRate?: LearningRate | null | AdafactorOptions, options?: AdafactorOptions]) {
    const all = argumentsOf<AdafactorOptions>(Adafactor, new.target, args);
    super({ ...all, learningRate: all.learningRate ?? 0.001 });
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    for (const variable of variables) {
      const { shape, rank } = variable;
      // Vectors and scalars have averages of single elements only, but Keras's files hold a scalar in the place of each.
      const rows = rank >= 2 ? { shape: shape.slice(0, -1) } : UNUSED;
      const columns = rank >= 2 ? { shape: [...shape.slice(0, -2), shape.at(-1) as number] } : UNUSED;
      this.addSlot(variable, 'r', rows);
      this.addSlot(variable, 'c', columns);
      this.addVariableFromReference(variable, 'velocity');
    }
  }

  // Keras 2 has whole numbers in the place of rows and columns of vectors.
  protected override checkpointList(): null {
    return null;
  }

  override updateStep(gradient: Tensor, variable: Variable): void {
    const { keep, take, rate } = this.momentaryScalars(variable, (lr, step) => {
      const take = pow(step, this.beta2Decay);
      return { keep: sub(1, take), take, rate: min(lr, div(1, sqrt(step))) };
    });
    const move = (average: Variable, value: Tensor): void => {
      average.assign(average.mul(keep).add(value.mul(take)));
    };
    const square = gradient.square().add(this.epsilon1);
    const v = this.slot(variable, 'velocity');
    if (variable.rank >= 2) {
      const r = this.slot(variable, 'r');
      const c = this.slot(variable, 'c');
      move(r, square.mean(-1));
      move(c, square.mean(-2));
      v.assign(
        r
          .div(r.mean(-1, { keepdims: true }))
          .expandDims(-1)
          .mul(c.expandDims(-2)),
      );
    } else {
      move(v, square);
    }
    const u = gradient.div(v.sqrt());
    const size = maximum(rms(variable), this.epsilon2).mul(rate);
    variable.assignSub(u.div(maximum(rms(u).div(this.clipThreshold), 1)).mul(size));
  }
}

const UNUSED = { shape: [], dtype: 'int32' } as const;

function rms(x: Tensor | Variable): Tensor {
  return x.square().mean().sqrt();
}

takesOptions<AdafactorOptions, Adafactor>(
  optimizerSchema<AdafactorOptions, Adafactor>({
    beta2Decay: number(-0.8, 'beta_2_decay'),
    epsilon1: number(1e-30, 'epsilon_1'),
    epsilon2: number(1e-3, 'epsilon_2'),
    clipThreshold: number(1),
    relativeStep: flagOption(true),
  }),
  Adafactor,
);
