// WebP files, with all of their frames. The library decodes single pictures; frames of animations are laid over each other here.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { MAX_PIXELS } from './png.ts';

/** What of the library is used. It gives RGBA, or null for damaged bytes. */
interface WebpLibrary {
  decode(
    bytes: Uint8Array,
  ): { readonly width: number; readonly height: number; readonly data: Uint8ClampedArray } | null;
}
interface WasmInstance {
  readonly exports: unknown;
}
/** What of WebAssembly is used, which is in every engine, and not in the types of its language. */
interface Wasm {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: unknown) => WasmInstance;
}
interface WebpModule extends Partial<WebpLibrary> {
  noInitialRun: boolean;
  instantiateWasm?: (imports: unknown, done: (instance: WasmInstance) => void) => unknown;
}
type WebpFactory = (module: WebpModule) => Promise<WebpLibrary>;

const LIBRARY = '@jsquash/webp/codec/dec/webp_dec.js';
let library: WebpLibrary | undefined;
// Why the library could not be loaded.
let failure: unknown;

/** Loads the library. Where there are no files, it fetches its code of WebAssembly itself. */
export async function loadWebp(): Promise<void> {
  if (library !== undefined || loadedFromFiles() !== undefined) return;
  try {
    const { default: make } = (await import('@jsquash/webp/codec/dec/webp_dec.js')) as unknown as {
      readonly default: WebpFactory;
    };
    library = await make({ noInitialRun: true });
  } catch (cause) {
    // A bundle may lack the code of WebAssembly, and need none but JPEG: the first WebP file says so.
    failure = cause;
  }
}

/** The library, loaded at once from files; undefined where that is not possible. */
function loadedFromFiles(): WebpLibrary | undefined {
  if (library !== undefined) return library;
  try {
    const load = nodeBuiltin('node:module').createRequire(import.meta.url);
    const wasm = nodeBuiltin('node:fs').readFileSync(load.resolve(LIBRARY.replace('.js', '.wasm')));
    const { default: make } = load(LIBRARY) as { readonly default: WebpFactory };
    const { Module, Instance } = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
    const code = new Module(new Uint8Array(wasm));
    const module: WebpModule = {
      noInitialRun: true,
      instantiateWasm(imports, done) {
        const instance = new Instance(code, imports);
        done(instance);
        return instance.exports;
      },
    };
    void make(module);
    // It is there at once, since nothing was fetched.
    if (module.decode !== undefined) library = module as WebpLibrary;
    return library;
  } catch (cause) {
    failure = cause;
    return undefined;
  }
}

export function isWebp(bytes: Uint8Array): boolean {
  return nameAt(bytes, 0) === 'RIFF' && nameAt(bytes, 8) === 'WEBP';
}

const nameAt = (bytes: Uint8Array, at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));

/** Pictures of RGB or RGBA, one after another. */
export interface WebpFrames {
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  readonly count: number;
  /** [frames, height, width, channels] */
  readonly data: Uint8Array;
}

interface Chunk {
  readonly name: string;
  readonly content: Uint8Array;
  /** With its header, filled up to an even size. */
  readonly whole: Uint8Array;
}

/**
 * The frames of a WebP file: one with 3 values for each pixel, or 4 where it has transparency; those of animations have 4.
 * @throws InvalidArgumentError for what is none, and for one that is too large
 */
export function decodeWebp(bytes: Uint8Array, what: string): WebpFrames {
  const fail = (why: string): InvalidArgumentError =>
    new InvalidArgumentError(`damaged WebP file: ${why}`, what);
  if (!isWebp(bytes)) throw fail('it does not begin as one');
  const decoder = loadedFromFiles();
  if (decoder === undefined)
    throw new FailedPreconditionError(
      'WebP files need a library that is not loaded here: await tf.io.loadImageCodecs() first, where `webp_dec.wasm` of @jsquash/webp can be fetched',
      what,
      { cause: failure },
    );
  const chunks = chunksOf(bytes.subarray(12), fail);
  const frames = chunks.filter(({ name }) => name === 'ANMF');
  if (frames.length > 0) return animation(decoder, chunks, frames, what, fail);
  const { width, height, hasAlpha } = headerOf(chunks, fail);
  checkPixels(width, height, 1, what);
  const rgba = decoded(decoder, bytes, fail);
  if (rgba.length !== 4 * width * height) throw fail('its size is not that of its header');
  const channels = hasAlpha ? 4 : 3;
  return { width, height, channels, count: 1, data: hasAlpha ? rgba : withoutAlpha(rgba) };
}

type Fail = (why: string) => InvalidArgumentError;

function checkPixels(width: number, height: number, count: number, what: string): void {
  if (width * height * count > MAX_PIXELS)
    throw new InvalidArgumentError(`a WebP file of more than ${MAX_PIXELS} pixels`, what);
}

function decoded(decoder: WebpLibrary, bytes: Uint8Array, fail: Fail): Uint8Array {
  let picture: ReturnType<WebpLibrary['decode']>;
  try {
    picture = decoder.decode(bytes);
  } catch (cause) {
    // Its memory may be damaged: the next file gets a new one.
    library = undefined;
    throw fail((cause as Error).message);
  }
  if (picture === null) throw fail('its picture cannot be decoded');
  return new Uint8Array(picture.data);
}

function withoutAlpha(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; to < rgb.length; from += 4, to += 3) {
    rgb[to] = rgba[from];
    rgb[to + 1] = rgba[from + 1];
    rgb[to + 2] = rgba[from + 2];
  }
  return rgb;
}

