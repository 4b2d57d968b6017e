import { InternalError, UnavailableError } from '@eagre/backend';
import { printWgsl, programOf } from '@eagre/gpu-kernels';
import { COMPUTE, MAP_READ, usage } from './gpu-names.ts';
import type { Pump } from './pump.ts';

const FEATURES: ReadonlySet<string> = new Set(['shader-f16']);

/** Both signs of: numbers below the least normal one, that one, the largest one, 0, infinity, NaN. */
const BITS = Uint16Array.from(
  [0x0001, 0x03ff, 0x0400, 0x7bff, 0, 0x7c00, 0x7e00, 0x3c00].flatMap((bits) => [bits, bits | 0x8000]),
);

const roundTrip = programOf(`
@group(0) @binding(0) var<storage, read> x: array<float16>;
@group(0) @binding(1) var<storage, read_write> y: array<float16>;
@compute @workgroup_size(${BITS.length})
fn main(@builtin(local_invocation_index) t: u32) { y[t] = x[t]; }`);

/**
 * Whether kernels of this device keep all bits of elements that are f16: WGSL lets a GPU take small ones for 0, and take for granted that there is no infinity
 * and no NaN.
 * @throws UnavailableError where the device does not answer.
 */
export async function keepsHalfBits(device: GPUDevice, pump: Pump): Promise<boolean> {
  device.pushErrorScope('validation');
  const size = BITS.byteLength;
  const buffer = (of: number): GPUBuffer => device.createBuffer({ size, usage: of });
  const [x, y, staging] = [
    buffer(usage.storage | usage.copyTarget),
    buffer(usage.storage | usage.copySource),
    buffer(usage.mapRead | usage.copyTarget),
  ];
  const entries = (['read-only-storage', 'storage'] as const).map((type, binding) => ({
    binding,
    visibility: COMPUTE,
    buffer: { type },
  }));
  const layout = device.createBindGroupLayout({ entries });
  const { module } = roundTrip;
  const code = printWgsl(module, { features: FEATURES });
  const pipeline = device.createComputePipeline({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: device.createShaderModule({ code }), entryPoint: module.entry.name },
  });
  device.queue.writeBuffer(x, 0, BITS);
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  const resources = [x, y].map((of, binding) => ({ binding, resource: { buffer: of } }));
  pass.setBindGroup(0, device.createBindGroup({ layout, entries: resources }));
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(y, 0, staging, 0, size);
  pump.within(() => device.queue.submit([encoder.finish()]));
  const refused = await pump.within(() => device.popErrorScope());
  if (refused !== null) throw new InternalError(`the GPU refused a command: ${refused.message}`);
  try {
    await pump.within(() => staging.mapAsync(MAP_READ));
  } catch (cause) {
    throw new UnavailableError('the GPU does not answer', undefined, { cause });
  }
  const got = new Uint16Array(staging.getMappedRange());
  const isSame = BITS.every((bits, i) => got[i] === bits);
  for (const each of [x, y, staging]) each.destroy();
  return isSame;
}
