import { type DType, InvalidArgumentError } from '@eagre/backend';
import { type CompositeTensor, type PartialShape, Tensor, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkDTypeName,
  checkPartialShape,
  checkText,
  defineMethods,
  showInConsole,
  shown,
  showShape,
  takesArguments,
} from '@eagre/core/internal';

const OP = 'TensorSpec';

/** What an argument of a traced function may be: `new tf.TensorSpec([null, 3], 'float32')`; null stands for any size. */
export class TensorSpec {
  /** null for any shape. */
  readonly shape: PartialShape | null;
  readonly dtype: DType;
  readonly name: string | undefined;

  /** @throws InvalidArgumentError for what is no shape, dtype or name. */
  constructor(
    ...args: Arguments<[shape: PartialShape | null, dtype?: DType, name?: string], ['shape', 'dtype', 'name']>
  ) {
    const { shape, dtype = 'float32', name } = argumentsOf<SpecArguments>(TensorSpec, new.target, args);
    if (shape !== null) checkPartialShape(shape, OP);
    checkDTypeName(dtype, OP);
    if (name !== undefined && name !== null) checkText(name, 'name', OP);
    this.shape = shape;
    this.dtype = dtype;
    this.name = name ?? undefined;
  }

  /** The spec of a tensor's own shape and dtype. */
  static fromTensor(
    ...args: Arguments<[tensor: Tensor | Variable, name?: string], ['tensor', 'name']>
  ): TensorSpec;
  static fromTensor(tensor: Tensor | Variable, name?: string): TensorSpec {
    if (!(tensor instanceof Tensor || tensor instanceof Variable))
      throw new InvalidArgumentError(`expected a tensor, got ${shown(tensor)}`, 'TensorSpec.fromTensor');
    return new TensorSpec(tensor.shape, tensor.dtype, name as string);
  }

  toString(): string {
    const name = this.name === undefined ? '' : `, name='${this.name}'`;
    return `TensorSpec(shape=${this.shape === null ? 'any' : showShape(this.shape)}, dtype=${this.dtype}${name})`;
  }
}

interface SpecArguments {
  readonly shape: PartialShape | null;
  readonly dtype?: DType;
  readonly name?: string | null;
}

takesArguments<SpecArguments>(
  {
    positional: ['shape', 'dtype', 'name'],
    required: 1,
    names: { shape: true, dtype: true, name: true },
  },
  TensorSpec,
);
defineMethods(TensorSpec, 'TensorSpec', {
  fromTensor: { positional: ['tensor', 'name'], required: 1 },
});
showInConsole(TensorSpec.prototype, String);

/** Specs in the structure of the arguments. */
export type Signature =
  | TensorSpec
  | CompositeTensor
  | readonly Signature[]
  | { readonly [key: string]: Signature };
