// The packed tests: `node test.mjs [name]`, in as many processes as `EAGRE_JOBS` says. It exits with 77 where there is no GPU.
import { availableParallelism } from 'node:os';
import { cudaBackend, cudaUnavailable } from '@eagre/backend-cuda';
import { runInProcesses } from './processes.mjs';
import { report, runTests, tell } from './vitest.mjs';

/** A process has a context of its own on the GPU, of some hundred MiB. */
const MOST_JOBS = 12;

const load = () => import('../../packages/testing/src/gpu.test.ts');

/** Whether the GPU still works: after some errors, the driver wants a new process. */
function isThere() {
  try {
    cudaBackend.allocator.synchronize();
    return true;
  } catch {
    return false;
  }
}

if (cudaUnavailable !== undefined) {
  console.error(`There is no GPU, and nothing was tested on one: ${cudaUnavailable}`);
  process.exit(77);
}
if (process.send !== undefined) {
  const { pattern, numbers } = JSON.parse(process.argv[2]);
  await runTests(load, pattern, {
    numbers: numbers && new Set(numbers),
    onCollected: (names) => process.send({ names }),
    onStart: (number) => process.send({ number }),
    onEnd: async (told) => {
      const isLost = told.state === 'fail' && !isThere();
      await new Promise((sent) => process.send({ told, isLost }, sent));
      if (isLost) process.exit(1);
    },
  });
  process.disconnect();
} else {
  const pattern = process.argv[2];
  const jobs = Number(process.env.EAGRE_JOBS || Math.min(MOST_JOBS, availableParallelism() - 1));
  // Tests of what happens when the memory is used up leave none to others.
  const told =
    jobs > 1
      ? await runInProcesses(pattern, jobs, (name) => /^the GPU memory/.test(name))
      : await runTests(load, pattern, { onEnd: tell });
  process.exit(report(told) ? 0 : 1);
}
