import '@eagre/backend-js';
import './testing/swiftshader.ts';
import { getBackend, type TensorRef, typedView, UnavailableError } from '@eagre/backend';
import { describe, expect, it, vi } from 'vitest';
import { openGpuDevice } from './gpu-device.ts';
import { WebGpuBackend } from './webgpu-backend.ts';

const { webgpuBackend, webgpuUnavailable } = await import('./index.ts');
if (webgpuBackend === undefined) console.log(`WebGPU is not tested: ${webgpuUnavailable}`);

it.skipIf(webgpuBackend === undefined)('adds on the GPU', () => {
  const backend = webgpuBackend!;
  expect(getBackend('webgpu')).toBe(backend);
  const tensor = (values: number[]): TensorRef => {
    const storage = backend.allocator.allocate(4 * values.length);
    backend.allocator.write(storage, new Uint8Array(Float32Array.from(values).buffer));
    return { dtype: 'float32', shape: [values.length], size: values.length, storage };
  };
  const [a, b, y] = [tensor([1, 2, 3]), tensor([10, 20, 30]), tensor([0, 0, 0])];
  const kernel = backend.elementwise({
    inputs: ['float32', 'float32'],
    instrs: [{ op: 'add', dtype: 'float32', args: [0, 1], value: 0 }],
    outputs: [2],
  });
  kernel([a, b], [y], {});
  const bytes = backend.allocator.read(y.storage, 12);
  expect([...typedView('float32', bytes.buffer, bytes.byteOffset, 3)]).toEqual([11, 22, 33]);
});

it.skipIf(webgpuBackend === undefined)(
  'ends the memory of dropped tensors where only V8 finds them',
  async () => {
    const gpu = await openGpuDevice();
    const ended = vi.fn();
    const create = gpu.device.createBuffer.bind(gpu.device);
    gpu.device.createBuffer = (descriptor: Parameters<typeof create>[0]) => {
      const buffer = create(descriptor);
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        ended();
        return destroy();
      };
      return buffer;
    };
    // No watcher, as in browsers.
    const backend = new WebGpuBackend(gpu, undefined);
    const negate = backend.elementwise({
      inputs: ['float32'],
      instrs: [{ op: 'neg', dtype: 'float32', args: [0], value: 0 }],
      outputs: [1],
    });
    const size = 2 ** 18;
    const tensor = (): TensorRef => ({
      dtype: 'float32',
      shape: [size],
      size,
      storage: backend.allocator.allocate(4 * size),
    });
    const kept = tensor();
    for (let i = 0; i < 20; i++) negate([kept], [tensor()], {});
    backend.allocator.synchronize();
    const before = backend.allocator.info().bytesAllocated;
    await vi.waitFor(() => {
      globalThis.gc?.();
      expect(ended.mock.calls.length).toBeGreaterThan(10);
    }, 300_000);
    expect(backend.allocator.info().bytesAllocated).toBeLessThan(before - 10 * 4 * size);
    // What is left is whole.
    negate([kept], [kept], {});
    backend.allocator.synchronize();
    backend.close();
  },
);

/** A device whose compilations are counted, and an op of its own for each number. */
async function counted(): Promise<{
  backend: WebGpuBackend;
  gpu: Awaited<ReturnType<typeof openGpuDevice>>;
  counts: { now: number; later: number };
  add: (x: TensorRef, value: number) => TensorRef;
  tensor: (values: number[]) => TensorRef;
  read: (x: TensorRef) => Promise<number[]>;
}> {
  const gpu = await openGpuDevice();
  const counts = { now: 0, later: 0 };
  const { device } = gpu;
  const [now, later] = [device.createComputePipeline, device.createComputePipelineAsync];
  device.createComputePipeline = (...args: Parameters<typeof now>) => {
    counts.now++;
    return now.apply(device, args);
  };
  device.createComputePipelineAsync = (...args: Parameters<typeof later>) => {
    counts.later++;
    return later.apply(device, args);
  };
  const backend = new WebGpuBackend(gpu, undefined);
  const { allocator } = backend;
  const empty = (size: number): TensorRef => ({
    dtype: 'float32',
    shape: [size],
    size,
    storage: allocator.allocate(4 * size),
  });
  const tensor = (values: number[]): TensorRef => {
    const x = empty(values.length);
    allocator.write(x.storage, new Uint8Array(Float32Array.from(values).buffer));
    return x;
  };
  const add = (x: TensorRef, value: number): TensorRef => {
    const y = empty(x.size);
    const kernel = backend.elementwise({
      inputs: ['float32'],
      instrs: [
        { op: 'const', dtype: 'float32', args: [], value },
        { op: 'add', dtype: 'float32', args: [0, 1], value: 0 },
      ],
      outputs: [2],
    });
    kernel([x], [y], {});
    return y;
  };
  const read = async ({ storage, size }: TensorRef): Promise<number[]> => {
    const bytes = await allocator.readAsync(storage, 4 * size);
    return [...(typedView('float32', bytes.buffer, bytes.byteOffset, size) as Float32Array)];
  };
  return { backend, gpu, counts, add, tensor, read };
}

