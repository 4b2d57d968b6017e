// What reads and writes JPEG and PNG files as TensorFlow does: libjpeg-turbo, and PNG over libdeflate.
import { loadCodecs } from '@eagre/backend-native/here';
import { type Codecs, callCodecs } from '@eagre/backend-wasm/codecs';

let chosen: Codecs | undefined;

/** Has tests use these codecs; those that there are again for undefined. */
export function useCodecs(those: Codecs | undefined): void {
  chosen = those;
}

/** Calls the codecs, with Eagre's errors. */
export const guarded = <T>(what: string, call: (codecs: Codecs) => T): T => callCodecs(what, call, chosen);

/** What reads files on other threads: the addon alone. */
export const threads = (): Codecs | undefined => chosen ?? loadCodecs();
