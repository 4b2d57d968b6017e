// Registers what can compute here: native kernels where the addon loads, else the JavaScript ones, with a word about it in Node.
import { NotFoundError } from '@eagre/backend';
import '@eagre/backend-js';
import { nativeCrc32c, nativeFiles, nativeUnavailable } from '@eagre/backend-native';
import { useBackend } from '@eagre/core/internal';
import { useCrc32c, useNativeFiles } from '@eagre/formats';

// Browsers have none.
const process: Partial<NodeJS.Process> | undefined = globalThis.process;
useCrc32c(nativeCrc32c);
useNativeFiles(nativeFiles);

const wanted = process?.env?.EAGRE_BACKEND;
if (wanted === 'native' && nativeUnavailable !== undefined) throw new NotFoundError(nativeUnavailable);
if (wanted !== undefined && wanted !== '') useBackend(wanted);
else if (nativeUnavailable !== undefined) {
  process?.emitWarning?.(nativeUnavailable, { code: 'EAGRE_NO_NATIVE' });
}
