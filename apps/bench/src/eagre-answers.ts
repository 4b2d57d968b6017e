// What Eagre's peers in Node and in pages share.
import * as tf from 'eagre';
import { answering } from './requests.ts';
import { workloads } from './workloads/index.ts';
import { mlpStep, mnistCnnStep } from './workloads/steps.ts';

/** Has Eagre use so many threads. In a page, those of WebAssembly come when it has a turn. */
export async function threadsSet(threads: number): Promise<void> {
  tf.config.threading.setIntraOpParallelismThreads(threads);
  const { backend } = tf.zeros([1]);
  while (backend.name === 'wasm' && (backend.threads?.() ?? threads) < threads)
    await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The code that all ops share has seen many kinds of calls in a real program. A process that only ever adds would be faster. @returns what failed */
export function warmUp(): string[] {
  try {
    for (const { eagre } of [mlpStep, mnistCnnStep]) {
      for (const { run } of [eagre(tf)].flat()) {
        for (let i = 0; i < 20; i++) run();
      }
    }
    return [];
  } catch (error) {
    return [`the training steps that come first failed: ${error}`];
  }
}

export const answer: ReturnType<typeof answering> = answering((name) => {
  const workload = workloads.find((w) => w.name === name);
  return workload?.kind === 'timed' ? [workload.eagre(tf)].flat() : undefined;
});
