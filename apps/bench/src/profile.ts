// Counts and times the ops of one workload, in this process.
import { context, type TapeObserver } from '@eagre/core/internal';
import * as tf from 'eagre';
import { digits } from './results.ts';
import { table } from './table.ts';
import type { TimedWorkload } from './workload.ts';

/**
 * Runs the workload for some seconds while an observer, told of each op when it has run, reads the clock. An op is charged with
 * the time since the op before it, so also with the JavaScript around it. What framework code hides from tapes (optimizers,
 * the parts of composite ops) is charged to the op that follows, or to `between the ops` at the end of an iteration.
 */
export function profile(workload: TimedWorkload, seconds: number, threads: number): string {
  tf.config.threading.setIntraOpParallelismThreads(threads);
  const ops = new Map<string, { count: number; ms: number }>();
  let last = 0;
  const charge = (name: string): void => {
    const now = performance.now();
    const entry = ops.get(name) ?? { count: 0, ms: 0 };
    entry.count++;
    entry.ms += now - last;
    ops.set(name, entry);
    last = performance.now();
  };
  const observer: TapeObserver = { record: (op) => charge(op.name), variableRead: () => undefined };
  // Of several ways the first, which is eager: ops inside a traced function are not seen.
  const work = [workload.eagre(tf)].flat()[0]!;
  for (let i = 0; i < 20; i++) work.run();
  context.tapes = [...context.tapes, observer];
  let runs = 0;
  const start = performance.now();
  try {
    while (performance.now() - start < seconds * 1000) {
      last = performance.now();
      work.run();
      charge('between the ops');
      runs++;
    }
  } finally {
    context.tapes = context.tapes.filter((t) => t !== observer);
  }
  const total = [...ops.values()].reduce((sum, e) => sum + e.ms, 0);
  const iterations = runs * (work.iterations ?? 1);
  const body = [...ops]
    .sort(([, a], [, b]) => b.ms - a.ms)
    .map(([name, { count, ms }]) => [
      name,
      digits(count / iterations),
      digits((1000 * ms) / iterations),
      digits((1000 * ms) / count),
      `${((100 * ms) / total).toFixed(1)} %`,
    ]);
  const head = ['Op', 'Calls per iteration', 'µs per iteration', 'µs per call', 'Share'];
  return `${workload.name}: ${digits((1000 * total) / iterations)} µs per iteration, ${threads} thread${threads === 1 ? '' : 's'}\n\n${table(head, body)}\n`;
}
