import type { Allocator, Storage } from '../buffer/storage.ts';
import type { DType, NumericDType } from '../dtype.ts';
import { NotFoundError } from '../errors.ts';
import type { KernelAttrs, KernelName } from '../kernels.ts';
import type { Executable, Plan } from '../plan/plan.ts';
import type { ScalarProgram } from '../program/scalar.ts';

/** What a kernel sees of a tensor. */
export interface TensorRef {
  readonly dtype: DType;
  readonly shape: readonly number[];
  /** Product of the shape. */
  readonly size: number;
  readonly storage: Storage;
}

/** Runs a kernel into given outputs. */
export type Kernel = (
  inputs: readonly TensorRef[],
  outputs: readonly TensorRef[],
  attrs: KernelAttrs,
) => void;

/** A device with its kernels and its memory. */
export interface Backend {
  /** `native`, `js`. */
  readonly name: string;
  /** TensorFlow's device type: `CPU`, `GPU`; others are free to have names of their own, in capitals. */
  readonly deviceType: string;
  /** Which of the devices of its type it is. */
  readonly deviceIndex: number;
  /** One line for people: instruction set, threads, versions. */
  readonly description: string;
  readonly allocator: Allocator;
  /** The kernel of that name, or undefined where the backend has none for these dtypes. */
  kernel(name: KernelName, inputs: readonly NumericDType[]): Kernel | undefined;
  /**
   * Compiles a scalar program. The kernel's outputs all have one shape, to which the inputs broadcast; an output may be one
   * of the inputs if that has the output's shape. Programs are kept, so compile each once, or `forget` it.
   */
  elementwise(program: ScalarProgram): Kernel;
  /** Lets go of what is kept for a kernel of `elementwise`, which must not run again. */
  forget?(kernel: Kernel): void;
  /**
   * The plan with calls of kernels that only this backend has, for its `prepare` alone; it computes the same but for what floats round. A backend
   * without this has none.
   */
  tailor?(plan: Plan): Plan;
  /**
   * Makes a plan ready to run, with one arena for what it computes on the way.
   * @throws InternalError for a plan that breaks the promises of `Plan`; UnimplementedError where a kernel is missing; both name the
   * call. ResourceExhaustedError when there is no memory for the arena.
   * @param allocator lends the arena; that of the backend unless given.
   */
  prepare(plan: Plan, allocator?: Allocator): Executable;
  /** Other memory of the same hardware, for a logical device that has its own; a backend without this has one memory. */
  newAllocator?(): Allocator;
  /** Threads used by kernels; with an argument, sets it (0 for the processors that this process may use) and says what is used now. */
  threads(count?: number): number;
}

const backends: Backend[] = [];
/** Those that the program does not want to use. */
const hidden = new Set<Backend>();
let visible: readonly Backend[] = [];
let preferred: Backend | undefined;
let standInFor: (backend: Backend) => Backend = (backend) => backend;

function showAllButHidden(): void {
  visible = backends.filter((b) => !hidden.has(b));
  const first = visible.find(({ deviceType }) => deviceType === 'GPU') ?? visible[0];
  preferred = first && standInFor(first);
}

/** Makes a backend available, instead of one of the same name; of those for the same device that of highest `priority` is used by default. */
export function registerBackend(backend: Backend, priority = 0): void {
  const known = backends.findIndex((b) => b.name === backend.name);
  if (known >= 0) backends.splice(known, 1);
  priorities.set(backend, priority);
  backends.push(backend);
  backends.sort((a, b) => (priorities.get(b) ?? 0) - (priorities.get(a) ?? 0));
  showAllButHidden();
}
const priorities = new WeakMap<Backend, number>();

/** Takes a backend away whose device was given back. */
export function unregisterBackend(backend: Backend): void {
  const known = backends.indexOf(backend);
  if (known >= 0) backends.splice(known, 1);
  showAllButHidden();
}

/** What runs ops that nobody places: a GPU, where there is one that may be used. */
export function preferredBackend(): Backend {
  if (preferred === undefined) throw new NotFoundError('no backend is registered');
  return preferred;
}

/** The backends that may be used, by priority: those of the CPU come first. */
export function listBackends(): readonly Backend[] {
  return visible;
}

/** Those too that `hideBackends` has hidden. */
export function allBackends(): readonly Backend[] {
  return backends;
}

/**
 * Says which backends may not be used: they are in no list of devices, and no op is placed there.
 * @param standIn the device by which ops are run that nobody places, for its backend: those that are hidden leave their numbers to others.
 */
export function hideBackends(those: Iterable<Backend>, standIn: (backend: Backend) => Backend): void {
  hidden.clear();
  standInFor = standIn;
  for (const backend of those) hidden.add(backend);
  showAllButHidden();
}

/** The backend of a name. @throws NotFoundError when none of that name was registered. */
export function getBackend(name: string): Backend {
  const found = visible.find((b) => b.name === name);
  if (found === undefined) {
    const known = visible.map((b) => b.name).join(', ') || 'none';
    throw new NotFoundError(`no backend '${name}' (registered: ${known})`);
  }
  return found;
}
