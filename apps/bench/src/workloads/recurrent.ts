import type * as Eagre from 'eagre';
import { meanSquare, values } from '../inputs.ts';
import {
  against,
  inFunction,
  stepTargets,
  type Target,
  type TimedWorkload,
  usualTargets,
} from '../workload.ts';

function lstm(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `training step${inFunction(traced)}, LSTM 128 over 50 steps of 64 features, batch 32, Adam`,
    targets,
    eagre(tf) {
      const layer = new tf.layers.LSTM(128);
      const x = tf.constant(values(32 * 50 * 64)).reshape([32, 50, 64]);
      layer(x);
      const variables = layer.trainableVariables;
      const optimizer = new tf.optimizers.Adam({ learningRate: 1e-3 });
      const run = () => {
        const tape = new tf.GradientTape();
        const loss = layer(x, { training: true }).mean();
        optimizer.applyGradients(tape.gradient(loss, variables), variables);
        return loss;
      };
      return { run: traced ? tf.function(run) : run };
    },
  };
}

export const lstmStep: TimedWorkload = lstm('lstm_step', false, stepTargets(1.3));
export const lstmFunction: TimedWorkload = lstm('lstm_step_function', true, usualTargets(1.6));

function cell(name: string, traced: boolean, targets: readonly Target[]): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `one step of an LSTM cell${inFunction(traced)}, 10 units, 10 features, batch 10`,
    targets,
    eagre(tf) {
      const cell = new tf.layers.LSTMCell(10);
      const matrix = (rows: number, columns: number, salt: number) =>
        tf.constant(values(rows * columns, salt)).reshape([rows, columns]);
      const x = matrix(10, 10, 0);
      const states = [matrix(10, 10, 1), matrix(10, 10, 2)];
      cell(x, { states });
      cell.setWeights([matrix(10, 40, 3), matrix(10, 40, 4), tf.constant(values(40, 5))]);
      const plain = () => cell(x, { states }) as unknown as readonly (Eagre.Tensor | Eagre.Tensor[])[];
      const step = traced ? tf.function(plain) : plain;
      const run = () => {
        for (let i = 0; i < 10; i++) step();
      };
      return {
        run,
        iterations: 10,
        check: () =>
          step()
            .flat()
            .slice(1)
            .reduce((sum, t) => sum + meanSquare(t.data() as Float32Array), 0),
      };
    },
  };
}

export const lstmCell: TimedWorkload = cell('lstm_cell', false, usualTargets(1));
export const lstmCellFunction: TimedWorkload = cell('lstm_cell_function', true, [
  ...usualTargets(5),
  against('lstm_cell', 5),
]);
