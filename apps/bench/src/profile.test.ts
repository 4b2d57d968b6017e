import * as tf from 'eagre';
import { expect, test } from 'vitest';
import { profile } from './profile.ts';
import { workloads } from './workloads/index.ts';

test('a profile names the ops, on as many threads as are asked for', () => {
  const workload = workloads.find((w) => w.name === 'add10');
  if (workload?.kind !== 'timed') throw new Error('add10 is timed');
  const before = tf.config.threading.getIntraOpParallelismThreads();
  try {
    for (const [threads, text] of [
      [1, '1 thread'],
      [2, '2 threads'],
    ] as const) {
      const report = profile(workload, 0.01, threads);
      expect(report).toMatch(new RegExp(`^add10: .* µs per iteration, ${text}\\n`));
      expect(report).toContain('AddV2');
      expect(tf.config.threading.getIntraOpParallelismThreads()).toBe(threads);
    }
  } finally {
    tf.config.threading.setIntraOpParallelismThreads(before);
  }
});
