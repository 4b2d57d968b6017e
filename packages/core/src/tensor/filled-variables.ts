// Variables whose values come from elsewhere, such as a file.
import { type DType, dtypeTraits, type TypedArray } from '@eagre/backend';
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
 * @internal Values for variables that somebody fills, all bytes of each, in memory that the variables keep: {@link adopt}. Not for strings. They are
 * of the device for variables, wherever that is asked.
 */
export class UnfilledValues {
  readonly #values: Tensor[] = [];
  readonly #spaces: readonly TypedArray[];
  /** What is to be filled. */
  readonly bytes: readonly Uint8Array[];

  constructor(specs: readonly Pick<VariableSpec, 'dtype' | 'shape'>[]) {
    const backend = inInitScope(eagerBackend);
    try {
      for (const { dtype, shape } of specs) {
        const size = sizeOf(shape);
        const storage = backend.allocator.allocateAlone(size * dtypeTraits[dtype].bytes);
        this.#values.push(new Tensor(storage, dtype, shape, size, backend));
      }
      this.#spaces = this.#values.map(spaceOf);
    } catch (error) {
      this.dispose();
      throw error;
    }
    this.bytes = this.#spaces.map(bytesIn);
  }

  /** The values, of which all bytes are there. */
  filled(): readonly Tensor[] {
    this.#values.forEach((value, i) => uploaded(value, this.#spaces[i] as TypedArray));
    return this.#values;
  }

  dispose(): void {
    for (const value of this.#values) value.dispose();
  }
}

/** @internal A variable that takes over a value that nobody else has. */
export function adopt(
  value: Tensor,
  { name, trainable }: Pick<VariableSpec, 'name' | 'trainable'>,
): Variable {
  try {
    adopted.value = value;
    return new Variable(value, { name, dtype: value.dtype, trainable });
  } finally {
    adopted.value = null;
  }
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
  fill(spaces.map(bytesIn));
  values.forEach((value, i) => uploaded(value, spaces[i]));
}

const bytesIn = ({ buffer, byteOffset, byteLength }: TypedArray): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);
