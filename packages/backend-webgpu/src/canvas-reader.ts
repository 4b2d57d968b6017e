import { UnimplementedError } from '@eagre/backend';
import { usage } from './gpu-device.ts';

const WIDTH = 256;
const ROW = WIDTH * 4;
const HEIGHT = 1024;
const CHUNK = ROW * HEIGHT;
const COPY_TO_TEXTURE = 2;

/**
 * Reads from a GPU in a browser without a turn of the event loop. The bytes are drawn as the colors of a canvas, and a canvas that is read waits for
 * what is drawn. Its pixels are right in their colors where it is opaque, and in their opacity where it is not: so each is drawn twice.
 */
export class CanvasReader {
  readonly #device: GPUDevice;
  readonly #buffer: GPUBuffer;
  readonly #sources: readonly { readonly canvas: OffscreenCanvas; readonly context: GPUCanvasContext }[];
  readonly #target: OffscreenCanvasRenderingContext2D;

  /** @throws UnimplementedError where canvases cannot be had. */
  constructor(device: GPUDevice) {
    this.#device = device;
    this.#buffer = device.createBuffer({ size: CHUNK, usage: usage.copySource | usage.copyTarget });
    const make = (): OffscreenCanvas => {
      if (globalThis.OffscreenCanvas === undefined) throw noWay();
      return new OffscreenCanvas(WIDTH, HEIGHT);
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

  /** @param copyTo copies all the bytes to the start of a buffer, and submits that. */
  read(bytes: number, copyTo: (buffer: GPUBuffer) => void): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(bytes);
    const large = bytes > CHUNK;
    const whole = large
      ? this.#device.createBuffer({
          size: Math.ceil(bytes / CHUNK) * CHUNK,
          usage: usage.copySource | usage.copyTarget,
        })
      : this.#buffer;
    copyTo(whole);
    for (let at = 0; at < bytes; at += CHUNK) this.#chunk(whole, at, all.subarray(at, at + CHUNK));
    if (large) whole.destroy();
    return all;
  }

  #chunk(buffer: GPUBuffer, offset: number, out: Uint8Array): void {
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
