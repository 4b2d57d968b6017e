// Registers what can compute here: native kernels where the addon loads, else those of WebAssembly, else those in JavaScript, with a word about it in Node.
import { type Backend, getBackend, NotFoundError } from '@eagre/backend';
import '@eagre/backend-js';
import { nativeUnavailable } from '@eagre/backend-native/here';
import { openHere } from '@eagre/backend-wasm/here';

/** The backend that `EAGRE_BACKEND` names; null where it names none. @throws NotFoundError for one that is not there. */
export function namedBackend(): Backend | null {
  // Browsers have no process.
  const process: Partial<NodeJS.Process> | undefined = globalThis.process;
  const wanted = process?.env?.EAGRE_BACKEND;
  if (wanted === 'native' && nativeUnavailable !== undefined) throw new NotFoundError(nativeUnavailable);
  if (wanted === 'wasm') {
    const why = openWasm();
    if (why !== undefined) throw new NotFoundError(`There are no kernels of WebAssembly: ${why}`);
  }
  if (wanted !== undefined && wanted !== '') return getBackend(wanted);
  if (nativeUnavailable === undefined || process?.emitWarning === undefined) return null;
  const why = openWasm();
  const instead =
    why === undefined
      ? 'Kernels of WebAssembly run instead.'
      : `Kernels in JavaScript run instead, which are 10 to 100 times slower, since there are none of WebAssembly: ${why}`;
  process.emitWarning(`${nativeUnavailable}\n  ${instead}`, { code: 'EAGRE_NO_NATIVE' });
  return null;
}

/** Opens the kernels of WebAssembly, in Node: pages wait for them (`ready.ts`). @returns why there are none */
function openWasm(): string | undefined {
  if (openHere === undefined) return 'await tf.ready() to open them';
  try {
    openHere();
    return undefined;
  } catch (error) {
    return String((error as Partial<Error> | null)?.message ?? error).split('\n')[0];
  }
}
