import {
  decodeScalarProgram,
  dtypeTraits,
  HostAllocator,
  InternalError,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  list,
  mapReductions,
  product,
  type TensorRef,
} from '@eagre/backend';
import { kernels as reductions } from './reduce.ts';
import { compileScalar } from './scalar.ts';

const allocator = new HostAllocator();
// Plans keep their calls' attributes, so a program is compiled once.
const compiled = new WeakMap<readonly number[], Kernel>();

function programOf(numbers: readonly number[]): Kernel {
  let kernel = compiled.get(numbers);
  if (kernel === undefined) compiled.set(numbers, (kernel = compileScalar(decodeScalarProgram(numbers))));
  return kernel;
}

/** The program into memory of its own where it is reduced, then the reductions: the bits of the separate calls. */
function mapReduce(inputs: readonly TensorRef[], outputs: readonly TensorRef[], attrs: KernelAttrs): void {
  const shape = list(attrs.shape);
  const size = product(shape);
  const width = attrs.width as number;
  const kinds = list(attrs.reductions);
  const mapped = outputs.map(({ dtype, storage }, i): TensorRef => {
    const own = kinds[i] === 0 ? storage : allocator.allocate(size * dtypeTraits[dtype].bytes);
    return { dtype, shape, size, storage: own };
  });
  programOf(list(attrs.program))(inputs, mapped, {});
  outputs.forEach((output, i) => {
    const name = mapReductions[kinds[i]];
    if (name === null) return;
    const reduce = name === undefined ? undefined : reductions[name];
    if (reduce === undefined) throw new InternalError(`no reduction has the number ${kinds[i]}`, 'MapReduce');
    const runs = { ...mapped[i], shape: [size / width, width] };
    reduce([runs], [output], { axes: [1] });
    runs.storage.release();
  });
}

/** The kernels of scalar programs whose results are reduced. */
export const kernels: Partial<Record<KernelName, Kernel>> = { MapReduce: mapReduce };
