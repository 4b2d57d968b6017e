import { errorsFor } from '../errors.ts';
import { nodeBuiltin } from '../files/node.ts';
import { mostUnpacked } from './limits.ts';

/** Options of {@link gunzip}. */
export interface GunzipOptions {
  /** The file's name, for error messages. */
  file?: string | undefined;
  /** The most bytes that may come out; protects from bombs. Default: 256 MiB, or a hundred times the file. */
  maxBytes?: number | undefined;
}

/** Whether the bytes begin as a gzip file does. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Unpacks a gzip file, off the main thread. Node only.
 *
 * @throws FormatError when the file is truncated or corrupt, or when it unpacks to more than `maxBytes`.
 */
export async function gunzip(bytes: Uint8Array, options: GunzipOptions = {}): Promise<Uint8Array> {
  const maxBytes = options.maxBytes ?? mostUnpacked(bytes.length);
  const error = errorsFor('gzip', options.file);
  try {
    const unpack = nodeBuiltin('node:util').promisify<Uint8Array, { maxOutputLength: number }, Uint8Array>(
      nodeBuiltin('node:zlib').gunzip,
    );
    return await unpack(bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw error('too large', `at most ${maxBytes} bytes unpacked`, 'more', cause);
    if (code === 'Z_BUF_ERROR') throw error('truncated gzip file', undefined, `${bytes.length} bytes`, cause);
    if (code?.startsWith('Z_')) throw error('corrupt gzip file', undefined, message, cause);
    throw cause;
  }
}
