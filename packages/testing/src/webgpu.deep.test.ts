// WebGPU in Node, on whatever GPU there is; on machines without one, on the software driver that comes with Chromium.
import '@eagre/backend-js';
import '@eagre/backend-native';
import '../../backend-webgpu/src/testing/swiftshader.ts';
import { type Backend, readStorage, registerBackend, type Storage } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, device, memory, type Tensor, withBackend } from '@eagre/core';
import { inContext } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { conformanceSuite } from './conformance-suite.ts';
import { randomPlan, runPlainly } from './random-plans.ts';
import { generator } from './values.ts';

const { openWebGpu, webgpuBackend, webgpuUnavailable } = await import('@eagre/backend-webgpu');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
if (webgpuBackend === undefined) console.log(`WebGPU is not tested: ${webgpuUnavailable}`);
const backend = webgpuBackend as Backend;

// What runs on the CPU instead is said once for each kernel, and there are many here: kept for the test that looks.
const onHost: string[] = [];
const { warn } = console;
vi.spyOn(console, 'warn').mockImplementation((...said: unknown[]) => {
  if (/it runs on the host/.test(String(said[0]))) onHost.push(String(said[0]));
  else warn(...said);
});

const onGpu = <T>(fn: () => T): T => device('/gpu:0', fn);

