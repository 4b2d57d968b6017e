// Has the backend find a cuBLASLt that computes on the processor, for the fake driver: native/cuda/tests/fake_cublaslt.cc.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compiler } from '../../../gpu-kernels/src/testing/cuda-shim.ts';
import { fakeCuda, hasFakeCuda } from './fake-cuda.ts';

const source = fileURLToPath(new URL('../../../../native/cuda/tests/fake_cublaslt.cc', import.meta.url));

/** The library. */
export const fakeCublasLt: string = join(dirname(fakeCuda), 'libfake_cublaslt.so');

if (hasFakeCuda) {
  const flags = ['-std=c++17', '-O1', '-w', '-fPIC', '-fvisibility=hidden', '-shared'];
  const made = spawnSync(compiler as string, [...flags, source, '-o', fakeCublasLt, '-ldl'], {
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`the compiler: ${made.stderr.slice(0, 4000)}`);
  process.env['EAGRE_CUBLASLT'] = fakeCublasLt;
}
