/** What other packages of Eagre build on. No promise is made to anyone else: names here change without notice. */

export { crc32 } from './archives/crc32.ts';
export { useCrc32c } from './archives/crc32c.ts';
export { mostUnpacked } from './archives/limits.ts';
export { encodeElements } from './arrays/elements.ts';
export { joined } from './bytes.ts';
export { beginAtomic, isLeftover, ownMark, syncFile, syncFolder } from './files/atomic.ts';
export { isUrl } from './files/files.ts';
export {
  deleteLeftoverFolders,
  folderBeside,
  replaceFolder,
  restoreFolder,
} from './files/folders.ts';
export { type NativeFiles, useNativeFiles } from './files/native-files.ts';
export { hasFiles, type NodeBuiltins, NoFilesError, nodeBuiltin } from './files/node.ts';
export { notRegular, OpenFiles, openRegular, readRegularSync } from './files/open-files.ts';
export { isOwnName } from './files/own-name.ts';
export { ownSchemes, schemeOf, urlFiles } from './files/schemes.ts';
export { inTemporaryFolder } from './files/temporary.ts';
export {
  type FieldDescriptor,
  type FieldType,
  type MessageDescriptor,
  readDescriptors,
  type ScalarValue,
} from './protobuf/descriptors.ts';
export { reserialized } from './protobuf/dynamic-message.ts';
export { DELIMITED } from './protobuf/protobuf.ts';
export { parseTextFormat } from './protobuf/text-format.ts';
export { WireReader, WireWriter, wireTypeOf } from './protobuf/wire.ts';
export { encodeStringContent } from './tensorflow/tensor-proto.ts';
