// Loops and branches over values.
import type * as Eagre from 'eagre';
import { wholeNumbers } from '../inputs.ts';
import { against, inFunction, ratio, type Target, type TimedWorkload } from '../workload.ts';

function sumEven(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `sum of the even ones of 1000 integers, tf.whileLoop with gather and tf.cond${inFunction(traced)}`,
    targets,
    eagre(tf) {
      const x = tf.constant(wholeNumbers(1000));
      const loop = (numbers: Eagre.Tensor): Eagre.Tensor => {
        const zero = tf.constant(0, 'int32');
        const [, sum] = tf.whileLoop(
          (i) => i.less(numbers.size),
          (i, sum) => {
            const n = numbers.gather(i);
            const next = tf.cond(
              n.mod(2).equal(0),
              () => sum.add(n),
              () => sum,
            );
            return [i.add(1), next];
          },
          [zero, zero],
        );
        return sum;
      };
      const compute = traced ? tf.function(loop) : loop;
      return { run: () => compute(x), check: () => compute(x).item() };
    },
  };
}

export const whileSumEven: TimedWorkload = sumEven('while_sum_even', false, []);
export const whileSumEvenFunction: TimedWorkload = sumEven('while_sum_even_function', true, [
  against('while_sum_even', 20),
  ratio('tensorflow', 1),
]);
