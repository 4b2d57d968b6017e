import { UnimplementedError } from '@eagre/backend';
import { usage } from './gpu-names.ts';

const WIDTH = 256;
const ROW = WIDTH * 4;
/** Rows of the canvas: what few bytes are read by is small, since all of it is drawn. */
const FEW_ROWS = 8;
const MANY_ROWS = 1024;
const COPY_TO_TEXTURE = 2;

/**
 * Reads from a GPU in a browser without a turn of the event loop. The bytes are drawn as the colors of a canvas, and a canvas that is read waits for
 * what is drawn. Its pixels are right in their colors where it is opaque, and in their opacity where it is not: so each is drawn twice.
 */
export class CanvasReader {
  /** The bytes that it draws at once. */
  readonly #chunk: number;
  readonly #device: GPUDevice;
  readonly #buffer: GPUBuffer;
  readonly #sources: readonly { readonly canvas: OffscreenCanvas; readonly context: GPUCanvasContext }[];
  readonly #target: OffscreenCanvasRenderingContext2D;

  /**
   * @param bytes that are read at least at once.
   * @throws UnimplementedError where canvases cannot be had.
   */
  constructor(device: GPUDevice, bytes: number) {
    this.#device = device;
    const rows = CanvasReader.isFew(bytes) ? FEW_ROWS : MANY_ROWS;
    this.#chunk = rows * ROW;
    this.#buffer = device.createBuffer({ size: this.#chunk, usage: usage.copySource | usage.copyTarget });
    const make = (): OffscreenCanvas => {
      if (globalThis.OffscreenCanvas === undefined) throw noWay();
      return new OffscreenCanvas(WIDTH, rows);
    };
    const target = make().getContext('2d', { willReadFrequently: true });
    if (target === null) throw noWay();
    this.#target = target;
    this.#sources = (['opaque', 'premultiplied'] as const).map((alphaMode) => {
      const canvas = make();
      const context = canvas.getContext('webgpu') as GPUCanvasContext | null;
      if (context === null) throw noWay();
      context.configure({ device, format: 'bgra8unorm', usage: COPY_TO_TEXTURE, alphaMode });
      return { canvas, context };
    });
  }

  /** Whether so many bytes are better read by a small canvas. */
  static isFew(bytes: number): boolean {
    return bytes <= FEW_ROWS * ROW;
  }

  /** @param copyTo copies all the bytes to the start of a buffer, and submits that. */
  read(bytes: number, copyTo: (buffer: GPUBuffer) => void): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(bytes);
    const chunk = this.#chunk;
    const large = bytes > chunk;
    const whole = large
      ? this.#device.createBuffer({
          size: Math.ceil(bytes / chunk) * chunk,
          usage: usage.copySource | usage.copyTarget,
        })
      : this.#buffer;
    copyTo(whole);
    for (let at = 0; at < bytes; at += chunk) this.#draw(whole, at, all.subarray(at, at + chunk));
    if (large) whole.destroy();
    return all;
  }

  #draw(buffer: GPUBuffer, offset: number, out: Uint8Array): void {
    const rows = Math.ceil(out.length / ROW);
    for (const [pass, { canvas, context }] of this.#sources.entries()) {
      const encoder = this.#device.createCommandEncoder();
      encoder.copyBufferToTexture(
        { buffer, offset, bytesPerRow: ROW },
        { texture: context.getCurrentTexture() },
        { width: WIDTH, height: rows },
      );
      this.#device.queue.submit([encoder.finish()]);
      this.#target.globalCompositeOperation = 'copy';
      this.#target.drawImage(canvas.transferToImageBitmap(), 0, 0);
      const { data } = this.#target.getImageData(0, 0, WIDTH, rows);
      for (let i = 0; i < out.length; i += 4) {
        if (pass === 1) {
          out[i + 3] = data[i + 3];
          continue;
        }
        out[i] = data[i + 2];
        out[i + 1] = data[i + 1];
        out[i + 2] = data[i];
      }
    }
  }
}

const noWay = (): UnimplementedError =>
  new UnimplementedError('this browser offers no way to wait for the GPU: use `await x.read()`');
