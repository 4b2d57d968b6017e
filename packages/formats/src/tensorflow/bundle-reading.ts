// Tensors of a checkpoint that are being read.
import { maskCrc } from '../archives/crc32c.ts';
import type { NativeFiles } from '../files/native-files.ts';
import { nodeBuiltin } from '../files/node.ts';
import type { BundleEntry } from './bundle-index.ts';

/** A tensor, with the memory that its bytes are read into; undefined: they are wanted nowhere. */
export interface Part {
  readonly key: string;
  readonly entry: BundleEntry;
  readonly target: Uint8Array | undefined;
}

/** A data file that is open, and what is read of it. */
interface FileReading {
  readonly file: number;
  readonly parts: readonly Part[];
  readonly reading: unknown;
}

/** Tensors that another thread reads: see {@link BundleReader.begin}. */
export class BundleReading {
  readonly #native: NativeFiles;
  #files: FileReading[] = [];

  constructor(native: NativeFiles) {
    this.#native = native;
  }

  /** @internal Begins with one file, which is closed at the end. */
  add(file: number, parts: readonly Part[]): void {
    try {
      const reading = this.#native.beginRanges(file, placesOf(parts), targetsOf(parts) as Uint8Array[]);
      this.#files.push({ file, parts, reading });
    } catch (error) {
      nodeBuiltin('node:fs').closeSync(file);
      throw error;
    }
  }

  /**
   * Reads what is left, together with the other thread.
   * @returns the keys of the tensors that are in their targets. Of others, which {@link BundleReader.readInto} tells why, any bytes are there.
   */
  finish(): ReadonlySet<string> {
    const whole = new Set<string>();
    try {
      for (const { parts, reading } of this.#files) {
        const crcs = this.#native.finishRanges(reading, true);
        parts.forEach(({ key, entry, target }, i) => {
          const crc = crcs?.[i] ?? -1;
          if (crc < 0 || maskCrc(crc) !== entry.crc32c) return;
          if (entry.dtype === 'bool') onlyBools(target as Uint8Array);
          whole.add(key);
        });
      }
    } finally {
      this.stop();
    }
    return whole;
  }

  /** Ends the reading, wherever it is. */
  stop(): void {
    const files = this.#files;
    this.#files = [];
    for (const { reading } of files) this.#native.finishRanges(reading, false);
    for (const { file } of files) nodeBuiltin('node:fs').closeSync(file);
  }
}

/** Makes each byte 0 or 1. */
export function onlyBools(bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) bytes[i] = 1;
}

/** Offsets and lengths by turns. */
export function placesOf(parts: readonly Part[]): Float64Array {
  const places = new Float64Array(2 * parts.length);
  parts.forEach(({ entry }, i) => {
    places[2 * i] = entry.offset;
    places[2 * i + 1] = entry.bytes;
  });
  return places;
}

export function targetsOf(parts: readonly Part[]): Uint8Array[] | undefined {
  const targets = parts.flatMap(({ target }) => target ?? []);
  return targets.length === parts.length ? targets : undefined;
}
