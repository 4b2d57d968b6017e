// Code with control flow of the language's own, converted by tf.autograph.
import type * as Eagre from 'eagre';
import { values, wholeNumbers } from '../inputs.ts';
import { against, inFunction, ratio, type Target, type TimedWorkload } from '../workload.ts';

function autographSumEven(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `sum of the even ones of 1000 integers by for…of, if and continue, converted by autograph${inFunction(traced)}`,
    targets,
    eagre(tf) {
      const x = tf.constant(wholeNumbers(1000));
      const converted = tf.autograph.toGraph(
        (items: Eagre.Tensor) => {
          let sum = tf.constant(0, 'int32');
          for (const n of items) {
            if (n.mod(2).greater(0)) continue;
            sum = sum.add(n);
          }
          return sum;
        },
        { scope: { tf } },
      );
      const compute = traced ? tf.function(converted) : converted;
      return { run: () => compute(x), check: () => compute(x).item() };
    },
  };
}

export const autographEager: TimedWorkload = autographSumEven('autograph_sum_even', false, []);
export const autographFunction: TimedWorkload = autographSumEven('autograph_sum_even_function', true, [
  against('autograph_sum_even', 20),
  ratio('tensorflow', 1),
]);

function hostConditions(name: string, convert: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `an eager training step with loops and conditions on numbers and options, ${convert ? 'converted by autograph' : 'as it is'}`,
    targets,
    eagre(tf) {
      const sizes = [64, 64, 64, 10];
      const weights = sizes.slice(1).map((n, i) => {
        const [from] = [sizes[i] as number];
        return new tf.Variable({ data: values(from * n, i), shape: [from, n] });
      });
      const x = tf.constant({ data: values(32 * 64), shape: [32, 64] });
      const options = { activation: 'relu', decay: 1e-3, clip: 0, every: 10, frozen: [] as number[] };
      const step = (count: number): Eagre.Tensor => {
        const tape = new tf.GradientTape();
        let h = x;
        for (let i = 0; i < weights.length; i++) {
          h = h.matmul(weights[i] as Eagre.Variable);
          if (i + 1 === weights.length) break;
          if (options.activation === 'relu') h = h.relu();
          else if (options.activation === 'tanh') h = h.tanh();
        }
        let loss = h.square().mean();
        if (options.decay > 0 && count % options.every === 0) {
          for (const w of weights) loss = loss.add(w.square().sum().mul(options.decay));
        }
        const gradients = tape.gradient(loss, weights);
        for (const [i, w] of weights.entries()) {
          if (options.frozen.includes(i)) continue;
          let g = gradients[i] as Eagre.Tensor;
          if (options.clip > 0) g = g.clipByValue(-options.clip, options.clip);
          w.assignSub(g.mul(count < 100 ? 1e-4 : 1e-5));
        }
        return loss;
      };
      const run = convert ? tf.autograph.toGraph(step, { scope: { tf, weights, x, options } }) : step;
      let count = 0;
      // It trains on: what it computes depends on how often it ran.
      return { run: () => run(count++) };
    },
  };
}

export const hostConditionsPlain: TimedWorkload = hostConditions('host_conditions', false, []);
/** What conversion costs code that decides nothing by tensors: at most a twentieth. */
export const hostConditionsConverted: TimedWorkload = hostConditions('host_conditions_converted', true, [
  against('host_conditions', 1 / 1.05),
]);
