import { InvalidArgumentError, matmul, type Tensor, type Variable } from '@eagre/core';
import {
  argumentsOf,
  flagOption,
  integerOption,
  type Option,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { Optimizer } from './optimizer.ts';
import { number, type OptimizerOptions, optimizerSchema } from './options.ts';
import type { LearningRate } from './rate.ts';
import { div, mul, pow, sqrt, sub } from './scalars.ts';

/** Options of `Muon`. */
export interface MuonOptions extends OptimizerOptions {
  /** Of Adam's step: how much of the gradients' average stays at each step; 0.9 unless given. */
  readonly adamBeta1?: number;
  /** Of Adam's step: how much of the squared gradients' average stays at each step; 0.999 unless given. */
  readonly adamBeta2?: number;
  /** The weight decay of the variables that Adam's step changes; 0.004 unless given. */
  readonly adamWeightDecay?: number | null;
  /** Of Adam's step: added to the root; 1e-7 unless given. */
  readonly epsilon?: number;
  /** Regular expressions: variables in whose names one of them matches get Adam's step. */
  readonly excludeLayers?: readonly string[] | null;
  /** Whether variables with "embedding" in their names get Adam's step; true unless given. */
  readonly excludeEmbeddings?: boolean;
  /** Coefficients of the iteration's polynomial `a·x + b·x³ + c·x⁵`; 3.4445, -4.775 and 2.0315 unless given. */
  readonly muonA?: number;
  /** The coefficient of x³; see `muonA`. */
  readonly muonB?: number;
  /** The coefficient of x⁵; see `muonA`. */
  readonly muonC?: number;
  /** The learning rate of Adam's step divided by the other one; 1 unless given. */
  readonly adamLrRatio?: number;
  /** How much of the sum of gradients stays at each step; 0.95 unless given. */
  readonly momentum?: number;
  /** How many times the polynomial is applied; 5 unless given. */
  readonly nsSteps?: number;
  /** Nesterov's momentum; true unless given. */
  readonly nesterov?: boolean;
  /** The root mean square of a step in units of the learning rate; null: steps are not scaled. 0.2 unless given, as for Adam. */
  readonly rmsRate?: number | null;
}

/**
 * Muon: a matrix of weights moves along the matrix with orthonormal rows or columns that is nearest to its momentum, found by Newton and
 * Schulz's iteration. `m = momentum · m + g; w -= learningRate · rmsRate · √max(rows, columns) · orthonormal(momentum · m + g)`. All other
 * variables, embeddings, and those of `excludeLayers`, where the last layer should be, get Adam's step. Jordan et al., "Muon: An optimizer
 * for hidden layers in neural networks", 2024; the scale is from Liu et al., "Muon is Scalable for LLM Training", 2025. The learning rate is
 * 0.001 unless given, the weight decay 0.004.
 */
export class Muon extends Optimizer {
  /** Of Adam's step: how much of the gradients' average stays at each step. */
  declare readonly adamBeta1: number;
  /** Of Adam's step: how much of the squared gradients' average stays at each step. */
  declare readonly adamBeta2: number;
  /** The weight decay of the variables that Adam's step changes. */
  declare readonly adamWeightDecay: number | null;
  /** Of Adam's step: added to the root. */
  declare readonly epsilon: number;
  /** Regular expressions: variables in whose names one of them matches get Adam's step. */
  declare readonly excludeLayers: readonly string[];
  /** Whether variables with "embedding" in their names get Adam's step. */
  declare readonly excludeEmbeddings: boolean;
  /** The coefficient of x in the polynomial `a·x + b·x³ + c·x⁵` of the iteration. */
  declare readonly muonA: number;
  /** The coefficient of x³; see `muonA`. */
  declare readonly muonB: number;
  /** The coefficient of x⁵; see `muonA`. */
  declare readonly muonC: number;
  /** The learning rate of Adam's step divided by the other one. */
  declare readonly adamLrRatio: number;
  /** How much of the sum of gradients stays at each step. */
  declare readonly momentum: number;
  /** How many times the polynomial is applied. */
  declare readonly nsSteps: number;
  /** Whether the gradient counts as if the momentum had been followed already (Nesterov). */
  declare readonly nesterov: boolean;
  /** The root mean square of a step in units of the learning rate; null: steps are not scaled. */
  declare readonly rmsRate: number | null;

  constructor(...args: [learningRate?: LearningRate | null | MuonOptions, options?: MuonOptions]) {
    const all = argumentsOf<MuonOptions>(Muon, new.target, args);
    super({ weightDecay: 0.004, ...all, learningRate: all.learningRate ?? 0.001 });
  }

  #isForAdam({ rank, path }: Variable): boolean {
    if (rank !== 2) return true;
    if (this.excludeEmbeddings && path.toLowerCase().includes('embedding')) return true;
    return this.excludeLayers.some((expression) => new RegExp(expression).test(path));
  }

  protected override addAllSlots(variables: readonly Variable[]): void {
    for (const variable of variables) {
      this.addSlots([variable], 'momentum');
      if (this.#isForAdam(variable)) this.addSlots([variable], 'velocity');
    }
  }

  protected override checkpointList(name: string): string | null {
    return { momentum: 'momentums', velocity: 'adam_velocities' }[name] ?? super.checkpointList(name);
  }

  protected override fullDecayOf(variable: Variable): number | null {
    return this.#isForAdam(variable) ? this.adamWeightDecay : this.weightDecay;
  }

  override updateStep(gradient: Tensor, variable: Variable, learningRate: number | Tensor): void {
    if (this.#isForAdam(variable)) this.#adamStep(gradient, variable);
    else this.#muonStep(gradient, variable, learningRate);
  }

  #adamStep(gradient: Tensor, variable: Variable): void {
    const { adamBeta1: beta1, adamBeta2: beta2 } = this;
    const { alpha } = this.momentaryScalars(variable, (lr, step) => ({
      alpha: div(mul(mul(lr, this.adamLrRatio), sqrt(sub(1, pow(beta2, step)))), sub(1, pow(beta1, step))),
    }));
    const m = this.slot(variable, 'momentum');
    const v = this.slot(variable, 'velocity');
    m.assignAdd(gradient.sub(m).mul(1 - beta1));
    v.assignAdd(
      gradient
        .square()
        .sub(v)
        .mul(1 - beta2),
    );
    variable.assignSub(m.mul(alpha).div(v.sqrt().add(this.epsilon)));
  }

  #muonStep(gradient: Tensor, variable: Variable, learningRate: number | Tensor): void {
    const { momentum, rmsRate } = this;
    const m = this.slot(variable, 'momentum');
    m.assign(m.mul(momentum).add(gradient));
    const direction = this.#orthonormal(this.nesterov ? m.mul(momentum).add(gradient) : m.read());
    const [rows, columns] = variable.shape;
    const scale = rmsRate === null ? 1 : rmsRate * Math.sqrt(Math.max(rows, columns));
    variable.assignSub(direction.mul(scale).mul(learningRate));
  }

  #orthonormal(of: Tensor): Tensor {
    const { muonA: a, muonB: b, muonC: c } = this;
    const [rows, columns] = of.shape;
    let x = rows > columns ? of.transpose() : of;
    // The norm bounds the singular values: they have to be at most 1.
    x = x.div(x.square().sum().sqrt().add(1e-7));
    for (let i = 0; i < this.nsSteps; i++) {
      const square = matmul(x, x, { transposeB: true });
      const polynomial = square.mul(b).add(matmul(square, square).mul(c));
      x = x.mul(a).add(matmul(polynomial, x));
    }
    return rows > columns ? x.transpose() : x;
  }
}

