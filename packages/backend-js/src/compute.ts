// All kernels, and the compiler of scalar programs: Node loads them when one is first asked for (`late.ts`).
import type { Kernel, KernelName } from '@eagre/backend';
import { exhaustible } from './exhaustible.ts';
import * as groups from './groups.ts';

export { compileScalar } from './scalar.ts';

const kernels: Partial<Record<KernelName, Kernel>> = Object.fromEntries(
  Object.values(groups)
    .flatMap((group) => Object.entries(group))
    .map(([name, kernel]) => [name, exhaustible(kernel)]),
);

export function kernelOf(name: KernelName): Kernel | undefined {
  return kernels[name];
}
