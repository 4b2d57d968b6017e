// Products whose tiles TMA brings, by tensor maps of a fake driver: nothing here runs on a GPU.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as core from '@eagre/core';
import { constant, device, type Tensor } from '@eagre/core';
import { enableTensorFloat32Execution } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { afterAll, describe, expect, it } from 'vitest';
import { hasFakeCuda, withFake } from '../../backend-cuda/src/testing/fake-cuda.ts';
import { temporaryFolder } from './temporary.ts';
import { generator } from './values.ts';

const { cudaBackend, openCuda } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;

const onGpu = <T>(fn: () => T): T => device('/gpu:0', fn);
const file = join(temporaryFolder('cuda-maps'), 'calls');

/** How often the driver is called by name while `body` runs. */
function callsOf(body: () => void): Readonly<Record<string, number>> {
  rmSync(file, { force: true });
  withFake({ FAKE_CUDA_CALLS: file }, body);
  const counts: Record<string, number> = {};
  if (!existsSync(file)) return counts;
  for (const name of readFileSync(file, 'utf8').split('\n'))
    if (name !== '') counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Eighths have few bits, so that each product is exact. */
function numbers(seed: number, dtype: 'float32' | 'bfloat16', shape: readonly number[]): Tensor {
  const random = generator(seed);
  const values = Float32Array.from(
    { length: shape.reduce((a, b) => a * b, 1) },
    () => Math.round(random() * 8 - 4) / 8,
  );
  return device('/cpu:0', () => constant(values, { shape: [...shape] }).cast(dtype));
}

const multiply = (a: Tensor, b: Tensor): Tensor => core.matmul(a, b, { transposeB: true });
const expected = (a: Tensor, b: Tensor): unknown =>
  device('/cpu:0', () => multiply(a.cast('float32'), b.cast('float32')).cast(a.dtype).array());

describe.skipIf(!isTested)('products whose tiles TMA brings, on a fake driver', () => {
  afterAll(() => enableTensorFloat32Execution(true));

  it.each(['bfloat16', 'float32'] as const)(
    'have a tensor map for each factor of %s, which is made once',
    (dtype) => {
      const [a, b] = [numbers(1, dtype, [70, 72]), numbers(2, dtype, [67, 72])].map((x) =>
        onGpu(() => core.identity(x)),
      );
      let y!: Tensor;
      expect(callsOf(() => (y = onGpu(() => multiply(a, b)))).cuTensorMapEncodeTiled).toBe(2);
      expect(y.array()).toEqual(expected(a, b));
      const again = callsOf(() => (y = onGpu(() => multiply(a, b))));
      expect(again.cuLaunchKernel).toBe(1);
      expect(again.cuTensorMapEncodeTiled).toBeUndefined();
      expect(y.array()).toEqual(expected(a, b));
    },
  );

  it('take batches, and factors that are copied before', () => {
    const [a, b] = [numbers(3, 'bfloat16', [3, 66, 72]), numbers(4, 'bfloat16', [2, 1, 64, 72])];
    expect(onGpu(() => multiply(a, b)).array()).toEqual(expected(a, b));
    const [c, d] = [numbers(5, 'bfloat16', [128, 129]), numbers(6, 'bfloat16', [130, 129])];
    let y!: Tensor;
    const calls = callsOf(() => (y = onGpu(() => multiply(c, d))));
    expect(calls).toMatchObject({ cuTensorMapEncodeTiled: 2, cuLaunchKernel: 3 });
    expect(y.array()).toEqual(expected(c, d));
  });

  it('are in graphs, which take other memory', () => {
    const w = onGpu(() => core.identity(numbers(7, 'bfloat16', [72, 72])));
    const run = tfFunction((x: Tensor) => {
      let y = x;
      for (let i = 0; i < 4; i++) y = multiply(y, w);
      return y;
    });
    const all = [1, 2, 3, 4].map((seed) => onGpu(() => core.identity(numbers(seed, 'bfloat16', [64, 72]))));
    const results = (x: Tensor): unknown => {
      let y = device('/cpu:0', () => core.identity(x));
      for (let i = 0; i < 4; i++) y = device('/cpu:0', () => multiply(y, w));
      return y.array();
    };
    for (const x of all.slice(0, 2)) onGpu(() => run(x)).dispose();
    let made: Tensor[] = [];
    const calls = callsOf(() => (made = all.map((x) => onGpu(() => run(x)))));
    expect(calls.cuGraphLaunch).toBe(4);
    expect(calls.cuLaunchKernel).toBeUndefined();
    // Only the first product reads other memory, and only those inputs are new that no run before had.
    expect(calls.cuTensorMapEncodeTiled).toBeLessThanOrEqual(all.length);
    made.forEach((y, i) => {
      expect(y.array()).toEqual(results(all[i]));
    });
  });

  it('are made by kernels that copy where programs want all bits, and errors of the driver are told', () => {
    const [a, b] = [numbers(8, 'float32', [64, 64]), numbers(9, 'float32', [64, 64])].map((x) =>
      onGpu(() => core.identity(x)),
    );
    enableTensorFloat32Execution(false);
    expect(callsOf(() => onGpu(() => multiply(a, b))).cuTensorMapEncodeTiled).toBeUndefined();
    enableTensorFloat32Execution(true);
    const failing = (): Tensor =>
      withFake({ FAKE_CUDA_FAIL: 'cuTensorMapEncodeTiled:1' }, () => onGpu(() => multiply(a, b)));
    expect(failing).toThrow(/cuTensorMapEncodeTiled: invalid argument/);
    expect(onGpu(() => multiply(a, b)).array()).toEqual(expected(a, b));
  });

  // Last, since it is another device then.
  it('are made by kernels that copy where the driver has no tensor maps', () => {
    const [backend] = withFake({ FAKE_CUDA_MAPS: '0' }, openCuda);
    const [a, b] = [numbers(1, 'bfloat16', [70, 72]), numbers(2, 'bfloat16', [67, 72])];
    let y!: Tensor;
    expect(callsOf(() => (y = onGpu(() => multiply(a, b)))).cuTensorMapEncodeTiled).toBeUndefined();
    expect(y.array()).toEqual(expected(a, b));
    backend.close();
  });
});
