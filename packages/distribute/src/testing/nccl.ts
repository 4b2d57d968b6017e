/** For tests: NCCL and GPUs that the processor plays, native/cuda/tests/fake_nccl.cc on native/cuda/tests/fake_cuda.cc. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fakeCuda, fakeCudaEnvironment, hasFakeCuda } from '../../../backend-cuda/src/testing/fake-cuda.ts';
import { compile } from '../../../gpu-kernels/src/testing/cuda-shim.ts';

const source = fileURLToPath(new URL('../../../../native/cuda/tests/fake_nccl.cc', import.meta.url));
const library = join(dirname(fakeCuda), 'libfake_nccl.so');

/** Why tests of NCCL are skipped; undefined where they are not. */
export const withoutNccl: string | undefined = hasFakeCuda
  ? undefined
  : 'Tests of NCCL are skipped: they need Linux and a C++ compiler';
if (withoutNccl !== undefined) console.warn(withoutNccl);
else {
  compile('-O1', '-fPIC', '-fvisibility=hidden', '-shared', source, '-o', library, '-ldl', '-pthread');
}

/** The environment of processes that see so many fake GPUs of one machine, and can compute on them. */
export function fakeGpus(count: number): Readonly<Record<string, string>> {
  return {
    ...fakeCudaEnvironment,
    EAGRE_NCCL_LIBRARY: library,
    FAKE_CUDA_DEVICES: String(count),
    FAKE_CUDA_MEMORY: String(64 * 2 ** 20),
  };
}
