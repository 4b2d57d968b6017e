import type * as Eagre from 'eagre';
import { meanSquare, values } from '../inputs.ts';
import { type TimedWorkload, usualTargets } from '../workload.ts';

export const add10: TimedWorkload = {
  kind: 'timed',
  name: 'add10',
  title: 'a + b of ten elements each',
  targets: usualTargets(2.5),
  eagre(tf) {
    const a = tf.constant(values(10));
    const b = tf.constant(values(10, 1));
    const run = () => {
      for (let i = 0; i < 100; i++) a.add(b);
    };
    return { run, iterations: 100, check: () => meanSquare(a.add(b).data() as Float32Array) };
  },
};

export const add10Tape: TimedWorkload = {
  kind: 'timed',
  name: 'add10_tape',
  title: 'the same, recorded (100 in one tape; in PyTorch, requires_grad)',
  targets: usualTargets(2),
  eagre(tf) {
    const a = tf.constant(values(10));
    const b = tf.constant(values(10, 1));
    const run = () => {
      const tape = new tf.GradientTape();
      tape.watch(a);
      for (let i = 0; i < 100; i++) a.add(b);
      tape.dispose();
    };
    return { run, iterations: 100, check: () => meanSquare(a.add(b).data() as Float32Array) };
  },
};

export const add10Function: TimedWorkload = {
  kind: 'timed',
  name: 'add10_function',
  title: 'a + b of ten elements each in tf.function: what a call costs',
  targets: [{ kind: 'atMost', value: 1.5e-6 }],
  eagre(tf) {
    const a = tf.constant(values(10));
    const b = tf.constant(values(10, 1));
    const add = tf.function((x: Eagre.Tensor, y: Eagre.Tensor) => x.add(y));
    const run = () => {
      for (let i = 0; i < 100; i++) add(a, b);
    };
    return { run, iterations: 100, check: () => meanSquare(add(a, b).data() as Float32Array) };
  },
};

export const adds1000: TimedWorkload = {
  kind: 'timed',
  name: 'adds1000',
  title: '1000 adds of ten elements, one after the other, and their gradient',
  targets: usualTargets(2),
  eagre(tf) {
    const x = tf.constant(values(10));
    const b = tf.constant(values(10, 1));
    const run = () => {
      const tape = new tf.GradientTape();
      tape.watch([x, b]);
      let y = x;
      for (let i = 0; i < 1000; i++) y = y.add(b);
      return tape.gradient(y, [x, b]);
    };
    return { run, check: () => run().reduce((sum, g) => sum + meanSquare(g!.data() as Float32Array), 0) };
  },
};
