// Where the libraries of NVIDIA are looked for.

import { UnavailableError } from '@eagre/backend';
import { type CudaAddon, called } from './addon.ts';

/** The driver's library: what `EAGRE_CUDA_DRIVER` names, or what the driver installs. */
export function driverLibrary(env: NodeJS.ProcessEnv = process.env): string {
  return env['EAGRE_CUDA_DRIVER'] || 'libcuda.so.1';
}

const NVRTC = ['libnvrtc.so.12', 'libnvrtc.so.13', 'libnvrtc.so'];

/**
 * Where the compiler's library may be: what `EAGRE_NVRTC` names and no other, if it is set, and nowhere if it is 0; else the loader's path, then the
 * folders of a toolkit.
 */
export function compilerLibraries(env: NodeJS.ProcessEnv = process.env): readonly string[] {
  const given = env['EAGRE_NVRTC'];
  if (given) return given === '0' ? [] : [given];
  return [...NVRTC, ...ofToolkit(NVRTC, env)];
}

const PRODUCTS = ['libcublasLt.so.13', 'libcublasLt.so.12', 'libcublasLt.so'];

/**
 * Where the library for products of matrices may be, cuBLASLt: what `EAGRE_CUBLASLT` names and no other, if it is set, and nowhere if it is 0; else the
 * loader's path, then the folders of a toolkit.
 */
export function productLibraries(env: NodeJS.ProcessEnv = process.env): {
  readonly paths: readonly string[];
  readonly isNamed: boolean;
} {
  const given = env['EAGRE_CUBLASLT'];
  if (given) return { paths: given === '0' ? [] : [given], isNamed: true };
  return { paths: [...PRODUCTS, ...ofToolkit(PRODUCTS, env)], isNamed: false };
}

/** Libraries in the folders of a toolkit. */
function ofToolkit(names: readonly string[], env: NodeJS.ProcessEnv): readonly string[] {
  const folders = [env['CUDA_HOME'], env['CUDA_PATH'], '/usr/local/cuda'].filter(Boolean);
  return folders.flatMap((folder) => names.map((name) => `${folder}/lib64/${name}`));
}

/** The compiler that is there. @throws UnavailableError that says what to install. */
export function findCompiler(addon: CudaAddon): { readonly path: string; readonly version: string } {
  const paths = compilerLibraries();
  const where =
    paths.length === 0 ? 'EAGRE_NVRTC is 0, which turns it off' : `looked for: ${paths.join(', ')}`;
  try {
    return called(() => addon.findCompiler(paths));
  } catch (cause) {
    throw new UnavailableError(
      'a kernel that was not compiled before is compiled by NVRTC, which is not there: install it (it is part of the CUDA toolkit; ' +
        '`pip install nvidia-cuda-nvrtc-cu12` has it alone), and name the file libnvrtc.so.12 in EAGRE_NVRTC unless the loader finds it; ' +
        where,
      undefined,
      { cause },
    );
  }
}
