import * as tf from 'eagre';

export interface KfacOptions {
  readonly learningRate: number;
  /** Tikhonov damping λ, of which each factor gets its part. */
  readonly damping: number;
  readonly momentum?: number;
  /** How much of the old factors stays at each step. */
  readonly decay?: number;
  /** The most that a step may change what the model predicts, by the quadratic model of the KL divergence. */
  readonly normConstraint?: number;
  /** Steps between two factorisations. */
  readonly inverseEvery?: number;
}

/** What one pass over a batch tells of a layer s = [a 1] · [W; b]. */
export interface LayerPass {
  /** Inputs, [batch, in]. */
  readonly a: tf.Tensor;
  /** Of each example the gradient with respect to s, for targets that are drawn from the model, [batch, out]. */
  readonly g: tf.Tensor;
  /** Of the loss itself, with respect to kernel and bias. */
  readonly gradients: readonly [kernel: tf.Tensor, bias: tf.Tensor];
}

interface Factors {
  /** E[a aᵀ], one more than there are inputs, for the bias. */
  readonly inputs: tf.Variable;
  /** E[g gᵀ] */
  readonly outputs: tf.Variable;
  readonly velocity: tf.Variable;
  cholesky: readonly [inputs: tf.Tensor, outputs: tf.Tensor] | null;
}

/**
 * K-FAC (Martens and Grosse, Optimizing Neural Networks with Kronecker-factored Approximate Curvature, 2015): the Fisher matrix of each dense
 * layer is taken for the Kronecker product of two small matrices, whose inverses turn the gradient into a natural one. Each factor gets
 * its part of the damping by their average eigenvalues, and is inverted by its Cholesky factor.
 */
export class Kfac {
  readonly layers: readonly tf.layers.Dense[];
  readonly #factors: readonly Factors[];
  readonly #options: Required<KfacOptions>;
  #steps = 0;

  constructor(layers: readonly tf.layers.Dense[], options: KfacOptions) {
    this.layers = layers;
    this.#options = { momentum: 0.9, decay: 0.95, normConstraint: 1e-2, inverseEvery: 5, ...options };
    const zeros = (n: number, m: number): tf.Variable =>
      new tf.Variable(tf.zeros([n, m]), { trainable: false });
    this.#factors = layers.map(({ kernel }) => {
      const [n, m] = kernel.shape as [number, number];
      return { inputs: zeros(n + 1, n + 1), outputs: zeros(m, m), velocity: zeros(n + 1, m), cholesky: null };
    });
  }

  step(passes: readonly LayerPass[]): void {
    const { decay, inverseEvery, learningRate, momentum, normConstraint } = this.#options;
    const factorise = this.#steps++ % inverseEvery === 0;
    // As for Adam's means: the first factors are those of the first batch.
    const old = Math.min(1 - 1 / this.#steps, decay);
    const steps = passes.map(({ a, g, gradients: [kernel, bias] }, i) => {
      const factors = this.#factors[i] as Factors;
      const extended = tf.concat([a, tf.ones([a.shape[0] as number, 1])], 1);
      average(factors.inputs, extended, old);
      average(factors.outputs, g, old);
      if (factorise) factors.cholesky = this.#factorise(factors);
      const gradient = tf.concat([kernel, bias.expandDims(0)], 0);
      return { gradient, natural: precondition(factors, gradient), factors };
    });
    const change = steps.reduce((sum, { gradient, natural }) => sum + gradient.mul(natural).sum().item(), 0);
    const scale = Math.min(1, Math.sqrt(normConstraint / (learningRate ** 2 * change)));
    for (const [i, { natural, factors }] of steps.entries()) {
      const { velocity } = factors;
      velocity.assign(velocity.mul(momentum).sub(natural.mul(scale * learningRate)));
      const { kernel, bias } = this.layers[i] as tf.layers.Dense;
      const rows = kernel.shape[0] as number;
      kernel.assignAdd(velocity.read().at(`:${rows}`));
      bias?.assignAdd(velocity.read().at(rows));
    }
  }

  /** Cholesky factors of A + π √λ I and G + √λ / π I, where π² is the average eigenvalue of A over that of G. */
  #factorise({ inputs, outputs }: Factors): [tf.Tensor, tf.Tensor] {
    const mean = (m: tf.Variable): number => tf.linalg.trace(m).item() / (m.shape[0] as number);
    const pi = Math.sqrt(Math.max(mean(inputs), 1e-12) / Math.max(mean(outputs), 1e-12));
    const damped = (m: tf.Variable, by: number): tf.Tensor =>
      tf.linalg.cholesky(m.add(tf.eye(m.shape[0] as number).mul(by)));
    const root = Math.sqrt(this.#options.damping);
    return [damped(inputs, pi * root), damped(outputs, root / pi)];
  }
}

/** The moving average of E[rowᵀ row]. */
function average(of: tf.Variable, rows: tf.Tensor, old: number): void {
  const now = tf.matmul(rows, rows, { transposeA: true }).div(rows.shape[0] as number);
  of.assign(of.mul(old).add(now.mul(1 - old)));
}

/** A⁻¹ ∇ G⁻¹ */
function precondition({ cholesky }: Factors, gradient: tf.Tensor): tf.Tensor {
  const [inputs, outputs] = cholesky as [tf.Tensor, tf.Tensor];
  const left = tf.linalg.choleskySolve(inputs, gradient);
  return tf.transpose(tf.linalg.choleskySolve(outputs, tf.transpose(left)));
}
