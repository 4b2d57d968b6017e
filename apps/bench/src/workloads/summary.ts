import type { TimedWorkload } from '../workload.ts';

export const summaryScalars: TimedWorkload = {
  kind: 'timed',
  name: 'summary_scalars',
  title: 'a scalar written to an event file',
  // 100,000 a second.
  targets: [{ kind: 'atMost', value: 1e-5 }],
  eagre(tf) {
    // Pages load this file, too.
    const { mkdtempSync, rmSync } = process.getBuiltinModule('node:fs');
    const { tmpdir } = process.getBuiltinModule('node:os');
    const { join } = process.getBuiltinModule('node:path');
    const folder = mkdtempSync(join(tmpdir(), 'eagre-bench-summary-'));
    process.once('exit', () => rmSync(folder, { recursive: true }));
    const writer = tf.summary.createFileWriter(folder);
    const run = () =>
      writer.asDefault(() => {
        for (let i = 0; i < 1000; i++) tf.summary.scalar('loss', 0.5, { step: i });
      });
    return { run, iterations: 1000 };
  },
};
