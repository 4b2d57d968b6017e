// Kernels that were compiled before: one file of the package, made by `pnpm pack:kernels`. Its parts, in order: a mark; the size of the manifest and the
// sizes of two integers; the manifest's SHA-256; the manifest, which is JSON; blocks of images. All but the first three are compressed by Brotli.

import { DataLossError, NotFoundError } from '@eagre/backend';
import { nodeBuiltin, sha256Digits } from './node.ts';

const MAGIC = 'EAGREGPU';
const VERSION = 1;
/** The mark, the version, the manifest's bytes, and its SHA-256. */
const HEAD = MAGIC.length + 8 + 32;
/** Images are compressed together up to so many bytes. */
const BLOCK = 2 ** 18;
/** Blocks that are kept as they were decompressed last. */
const MOST_BLOCKS = 8;

/** An image of a kernel for some GPUs. */
export interface PackedImage {
  /** `keyOfText` of its program. */
  readonly key: string;
  /** `sm_90` for machine code, `compute_80` for PTX. */
  readonly target: string;
  readonly image: Uint8Array;
}

interface Manifest {
  /** The version of the compiler. */
  readonly compiler: string;
  readonly targets: readonly string[];
  /** Of each block: its bytes in the file, and its SHA-256 there. */
  readonly blocks: readonly (readonly [bytes: number, hash: string])[];
  /** By key: the images of a program. */
  readonly kernels: Readonly<Record<string, readonly Place[]>>;
}
type Place = readonly [target: number, block: number, start: number, bytes: number];

/** What an archive knows a program by. */
export function keyOfText(text: string): string {
  return sha256Digits(text).slice(0, 32);
}

/** The archive of images. Images that are the same are kept once. */
export function packKernels(images: readonly PackedImage[], compiler: string): Uint8Array {
  const { brotliCompressSync, constants } = nodeBuiltin('node:zlib');
  const compress = (bytes: Uint8Array, isText = false): Uint8Array =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_LGWIN]: 22,
        [constants.BROTLI_PARAM_MODE]: isText ? constants.BROTLI_MODE_TEXT : constants.BROTLI_MODE_GENERIC,
      },
    });
  const targets = [...new Set(images.map(({ target }) => target))];
  const kernels: Record<string, Place[]> = {};
  const known = new Map<string, readonly [block: number, start: number, bytes: number]>();
  const blocks: Uint8Array[] = [];
  for (const [number, target] of targets.entries()) {
    let parts: Uint8Array[] = [];
    let size = 0;
    const end = (): void => {
      if (size > 0) blocks.push(compress(Buffer.concat(parts), target.startsWith('compute_')));
      parts = [];
      size = 0;
    };
    for (const { key, image } of images.filter((each) => each.target === target)) {
      const hash = sha256Digits(image);
      let place = known.get(hash);
      if (place === undefined) {
        if (size > 0 && size + image.length > BLOCK) end();
        known.set(hash, (place = [blocks.length, size, image.length]));
        parts.push(image);
        size += image.length;
      }
      (kernels[key] ??= []).push([number, ...place]);
    }
    end();
  }
  const manifest: Manifest = {
    compiler,
    targets,
    blocks: blocks.map((block) => [block.length, sha256Digits(block)]),
    kernels,
  };
  const text = compress(new TextEncoder().encode(JSON.stringify(manifest)), true);
  const head = Buffer.alloc(HEAD);
  head.write(MAGIC, 'latin1');
  head.writeUInt32LE(VERSION, MAGIC.length);
  head.writeUInt32LE(text.length, MAGIC.length + 4);
  head.write(sha256Digits(text), MAGIC.length + 8, 'hex');
  return Buffer.concat([head, text, ...blocks]);
}

/** Kernels that lie in a file. */
export class KernelArchive {
  readonly #path: string;
  readonly #manifest: Manifest;
  /** Where each block begins in the file. */
  readonly #starts: readonly number[];
  readonly #blocks = new Map<number, Uint8Array>();

