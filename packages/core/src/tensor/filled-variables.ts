// Variables whose values come from elsewhere, such as a file.
import { type DType, dtypeTraits } from '@eagre/backend';
import { eagerBackend, inInitScope } from '../dispatch/context.ts';
import { type Shape, sizeOf } from '../shapes/shape.ts';
import { spaceOf, Tensor, uploaded } from './tensor.ts';
import { adopted, Variable } from './variable.ts';

/** What is known of a variable before its value is. */
export interface VariableSpec {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: Shape;
  readonly trainable: boolean;
}

/**
 * @internal New variables, whose first values `fill` writes: all bytes of each, into the memory that the variables keep. Not for strings.
 * When `fill` throws, there are none.
 */
export function filledVariables(
  specs: readonly VariableSpec[],
  fill: (bytes: Uint8Array[]) => void,
): Variable[] {
  const backend = inInitScope(eagerBackend);
  const values: Tensor[] = [];
  try {
    for (const { dtype, shape } of specs) {
      const size = sizeOf(shape);
      const storage = backend.allocator.allocateAlone(size * dtypeTraits[dtype].bytes);
      values.push(new Tensor(storage, dtype, shape, size, backend));
    }
    writeAll(values, fill);
  } catch (error) {
    for (const value of values) value.dispose();
    throw error;
  }
  return specs.map(({ name, dtype, trainable }, i) => {
    try {
      adopted.value = values[i];
      return new Variable(values[i], { name, dtype, trainable });
    } finally {
      adopted.value = null;
    }
  });
}

/**
 * @internal Has `fill` write all bytes of new values of variables, each there once: into the memory there is, unless someone still needs the
 * old values. Not for strings. When `fill` throws, each value is the old one or, where it was written over, unknown.
 */
export function refillVariables(wholes: readonly Variable[], fill: (bytes: Uint8Array[]) => void): void {
  // One copy of what a distribution strategy made, which tells the others.
  const variables = wholes.map(({ fillable }) => fillable);
  // A first use may restore others.
  for (const variable of variables) void variable.storage;
  writeAll(
    variables.map((variable) => variable.writable()),
    fill,
  );
  wholes.forEach((whole, i) => {
    if (whole !== variables[i]) whole.assign((variables[i] as Variable).read());
  });
}

function writeAll(values: readonly Tensor[], fill: (bytes: Uint8Array[]) => void): void {
  const spaces = values.map(spaceOf);
  fill(spaces.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)));
  values.forEach((value, i) => uploaded(value, spaces[i]));
}
