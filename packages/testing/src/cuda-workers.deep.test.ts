// Threads of JavaScript that are ended while they call the addon of CUDA, on the fake driver.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { fakeCuda, hasFakeCuda } from '../../backend-cuda/src/testing/fake-cuda.ts';
import { temporaryFolder } from './temporary.ts';

const addon = fileURLToPath(new URL('../../../native/build/Release/eagre_cuda.node', import.meta.url));

/** Ends threads that make numbers, objects and errors, at all moments. */
const program = `
import { createRequire } from 'node:module';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
if (isMainThread) {
  for (let i = 0; i < 40; i++) {
    const worker = new Worker(new URL(import.meta.url));
    await new Promise((resolve) => worker.once('message', resolve));
    await new Promise((resolve) => setTimeout(resolve, i % 5));
    await worker.terminate();
  }
  console.log('alive');
} else {
  const { Device } = createRequire(import.meta.url)(${JSON.stringify(addon)});
  const device = new Device(${JSON.stringify(fakeCuda)}, 0);
  parentPort.postMessage('ready');
  for (;;) {
    device.info();
    device.free(device.allocate(64));
    try {
      device.free(1);
    } catch {}
  }
}`;

it.skipIf(!hasFakeCuda)('goes on where a thread is ended in the midst of a call', () => {
  const file = join(temporaryFolder('cuda-workers'), 'workers.mjs');
  writeFileSync(file, program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([0, 'alive\n', '']);
});
