import '@eagre/backend-js';
import './testing/swiftshader.ts';
import { getBackend, type TensorRef, typedView } from '@eagre/backend';
import { expect, it } from 'vitest';

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
