// Has the backend find a driver and a compiler that compute on the processor: native/cuda/tests/fake_cuda.cc.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { allBackends } from '@eagre/backend';
import { compile, compiler, shimRuntime } from '../../../gpu-kernels/src/testing/cuda-shim.ts';
import { temporaryFolder } from '../../../testing/src/temporary.ts';
import type { CudaBackend } from '../cuda-backend.ts';

const sources = fileURLToPath(new URL('../../../../native/cuda/tests/', import.meta.url));
const folder = temporaryFolder('fake-cuda');

const flags = ['-O0', '-fPIC', '-fvisibility=hidden'];
/** What the fake compiler gives to a kernel's text: a header that was compiled once is taken for the same flags only. */
const ofKernels = [...flags, '-fwrapv', '-ffp-contract=off'];

/** Whether the fake driver is there: on Linux, where there is a C++ compiler. */
export const hasFakeCuda: boolean = compiler !== undefined && process.platform === 'linux';
/** The library that is both the driver and NVRTC. */
export const fakeCuda: string = join(folder, 'libfake_cuda.so');

/** What a process needs to find it. */
export const fakeCudaEnvironment: Readonly<Record<string, string>> = {
  EAGRE_CUDA_DRIVER: fakeCuda,
  EAGRE_NVRTC: fakeCuda,
  // A real one knows no fake GPU.
  EAGRE_CUBLASLT: '0',
  // Nothing of real GPUs, and nothing that is left behind.
  EAGRE_CUDA_KERNELS: '0',
  EAGRE_CUDA_CACHE: '0',
  FAKE_CUDA_MEMORY: String(16 * 2 ** 20),
  FAKE_CUDA_CXX: compiler ?? '',
  FAKE_CUDA_INCLUDE: folder,
  FAKE_CUDA_SHIM: hasFakeCuda ? shimRuntime() : '',
};

if (hasFakeCuda) {
  compile(...flags, '-shared', join(sources, 'fake_cuda.cc'), '-o', fakeCuda, '-ldl', '-pthread');
  compile(
    ...ofKernels,
    '-x',
    'c++-header',
    join(sources, 'fake_image.h'),
    '-o',
    join(folder, 'fake_image.h.gch'),
  );
  Object.assign(process.env, fakeCudaEnvironment);
}

/** Has all drivers told what was launched: threads of their own do it, which read settings too. */
export function settleAll(): void {
  // The class of the tests' bundles is another one.
  for (const backend of allBackends()) if ('settle' in backend) (backend as CudaBackend).settle();
}

/** Sets what the fake driver and its libraries read at each call, while `body` runs. */
export function withFake<T>(
  settings: Readonly<Record<`FAKE_CU${'DA' | 'BLASLT'}_${string}`, string>>,
  body: () => T,
): T {
  settleAll();
  Object.assign(process.env, settings);
  try {
    return body();
  } finally {
    settleAll();
    for (const name of Object.keys(settings)) process.env[name] = '';
  }
}