function chunksOf(bytes: Uint8Array, fail: Fail): readonly Chunk[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunks: Chunk[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    if (size > bytes.length - at - 8) throw fail('it ends too early');
    const end = Math.min(at + 8 + size + (size % 2), bytes.length);
    chunks.push({
      name: nameAt(bytes, at),
      content: bytes.subarray(at + 8, at + 8 + size),
      whole: bytes.subarray(at, end),
    });
    at = end;
  }
  return chunks;
}

const uint24 = (bytes: Uint8Array, at: number): number =>
  bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);

function headerOf(
  chunks: readonly Chunk[],
  fail: Fail,
): { readonly width: number; readonly height: number; readonly hasAlpha: boolean } {
  const extended = chunks.find(({ name }) => name === 'VP8X')?.content;
  const picture = chunks.find(({ name }) => name === 'VP8 ' || name === 'VP8L');
  if (picture === undefined) throw fail('it has no picture');
  const { name, content } = picture;
  if (content.length < 10) throw fail('it ends too early');
  const hasMask = chunks.some((chunk) => chunk.name === 'ALPH');
  if (name === 'VP8 ') {
    const width = (content[6] | (content[7] << 8)) & 0x3fff;
    const height = (content[8] | (content[9] << 8)) & 0x3fff;
    return { width, height, hasAlpha: hasMask && extended !== undefined };
  }
  const bits = content[1] | (content[2] << 8) | (content[3] << 16) | (content[4] << 24);
  const isTransparent = ((bits >>> 28) & 1) === 1;
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1, hasAlpha: isTransparent };
}

/** Frames of an animation on a transparent picture, each with what is left of those before. */
function animation(
  decoder: WebpLibrary,
  chunks: readonly Chunk[],
  frames: readonly Chunk[],
  what: string,
  fail: Fail,
): WebpFrames {
  const extended = chunks.find(({ name }) => name === 'VP8X')?.content;
  if (extended === undefined || extended.length < 10) throw fail('it has frames, but no size');
  const [width, height] = [uint24(extended, 4) + 1, uint24(extended, 7) + 1];
  checkPixels(width, height, frames.length, what);
  const canvas = new Uint8Array(4 * width * height);
  const data = new Uint8Array(canvas.length * frames.length);
  frames.forEach(({ content }, i) => {
    if (content.length < 16) throw fail('a frame ends too early');
    const [left, top] = [2 * uint24(content, 0), 2 * uint24(content, 3)];
    const [w, h] = [uint24(content, 6) + 1, uint24(content, 9) + 1];
    if (left + w > width || top + h > height) throw fail('a frame is outside of the picture');
    const inner = headerOf(chunksOf(content.subarray(16), fail), fail);
    if (inner.width !== w || inner.height !== h) throw fail('the size of a frame is not that of its header');
    const rgba = decoded(decoder, alone(content.subarray(16), w, h, fail), fail);
    if (rgba.length !== 4 * w * h) throw fail('the size of a frame is not that of its header');
    const flags = content[15];
    for (let y = 0; y < h; y++)
      for (let x = 0; x < w; x++)
        lay(canvas, 4 * ((y + top) * width + x + left), rgba, 4 * (y * w + x), (flags & 2) === 0);
    data.set(canvas, i * canvas.length);
    if ((flags & 1) === 0) return;
    for (let y = top; y < top + h; y++) canvas.fill(0, 4 * (y * width + left), 4 * (y * width + left + w));
  });
  return { width, height, channels: 4, count: frames.length, data };
}

/** The chunks of a frame as a file of its own. */
function alone(content: Uint8Array, width: number, height: number, fail: Fail): Uint8Array {
  const parts = chunksOf(content, fail).filter(({ name }) => ['ALPH', 'VP8 ', 'VP8L'].includes(name));
  const isMasked = parts.some(({ name }) => name === 'ALPH');
  const size = parts.reduce((n, { whole }) => n + whole.length, isMasked ? 18 : 0);
  const file = new Uint8Array(12 + size);
  const view = new DataView(file.buffer);
  file.set([...'RIFF    WEBP'].map((c) => c.charCodeAt(0)));
  view.setUint32(4, 4 + size, true);
  let at = 12;
  if (isMasked) {
    file.set(
      [...'VP8X'].map((c) => c.charCodeAt(0)),
      at,
    );
    view.setUint32(at + 4, 10, true);
    file[at + 8] = 0x10;
    const [w, h] = [width - 1, height - 1];
    file.set([w & 255, (w >> 8) & 255, w >> 16, h & 255, (h >> 8) & 255, h >> 16], at + 12);
    at += 18;
  }
  for (const { whole } of parts) {
    file.set(whole, at);
    at += whole.length;
  }
  return file;
}

/** Lays a pixel over another, with the integers that libwebp computes with. */
function lay(canvas: Uint8Array, to: number, rgba: Uint8Array, from: number, blends: boolean): void {
  const alpha = rgba[from + 3];
  if (blends && alpha === 0) return;
  if (!blends || alpha === 255) {
    for (let c = 0; c < 4; c++) canvas[to + c] = rgba[from + c];
    return;
  }
  const below = (canvas[to + 3] * (256 - alpha)) >> 8;
  const sum = alpha + below;
  const scale = Math.floor(2 ** 24 / sum);
  for (let c = 0; c < 3; c++)
    canvas[to + c] = Math.floor(((rgba[from + c] * alpha + canvas[to + c] * below) * scale) / 2 ** 24);
  canvas[to + 3] = sum;
}
