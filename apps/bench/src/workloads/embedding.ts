// Training steps of a table of rows, of which a step looks up few.
import type * as Eagre from 'eagre';
import { meanSquare, noise, randomIntegers } from '../inputs.ts';
import { ratio, type Target, type TimedWorkload } from '../workload.ts';

const ROWS = 100_000;
const WIDTH = 64;
const IDS: readonly [number, number] = [32, 128];

function embedding(name: string, optimizer: 'Adam' | 'LazyAdam', targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `a step of ${optimizer} on a table of ${ROWS.toLocaleString('en')} rows of ${WIDTH}, of which ${IDS.join(' × ')} are looked up`,
    targets,
    eagre(tf) {
      const ids = tf.constant({ data: randomIntegers(IDS[0] * IDS[1], ROWS, 3), shape: IDS });
      const make = () => {
        const layer = new tf.layers.Embedding(ROWS, WIDTH);
        layer.build([null, IDS[1]]);
        const table = tf.constant({ data: noise(ROWS * WIDTH), shape: [ROWS, WIDTH] });
        layer.setWeights([table]);
        const variables = layer.trainableVariables;
        const method = new tf.optimizers[optimizer]({ learningRate: 1e-3 });
        const step = () => {
          const tape = new tf.GradientTape();
          const loss = layer(ids).square().sum();
          method.applyGradients(tape.gradient(loss, variables), variables);
          return loss;
        };
        const moved = (): Eagre.Tensor => (variables[0] as Eagre.Variable).sub(table).mul(1000);
        return { step, moved };
      };
      // By how much two steps move the rows that are looked up first, and the first rows.
      const check = () => {
        const { step, moved } = make();
        step();
        step();
        const rows = moved();
        const lookedUp = rows.gather(ids.reshape([-1]).slice([0], [100]));
        return [lookedUp, rows.slice([0, 0], [100, WIDTH])].reduce(
          (sum, y) => sum + meanSquare(y.data() as Float32Array),
          0,
        );
      };
      return [
        { run: make().step, variant: 'eager', check },
        { run: tf.function(make().step), variant: 'tf.function', check },
      ];
    },
  };
}

/** Both move the whole table through memory, so PyTorch's fused way, its fastest, leaves little to be won. */
export const embeddingAdam: TimedWorkload = embedding('embedding_adam', 'Adam', [
  ratio('torch', 5),
  ...['tensorflow-function', 'jax'].map((peer) => ratio(peer, 1)),
  { kind: 'scaling', atLeast: 0.95 },
]);
export const embeddingLazyAdam: TimedWorkload = embedding('embedding_lazy_adam', 'LazyAdam', [
  ratio('torch', 1),
  { kind: 'scaling', atLeast: 0.95 },
]);
