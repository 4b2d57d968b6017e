// Eagre's side: the built packages, as a user has them, in a process of its own.
import { createRequire } from 'node:module';
import { nativeUnavailable } from '@eagre/backend-native';
import * as tf from 'eagre';
import { serve } from './serve.ts';
import { workloads } from './workloads/index.ts';
import { mlpStep, mnistCnnStep } from './workloads/steps.ts';

const threads = Number(process.argv[process.argv.indexOf('--threads') + 1]);
tf.config.threading.setIntraOpParallelismThreads(threads);

// The code that all ops share has seen many kinds of calls in a real program. A process that only ever adds would be faster.
const notes: string[] = [];
try {
  for (const { eagre } of [mlpStep, mnistCnnStep]) {
    for (const { run } of [eagre(tf)].flat()) {
      for (let i = 0; i < 20; i++) run();
    }
  }
} catch (error) {
  notes.push(`the training steps that come first failed: ${error}`);
}
if (nativeUnavailable !== undefined)
  notes.push('native kernels could not be loaded: the JavaScript backend ran');

const { version } = createRequire(import.meta.url)('eagre/package.json') as { version: string };
await serve({ ready: true, version, notes }, (name) => {
  const workload = workloads.find((w) => w.name === name);
  return workload?.kind === 'timed' ? [workload.eagre(tf)].flat() : undefined;
});
