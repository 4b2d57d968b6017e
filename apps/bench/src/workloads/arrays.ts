import type * as Eagre from 'eagre';
import { meanSquare, values } from '../inputs.ts';
import type { Case } from '../protocol.ts';
import { inFunction, ratio, type Target, type TimedWorkload, usualTargets } from '../workload.ts';

function timed(run: () => Eagre.Tensor): Case {
  return { run, check: () => meanSquare(run().data() as Float32Array) };
}

function chain(name: string, n: number, targets: readonly Target[], traced = false): TimedWorkload {
  return {
    kind: 'timed',
    name,
    title: `tanh(2x + 1)·x − relu(x)${inFunction(traced)}, ${n.toLocaleString('en')} elements`,
    targets,
    eagre(tf) {
      const x = tf.constant(values(n));
      const run = () => x.mul(2).add(1).tanh().mul(x).sub(tf.nn.relu(x));
      return timed(traced ? tf.function(run) : run);
    },
  };
}

export const elementwiseChain10k: TimedWorkload = chain('elementwise_chain_10k', 10_000, usualTargets(2, 1));
export const elementwiseChain1m: TimedWorkload = chain('elementwise_chain_1m', 1_000_000, usualTargets(1, 1));
export const elementwiseChain10m: TimedWorkload = chain(
  'elementwise_chain_10m',
  10_000_000,
  usualTargets(4, 1),
);
export const elementwiseChainFunction: TimedWorkload = chain(
  'elementwise_chain_10m_function',
  10_000_000,
  // TensorFlow's is compiled by XLA.
  [...usualTargets(1, 1), ratio('tensorflow', 1)],
  true,
);

export const softmax: TimedWorkload = {
  kind: 'timed',
  name: 'softmax',
  title: 'softmax of [1024, 1000] along the last axis',
  targets: usualTargets(1),
  eagre(tf) {
    const x = tf.constant(values(1024 * 1000)).reshape([1024, 1000]);
    return timed(() => tf.nn.softmax(x));
  },
};

export const sum10m: TimedWorkload = {
  kind: 'timed',
  name: 'sum10m',
  title: 'sum of 10 million elements',
  bytes: 40e6,
  limit: 'read',
  targets: usualTargets(1, 1),
  eagre(tf) {
    const x = tf.constant(values(10_000_000)).add(0.5);
    return timed(() => x.sum());
  },
};

export const add10m: TimedWorkload = {
  kind: 'timed',
  name: 'add10m',
  title: 'a + b of 10 million elements each',
  bytes: 120e6,
  limit: 'add',
  targets: usualTargets(3, 1),
  eagre(tf) {
    const a = tf.constant(values(10_000_000));
    const b = tf.constant(values(10_000_000, 1));
    return timed(() => a.add(b));
  },
};

export const transpose: TimedWorkload = {
  kind: 'timed',
  name: 'transpose',
  title: 'transpose of [2000, 2000] into new memory',
  bytes: 2 * 4 * 2000 * 2000,
  limit: 'copy',
  targets: usualTargets(1, 1),
  eagre(tf) {
    const x = tf.constant(values(2000 * 2000)).reshape([2000, 2000]);
    return timed(() => x.transpose());
  },
};
