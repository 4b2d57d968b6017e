import { FormatError } from '@eagre/formats';

/** One file of a tar archive. */
export interface TarMember {
  /** Its path in the archive, with forward slashes. */
  path: string;
  kind: 'file' | 'folder';
  /** Its content; empty for a folder. */
  bytes: Uint8Array;
}

/** Options of {@link readTar}. */
export interface ReadTarOptions {
  /** The archive's name, for error messages. */
  file: string;
  /** Only members that this accepts are kept. */
  filter?: (path: string) => boolean;
}

/**
 * The members of an unpacked tar archive, in its order. Nothing is written anywhere.
 *
 * @throws FormatError for a damaged archive, and for links and devices, which data sets have no use for.
 */
export async function readTar(bytes: Uint8Array, options: ReadTarOptions): Promise<TarMember[]> {
  // Loaded here since few programs need it.
  const { Parser } = await import('tar');
  const fail = (what: string, cause?: unknown): FormatError =>
    new FormatError({ format: 'tar', file: options.file, what, cause });
  if (bytes.length === 0 || bytes.length % 512 !== 0) throw fail('truncated tar archive');

  return await new Promise((resolve, reject) => {
    const members: TarMember[] = [];
    let settled = false;
    const refuse = (what: string, cause?: unknown): void => {
      settled = true;
      reject(fail(what, cause));
    };
    const parser = new Parser({
      strict: true,
      onReadEntry(entry) {
        const path = entry.path;
        if (settled || (options.filter && !options.filter(path))) return entry.resume();
        const folder = entry.type === 'Directory';
        if (!folder && entry.type !== 'File' && entry.type !== 'OldFile') {
          refuse(
            `${JSON.stringify(path.slice(0, 120))} is of type ${entry.type}; only files and folders are read`,
          );
          return entry.resume();
        }
        const chunks: Uint8Array[] = [];
        entry.on('data', (chunk: Uint8Array) => chunks.push(chunk));
        entry.on('end', () => {
          const content = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
          members.push({ path, kind: folder ? 'folder' : 'file', bytes: content });
        });
      },
    });
    parser.on('error', (cause: Error) => refuse(`corrupt tar archive: ${cause.message}`, cause));
    parser.on('end', () => {
      if (!settled) resolve(members);
    });
    // Whole blocks at a time: the parser then hands out views instead of copies.
    parser.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  });
}
