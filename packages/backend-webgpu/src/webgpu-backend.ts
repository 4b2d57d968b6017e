import {
  type Allocator,
  hostOf,
  InternalError,
  type Storage,
  unregisterBackend,
  type Watcher,
} from '@eagre/backend';
import {
  bytesOfOperand,
  copy,
  type Dispatch,
  DispatchingBackend,
  FAULT,
  FAULT_BYTES,
  type Operand,
  shareType,
} from '@eagre/gpu-kernels';
import type { GpuDevice } from './gpu-device.ts';
import { Stream, type View } from './stream.ts';
import { viewOf, WebGpuAllocator } from './webgpu-allocator.ts';

/** A GPU through WebGPU. */
export class WebGpuBackend extends DispatchingBackend {
  readonly name: string = 'webgpu';
  readonly deviceIndex: number = 0;
  readonly description: string;
  readonly allocator: WebGpuAllocator;
  protected readonly mostBuffers: number;
  readonly #stream: Stream;
  readonly #device: GPUDevice;

  constructor(gpu: GpuDevice, watcher: Watcher | undefined) {
    super();
    this.description = gpu.description;
    this.#device = gpu.device;
    this.#stream = new Stream(gpu);
    this.mostBuffers = this.#stream.mostBuffers;
    const host = (): Allocator => hostOf(this).allocator;
    this.allocator = new WebGpuAllocator(this.#stream, host, watcher, (from, to, bytes) => {
      const info = { dtype: 'uint8', shape: [bytes], size: bytes } as const;
      this.dispatch('Copy', copy(0, 1, info), [
        { storage: from, bytes },
        { storage: to, bytes },
      ]);
    });
  }

  /** Gives the device back. What is still on it is gone. */
  close(): void {
    unregisterBackend(this);
    this.#device.destroy();
  }

  /** One dispatch, with buffers that share memory bound once. */
  protected dispatch(
    name: string,
    { program, operands, params, workgroups }: Dispatch,
    given: readonly Operand[],
  ): void {
    const { bindings } = program.module;
    const views = operands.map(
      (operand): View =>
        operand === FAULT
          ? { buffer: this.#stream.faults, offset: 0, bytes: FAULT_BYTES }
          : viewOf(given[operand].storage, bytesOfOperand(given[operand])),
    );
    const written = (i: number): boolean => bindings[i].written;
    const temporaries: Storage[] = [];
    const same = views.map((view, i) => {
      const first = views.findIndex((v) => v.buffer === view.buffer && v.offset === view.offset);
      if (first === i) return i;
      // Two that only read may look at the same bytes.
      const isRead = views.every((v, k) => !(v.buffer === view.buffer && written(k)));
      if (isRead) return i;
      if (shareType(program.module, first, i)) {
        views[first] = { ...view, bytes: Math.max(view.bytes, views[first].bytes) };
        return first;
      }
      if (written(i)) throw new InternalError(`${name} writes where it reads another type`);
      // Larger than what is cut from a buffer that others share.
      const copied = this.allocator.allocate(Math.max(view.bytes, 8192));
      temporaries.push(copied);
      const to = viewOf(copied, view.bytes);
      this.#stream.copy(view, to, view.bytes);
      views[i] = to;
      return i;
    });
    const allWritable = views.some(
      (view, i) => !written(i) && views.some((v, k) => written(k) && v.buffer === view.buffer),
    );
    const suspect = operands.includes(FAULT) ? name : undefined;
    this.#stream.dispatch(program, views, same, allWritable, params, workgroups, suspect);
    for (const storage of temporaries) storage.release();
  }
}
