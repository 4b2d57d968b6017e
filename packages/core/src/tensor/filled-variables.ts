// Variables whose first values come from elsewhere, such as a file.
import { type DType, dtypeTraits } from '@eagre/backend';
import { eagerBackend, initScope } from '../dispatch/context.ts';
import { type Shape, sizeOf } from '../shapes/shape.ts';
import { Tensor } from './tensor.ts';
import { adopted, Variable, writeAll } from './variable.ts';

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
  const backend = initScope(eagerBackend);
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
