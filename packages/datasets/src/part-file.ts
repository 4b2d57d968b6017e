import { readFileBytes } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';

/** What an interrupted download left behind. It is only a hint: the whole file is verified before it is used. */
export interface PartFile {
  /** The bytes of earlier attempts; empty when there are none. */
  read(): Promise<Uint8Array>;
  /** Starts or goes on writing, at the given position. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Closes the file and keeps it. */
  close(): Promise<void>;
  /** Closes the file and deletes it. */
  discard(): Promise<void>;
}

/** The part file at `path`, of which nothing need exist but the folder. */
export function partFile(path: string): PartFile {
  const { open, rm } = nodeBuiltin('node:fs').promises;
  let file: Awaited<ReturnType<typeof open>> | undefined;
  const close = async (): Promise<void> => {
    await file?.close();
    file = undefined;
  };
  return {
    read: () => readFileBytes(path).catch(() => new Uint8Array(0)),
    async write(bytes, position) {
      // Positioned writes: a second process that downloads the same file writes the same bytes.
      file ??= await open(path, position === 0 ? 'w' : 'r+');
      await file.write(bytes, 0, bytes.length, position);
    },
    close,
    async discard() {
      await close();
      await rm(path, { force: true });
    },
  };
}
