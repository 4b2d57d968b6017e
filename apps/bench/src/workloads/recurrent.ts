import type * as Eagre from 'eagre';
import { meanSquare, values } from '../inputs.ts';
import { stepTargets, type TimedWorkload, usualTargets } from '../workload.ts';

export const lstmStep: TimedWorkload = {
  kind: 'timed',
  name: 'lstm_step',
  title: 'training step, LSTM 128 over 50 steps of 64 features, batch 32, Adam',
  targets: stepTargets(1.3),
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
    return { run };
  },
};

export const lstmCell: TimedWorkload = {
  kind: 'timed',
  name: 'lstm_cell',
  title: 'one step of an LSTM cell, 10 units, 10 features, batch 10',
  targets: usualTargets(1),
  eagre(tf) {
    const cell = new tf.layers.LSTMCell(10);
    const matrix = (rows: number, columns: number, salt: number) =>
      tf.constant(values(rows * columns, salt)).reshape([rows, columns]);
    const x = matrix(10, 10, 0);
    const states = [matrix(10, 10, 1), matrix(10, 10, 2)];
    cell(x, { states });
    cell.setWeights([matrix(10, 40, 3), matrix(10, 40, 4), tf.constant(values(40, 5))]);
    const step = () => cell(x, { states }) as unknown as Eagre.Tensor[];
    const run = () => {
      for (let i = 0; i < 10; i++) step();
    };
    return {
      run,
      iterations: 10,
      check: () =>
        step()
          .slice(1)
          .reduce((sum, t) => sum + meanSquare(t.data() as Float32Array), 0),
    };
  },
};
