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

import { commonSupertype, compatible, isSpecClass, subtype } from './spec-relations.ts';

const OP = 'TensorSpec';

/** What an argument of a traced function may be: `new tf.TensorSpec([null, 3], 'float32')`; null stands for any size. */
export class TensorSpec {
  /** null for any shape. */
  readonly shape: PartialShape | null;
  /** Of the tensor. */
  readonly dtype: DType;
  /** What an argument is called in a signature. */
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

  /** Whether a tensor, or a tensor of another spec, can be of this one: of its dtype, and of a shape that fits. */
  isCompatibleWith(...args: Arguments<[specOrTensor: unknown], ['specOrTensor']>): boolean;
  isCompatibleWith(specOrTensor: unknown): boolean {
    const isTensor = specOrTensor instanceof Tensor || specOrTensor instanceof Variable;
    return compatible(this, isTensor ? new TensorSpec(specOrTensor.shape, specOrTensor.dtype) : specOrTensor);
  }
  /** Whether every tensor of this spec is one of the other. */
  isSubtypeOf(...args: Arguments<[other: unknown], ['other']>): boolean;
  isSubtypeOf(other: unknown): boolean {
    return subtype(this, other);
  }
  /** The spec that tensors of this one and of all others have, as exact as can be; null where there is none. */
  mostSpecificCommonSupertype(
    ...args: Arguments<[others: readonly unknown[]], ['others']>
  ): TensorSpec | null;
  mostSpecificCommonSupertype(others: readonly unknown[]): TensorSpec | null {
    return commonSupertype<TensorSpec>(this, others, 'TensorSpec.mostSpecificCommonSupertype');
  }

  /** As TensorFlow prints it. */
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
defineMethods(TensorSpec.prototype, 'TensorSpec', {
  isCompatibleWith: { positional: ['specOrTensor'], objects: ['specOrTensor'] },
  isSubtypeOf: { positional: ['other'], objects: ['other'] },
  mostSpecificCommonSupertype: { positional: ['others'] },
});
isSpecClass(TensorSpec);
showInConsole(TensorSpec.prototype, String);

/** Specs in the structure of the arguments. */
export type Signature =
  | TensorSpec
  | CompositeTensor
  | readonly Signature[]
  | { readonly [key: string]: Signature };
