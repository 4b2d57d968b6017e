// A backend of a few kernels, for the tests of this package; not part of its exports.

import { HostAllocator } from '../buffer/host-allocator.ts';
import { hostView, type Storage, sameBytes } from '../buffer/storage.ts';
import type { Backend, Kernel, TensorRef } from '../device/backend.ts';
import { isBigArray, type NumberArray, type NumericDType } from '../dtype.ts';
import { InvalidArgumentError, OutOfRangeError } from '../errors.ts';
import type { KernelName } from '../kernels.ts';
import { interpretPlan } from '../plan/interpreter.ts';
import type { ScalarInstr, ScalarProgram } from '../program/scalar.ts';

/** The elements of a tensor; not of 64 bit integers, which these tests do without. */
function view({ dtype, size, storage }: TensorRef): NumberArray {
  const elements = hostView(storage, dtype, size);
  if (isBigArray(elements)) throw new Error(dtype);
  return elements;
}

const kernels: Partial<Record<KernelName, Kernel>> = {
  Fill: (_, [y], { value }) => {
    view(y).fill(Number(value));
  },
  Copy: ([x], [y]) => {
    view(y).set(view(x));
  },
  SetRow: ([x, index, row], [y]) => {
    const [at] = view(index);
    if (at < 0 || at >= x.shape[0]) throw new OutOfRangeError(`row ${at}`, 'SetRow');
    if (!sameBytes(x.storage, y.storage)) view(y).set(view(x));
    view(y).set(view(row), at * row.size);
  },
};

function compute({ op, args: [a, b, c], value }: ScalarInstr, values: readonly number[]): number {
  const [x, y, z] = [values[a], values[b], values[c]];
  switch (op) {
    case 'const':
      return value;
    case 'add':
      return x + y;
    case 'sub':
      return x - y;
    case 'mul':
      return x * y;
    case 'mod':
      return x - Math.floor(x / y) * y;
    case 'div':
      if (y === 0) throw new InvalidArgumentError('division by zero');
      return x / y;
    case 'lt':
      return Number(x < y);
    case 'eq':
      return Number(x === y);
    case 'select':
      return x === 0 ? z : y;
    case 'cast':
      return x;
    default:
      throw new Error(op);
  }
}

/** Element by element, each read before its place is written; inputs are of the outputs' size, or of one element. */
function elementwise({ instrs, outputs: results }: ScalarProgram): Kernel {
  return (inputs, outputs) => {
    const sources = inputs.map(view);
    const targets = outputs.map(view);
    const wide = inputs.map(({ size }) => size > 1);
    for (let i = 0; i < outputs[0].size; i++) {
      const values = sources.map((source, k) => source[wide[k] ? i : 0]);
      for (const instr of instrs) values.push(compute(instr, values));
      targets.forEach((target, k) => {
        target[i] = values[results[k]];
      });
    }
  };
}

export const toyBackend: Backend = {
  name: 'toy',
  deviceType: 'CPU',
  deviceIndex: 0,
  description: 'a few kernels',
  allocator: new HostAllocator(),
  kernel: (name) => kernels[name],
  elementwise,
  prepare: (plan) => interpretPlan(toyBackend, plan),
  threads: () => 1,
};

/** Memory with these elements. */
export function store(values: readonly number[], dtype: NumericDType = 'float32'): Storage {
  const storage = toyBackend.allocator.allocate(values.length * 8);
  view({ dtype, shape: [values.length], size: values.length, storage }).set(values);
  return storage;
}

/** The first elements of some memory. */
export function read(storage: Storage, size = 1, dtype: NumericDType = 'float32'): number[] {
  return Array.from(view({ dtype, shape: [size], size, storage }));
}
