/** What gives the readers and writers of files native help. No promise is made to anyone else: names here change without notice. */
export { useCrc32c } from './crc32c.ts';
export { type NativeFiles, useNativeFiles } from './native-files.ts';
