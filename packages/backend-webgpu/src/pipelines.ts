import { type GpuProgram, printWgsl } from '@eagre/gpu-kernels';
import { COMPUTE } from './gpu-names.ts';
import type { Pump } from './pump.ts';

/** A program that is compiled in the background, or when it is needed. */
export class Pipeline {
  readonly id: number;
  readonly groupLayout: GPUBindGroupLayout;
  readonly #device: GPUDevice;
  readonly #descriptor: GPUComputePipelineDescriptor;
  #compiled: GPUComputePipeline | undefined;
  #compiling: Promise<void> | undefined;

  constructor(
    id: number,
    groupLayout: GPUBindGroupLayout,
    device: GPUDevice,
    descriptor: GPUComputePipelineDescriptor,
  ) {
    this.id = id;
    this.groupLayout = groupLayout;
    this.#device = device;
    this.#descriptor = descriptor;
  }

  get isCompiled(): boolean {
    return this.#compiled !== undefined;
  }

  /** The compiled program: compiled now, if it was not before. */
  get compiled(): GPUComputePipeline {
    return (this.#compiled ??= this.#device.createComputePipeline(this.#descriptor));
  }

  /** Compiles it in the background. What is wrong with it is said where it is needed. */
  compile(pump: Pump): Promise<void> {
    return (this.#compiling ??= pump
      .within(() => this.#device.createComputePipelineAsync(this.#descriptor))
      .then(
        (compiled) => {
          this.#compiled ??= compiled;
        },
        () => {},
      ));
  }
}

/** The forms of programs: one for each way in which their buffers share memory. */
export class Pipelines {
  readonly #device: GPUDevice;
  readonly #features: ReadonlySet<string>;
  readonly #known = new Map<GpuProgram, Map<string, Pipeline>>();
  #count = 0;

  /** @param features those that `printWgsl` may make use of. */
  constructor(device: GPUDevice, features: ReadonlySet<string>) {
    this.#device = device;
    this.#features = features;
  }

  /**
   * @param same by binding: the first one with the same memory.
   * @param allWritable whether a buffer is read by one binding and written by another.
   */
  get(program: GpuProgram, same: readonly number[], allWritable: boolean): Pipeline {
    let variants = this.#known.get(program);
    if (variants === undefined) this.#known.set(program, (variants = new Map()));
    const key = `${same} ${allWritable}`;
    let made = variants.get(key);
    if (made === undefined) variants.set(key, (made = this.#make(program, same, allWritable)));
    return made;
  }

  #make(program: GpuProgram, same: readonly number[], allWritable: boolean): Pipeline {
    const { module, buffers } = program;
    const sameAs = module.bindings.map(({ number }) => same[number] ?? number);
    const code = printWgsl(module, { sameAs, allWritable, features: this.#features });
    const entries: GPUBindGroupLayoutEntry[] = [];
    for (const { number, space } of module.bindings) {
      if (sameAs[number] !== number) continue;
      if (space === 'uniform')
        entries.push({
          binding: number,
          visibility: COMPUTE,
          buffer: { type: 'uniform', hasDynamicOffset: true },
        });
      else {
        const written = module.bindings.some(
          (b) => b.number < buffers && b.written && sameAs[b.number] === number,
        );
        const type = allWritable || written ? 'storage' : 'read-only-storage';
        entries.push({ binding: number, visibility: COMPUTE, buffer: { type } });
      }
    }
    const groupLayout = this.#device.createBindGroupLayout({ entries });
    return new Pipeline(this.#count++, groupLayout, this.#device, {
      layout: this.#device.createPipelineLayout({ bindGroupLayouts: [groupLayout] }),
      compute: { module: this.#device.createShaderModule({ code }), entryPoint: module.entry.name },
    });
  }
}
