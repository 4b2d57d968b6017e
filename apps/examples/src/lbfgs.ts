import * as tf from 'eagre';

export interface LbfgsOptions {
  /** Pairs of steps and gradient changes that are remembered. */
  readonly history: number;
  readonly iterations: number;
}

export interface LbfgsResult {
  readonly losses: number[];
  readonly x: tf.Tensor;
}

/**
 * Limited-memory BFGS (Nocedal and Wright, Numerical Optimization, algorithm 7.4) with a backtracking line search. Plain
 * eager tensors: the two-loop recursion is dot products and additions of vectors.
 * @param f a function of one vector, with its gradient
 */
export function lbfgs(
  f: (x: tf.Tensor) => [value: tf.Tensor, gradient: tf.Tensor],
  start: tf.Tensor,
  { history, iterations }: LbfgsOptions,
): LbfgsResult {
  const dot = (a: tf.Tensor, b: tf.Tensor): number => a.mul(b).sum().item();
  const steps: { s: tf.Tensor; y: tf.Tensor; rho: number }[] = [];
  let x = start;
  let [value, gradient] = f(x);
  const losses = [value.item()];
  for (let i = 0; i < iterations; i++) {
    // The two loops turn the gradient into a quasi-Newton direction.
    let q = gradient;
    const alphas = steps.map(() => 0);
    for (let k = steps.length - 1; k >= 0; k--) {
      const { s, y, rho } = steps[k] as (typeof steps)[number];
      alphas[k] = rho * dot(s, q);
      q = q.sub(y.mul(alphas[k] as number));
    }
    const last = steps.at(-1);
    if (last !== undefined) q = q.mul(1 / (last.rho * dot(last.y, last.y)));
    for (const [k, { s, y, rho }] of steps.entries()) {
      const beta = rho * dot(y, q);
      q = q.add(s.mul((alphas[k] as number) - beta));
    }
    const direction = q.neg();
    const slope = dot(gradient, direction);
    // Armijo: the value must fall by a part of what the slope promises.
    let rate = i === 0 ? Math.min(1, 1 / tf.norm(gradient).item()) : 1;
    let next: [tf.Tensor, tf.Tensor] | undefined;
    let moved = x;
    for (let tries = 0; tries < 20 && next === undefined; tries++, rate /= 2) {
      moved = x.add(direction.mul(rate));
      const found = f(moved);
      if (found[0].item() <= (losses.at(-1) as number) + 1e-4 * rate * slope) next = found;
    }
    if (next === undefined) break;
    const s = moved.sub(x);
    const y = next[1].sub(gradient);
    const sy = dot(s, y);
    if (sy > 1e-10) {
      steps.push({ s, y, rho: 1 / sy });
      if (steps.length > history) steps.shift();
    }
    x = moved;
    [value, gradient] = next;
    losses.push(value.item());
  }
  return { losses, x };
}
