import type { DType, PartialShape } from '@eagre/core';
import { advice, showFields, showShape } from '@eagre/core/internal';
import type { Layer } from './layer.ts';

/** The call of a layer that a symbolic tensor came from. */
export interface Producer {
  readonly layer: Layer;
  readonly inputs: readonly KerasTensor[];
  /** Whether the layer takes its inputs as an array. */
  readonly many: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** What the call gives, in order. */
  readonly outputs: readonly KerasTensor[];
}

/** A tensor without values: what `tf.Input` returns and layers pass on, to describe a functional model. */
export class KerasTensor {
  /** With the batch dimension first, which is `null` unless fixed. */
  readonly shape: PartialShape;
  readonly dtype: DType;
  readonly name: string;
  /** @internal */
  readonly producer: Producer | null;

  constructor(shape: PartialShape, dtype: DType, name: string, producer: Producer | null) {
    this.shape = shape;
    this.dtype = dtype;
    this.name = name;
    this.producer = producer;
  }

  toString(): string {
    return `<KerasTensor shape=${showShape(this.shape)}, dtype=${this.dtype}, name=${this.name}>`;
  }
}
Object.defineProperty(KerasTensor.prototype, advice, {
  value: 'layers take it; what is to be computed of it goes into one, new Lambda((x) => …)(input)',
});
showFields(KerasTensor.prototype, ({ shape, dtype, name }) => ({ shape, dtype, name }));
