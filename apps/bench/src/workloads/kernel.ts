// What single kernels share: each is run eagerly and in tf.function, as what they are held against are the ways of the peers that compile.
// Python's peers give a result back when its name gets the next one, so that its memory is still in the cache; in TypeScript `using` does
// that, and results that are merely dropped wait for a collection. Both are measured.
import type * as Eagre from 'eagre';
import { meanSquare } from '../inputs.ts';
import type { Case } from '../protocol.ts';
import { ratio, type Target, type TimedWorkload } from '../workload.ts';

type Tensor = Eagre.Tensor;
type Results = Tensor | readonly Tensor[];

/** As fast as each peer that compiles, and as some others. */
export function kernelTargets(...others: readonly string[]): readonly Target[] {
  return [
    ...['torch', 'torch-compile', 'tensorflow-function', 'jax', ...others].map((peer) => ratio(peer, 1)),
    { kind: 'scaling', atLeast: 0.95 },
  ];
}

export interface KernelOptions extends Pick<TimedWorkload, 'flops' | 'bytes' | 'limit'> {
  readonly targets?: readonly Target[];
  /** The number that libraries are compared by; the mean square of all results by default. */
  readonly check?: (results: readonly Tensor[], tf: typeof Eagre) => number;
}

const meanSquares = (results: readonly Tensor[]): number =>
  results.reduce((sum, y) => sum + meanSquare(y.data() as Float32Array), 0);

/** The mean square of the first elements: unlike that of all, it depends on the order of the elements. */
export function meanSquareOfFirst(tf: typeof Eagre, results: readonly Tensor[]): number {
  const parts = results.flatMap((y) => {
    const first = y.reshape([-1]).slice([0], [Math.min(y.size, 300)]);
    return first.dtype === 'complex64' ? [tf.math.real(first), tf.math.imag(first)] : [first];
  });
  return meanSquares(parts);
}

/** A workload that makes one or more tensors of others, which the peers may compile. */
export function kernel(
  name: string,
  title: string,
  make: (tf: typeof Eagre) => () => Results,
  { targets = kernelTargets(), check = meanSquares, ...amount }: KernelOptions = {},
): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title,
    ...amount,
    targets,
    eagre(tf) {
      const compute = make(tf);
      const way = (run: () => Results, variant: string): Case => ({
        run,
        variant,
        check: () => check([run()].flat(), tf),
      });
      const using = (run: () => Results) => (): Results => {
        const results = run();
        for (const y of [results].flat()) y.dispose();
        return results;
      };
      const traced = tf.function(compute);
      return [
        way(compute, 'eager'),
        way(traced, 'tf.function'),
        { ...way(compute, 'eager, using'), run: using(compute) },
        { ...way(traced, 'tf.function, using'), run: using(traced) },
      ];
    },
  };
}

/** A tensor of a shape, of what `fill` (of inputs.ts) gives. */
export function tensorOf(
  tf: typeof Eagre,
  fill: (size: number, salt?: number) => Float32Array,
  shape: readonly number[],
  salt = 0,
): Tensor {
  const size = shape.reduce((a, b) => a * b);
  return tf.constant({ data: fill(size, salt), shape });
}
