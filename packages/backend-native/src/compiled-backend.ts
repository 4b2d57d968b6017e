import {
  type Allocator,
  type AttrValue,
  type Backend,
  checkPlan,
  dtypeOfValue,
  dtypesFit,
  dtypesTaken,
  dtypeTraits,
  type Executable,
  encodeScalarProgram,
  errorFromCode,
  FailedPreconditionError,
  InternalError,
  type Kernel,
  type KernelName,
  kernelAttrs,
  MAX_RANK,
  type NumericDType,
  type Plan,
  type ScalarProgram,
  type TensorRef,
  takes,
} from '@eagre/backend';
import { type Block, errorCodes, type Kernels } from './load.ts';
import { NativeExecutable } from './plan.ts';

// For the attributes of a kernel; a scalar program among them has up to 6 numbers for each of its 256 instructions.
const ATTR_ROOM = 128;
const PROGRAM_ROOM = 2048;

/** The kernels that compute with bfloat16 on processors with tile registers. */
const byTiles: ReadonlySet<KernelName> = new Set<KernelName>([
  'MatMul',
  'Conv2D',
  'Conv2DBackpropInput',
  'Conv2DBackpropFilter',
]);

/** Kernels that are compiled from `native/`, behind the contract. Arguments are written into one block of numbers that they read. */
export class CompiledBackend implements Backend {
  readonly name: string;
  readonly deviceType = 'CPU';
  readonly deviceIndex = 0;
  readonly allocator: Allocator;
  readonly newAllocator: () => Allocator;
  readonly #addon: Kernels;
  readonly #ids = new Map<string, number>();
  readonly #kernels = new Map<string, { readonly kernel: Kernel; readonly dtypes: number }>();
  readonly #programs = new WeakMap<Kernel, number>();
  #block: Block;
  /** The dtypes of the tensors that were packed last, and how many are inputs, as one number; exact for up to twelve. */
  #signature = 0;

  /** @param newAllocator of memory that the kernels can reach: this backend's, and another at each call. */
  constructor(name: string, addon: Kernels, newAllocator: () => Allocator) {
    this.name = name;
    this.newAllocator = newAllocator;
    this.#addon = addon;
    this.#block = addon.newBlock(1024);
    addon.kernels.forEach((name, id) => {
      this.#ids.set(name, id);
    });
    addon.setBlock(this.#block);
    this.allocator = newAllocator();
  }

  get description(): string {
    return `${this.name} kernels, ${this.#addon.isa}, ${this.threads()} threads`;
  }

  threads(count?: number): number {
    return this.#addon.threads(count);
  }

  /** @internal How many jobs threads have shared since the start: tests ask whether an input was large enough. */
  jobs(): number {
    return this.#addon.jobs();
  }

  kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined {
    let known = this.#kernels.get(name);
    if (known === undefined) {
      const id = this.#ids.get(name);
      if (id === undefined) return undefined;
      const names: readonly string[] = kernelAttrs[name];
      const room = names.includes('program') ? PROGRAM_ROOM : ATTR_ROOM;
      const taken = this.#taken(name);
      const fit = dtypesFit(name, taken);
      // The dtypes of the call before, which fitted; a bitcast is asked each time, as sizes count too.
      let fitted = 0;
      const keeps = name !== 'Bitcast';
      const kernel: Kernel = (inputs, outputs, attrs) => {
        let at = this.#pack(inputs, outputs, room);
        const signature = this.#signature;
        if (signature !== fitted) {
          if (!fit(inputs, outputs)) throw otherDTypes(name, inputs, outputs);
          if (keeps && signature <= Number.MAX_SAFE_INTEGER) fitted = signature;
        }
        for (const attr of names) at = this.#packAttr(at, attrs[attr], name, attr);
        this.#run(id);
      };
      known = { kernel, dtypes: taken };
      this.#kernels.set(name, known);
    }
    return takes(known.dtypes, inputs) ? known.kernel : undefined;
  }

  #taken(name: KernelName): number {
    return dtypesTaken(name, this.#addon.isa === 'amx' && byTiles.has(name) ? ['bfloat16'] : []);
  }

  forget(kernel: Kernel): void {
    const code = this.#programs.get(kernel);
    if (code === undefined) return;
    this.#programs.delete(kernel);
    this.#addon.releaseProgram(code);
  }

  elementwise(program: ScalarProgram): Kernel {
    const code = this.#compile(program);
    const flat = this.#id('ElementwiseFlat');
    const general = this.#id('Elementwise');
    const bytes = program.inputs.map((dtype) => dtypeTraits[dtype].bytes);
    const [firstBytes, ...moreBytes] = program.outputs.map(
      (value) => dtypeTraits[dtypeOfValue(program, value)].bytes,
    );
    const kernel: Kernel = (inputs, outputs) => {
      const block = this.#block.numbers;
      const size = outputs[0].size;
      const count = inputs.length;
      block[0] = count;
      block[1] = outputs.length;
      block[2] = code;
      block[3] = size;
      let at = 4;
      for (let i = 0; i < count; i++) {
        const input = inputs[i];
        if (input.size !== size) {
          // Broadcasting: the general form with shapes.
          const end = this.#pack(inputs, outputs, ATTR_ROOM);
          this.#block.numbers[end] = code;
          this.#run(general);
          return;
        }
        const { storage } = input;
        if (size * bytes[i] > storage.capacity) throw changed(input);
        block[at++] = storage.address;
      }
      const { storage: first } = outputs[0];
      if (size * firstBytes > first.capacity) throw changed(outputs[0]);
      block[at++] = first.address;
      // Most programs have one output.
      for (let i = 1; i < outputs.length; i++) {
        const { storage } = outputs[i];
        if (size * moreBytes[i - 1] > storage.capacity) throw changed(outputs[i]);
        block[at++] = storage.address;
      }
      this.#run(flat);
    };
    this.#programs.set(kernel, code);
    return kernel;
  }

  prepare(plan: Plan, allocator: Allocator = this.allocator): Executable {
    checkPlan(plan);
    return new NativeExecutable(
      {
        addon: this.#addon,
        allocator,
        idOf: (kernel) => this.#ids.get(kernel),
        dtypesOf: (kernel) => this.#taken(kernel),
        compile: (program, op) => this.#compile(program, op),
      },
      plan,
    );
  }

  #compile(program: ScalarProgram, op?: string): number {
    try {
      return this.#addon.compileProgram(Float64Array.from(encodeScalarProgram(program)));
    } catch (cause) {
      throw new InternalError(cause instanceof Error ? cause.message : String(cause), op, { cause });
    }
  }

