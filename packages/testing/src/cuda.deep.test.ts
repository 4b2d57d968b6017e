// CUDA on a fake driver, whose streams work late, whose memory is poisoned, and which fails on demand. Kernels are compiled for the processor. Nothing
// here runs on a GPU. `pnpm fuzz packages/testing/src/cuda.deep.test.ts` tests every op; each kernel costs a compilation.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { GradientTape } from '@eagre/autodiff';
import { type Backend, getBackend, listBackends } from '@eagre/backend';
import * as core from '@eagre/core';
import { constant, device, memory, type Tensor, Variable } from '@eagre/core';
import {
  enableTensorFloat32Execution,
  inContext,
  listOps,
  tensorFloat32ExecutionEnabled,
} from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import { LaunchList } from '../../backend-cuda/src/launch-list.ts';
import { compilerLibraries, driverLibrary } from '../../backend-cuda/src/libraries.ts';
import { fakeCuda, hasFakeCuda, withFake } from '../../backend-cuda/src/testing/fake-cuda.ts';
import { conformanceSuite } from './conformance-suite.ts';

const { cudaBackend, cudaUnavailable, openCuda } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`CUDA is not tested: ${cudaUnavailable}`);
const backend = cudaBackend as Backend;

const { warn } = console;
vi.spyOn(console, 'warn').mockImplementation((...said: unknown[]) => {
  if (!/it runs on the host/.test(String(said[0]))) warn(...said);
});

const onGpu = <T>(fn: () => T): T => device('/gpu:0', fn);

/** One of each form of dispatch; `cuda-kernels.deep.test.ts` has the text of all kernels. */
const OPS: ReadonlySet<string> = new Set(['AddV2', 'ConcatV2', 'MatMul', 'Sum']);
const isLong = process.env.EAGRE_FUZZ_SECONDS !== undefined;

it.skipIf(!isTested)('tells of what cannot be opened, and leaves what is open', () => {
  const before = listBackends();
  const open = (settings: Parameters<typeof withFake>[0]) => () => withFake(settings, openCuda);
  expect(open({ FAKE_CUDA_DEVICES: '0' })).toThrow(/finds no GPU/);
  expect(open({ FAKE_CUDA_FAIL: 'cuDeviceGetCount:100' })).toThrow(
    /no CUDA-capable device.*CUDA_ERROR_NO_DEVICE/,
  );
  expect(open({ FAKE_CUDA_FAIL: 'cuDevicePrimaryCtxRetain:2' })).toThrow(core.ResourceExhaustedError);
  // The second GPU fails, and the first is given back.
  expect(open({ FAKE_CUDA_DEVICES: '2', FAKE_CUDA_FAIL: 'cuDevicePrimaryCtxRetain:802:1' })).toThrow(
    core.UnavailableError,
  );
  vi.stubEnv('EAGRE_NVRTC', '/no/such/libnvrtc.so.12');
  expect(openCuda).toThrow(/pip install nvidia-cuda-nvrtc.*looked for: \/no\/such/s);
  vi.stubEnv('EAGRE_CUDA_DRIVER', '/no/such/libcuda.so.1');
  expect(openCuda).toThrow(/driver of NVIDIA cannot be used .*no\/such.*: install it/);
  vi.unstubAllEnvs();
  expect(listBackends()).toEqual(before);
});

it('looks for libraries where they are named, and else where they are installed', () => {
  expect(driverLibrary({})).toBe('libcuda.so.1');
  expect(compilerLibraries({ EAGRE_NVRTC: '/x/libnvrtc.so' })).toEqual(['/x/libnvrtc.so']);
  expect(compilerLibraries({ EAGRE_NVRTC: '0' })).toEqual([]);
  expect(compilerLibraries({ CUDA_HOME: '/opt/cuda' })).toContain('/opt/cuda/lib64/libnvrtc.so.12');
});

