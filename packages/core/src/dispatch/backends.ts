// Registers what can compute here: native kernels where the addon loads, else the JavaScript ones, with a word about it in Node.
import { type Backend, getBackend, NotFoundError } from '@eagre/backend';
import '@eagre/backend-js';
import { nativeUnavailable } from '@eagre/backend-native';

/** The backend that `EAGRE_BACKEND` names; null where it names none. @throws NotFoundError for one that is not there. */
export function namedBackend(): Backend | null {
  // Browsers have no process.
  const process: Partial<NodeJS.Process> | undefined = globalThis.process;
  const wanted = process?.env?.EAGRE_BACKEND;
  if (wanted === 'native' && nativeUnavailable !== undefined) throw new NotFoundError(nativeUnavailable);
  if (wanted !== undefined && wanted !== '') return getBackend(wanted);
  if (nativeUnavailable !== undefined) process?.emitWarning?.(nativeUnavailable, { code: 'EAGRE_NO_NATIVE' });
  return null;
}
