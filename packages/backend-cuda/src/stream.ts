import {
  type CudaDispatch,
  type Dispatch,
  FAULT,
  FAULT_BYTES,
  type Fault,
  faultError,
  type LibraryCall,
  MOST_COUNTERS,
  type Operand,
  Suspects,
} from '@eagre/gpu-kernels';
import { called, type NativeDevice, type NativeTransfer } from './addon.ts';
import type { CudaKernels } from './kernels.ts';
import { LaunchList } from './launch-list.ts';
import { dropGraphs, type PlanGraphs } from './plan-graphs.ts';

/** Fewer launches than that are no graph. */
const LEAST_OF_GRAPH = 4;

/** A read with the faults up to its place in the stream. */
interface Reading {
  readonly data: NativeTransfer;
  readonly faults: NativeTransfer | undefined;
  readonly suspects: string | undefined;
}

/** How long programs that await a read sleep between two looks at it, in milliseconds, after some turns of the event loop without sleep. */
const NAP = 1;
const TURNS = 20;

/** What the GPU is told, in order. It works later. */
export class Stream {
  readonly #device: NativeDevice;
  readonly #kernels: CudaKernels;
  /** Where kernels note what went wrong. */
  readonly faults: number;
  /** By which workgroups count those that have ended; launches do not overlap, and leave them as they were. */
  readonly #counters: number;
  readonly #suspects = new Suspects();
  /** What went wrong where nothing can be thrown. */
  #late: Error | undefined;
  /** What the GPU has not been told yet: only while a plan with graphs runs. */
  readonly #list = new LaunchList();
  /** Those of the plan that runs. */
  #graphs: PlanGraphs | undefined;
  /** Plans that nobody disposed. */
  readonly #collected = new FinalizationRegistry<number[]>((numbers) => this.#drop(numbers));

  constructor(device: NativeDevice, kernels: CudaKernels) {
    this.#device = device;
    this.#kernels = kernels;
    this.faults = called(() => device.allocate(FAULT_BYTES));
    called(() => device.fill(this.faults, 0, FAULT_BYTES));
    this.#counters = called(() => device.allocate(4 * MOST_COUNTERS));
    called(() => device.fill(this.#counters, 0, 4 * MOST_COUNTERS));
  }

  /** For calls behind all dispatches before. */
  get device(): NativeDevice {
    this.#flush();
    return this.#device;
  }

  /** Whether the next read may throw what went wrong before. */
  get hasSuspects(): boolean {
    return !this.#suspects.isEmpty || this.#late !== undefined;
  }

  /** Memory, for later calls: launches that the GPU has not been told yet cannot use it. @throws what the addon throws. */
  allocate(bytes: number): number {
    return this.#device.allocate(bytes);
  }

  /** Adds a dispatch of a call. @param name what to call it by where it may note a fault. */
  dispatch(name: string, dispatch: Dispatch | CudaDispatch, given: readonly Operand[]): void {
    this.#list.add(this.#kernels.get(dispatch.program), dispatch, given, this.faults, this.#counters);
    if (dispatch.operands.includes(FAULT)) this.#suspects.add(name);
    if (this.#graphs === undefined) this.#flush();
  }

  /** Adds a call of a product of the library. @param workspace where its workspace is, if it needs one. */
  product(call: LibraryCall, given: readonly Operand[], workspace?: number): void {
    this.#list.addProduct(call, given, workspace);
    if (this.#graphs === undefined) this.#flush();
  }

  #flush(): void {
    const list = this.#list;
    if (list.count === 0) return;
    const [graphs, bytes] = [list.count < LEAST_OF_GRAPH ? undefined : this.#graphs, list.bytes()];
    list.clear();
    called(() => (graphs === undefined ? this.#device.launchAll(bytes) : graphs.launch(bytes)));
  }

  /** Runs a plan, whose launches become graphs. */
  collect(graphs: PlanGraphs, run: () => void): void {
    // One within another is a part of it.
    if (this.#graphs !== undefined) {
      run();
      return;
    }
    this.#graphs = graphs;
    try {
      graphs.start();
      run();
      this.#flush();
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      this.#graphs = undefined;
    }
  }

  /** What was called before an error is done; that error is the one to tell. */
  #end(): void {
    try {
      this.#flush();
    } catch (error) {
      this.throwLater(error as Error);
    }
  }

  /** Has graphs given back with their plan, at the latest. */
  graphsOf(plan: object, numbers: number[]): void {
    this.#collected.register(plan, numbers, plan);
  }

  /** Gives the graphs of a plan back. What was launched runs to its end. */
  dropGraphs(plan: object, numbers: number[]): void {
    this.#collected.unregister(plan);
    this.#drop(numbers);
  }

  #drop(numbers: number[]): void {
    const error = dropGraphs(this.#device, numbers);
    if (error !== undefined) this.throwLater(error);
  }

  /** Has the next read throw an error. */
  throwLater(error: Error): void {
    this.#late ??= error;
  }

  /** The bytes at an address, after all that was told before. @throws the error of a kernel that failed meanwhile. */
  read(address: number, bytes: number): Uint8Array<ArrayBuffer> {
    return this.#finish(this.#start(address, bytes));
  }

  /** `read` that lets other code run meanwhile. */
  async readAsync(address: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const reading = this.#start(address, bytes);
    const last = reading.faults ?? reading.data;
    // The driver calls no JavaScript when it is done, so the program looks.
    for (let turn = 0; !called(() => last.isDone()); turn++)
      await new Promise<void>((resolve) => {
        if (turn < TURNS) setImmediate(resolve);
        else setTimeout(resolve, NAP);
      });
    return this.#finish(reading);
  }

  #start(address: number, bytes: number): Reading {
    const { device, faults } = this;
    const data = called(() => device.startRead(address, bytes));
    const suspects = this.#suspects.take();
    if (suspects === undefined) return { data, faults: undefined, suspects };
    try {
      const noted = called(() => device.startRead(faults, FAULT_BYTES));
      called(() => device.fill(faults, 0, FAULT_BYTES));
      return { data, faults: noted, suspects };
    } catch (error) {
      // The faults are still where they were.
      this.#suspects.add(suspects);
      throw error;
    }
  }

  #finish({ data, faults, suspects }: Reading): Uint8Array<ArrayBuffer> {
    const bytes = called(() => data.finish());
    const late = this.#late;
    this.#late = undefined;
    if (late !== undefined) {
      if (suspects !== undefined) this.#suspects.add(suspects);
      throw late;
    }
    if (faults !== undefined && suspects !== undefined) {
      const [number] = new Uint32Array(called(() => faults.finish()).buffer);
      if (number !== 0) throw faultError(number as Fault, suspects);
    }
    return bytes;
  }
}
