// The kernels of a page: each op brings those that it needs. Where an op names its kernel, the build for pages writes `bring(name, group)`, by
// which the op holds the group (`tools/page-kernels.mjs`): bundlers leave out kernels with the ops.
import { type Kernel, type KernelName, UnimplementedError } from '@eagre/backend';
import { exhaustible } from './exhaustible.ts';

const brought: Partial<Record<KernelName, Kernel>> = {};

/** Makes the kernels of a group known. @returns the name of the one that somebody needs */
export function bring<Name extends KernelName>(
  name: Name,
  group: Readonly<Partial<Record<KernelName, Kernel>>>,
): Name {
  if (brought[name] === undefined)
    for (const [own, kernel] of Object.entries(group)) brought[own as KernelName] = exhaustible(kernel);
  return name;
}

/** A kernel that was brought. @throws UnimplementedError for others */
export function broughtKernel(name: KernelName): Kernel {
  const kernel = brought[name];
  if (kernel === undefined)
    throw new UnimplementedError(
      `this page has no kernel ${name} in JavaScript: none of the ops that it was bundled with needs one`,
    );
  return kernel;
}
