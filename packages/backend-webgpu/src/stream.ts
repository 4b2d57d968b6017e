import { type EagreError, InternalError, ResourceExhaustedError, UnavailableError } from '@eagre/backend';
import { FAULT_BYTES, type Fault, faultError, type GpuProgram, Suspects } from '@eagre/gpu-kernels';
import { CanvasReader } from './canvas-reader.ts';
import type { GpuDevice } from './gpu-device.ts';
import { MAP_READ, usage } from './gpu-names.ts';
import { type Pipeline, Pipelines } from './pipelines.ts';

/** Memory of the device. */
export class DeviceBuffer {
  readonly id: number;
  readonly gpu: GPUBuffer;
  static #count = 0;

  constructor(gpu: GPUBuffer) {
    this.id = DeviceBuffer.#count++;
    this.gpu = gpu;
  }
}

/** A part of a buffer that a kernel sees. */
export interface View {
  readonly buffer: DeviceBuffer;
  /** A multiple of 256. */
  readonly offset: number;
  readonly bytes: number;
}

// What is submitted at once: a device that has nothing to do waits for the first of it, and the page for all of it.
const MOST_DISPATCHES = 64;
/** So much may wait for programs that are compiled in the background: commands, and bytes that they set. */
const MOST_WAITING = 4096;
const MOST_BYTES_WAITING = 64 * 2 ** 20;
const UNIFORM_BYTES = 64 * 1024;
const UNIFORM_ALIGN = 256;
const MOST_GROUPS_KEPT = 4096;

/** Puts sizes of staging buffers into few classes. */
const stagingSize = (bytes: number): number => 2 ** Math.max(8, Math.ceil(Math.log2(bytes)));

/** The bytes of a read, with the faults behind them where a kernel might have failed. */
const bytesRead = (bytes: number, suspects: string | undefined): number =>
  suspects === undefined ? bytes : bytes + FAULT_BYTES;

/** What the device is told when all before it was. */
interface Command {
  readonly tell: () => void;
  /** What must be compiled first. */
  readonly pipeline: Pipeline | undefined;
}

/**
 * What the device is told, in order: it is collected, and submitted in parts. Programs that it does not know yet are compiled in the background, all at once, when the code that
 * runs ends or waits; what is told behind them waits too. A read that cannot wait has them compiled then and there.
 */
export class Stream {
  readonly #gpu: GpuDevice;
  readonly #device: GPUDevice;
  readonly #pipelines: Pipelines;
  readonly #uniforms: GPUBuffer;
  readonly #words = new Uint32Array(UNIFORM_BYTES / 4);
  readonly #floats = new Float32Array(this.#words.buffer);
  #wordsUsed = 0;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  #dispatches = 0;
  readonly #waiting: Command[] = [];
  #bytesWaiting = 0;
  #isResuming = false;
  readonly #groups = new Map<string, GPUBindGroup>();
  readonly #staging = new Map<number, GPUBuffer[]>();
  /** The largest buffer, and the largest part of one that a kernel may see. */
  readonly limit: number;
  /** How many buffers a kernel may see. */
  readonly mostBuffers: number;
  /** Where kernels note what went wrong, and those that might have since the last read. */
  readonly faults: DeviceBuffer;
  readonly #suspects = new Suspects();
  #error: EagreError | undefined;
  #lost: string | undefined;
  /** What reads few bytes, and what reads many. */
  readonly #canvases: (CanvasReader | undefined)[] = [];

