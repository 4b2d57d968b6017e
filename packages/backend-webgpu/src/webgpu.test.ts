import '@eagre/backend-js';
import './testing/swiftshader.ts';
import { getBackend, type TensorRef, typedView } from '@eagre/backend';
import { expect, it, vi } from 'vitest';
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
    }, 10_000);
    expect(backend.allocator.info().bytesAllocated).toBeLessThan(before - 10 * 4 * size);
    // What is left is whole.
    negate([kept], [kept], {});
    backend.allocator.synchronize();
    backend.close();
  },
);
