// The driver that does nothing, compiled when it is first needed, and what programs launch on it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Launch, launchOf } from './count.ts';
import type { Gpu } from './gpus.ts';

const source = fileURLToPath(new URL('../../../../native/cuda/tests/null_cuda.cc', import.meta.url));

const compiler = [process.env['CXX'], 'c++', 'g++', 'clang++'].find(
  (name) => name !== undefined && name !== '' && spawnSync(name, ['--version']).status === 0,
);
/** Whether it can be compiled: on Linux, with a C++ compiler. */
export const hasCompiler: boolean = compiler !== undefined && process.platform === 'linux';

/** Has the backend of CUDA find a GPU of this kind, which does nothing. Call it before that backend is imported. @throws Error without a C++ compiler */
export function useNullDriver({ capability, processors }: Gpu): void {
  const library = join(mkdtempSync(join(tmpdir(), 'eagre-null-cuda-')), 'libnull_cuda.so');
  const flags = ['-std=c++17', '-O1', '-fPIC', '-fvisibility=hidden', '-shared'];
  if (compiler === undefined) throw new Error('there is no C++ compiler; CXX names one');
  const made = spawnSync(compiler, [...flags, source, '-o', library], { encoding: 'utf8' });
  if (made.status !== 0)
    throw new Error(
      `${compiler} cannot compile the driver that does nothing: ${made.error?.message ?? made.stderr.slice(0, 2000)}`,
    );
  Object.assign(process.env, {
    EAGRE_CUDA_DRIVER: library,
    EAGRE_NVRTC: library,
    EAGRE_CUBLASLT: '0',
    EAGRE_CUDA_KERNELS: '0',
    EAGRE_CUDA_CACHE: '0',
    // Launches of graphs are not dispatches.
    EAGRE_CUDA_GRAPHS: '0',
    NULL_CUDA_CAPABILITY: String(capability),
    NULL_CUDA_PROCESSORS: String(processors),
  });
}

/**
 * What the third call of a program launches: functions are traced, and kernels compiled, by the first two. `useNullDriver` comes first.
 * @throws Error where the addon finds no GPU
 */
export async function launchesOf(
  make: (tf: typeof import('eagre')) => () => unknown,
): Promise<readonly Launch[]> {
  const tf = await import('eagre');
  const { cudaBackend, cudaUnavailable } = await import('@eagre/backend-cuda');
  if (cudaBackend === undefined) throw new Error(cudaUnavailable);
  const backend = cudaBackend as unknown as {
    dispatch(...args: Parameters<typeof launchOf>): void;
  };
  const { dispatch } = backend;
  return tf.device('/gpu:0', () => {
    const run = make(tf);
    for (let i = 0; i < 2; i++) run();
    const launches: Launch[] = [];
    backend.dispatch = function (name, made, given) {
      launches.push(launchOf(name, made, given));
      dispatch.call(this, name, made, given);
    };
    try {
      run();
    } finally {
      backend.dispatch = dispatch;
    }
    return launches;
  });
}
