import type { DType, PartialShape, Tensor, TensorLike } from '@eagre/core';
import { advice, showFields, showShape } from '@eagre/core/internal';
import type { TensorKind } from '../layer/kinds.ts';
import type { Layer } from '../layer/layer.ts';

/** The call of a layer that symbolic tensors came from. */
export interface Producer {
  readonly layer: Layer;
  /** What the layer was called with, with symbolic tensors in it: the inputs, further ones by position, and the options at the end. */
  readonly args: readonly unknown[];
  /** The symbolic tensors among the arguments, in order. */
  readonly inputs: readonly KerasTensor[];
  /** What the call gives, in order. */
  readonly outputs: readonly KerasTensor[];
}

/** Arguments of a method in which symbolic tensors may stand where tensors do. */
type SymbolicArguments<A extends readonly unknown[]> = {
  [I in keyof A]: TensorLike extends A[I]
    ? A[I] | KerasTensor
    : A[I] extends readonly (infer E)[]
      ? TensorLike extends E
        ? readonly (E | KerasTensor)[]
        : A[I]
      : Tensor extends A[I]
        ? A[I]
        : A[I] extends object
          ? { [K in keyof A[I]]: TensorLike extends A[I][K] ? A[I][K] | KerasTensor : A[I][K] }
          : A[I];
};
type SymbolicResult<R> = R extends Tensor ? KerasTensor : R extends readonly Tensor[] ? KerasTensor[] : never;
/** A function of tensors that takes symbolic ones too. */
export type SymbolicFunction<F> = F extends (...args: infer A) => infer R
  ? F & ((...args: SymbolicArguments<A>) => SymbolicResult<R>)
  : F;
/** The ops that are methods of tensors, as methods of symbolic ones: each call is a layer of the model. */
export type SymbolicMethods = {
  [K in keyof Tensor as Tensor[K] extends (...args: never) => Tensor | Tensor[]
    ? K
    : never]: Tensor[K] extends (...args: infer A) => infer R
    ? (...args: SymbolicArguments<A>) => SymbolicResult<R>
    : never;
};

/**
 * A tensor without values: what `tf.Input` returns and layers pass on, to describe a functional model. The ops that are methods of
 * tensors are its methods too, `x.mul(2).add(y)`, each a layer of the model.
 */
export class KerasTensor {
  /** With the batch dimension first, which is `null` unless fixed. */
  readonly shape: PartialShape;
  /** Of the tensor that there will be. */
  readonly dtype: DType;
  /** Of the `Input`, or of the layer that made it. */
  readonly name: string;
  /** @internal Null of an input. */
  readonly producer: Producer | null;
  /** @internal Undefined of a dense one. */
  declare readonly kind: TensorKind | undefined;
  /** @internal Whether a model may be called without this input. */
  declare readonly optional: boolean;

  constructor(
    shape: PartialShape,
    dtype: DType,
    name: string,
    producer: Producer | null,
    kind?: TensorKind,
    optional: boolean = false,
  ) {
    this.shape = shape;
    this.dtype = dtype;
    this.name = name;
    this.producer = producer;
    Object.defineProperty(this, 'kind', { value: kind });
    Object.defineProperty(this, 'optional', { value: optional });
  }

  /** Whether it stands for sparse tensors. */
  get sparse(): boolean {
    return this.kind === 'sparse';
  }
  /** Whether it stands for ragged tensors. */
  get ragged(): boolean {
    return this.kind === 'ragged';
  }

  /** The number of dimensions. */
  get rank(): number {
    return this.shape.length;
  }

  toString(): string {
    return `<KerasTensor shape=${showShape(this.shape)}, dtype=${this.dtype}${this.kind === undefined ? '' : `, ${this.kind}`}, name=${this.name}>`;
  }
}
export interface KerasTensor extends SymbolicMethods {
  // For types alone: what a layer of several outputs gives is a list, `const [y, h, c] = lstm(x)`, and which layers do, types do not know.
  [Symbol.iterator](): IterableIterator<KerasTensor>;
}
Object.defineProperty(KerasTensor.prototype, advice, {
  value:
    'it has no values; layers take it, so do its methods (x.add(y)) and the functions of tf.keras.ops, or put the code into a layer, new Lambda((x) => …)(input)',
});
showFields(KerasTensor.prototype, ({ shape, dtype, name }) => ({ shape, dtype, name }));
