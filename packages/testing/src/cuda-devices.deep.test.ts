// Two GPUs of a fake driver in one process: copies from one to the other without the host, and what is computed on both.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as core from '@eagre/core';
import { constant, device, type Tensor, Variable } from '@eagre/core';
import { afterAll, describe, expect, it } from 'vitest';
import { called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import { fakeCuda, hasFakeCuda, withFake } from '../../backend-cuda/src/testing/fake-cuda.ts';

process.env['FAKE_CUDA_DEVICES'] = '2';
const { cudaBackend, cudaUnavailable } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`Two GPUs are not tested: ${cudaUnavailable}`);

const folder = mkdtempSync(join(tmpdir(), 'eagre-cuda-devices-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const on = <T>(gpu: 0 | 1, fn: () => T): T => device(`/gpu:${gpu}`, fn);

/** The driver's functions that are called meanwhile. */
function callsOf(body: () => void): readonly string[] {
  const file = join(folder, 'calls');
  rmSync(file, { force: true });
  withFake({ FAKE_CUDA_CALLS: file }, body);
  return readFileSync(file, 'utf8').split('\n');
}

describe.skipIf(!isTested)('two GPUs, on a fake driver', () => {
  it('copy from one to the other without the host', () => {
    expect(core.listPhysicalDevices('GPU').map(({ name }) => name)).toEqual([
      '/physical_device:GPU:0',
      '/physical_device:GPU:1',
    ]);
    const x = on(0, () => constant([1, 2, 3]).mul(2));
    let y!: Tensor;
    const calls = callsOf(() => {
      y = on(1, () => core.identity(x).add(x));
    });
    expect(calls).toContain('cuMemcpyPeerAsync');
    expect(calls.filter((name) => /DtoH|HtoD|Synchronize/.test(name))).toEqual([]);
    expect([y.device, y.array()]).toEqual(['/device:GPU:1', [4, 8, 12]]);
  });

  it('keep what is copied until it is, though it is dropped and its memory lent again', () => {
    let x = on(0, () => core.fill([4096], 1));
    for (let i = 2; i < 20; i++) {
      const moved = on((i - 1) % 2 === 0 ? 0 : 1, () => core.identity(x).add(1));
      x.dispose();
      // It gets the memory that was given back.
      const next = on(i % 2 === 0 ? 0 : 1, () => core.fill([4096], -1));
      next.dispose();
      x = moved;
    }
    expect([...new Set(x.data() as Float32Array)]).toEqual([19]);
  });

  it('set variables of the other', () => {
    const [v, w] = ([0, 1] as const).map((gpu) => on(gpu, () => new Variable(constant([gpu + 1, 7]).add(0))));
    (w as Variable).assign((v as Variable).mul(3));
    expect([(w as Variable).device, (w as Variable).value().array()]).toEqual(['/device:GPU:1', [3, 21]]);
  });

  it('tell of an index out of range whose result went to the other', async () => {
    const take = (): Tensor => {
      const bad = on(0, () => core.gather(constant([1, 2, 3]), constant([0, 9], 'int32')));
      return on(1, () => core.identity(bad).add(1));
    };
    const y = take();
    expect(() => y.data()).toThrow(core.OutOfRangeError);
    expect(() => y.data()).not.toThrow();
    await expect(take().read()).rejects.toThrow(core.OutOfRangeError);
    expect(on(0, () => core.ones([2]).add(1)).array()).toEqual([2, 2]);
  });

  it('throw errors of the driver with their names, and go on', () => {
    const x = on(0, () => core.ones([5]).add(1));
    const move = (): Tensor => on(1, () => core.identity(x).add(0));
    for (const name of ['cuMemcpyPeerAsync', 'cuEventRecord', 'cuStreamWaitEvent'])
      expect(() => withFake({ FAKE_CUDA_FAIL: `${name}:1` }, move), name).toThrow(
        new RegExp(`${name}: .*CUDA_ERROR_INVALID_VALUE`),
      );
    expect(move().array()).toEqual([2, 2, 2, 2, 2]);
  });

  it('give no argument to the driver that would leave the memory', () => {
    const addon = loadCudaAddon();
    const [a, b, closed] = [0, 1, 1].map((gpu) => new addon.Device(fakeCuda, gpu));
    closed.close();
    const [to, from] = [a.allocate(64), b.allocate(64)];
    const wrong: (() => unknown)[] = [
      () => a.copyFrom(to, b, from, 65),
      () => a.copyFrom(to + 1, b, from, 64),
      () => a.copyFrom(to, a, to, 4),
      () => a.copyFrom(to, {} as never, from, 4),
      () => a.copyFrom(to, undefined as never, from, 4),
      () => a.copyFrom(to, b, -1, 4),
    ];
    for (const call of wrong) expect(() => called(call), String(call)).toThrow(core.InvalidArgumentError);
    expect(() => called(() => a.copyFrom(to, closed, from, 4))).toThrow(core.FailedPreconditionError);
    b.fill(from, 3, 64);
    a.copyFrom(to, b, from, 64);
    expect([...new Set(a.startRead(to, 64).finish())]).toEqual([3]);
    for (const each of [a, b]) each.close();
  });
});