/** A number that null turns off, and that has a default. */
function nullOr({ read }: Option<number>): Option<number | null> {
  return { read: (given, name, of) => (given === null ? null : read(given, name, of)) };
}
const expressions: Option<readonly string[]> = {
  read: (given, name, of) => {
    const list = given ?? [];
    const fail = (): never => {
      throw new InvalidArgumentError(
        `${name} must be a list of regular expressions as text, got ${shown(given)}`,
        (of as Optimizer).name,
      );
    };
    if (!Array.isArray(list) || !list.every((expression) => typeof expression === 'string')) return fail();
    try {
      for (const expression of list) new RegExp(expression);
    } catch {
      return fail();
    }
    return list;
  },
};

takesOptions<MuonOptions, Muon>(
  optimizerSchema<MuonOptions, Muon>({
    adamBeta1: number(0.9, 'adam_beta_1'),
    adamBeta2: number(0.999, 'adam_beta_2'),
    adamWeightDecay: nullOr(number(0.004)),
    epsilon: number(1e-7),
    excludeLayers: expressions,
    excludeEmbeddings: flagOption(true),
    muonA: number(3.4445),
    muonB: number(-4.775),
    muonC: number(2.0315),
    adamLrRatio: number(1),
    momentum: number(0.95),
    nsSteps: integerOption(5, 0),
    nesterov: flagOption(true),
    rmsRate: nullOr(number(0.2)),
  }),
  Muon,
);
