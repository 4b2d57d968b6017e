import { meanSquare, values } from '../inputs.ts';
import type { TimedWorkload } from '../workload.ts';

export const add10: TimedWorkload = {
  kind: 'timed',
  name: 'add10',
  title: 'a + b of ten elements each',
  target: { kind: 'ratio', peer: 'torch', atLeast: 1.5 },
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
  target: { kind: 'ratio', peer: 'torch', atLeast: 1.3 },
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
