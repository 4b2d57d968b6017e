// Kernels that a device lacks run on the host, where that is allowed.
import { type Allocator, copyStorage, type Storage, sameBytes } from '../buffer/storage.ts';
import { type DType, dtypeTraits, type NumericDType } from '../dtype.ts';
import { UnimplementedError } from '../errors.ts';
import type { KernelName } from '../kernels.ts';
import { type Backend, type Kernel, listBackends, type TensorRef } from './backend.ts';

/** How ops come to devices; `tf.config` sets it. */
export const placement: {
  /** Whether kernels that a device lacks run on the host. */
  soft: boolean;
  /** Whether the program said where ops run now. */
  isChosen: () => boolean;
  /** Whether devices that work later are waited for after each kernel, so that errors are thrown where they arise. */
  synchronous: boolean;
  /** What happens to an op of eager code whose inputs are on another device: they are copied, with a warning, or it is an error. */
  policy: 'silent' | 'warn' | 'explicit';
  /** Whether devices may multiply numbers of float32 with fewer bits. */
  tensorFloat32: boolean;
  /** Whether it is said of each op on which device it runs. */
  logs: boolean;
} = {
  soft: true,
  isChosen: () => true,
  synchronous: false,
  policy: 'silent',
  tensorFloat32: true,
  logs: false,
};

/** Whether the host may stand in for a device: always for ops that nobody placed, as in TensorFlow. */
const mayUseHost = (): boolean => placement.soft || !placement.isChosen();

/** How often kernels ran on the host instead of the device of this memory. */
const counts = new WeakMap<Allocator, number>();

/** How many kernels ran on the host, with copies there and back, for want of one on the device of this memory. */
export function hostFallbacks(allocator: Allocator): number {
  return counts.get(allocator) ?? 0;
}

/** The backend by which the host computes in memory that JavaScript looks at: this one, or the preferred one that can. */
export function hostOf(backend: Backend): Backend {
  return backend.allocator.isHost ? backend : (listBackends().find((b) => b.allocator.isHost) as Backend);
}

/**
 * The backend by which the processor computes what a device lacks: this one, or the preferred one. Its memory need not be the host's: kernels of
 * WebAssembly have their own.
 */
export function processorOf(backend: Backend): Backend {
  const isProcessor = (b: Backend): boolean => b.deviceType === 'CPU' || b.allocator.isHost;
  return isProcessor(backend) ? backend : (listBackends().find(isProcessor) as Backend);
}

/** The backend whose kernels stand in for those that a device lacks. */
function standInOf(backend: Backend): Backend {
  const processor = processorOf(backend);
  return processor === backend ? hostOf(backend) : processor;
}

/** The kernel of a backend or, under soft placement, that of the host between copies; undefined where there is none. */
export function placedKernel(
  backend: Backend,
  name: KernelName,
  dtypes: readonly NumericDType[],
): Kernel | undefined {
  const own = backend.kernel(name, dtypes);
  if (own !== undefined || backend.allocator.isHost || !mayUseHost()) return own;
  const kernel = standInOf(backend).kernel(name, dtypes);
  return kernel && onHost(backend, name, dtypes, kernel);
}

const warned = new Set<string>();

function warn(backend: Backend, what: string): void {
  const key = `${backend.name} ${what}`;
  if (warned.has(key)) return;
  warned.add(key);
  console.warn(
    `${backend.name} has no kernel for ${what}: it runs on the host, between copies there and back` +
      (placement.isChosen() ? '; tf.config.setSoftDevicePlacement(false) makes this an error' : ''),
  );
}

/**
 * What a device does by a kernel of the processor because it has none for this call: with a warning.
 * @param what the kernel, for people.
 * @throws UnimplementedError when it is called without soft placement on a device that the program chose.
 */
export function onHost(backend: Backend, what: string, dtypes: readonly DType[], kernel: Kernel): Kernel {
  const { allocator } = standInOf(backend);
  const run = throughHost(kernel, allocator, backend.allocator);
  return (inputs, outputs, attrs) => {
    // What makes tensors of none is told by those.
    const call =
      dtypes.length > 0
        ? `${what} of (${dtypes.join(', ')})`
        : `${what} that makes (${outputs.map(({ dtype }) => dtype).join(', ')})`;
    if (!mayUseHost()) throw new UnimplementedError(`the ${backend.name} backend has no ${call}`);
    // Single numbers are steps, rates, sizes: the host knows them.
    if (outputs.some(({ size }) => size > 1)) warn(backend, call);
    run(inputs, outputs, attrs);
  };
}

/** A kernel of the host for tensors of a device. Outputs that are inputs stay so. */
function throughHost(kernel: Kernel, host: Allocator, device: Allocator): Kernel {
  return (inputs, outputs, attrs) => {
    const pairs: { readonly from: Storage; readonly to: Storage }[] = [];
    const local = (t: TensorRef): TensorRef => {
      const { dtype, shape, size } = t;
      let pair = pairs.find(({ from }) => sameBytes(from, t.storage));
      if (pair === undefined)
        pairs.push((pair = { from: t.storage, to: host.allocate(size * dtypeTraits[dtype].bytes) }));
      return { dtype, shape, size, storage: pair.to };
    };
    const bytesOf = ({ dtype, size }: TensorRef): number => size * dtypeTraits[dtype].bytes;
    try {
      const given = inputs.map(local);
      inputs.forEach((t, i) => copyStorage(t.storage, given[i].storage, bytesOf(t)));
      const made = outputs.map(local);
      kernel(given, made, attrs);
      outputs.forEach((t, i) => copyStorage(made[i].storage, t.storage, bytesOf(t)));
      counts.set(device, hostFallbacks(device) + 1);
    } finally {
      for (const { to } of pairs) to.release();
    }
  };
}
