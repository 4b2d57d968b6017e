import type { DType } from '@eagre/backend';
import type { PartialShape, Tensor } from '@eagre/core';
import { showInConsole, showShape } from '@eagre/core/internal';

/** What an argument of a traced function may be: `new tf.TensorSpec([null, 3], 'float32')`; null stands for any size. */
export class TensorSpec {
  /** null for any shape. */
  readonly shape: PartialShape | null;
  readonly dtype: DType;
  readonly name: string | undefined;

  constructor(shape: PartialShape | null, dtype: DType = 'float32', name?: string) {
    this.shape = shape;
    this.dtype = dtype;
    this.name = name;
  }

  /** The spec of a tensor's own shape and dtype. */
  static fromTensor(tensor: Tensor, name?: string): TensorSpec {
    return new TensorSpec(tensor.shape, tensor.dtype, name);
  }

  toString(): string {
    const name = this.name === undefined ? '' : `, name='${this.name}'`;
    return `TensorSpec(shape=${this.shape === null ? 'any' : showShape(this.shape)}, dtype=${this.dtype}${name})`;
  }
}

showInConsole(TensorSpec.prototype, String);

/** Specs in the structure of the arguments. */
export type Signature = TensorSpec | readonly Signature[] | { readonly [key: string]: Signature };
