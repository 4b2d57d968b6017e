import {
  decodeScalarProgram,
  dtypeOfValue,
  type KernelName,
  list,
  mapReductions,
  type NumericDType,
  numericDTypes,
  product,
} from '@eagre/backend';
import { type ElementwiseKernel, elementwiseKernel } from './elementwise.ts';
import {
  bytesOf,
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type Lowered,
  nothing,
  type TensorInfo,
} from './kernel.ts';
import { packBools, reduceDispatches } from './reduce.ts';
import { isWide } from './scalar-program.ts';

interface Compiled {
  readonly kernel: ElementwiseKernel | undefined;
  readonly dtypes: readonly NumericDType[];
}
// Plans keep their calls' attributes, so a program is compiled once.
const compiled = new WeakMap<readonly number[], Compiled>();

function compile(numbers: readonly number[]): Compiled {
  let found = compiled.get(numbers);
  if (found === undefined) {
    const program = decodeScalarProgram(numbers);
    const dtypes = program.outputs.map((id) => dtypeOfValue(program, id));
    found = { kernel: elementwiseKernel(program), dtypes };
    compiled.set(numbers, found);
  }
  return found;
}

/** The program into temporaries where it is reduced, then the reductions. */
function mapReduce({ inputs, outputs, attrs }: Call): Lowered | undefined {
  const shape = list(attrs.shape);
  const size = product(shape);
  const width = attrs.width as number;
  const kinds = list(attrs.reductions);
  const { kernel, dtypes } = compile(list(attrs.program));
  if (kernel === undefined || !fits(...inputs, ...outputs)) return undefined;
  // Reductions have no numbers of 64 bits.
  if (dtypes.some((dtype, i) => isWide(dtype) && kinds[i] !== 0)) return undefined;
  if (size === 0) return nothing;
  const scratch: number[] = [];
  const extra = (bytes: number): number => inputs.length + outputs.length + scratch.push(bytes) - 1;
  const mapped = dtypes.map((dtype): TensorInfo => ({ dtype, shape, size }));
  const places = mapped.map(({ dtype }, i) =>
    kinds[i] === 0 ? inputs.length + i : extra(size * bytesOf(dtype)),
  );
  const map = kernel.lower(inputs, mapped);
  if (map === undefined) return undefined;
  // The operands of the map are numbered as if it had no others.
  const operands = map.operands.map((at) => (at < inputs.length ? at : places[at - inputs.length]));
  const dispatches: Dispatch[] = [{ ...map, operands }];
  for (const [i, output] of outputs.entries()) {
    const name = mapReductions[kinds[i]] as KernelName | null;
    if (name === null) continue;
    const runs = { ...mapped[i], shape: [size / width, width] };
    const isBool = output.dtype === 'bool';
    const to = isBool ? extra(4 * output.size) : inputs.length + i;
    const made = reduceDispatches(name, places[i], to, runs, [1], extra);
    if (made === undefined) return undefined;
    dispatches.push(...made);
    if (isBool) dispatches.push(packBools(to, inputs.length + i, output));
  }
  return { dispatches, scratch };
}

export const kernels: GpuKernels = { MapReduce: { dtypes: numericDTypes, lower: mapReduce } };