describe.skipIf(!isTested)('CUDA, on a fake driver', () => {
  afterEach(() => core.setSoftDevicePlacement(true));

  it('is a device, on which ops run that nobody places', () => {
    expect(core.listPhysicalDevices('GPU')).toEqual([{ name: '/physical_device:GPU:0', deviceType: 'GPU' }]);
    expect(backend.description).toBe('CUDA 12.8, a fake GPU on the processor, compute capability 9.0');
    const x = onGpu(() => core.ones([2, 3]).add(1));
    expect(x.device).toBe('/device:GPU:0');
    expect(x.array()).toEqual([
      [2, 2, 2],
      [2, 2, 2],
    ]);
    expect(inContext({ backend: null }, () => core.ones([2])).device).toBe('/device:GPU:0');
  });

  it('gives no argument to the driver that would leave the memory', () => {
    const addon = loadCudaAddon();
    const gpu = new addon.Device(fakeCuda, 0);
    const at = gpu.allocate(64);
    const wrong: (() => unknown)[] = [
      () => gpu.allocate(-1),
      () => gpu.allocate(1.5),
      () => gpu.allocate('many' as never),
      () => gpu.write(at, new Uint8Array(65)),
      () => gpu.write(at, new Float32Array(1) as never),
      () => gpu.write(at, undefined as never),
      () => gpu.startRead(at + 1, 64),
      () => gpu.fill(at, 256, 1),
      () => gpu.load(new Uint8Array(100)),
      () => gpu.load(new Uint8Array(0)),
      () => gpu.function(1, 'x', 0),
      () => gpu.function(1, 'x', 1.5),
      () => gpu.launchAll(new Uint8Array(8)),
      () => gpu.launchAll(new Uint8Array(40)),
      () => gpu.makeGraph('list' as never),
      () => gpu.launchGraph(1, new Uint8Array(8)),
      () => gpu.dropGraph(1),
      () => gpu.wait(7),
      () => new addon.Device(fakeCuda, 1.5),
      () => addon.compile([fakeCuda], 'this is no program', 'wrong', 90),
    ];
    for (const call of wrong) expect(() => called(call), String(call)).toThrow(core.InvalidArgumentError);
    expect(() => called(() => addon.compile([fakeCuda], '', 'old', 75))).toThrow(/too old/);
    const read = gpu.startRead(at, 64);
    gpu.close();
    expect(() => called(() => gpu.allocate(4))).toThrow(core.FailedPreconditionError);
    expect(() => called(() => read.finish())).toThrow(core.FailedPreconditionError);
  });

  it('runs PTX where the GPU is newer than the compiler, and refuses what is cut short', () => {
    const addon = loadCudaAddon();
    const gpu = new addon.Device(fakeCuda, 0);
    const text = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }';
    const image = withFake({ FAKE_CUDA_ARCHS: '80' }, () => addon.compile([fakeCuda], text, 'twice', 90));
    expect(new TextDecoder().decode(image.subarray(0, 8))).toBe('.version');
    const at = gpu.allocate(8);
    gpu.write(at, new Uint8Array(Float32Array.of(1, 2).buffer));
    const module = gpu.load(image);
    const list = new LaunchList();
    const kernel = { kernel: gpu.function(module, 'twice', 0), block: [2, 1, 1], most: 1 } as const;
    const program = { params: [] };
    const dispatch = { program, operands: [0], params: [], workgroups: [1, 1, 1] };
    list.add(kernel, dispatch as never, [{ storage: { address: at }, bytes: 8 }] as never, 0, 0);
    gpu.launchAll(list.bytes());
    gpu.unload(module);
    for (const length of [1, 16, 100, 5000])
      expect(() => called(() => gpu.load(image.subarray(0, length)))).toThrow(core.InvalidArgumentError);
    expect([...new Float32Array(gpu.startRead(at, 8).finish().buffer)]).toEqual([2, 4]);
    gpu.close();
  });

  it('reads at once and later, and small numbers without waiting', async () => {
    const x = onGpu(() => constant(Float32Array.from({ length: 100_000 }, (_, i) => i)).add(1));
    expect((await x.read())[99_999]).toBe(100_000);
    expect(x.data()[77]).toBe(78);
    expect(onGpu(() => constant(3, 'int32').add(4)).item()).toBe(7);
  });

  it('tells of an index out of range at the next read, once, and goes on', async () => {
    const x = onGpu(() => constant([1, 2, 3]));
    const take = (...at: number[]): Tensor => onGpu(() => core.gather(x, constant(at, 'int32')));
    const bad = take(0, 7);
    expect(() => bad.data()).toThrow(core.OutOfRangeError);
    expect(() => bad.data()).not.toThrow();
    const other = take(0, -1);
    await expect(other.read()).rejects.toThrow(/an index is out of range .*Gather/);
    // Each read is told of what went wrong before it.
    const reading = take(2, 0).read();
    const later = take(9, 1);
    expect([...(await reading)]).toEqual([3, 1]);
    expect(() => later.data()).toThrow(core.OutOfRangeError);
    expect(take(2, 0).array()).toEqual([3, 1]);
  });

  it('has the CPU do what it cannot; without soft placement it refuses', () => {
    const before = memory().cuda?.hostFallbacks ?? 0;
    const x = onGpu(() => constant([1, 2, 3], 'float64').mul(2));
    expect([x.device, x.array()]).toEqual(['/device:GPU:0', [2, 4, 6]]);
    expect(memory().cuda?.hostFallbacks).toBe(before + 1);
    core.setSoftDevicePlacement(false);
    expect(() => onGpu(() => x.mul(x))).toThrow(core.UnimplementedError);
  });

  it('multiplies on tensor cores, numbers of float32 where that is allowed', () => {
    const random = (shape: number[]): Tensor => core.random.statelessUniform(shape, [1, 2]);
    const product = (dtype: 'float32' | 'bfloat16'): number[] => {
      const [a, b] = [random([40, 48]).cast(dtype), random([48, 24]).cast(dtype)];
      return [...(a.matmul(b).cast('float32').data() as Float32Array)];
    };
    const attention = (): number[] => {
      const x = random([1, 1, 16, 16]);
      return [...(core.nn.scaledDotProductAttention(x, x, x).data() as Float32Array)];
    };
    const off = (make: () => number[]): number => {
      const expected = make();
      return Math.max(...onGpu(make).map((x, i) => Math.abs(x / (expected[i] as number) - 1)));
    };
    const most = (dtype: 'float32' | 'bfloat16'): number => off(() => product(dtype));
    expect(most('bfloat16')).toBeLessThan(2 ** -7);
    const byWarpgroups = (): number[] => {
      const x = random([1, 1, 20, 64]).cast('bfloat16');
      return [...(core.nn.scaledDotProductAttention(x, x, x).cast('float32').data() as Float32Array)];
    };
    expect(off(byWarpgroups)).toBeLessThan(2 ** -6);
    const enabled = tensorFloat32ExecutionEnabled();
    try {
      enableTensorFloat32Execution(true);
      const rough = most('float32');
      expect(rough).toBeGreaterThan(2 ** -20);
      expect(rough).toBeLessThan(2 ** -10);
      const roughAttention = off(attention);
      expect(roughAttention).toBeGreaterThan(2 ** -20);
      expect(roughAttention).toBeLessThan(2 ** -10);
      enableTensorFloat32Execution(false);
      expect(most('float32')).toBeLessThan(2 ** -20);
      expect(off(attention)).toBeLessThan(2 ** -20);
    } finally {
      enableTensorFloat32Execution(enabled);
    }
  });

  it('runs traced functions, again and with other values', () => {
    const step = tfFunction((x: Tensor) => x.add(1).sum());
    const run = (...values: number[]): number => Number(onGpu(() => step(constant(values))).item());
    expect([run(1, 2, 3), run(4, 5, 6), run(0, 0, 0)]).toEqual([9, 18, 3]);
  });

  it('gives back the memory of dropped tensors in a loop that never pauses', () => {
    onGpu(() => {
      let x = core.ones([8192]);
      // 512 of them are all that the GPU has.
      for (let i = 0; i < 600; i++) x = x.add(1);
      expect(x.data()[5]).toBe(601);
      expect(memory().cuda?.bytesAllocated).toBeLessThan(13 * 2 ** 20);
    });
  });

  it('tells of memory that is not there, and goes on', () => {
    expect(() => onGpu(() => core.zeros([2 ** 15, 2 ** 15]))).toThrow(core.ResourceExhaustedError);
    const kept = onGpu(() => [0, 1, 2].map(() => core.zeros([2 ** 20])));
    expect(() => onGpu(() => core.zeros([2 ** 20]))).toThrow(/no memory for/);
    for (const x of kept) x.dispose();
    expect(onGpu(() => core.zeros([2 ** 20])).data()[9]).toBe(0);
  });

  it('throws errors of the driver with their names, and goes on', () => {
    const x = onGpu(() => core.ones([5]).add(1));
    const failing = (fail: string) => () =>
      withFake({ FAKE_CUDA_FAIL: fail }, () => onGpu(() => x.add(1)).data());
    expect(failing('cuLaunchKernel:701')).toThrow(core.ResourceExhaustedError);
    expect(failing('cuMemcpyDtoHAsync_v2:1')).toThrow(
      /cuMemcpyDtoHAsync: invalid argument \(CUDA_ERROR_INVALID_VALUE\)/,
    );
    expect(x.array()).toEqual([2, 2, 2, 2, 2]);
  });

  it('throws at the next read what went wrong where nothing can be thrown', () => {
    const x = onGpu(() => core.zeros([2 ** 20]));
    x.dispose();
    withFake({ FAKE_CUDA_FAIL: 'cuMemFreeAsync:1' }, () => backend.allocator.trim());
    const y = onGpu(() => core.ones([2]).add(1));
    expect(() => y.data()).toThrow(/cuMemFreeAsync: invalid argument/);
    expect(y.array()).toEqual([2, 2]);
  });

  it('trains as the CPU does, eagerly and traced', () => {
    const train = (traced: boolean): number[] => {
      const x = constant([
        [1, 2],
        [3, -1],
        [0, 1],
      ]);
      const w = new Variable(core.zeros([2, 1]));
      const step = (): Tensor => {
        const tape = new GradientTape();
        const loss = tape.record(() =>
          x
            .matmul(w)
            .sub([[5], [0], [3]])
            .square()
            .mean(),
        );
        w.assignSub((tape.gradient(loss, w) as Tensor).mul(0.1));
        return loss;
      };
      const run = traced ? tfFunction(step) : step;
      return [...Array.from({ length: 4 }, () => Number(run().item())), ...w.data()].map(Number);
    };
    const expected = train(false);
    for (const traced of [false, true])
      onGpu(() => train(traced)).forEach((value, i) => {
        expect(value).toBeCloseTo(expected[i], 4);
      });
  });

  conformanceSuite('cuda', isLong ? undefined : OPS);

  it('tests ops that there are', () => {
    for (const name of OPS) expect(listOps().has(name), name).toBe(true);
  });

  // Last, since the driver is lost with it.
  it('says that the GPU is lost, and the program goes on, on the CPU', async () => {
    const x = onGpu(() => core.ones([5]).add(1));
    const bad = withFake({ FAKE_CUDA_LATE: '719' }, () => onGpu(() => x.add(1)));
    expect(() => bad.data()).toThrow(/CUDA_ERROR_LAUNCH_FAILED/);
    expect(() => bad.data()).toThrow(core.UnavailableError);
    await expect(x.read()).rejects.toThrow(/the GPU is lost/);
    expect(() => onGpu(() => core.ones([5]).add(1))).toThrow(core.UnavailableError);
    expect(() => onGpu(() => core.zeros([2 ** 20]))).toThrow(core.UnavailableError);
    x.dispose();
    expect(core.ones([3]).add(1).array()).toEqual([2, 2, 2]);
    expect(openCuda).toThrow(core.UnavailableError);
    expect(getBackend('cuda')).toBe(backend);
    (backend as unknown as { close(): void }).close();
    expect(() => onGpu(() => core.ones([5]).add(1))).toThrow(/there is no device '\/gpu:0'/);
    expect(() => bad.array()).toThrow(core.FailedPreconditionError);
    expect(inContext({ backend: null }, () => core.ones([3]).add(1)).device).toBe('/device:CPU:0');
  });
});
