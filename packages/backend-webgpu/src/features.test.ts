// What GPUs may have and need not: on one that has all of it, and runs nothing.
import { expect, it } from 'vitest';
import { openGpuDevice } from './gpu-device.ts';
import { usage } from './gpu-names.ts';
import { keepsHalfBits } from './half-bits.ts';
import { nullGpu } from './testing/null-gpu.ts';

it('a GPU whose kernels lose bits of float16 has words for them, and says what it uses', async () => {
  const found = nullGpu();
  const adapter = await found.gpu.requestAdapter();
  expect(adapter?.features.has('shader-f16')).toBe(true);
  const { device, features, description } = await openGpuDevice(found);
  // It was asked: nothing has run there, so no bits came back.
  expect(device.features.has('shader-f16')).toBe(true);
  expect(features.has('shader-f16')).toBe(false);
  expect(description).not.toContain('f16');
  device.destroy();
});

it.each([
  ['all bits', (bits: Uint16Array) => bits, true],
  ['no small number', (bits: Uint16Array) => bits.map((b) => ((b & 0x7c00) === 0 ? b & 0x8000 : b)), false],
  ['another NaN', (bits: Uint16Array) => bits.map((b) => ((b & 0x7fff) > 0x7c00 ? 0x7c00 : b)), false],
])('tells whether kernels keep bits: %s', async (_, change, keeps) => {
  const { gpu, pump } = nullGpu();
  const adapter = await pump.within(() => gpu.requestAdapter());
  const device = await pump.within(() => adapter!.requestDevice({ requiredFeatures: ['shader-f16'] }));
  // What would come back: this GPU does not copy either.
  const made: GPUBuffer[] = [];
  const create = device.createBuffer.bind(device);
  device.createBuffer = (descriptor: Parameters<typeof create>[0]) => {
    const buffer = create({ ...descriptor, usage: descriptor.usage | usage.copyTarget });
    made.push(buffer);
    return buffer;
  };
  const { queue } = device;
  const [write, submit] = [queue.writeBuffer.bind(queue), queue.submit.bind(queue)];
  let bits = new Uint16Array();
  queue.writeBuffer = (buffer, offset, data) => {
    bits = (data as Uint16Array).slice();
    return write(buffer, offset, data);
  };
  queue.submit = (commands) => {
    write(made[2], 0, change(bits).slice());
    return submit(commands);
  };
  expect(await keepsHalfBits(device, pump)).toBe(keeps);
  device.destroy();
});