  /** @throws DataLossError for a file that is no archive, or is damaged. */
  constructor(path: string) {
    this.#path = path;
    const head = Buffer.from(this.#read(0, HEAD));
    if (head.toString('latin1', 0, MAGIC.length) !== MAGIC || head.readUInt32LE(MAGIC.length) !== VERSION)
      throw this.#damaged();
    const bytes = head.readUInt32LE(MAGIC.length + 4);
    const text = this.#read(HEAD, bytes);
    if (sha256Digits(text) !== head.toString('hex', MAGIC.length + 8)) throw this.#damaged();
    const { brotliDecompressSync } = nodeBuiltin('node:zlib');
    this.#manifest = JSON.parse(new TextDecoder().decode(brotliDecompressSync(text))) as Manifest;
    let at = HEAD + bytes;
    this.#starts = this.#manifest.blocks.map(([size]) => (at += size) - size);
  }

  /** How many programs it has. */
  get size(): number {
    return Object.keys(this.#manifest.kernels).length;
  }

  /** Whether there is an image of a program for GPUs of a compute capability. */
  has(key: string, capability: number): boolean {
    return this.#places(key, capability).length > 0;
  }

  /** The images of a program for a compute capability, the best first: machine code, then PTX. */
  *find(key: string, capability: number): Generator<Uint8Array> {
    for (const [, block, start, bytes] of this.#places(key, capability))
      yield this.#block(block).subarray(start, start + bytes);
  }

  #places(key: string, capability: number): readonly Place[] {
    if (!Object.hasOwn(this.#manifest.kernels, key)) return [];
    return this.#manifest.kernels[key]
      .map((place) => ({ place, rank: rankOf(this.#manifest.targets[place[0]], capability) }))
      .filter(({ rank }) => rank > 0)
      .sort((a, b) => b.rank - a.rank)
      .map(({ place }) => place);
  }

  #block(number: number): Uint8Array {
    let block = this.#blocks.get(number);
    this.#blocks.delete(number);
    if (block === undefined) {
      const [bytes, hash] = this.#manifest.blocks[number];
      const packed = this.#read(this.#starts[number], bytes);
      if (sha256Digits(packed) !== hash) throw this.#damaged();
      block = new Uint8Array(nodeBuiltin('node:zlib').brotliDecompressSync(packed));
    }
    this.#blocks.set(number, block);
    // The first was used longest ago.
    if (this.#blocks.size > MOST_BLOCKS) this.#blocks.delete([...this.#blocks.keys()][0]);
    return block;
  }

  #read(start: number, bytes: number): Uint8Array {
    const fs = nodeBuiltin('node:fs');
    const to = new Uint8Array(bytes);
    const file = fs.openSync(this.#path, 'r');
    try {
      for (let at = 0; at < bytes; ) {
        const count = fs.readSync(file, to, at, bytes - at, start + at);
        if (count === 0) throw this.#damaged();
        at += count;
      }
    } finally {
      fs.closeSync(file);
    }
    return to;
  }

  #damaged(): DataLossError {
    return new DataLossError(
      `${this.#path} is no whole archive of kernels: install @eagre/backend-cuda again, or name another file in EAGRE_CUDA_KERNELS (0 for none)`,
    );
  }
}

/** How well an image serves a compute capability; 0 for not at all. Machine code runs on later GPUs of the same major version, PTX on all later ones. */
function rankOf(target: string, capability: number): number {
  const [, kind, digits] = /^(sm|compute)_(\d+)$/.exec(target) as RegExpExecArray;
  const version = Number(digits);
  if (version > capability) return 0;
  if (kind === 'compute') return version;
  return Math.floor(version / 10) === Math.floor(capability / 10) ? 1000 + version : 0;
}

/**
 * The archive that `EAGRE_CUDA_KERNELS` names, if it is set; else that of this package, which a checkout has once `pnpm pack:kernels` has made it. None where the
 * variable is 0.
 * @throws DataLossError for one that is damaged; NotFoundError for one that is named and not there
 */
export function openKernelArchive(env: NodeJS.ProcessEnv = process.env): KernelArchive | undefined {
  const given = env['EAGRE_CUDA_KERNELS'];
  if (given === '0') return undefined;
  const path =
    given || nodeBuiltin('node:url').fileURLToPath(new URL('../kernels/kernels.bin', import.meta.url));
  const fs = nodeBuiltin('node:fs');
  const isThere = fs.existsSync(path);
  if (isThere && fs.statSync(path).isFile()) return new KernelArchive(path);
  if (given)
    throw new NotFoundError(
      `EAGRE_CUDA_KERNELS names ${given}, which is ${isThere ? 'no file' : 'not there'}`,
    );
  return undefined;
}
