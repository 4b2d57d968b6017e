// A GPU of Dawn that checks all that it is told, compiles kernels and runs none.
import { create } from 'webgpu';
import type { FoundGpu } from '../gpu-device.ts';
import { Pump } from '../pump.ts';

export function nullGpu(): FoundGpu {
  const pump = new Pump();
  return { gpu: pump.within(() => create(['backend=null'])), pump, polls: true };
}