describe.skipIf(webgpuBackend === undefined)('WebGPU', () => {
  afterEach(() => core.setSoftDevicePlacement(true));

  it('is a device', () => {
    expect(core.listPhysicalDevices('GPU')).toEqual([{ name: '/physical_device:GPU:0', deviceType: 'GPU' }]);
    const x = onGpu(() => core.ones([2, 3]).add(1));
    expect(x.device).toBe('/device:GPU:0');
    expect(x.array()).toEqual([
      [2, 2, 2],
      [2, 2, 2],
    ]);
  });

  it('is what ops run on that nobody places', () => {
    expect(inContext({ backend: null }, () => core.ones([2])).device).toBe('/device:GPU:0');
  });

  it('reads at once and later', async () => {
    const x = onGpu(() => constant(Float32Array.from({ length: 100_000 }, (_, i) => i)).mul(2));
    expect((await x.read())[99_999]).toBe(199_998);
    expect(x.data()[77]).toBe(154);
    expect(x.sum().item()).toBeCloseTo(9_999_900_000, -5);
  });

  it('moves and computes so many elements that threads have several words, and turns tiles', () => {
    const of = (dtype: 'float32' | 'bfloat16' | 'uint8', ...shape: number[]): Tensor =>
      core.cast(core.floormod(core.range(shape.reduce((a, b) => a * b, 1)), 251), dtype).reshape(shape);
    for (const [dtype, many] of [
      ['float32', 1],
      ['bfloat16', 2],
      ['uint8', 4],
    ] as const) {
      const [x, row, column] = [of(dtype, 6 * many, 70, 340), of(dtype, 340), of(dtype, 70, 1)];
      const run = (): Tensor[] => [
        core.maximum(x, row),
        core.less(x, column),
        core.cast(x, dtype === 'float32' ? 'bfloat16' : 'float32'),
        core.transpose(x, [0, 2, 1]),
        core.transpose(x, [1, 0, 2]),
        core.concat([x, row.reshape([1, 1, 340]).add(core.zerosLike(x))], 2),
        core.slice(x, [0, 3, 4], [many, 60, 333]),
        core.pad(x, [
          [0, 0],
          [1, 2],
          [4, 0],
        ]),
      ];
      const [wanted, got] = [run(), onGpu(run)];
      got.forEach((y, i) => {
        expect(y.device).toBe('/device:GPU:0');
        expect(
          Buffer.compare(Buffer.from(y.data().buffer), Buffer.from(wanted[i].data().buffer)),
          `${dtype} ${i}`,
        ).toBe(0);
      });
    }
  });

  it('computes with tensors of int64 as the CPU does, and casts them with one rounding', () => {
    const random = generator(64);
    const of = (count: number): Tensor =>
      constant(
        Array.from({ length: count }, (_, i) => BigInt(Math.trunc((random() - 0.5) * 2 ** (i % 63)))),
        'int64',
      );
    const [x, row] = [of(64 * 96).reshape([64, 96]), of(96)];
    const run = (): Tensor[] => [
      core.cast(x, 'float32'),
      core.cast(core.cast(x, 'float32'), 'int64'),
      core.cast(x, 'uint8'),
      core.add(x, row),
      core.sub(row, x),
      core.mul(x, row),
      core.abs(x),
      core.maximum(x, row),
      core.where(core.less(x, row), x, core.neg(x)),
      core.cast(core.equal(core.abs(x), x), 'int64'),
    ];
    const before = memory().webgpu?.hostFallbacks;
    const [wanted, got] = [run(), onGpu(run)];
    onGpu(tfFunction(run))
      .concat(got)
      .forEach((y, i) => {
        const { buffer } = wanted[i % wanted.length].data() as Float32Array;
        expect(
          Buffer.compare(Buffer.from((y.data() as Float32Array).buffer), Buffer.from(buffer)),
          `${i}`,
        ).toBe(0);
      });
    expect(memory().webgpu?.hostFallbacks).toBe(before);
  });

  it('tells of an index out of range at the next read, once, and goes on', async () => {
    const x = onGpu(() => constant([1, 2, 3]));
    const bad = onGpu(() => core.gather(x, constant([0, 7], 'int32')));
    expect(() => bad.data()).toThrow(core.OutOfRangeError);
    expect(() => bad.data()).not.toThrow();
    const other = onGpu(() => core.gather(x, constant([0, -1], 'int32')));
    await expect(other.read()).rejects.toThrow(/an index is out of range .*Gather/);
    expect(onGpu(() => core.gather(x, constant([2, 0], 'int32'))).array()).toEqual([3, 1]);
  });

  it('tells each read of what went wrong before it, also while another one is under way', async () => {
    const x = constant([1, 2, 3]);
    const take = (...at: number[]): Tensor => onGpu(() => core.gather(x, constant(at, 'int32')));
    const reading = take(2, 0).read();
    const bad = take(9, 1);
    expect([...(await reading)]).toEqual([3, 1]);
    expect(() => bad.data()).toThrow(core.OutOfRangeError);
    const failing = expect(take(7, 1).read()).rejects.toThrow(core.OutOfRangeError);
    expect(take(1, 1).array()).toEqual([2, 2]);
    await failing;
  });

  it('tells of an integer division by zero', () => {
    const [a, b] = onGpu(() => [constant([1, 2], 'int32'), constant([1, 0], 'int32')] as const);
    onGpu(() => a.floorDiv(b));
    expect(() => core.syncDevices()).toThrow(/division by zero/);
  });

  it('throws at once with synchronous execution', () => {
    core.setSynchronousExecution(true);
    try {
      const x = onGpu(() => constant([1, 2, 3]));
      expect(() => onGpu(() => core.gather(x, constant([9], 'int32')))).toThrow(core.OutOfRangeError);
    } finally {
      core.setSynchronousExecution(false);
    }
  });

  it('has the CPU do what it cannot, says so, and counts that; without soft placement it refuses', () => {
    const before = memory().webgpu?.hostFallbacks ?? 0;
    const x = onGpu(() => constant([1, 2, 3], 'float64').mul(constant([2, 2, 2], 'float64')));
    expect(x.device).toBe('/device:GPU:0');
    expect(x.array()).toEqual([2, 4, 6]);
    expect(memory().webgpu?.hostFallbacks).toBe(before + 1);
    expect(onHost).toContainEqual(
      expect.stringMatching(/^webgpu has no kernel for .* of \(float64, float64\): it runs on the host/),
    );
    core.setSoftDevicePlacement(false);
    expect(() => onGpu(() => x.mul(x))).toThrow(core.UnimplementedError);
    expect(() => onGpu(() => core.random.uniform([2], { dtype: 'float64' }))).toThrow(
      'the webgpu backend has no RandomUniform that makes (float64)',
    );
    expect(() => onGpu(() => core.linalg.cholesky(constant([[4]])))).toThrow(core.UnimplementedError);
  });

  it('has the random numbers of the CPU', () => {
    const draw = (): Tensor[] => [
      core.random.statelessUniform([1001], [7, 8]),
      core.random.statelessUniform([33], [7, 9], { minval: -5, maxval: 70_000, dtype: 'int32' }),
    ];
    const expected = draw().map((t) => [...t.data()]);
    expect(onGpu(draw).map((t) => [...t.data()])).toEqual(expected);
  });

  it('has the normal random numbers of the CPU but for the last bits', () => {
    for (const draw of [core.random.statelessNormal, core.random.statelessTruncatedNormal]) {
      const expected = draw([1001], [1, 2]).data();
      const got = onGpu(() => draw([1001], [1, 2])).data();
      expected.forEach((value, i) => {
        expect(Math.abs(Number(got[i]) - Number(value)), `${i}`).toBeLessThan(2e-6);
      });
    }
  });

  it('reduces elements of every dtype in traced functions', () => {
    const largest = tfFunction((x: Tensor) => x.add(x).max());
    for (const dtype of ['float32', 'int32', 'int64', 'uint8', 'float64'] as const) {
      const x = constant(
        Array.from({ length: 64 }, (_, i) => i),
        dtype,
      );
      expect(Number(onGpu(() => largest(x)).item()), dtype).toBe(126);
    }
  });

  it('takes arguments that are one tensor, and parts of one buffer', () => {
    onGpu(() => {
      const x = constant([
        [1, 2],
        [3, 4],
      ]);
      expect(x.add(x).array()).toEqual([
        [2, 4],
        [6, 8],
      ]);
      expect(x.matmul(x).array()).toEqual([
        [7, 10],
        [15, 22],
      ]);
      expect(core.concat([x, x], 0).sum().item()).toBe(20);
      const i = constant([1, 0], 'int32');
      expect(core.gather(i, i).array()).toEqual([0, 1]);
    });
  });

  it('gives back the memory of dropped tensors in a loop that never pauses', () => {
    onGpu(() => {
      let x = core.ones([256, 1024]);
      for (let i = 0; i < 50; i++) x = x.mul(1);
      x.data();
      const before = memory().webgpu?.bytesAllocated as number;
      for (let i = 0; i < 400; i++) x = x.mul(1);
      expect(x.data()[5]).toBe(1);
      expect(memory().webgpu?.bytesAllocated).toBeLessThan(before + 64 * 2 ** 20);
    });
  });

  it('refuses what is larger than a buffer', () => {
    expect(() => onGpu(() => core.zeros([2 ** 16, 2 ** 16]))).toThrow(core.ResourceExhaustedError);
  });

  it('runs random plans as their calls do one by one', async () => {
    const read = (storage: Storage, bytes: number): number[] =>
      Array.from(readStorage(storage, 'float32', bytes / 4) as Float32Array);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 1 << 16 }), { maxLength: 60 }), async (list) => {
        const { plan, inputs, states, stateBytes, reset } = randomPlan(backend, list);
        const sizes = plan.outputs.map((value) => plan.bytes[value]);
        const look = (results: readonly Storage[]): number[][] => [
          ...results.map((storage, i) => read(storage, sizes[i])),
          ...states.map((storage, i) => read(storage, stateBytes[i])),
        ];
        reset();
        const expected = look(runPlainly(backend, plan, inputs));
        const executable = backend.prepare(plan);
        const results = sizes.map((bytes) => backend.allocator.allocate(bytes));
        reset();
        executable.run(inputs, results);
        expect(look(results)).toEqual(expected);
        executable.dispose();
      }),
      { numRuns: 40 },
    );
  });

  conformanceSuite('webgpu');

  it('says that it is lost, and the program goes on, on the CPU and on a GPU that is opened again', async () => {
    const x = onGpu(() => core.ones([3]));
    expect(x.array()).toEqual([1, 1, 1]);
    webgpuBackend?.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(() => x.data()).toThrow(core.UnavailableError);
    await expect(x.read()).rejects.toThrow(/the GPU is lost/);
    const unplaced = (): Tensor => inContext({ backend: null }, () => core.ones([3]).add(1));
    expect(unplaced().device).toBe('/device:CPU:0');
    expect(() => onGpu(() => core.ones([3]).add(1))).toThrow(core.NotFoundError);
    // One that is lost by itself is there until it is opened again.
    registerBackend(webgpuBackend as Backend, -2);
    expect(() => onGpu(() => core.ones([3]).add(1))).toThrow(core.UnavailableError);
    expect(unplaced).toThrow(/tf\.device\('\/cpu:0'\)/);
    expect(core.ones([3]).add(1).array()).toEqual([2, 2, 2]);
    const again = await openWebGpu();
    expect(onGpu(() => core.ones([3]).add(1)).backend).toBe(again);
    expect(unplaced().backend).toBe(again);
    expect(withBackend('webgpu', () => core.ones([3]).add(1).array())).toEqual([2, 2, 2]);
    again.close();
  });
});