  constructor(gpu: GpuDevice) {
    this.#gpu = gpu;
    this.#device = gpu.device;
    this.#pipelines = new Pipelines(gpu.device, gpu.features);
    const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage } = gpu.device.limits;
    this.limit = Math.min(maxBufferSize, maxStorageBufferBindingSize);
    this.mostBuffers = maxStorageBuffersPerShaderStage;
    this.#uniforms = this.#device.createBuffer({
      size: UNIFORM_BYTES,
      usage: usage.uniform | usage.copyTarget,
    });
    this.faults = new DeviceBuffer(
      this.#device.createBuffer({
        size: FAULT_BYTES,
        usage: usage.storage | usage.copySource | usage.copyTarget,
      }),
    );
    this.#device.onuncapturederror = ({ error }) => {
      this.#error ??= errorOf(error);
    };
    gpu.pump
      .within(() => this.#device.lost)
      .then(({ message, reason }) => {
        this.#lost = message || reason || 'no reason given';
      });
  }

  /** @throws UnavailableError when the device is lost. */
  checkAlive(): void {
    if (this.#lost !== undefined)
      throw new UnavailableError(
        `the GPU is lost (${this.#lost}): its tensors are gone; open it again by openWebGpu(), or go on under tf.device('/cpu:0')`,
      );
  }

  create(bytes: number): DeviceBuffer {
    this.checkAlive();
    const size = Math.ceil(bytes / 16) * 16;
    return new DeviceBuffer(
      this.#device.createBuffer({
        size,
        usage: usage.storage | usage.copySource | usage.copyTarget,
      }),
    );
  }

  /** Ends the memory of a buffer that nobody needs behind what was told before. */
  destroy(gpu: GPUBuffer): void {
    this.#inOrder(() => {
      this.#submit();
      gpu.destroy();
    });
  }

  /** Tells the device something when it was told all before. @param bytes that are kept until then. */
  #inOrder(tell: () => void, pipeline?: Pipeline, bytes = 0): void {
    if (this.#waiting.length === 0 && pipeline?.isCompiled !== false) {
      tell();
      return;
    }
    this.#waiting.push({ tell, pipeline });
    this.#bytesWaiting += bytes;
    if (this.#waiting.length >= MOST_WAITING || this.#bytesWaiting > MOST_BYTES_WAITING) this.#catchUp();
    else if (!this.#isResuming) void this.#resume();
  }

  /** Tells the device all that waits, and has what is missing compiled now. */
  #catchUp(): void {
    this.#bytesWaiting = 0;
    for (const { tell } of this.#waiting.splice(0)) tell();
  }

  /** Has all that is missing compiled in the background, and tells the device what waits for it. */
  async #resume(): Promise<void> {
    this.#isResuming = true;
    // What the running code tells before it ends or waits is compiled together.
    await null;
    const waiting = this.#waiting;
    const isMissing = ({ pipeline }: Command): boolean => pipeline?.isCompiled === false;
    while (waiting.length > 0) {
      const pipelines = waiting.flatMap(({ pipeline }) => pipeline ?? []);
      const compiled = Promise.all(pipelines.map((pipeline) => pipeline.compile(this.#gpu.pump)));
      await Promise.race([compiled, this.#device.lost]);
      // Others may have been told meanwhile, or a read has told all. What cannot be compiled says so when it is told.
      const end = waiting.findIndex(
        (command) => isMissing(command) && !pipelines.includes(command.pipeline as Pipeline),
      );
      for (const { tell } of waiting.splice(0, end < 0 ? waiting.length : end)) tell();
    }
    this.#bytesWaiting = 0;
    this.#isResuming = false;
  }

  /**
   * Adds a dispatch.
   * @param same by binding: the first one with the same memory.
   * @param suspect what to call the kernel by that may note a fault, if it may.
   */
  dispatch(
    program: GpuProgram,
    views: readonly View[],
    same: readonly number[],
    allWritable: boolean,
    params: readonly number[],
    workgroups: readonly [number, number, number],
    suspect: string | undefined,
  ): void {
    this.checkAlive();
    const pipeline = this.#pipelines.get(program, same, allWritable);
    if (suspect !== undefined) this.#suspects.add(suspect);
    this.#inOrder(() => this.#dispatch(pipeline, program, views, same, params, workgroups), pipeline);
  }

  #dispatch(
    pipeline: Pipeline,
    program: GpuProgram,
    views: readonly View[],
    same: readonly number[],
    params: readonly number[],
    [x, y, z]: readonly [number, number, number],
  ): void {
    const bytes = Math.ceil((params.length * 4) / UNIFORM_ALIGN) * UNIFORM_ALIGN;
    if (this.#wordsUsed * 4 + bytes > UNIFORM_BYTES) this.#submit();
    const at = this.#wordsUsed;
    for (let i = 0; i < params.length; i++) {
      if (program.params[i] === 'f32') this.#floats[at + i] = params[i];
      else this.#words[at + i] = params[i];
    }
    this.#wordsUsed += bytes / 4;
    let key = `${pipeline.id}`;
    for (const { buffer, offset, bytes } of views) key += ` ${buffer.id},${offset},${bytes}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size >= MOST_GROUPS_KEPT) this.#groups.clear();
      this.#groups.set(key, (group = this.#group(program, pipeline.groupLayout, views, same, bytes)));
    }
    const pass = this.#openPass();
    pass.setPipeline(pipeline.compiled);
    pass.setBindGroup(0, group, [at * 4]);
    pass.dispatchWorkgroups(x, y, z);
    if (++this.#dispatches >= MOST_DISPATCHES) this.#submit();
  }

  #group(
    program: GpuProgram,
    layout: GPUBindGroupLayout,
    views: readonly View[],
    same: readonly number[],
    uniformBytes: number,
  ): GPUBindGroup {
    const entries: GPUBindGroupEntry[] = [];
    views.forEach(({ buffer, offset, bytes }, binding) => {
      if (same[binding] === binding)
        entries.push({ binding, resource: { buffer: buffer.gpu, offset, size: bytes } });
    });
    if (uniformBytes > 0)
      entries.push({
        binding: program.buffers,
        resource: { buffer: this.#uniforms, size: uniformBytes },
      });
    return this.#device.createBindGroup({ layout, entries });
  }

  /** Copies between two buffers. */
  copy(from: View, to: View, bytes: number): void {
    this.checkAlive();
    this.#inOrder(() =>
      this.#openEncoder().copyBufferToBuffer(from.buffer.gpu, from.offset, to.buffer.gpu, to.offset, bytes),
    );
  }

  /** Sets bytes, whole words of them. */
  write({ buffer, offset }: View, bytes: Uint8Array<ArrayBuffer>): void {
    this.checkAlive();
    const own = this.#waiting.length === 0 ? bytes : bytes.slice();
    this.#inOrder(
      () => {
        // What was told before must not see them.
        this.#submit();
        this.#device.queue.writeBuffer(buffer.gpu, offset, own);
      },
      undefined,
      own.length,
    );
  }

  #submit(): void {
    this.#endPass();
    if (this.#encoder === undefined) return;
    if (this.#wordsUsed > 0)
      this.#device.queue.writeBuffer(this.#uniforms, 0, this.#words.buffer, 0, this.#wordsUsed * 4);
    this.#wordsUsed = 0;
    this.#dispatches = 0;
    const commands = this.#encoder.finish();
    this.#encoder = undefined;
    this.#gpu.pump.within(() => this.#device.queue.submit([commands]));
  }

  /**
   * The bytes of a view, after all that was told before.
   * @throws the error of a kernel that failed meanwhile; UnavailableError when the device is lost; UnimplementedError in a browser that
   * offers no way to wait.
   */
  read(from: View): Uint8Array<ArrayBuffer> {
    this.checkAlive();
    this.#catchUp();
    if (!this.#gpu.polls) return this.#readByCanvas(from);
    const suspects = this.#suspects.take();
    const staging = this.#stage(from, suspects);
    const { pump } = this.#gpu;
    pump.within(() => {
      staging.mapAsync(MAP_READ).catch(() => {});
    });
    while (staging.mapState === 'pending' && this.#lost === undefined) if (!pump.poll()) break;
    return this.#take(staging, from.bytes, suspects);
  }

  /** `read` that lets other code run meanwhile. */
  async readAsync(from: View): Promise<Uint8Array<ArrayBuffer>> {
    this.checkAlive();
    const suspects = this.#suspects.take();
    const staging = await new Promise<GPUBuffer>((resolve) => {
      this.#inOrder(() => resolve(this.#stage(from, suspects)));
    });
    await this.#gpu.pump.within(() => staging.mapAsync(MAP_READ)).catch(() => {});
    return this.#take(staging, from.bytes, suspects);
  }

  #stage(from: View, suspects: string | undefined): GPUBuffer {
    const size = stagingSize(bytesRead(from.bytes, suspects));
    const staging =
      this.#staging.get(size)?.pop() ??
      this.#device.createBuffer({ size, usage: usage.mapRead | usage.copyTarget });
    this.#copyOut(staging, from, suspects);
    this.#submit();
    return staging;
  }

  #copyOut(to: GPUBuffer, from: View, suspects: string | undefined): void {
    const encoder = this.#openEncoder();
    if (from.bytes > 0) encoder.copyBufferToBuffer(from.buffer.gpu, from.offset, to, 0, from.bytes);
    if (suspects === undefined) return;
    encoder.copyBufferToBuffer(this.faults.gpu, 0, to, from.bytes, FAULT_BYTES);
    encoder.clearBuffer(this.faults.gpu);
  }

  #take(staging: GPUBuffer, bytes: number, suspects: string | undefined): Uint8Array<ArrayBuffer> {
    if (staging.mapState !== 'mapped') {
      this.checkAlive();
      this.#throwLate(suspects);
      throw new InternalError('the GPU did not answer');
    }
    const all = new Uint8Array(staging.getMappedRange(0, bytesRead(bytes, suspects)).slice(0));
    staging.unmap();
    const size = staging.size;
    const list = this.#staging.get(size);
    if (list === undefined) this.#staging.set(size, [staging]);
    else if (list.length < 4) list.push(staging);
    else staging.destroy();
    return this.#checked(all, bytes, suspects);
  }

  #readByCanvas(from: View): Uint8Array<ArrayBuffer> {
    const most = from.bytes + FAULT_BYTES;
    const which = CanvasReader.isFew(most) ? 0 : 1;
    // Where there are no canvases, the faults stay for a read that waits.
    const canvas = (this.#canvases[which] ??= new CanvasReader(this.#device, most));
    const suspects = this.#suspects.take();
    const all = canvas.read(bytesRead(from.bytes, suspects), (to) => {
      this.#copyOut(to, from, suspects);
      this.#submit();
    });
    return this.#checked(all, from.bytes, suspects);
  }

  #checked(
    all: Uint8Array<ArrayBuffer>,
    bytes: number,
    suspects: string | undefined,
  ): Uint8Array<ArrayBuffer> {
    this.#throwLate(suspects);
    if (suspects !== undefined) {
      const [number] = new Uint32Array(all.buffer, bytes, 1);
      if (number !== 0) throw faultError(number as Fault, suspects);
    }
    return all.subarray(0, bytes);
  }

  /** @throws what the device has said since the last time. */
  #throwLate(suspects: string | undefined): void {
    const error = this.#error;
    if (error === undefined) return;
    this.#error = undefined;
    // What it refused may have been the read, so that the faults are still where they were.
    if (suspects !== undefined) this.#suspects.add(suspects);
    throw error;
  }

  #openEncoder(): GPUCommandEncoder {
    this.#endPass();
    return (this.#encoder ??= this.#device.createCommandEncoder());
  }

  #openPass(): GPUComputePassEncoder {
    if (this.#pass === undefined) {
      this.#encoder ??= this.#device.createCommandEncoder();
      this.#pass = this.#encoder.beginComputePass();
    }
    return this.#pass;
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}

function errorOf(error: GPUError): EagreError {
  if (error.constructor.name === 'GPUOutOfMemoryError')
    return new ResourceExhaustedError(`no memory on the GPU: ${error.message}`);
  return new InternalError(`the GPU refused a command: ${error.message}`);
}
