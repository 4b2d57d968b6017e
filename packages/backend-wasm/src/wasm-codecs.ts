import type { Codecs } from '@eagre/backend-native/here';

/** The functions that native/codecs/module.cc exports. Addresses are numbers of 32 bits. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  allocate(bytes: number): number;
  release(address: number): void;
  lastError(): number;
  /** Where the result is described: its address, how many bytes it has, and the height, width and channels of a picture. */
  made(): number;
  decodeJpeg(file: number, size: number, wishes: number): number;
  decodePng(file: number, size: number, channels: number, depth: number): number;
  encodeJpeg(
    pixels: number,
    height: number,
    width: number,
    channels: number,
    options: number,
    xmp: number,
    xmpSize: number,
  ): number;
  encodePng(
    values: number,
    height: number,
    width: number,
    channels: number,
    depth: number,
    level: number,
  ): number;
}

/** An instance whose memory has grown beyond so many bytes makes room for one with less: memory never shrinks. */
const MOST_KEPT = 1 << 26;

const NO_MEMORY = 'RESOURCE_EXHAUSTED';
const failed = (code: string, text: string): Error => Object.assign(new Error(text), { code });

/** The module's functions, with the errors of the addon. */
export class WasmCodecs implements Codecs {
  readonly #module: WebAssembly.Module;
  #exports: Exports | undefined;

  /** @throws LinkError or TypeError for another module */
  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#exports = this.#instance();
  }

  decodeJpeg(bytes: Uint8Array, wishes: Int32Array, shape: Int32Array): Uint8Array {
    return this.#call([bytes, wishes], shape, (e, file, at) => e.decodeJpeg(file, bytes.length, at));
  }

  encodeJpeg(
    pixels: Uint8Array,
    height: number,
    width: number,
    channels: number,
    options: Int32Array,
    xmp: Uint8Array,
  ): Uint8Array {
    checkSize(pixels, height, width, channels);
    return this.#call([pixels, options, xmp], undefined, (e, values, chosen, text) =>
      e.encodeJpeg(values, height, width, channels, chosen, text, xmp.length),
    );
  }

  decodePng(
    bytes: Uint8Array,
    channels: number,
    depth: number,
    shape: Int32Array,
  ): Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> {
    const values = this.#call([bytes], shape, (e, file) => e.decodePng(file, bytes.length, channels, depth));
    return depth === 8 ? values : new Uint16Array(values.buffer);
  }

  encodePng(
    values: Uint8Array | Uint16Array,
    height: number,
    width: number,
    channels: number,
    level: number,
  ): Uint8Array {
    checkSize(values, height, width, channels);
    return this.#call([values], undefined, (e, at) =>
      e.encodePng(at, height, width, channels, 8 * values.BYTES_PER_ELEMENT, level),
    );
  }

  #instance(): Exports {
    const exports = new WebAssembly.Instance(this.#module, {}).exports as unknown as Exports;
    exports._initialize();
    // Is it this module?
    exports.made();
    return exports;
  }

  /** Calls a function of the module with the addresses of copies of arrays, and gives a copy of the bytes that it made. */
  #call(
    arrays: readonly (Uint8Array | Uint16Array | Int32Array)[],
    shape: Int32Array | undefined,
    run: (exports: Exports, ...addresses: [number, number, number]) => number,
  ): Uint8Array<ArrayBuffer> {
    const exports = (this.#exports ??= this.#instance());
    // One that stops in the middle of something is never used again.
    this.#exports = undefined;
    let result: Uint8Array<ArrayBuffer> | Error;
    try {
      const addresses = arrays.map((array) => copied(exports, array));
      const outcome = run(exports, ...(addresses as [number, number, number]));
      for (const address of addresses) exports.release(address);
      if (outcome === 0) result = taken(exports, shape);
      else
        result = failed(outcome === 2 ? NO_MEMORY : 'INVALID_ARGUMENT', textAt(exports.lastError(), exports));
    } catch (cause) {
      const { code, message } = cause as { readonly code?: string; readonly message: string };
      throw code === undefined ? failed('INTERNAL', `WebAssembly stopped: ${message}`) : cause;
    }
    if (exports.memory.buffer.byteLength <= MOST_KEPT) this.#exports = exports;
    if (result instanceof Error) throw result;
    return result;
  }
}

function copied(
  exports: Exports,
  { buffer, byteOffset, byteLength }: Uint8Array | Uint16Array | Int32Array,
): number {
  const address = exports.allocate(byteLength) >>> 0;
  if (address === 0) throw failed(NO_MEMORY, 'there is no memory for the picture');
  new Uint8Array(exports.memory.buffer, address).set(new Uint8Array(buffer, byteOffset, byteLength));
  return address;
}

function taken(exports: Exports, shape: Int32Array | undefined): Uint8Array<ArrayBuffer> {
  const { buffer } = exports.memory;
  const [data = 0, size = 0, ...sizes] = new Uint32Array(buffer, exports.made(), 5);
  shape?.set(sizes);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(size);
  } catch {
    throw failed(NO_MEMORY, 'there is no memory for the picture');
  }
  bytes.set(new Uint8Array(buffer, data, size));
  exports.release(data);
  return bytes;
}

function checkSize(values: Uint8Array | Uint16Array, height: number, width: number, channels: number): void {
  if (values.length !== height * width * channels || height * width > 2 ** 27)
    throw failed('INVALID_ARGUMENT', `${values.length} values are no ${height} × ${width} × ${channels}`);
}

/** A text that ends with 0. */
function textAt(address: number, { memory }: Exports): string {
  const bytes = new Uint8Array(memory.buffer, address);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
}
