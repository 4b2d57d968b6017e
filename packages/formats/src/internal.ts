/** What other packages of Eagre build on. No promise is made to anyone else: names here change without notice. */

export { isLeftover, ownMark } from './atomic.ts';
export { useCrc32c } from './crc32c.ts';
export { type NativeFiles, useNativeFiles } from './native-files.ts';
export { type NodeBuiltins, nodeBuiltin } from './node.ts';
export { OpenFiles } from './open-files.ts';