describe.skipIf(webgpuBackend === undefined)('programs that are new', () => {
  it('are compiled in the background, together, and what is told behind them keeps its order', async () => {
    const { backend, counts, add, tensor, read } = await counted();
    const x = tensor([1, 2]);
    const y = add(add(x, 10), 100);
    // Written behind what reads it, and its memory given back behind that.
    backend.allocator.write(x.storage, new Uint8Array(Float32Array.of(5, 6).buffer));
    const z = add(x, 1000);
    const copied = tensor([0, 0]);
    backend.allocator.copy(z.storage, copied.storage, 8);
    x.storage.release();
    const again = tensor([7, 8]);
    expect(counts).toEqual({ now: 0, later: 0 });
    const all = [y, z, copied, add(again, 10)].map(read);
    expect(await Promise.all(all)).toEqual([
      [111, 112],
      [1005, 1006],
      [1005, 1006],
      [17, 18],
    ]);
    expect(counts.now).toBe(0);
    expect(counts.later).toBeGreaterThan(2);
    const { later } = counts;
    expect(await read(add(add(again, 10), 1000))).toEqual([1017, 1018]);
    expect(await read(add(add(again, 10), 1000))).toEqual([1017, 1018]);
    // At most one of another way in which buffers share memory.
    expect(counts.later - later).toBeLessThan(3);
    expect(counts.now).toBe(0);
    backend.close();
  });

  it('are compiled at once for a read that cannot wait, also where they are being compiled', async () => {
    const { backend, counts, add, tensor, read } = await counted();
    const look = ({ storage }: TensorRef): number =>
      new Float32Array(backend.allocator.read(storage, 4).slice().buffer)[0] as number;
    const x = tensor([1]);
    expect(look(add(add(x, 1), 10))).toBe(12);
    expect(counts).toEqual({ now: 2, later: 0 });
    const y = add(x, 100);
    const later = read(y);
    await null;
    await null;
    expect(counts).toEqual({ now: 2, later: 1 });
    const z = add(y, 1000);
    expect([look(z), look(y)]).toEqual([1101, 101]);
    expect(counts).toEqual({ now: 4, later: 1 });
    expect(await later).toEqual([101]);
    expect(await read(add(z, 10_000))).toEqual([11_101]);
    expect(counts).toEqual({ now: 4, later: 2 });
    backend.close();
  });

  it('keep so much waiting at most', async () => {
    const { backend, counts, add, tensor, read } = await counted();
    let x = tensor([0]);
    for (let i = 0; i < 5000; i++) x = add(x, 1);
    expect(counts.now).toBeGreaterThan(0);
    expect(counts.later).toBe(0);
    expect(await read(x)).toEqual([5000]);
    const { now } = counts;
    const y = add(x, 2);
    const big = new Uint8Array(40 * 2 ** 20);
    for (let i = 0; i < 2; i++) backend.allocator.write(backend.allocator.allocate(big.length), big);
    expect(counts.now).toBe(now + 1);
    expect(counts.later).toBe(0);
    expect(await read(y)).toEqual([5002]);
    backend.close();
  });

  it('end with the device', async () => {
    const { gpu, add, tensor, read } = await counted();
    const reads = [1, 2, 3].map((value) => read(add(tensor([1]), value)));
    gpu.device.destroy();
    for (const { status } of await Promise.allSettled(reads)) expect(status).toBe('rejected');
    expect(() => add(tensor([1]), 4)).toThrow(UnavailableError);
  });
});
