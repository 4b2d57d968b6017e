// What reads and writes JPEG and PNG files at the speed of C, where there is an addon of it: TensorFlow's libjpeg-turbo, and PNG over libdeflate.
// In pages, and on platforms without the addon, the decoders in JavaScript beside this file stand in.
import { InvalidArgumentError, ResourceExhaustedError } from '@eagre/backend';
import { type Codecs, loadCodecs } from '@eagre/backend-native/here';

let chosen: Codecs | undefined | null = null;

/** The codecs of the addon; undefined where there are none. */
export function codecs(): Codecs | undefined {
  return chosen === null ? loadCodecs() : chosen;
}

/** Has tests use the decoders in JavaScript (undefined), or what there is (null). */
export function useCodecs(those: Codecs | undefined | null): void {
  chosen = those;
}

/** Calls the addon, and makes Eagre's errors of its failures. */
export function guarded<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    const { code, message } = cause as { readonly code?: string; readonly message: string };
    if (code === 'RESOURCE_EXHAUSTED') throw new ResourceExhaustedError(message, what, { cause });
    throw new InvalidArgumentError(message, what, { cause });
  }
}
