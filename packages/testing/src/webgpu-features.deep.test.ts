// Kernels that make use of optional features of WebGPU, compiled for a GPU of Dawn that has them all and runs nothing.
import '@eagre/backend-js';
import { type GpuProgram, printWgsl, shareType, wgslFeatures } from '@eagre/gpu-kernels';
import { beforeAll, expect, it } from 'vitest';
import { nullGpu } from '../../backend-webgpu/src/testing/null-gpu.ts';
import { narrowOf } from '../../gpu-kernels/src/language/syntax.ts';
import {
  recordAttention,
  recordCalls,
  recordConvolutions,
  recordProducts,
} from './testing/recorded-calls.ts';

const { gpu, pump } = nullGpu();
let device: GPUDevice;
let programs: readonly GpuProgram[];

beforeAll(async () => {
  const adapter = await pump.within(() => gpu.requestAdapter());
  device = await pump.within(() => adapter!.requestDevice({ requiredFeatures: wgslFeatures }));
  const recorders = [recordCalls(), recordProducts(), recordConvolutions(), recordAttention()];
  programs = recorders.flatMap((recorder) => [...recorder.programs].filter((program) => 'module' in program));
  return () => device.destroy();
});

/** What the compiler says of a kernel. */
async function refused(code: string, entryPoint: string): Promise<string | undefined> {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: 'auto', compute: { module, entryPoint } });
  return (await pump.within(() => device.popErrorScope()))?.message;
}

/** By binding, the first one with which it may share memory, where one of them is written. */
function merged({ module, buffers }: GpuProgram): readonly number[] | undefined {
  const same = module.bindings.map(({ number }) => {
    if (number >= buffers) return number;
    return module.bindings.findIndex((b) => b.space === 'storage' && shareType(module, b.number, number));
  });
  return same.some((first, number) => first !== number) ? same : undefined;
}

it('compiles all kernels of float16 with elements that are f16', async () => {
  const features = new Set(['shader-f16']);
  let count = 0;
  for (const program of programs) {
    const { module } = program;
    if (!module.bindings.some((binding) => narrowOf(binding) === 'float16')) continue;
    count++;
    const sameAs = merged(program);
    for (const options of [{}, { allWritable: true }, ...(sameAs === undefined ? [] : [{ sameAs }])]) {
      const code = printWgsl(module, { ...options, features });
      expect(code.startsWith('enable f16;\n')).toBe(true);
      expect(await refused(code, module.entry.name), program.text).toBeUndefined();
    }
  }
  expect(count).toBeGreaterThan(100);
  console.log(`${count} kernels of float16`);
});

it('compiles all kernels whose workgroups reduce with subgroups', async () => {
  const features = new Set(['subgroups']);
  let count = 0;
  for (const { module, text } of programs) {
    const code = printWgsl(module, { features });
    expect(code.includes('enable subgroups;')).toBe(module.entryOfSubgroups !== undefined);
    // Larger workgroups are for GPUs of NVIDIA.
    if (module.entryOfSubgroups === undefined || module.workgroup[0] > 256) continue;
    count++;
    expect(await refused(code, module.entry.name), text).toBeUndefined();
    expect(
      await refused(printWgsl(module, { features: device.features }), module.entry.name),
    ).toBeUndefined();
  }
  expect(count).toBeGreaterThan(50);
  console.log(`${count} kernels with subgroups`);
});

it('finds kernels that are wrong', async () => {
  const code = (text: string): string => `${text}@compute@workgroup_size(1)fn main(){_=f32(1h);}`;
  expect(await refused(code(''), 'main')).toMatch(/f16/);
  expect(await refused(code('enable f16;'), 'main')).toBeUndefined();
});
