// Has the backend find a cuBLASLt that computes on the processor, for the fake driver: native/cuda/tests/fake_cublaslt.cc.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from '../../../gpu-kernels/src/testing/cuda-shim.ts';
import { fakeCuda, hasFakeCuda } from './fake-cuda.ts';

const source = fileURLToPath(new URL('../../../../native/cuda/tests/fake_cublaslt.cc', import.meta.url));

/** The library. */
export const fakeCublasLt: string = join(dirname(fakeCuda), 'libfake_cublaslt.so');

if (hasFakeCuda) {
  compile('-O1', '-fPIC', '-fvisibility=hidden', '-shared', source, '-o', fakeCublasLt, '-ldl');
  process.env['EAGRE_CUBLASLT'] = fakeCublasLt;
}
