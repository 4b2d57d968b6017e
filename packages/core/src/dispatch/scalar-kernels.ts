// Scalar programs that kernels of other dtypes are built with.
import type { Backend, Kernel, ScalarProgram } from '@eagre/backend';

const compiled = new WeakMap<Backend, Map<string, Kernel>>();

/** The kernel of a scalar program, which is built and compiled once for each backend and key. */
export function scalarKernel(backend: Backend, key: string, build: () => ScalarProgram): Kernel {
  let kernels = compiled.get(backend);
  if (kernels === undefined) compiled.set(backend, (kernels = new Map()));
  let kernel = kernels.get(key);
  if (kernel === undefined) kernels.set(key, (kernel = backend.elementwise(build())));
  return kernel;
}
