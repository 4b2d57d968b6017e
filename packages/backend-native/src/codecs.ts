import { beside } from './load.ts';

/** Pictures in files, as native/codecs reads and writes them, in the addon `eagre_codecs.node` or in the module of WebAssembly. Failures are errors with the `code` of an error of Eagre's. */
export interface Codecs {
  /**
   * The picture in a JPEG file; `shape` gets height, width and channels.
   * @param wishes channels, ratio, fancyUpscaling, tryRecoverTruncated, accurate, whether a rectangle is wanted, and its
   *     y, x, height, width, and the bits of acceptableFraction as a float
   */
  decodeJpeg(bytes: Uint8Array, wishes: Int32Array, shape: Int32Array): Uint8Array;
  /** @param options quality, progressive, optimizeSize, chromaDownsampling, densityUnit, xDensity, yDensity */
  encodeJpeg(
    pixels: Uint8Array,
    height: number,
    width: number,
    channels: number,
    options: Int32Array,
    xmp: Uint8Array,
  ): Uint8Array;
  decodePng(
    bytes: Uint8Array,
    channels: number,
    depth: number,
    shape: Int32Array,
  ): Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;
  encodePng(
    values: Uint8Array | Uint16Array,
    height: number,
    width: number,
    channels: number,
    level: number,
  ): Uint8Array;
  /**
   * Of the addon: has other threads read JPEG and PNG files into rows of `out`, which nobody may use until `finishPictures` has returned.
   * @param recipe height, width, channels, bilinear, cropToAspectRatio, padToAspectRatio
   */
  beginPictures?(paths: readonly string[], recipe: Int32Array, out: Float32Array): unknown;
  /** Does what is left, and gives the numbers of the files of which no picture could be made; `wanted` false: begins no further one. */
  finishPictures?(reading: unknown, wanted: boolean): Int32Array;
}

let found: { readonly codecs: Codecs | undefined } | undefined;

/** The addon's, loaded when they are first asked for; undefined where there are none. */
export function loadCodecs(): Codecs | undefined {
  found ??= { codecs: beside('codecs.cjs', 'eagre_codecs.node') as Codecs | undefined };
  return found.codecs;
}