  #id(name: string): number {
    const id = this.#ids.get(name);
    if (id === undefined) throw new InternalError(`the addon has no kernel ${name}; build it again`);
    return id;
  }

  #run(id: number): void {
    const code = this.#addon.run(id);
    if (code !== undefined) throw errorFromCode(errorCodes[code] ?? 'INTERNAL', this.#addon.lastError());
  }

  #pack(inputs: readonly TensorRef[], outputs: readonly TensorRef[], room: number): number {
    // 11 numbers a tensor at most (rank 8).
    this.#reserve((inputs.length + outputs.length) * 11 + room);
    const block = this.#block.numbers;
    block[0] = inputs.length;
    block[1] = outputs.length;
    this.#signature = 1 + inputs.length;
    return this.#packTensors(this.#packTensors(2, inputs), outputs);
  }

  #packTensors(start: number, tensors: readonly TensorRef[]): number {
    const block = this.#block.numbers;
    let at = start;
    let signature = this.#signature;
    for (let i = 0; i < tensors.length; i++) {
      const t = tensors[i];
      const { shape, storage } = t;
      const traits = dtypeTraits[t.dtype];
      const rank = shape.length;
      block[at] = storage.address;
      block[at + 1] = traits.code;
      signature = signature * 16 + traits.code;
      block[at + 2] = rank;
      at += 3;
      let size = traits.bytes;
      for (let d = 0; d < rank; d++) {
        const n = shape[d];
        block[at++] = n;
        // With a negative one the size is never what it should be.
        size *= n < 0 ? Number.NaN : n;
      }
      if (rank > MAX_RANK || size !== t.size * traits.bytes || !(size <= storage.capacity)) throw changed(t);
    }
    this.#signature = signature;
    return at;
  }

  #packAttr(at: number, value: AttrValue | undefined, kernel: string, attr: string): number {
    const block = this.#block.numbers;
    if (typeof value === 'number') block[at++] = value;
    else if (typeof value === 'boolean') block[at++] = value ? 1 : 0;
    else if (value === undefined) throw new InternalError(`the attribute ${attr} is missing`, kernel);
    else {
      // Attributes are few numbers, or there is room for a program.
      if (at + value.length >= block.length)
        throw new InternalError(`the attribute ${attr} has ${value.length} numbers`, kernel);
      block[at++] = value.length;
      for (let i = 0; i < value.length; i++) block[at++] = value[i];
    }
    return at;
  }

  #reserve(numbers: number): void {
    if (numbers <= this.#block.numbers.length) return;
    this.#block = this.#addon.newBlock(numbers * 2);
    this.#addon.setBlock(this.#block);
  }
}

/** Shapes are arrays, which JavaScript code can write to, and native code would go by what it says there. */
function otherDTypes(
  name: KernelName,
  inputs: readonly TensorRef[],
  outputs: readonly TensorRef[],
): InternalError {
  const list = (tensors: readonly TensorRef[]): string => tensors.map((t) => t.dtype).join(', ');
  return new InternalError(`${name} of (${list(inputs)}) cannot make (${list(outputs)})`);
}

function changed({ dtype, shape, size }: TensorRef): FailedPreconditionError {
  return new FailedPreconditionError(
    `a ${dtype} tensor of ${size} elements has the shape [${shape}]: code outside Eagre has changed it. The properties of a tensor ` +
      'are read-only: copy a shape before you change it, [...x.shape], or use reshape or cast',
  );
}
